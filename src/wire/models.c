/*
 * models.c - a file that says what models can take and what they cost.
 *
 * One table for each kind of mapping says which keys it knows and how each
 * is read. A key that is not known is refused: a price that was silently
 * ignored would be found on the bill.
 */
#include "wire/models.h"

#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "wire/yaml.h"

enum {
    WHERE_MAX = 48,  /* models[99999].price.cache_write */
    QUOTED_MAX = 48, /* bytes of the input that a message repeats */
    NANO_DIGITS = 9,
};

struct reader {
    struct arena *arena;
    wend_error *err;
    char where[WHERE_MAX]; /* path of the value being read; "" = all */
};

struct field {
    const char *name;
    wend_status (*read)(struct reader *r, const struct json *j, void *at);
    size_t offset; /* of what `read` fills, in the target */
};

#define COUNT_OF(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- Reports ------------------------------------------------------------- */

static const char *where(const struct reader *r)
{
    return r->where[0] ? r->where : "the file";
}

static wend_status wrong(struct reader *r, const struct json *j,
                         const char *wanted)
{
    bool scalar = j->text.ptr && j->text.len <= QUOTED_MAX;

    return fail_at(
        r->err, WEND_E_PARSE, j->line, j->column, "%s must be %s, not %s%.*s%s",
        where(r), wanted, scalar ? "'" : "",
        scalar ? (int)j->text.len : (int)QUOTED_MAX,
        scalar ? j->text.ptr : json_kind_name(j->kind), scalar ? "'" : "");
}

static wend_status missing(struct reader *r, const struct json *j,
                           const char *key)
{
    return fail_at(r->err, WEND_E_PARSE, j->line, j->column, "%s needs '%s'",
                   where(r), key);
}

static wend_status unknown(struct reader *r, const struct json *j,
                           const struct field *fields, int count)
{
    const char *names[8], *near;

    for (int i = 0; i < count; i++)
        names[i] = fields[i].name;
    near = str_near(j->key, names, count);
    return fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                   "unknown key '%.*s' in %s%s%s%s",
                   (int)utf8_cut(j->key, QUOTED_MAX), j->key.ptr, where(r),
                   near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "");
}

/* ---- Values -------------------------------------------------------------- */

/* A name without a provider would fit nothing, ever. */
static wend_status read_name(struct reader *r, const struct json *j, void *at)
{
    wend_str name = json_str(j);

    if (!name.len ||
        (!memchr(name.ptr, ':', name.len) && !memchr(name.ptr, '*', name.len)))
        return wrong(r, j, "provider:model, such as openai:*");
    *(wend_str *)at = name;
    return WEND_OK;
}

static wend_status read_tokens(struct reader *r, const struct json *j, void *at)
{
    int64_t n;

    if (!json_i64(j, &n) || n < 1 || n > MODEL_TOKENS_MAX)
        return wrong(r, j, "a number of tokens, at least 1");
    *(int64_t *)at = n;
    return WEND_OK;
}

/* The text of the number as an integer of 10^-9; nothing is rounded. */
static bool nano_of(wend_str text, int64_t *out)
{
    struct decimal d = decimal_of(text);
    int64_t zeros = d.exponent + NANO_DIGITS, n = 0;

    *out = 0;
    if (!d.count)
        return true;
    if (d.negative || zeros < 0 || zeros > 2 * NANO_DIGITS)
        return false;
    for (const char *p = d.from; p < d.to; p++) {
        if (*p == '.')
            continue;
        n = n * 10 + (*p - '0');
        if (n > PRICE_NANO_MAX)
            return false;
    }
    while (zeros-- > 0) {
        n *= 10;
        if (n > PRICE_NANO_MAX)
            return false;
    }
    *out = n;
    return true;
}

static wend_status read_usd(struct reader *r, const struct json *j, void *at)
{
    if (j->kind != JSON_NUMBER || !nano_of(j->text, at))
        return wrong(r, j,
                     "USD for a million tokens, from 0 to 2000, with at most "
                     "9 decimals");
    return WEND_OK;
}

/* ---- Mappings ------------------------------------------------------------ */

static wend_status read_mapping(struct reader *r, const struct json *j,
                                const struct field *fields, int count,
                                void *target)
{
    size_t len = strlen(r->where);
    wend_status s;
    int i;

    if (j->kind != JSON_OBJECT)
        return wrong(r, j, "a mapping");
    for (const struct json *m = j->first; m; m = m->next) {
        for (i = 0; i < count; i++)
            if (str_is(m->key, fields[i].name))
                break;
        if (i == count)
            return unknown(r, m, fields, count);
        snprintf(r->where + len, sizeof r->where - len, "%s%s", len ? "." : "",
                 fields[i].name);
        s = fields[i].read(r, m, (char *)target + fields[i].offset);
        if (s)
            return s;
        r->where[len] = 0;
    }
    return WEND_OK;
}

#define AT(member) offsetof(struct model, member)

static wend_status read_price(struct reader *r, const struct json *j, void *at)
{
    static const struct field fields[] = {
        {"input", read_usd, AT(price.input)},
        {"cached", read_usd, AT(price.cached)},
        {"cache_write", read_usd, AT(price.cache_write)},
        {"output", read_usd, AT(price.output)},
    };
    struct model *m = at;
    wend_status s = read_mapping(r, j, fields, COUNT_OF(fields), m);

    if (s)
        return s;
    if (!json_get(j, "input"))
        return missing(r, j, "input");
    if (!json_get(j, "output"))
        return missing(r, j, "output");
    if (!json_get(j, "cached"))
        m->price.cached = m->price.input;
    m->price.known = true;
    return WEND_OK;
}

static wend_status read_model(struct reader *r, const struct json *j,
                              struct model *m)
{
    static const struct field fields[] = {
        {"name", read_name, AT(name)},
        {"window", read_tokens, AT(window)},
        {"output", read_tokens, AT(output)},
        {"price", read_price, 0},
    };
    wend_status s;

    m->price.cache_write = -1;
    s = read_mapping(r, j, fields, COUNT_OF(fields), m);
    if (s)
        return s;
    return m->name.ptr ? WEND_OK : missing(r, j, "name");
}
#undef AT

static wend_status read_models(struct reader *r, const struct json *j, void *at)
{
    size_t len = strlen(r->where), n = 0;
    struct models *models = at;
    struct model *list;
    wend_status s;

    if (j->kind != JSON_ARRAY)
        return wrong(r, j, "a list");
    if (j->count > MODELS_MAX)
        return fail_at(r->err, WEND_E_LIMIT, j->line, j->column,
                       "%u models; a file has at most %d", j->count,
                       MODELS_MAX);
    list = arena_alloc(r->arena, (j->count + 1) * sizeof *list);
    if (!list)
        return fail_nomem(r->err);
    for (const struct json *m = j->first; m; m = m->next) {
        snprintf(r->where + len, sizeof r->where - len, "[%zu]", n);
        s = read_model(r, m, &list[n]);
        if (s)
            return s;
        n++;
    }
    models->list = list;
    models->count = n;
    return WEND_OK;
}

static wend_status read_version(struct reader *r, const struct json *j,
                                void *at)
{
    (void)at;
    return str_is(json_str(j), "models/1") ? WEND_OK : wrong(r, j, "models/1");
}

static wend_status read_file(struct reader *r, const struct json *j,
                             struct models *out)
{
    static const struct field fields[] = {
        {"wend", read_version, 0},
        {"models", read_models, 0},
    };
    wend_status s = read_mapping(r, j, fields, COUNT_OF(fields), out);

    if (s)
        return s;
    if (!json_get(j, "wend"))
        return missing(r, j, "wend: models/1");
    return json_get(j, "models") ? WEND_OK : missing(r, j, "models");
}

/* ---- Public -------------------------------------------------------------- */

wend_status models_parse(wend_str text, struct arena *a, struct models **out,
                         wend_error *err)
{
    struct reader r = {.arena = a, .err = err};
    wend_error own;
    struct models *models;
    struct json *j;
    wend_status s;

    if (text.len > MODELS_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "a file of %zu bytes; at most %d",
                    text.len, MODELS_BYTES_MAX);
    if (!r.err)
        r.err = &own; /* the status below comes from it */
    j = yaml_parse(text, a, r.err);
    if (!j)
        return r.err->status;
    models = arena_alloc(a, sizeof *models);
    s = models ? read_file(&r, j, models) : fail_nomem(r.err);
    if (!s)
        *out = models;
    return s;
}

const struct model *models_find(const struct models *m, wend_str name)
{
    for (size_t i = 0; i < m->count; i++)
        if (str_glob(m->list[i].name, name))
            return &m->list[i];
    return NULL;
}

bool models_path(struct buf *out, const char *named, const char *xdg,
                 const char *home)
{
    if (named && *named)
        buf_cstr(out, named);
    else if (xdg && xdg[0] == '/') /* a relative one is to be ignored */
        buf_fmt(out, "%s/wend/models.yaml", xdg);
    else if (home && home[0] == '/')
        buf_fmt(out, "%s/.config/wend/models.yaml", home);
    return out->len > 0;
}

/*
 * models.c - a file that says what models can take and what they cost.
 *
 * A key that is not known is refused: a price that was silently ignored
 * would be found on the bill.
 */
#include "wire/file/models.h"

#include <string.h>

#include "base/decimal.h"
#include "base/fail.h"
#include "base/limits.h"
#include "wire/file/fields.h"

/* ---- Values -------------------------------------------------------------- */

/* A name without a provider would fit nothing, ever. */
static FIELD_READ(read_name)
{
    wend_str name = json_str(j);

    if (!name.len ||
        (!memchr(name.ptr, ':', name.len) && !memchr(name.ptr, '*', name.len)))
        return fields_wrong(f, j, "provider:model, such as openai:*");
    *(wend_str *)at = name;
    return WEND_OK;
}

static FIELD_READ(read_usd)
{
    if (j->kind != JSON_NUMBER || !decimal_nano(j->text, PRICE_NANO_MAX, at))
        return fields_wrong(f, j,
                            "USD for a million tokens, from 0 to 2000, with "
                            "at most 9 decimals");
    return WEND_OK;
}

/* ---- Mappings ------------------------------------------------------------ */

#define AT(member) offsetof(struct model, member)

static FIELD_READ(read_price)
{
    static const struct field rows[] = {
        {"input", read_usd, AT(price.input), 0, 0, NULL},
        {"cached", read_usd, AT(price.cached), 0, 0, NULL},
        {"cache_write", read_usd, AT(price.cache_write), 0, 0, NULL},
        {"output", read_usd, AT(price.output), 0, 0, NULL},
        {0},
    };
    struct model *m = at;
    wend_status s = fields_read(f, j, rows, m);

    if (s)
        return s;
    if (!json_get(j, "input"))
        return fields_missing(f, j, "input");
    if (!json_get(j, "output"))
        return fields_missing(f, j, "output");
    if (!json_get(j, "cached"))
        m->price.cached = m->price.input;
    m->price.known = true;
    return WEND_OK;
}

static wend_status read_model(struct fields *f, const struct json *j,
                              void *item)
{
    static const struct field rows[] = {
        {"name", read_name, AT(name), 0, 0, NULL},
        {"window", field_number, AT(window), 1, MODEL_TOKENS_MAX, NULL},
        {"output", field_number, AT(output), 1, MODEL_TOKENS_MAX, NULL},
        {"price", read_price, 0, 0, 0, NULL},
        {"concurrency", field_number, AT(concurrency), 1, MODEL_REQUESTS_MAX,
         NULL},
        {"tools", field_bool, AT(no_tools), 0, 0, NULL},
        {0},
    };
    struct model *m = item;
    wend_status s;

    m->price.cache_write = -1;
    m->no_tools = true; /* as tools, until all is read */
    s = fields_read(f, j, rows, m);
    m->no_tools = !m->no_tools;
    if (s)
        return s;
    return m->name.ptr ? WEND_OK : fields_missing(f, j, "name");
}
#undef AT

static FIELD_READ(read_models)
{
    struct models *models = at;
    void *list;
    wend_status s;

    if (j->count > MODELS_MAX)
        return fail_at(f->err, WEND_E_LIMIT, j->line, j->column,
                       "%u models; a file has at most %d", j->count,
                       MODELS_MAX);
    s = fields_list(f, j, sizeof *models->list, read_model, &list,
                    &models->count);
    if (!s)
        models->list = list;
    return s;
}

static wend_status read_file(struct fields *f, const struct json *j,
                             struct models *out)
{
    static const char *const version[] = {"models/1", NULL};
    static const struct field rows[] = {
        {"wend", field_version, 0, 0, 0, version},
        {"models", read_models, 0, 0, 0, NULL},
        {0},
    };
    wend_status s = fields_read(f, j, rows, out);

    if (s)
        return s;
    if (!json_get(j, "wend"))
        return fields_missing(f, j, "wend: models/1");
    return json_get(j, "models") ? WEND_OK : fields_missing(f, j, "models");
}

/* ---- Public -------------------------------------------------------------- */

wend_status models_parse(wend_str text, struct arena *a, struct models **out,
                         wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the file"};
    wend_status s = fields_open(&f, text, MODELS_BYTES_MAX);
    struct models *models;

    if (s)
        return s;
    models = arena_alloc(a, sizeof *models);
    s = models ? read_file(&f, f.root, models) : fail_nomem(f.err);
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

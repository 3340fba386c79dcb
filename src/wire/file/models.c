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
#include "core/media/media.h"
#include "wire/file/wishes.h"

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

/* Text is always accepted. */
static FIELD_READ(read_media)
{
    static const char *const names = "a list of text, image, document, audio";
    uint32_t types = 1u << MEDIA_TEXT;

    if (j->kind != JSON_ARRAY)
        return fields_wrong(f, j, names);
    for (const struct json *one = j->first; one; one = one->next) {
        int type = str_index(json_str(one), media_type_names, MEDIA_TYPES);

        if (type < 0)
            return fields_wrong(f, one, names);
        types |= 1u << type;
    }
    *(uint32_t *)at = types;
    return WEND_OK;
}

/* ---- Mappings ------------------------------------------------------------ */

#define AT(member) .offset = offsetof(struct model, member)

static FIELD_READ(read_price)
{
    static const struct field rows[] = {
        {"input", read_usd, AT(price.input), .needed = true},
        {"cached", read_usd, AT(price.cached)},
        {"cache_write", read_usd, AT(price.cache_write)},
        {"output", read_usd, AT(price.output), .needed = true},
        {0},
    };
    struct model *m = at;
    wend_status s = fields_read(f, j, rows, m);

    if (s)
        return s;
    if (!json_get(j, "cached"))
        m->price.cached = m->price.input;
    m->price.known = true;
    return WEND_OK;
}

static FIELD_READ(read_model)
{
    static const struct field rows[] = {
        {"name", read_name, AT(name), .needed = true},
        {"window", field_number, AT(window), .min = 1, .max = MODEL_TOKENS_MAX},
        {"output", field_number, AT(output), .min = 1, .max = MODEL_TOKENS_MAX},
        {"price", .read = read_price},
        {"concurrency", field_number, AT(concurrency), .min = 1,
         .max = MODEL_REQUESTS_MAX},
        {"tools", field_bool, AT(no_tools)},
        WISH_ROWS(struct model, wishes),
        {"media", read_media, AT(media)},
        {0},
    };
    struct model *m = at;
    wend_status s;

    m->price.cache_write = -1;
    m->no_tools = true; /* as tools, until all is read */
    s = fields_read(f, j, rows, m);
    m->no_tools = !m->no_tools;
    return s;
}
#undef AT

static const char *const version[] = {"models/1", NULL};
static const struct field file_rows[] = {
    {"wend", .read = field_version, .words = version, .needed = true},
    {"models", field_list,
     FIELD_ITEMS(struct models, list, read_model, MODELS_MAX), .needed = true},
    {0},
};

/* ---- Public -------------------------------------------------------------- */

wend_status models_parse(wend_str text, struct arena *a, struct models **out,
                         wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the file"};
    struct models *m =
        file_parse(&f, text, MODELS_BYTES_MAX, file_rows, sizeof *m);

    if (!m)
        return f.err->status;
    *out = m;
    return WEND_OK;
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

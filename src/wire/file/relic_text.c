/*
 * relic_text.c - texts with places in files about relics.
 */
#include "wire/file/relic_text.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/limits.h"
#include "base/url.h"
#include "base/utf8.h"
#include "core/config/config.h"

/* A text being read. Its parts are bytes until their number is known. */
struct reader {
    struct fields *f;
    const struct json *j;
    enum relic_text_kind kind;
    struct buf literal, parts;
    struct buf sample; /* with an x in each place */
};

static wend_status wrong(struct reader *r, size_t at, const char *what)
{
    uint32_t line, column;

    fields_inside(r->f, r->j, at, &line, &column);
    return fail_at(r->f->err, WEND_E_PARSE, line, column, "%s: %s",
                   fields_where(r->f), what);
}

static wend_status add_part(struct reader *r, wend_str place, bool secret)
{
    struct relic_part part = {.secret = secret};

    if (!r->literal.failed)
        part.before = arena_str(r->f->arena, buf_view(&r->literal));
    if (place.ptr)
        part.place = arena_str(r->f->arena, place);
    buf_clear(&r->literal);
    buf_add(&r->parts, (const char *)&part, sizeof part);
    return part.before.ptr && (part.place.ptr || !place.ptr) && !r->parts.failed
               ? WEND_OK
               : fail_nomem(r->f->err);
}

static bool is_secret(const struct reader *r, wend_str name)
{
    const struct relic_manifest *m = r->f->ctx;

    assert(m);
    for (size_t i = 0; i < m->server.secrets.count; i++)
        if (str_eq(m->server.secrets.list[i].text, name))
            return true;
    return false;
}

bool relic_name_ok(wend_str name)
{
    return tool_name_ok(name) && !memchr(name.ptr, '.', name.len);
}

/* The place at the dollar; *at is behind it. */
static wend_status read_place(struct reader *r, size_t *at)
{
    wend_str text = r->j->text, name = STR_NONE;
    const char *end = NULL;
    bool secret;

    if (*at + 1 < text.len && text.ptr[*at + 1] == '{') {
        name.ptr = text.ptr + *at + 2;
        end = memchr(name.ptr, '}', text.len - *at - 2);
        name.len = end ? (size_t)(end - name.ptr) : 0;
    }
    if (!relic_name_ok(name))
        return wrong(r, *at,
                     "a place is ${name}, with 1 to 64 of A-Z a-z 0-9 _ -; a "
                     "dollar is $$");
    secret = is_secret(r, name);
    if (secret && r->kind == RELIC_TEXT_PATH)
        return wrong(r, *at,
                     "a secret cannot be part of a URL, which is shown; it can "
                     "be in a header");
    *at += name.len + 3;
    buf_char(&r->sample, 'x');
    return add_part(r, name, secret);
}

static wend_status read_parts(struct reader *r)
{
    wend_str text = r->j->text;
    wend_status s = WEND_OK;
    size_t at = 0;

    while (!s && at < text.len) {
        bool twice = text.len - at > 1 && text.ptr[at + 1] == '$';

        if (text.ptr[at] == '$' && !twice) {
            s = read_place(r, &at);
            continue;
        }
        buf_char(&r->literal, text.ptr[at]);
        buf_char(&r->sample, text.ptr[at]);
        at += text.ptr[at] == '$' ? 2 : 1;
    }
    return s ? s : add_part(r, STR_NONE, false);
}

static wend_status check_header(struct reader *r)
{
    return header_value_ok(buf_view(&r->sample))
               ? WEND_OK
               : wrong(r, 0,
                       "a header's value has no line breaks or other control "
                       "characters, and no spaces around it");
}

static wend_status check_path(struct reader *r)
{
    struct buf b = {.mem = r->f->arena->mem};
    wend_error why = {0};
    struct url url;
    wend_status s;

    if (!str_starts(buf_view(&r->sample), "/"))
        return wrong(r, 0, "a path begins with /");
    if (memchr(r->sample.ptr, '#', r->sample.len))
        return wrong(r, 0, "a path has no fragment (#)");
    buf_cstr(&b, "http://host");
    buf_str(&b, buf_view(&r->sample));
    s = b.failed ? fail_nomem(r->f->err)
                 : url_parse(buf_view(&b), r->f->arena, &url, &why);
    if (why.status == WEND_E_NOMEM)
        s = fail_nomem(r->f->err);
    else if (why.status != WEND_OK)
        s = wrong(r, 0, why.message);
    else if (!s && (!url.plain || !str_eq(url.target, buf_view(&r->sample))))
        s = wrong(r, 0,
                  "write the path without . and .. and with escapes "
                  "(%20) where they are needed");
    buf_free(&b);
    return s;
}

wend_status relic_text_read(struct fields *f, const struct json *j,
                            enum relic_text_kind kind, struct relic_text *out)
{
    const struct mem *m = f->arena->mem;
    struct reader r = {.f = f,
                       .j = j,
                       .kind = kind,
                       .literal = {.mem = m},
                       .parts = {.mem = m},
                       .sample = {.mem = m}};
    wend_str checked;
    wend_status s = field_cstr(f, NULL, j, &checked);

    if (!s && j->text.len > URL_BYTES_MAX)
        s = wrong(&r, 0, "it is too long");
    if (!s)
        s = read_parts(&r);
    if (!s && r.sample.failed)
        s = fail_nomem(f->err);
    if (!s)
        s = kind == RELIC_TEXT_PATH ? check_path(&r) : check_header(&r);
    out->count = r.parts.len / sizeof *out->parts;
    out->parts = s ? NULL : (const void *)buf_keep(&r.parts, f->arena).ptr;
    if (!s && !out->parts)
        s = fail_nomem(f->err);
    buf_free(&r.literal);
    buf_free(&r.parts);
    buf_free(&r.sample);
    return s;
}

/* ---- What the places need ------------------------------------------------ */

struct places {
    struct buf properties, required;
    wend_str seen[RELIC_PLACES_MAX];
    size_t count; /* one more than the most: there are too many */
};

static bool is_seen(const struct places *p, wend_str name)
{
    for (size_t i = 0; i < p->count; i++)
        if (str_eq(p->seen[i], name))
            return true;
    return false;
}

static void need(struct places *p, const struct relic_text *t)
{
    for (size_t i = 0; i < t->count && p->count <= RELIC_PLACES_MAX; i++) {
        const struct relic_part *part = &t->parts[i];

        if (!part->place.ptr || part->secret || is_seen(p, part->place))
            continue;
        if (p->count++ == RELIC_PLACES_MAX)
            return;
        p->seen[p->count - 1] = part->place;
        json_add_str(&p->required, NULL, part->place);
        json_add_raw(&p->properties, part->place.ptr,
                     STR("{\"type\":[\"string\",\"number\",\"boolean\"]}"));
    }
}

static bool has_header(const struct relic_headers *h, wend_str name)
{
    for (size_t i = 0; i < h->count; i++)
        if (header_is(h->list[i].name, name))
            return true;
    return false;
}

wend_status relic_schema(struct fields *f, const struct relic_manifest *m,
                         struct relic_endpoint *e)
{
    const struct mem *mem = f->arena->mem;
    struct places p = {.properties = {.mem = mem}, .required = {.mem = mem}};
    struct buf b = {.mem = mem};

    need(&p, &e->path);
    for (size_t i = 0; i < e->headers.count; i++)
        need(&p, &e->headers.list[i].value);
    for (size_t i = 0; i < m->headers.count; i++)
        if (!has_header(&e->headers, m->headers.list[i].name))
            need(&p, &m->headers.list[i].value);
    buf_cstr(&b, "{\"type\":\"object\",\"properties\":{");
    buf_str(&b, buf_view(&p.properties));
    buf_cstr(&b, "},\"required\":[");
    buf_str(&b, buf_view(&p.required));
    buf_cstr(&b, e->body ? "]}" : "],\"additionalProperties\":false}");
    b.failed |= p.properties.failed | p.required.failed;
    e->schema = buf_keep(&b, f->arena);
    buf_free(&p.properties);
    buf_free(&p.required);
    if (f->arena->failed)
        return fail_nomem(f->err);
    return p.count <= RELIC_PLACES_MAX
               ? WEND_OK
               : fail_at(f->err, WEND_E_LIMIT, e->line, e->column,
                         "%s needs more than %d values by name; write "
                         "fewer places, or a schema of its own",
                         fields_where(f), RELIC_PLACES_MAX);
}

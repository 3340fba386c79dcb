/*
 * parts.c - an assistant's message as the parts the model wrote, in order.
 *
 * Positions come from a log and may be anything; they are cut to what there
 * is, and never split a character.
 */
#include "wire/model/parts.h"

#include <assert.h>

#include "base/ascii.h"
#include "base/utf8.h"

enum { ITEM_DEPTH_MAX = 16 }; /* real ones have five */

static const struct json *own_item(const struct parts *p,
                                   const struct json *item)
{
    while (item && !str_is(json_get_str(item, "p"), p->provider))
        item = item->next;
    return item;
}

static wend_str take_text(struct parts *p, size_t len)
{
    wend_str s = {p->text.ptr, utf8_cut(p->text, len)};

    p->text = str_skip(p->text, s.len);
    p->text_at += s.len;
    return s;
}

static struct part take_item(struct parts *p)
{
    const struct json *call = json_get(p->item, "call");
    struct part out = {.kind = PART_ITEM, .item = p->item};

    out.text = take_text(p, (size_t)wire_i64(p->item, "len"));
    if (call && call->kind == JSON_TRUE && p->call_at < p->calls_count)
        out.call = p->calls[p->call_at++];
    p->item = own_item(p, p->item->next);
    return out;
}

void parts_begin(struct parts *p, const struct turn *t, const struct msg *m,
                 const char *provider, struct arena *a)
{
    const struct json *items = NULL;

    memset(p, 0, sizeof *p);
    p->provider = provider;
    p->text = m->text.ptr ? m->text : STR("");
    if (m->calls)
        p->calls = wire_calls(m, a, &p->calls_count);
    if (m->opaque.len > 2 && wire_is_own(t, m)) /* [] is what most have */
        items = json_parse(m->opaque, a, NULL);
    if (items && items->kind == JSON_ARRAY)
        p->item = own_item(p, items->first);
}

struct part parts_next(struct parts *p)
{
    size_t text_len = p->text.len, calls = p->calls_count;

    if (p->item) {
        size_t before = (size_t)wire_i64(p->item, "text");

        text_len = before > p->text_at ? before - p->text_at : 0;
        calls = (size_t)wire_i64(p->item, "calls");
    }
    if (text_len && p->text.len) {
        struct part out = {.kind = PART_TEXT, .text = take_text(p, text_len)};

        if (out.text.len)
            return out;
    }
    if (p->call_at < calls && p->call_at < p->calls_count)
        return (struct part){.kind = PART_CALL, .call = p->calls[p->call_at++]};
    return p->item ? take_item(p) : (struct part){.kind = PART_END};
}

bool parts_left(const struct parts *p)
{
    assert(p->call_at <= p->calls_count);
    return p->text.len || p->call_at < p->calls_count;
}

struct buf *parts_item(struct decoder *d, size_t text_len, size_t calls_count)
{
    d->item.mem = d->mem;
    buf_clear(&d->item);
    buf_fmt(&d->item, "{\"p\":\"%s\",\"text\":%zu,\"calls\":%zu",
            d->codec->name, text_len, calls_count);
    return &d->item;
}

struct buf *parts_item_here(struct decoder *d)
{
    return parts_item(d, d->text_len, d->calls_count);
}

void parts_item_end(struct decoder *d)
{
    assert(d->item.failed || d->item.len);
    json_close(&d->item, '}');
    if (d->item.failed)
        wire_fail_nomem(d);
    else
        d->sink->opaque(d->sink->ctx, buf_view(&d->item));
}

static bool is_deeper(const struct json *j, int max)
{
    if (j->first && !max)
        return true;
    for (const struct json *c = j->first; c; c = c->next)
        if (is_deeper(c, max - 1))
            return true;
    return false;
}

bool parts_too_deep(const struct json *value)
{
    return is_deeper(value, ITEM_DEPTH_MAX);
}

void parts_put_args(struct buf *b, const struct call *c)
{
    bool object = c->args.len && c->args.ptr[0] == '{';

    if (!object)
        buf_cstr(b, "{\"INVALID_JSON\":");
    buf_str(b, c->args.len ? c->args : STR("\"\""));
    if (!object)
        buf_char(b, '}');
}

bool text_is_blank(wend_str s)
{
    return !str_trim(s, is_space).len;
}

/* ---- Schemas ------------------------------------------------------------- */

static bool may_be_object(const struct json *schema)
{
    const struct json *type = json_get(schema, "type");

    if (json_get(schema, "properties") || str_is(json_str(type), "object"))
        return true;
    if (type && type->kind == JSON_ARRAY)
        for (const struct json *t = type->first; t; t = t->next)
            if (str_is(json_str(t), "object"))
                return true;
    return false;
}

static bool is_closed(const struct json *schema)
{
    const struct json *more = json_get(schema, "additionalProperties");
    const struct json *properties = json_get(schema, "properties");
    const struct json *required = json_get(schema, "required");

    if (!may_be_object(schema))
        return true;
    /* Keys are unique, so as many required as there are is all of them,
     * unless one is named twice: then the provider says so. */
    return more && more->kind == JSON_FALSE &&
           (properties ? properties->count : 0) ==
               (required ? required->count : 0);
}

/* Recursion ends with the tree, which JSON_DEPTH_MAX bounds. */
bool schema_is_strict(const struct json *schema)
{
    static const char *const known[] = {
        "type",  "description", "title",    "enum",
        "const", "properties",  "required", "additionalProperties",
        "items", "anyOf",
    };
    const struct json *inside;

    if (!schema || schema->kind != JSON_OBJECT || !is_closed(schema))
        return false;
    for (const struct json *m = schema->first; m; m = m->next) {
        if (str_index(m->key, known, sizeof known / sizeof *known) < 0)
            return false;
        if (str_is(m->key, "items") && !schema_is_strict(m))
            return false;
        if (!str_is(m->key, "properties") && !str_is(m->key, "anyOf"))
            continue;
        for (inside = m->first; inside; inside = inside->next)
            if (!schema_is_strict(inside))
                return false;
    }
    return true;
}

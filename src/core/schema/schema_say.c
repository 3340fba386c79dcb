/*
 * schema_say.c - says why a value does not fit: path first, then the rule.
 *
 * What is said goes to a model and into an event, so it is short, whole
 * UTF-8, and tells what would be right where that is known.
 */
#include "core/schema/schema_node.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

enum {
    PATH_BYTES_MAX = 256,
    VALUE_BYTES_MAX = 60,   /* of one value shown */
    VALUES_BYTES_MAX = 300, /* of all that are allowed */
};

/* a.b[2], and a["odd key"]. */
static bool plain_key(wend_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.ptr[i];

        if (c <= ' ' || c == 127 || strchr(".[]\"'\\,:", c))
            return false;
    }
    return key.len > 0;
}

static void put_step(struct buf *b, const struct schema_step *s)
{
    if (!s->key.ptr) {
        buf_fmt(b, "[%u]", s->index);
    } else if (plain_key(s->key)) {
        if (b->len)
            buf_char(b, '.');
        buf_str(b, s->key);
    } else {
        buf_char(b, '[');
        json_put_str(b, s->key);
        buf_char(b, ']');
    }
}

/* Recursion ends with the value, which JSON_DEPTH_MAX bounds. */
static void put_steps(struct buf *b, const struct schema_step *last)
{
    if (!last)
        return;
    put_steps(b, last->up);
    put_step(b, last);
}

static void put_path(struct buf *out, const struct schema_step *last)
{
    struct buf b = {.mem = out->mem};

    put_steps(&b, last);
    if (b.len)
        buf_add(out, b.ptr, utf8_cut(buf_view(&b), PATH_BYTES_MAX));
    else
        buf_cstr(out, "the value");
    if (last && last->name)
        buf_cstr(out, ", as a name,");
    out->failed |= b.failed;
    buf_free(&b);
}

static void put_value(struct buf *out, const struct json *v)
{
    struct buf b = {.mem = out->mem};

    json_put(&b, v);
    buf_add(out, b.ptr, utf8_cut(buf_view(&b), VALUE_BYTES_MAX));
    if (b.len > VALUE_BYTES_MAX)
        buf_cstr(out, "...");
    out->failed |= b.failed;
    buf_free(&b);
}

bool schema_wrong(struct schema_check *c, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    size_t len;

    if (!schema_speaks(c) || c->stopped)
        return false;
    va_start(ap, fmt);
    len = utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    put_path(c->why, c->path);
    buf_char(c->why, ' ');
    buf_add(c->why, text, len);
    return false;
}

bool schema_stop(struct schema_check *c, const char *why)
{
    if (c->stopped)
        return false;
    c->quiet = 0; /* whatever was tried, this is the answer */
    schema_wrong(c, "%s", why);
    c->stopped = true;
    return false;
}

bool schema_stop_nomem(struct schema_check *c)
{
    c->stopped = true;
    if (c->why)
        c->why->failed = true;
    return false;
}

static const char *type_of(const struct json *v)
{
    if (v->kind == JSON_TRUE || v->kind == JSON_FALSE)
        return "boolean";
    return json_kind_name(v->kind);
}

bool schema_wrong_type(struct schema_check *c, unsigned types,
                       const struct json *v)
{
    const char *word = "";

    if (!schema_speaks(c) || c->stopped)
        return false;
    if (types & 1u << TYPE_NUMBER)
        types &= ~(1u << TYPE_INTEGER);
    schema_wrong(c, "must be of type ");
    for (int i = 0; i < TYPE_COUNT; i++)
        if (types & 1u << i) {
            buf_fmt(c->why, "%s%s", word, schema_type_names[i]);
            word = " or ";
        }
    buf_fmt(c->why, ", not %s", type_of(v));
    return false;
}

bool schema_wrong_value(struct schema_check *c, const struct json *values,
                        const struct json *only)
{
    const struct json *one = only ? only : values->first;
    size_t from;

    if (!schema_speaks(c) || c->stopped)
        return false;
    schema_wrong(c, only  ? "must be "
                    : one ? "must be one of "
                          : "may be "
                            "nothing");
    from = c->why->len;
    for (; one && c->why->len - from <= VALUES_BYTES_MAX;
         one = only ? NULL : one->next) {
        buf_cstr(c->why, c->why->len > from ? ", " : "");
        put_value(c->why, one);
    }
    buf_cstr(c->why, one ? ", ..." : "");
    buf_cstr(c->why, only ? " (const)" : " (enum)");
    return false;
}

bool schema_wrong_property(struct schema_check *c,
                           const struct schema_object *o, wend_str key)
{
    const char *near;

    if (!schema_speaks(c) || c->stopped)
        return false;
    near = str_near(key, o->names, (int)o->names_count);
    schema_wrong(c, "has the unknown property '%.*s'", STR_ARGS(key));
    if (near)
        buf_fmt(c->why, "; did you mean '%s'?", near);
    else if (o->names_count && o->names_count <= 10)
        for (size_t i = 0; i < o->names_count; i++)
            buf_fmt(c->why, "%s'%s'", i ? ", " : "; known are ", o->names[i]);
    return false;
}

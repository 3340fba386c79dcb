/*
 * mcp_params.c - arguments of tools that go into headers, too.
 *
 * A schema says so by `x-mcp-header`, at a property that can be reached by
 * `properties` alone. Anywhere else, or with a name or a type that will not
 * do, it makes the tool unusable: the server would refuse every call.
 */
#include "base/header.h"
#include "base/utf8.h"
#include "wire/mcp/mcp_parts.h"

#define MARK "x-mcp-header"
#define ENCODED_HEAD "=?base64?"
#define ENCODED_TAIL "?="

enum { HEADER_MAX = 64 };

struct finder {
    struct arena *arena;
    struct mcp_param *first, **tail;
    size_t count;
    const char *wrong;
    wend_str path[JSON_DEPTH_MAX];
};

static void take(struct finder *f, const struct json *property, wend_str name,
                 size_t depth)
{
    static const char *const types[] = {"string", "integer", "boolean"};
    wend_str type = json_str(json_get(property, "type"));
    wend_str *path = arena_alloc(f->arena, (depth + 1) * sizeof *path);
    struct mcp_param *p = arena_alloc(f->arena, sizeof *p);

    if (!header_name_ok(name) || name.len > HEADER_MAX)
        f->wrong = MARK " is not a header name";
    else if (str_index(type, types, 3) < 0)
        f->wrong = MARK " is for strings, integers and booleans";
    else if (f->count == MCP_PARAMS_MAX)
        f->wrong = "too many " MARK;
    for (const struct mcp_param *q = f->first; q; q = q->next)
        if (str_same(q->header, name))
            f->wrong = "two " MARK " have one name";
    if (f->wrong || !path || !p)
        return;
    for (size_t i = 0; i < depth; i++)
        path[i] = arena_str(f->arena, f->path[i]);
    p->header = arena_str(f->arena, name);
    p->path = path;
    p->path_count = depth;
    *f->tail = p;
    f->tail = &p->next;
    f->count++;
}

/* Marks in places where none may be. Depth is bounded by the parser's. */
static size_t count_marks(const struct json *j)
{
    size_t n = 0;

    for (const struct json *c = j->first; c; c = c->next)
        n += count_marks(c) + (j->kind == JSON_OBJECT && str_is(c->key, MARK));
    return n;
}

static void walk(struct finder *f, const struct json *schema, size_t depth)
{
    const struct json *all = json_get(schema, "properties"), *mark;

    for (const struct json *p = all ? all->first : NULL; p && !f->wrong;
         p = p->next) {
        f->path[depth] = p->key;
        mark = json_get(p, MARK);
        if (mark)
            take(f, p, json_str(mark), depth + 1);
        walk(f, p, depth + 1);
    }
}

const char *mcp_params_find(const struct json *schema, struct arena *a,
                            const struct mcp_param **out)
{
    struct finder f = {.arena = a};
    size_t marks = count_marks(schema);

    f.tail = &f.first;
    if (marks)
        walk(&f, schema, 0);
    if (!f.wrong && f.count != marks && !a->failed)
        f.wrong = MARK " stands where it means nothing";
    *out = f.first;
    return f.wrong;
}

bool mcp_param_text(const struct mcp_param *p, const struct json *args,
                    struct buf *out)
{
    const struct json *j = args;
    int64_t n;

    for (size_t i = 0; i < p->path_count; i++)
        j = json_member(j, p->path[i]);
    if (!j || j->kind == JSON_NULL || j->kind == JSON_ARRAY ||
        j->kind == JSON_OBJECT)
        return false;
    if (j->kind == JSON_STRING)
        buf_str(out, j->text);
    else if (j->kind == JSON_NUMBER && json_i64(j, &n))
        buf_i64(out, n);
    else if (j->kind == JSON_NUMBER)
        return false;
    else
        buf_cstr(out, json_kind_name(j->kind));
    return true;
}

/* ---- Values -------------------------------------------------------------- */

static bool is_plain(wend_str s)
{
    if (!s.len || s.ptr[0] == ' ' || s.ptr[s.len - 1] == ' ')
        return !s.len;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < 0x20 || s.ptr[i] > 0x7e)
            return false;
    return !(str_starts(s, ENCODED_HEAD) && str_ends(s, ENCODED_TAIL));
}

static void put_base64(struct buf *b, wend_str s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < s.len; i += 3) {
        unsigned long w = 0;

        for (size_t k = 0; k < 3; k++)
            w = w << 8 | (i + k < s.len ? (unsigned char)s.ptr[i + k] : 0);
        buf_char(b, digits[w >> 18]);
        buf_char(b, digits[w >> 12 & 63]);
        buf_char(b, i + 1 < s.len ? digits[w >> 6 & 63] : '=');
        buf_char(b, i + 2 < s.len ? digits[w & 63] : '=');
    }
}

void mcp_put_header(struct buf *b, const char *name, wend_str value)
{
    buf_fmt(b, "%s: ", name);
    if (is_plain(value)) {
        buf_str(b, value);
    } else {
        buf_cstr(b, ENCODED_HEAD);
        put_base64(b, value);
        buf_cstr(b, ENCODED_TAIL);
    }
    buf_char(b, 0);
}

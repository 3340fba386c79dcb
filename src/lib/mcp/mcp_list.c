/*
 * mcp_list.c - a server's list of tools, for people: shown when it is used
 * first, and what differs from the one that was accepted.
 *
 * All of it goes through notes, a line each. The words are the server's, so
 * nothing in them may end a line or hide.
 */
#include "lib/mcp/mcp.h"

#include <string.h>

#include "base/utf8.h"

enum {
    LINES_MAX = 200,   /* of notes about one list */
    SHOWN_BYTES = 300, /* of a text, from where it differs */
    BEFORE_BYTES = 40, /* of what is the same before it */
};

struct telling {
    struct mcp_server *server;
    size_t lines;
};

/* ---- As JSON ------------------------------------------------------------- */

void mcp_list_put(struct buf *b, const struct mcp *m)
{
    json_open(b, NULL, '[');
    for (const struct mcp_tool *t = m->tools; t; t = t->next) {
        json_open(b, NULL, '{');
        json_add_str(b, "name", t->name);
        json_add_nullable(b, "description", t->description_all);
        json_add_nullable(b, "schema", t->schema_all);
        json_add_nullable(b, "annotations", t->annotations);
        json_close(b, '}');
    }
    json_close(b, ']');
}

/* ---- Words --------------------------------------------------------------- */

/* On one line, with nothing hidden in it; at most SHOWN_BYTES of it. */
static void put_visible(struct buf *b, wend_str text)
{
    size_t most = utf8_cut(text, SHOWN_BYTES), len;
    struct utf8_before before = {0};

    for (size_t i = 0; i < most; i += len) {
        wend_str rest = {text.ptr + i, text.len - i};
        uint32_t c = utf8_first(rest, &len);
        bool hides = utf8_hides(&before, c);

        if (c == '\n' || c == '\t' || c == '\r')
            buf_char(b, ' ');
        else if (hides)
            buf_cstr(b, "\xEF\xBF\xBD");
        else
            buf_add(b, rest.ptr, len);
    }
    if (most < text.len)
        buf_fmt(b, "... (%zu bytes more)", text.len - most);
}

/* Mark, name and what there is to say about it. */
static void tell(struct telling *t, const char *mark, wend_str name,
                 const char *what, wend_str text)
{
    struct buf b = {.mem = &t->server->mem};

    if (t->lines++ >= LINES_MAX)
        return;
    buf_cstr(&b, mark);
    put_visible(&b, name);
    buf_cstr(&b, what);
    put_visible(&b, text);
    if (!b.failed) {
        mcp_server_hide(t->server, b.ptr, b.len);
        mcp_server_note(t->server, "%s", b.ptr);
    }
    buf_free(&b);
}

static void end_telling(const struct telling *t)
{
    if (t->lines > LINES_MAX)
        mcp_server_note(t->server, "... and %zu lines more",
                        t->lines - LINES_MAX);
}

void mcp_list_tell(struct mcp_server *s)
{
    struct telling t = {.server = s};

    for (const struct mcp_tool *x = s->machine.tools; x; x = x->next)
        tell(&t, "+ ", x->name, ": ", x->description_all);
    end_telling(&t);
}

/* ---- Differences --------------------------------------------------------- */

/* Where two texts part, a little before it. */
static size_t parting(wend_str a, wend_str b)
{
    size_t n = 0, most = a.len < b.len ? a.len : b.len;

    while (n < most && a.ptr[n] == b.ptr[n])
        n++;
    return utf8_cut(a, n > BEFORE_BYTES ? n - BEFORE_BYTES : 0);
}

static wend_str behind(wend_str s, size_t n)
{
    return (wend_str){s.ptr + n, s.len - n};
}

static void tell_field(struct telling *t, wend_str name, const char *field,
                       wend_str was, wend_str is)
{
    struct buf what = {.mem = &t->server->mem};
    size_t from;

    if (str_eq(was, is))
        return;
    from = parting(was, is);
    buf_fmt(&what, ", %s was: %s", field, from ? "..." : "");
    tell(t, "- ", name, buf_view(&what).ptr, behind(was, from));
    buf_clear(&what);
    buf_fmt(&what, ", %s is: %s", field, from ? "..." : "");
    tell(t, "+ ", name, buf_view(&what).ptr, behind(is, from));
    buf_free(&what);
}

static const struct json *entry_named(const struct json *list, wend_str name)
{
    const struct json *j = list->first;

    while (j && !str_eq(json_str(json_get(j, "name")), name))
        j = j->next;
    return j;
}

static wend_str text_in(const struct json *entry, const char *key)
{
    return str_or(json_str(json_get(entry, key)), "");
}

static void compare(struct telling *t, const struct json *accepted)
{
    const struct mcp *m = &t->server->machine;

    for (const struct json *j = accepted->first; j; j = j->next)
        if (!mcp_tool_named(m, text_in(j, "name")))
            tell(t, "- ", text_in(j, "name"), " is gone", STR(""));
    for (const struct mcp_tool *x = m->tools; x; x = x->next) {
        const struct json *was = entry_named(accepted, x->name);

        if (!was) {
            tell(t, "+ ", x->name, " is new: ", x->description_all);
            continue;
        }
        tell_field(t, x->name, "description", text_in(was, "description"),
                   x->description_all);
        tell_field(t, x->name, "schema", text_in(was, "schema"), x->schema_all);
        tell_field(t, x->name, "annotations", text_in(was, "annotations"),
                   x->annotations);
    }
}

void mcp_list_differ(struct mcp_server *s, wend_str accepted)
{
    struct arena a = {.mem = &s->mem};
    struct telling t = {.server = s};
    const struct json *list =
        accepted.len ? json_parse(accepted, &a, NULL) : NULL;

    if (list && list->kind == JSON_ARRAY)
        compare(&t, list);
    else
        mcp_server_note(s, "the list that was accepted is not kept, so what "
                           "differs is not known");
    end_telling(&t);
    arena_free(&a);
}

/*
 * tape_diff.c - where two requests differ first, by byte and by meaning.
 *
 * Pure. Bodies that are JSON are walked side by side to the first value that
 * is not the same; other bodies are shown as bytes.
 */
#include "base/ascii.h"
#include "base/json.h"
#include "base/utf8.h"
#include "lib/model/tape.h"

enum {
    SHOWN_BEFORE = 24, /* bytes of a text before the difference ... */
    SHOWN_MAX = 72,    /* ... and in all */
    NAME_MAX_SHOWN = 64,
};

/* A pair of values, and their place among their siblings. */
struct pair {
    const struct pair *up;             /* they are inside of; NULL: the body */
    const struct json *recorded, *now; /* NULL: there is none */
    uint32_t index;
};

/* ---- Showing ------------------------------------------------------------- */

static size_t common(wend_str a, wend_str b)
{
    size_t n = a.len < b.len ? a.len : b.len, i = 0;

    while (i < n && a.ptr[i] == b.ptr[i])
        i++;
    return i;
}

/* The part of a text around the difference, in quotes. */
static void put_text(struct buf *out, wend_str text, size_t at)
{
    struct buf clean = {.mem = out->mem};
    size_t from = at > SHOWN_BEFORE ? at - SHOWN_BEFORE : 0, len;

    while (from && from < text.len && (text.ptr[from] & 0xc0) == 0x80)
        from--; /* whole characters */
    if (from)
        buf_cstr(&clean, "...");
    len = text.len - from;
    if (len > SHOWN_MAX)
        len = utf8_whole(text.ptr + from, SHOWN_MAX);
    utf8_repair(&clean, (wend_str){text.ptr + from, len});
    if (from + len < text.len)
        buf_cstr(&clean, "...");
    json_put_str(out, buf_view(&clean));
    out->failed |= clean.failed;
    buf_free(&clean);
}

static void put_texts(struct buf *out, wend_str recorded, wend_str now)
{
    size_t at = common(recorded, now);

    put_text(out, recorded, at);
    buf_cstr(out, ", now ");
    put_text(out, now, at);
}

static void put_value(struct buf *out, const struct json *j)
{
    struct buf text = {.mem = out->mem};

    if (!j) {
        buf_cstr(out, "nothing");
    } else if (j->kind == JSON_STRING) {
        put_text(out, j->text, 0);
    } else {
        json_put(&text, j);
        buf_add(out, buf_view(&text).ptr, utf8_cut(buf_view(&text), SHOWN_MAX));
        if (text.len > SHOWN_MAX)
            buf_cstr(out, "...");
        out->failed |= text.failed;
        buf_free(&text);
    }
}

static bool is_plain(wend_str name)
{
    size_t n = 0;

    while (n < name.len && is_word(name.ptr[n]))
        n++;
    return n && n == name.len;
}

static void put_name(struct buf *out, wend_str name, bool first)
{
    wend_str shown = {name.ptr, utf8_cut(name, NAME_MAX_SHOWN)};

    if (is_plain(shown)) {
        if (!first)
            buf_char(out, '.');
        buf_str(out, shown);
    } else {
        buf_char(out, '[');
        json_put_str(out, shown);
        buf_char(out, ']');
    }
}

/* messages[3].content */
static void put_path(struct buf *out, const struct pair *p)
{
    const struct json *j = p->recorded ? p->recorded : p->now;

    if (!p->up)
        return;
    put_path(out, p->up);
    if (p->up->recorded->kind == JSON_ARRAY)
        buf_fmt(out, "[%u]", p->index);
    else
        put_name(out, j->key, !p->up->up);
}

/* ---- Walking ------------------------------------------------------------- */

/* Whether both are the same but for their children. */
static bool same(const struct pair *p)
{
    const struct json *a = p->recorded, *b = p->now;

    return a && b && a->kind == b->kind && str_eq(a->key, b->key) &&
           str_eq(a->text, b->text);
}

static void put_pair(struct buf *out, const struct pair *p)
{
    const struct json *a = p->recorded, *b = p->now;

    if (a && b && !str_eq(a->key, b->key)) {
        buf_cstr(out, "recorded the member ");
        put_texts(out, a->key, b->key);
        return;
    }
    buf_cstr(out, "recorded ");
    if (a && b && a->kind == JSON_STRING && b->kind == JSON_STRING) {
        put_texts(out, a->text, b->text);
        return;
    }
    put_value(out, a);
    buf_cstr(out, ", now ");
    put_value(out, b);
}

/* Tells the first difference, child before sibling; false if there is none.
 * The parser bounds the depth. */
static bool diff_values(struct buf *out, const struct pair *p)
{
    struct pair c = {.up = p};

    if (!same(p)) {
        buf_cstr(out, p->up ? "" : "the body");
        put_path(out, p);
        buf_cstr(out, ": ");
        put_pair(out, p);
        return true;
    }
    c.recorded = p->recorded->first;
    c.now = p->now->first;
    for (; c.recorded || c.now; c.index++) {
        if (diff_values(out, &c))
            return true;
        c.recorded = c.recorded->next;
        c.now = c.now->next;
    }
    return false;
}

static void diff_bodies(struct buf *out, wend_str recorded, wend_str now)
{
    struct arena a = {.mem = out->mem};
    struct pair top = {.recorded = json_parse_own(recorded, &a, NULL),
                       .now = json_parse_own(now, &a, NULL)};

    if (!top.recorded || !top.now) {
        buf_cstr(out, "the body, which is not JSON: recorded ");
        put_texts(out, recorded, now);
    } else if (!diff_values(out, &top)) {
        buf_cstr(out, "the same values, written in another way");
    }
    out->failed |= a.failed;
    arena_free(&a);
}

/* ---- Requests ------------------------------------------------------------ */

static wend_str line_at(wend_str text, size_t at)
{
    size_t from = at, to = at;

    while (from && text.ptr[from - 1] != '\n')
        from--;
    while (to < text.len && text.ptr[to] != '\n')
        to++;
    return (wend_str){text.ptr + from, to - from};
}

/* Splits at the first empty line. */
static wend_str take_head(wend_str *text)
{
    const char *end =
        text->len ? memmem(text->ptr, text->len, "\n\n", 2) : NULL;
    wend_str head = *text;

    if (end)
        head.len = (size_t)(end - text->ptr) + 2;
    *text = str_skip(*text, head.len);
    return head;
}

bool tape_diff(struct buf *out, wend_str recorded, wend_str now)
{
    wend_str then_head = take_head(&recorded), now_head = take_head(&now);
    size_t at = common(then_head, now_head);

    if (!str_eq(then_head, now_head)) {
        buf_fmt(out, " at byte %zu of its head: %s: recorded ", at + 1,
                memchr(now_head.ptr, '\n', at) ? "a header" : "the URL");
        put_texts(out, line_at(then_head, at), line_at(now_head, at));
        return true;
    }
    at = common(recorded, now);
    if (at == recorded.len && at == now.len)
        return false;
    buf_fmt(out, " at byte %zu: ", at + 1);
    diff_bodies(out, recorded, now);
    return true;
}

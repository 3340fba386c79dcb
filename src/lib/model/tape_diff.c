/*
 * tape_diff.c - where two requests differ first, by byte and by meaning.
 *
 * Pure. Bodies that are JSON are walked side by side to the first value that
 * is not the same; of others the bytes are shown.
 */
#include "base/json.h"
#include "base/utf8.h"
#include "lib/model/tape.h"

enum {
    DEPTH_MAX = JSON_DEPTH_MAX + JSON_DEPTH_AROUND + 1,
    SHOWN_BEFORE = 24, /* bytes of a text before the difference ... */
    SHOWN_MAX = 72,    /* ... and in all */
    NAME_MAX_SHOWN = 64,
};

/* A pair of values, and their place among their siblings. */
struct pair {
    const struct json *recorded, *now; /* NULL: there is none */
    uint32_t index;
};

struct diff_walk {
    struct pair pairs[DEPTH_MAX];
    int depth; /* pairs in use */
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

static void put_value(struct buf *out, const struct json *j, size_t at)
{
    struct buf text = {.mem = out->mem};

    if (!j) {
        buf_cstr(out, "nothing");
    } else if (j->kind == JSON_STRING) {
        put_text(out, j->text, at);
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
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789_",
                    name.ptr[i]) ||
            !name.ptr[i])
            return false;
    return name.len > 0;
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
static void put_path(struct buf *out, const struct diff_walk *w)
{
    if (w->depth == 1)
        buf_cstr(out, "the body");
    for (int i = 1; i < w->depth; i++) {
        const struct pair *p = &w->pairs[i];
        const struct json *j = p->recorded ? p->recorded : p->now;

        if (w->pairs[i - 1].recorded->kind == JSON_ARRAY)
            buf_fmt(out, "[%u]", p->index);
        else
            put_name(out, j->key, i == 1);
    }
}

/* ---- Walking ------------------------------------------------------------- */

/* Whether both are the same but for their children. */
static bool same(const struct pair *p)
{
    const struct json *a = p->recorded, *b = p->now;

    return a && b && a->kind == b->kind && str_eq(a->key, b->key) &&
           str_eq(a->text, b->text);
}

static void push(struct diff_walk *w, const struct json *a,
                 const struct json *b, uint32_t index)
{
    w->pairs[w->depth++] = (struct pair){a, b, index};
}

/* Moves to the first pair that differs, child before sibling. False if
 * there is none. */
static bool find(struct diff_walk *w)
{
    while (w->depth) {
        struct pair p = w->pairs[w->depth - 1];

        if (!same(&p))
            return true;
        if (p.recorded->first || p.now->first) {
            push(w, p.recorded->first, p.now->first, 0);
            continue;
        }
        do {
            p = w->pairs[--w->depth];
        } while (w->depth && !p.recorded->next && !p.now->next);
        if (w->depth)
            push(w, p.recorded->next, p.now->next, p.index + 1);
    }
    return false;
}

static void put_pair(struct buf *out, const struct pair *p, bool named)
{
    const struct json *a = p->recorded, *b = p->now;
    size_t at = 0;

    if (named && a && b && !str_eq(a->key, b->key)) {
        buf_cstr(out, "recorded the member ");
        put_text(out, a->key, 0);
        buf_cstr(out, ", now ");
        put_text(out, b->key, 0);
        return;
    }
    if (a && b && a->kind == JSON_STRING && b->kind == JSON_STRING)
        at = common(a->text, b->text);
    buf_cstr(out, "recorded ");
    put_value(out, a, at);
    buf_cstr(out, ", now ");
    put_value(out, b, at);
}

static void diff_bodies(struct buf *out, wend_str recorded, wend_str now)
{
    struct arena a = {.mem = out->mem};
    struct diff_walk w = {.depth = 0};
    struct json *x = json_parse_own(recorded, &a, NULL);
    struct json *y = json_parse_own(now, &a, NULL);
    size_t at = common(recorded, now);

    if (x && y)
        push(&w, x, y, 0);
    if (!x || !y) {
        buf_cstr(out, "the body, which is no JSON: recorded ");
        put_text(out, recorded, at);
        buf_cstr(out, ", now ");
        put_text(out, now, at);
    } else if (find(&w)) {
        put_path(out, &w);
        buf_cstr(out, ": ");
        put_pair(out, &w.pairs[w.depth - 1], w.depth > 1);
    } else {
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
    wend_str a, b;

    if (!str_eq(then_head, now_head)) {
        a = line_at(then_head, at);
        b = line_at(now_head, at);
        buf_fmt(out, " at byte %zu of its head: %s: recorded ", at + 1,
                memchr(now_head.ptr, '\n', at) ? "a header" : "the URL");
        put_text(out, a, common(a, b));
        buf_cstr(out, ", now ");
        put_text(out, b, common(a, b));
        return true;
    }
    at = common(recorded, now);
    if (at == recorded.len && at == now.len)
        return false;
    buf_fmt(out, " at byte %zu: ", at + 1);
    diff_bodies(out, recorded, now);
    return true;
}

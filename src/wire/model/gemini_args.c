/*
 * gemini_args.c - a call's arguments out of pieces with a path each.
 *
 * Paths are the plain part of JSONPath: `.name`, `[3]`, `['name']`. A piece
 * for a value that is complete, or of another kind than its path says, fits
 * nowhere: servers have been seen to send such, and guessing would give the
 * tool arguments that nobody wrote.
 */
#include "wire/model/gemini_args.h"

#include "base/limits.h"

enum {
    ITEMS_MAX = 1 << 14, /* of a list; a gap is filled with null */
    NODE_BYTES = 16,     /* of ARGS_BYTES_MAX, for each value */
    STRING_CAP_MIN = 32, /* then doubling */
    PATH_MAX_STEPS = JSON_DEPTH_MAX - 2,
};

/* JSON_NULL also while nothing is known but that it is there. */
struct arg {
    enum json_kind kind;
    bool set, open;
    wend_str key;
    char *text; /* of a string or a number */
    size_t len, cap;
    uint32_t count;
    struct join join; /* of a string's pieces */
    struct arg *first, *last, *next;
};

/* One step of a path. */
struct step {
    bool index;
    size_t number;
    wend_str name;
};

static struct arg *add_child(struct args *a, struct arg *parent, wend_str key)
{
    struct arg *c;

    a->bytes += NODE_BYTES + key.len;
    if (a->bytes > ARGS_BYTES_MAX) {
        a->broken = true;
        return NULL;
    }
    c = arena_alloc(&a->arena, sizeof *c);
    if (!c)
        return NULL;
    c->key = arena_str(&a->arena, key);
    if (parent->last)
        parent->last->next = c;
    else
        parent->first = c;
    parent->last = c;
    parent->count++;
    return c;
}

static struct arg *member(struct args *a, struct arg *parent, wend_str name)
{
    struct arg *c;

    /* Mostly it is the one that was spoken of before. */
    if (parent->last && str_eq(parent->last->key, name))
        return parent->last;
    for (c = parent->first; c; c = c->next)
        if (str_eq(c->key, name))
            return c;
    return add_child(a, parent, name);
}

static struct arg *element(struct args *a, struct arg *parent, size_t number)
{
    struct arg *c = parent->first;

    if (parent->count && number == parent->count - 1)
        return parent->last;
    if (number < parent->count) {
        while (number--)
            c = c->next;
        return c;
    }
    do
        c = add_child(a, parent, STR(""));
    while (c && parent->count <= number);
    return c;
}

static struct arg *descend(struct args *a, struct arg *at,
                           const struct step *step)
{
    enum json_kind kind = step->index ? JSON_ARRAY : JSON_OBJECT;

    if (at->set && at->kind != kind) {
        a->broken = true;
        return NULL;
    }
    at->set = true;
    at->kind = kind;
    return step->index ? element(a, at, step->number)
                       : member(a, at, step->name);
}

/* ---- Paths --------------------------------------------------------------- */

static bool step_number(wend_str *path, struct step *out)
{
    size_t i = 1;

    out->index = true;
    for (; i < path->len && path->ptr[i] >= '0' && path->ptr[i] <= '9'; i++) {
        out->number = out->number * 10 + (size_t)(path->ptr[i] - '0');
        if (out->number >= ITEMS_MAX)
            return false;
    }
    if (i == 1 || i == path->len || path->ptr[i] != ']')
        return false;
    path->ptr += i + 1;
    path->len -= i + 1;
    return true;
}

/* ['name'] or ["name"], without escapes: no server has been seen to need
 * them. */
static bool step_quoted(wend_str *path, struct step *out)
{
    const char *from = path->ptr + 2, *end = path->ptr + path->len;
    const char *to = memchr(from, path->ptr[1], (size_t)(end - from));

    if (!to || to + 1 >= end || to[1] != ']')
        return false;
    out->name = (wend_str){from, (size_t)(to - from)};
    path->ptr = to + 2;
    path->len = (size_t)(end - path->ptr);
    return true;
}

static bool step_name(wend_str *path, struct step *out)
{
    size_t i = 1;

    while (i < path->len && path->ptr[i] != '.' && path->ptr[i] != '[')
        i++;
    if (i == 1)
        return false;
    out->name = (wend_str){path->ptr + 1, i - 1};
    path->ptr += i;
    path->len -= i;
    return true;
}

static bool next_step(wend_str *path, struct step *out)
{
    memset(out, 0, sizeof *out);
    if (path->ptr[0] == '.')
        return step_name(path, out);
    if (path->ptr[0] != '[' || path->len < 3)
        return false;
    if (path->ptr[1] == '\'' || path->ptr[1] == '"')
        return step_quoted(path, out);
    return step_number(path, out);
}

static struct arg *place(struct args *a, wend_str path)
{
    struct arg *at = a->root;
    struct step step;

    if (!str_starts(path, "$")) {
        a->broken = true;
        return NULL;
    }
    path.ptr++;
    path.len--;
    for (int steps = 0; at && path.len; steps++) {
        if (steps == PATH_MAX_STEPS || !next_step(&path, &step))
            at = NULL;
        else
            at = descend(a, at, &step);
    }
    if (!at)
        a->broken = true;
    return at;
}

/* ---- Values -------------------------------------------------------------- */

static void append(struct args *a, struct arg *at, wend_str s)
{
    a->bytes += s.len;
    if (a->bytes > ARGS_BYTES_MAX) {
        a->broken = true;
        return;
    }
    if (at->len + s.len > at->cap || !at->text) {
        size_t cap = at->cap ? at->cap * 2 : STRING_CAP_MIN;
        char *text;

        while (cap < at->len + s.len)
            cap *= 2;
        text = arena_chars(&a->arena, cap);
        if (!text)
            return;
        if (at->len)
            memcpy(text, at->text, at->len);
        at->text = text;
        at->cap = cap;
    }
    if (s.len)
        memcpy(at->text + at->len, s.ptr, s.len);
    at->len += s.len;
}

static void set(struct args *a, struct arg *at, enum json_kind kind,
                wend_str text)
{
    if (at->set && !(at->open && at->kind == kind && kind == JSON_STRING)) {
        a->broken = true;
        return;
    }
    at->set = true;
    at->kind = kind;
    append(a, at, text);
}

static bool is_true(const struct json *j)
{
    return j && j->kind == JSON_TRUE;
}

static void take_string(struct args *a, struct arg *at, wend_str piece,
                        bool goes_on)
{
    set(a, at, JSON_STRING, join_piece(&at->join, a->cuts, piece, &a->arena));
    if (!goes_on)
        append(a, at, join_rest(&at->join));
}

static void take(struct args *a, const struct json *piece)
{
    const struct json *string = json_get(piece, "stringValue");
    const struct json *number = json_get(piece, "numberValue");
    const struct json *boolean = json_get(piece, "boolValue");
    bool goes_on = is_true(json_get(piece, "willContinue"));
    struct arg *at = place(a, json_str(json_get(piece, "jsonPath")));

    if (!at)
        return;
    if (string)
        take_string(a, at, json_str(string), goes_on);
    else if (number && number->kind == JSON_NUMBER)
        set(a, at, JSON_NUMBER, number->text);
    else if (boolean)
        set(a, at, is_true(boolean) ? JSON_TRUE : JSON_FALSE, STR_NONE);
    else if (json_get(piece, "nullValue"))
        set(a, at, JSON_NULL, STR_NONE);
    a->open += goes_on;
    a->open -= at->open;
    at->open = goes_on;
}

/* Recursion ends with the tree, which PATH_MAX_STEPS bounds. */
static void put(struct buf *out, const struct arg *at)
{
    bool object = at->kind == JSON_OBJECT;

    switch (at->kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE: buf_cstr(out, json_kind_name(at->kind)); return;
    case JSON_NUMBER: buf_add(out, at->text, at->len); return;
    case JSON_STRING: json_put_str(out, (wend_str){at->text, at->len}); return;
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    }
    buf_char(out, object ? '{' : '[');
    for (const struct arg *c = at->first; c; c = c->next) {
        if (c != at->first)
            buf_char(out, ',');
        if (object) {
            json_put_str(out, c->key);
            buf_char(out, ':');
        }
        put(out, c);
    }
    buf_char(out, object ? '}' : ']');
}

void args_take(struct args *a, const struct json *pieces,
               const struct json_cuts *cuts)
{
    a->cuts = cuts;
    if (!a->root) {
        a->root = arena_alloc(&a->arena, sizeof *a->root);
        if (!a->root)
            return;
        a->root->set = true;
        a->root->kind = JSON_OBJECT;
    }
    if (!pieces || pieces->kind != JSON_ARRAY)
        return;
    for (const struct json *p = pieces->first; p; p = p->next)
        if (!a->broken && !a->arena.failed)
            take(a, p);
}

void args_put(const struct args *a, struct buf *out)
{
    if (a->broken)
        buf_cstr(out, "arguments streamed with paths that do not fit");
    else if (a->root)
        put(out, a->root);
    else
        buf_cstr(out, "{}");
}

void args_reset(struct args *a)
{
    const struct mem *m = a->arena.mem;

    arena_free(&a->arena);
    memset(a, 0, sizeof *a);
    a->arena.mem = m;
}

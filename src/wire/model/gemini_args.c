/*
 * gemini_args.c - a call's arguments out of pieces with a path each:
 *
 *     {"jsonPath":"$.city.name","stringValue":"Bos","willContinue":true}
 *
 * Paths are the plain part of JSONPath: `.name`, `[3]`, `['name']`. Servers
 * have been seen to send a piece for a complete value, or of another kind than
 * its path says. It fits nowhere: a guess would make up arguments.
 */
#include "wire/model/parts.h"

#include "base/limits.h"

enum {
    ITEMS_MAX = 1 << 14, /* of a list; a gap is filled with null */
    NODE_BYTES = 16,     /* of ARGS_BYTES_MAX, for each value */
    STRING_CAP_MIN = 32, /* then doubling */
    PATH_MAX_STEPS = JSON_DEPTH_MAX - 2,
};

/* The value is null also while nothing is known but that it is there. */
struct arg {
    struct json value; /* its children are args, too */
    bool set, open;
    size_t cap;       /* of a string's text */
    struct join join; /* of a string's pieces */
    struct arg *last;
};

static struct arg *arg_of(const struct json *value)
{
    return value ? container_of(value, struct arg, value) : NULL;
}

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
    c->value.key = arena_str(&a->arena, key);
    if (parent->last)
        parent->last->value.next = &c->value;
    else
        parent->value.first = &c->value;
    parent->last = c;
    parent->value.count++;
    return c;
}

static struct arg *member(struct args *a, struct arg *parent, wend_str name)
{
    const struct json *c;

    /* Mostly the same as in the piece before. */
    if (parent->last && str_eq(parent->last->value.key, name))
        return parent->last;
    c = json_member(&parent->value, name);
    return c ? arg_of(c) : add_child(a, parent, name);
}

static struct arg *element(struct args *a, struct arg *parent, size_t number)
{
    const struct json *at = parent->value.first;
    struct arg *c;

    if (parent->value.count && number == parent->value.count - 1)
        return parent->last;
    if (number < parent->value.count) {
        while (number--)
            at = at->next;
        return arg_of(at);
    }
    do
        c = add_child(a, parent, STR(""));
    while (c && parent->value.count <= number);
    return c;
}

/* ---- Paths --------------------------------------------------------------- */

/* [3]: an index; or ['name'] or ["name"], without escapes: no server has been
 * seen to need them. Takes the text in the brackets off the path. */
static bool take_brackets(wend_str *path, wend_str *name, int64_t *index)
{
    bool quoted = path->len > 2 && memchr("'\"", path->ptr[1], 2);
    size_t from = quoted ? 2 : 1;
    char last = quoted ? path->ptr[1] : ']';
    const char *end = memchr(path->ptr + from, last, path->len - from);

    if (!end)
        return false;
    *name = (wend_str){path->ptr + from, (size_t)(end - path->ptr) - from};
    *path = str_skip(*path, name->len + from + quoted);
    if (!str_starts(*path, "]"))
        return false;
    *path = str_skip(*path, 1);
    return quoted || (str_to_i64(*name, index) && *index < ITEMS_MAX);
}

static bool take_name(wend_str *path, wend_str *name)
{
    size_t len = 1;

    while (len < path->len && !memchr(".[", path->ptr[len], 2))
        len++;
    *name = (wend_str){path->ptr + 1, len - 1};
    *path = str_skip(*path, len);
    return name->len;
}

/* One step from a value to the next; NULL: it fits nowhere, or there is no
 * memory. */
static struct arg *descend(struct args *a, struct arg *at, wend_str *path)
{
    enum json_kind kind;
    int64_t index = -1;
    wend_str name;

    if (path->ptr[0] == '.'
            ? !take_name(path, &name)
            : path->ptr[0] != '[' || !take_brackets(path, &name, &index))
        return NULL;
    kind = index >= 0 ? JSON_ARRAY : JSON_OBJECT;
    if (at->set && at->value.kind != kind)
        return NULL;
    at->set = true;
    at->value.kind = kind;
    return index >= 0 ? element(a, at, (size_t)index) : member(a, at, name);
}

static struct arg *place(struct args *a, wend_str path)
{
    struct arg *at = str_starts(path, "$") ? a->root : NULL;

    if (at)
        path = str_skip(path, 1);
    for (int steps = 0; at && path.len; steps++)
        at = steps < PATH_MAX_STEPS ? descend(a, at, &path) : NULL;
    if (!at)
        a->broken = true;
    return at;
}

/* ---- Values -------------------------------------------------------------- */

static void append(struct args *a, struct arg *at, wend_str s)
{
    wend_str *text = &at->value.text;

    a->bytes += s.len;
    if (a->bytes > ARGS_BYTES_MAX) {
        a->broken = true;
        return;
    }
    if (text->len + s.len > at->cap || !text->ptr) {
        size_t cap = at->cap ? at->cap * 2 : STRING_CAP_MIN;
        char *larger;

        while (cap < text->len + s.len)
            cap *= 2;
        larger = arena_chars(&a->arena, cap);
        if (!larger)
            return;
        if (text->len)
            memcpy(larger, text->ptr, text->len);
        text->ptr = larger;
        at->cap = cap;
    }
    if (s.len) /* the arena's, see above */
        memcpy((char *)(uintptr_t)text->ptr + text->len, s.ptr, s.len);
    text->len += s.len;
}

static void set(struct args *a, struct arg *at, enum json_kind kind,
                wend_str text)
{
    if (at->set &&
        !(at->open && at->value.kind == kind && kind == JSON_STRING)) {
        a->broken = true;
        return;
    }
    at->set = true;
    at->value.kind = kind;
    append(a, at, text);
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
    bool goes_on = json_is_true(json_get(piece, "willContinue"));
    struct arg *at = place(a, json_get_str(piece, "jsonPath"));

    if (!at)
        return;
    if (string)
        take_string(a, at, json_str(string), goes_on);
    else if (number && number->kind == JSON_NUMBER)
        set(a, at, JSON_NUMBER, number->text);
    else if (boolean)
        set(a, at, json_is_true(boolean) ? JSON_TRUE : JSON_FALSE, STR_NONE);
    else if (json_get(piece, "nullValue"))
        set(a, at, JSON_NULL, STR_NONE);
    a->open += goes_on;
    a->open -= at->open;
    at->open = goes_on;
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
        a->root->value.kind = JSON_OBJECT;
    }
    for (const struct json *p = json_items(pieces); p; p = p->next)
        if (!a->broken && !a->arena.failed)
            take(a, p);
}

void args_put(const struct args *a, struct buf *out)
{
    if (a->broken)
        buf_cstr(out, "arguments streamed with paths that do not fit");
    else if (a->root)
        json_put(out, &a->root->value);
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

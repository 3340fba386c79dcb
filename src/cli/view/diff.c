/*
 * diff.c - the first difference between two events.
 *
 * Ids, times and values derived from them always differ between runs and are
 * ignored. Calls have different ids in each run; two calls are equal if their
 * ids correspond everywhere. Memory never fails here (cli_mem).
 */
#include "cli/view/diff.h"

struct diff_id {
    struct diff_id *next;
    wend_str a, b;
};

static const char *const ignored[] = {
    "run",
    "seq",
    "time",
    "turn_id",
    "data.id", /* of a turn */
    "data.parent_id",
    "data.key",
    "data.correlation_id",
    "data.parent_run",
    "data.parent",
    "data.run",
    "data.prefix_hash",
    "data.epoch",
    "data.ms",
    "data.first_token_ms",
    "data.delay_ms",
    "data.metrics.ms",
    "data.metrics.first_token_ms",
};

static bool is_ignored(const struct diff *d)
{
    wend_str path = buf_view(&d->path);

    if (d->resumed && str_starts(path, "data.metrics."))
        return true; /* they include the interrupted attempt */
    return !d->exact &&
           str_index(path, ignored, sizeof ignored / sizeof *ignored) >= 0;
}

/* data.call, or data.calls[N].id */
static bool is_call_id(const struct diff *d)
{
    wend_str path = buf_view(&d->path);
    size_t at;

    if (d->exact)
        return false;
    if (str_is(path, "data.call") || str_is(path, "data.parent_call"))
        return true;
    if (!str_starts(path, "data.calls["))
        return false;
    for (at = strlen("data.calls["); path.ptr[at] != ']';)
        at++;
    return str_is((wend_str){path.ptr + at, path.len - at}, "].id");
}

static bool same_id(struct diff *d, wend_str a, wend_str b)
{
    struct diff_id *id;

    for (id = d->ids; id; id = id->next)
        if (str_eq(id->a, a) || str_eq(id->b, b))
            return str_eq(id->a, a) && str_eq(id->b, b);
    id = arena_alloc(&d->arena, sizeof *id);
    id->a = arena_str(&d->arena, a);
    id->b = arena_str(&d->arena, b);
    id->next = d->ids;
    d->ids = id;
    return true;
}

static bool same(struct diff *d, const struct json *a, const struct json *b);

static bool same_members(struct diff *d, const struct json *a,
                         const struct json *b)
{
    size_t len = d->path.len;

    for (const struct json *m = a->first; m; m = m->next) {
        buf_fmt(&d->path, "%s%.*s", len ? "." : "", (int)m->key.len,
                m->key.ptr);
        if (!same(d, m, json_member(b, m->key)))
            return false;
        d->path.len = len;
    }
    for (const struct json *m = b->first; m; m = m->next) {
        buf_fmt(&d->path, "%s%.*s", len ? "." : "", (int)m->key.len,
                m->key.ptr);
        if (!json_member(a, m->key) && !same(d, NULL, m))
            return false;
        d->path.len = len;
    }
    return true;
}

static bool same_items(struct diff *d, const struct json *a,
                       const struct json *b)
{
    const struct json *x = a->first, *y = b->first;
    size_t len = d->path.len;

    for (int i = 0; x || y; i++) {
        buf_fmt(&d->path, "[%d]", i);
        if (!same(d, x, y))
            return false;
        d->path.len = len;
        x = x ? x->next : NULL;
        y = y ? y->next : NULL;
    }
    return true;
}

/* As deep as JSON may be, JSON_DEPTH_MAX and a little. */
static bool same(struct diff *d, const struct json *a, const struct json *b)
{
    bool both = a && b && a->kind == b->kind;

    if (is_ignored(d))
        return true;
    if (both && a->kind == JSON_OBJECT)
        return same_members(d, a, b);
    if (both && a->kind == JSON_ARRAY)
        return same_items(d, a, b);
    if (both &&
        (a->kind == JSON_STRING && is_call_id(d) ? same_id(d, a->text, b->text)
                                                 : json_equal(a, b)))
        return true;
    d->a = a;
    d->b = b;
    return false;
}

bool diff_same(struct diff *d, const struct json *a, const struct json *b)
{
    buf_clear(&d->path);
    d->a = d->b = NULL;
    return same(d, a, b);
}

/*
 * veil.c - secrets of an agent in what its model says.
 *
 * A model may have put together what was kept from it, or been told by
 * others. Its answer comes in pieces that are shown and logged at once.
 */
#include "lib/run/child.h"
#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

/* How much of each secret an answer's texts end in. */
struct veil {
    int64_t ask; /* the answer */
    int call;    /* whose arguments came last */
    size_t count;
    struct redact *list; /* VEILS times count */
};

static const struct wend_run *above(const struct wend_run *r)
{
    return r->child ? r->child->parent : NULL;
}

static size_t count_secrets(const struct wend_run *r)
{
    size_t n = 0;

    for (; r; r = above(r))
        n += r->agent->keys_count;
    return n;
}

/* For an answer that begins, or after the agent got another secret. */
static bool begin(struct veil *v, const struct wend_run *r, size_t count,
                  int64_t ask, struct arena *a)
{
    size_t n = 0;

    if (v->count < count) {
        v->list = arena_alloc(a, VEILS * count * sizeof *v->list);
        v->count = 0;
        if (!v->list)
            return false;
    }
    v->count = count;
    for (; r; r = above(r))
        for (size_t i = 0; i < r->agent->keys_count; i++, n++)
            for (size_t k = 0; k < VEILS; k++)
                v->list[k * count + n] =
                    (struct redact){.secret = r->agent->keys[i]};
    assert(n == count);
    v->ask = ask;
    v->call = -1;
    return true;
}

wend_str veil_piece(struct wend_run *r, struct veil **v, struct arena *a,
                    int64_t ask, enum veil_what what, int call, wend_str piece,
                    struct buf *room)
{
    size_t count = count_secrets(r);

    if (!count)
        return piece;
    if (!*v)
        *v = arena_alloc(a, sizeof **v);
    buf_str(room, piece);
    if (!*v || room->failed ||
        (((*v)->ask != ask || (*v)->count != count) &&
         !begin(*v, r, count, ask, a))) {
        shell_fail(r, WEND_E_NOMEM, "out of memory");
        return STR("");
    }
    for (size_t i = 0; i < count; i++) {
        struct redact *s = &(*v)->list[(size_t)what * count + i];

        if (what == VEIL_ARGS && (*v)->call != call)
            s->matched = 0;
        redact(s, room->ptr, room->len);
    }
    if (what == VEIL_ARGS)
        (*v)->call = call;
    return buf_view(room);
}

/*
 * memory_inbox.c - requests to runs of the memory store: a list, oldest first.
 */
#include "base/fail.h"

#include <assert.h>
#include "store/memory/memory.h"

static size_t count_of(const struct memory_store *m, wend_str run)
{
    size_t count = 0;

    for (const struct memory_request *q = m->inbox; q; q = q->next)
        count += str_eq(q->view.run, run);
    return count;
}

static wend_status add(struct memory_store *m, const struct memory_run *r,
                       struct memory_request *q, int64_t *id, wend_error *err)
{
    wend_status s = store_postable(q->view.run, r->summary.ended_us,
                                   (int64_t)count_of(m, q->view.run), err);

    if (s != WEND_OK)
        return s;
    q->view.id = ++m->request_id;
    *m->inbox_last = q;
    m->inbox_last = &q->next;
    if (id)
        *id = q->view.id;
    return WEND_OK;
}

wend_status memory_post(wend_store *s, wend_str run, const char *what,
                        wend_str body, int64_t *id, wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    struct store_request view = {
        .run = run, .what = str_of(what), .body = body};
    wend_str *const texts[] = {&view.run, &view.what, &view.body, NULL};
    struct memory_request *q = store_block(&s->mem, sizeof *q, texts);
    wend_status status = WEND_E_NOTFOUND;
    struct memory_run *r;

    if (!q)
        return fail_nomem(err);
    q->view = view;
    pthread_mutex_lock(&m->lock);
    r = memory_run_known(m, run, err);
    if (r)
        status = add(m, r, q, id, err);
    pthread_mutex_unlock(&m->lock);
    if (status != WEND_OK)
        mem_free(&s->mem, q);
    return status;
}

/* The oldest one that waits and is newer than `id`. */
static const struct memory_request *after(const struct memory_store *m,
                                          int64_t id)
{
    const struct memory_request *q = m->inbox;

    while (q && (q->late || q->view.id <= id))
        q = q->next;
    return q;
}

/* fn may lead to a batch that deals with requests and changes the list: each
 * time it is searched anew. */
wend_status memory_take(wend_store *s, store_request_fn fn, void *ctx,
                        wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    const struct memory_request *q;
    int64_t id = 0;

    (void)err;
    pthread_mutex_lock(&m->lock);
    while ((q = after(m, id))) {
        id = q->view.id;
        fn(ctx, &q->view);
    }
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

wend_status memory_waiting(wend_store *s, wend_str run, struct arena *a,
                           struct store_request **out, size_t *count,
                           wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;

    *count = 0;
    pthread_mutex_lock(&m->lock);
    *out = arena_alloc(a, (count_of(m, run) + 1) * sizeof **out);
    for (const struct memory_request *q = m->inbox; *out && q; q = q->next)
        if (!q->late && str_eq(q->view.run, run))
            (*out)[(*count)++] = (struct store_request){
                .id = q->view.id,
                .run = arena_str(a, q->view.run),
                .what = arena_str(a, q->view.what),
                .body = arena_str(a, q->view.body),
            };
    pthread_mutex_unlock(&m->lock);
    return a->failed ? fail_nomem(err) : WEND_OK;
}

static struct memory_request **find(struct memory_store *m, int64_t id)
{
    struct memory_request **link = &m->inbox;

    while (*link && (*link)->view.id != id)
        link = &(*link)->next;
    return link;
}

static void drop(struct memory_store *m, struct memory_request **link)
{
    struct memory_request *q = *link;

    assert(q);
    *link = q->next;
    if (!*link)
        m->inbox_last = link;
    mem_free(&m->base.mem, q);
}

wend_status memory_fate(wend_store *s, int64_t id, enum store_fate *out,
                        wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    struct memory_request **link;

    (void)err;
    pthread_mutex_lock(&m->lock);
    link = find(m, id);
    *out = !*link ? FATE_HEARD : (*link)->late ? FATE_LATE : FATE_WAITS;
    if (*out == FATE_LATE)
        drop(m, link);
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

static bool hears(const struct store_batch *b, int64_t id)
{
    for (size_t i = 0; i < b->heard_count; i++)
        if (b->heard[i].id == id)
            return true;
    return false;
}

bool memory_inbox_lets(const struct memory_store *m,
                       const struct store_batch *b)
{
    for (const struct memory_request *q = b->summary.ended_us ? m->inbox : NULL;
         q; q = q->next)
        if (!q->late && str_eq(q->view.run, b->run) && !hears(b, q->view.id))
            return false;
    return true;
}

void memory_inbox_heard(struct memory_store *m, const struct store_batch *b)
{
    for (size_t i = 0; i < b->heard_count; i++) {
        struct memory_request **link = find(m, b->heard[i].id);

        if (*link && b->heard[i].late)
            (*link)->late = true;
        else if (*link)
            drop(m, link);
    }
}

void memory_inbox_drop(struct memory_store *m, wend_str run)
{
    struct memory_request **link = &m->inbox;

    while (*link)
        if (str_eq((*link)->view.run, run))
            drop(m, link);
        else
            link = &(*link)->next;
}

/*
 * sim_store.c - a store that is slow, fails, and forgets with its process.
 *
 * It is the store in memory with a few operations of its own. A batch that was
 * appended waits for its time; it may be lost until its appender is told that
 * it is safe.
 */
#include <assert.h>

#include "base/fail.h"
#include "lib/sim/sim.h"

enum { COMMIT_MS_MAX = 40 };

struct held_batch {
    struct held_batch *next;
    struct store_batch *batch;
    int64_t due_us;
};

static struct sim_store *of(const wend_store *s)
{
    return (struct sim_store *)(uintptr_t)s->ops;
}

/* ---- Committing ---------------------------------------------------------- */

static struct store_batch *take_first(struct sim_store *s)
{
    struct held_batch *w = s->first;
    struct store_batch *b = w->batch;

    assert(!w->next || w->next->due_us >= w->due_us); /* in order */
    s->first = w->next;
    if (!s->first)
        s->tail = &s->first;
    mem_free(&s->mem, w);
    return b;
}

static void note_status(struct store_batch *b, wend_status s)
{
    *(wend_status *)b->ctx = s;
}

/* Its appender is not told. */
static wend_status commit(struct sim_store *s, const struct store_batch *b)
{
    struct store_batch copy = *b;
    wend_status st = WEND_E_NOMEM;

    copy.done = note_status;
    copy.ctx = &st;
    s->real->append(s->store, &copy);
    return st;
}

/* After a failure only a fresh look at the disk tells what it holds. */
static wend_status commit_or_fail(struct sim_store *s,
                                  const struct store_batch *b)
{
    if (s->failed)
        return WEND_E_STORE;
    if (!s->fails)
        return commit(s, b);
    s->failed = true;
    if (chance_of(s->chance, 500))
        commit(s, b);
    return WEND_E_STORE;
}

static void on_due(struct world_event *e)
{
    struct sim_store *s = container_of(e, struct sim_store, event);

    while (s->first && s->first->due_us <= s->world->clock_us) {
        struct store_batch *b = take_first(s);
        wend_status st = commit_or_fail(s, b);

        if (st == WEND_OK && b->events_count && str_is(b->run, s->watched))
            s->acked_seq = b->events[b->events_count - 1].seq;
        b->done(b, st);
    }
    if (s->first)
        world_at(s->world, &s->event, s->first->due_us);
}

static void append(wend_store *base, struct store_batch *b)
{
    struct sim_store *s = of(base);
    struct held_batch *w = mem_zalloc(&s->mem, sizeof *w);
    int64_t due_us = s->world->clock_us +
                     (int64_t)chance_below(s->chance, COMMIT_MS_MAX) * 1000;

    if (!w) {
        b->done(b, WEND_E_NOMEM);
        return;
    }
    if (due_us > s->due_us)
        s->due_us = due_us;
    w->batch = b;
    w->due_us = s->due_us;
    *s->tail = w;
    s->tail = &w->next;
    if (!s->event.set)
        world_at(s->world, &s->event, s->first->due_us);
}

static wend_status failure(wend_store *s, wend_error *err)
{
    return of(s)->failed ? fail(err, WEND_E_STORE, "the simulated disk failed")
                         : WEND_OK;
}

static void store_end(wend_store *base)
{
    struct sim_store *s = of(base);
    struct mem m = s->mem;

    sim_store_crash(s);
    s->real->free(base);
    mem_free(&m, s);
}

/* ---- For the simulation -------------------------------------------------- */

void sim_store_crash(struct sim_store *s)
{
    bool lost = s->failed;

    world_clear(s->world, &s->event);
    while (s->first) {
        struct store_batch *b = take_first(s);

        lost |= chance_of(s->chance, 500);
        if (!lost)
            commit(s, b);
        b->done(b, WEND_E_STALE); /* its appender is gone: frees it */
    }
    s->fails = s->failed = false;
}

wend_status sim_store_new(struct world *w, struct chance *chance,
                          const char *watched, struct sim_store **out)
{
    struct mem m = {NULL, NULL};
    struct sim_store *s = mem_zalloc(&m, sizeof *s);

    if (!s || store_memory_open(&s->store, NULL) != WEND_OK) {
        mem_free(&m, s);
        return WEND_E_NOMEM;
    }
    s->real = s->store->ops;
    s->ops = *s->real;
    s->ops.free = store_end;
    s->ops.append = append;
    s->ops.failure = failure;
    s->store->ops = &s->ops;
    s->world = w;
    s->chance = chance;
    s->watched = watched;
    s->tail = &s->first;
    s->event.fire = on_due;
    *out = s;
    return WEND_OK;
}

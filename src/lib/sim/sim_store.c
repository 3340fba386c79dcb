/*
 * sim_store.c - a store that is slow, fails, and forgets with its process.
 *
 * It stands before the one in memory. A batch that was appended waits for
 * its time; until it is told to be safe it may be lost.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "lib/sim/sim.h"

enum { COMMIT_MS_MAX = 40 };

struct waiting {
    struct waiting *next;
    struct store_batch *batch;
    int64_t due_us;
};

struct sim_store {
    wend_store base;
    wend_store *inner;
    struct world *world;
    struct chance *chance;
    struct world_event event;
    struct waiting *first, **tail;
    int64_t due_us;               /* of the newest: commits keep their order */
    char watched[RUN_ID_LEN + 1]; /* the run that acked_seq is about */
    int64_t acked_seq;
    bool fails, failed;
};

static struct sim_store *of(const wend_store *s)
{
    return (struct sim_store *)(uintptr_t)s;
}

/* ---- Committing ---------------------------------------------------------- */

static struct store_batch *take_first(struct sim_store *s)
{
    struct waiting *w = s->first;
    struct store_batch *b = w->batch;

    s->first = w->next;
    if (!s->first)
        s->tail = &s->first;
    mem_free(&s->base.mem, w);
    return b;
}

static void note_status(struct store_batch *b, wend_status s)
{
    *(wend_status *)b->ctx = s;
}

/* Without a word to whoever appended it. */
static wend_status commit(struct sim_store *s, const struct store_batch *b)
{
    struct store_batch copy = *b;
    wend_status st = WEND_E_NOMEM;

    copy.done = note_status;
    copy.ctx = &st;
    s->inner->ops->append(s->inner, &copy);
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
    struct sim_store *s =
        (struct sim_store *)(void *)((char *)e -
                                     offsetof(struct sim_store, event));

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
    struct waiting *w = mem_zalloc(&s->base.mem, sizeof *w);
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

/* ---- Everything else as it is -------------------------------------------- */

static wend_status claim(wend_store *s, wend_str run, int64_t known,
                         int64_t *epoch, int64_t *seq, wend_error *err)
{
    return of(s)->inner->ops->claim(of(s)->inner, run, known, epoch, seq, err);
}

static wend_status read_items(wend_store *s, wend_str run,
                              struct store_place from, uint32_t max,
                              store_item_fn fn, void *ctx, wend_error *err)
{
    return of(s)->inner->ops->read(of(s)->inner, run, from, max, fn, ctx, err);
}

static wend_status list(wend_store *s, const wend_list_options *o,
                        struct arena *a, wend_run_info **rows, size_t *count,
                        wend_error *err)
{
    return of(s)->inner->ops->list(of(s)->inner, o, a, rows, count, err);
}

static wend_status blob(wend_store *s, wend_str hash, struct buf *out,
                        wend_error *err)
{
    return of(s)->inner->ops->blob(of(s)->inner, hash, out, err);
}

static wend_status state(wend_store *s, wend_str run, struct store_state *out,
                         wend_error *err)
{
    return of(s)->inner->ops->state(of(s)->inner, run, out, err);
}

static wend_status check(wend_store *s, wend_error *err)
{
    return of(s)->inner->ops->check(of(s)->inner, err);
}

static wend_status forget(wend_store *s, wend_str run, wend_error *err)
{
    return of(s)->inner->ops->forget(of(s)->inner, run, err);
}

static wend_status tidy(wend_store *s, int64_t now_us, int64_t *bytes,
                        wend_error *err)
{
    return of(s)->inner->ops->tidy(of(s)->inner, now_us, bytes, err);
}

static wend_status post(wend_store *s, wend_str run, const char *what,
                        wend_str body, int64_t *id, wend_error *err)
{
    return of(s)->inner->ops->post(of(s)->inner, run, what, body, id, err);
}

static wend_status waiting(wend_store *s, wend_str run, struct arena *a,
                           struct store_request **out, size_t *count,
                           wend_error *err)
{
    return of(s)->inner->ops->waiting(of(s)->inner, run, a, out, count, err);
}

static wend_status fate(wend_store *s, int64_t id, enum store_fate *out,
                        wend_error *err)
{
    return of(s)->inner->ops->fate(of(s)->inner, id, out, err);
}

static wend_status take(wend_store *s, store_request_fn fn, void *ctx,
                        wend_error *err)
{
    return of(s)->inner->ops->take(of(s)->inner, fn, ctx, err);
}

static void keep(wend_store *s, struct store_keep *k)
{
    of(s)->inner->ops->keep(of(s)->inner, k);
}

static wend_status facts(wend_store *s, wend_str space, wend_str key,
                         int64_t now_us, store_fact_fn fn, void *ctx,
                         wend_error *err)
{
    return of(s)->inner->ops->facts(of(s)->inner, space, key, now_us, fn, ctx,
                                    err);
}

static wend_status failure(wend_store *s, wend_error *err)
{
    return of(s)->failed ? fail(err, WEND_E_STORE, "the simulated disk failed")
                         : WEND_OK;
}

static void store_end(wend_store *base)
{
    struct sim_store *s = of(base);
    struct mem m = s->base.mem;

    sim_store_crash(base);
    wend_store_free(s->inner);
    mem_free(&m, s);
}

/* ---- For whoever simulates ----------------------------------------------- */

void sim_store_fail(wend_store *s)
{
    of(s)->fails = true;
}

void sim_store_crash(wend_store *base)
{
    struct sim_store *s = of(base);
    bool lost = s->failed;

    world_clear(s->world, &s->event);
    while (s->first) {
        struct store_batch *b = take_first(s);

        lost |= chance_of(s->chance, 500);
        if (!lost)
            commit(s, b);
        b->done(b, WEND_E_STALE); /* to nobody: it has to be freed */
    }
    s->fails = s->failed = false;
}

void sim_store_watch(wend_store *base, const char *run)
{
    struct sim_store *s = of(base);

    if (strcmp(s->watched, run) != 0)
        s->acked_seq = 0;
    snprintf(s->watched, sizeof s->watched, "%s", run);
}

int64_t sim_store_acked(const wend_store *s)
{
    return of(s)->acked_seq;
}

wend_status sim_store_new(struct world *w, struct chance *chance,
                          wend_store **out)
{
    static const struct store_ops ops = {
        .free = store_end,
        .append = append,
        .claim = claim,
        .read = read_items,
        .list = list,
        .blob = blob,
        .state = state,
        .check = check,
        .forget = forget,
        .tidy = tidy,
        .post = post,
        .take = take,
        .waiting = waiting,
        .fate = fate,
        .keep = keep,
        .facts = facts,
        .failure = failure,
    };
    struct mem m = {NULL, NULL};
    struct sim_store *s = mem_zalloc(&m, sizeof *s);

    if (!s)
        return WEND_E_NOMEM;
    store_init(&s->base, &ops);
    s->base.mem = m;
    s->world = w;
    s->chance = chance;
    s->tail = &s->first;
    s->event.fire = on_due;
    if (store_memory_open(&s->inner, NULL) != WEND_OK) {
        mem_free(&m, s);
        return WEND_E_NOMEM;
    }
    *out = &s->base;
    return WEND_OK;
}

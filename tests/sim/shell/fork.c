/*
 * fork.c - runs that share the past of others.
 */
#include "fork.h"
#include "reader.h"
#include "store.h"

struct known *pick_run(struct sim *s)
{
    struct known *k = s->runs_count
                          ? &s->runs[chance_below(&s->chance, s->runs_count)]
                          : NULL;

    return k && k->handle ? k : NULL;
}

wend_filter some_filter(struct sim *s)
{
    static const uint32_t counts[] = {2, 5, 100};
    wend_filter f = {0};

    if (s->mood.calm || chance_of(&s->chance, 500))
        return f;
    if (chance_of(&s->chance, 400))
        f.types = chance_next(&s->chance) | 1;
    if (chance_of(&s->chance, 200)) /* only text, not even the end */
        f.types = (uint64_t)1 << WEND_TEXT_DELTA;
    if (chance_of(&s->chance, 500)) {
        f.merge_count = chance_pick(&s->chance, counts);
        f.merge_ms = chance_below(&s->chance, 200);
    }
    return f;
}

static void fork_begin(struct sim *s, struct known *k, wend_run *handle,
                       const wend_filter *filter)
{
    struct known *f = &s->runs[s->runs_count];

    memset(f, 0, sizeof *f);
    f->place = s->runs_count++;
    s->own_count++;
    s->head.counters->forks++;
    f->sim = s;
    f->agent = k->agent;
    f->planned = k->planned;
    f->pack_max = k->pack_max; /* its past has them */
    f->born = true;
    f->handle = handle;
    f->epoch = handle->epoch;
    f->forked = true;
    k->has_forks = true;
    snprintf(f->id, sizeof f->id, "%s", wend_run_id(handle));
    store_learn(&s->store, f);
    f->stored_seq = f->sent_seq = f->acked_seq;
    f->reader = reader_add(s, f, true);
    f->reader->handle = handle;
    f->reader->filter = *filter;
    f->reader->style = (enum style)chance_below(&s->chance, READ_LISTEN);
    f->reader->from = f->reader->seq = f->forked_at; /* it sees its own */
}

/* What its maker says besides: how a call went, whose tools it has. */
void fork_more(struct sim *s, const struct known *k, wend_fork_options *fork,
               wend_fork_result *result, char id[80])
{
    static const uint32_t takes[] = {WEND_FORK_MODEL, WEND_FORK_TOOLS,
                                     WEND_FORK_POLICY, WEND_FORK_LIMITS,
                                     WEND_FORK_CONFIG};
    const struct turn *t = &k->handle->turn;
    const struct call *c =
        t->calls_count ? turn_call(t, chance_below(&s->chance, t->calls_count))
                       : NULL;

    if (c && !k->planned && chance_of(&s->chance, 500)) {
        snprintf(id, 80, "%.*s", (int)c->id.len, c->id.ptr);
        *result = (wend_fork_result){.call = id, .output = STR("as if")};
        fork->results = result;
        fork->results_count = 1;
        fork->at = chance_of(&s->chance, 500) ? 0 : k->stored_seq;
    }
    if (chance_of(&s->chance, 300))
        fork->take = chance_pick(&s->chance, takes);
}

static bool may_fork(const struct sim *s, const struct known *k)
{
    return k && k->stored_seq && s->runs_count < KNOWN_MAX && !s->down &&
           s->readers_count < READERS_MAX && !s->store.failed;
}

static void fork_run(struct sim *s, struct known *k,
                     const wend_fork_options *fork)
{
    wend_run_options o = {.size = sizeof o, .filter = some_filter(s)};
    wend_run *handle = NULL;
    wend_error err = {0};
    wend_status st;

    s->store.forking = true;
    st = wend_run_fork(s->agents[k->agent], k->id, fork, &o, &handle, &err);
    s->store.forking = false;
    trace(s, "run %u is forked at %lld: %s", k->place, (long long)fork->at,
          st == WEND_OK ? "ok" : err.message);
    s->head.counters->given += st == WEND_OK && fork->results_count;
    s->head.counters->taken += st == WEND_OK && fork->take;
    if (st == WEND_OK)
        fork_begin(s, k, handle, &o.filter);
    else if (st != WEND_E_INVAL && !(st == WEND_E_NOMEM && s->head.fault.hit))
        broken(s, LAW_LOG, "run %u: fork says %s", k->place, err.message);
}

/* A new run that shares the past of another one, which may be under way. */
void act_fork(struct sim *s)
{
    struct known *k = pick_run(s);
    wend_fork_options fork = {.size = sizeof fork};
    wend_fork_result result;
    char call[80];

    if (!may_fork(s, k))
        return;
    fork.at = 1 + chance_below(&s->chance, (uint32_t)k->stored_seq);
    if (fork.at == k->stored_seq) /* the newest, or where it went wrong */
        fork.at = 0;
    if (chance_of(&s->chance, 500))
        fork.say = STR("and now?");
    if (s->mood.fork_more)
        fork_more(s, k, &fork, &result, call);
    fork_run(s, k, &fork);
}

static bool has_child(const struct sim *s, const struct known *k)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].parent == k)
            return true;
    return false;
}

/* A run with children that is over is tried again, from where it went wrong. */
void act_retry(struct sim *s)
{
    const wend_fork_options fork = {.size = sizeof fork};

    for (uint32_t i = 0; i < s->runs_count; i++) {
        struct known *k = &s->runs[i];

        if (may_fork(s, k) && k->handle && k->end_acked && !k->has_forks &&
            has_child(s, k)) {
            fork_run(s, k, &fork);
            return;
        }
    }
}

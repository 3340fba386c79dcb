/*
 * plan_order.c - in which order a plan can run: cycles, waves, paths.
 *
 * Each action is two nodes: its start i and its end count + i. A start comes
 * after the ends of all it waits for (dependencies and value edges), and
 * after the start of the action that it is the fallback of; an end comes after
 * its start and after the end of its fallback. So what waits for an action also
 * waits for its fallback.
 */
#include <assert.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

enum { CYCLE_SHOWN_MAX = 320 }; /* bytes of names, in a message of 500 */

/* ---- Order --------------------------------------------------------------- */

struct sorter {
    const struct plan_graph *g;
    uint32_t count;
    uint32_t *order, len; /* len nodes have been put */
    uint32_t *waits;      /* by node: for how many it still waits */
};

static void release(struct sorter *s, uint32_t node)
{
    if (!--s->waits[node])
        s->order[s->len++] = node;
}

/* The node is done: what waits for nothing else follows. */
static void pass(struct sorter *s, uint32_t node)
{
    const struct plan_graph *g = s->g;
    uint32_t i = node % s->count;

    if (node < s->count) {
        release(s, s->count + i);
        if (g->fallback[i] != PLAN_NONE)
            release(s, g->fallback[i]);
        return;
    }
    for (uint32_t k = g->users_at[i]; k < g->users_at[i + 1]; k++)
        release(s, g->users[k]);
    for (uint32_t k = g->value_users_at[i]; k < g->value_users_at[i + 1]; k++)
        release(s, g->value_users[k]);
    if (g->fallback_of[i] != PLAN_NONE)
        release(s, s->count + g->fallback_of[i]);
}

static void sort(struct sorter *s)
{
    const struct plan_graph *g = s->g;

    for (uint32_t i = 0; i < s->count; i++) {
        s->waits[i] = g->deps_at[i + 1] - g->deps_at[i] + g->values_at[i + 1] -
                      g->values_at[i] + (g->fallback_of[i] != PLAN_NONE);
        s->waits[s->count + i] = 1 + (g->fallback[i] != PLAN_NONE);
        if (!s->waits[i])
            s->order[s->len++] = i;
    }
    for (uint32_t k = 0; k < s->len; k++)
        pass(s, s->order[k]);
}

/* ---- Cycles -------------------------------------------------------------- */

/* One that the node, which waits forever, waits for and that does, too. */
static uint32_t stuck_before(const struct sorter *s, uint32_t node)
{
    const struct plan_graph *g = s->g;
    uint32_t i = node % s->count;

    if (node >= s->count)
        return s->waits[i] ? i : s->count + g->fallback[i];
    for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
        if (s->waits[s->count + g->deps[k]])
            return s->count + g->deps[k];
    for (uint32_t k = g->values_at[i]; k < g->values_at[i + 1]; k++)
        if (s->waits[s->count + g->values[k]])
            return s->count + g->values[k];
    return g->fallback_of[i];
}

/* The actions on the cycle through `node`, each before those that wait for it;
 * as many as a message can hold. */
static bool say_cycle(struct plan_draft *d, const struct sorter *s,
                      uint32_t node)
{
    struct buf b = {.mem = d->f->arena->mem};
    uint32_t *members = draft_array(d, s->count, sizeof *members);
    uint32_t len = 0, from = 0, at = node, i;

    if (!members)
        return false;
    do { /* an end is left for its own start: both are side by side */
        assert(len <= s->count);
        i = at % s->count;
        if (!len || members[len - 1] != i)
            members[len++] = i;
        at = stuck_before(s, at);
    } while (at != node);
    if (len > 1 && members[len - 1] == members[0])
        len--;
    for (i = 1; i < len; i++) /* it begins with the one written first */
        if (members[i] < members[from])
            from = i;
    for (i = 0; i < len && b.len < CYCLE_SHOWN_MAX && !b.failed; i++) {
        buf_str(&b, d->actions[members[(from + len - i) % len]]->name);
        buf_cstr(&b, " -> ");
    }
    buf_cstr(&b, i < len ? "... -> " : "");
    buf_str(&b, d->actions[members[from]]->name);
    if (b.failed)
        fail_nomem(d->f->err);
    else
        fail_at(d->f->err, WEND_E_PARSE, d->actions[members[from]]->line,
                d->actions[members[from]]->column, "%u action%s in a cycle: %s",
                len, len == 1 ? "" : "s", b.ptr);
    buf_free(&b);
    return false;
}

/* Going back from any node that waits forever leads into a cycle. */
static bool refuse_cycle(struct plan_draft *d, const struct sorter *s)
{
    bool *seen = draft_array(d, s->count * (size_t)2, sizeof *seen);
    uint32_t node = 0;

    if (!seen)
        return false;
    while (!s->waits[node])
        node++;
    for (; !seen[node]; node = stuck_before(s, node))
        seen[node] = true;
    return say_cycle(d, s, node);
}

/* ---- Waves and paths ----------------------------------------------------- */

/* To a wave after those of all that i waits for by these edges. */
static void wave_after(uint32_t *wave, uint32_t i, const uint32_t *at,
                       const uint32_t *list)
{
    for (uint32_t e = at[i]; e < at[i + 1]; e++)
        if (wave[list[e]] >= wave[i])
            wave[i] = wave[list[e]] + 1;
}

static bool find_waves(struct plan_draft *d)
{
    struct plan_graph *g = &d->plan->graph;
    uint32_t count = d->plan->count;
    uint32_t *wave = draft_array(d, count, sizeof *wave);

    if (!wave)
        return false;
    g->waves = 0;
    for (uint32_t k = 0; k < count * 2; k++) {
        uint32_t i = g->order[k], of;

        if (i >= count)
            continue;
        of = g->fallback_of[i];
        wave[i] = of != PLAN_NONE ? wave[of] + 1 : 1;
        wave_after(wave, i, g->deps_at, g->deps);
        wave_after(wave, i, g->values_at, g->values);
        assert(wave[i] <= count); /* no path is longer */
        if (wave[i] > g->waves)
            g->waves = wave[i];
    }
    g->wave = wave;
    return true;
}

/* The one with the highest rank of those behind i, or `best`; fallbacks are
 * left out: they are not expected to run. */
static uint32_t longest_of(const struct plan_graph *g, const int64_t *rank,
                           const uint32_t *at, const uint32_t *list, uint32_t i,
                           uint32_t best)
{
    for (uint32_t k = at[i]; k < at[i + 1]; k++)
        if (g->fallback_of[list[k]] == PLAN_NONE &&
            (best == PLAN_NONE || rank[list[k]] > rank[best]))
            best = list[k];
    return best;
}

/* The longest of what follows the end of i; PLAN_NONE: nothing. */
static uint32_t longest_after(const struct plan_graph *g, const int64_t *rank,
                              uint32_t i)
{
    uint32_t best = longest_of(g, rank, g->users_at, g->users, i, PLAN_NONE);

    return longest_of(g, rank, g->value_users_at, g->value_users, i, best);
}

/* rank has room for both nodes of each action; that of an end is what
 * follows it. */
static void rank_all(const struct plan *p, const int64_t *estimate_ms,
                     int64_t *rank)
{
    const struct plan_graph *g = &p->graph;

    for (uint32_t k = p->count * 2; k; k--) {
        uint32_t node = g->order[k - 1], i = node % p->count, next;

        if (node < p->count) {
            bool forgotten = p->actions[i]->mode == ACTION_FORGET;

            rank[i] = rank[p->count + i] + (forgotten ? 0 : estimate_ms[i]);
            continue;
        }
        next = longest_after(g, rank, i);
        rank[node] = next == PLAN_NONE ? 0 : rank[next];
        if (g->fallback_of[i] != PLAN_NONE &&
            rank[p->count + g->fallback_of[i]] > rank[node])
            rank[node] = rank[p->count + g->fallback_of[i]];
    }
}

uint32_t plan_totals(const struct plan *p, const int64_t *ms,
                     const int64_t *rank, int64_t *sequential_ms,
                     int64_t *critical_ms)
{
    const struct plan_graph *g = &p->graph;
    uint32_t first = PLAN_NONE;

    *sequential_ms = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (g->fallback_of[i] != PLAN_NONE)
            continue;
        *sequential_ms += ms[i];
        if (g->deps_at[i] == g->deps_at[i + 1] &&
            (first == PLAN_NONE || rank[i] > rank[first]))
            first = i;
    }
    *critical_ms = first == PLAN_NONE ? 0 : rank[first];
    return *critical_ms ? first : PLAN_NONE;
}

void plan_mark_path(const struct plan *p, const int64_t *rank, uint32_t first,
                    bool *critical)
{
    for (uint32_t i = first; i != PLAN_NONE;
         i = longest_after(&p->graph, rank, i))
        critical[i] = true;
}

static bool find_paths(struct plan_draft *d)
{
    struct plan *p = d->plan;
    int64_t *estimate = draft_array(d, p->count, sizeof *estimate);
    int64_t *declared = draft_array(d, p->count * (size_t)2, sizeof *declared);
    int64_t *rank = draft_array(d, p->count * (size_t)2, sizeof *rank);
    bool *critical = draft_array(d, p->count, sizeof *critical);
    uint32_t first;

    if (!estimate || !declared || !rank || !critical)
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->actions[i]->estimate_ms > 0)
            estimate[i] = p->actions[i]->estimate_ms;
    rank_all(p, estimate, declared);
    first = plan_totals(p, estimate, declared, &p->graph.sequential_ms,
                        &p->graph.critical_ms);
    plan_mark_path(p, declared, first, critical);
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->actions[i]->learned_ms >= 0)
            estimate[i] = p->actions[i]->learned_ms;
        estimate[i] += !estimate[i];
    }
    rank_all(p, estimate, rank);
    p->graph.rank = rank;
    p->graph.critical = critical;
    return true;
}

bool draft_order(struct plan_draft *d)
{
    uint32_t count = d->plan->count;
    struct sorter s = {.g = &d->plan->graph, .count = count};

    s.order = draft_array(d, count * (size_t)2, sizeof *s.order);
    s.waits = draft_array(d, count * (size_t)2, sizeof *s.waits);
    if (!s.order || !s.waits)
        return false;
    sort(&s);
    if (s.len < count * 2)
        return refuse_cycle(d, &s);
    assert(s.len == count * 2); /* each node once */
    d->plan->graph.order = s.order;
    return find_waves(d) && find_paths(d);
}

const int64_t *plan_rank(const struct plan *p, const int64_t *estimate_ms,
                         struct arena *a)
{
    int64_t *rank = arena_alloc(a, (p->count * (size_t)2 + 1) * sizeof *rank);

    if (rank)
        rank_all(p, estimate_ms, rank);
    return rank;
}

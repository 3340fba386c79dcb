/*
 * test_sched.c - which may start now: small cases by hand, then random
 * graphs against an oracle that looks at everything each time.
 */
#include "core/plan/sched.h"

#include <stdlib.h>

#include "tap.h"

enum { ITEMS_MAX = 40, EDGES_MAX = ITEMS_MAX * ITEMS_MAX };

/* ---- By hand ------------------------------------------------------------- */

static void test_order(void)
{
    struct sched_item items[5] = {
        {.rank = 1},
        {.rank = 9},
        {.rank = 9},
        {.rank = 0, .priority = 1},
        {.rank = 99, .priority = -1},
    };
    static const uint32_t wanted[] = {3, 1, 2, 0, 4};
    uint32_t heap[5], got;
    struct sched s = {.items = items, .heap = heap, .count = 5, .slots = 5};

    sched_begin(&s);
    for (uint32_t i = 0; i < 5; i++)
        tap_ok(sched_next(&s, &got) && got == wanted[i],
               "start %u: priority, then rank, then number", i);
    tap_ok(!sched_next(&s, &got), "nothing is left");
}

static void test_slots(void)
{
    struct sched_item items[3] = {{.rank = 0}};
    uint32_t heap[3], got = 9;
    struct sched s = {.items = items, .heap = heap, .count = 3, .slots = 2};

    sched_begin(&s);
    tap_ok(sched_next(&s, &got) && got == 0, "the first slot");
    tap_ok(sched_next(&s, &got) && got == 1, "the second slot");
    tap_ok(!sched_next(&s, &got), "no third");
    sched_end(&s, 0);
    tap_ok(sched_next(&s, &got) && got == 2, "an end frees one");
}

static void test_holds(void)
{
    struct sched_item items[3] = {{.rank = 2}, {.rank = 1, .holds = true}};
    uint32_t heap[3], got = 9;
    struct sched s = {.items = items, .heap = heap, .count = 3, .slots = 3};

    sched_begin(&s);
    sched_next(&s, &got);
    tap_ok(sched_next(&s, &got) && got == 1, "the one that holds starts");
    tap_ok(!sched_next(&s, &got), "nothing starts beside it");
    sched_end(&s, 0);
    tap_ok(!sched_next(&s, &got), "also not when another ends");
    sched_end(&s, 1);
    tap_ok(sched_next(&s, &got) && got == 2, "its end lets the others go");
}

/* A batch may be looked at in the middle: some run, some are done. */
static void test_resumed(void)
{
    struct sched_item items[4] = {
        {.state = SCHED_DONE},
        {.state = SCHED_RUNNING, .edge = 0, .edges_count = 1},
        {.waits = 1},
        {.rank = 0},
    };
    static const uint32_t edges[] = {2};
    uint32_t heap[4], got = 9;
    struct sched s = {
        .items = items, .edges = edges, .heap = heap, .count = 4, .slots = 2};

    sched_begin(&s);
    tap_is_i64(s.running, 1, "what runs is counted");
    tap_ok(sched_next(&s, &got) && got == 3, "only what is ready starts");
    sched_end(&s, 1);
    tap_ok(sched_next(&s, &got) && got == 2, "then what waited for it");
}

/* ---- Against an oracle --------------------------------------------------- */

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) +
                   UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % n;
}

struct graph {
    bool waits_for[ITEMS_MAX][ITEMS_MAX];
    struct sched_item items[ITEMS_MAX];
    enum sched_state state[ITEMS_MAX]; /* the oracle's own */
    uint32_t edges[EDGES_MAX], heap[ITEMS_MAX], count, slots;
};

static void make_graph(struct graph *g)
{
    uint32_t density = below(4), edges = 0;

    memset(g, 0, sizeof *g);
    g->count = 1 + below(ITEMS_MAX);
    g->slots = 1 + below(6);
    for (uint32_t i = 0; i < g->count; i++) {
        g->items[i].rank = below(4);
        g->items[i].priority = (int32_t)below(3) - 1;
        g->items[i].holds = !below(8);
        for (uint32_t on = 0; on < i; on++)
            g->waits_for[i][on] = below(8) < density;
    }
    for (uint32_t on = 0; on < g->count; on++) {
        g->items[on].edge = edges;
        for (uint32_t i = 0; i < g->count; i++)
            if (g->waits_for[i][on]) {
                g->edges[edges++] = i;
                g->items[i].waits++;
            }
        g->items[on].edges_count = edges - g->items[on].edge;
    }
}

static bool oracle_ready(const struct graph *g, uint32_t i)
{
    if (g->state[i] != SCHED_WAITING)
        return false;
    for (uint32_t on = 0; on < g->count; on++)
        if (g->waits_for[i][on] && g->state[on] != SCHED_DONE)
            return false;
    return true;
}

static bool oracle_better(const struct graph *g, uint32_t a, uint32_t b)
{
    const struct sched_item *x = &g->items[a], *y = &g->items[b];

    if (x->priority != y->priority)
        return x->priority > y->priority;
    return x->rank != y->rank ? x->rank > y->rank : a < b;
}

/* The one that must start now, or count if none may. */
static uint32_t oracle_next(const struct graph *g)
{
    uint32_t best = g->count, running = 0;

    for (uint32_t i = 0; i < g->count; i++)
        if (g->state[i] == SCHED_RUNNING) {
            running++;
            if (g->items[i].holds)
                return g->count;
        }
    if (running >= g->slots)
        return g->count;
    for (uint32_t i = 0; i < g->count; i++)
        if (oracle_ready(g, i) &&
            (best == g->count || oracle_better(g, i, best)))
            best = i;
    return best;
}

static uint32_t some_running(const struct graph *g)
{
    uint32_t i = below(g->count);

    for (uint32_t tried = 0; tried < g->count; tried++)
        if (g->state[(i + tried) % g->count] == SCHED_RUNNING)
            return (i + tried) % g->count;
    return g->count;
}

/* True if both agree from the first start to the last end. */
static bool agrees(struct graph *g)
{
    struct sched s = {.items = g->items,
                      .edges = g->edges,
                      .heap = g->heap,
                      .count = g->count,
                      .slots = g->slots};
    uint32_t done = 0, got, wanted;

    sched_begin(&s);
    while (done < g->count) {
        while (below(5)) { /* now and then an end comes before all started */
            wanted = oracle_next(g);
            if (sched_next(&s, &got) != (wanted < g->count))
                return false;
            if (wanted == g->count)
                break;
            if (got != wanted)
                return false;
            g->state[got] = SCHED_RUNNING;
        }
        got = some_running(g);
        if (got == g->count)
            continue;
        sched_end(&s, got);
        g->state[got] = SCHED_DONE;
        done++;
    }
    return !sched_next(&s, &got) && !s.running && !s.holding;
}

static void test_oracle(void)
{
    enum { ROUNDS = 5000 };
    static struct graph g;
    int good = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        random_state = seed;
        make_graph(&g);
        if (agrees(&g))
            good++;
        else
            printf("# differs at seed %d\n", (int)seed);
    }
    tap_is_i64(good, ROUNDS, "random graphs: as the oracle says");
}

int main(void)
{
    test_order();
    test_slots();
    test_holds();
    test_resumed();
    test_oracle();
    return tap_done();
}

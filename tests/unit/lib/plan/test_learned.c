/*
 * test_learned.c - what actions took in the past, in the place of what is
 * declared.
 */
#include "core/plan/plan_state.h"

#include "fault.h"
#include "tap.h"

static const char text[] =
    "{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":["
    "{\"name\":\"a\",\"type\":\"tool\",\"target\":\"x\",\"mode\":\"async\","
    "\"estimate\":\"9s\"},"
    "{\"name\":\"b\",\"type\":\"tool\",\"target\":\"y\",\"mode\":\"async\","
    "\"estimate\":\"1s\"},"
    "{\"name\":\"c\",\"type\":\"tool\",\"target\":\"z\",\"mode\":\"async\","
    "\"depends_on\":[\"b\"]}]}";

/* What plan_start says of its actions, and which durations follow. */
static const struct {
    const char *why, *actions, *ms;
} rows[] = {
    {"an action", "[{\"estimate_ms\":5,\"learned\":true},{},{}]", "5 -1 -1"},
    {"declared ones are no past",
     "[{\"estimate_ms\":5},{\"estimate_ms\":7,\"learned\":true},{}]",
     "-1 7 -1"},
    {"nothing is learned", "[{\"estimate_ms\":5},{},{}]", NULL},
    {"a name that looks like it",
     "[{\"name\":\"\\\"learned\\\":true\",\"estimate_ms\":5},{},{}]", NULL},
    {"no time at all", "[{\"learned\":true},{},{}]", "-1 -1 -1"},
    {"below 0", "[{\"learned\":true,\"estimate_ms\":-5},{},{}]", "-1 -1 -1"},
    {"beyond all bounds",
     "[{\"learned\":true,\"estimate_ms\":9000000000000000},{},{}]", "-1 -1 -1"},
    {"no number", "[{\"learned\":true,\"estimate_ms\":\"5\"},{},{}]",
     "-1 -1 -1"},
    {"too few actions", "[{\"learned\":true,\"estimate_ms\":5}]", "5 -1 -1"},
    {"too many",
     "[{},{},{},{\"learned\":true,\"estimate_ms\":5},{\"learned\":true}]",
     "-1 -1 -1"},
    {"no JSON", "[\"learned\":true", "-1 -1 -1"},
};

static void check_of(const struct plan *p, struct arena *a)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        const int64_t *ms = plan_learned_of(p, str_of(rows[i].actions), a);
        char got[80] = "";

        if (ms)
            snprintf(got, sizeof got, "%lld %lld %lld", (long long)ms[0],
                     (long long)ms[1], (long long)ms[2]);
        tap_ok(!ms == !rows[i].ms && (!ms || !strcmp(got, rows[i].ms)),
               "%s: %s", rows[i].why, got);
    }
}

static void check_order(const struct plan *p, struct arena *a)
{
    static const int64_t none[] = {-1, -1, -1}, some[] = {100, 5000, -1};
    struct plan_learned l[] = {{4, 1, 100}, {2, 2, -1}, {1, 0, 500}};
    const int64_t *rank = plan_learned_rank(p, NULL, a);
    int64_t sequential, critical;

    tap_ok(rank == p->graph.rank, "without a past the plan's own ranks count");
    rank = plan_learned_rank(p, none, a);
    tap_ok(rank[0] == 9000 && rank[1] == 1001 && rank[2] == 1,
           "with an empty one the same numbers");
    rank = plan_learned_rank(p, some, a);
    tap_ok(rank[0] == 100 && rank[1] == 5001 && rank[2] == 1,
           "what was learned takes the place of what is declared");
    tap_ok(plan_learned_totals(p, l, a->mem, &sequential, &critical, NULL) &&
               sequential == 1600 && critical == 1500,
           "sums: what never ended well is as declared");
}

static void check_past(void)
{
    static const struct plan_known list[] = {
        {{"llm m", 5}, {1, 0, 10}},
        {{"tool x", 6}, {2, 0, 20}},
        {{"tool xy", 7}, {3, 0, 30}},
    };
    static const struct {
        int type;
        const char *target;
        int64_t runs; /* 0: nothing is known */
    } wanted[] = {
        {ACTION_TOOL, "x", 2},      {ACTION_TOOL, "xy", 3},
        {ACTION_TOOL, "xyz", 0},    {ACTION_TOOL, "default", 0},
        {ACTION_LLM, "default", 1}, {ACTION_LLM, "m", 1},
        {ACTION_AGENT, "x", 0},     {ACTION_DECISION, NULL, 0},
    };
    const struct plan_past past = {list, tap_count(list), {"m", 1}};
    const struct plan_past none = {0};

    for (size_t i = 0; i < tap_count(wanted); i++) {
        const struct plan_action a = {.type = wanted[i].type,
                                      .target = str_of(wanted[i].target)};
        const struct plan_learned *l = plan_past_find(&past, &a);

        tap_is_i64(l ? l->runs : 0, wanted[i].runs, "%s %s",
                   action_type_names[a.type],
                   wanted[i].target ? wanted[i].target : "");
        tap_ok(!plan_past_find(&none, &a), "without a past");
    }
}

static void check_key(void)
{
    char room[LEARNED_KEY_MAX], target[LEARNED_KEY_MAX] = {0};
    struct plan_action a = {.type = ACTION_TOOL};

    a.target = (wend_str){target, sizeof target - 5}; /* "tool " */
    tap_is_i64((int64_t)plan_past_key(room, &a, STR_NONE).len, sizeof room,
               "the longest key");
    a.target.len++;
    tap_ok(!plan_past_key(room, &a, STR_NONE).ptr, "one more byte");
}

static void check_no_memory(void)
{
    struct fault f = {0};
    int rounds = 0, bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 16};
        struct plan *p = NULL;
        const int64_t *ms = NULL;

        if (plan_parse(str_of(text), NULL, &a, &p, NULL) == WEND_OK) {
            ms = plan_learned_of(p, str_of(rows[0].actions), &a);
            if (ms && !a.failed)
                bad += !plan_learned_rank(p, ms, &a) != f.hit;
            else
                bad += !f.hit;
        }
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(rounds > 3 && !bad, "no memory, at each of %d places", rounds - 1);
}

int main(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct plan *p = NULL;
    wend_error err = {0};

    if (tap_ok(!plan_parse(str_of(text), NULL, &a, &p, &err), "a plan: %s",
               err.message)) {
        check_of(p, &a);
        check_order(p, &a);
    }
    arena_free(&a);
    check_past();
    check_key();
    check_no_memory();
    return tap_done();
}

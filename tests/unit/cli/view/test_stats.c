/*
 * test_stats.c - percentiles of times, and a fold that outlives memory.
 *
 * The fold of whole runs is tested in tests/cli/stats.sh.
 */
#include "cli/view/stats.h"

#include "fault.h"
#include "tap.h"

static const struct mem plain;

static wend_event call_end(const char *name, int64_t ms)
{
    return (wend_event){.type = WEND_CALL_END,
                        .u.call_end = {.name = tap_str_of(name),
                                       .outcome = WEND_OUTCOME_OK,
                                       .ms = ms}};
}

static void spreads(void)
{
    static const struct {
        const char *why;
        int count;
        int64_t p50, p90, p99, most;
    } rows[] = {
        {"one is all of them", 1, 1, 1, 1, 1},
        {"two: half of them is the first", 2, 1, 2, 2, 2},
        {"ten", 10, 5, 9, 10, 10},
        {"a hundred", 100, 50, 90, 99, 100},
        {"a hundred and one", 101, 51, 91, 100, 101},
        {"a thousand", 1000, 500, 900, 990, 1000},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct spread p;
        struct stats s;
        bool any;

        stats_init(&s, &plain);
        for (int k = rows[i].count; k > 0; k--) {
            wend_event ev = call_end("t", k);

            stats_event(&s, &ev);
        }
        any = times_spread(&s.tools->took, &p);
        tap_ok(any && p.at[0] == rows[i].p50 && p.at[1] == rows[i].p90 &&
                   p.at[2] == rows[i].p99 && p.most == rows[i].most,
               "%s", rows[i].why);
        tap_ok(!times_spread(&s.tools->first_token, &p), "%s: none of others",
               rows[i].why);
        stats_free(&s);
    }
}

/* Ends that are no results, and usage that nobody reported, are apart. */
static void crashes(void)
{
    static const wend_ev_usage failed = {
        .input = 1000, .output = 200, .cached = 30, .cost_nano = 40};
    const wend_event events[] = {
        {.type = WEND_RUN_START},
        {.type = WEND_MODEL_START, .u.model_start = {.model = STR("m")}},
        {.type = WEND_MODEL_END,
         .u.model_end = {.outcome = WEND_OUTCOME_SUPERSEDED,
                         .usage = {.input = 10,
                                   .output = 100,
                                   .cost_nano = 7,
                                   .estimated = true}}},
        {.type = WEND_MODEL_START, .u.model_start = {.model = STR("m")}},
        {.type = WEND_MODEL_RETRY,
         .u.model_retry = {.next_model = STR("m"), .usage = &failed}},
        {.type = WEND_MODEL_END,
         .u.model_end = {.outcome = WEND_OUTCOME_OK,
                         .usage = {.input = 9, .output = 2, .cost_nano = 3}}},
        {.type = WEND_CALL_END,
         .u.call_end = {.name = STR("t"), .outcome = WEND_OUTCOME_SUPERSEDED}},
        {.type = WEND_CALL_END,
         .u.call_end = {.name = STR("t"), .outcome = WEND_OUTCOME_OK}},
        {.type = WEND_ACTION_START,
         .u.action_start = {.action = STR("a"),
                            .type = STR("tool"),
                            .target = STR("u")}},
        {.type = WEND_ACTION_END,
         .u.action_end = {.action = STR("a"),
                          .outcome = WEND_OUTCOME_SUPERSEDED}},
        {.type = WEND_ACTION_START,
         .u.action_start = {.action = STR("a"),
                            .type = STR("tool"),
                            .target = STR("u")}},
        {.type = WEND_ACTION_END,
         .u.action_end = {.action = STR("a"), .outcome = WEND_OUTCOME_OK}},
    };
    struct stats s;

    stats_init(&s, &plain);
    for (size_t i = 0; i < tap_count(events); i++)
        stats_event(&s, &events[i]);
    tap_is_i64(s.runs.used.tokens_in, 1009, "what was reported");
    tap_is_i64(s.runs.used.tokens_out, 202, "what was reported, out");
    tap_is_i64(s.runs.used.cost_nano, 43, "what it cost");
    tap_is_i64(s.models->used.tokens_in, 1009, "by the model that failed");
    tap_is_i64(s.runs.estimated.tokens_in, 10, "what was charged, apart");
    tap_is_i64(s.models->estimated.tokens_out, 100, "of the model, too");
    tap_is_i64(s.agents->estimated.cost_nano, 7, "and of the agent");
    tap_is_i64(s.tools->count, 1, "a call that ran again is one call");
    tap_is_i64(s.tools->next->count, 1, "so is an action");
    stats_free(&s);
}

/* What is unknown is counted, not added as 0. */
static void unpriced(void)
{
    const struct {
        const char *why;
        wend_ev_model_end end;
        int64_t cost, unpriced;
    } rows[] = {
        {"known", {.outcome = WEND_OUTCOME_OK, .usage.cost_nano = 5}, 5, 0},
        {"no price",
         {.outcome = WEND_OUTCOME_OK, .usage = {.input = 1, .cost_nano = -1}},
         0,
         1},
        {"no tokens",
         {.outcome = WEND_OUTCOME_OK, .usage.cost_nano = -1},
         0,
         1},
        {"part of an answer",
         {.outcome = WEND_OUTCOME_FAILED,
          .text = STR("so"),
          .usage.cost_nano = -1},
         0,
         1},
        {"no answer",
         {.outcome = WEND_OUTCOME_FAILED, .usage.cost_nano = -1},
         0,
         0},
        {"a hook's",
         {.outcome = WEND_OUTCOME_OK,
          .finish = STR("hook"),
          .usage.cost_nano = -1},
         0,
         0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_event start = {.type = WEND_RUN_START};
        wend_event end = {.type = WEND_MODEL_END, .u.model_end = rows[i].end};
        struct stats s;

        stats_init(&s, &plain);
        stats_event(&s, &start);
        stats_event(&s, &end);
        tap_is_i64(s.runs.used.cost_nano, rows[i].cost, "cost: %s",
                   rows[i].why);
        tap_is_i64(s.runs.used.unpriced, rows[i].unpriced, "  unknown");
        stats_free(&s);
    }
}

static void out_of_memory(void)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        wend_event events[] = {
            {.type = WEND_RUN_START},
            {.type = WEND_MODEL_START},
            {.type = WEND_MODEL_END,
             .u.model_end = {.outcome = WEND_OUTCOME_OK}},
            call_end("t", 1),
            {.type = WEND_RUN_END,
             .u.run_end = {.outcome = WEND_OUTCOME_FAILED}},
        };
        struct stats s;

        stats_init(&s, &m);
        for (size_t i = 0; i < tap_count(events); i++)
            stats_event(&s, &events[i]);
        bad += s.failed != f.hit;
        stats_free(&s);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "a failed allocation sticks and leaks nothing");
}

int main(void)
{
    spreads();
    crashes();
    unpriced();
    out_of_memory();
    return tap_done();
}

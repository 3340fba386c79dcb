/*
 * test_long.c - a long run on a model with a small window: it ends ok, and a
 * turn costs the same at its end as at its start.
 *
 * LONG_TURNS says how many turns; a few hundred show it as well as thousands.
 */
#include <stdlib.h>
#include <time.h>

#include "run_help.h"

enum { WINDOW = 8000, PARTS = 5 };

static int64_t cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* What the run has used when each fifth of its turns is over. */
struct costs {
    int64_t turns, us[PARTS + 1];
    int64_t compacted, most_tokens;
    wend_outcome outcome;
};

static void note_cost(struct costs *c, const wend_event *ev)
{
    if (ev->type == WEND_TURN_END) {
        int64_t part = (ev->turn + 1) * PARTS / c->turns;

        if ((ev->turn + 1) * PARTS % c->turns == 0 && part <= PARTS)
            c->us[part] = cpu_us();
    } else if (ev->type == WEND_COMPACTED) {
        c->compacted++;
    } else if (ev->type == WEND_CONTEXT_END) {
        if (ev->u.context_end.tokens > c->most_tokens)
            c->most_tokens = ev->u.context_end.tokens;
    } else if (ev->type == WEND_RUN_END) {
        c->outcome = ev->u.run_end.outcome;
    }
}

int main(void)
{
    const char *given = getenv("LONG_TURNS");
    struct costs c = {.turns = given ? strtoll(given, NULL, 10) : 600};
    struct rig r = {.agent_options = {.context_tokens = WINDOW,
                                      .loop_off = true,
                                      .limits.turns = (uint32_t)c.turns + 10}};
    const wend_event *ev;
    char script[1024];
    wend_run *run;

    snprintf(
        script, sizeof script,
        "script:{\"turns\":[{\"purpose\":\"summary\",\"text\":\"# Task\\n"
        "count\\n# Decisions\\n# Progress\\n# Blockers\\n# "
        "Context\",\"repeat\":\"forever\"},{\"text\":\"Step ${turn}: let me "
        "see what comes next, and then what follows from it.\",\"calls\":"
        "[{\"name\":\"echo\",\"args\":{\"text\":\"%.*s ${turn}\"}}],"
        "\"repeat\":%lld},{\"text\":\"done\"}]}",
        300,
        "a line of a file that a tool has read and that is about as long "
        "as results are, with words, 12345 numbers and {\\\"json\\\": 1}; "
        "another line follows it, and one more of the same kind, so that "
        "the window is full every now and then",
        (long long)c.turns);
    if (!rig_open(&r, NULL, script))
        return tap_done();
    run = rig_start(&r, NULL);
    c.us[0] = cpu_us();
    while (run && wend_run_next(run, &ev) == WEND_OK)
        note_cost(&c, ev);
    tap_is_i64(c.outcome, WEND_OUTCOME_OK, "%lld turns: it ends ok",
               (long long)c.turns);
    tap_ok(c.compacted >= c.turns / 100, "it was made shorter %lld times",
           (long long)c.compacted);
    tap_ok(c.most_tokens > WINDOW / 2 && c.most_tokens < WINDOW,
           "no request is over the window: %lld tokens",
           (long long)c.most_tokens);
    tap_ok(c.us[PARTS] - c.us[PARTS - 1] <= 2 * (c.us[1] - c.us[0]),
           "a turn at the end costs what one at the start does: %lld us, %lld",
           (long long)(c.us[PARTS] - c.us[PARTS - 1]) * PARTS / c.turns,
           (long long)(c.us[1] - c.us[0]) * PARTS / c.turns);
    wend_run_free(run);
    rig_close(&r);
    return tap_done();
}

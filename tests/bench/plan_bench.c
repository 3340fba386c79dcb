/*
 * plan_bench.c - what deciding costs in a plan of actions that do nothing.
 *
 *     plan-bench N     independent actions, then a chain; one JSON line
 *
 * Only core/tt is driven: no store, no tool, no clock inside.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/turn/tt.h"

static const struct mem plain;

struct world {
    struct arena kept, scratch;
    struct keep keep;
    struct turn turn;
    uint32_t *todo; /* actions that were started, in order */
    uint32_t first, last;
};

static double cpu_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void feed(struct world *w, struct input *in)
{
    struct step s;

    arena_reset(&w->scratch);
    step_begin(&s, &w->scratch, &w->keep);
    tt(&w->turn, in, &s);
    if (w->scratch.failed || w->kept.failed)
        exit(1);
    w->turn = s.turn;
    for (const struct effect *fx = s.effects; fx; fx = fx->next)
        if (fx->kind == FX_RUN_ACTION)
            w->todo[w->last++] = fx->action;
}

static void put_plan(struct buf *b, int count, bool chain)
{
    buf_cstr(b, "{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":[");
    for (int i = 0; i < count; i++) {
        buf_fmt(b,
                "%s{\"name\":\"a%d\",\"type\":\"tool\",\"target\":\"r\","
                "\"mode\":\"async\"",
                i ? "," : "", i);
        if (chain && i)
            buf_fmt(b, ",\"depends_on\":[\"a%d\"]", i - 1);
        buf_char(b, '}');
    }
    buf_cstr(b, "]}");
}

/* Microseconds an action, and bytes that it leaves in the state. */
static double measure(int count, bool chain, double *bytes)
{
    struct world w = {.kept.mem = &plain, .scratch.mem = &plain};
    struct buf json = {.mem = &plain};
    wend_ev_run_start start = {.prompt = STR("p"), .model = STR("m")};
    struct input in = {.kind = IN_START, .start = &start};
    double began, us;
    size_t held;

    put_plan(&json, count, chain);
    start.config_json = STR("{\"tools\":[{\"name\":\"r\",\"class\":\"read\"}],"
                            "\"policy\":{\"approve\":\"all\"}}");
    start.plan_json = buf_view(&json);
    in.run = STR("01900000-0000-7000-8000-0123456789ab");
    w.keep.arena = &w.kept;
    w.todo = calloc((size_t)count + 1, sizeof *w.todo);
    turn_init(&w.turn);
    feed(&w, &in);
    held = w.kept.held;
    began = cpu_us();
    while (w.first < w.last) {
        struct input done = {.kind = IN_ACTION_DONE, .time_us = w.first};

        done.done.action = w.todo[w.first++];
        done.done.attempt = 1;
        done.done.outcome = WEND_OUTCOME_OK;
        done.done.output = STR("");
        feed(&w, &done);
    }
    us = (cpu_us() - began) / count;
    *bytes = (double)(w.kept.held - held) / count;
    if (w.turn.phase != PH_END || w.turn.plan.ok != (uint32_t)count)
        exit(1);
    arena_free(&w.kept);
    arena_free(&w.scratch);
    buf_free(&json);
    free(w.todo);
    return us;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000;
    double bytes, chain_bytes;
    double us = measure(count, false, &bytes);
    double chain_us = measure(count, true, &chain_bytes);

    printf("{\"actions\":%d,\"us\":%.2f,\"chain_us\":%.2f,\"bytes\":%.0f,"
           "\"chain_bytes\":%.0f}\n",
           count, us, chain_us, bytes, chain_bytes);
    return 0;
}

/*
 * test_clock.c - a run takes as long as processes had it: neither hours in
 * which none did nor jumps of the wall clock are its own.
 */
#include "lib/run/run.h"
#include "run_help.h"

#define SCRIPT                                                          \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"later\",\"args\":{}}]," \
    "\"repeat\":2},{\"text\":\"done\"}]}"

enum { LIMIT_MS = 600000 };

static const int64_t hour_us = 3600 * INT64_C(1000000);
static int64_t wall_ahead_us; /* that somebody set it to */

static int64_t clock_ahead_us; /* of the other one: time that passed */

static int64_t moved_wall(void *ctx)
{
    return env_real.wall_us(ctx) + wall_ahead_us;
}

static int64_t moved_clock(void *ctx)
{
    return env_real.clock_us(ctx) + clock_ahead_us;
}

static bool setup(struct rig *r, wend_call **kept)
{
    static struct env moved;

    *r = (struct rig){.agent_options = {.approve = WEND_APPROVE_ALL,
                                        .limits.time_ms = LIMIT_MS}};
    if (!rig_open(r, NULL, SCRIPT))
        return false;
    moved = env_real;
    moved.wall_us = moved_wall;
    r->rt->env = &moved;
    wall_ahead_us = 0;
    rig_add(r, "later", tool_later, WEND_CLASS_READ, kept);
    return true;
}

/* To the next event of that type; false: it has none. */
static bool read_to(wend_run *run, wend_event_type type, const wend_event **ev)
{
    while (wend_run_next(run, ev) == WEND_OK)
        if ((*ev)->type == type)
            return true;
    return false;
}

static void answer(struct rig *r, wend_call **kept)
{
    while (!*kept)
        wend_runtime_pump(r->rt);
    wend_call_return(*kept, STR("x"));
    *kept = NULL;
}

static void check_end(wend_run *run, int64_t from_us, const char *why)
{
    const wend_event *ev = NULL;

    tap_ok(read_to(run, WEND_RUN_END, &ev) &&
               ev->u.run_end.outcome == WEND_OUTCOME_OK,
           "%s: it ends well", why);
    tap_ok(ev && ev->u.run_end.metrics.ms >= 0 &&
               ev->u.run_end.metrics.ms < LIMIT_MS,
           "%s: it took %lld ms", why,
           ev ? (long long)ev->u.run_end.metrics.ms : -1);
    tap_ok(ev && ev->time_us >= from_us, "%s: time does not go back", why);
}

/* The wall clock is set while it runs. */
static void test_jumps(void)
{
    static const struct {
        const char *why;
        int64_t hours;
    } rows[] = {{"set ahead", 5}, {"set back", -5}};

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_call *kept[4] = {NULL};
        const wend_event *ev = NULL;
        int64_t began_us = 0;
        struct rig r;
        wend_run *run;

        if (!setup(&r, kept))
            return;
        run = rig_start(&r, NULL);
        if (read_to(run, WEND_CALL_START, &ev))
            began_us = ev->time_us;
        wall_ahead_us = rows[i].hours * hour_us;
        answer(&r, kept);
        tap_ok(read_to(run, WEND_CALL_START, &ev) && ev->time_us >= began_us &&
                   ev->time_us - began_us < hour_us,
               "%s: events are as far apart as they were", rows[i].why);
        answer(&r, kept);
        check_end(run, began_us, rows[i].why);
        wend_run_free(run);
        rig_close(&r);
    }
}

/* No process has it, and the wall clock says another time after that. */
static void test_dead(void)
{
    static const struct {
        const char *why;
        int64_t hours;
    } rows[] = {{"hours later", 9}, {"set back meanwhile", -9}};

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_call *kept[4] = {NULL};
        const wend_event *ev = NULL;
        int64_t left_us = 0;
        char id[40];
        struct rig r;
        wend_run *run;

        if (!setup(&r, kept))
            return;
        run = rig_start(&r, NULL);
        snprintf(id, sizeof id, "%s", wend_run_id(run));
        if (read_to(run, WEND_CALL_START, &ev))
            left_us = ev->time_us;
        wend_run_free(run);
        wall_ahead_us = rows[i].hours * hour_us;
        if (kept[0])
            wend_call_return(kept[0], STR("too late"));
        kept[0] = NULL;
        tap_ok(wend_run_resume(r.agent, id, NULL, &run, &r.err) == WEND_OK,
               "%s: resumed: %s", rows[i].why, r.err.message);
        tap_ok(read_to(run, WEND_RUN_RESUME, &ev) && ev->time_us >= left_us &&
                   (ev->time_us - left_us > hour_us) == (rows[i].hours > 0),
               "%s: the log says when", rows[i].why);
        answer(&r, kept);
        read_to(run, WEND_CALL_END, &ev);
        answer(&r, kept);
        check_end(run, left_us, rows[i].why);
        wend_run_free(run);

        /* A replay at its own pace waits for a moment, not for hours. */
        if (wend_store_replay(
                r.rt, id,
                &(wend_replay_options){.size = sizeof(wend_replay_options),
                                       .speed = 1},
                &run, &r.err) == WEND_OK)
            tap_ok(read_to(run, WEND_RUN_END, &ev), "%s: replayed",
                   rows[i].why);
        wend_run_free(run);
        run = NULL;

        /* Nor does one that does not show where the run was taken up. */
        if (wend_store_replay(
                r.rt, id,
                &(wend_replay_options){.size = sizeof(wend_replay_options),
                                       .speed = 1,
                                       .filter.types =
                                           UINT64_C(1) << WEND_RUN_START |
                                           UINT64_C(1) << WEND_RUN_END},
                &run, &r.err) == WEND_OK)
            tap_ok(read_to(run, WEND_RUN_END, &ev), "%s: replayed in part",
                   rows[i].why);
        wend_run_free(run);
        rig_close(&r);
    }
}

/* The next event of that type within ten seconds. */
static const wend_event *soon(wend_run *run, wend_event_type type)
{
    const wend_event *ev = NULL;

    while (wend_run_next_for(run, 10000, &ev) == WEND_OK)
        if (ev->type == type)
            return ev;
    return NULL;
}

/* Waiting for a person counts, also if the process dies meanwhile. */
static void test_waited(void)
{
    enum { BEFORE_S = 400, AFTER_S = 250 }; /* together over the limit */
    static struct env moved;
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ASK,
                                      .limits.time_ms = LIMIT_MS}};
    const wend_event *ev;
    wend_run *run;
    char id[40];

    if (!rig_open(&r, NULL,
                  "script:{\"turns\":[{\"calls\":[{\"name\":\"write\","
                  "\"args\":{}}]},{\"text\":\"done\"}]}"))
        return;
    moved = env_real;
    moved.wall_us = moved_wall;
    moved.clock_us = moved_clock;
    r.rt->env = &moved;
    wall_ahead_us = 0;
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    tap_ok(soon(run, WEND_APPROVAL_ASK) != NULL, "waited: a person is asked");
    clock_ahead_us += BEFORE_S * INT64_C(1000000);
    ev = soon(run, WEND_METRICS);
    tap_ok(ev && ev->u.metrics.ms >= BEFORE_S * 1000,
           "waited: the log says how long");
    wend_run_free(run);
    run = NULL;
    wall_ahead_us += hour_us;
    tap_ok(wend_run_resume(r.agent, id, NULL, &run, &r.err) == WEND_OK &&
               soon(run, WEND_APPROVAL_ASK),
           "waited: asked again after a crash: %s", r.err.message);
    clock_ahead_us += AFTER_S * INT64_C(1000000);
    ev = run ? soon(run, WEND_RUN_END) : NULL;
    tap_ok(ev && ev->u.run_end.outcome == WEND_OUTCOME_LIMIT,
           "waited: both together reach the limit");
    tap_ok(ev && ev->u.run_end.metrics.ms >= LIMIT_MS &&
               ev->u.run_end.metrics.ms < hour_us / 1000,
           "waited: it took %lld ms, without the hour that no process had it",
           ev ? (long long)ev->u.run_end.metrics.ms : -1);
    wend_run_free(run);
    rig_close(&r);
    clock_ahead_us = 0;
}

int main(void)
{
    test_jumps();
    test_dead();
    test_waited();
    return tap_done();
}

/*
 * test_waterfall.c - the time that a plan still takes: by what is declared, by
 * what was learned, at the pace so far.
 */
#include <string.h>

#include "cli/view/waterfall.h"

#include "tap.h"

static const struct mem plain;

#define ACTION(id, wave, ms, learned)                       \
    "{\"id\":\"" id "\",\"name\":\"" id "\",\"wave\":" wave \
    ",\"estimate_ms\":" ms learned "}"
#define LEARNED ",\"learned\":true"

static const struct {
    const char *why, *actions;
    int64_t declared_ms;
    const char *wanted; /* one second after the start */
} rows[] = {
    {"declared: the critical path",
     "[" ACTION("a", "1", "9000", "") "," ACTION("b", "2", "2000", "") "]",
     11000, "about 10.0 s left"},
    {"learned: what is declared does not count",
     "[" ACTION("a", "1", "2000", LEARNED) "," ACTION("b", "2", "3000",
                                                      LEARNED) "]",
     11000, "about 4.0 s left"},
    {"learned: the longest of a wave",
     "[" ACTION("a", "1", "2000", LEARNED) "," ACTION("b", "1", "3000",
                                                      LEARNED) "]",
     0, "about 2.0 s left"},
    {"learned in part: the rest is declared",
     "[" ACTION("a", "1", "9000", "") "," ACTION("b", "2", "2000", LEARNED) "]",
     9000, "about 10.0 s left"},
    {"nothing is known: nothing is said", "[" ACTION("a", "1", "null", "") "]",
     0, "1.0 s\n"},
    {"a wave that is not there", "[" ACTION("a", "7", "2000", LEARNED) "]",
     5000, "1.0 s\n"},
};

/* A bar of a run of 2 s, forked 100 s later, whose result was given. */
static void test_fork(void)
{
    struct waterfall *w = waterfall_new(&plain);
    struct buf b = {.mem = &plain};
    wend_event ev = {.type = WEND_PLAN_START, .time_us = 5000000};

    ev.u.plan_start = (wend_ev_plan_start){
        .name = STR("p"),
        .actions_json = STR("[" ACTION("a", "1", "null", "") "]"),
        .waves = 1};
    waterfall_event(w, &ev);
    ev.type = WEND_ACTION_START;
    ev.u.action_start =
        (wend_ev_action_start){.action = STR("a"), .name = STR("a")};
    waterfall_event(w, &ev);
    ev.type = WEND_RUN_FORK;
    ev.time_us += 100000000;
    waterfall_event(w, &ev);
    ev.type = WEND_ACTION_END;
    ev.u.action_end = (wend_ev_action_end){.action = STR("a"),
                                           .outcome = WEND_OUTCOME_OK,
                                           .given = true,
                                           .ms = 2000};
    waterfall_event(w, &ev);
    waterfall_put(w, &b, 60, 10, false, ev.time_us + 3000000);
    tap_ok(strstr(b.ptr, " given\n"), "fork: a result says that it is given");
    tap_ok(strstr(b.ptr, ", 3.0 s\n"), "fork: the time between is left out");
    buf_free(&b);
    waterfall_free(w);
}

int main(void)
{
    struct buf b = {.mem = &plain};

    test_fork();

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct waterfall *w = waterfall_new(&plain);
        wend_event ev = {.type = WEND_PLAN_START, .time_us = 5000000};

        ev.u.plan_start = (wend_ev_plan_start){
            .name = STR("p"),
            .actions_json = str_of(rows[i].actions),
            .waves = 2,
            .critical_path_ms = rows[i].declared_ms,
        };
        waterfall_event(w, &ev);
        ev.type = WEND_ACTION_START;
        ev.u.action_start =
            (wend_ev_action_start){.action = STR("a"), .name = STR("a")};
        waterfall_event(w, &ev);
        buf_clear(&b);
        waterfall_put(w, &b, 100, 20, false, 6000000);
        tap_ok(memmem(b.ptr, b.len, rows[i].wanted, strlen(rows[i].wanted)) !=
                   NULL,
               "%s: %.*s", rows[i].why, (int)b.len, b.ptr);
        waterfall_free(w);
    }
    buf_free(&b);
    return tap_done();
}

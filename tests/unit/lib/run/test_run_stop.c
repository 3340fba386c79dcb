/*
 * test_run_stop.c - calls of tools that can be stopped: at the deadline, on
 * cancel, and when nobody waits any more.
 */
#include <time.h>

#include "base/limits.h"
#include "run_help.h"
#include "tools/tools.h"

/* The texts below name TIMEOUT_MS. */
enum { TIMEOUT_MS = 50, LATER_MS = 100, SOON_MS = 20000, TOLD_MAX = 4 };

/* How the tool takes it. */
enum manners { ANSWERS_AT_ONCE, ANSWERS_LATER, ANSWERS_BEFORE, NEVER_ANSWERS };

struct worker {
    enum manners manners;
    wend_call *call;
    enum stop_reason told[TOLD_MAX];
    int told_count;
    int64_t began_ms; /* of being told */
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void let_go(struct worker *w, const char *text)
{
    if (w->call)
        wend_call_fail(w->call, text);
    w->call = NULL;
}

static void on_stop(void *ctx, enum stop_reason why)
{
    struct worker *w = ctx;

    if (!w->told_count)
        w->began_ms = now_ms();
    if (w->told_count < TOLD_MAX)
        w->told[w->told_count++] = why;
    if (why == CALL_STOP_NOW || w->manners == ANSWERS_AT_ONCE)
        let_go(w, "ended");
}

static wend_status tool_worker(void *ctx, wend_call *call)
{
    struct worker *w = ctx;
    struct fetch *fetch = NULL;

    call_set_stop(call, on_stop, w);
    if (call_fetch(call, &fetch, NULL) != WEND_OK)
        return wend_call_fail(call, "no transfers");
    w->call = call;
    if (w->manners == ANSWERS_BEFORE)
        let_go(w, "well");
    return WEND_OK;
}

static wend_run *start(struct rig *r, struct worker *w, uint32_t timeout_ms)
{
    wend_tool_options t = {.size = sizeof t,
                           .name = "worker",
                           .call_class = WEND_CLASS_READ,
                           .timeout_ms = timeout_ms,
                           .fn = tool_worker,
                           .ctx = w};

    rig_open(r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"worker\"}]},"
             "{\"text\":\"end\"}]}");
    if (wend_agent_add_tool(r->agent, &t, &r->err) != WEND_OK)
        tap_ok(false, "tool: %s", r->err.message);
    return rig_start(r, NULL);
}

/* Everything but waiting, until *done or a minute is over. */
static bool until(struct rig *r, wend_run *run, const wend_event **ev,
                  bool (*done)(const struct worker *w, const wend_event *ev),
                  const struct worker *w)
{
    for (int64_t end = now_ms() + 60000; now_ms() < end; usleep(500)) {
        while (wend_run_poll(run, ev) == WEND_OK)
            if (done(w, *ev))
                return true;
        *ev = NULL;
        if (done(w, NULL))
            return true;
        wend_runtime_pump(r->rt);
    }
    return false;
}

static bool is_begun(const struct worker *w, const wend_event *ev)
{
    (void)ev;
    return w->call;
}

static bool is_told(const struct worker *w, const wend_event *ev)
{
    (void)ev;
    return w->told_count;
}

static bool is_ended(const struct worker *w, const wend_event *ev)
{
    (void)w;
    return ev && ev->type == WEND_CALL_END;
}

/* ---- Deadline and cancel --------------------------------------------------
 */

static const struct row {
    const char *why;
    enum manners manners;
    bool cancel;
    const char *outcome, *text, *code;
    int told_count;
    enum stop_reason told[TOLD_MAX];
    int64_t wait_min_ms, wait_max_ms; /* from the word to the call's end */
} rows[] = {
    {"a tool that answers at its deadline",
     ANSWERS_AT_ONCE,
     false,
     "timeout",
     "timed out after 50 ms (this tool's limit)\nended",
     "timeout",
     1,
     {CALL_STOP_DEADLINE},
     0,
     SOON_MS},
    {"a tool that answers on cancel",
     ANSWERS_AT_ONCE,
     true,
     "canceled",
     "ended",
     "canceled",
     1,
     {CALL_STOP_CANCEL},
     0,
     SOON_MS},
    {"a tool that needs a while after its deadline",
     ANSWERS_LATER,
     false,
     "timeout",
     "timed out after 50 ms (this tool's limit)\nended later",
     "timeout",
     1,
     {CALL_STOP_DEADLINE},
     LATER_MS,
     SOON_MS},
    {"a tool that needs a while after cancel",
     ANSWERS_LATER,
     true,
     "canceled",
     "ended later",
     "canceled",
     1,
     {CALL_STOP_CANCEL},
     LATER_MS,
     SOON_MS},
    {"a tool that never answers its deadline",
     NEVER_ANSWERS,
     false,
     "timeout",
     "timed out after 50 ms (this tool's limit); it may have had an effect",
     "timeout",
     2,
     {CALL_STOP_DEADLINE, CALL_STOP_NOW},
     STOP_GRACE_MS + STOP_SLACK_MS,
     SOON_MS},
    {"a tool that answers before",
     ANSWERS_BEFORE,
     false,
     "failed",
     "well",
     "failed",
     0,
     {0},
     0,
     0},
};

static void check_end(const struct row *row, const struct worker *w,
                      const wend_event *ev)
{
    const wend_ev_call_end *e = &ev->u.call_end;
    int64_t waited = w->told_count ? now_ms() - w->began_ms : 0;

    tap_is_str(wend_outcome_name(e->outcome), row->outcome, "%s: outcome",
               row->why);
    tap_is_str(e->output, row->text, "%s: text", row->why);
    tap_is_str(e->error ? e->error->code : STR_NONE, row->code, "%s: code",
               row->why);
    tap_is_i64(w->told_count, row->told_count, "%s: told", row->why);
    for (int i = 0; i < row->told_count; i++)
        tap_is_i64(w->told[i], row->told[i], "%s: word %d", row->why, i + 1);
    tap_ok(waited >= row->wait_min_ms && waited <= row->wait_max_ms,
           "%s: ended %lld ms after the word", row->why, (long long)waited);
}

static void test_row(const struct row *row)
{
    struct worker w = {.manners = row->manners};
    struct rig r = {.err = {0}};
    wend_run *run = start(&r, &w, row->cancel ? 60000 : TIMEOUT_MS);
    const wend_event *ev = NULL;

    if (row->cancel && until(&r, run, &ev, is_begun, &w))
        wend_run_cancel(run);
    if (w.manners == ANSWERS_LATER && until(&r, run, &ev, is_told, &w)) {
        usleep(LATER_MS * 1000);
        let_go(&w, "ended later");
    }
    if (tap_ok(until(&r, run, &ev, is_ended, &w), "%s: ends", row->why))
        check_end(row, &w, ev);
    read_all(run, NULL, NULL);
    wend_run_free(run);
    rig_close(&r);
}

/* ---- Nobody waits ---------------------------------------------------------
 */

/* Cancel after the deadline changes nothing; neither does a second one. */
static void test_told_once(void)
{
    struct worker w = {.manners = ANSWERS_LATER};
    struct rig r = {.err = {0}};
    wend_run *run = start(&r, &w, TIMEOUT_MS);
    const wend_event *ev = NULL;

    until(&r, run, &ev, is_told, &w);
    wend_run_cancel(run);
    for (int i = 0; i < 10; i++)
        wend_runtime_pump(r.rt);
    tap_is_i64(w.told_count, 1, "cancel after the deadline: told once");
    let_go(&w, "ended");
    if (tap_ok(until(&r, run, &ev, is_ended, &w), "and it ends"))
        tap_is_str(wend_outcome_name(ev->u.call_end.outcome), "timeout",
                   "with the reason that came first");
    read_all(run, NULL, NULL);
    wend_run_free(run);
    rig_close(&r);
}

/* What goes while the tool is at work. */
static void test_gone(bool runtime_first, bool told_before)
{
    struct worker w = {.manners = NEVER_ANSWERS};
    struct rig r = {.err = {0}};
    wend_run *run = start(&r, &w, told_before ? TIMEOUT_MS : 60000);
    const wend_event *ev = NULL;

    until(&r, run, &ev, told_before ? is_told : is_begun, &w);
    if (!runtime_first)
        wend_run_free(run);
    rig_close(&r);
    if (runtime_first)
        wend_run_free(run);
    tap_is_i64(w.told_count, 1 + told_before, "the %s goes%s: told",
               runtime_first ? "runtime" : "run",
               told_before ? " within the grace" : "");
    tap_is_i64(w.told[told_before], CALL_STOP_NOW, "to stop now");
}

int main(void)
{
    for (size_t i = 0; i < tap_count(rows); i++)
        test_row(&rows[i]);
    test_told_once();
    test_gone(false, false);
    test_gone(true, false);
    test_gone(false, true);
    test_gone(true, true);
    return tap_done();
}

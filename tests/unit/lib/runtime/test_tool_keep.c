/*
 * test_tool_keep.c - the pace of a tool, and answers that are given again.
 */
#include "base/limits.h"
#include "lib/run/run.h"
#include "run_help.h"

enum { SECOND_US = 1000000, MINUTE_US = 60 * SECOND_US };

/* ---- Pace -----------------------------------------------------------------
 */

static void test_pace(void)
{
    int64_t ring[3] = {0}, now = 5, begun[40];
    struct pace p = {ring, 3, 0}, none = {NULL, 0, 0};
    int most = 0;

    tap_is_i64(pace_take(&none, 7), 7, "without a bound nobody waits");
    for (int i = 0; i < 40; i++) {
        begun[i] = pace_take(&p, now);
        if (begun[i] < now || (i && begun[i] < begun[i - 1]))
            tap_ok(false, "call %d begins out of order", i);
        now += i % 7 * SECOND_US;
    }
    for (int i = 0; i < 40; i++) {
        int count = 0;

        for (int n = i; n < 40; n++)
            count += begun[n] < begun[i] + MINUTE_US;
        if (count > most)
            most = count;
    }
    tap_is_i64(most, 3, "no minute has more than the bound");
    tap_is_i64(begun[2], begun[0] + 1 * SECOND_US,
               "below the bound nobody waits");
    tap_is_i64(begun[3], begun[0] + MINUTE_US, "nobody waits for too long");
}

/* ---- Answers --------------------------------------------------------------
 */

static wend_str found(const struct answers *a, wend_str args, int64_t now_us)
{
    const struct kept_answer *k = answers_find(a, args, now_us);

    return k ? k->output : STR_NONE;
}

static void test_answers(void)
{
    static char big[ANSWERS_BYTES_MAX];
    struct answers a = {0};

    answers_keep(&a, &rig_mem, STR("{}"), STR("one"), 0, 100);
    answers_keep(&a, &rig_mem, STR("{\"x\":1}"), STR(""), 3, 100);
    tap_is_str(found(&a, STR("{}"), 99), "one", "found");
    tap_ok(found(&a, STR("{\"x\":1}"), 99).ptr != NULL,
           "an empty answer is one");
    tap_is_i64(answers_find(&a, STR("{\"x\":1}"), 99)->labels, 3,
               "with its labels");
    tap_ok(!found(&a, STR("{}"), 100).ptr, "too old");
    tap_ok(!found(&a, STR("{\"x\":2}"), 1).ptr, "never asked");
    answers_keep(&a, &rig_mem, STR("{}"), STR("two"), 0, 200);
    tap_is_str(found(&a, STR("{}"), 99), "two", "the newest counts");
    memset(big, 'x', sizeof big);
    answers_keep(&a, &rig_mem, STR("big"), (wend_str){big, sizeof big}, 0, 999);
    tap_ok(!found(&a, STR("big"), 1).ptr, "too long to keep");
    for (int i = 0; i < 3 * ANSWERS_KEPT_MAX; i++)
        answers_keep(&a, &rig_mem, STR("n"), STR("n"), 0, 999);
    tap_is_i64(a.count, ANSWERS_KEPT_MAX, "only so many are kept");
    for (int i = 0; i < 10; i++)
        answers_keep(&a, &rig_mem, STR("m"),
                     (wend_str){big, ANSWERS_BYTES_MAX / 5}, 0, 999);
    tap_ok(a.bytes <= ANSWERS_BYTES_MAX && a.count >= 4, "and so many bytes");
    answers_free(&a, &rig_mem);
    tap_ok(!a.newest, "freed");
}

/* ---- In runs --------------------------------------------------------------
 */

static int called;
static int64_t ahead_us;

static wend_status count_calls(void *ctx, wend_call *call)
{
    char text[20];

    (void)ctx;
    snprintf(text, sizeof text, "answer %d", ++called);
    return wend_call_return(call, str_of(text));
}

static int64_t moved_clock(void *ctx)
{
    return env_real.clock_us(ctx) + ahead_us;
}

#define CALL(n) "{\"name\":\"count\",\"args\":{\"x\":" n "}}"
#define SCRIPT                                                          \
    "script:{\"turns\":[{\"calls\":[" CALL("1") "]},{\"calls\":[" CALL( \
        "1") "]},{\"calls\":[" CALL("2") "]},{\"text\":\"done\"}]}"

static bool setup(struct rig *r, wend_tool_options *t)
{
    static struct env moved;

    *r = (struct rig){.agent_options = {.approve = WEND_APPROVE_ALL}};
    if (!rig_open(r, NULL, SCRIPT))
        return false;
    moved = env_real;
    moved.clock_us = moved_clock;
    r->rt->env = &moved;
    called = 0;
    ahead_us = 0;
    t->size = sizeof *t;
    t->name = "count";
    t->fn = count_calls;
    return tap_ok(wend_agent_add_tool(r->agent, t, &r->err) == WEND_OK,
                  "a tool (%s)", r->err.message);
}

static void test_cached(void)
{
    wend_tool_options t = {.call_class = WEND_CLASS_READ, .cache_ms = 1000};
    struct buf lines = {.mem = &rig_mem};
    struct rig r;
    wend_run *run;

    if (!setup(&r, &t))
        return;
    run = rig_start(&r, NULL);
    read_all(run, NULL, &lines);
    wend_run_free(run);
    tap_is_i64(called, 2, "the same question is asked once");
    tap_ok(strstr(lines.ptr, "\"outcome\":\"ok\",\"output\":\"answer 1\","
                             "\"cached\":true"),
           "the log says so");
    ahead_us += 2 * SECOND_US;
    run = rig_start(&r, NULL);
    read_all(run, NULL, NULL);
    wend_run_free(run);
    tap_is_i64(called, 4, "and again when the answer is old");
    buf_free(&lines);
    rig_close(&r);
}

/* An answer that is given again brings what the run knew that got it. */
static void test_cached_labels(void)
{
    static const char both[] =
        "script:{\"turns\":[{\"calls\":[{\"name\":\"mail\",\"args\":{}}],"
        "\"when\":\"first\"},{\"calls\":[" CALL(
            "1") "],\"repeat\":2},"
                 "{\"text\":\"done\",\"repeat\":\"forever\"}]}";
    static const char *const wanted[] = {
        "\"outcome\":\"ok\",\"output\":\"answer 2\",\"ms\":",
        "\"outcome\":\"ok\",\"output\":\"answer 2\",\"cached\":true"};
    static const char *const prompts[] = {"first", "second"};
    static const char mark[] = "\"labels\":[\"sensitive\"]";
    wend_tool_options t = {.size = sizeof t,
                           .name = "mail",
                           .call_class = WEND_CLASS_READ,
                           .labels = WEND_LABEL_SENSITIVE,
                           .fn = count_calls};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};

    if (!rig_open(&r, NULL, both))
        return;
    called = 0;
    wend_agent_add_tool(r.agent, &t, NULL);
    t.name = "count";
    t.labels = 0;
    t.cache_ms = 100000;
    wend_agent_add_tool(r.agent, &t, NULL);
    for (int i = 0; i < 2; i++) {
        struct buf lines = {.mem = &rig_mem};
        wend_run *run = NULL;
        const char *end;
        wend_str line;
        bool brings;

        wend_run_start(r.agent, str_of(prompts[i]), NULL, &run, NULL);
        read_all(run, NULL, &lines);
        end = strstr(lines.ptr, wanted[i]);
        tap_ok(end, "run %d has the answer", i);
        line = (wend_str){end, end ? strcspn(end, "\n") : 0};
        brings = line.len && memmem(line.ptr, line.len, mark, strlen(mark));
        tap_ok(brings == (i == 1), "run %d: %s", i,
               i ? "it brings sensitive" : "of itself nothing");
        wend_run_free(run);
        buf_free(&lines);
    }
    rig_close(&r);
}

static void test_paced(void)
{
    wend_tool_options t = {.per_minute = 2};
    const wend_event *ev;
    struct rig r;
    wend_run *run;

    if (!setup(&r, &t))
        return;
    run = rig_start(&r, NULL);
    for (int i = 0; i < 200; i++) {
        wend_runtime_pump(r.rt);
        while (wend_run_poll(run, &ev) == WEND_OK)
            continue;
    }
    tap_is_i64(called, 2, "the third call waits");
    tap_ok(wend_run_poll(run, &ev) == WEND_AGAIN, "and so does the run");
    ahead_us += MINUTE_US;
    read_all(run, NULL, NULL);
    tap_is_i64(called, 3, "until its minute is over");
    wend_run_free(run);
    rig_close(&r);
}

static void test_paced_cancel(void)
{
    wend_tool_options t = {.per_minute = 2};
    struct buf lines = {.mem = &rig_mem};
    struct rig r;
    wend_run *run;

    if (!setup(&r, &t))
        return;
    run = rig_start(&r, NULL);
    while (called < 2)
        wend_runtime_pump(r.rt);
    for (int i = 0; i < 100; i++)
        wend_runtime_pump(r.rt);
    wend_run_cancel(run);
    read_all(run, NULL, &lines);
    tap_ok(strstr(lines.ptr, "canceled before it began"),
           "canceled while it waits: no effect");
    wend_run_free(run);
    run = rig_start(&r, NULL); /* freed while it waits */
    for (int i = 0; i < 100; i++)
        wend_runtime_pump(r.rt);
    wend_run_free(run);
    buf_free(&lines);
    rig_close(&r);
}

static void test_refused(void)
{
    wend_tool_options t = {
        .size = sizeof t, .name = "x", .fn = count_calls, .cache_ms = 1};
    struct rig r = {0};

    if (!rig_open(&r, NULL, SCRIPT))
        return;
    tap_ok(wend_agent_add_tool(r.agent, &t, &r.err) == WEND_E_INVAL,
           "an effect is not given again: %s", r.err.message);
    t.cache_ms = 0;
    t.per_minute = PACE_MAX + 1;
    tap_ok(wend_agent_add_tool(r.agent, &t, &r.err) == WEND_E_LIMIT, "%s",
           r.err.message);
    t.per_minute = PACE_MAX;
    tap_ok(wend_agent_add_tool(r.agent, &t, &r.err) == WEND_OK, "at the limit");
    rig_close(&r);
}

int main(void)
{
    test_pace();
    test_answers();
    test_cached();
    test_cached_labels();
    test_paced();
    test_paced_cancel();
    test_refused();
    return tap_done();
}

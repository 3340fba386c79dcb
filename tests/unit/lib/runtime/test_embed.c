/*
 * test_embed.c - what the headers promise to a host that embeds the library:
 * what runs before the first pump, answers that come late, threaded tools,
 * tools with default options, and what calls return when the run is over.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tap.h"
#include "wend.h"

#define CALLS "{\"calls\":[{\"name\":\"work\",\"args\":{}}]}"

static const char script[] =
    "script:{\"turns\":[" CALLS ",{\"text\":\"done\"}]}";

struct host {
    wend_runtime *rt;
    wend_agent *agent;
    wend_run *run;
    wend_call *call;         /* not answered yet */
    atomic_int calls, hooks; /* how often wend called the host */
    pthread_t caller;        /* of the tool */
    wend_status inside; /* of a call that belongs to the runtime's thread */
};

static wend_status later(void *ctx, wend_call *call)
{
    struct host *h = ctx;

    atomic_fetch_add(&h->calls, 1);
    h->call = call;
    return WEND_OK;
}

static wend_status at_once(void *ctx, wend_call *call)
{
    struct host *h = ctx;

    atomic_fetch_add(&h->calls, 1);
    h->caller = pthread_self();
    h->inside = wend_run_continue(h->run);
    return wend_call_return(call, wend_str_of("42"));
}

static wend_hook_answer on_hook(void *ctx, wend_hook *hook)
{
    struct host *h = ctx;

    (void)hook;
    atomic_fetch_add(&h->hooks, 1);
    return WEND_HOOK_GO;
}

static void start(struct host *h, const wend_tool_options *tool)
{
    wend_agent_options a = {.size = sizeof a, .model = script};
    wend_run_options o = {.size = sizeof o, .hook = on_hook, .hook_ctx = h};
    wend_tool_options t = *tool;

    t.size = sizeof t;
    t.name = "work";
    t.ctx = h;
    tap_ok(wend_runtime_new(NULL, &h->rt, NULL) == WEND_OK &&
               wend_agent_new(h->rt, &a, &h->agent, NULL) == WEND_OK &&
               wend_agent_add_tool(h->agent, &t, NULL) == WEND_OK &&
               wend_run_start(h->agent, wend_str_of("go"), &o, &h->run, NULL) ==
                   WEND_OK,
           "a run is started");
}

static void stop(struct host *h)
{
    wend_run_free(h->run);
    wend_agent_free(h->agent);
    wend_runtime_free(h->rt);
}

/* Pumps by hand until an event of the type is polled. */
static bool pump_to(struct host *h, wend_event_type type)
{
    const wend_event *ev;
    wend_status s = WEND_OK;

    for (int i = 0; i < 100000 && s == WEND_OK; i++) {
        while ((s = wend_run_poll(h->run, &ev)) == WEND_OK)
            if (ev->type == type)
                return true;
        if (s == WEND_AGAIN)
            s = wend_runtime_pump(h->rt);
    }
    return false;
}

static void test_nothing_before_a_pump(void)
{
    struct host h = {0};
    const wend_event *ev;

    start(&h,
          &(wend_tool_options){.call_class = WEND_CLASS_READ, .fn = at_once});
    for (int i = 0; i < 3; i++)
        tap_ok(wend_run_poll(h.run, &ev) == WEND_AGAIN,
               "before a pump there is no event");
    tap_ok(wend_runtime_timeout_ms(h.rt) == 0, "a pump is due");
    tap_ok(!atomic_load(&h.hooks) && !atomic_load(&h.calls),
           "before a pump no hook and no tool is called");
    tap_ok(pump_to(&h, WEND_RUN_END), "pumps drive it to its end");
    tap_ok(atomic_load(&h.hooks) && atomic_load(&h.calls) == 1,
           "then they are");
    tap_ok(h.inside == WEND_OK && pthread_equal(h.caller, pthread_self()),
           "a tool runs on the runtime's thread and may use the run");
    stop(&h);
}

enum gone { RUN_GONE, ALL_GONE };

static void test_late_answer(enum gone what, const char *name)
{
    struct host h = {0};

    start(&h, &(wend_tool_options){.call_class = WEND_CLASS_READ, .fn = later});
    while (!h.call && wend_runtime_pump(h.rt) == WEND_OK)
        continue;
    tap_ok(!wend_call_canceled(h.call), "%s: the call is wanted", name);
    wend_run_free(h.run);
    if (what == ALL_GONE) {
        wend_agent_free(h.agent);
        wend_runtime_free(h.rt);
    }
    tap_ok(wend_call_canceled(h.call), "%s: it is canceled", name);
    tap_ok(wend_call_args(h.call).len == 2, "%s: it can be read", name);
    tap_ok(wend_call_progress(h.call, "still here") == WEND_OK,
           "%s: progress is dropped", name);
    tap_ok(wend_call_return(h.call, wend_str_of("late")) == WEND_OK,
           "%s: it is answered", name);
    if (what == RUN_GONE) {
        tap_ok(wend_runtime_pump(h.rt) == WEND_OK, "%s: and dropped", name);
        wend_agent_free(h.agent);
        wend_runtime_free(h.rt);
    }
}

static void test_threaded(void)
{
    struct host h = {0};
    wend_outcome outcome;
    wend_str text;

    start(&h, &(wend_tool_options){.call_class = WEND_CLASS_READ,
                                   .threaded = true,
                                   .fn = at_once});
    tap_ok(wend_run_wait(h.run, &text) == WEND_OK && text.len == 4,
           "threaded: the run ends");
    tap_ok(!pthread_equal(h.caller, pthread_self()),
           "threaded: the function has a thread of its own");
    tap_ok(h.inside == WEND_E_MISUSE,
           "threaded: what belongs to the runtime's thread is refused");
    tap_ok(wend_run_outcome(h.run, &outcome) == WEND_OK &&
               outcome == WEND_OUTCOME_OK,
           "threaded: its answer counts");
    stop(&h);
}

static void test_defaults_wait(void)
{
    struct host h = {0};
    wend_outcome outcome;
    const wend_event *ev;

    start(&h, &(wend_tool_options){.fn = at_once});
    tap_ok(pump_to(&h, WEND_APPROVAL_ASK), "defaults: approval is asked for");
    tap_ok(wend_run_next_for(h.run, 50, &ev) == WEND_AGAIN &&
               !atomic_load(&h.calls),
           "defaults: the run waits, the tool is not called");
    tap_ok(wend_run_outcome(h.run, &outcome) == WEND_AGAIN,
           "an unfinished run has no outcome");
    tap_ok(wend_run_cancel(h.run) == WEND_OK && pump_to(&h, WEND_RUN_END),
           "defaults: it can be canceled");
    stop(&h);
}

static void test_over(void)
{
    struct host h = {0};
    const wend_event *ev;
    wend_outcome outcome;
    wend_str text;
    wend_status s;

    start(&h,
          &(wend_tool_options){.call_class = WEND_CLASS_READ, .fn = at_once});
    for (int i = 0; i < 2; i++)
        tap_ok(wend_run_wait(h.run, &text) == WEND_OK && text.len == 4,
               "over: wait gives the answer, again");
    tap_ok(wend_run_next(h.run, &ev) == WEND_END &&
               wend_run_next_for(h.run, 0, &ev) == WEND_END &&
               wend_run_poll(h.run, &ev) == WEND_END,
           "over: next and poll return WEND_END");
    tap_ok(wend_run_say(h.run, wend_str_of("x")) == WEND_END &&
               wend_run_pause(h.run) == WEND_END &&
               wend_run_continue(h.run) == WEND_END,
           "over: say, pause and continue return WEND_END");
    s = wend_run_approve(h.run, wend_str_of("c"), true, NULL);
    tap_ok(s == WEND_E_NOTFOUND || s == WEND_END, "over: nothing waits");
    tap_ok(wend_run_cancel(h.run) == WEND_OK &&
               wend_runtime_pump(h.rt) == WEND_OK &&
               wend_run_poll(h.run, &ev) == WEND_END,
           "over: a cancel does nothing");
    tap_ok(!wend_run_child(h.run, 0), "over: it has no child");
    wend_runtime_free(h.rt);
    h.rt = NULL;
    tap_ok(wend_run_outcome(h.run, &outcome) == WEND_OK &&
               outcome == WEND_OUTCOME_OK && wend_run_id(h.run),
           "the outcome is known after the runtime is freed");
    tap_ok(wend_run_cancel(h.run) == WEND_E_MISUSE,
           "then it cannot be canceled");
    stop(&h);
}

int main(void)
{
    test_nothing_before_a_pump();
    test_late_answer(RUN_GONE, "run freed");
    test_late_answer(ALL_GONE, "all freed");
    test_threaded();
    test_defaults_wait();
    test_over();
    return tap_done();
}

/*
 * test_trouble.c - what a component cannot do is an error event of the run,
 * and the run goes on.
 */
#include "lib/run/run.h"
#include "run_help.h"

/* ---- A store whose side tables cannot be read ---------------------------- */

static wend_status no_facts(wend_store *s, wend_str space, wend_str key,
                            int64_t now_us, store_fact_fn fn, void *ctx,
                            wend_error *err)
{
    (void)s;
    (void)space;
    (void)key;
    (void)now_us;
    (void)fn;
    (void)ctx;
    if (err) {
        err->status = WEND_E_IO;
        snprintf(err->message, sizeof err->message, "no table");
    }
    return WEND_E_IO;
}

static wend_status no_inbox(wend_store *s, store_request_fn fn, void *ctx,
                            wend_error *err)
{
    (void)s;
    (void)fn;
    (void)ctx;
    err->status = WEND_E_IO;
    snprintf(err->message, sizeof err->message, "no inbox");
    return WEND_E_IO;
}

enum broken { FACTS = 1, INBOX = 2 };

static struct store_ops broken_ops;
static const struct store_ops *sound_ops;

static void break_store(struct rig *r, unsigned what)
{
    sound_ops = r->store->ops;
    broken_ops = *sound_ops;
    if (what & FACTS)
        broken_ops.facts = no_facts;
    if (what & INBOX)
        broken_ops.take = no_inbox;
    r->store->ops = &broken_ops;
}

/* `component: message`, one a line; and how the run ended. */
static void collect(wend_run *run, struct buf *out)
{
    const wend_event *ev;

    while (run && wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_ERROR)
            buf_fmt(out, "%.*s: %.*s\n", (int)ev->u.error.component.len,
                    ev->u.error.component.ptr, (int)ev->u.error.message.len,
                    ev->u.error.message.ptr);
        else if (ev->type == WEND_RUN_END)
            buf_cstr(out, wend_outcome_name(ev->u.run_end.outcome));
    wend_run_free(run);
}

static void test_cache(void)
{
    static const char plan[] =
        "wend: plan/1\nname: p\nactions: [{name: a, type: tool, target: echo, "
        "cache: {ttl: 1h}}]\n";
    struct buf told = {.mem = &rig_mem};
    struct rig r = {0};

    if (!rig_open(&r, "memory:", "script:{\"turns\":[]}"))
        return;
    collect(rig_start_plan(&r, plan), &told);
    tap_is_str(buf_view(&told), STR("ok"), "a cache that can be read: nothing");
    buf_clear(&told);
    break_store(&r, FACTS);
    collect(rig_start_plan(&r, plan), &told);
    tap_is_str(buf_view(&told),
               STR("cache: action a is not answered from the cache, which "
                   "cannot be read: no table\nok"),
               "one that cannot: the action runs");
    r.store->ops = sound_ops;
    rig_close(&r);
    buf_free(&told);
}

static void test_learned(void)
{
    struct buf told = {.mem = &rig_mem};
    wend_run_options o = {.size = sizeof o, .plan = true};
    struct rig r = {0};

    if (!rig_open(&r, "memory:",
                  "script:{\"turns\":[{\"text\":\"a\"},{\"text\":\"b\"}]}"))
        return;
    break_store(&r, FACTS);
    collect(rig_start(&r, &o), &told);
    tap_is_str(buf_view(&told),
               STR("learned: what actions took in the past cannot be read: no "
                   "table\nok"),
               "told once, in a run of many steps");
    r.store->ops = sound_ops;
    rig_close(&r);
    buf_free(&told);
}

/* It is looked at every 100 ms, and told once until it works again. */
static void test_inbox(void)
{
    struct buf told = {.mem = &rig_mem};
    wend_call *kept[3] = {NULL};
    const wend_event *ev;
    struct rig r = {0};
    int errors = 0, looks = 0;
    wend_run *run;

    if (!rig_open(&r, "memory:",
                  "script:{\"turns\":[{\"calls\":[{\"name\":\"later\","
                  "\"args\":{}}]},{\"text\":\"over\"}]}"))
        return;
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, kept);
    run = rig_start(&r, NULL);
    while (!kept[0])
        wend_runtime_pump(r.rt);
    break_store(&r, INBOX);
    while (errors < 2 && looks < 2000) {
        wend_status s = wend_run_poll(run, &ev);

        if (s == WEND_OK && ev->type == WEND_ERROR) {
            buf_fmt(&told, "%.*s: %.*s\n", (int)ev->u.error.component.len,
                    ev->u.error.component.ptr, (int)ev->u.error.message.len,
                    ev->u.error.message.ptr);
            errors++;
            looks = 0;
        }
        if (s == WEND_AGAIN) {
            usleep(5000);
            wend_runtime_pump(r.rt);
            looks++;
        }
        if (errors == 1 && looks == 100) /* half a second: five looks */
            r.store->ops = sound_ops;
        if (errors == 1 && looks == 150)
            r.store->ops = &broken_ops;
    }
    tap_is_i64(errors, 2, "once each time that it begins to fail");
    tap_is_str(buf_view(&told),
               STR("inbox: requests of other processes cannot be read: no "
                   "inbox\ninbox: requests of other processes cannot be read: "
                   "no inbox\n"),
               "what is told");
    buf_clear(&told);
    r.store->ops = sound_ops;
    wend_call_return(kept[0], STR("done"));
    collect(run, &told);
    tap_is_str(buf_view(&told), STR("ok"), "the run goes on");
    rig_close(&r);
    buf_free(&told);
}

/* ---- What an agent has trouble with -------------------------------------- */

static void tell(wend_agent *a, const char *of, const char *message)
{
    struct trouble t = {.code = STR("mcp_down"),
                        .component = STR("mcp"),
                        .message = str_of(message),
                        .of = str_of(of)};

    agent_trouble(a, &t, true);
}

static void test_standing(void)
{
    struct buf told = {.mem = &rig_mem};
    struct rig r = {0};
    const wend_event *ev;
    wend_run *run, *again = NULL;
    wend_call *kept[3] = {NULL};
    char id[40];

    if (!rig_open(&r, "memory:", "script:{\"turns\":[{\"text\":\"over\"}]}"))
        return;
    tell(r.agent, "one", "one is gone");
    tell(r.agent, "two", "two is gone");
    tell(r.agent, "one", "one is still gone");
    collect(rig_start(&r, NULL), &told);
    tap_is_str(buf_view(&told),
               STR("mcp: one is gone\nmcp: two is gone\n"
                   "mcp: one is still gone\nok"),
               "a run is told what the agent knows");
    wend_agent_free(r.agent);
    r.agent_options.model = "script:{\"turns\":[{\"calls\":[{\"name\":"
                            "\"later\",\"args\":{}}]},{\"text\":\"over\"}]}";
    if (wend_agent_new(r.rt, &r.agent_options, &r.agent, &r.err) != WEND_OK)
        return;
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, kept);
    tell(r.agent, "one", "one is gone");
    buf_clear(&told);
    run = rig_start(&r, NULL);
    tap_ok(wend_run_next(run, &ev) == WEND_OK && ev->type == WEND_RUN_START &&
               wend_run_next(run, &ev) == WEND_OK && ev->type == WEND_ERROR,
           "it follows run_start");
    while (!kept[0])
        wend_runtime_pump(r.rt);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    wend_call_return(kept[0], STR("too late"));
    agent_forget_trouble(r.agent, STR("one"));
    tell(r.agent, "two", "two is gone");
    tap_is_i64(wend_run_resume(r.agent, id, NULL, &again, &r.err), WEND_OK,
               "resumed %s", r.err.message);
    tap_ok(wend_run_next(again, &ev) == WEND_OK && ev->type == WEND_RUN_RESUME,
           "run_resume comes first");
    while (!kept[1])
        wend_runtime_pump(r.rt);
    wend_call_return(kept[1], STR("done"));
    collect(again, &told);
    tap_is_str(buf_view(&told), STR("mcp: two is gone\nok"),
               "and then what has changed since");
    rig_close(&r);
    buf_free(&told);
}

/* At any moment, also when it is being stopped, and never after its end. */
static void test_any_moment(void)
{
    static const char script[] =
        "script:{\"turns\":[{\"calls\":[{\"name\":\"echo\",\"args\":{}}]},"
        "{\"text\":\"over\"}]}";
    int bad = 0, told = 0;

    for (int64_t at = 1; at < 20; at++) {
        struct rig r = {0};
        wend_laws *laws = NULL;
        const wend_event *ev;
        wend_run *run;
        bool done = false;

        if (!rig_open(&r, "memory:", script) || wend_laws_new(&laws) != WEND_OK)
            return;
        run = rig_start(&r, NULL);
        while (wend_run_next(run, &ev) == WEND_OK) {
            bad += wend_laws_add(laws, ev, NULL) != WEND_OK;
            told += ev->type == WEND_ERROR;
            if (ev->seq < at || done)
                continue;
            done = true;
            if (at % 2)
                wend_run_cancel(run);
            run_error(run, "test", "a \xff word");
        }
        bad += wend_laws_end(laws, NULL) != WEND_OK;
        wend_laws_free(laws);
        wend_run_free(run);
        rig_close(&r);
    }
    tap_is_i64(bad, 0, "no law is broken");
    tap_ok(told > 5, "it is told while the run goes on");
}

int main(void)
{
    test_cache();
    test_learned();
    test_inbox();
    test_standing();
    test_any_moment();
    return tap_done();
}

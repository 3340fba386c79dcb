/*
 * test_approval.c - approvals with other arguments, and those that nothing can
 * give.
 */
#include "base/json.h"
#include "run_help.h"

#define TURNS(calls) \
    "script:{\"turns\":[{\"calls\":[" calls "]},{\"text\":\"done\"}]}"
#define PUT TURNS("{\"name\":\"put\",\"args\":{\"n\":1}}")

static void add_put(struct rig *r)
{
    wend_tool_options t = {
        .size = sizeof t,
        .name = "put",
        .description = "takes a number",
        .schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"
                  "\"integer\"},\"s\":{\"type\":\"string\"}},"
                  "\"required\":[\"n\"]}",
        .subject = "s",
        .call_class = WEND_CLASS_UNSAFE,
        .fn = tool_echo,
    };

    if (wend_agent_add_tool(r->agent, &t, &r->err) != WEND_OK)
        tap_ok(false, "put: %s", r->err.message);
}

static bool open_put(struct rig *r, const char *url, const char *script)
{
    static const char *const rules[] = {"!put(secret)"};

    memset(r, 0, sizeof *r);
    r->agent_options.rules = rules;
    r->agent_options.rules_count = 1;
    if (!rig_open(r, url, script))
        return false;
    add_put(r);
    return true;
}

/* The newest line of that type. */
static bool line_has(const struct buf *lines, const char *type,
                     const char *text)
{
    wend_str rest = buf_view(lines), line;
    bool found = false;

    while (rest.len && str_line(&rest, &line)) {
        struct buf b = {.mem = &rig_mem};

        buf_str(&b, line);
        buf_char(&b, '\0');
        if (strstr(b.ptr, type) && strstr(b.ptr, text))
            found = true;
        buf_free(&b);
    }
    return found;
}

/* ---- Other arguments ----------------------------------------------------- */

static const struct {
    const char *why, *args, *said;
} refused[] = {
    {"no JSON", "{\"n\":", "not valid JSON: line 1"},
    {"not what the schema wants", "{\"n\":\"x\"}", "schema"},
    {"no object", "[1]", "schema"},
    {"denied by a rule", "{\"n\":1,\"s\":\"secret\"}", "denied by policy"},
};

static void change(wend_run *run, wend_str call)
{
    for (size_t i = 0; i < tap_count(refused); i++) {
        tap_is_i64(wend_run_approve_changed(run, call, str_of(refused[i].args),
                                            "test"),
                   WEND_E_INVAL, "changed: %s", refused[i].why);
        tap_ok(strstr(wend_run_error(run)->message, refused[i].said) != NULL,
               "changed: %s: %s", refused[i].why, wend_run_error(run)->message);
    }
    tap_is_i64(
        wend_run_approve_changed(run, STR("other"), STR("{\"n\":2}"), NULL),
        WEND_E_NOTFOUND, "changed: another call");
    tap_is_i64(wend_run_approve_changed(run, call, STR_NONE, NULL),
               WEND_E_INVAL, "changed: nothing");
    tap_is_i64(
        wend_run_approve_changed(run, call, STR("{ \"n\" : 2 }"), "test"),
        WEND_OK, "changed: it waited until now");
    tap_is_i64(wend_run_approve(run, call, true, NULL), WEND_E_NOTFOUND,
               "changed: answered");
}

static void test_changed(void)
{
    struct rig r;
    struct buf lines = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;

    if (!open_put(&r, NULL, PUT))
        return;
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK) {
        put_line(&lines, ev);
        if (ev->type == WEND_APPROVAL_ASK)
            change(run, ev->u.approval_ask.call);
    }
    tap_ok(line_has(&lines, "approval_answer",
                    "\"by\":\"test\",\"args\":{\"n\":2}"),
           "changed: the log says who changed them to what");
    tap_ok(line_has(&lines, "call_start", "\"args\":{\"n\":2}"),
           "changed: the tool gets them");
    tap_ok(line_has(&lines, "call_end", "{\\\"n\\\":2}"), "changed: it ran");
    wend_run_free(run);
    buf_free(&lines);
    rig_close(&r);
}

/* The model wrote other arguments than those that ran: it is told. */
static void test_told(void)
{
    struct rig r;
    wend_run *run;
    const wend_event *ev;
    wend_str text = STR_NONE;

    if (!open_put(&r, NULL,
                  "script:{\"turns\":[{\"calls\":[{\"name\":\"put\",\"args\":{"
                  "\"n\":1}}]},{\"text\":\"got ${tool_result}\"}]}"))
        return;
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve_changed(run, ev->u.approval_ask.call,
                                     STR("{\"n\":2}"), NULL);
    wend_run_wait(run, &text);
    tap_is_str(text,
               "got [the user changed the arguments of this call to "
               "{\"n\":2}]\n{\"n\":2}",
               "told: the model reads what was changed");
    wend_run_free(run);
    rig_close(&r);
}

/* Left between the answer and the start of the call: the second call waits for
 * the first, which keeps its place. */
static void test_resumed(void)
{
    struct rig r;
    struct buf lines = {.mem = &rig_mem};
    wend_call *kept[2] = {NULL};
    const wend_event *ev;
    wend_run *run, *next = NULL;
    char id[40];
    int asked = 0;

    if (!open_put(&r, "memory:",
                  TURNS("{\"name\":\"later\",\"args\":{}},"
                        "{\"name\":\"put\",\"args\":{\"n\":1}}")))
        return;
    rig_add(&r, "later", tool_later, WEND_CLASS_UNSAFE, kept);
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    while (asked < 2 && wend_run_next(run, &ev) == WEND_OK)
        asked += ev->type == WEND_APPROVAL_ASK;
    wend_run_approve_changed(run, STR("call_2"), STR("{\"n\":7}"), "test");
    wend_run_approve(run, STR("call_1"), true, "test");
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_CALL_START)
        continue;
    wend_run_free(run);
    tap_is_i64(wend_run_resume(r.agent, id, NULL, &next, &r.err), WEND_OK,
               "resumed: %s", r.err.message);
    read_all(next, NULL, &lines);
    tap_ok(
        line_has(&lines, "call_start", "\"name\":\"put\",\"args\":{\"n\":7}"),
        "resumed: the call starts as it was approved");
    tap_ok(!line_has(&lines, "approval_ask", "put"),
           "resumed: it is not asked about again");
    wend_run_free(next);
    if (kept[0])
        wend_call_return(kept[0], STR("late"));
    buf_free(&lines);
    rig_close(&r);
}

static void test_changed_action(void)
{
    struct rig r;
    struct buf lines = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;

    if (!open_put(&r, NULL, PUT))
        return;
    run = rig_start_plan(
        &r, "wend: plan/1\nname: p\noutputs: {got: $a}\nactions: [{name: a, "
            "type: tool, target: put, params: {n: 1}, output_key: a}]\n");
    while (wend_run_next(run, &ev) == WEND_OK) {
        put_line(&lines, ev);
        if (ev->type == WEND_APPROVAL_ASK)
            change(run, ev->u.approval_ask.action);
    }
    tap_ok(line_has(&lines, "action_start", "\"params\":{\"n\":2}"),
           "an action: gets them");
    tap_ok(line_has(&lines, "run_end", "{\\\"got\\\":{\\\"n\\\":2}}"),
           "an action: ran with them");
    wend_run_free(run);
    buf_free(&lines);
    rig_close(&r);
}

/* ---- Approvals that nothing can give ------------------------------------- */

static void approves(void *ctx, const wend_event *ev)
{
    if (ev->type == WEND_APPROVAL_ASK)
        wend_run_approve(*(wend_run **)ctx, ev->u.approval_ask.call, true,
                         NULL);
}

static wend_hook_answer look(void *ctx, wend_hook *hook)
{
    (void)ctx;
    (void)hook;
    return WEND_HOOK_GO;
}

static void test_in_vain(const char *url, const char *why)
{
    struct rig r;
    wend_run *run;
    wend_str text;

    if (!open_put(&r, url, PUT))
        return;
    run = rig_start(&r, NULL);
    tap_is_i64(wend_run_wait(run, &text), WEND_E_MISUSE, "in vain: %s", why);
    tap_ok(strstr(wend_run_error(run)->message, "that nothing can give") &&
               strstr(wend_run_error(run)->message, "wend_run_approve"),
           "in vain: %s", wend_run_error(run)->message);
    tap_is_i64(wend_run_wait(run, &text), WEND_E_MISUSE, "in vain: again");
    wend_run_approve(run, STR("call_1"), true, NULL);
    tap_is_i64(wend_run_wait(run, &text), WEND_OK, "in vain: until it came");
    tap_is_str(text, "done", "in vain: the answer");
    wend_run_free(run);
    rig_close(&r);
}

static void test_listener(void)
{
    struct rig r;
    wend_run *run;
    wend_str text = STR_NONE;

    if (!open_put(&r, NULL, PUT))
        return;
    run = rig_start(&r, NULL);
    wend_run_listen(run, approves, &run);
    tap_is_i64(wend_run_wait(run, &text), WEND_OK, "a listener can give it");
    tap_is_str(text, "done", "a listener: the answer");
    wend_run_free(run);
    rig_close(&r);
}

/* Each of these may still give it: the wait is left by a cancel. */
static void *cancels(void *run)
{
    usleep(200000);
    wend_run_cancel(run);
    return NULL;
}

static void test_may_come(const char *why, const char *url, wend_hook_fn hook,
                          bool other)
{
    wend_run_options o = {.size = sizeof o, .hook = hook};
    struct rig r;
    wend_run *run, *beside = NULL;
    wend_str text;
    wend_outcome outcome = WEND_OUTCOME_NONE;
    pthread_t thread;

    if (!open_put(&r, url, PUT))
        return;
    if (other)
        beside = rig_start(&r, NULL);
    run = rig_start(&r, &o);
    pthread_create(&thread, NULL, cancels, run);
    tap_is_i64(wend_run_wait(run, &text), WEND_OK, "may come: %s", why);
    wend_run_outcome(run, &outcome);
    tap_is_i64(outcome, WEND_OUTCOME_CANCELED, "may come: it waited");
    pthread_join(thread, NULL);
    wend_run_free(run);
    wend_run_free(beside);
    rig_close(&r);
}

int main(void)
{
    char path[] = "/tmp/wend-approval-XXXXXX", url[80], command[80];

    test_changed();
    test_told();
    test_resumed();
    test_changed_action();
    test_in_vain(NULL, "the runtime's own store");
    test_in_vain("memory:", "a store in memory");
    test_listener();
    test_may_come("a hook", NULL, look, false);
    test_may_come("another run", NULL, NULL, true);
    if (!mkdtemp(path))
        return 1;
    snprintf(url, sizeof url, "sqlite:%s/store.db", path);
    test_may_come("another process", url, NULL, false);
    snprintf(command, sizeof command, "rm -rf %s", path);
    if (system(command) != 0)
        return 1;
    return tap_done();
}

/*
 * test_child.c - children through the library: tasks, questions, whoever is
 * freed first, and every allocation failing once.
 */
#include "fault.h"
#include "run_help.h"

#define TASK                                                      \
    "{\"calls\":[{\"name\":\"task\",\"args\":{\"agent\":\"kid\"," \
    "\"prompt\":\"do\"}}]}"
#define PARENT "script:{\"turns\":[" TASK ",{\"text\":\"${tool_result}!\"}]}"
#define CALLS(tool) "{\"calls\":[{\"name\":\"" tool "\",\"args\":{}}]}"
#define SAYS "{\"text\":\"from the child\"}"

static wend_call *unanswered[4];

#define KEY "sk-of-the-parent-0123456789"

static wend_status tool_key(void *ctx, wend_call *call)
{
    (void)ctx;
    wend_call_progress(call, "it reads " KEY "\n");
    return wend_call_return(call, STR("there is " KEY));
}

static void answer_all(void)
{
    for (size_t i = 0; i < tap_count(unanswered) && unanswered[i]; i++) {
        wend_call_return(unanswered[i], (wend_str){"late", 4});
        unanswered[i] = NULL;
    }
}

/* The agent of the rig has a child, which the host lets go of at once. */
static bool add_kid(struct rig *r, const char *turns, wend_approve approve)
{
    char model[600];
    wend_agent_options o = {
        .size = sizeof o, .model = model, .name = "kid", .approve = approve};
    wend_child_options k = {.size = sizeof k, .name = "kid"};
    struct rig inner = *r;
    bool ok;

    snprintf(model, sizeof model, "script:{\"turns\":[%s]}", turns);
    ok = wend_agent_new(r->rt, &o, &inner.agent, &r->err) == WEND_OK;
    k.agent = inner.agent;
    if (ok) {
        rig_add(&inner, "echo", tool_echo, WEND_CLASS_READ, NULL);
        rig_add(&inner, "write", tool_echo, WEND_CLASS_UNSAFE, NULL);
        rig_add(&inner, "never", tool_later, WEND_CLASS_READ, unanswered);
        rig_add(&inner, "find", tool_key, WEND_CLASS_READ, NULL);
        ok = wend_agent_add_agent(r->agent, &k, &r->err) == WEND_OK &&
             wend_agent_add_builtin(r->agent, "task", &r->err) == WEND_OK;
    }
    wend_agent_free(inner.agent);
    return ok || tap_ok(false, "kid: %s", r->err.message);
}

static bool open_family(struct rig *r, const char *turns, wend_approve parent,
                        wend_approve kid)
{
    memset(r, 0, sizeof *r);
    r->agent_options.approve = parent;
    return rig_open(r, NULL, PARENT) && add_kid(r, turns, kid);
}

/* ---- What comes of it ---------------------------------------------------- */

#define FIRST                                                     \
    "run_start turn_start context_start context_end model_start " \
    "args_delta* model_end(ok) call_start child_start child_end "
#define SECOND                                                           \
    "turn_end metrics turn_start context_start context_end model_start " \
    "text_delta* model_end(ok) turn_end metrics run_end(ok)"

static void test_ends(void)
{
    static const struct {
        const char *why, *turns, *names, *text;
    } rows[] = {
        {"its answer is the result", SAYS, FIRST "call_end(ok) " SECOND,
         "from the child!"},
        {"with tools of its own", CALLS("echo") "," SAYS,
         FIRST "call_end(ok) " SECOND, "from the child!"},
        {"a child without an answer", CALLS("echo"),
         FIRST "call_end(failed) " SECOND,
         "'kid' failed: script: no turn left!"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf names = {.mem = &rig_mem};
        wend_str text = STR_NONE;
        struct rig r;
        wend_run *run;

        if (!open_family(&r, rows[i].turns, WEND_APPROVE_ALL, WEND_APPROVE_ALL))
            return;
        run = rig_start(&r, NULL);
        tap_is_i64(read_all(run, &names, NULL), WEND_END, "%s: it ends",
                   rows[i].why);
        tap_is_str(buf_view(&names), rows[i].names, "%s", rows[i].why);
        wend_run_wait(run, &text);
        tap_is_str(text, rows[i].text, "%s: what is said", rows[i].why);
        wend_run_free(run);
        rig_close(&r);
        buf_free(&names);
    }
}

/* ---- While it is under way ----------------------------------------------- */

/* Pumps until the run has a child that shows an event of that type. */
static wend_run *child_with(struct rig *r, wend_run *run, wend_event_type type,
                            wend_str *call)
{
    for (int i = 0; i < 60000; i++) {
        wend_run *child = wend_run_child(run, 0);
        const wend_event *ev;

        while (child && wend_run_poll(child, &ev) == WEND_OK)
            if (ev->type == type) {
                if (call)
                    *call = ev->u.approval_ask.call;
                return child;
            }
        wend_runtime_pump(r->rt);
        usleep(500);
    }
    return NULL;
}

/* A hook sees what children do, and whose it is. */
static wend_hook_answer on_hook(void *ctx, wend_hook *h)
{
    struct buf *b = ctx;

    if (h->point == WEND_HOOK_CALL_BEFORE)
        buf_fmt(b, "%s%.*s", b->len ? " " : "", (int)h->name.len, h->name.ptr);
    if (h->run.len != 36)
        buf_cstr(b, " nobody");
    return WEND_HOOK_GO;
}

static void test_hook(void)
{
    struct buf seen = {.mem = &rig_mem};
    wend_run_options o = {.size = sizeof o, .hook = on_hook, .hook_ctx = &seen};
    struct rig r;
    wend_run *run;

    if (!open_family(&r, CALLS("write") "," SAYS, WEND_APPROVE_ALL,
                     WEND_APPROVE_ALL))
        return;
    run = rig_start(&r, &o);
    tap_is_i64(read_all(run, NULL, NULL), WEND_END, "a run with a hook ends");
    tap_is_str(buf_view(&seen), "task write", "the hook sees both calls");
    wend_run_free(run);
    rig_close(&r);
    buf_free(&seen);
}

static void test_questions(void)
{
    struct rig r;
    wend_run *run, *child;
    wend_str call = STR_NONE, text = STR_NONE;
    const wend_event *ev;

    if (!open_family(&r, CALLS("write") "," SAYS, WEND_APPROVE_ALL,
                     WEND_APPROVE_ASK))
        return;
    run = rig_start(&r, NULL);
    child = child_with(&r, run, WEND_APPROVAL_ASK, &call);
    tap_ok(child && !wend_run_child(run, 1), "one child is under way");
    if (child) {
        tap_is_i64(wend_run_next(child, &ev), WEND_E_MISUSE,
                   "it cannot be waited for");
        wend_run_free(child);
        tap_ok(wend_run_child(run, 0) == child, "nor freed");
        tap_is_i64(wend_run_approve(child, call, true, "test"), WEND_OK,
                   "what it asks is answered");
    }
    tap_is_i64(wend_run_wait(run, &text), WEND_OK, "then all of it ends");
    tap_is_str(text, "from the child!", "with its answer");
    tap_ok(!wend_run_child(run, 0), "no child is left");
    tap_ok(!wend_run_child(NULL, 0), "nobody has no child");
    wend_run_free(run);
    rig_close(&r);
}

enum first { RUN_FIRST, RUNTIME_FIRST, AGENT_FIRST, CANCELED };

static void test_who_goes(enum first first, const char *why)
{
    struct rig r;
    wend_outcome outcome = WEND_OUTCOME_NONE;
    wend_run *run;

    if (!open_family(&r, CALLS("never") "," SAYS, WEND_APPROVE_ALL,
                     WEND_APPROVE_ALL))
        return;
    run = rig_start(&r, NULL);
    tap_ok(child_with(&r, run, WEND_CALL_START, NULL) != NULL,
           "%s: its child is at work", why);
    if (first == RUNTIME_FIRST) {
        wend_runtime_free(r.rt);
        r.rt = NULL;
        tap_ok(!wend_run_child(run, 0), "%s: no child is left", why);
    }
    if (first == AGENT_FIRST) {
        wend_agent_free(r.agent);
        r.agent = NULL;
    }
    if (first == CANCELED) {
        wend_run_cancel(run);
        tap_is_i64(read_all(run, NULL, NULL), WEND_END, "%s: it ends", why);
        wend_run_outcome(run, &outcome);
        tap_is_i64(outcome, WEND_OUTCOME_CANCELED, "%s: canceled", why);
    }
    wend_run_free(run);
    rig_close(&r);
    answer_all();
}

/* ---- Pauses -------------------------------------------------------------- */

static void pump(struct rig *r)
{
    for (int i = 0; i < 40; i++) {
        wend_runtime_pump(r->rt);
        usleep(500);
    }
}

/* The call of the child ends while its parent is paused: nothing follows
 * until that one goes on. */
static void test_pause(bool alone)
{
    const char *why = alone ? "paused by itself" : "paused";
    wend_str text = STR_NONE;
    const wend_event *ev;
    struct rig r;
    wend_run *run, *child;
    int asked = 0;

    if (!open_family(&r, CALLS("never") "," SAYS, WEND_APPROVE_ALL,
                     WEND_APPROVE_ALL))
        return;
    run = rig_start(&r, NULL);
    child = child_with(&r, run, WEND_CALL_START, NULL);
    for (int i = 0; i < 2000 && !unanswered[0]; i++)
        pump(&r);
    tap_ok(child && unanswered[0], "%s: its child is at work", why);
    if (alone)
        wend_run_pause(child);
    tap_is_i64(wend_run_pause(run), WEND_OK, "%s", why);
    answer_all();
    pump(&r);
    if (alone)
        wend_run_continue(run);
    pump(&r);
    tap_ok(wend_run_child(run, 0) == child, "%s: the child waits", why);
    while (wend_run_poll(child, &ev) == WEND_OK)
        asked += ev->type == WEND_MODEL_START;
    tap_is_i64(asked, 0, "%s: it starts nothing", why);
    wend_run_continue(alone ? child : run);
    tap_is_i64(wend_run_wait(run, &text), WEND_OK, "%s: goes on", why);
    tap_is_str(text, "from the child!", "%s: and ends", why);
    wend_run_free(run);
    rig_close(&r);
}

/* A child that would begin while its parent is paused begins later. */
static void test_pause_first(void)
{
    wend_str text = STR_NONE;
    const wend_event *ev;
    struct rig r;
    wend_run *run;

    if (!open_family(&r, SAYS, WEND_APPROVE_ALL, WEND_APPROVE_ALL))
        return;
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_MODEL_START)
        continue;
    wend_run_pause(run);
    pump(&r);
    tap_ok(!wend_run_child(run, 0), "paused before: no child begins");
    wend_run_continue(run);
    tap_is_i64(wend_run_wait(run, &text), WEND_OK, "paused before: goes on");
    tap_is_str(text, "from the child!", "paused before: and ends");
    wend_run_free(run);
    rig_close(&r);
}

/* ---- Twice --------------------------------------------------------------- */

/* The host goes on with a child by itself, and then with its parent: nobody
 * takes the child from whoever has it. */
static void test_twice(void)
{
    wend_agent_options o = {
        .size = sizeof o,
        .model = "script:{\"turns\":[" CALLS("never") "," SAYS "]}",
        .approve = WEND_APPROVE_ALL};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}}, inner;
    wend_run *run, *child, *alone = NULL, *again = NULL;
    const wend_event *ev;
    wend_status s;
    char id[40], child_id[40];

    if (!rig_open(&r, "memory:", PARENT) ||
        !add_kid(&r, CALLS("never") "," SAYS, WEND_APPROVE_ALL))
        return;
    run = rig_start(&r, NULL);
    child = child_with(&r, run, WEND_CALL_START, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    snprintf(child_id, sizeof child_id, "%s", child ? wend_run_id(child) : "");
    wend_run_free(run);
    answer_all();
    inner = r;
    wend_agent_new(r.rt, &o, &inner.agent, NULL);
    rig_add(&inner, "never", tool_later, WEND_CLASS_READ, unanswered);
    tap_is_i64(wend_run_resume(inner.agent, child_id, NULL, &alone, &r.err),
               WEND_OK, "twice: the child alone");
    s = wend_run_resume(r.agent, id, NULL, &again, &r.err);
    for (int i = 0; again && i < 500 && s >= 0; i++) {
        s = wend_run_poll(again, &ev);
        pump(&r);
    }
    tap_is_i64(s, WEND_E_BUSY, "twice: its parent does not get it");
    while (!unanswered[0] && wend_run_poll(alone, &ev) >= 0)
        pump(&r);
    answer_all();
    tap_is_i64(read_all(alone, NULL, NULL), WEND_END,
               "twice: whoever has it goes on");
    wend_run_free(alone);
    wend_run_free(again);
    wend_agent_free(inner.agent);
    rig_close(&r);
}

/* ---- Keys ---------------------------------------------------------------- */

static int64_t lines_with(struct rig *r, const char *id, const char *what)
{
    wend_run *log = NULL;
    const wend_event *ev;
    int64_t count = 0;

    wend_store_replay(r->rt, id, NULL, &log, NULL);
    while (wend_run_next(log, &ev) == WEND_OK) {
        char *json = NULL;

        wend_event_to_json(ev, &json, NULL);
        count += json && strstr(json, what);
        wend_string_free(json);
    }
    wend_run_free(log);
    return count;
}

/* Only the parent knows the key: its children find it in a file. */
static void test_keys(const char *turns, const char *why)
{
    static const char *const fallbacks[] = {"openai:x"};
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL,
                                      .fallbacks = fallbacks,
                                      .fallbacks_count = 1}};
    char child[40] = "";
    const wend_event *ev;
    wend_run *run;

    setenv("OPENAI_API_KEY", KEY, 1);
    if (!rig_open(&r, "memory:", PARENT) ||
        !add_kid(&r, turns, WEND_APPROVE_ALL))
        return;
    run = rig_start(&r, NULL);
    while (wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_CHILD_START)
            snprintf(child, sizeof child, "%.*s",
                     (int)ev->u.child_start.run.len, ev->u.child_start.run.ptr);
    tap_is_i64(lines_with(&r, wend_run_id(run), KEY), 0,
               "%s: its parent does not write it down", why);
    tap_ok(lines_with(&r, wend_run_id(run), "****") > 0, "%s: it was there",
           why);
    if (strstr(turns, "find"))
        tap_is_i64(lines_with(&r, child, KEY), 0, "%s: nor does it", why);
    wend_run_free(run);
    rig_close(&r);
    unsetenv("OPENAI_API_KEY");
}

/* ---- Agents in agents ---------------------------------------------------- */

static wend_status add(struct rig *r, wend_agent *to, const char *name,
                       wend_agent *agent)
{
    wend_child_options k = {.size = sizeof k, .name = name, .agent = agent};

    return wend_agent_add_agent(to, &k, &r->err);
}

static void test_agents(void)
{
    enum { DEEP = 10 };
    wend_agent_options o = {.size = sizeof o, .model = PARENT};
    wend_agent *chain[DEEP];
    struct rig r = {0};
    int links = 0;

    if (!rig_open(&r, NULL, PARENT))
        return;
    for (int i = 0; i < DEEP; i++)
        if (wend_agent_new(r.rt, &o, &chain[i], &r.err) != WEND_OK)
            return;
    tap_is_i64(add(&r, r.agent, "self", r.agent), WEND_E_LIMIT,
               "no agent is its own child");
    tap_is_i64(add(&r, r.agent, "", chain[0]), WEND_E_INVAL,
               "nor without name");
    tap_is_i64(add(&r, r.agent, "a", NULL), WEND_E_INVAL, "nor nobody");
    tap_is_i64(add(&r, r.agent, "a", chain[0]), WEND_OK, "another agent");
    tap_is_i64(add(&r, r.agent, "a", chain[1]), WEND_E_EXISTS, "once a name");
    tap_is_i64(add(&r, chain[0], "b", r.agent), WEND_E_LIMIT, "no circle");
    for (int i = 0; i + 1 < DEEP && !add(&r, chain[i], "next", chain[i + 1]);
         i++)
        links++;
    tap_ok(links >= 1 && links < DEEP, "a chain ends: after %d", links);
    for (int i = 0; i < DEEP; i++)
        wend_agent_free(chain[i]);
    rig_close(&r);
}

/* ---- Without memory ------------------------------------------------------ */

/* WEND_OK if all of it went well. */
static wend_status live_once(struct fault *f)
{
    wend_runtime_options o = {
        .size = sizeof o, .alloc = fault_alloc, .alloc_ctx = f};
    wend_agent_options ao = {.size = sizeof ao, .model = PARENT};
    wend_agent_options ko = {.size = sizeof ko,
                             .model = "script:{\"turns\":[" SAYS "]}"};
    wend_child_options k = {.size = sizeof k, .name = "kid"};
    wend_str text, prompt = {"hi", 2};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    wend_status s = wend_runtime_new(&o, &rt, NULL);

    ao.approve = ko.approve = WEND_APPROVE_ALL;
    if (s == WEND_OK)
        s = wend_agent_new(rt, &ao, &agent, NULL);
    if (s == WEND_OK)
        s = wend_agent_new(rt, &ko, &k.agent, NULL);
    if (s == WEND_OK)
        s = wend_agent_add_agent(agent, &k, NULL);
    if (s == WEND_OK)
        s = wend_agent_add_builtin(agent, "task", NULL);
    if (s == WEND_OK)
        s = wend_run_start(agent, prompt, NULL, &run, NULL);
    if (s == WEND_OK)
        s = wend_run_wait(run, &text);
    if (s == WEND_OK && !str_is(text, "from the child!"))
        s = WEND_E_INVAL;
    wend_run_free(run);
    wend_agent_free(k.agent);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s;
}

static void test_memory(void)
{
    struct fault f = {0};
    int64_t leaks = 0, wrong = 0;
    wend_status s = WEND_OK;

    while (fault_next(&f)) {
        s = live_once(&f);
        leaks += f.live != 0;
        wrong += f.hit && s != WEND_OK && s != WEND_E_NOMEM;
    }
    tap_is_i64(leaks, 0, "whichever allocation fails, nothing is left");
    tap_is_i64(wrong, 0, "and it is said what failed");
    tap_is_i64(s, WEND_OK, "and with memory all goes well");
}

int main(void)
{
    test_ends();
    test_hook();
    test_questions();
    test_pause(false);
    test_pause(true);
    test_pause_first();
    test_twice();
    test_who_goes(RUN_FIRST, "the run is freed");
    test_who_goes(RUNTIME_FIRST, "the runtime is freed");
    test_who_goes(AGENT_FIRST, "the agent is freed");
    test_who_goes(CANCELED, "canceled");
    test_keys(CALLS("find") ",{\"text\":\"${tool_result}\"}",
              "a child that reads a key");
    test_keys("{\"text\":\"" KEY "\"}", "a child that says a key");
    test_agents();
    test_memory();
    return tap_done();
}

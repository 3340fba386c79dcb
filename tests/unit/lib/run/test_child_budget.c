/*
 * test_child_budget.c - limits that runs share with their children, also
 * after an interruption and in another store.
 *
 * A model says that it used far more than was reserved for it: what is left
 * then is too little for anybody's next question.
 */
#include "run_help.h"

#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define USED "\"usage\":{\"input\":0,\"output\":95000}"
#define TASK(to)                                               \
    "{\"calls\":[{\"name\":\"task\",\"args\":{\"agent\":\"" to \
    "\",\"prompt\":\"do\"}}]}"

enum { LIMIT = 100000 };

static wend_call *unanswered[8];

static void answer_all(void)
{
    for (size_t i = 0; i < tap_count(unanswered) && unanswered[i]; i++) {
        wend_call_return(unanswered[i], (wend_str){"late", 4});
        unanswered[i] = NULL;
    }
}

/* What it is asked next takes so many tokens at most. */
static wend_agent *add_agent(struct rig *r, wend_agent *parent,
                             const char *name, const char *model,
                             uint32_t tokens)
{
    wend_agent_options o = {.size = sizeof o,
                            .model = model,
                            .name = name,
                            .approve = WEND_APPROVE_ALL,
                            .output_tokens = tokens};
    wend_child_options k = {.size = sizeof k, .name = name};
    struct rig inner = *r;

    if (wend_agent_new(r->rt, &o, &inner.agent, &r->err) != WEND_OK)
        return NULL;
    rig_add(&inner, "never", tool_later, WEND_CLASS_READ, unanswered);
    k.agent = inner.agent;
    if (wend_agent_add_agent(parent, &k, &r->err) != WEND_OK)
        tap_ok(false, "%s: %s", name, r->err.message);
    return inner.agent;
}

static bool open_rig(struct rig *r, const char *url, const char *script)
{
    memset(r, 0, sizeof *r);
    r->agent_options.approve = WEND_APPROVE_ALL;
    r->agent_options.limits.tokens = LIMIT;
    r->agent_options.output_tokens = 100;
    return rig_open(r, url, script);
}

static char child_id[40];

/* What the newest question of that run may have as its answer. */
static int64_t allowed_in(struct rig *r, const char *id)
{
    const wend_replay_options o = {.size = sizeof o, .speed = 0};
    const wend_event *ev;
    wend_run *log = NULL;
    int64_t tokens = -1;

    if (wend_store_replay(r->rt, id, &o, &log, &r->err) != WEND_OK)
        return -1;
    while (wend_run_next(log, &ev) == WEND_OK)
        if (ev->type == WEND_MODEL_START)
            tokens = ev->u.model_start.output_tokens;
    wend_run_free(log);
    return tokens;
}

/* Reads the run to its end: no more than `most` tokens were used. */
static void check_limit(wend_run *run, const char *wanted, int64_t most,
                        const char *why)
{
    int64_t used = 0;
    wend_outcome outcome = WEND_OUTCOME_NONE;
    const wend_event *ev;

    while (run && wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == WEND_ACTION_END)
            answer_all();
        if (ev->type == WEND_CHILD_START)
            snprintf(child_id, sizeof child_id, "%.*s",
                     (int)ev->u.child_start.run.len, ev->u.child_start.run.ptr);
        if (ev->type == WEND_RUN_END) {
            outcome = ev->u.run_end.outcome;
            used = ev->u.run_end.metrics.tokens_in +
                   ev->u.run_end.metrics.tokens_out;
        }
    }
    tap_is_str(str_of(wend_outcome_name(outcome)), wanted, "%s", why);
    tap_ok(used <= most, "%s: %lld tokens of %lld", why, (long long)used,
           (long long)most);
}

/* The run between asks its next question in the step in which its child
 * ends: what that one has used counts, also for whoever is above, who has
 * enough left for a small question of its own. */
static void test_same_step(void)
{
    struct rig r;
    wend_agent *middle, *last;
    wend_run *run;
    int64_t allowed;

    if (!open_rig(&r, NULL, SCRIPT(TASK("middle") ",{\"text\":\"end\"}")))
        return;
    middle = add_agent(&r, r.agent, "middle",
                       SCRIPT(TASK("last") ",{\"text\":\"x\",\"usage\":{"
                                           "\"output\":4000}}"),
                       10000);
    last =
        add_agent(&r, middle, "last", SCRIPT("{\"text\":\"x\"," USED "}"), 100);
    wend_agent_add_builtin(middle, "task", NULL);
    wend_agent_add_builtin(r.agent, "task", NULL);
    run = rig_start(&r, NULL);
    check_limit(run, "ok", LIMIT, "a grandchild has used most of it");
    allowed = allowed_in(&r, child_id);
    tap_ok(allowed > 4000 && allowed < LIMIT - 95000,
           "a grandchild has used most of it: %lld tokens for an answer",
           (long long)allowed);
    wend_run_free(run);
    wend_agent_free(last);
    wend_agent_free(middle);
    rig_close(&r);
}

/* ---- Beside each other --------------------------------------------------- */

#define AGENT(name) \
    "{name: " name ", type: agent, target: kid, mode: async, prompt: do}"
#define LLM(name) "{name: " name ", type: llm, mode: async, prompt: do}"
#define ACTIONS(list) "wend: plan/1\nname: p\nactions: [" list "]\n"

/* An answer may be as long as the whole budget: each request gets its share,
 * also beside a child that has asked nothing yet. */
static void test_beside(void)
{
    static const char *const plans[] = {
        ACTIONS(LLM("a") ", " AGENT("z")),
        ACTIONS(AGENT("a") ", " LLM("z")),
        ACTIONS(LLM("a") ", " LLM("b") ", " AGENT("z")),
        ACTIONS(AGENT("a") ", " LLM("b") ", " AGENT("c") ", " LLM("z")),
    };

    for (size_t i = 0; i < tap_count(plans); i++) {
        wend_plan *plan = NULL;
        wend_run *run = NULL;
        wend_agent *kid;
        struct rig r;

        memset(&r, 0, sizeof r);
        r.agent_options.approve = WEND_APPROVE_ALL;
        r.agent_options.limits.tokens = LIMIT;
        r.agent_options.output_tokens = LIMIT;
        if (!rig_open(&r, NULL,
                      SCRIPT("{\"text\":\"x\",\"first_delay\":\"20ms\","
                             "\"repeat\":\"forever\"}")))
            return;
        kid = add_agent(&r, r.agent, "kid",
                        SCRIPT("{\"text\":\"x\",\"first_delay\":\"20ms\"}"),
                        LIMIT);
        wend_plan_parse(str_of(plans[i]), NULL, &plan, &r.err);
        wend_run_start_plan(r.agent, plan, NULL, NULL, &run, &r.err);
        check_limit(run, "ok", LIMIT, plans[i]);
        wend_run_free(run);
        wend_plan_free(plan);
        wend_agent_free(kid);
        rig_close(&r);
    }
}

/* ---- After an interruption ----------------------------------------------- */

static const char both[] =
    "wend: plan/1\nname: p\nactions: ["
    "{name: a, type: agent, target: asks, mode: async, prompt: do},"
    "{name: b, type: agent, target: spends, mode: async, prompt: do}]\n";

static void add_both(struct rig *r, wend_agent *kids[2])
{
    kids[0] = add_agent(r, r->agent, "asks",
                        SCRIPT("{\"text\":\"x\",\"first_delay\":\"20s\","
                               "\"usage\":{\"output\":9000}}"),
                        10000);
    kids[1] = add_agent(
        r, r->agent, "spends",
        SCRIPT("{\"calls\":[{\"name\":\"never\",\"args\":{}}]," USED "}"), 100);
}

/* One child waits for its model, the other has used nearly all. */
static void leave(struct rig *r, char id[40])
{
    wend_plan *plan = NULL;
    wend_run *run = NULL;

    wend_plan_parse(str_of(both), NULL, &plan, &r->err);
    wend_run_start_plan(r->agent, plan, NULL, NULL, &run, &r->err);
    for (int i = 0; run && i < 60000 && !unanswered[0]; i++) {
        wend_runtime_pump(r->rt);
        usleep(500);
    }
    tap_ok(run && unanswered[0], "both are under way");
    snprintf(id, 40, "%s", run ? wend_run_id(run) : "");
    wend_run_free(run);
    wend_plan_free(plan);
    answer_all();
}

static void test_lost(void)
{
    wend_agent *kids[2];
    wend_run *run = NULL;
    struct rig r;
    char id[40];

    if (!open_rig(&r, "memory:", SCRIPT("{\"text\":\"end\"}")))
        return;
    add_both(&r, kids);
    leave(&r, id);
    wend_run_resume(r.agent, id, NULL, &run, &r.err);
    /* The question that was cut off is charged its reservation, and nothing
     * is asked any more. */
    check_limit(run, "limit", LIMIT + 10100,
                "a child that is taken up later has used it up");
    wend_run_free(run);
    for (int i = 0; i < 2; i++)
        wend_agent_free(kids[i]);
    rig_close(&r);
    answer_all();
}

/* ---- In another store ---------------------------------------------------- */

static bool collect(void *ctx, wend_str text)
{
    buf_str(ctx, text);
    return true;
}

/* A parent and its children, carried elsewhere: it finds them there. */
static void test_moved(void)
{
    wend_list_options all = {.size = sizeof all};
    struct buf file = {.mem = &rig_mem};
    const wend_run_info *info;
    wend_agent *kids[2], *others[2];
    wend_run *run = NULL;
    wend_runs *list = NULL;
    struct rig from, to;
    int64_t children = 0;
    const wend_event *ev;
    wend_status s;
    char id[40];

    if (!open_rig(&from, "memory:", SCRIPT("{\"text\":\"end\"}")) ||
        !open_rig(&to, "memory:", SCRIPT("{\"text\":\"end\"}")))
        return;
    add_both(&from, kids);
    leave(&from, id);
    wend_store_list(from.store, &all, &list, NULL);
    while (wend_runs_next(list, &info) == WEND_OK) {
        char one[40];

        snprintf(one, sizeof one, "%.*s", (int)info->run.len, info->run.ptr);
        wend_store_export(from.store, one, 0, collect, &file, NULL);
    }
    wend_runs_free(list);
    tap_is_i64(
        wend_store_import(to.store, buf_view(&file), NULL, NULL, &to.err),
        WEND_OK, "moved: all three");
    add_both(&to, others);
    s = wend_run_resume(to.agent, id, NULL, &run, &to.err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK) {
        children += ev->type == WEND_CHILD_START;
        if (unanswered[0])
            answer_all();
    }
    tap_ok(s == WEND_END, "moved: it goes on to its end: %s",
           s == WEND_END ? "ok" : wend_run_error(run)->message);
    tap_is_i64(children, 0, "moved: with the children that it had");
    wend_run_free(run);
    for (int i = 0; i < 2; i++) {
        wend_agent_free(kids[i]);
        wend_agent_free(others[i]);
    }
    rig_close(&from);
    rig_close(&to);
    buf_free(&file);
}

int main(void)
{
    test_same_step();
    test_beside();
    test_lost();
    test_moved();
    return tap_done();
}

/*
 * tt_planner.c - plans that the model writes: handed over, begun, reported.
 *
 * The arguments of the tool `plan` are a plan. Each action is handed over
 * (plan_action) as soon as its closing brace is there, and starts if the
 * eager rule lets it; the rest waits for call_start, which is the end of the
 * plan. A plan that turns out to be invalid starts nothing more, its running
 * actions finish, and the model is told. One plan is under way at a time: the
 * second one of a message waits for the first like any call.
 *
 * The loop ends by an answer without a call, and otherwise so that a reader
 * of the events can tell why:
 *
 *     no actions    warning no_actions, run_end ok
 *     no progress   warning no_progress, run_end limit loop
 *     failures      run_end failed, plan_failed: the third plan in a row
 *     turns, time, tokens, cost, cancel: as in any run
 */
#include "core/turn/tt_step.h"

#include <assert.h>

#include "base/utf8.h"

enum {
    REPLANS_MAX = 2,         /* a failed plan goes back to its planner */
    RESULT_BYTES = 192 << 10 /* of what a plan gave, to the model */
};

/* ---- Handing over -------------------------------------------------------- */

static wend_str near_tool(const struct config *c, wend_str name)
{
    wend_str near = STR_NONE;
    int best = 0;

    for (size_t i = 0; i < c->tools_count; i++)
        if (&c->tools[i] != c->plan_tool &&
            str_nearer(name, c->tools[i].name, &best))
            near = c->tools[i].name;
    return near;
}

/* An agent that it could give a task, too. */
static bool knows_agent(const struct config *c, wend_str name)
{
    const struct tool *task = config_tool(c, STR("task"));
    const struct child_config *child = config_child(c, name);

    return task && task->child && child && !child->plan_json.ptr;
}

/* A model names only what the agent has given it. */
static bool knows(void *ctx, const struct plan_action *a, struct buf *hint)
{
    const struct tt *x = ctx;
    const struct config *c = x->t->config;
    const struct tool *tool = config_tool(c, a->target);
    wend_str near;

    if (a->type == ACTION_LLM)
        return config_model(c, a->target) < c->models_count;
    if (a->type == ACTION_RELIC)
        return config_endpoint(c, a->target);
    if (a->type != ACTION_TOOL)
        return a->type == ACTION_AGENT && knows_agent(c, a->target);
    if (tool && tool != c->plan_tool && !tool->child && !tool->client)
        return true;
    near = near_tool(c, a->target);
    if (near.ptr)
        buf_fmt(hint, "; did you mean '%.*s'?", (int)near.len, near.ptr);
    return false;
}

/* Unlike the name of the file's plan, so that keys of actions differ. */
static wend_str new_name(struct tt *x)
{
    wend_str file = str_or(x->t->file_plan, "");

    return text_fmt(x, "%.*s%sp%lld", (int)file.len, file.ptr,
                    x->t->file_plan.ptr ? "." : "", (long long)x->t->plans + 1);
}

/* The run's limit, unless only its file's plan limits it. */
static int64_t slots(const struct turn *t)
{
    int64_t most = t->limits.parallel;

    return most <= 0 || (t->file_plan.ptr && most == PARALLEL_OPEN)
               ? PARALLEL_DEFAULT
               : most;
}

static void emit_plan_start(struct tt *x, wend_str call)
{
    wend_str name = new_name(x);

    if (x->t->phase == PH_MODEL && !x->t->part)
        emit_part(x);
    emit(x, WEND_PLAN_START,
         &(wend_ev_plan_start){.plan = name,
                               .name = name,
                               .streamed = true,
                               .max_parallel = slots(x->t),
                               .call = call});
}

/* Which action is wrong, by number and name; `what` says how. */
static wend_str blame(struct tt *x, size_t number, const struct json *action,
                      const char *what)
{
    wend_str name = json_str(json_get(action, "name"));

    if (!name.ptr)
        name = json_str(json_get(action, "id"));
    return name.ptr ? text_fmt(x, "actions[%zu] ('%.*s'): %s", number,
                               (int)utf8_cut(name, 80), name.ptr, what)
                    : text_fmt(x, "actions[%zu]: %s", number, what);
}

static bool is_open(const struct turn *t, wend_str call)
{
    return turn_plan_open(t) && str_eq(t->plan_call, call);
}

static void emit_plan_action(struct tt *x, const struct plan_action *a,
                             wend_str text)
{
    const struct plan_past *past = x->in->past;
    const struct plan_learned *l = past ? plan_past_find(past, a) : NULL;
    bool learned = l && l->runs && l->ms >= 0;

    emit(x, WEND_PLAN_ACTION,
         &(wend_ev_plan_action){.action_json = text,
                                .estimate_ms = learned ? l->ms : 0,
                                .learned = learned});
}

/* Hands over one more action of the call's plan. Absent: done; else what is
 * wrong with it. */
static wend_str hand_over(struct tt *x, wend_str call, const struct json *j)
{
    struct plan_options o = {.knows = knows, .ctx = x};
    bool open = is_open(x->t, call);
    const struct plan *before =
        open ? x->t->plan.plan : turn_new_plan(x->t, STR("p"), x->s->scratch);
    wend_str text = json_text(j, x->s->scratch);
    struct plan *after = NULL;
    wend_error why = {0};
    wend_status s;

    s = before && text.ptr
            ? plan_add(before, text, &o, x->s->scratch, &after, &why)
            : WEND_E_NOMEM;
    if (s == WEND_E_NOMEM) {
        x->s->scratch->failed = true;
        return STR_NONE;
    }
    if (s != WEND_OK)
        return blame(x, before->count, j, why.message);
    assert(after->count == before->count + 1);
    if (!open)
        emit_plan_start(x, call);
    emit_plan_action(x, after->actions[before->count], text);
    return STR_NONE;
}

/* ---- While the message still streams ------------------------------------- */

static bool is_allowed(struct tt *x)
{
    struct verdict v;

    policy_check(x->t, x->t->config->plan_tool, NULL, x->s->scratch, &v);
    return v.policy.decision == WEND_DECISION_ALLOW;
}

/* The call whose plan is being written: the next one that has not begun. */
static const struct reply_call *written_call(const struct tt *x)
{
    const struct turn *t = x->t;
    const struct reply *r = x->in->reply;
    const struct reply_call *rc;

    if (t->config->hooks || t->phase != PH_MODEL || !r ||
        t->calls_count >= r->calls_count || turn_running(t))
        return NULL;
    rc = &r->calls[t->calls_count];
    return is_plan_tool(t->config, buf_view(&rc->name)) ? rc : NULL;
}

/* The next action that the model wrote, if it is valid. */
static wend_str take_next(struct tt *x, const struct reply_call *rc, size_t n)
{
    wend_str text = plan_scan_get(&rc->plan, buf_view(&rc->args), n);
    wend_error why = {0};
    const struct json *j = json_parse(text, x->s->scratch, &why);

    if (j)
        return hand_over(x, buf_view(&rc->id), j);
    return no_memory(x) ? STR_NONE : blame(x, n, NULL, why.message);
}

/* What is wrong with the first action is said when the message ends: until
 * something has begun it may still be thrown away. */
void take_written(struct tt *x)
{
    const struct turn *t = x->t;
    const struct reply_call *rc = written_call(x);
    size_t n = turn_plan_open(t) ? t->plan.plan->count : 0;

    if (!rc || (n ? t->plan.wrong.ptr != NULL : !is_allowed(x)))
        return;
    for (; n < plan_scan_count(&rc->plan); n++) {
        wend_str wrong = take_next(x, rc, n);

        if (wrong.ptr && n)
            warn(x, STR("plan_invalid"), wrong);
        if (no_memory(x) || (wrong.ptr && !n))
            return;
        advance_plan(x);
        if (no_memory(x) || wrong.ptr || t->stop.outcome)
            return;
    }
}

/* ---- The call ------------------------------------------------------------ */

/* The list of actions in the arguments, or NULL and what is wrong. */
static const struct json *actions_of(const struct json *args, wend_str *wrong)
{
    const struct json *list = json_get(args, "actions");

    if (!args || args->kind != JSON_OBJECT || !list || args->count != 1)
        *wrong = STR("the arguments must be an object with `actions` and "
                     "nothing else");
    else if (list->kind != JSON_ARRAY)
        *wrong = STR("actions must be a list");
    return wrong->ptr ? NULL : list;
}

/* Those that were not handed over while they were written. */
static wend_str hand_over_rest(struct tt *x, wend_str call,
                               const struct json *list)
{
    size_t n = is_open(x->t, call) ? x->t->plan.plan->count : 0, i = 0;
    wend_str wrong = STR_NONE;

    for (const struct json *j = list->first; j && !wrong.ptr; j = j->next, i++)
        if (i >= n && j->kind != JSON_OBJECT)
            wrong = blame(x, i, NULL, "an action is an object");
        else if (i >= n)
            wrong = hand_over(x, call, j);
    return wrong;
}

/* If the plan has begun its end says so, else that of the call. */
static void refuse_plan(struct tt *x, const struct work *w,
                        const struct admission *a, wend_str code, wend_str why)
{
    bool again = str_is(code, "no_progress"), open = is_open(x->t, w->id);

    if (again || open)
        warn(x, again ? code : STR("plan_invalid"), why);
    if (!open)
        end_unstarted(x, w, a,
                      &(struct call_done){.outcome = WEND_OUTCOME_FAILED,
                                          .code = code,
                                          .output = why});
}

static void say_no_actions(struct tt *x, const struct work *w,
                           const struct admission *a)
{
    end_unstarted(
        x, w, a,
        &(struct call_done){
            .outcome = WEND_OUTCOME_OK,
            .output = STR("the plan has no actions: there is nothing to do")});
    warn(x, STR("no_actions"), STR("the model wrote a plan without actions"));
}

/* Hands over what is left of the plan, or refuses it. */
static void complete_plan(struct tt *x, const struct work *w,
                          const struct admission *a)
{
    const struct turn *t = x->t;
    const struct json *list = NULL, *j;
    wend_str wrong = STR_NONE;

    if (is_open(t, w->id) && t->plan.wrong.ptr)
        return;
    if (t->plan_args.ptr && str_eq(t->plan_args, w->args)) {
        refuse_plan(x, w, a, STR("no_progress"),
                    STR("this plan is the same as the one before it, so "
                        "nothing more of it is run"));
        return;
    }
    j = json_parse(w->args, x->s->scratch, NULL);
    list = no_memory(x) ? NULL : actions_of(j, &wrong);
    if (list && !list->count) {
        say_no_actions(x, w, a);
        return;
    }
    if (list)
        wrong = hand_over_rest(x, w->id, list);
    if (wrong.ptr && !no_memory(x))
        refuse_plan(x, w, a, STR("invalid_plan"), wrong);
}

void start_plan_call(struct tt *x, const struct work *w,
                     const struct admission *a)
{
    complete_plan(x, w, a);
    if (no_memory(x) || !is_open(x->t, w->id))
        return;
    emit_start(x, w, a);
    if (!no_memory(x))
        advance_plan(x);
}

/* ---- What it gave -------------------------------------------------------- */

/* At most `most` bytes of a text that may be JSON. */
static void put_cut(struct buf *b, const char *key, wend_str text, bool json,
                    size_t most)
{
    if (!text.ptr || (json && str_is(text, "null")))
        return;
    if (text.len <= most && json) {
        json_add_raw(b, key, text);
        return;
    }
    json_add_str(b, key, (wend_str){text.ptr, utf8_cut(text, most)});
    if (text.len > most)
        json_add_i64(b, "cut_from_bytes", (int64_t)text.len);
}

static void put_result(struct buf *b, const struct plan_state *p, uint32_t i)
{
    const struct action_state *s = plan_action_state(p, i);
    size_t most = RESULT_BYTES / (p->plan->count + 1);
    bool failed =
        s->outcome != WEND_OUTCOME_OK && s->outcome != WEND_OUTCOME_SKIPPED;

    json_open(b, NULL, '{');
    json_add_str(b, "id", p->plan->actions[i]->id);
    json_add_str(b, "outcome", str_of(wend_outcome_name(s->outcome)));
    put_cut(b, "output", s->output, true, most);
    put_cut(b, failed ? "error" : "reason", s->reason, false, most);
    json_close(b, '}');
}

static wend_str result_json(struct tt *x, wend_outcome outcome)
{
    const struct plan_state *p = &x->t->plan;
    struct buf b = {.mem = x->s->scratch->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "plan", p->plan->name);
    json_add_str(&b, "outcome", str_of(wend_outcome_name(outcome)));
    json_add_str(&b, "error", p->wrong);
    json_open(&b, "actions", '[');
    for (uint32_t i = 0; i < p->plan->count; i++)
        put_result(&b, p, i);
    json_close(&b, ']');
    json_close(&b, '}');
    return take_text(x, &b);
}

void end_plan_call(struct tt *x)
{
    const struct turn *t = x->t;
    int i = turn_plan_call(t);
    struct call_done d = {.outcome = WEND_OUTCOME_OK};
    struct work w;

    if (i < 0 || !turn_call_runs(t, (uint32_t)i) || !t->plan.ended ||
        t->plan.running)
        return;
    if (t->stop.outcome) {
        d.outcome = WEND_OUTCOME_CANCELED;
        d.code = STR("canceled");
    } else if (t->plan.wrong.ptr || t->plan.broken) {
        d.outcome = WEND_OUTCOME_FAILED;
        d.code = t->plan.wrong.ptr ? STR("invalid_plan") : STR("plan_failed");
    }
    d.output = result_json(x, d.outcome);
    if (t->time_us > t->plan.started_us)
        d.ms = (t->time_us - t->plan.started_us) / 1000;
    w = work_of_call(t, turn_call(t, (uint32_t)i));
    end_work(x, &w, &d);
}

/* ---- The loop ------------------------------------------------------------ */

static const wend_ev_error *last_failure(struct tt *x)
{
    return draft_error(
        x, STR("plan_failed"),
        text_fmt(x, "%lld plans in a row failed; the last one: %.*s",
                 (long long)x->t->plan_failures, (int)x->t->plan_why.len,
                 x->t->plan_why.ptr ? x->t->plan_why.ptr : ""),
        STR("plan"));
}

bool end_planning(struct tt *x)
{
    const struct turn *t = x->t;

    if (str_is(t->plan_stop, "no_progress"))
        end_run(x, WEND_OUTCOME_LIMIT, STR("loop"), NULL);
    else if (t->plan_failures > REPLANS_MAX)
        end_run(x, WEND_OUTCOME_FAILED, STR_NONE, last_failure(x));
    else if (t->plan_stop.ptr && !t->plan_failures && !t->pending &&
             !t->unanswered)
        end_run(x, WEND_OUTCOME_OK, STR_NONE, NULL); /* no actions, final */
    else
        return false;
    return true;
}

/* Tells the model the plan, and how it went. */
bool ask_for_plan(struct tt *x)
{
    if (!x->t->config->plan_tool || x->t->plan_failures > REPLANS_MAX)
        return false;
    emit_note(
        x,
        JOIN(x, STR("This plan failed:\n"), x->t->plan.plan->json,
             STR("\nThis is how its actions ended:\n"),
             result_json(x, WEND_OUTCOME_FAILED),
             STR("\nWrite a plan for what is left to do. What is done need not "
                 "be done again: its outputs are there as $output_key.")));
    if (!no_memory(x))
        begin_turn(x);
    return true;
}

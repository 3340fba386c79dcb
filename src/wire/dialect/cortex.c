/*
 * cortex.c - the cortex dialect: native events in, cortex records out.
 *
 * A plan that a model writes is told when it is complete, and its actions
 * after that; so what starts while it is being written is held back.
 */
#include "wire/dialect/record.h"

/* The next records of the event are about no action. */
static void about_none(struct dialect_stream *s)
{
    s->now.id = s->now.name = STR_NONE;
}

/* ---- Iterations ---------------------------------------------------------- */

static RECORD_HOOK(iteration_begins)
{
    bool is_turn = ev->type == WEND_TURN_START;

    if (!is_turn && (!s->file || s->turn))
        return false;
    if (is_turn)
        s->iterations_max = s->turns_max + s->file;
    s->turn = is_turn ? ev->u.turn_start.counter + 1 + s->file : 1;
    s->in_iteration = true;
    s->completed = s->batch_done = s->batch_total = 0;
    return true;
}

/* Before a turn, that of a plan file: it is planned anew. */
static RECORD_HOOK(iteration_ends)
{
    bool ends = s->in_iteration;

    (void)ev;
    s->in_iteration = false;
    return ends;
}

static RECORD_HOOK(run_starts)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    s->file = e->plan_json.ptr != NULL;
    s->turns_max = e->limits.turns;
    s->no_planner = !json_get(record_json(s, e->config_json), "planner");
    s->iterations_max = s->file ? 1 : s->turns_max;
    return true;
}

/* ---- Plans --------------------------------------------------------------- */

/* clang-format off */
#define ITERATION {"iteration", ROW_I64, OWN(turn)}
/* clang-format on */

static const struct record_rule plan_rule = {
    .name = "plan_generated",
    .rows = {ITERATION,
             {"actions_count", ROW_I64, OWN(plan_count)},
             {"actions", ROW_JSON, OWN(now.json)}},
};

static struct buf *add_planned(struct dialect_stream *s)
{
    if (!s->plan_count++)
        buf_char(&s->plan, '[');
    json_open(&s->plan, NULL, '{');
    return &s->plan;
}

/* As plan_start has it, or as a model wrote it: then what is not there has
 * its default. */
static void put_planned(struct dialect_stream *s, const struct json *a)
{
    static const struct {
        const char *name, *other, *none;
    } members[] = {
        {"id", "name", "null"},
        {"name", "id", "null"},
        {"type", "type", "null"},
        {"mode", "mode", "\"sync\""},
        {"depends_on", "depends_on", "[]"},
    };
    struct buf *b = add_planned(s);

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct json *m = json_get(a, members[i].name);

        m = m ? m : json_get(a, members[i].other);
        if (m)
            json_add(b, members[i].name, m);
        else
            json_add_raw(b, members[i].name, str_of(members[i].none));
    }
    json_close(b, '}');
}

/* One action, or a list of them. */
static void read_planned(struct dialect_stream *s, wend_str json)
{
    const struct json *j = record_json(s, json);
    bool is_list = j && j->kind == JSON_ARRAY;

    for (j = is_list ? j->first : j; j; j = is_list ? j->next : NULL)
        put_planned(s, j);
}

/* The plan is complete. */
static void put_plan(struct dialect_stream *s, const wend_event *ev)
{
    s->out->failed |= s->plan.failed;
    if (!s->plan_count)
        return;
    json_close(&s->plan, ']');
    s->now.json = buf_view(&s->plan);
    record_put(s, &plan_rule, ev);
    s->batch_total += s->plan_count;
    s->plan_count = 0;
    buf_clear(&s->plan);
}

static RECORD_HOOK(plan_starts)
{
    read_planned(s, ev->u.plan_start.actions_json);
    if (!ev->u.plan_start.streamed)
        put_plan(s, ev);
    return true;
}

static RECORD_HOOK(plan_grows)
{
    read_planned(s, ev->u.plan_action.action_json);
    return true;
}

/* Whether the call with that name writes a plan. */
static bool is_plan_call(const struct dialect_stream *s, wend_str name)
{
    return !s->no_planner && str_is(name, "plan");
}

/* ---- Model --------------------------------------------------------------- */

/* Names the action that a model works for. */
static RECORD_HOOK(names_action)
{
    const struct record_call *a = record_find(s, true, s->now.id);

    (void)ev;
    s->now.name = a ? a->name : STR_NONE;
    return true;
}

/* Whether thinking was told: of the action's model, or of the turn's. */
static bool *thought_of(struct dialect_stream *s)
{
    struct record_call *a = record_find(s, true, s->now.id);

    return a ? &a->thought : &s->thought;
}

static RECORD_HOOK(model_starts)
{
    *thought_of(s) = false;
    return record_model(s, ev);
}

static RECORD_HOOK(writes)
{
    s->pieces++;
    return names_action(s, ev);
}

/* Thinking that did not stream is told at the end. */
static RECORD_HOOK(thinks)
{
    bool *told = thought_of(s);

    if (ev->type == WEND_MODEL_END && (!ev->u.model_end.thinking.len || *told))
        return false;
    *told = true;
    return names_action(s, ev);
}

static void put_retry(struct dialect_stream *s, const char *what, int64_t ms,
                      wend_str why)
{
    buf_clear(&s->text);
    buf_fmt(&s->text, "the %s in %lld ms: ", what, (long long)ms);
    buf_str(&s->text, why);
    s->now.why = buf_view(&s->text);
}

static RECORD_HOOK(model_retries)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;

    put_retry(s, "model is asked again", e->delay_ms, e->reason);
    return true;
}

/* The end of an action tells the rest about its model. */
static RECORD_HOOK(is_of_turn)
{
    s->now.why = s->now.error ? s->now.error->message : STR("the model failed");
    return !ev->u.model_end.action.ptr;
}

/* The actions of a plan are told instead of the call that writes it. */
static RECORD_HOOK(calls_are_planned)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    if (e->action.ptr)
        return false;
    for (size_t i = 0; i < e->calls_count; i++) {
        struct buf *b;

        if (is_plan_call(s, e->calls[i].name))
            continue;
        b = add_planned(s);
        json_add_str(b, "id", e->calls[i].id);
        json_add_str(b, "name", e->calls[i].name);
        buf_cstr(b, ",\"type\":\"tool\",\"mode\":\"async\",\"depends_on\":[]}");
    }
    put_plan(s, ev);
    return record_model(s, ev);
}

/* ---- Actions and calls --------------------------------------------------- */

static RECORD_HOOK(call_begins)
{
    return !is_plan_call(s, s->now.name) && record_begins(s, ev);
}

static RECORD_HOOK(action_retries)
{
    const wend_ev_action_retry *e = &ev->u.action_retry;
    struct record_call *a = record_find(s, true, s->now.id);

    if (a)
        a->attempts++;
    put_retry(s, "action is tried again", e->delay_ms,
              e->error ? e->error->message : STR("it failed"));
    return names_action(s, ev);
}

/* The call of a plan is told by its actions, unless it has none. */
static RECORD_HOOK(plan_call_fails)
{
    bool ended = record_result(s, ev);

    if (!is_plan_call(s, s->now.name) || !ended)
        return false;
    s->plan_calls++;
    s->now.ended = false;
    about_none(s);
    s->now.why = s->now.error && s->now.error->message.len
                     ? s->now.error->message
                     : ev->u.call_end.output;
    return s->now.outcome != WEND_OUTCOME_OK && !s->batch_total;
}

static RECORD_HOOK(has_ended)
{
    bool skipped = s->now.outcome == WEND_OUTCOME_SKIPPED;

    (void)ev;
    if (!s->now.ended)
        return false;
    s->completed += s->now.outcome == WEND_OUTCOME_OK;
    s->batch_done++;
    s->now.limit = skipped ? STR("skipped") : STR("completed");
    s->now.yes = s->now.json.ptr && !str_is(s->now.json, "null");
    return true;
}

/* How much is in a plan that is still being written is not known. */
static RECORD_HOOK(progresses)
{
    about_none(s);
    return s->batch_total && !s->in_model &&
           (ev->type == WEND_MODEL_END
                ? !ev->u.model_end.action.ptr && s->batch_done
                : s->now.ended);
}

/* ---- Ends ---------------------------------------------------------------- */

static RECORD_HOOK(planner_is_done)
{
    s->no_actions |= str_is(ev->u.warning.code, "no_actions");
    return true;
}

static const char *reason_of(const struct dialect_stream *s,
                             const wend_ev_run_end *e)
{
    if (e->outcome == WEND_OUTCOME_OK)
        return s->no_actions ? "no_actions" : "final_answer";
    if (e->outcome == WEND_OUTCOME_LIMIT)
        return str_is(e->limit, "turns")  ? "max_iterations"
               : str_is(e->limit, "loop") ? "no_progress"
                                          : "budget";
    return e->outcome == WEND_OUTCOME_CANCELED ? "canceled" : "failed";
}

static RECORD_HOOK(terminates)
{
    s->now.code = str_of(reason_of(s, &ev->u.run_end));
    return true;
}

static RECORD_HOOK(run_completes)
{
    const wend_ev_metrics *m = &ev->u.run_end.metrics;
    int64_t calls = m->tool_calls - s->plan_calls;

    s->now.count = m->actions + calls;
    s->now.tokens = s->tool_calls + calls;
    return true;
}

static RECORD_HOOK(run_fails)
{
    const wend_ev_error *e = s->now.error;
    bool canceled = s->now.outcome == WEND_OUTCOME_CANCELED;

    (void)ev;
    s->now.why = e && e->message.len ? e->message
                 : canceled          ? STR("the run was canceled")
                                     : STR("the run failed");
    s->now.code = e && e->code.len ? e->code
                  : canceled       ? STR("canceled")
                                   : STR("failed");
    return true;
}

/* ---- Publics ------------------------------------------------------------- */

/* clang-format off */
#define MAX_ITERATIONS {"max_iterations", ROW_I64, OWN(iterations_max)}
#define PARAMETERS {"parameters", ROW_JSON, OWN(now.json), .none = "{}"}
#define WHY(key) {{key, ROW_STR, OWN(now.why), .none = ""}}

/* What has no rule has no record in cortex. */
static const struct record_rule rules[] = {
    {ON(RUN_START), run_starts, "agent_started",
     .rows = {{"agent_name", ROW_STR, EV(u.run_start.agent), .none = ""},
              {"execution_id", ROW_STR, EV(run)},
              MAX_ITERATIONS}},
    {ON(TURN_START) | ON(TURN_END) | ON(RUN_END), iteration_ends,
     "iteration_completed",
     .rows = {ITERATION, {"actions_completed", ROW_I64, OWN(completed)}}},
    {ON(TURN_START) | ON(PLAN_START), iteration_begins, "iteration_started",
     .rows = {ITERATION, MAX_ITERATIONS}},
    {ON(PLAN_START), .when = plan_starts},
    {ON(PLAN_ACTION), .when = plan_grows},
    {ON(MODEL_START), .when = model_starts},
    {ON(TEXT_DELTA), writes, "llm_token",
     .rows = {{"token", ROW_STR, EV(u.text_delta.text)},
              {"cumulative_tokens", ROW_I64, OWN(pieces)}}},
    {ON(THINKING_DELTA), thinks, "thought",
     .rows = {{"text", ROW_STR, EV(u.thinking_delta.text)}}},
    {ON(MODEL_RETRY), model_retries, "warning", .rows = WHY("message")},
    {ON(MODEL_END), thinks, "thought",
     .rows = {{"text", ROW_STR, EV(u.model_end.thinking)}}},
    {ON(MODEL_END), is_of_turn, "error", .outcomes = IS(FAILED),
     .rows = WHY("error")},
    {ON(MODEL_END), .when = calls_are_planned},
    {ON(CALL_START), call_begins, "action_started", .to = EARLY,
     .rows = {{"type", ROW_TEXT, .none = "tool"},
              {"mode", ROW_TEXT, .none = "async"},
              {"target", ROW_STR, OWN(now.name)},
              PARAMETERS}},
    {ON(ACTION_START), record_begins, "action_started", .to = EARLY,
     .rows = {{"type", ROW_STR, EV(u.action_start.type)},
              {"mode", ROW_STR, EV(u.action_start.mode)},
              {"target", ROW_STR, EV(u.action_start.target)},
              PARAMETERS}},
    {ON(ACTION_RETRY), action_retries, "warning", .to = EARLY,
     .rows = WHY("message")},
    {ON(CALL_END), plan_call_fails, "error", .rows = WHY("error")},
    {ON(ACTION_END), .when = record_ends},
    {ON(CALL_END) | ON(ACTION_END), has_ended, "action_completed",
     .outcomes = IS(OK) | IS(SKIPPED), .to = EARLY,
     .rows = {{"status", ROW_STR, OWN(now.limit)},
              {"duration_seconds", ROW_SECONDS, OWN(now.ms)},
              {"output", ROW_JSON, OWN(now.json), .none = "null"},
              {"has_output", ROW_BOOL, OWN(now.yes)}}},
    {ON(CALL_END) | ON(ACTION_END), has_ended, "action_failed",
     .outcomes = ~(IS(OK) | IS(SKIPPED)), .to = EARLY,
     .rows = {{"error", ROW_STR, OWN(now.why)},
              {"error_type", ROW_STR, OWN(now.code)}}},
    {ON(CALL_END) | ON(ACTION_END) | ON(MODEL_END), progresses, "progress",
     .rows = {{"done", ROW_I64, OWN(batch_done)},
              {"total", ROW_I64, OWN(batch_total)}}},
    {ON(PROGRESS), .name = "progress",
     .rows = {{"done", ROW_I64, EV(u.progress.done)},
              {"total", ROW_I64, EV(u.progress.total)}}},
    {ON(WARNING), planner_is_done, "warning",
     .rows = {{"message", ROW_STR, EV(u.warning.message), .none = ""}}},
    {ON(ERROR), .name = "error",
     .rows = {{"error", ROW_STR, EV(u.error.message), .none = ""}}},
    {ON(RUN_END), terminates, "termination",
     .rows = {{"reason", ROW_STR, OWN(now.code)}, ITERATION}},
    {ON(RUN_END), run_completes, "agent_completed",
     .outcomes = IS(OK) | IS(LIMIT),
     .rows = {{"execution_id", ROW_STR, EV(run)},
              {"total_iterations", ROW_I64, OWN(turn)},
              {"total_actions", ROW_I64, OWN(now.count)},
              {"total_llm_calls", ROW_I64, EV(u.run_end.metrics.model_calls)},
              {"total_tool_calls", ROW_I64, OWN(now.tokens)},
              {"duration_seconds", ROW_SECONDS, EV(u.run_end.metrics.ms)}}},
    {ON(RUN_END), run_fails, "agent_failed",
     .outcomes = ~(IS(OK) | IS(LIMIT)),
     .rows = {{"error", ROW_STR, OWN(now.why)},
              {"error_type", ROW_STR, OWN(now.code)}}},
    {0},
};
/* clang-format on */

static void cortex_begin(struct dialect_stream *s, const wend_event *ev)
{
    /* Not only at turn_start: a reader may come in the middle of a turn. */
    if (ev->in_turn && ev->type != WEND_TURN_START)
        s->turn = ev->turn + 1 + s->file;
    /* An event after the actions of a plan comes after the plan. */
    if (!s->in_model && ev->type != WEND_PLAN_ACTION)
        put_plan(s, ev);
}

const struct dialect dialect_cortex = {
    .name = "cortex",
    .rules = rules,
    .begin = cortex_begin,
    .head = {{"event_type", .kind = ROW_NAME},
             {"timestamp", ROW_TIME, EV(time_us)},
             {"data", .kind = ROW_OPEN}},
    .tail = {{.kind = ROW_CLOSE},
             {"action_id", ROW_NULLABLE, OWN(now.id)},
             {"action_name", ROW_NULLABLE, OWN(now.name)}},
};

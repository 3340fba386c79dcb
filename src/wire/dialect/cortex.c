/*
 * cortex.c - the cortex dialect: native events in, cortex records out.
 *
 * A plan that a model writes is told when it is complete, and its actions
 * after that; so what starts while it is being written is held back.
 */
#include "wire/dialect/cortex.h"
#include "wire/dialect/dialect.h"

/* ---- Iterations ---------------------------------------------------------- */

static void begin_iteration(struct cortex *c, const wend_event *ev, int64_t n,
                            struct buf *out)
{
    c->iteration = n;
    c->in_iteration = true;
    c->completed = c->batch_done = c->batch_total = 0;
    cortex_open(out, ev, "iteration_started");
    json_add_i64(out, "iteration", n);
    json_add_i64(out, "max_iterations", c->iterations_max);
    cortex_close(out);
}

static void end_iteration(struct cortex *c, const wend_event *ev,
                          struct buf *out)
{
    if (!c->in_iteration)
        return;
    c->in_iteration = false;
    cortex_open(out, ev, "iteration_completed");
    json_add_i64(out, "iteration", c->iteration);
    json_add_i64(out, "actions_completed", c->completed);
    cortex_close(out);
}

static bool has_planner(const struct cortex *c, wend_str config,
                        struct buf *out)
{
    struct arena a = {.mem = c->mem};
    struct json *j = config.ptr ? json_parse_own(config, &a, NULL) : NULL;
    bool has = json_get(j, "planner") != NULL;

    out->failed |= a.failed;
    arena_free(&a);
    return has;
}

static void on_run_start(struct cortex *c, const wend_event *ev,
                         struct buf *out)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    c->iterations_file = e->plan_json.ptr != NULL;
    c->turns_max = e->limits.turns;
    c->no_planner = !has_planner(c, e->config_json, out);
    c->iterations_max = c->iterations_file ? 1 : c->turns_max;
    cortex_open(out, ev, "agent_started");
    json_add_str(out, "agent_name", e->agent.ptr ? e->agent : STR(""));
    json_add_str(out, "execution_id", ev->run);
    json_add_i64(out, "max_iterations", c->iterations_max);
    cortex_close(out);
}

static void on_turn_start(struct cortex *c, const wend_event *ev,
                          struct buf *out)
{
    end_iteration(c, ev, out); /* that of a plan file: it is planned anew */
    c->iterations_max = c->turns_max + c->iterations_file;
    begin_iteration(c, ev, ev->u.turn_start.counter + 1 + c->iterations_file,
                    out);
}

static void on_turn_end(struct cortex *c, const wend_event *ev, struct buf *out)
{
    end_iteration(c, ev, out);
}

/* ---- Plans --------------------------------------------------------------- */

/* As plan_start has it, or as a model wrote it: then what is not there has
 * its default. */
static void put_planned(struct buf *b, const struct json *a)
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

    buf_cstr(b, b->len ? ",{" : "{");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct json *m = json_get(a, members[i].name);

        m = m ? m : json_get(a, members[i].other);
        json_key(b, members[i].name);
        if (m)
            json_put(b, m);
        else
            buf_cstr(b, members[i].none);
    }
    buf_char(b, '}');
}

static void add_planned(struct cortex *c, const struct json *list)
{
    for (const struct json *a = list ? list->first : NULL; a; a = a->next) {
        put_planned(&c->plan, a);
        c->plan_count++;
    }
}

static void read_planned(struct cortex *c, wend_str json, struct buf *out)
{
    struct arena a = {.mem = c->mem};
    struct json *j = json.ptr ? json_parse_own(json, &a, NULL) : NULL;

    if (j && j->kind == JSON_ARRAY) {
        add_planned(c, j);
    } else if (j) {
        put_planned(&c->plan, j);
        c->plan_count++;
    }
    out->failed |= a.failed;
    arena_free(&a);
}

/* The plan is complete. */
static void put_plan(struct cortex *c, const wend_event *ev, struct buf *out)
{
    out->failed |= c->plan.failed;
    if (!c->plan_count)
        return;
    cortex_open(out, ev, "plan_generated");
    json_add_i64(out, "iteration", c->iteration);
    json_add_i64(out, "actions_count", c->plan_count);
    json_key(out, "actions");
    buf_char(out, '[');
    buf_str(out, buf_view(&c->plan));
    buf_char(out, ']');
    cortex_close(out);
    c->batch_total += c->plan_count;
    c->plan_count = 0;
    buf_clear(&c->plan);
}

static void on_plan_start(struct cortex *c, const wend_event *ev,
                          struct buf *out)
{
    const wend_ev_plan_start *e = &ev->u.plan_start;

    if (c->iterations_file && !c->iteration)
        begin_iteration(c, ev, 1, out);
    read_planned(c, e->actions_json, out);
    if (!e->streamed)
        put_plan(c, ev, out);
}

static void on_plan_action(struct cortex *c, const wend_event *ev,
                           struct buf *out)
{
    read_planned(c, ev->u.plan_action.action_json, out);
}

/* ---- Model --------------------------------------------------------------- */

/* Whether thinking was told: of the action's model, or of the turn's. */
static bool *thought_of(struct cortex *c, wend_str action)
{
    struct cortex_action *a = action.ptr ? *cortex_find(c, action) : NULL;

    return a ? &a->thought : &c->thought;
}

static void on_model_start(struct cortex *c, const wend_event *ev,
                           struct buf *out)
{
    *thought_of(c, ev->u.model_start.action) = false;
    record_calls_model(&c->early, ev, out);
}

static void on_text_delta(struct cortex *c, const wend_event *ev,
                          struct buf *out)
{
    const wend_ev_delta *e = &ev->u.text_delta;

    cortex_open(out, ev, "llm_token");
    json_add_str(out, "token", e->text);
    json_add_i64(out, "cumulative_tokens", ++c->tokens);
    cortex_close_for(out, e->action, cortex_action_name(c, e->action));
}

static void put_thought(struct cortex *c, const wend_event *ev, wend_str text,
                        wend_str action, struct buf *out)
{
    *thought_of(c, action) = true;
    cortex_open(out, ev, "thought");
    json_add_str(out, "text", text);
    cortex_close_for(out, action, cortex_action_name(c, action));
}

static void on_thinking_delta(struct cortex *c, const wend_event *ev,
                              struct buf *out)
{
    const wend_ev_delta *e = &ev->u.thinking_delta;

    put_thought(c, ev, e->text, e->action, out);
}

static void on_model_retry(struct cortex *c, const wend_event *ev,
                           struct buf *out)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;
    struct buf why = {.mem = c->mem};

    buf_fmt(&why,
            "the model is asked again in %lld ms: ", (long long)e->delay_ms);
    buf_str(&why, e->reason);
    cortex_text(ev, "warning", "message", buf_view(&why), out);
    out->failed |= why.failed;
    buf_free(&why);
}

static void add_calls(struct cortex *c, const wend_ev_model_end *e)
{
    for (size_t i = 0; i < e->calls_count; i++) {
        struct buf *b = &c->plan;

        if (cortex_is_plan_call(c, e->calls[i].name))
            continue; /* its actions are told instead */
        buf_cstr(b, b->len ? ",{" : "{");
        json_add_str(b, "id", e->calls[i].id);
        json_add_str(b, "name", e->calls[i].name);
        json_add_str(b, "type", STR("tool"));
        json_add_str(b, "mode", STR("async"));
        buf_cstr(b, ",\"depends_on\":[]}");
        c->plan_count++;
    }
}

static void on_model_end(struct cortex *c, const wend_event *ev,
                         struct buf *out)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    if (e->thinking.len && !*thought_of(c, e->action))
        put_thought(c, ev, e->thinking, e->action, out);
    if (e->action.ptr)
        return; /* its end tells the rest */
    if (e->outcome == WEND_OUTCOME_FAILED)
        cortex_text(ev, "error", "error",
                    e->error ? e->error->message : STR("the model failed"),
                    out);
    add_calls(c, e);
    put_plan(c, ev, out);
    record_calls_model(&c->early, ev, out);
    if (c->batch_done)
        cortex_progress(c, ev, out);
}

/* ---- Talk ---------------------------------------------------------------- */

static void on_warning(struct cortex *c, const wend_event *ev, struct buf *out)
{
    c->no_actions |= str_is(ev->u.warning.code, "no_actions");
    cortex_text(ev, "warning", "message", ev->u.warning.message, out);
}

static void on_error(struct cortex *c, const wend_event *ev, struct buf *out)
{
    (void)c;
    cortex_text(ev, "error", "error", ev->u.error.message, out);
}

static void on_progress(struct cortex *c, const wend_event *ev, struct buf *out)
{
    (void)c;
    cortex_open(out, ev, "progress");
    json_add_i64(out, "done", ev->u.progress.done);
    json_add_i64(out, "total", ev->u.progress.total);
    cortex_close(out);
}

/* ---- Ends ---------------------------------------------------------------- */

static const char *reason_of(const struct cortex *c, const wend_ev_run_end *e)
{
    switch (e->outcome) {
    case WEND_OUTCOME_OK: return c->no_actions ? "no_actions" : "final_answer";
    case WEND_OUTCOME_LIMIT:
        return str_is(e->limit, "turns")  ? "max_iterations"
               : str_is(e->limit, "loop") ? "no_progress"
                                          : "budget";
    case WEND_OUTCOME_CANCELED: return "canceled";
    case WEND_OUTCOME_FAILED:
    case WEND_OUTCOME_NONE: /* the rest does not end runs */
    case WEND_OUTCOME_SUPERSEDED:
    case WEND_OUTCOME_DENIED:
    case WEND_OUTCOME_TIMEOUT:
    case WEND_OUTCOME_UNKNOWN:
    case WEND_OUTCOME_SKIPPED: break;
    }
    return "failed";
}

static void put_completed(const struct cortex *c, const wend_event *ev,
                          struct buf *out)
{
    const wend_ev_metrics *m = &ev->u.run_end.metrics;
    int64_t calls = m->tool_calls - c->plan_calls;

    cortex_open(out, ev, "agent_completed");
    json_add_str(out, "execution_id", ev->run);
    json_add_i64(out, "total_iterations", c->iteration);
    json_add_i64(out, "total_actions", m->actions + calls);
    json_add_i64(out, "total_llm_calls", m->model_calls);
    json_add_i64(out, "total_tool_calls", c->tool_calls + calls);
    cortex_seconds(out, m->ms);
    cortex_close(out);
}

static void put_failed(const wend_event *ev, struct buf *out)
{
    const wend_ev_run_end *e = &ev->u.run_end;
    bool canceled = e->outcome == WEND_OUTCOME_CANCELED;
    wend_str text = e->error ? e->error->message : STR_NONE;
    wend_str code = e->error ? e->error->code : STR_NONE;

    if (!text.len)
        text = canceled ? STR("the run was canceled") : STR("the run failed");
    if (!code.len)
        code = canceled ? STR("canceled") : STR("failed");
    cortex_open(out, ev, "agent_failed");
    json_add_str(out, "error", text);
    json_add_str(out, "error_type", code);
    cortex_close(out);
}

static void on_run_end(struct cortex *c, const wend_event *ev, struct buf *out)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    end_iteration(c, ev, out);
    cortex_open(out, ev, "termination");
    json_add_str(out, "reason", str_of(reason_of(c, e)));
    json_add_i64(out, "iteration", c->iteration);
    cortex_close(out);
    if (e->outcome == WEND_OUTCOME_OK || e->outcome == WEND_OUTCOME_LIMIT)
        put_completed(c, ev, out);
    else
        put_failed(ev, out);
}

/* ---- Publics ------------------------------------------------------------- */

typedef void (*handler)(struct cortex *, const wend_event *, struct buf *);

/* What has no row has no record in cortex. */
static const handler handlers[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = on_run_start,
    [WEND_RUN_END] = on_run_end,
    [WEND_TURN_START] = on_turn_start,
    [WEND_TURN_END] = on_turn_end,
    [WEND_MODEL_START] = on_model_start,
    [WEND_THINKING_DELTA] = on_thinking_delta,
    [WEND_TEXT_DELTA] = on_text_delta,
    [WEND_MODEL_RETRY] = on_model_retry,
    [WEND_MODEL_END] = on_model_end,
    [WEND_CALL_START] = cortex_call_start,
    [WEND_CALL_END] = cortex_call_end,
    [WEND_PLAN_START] = on_plan_start,
    [WEND_PLAN_ACTION] = on_plan_action,
    [WEND_ACTION_START] = cortex_action_start,
    [WEND_ACTION_RETRY] = cortex_action_retry,
    [WEND_ACTION_END] = cortex_action_end,
    [WEND_PROGRESS] = on_progress,
    [WEND_WARNING] = on_warning,
    [WEND_ERROR] = on_error,
};

static void cortex_init(void *state, const struct mem *m, bool verbose)
{
    struct cortex *c = state;

    (void)verbose;
    c->mem = m;
    record_calls_init(&c->early, m);
    c->plan.mem = m;
}

static void cortex_event(void *state, const wend_event *ev, struct buf *out)
{
    struct cortex *c = state;

    if (!handlers[ev->type])
        return;
    /* Not only at turn_start: a reader may come in the middle of a turn. */
    if (ev->in_turn && ev->type != WEND_TURN_START)
        c->iteration = ev->turn + 1 + c->iterations_file;
    /* Whatever comes after its actions comes after the plan. */
    if (!c->early.in_model && ev->type != WEND_PLAN_ACTION)
        put_plan(c, ev, out);
    handlers[ev->type](c, ev, out);
    out->failed |= c->early.held.failed | c->early.open.failed | c->plan.failed;
}

static void cortex_free(void *state)
{
    struct cortex *c = state;

    for (struct cortex_action *a = c->open, *next; a; a = next) {
        next = a->next;
        mem_free(c->mem, a);
    }
    record_calls_free(&c->early);
    buf_free(&c->plan);
}

const struct dialect dialect_cortex = {
    .name = "cortex",
    .size = sizeof(struct cortex),
    .init = cortex_init,
    .event = cortex_event,
    .free = cortex_free,
};

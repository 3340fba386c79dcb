/*
 * agio.c - the agio dialect: native events in, agio records out.
 */
#include "wire/dialect/record.h"

/* ---- Runs and steps ------------------------------------------------------ */

static RECORD_HOOK(run_starts)
{
    const wend_ev_run_start *e = &ev->u.run_start;
    struct buf query = {.mem = s->mem};

    s->file = e->plan_json.ptr != NULL;
    s->now.why = e->prompt;
    if (e->parts_count) {
        buf_str(&query, e->prompt);
        dialect_put_parts(&query, e->parts, e->parts_count);
        s->now.why = buf_keep(&query, &s->scratch);
    }
    return true;
}

static void enter_step(struct dialect_stream *s, const wend_event *ev,
                       int64_t step)
{
    s->turn = step;
    s->turn_began_us = ev->time_us;
}

/* A plan that is not of a turn is a step itself. */
static RECORD_HOOK(step_starts)
{
    bool is_turn = ev->type == WEND_TURN_START;

    if (!is_turn && ev->in_turn)
        return false;
    enter_step(s, ev, is_turn ? ev->u.turn_start.counter + 1 + s->file : 1);
    return record_release(s, ev);
}

static RECORD_HOOK(step_ends)
{
    (void)s;
    return ev->type == WEND_TURN_END || !ev->in_turn;
}

static void count_tokens(struct dialect_stream *s, int64_t in, int64_t out)
{
    s->now.tokens_in = in;
    s->now.tokens_out = out;
    s->now.tokens = in + out;
}

static void count_metrics(struct dialect_stream *s, const wend_ev_metrics *m)
{
    count_tokens(s, m->tokens_in, m->tokens_out);
    s->now.count = m->tool_calls + s->actions;
}

static RECORD_HOOK(measures)
{
    count_metrics(s, &ev->u.metrics);
    s->now.ratio = s->turn ? (double)(ev->time_us - s->turn_began_us) / 1e6 : 0;
    return true;
}

/* A step takes no longer because no process had the run. */
static RECORD_HOOK(resumes)
{
    if (s->last_us)
        s->turn_began_us += ev->time_us - s->last_us;
    return true;
}

static RECORD_HOOK(is_controlled)
{
    const wend_ev_control *e = &ev->u.control;

    if (str_is(e->what, "cancel")) {
        buf_free(&s->cancel_by);
        if (e->by.len)
            buf_str(&s->cancel_by, e->by);
    }
    return true;
}

static RECORD_HOOK(run_completes)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    count_metrics(s, &e->metrics);
    if (e->outcome == WEND_OUTCOME_LIMIT)
        s->now.limit = e->limit;
    return true;
}

/* ---- Model --------------------------------------------------------------- */

/* Text of other purposes is not for the reader. */
static RECORD_HOOK(is_shown)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    (void)s;
    return e->text.len && (e->purpose == WEND_PURPOSE_ANSWER ||
                           e->purpose == WEND_PURPOSE_PLAN ||
                           e->purpose == WEND_PURPOSE_REPAIR);
}

static RECORD_HOOK(has_usage)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    const wend_ev_usage *u =
        ev->type == WEND_MODEL_RETRY ? ev->u.model_retry.usage : &e->usage;

    if (!u)
        return false;
    count_tokens(s, u->input, u->output);
    return ev->type == WEND_MODEL_RETRY ||
           (!u->estimated &&
            (e->outcome == WEND_OUTCOME_OK || u->input || u->output));
}

/* A summary that fails is made up for, and an action has its own end; an
 * answer that fails ends the run. */
static RECORD_HOOK(model_fails)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    s->now.yes =
        e->purpose != WEND_PURPOSE_SUMMARY && !e->action.ptr && !e->calls_count;
    return true;
}

/* ---- Tools --------------------------------------------------------------- */

/* A skipped action called nothing. */
static RECORD_HOOK(call_ends)
{
    bool is_action = ev->type == WEND_ACTION_END;

    if (is_action && s->now.outcome == WEND_OUTCOME_SKIPPED)
        return false;
    s->actions += is_action && s->now.outcome != WEND_OUTCOME_SUPERSEDED;
    return record_result(s, ev);
}

/* What gives no record is at most a debug record. */
static RECORD_HOOK(is_other)
{
    s->now.name = str_of(wend_event_name(ev->type));
    return s->verbose && !s->now.records && !wend_event_is_delta(ev->type);
}

/* ---- Publics ------------------------------------------------------------- */

/* clang-format off */
/* What happens outside any step belongs to the first. */
#define STEP {"step", ROW_I64, OWN(turn), .none = "1"}
#define MESSAGE(member) {"message", ROW_STR, member, .none = ""}
#define CONTENT(member) {"content", ROW_STR, EV(u.member)}
#define TOOL \
    {"tool_name", ROW_STR, OWN(now.name)}, \
    {"tool_call_id", ROW_STR, OWN(now.id)}
#define DURATION {"duration", ROW_SECONDS, OWN(now.ms)}
#define IS_FATAL {"is_fatal", ROW_BOOL, OWN(now.yes)}

static const struct record_rule rules[] = {
    {ON(RUN_START), run_starts, "run_started",
     .rows = {{"query", ROW_STR, OWN(now.why), .none = ""}}},
    {ON(TURN_START) | ON(PLAN_START), step_starts, "step_started",
     .rows = {STEP}},
    {ON(MODEL_START), record_model, "debug", IF(verbose),
     .rows = {MESSAGE(EV(u.model_start.model))}},
    {ON(TEXT_DELTA), .name = "text_delta",
     .rows = {CONTENT(text_delta.text), STEP}},
    {ON(MODEL_END), is_shown, "text_completed",
     .outcomes = ~(IS(SUPERSEDED) | IS(FAILED)),
     .rows = {CONTENT(model_end.text), STEP}},
    {ON(MODEL_RETRY) | ON(MODEL_END), has_usage, "usage_update",
     .rows = {{"prompt_tokens", ROW_I64, OWN(now.tokens_in)},
              {"completion_tokens", ROW_I64, OWN(now.tokens_out)},
              {"total_tokens", ROW_I64, OWN(now.tokens)},
              STEP}},
    {ON(MODEL_RETRY), .name = "error",
     .rows = {{"error", ROW_STR, EV(u.model_retry.reason), .none = ""},
              {"error_type", ROW_TEXT, .none = "model_retry"},
              IS_FATAL, STEP}},
    {ON(MODEL_END), model_fails, "error", .outcomes = IS(FAILED),
     .rows = {{"error", ROW_ERROR, OWN(now.error), .none = ""},
              {"error_type", ROW_CODE, OWN(now.error), .none = "error"},
              IS_FATAL, STEP}},
    {ON(MODEL_END), .when = record_model},
    {ON(CALL_START) | ON(ACTION_START), record_begins, "tool_call_started",
     .to = EARLY,
     .rows = {TOOL,
              {"arguments", ROW_JSON, OWN(now.json), .none = "{}"},
              STEP}},
    {ON(CALL_END) | ON(ACTION_END), .when = call_ends},
    {ON(CALL_END) | ON(ACTION_END), .name = "tool_call_completed",
     IF(now.ended), .outcomes = IS(OK), .to = EARLY,
     .rows = {TOOL,
              {"result", ROW_JSON, OWN(now.json), .none = "\"\""},
              DURATION,
              STEP}},
    {ON(CALL_END) | ON(ACTION_END), .name = "tool_call_failed",
     IF(now.ended), .outcomes = ~IS(OK), .to = EARLY,
     .rows = {TOOL, DURATION, STEP, {"error", ROW_STR, OWN(now.why)}}},
    {ON(TURN_END) | ON(PLAN_END), step_ends, "step_completed", .to = LATER,
     .rows = {STEP}},
    {ON(METRICS), measures, "metrics_snapshot",
     .rows = {{"total_tokens", ROW_I64, OWN(now.tokens)},
              {"total_prompt_tokens", ROW_I64, OWN(now.tokens_in)},
              {"total_completion_tokens", ROW_I64, OWN(now.tokens_out)},
              {"current_step", ROW_I64, OWN(turn), .none = "1"},
              {"tool_calls_count", ROW_I64, OWN(now.count)},
              {"step_duration", ROW_F64, OWN(now.ratio)},
              {"timestamp", ROW_TIME, EV(time_us)}}},
    {ON(METRICS) | ON(RUN_END), .when = record_release},
    {ON(WARNING), .name = "warning", .rows = {MESSAGE(EV(u.warning.message))}},
    {ON(ERROR), .name = "error",
     .rows = {{"error", ROW_STR, EV(u.error.message), .none = ""},
              {"error_type", ROW_STR, EV(u.error.code), .none = "error"},
              IS_FATAL, STEP}},
    {ON(CONTROL), is_controlled, "debug", IF(verbose),
     .rows = {MESSAGE(EV(u.control.what))}},
    {ON(RUN_RESUME) | ON(RUN_FORK), .when = resumes},
    {ON(RUN_END), run_completes, "run_completed",
     .outcomes = IS(OK) | IS(LIMIT),
     .rows = {{"response", ROW_STR, EV(u.run_end.text), .none = ""},
              {"metrics", .kind = ROW_OPEN},
              {"duration", ROW_SECONDS, EV(u.run_end.metrics.ms)},
              {"steps_count", ROW_I64, OWN(turn)},
              {"tool_calls_count", ROW_I64, OWN(now.count)},
              {"total_tokens", ROW_I64, OWN(now.tokens)},
              {"response_latency", ROW_SECONDS,
               EV(u.run_end.metrics.first_token_ms)}}},
    {ON(RUN_END), .name = "run_cancelled", .outcomes = IS(CANCELED),
     .rows = {{"reason", ROW_BUF, OWN(cancel_by), .none = "canceled"}}},
    {ON(RUN_END), .name = "run_failed",
     .outcomes = ~(IS(OK) | IS(LIMIT) | IS(CANCELED)),
     .rows = {{"error", ROW_ERROR, OWN(now.error), .none = "the run failed"}}},
    {~(ON(MODEL_START) | ON(MODEL_END) | ON(CALL_START) | ON(ACTION_START) |
       ON(PLAN_START) | ON(PLAN_END)),
     is_other, "debug", .rows = {MESSAGE(OWN(now.name))}},
    {0},
};
/* clang-format on */

static void agio_begin(struct dialect_stream *s, const wend_event *ev)
{
    int64_t step = ev->turn + 1 + s->file;

    /* Not only at turn_start: a reader may come in the middle of a turn. */
    if (ev->in_turn && step != s->turn && ev->type != WEND_TURN_START)
        enter_step(s, ev, step);
}

const struct dialect dialect_agio = {
    .name = "agio",
    .rules = rules,
    .begin = agio_begin,
    .head = {{"type", .kind = ROW_NAME},
             {"run_id", ROW_STR, EV(run)},
             {"timestamp", ROW_ISO, EV(time_us)},
             {"data", .kind = ROW_OPEN}},
    /* The metadata has what agio has no member for. */
    .tail = {{.kind = ROW_CLOSE},
             {"metadata", .kind = ROW_OPEN},
             {.kind = ROW_FATE},
             {"limit", ROW_STR, OWN(now.limit)}},
};

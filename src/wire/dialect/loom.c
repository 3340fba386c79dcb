/*
 * loom.c - the loom dialect: native events in, loom records out.
 *
 * The rows of a rule are in the order that dialect.h gives.
 */
#include "base/limits.h"
#include "wire/dialect/record.h"

/* ---- Turns and runs ------------------------------------------------------ */

static RECORD_HOOK(run_starts)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    s->turns_max = e->limits.turns;
    s->parallel_max = e->limits.parallel;
    buf_clear(&s->correlation_id);
    buf_str(&s->correlation_id, e->correlation_id);
    return true;
}

static RECORD_HOOK(is_recursion)
{
    record_release(s, ev);
    s->now.count = ev->u.turn_start.counter - 1;
    return ev->u.turn_start.counter > 0;
}

static RECORD_HOOK(has_calls)
{
    (void)s;
    return ev->type == WEND_TURN_END ? ev->u.turn_end.calls != 0
                                     : ev->u.model_end.calls_count != 0;
}

/* Loom ends the last turn with the run alone. */
static RECORD_HOOK(may_be_last)
{
    return !has_calls(s, ev);
}

/* Loom counts the turn that may not begin any more. Its one limit is that
 * of turns; the name of another one is added. */
static RECORD_HOOK(run_ends)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    buf_clear(&s->later); /* nothing follows it */
    s->now.count = s->turn - 1;
    if (!str_is(e->limit, "turns"))
        s->now.limit = e->limit;
    return true;
}

/* ---- Context ------------------------------------------------------------- */

static RECORD_HOOK(context_starts)
{
    s->budget_tokens = ev->u.context_start.budget_tokens;
    return true;
}

static RECORD_HOOK(context_ends)
{
    const wend_ev_context_end *e = &ev->u.context_end;
    const struct json *parts = record_json(s, e->parts_json);

    s->now.count = parts ? parts->count : 0;
    if (s->budget_tokens > 0)
        s->now.ratio = (double)e->tokens / (double)s->budget_tokens;
    return true;
}

/* ---- Model and calls ----------------------------------------------------- */

static RECORD_HOOK(recovers)
{
    (void)ev;
    s->now.count = s->recoveries;
    if (ev->type == WEND_MODEL_RETRY)
        s->recoveries++;
    else
        s->recoveries = 0;
    return s->now.count || ev->type == WEND_MODEL_RETRY;
}

static RECORD_HOOK(has_tool_calls)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    buf_clear(&s->text);
    json_open(&s->text, NULL, '[');
    for (size_t i = 0; i < e->calls_count; i++) {
        json_key(&s->text, NULL);
        json_put_str(&s->text, e->calls[i].name);
    }
    json_close(&s->text, ']');
    s->now.json = buf_view(&s->text);
    s->now.count = (int64_t)e->calls_count;
    return e->calls_count;
}

/* call_output names its call only by id; loom wants the tool's name. */
static RECORD_HOOK(progresses)
{
    const struct record_call *c = record_find(s, false, s->now.id);

    (void)ev;
    s->now.name = c ? c->name : STR_NONE;
    return true;
}

static RECORD_HOOK(call_ends)
{
    s->now.yes = s->now.outcome != WEND_OUTCOME_OK;
    return record_ends(s, ev);
}

/* ---- Publics ------------------------------------------------------------- */

/* clang-format off */
#define METADATA {"metadata", .kind = ROW_OPEN}
#define PHASE {"phase", ROW_TEXT, .none = "context_assembly"}

/* What has no rule has no record in loom. */
static const struct record_rule rules[] = {
    {ON(RUN_START), .when = run_starts},
    {ON(TURN_START), is_recursion, "recursion",
     .rows = {METADATA,
              {"from_turn", ROW_I64, OWN(now.count)},
              {"to_turn", ROW_I64, EV(u.turn_start.counter)},
              {"depth", ROW_I64, EV(u.turn_start.counter)}}},
    {ON(TURN_START), .name = "iteration_start",
     .rows = {{"metadata", .kind = ROW_MAYBE},
              {"parent_turn_id", ROW_STR, EV(u.turn_start.parent_id)}}},
    {ON(CONTEXT_START), context_starts, .name = "context_assembly_start"},
    {ON(CONTEXT_START), .name = "phase_start", .rows = {PHASE}},
    {ON(RETRIEVAL_START), .name = "retrieval_start"},
    {ON(RETRIEVAL_HIT), .name = "retrieval_progress",
     .rows = {METADATA,
              {"doc_title", ROW_STR, EV(u.retrieval_hit.title)},
              {"relevance_score", ROW_F64, EV(u.retrieval_hit.score)}}},
    {ON(RETRIEVAL_END), .name = "retrieval_complete",
     .rows = {{"error", ROW_ERROR, EV(u.retrieval_end.error)},
              METADATA,
              {"doc_count", ROW_I64, EV(u.retrieval_end.count)}}},
    {ON(COMPACTED), .name = "compression_applied",
     .rows = {METADATA,
              {"messages_before", ROW_I64, EV(u.compacted.messages_before)},
              {"messages_after", ROW_I64, EV(u.compacted.messages_after)}}},
    {ON(CONTEXT_END), context_ends, "phase_end",
     .rows = {PHASE, METADATA,
              {"tokens_used", ROW_I64, EV(u.context_end.tokens)},
              {"components", ROW_I64, OWN(now.count)},
              {"utilization", ROW_F64, OWN(now.ratio)}}},
    {ON(CONTEXT_END), .name = "context_assembly_complete"},
    {ON(MODEL_START), record_model, .name = "llm_start"},
    {ON(TEXT_DELTA), .name = "llm_delta",
     .rows = {{"content", ROW_STR, EV(u.text_delta.text)}}},
    {ON(MODEL_RETRY), recovers, "recovery_attempt",
     .rows = {{"error", ROW_STR, EV(u.model_retry.reason)},
              METADATA,
              {"attempt", ROW_I64, EV(u.model_retry.attempt)},
              {"delay_ms", ROW_I64, EV(u.model_retry.delay_ms)}}},
    {ON(MODEL_END), recovers, "recovery_success", "recovery_failed",
     .rows = {{"error", ROW_ERROR, OWN(now.error)},
              METADATA,
              {"attempts", ROW_I64, OWN(now.count)}}},
    {ON(MODEL_END), .name = "llm_complete",
     .rows = {{"content", ROW_STR, EV(u.model_end.text)},
              {"error", ROW_ERROR, OWN(now.error)}}},
    {ON(MODEL_END), has_tool_calls, "llm_tool_calls",
     .rows = {METADATA,
              {"tool_count", ROW_I64, OWN(now.count)},
              {"tool_names", ROW_JSON, OWN(now.json)}}},
    {ON(MODEL_END), has_calls, "tool_calls_start",
     .rows = {METADATA,
              {"total_tools", ROW_I64, OWN(now.count)},
              {"max_parallel", ROW_I64, OWN(parallel_max)}}},
    {ON(MODEL_END), .when = record_model},
    {ON(CALL_START), record_begins, "tool_execution_start", .to = EARLY,
     .rows = {{"tool_call", .kind = ROW_OPEN},
              {"id", ROW_STR, OWN(now.id)},
              {"name", ROW_STR, OWN(now.name)},
              {"arguments", ROW_JSON, OWN(now.json), .none = "{}"}}},
    {ON(CALL_OUTPUT), progresses, "tool_progress", .to = EARLY,
     .rows = {METADATA,
              {"tool_name", ROW_STR, OWN(now.name)},
              {"status", ROW_STR, EV(u.call_output.text)}}},
    {ON(CALL_END), call_ends, "tool_result", "tool_error", .to = EARLY,
     .rows = {{"tool_result", .kind = ROW_OPEN},
              {"tool_call_id", ROW_STR, OWN(now.id)},
              {"tool_name", ROW_STR, OWN(now.name)},
              {"content", ROW_STR, EV(u.call_end.output)},
              {"is_error", ROW_BOOL, OWN(now.yes)},
              {"execution_time_ms", ROW_I64, OWN(now.ms)},
              {"metadata", .kind = ROW_MAYBE},
              {.kind = ROW_FATE},
              {.kind = ROW_CLOSE},
              {.kind = ROW_CLOSE},
              {"error", ROW_ERROR, OWN(now.error)}}},
    {ON(TURN_END), has_calls, "tool_calls_complete",
     .rows = {METADATA, {"results_count", ROW_I64, EV(u.turn_end.calls)}}},
    {ON(TURN_END), has_calls, .name = "iteration_end"},
    {ON(TURN_END), may_be_last, "iteration_end", .to = LATER},
    {ON(RUN_END), .when = run_ends},
    {ON(RUN_END), .name = "agent_finish", .outcomes = IS(OK),
     .rows = {{"content", ROW_STR, EV(u.run_end.text), .none = ""},
              METADATA,
              {"turn_counter", ROW_I64, OWN(now.count)},
              {"total_llm_calls", ROW_I64, EV(u.run_end.metrics.model_calls)}}},
    {ON(RUN_END), .name = "max_iterations_reached", .outcomes = IS(LIMIT),
     .rows = {METADATA,
              {"turn_counter", ROW_I64, OWN(turn)},
              {"max_iterations", ROW_I64, OWN(turns_max)},
              {"limit", ROW_STR, OWN(now.limit)}}},
    {ON(RUN_END), .name = "execution_cancelled", .outcomes = IS(CANCELED),
     .rows = {METADATA,
              {"correlation_id", ROW_BUF, OWN(correlation_id), .none = ""}}},
    {ON(RUN_END), .name = "error",
     .outcomes = ~(IS(OK) | IS(LIMIT) | IS(CANCELED)),
     .rows = {{"error", ROW_ERROR, OWN(now.error), .none = "the run failed"}}},
    {0},
};
/* clang-format on */

/* Not only at turn_start: a reader may come in the middle of a turn. */
static void loom_begin(struct dialect_stream *s, const wend_event *ev)
{
    if (!ev->in_turn || ev->turn == s->turn - 1)
        return;
    s->turn = ev->turn + 1;
    buf_clear(&s->turn_id);
    buf_str(&s->turn_id, ev->turn_id);
}

const struct dialect dialect_loom = {
    .name = "loom",
    .turns_max = TURNS_DEFAULT,
    .parallel_max = PARALLEL_DEFAULT,
    .rules = rules,
    .begin = loom_begin,
    .head = {{"type", .kind = ROW_NAME}, {"timestamp", ROW_TIME, EV(time_us)}},
    /* The end of a run counts as part of its last turn. */
    .tail = {{"iteration", ROW_INDEX, OWN(turn)},
             {"turn_id", ROW_BUF, OWN(turn_id)}},
};

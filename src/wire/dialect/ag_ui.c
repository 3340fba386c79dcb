/*
 * ag_ui.c - the AG-UI protocol: native events in, its events out.
 *
 * What clients check, and 0.x clients stop at, is in flow.h. A member that has
 * no value is left out, never null. Unknown types stop a 0.x client, so what
 * came later is written only for clients that say they are newer.
 */
#include "core/event/event.h"
#include "wire/dialect/flow.h"

static struct buf *open_event(struct flow *f, const char *type)
{
    struct buf *b = flow_record(f, type);

    json_add_i64(b, "timestamp", f->time_us / 1000);
    return b;
}

/* An event with one member besides its type. */
static void put(struct flow *f, const char *type, const char *key, wend_str s)
{
    json_add_str(open_event(f, type), key, s);
    flow_record_end(f);
}

static bool is_new(const struct flow *f)
{
    return f->o.version && f->o.version[0] >= '1' && f->o.version[0] <= '9';
}

/* ---- Run and steps ------------------------------------------------------- */

static void add_ids(struct flow *f, struct buf *b)
{
    json_add_str(b, "threadId", buf_view(&f->thread_id));
    json_add_str(b, "runId", buf_view(&f->run_id));
}

static void start(struct flow *f)
{
    struct buf *b = open_event(f, "RUN_STARTED");

    add_ids(f, b);
    if (is_new(f))
        json_add_str(b, "protocolVersion", STR("1.0"));
    flow_record_end(f);
    buf_clear(&f->done); /* children that this reader knows */
}

static void step(struct flow *f, bool begins)
{
    struct buf *b = open_event(f, begins ? "STEP_STARTED" : "STEP_FINISHED");

    json_key(b, "stepName");
    buf_fmt(b, "\"turn %lld\"", (long long)f->turn);
    flow_record_end(f);
}

static void add_usage(struct flow *f, struct buf *b, const wend_ev_metrics *m)
{
    if (!m->model_calls)
        return;
    json_open(b, "usage", '[');
    json_open(b, NULL, '{');
    if (f->model.len)
        json_add_str(b, "model", buf_view(&f->model));
    json_add_i64(b, "inputTokens", m->tokens_in);
    json_add_i64(b, "outputTokens", m->tokens_out);
    json_add_i64(b, "totalTokens", m->tokens_in + m->tokens_out);
    if (f->reasoning)
        json_add_i64(b, "reasoningTokens", f->reasoning);
    if (m->tokens_cached)
        json_add_i64(b, "cachedInputTokens", m->tokens_cached);
    json_close(b, '}');
    json_close(b, ']');
}

/* 0.x clients stop at members that they do not know here. */
static void add_outcome(struct flow *f, struct buf *b, enum flow_end how)
{
    bool canceled = how == FLOW_CANCELED;

    json_open(b, "outcome", '{');
    json_add_str(b, "type", canceled ? STR("cancelled") : STR("success"));
    if (is_new(f) && !canceled)
        flow_add_pending(f, "pendingToolCallIds");
    json_close(b, '}');
}

static void finish(struct flow *f, const wend_ev_run_end *e, enum flow_end how)
{
    struct buf *b = open_event(f, "RUN_FINISHED");

    add_ids(f, b);
    if (e->outcome != WEND_OUTCOME_OK) {
        json_open(b, "result", '{');
        json_add_str(b, "outcome", str_of(wend_outcome_name(e->outcome)));
        if (e->limit.len)
            json_add_str(b, "limit", e->limit);
        json_close(b, '}');
    }
    if (how != FLOW_CANCELED || is_new(f))
        add_outcome(f, b, how);
    add_usage(f, b, &e->metrics);
    flow_record_end(f);
}

static void end(struct flow *f, const wend_ev_run_end *e)
{
    enum flow_end how = flow_ended(f, e);
    struct buf *b;

    if (how != FLOW_FAILED) {
        finish(f, e, how);
        return;
    }
    b = open_event(f, "RUN_ERROR");
    json_add_str(b, "message", flow_why(e));
    json_add_str(b, "code", flow_code(e));
    add_usage(f, b, &e->metrics);
    flow_record_end(f);
}

/* The ids are those of calls and actions, by which they are approved. */
static void interrupt(struct flow *f)
{
    struct buf *b = open_event(f, "RUN_FINISHED");

    add_ids(f, b);
    json_open(b, "outcome", '{');
    json_add_str(b, "type", STR("interrupt"));
    json_open(b, "interrupts", '[');
    for (const struct flow_call *c = NULL; (c = flow_asked(f, c));) {
        json_open(b, NULL, '{');
        json_add_str(b, "id", c->id);
        json_add_str(b, "reason", STR("approval"));
        if (c->reason.len)
            json_add_str(b, "message", buf_view(&c->reason));
        if (!c->action)
            json_add_str(b, "toolCallId", buf_view(&c->shown));
        json_close(b, '}');
    }
    json_close(b, ']');
    json_close(b, '}');
    flow_record_end(f);
}

/* ---- Text and thinking --------------------------------------------------- */

static void put_piece(struct flow *f, const char *type, const char *role,
                      const wend_str *delta)
{
    struct buf *b = open_event(f, type);

    json_add_str(b, "messageId", buf_view(&f->id));
    if (role)
        json_add_str(b, "role", str_of(role));
    if (delta)
        json_add_str(b, "delta", *delta);
    flow_record_end(f);
}

static void thinking(struct flow *f, enum flow_at at, wend_str text)
{
    switch (at) {
    case FLOW_BEGINS:
        put_piece(f, "REASONING_START", NULL, NULL);
        put_piece(f, "REASONING_MESSAGE_START", "reasoning", NULL);
        break;
    case FLOW_GROWS:
        put_piece(f, "REASONING_MESSAGE_CONTENT", NULL, &text);
        break;
    case FLOW_ENDS:
        put_piece(f, "REASONING_MESSAGE_END", NULL, NULL);
        put_piece(f, "REASONING_END", NULL, NULL);
        break;
    }
}

static void piece(struct flow *f, enum flow_at at, wend_str text)
{
    if (f->open == FLOW_THINKING) {
        thinking(f, at, text);
        return;
    }
    switch (at) {
    case FLOW_BEGINS:
        put_piece(f, "TEXT_MESSAGE_START", "assistant", NULL);
        break;
    case FLOW_GROWS: put_piece(f, "TEXT_MESSAGE_CONTENT", NULL, &text); break;
    case FLOW_ENDS: put_piece(f, "TEXT_MESSAGE_END", NULL, NULL); break;
    }
}

/* ---- What has no event of its own ---------------------------------------- */

static struct buf *open_custom(struct flow *f, const char *name)
{
    struct buf *b = open_event(f, "CUSTOM");

    json_key(b, "name");
    buf_fmt(b, "\"wend.%s\"", name);
    return b;
}

/* Messages cannot be taken back; a client that knows this may hide them. */
static void discard(struct flow *f)
{
    wend_str ask = buf_view(&f->id);
    struct buf *b = open_custom(f, "superseded");

    while (ask.len && ask.ptr[ask.len - 1] != '.')
        ask.len--;
    json_open(b, "value", '{');
    json_open(b, "messageIds", '[');
    for (int64_t i = 1; i <= f->pieces; i++) {
        json_key(b, NULL);
        buf_char(b, '"');
        json_put_inside(b, ask);
        buf_fmt(b, "%lld\"", (long long)i);
    }
    json_close(b, ']');
    json_close(b, '}');
    flow_record_end(f);
}

static bool knows_child(const struct flow *f, wend_str run)
{
    return run.len && str_has(buf_view(&f->done), run);
}

static void child_starts(struct flow *f, const wend_ev_child_start *e)
{
    struct buf *b;

    if (knows_child(f, e->run))
        return;
    buf_str(&f->done, e->run);
    b = open_event(f, "SUBAGENT_STARTED");
    json_add_str(b, "subagentRunId", e->run);
    json_add_str(b, "name", str_or(e->agent, "agent"));
    if (e->call.ptr)
        json_add_str(b, "parentToolCallId", flow_call_id(f, e->call));
    flow_record_end(f);
}

static void child_ends(struct flow *f, const wend_ev_child_end *e)
{
    struct buf *b;

    if (!knows_child(f, e->run) || e->outcome == WEND_OUTCOME_SUPERSEDED)
        return;
    if (e->outcome == WEND_OUTCOME_FAILED) {
        b = open_event(f, "SUBAGENT_ERROR");
        json_add_str(b, "subagentRunId", e->run);
        json_add_str(b, "message", STR("the agent failed"));
    } else {
        b = open_event(f, "SUBAGENT_FINISHED");
        json_add_str(b, "subagentRunId", e->run);
        json_add_str(b, "result", str_or(e->text, ""));
    }
    flow_record_end(f);
}

static const uint64_t customs =
    ON(RUN_RESUME) | ON(MODEL_RETRY) | ON(APPROVAL_ASK) | ON(APPROVAL_ANSWER) |
    ON(PLAN_START) | ON(PLAN_ACTION) | ON(ACTION_START) | ON(ACTION_RETRY) |
    ON(ACTION_END) | ON(PLAN_END) | ON(CHILD_START) | ON(CHILD_END) |
    ON(COMPACTED) | ON(MESSAGE) | ON(CONTROL) | ON(PROGRESS) | ON(WARNING) |
    ON(ERROR);

static void other(struct flow *f, const wend_event *ev)
{
    struct buf *b;

    if (!(customs >> ev->type & 1))
        return;
    if (is_new(f) && ev->type == WEND_CHILD_START) {
        child_starts(f, &ev->u.child_start);
    } else if (is_new(f) && ev->type == WEND_CHILD_END) {
        child_ends(f, &ev->u.child_end);
    } else {
        b = open_custom(f, wend_event_name(ev->type));
        json_key(b, "value");
        event_write_data(b, ev);
        flow_record_end(f);
    }
}

/* ---- Calls --------------------------------------------------------------- */

static void call(struct flow *f, const struct flow_call *c)
{
    wend_str id = buf_view(&c->shown);
    struct buf *b = open_event(f, "TOOL_CALL_START");

    json_add_str(b, "toolCallId", id);
    json_add_str(b, "toolCallName", c->name);
    json_add_str(b, "parentMessageId", buf_view(&f->message));
    flow_record_end(f);
    b = open_event(f, "TOOL_CALL_ARGS");
    json_add_str(b, "toolCallId", id);
    json_add_str(b, "delta", flow_args(f, c));
    flow_record_end(f);
    put(f, "TOOL_CALL_END", "toolCallId", id);
}

static void result(struct flow *f, const struct flow_call *c,
                   const wend_ev_call_end *e)
{
    struct buf *b;

    if (c->client)
        return;
    b = open_event(f, "TOOL_CALL_RESULT");
    json_key(b, "messageId");
    buf_char(b, '"');
    json_put_inside(b, buf_view(&f->turn_id));
    buf_char(b, '.');
    json_put_inside(b, buf_view(&c->shown));
    buf_char(b, '"');
    json_add_str(b, "toolCallId", buf_view(&c->shown));
    json_add_str(b, "content", flow_output(e));
    json_add_str(b, "role", STR("tool"));
    flow_record_end(f);
}

/* ---- Publics ------------------------------------------------------------- */

static const struct flow_form form = {
    .start = start,
    .step = step,
    .piece = piece,
    .discard = discard,
    .call = call,
    .result = result,
    .other = other,
    .end = end,
    .interrupt = interrupt,
};

static void ag_ui_event(struct dialect_stream *s, const wend_event *ev)
{
    flow_event(s, ev, &form);
}

const struct dialect dialect_ag_ui = {.name = "ag-ui", .event = ag_ui_event};

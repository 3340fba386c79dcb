/*
 * ui_stream.c - the UI message stream of the AI SDK, version 1.
 *
 * A run is one message. The agent's own tools are marked as executed here, so
 * that a client does not execute them; all tools are dynamic, since a client
 * need not know them.
 */
#include "wire/dialect/flow.h"

/* ---- Message, steps, text ------------------------------------------------ */

static void put(struct flow *f, const char *type)
{
    flow_record(f, type);
    flow_record_end(f);
}

static void start(struct flow *f)
{
    json_add_str(flow_record(f, "start"), "messageId", buf_view(&f->run_id));
    flow_record_end(f);
}

static void step(struct flow *f, bool begins)
{
    put(f, begins ? "start-step" : "finish-step");
}

static void piece(struct flow *f, enum flow_at at, wend_str text)
{
    static const char *const names[][3] = {
        [FLOW_TEXT] = {"text-start", "text-delta", "text-end"},
        [FLOW_THINKING] = {"reasoning-start", "reasoning-delta",
                           "reasoning-end"},
    };
    struct buf *b = flow_record(f, names[f->open][at]);

    json_add_str(b, "id", buf_view(&f->id));
    if (at == FLOW_GROWS)
        json_add_str(b, "delta", text);
    flow_record_end(f);
}

/* No call of the step has started, see flow.h. */
static void discard(struct flow *f)
{
    put(f, "reset-step");
}

/* ---- Calls --------------------------------------------------------------- */

static struct buf *open_call(struct flow *f, const char *type,
                             const struct flow_call *c)
{
    struct buf *b = flow_record(f, type);

    json_add_str(b, "toolCallId", buf_view(&c->shown));
    return b;
}

static void add_marks(struct buf *b, const struct flow_call *c)
{
    json_add_bool(b, "dynamic", true);
    if (!c->by_client)
        json_add_bool(b, "providerExecuted", true);
}

static void ask(struct flow *f, const struct flow_call *c)
{
    struct buf *b = open_call(f, "tool-approval-request", c);

    json_add_str(b, "approvalId", c->id);
    if (c->reason.len)
        json_add_str(b, "reason", buf_view(&c->reason));
    flow_record_end(f);
}

static void call(struct flow *f, const struct flow_call *c)
{
    struct buf *b = open_call(f, "tool-input-start", c);

    json_add_str(b, "toolName", c->name);
    add_marks(b, c);
    flow_record_end(f);
    b = open_call(f, "tool-input-available", c);
    json_add_str(b, "toolName", c->name);
    json_add_raw(b, "input", c->args);
    add_marks(b, c);
    flow_record_end(f);
    if (c->asked) /* told again to a reader who comes late */
        ask(f, c);
}

static void result(struct flow *f, const struct flow_call *c,
                   const wend_ev_call_end *e)
{
    bool ok = e->outcome == WEND_OUTCOME_OK;
    struct buf *b;

    if (c->client)
        return;
    if (e->outcome == WEND_OUTCOME_DENIED) {
        open_call(f, "tool-output-denied", c);
        flow_record_end(f);
        return;
    }
    b = open_call(f, ok ? "tool-output-available" : "tool-output-error", c);
    json_add_str(b, ok ? "output" : "errorText", flow_output(e));
    add_marks(b, c);
    flow_record_end(f);
}

/* ---- Plans, warnings ----------------------------------------------------- */

/* A later part with the same id takes the place of the first; a transient one
 * is not kept in the message. */
static struct buf *open_data(struct flow *f, const char *type, wend_str id)
{
    struct buf *b = flow_record(f, type);

    if (id.ptr)
        json_add_str(b, "id", id);
    else
        json_add_bool(b, "transient", true);
    json_open(b, "data", '{');
    return b;
}

static void close_data(struct flow *f)
{
    json_close(f->out, '}');
    flow_record_end(f);
}

static void plan(struct flow *f, const wend_ev_plan_start *e)
{
    struct buf *b = open_data(f, "data-plan", str_or(e->plan, ""));

    json_add_str(b, "name", str_or(e->name, ""));
    json_add_raw(b, "actions", str_or(e->actions_json, "[]"));
    close_data(f);
}

static void action(struct flow *f, wend_str id, wend_str name,
                   const char *status)
{
    struct buf *b = open_data(f, "data-action", str_or(id, ""));

    json_add_str(b, "name", str_or(name, ""));
    json_add_str(b, "status", str_of(status));
    close_data(f);
}

static void notice(struct flow *f, const char *type, wend_str code,
                   wend_str message)
{
    struct buf *b = open_data(f, type, STR_NONE);

    json_add_str(b, "code", str_or(code, ""));
    json_add_str(b, "message", str_or(message, ""));
    close_data(f);
}

static void approval(struct flow *f, const wend_event *ev)
{
    const wend_ev_approval_answer *e = &ev->u.approval_answer;
    const struct flow_call *c = flow_find(f, ev->u.approval_ask.call);
    struct buf *b;

    if (ev->type == WEND_APPROVAL_ASK) {
        if (c)
            ask(f, c);
    } else if (e->call.ptr && flow_find(f, e->call)) {
        b = flow_record(f, "tool-approval-response");
        json_add_str(b, "approvalId", e->call);
        json_add_bool(b, "approved", e->yes);
        flow_record_end(f);
    }
}

static void other(struct flow *f, const wend_event *ev)
{
    const wend_ev_action_start *a = &ev->u.action_start;
    const wend_ev_action_end *z = &ev->u.action_end;

    if (ev->type == WEND_APPROVAL_ASK || ev->type == WEND_APPROVAL_ANSWER)
        approval(f, ev);
    else if (ev->type == WEND_PLAN_START)
        plan(f, &ev->u.plan_start);
    else if (ev->type == WEND_ACTION_START)
        action(f, a->action, a->name, "running");
    else if (ev->type == WEND_ACTION_END &&
             z->outcome != WEND_OUTCOME_SUPERSEDED)
        action(f, z->action, z->name, wend_outcome_name(z->outcome));
    else if (ev->type == WEND_WARNING)
        notice(f, "data-warning", ev->u.warning.code, ev->u.warning.message);
    else if (ev->type == WEND_MODEL_RETRY)
        notice(f, "data-warning", STR("model_retry"), ev->u.model_retry.reason);
}

/* ---- The end ------------------------------------------------------------- */

static void finish(struct flow *f, const char *reason, const wend_ev_metrics *m)
{
    struct buf *b = flow_record(f, "finish");

    json_add_str(b, "finishReason", str_of(reason));
    if (m) {
        json_open(b, "messageMetadata", '{');
        json_open(b, "usage", '{');
        json_add_i64(b, "inputTokens", m->tokens_in);
        json_add_i64(b, "outputTokens", m->tokens_out);
        json_add_i64(b, "totalTokens", m->tokens_in + m->tokens_out);
        json_close(b, '}');
        json_close(b, '}');
    }
    flow_record_end(f);
}

static void end(struct flow *f, const wend_ev_run_end *e)
{
    static const char *const reasons[] = {
        [FLOW_STOP] = "stop",
        [FLOW_LENGTH] = "length",
        [FLOW_FILTER] = "content-filter",
        [FLOW_CALLS] = "tool-calls",
        [FLOW_FAILED] = "error",
    };
    enum flow_end how = flow_ended(f, e);

    if (how == FLOW_CANCELED) {
        json_add_str(flow_record(f, "abort"), "reason", flow_why(e));
        flow_record_end(f);
        return;
    }
    if (how == FLOW_FAILED) {
        json_add_str(flow_record(f, "error"), "errorText", flow_why(e));
        flow_record_end(f);
    }
    finish(f, reasons[how], &e->metrics);
}

/* The client sends its answer with the message, and gets the rest. */
static void interrupt(struct flow *f)
{
    finish(f, "tool-calls", NULL);
}

/* ---- Publics ------------------------------------------------------------- */

static const struct flow_form form = {
    .continues = true,
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

static void ui_event(struct dialect_stream *s, const wend_event *ev)
{
    flow_event(s, ev, &form);
}

const struct dialect dialect_ui = {.name = "ui", .event = ui_event};

/*
 * responses_stream.c - the Responses API as a server: events, or one response.
 *
 * An output item is a piece of text (message), of thinking (reasoning) or a
 * call that the caller executes (function_call). Calls that the agent executes
 * itself are not told.
 */
#include "wire/dialect/flow.h"

/* ---- The response -------------------------------------------------------- */

static void add_id(struct buf *b, const char *key, const char *prefix,
                   wend_str id)
{
    json_key(b, key);
    buf_char(b, '"');
    buf_cstr(b, prefix);
    json_put_inside(b, id);
    buf_char(b, '"');
}

static void add_usage(struct flow *f, const wend_ev_metrics *m)
{
    struct buf *b = f->out;

    json_open(b, "usage", '{');
    json_add_i64(b, "input_tokens", m->tokens_in);
    json_open(b, "input_tokens_details", '{');
    json_add_i64(b, "cached_tokens", m->tokens_cached);
    json_close(b, '}');
    json_add_i64(b, "output_tokens", m->tokens_out);
    json_open(b, "output_tokens_details", '{');
    json_add_i64(b, "reasoning_tokens", f->reasoning);
    json_close(b, '}');
    json_add_i64(b, "total_tokens", m->tokens_in + m->tokens_out);
    json_close(b, '}');
}

/* Members without a counterpart in a run; clients expect them. */
static const char constants[] =
    ",\"instructions\":null,\"max_output_tokens\":null,\"metadata\":{},"
    "\"parallel_tool_calls\":true,\"previous_response_id\":null,"
    "\"temperature\":null,\"tool_choice\":\"auto\",\"tools\":[],"
    "\"top_p\":null";

/* e NULL: the run is not over. */
static void add_response(struct flow *f, const char *key, const char *status,
                         const wend_ev_run_end *e)
{
    bool failed = e && str_is(str_of(status), "failed");
    struct buf *b = f->out;

    json_open(b, key, '{');
    add_id(b, "id", "resp_", buf_view(&f->run_id));
    json_add_str(b, "object", STR("response"));
    json_add_i64(b, "created_at", f->began_us / 1000000);
    json_add_str(b, "status", str_of(status));
    if (failed) {
        json_open(b, "error", '{');
        json_add_str(b, "code", flow_code(e));
        json_add_str(b, "message", flow_why(e));
        json_close(b, '}');
    } else {
        json_add_raw(b, "error", STR("null"));
    }
    if (str_is(str_of(status), "incomplete")) {
        json_open(b, "incomplete_details", '{');
        json_add_str(b, "reason",
                     e && flow_ended(f, e) == FLOW_FILTER
                         ? STR("content_filter")
                         : STR("max_output_tokens"));
        json_close(b, '}');
    } else {
        json_add_raw(b, "incomplete_details", STR("null"));
    }
    json_add_str(b, "model", buf_view(&f->model));
    json_open(b, "output", '[');
    buf_str(b, buf_view(&f->done));
    json_close(b, ']');
    buf_cstr(b, constants);
    if (e)
        add_usage(f, &e->metrics);
    else
        json_add_raw(b, "usage", STR("null"));
    json_close(b, '}');
}

/* ---- Events -------------------------------------------------------------- */

static struct buf *open_event(struct flow *f, const char *type)
{
    struct buf *b = flow_record(f, type);

    json_add_i64(b, "sequence_number", f->sequence++);
    return b;
}

static void put_response(struct flow *f, const char *type, const char *status,
                         const wend_ev_run_end *e)
{
    open_event(f, type);
    add_response(f, "response", status, e);
    flow_record_end(f);
}

static void start(struct flow *f)
{
    if (f->o.whole)
        return;
    put_response(f, "response.created", "in_progress", NULL);
    put_response(f, "response.in_progress", "in_progress", NULL);
}

/* Where an event of an item belongs. */
static struct buf *open_inside(struct flow *f, const char *type,
                               const char *prefix, wend_str id,
                               const char *index)
{
    struct buf *b = open_event(f, type);

    add_id(b, "item_id", prefix, id);
    json_add_i64(b, "output_index", f->items);
    if (index)
        json_add_i64(b, index, 0);
    return b;
}

/* ---- Items --------------------------------------------------------------- */

/* A finished item joins the output of the response. */
static void keep_item(struct flow *f, wend_str item)
{
    if (f->done.len)
        buf_char(&f->done, ',');
    buf_str(&f->done, item);
    if (!f->o.whole) {
        struct buf *b = open_event(f, "response.output_item.done");

        json_add_i64(b, "output_index", f->items);
        json_add_raw(b, "item", item);
        flow_record_end(f);
    }
    f->items++;
}

static void put_item(struct flow *f, wend_str item)
{
    struct buf *b = open_event(f, "response.output_item.added");

    json_add_i64(b, "output_index", f->items);
    json_add_raw(b, "item", item);
    flow_record_end(f);
}

static void put_text(struct buf *b, const char *key, bool thinking,
                     wend_str text)
{
    json_open(b, key, '{');
    json_add_str(b, "type",
                 thinking ? STR("summary_text") : STR("output_text"));
    json_add_str(b, "text", text);
    if (!thinking)
        json_add_raw(b, "annotations", STR("[]"));
    json_close(b, '}');
}

/* An item of text or thinking; text absent: it begins. */
static wend_str text_item(struct flow *f, bool thinking, wend_str text)
{
    struct buf b = {.mem = f->s->mem};

    json_open(&b, NULL, '{');
    add_id(&b, "id", thinking ? "rs_" : "msg_", buf_view(&f->id));
    json_add_str(&b, "type", thinking ? STR("reasoning") : STR("message"));
    json_add_str(&b, "status",
                 !text.ptr ? STR("in_progress")
                 : f->cut  ? STR("incomplete")
                           : STR("completed"));
    if (!thinking)
        json_add_str(&b, "role", STR("assistant"));
    json_open(&b, thinking ? "summary" : "content", '[');
    if (text.ptr)
        put_text(&b, NULL, thinking, text);
    json_close(&b, ']');
    json_close(&b, '}');
    return buf_keep(&b, &f->s->scratch);
}

struct names {
    const char *prefix, *index;
    const char *part_added, *delta, *done, *part_done;
};

static const struct names names[] = {
    {"msg_", "content_index", "response.content_part.added",
     "response.output_text.delta", "response.output_text.done",
     "response.content_part.done"},
    {"rs_", "summary_index", "response.reasoning_summary_part.added",
     "response.reasoning_summary_text.delta",
     "response.reasoning_summary_text.done",
     "response.reasoning_summary_part.done"},
};

static void piece(struct flow *f, enum flow_at at, wend_str text)
{
    bool thinking = f->open == FLOW_THINKING;
    const struct names *n = &names[thinking];
    wend_str id = buf_view(&f->id);
    struct buf *b;

    if (f->o.whole) {
        if (at == FLOW_ENDS)
            keep_item(f, text_item(f, thinking, text));
        return;
    }
    switch (at) {
    case FLOW_BEGINS:
        put_item(f, text_item(f, thinking, STR_NONE));
        b = open_inside(f, n->part_added, n->prefix, id, n->index);
        put_text(b, "part", thinking, STR(""));
        flow_record_end(f);
        break;
    case FLOW_GROWS:
        b = open_inside(f, n->delta, n->prefix, id, n->index);
        json_add_str(b, "delta", text);
        flow_record_end(f);
        break;
    case FLOW_ENDS:
        b = open_inside(f, n->done, n->prefix, id, n->index);
        json_add_str(b, "text", text);
        flow_record_end(f);
        b = open_inside(f, n->part_done, n->prefix, id, n->index);
        put_text(b, "part", thinking, text);
        flow_record_end(f);
        keep_item(f, text_item(f, thinking, text));
        break;
    }
}

static wend_str call_item(struct flow *f, const struct flow_call *c,
                          bool begins)
{
    wend_str id = buf_view(&c->shown);
    struct buf b = {.mem = f->s->mem};

    json_open(&b, NULL, '{');
    add_id(&b, "id", "fc_", id);
    json_add_str(&b, "type", STR("function_call"));
    json_add_str(&b, "status", begins ? STR("in_progress") : STR("completed"));
    json_add_str(&b, "call_id", id);
    json_add_str(&b, "name", c->name);
    json_add_str(&b, "arguments", begins ? STR("") : flow_args(f, c));
    json_close(&b, '}');
    return buf_keep(&b, &f->s->scratch);
}

static void result(struct flow *f, const struct flow_call *c,
                   const wend_ev_call_end *e)
{
    wend_str id = buf_view(&c->shown);
    struct buf *b;

    (void)e;
    if (!c->client)
        return;
    if (!f->o.whole) {
        put_item(f, call_item(f, c, true));
        b = open_inside(f, "response.function_call_arguments.delta", "fc_", id,
                        NULL);
        json_add_str(b, "delta", flow_args(f, c));
        flow_record_end(f);
        b = open_inside(f, "response.function_call_arguments.done", "fc_", id,
                        NULL);
        json_add_str(b, "name", c->name);
        json_add_str(b, "arguments", flow_args(f, c));
        flow_record_end(f);
    }
    keep_item(f, call_item(f, c, false));
}

/* Events cannot be taken back; the response has no such items. */
static void discard(struct flow *f)
{
    flow_undo(f);
}

/* ---- The end ------------------------------------------------------------- */

static void end(struct flow *f, const wend_ev_run_end *e)
{
    static const char *const statuses[] = {
        [FLOW_STOP] = "completed",    [FLOW_LENGTH] = "incomplete",
        [FLOW_FILTER] = "incomplete", [FLOW_CALLS] = "completed",
        [FLOW_CANCELED] = "failed",   [FLOW_FAILED] = "failed",
    };
    static const char *const types[] = {
        [FLOW_STOP] = "response.completed",
        [FLOW_LENGTH] = "response.incomplete",
        [FLOW_FILTER] = "response.incomplete",
        [FLOW_CALLS] = "response.completed",
        [FLOW_CANCELED] = "response.failed",
        [FLOW_FAILED] = "response.failed",
    };
    enum flow_end how = flow_ended(f, e);

    if (f->o.whole) {
        add_response(f, NULL, statuses[how], e);
        buf_char(f->out, '\n');
    } else {
        put_response(f, types[how], statuses[how], e);
    }
}

/* ---- Publics ------------------------------------------------------------- */

static const struct flow_form form = {
    .start = start,
    .piece = piece,
    .discard = discard,
    .result = result,
    .end = end,
};

static void responses_event(struct dialect_stream *s, const wend_event *ev)
{
    flow_event(s, ev, &form);
}

const struct dialect dialect_responses = {.name = "responses",
                                          .event = responses_event};

/*
 * chat_stream.c - Chat Completions as a server: chunks, or one completion.
 *
 * Calls that the agent executes itself are not told: a client would try to
 * execute them. In a stream the content has the text of all turns, with an
 * empty line between them; a completion has the answer.
 */
#include "wire/dialect/flow.h"

/* ---- Members that chunks and completions share --------------------------- */

static void open_object(struct flow *f, const char *object)
{
    struct buf *b = f->out;

    json_open(b, NULL, '{');
    json_key(b, "id");
    buf_cstr(b, "\"chatcmpl-");
    json_put_inside(b, buf_view(&f->run_id));
    buf_char(b, '"');
    json_add_str(b, "object", str_of(object));
    json_add_i64(b, "created", f->began_us / 1000000);
    json_add_str(b, "model", buf_view(&f->model));
}

static void add_usage(struct flow *f, const wend_ev_metrics *m)
{
    struct buf *b = f->out;

    json_open(b, "usage", '{');
    json_add_i64(b, "prompt_tokens", m->tokens_in);
    json_add_i64(b, "completion_tokens", m->tokens_out);
    json_add_i64(b, "total_tokens", m->tokens_in + m->tokens_out);
    json_open(b, "prompt_tokens_details", '{');
    json_add_i64(b, "cached_tokens", m->tokens_cached);
    json_close(b, '}');
    json_open(b, "completion_tokens_details", '{');
    json_add_i64(b, "reasoning_tokens", f->reasoning);
    json_close(b, '}');
    json_close(b, '}');
}

static void add_call(struct flow *f, const struct flow_call *c, bool in_stream)
{
    struct buf *b = f->out;

    json_open(b, NULL, '{');
    if (in_stream)
        json_add_i64(b, "index", f->items++);
    json_add_str(b, "id", buf_view(&c->shown));
    json_add_str(b, "type", STR("function"));
    json_open(b, "function", '{');
    json_add_str(b, "name", c->name);
    json_add_str(b, "arguments", flow_args(f, c));
    json_close(b, '}');
    json_close(b, '}');
}

static const char *const finishes[] = {
    [FLOW_STOP] = "stop",
    [FLOW_LENGTH] = "length",
    [FLOW_FILTER] = "content_filter",
    [FLOW_CALLS] = "tool_calls",
};

static void put_error(struct flow *f, const wend_ev_run_end *e)
{
    struct buf *b = f->out;

    json_open(b, NULL, '{');
    json_open(b, "error", '{');
    json_add_str(b, "message", flow_why(e));
    json_add_str(b, "type", STR("server_error"));
    json_add_raw(b, "param", STR("null"));
    json_add_str(b, "code", flow_code(e));
    json_close(b, '}');
    flow_record_end(f);
}

/* ---- Chunks -------------------------------------------------------------- */

static struct buf *open_chunk(struct flow *f)
{
    struct buf *b = f->out;

    open_object(f, "chat.completion.chunk");
    json_open(b, "choices", '[');
    json_open(b, NULL, '{');
    json_add_i64(b, "index", 0);
    json_open(b, "delta", '{');
    return b;
}

static void close_chunk(struct flow *f, const char *finish)
{
    struct buf *b = f->out;

    json_close(b, '}');
    json_add_nullable(b, "finish_reason", str_of(finish));
    json_close(b, '}');
    json_close(b, ']');
    flow_record_end(f);
}

static void put_delta(struct flow *f, const char *key, wend_str text)
{
    json_add_str(open_chunk(f), key, text);
    close_chunk(f, NULL);
}

static void start(struct flow *f)
{
    struct buf *b;

    if (f->o.whole)
        return;
    b = open_chunk(f);
    json_add_str(b, "role", STR("assistant"));
    json_add_str(b, "content", STR(""));
    close_chunk(f, NULL);
}

static void piece(struct flow *f, enum flow_at at, wend_str text)
{
    bool is_text = f->open == FLOW_TEXT;

    if (f->o.whole) {
        if (at == FLOW_ENDS && !is_text)
            buf_str(&f->done, text);
    } else if (at == FLOW_GROWS) {
        put_delta(f, is_text ? "content" : "reasoning_content", text);
    } else if (at == FLOW_BEGINS && is_text) {
        if (f->any_text)
            put_delta(f, "content", STR("\n\n"));
        f->any_text = true;
    }
}

static void discard(struct flow *f)
{
    if (f->o.whole)
        flow_undo(f);
}

static void result(struct flow *f, const struct flow_call *c,
                   const wend_ev_call_end *e)
{
    struct buf *b;

    (void)e;
    if (f->o.whole || !c->client)
        return;
    b = open_chunk(f);
    json_open(b, "tool_calls", '[');
    add_call(f, c, true);
    json_close(b, ']');
    close_chunk(f, NULL);
}

/* ---- The end ------------------------------------------------------------- */

static void put_completion(struct flow *f, const wend_ev_run_end *e)
{
    bool calls = flow_is_pending(f);
    struct buf *b = f->out;

    open_object(f, "chat.completion");
    json_open(b, "choices", '[');
    json_open(b, NULL, '{');
    json_add_i64(b, "index", 0);
    json_open(b, "message", '{');
    json_add_str(b, "role", STR("assistant"));
    json_add_nullable(b, "content",
                      calls && !e->text.len ? STR_NONE : str_or(e->text, ""));
    json_add_raw(b, "refusal", STR("null"));
    if (f->done.len)
        json_add_str(b, "reasoning_content", buf_view(&f->done));
    if (calls) {
        json_open(b, "tool_calls", '[');
        for (const struct flow_call *c = f->calls; c; c = c->next)
            if (c->client)
                add_call(f, c, false);
        json_close(b, ']');
    }
    json_close(b, '}');
    json_add_raw(b, "logprobs", STR("null"));
    json_add_str(b, "finish_reason", str_of(finishes[flow_ended(f, e)]));
    json_close(b, '}');
    json_close(b, ']');
    add_usage(f, &e->metrics);
    flow_record_end(f);
}

static void end(struct flow *f, const wend_ev_run_end *e)
{
    enum flow_end how = flow_ended(f, e);

    if (how == FLOW_FAILED || how == FLOW_CANCELED) {
        put_error(f, e);
    } else if (f->o.whole) {
        put_completion(f, e);
    } else {
        open_chunk(f);
        close_chunk(f, finishes[how]);
        if (f->o.include_usage) {
            open_object(f, "chat.completion.chunk");
            json_add_raw(f->out, "choices", STR("[]"));
            add_usage(f, &e->metrics);
            flow_record_end(f);
        }
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

static void chat_event(struct dialect_stream *s, const wend_event *ev)
{
    flow_event(s, ev, &form);
}

const struct dialect dialect_openai_chat = {.name = "openai-chat",
                                            .event = chat_event};

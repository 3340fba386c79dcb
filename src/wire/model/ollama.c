/*
 * ollama.c - Ollama's own API: one JSON value a line.
 *
 * Calls come whole, in any line, their arguments as a value; most versions
 * give them no id. Results are matched by the tool's name and their order.
 */
#include "wire/model/request.h"

/* ---- Request ------------------------------------------------------------- */

/* Arguments must be an object; other values are put into one. */
static void put_call(struct request_writer *w, const struct msg *m,
                     const struct call *c)
{
    bool object = c->args.len && c->args.ptr[0] == '{';

    (void)m;
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"function\":{");
    request_str(w->out, "name", c->name);
    buf_cstr(w->out, object ? ",\"arguments\":" : ",\"arguments\":{\"text\":");
    buf_str(w->out, c->args);
    buf_cstr(w->out, object ? "}}" : "}}}");
}

/* Models that call while they think resume from what they thought. */
static void put_assistant(struct request_writer *w, const struct msg *m)
{
    request_open(w->out, ROLE_ASSISTANT);
    request_str(w->out, "content", m->text);
    if (m->calls && m->thinking.len && wire_is_own(w->turn, m))
        request_str(w->out, "thinking", m->thinking);
    request_put_calls(w, m);
    json_close(w->out, '}');
}

/* The content of a message is one string, and its pictures and sounds are a
 * list beside it: two walks over the parts. */
struct ollama_asked {
    struct buf text; /* of the message, in the first walk */
};

static void put_part_text(struct request_writer *w, wend_str text)
{
    struct ollama_asked *asked = w->own;

    if (w->again)
        return;
    buf_str(&asked->text, text);
    buf_char(&asked->text, '\n');
}

static bool put_part(struct request_writer *w, const wend_ev_part *p,
                     enum media_type type, wend_str bytes)
{
    (void)p;
    if (type == MEDIA_DOCUMENT)
        return false;
    if (w->again)
        request_base64(w->out, NULL, bytes);
    return true;
}

/* m: the message itself, or NULL for what the results up to it come with. */
static void walk(struct request_writer *w, const struct msg *m, size_t first)
{
    if (m)
        request_put_parts(w, m);
    else
        request_put_batch(w, first);
}

static void put_with_parts(struct request_writer *w, const struct msg *m,
                           size_t first)
{
    struct ollama_asked *asked = w->own;
    size_t before, first_image;

    asked->text = (struct buf){.mem = w->out->mem};
    walk(w, m, first);
    if (m)
        buf_str(&asked->text, m->text);
    request_open(w->out, m ? m->role : ROLE_USER);
    request_str(w->out, "content", buf_view(&asked->text));
    before = w->out->len;
    json_open(w->out, "images", '[');
    first_image = w->out->len;
    w->again = true;
    walk(w, m, first);
    w->again = false;
    if (w->out->len == first_image)
        w->out->len = before;
    else
        json_close(w->out, ']');
    json_close(w->out, '}');
    w->out->failed |= asked->text.failed;
    buf_free(&asked->text);
}

static void put_said(struct request_writer *w, const struct msg *m)
{
    if (m->parts_count)
        put_with_parts(w, m, 0);
    else
        request_said(w, m);
}

static void put_result(struct request_writer *w, const struct msg *m)
{
    size_t first;

    request_open(w->out, ROLE_TOOL);
    request_str(w->out, "tool_name", m->name);
    request_result_text(w, "content", m);
    json_close(w->out, '}');
    if (request_batch(w, &first))
        put_with_parts(w, NULL, first);
}

static void put_tool(struct request_writer *w, const struct tool *t)
{
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function\",\"function\":{");
    request_str(w->out, "name", t->name);
    request_str(w->out, "description", t->description);
    json_add_raw(w->out, "parameters",
                 tool_schema(t).len ? tool_schema(t) : STR(REQUEST_ANY_OBJECT));
    buf_cstr(w->out, "}}");
}

/* Levels are for gpt-oss alone, which knows nothing else. */
static void put_effort(struct buf *b, enum effort effort, wend_str model)
{
    bool levels = memmem(model.ptr, model.len, "gpt-oss", 7);

    if (effort > EFFORT_NONE && levels)
        json_add_str(b, "think", str_of(effort_names[effort]));
    else if (effort)
        json_add_bool(b, "think", effort != EFFORT_NONE);
}

static void put_options(struct request_writer *w, const struct json *extra)
{
    const struct model_use *m = turn_model(w->turn);
    bool window = m->window_known && !json_get(extra, "num_ctx");

    if (!window && !w->q->max_tokens && !request_has_params(w, "options"))
        return;
    json_open(w->out, "options", '{');
    if (window)
        json_add_i64(w->out, "num_ctx", m->context_tokens);
    if (w->q->max_tokens)
        json_add_i64(w->out, "num_predict", w->q->max_tokens);
    request_put_params(w, "options");
    json_close(w->out, '}');
}

/* The server has a window of its own choice unless it is told one, and drops
 * the oldest messages of a longer request unless it is told not to. */
static void put_tail(struct request_writer *w)
{
    const struct json *extra = turn_model(w->turn)->params.extra;

    json_close(w->out, ']');
    request_put_tools(w, "tools");
    json_add(w->out, "format", w->schema);
    put_effort(w->out, w->effort, w->q->model);
    put_options(w, json_get(extra, "options"));
    if (!json_get(extra, "truncate"))
        json_add_bool(w->out, "truncate", false);
    request_put_params(w, NULL);
    buf_cstr(w->out, ",\"stream\":true}");
}

static const struct request_form request_form = {
    .head = request_head,
    .said = put_said,
    .assistant = put_assistant,
    .result = put_result,
    .tail = put_tail,
    .tool = put_tool,
    .call = put_call,
    .part = put_part,
    .part_text = put_part_text,
    .own_size = sizeof(struct ollama_asked),
};

/* ---- Answer -------------------------------------------------------------- */

static void on_call(struct decoder *d, const struct json *j)
{
    const struct json *function = json_get(j, "function");
    wend_str name = json_get_str(function, "name");
    int call = wire_call(d, json_get_str(j, "id"), name);
    wend_str args;

    if (call < 0)
        return;
    args = wire_args_text(d, json_get(function, "arguments"));
    if (d->failed)
        return;
    wire_args(d, call, args);
    wire_seal(d, call);
}

static void on_message(struct decoder *d, const struct json *message)
{
    const struct json *call = json_items(json_get(message, "tool_calls"));
    wend_str thinking = json_get_str(message, "thinking");

    if (thinking.len)
        d->think.at = THINK_TEXT;
    wire_thinking(d, thinking);
    wire_tagged(d, json_get_str(message, "content"));
    for (; call && !d->failed; call = call->next)
        on_call(d, call);
}

static void find_usage(struct decoder *d, const struct json *data)
{
    wend_ev_usage usage = {
        .input = wire_i64(data, "prompt_eval_count"),
        .output = wire_i64(data, "eval_count"),
        .cost_nano = -1,
    };

    if (usage.input || usage.output)
        d->sink->usage(d->sink->ctx, &usage);
}

static const struct wire_reason reasons[] = {
    {"stop", {"stop", "load"}},
    {"length", {"length"}},
    {NULL, {NULL}},
};

static void on_done(struct decoder *d, const struct json *data)
{
    wend_str word = json_get_str(data, "done_reason");

    find_usage(d, data);
    if (word.len)
        d->reason = wire_reason(d, word);
    d->finished = d->done = true;
}

static void on_event(struct decoder *d, const struct json *data)
{
    d->own |= json_get(data, "message") != NULL;
    on_message(d, json_get(data, "message"));
    if (!d->failed && json_is_true(json_get(data, "done")))
        on_done(d, data);
}

static void on_whole(struct decoder *d, const struct json *body)
{
    if (!json_get(body, "message")) {
        wire_fail_fmt(d, "service", "the answer has no message");
        return;
    }
    on_event(d, body);
    d->finished = true;
}

const struct codec codec_ollama = {
    .name = "ollama",
    .framing = SSE_LINES,
    .base_url = "http://127.0.0.1:11434",
    .path = "/api/chat",
    .request = &request_form,
    .params = &params_ollama,
    .reasons = reasons,
    .usage = find_usage,
    .event = on_event,
    .whole = on_whole,
};

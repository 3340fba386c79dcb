/*
 * ollama.c - Ollama's own API: one JSON value a line.
 *
 * Calls come whole, in any line, their arguments as a value; most versions
 * give them no id. Results are matched by the tool's name and their order.
 */
#include "wire/model/think.h"

struct state {
    bool calls;
    const char *reason; /* NULL: none was given */
    struct think think;
};

/* ---- Request ------------------------------------------------------------- */

static void put_pair(struct buf *b, const char *key, wend_str value)
{
    buf_fmt(b, "\"%s\":", key);
    json_put_str(b, value);
}

/* Arguments must be an object; what is none is put into one. */
static void put_call(struct buf *b, const struct call *c)
{
    bool object = c->args.len && c->args.ptr[0] == '{';

    buf_cstr(b, "{\"function\":{");
    put_pair(b, "name", c->name);
    buf_cstr(b, object ? ",\"arguments\":" : ",\"arguments\":{\"text\":");
    buf_str(b, c->args);
    buf_cstr(b, object ? "}}" : "}}}");
}

/* Models that call while they think go on from what they thought. */
static void put_calls(struct buf *b, const struct turn *t, const struct msg *m,
                      struct arena *a)
{
    size_t count;
    const struct call **calls = wire_calls(m, a, &count);

    if (!count)
        return;
    if (m->thinking.len && wire_is_own(t, m)) {
        buf_char(b, ',');
        put_pair(b, "thinking", m->thinking);
    }
    for (size_t i = 0; i < count; i++) {
        buf_cstr(b, i ? "," : ",\"tool_calls\":[");
        put_call(b, calls[i]);
    }
    buf_char(b, ']');
}

static void put_message(struct buf *b, const struct turn *t,
                        const struct msg *m, struct arena *a)
{
    static const char *const roles[] = {
        [ROLE_USER] = "user",
        [ROLE_ASSISTANT] = "assistant",
        [ROLE_TOOL] = "tool",
        [ROLE_SYSTEM] = "system",
    };

    buf_fmt(b, "{\"role\":\"%s\",", roles[m->role]);
    if (m->role == ROLE_TOOL) {
        put_pair(b, "tool_name", m->name);
        buf_char(b, ',');
    }
    put_pair(b, "content", m->text);
    if (m->role == ROLE_ASSISTANT)
        put_calls(b, t, m, a);
    buf_char(b, '}');
}

static void put_messages(struct buf *b, const struct wire_ask *q)
{
    struct arena a = {.mem = b->mem};
    wend_str system = q->turn->config->instructions;
    size_t count;
    const struct msg **list = wire_messages(q->turn, &a, &count);

    buf_cstr(b, ",\"messages\":[");
    if (system.len) {
        buf_cstr(b, "{\"role\":\"system\",");
        put_pair(b, "content", system);
        buf_char(b, '}');
    }
    for (size_t i = 0; i < count; i++) {
        if (i || system.len)
            buf_char(b, ',');
        put_message(b, q->turn, list[i], &a);
    }
    buf_char(b, ']');
    b->failed |= a.failed;
    arena_free(&a);
}

static void put_tool(struct buf *b, const struct tool *t)
{
    buf_cstr(b, "{\"type\":\"function\",\"function\":{");
    put_pair(b, "name", t->name);
    buf_char(b, ',');
    put_pair(b, "description", t->description);
    buf_cstr(b, ",\"parameters\":");
    buf_str(b, t->schema ? t->schema_text
                         : STR("{\"type\":\"object\",\"properties\":{}}"));
    buf_cstr(b, "}}");
}

static void put_format(struct buf *b, wend_str schema)
{
    struct arena a = {.mem = b->mem};
    const struct json *j = schema.len ? json_parse(schema, &a, NULL) : NULL;

    if (j) {
        buf_cstr(b, ",\"format\":");
        json_put(b, j);
    }
    b->failed |= a.failed;
    arena_free(&a);
}

/* Levels are for gpt-oss alone, which knows nothing else. */
static void put_effort(struct buf *b, enum effort effort, wend_str model)
{
    bool levels = memmem(model.ptr, model.len, "gpt-oss", 7);

    if (effort == EFFORT_DEFAULT)
        return;
    buf_cstr(b, ",\"think\":");
    if (effort == EFFORT_NONE)
        buf_cstr(b, "false");
    else if (levels)
        json_put_str(b, str_of(effort_names[effort]));
    else
        buf_cstr(b, "true");
}

static void put_path(const struct wire_ask *q, struct buf *out)
{
    (void)q;
    buf_cstr(out, "/api/chat");
}

static void put_request(const struct wire_ask *q, struct buf *out)
{
    const struct config *c = q->turn->config;

    buf_char(out, '{');
    put_pair(out, "model", q->model);
    put_messages(out, q);
    for (size_t i = 0; i < c->tools_count; i++) {
        buf_cstr(out, i ? "," : ",\"tools\":[");
        put_tool(out, &c->tools[i]);
    }
    if (c->tools_count)
        buf_char(out, ']');
    put_format(out, q->schema);
    put_effort(out, c->effort, q->model);
    if (q->max_tokens)
        buf_fmt(out, ",\"options\":{\"num_predict\":%lld}",
                (long long)q->max_tokens);
    buf_cstr(out, ",\"stream\":true}");
}

/* ---- Answer -------------------------------------------------------------- */

static void on_args(struct decoder *d, int call, const struct json *args)
{
    struct buf b = {.mem = d->mem};

    if (!args || args->kind == JSON_NULL)
        return;
    if (args->kind == JSON_STRING)
        buf_str(&b, args->text);
    else
        json_put(&b, args);
    if (b.failed)
        wire_fail_nomem(d);
    else if (b.len)
        d->sink->args(d->sink->ctx, call, buf_view(&b));
    buf_free(&b);
}

static void on_call(struct decoder *d, const struct json *j)
{
    const struct json *function = json_get(j, "function");
    wend_str name = json_str(json_get(function, "name"));
    struct state *st = d->state;
    int call;

    call = wire_call(d, json_str(json_get(j, "id")), name);
    if (call < 0)
        return;
    st->calls = true;
    on_args(d, call, json_get(function, "arguments"));
    if (!d->failed)
        d->sink->seal(d->sink->ctx, call);
}

static void on_message(struct decoder *d, const struct json *message)
{
    struct state *st = d->state;
    wend_str thinking = json_str(json_get(message, "thinking"));
    const struct json *calls = json_get(message, "tool_calls");

    if (thinking.len) {
        wire_thinking(d, thinking);
        st->think.at = THINK_TEXT;
    }
    think_add(&st->think, d->sink,
              wire_join(d, &d->text, json_str(json_get(message, "content"))));
    if (calls && calls->kind == JSON_ARRAY)
        for (const struct json *c = calls->first; c && !d->failed; c = c->next)
            on_call(d, c);
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

static void on_done(struct decoder *d, const struct json *data)
{
    struct state *st = d->state;
    wend_str word = json_str(json_get(data, "done_reason"));

    find_usage(d, data);
    if (str_is(word, "length"))
        st->reason = "length";
    else if (word.len && !str_is(word, "stop") && !str_is(word, "load"))
        st->reason = wire_unknown(d, word);
    d->finished = d->done = true;
}

static void on_event(struct decoder *d, wend_str name, const struct json *data)
{
    const struct json *done = json_get(data, "done");

    (void)name;
    d->own |= json_get(data, "message") != NULL;
    on_message(d, json_get(data, "message"));
    if (!d->failed && done && done->kind == JSON_TRUE)
        on_done(d, data);
}

static void on_whole(struct decoder *d, const struct json *body)
{
    if (!json_get(body, "message")) {
        wire_fail_fmt(d, "service", "the answer has no message");
        return;
    }
    on_event(d, STR(""), body);
    d->finished = true;
}

static void on_end(struct decoder *d)
{
    struct state *st = d->state;

    think_add(&st->think, d->sink, join_rest(&d->text));
    think_end(&st->think, d->sink);
    wire_rest(d);
    wire_finish(d, st->reason ? st->reason : st->calls ? "tool_calls" : "stop");
}

const struct codec codec_ollama = {
    .name = "ollama",
    .framing = SSE_LINES,
    .base_url = "http://127.0.0.1:11434",
    .path = put_path,
    .request = put_request,
    .state_size = sizeof(struct state),
    .usage = find_usage,
    .event = on_event,
    .whole = on_whole,
    .end = on_end,
};

/*
 * openai_responses.c - the Responses API.
 *
 * Nothing is stored at the server: the whole conversation goes along, with
 * the encrypted reasoning before what came of it. The input is the last
 * member, so the request for a longer conversation begins with the bytes of
 * the shorter one, up to the end of its last message.
 *
 * In an answer, what belongs together has the same output_index; ids change
 * from event to event at some gateways. Others leave out deltas, or all but the
 * last event: an item's text and arguments are then taken from where they come
 * whole, but never twice.
 */
#include "wire/model/parts.h"
#include "wire/model/request.h"

/* Far more than any answer has: calls, reasoning before each, messages. */
enum { ITEMS_MAX = 4 * CALLS_MAX };

enum stream { TEXT, THINKING, ARGS, STREAMS };

/* One of the answer's output items. */
struct output_item {
    int64_t index;
    int call;          /* the sink's handle; -1: none */
    bool any[STREAMS]; /* some was told */
    bool opened, done; /* opened: the call was told */
    struct join args;
};

struct responses_state {
    struct output_item *items;
    size_t items_count, items_cap;
    struct buf call_id; /* of the newest call */
    bool refused, begun;
};

static struct output_item *item_new(struct decoder *d, int64_t index)
{
    struct responses_state *s = d->state;
    struct output_item *it;

    if (s->items_count == ITEMS_MAX) {
        wire_fail_fmt(d, "service", "more than %d output items", ITEMS_MAX);
        return NULL;
    }
    it = mem_add(d->mem, &s->items, &s->items_count, &s->items_cap, sizeof *it);
    if (it)
        *it = (struct output_item){.index = index, .call = -1};
    else
        wire_fail_nomem(d);
    return it;
}

/* The item of an event, made if it is new; NULL: out of memory. The newest
 * one is meant nearly always. */
static struct output_item *item_of(struct decoder *d, int64_t index)
{
    struct responses_state *s = d->state;

    for (size_t i = s->items_count; i; i--)
        if (s->items[i - 1].index == index)
            return &s->items[i - 1];
    return item_new(d, index);
}

/* Without an index the newest item is meant. */
static struct output_item *item_in(struct decoder *d, const struct json *ev)
{
    struct responses_state *s = d->state;
    int64_t index = s->items_count ? s->items[s->items_count - 1].index : 0;

    json_i64(json_get(ev, "output_index"), &index);
    return item_of(d, index);
}

/* Some gateways give no index, or the same to all: an item that begins after
 * the end, or has the id of another call, is another item. */
static struct output_item *item_at(struct decoder *d, const struct json *ev,
                                   bool begins)
{
    struct responses_state *s = d->state;
    struct output_item *it = item_in(d, ev);
    wend_str id = json_get_str(json_get(ev, "item"), "call_id");

    if (!it || !it->done ||
        (id.len ? str_eq(id, buf_view(&s->call_id)) : !begins))
        return it;
    return item_new(d, it->index);
}

/* ---- Pieces -------------------------------------------------------------- */

/* Arguments before the name of their call are told with the whole item. */
static void give(struct decoder *d, struct output_item *it, enum stream what,
                 wend_str piece)
{
    if (!it || it->done || !piece.len || (what == ARGS && !it->opened))
        return;
    it->any[what] = true;
    if (what == TEXT)
        wire_text(d, piece);
    else if (what == THINKING)
        wire_thinking(d, piece);
    else if (it->call >= 0)
        wire_args(d, it->call, wire_join(d, &it->args, piece));
}

static void open_call(struct decoder *d, struct output_item *it,
                      const struct json *item)
{
    struct responses_state *s = d->state;
    wend_str id = json_get_str(item, "call_id");

    if (it->opened)
        return;
    it->opened = true;
    it->call = wire_call(d, id, json_get_str(item, "name"));
    buf_clear(&s->call_id);
    wire_keep(d, &s->call_id, id);
}

/* ---- Items that are complete --------------------------------------------- */

static void finish_message(struct decoder *d, struct output_item *it,
                           const struct json *item)
{
    struct responses_state *s = d->state;
    const struct json *c = json_items(json_get(item, "content"));
    bool streamed = it->any[TEXT];

    for (; c; c = c->next) {
        const struct json *refusal = json_get(c, "refusal");

        s->refused |= json_str(refusal).len > 0;
        if (!streamed)
            give(d, it, TEXT,
                 json_str(refusal ? refusal : json_get(c, "text")));
    }
}

/* An incomplete one was cut: its arguments are not what was meant. */
static void finish_call(struct decoder *d, struct output_item *it,
                        const struct json *item)
{
    open_call(d, it, item);
    if (!it->any[ARGS])
        give(d, it, ARGS, json_get_str(item, "arguments"));
    if (it->call < 0 || str_is(json_get_str(item, "status"), "incomplete"))
        return;
    give(d, it, ARGS, join_rest(&it->args));
    wire_seal(d, it->call);
}

static void think_parts(struct decoder *d, struct output_item *it,
                        const struct json *list)
{
    for (const struct json *c = json_items(list); c; c = c->next) {
        wend_str text = json_get_str(c, "text");

        if (text.len && it->any[THINKING])
            give(d, it, THINKING, STR("\n\n"));
        give(d, it, THINKING, text);
    }
}

/* Nothing is stored at the server, so only what carries its content can go
 * back. Members that are null are not taken back. */
static void finish_reasoning(struct decoder *d, struct output_item *it,
                             const struct json *item)
{
    struct buf *b;

    if (!it->any[THINKING])
        think_parts(d, it, json_get(item, "summary"));
    if (!it->any[THINKING])
        think_parts(d, it, json_get(item, "content"));
    if (!json_get_str(item, "encrypted_content").len || parts_too_deep(item))
        return;
    b = parts_item_here(d);
    json_open(b, "item", '{');
    for (const struct json *m = item->first; m; m = m->next)
        if (m->kind != JSON_NULL)
            json_add_pair(b, m->key, m);
    json_close(b, '}');
    parts_item_end(d);
}

static void finish_item(struct decoder *d, struct output_item *it,
                        const struct json *item)
{
    static const struct {
        const char *type;
        void (*fn)(struct decoder *d, struct output_item *it,
                   const struct json *item);
    } kinds[] = {
        {"message", finish_message},
        {"function_call", finish_call},
        {"reasoning", finish_reasoning},
    };
    wend_str type = json_get_str(item, "type");

    if (!it || it->done)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(type, kinds[i].type))
            kinds[i].fn(d, it, item);
    it->done = true;
}

/* ---- Events -------------------------------------------------------------- */

static void on_created(struct decoder *d, const struct json *ev)
{
    struct responses_state *s = d->state;

    (void)ev;
    if (s->begun)
        wire_begin_again(d);
    s->begun = true;
}

static void on_text_delta(struct decoder *d, const struct json *ev)
{
    give(d, item_in(d, ev), TEXT, json_get_str(ev, "delta"));
}

static void on_text_done(struct decoder *d, const struct json *ev)
{
    struct output_item *it = item_in(d, ev);

    if (it && !it->any[TEXT])
        give(d, it, TEXT, json_get_str(ev, "text"));
}

static void on_refusal_delta(struct decoder *d, const struct json *ev)
{
    struct responses_state *s = d->state;

    s->refused = true;
    on_text_delta(d, ev);
}

static void on_args_delta(struct decoder *d, const struct json *ev)
{
    give(d, item_in(d, ev), ARGS, json_get_str(ev, "delta"));
}

static void on_args_done(struct decoder *d, const struct json *ev)
{
    struct output_item *it = item_in(d, ev);

    if (it && !it->any[ARGS])
        give(d, it, ARGS, json_get_str(ev, "arguments"));
}

static void on_thinking_delta(struct decoder *d, const struct json *ev)
{
    give(d, item_in(d, ev), THINKING, json_get_str(ev, "delta"));
}

/* Parts of a summary are paragraphs. */
static void on_summary_part(struct decoder *d, const struct json *ev)
{
    struct output_item *it = item_in(d, ev);

    if (it && it->any[THINKING])
        give(d, it, THINKING, STR("\n\n"));
}

static void on_item_added(struct decoder *d, const struct json *ev)
{
    const struct json *item = json_get(ev, "item");
    struct output_item *it = item_at(d, ev, true);

    if (!it || !str_is(json_get_str(item, "type"), "function_call"))
        return;
    open_call(d, it, item);
}

static void on_item_done(struct decoder *d, const struct json *ev)
{
    finish_item(d, item_at(d, ev, false), json_get(ev, "item"));
}

static void take_usage(struct decoder *d, const struct json *usage)
{
    const struct json *in = json_get(usage, "input_tokens_details");
    wend_ev_usage u = {.cost_nano = -1};

    if (!usage || usage->kind != JSON_OBJECT)
        return;
    u.input = wire_i64(usage, "input_tokens");
    u.output = wire_i64(usage, "output_tokens");
    u.cached = wire_i64(in, "cached_tokens");
    u.cache_write = wire_i64(in, "cache_write_tokens");
    u.reasoning =
        wire_i64(json_get(usage, "output_tokens_details"), "reasoning_tokens");
    /* Some gateways count apart what should be included. */
    if (u.input < i64_sum(u.cached, u.cache_write))
        u.input = i64_sum(u.input, i64_sum(u.cached, u.cache_write));
    if (u.output < u.reasoning)
        u.output = i64_sum(u.output, u.reasoning);
    d->sink->usage(d->sink->ctx, &u);
}

static void find_usage(struct decoder *d, const struct json *data)
{
    take_usage(d, json_get(data, "usage"));
    take_usage(d, json_get(json_get(data, "response"), "usage"));
}

/* Without earlier items, this event has the whole answer. */
static void take_output(struct decoder *d, const struct json *response)
{
    const struct responses_state *s = d->state;
    const struct json *i = json_items(json_get(response, "output"));
    int64_t index = 0;

    if (s->items_count)
        return;
    for (; i && !d->failed; i = i->next)
        finish_item(d, item_of(d, index++), i);
}

static void complete(struct decoder *d, const struct json *response,
                     const char *reason)
{
    take_output(d, response);
    if (d->failed)
        return;
    take_usage(d, json_get(response, "usage"));
    d->reason = reason;
    d->finished = d->done = true;
}

static void on_completed(struct decoder *d, const struct json *ev)
{
    complete(d, json_get(ev, "response"), "stop");
}

/* With any reason, the answer is cut. */
static void incomplete(struct decoder *d, const struct json *response)
{
    wend_str why =
        json_get_str(json_get(response, "incomplete_details"), "reason");

    complete(d, response,
             str_is(why, "content_filter") ? "content_filter" : "length");
}

static void on_incomplete(struct decoder *d, const struct json *ev)
{
    incomplete(d, json_get(ev, "response"));
}

static void failed(struct decoder *d, const struct json *response)
{
    const struct json *error = json_get(response, "error");

    take_usage(d, json_get(response, "usage"));
    if (error && error->kind == JSON_OBJECT)
        wire_fail(d, error);
    else
        wire_fail_fmt(d, "service", "the response failed without a reason");
}

static void on_failed(struct decoder *d, const struct json *ev)
{
    failed(d, json_get(ev, "response"));
}

static const struct wire_event events[] = {
    {"response.output_text.delta", on_text_delta},
    {"response.function_call_arguments.delta", on_args_delta},
    {"response.reasoning_summary_text.delta", on_thinking_delta},
    {"response.reasoning_text.delta", on_thinking_delta},
    {"response.refusal.delta", on_refusal_delta},
    {"response.output_item.added", on_item_added},
    {"response.output_text.done", on_text_done},
    {"response.function_call_arguments.done", on_args_done},
    {"response.reasoning_summary_part.added", on_summary_part},
    {"response.output_item.done", on_item_done},
    {"response.created", on_created},
    {"response.completed", on_completed},
    {"response.incomplete", on_incomplete},
    {"response.failed", on_failed},
    {"error", wire_fail},
    {NULL, NULL},
};

static void responses_end(struct decoder *d)
{
    const struct responses_state *s = d->state;

    if (s->refused && !d->calls_count && !strcmp(d->reason, "stop"))
        d->reason = "content_filter";
}

static void responses_whole(struct decoder *d, const struct json *body)
{
    wend_str status = json_get_str(body, "status");

    if (!json_get(body, "output"))
        wire_fail_fmt(d, "service", "the answer is not a response");
    else if (str_is(status, "failed"))
        failed(d, body);
    else if (str_is(status, "incomplete"))
        incomplete(d, body);
    else
        complete(d, body, "stop");
}

static void responses_free(struct decoder *d)
{
    struct responses_state *s = d->state;

    mem_free(d->mem, s->items);
    buf_free(&s->call_id);
}

/* ---- Requests ------------------------------------------------------------ */

static void put_message(struct buf *b, const char *role, wend_str text)
{
    json_key(b, NULL);
    buf_cstr(b, "{\"type\":\"message\"");
    json_add_str(b, "role", str_of(role));
    request_str(b, "content", text);
    json_close(b, '}');
}

static void put_call(struct request_writer *w, const struct msg *m,
                     const struct call *c)
{
    char room[WIRE_ID + 1];

    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function_call\"");
    request_str(w->out, "call_id", wire_call_id(w->turn, m, c, room));
    request_put_name(w->out, c->name);
    request_put_args(w->out, c);
    json_close(w->out, '}');
}

static void put_assistant(struct request_writer *w, const struct msg *m)
{
    struct parts parts;
    struct part part;

    parts_begin(&parts, w->turn, m, "responses", &w->arena);
    while ((part = parts_next(&parts)).kind != PART_END) {
        switch (part.kind) {
        case PART_TEXT: put_message(w->out, "assistant", part.text); break;
        case PART_CALL: put_call(w, m, part.call); break;
        case PART_ITEM:
            if (parts_left(&parts)) /* reasoning at the end is refused */
                json_add(w->out, NULL, json_get(part.item, "item"));
            break;
        case PART_END: break;
        }
    }
}

static void put_part_text(struct request_writer *w, wend_str text)
{
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"input_text\"");
    request_str(w->out, "text", text);
    json_close(w->out, '}');
}

static bool put_part(struct request_writer *w, const wend_ev_part *p,
                     enum media_type type, wend_str bytes)
{
    struct buf *b = w->out;

    if (type != MEDIA_IMAGE && type != MEDIA_DOCUMENT)
        return false;
    json_key(b, NULL);
    if (type == MEDIA_IMAGE) {
        buf_cstr(b, "{\"type\":\"input_image\"");
        request_data_url(b, "image_url", p, bytes);
        json_add_str(b, "detail", STR("auto"));
    } else {
        buf_cstr(b, "{\"type\":\"input_file\"");
        request_str(b, "filename", request_part_name(p));
        request_data_url(b, "file_data", p, bytes);
    }
    json_close(b, '}');
    return true;
}

static void put_said(struct request_writer *w, const struct msg *m)
{
    const char *role = m->role == ROLE_USER ? "user" : "system";

    if (!m->parts_count) {
        put_message(w->out, role, m->text);
        return;
    }
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"message\"");
    json_add_str(w->out, "role", str_of(role));
    json_open(w->out, "content", '[');
    request_put_parts(w, m);
    if (m->text.len)
        put_part_text(w, m->text);
    buf_cstr(w->out, "]}");
}

static void put_output(struct request_writer *w, const struct msg *m)
{
    if (!m->parts_count) {
        request_str(w->out, "output", m->text);
        return;
    }
    json_open(w->out, "output", '[');
    if (m->text.len)
        put_part_text(w, m->text);
    request_put_parts(w, m);
    json_close(w->out, ']');
}

static void put_result(struct request_writer *w, const struct msg *m)
{
    char room[WIRE_ID + 1];

    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function_call_output\"");
    request_str(w->out, "call_id", wire_result_id(w->turn, m, room));
    put_output(w, m);
    json_close(w->out, '}');
}

/* Not strict: the API refuses strict schemas with optional members, and tools
 * may have those. */
static void put_tool(struct request_writer *w, const struct tool *t)
{
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function\"");
    request_put_tool(w->out, t, "parameters", REQUEST_ANY_OBJECT);
    buf_cstr(w->out, ",\"strict\":false}");
}

static void put_head(struct request_writer *w)
{
    struct buf *b = w->out;
    enum effort effort = w->effort;

    buf_char(b, '{');
    request_str(b, "model", w->q->model);
    buf_cstr(b, ",\"stream\":true,\"store\":false,"
                "\"include\":[\"reasoning.encrypted_content\"]");
    if (w->q->max_tokens > 0)
        json_add_i64(b, "max_output_tokens", w->q->max_tokens);
    if (effort)
        buf_fmt(b, ",\"reasoning\":{\"effort\":\"%s\"%s}", effort_names[effort],
                effort == EFFORT_NONE ? "" : ",\"summary\":\"auto\"");
    request_put_params(w, NULL);
    if (w->turn->frame->system.len)
        json_add_str(b, "instructions", w->turn->frame->system);
    request_put_tools(w, "tools");
    if (w->schema) {
        buf_cstr(b, ",\"text\":{\"format\":{\"type\":\"json_schema\","
                    "\"name\":\"answer\"");
        json_add(b, "schema", w->schema);
        json_add_bool(b, "strict", schema_is_strict(w->schema));
        buf_cstr(b, "}}");
    }
    json_open(b, "input", '[');
}

static const struct request_form request_form = {
    .head = put_head,
    .said = put_said,
    .assistant = put_assistant,
    .result = put_result,
    .tail = request_tail,
    .tool = put_tool,
    .part = put_part,
    .part_text = put_part_text,
};

const struct codec codec_responses = {
    .name = "responses",
    .framing = SSE_EVENTS,
    .key_header = "Authorization: Bearer %s",
    .key_env = "OPENAI_API_KEY",
    .base_url = "https://api.openai.com/v1",
    .path = "/responses",
    .request = &request_form,
    .params = &params_responses,
    .state_size = sizeof(struct responses_state),
    .usage = find_usage,
    .events = events,
    .whole = responses_whole,
    .end = responses_end,
    .free = responses_free,
};

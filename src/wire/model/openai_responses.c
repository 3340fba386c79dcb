/*
 * openai_responses.c - answers of the Responses API.
 *
 * What belongs together has the same output_index; ids change from event to
 * event at some gateways. Others leave out deltas, or all but the last
 * event: an item's text and arguments are then taken from where they come
 * whole, but never twice.
 */
#include "wire/model/model.h"
#include "wire/model/parts.h"

/* Far more than any answer has: calls, reasoning before each, messages. */
enum { ITEMS_MAX = 4 * CALLS_MAX };

/* One of the answer's output items. */
struct output_item {
    int64_t index;
    int call;                  /* the sink's handle; -1: none */
    bool any_text, any_args;   /* some was told */
    bool any_thinking, opened; /* opened: the call was told */
    bool done;
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
    it = mem_more(d->mem, s->items, s->items_count, &s->items_cap, sizeof *it);
    if (!it) {
        wire_fail_nomem(d);
        return NULL;
    }
    s->items = it;
    it = &s->items[s->items_count++];
    *it = (struct output_item){.index = index, .call = -1};
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

/* Some gateways number nothing, or all alike: what begins after the end, or
 * has the id of another call, is another item. */
static struct output_item *item_at(struct decoder *d, const struct json *ev,
                                   bool begins)
{
    struct responses_state *s = d->state;
    struct output_item *it = item_in(d, ev);
    wend_str id = json_str(json_get(json_get(ev, "item"), "call_id"));

    if (!it || !it->done ||
        (id.len ? str_eq(id, buf_view(&s->call_id)) : !begins))
        return it;
    return item_new(d, it->index);
}

/* ---- Pieces -------------------------------------------------------------- */

static void give_text(struct decoder *d, struct output_item *it, wend_str piece)
{
    if (!it || it->done || !piece.len)
        return;
    it->any_text = true;
    wire_text(d, piece);
}

static void give_thinking(struct decoder *d, struct output_item *it,
                          wend_str piece)
{
    if (!it || it->done || !piece.len)
        return;
    it->any_thinking = true;
    wire_thinking(d, piece);
}

static void give_args(struct decoder *d, struct output_item *it, wend_str piece)
{
    if (!it || it->done || !it->opened || !piece.len)
        return;
    it->any_args = true;
    piece = wire_join(d, &it->args, piece);
    if (it->call >= 0)
        wire_args(d, it->call, piece);
}

static void open_call(struct decoder *d, struct output_item *it,
                      const struct json *item)
{
    struct responses_state *s = d->state;
    wend_str id = json_str(json_get(item, "call_id"));

    if (it->opened)
        return;
    it->opened = true;
    it->call = wire_call(d, id, json_str(json_get(item, "name")));
    buf_clear(&s->call_id);
    wire_keep(d, &s->call_id, id);
}

/* ---- Items that are complete --------------------------------------------- */

static void finish_message(struct decoder *d, struct output_item *it,
                           const struct json *item)
{
    struct responses_state *s = d->state;
    const struct json *c = json_items(json_get(item, "content"));
    bool streamed = it->any_text;

    for (; c; c = c->next) {
        const struct json *refusal = json_get(c, "refusal");

        s->refused |= json_str(refusal).len > 0;
        if (!streamed)
            give_text(d, it, json_str(refusal ? refusal : json_get(c, "text")));
    }
}

/* An incomplete one was cut: its arguments are not what was meant. */
static void finish_call(struct decoder *d, struct output_item *it,
                        const struct json *item)
{
    open_call(d, it, item);
    if (!it->any_args)
        give_args(d, it, json_str(json_get(item, "arguments")));
    if (it->call < 0 ||
        str_is(json_str(json_get(item, "status")), "incomplete"))
        return;
    give_args(d, it, join_rest(&it->args));
    wire_seal(d, it->call);
}

static void think_parts(struct decoder *d, struct output_item *it,
                        const struct json *list)
{
    for (const struct json *c = json_items(list); c; c = c->next) {
        wend_str text = json_str(json_get(c, "text"));

        if (text.len && it->any_thinking)
            give_thinking(d, it, STR("\n\n"));
        give_thinking(d, it, text);
    }
}

/* Nothing is stored at the server, so only what carries its content can go
 * back. Members that are null are not taken back. */
static void finish_reasoning(struct decoder *d, struct output_item *it,
                             const struct json *item)
{
    struct buf *b;

    if (!it->any_thinking)
        think_parts(d, it, json_get(item, "summary"));
    if (!it->any_thinking)
        think_parts(d, it, json_get(item, "content"));
    if (!json_str(json_get(item, "encrypted_content")).len ||
        parts_too_deep(item))
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
    wend_str type = json_str(json_get(item, "type"));

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
    give_text(d, item_in(d, ev), json_str(json_get(ev, "delta")));
}

static void on_text_done(struct decoder *d, const struct json *ev)
{
    struct output_item *it = item_in(d, ev);

    if (it && !it->any_text)
        give_text(d, it, json_str(json_get(ev, "text")));
}

static void on_refusal_delta(struct decoder *d, const struct json *ev)
{
    struct responses_state *s = d->state;

    s->refused = true;
    on_text_delta(d, ev);
}

static void on_args_delta(struct decoder *d, const struct json *ev)
{
    give_args(d, item_in(d, ev), json_str(json_get(ev, "delta")));
}

static void on_args_done(struct decoder *d, const struct json *ev)
{
    struct output_item *it = item_in(d, ev);

    if (it && !it->any_args)
        give_args(d, it, json_str(json_get(ev, "arguments")));
}

static void on_thinking_delta(struct decoder *d, const struct json *ev)
{
    give_thinking(d, item_in(d, ev), json_str(json_get(ev, "delta")));
}

/* Parts of a summary are paragraphs. */
static void on_summary_part(struct decoder *d, const struct json *ev)
{
    struct output_item *it = item_in(d, ev);

    if (it && it->any_thinking)
        give_thinking(d, it, STR("\n\n"));
}

static void on_item_added(struct decoder *d, const struct json *ev)
{
    const struct json *item = json_get(ev, "item");
    struct output_item *it = item_at(d, ev, true);

    if (!it || !str_is(json_str(json_get(item, "type")), "function_call"))
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

/* If nothing came before it, the answer is all in here. */
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

/* Whatever the reason is, the answer is not whole. */
static void incomplete(struct decoder *d, const struct json *response)
{
    wend_str why =
        json_str(json_get(json_get(response, "incomplete_details"), "reason"));

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
    wend_str status = json_str(json_get(body, "status"));

    if (!json_get(body, "output"))
        wire_fail_fmt(d, "service", "the answer is no response");
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

const struct codec codec_responses = {
    .name = "responses",
    .framing = SSE_EVENTS,
    .key_header = "Authorization: Bearer %s",
    .key_env = "OPENAI_API_KEY",
    .base_url = "https://api.openai.com/v1",
    .path = "/responses",
    .request = &responses_form,
    .state_size = sizeof(struct responses_state),
    .usage = find_usage,
    .events = events,
    .whole = responses_whole,
    .end = responses_end,
    .free = responses_free,
};

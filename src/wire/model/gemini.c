/*
 * gemini.c - answers of the Gemini API.
 *
 * Calls mostly come whole; where they stream, their arguments are put
 * together from pieces with paths (gemini_args.c) and told at their end.
 * Old models say `finishReason` in every chunk, so the last one counts, and
 * it is told when the stream is over; but an answer that was cut stays so.
 */
#include "base/utf8.h"
#include "wire/model/parts.h"

/* Bytes of a reason, and of what is said to it, in an error's message. */
enum { WORD_MAX = 64, WORDS_MAX = 512 };

/* The call that streams. */
struct gemini_state {
    bool open;
    int call; /* the sink's handle */
    size_t call_text_len, call_index;
    struct buf call_id, signature;
    struct args args;
};

/* An id that the server gave belongs to the call as a signature does. */
static void give_call_item(struct decoder *d, size_t text_len, size_t call,
                           wend_str id, wend_str signature)
{
    struct buf *item;

    if (!id.len && !signature.len)
        return;
    item = parts_item(d, text_len, call);
    json_add_bool(item, "call", true);
    parts_add_str(item, "id", id);
    parts_add_str(item, "signature", signature);
    parts_item_end(d);
}

/* ---- Calls --------------------------------------------------------------- */

/* Tells the arguments, which are in d->item. */
static void give_args(struct decoder *d, int call)
{
    if (d->item.failed)
        wire_fail_nomem(d);
    if (d->failed)
        return;
    wire_args(d, call, buf_view(&d->item));
    wire_seal(d, call);
}

/* The streamed call is complete. */
static void close_call(struct decoder *d)
{
    struct gemini_state *s = d->state;

    if (!s->open)
        return;
    s->open = false;
    give_call_item(d, s->call_text_len, s->call_index, buf_view(&s->call_id),
                   buf_view(&s->signature));
    d->item.mem = d->mem;
    buf_clear(&d->item);
    args_put(&s->args, &d->item);
    give_args(d, s->call);
    args_reset(&s->args);
}

static void open_call(struct decoder *d, wend_str id, wend_str name)
{
    struct gemini_state *s = d->state;

    buf_clear(&s->call_id);
    buf_clear(&s->signature);
    wire_keep(d, &s->call_id, id);
    s->args.arena.mem = d->mem;
    args_reset(&s->args);
    s->call_text_len = d->text_len;
    s->call_index = d->calls_count;
    s->call = wire_call(d, id, name);
    s->open = s->call >= 0;
}

static void whole_call(struct decoder *d, const struct json *call,
                       wend_str signature)
{
    static const struct json none = {.kind = JSON_OBJECT};
    const struct json *args = json_get(call, "args");
    wend_str id = json_get_str(call, "id");
    size_t index = d->calls_count;
    int handle = wire_call(d, id, json_get_str(call, "name"));

    if (handle < 0)
        return;
    give_call_item(d, d->text_len, index, id, signature);
    buf_clear(&d->item);
    wire_keep_json(d, &d->item, args && args->kind != JSON_NULL ? args : &none);
    give_args(d, handle);
}

/*
 *     {name, args}                          whole
 *     {name, willContinue:true, ...}        opens; the one before is over
 *     {partialArgs, willContinue:true}      continues
 *     {} or {partialArgs}                   ends
 */
static void take_call(struct decoder *d, const struct json *call,
                      wend_str signature)
{
    struct gemini_state *s = d->state;
    const struct json *pieces = json_get(call, "partialArgs");
    const struct json *args = json_get(call, "args");
    wend_str name = json_get_str(call, "name");
    wend_str id = json_get_str(call, "id");
    bool goes_on = json_is_true(json_get(call, "willContinue"));
    bool again = s->open && id.len && str_eq(id, buf_view(&s->call_id));

    if (name.len && !again) {
        close_call(d);
        if (args || (!goes_on && !pieces)) {
            whole_call(d, call, signature);
            return;
        }
        open_call(d, id, name);
    }
    if (!s->open) {
        /* A call it could be meant for may have been made already. */
        if ((pieces && pieces->count) || (args && args->count))
            wire_fail_fmt(d, "service", "arguments for no open call");
        return;
    }
    wire_keep(d, &s->signature, s->signature.len ? STR_NONE : signature);
    args_take(&s->args, pieces, &d->cuts);
    if (s->args.arena.failed)
        wire_fail_nomem(d);
    if (!goes_on)
        close_call(d);
}

/* ---- Chunks -------------------------------------------------------------- */

static void take_thought(struct decoder *d, wend_str text, wend_str signature)
{
    struct buf *item;

    text = wire_join(d, &d->thinking, text);
    if (text.len)
        d->sink->thinking(d->sink->ctx, text);
    if (!signature.len)
        return;
    item = parts_item_here(d);
    json_add_str(item, "thought", text.ptr ? text : STR(""));
    json_add_str(item, "signature", signature);
    parts_item_end(d);
}

static void take_text(struct decoder *d, wend_str text, wend_str signature)
{
    size_t before = d->text_len, len = wire_text(d, text);
    struct buf *item;

    if (!signature.len)
        return;
    item = parts_item(d, before, d->calls_count);
    json_add_i64(item, "len", (int64_t)len);
    json_add_str(item, "signature", signature);
    parts_item_end(d);
}

static void take_part(struct decoder *d, const struct json *part)
{
    const struct json *call = json_get(part, "functionCall");
    const struct json *text = json_get(part, "text");
    wend_str signature = json_get_str(part, "thoughtSignature");

    if (call && call->kind == JSON_OBJECT)
        take_call(d, call, signature);
    else if (json_is_true(json_get(part, "thought")))
        take_thought(d, json_str(text), signature);
    else if (text || (signature.len && part->count == 1))
        take_text(d, json_str(text), signature);
}

static void take_usage(struct decoder *d, const struct json *usage)
{
    wend_ev_usage u = {.cost_nano = -1};

    if (!usage || usage->kind != JSON_OBJECT)
        return;
    u.input = i64_sum(wire_i64(usage, "promptTokenCount"),
                      wire_i64(usage, "toolUsePromptTokenCount"));
    u.cached = wire_i64(usage, "cachedContentTokenCount");
    u.reasoning = wire_i64(usage, "thoughtsTokenCount");
    u.output = i64_sum(wire_i64(usage, "candidatesTokenCount"), u.reasoning);
    if (u.cached > u.input)
        u.input = u.cached;
    d->sink->usage(d->sink->ctx, &u);
}

static void find_usage(struct decoder *d, const struct json *data)
{
    take_usage(d, json_get(data, "usageMetadata"));
}

static const struct wire_reason reasons[] = {
    {"stop", {"STOP"}},
    {"length", {"MAX_TOKENS"}},
    {"content_filter",
     {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
      "LANGUAGE", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
      "IMAGE_RECITATION"}},
    {NULL,
     {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL",
      "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"}},
    {NULL, {NULL}},
};

static void take_reason(struct decoder *d, const struct json *candidate)
{
    struct gemini_state *s = d->state;
    wend_str word = json_get_str(candidate, "finishReason");
    wend_str message = json_get_str(candidate, "finishMessage");
    const char *reason;

    if (!word.len || str_is(word, "FINISH_REASON_UNSPECIFIED"))
        return;
    reason = wire_reason(d, word);
    if (!reason) {
        wire_fail_fmt(
            d, "service", "the answer ended with %.*s%s%.*s",
            (int)utf8_cut(word, WORD_MAX), word.ptr, message.len ? ": " : "",
            (int)utf8_cut(message, WORDS_MAX), message.ptr ? message.ptr : "");
        return;
    }
    d->finished = true;
    if (!d->reason || !strcmp(d->reason, "stop"))
        d->reason = reason;
    /* The end of the call may be missing; if none of its strings was to go
     * on, nothing else is. */
    if (s->open && !s->args.open &&
        (!strcmp(d->reason, "stop") || d->reason == d->unknown))
        close_call(d);
}

static void take_chunk(struct decoder *d, const struct json *chunk)
{
    const struct json *list = json_get(chunk, "candidates");
    const struct json *candidate = list ? list->first : NULL;
    const struct json *blocked =
        json_get(json_get(chunk, "promptFeedback"), "blockReason");
    const struct json *part =
        json_items(json_get(json_get(candidate, "content"), "parts"));

    d->own |= candidate || blocked;
    if (wire_id_changes(d, json_get_str(chunk, "responseId")))
        wire_begin_again(d);
    for (; part && !d->failed; part = part->next)
        take_part(d, part);
    if (d->failed)
        return;
    find_usage(d, chunk);
    if (candidate)
        take_reason(d, candidate);
    if (!candidate && json_str(blocked).len) {
        d->reason = "content_filter";
        d->finished = true;
    }
}

static void gemini_event(struct decoder *d, const struct json *data)
{
    if (data->kind != JSON_ARRAY)
        take_chunk(d, data);
    for (const struct json *c = json_items(data); c && !d->failed; c = c->next)
        take_chunk(d, c);
}

/* One answer, or, without alt=sse, a list of chunks. */
static void gemini_whole(struct decoder *d, const struct json *body)
{
    gemini_event(d, body);
    if (!d->finished)
        wire_fail_fmt(d, "service", "the answer is not complete");
}

static void gemini_free(struct decoder *d)
{
    struct gemini_state *s = d->state;

    buf_free(&s->call_id);
    buf_free(&s->signature);
    arena_free(&s->args.arena);
}

const struct codec codec_gemini = {
    .name = "gemini",
    .framing = SSE_EVENTS,
    .key_header = "x-goog-api-key: %s",
    .key_env = "GEMINI_API_KEY",
    .base_url = "https://generativelanguage.googleapis.com/v1beta",
    .path = "/models/%s:streamGenerateContent?alt=sse",
    .request = &gemini_form,
    .params = &params_gemini,
    .state_size = sizeof(struct gemini_state),
    .reasons = reasons,
    .usage = find_usage,
    .event = gemini_event,
    .whole = gemini_whole,
    .free = gemini_free,
};

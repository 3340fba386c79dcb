/*
 * gemini.c - answers of the Gemini API.
 *
 * Calls mostly come whole; where they stream, their arguments are put
 * together from pieces with paths (gemini_args.c) and told at their end.
 * Old models say `finishReason` in every chunk, so the last one counts, and
 * it is told when the stream is over; but an answer that was cut stays so.
 */
#include "base/utf8.h"
#include "wire/model/gemini_args.h"
#include "wire/model/model.h"
#include "wire/model/parts.h"

#define PROVIDER "gemini"

/* Bytes of a reason, and of what is said to it, in an error's message. */
enum { WORD_MAX = 64, WORDS_MAX = 512 };

struct state {
    size_t text_len, calls_count, sealed_count;
    const char *reason; /* of the newest chunk that had one */
    bool told;
    struct buf item, json;
    struct wire_id id;
    /* The call that streams. */
    bool open;
    int call; /* the sink's handle */
    size_t call_text_len, call_index;
    struct buf call_id, signature;
    struct args args;
};

static void check(struct decoder *d, const struct buf *b)
{
    if (b->failed)
        wire_fail_nomem(d);
}

static void keep(struct decoder *d, struct buf *b, wend_str s)
{
    b->mem = d->mem;
    buf_str(b, s);
    check(d, b);
}

/* ---- Items --------------------------------------------------------------- */

static void begin_item(struct decoder *d, size_t text_len, size_t calls)
{
    struct state *s = d->state;

    s->item.mem = d->mem;
    buf_clear(&s->item);
    parts_put_item(&s->item, PROVIDER, text_len, calls);
}

static void item_str(struct decoder *d, const char *key, wend_str value)
{
    struct state *s = d->state;

    if (!value.len)
        return;
    buf_fmt(&s->item, ",\"%s\":", key);
    json_put_str(&s->item, value);
}

static void give_item(struct decoder *d)
{
    struct state *s = d->state;

    buf_char(&s->item, '}');
    if (s->item.failed)
        wire_fail_nomem(d);
    else
        d->sink->opaque(d->sink->ctx, buf_view(&s->item));
}

/* An id that the server gave belongs to the call as a signature does. */
static void give_call_item(struct decoder *d, size_t text_len, size_t call,
                           wend_str id, wend_str signature)
{
    struct state *s = d->state;

    if (!id.len && !signature.len)
        return;
    begin_item(d, text_len, call);
    buf_cstr(&s->item, ",\"call\":true");
    item_str(d, "id", id);
    item_str(d, "signature", signature);
    give_item(d);
}

/* ---- Calls --------------------------------------------------------------- */

static void give_args(struct decoder *d, int call)
{
    struct state *s = d->state;

    check(d, &s->json);
    if (d->failed)
        return;
    d->sink->args(d->sink->ctx, call, buf_view(&s->json));
    d->sink->seal(d->sink->ctx, call);
    s->sealed_count++;
}

/* The streamed call is complete. */
static void close_call(struct decoder *d)
{
    struct state *s = d->state;

    if (!s->open)
        return;
    s->open = false;
    s->json.mem = d->mem;
    buf_clear(&s->json);
    args_put(&s->args, &s->json);
    give_call_item(d, s->call_text_len, s->call_index, buf_view(&s->call_id),
                   buf_view(&s->signature));
    give_args(d, s->call);
    args_reset(&s->args);
}

static void open_call(struct decoder *d, wend_str id, wend_str name)
{
    struct state *s = d->state;

    buf_clear(&s->call_id);
    buf_clear(&s->signature);
    keep(d, &s->call_id, id);
    s->args.arena.mem = d->mem;
    args_reset(&s->args);
    s->call_text_len = s->text_len;
    s->call_index = s->calls_count;
    s->call = wire_call(d, id, name);
    s->open = s->call >= 0;
    s->calls_count += s->open;
}

static void whole_call(struct decoder *d, const struct json *call,
                       wend_str signature)
{
    struct state *s = d->state;
    const struct json *args = json_get(call, "args");
    wend_str id = json_str(json_get(call, "id"));
    size_t index = s->calls_count;
    int handle;

    handle = wire_call(d, id, json_str(json_get(call, "name")));
    if (handle < 0)
        return;
    s->calls_count++;
    give_call_item(d, s->text_len, index, id, signature);
    s->json.mem = d->mem;
    buf_clear(&s->json);
    if (args && args->kind != JSON_NULL)
        json_put(&s->json, args);
    else
        buf_cstr(&s->json, "{}");
    give_args(d, handle);
}

/*
 *     {name, args}                          whole
 *     {name, willContinue:true, ...}        opens; the one before is over
 *     {partialArgs, willContinue:true}      goes on
 *     {} or {partialArgs}                   ends
 */
static void take_call(struct decoder *d, const struct json *call,
                      wend_str signature)
{
    struct state *s = d->state;
    const struct json *more = json_get(call, "willContinue");
    const struct json *pieces = json_get(call, "partialArgs");
    const struct json *args = json_get(call, "args");
    wend_str name = json_str(json_get(call, "name"));
    wend_str id = json_str(json_get(call, "id"));
    bool goes_on = more && more->kind == JSON_TRUE;
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
    keep(d, &s->signature, s->signature.len ? STR_NONE : signature);
    args_take(&s->args, pieces, &d->cuts);
    if (s->args.arena.failed)
        wire_fail_nomem(d);
    if (!goes_on)
        close_call(d);
}

/* ---- Chunks -------------------------------------------------------------- */

static void take_thought(struct decoder *d, wend_str text, wend_str signature)
{
    struct state *s = d->state;

    text = wire_join(d, &d->thinking, text);
    if (text.len)
        d->sink->thinking(d->sink->ctx, text);
    if (!signature.len)
        return;
    begin_item(d, s->text_len, s->calls_count);
    buf_cstr(&s->item, ",\"thought\":");
    json_put_str(&s->item, text.ptr ? text : STR(""));
    item_str(d, "signature", signature);
    give_item(d);
}

static void take_text(struct decoder *d, wend_str text, wend_str signature)
{
    struct state *s = d->state;
    size_t before = s->text_len;

    text.len = wire_text(d, text);
    s->text_len += text.len;
    if (!signature.len)
        return;
    begin_item(d, before, s->calls_count);
    buf_fmt(&s->item, ",\"len\":%zu", text.len);
    item_str(d, "signature", signature);
    give_item(d);
}

static void take_part(struct decoder *d, const struct json *part)
{
    const struct json *call = json_get(part, "functionCall");
    const struct json *text = json_get(part, "text");
    const struct json *thought = json_get(part, "thought");
    wend_str signature = json_str(json_get(part, "thoughtSignature"));

    if (call && call->kind == JSON_OBJECT)
        take_call(d, call, signature);
    else if (thought && thought->kind == JSON_TRUE)
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

/* NULL for a word that says that the answer is broken. */
static const char *reason_of(struct decoder *d, wend_str word)
{
    static const struct {
        const char *word, *reason;
    } reasons[] = {
        {"STOP", "stop"},
        {"MAX_TOKENS", "length"},
        {"SAFETY", "content_filter"},
        {"RECITATION", "content_filter"},
        {"BLOCKLIST", "content_filter"},
        {"PROHIBITED_CONTENT", "content_filter"},
        {"SPII", "content_filter"},
        {"LANGUAGE", "content_filter"},
        {"IMAGE_SAFETY", "content_filter"},
        {"IMAGE_PROHIBITED_CONTENT", "content_filter"},
        {"IMAGE_RECITATION", "content_filter"},
        {"MALFORMED_FUNCTION_CALL", NULL},
        {"MALFORMED_RESPONSE", NULL},
        {"UNEXPECTED_TOOL_CALL", NULL},
        {"TOO_MANY_TOOL_CALLS", NULL},
        {"MISSING_THOUGHT_SIGNATURE", NULL},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (str_is(word, reasons[i].word))
            return reasons[i].reason;
    return wire_unknown(d, word);
}

static void take_reason(struct decoder *d, const struct json *candidate)
{
    struct state *s = d->state;
    wend_str word = json_str(json_get(candidate, "finishReason"));
    wend_str message = json_str(json_get(candidate, "finishMessage"));
    const char *reason;

    if (!word.len || str_is(word, "FINISH_REASON_UNSPECIFIED"))
        return;
    reason = reason_of(d, word);
    if (!reason) {
        wire_fail_fmt(
            d, "service", "the answer ended with %.*s%s%.*s",
            (int)utf8_cut(word, WORD_MAX), word.ptr, message.len ? ": " : "",
            (int)utf8_cut(message, WORDS_MAX), message.ptr ? message.ptr : "");
        return;
    }
    d->finished = true;
    if (!s->reason || !strcmp(s->reason, "stop"))
        s->reason = reason;
    /* The end of the call may be missing; if none of its strings was to go
     * on, nothing else is. */
    if (s->open && !s->args.open &&
        (!strcmp(s->reason, "stop") || s->reason == d->unknown))
        close_call(d);
}

static void take_chunk(struct decoder *d, const struct json *chunk)
{
    struct state *s = d->state;
    const struct json *list = json_get(chunk, "candidates");
    const struct json *candidate = list ? list->first : NULL;
    const struct json *blocked =
        json_get(json_get(chunk, "promptFeedback"), "blockReason");
    const struct json *parts =
        json_get(json_get(candidate, "content"), "parts");

    d->own |= candidate || blocked;
    if (wire_id_changes(d, &s->id, json_str(json_get(chunk, "responseId"))))
        wire_begin_again(d);
    if (parts && parts->kind == JSON_ARRAY)
        for (const struct json *p = parts->first; p && !d->failed; p = p->next)
            take_part(d, p);
    if (d->failed)
        return;
    find_usage(d, chunk);
    if (candidate)
        take_reason(d, candidate);
    if (!candidate && json_str(blocked).len) {
        s->reason = "content_filter";
        d->finished = true;
    }
}

static void gemini_event(struct decoder *d, wend_str name,
                         const struct json *data)
{
    (void)name;
    if (data->kind != JSON_ARRAY) {
        take_chunk(d, data);
        return;
    }
    for (const struct json *c = data->first; c && !d->failed; c = c->next)
        take_chunk(d, c);
}

static void gemini_end(struct decoder *d)
{
    struct state *s = d->state;

    if (s->told)
        return;
    s->told = true;
    wire_rest(d);
    parts_finish(d, s->reason ? s->reason : "stop", s->calls_count,
                 s->sealed_count);
}

/* One answer, or, without alt=sse, a list of chunks. */
static void gemini_whole(struct decoder *d, const struct json *body)
{
    gemini_event(d, STR_NONE, body);
    if (d->failed)
        return;
    if (d->finished)
        gemini_end(d);
    else
        wire_fail_fmt(d, "service", "the answer is not complete");
}

static void gemini_free(struct decoder *d)
{
    struct state *s = d->state;

    buf_free(&s->item);
    buf_free(&s->json);
    buf_free(&s->id.id);
    buf_free(&s->call_id);
    buf_free(&s->signature);
    arena_free(&s->args.arena);
}

const struct codec codec_gemini = {
    .name = PROVIDER,
    .framing = SSE_EVENTS,
    .key_header = "x-goog-api-key: %s",
    .key_env = "GEMINI_API_KEY",
    .base_url = "https://generativelanguage.googleapis.com/v1beta",
    .path = gemini_path,
    .request = gemini_request,
    .state_size = sizeof(struct state),
    .usage = find_usage,
    .event = gemini_event,
    .whole = gemini_whole,
    .end = gemini_end,
    .free = gemini_free,
};

/*
 * openai_chat.c - Chat Completions, as OpenAI and its many dialects speak it.
 *
 * Servers differ in where they put thinking and usage, in what the pieces of a
 * call carry, and in how they end. Unknown members are ignored.
 */
#include "wire/model/openai.h"

struct chat_state {
    struct calls calls;
    bool thinking_back; /* servers that send reasoning_content want it again */
    struct details details;
};

/* ---- Text and thinking --------------------------------------------------- */

/* A string, or a list of parts that have one. */
static void on_thought(struct decoder *d, const struct json *thought)
{
    if (!thought)
        return;
    wire_thinking(d, json_str(thought));
    for (const struct json *p = thought->first; p; p = p->next)
        wire_thinking(d, json_str(json_get(p, "text")));
}

static void on_content(struct decoder *d, const struct json *content)
{
    wire_tagged(d, json_str(content));
    for (const struct json *p = json_items(content); p; p = p->next) {
        on_thought(d, json_get(p, "thinking"));
        wire_tagged(d, json_str(json_get(p, "text")));
        wire_text(d, json_str(json_get(p, "refusal")));
    }
}

static void on_details(struct decoder *d, const struct json *list, bool show)
{
    struct chat_state *st = d->state;

    for (const struct json *f = json_items(list); f; f = f->next) {
        if (show)
            wire_thinking(d, details_text(f));
        if (!details_add(&st->details, d, f)) {
            wire_fail_nomem(d);
            return;
        }
    }
}

/* The same thinking may stand in up to three places: the first counts. */
static void on_thinking(struct decoder *d, const struct json *delta)
{
    struct chat_state *st = d->state;
    wend_str content = json_str(json_get(delta, "reasoning_content"));
    wend_str said =
        content.len ? content : json_str(json_get(delta, "reasoning"));

    st->thinking_back |= content.ptr != NULL;
    if (said.len && d->think.at == THINK_START && !d->think.held)
        d->think.at = THINK_TEXT;
    wire_thinking(d, said);
    on_details(d, json_get(delta, "reasoning_details"), !said.len);
}

/* ---- Usage --------------------------------------------------------------- */

static int64_t first_of(int64_t a, int64_t b, int64_t c)
{
    return a ? a : b ? b : c;
}

/* From USD; -1 if absent or out of range. */
static int64_t cost_nano(const struct json *cost)
{
    double usd;

    if (!json_f64(cost, &usd) || !(usd >= 0 && usd < 1e6))
        return -1;
    return (int64_t)(usd * 1e9 + 0.5);
}

static void on_usage(struct decoder *d, const struct json *u)
{
    const struct json *in = json_get(u, "prompt_tokens_details");
    const struct json *out = json_get(u, "completion_tokens_details");
    wend_ev_usage usage = {
        .input = wire_i64(u, "prompt_tokens"),
        .output = wire_i64(u, "completion_tokens"),
        .cached = first_of(wire_i64(in, "cached_tokens"),
                           wire_i64(u, "prompt_cache_hit_tokens"),
                           wire_i64(u, "cached_tokens")),
        .reasoning = first_of(wire_i64(out, "reasoning_tokens"),
                              wire_i64(u, "reasoning_tokens"), 0),
        .cost_nano = cost_nano(json_get(u, "cost")),
        .cache_write = wire_i64(in, "cache_write_tokens"),
    };
    int64_t total = wire_i64(u, "total_tokens");
    int64_t kept = i64_sum(usage.cached, usage.cache_write);
    int64_t apart =
        i64_sum(i64_sum(usage.input, usage.output), usage.reasoning);

    if (!u || u->kind != JSON_OBJECT)
        return;
    /* Some count thinking beside the completion; the total tells. */
    if (usage.reasoning && (apart == total || usage.reasoning > usage.output))
        usage.output = i64_sum(usage.output, usage.reasoning);
    if (usage.input < kept)
        usage.input = i64_sum(usage.input, kept);
    d->sink->usage(d->sink->ctx, &usage);
}

/* At the top, in the extras of one server, or inside the choice. */
static void find_usage(struct decoder *d, const struct json *data)
{
    const struct json *choices = json_get(data, "choices");
    const struct json *places[] = {
        json_get(data, "usage"),
        json_get(json_get(data, "x_groq"), "usage"),
        json_get(choices ? choices->first : NULL, "usage"),
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && places[i]->kind == JSON_OBJECT) {
            on_usage(d, places[i]);
            return;
        }
}

/* ---- The end ------------------------------------------------------------- */

static const struct wire_reason reasons[] = {
    {"stop", "stop"},
    {"length", "length"},
    {"tool_calls", "tool_calls"},
    {"function_call", "tool_calls"},
    {"content_filter", "content_filter"},
    {"max_tokens", "length"},
    {"model_length", "length"},
    {"sensitive", "content_filter"},
    {"eos", "stop"},
    {"eos_token", "stop"},
    {"stop_sequence", "stop"},
    {"end_turn", "stop"},
    {"STOP", "stop"},
    {"tool_use", "tool_calls"},
    {"MAX_TOKENS", "length"},
    {"error", NULL},
    {"network_error", NULL},
    {"insufficient_system_resource", NULL},
    {NULL, NULL},
};

static bool is_cut(const char *finish)
{
    return str_is(str_of(finish), "length") ||
           str_is(str_of(finish), "content_filter");
}

/* Complete, and so are its calls; unless it was cut. */
static void close_calls(struct decoder *d)
{
    struct chat_state *st = d->state;

    calls_close(&st->calls, d, is_cut(d->reason));
}

static void on_finish(struct decoder *d, wend_str said)
{
    const char *meant = wire_reason(d, said);

    if (!meant) {
        wire_fail_fmt(d, "service", "the server gave up: %.*s", (int)said.len,
                      said.ptr);
        return;
    }
    d->finished = true;
    if (!d->reason || is_cut(meant)) /* a cut is not to be missed */
        d->reason = meant;
    close_calls(d);
}

/* A role with another id begins another message. Some servers send the role
 * with each piece, so that it alone says nothing. */
static void look_for_another(struct decoder *d, const struct json *data,
                             const struct json *choice)
{
    bool changes = wire_id_changes(d, json_str(json_get(data, "id")));

    if (changes && json_get(json_get(choice, "delta"), "role"))
        wire_begin_again(d);
}

static void on_choice(struct decoder *d, const struct json *choice)
{
    struct chat_state *st = d->state;
    const struct json *delta = json_get(choice, "delta"), *call, *old;
    wend_str finish = json_str(json_get(choice, "finish_reason"));

    if (!delta)
        delta = json_get(choice, "message"); /* did not stream */
    on_thinking(d, delta);
    on_content(d, json_get(delta, "content"));
    wire_text(d, json_str(json_get(delta, "refusal")));
    call = json_items(json_get(delta, "tool_calls"));
    for (; call && !d->failed; call = call->next)
        calls_add(&st->calls, d, call, json_get(call, "function"));
    old = json_get(delta, "function_call");
    if (old && old->kind == JSON_OBJECT && !d->failed)
        calls_add(&st->calls, d, NULL, old);
    if (finish.len && !d->failed)
        on_finish(d, finish);
}

/* A request asks for one choice; others are ignored. */
static void on_event(struct decoder *d, const struct json *data)
{
    const struct json *choice = json_items(json_get(data, "choices"));

    if (choice) {
        d->own = true;
        look_for_another(d, data, choice);
    }
    for (; choice && !d->failed; choice = choice->next)
        if (!wire_i64(choice, "index"))
            on_choice(d, choice);
    if (!d->failed)
        find_usage(d, data);
}

static void on_whole(struct decoder *d, const struct json *body)
{
    const struct json *choices = json_get(body, "choices");

    if (!choices || !choices->count) {
        wire_fail_fmt(d, "service", "the answer has no choices");
        return;
    }
    on_event(d, body);
    d->finished = true;
}

static void on_end(struct decoder *d)
{
    struct chat_state *st = d->state;

    close_calls(d);
    if (d->failed)
        return;
    if (!details_tell(&st->details, d)) {
        wire_fail_nomem(d);
        return;
    }
    if (st->thinking_back)
        d->sink->opaque(
            d->sink->ctx,
            STR("{\"p\":\"openai\",\"thinking\":\"reasoning_content\"}"));
}

static void on_free(struct decoder *d)
{
    struct chat_state *st = d->state;

    calls_free(&st->calls, d->mem);
    details_free(&st->details, d->mem);
}

const struct codec codec_openai = {
    .name = "openai",
    .end_mark = true,
    .framing = SSE_EVENTS,
    .key_header = "Authorization: Bearer %s",
    .key_env = "OPENAI_API_KEY",
    .base_url = "https://api.openai.com/v1",
    .path = "/chat/completions",
    .request = &openai_form,
    .state_size = sizeof(struct chat_state),
    .reasons = reasons,
    .usage = find_usage,
    .event = on_event,
    .whole = on_whole,
    .end = on_end,
    .free = on_free,
};

/*
 * openai_chat.c - Chat Completions, as OpenAI and its many dialects speak it.
 *
 * Servers differ in where thinking and usage stand, in what a call's pieces
 * carry, and in how they end; what none of them means is ignored.
 */
#include "wire/model/openai.h"
#include "wire/model/think.h"

struct state {
    struct calls calls;
    const char *finish; /* NULL: none was given */
    bool thinking_back; /* reasoning_content: such servers want it again */
    struct details details;
    struct think think;
    struct wire_id id;
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

static void add_text(struct decoder *d, wend_str piece)
{
    struct state *st = d->state;

    think_add(&st->think, d->sink, wire_join(d, &d->text, piece));
}

static void on_content(struct decoder *d, const struct json *content)
{
    if (!content)
        return;
    add_text(d, json_str(content));
    if (content->kind != JSON_ARRAY)
        return;
    for (const struct json *p = content->first; p; p = p->next) {
        on_thought(d, json_get(p, "thinking"));
        add_text(d, json_str(json_get(p, "text")));
        wire_text(d, json_str(json_get(p, "refusal")));
    }
}

static void on_details(struct decoder *d, const struct json *list, bool show)
{
    struct state *st = d->state;

    if (!list || list->kind != JSON_ARRAY)
        return;
    for (const struct json *f = list->first; f; f = f->next) {
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
    struct state *st = d->state;
    wend_str content = json_str(json_get(delta, "reasoning_content"));
    wend_str said =
        content.len ? content : json_str(json_get(delta, "reasoning"));

    st->thinking_back |= content.ptr != NULL;
    if (said.len && st->think.at == THINK_START && !st->think.held)
        st->think.at = THINK_TEXT;
    wire_thinking(d, said);
    on_details(d, json_get(delta, "reasoning_details"), !said.len);
}

/* ---- Usage --------------------------------------------------------------- */

static int64_t first_of(int64_t a, int64_t b, int64_t c)
{
    return a ? a : b ? b : c;
}

/* USD as a number; -1 if there is none that can be. */
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

/* What servers say, and what it means; without a meaning it is a failure. A
 * word that is not listed ends a whole answer, with a warning. */
static const struct {
    const char *said, *meant;
} reasons[] = {
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
};

static bool is_cut(const char *finish)
{
    return str_is(str_of(finish), "length") ||
           str_is(str_of(finish), "content_filter");
}

/* Complete, and so are its calls; unless it was cut. */
static void close_calls(struct decoder *d)
{
    struct state *st = d->state;

    calls_close(&st->calls, d, is_cut(st->finish));
}

static void on_finish(struct decoder *d, wend_str said)
{
    struct state *st = d->state;
    const size_t count = sizeof reasons / sizeof *reasons;
    const char *meant;
    size_t i = 0;

    while (i < count && !str_is(said, reasons[i].said))
        i++;
    meant = i < count ? reasons[i].meant : wire_unknown(d, said);
    if (!meant) {
        wire_fail_fmt(d, "service", "the server gave up: %.*s", (int)said.len,
                      said.ptr);
        return;
    }
    d->finished = true;
    if (!st->finish || is_cut(meant)) /* a cut is not to be missed */
        st->finish = meant;
    close_calls(d);
}

/* A role with another id begins another message. Some servers send the role
 * with each piece, so that it alone says nothing. */
static void look_for_another(struct decoder *d, const struct json *data,
                             const struct json *choice)
{
    struct state *st = d->state;
    bool changes = wire_id_changes(d, &st->id, json_str(json_get(data, "id")));

    if (changes && json_get(json_get(choice, "delta"), "role"))
        wire_begin_again(d);
}

static void on_choice(struct decoder *d, const struct json *choice)
{
    struct state *st = d->state;
    const struct json *delta = json_get(choice, "delta"), *calls, *old;
    wend_str finish = json_str(json_get(choice, "finish_reason"));

    if (!delta)
        delta = json_get(choice, "message"); /* did not stream */
    on_thinking(d, delta);
    on_content(d, json_get(delta, "content"));
    wire_text(d, json_str(json_get(delta, "refusal")));
    calls = json_get(delta, "tool_calls");
    if (calls && calls->kind == JSON_ARRAY)
        for (const struct json *c = calls->first; c && !d->failed; c = c->next)
            calls_add(&st->calls, d, c, json_get(c, "function"));
    old = json_get(delta, "function_call");
    if (old && old->kind == JSON_OBJECT && !d->failed)
        calls_add(&st->calls, d, NULL, old);
    if (finish.len && !d->failed)
        on_finish(d, finish);
}

/* Of several choices only the first one was asked for. */
static void on_event(struct decoder *d, wend_str name, const struct json *data)
{
    const struct json *choices = json_get(data, "choices");

    (void)name;
    if (choices && choices->kind == JSON_ARRAY && choices->first) {
        d->own = true;
        look_for_another(d, data, choices->first);
    }
    if (choices && choices->kind == JSON_ARRAY)
        for (const struct json *c = choices->first; c && !d->failed;
             c = c->next)
            if (!wire_i64(c, "index"))
                on_choice(d, c);
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
    on_event(d, STR(""), body);
    d->finished = true;
}

static void on_end(struct decoder *d)
{
    struct state *st = d->state;
    const char *finish = st->finish ? st->finish : "stop";

    think_add(&st->think, d->sink, join_rest(&d->text));
    think_end(&st->think, d->sink);
    wire_rest(d);
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
    if (str_is(str_of(finish), "stop") && st->calls.count)
        finish = "tool_calls";
    else if (str_is(str_of(finish), "tool_calls") && !st->calls.count)
        finish = "stop";
    wire_finish(d, finish);
}

static void on_free(struct decoder *d)
{
    struct state *st = d->state;

    calls_free(&st->calls, d->mem);
    details_free(&st->details, d->mem);
    buf_free(&st->id.id);
}

const struct codec codec_openai = {
    .name = "openai",
    .end_mark = true,
    .framing = SSE_EVENTS,
    .key_header = "Authorization: Bearer %s",
    .key_env = "OPENAI_API_KEY",
    .base_url = "https://api.openai.com/v1",
    .path = openai_path,
    .request = openai_request,
    .state_size = sizeof(struct state),
    .usage = find_usage,
    .event = on_event,
    .whole = on_whole,
    .end = on_end,
    .free = on_free,
};

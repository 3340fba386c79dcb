/*
 * openai_chat.c - Chat Completions, as OpenAI and its many dialects speak it.
 *
 * Servers differ in where they put thinking and usage, in what the pieces of a
 * call carry, and in how they end. Unknown members are ignored.
 *
 * Members that must be sent back with a message are kept as opaque items:
 *
 *     {"p":"openai","detail":{...}}       one entry of reasoning_details
 *     {"p":"openai","thinking":"FIELD"}   the thinking, by that name
 */
#include "wire/model/parts.h"

/* An entry of reasoning_details. Some servers want the reasoning of a message
 * again, entry by entry as the model gave it. It streams in fragments that
 * repeat their type and index: texts are joined, any other member is kept as it
 * was last said. */
struct thinking_detail {
    int64_t index;
    struct buf type;
    const char *text_key; /* which member grows; NULL: none yet */
    struct buf text;
    struct join join; /* of the text's pieces */
    struct buf rest;  /* an object of all other members; empty: none */
};

struct details {
    struct thinking_detail *list;
    size_t count, cap;
};

struct chat_state {
    struct calls calls;
    bool thinking_back; /* servers that send reasoning_content want it again */
    struct details details;
};

/* ---- Reasoning that goes back -------------------------------------------- */

static const char *const growing[] = {"text", "summary", NULL};

static const char *growing_key(wend_str key)
{
    const char *const *k = growing;

    while (*k && !str_is(key, *k))
        k++;
    return *k;
}

static bool counts(const struct json *m)
{
    return m->kind != JSON_NULL && !growing_key(m->key);
}

/* The member of that key that says something, or NULL. */
static const struct json *find(const struct json *object, wend_str key)
{
    const struct json *m = object ? object->first : NULL;

    while (m && !(str_eq(m->key, key) && counts(m)))
        m = m->next;
    return m;
}

/* Fragments mostly repeat themselves: then nothing is to do. */
static void merge(struct thinking_detail *d, const struct json *fragment,
                  struct arena *scratch)
{
    struct buf said = {.mem = d->rest.mem}, merged = {.mem = d->rest.mem};
    const struct json *old = NULL, *newer;

    json_open(&said, NULL, '{');
    for (const struct json *m = fragment->first; m; m = m->next)
        if (counts(m))
            json_add_pair(&said, m->key, m);
    json_close(&said, '}');
    if (said.failed || str_eq(buf_view(&said), buf_view(&d->rest)))
        goto done;
    if (d->rest.len)
        old = json_parse(buf_view(&d->rest), scratch, NULL);
    json_open(&merged, NULL, '{');
    for (const struct json *m = old ? old->first : NULL; m; m = m->next) {
        newer = find(fragment, m->key);
        json_add_pair(&merged, m->key, newer ? newer : m);
    }
    for (const struct json *m = fragment->first; m; m = m->next)
        if (counts(m) && !find(old, m->key))
            json_add_pair(&merged, m->key, m);
    json_close(&merged, '}');
    said.failed |= merged.failed;
    buf_free(&d->rest);
    d->rest = merged;
done:
    d->rest.failed |= said.failed;
    buf_free(&said);
}

/* Encrypted entries come whole; others continue while type and index stay. */
static bool goes_on(const struct thinking_detail *d, wend_str type,
                    int64_t index)
{
    return str_eq(buf_view(&d->type), type) && d->index == index &&
           !str_is(type, "reasoning.encrypted");
}

/* The text of a fragment for people to read; absent if it has none. */
static wend_str details_text(const struct json *fragment)
{
    wend_str s = STR_NONE;

    for (const char *const *k = growing; *k && !s.len; k++)
        s = json_get_str(fragment, *k);
    return s;
}

/* False: out of memory. */
static bool details_add(struct details *ds, struct decoder *d,
                        const struct json *fragment)
{
    wend_str type = json_get_str(fragment, "type");
    int64_t index = wire_i64(fragment, "index");
    struct thinking_detail *e = ds->count ? &ds->list[ds->count - 1] : NULL;

    if (fragment->kind != JSON_OBJECT || !fragment->count)
        return true;
    if (!e || !goes_on(e, type, index)) {
        e = mem_add(d->mem, &ds->list, &ds->count, &ds->cap, sizeof *e);
        if (!e)
            return false;
        e->type.mem = e->text.mem = e->rest.mem = d->mem;
        e->index = index;
        buf_str(&e->type, type);
    }
    for (const struct json *j = fragment->first; j; j = j->next)
        if (growing_key(j->key) && j->kind == JSON_STRING) {
            e->text_key = growing_key(j->key);
            buf_str(&e->text, wire_join(d, &e->join, j->text));
        }
    merge(e, fragment, &d->scratch);
    return !e->type.failed && !e->text.failed && !e->rest.failed &&
           !d->scratch.failed;
}

/* Tells the sink of all of them. */
static bool details_tell(struct details *ds, struct decoder *d)
{
    struct buf *b = &d->item;

    b->mem = d->mem;
    for (size_t i = 0; i < ds->count && !b->failed; i++) {
        struct thinking_detail *e = &ds->list[i];

        buf_str(&e->text, join_rest(&e->join));
        buf_clear(b);
        buf_cstr(b, "{\"p\":\"openai\",\"detail\":");
        buf_add(b, buf_view(&e->rest).ptr, e->rest.len - 1); /* still open */
        if (e->text_key)
            json_add_str(b, e->text_key, buf_view(&e->text));
        buf_cstr(b, "}}");
        b->failed |= e->text.failed;
        if (!b->failed)
            d->sink->opaque(d->sink->ctx, buf_view(b));
    }
    return !b->failed;
}

static void details_free(struct details *ds, const struct mem *m)
{
    for (size_t i = 0; i < ds->count; i++) {
        buf_free(&ds->list[i].type);
        buf_free(&ds->list[i].text);
        buf_free(&ds->list[i].rest);
    }
    mem_free(m, ds->list);
}

/* ---- Text and thinking --------------------------------------------------- */

/* A string, or a list of parts that have one. */
static void on_thought(struct decoder *d, const struct json *thought)
{
    if (!thought)
        return;
    wire_thinking(d, json_str(thought));
    for (const struct json *p = thought->first; p; p = p->next)
        wire_thinking(d, json_get_str(p, "text"));
}

static void on_content(struct decoder *d, const struct json *content)
{
    wire_tagged(d, json_str(content));
    for (const struct json *p = json_items(content); p; p = p->next) {
        on_thought(d, json_get(p, "thinking"));
        wire_tagged(d, json_get_str(p, "text"));
        wire_text(d, json_get_str(p, "refusal"));
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
    wend_str content = json_get_str(delta, "reasoning_content");
    wend_str said = content.len ? content : json_get_str(delta, "reasoning");

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
    {"stop", {"stop", "eos", "eos_token", "stop_sequence", "end_turn", "STOP"}},
    {"length", {"length", "max_tokens", "model_length", "MAX_TOKENS"}},
    {"tool_calls", {"tool_calls", "function_call", "tool_use"}},
    {"content_filter", {"content_filter", "sensitive"}},
    {NULL, {"error", "network_error", "insufficient_system_resource"}},
    {NULL, {NULL}},
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
    bool changes = wire_id_changes(d, json_get_str(data, "id"));

    if (changes && json_get(json_get(choice, "delta"), "role"))
        wire_begin_again(d);
}

static void on_choice(struct decoder *d, const struct json *choice)
{
    struct chat_state *st = d->state;
    const struct json *delta = json_get(choice, "delta"), *call, *old;
    wend_str finish = json_get_str(choice, "finish_reason");

    if (!delta)
        delta = json_get(choice, "message"); /* did not stream */
    on_thinking(d, delta);
    on_content(d, json_get(delta, "content"));
    wire_text(d, json_get_str(delta, "refusal"));
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
    .params = &params_openai,
    .state_size = sizeof(struct chat_state),
    .reasons = reasons,
    .usage = find_usage,
    .event = on_event,
    .whole = on_whole,
    .end = on_end,
    .free = on_free,
};

/*
 * anthropic.c - answers of the Messages API.
 *
 * Thinking blocks with a signature, and redacted ones, are kept and sent back
 * unchanged; the server refuses those without a signature, so they are dropped.
 * Blocks of tools that the server runs itself are kept, too: it resumes a
 * paused message only if it gets them back.
 */
#include "wire/model/model.h"
#include "wire/model/parts.h"

enum { BLOCKS_OPEN_MAX = 16 }; /* at once; real servers have one */

enum block_kind { BLOCK_FREE, BLOCK_THINKING, BLOCK_TOOL, BLOCK_OTHER };

/* Blocks whose end matters. Text needs no memory. */
struct content_block {
    enum block_kind kind;
    int64_t index;
    int call;             /* the sink's handle */
    bool any_args;        /* a piece of arguments was seen */
    struct join join;     /* of what comes in pieces */
    struct buf text;      /* thinking; input that came with the start of a
                             tool's; the whole start of another's */
    struct buf signature; /* of thinking; the pieces of another's input */
};

struct anthropic_state {
    struct content_block blocks[BLOCKS_OPEN_MAX];
    struct buf id;
    int64_t input, created, cached, output, reasoning;
    bool begun; /* message_start was seen */
    /* A call without any arguments is not sealed before something follows:
     * at the output limit it is a call that was cut. */
    bool holds;
    int held;
};

static void release(struct decoder *d)
{
    struct anthropic_state *s = d->state;

    if (s->holds)
        wire_seal(d, s->held);
    s->holds = false;
}

static struct content_block *find_block(struct anthropic_state *s,
                                        const struct json *ev)
{
    int64_t index = wire_i64(ev, "index");

    for (size_t i = 0; i < BLOCKS_OPEN_MAX; i++)
        if (s->blocks[i].kind != BLOCK_FREE && s->blocks[i].index == index)
            return &s->blocks[i];
    return NULL;
}

static void close_block(struct content_block *b)
{
    b->kind = BLOCK_FREE;
    buf_clear(&b->text);
    buf_clear(&b->signature);
}

/* A block that begins where one is open takes its place. */
static struct content_block *
open_block(struct decoder *d, const struct json *ev, enum block_kind kind)
{
    struct anthropic_state *s = d->state;
    struct content_block *b = find_block(s, ev);

    for (size_t i = 0; !b && i < BLOCKS_OPEN_MAX; i++)
        if (s->blocks[i].kind == BLOCK_FREE)
            b = &s->blocks[i];
    if (!b) {
        wire_fail_fmt(d, "service", "more than %d content blocks at once",
                      BLOCKS_OPEN_MAX);
        return NULL;
    }
    close_block(b);
    b->kind = kind;
    b->index = wire_i64(ev, "index");
    b->call = -1;
    b->any_args = false;
    b->join = (struct join){0};
    return b;
}

static void give_args(struct decoder *d, struct content_block *b,
                      wend_str piece)
{
    if (!piece.len)
        return;
    b->any_args = true;
    wire_args(d, b->call, wire_join(d, &b->join, piece));
}

static void give_thinking(struct decoder *d, struct content_block *b,
                          wend_str piece)
{
    if (b) {
        piece = wire_join(d, &b->join, piece);
        wire_keep(d, &b->text, piece);
    }
    wire_thinking(d, piece);
}

static void start_tool(struct decoder *d, const struct json *ev,
                       const struct json *content)
{
    const struct json *input = json_get(content, "input");
    wend_str id = json_get_str(content, "id");
    wend_str name = json_get_str(content, "name");
    struct content_block *b = open_block(d, ev, BLOCK_TOOL);

    if (!b)
        return;
    b->call = wire_call(d, id, name);
    /* Some servers give the input here and no pieces. */
    if (b->call >= 0 && input && input->count)
        wire_keep_json(d, &b->text, input);
}

static void start_thinking(struct decoder *d, const struct json *ev,
                           const struct json *content)
{
    struct content_block *b = open_block(d, ev, BLOCK_THINKING);

    if (!b)
        return;
    give_thinking(d, b, json_get_str(content, "thinking"));
    wire_keep(d, &b->signature, json_get_str(content, "signature"));
}

static void start_redacted(struct decoder *d, const struct json *ev,
                           const struct json *content)
{
    const struct json *data = json_get(content, "data");

    (void)ev;
    if (!json_str(data).len)
        return;
    json_add(parts_item_here(d), "redacted_thinking", data);
    parts_item_end(d);
}

static void start_other(struct decoder *d, const struct json *ev,
                        const struct json *content)
{
    struct content_block *b =
        parts_too_deep(content) ? NULL : open_block(d, ev, BLOCK_OTHER);

    if (b)
        wire_keep_json(d, &b->text, content);
}

static void start_text(struct decoder *d, const struct json *ev,
                       const struct json *content)
{
    (void)ev;
    wire_text(d, json_get_str(content, "text"));
}

static void on_block_start(struct decoder *d, const struct json *ev)
{
    static const struct {
        const char *type;
        void (*fn)(struct decoder *d, const struct json *ev,
                   const struct json *content);
    } kinds[] = {
        {"text", start_text},
        {"tool_use", start_tool},
        {"thinking", start_thinking},
        {"redacted_thinking", start_redacted},
        {"server_tool_use", start_other},
        {"mcp_tool_use", start_other},
    };
    const struct json *content = json_get(ev, "content_block");
    wend_str type = json_get_str(content, "type");
    struct content_block *b = find_block(d->state, ev);

    release(d);
    if (b) /* its pieces must not go to the one before it */
        close_block(b);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(type, kinds[i].type))
            kinds[i].fn(d, ev, content);
    if (str_ends(type, "_tool_result")) /* of web_search, mcp ...: whole */
        start_other(d, ev, content);
}

static void on_block_delta(struct decoder *d, const struct json *ev)
{
    const struct json *delta = json_get(ev, "delta");
    wend_str type = json_get_str(delta, "type");
    struct content_block *b;

    if (str_is(type, "text_delta")) {
        wire_text(d, json_get_str(delta, "text"));
        return;
    }
    b = find_block(d->state, ev);
    if (b && b->kind == BLOCK_TOOL && str_is(type, "input_json_delta"))
        give_args(d, b, json_get_str(delta, "partial_json"));
    if (b && b->kind == BLOCK_OTHER && str_is(type, "input_json_delta"))
        wire_keep(d, &b->signature,
                  wire_join(d, &b->join, json_get_str(delta, "partial_json")));
    if (b && b->kind != BLOCK_THINKING)
        return;
    if (str_is(type, "thinking_delta"))
        give_thinking(d, b, json_get_str(delta, "thinking"));
    else if (b && str_is(type, "signature_delta"))
        wire_keep(d, &b->signature, json_get_str(delta, "signature"));
}

static void stop_tool(struct decoder *d, struct content_block *b)
{
    struct anthropic_state *s = d->state;

    release(d);
    if (!b->any_args)
        give_args(d, b, buf_view(&b->text));
    give_args(d, b, join_rest(&b->join));
    if (b->any_args) {
        wire_seal(d, b->call);
        return;
    }
    s->holds = true;
    s->held = b->call;
}

static void stop_thinking(struct decoder *d, struct content_block *b)
{
    struct buf *item;

    give_thinking(d, b, join_rest(&b->join));
    if (!b->signature.len)
        return;
    item = parts_item_here(d);
    json_add_str(item, "thinking", buf_view(&b->text));
    json_add_str(item, "signature", buf_view(&b->signature));
    parts_item_end(d);
}

/* Input that came in pieces takes the place of the empty one. */
static void stop_other(struct decoder *d, struct content_block *b)
{
    const struct json *start =
        json_parse(buf_view(&b->text), &d->scratch, NULL);
    const struct json *input = NULL;
    struct buf *item;

    wire_keep(d, &b->signature, join_rest(&b->join));
    if (b->signature.len)
        input = json_parse(buf_view(&b->signature), &d->scratch, NULL);
    if (!start || (b->signature.len && (!input || parts_too_deep(input))))
        return; /* no memory is seen in the scratch */
    item = parts_item_here(d);
    json_open(item, "block", '{');
    for (const struct json *m = start->first; m; m = m->next)
        json_add_pair(item, m->key,
                      input && str_is(m->key, "input") ? input : m);
    json_close(item, '}');
    parts_item_end(d);
}

static void on_block_stop(struct decoder *d, const struct json *ev)
{
    struct content_block *b = find_block(d->state, ev);

    if (!b)
        return;
    switch (b->kind) {
    case BLOCK_TOOL: stop_tool(d, b); break;
    case BLOCK_THINKING: stop_thinking(d, b); break;
    case BLOCK_OTHER: stop_other(d, b); break;
    case BLOCK_FREE: break;
    }
    close_block(b);
}

/* Counts are cumulative: what a later event has replaces what was known,
 * what it has not stays. */
static void read_count(const struct json *usage, const char *key, int64_t *out)
{
    int64_t n;

    if (json_i64(json_get(usage, key), &n) && n >= 0)
        *out = n;
}

static void take_usage(struct decoder *d, const struct json *usage)
{
    struct anthropic_state *s = d->state;
    wend_ev_usage u = {.cost_nano = -1};

    if (!usage || usage->kind != JSON_OBJECT)
        return;
    read_count(usage, "input_tokens", &s->input);
    read_count(usage, "cache_creation_input_tokens", &s->created);
    read_count(usage, "cache_read_input_tokens", &s->cached);
    read_count(usage, "output_tokens", &s->output);
    read_count(json_get(usage, "output_tokens_details"), "thinking_tokens",
               &s->reasoning);
    u.input = i64_sum(i64_sum(s->input, s->created), s->cached);
    u.cached = s->cached;
    u.cache_write = s->created;
    u.output = s->output;
    u.reasoning = s->reasoning < s->output ? s->reasoning : s->output;
    d->sink->usage(d->sink->ctx, &u);
}

/* An error may stand beside it. */
static void find_usage(struct decoder *d, const struct json *data)
{
    take_usage(d, json_get(data, "usage"));
    take_usage(d, json_get(json_get(data, "message"), "usage"));
}

/* Everything but the memory of the buffers. */
static void begin_again(struct decoder *d)
{
    struct anthropic_state *s = d->state;

    for (size_t i = 0; i < BLOCKS_OPEN_MAX; i++)
        close_block(&s->blocks[i]);
    buf_clear(&s->id);
    d->text_len = d->calls_count = d->sealed_count = 0;
    s->input = s->created = s->cached = s->output = s->reasoning = 0;
    s->begun = s->holds = false;
    d->reason = NULL;
    d->finished = false;
    d->sink->restart(d->sink->ctx);
}

/* Proxies repeat the start of a message, which means nothing before the first
 * piece, or put a new message into an unfinished one. */
static void on_message_start(struct decoder *d, const struct json *ev)
{
    struct anthropic_state *s = d->state;
    const struct json *message = json_get(ev, "message");
    wend_str id = json_get_str(message, "id");

    if (s->begun && (!wire_begin_again(d) || str_eq(buf_view(&s->id), id)))
        return;
    if (s->begun)
        begin_again(d);
    s->begun = true;
    wire_keep(d, &s->id, id);
    take_usage(d, json_get(message, "usage"));
}

static const struct wire_reason reasons[] = {
    {"stop", {"end_turn", "stop_sequence"}},
    {"pause", {"pause_turn"}},
    {"tool_calls", {"tool_use"}},
    {"length", {"max_tokens", "model_context_window_exceeded"}},
    {"content_filter", {"refusal"}},
    {NULL, {NULL}},
};

/* The first reason counts. It is told when the stream is over. */
static void take_reason(struct decoder *d, const char *reason)
{
    if (d->reason)
        return;
    d->reason = reason;
    d->finished = true;
    if (strcmp(reason, "length") != 0)
        release(d);
}

static void on_message_delta(struct decoder *d, const struct json *ev)
{
    const struct json *delta = json_get(ev, "delta");
    wend_str word = json_get_str(delta, "stop_reason");

    take_usage(d, json_get(ev, "usage"));
    if (word.len)
        take_reason(d, wire_reason(d, word));
}

static void on_message_stop(struct decoder *d, const struct json *ev)
{
    (void)ev;
    take_reason(d, "stop");
    d->done = true; /* what a proxy adds is not of this answer */
}

static const struct wire_event events[] = {
    {"content_block_delta", on_block_delta},
    {"content_block_start", on_block_start},
    {"content_block_stop", on_block_stop},
    {"message_start", on_message_start},
    {"message_delta", on_message_delta},
    {"message_stop", on_message_stop},
    {"error", wire_fail},
    {NULL, NULL},
};

static void anthropic_whole(struct decoder *d, const struct json *body)
{
    const struct json *content = json_get(body, "content");
    wend_str word = json_get_str(body, "stop_reason");

    if (!content || content->kind != JSON_ARRAY) {
        wire_fail_fmt(d, "service", "the answer is not a message");
        return;
    }
    for (const struct json *c = content->first; c && !d->failed; c = c->next) {
        struct json block = *c, ev = {.kind = JSON_OBJECT, .first = &block};

        block.key = STR("content_block");
        block.next = NULL;
        on_block_start(d, &ev);
        on_block_stop(d, &ev);
    }
    if (d->failed)
        return;
    take_usage(d, json_get(body, "usage"));
    take_reason(d, wire_reason(d, word.len ? word : STR("end_turn")));
}

static void anthropic_free(struct decoder *d)
{
    struct anthropic_state *s = d->state;

    for (size_t i = 0; i < BLOCKS_OPEN_MAX; i++) {
        buf_free(&s->blocks[i].text);
        buf_free(&s->blocks[i].signature);
    }
    buf_free(&s->id);
}

static const char *const anthropic_headers[] = {
    "anthropic-version: 2023-06-01",
    NULL,
};

const struct codec codec_anthropic = {
    .name = "anthropic",
    .framing = SSE_EVENTS,
    .key_header = "x-api-key: %s",
    .headers = anthropic_headers,
    .key_env = "ANTHROPIC_API_KEY",
    .base_url = "https://api.anthropic.com/v1",
    .path = "/messages",
    .request = &anthropic_form,
    .params = &params_anthropic,
    .output_tokens = anthropic_output_tokens,
    .state_size = sizeof(struct anthropic_state),
    .reasons = reasons,
    .usage = find_usage,
    .events = events,
    .whole = anthropic_whole,
    .free = anthropic_free,
};

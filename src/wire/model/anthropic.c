/*
 * anthropic.c - answers of the Messages API.
 *
 * Thinking blocks with their signatures, and redacted ones, are kept to go
 * back as they came; one without a signature would be refused and is not.
 * So are the blocks of tools that the server runs itself: a message that is
 * paused among them goes on only if it gets them back.
 */
#include "wire/model/model.h"
#include "wire/model/parts.h"

enum { BLOCKS_OPEN_MAX = 16 }; /* at once; real servers have one */

#define PROVIDER "anthropic"

enum block_kind { BLOCK_FREE, BLOCK_THINKING, BLOCK_TOOL, BLOCK_OTHER };

/* Blocks whose end matters. Text needs no memory. */
struct block {
    enum block_kind kind;
    int64_t index;
    int call;             /* the sink's handle */
    bool any_args;        /* a piece of arguments was seen */
    struct join join;     /* of what comes in pieces */
    struct buf text;      /* thinking; input that came with the start of a
                             tool's; the whole start of another's */
    struct buf signature; /* of thinking; the pieces of another's input */
};

struct state {
    struct block blocks[BLOCKS_OPEN_MAX];
    struct buf id, item;
    size_t text_len, calls_count, sealed_count;
    int64_t input, created, cached, output, reasoning;
    bool begun, told; /* message_start was seen; finish was called */
    const char *reason;
    /* A call without any arguments is not sealed before something follows:
     * at the output limit it is a call that was cut. */
    bool holds;
    int held;
};

static void keep(struct decoder *d, struct buf *b, wend_str s)
{
    if (!b->mem)
        b->mem = d->mem;
    buf_str(b, s);
    if (b->failed)
        wire_fail_nomem(d);
}

static void seal(struct decoder *d, int call)
{
    struct state *s = d->state;

    s->sealed_count++;
    d->sink->seal(d->sink->ctx, call);
}

static void release(struct decoder *d)
{
    struct state *s = d->state;

    if (s->holds)
        seal(d, s->held);
    s->holds = false;
}

static void give_text(struct decoder *d, const struct json *text)
{
    struct state *s = d->state;

    s->text_len += wire_text(d, json_str(text));
}

static struct block *find_block(struct state *s, const struct json *ev)
{
    int64_t index = wire_i64(ev, "index");

    for (size_t i = 0; i < BLOCKS_OPEN_MAX; i++)
        if (s->blocks[i].kind != BLOCK_FREE && s->blocks[i].index == index)
            return &s->blocks[i];
    return NULL;
}

static void close_block(struct block *b)
{
    b->kind = BLOCK_FREE;
    buf_clear(&b->text);
    buf_clear(&b->signature);
}

/* A block that begins where one is open takes its place. */
static struct block *open_block(struct decoder *d, const struct json *ev,
                                enum block_kind kind)
{
    struct state *s = d->state;
    struct block *b = find_block(s, ev);

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

static void give_args(struct decoder *d, struct block *b, wend_str piece)
{
    if (!piece.len)
        return;
    b->any_args = true;
    piece = wire_join(d, &b->join, piece);
    if (piece.len)
        d->sink->args(d->sink->ctx, b->call, piece);
}

static void give_thinking(struct decoder *d, struct block *b, wend_str piece)
{
    if (b) {
        piece = wire_join(d, &b->join, piece);
        keep(d, &b->text, piece);
    }
    wire_thinking(d, piece);
}

static void start_tool(struct decoder *d, const struct json *ev,
                       const struct json *content)
{
    const struct json *input = json_get(content, "input");
    wend_str id = json_str(json_get(content, "id"));
    wend_str name = json_str(json_get(content, "name"));
    struct block *b = open_block(d, ev, BLOCK_TOOL);
    struct state *s = d->state;

    if (!b)
        return;
    b->call = wire_call(d, id, name);
    if (b->call < 0)
        return;
    s->calls_count++;
    /* Some servers give the input here and no pieces. */
    if (input && input->count) {
        keep(d, &b->text, STR_NONE);
        json_put(&b->text, input);
        if (b->text.failed)
            wire_fail_nomem(d);
    }
}

static void start_thinking(struct decoder *d, const struct json *ev,
                           const struct json *content)
{
    struct block *b = open_block(d, ev, BLOCK_THINKING);

    if (!b)
        return;
    give_thinking(d, b, json_str(json_get(content, "thinking")));
    keep(d, &b->signature, json_str(json_get(content, "signature")));
}

static void give_item(struct decoder *d)
{
    struct state *s = d->state;

    if (s->item.failed)
        wire_fail_nomem(d);
    else
        d->sink->opaque(d->sink->ctx, buf_view(&s->item));
}

static void begin_item(struct decoder *d)
{
    struct state *s = d->state;

    s->item.mem = d->mem;
    buf_clear(&s->item);
    parts_put_item(&s->item, PROVIDER, s->text_len, s->calls_count);
}

static void start_redacted(struct decoder *d, const struct json *ev,
                           const struct json *content)
{
    struct state *s = d->state;
    const struct json *data = json_get(content, "data");

    (void)ev;
    if (!json_str(data).len)
        return;
    begin_item(d);
    buf_cstr(&s->item, ",\"redacted_thinking\":");
    json_put(&s->item, data);
    buf_char(&s->item, '}');
    give_item(d);
}

static void start_other(struct decoder *d, const struct json *ev,
                        const struct json *content)
{
    struct block *b =
        parts_too_deep(content) ? NULL : open_block(d, ev, BLOCK_OTHER);

    if (!b)
        return;
    keep(d, &b->text, STR_NONE);
    json_put(&b->text, content);
    if (b->text.failed)
        wire_fail_nomem(d);
}

static void start_text(struct decoder *d, const struct json *ev,
                       const struct json *content)
{
    (void)ev;
    give_text(d, json_get(content, "text"));
}

/* web_search_tool_result, mcp_tool_result ... come whole. */
static bool is_result(wend_str type)
{
    wend_str end = STR("_tool_result");

    return type.len > end.len &&
           !memcmp(type.ptr + type.len - end.len, end.ptr, end.len);
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
    wend_str type = json_str(json_get(content, "type"));
    struct block *b = find_block(d->state, ev);

    release(d);
    if (b) /* its pieces must not go to the one before it */
        close_block(b);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(type, kinds[i].type))
            kinds[i].fn(d, ev, content);
    if (is_result(type))
        start_other(d, ev, content);
}

static void on_block_delta(struct decoder *d, const struct json *ev)
{
    const struct json *delta = json_get(ev, "delta");
    wend_str type = json_str(json_get(delta, "type"));
    struct block *b;

    if (str_is(type, "text_delta")) {
        give_text(d, json_get(delta, "text"));
        return;
    }
    b = find_block(d->state, ev);
    if (b && b->kind == BLOCK_TOOL && str_is(type, "input_json_delta"))
        give_args(d, b, json_str(json_get(delta, "partial_json")));
    if (b && b->kind == BLOCK_OTHER && str_is(type, "input_json_delta"))
        keep(d, &b->signature,
             wire_join(d, &b->join, json_str(json_get(delta, "partial_json"))));
    if (b && b->kind != BLOCK_THINKING)
        return;
    if (str_is(type, "thinking_delta"))
        give_thinking(d, b, json_str(json_get(delta, "thinking")));
    else if (b && str_is(type, "signature_delta"))
        keep(d, &b->signature, json_str(json_get(delta, "signature")));
}

static void stop_tool(struct decoder *d, struct block *b)
{
    struct state *s = d->state;

    release(d);
    if (!b->any_args)
        give_args(d, b, buf_view(&b->text));
    give_args(d, b, join_rest(&b->join));
    if (b->any_args) {
        seal(d, b->call);
        return;
    }
    s->holds = true;
    s->held = b->call;
}

static void stop_thinking(struct decoder *d, struct block *b)
{
    struct state *s = d->state;

    give_thinking(d, b, join_rest(&b->join));
    if (!b->signature.len)
        return;
    begin_item(d);
    buf_cstr(&s->item, ",\"thinking\":");
    json_put_str(&s->item, buf_view(&b->text));
    buf_cstr(&s->item, ",\"signature\":");
    json_put_str(&s->item, buf_view(&b->signature));
    buf_char(&s->item, '}');
    give_item(d);
}

/* Input that came in pieces takes the place of the empty one. */
static void stop_other(struct decoder *d, struct block *b)
{
    struct state *s = d->state;
    const struct json *start =
        json_parse(buf_view(&b->text), &d->scratch, NULL);
    const struct json *input = NULL;

    keep(d, &b->signature, join_rest(&b->join));
    if (b->signature.len)
        input = json_parse(buf_view(&b->signature), &d->scratch, NULL);
    if (!start || (b->signature.len && (!input || parts_too_deep(input))))
        return; /* no memory is seen in the scratch */
    begin_item(d);
    buf_cstr(&s->item, ",\"block\":{");
    for (const struct json *m = start->first; m; m = m->next) {
        bool replaced = input && str_is(m->key, "input");

        if (m != start->first)
            buf_char(&s->item, ',');
        json_put_str(&s->item, m->key);
        buf_char(&s->item, ':');
        json_put(&s->item, replaced ? input : m);
    }
    buf_cstr(&s->item, "}}");
    give_item(d);
}

static void on_block_stop(struct decoder *d, const struct json *ev)
{
    struct block *b = find_block(d->state, ev);

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
    struct state *s = d->state;
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
static void begin_again(struct state *s)
{
    for (size_t i = 0; i < BLOCKS_OPEN_MAX; i++)
        close_block(&s->blocks[i]);
    buf_clear(&s->id);
    s->text_len = s->calls_count = s->sealed_count = 0;
    s->input = s->created = s->cached = s->output = s->reasoning = 0;
    s->begun = s->holds = false;
    s->reason = NULL;
}

/* Proxies repeat the start of a message, which means nothing before the first
 * piece, or put a new message into an unfinished one. */
static void on_message_start(struct decoder *d, const struct json *ev)
{
    struct state *s = d->state;
    const struct json *message = json_get(ev, "message");
    wend_str id = json_str(json_get(message, "id"));

    if (s->begun && (!wire_begin_again(d) || str_eq(buf_view(&s->id), id)))
        return;
    if (s->begun) {
        begin_again(s);
        d->finished = false;
        d->sink->restart(d->sink->ctx);
    }
    s->begun = true;
    keep(d, &s->id, id);
    take_usage(d, json_get(message, "usage"));
}

static const char *reason_of(struct decoder *d, wend_str word)
{
    static const struct {
        const char *word, *reason;
    } reasons[] = {
        {"end_turn", "stop"},
        {"stop_sequence", "stop"},
        {"pause_turn", "pause"},
        {"tool_use", "tool_calls"},
        {"max_tokens", "length"},
        {"model_context_window_exceeded", "length"},
        {"refusal", "content_filter"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (str_is(word, reasons[i].word))
            return reasons[i].reason;
    return word.len ? wire_unknown(d, word) : "stop";
}

/* The first reason counts. It is told when the stream is over. */
static void take_reason(struct decoder *d, const char *reason)
{
    struct state *s = d->state;

    if (s->reason)
        return;
    s->reason = reason;
    d->finished = true;
    if (strcmp(reason, "length") != 0)
        release(d);
}

static void on_message_delta(struct decoder *d, const struct json *ev)
{
    const struct json *delta = json_get(ev, "delta");
    wend_str word = json_str(json_get(delta, "stop_reason"));

    take_usage(d, json_get(ev, "usage"));
    if (word.len)
        take_reason(d, reason_of(d, word));
}

static void on_message_stop(struct decoder *d, const struct json *ev)
{
    (void)ev;
    take_reason(d, "stop");
    d->done = true; /* what a proxy adds is not of this answer */
}

static void anthropic_event(struct decoder *d, wend_str name,
                            const struct json *data)
{
    static const struct wire_event events[] = {
        {"content_block_delta", on_block_delta},
        {"content_block_start", on_block_start},
        {"content_block_stop", on_block_stop},
        {"message_start", on_message_start},
        {"message_delta", on_message_delta},
        {"message_stop", on_message_stop},
        {"error", wire_fail},
    };

    wire_dispatch(d, name, data, events, sizeof events / sizeof *events);
}

/* A block that is open now was cut off, and stays unsealed. */
static void anthropic_end(struct decoder *d)
{
    struct state *s = d->state;

    take_reason(d, "stop");
    if (s->told)
        return;
    s->told = true;
    wire_rest(d);
    parts_finish(d, s->reason, s->calls_count, s->sealed_count);
}

static void anthropic_whole(struct decoder *d, const struct json *body)
{
    const struct json *content = json_get(body, "content");
    wend_str word = json_str(json_get(body, "stop_reason"));

    if (!content || content->kind != JSON_ARRAY) {
        wire_fail_fmt(d, "service", "the answer is no message");
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
    take_reason(d, reason_of(d, word));
    anthropic_end(d);
}

static void anthropic_free(struct decoder *d)
{
    struct state *s = d->state;

    for (size_t i = 0; i < BLOCKS_OPEN_MAX; i++) {
        buf_free(&s->blocks[i].text);
        buf_free(&s->blocks[i].signature);
    }
    buf_free(&s->id);
    buf_free(&s->item);
}

static const char *const anthropic_headers[] = {
    "anthropic-version: 2023-06-01",
    NULL,
};

const struct codec codec_anthropic = {
    .name = PROVIDER,
    .framing = SSE_EVENTS,
    .key_header = "x-api-key: %s",
    .headers = anthropic_headers,
    .key_env = "ANTHROPIC_API_KEY",
    .base_url = "https://api.anthropic.com/v1",
    .path = anthropic_path,
    .request = anthropic_request,
    .output_tokens = anthropic_output_tokens,
    .state_size = sizeof(struct state),
    .usage = find_usage,
    .event = anthropic_event,
    .whole = anthropic_whole,
    .end = anthropic_end,
    .free = anthropic_free,
};

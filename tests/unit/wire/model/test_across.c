/*
 * test_across.c - a conversation that one model began and another goes on
 * with: every pair of protocols, and two models of each.
 *
 * Each maker's answer thinks SECRET, has a value OPAQUE that must come back,
 * says "Hm." and calls twice, with ids that only its own server would take.
 * UNSIGNED is thinking that nobody takes back.
 */
#include "ask_help.h"
#include "core/turn/reply.h"

#define LONG_ID \
    "call_0123456789012345678901234567890123456789012345678901234567"

static const struct {
    const struct codec *codec;
    bool thinks, keeps; /* SECRET, OPAQUE go back to the same model */
    int ids;            /* its own, for its own calls and results */
    const char *answer;
} makers[] = {
    {&codec_openai, true, true, 4,
     "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"SECRET\","
     "\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":"
     "\"OPAQUE\"}],\"content\":\"Hm.\"}}]}\n\n"
     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":"
     "\"functions.now:0\",\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}"
     "},{\"index\":1,\"id\":\"functions/now:0\",\"function\":{\"name\":\"a b\","
     "\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"
     "data: [DONE]\n\n"},
    {&codec_responses, true, true, 4,
     "data: {\"type\":\"response.completed\",\"response\":{\"output\":["
     "{\"type\":\"reasoning\",\"encrypted_content\":\"OPAQUE\",\"summary\":["
     "{\"type\":\"summary_text\",\"text\":\"SECRET\"}]},{\"type\":\"message\","
     "\"content\":[{\"type\":\"output_text\",\"text\":\"Hm.\"}]},"
     "{\"type\":\"function_call\",\"call_id\":\"" LONG_ID
     "1\",\"name\":\"now\",\"arguments\":\"{}\"},{\"type\":\"function_call\","
     "\"call_id\":\"" LONG_ID
     "2\",\"name\":\"now\",\"arguments\":\"{\"}]}}\n\n"},
    {&codec_anthropic, true, true, 4,
     "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{"
     "\"type\":\"thinking\",\"thinking\":\"SECRET\",\"signature\":\"OPAQUE\"}}"
     "\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{"
     "\"type\":\"thinking\",\"thinking\":\"UNSIGNED\",\"signature\":\"\"}}\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{"
     "\"type\":\"text\",\"text\":\"Hm.\"}}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{"
     "\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"now\",\"input\":{"
     "\"a\":1}}}\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":3}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":4,\"content_block\":{"
     "\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"now\",\"input\":{"
     "\"a\":2}}}\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":4}\n\n"
     "data: {\"type\":\"message_stop\"}\n\n"},
    {&codec_gemini, false, true, 4,
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"SECRET\","
     "\"thought\":true},{\"text\":\"Hm.\"},{\"functionCall\":{\"name\":\"now\","
     "\"id\":\"a/b\"},\"thoughtSignature\":\"OPAQUE\"},{\"functionCall\":{"
     "\"name\":\"now\",\"id\":\"a.b\"}}]},\"finishReason\":\"STOP\"}]}\n\n"},
    {&codec_ollama, true, false, 0,
     "{\"message\":{\"thinking\":\"SECRET\",\"content\":\"Hm.\",\"tool_calls\":"
     "[{\"function\":{\"name\":\"now\",\"arguments\":{}}},{\"function\":{"
     "\"name\":\"now\",\"arguments\":[]}}]},\"done\":true}\n"},
};
enum { MAKERS = tap_count(makers), IDS_MAX = 64 };

/* ---- A message from an answer -------------------------------------------- */

static void on_text(void *ctx, wend_str piece)
{
    reply_text(ctx, piece, 1);
}

static void on_thinking(void *ctx, wend_str piece)
{
    reply_thinking(ctx, piece, 1);
}

static int on_call(void *ctx, wend_str id, wend_str name)
{
    return reply_call(ctx, id, name);
}

static void on_args(void *ctx, int call, wend_str piece)
{
    reply_args(ctx, call, piece, 1);
}

static void on_seal(void *ctx, int call)
{
    reply_seal(ctx, call);
}

static void on_opaque(void *ctx, wend_str json)
{
    reply_opaque(ctx, json);
}

static void on_usage(void *ctx, const wend_ev_usage *usage)
{
    (void)ctx, (void)usage;
}

static void on_finish(void *ctx, wend_str reason)
{
    (void)ctx;
    tap_is_str(reason, "tool_calls", "the answer ends with its calls");
}

static void on_fail(void *ctx, wend_str code, wend_str message)
{
    (void)ctx, (void)code;
    tap_ok(false, "the answer fails: %.*s", (int)message.len, message.ptr);
}

static void make_reply(size_t maker, struct reply *r)
{
    const struct codec *c = makers[maker].codec;
    struct wire_sink sink = {.ctx = r,
                             .text = on_text,
                             .thinking = on_thinking,
                             .call = on_call,
                             .args = on_args,
                             .seal = on_seal,
                             .opaque = on_opaque,
                             .usage = on_usage,
                             .finish = on_finish,
                             .fail = on_fail};
    struct decoder d;
    struct sse s;

    reply_init(r, &wire_plain, 0);
    sse_init(&s, &wire_plain, c->framing, WIRE_BYTES_MAX);
    decoder_init(&d, c, &wire_plain, &sink);
    sse_feed(&s, makers[maker].answer, strlen(makers[maker].answer),
             decoder_event, &d);
    sse_end(&s, decoder_event, &d);
    decoder_end(&d);
    decoder_free(&d);
    sse_free(&s);
}

/* What the maker said and wanted, and what came of it. */
static void add_message(struct talk *k, size_t maker, const struct reply *r)
{
    talk_add(k, ROLE_ASSISTANT, r->text.ptr);
    k->last->thinking = buf_view(&r->thinking);
    k->last->opaque = r->opaque.len ? buf_view(&r->opaque) : STR("[]");
    k->last->model = str_of(makers[maker].codec->name);
    for (size_t i = 0; i < r->calls_count; i++)
        talk_call(k, r->calls[i].id.ptr, r->calls[i].name.ptr,
                  r->calls[i].json.ptr);
    for (size_t i = 0; i < r->calls_count; i++)
        talk_result(k, r->calls[i].id.ptr, r->calls[i].name.ptr, "seen");
}

/* ---- What a request says ------------------------------------------------- */

struct ids {
    wend_str list[IDS_MAX];
    int count;
};

static void find_ids(const struct json *j, struct ids *out)
{
    static const char *const keys[] = {"id", "call_id", "tool_call_id",
                                       "tool_use_id"};

    if (str_index(j->key, keys, tap_count(keys)) >= 0 && out->count < IDS_MAX)
        out->list[out->count++] = json_str(j);
    for (const struct json *c = j->first; c; c = c->next)
        find_ids(c, out);
}

/* Two calls, two results, as often as there are messages; no id twice. */
static bool pairs_match(const struct ids *ids)
{
    for (int i = 0; i < ids->count; i++)
        for (int n = 0; n < i; n++) {
            bool pair = i % 4 >= 2 && n == i - 2;

            if (str_eq(ids->list[i], ids->list[n]) != pair)
                return false;
        }
    return ids->count % 4 == 0;
}

/* As the strictest server wants it. */
static bool are_plain(const struct ids *ids)
{
    for (int i = 0; i < ids->count; i++) {
        wend_str id = ids->list[i];

        if (id.len != 9)
            return false;
        for (size_t n = 0; n < id.len; n++)
            if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789", id.ptr[n]))
                return false;
    }
    return true;
}

static int count_of(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void check(const struct talk *k, const struct codec *c, const char *why,
                  bool thinks, bool keeps, int ids_count, bool plain)
{
    struct buf b = {.mem = &wire_plain};
    struct arena a = {.mem = &wire_plain};
    struct wire_ask q = ask_of(k);
    struct ids ids = {.count = 0};
    struct json *j;
    bool good = true;

    codec_request(c, &q, &b);
    j = json_parse(buf_view(&b), &a, NULL);
    if (j)
        find_ids(j, &ids);
    good &= tap_ok(ask_is_canonical(buf_view(&b)), "%s: a request", why);
    good &= tap_is_i64(count_of(b.ptr, "SECRET"), thinks, "%s: thinking", why);
    good &= tap_is_i64(count_of(b.ptr, "OPAQUE"), keeps, "%s: opaque", why);
    good &= tap_ok(!strstr(b.ptr, "UNSIGNED"), "%s: nothing unsigned", why);
    good &= tap_ok(strstr(b.ptr, "Hm.") && strstr(b.ptr, "seen"),
                   "%s: what was said and seen", why);
    good &= tap_ok(ids.count == ids_count && pairs_match(&ids),
                   "%s: each result has its call", why);
    good &= tap_ok(!plain || are_plain(&ids), "%s: ids that all take", why);
    if (!good)
        printf("# %s\n", b.ptr);
    arena_free(&a);
    buf_free(&b);
}

/* How many ids a protocol has for two calls of another's. */
static int ids_of(const struct codec *c)
{
    return c == &codec_gemini || c == &codec_ollama ? 0 : 4;
}

static void test_pairs(const struct reply *replies)
{
    for (size_t from = 0; from < MAKERS; from++)
        for (size_t to = 0; to < 2 * MAKERS; to++) {
            const struct codec *c = makers[to / 2].codec;
            bool same = to % 2 && to / 2 == from;
            char why[128];
            struct talk k;

            if (to % 2 && !same)
                continue;
            snprintf(why, sizeof why, "%s to %s of %s",
                     makers[from].codec->name, same ? "itself" : "another",
                     c->name);
            talk_init(&k, ASK_CONFIG);
            k.turn.model = str_of(same ? c->name : "another");
            talk_add(&k, ROLE_USER, "go");
            add_message(&k, from, &replies[from]);
            check(&k, c, why, same && makers[from].thinks,
                  same && makers[from].keeps,
                  same ? makers[from].ids : ids_of(c), !same);
            talk_free(&k);
        }
}

/* All of them in one conversation: each gets back what it made. */
static void test_all(const struct reply *replies)
{
    for (size_t to = 0; to < MAKERS; to++) {
        const struct codec *c = makers[to].codec;
        char why[128];
        struct talk k;

        snprintf(why, sizeof why, "all to %s", c->name);
        talk_init(&k, ASK_CONFIG);
        k.turn.model = str_of(c->name);
        talk_add(&k, ROLE_USER, "go");
        for (size_t from = 0; from < MAKERS; from++)
            add_message(&k, from, &replies[from]);
        check(&k, c, why, makers[to].thinks, makers[to].keeps,
              (MAKERS - 1) * ids_of(c) + makers[to].ids, false);
        talk_free(&k);
    }
}

int main(void)
{
    struct reply replies[MAKERS];

    for (size_t i = 0; i < MAKERS; i++)
        make_reply(i, &replies[i]);
    test_pairs(replies);
    test_all(replies);
    for (size_t i = 0; i < MAKERS; i++)
        reply_free(&replies[i]);
    return tap_done();
}

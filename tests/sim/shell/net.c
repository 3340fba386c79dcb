/*
 * net.c - a network that is not there: a server of models in memory.
 *
 * It speaks Chat Completions and Anthropic's messages, in pieces of any size,
 * and fails in every way that servers and networks do. Every request is read
 * as a server would: what a call is given back as must be there, once.
 */
#include <strings.h>

#include "net.h"
#include "record.h"
#include "sim.h"
#include "world.h"

struct call_away { /* a transfer */
    struct transfer base;
    struct net_pool *pool;
    struct call_away *next;
    struct world_event event;
    const struct fetch_events *events;
    void *ctx;
    int64_t between_ms, until_us;
    enum net_fault fault;
    enum fetch_end how;
    int status;
    const char *retry_after;
    struct buf body;
    size_t at, end;
    bool head_told, paused, stopped, inside;
    bool service; /* not a model: a service that tools ask */
};

struct net_pool {
    struct fetch base;
    struct sim *sim;
    struct call_away *live;
};

/* ---- What a model says --------------------------------------------------- */

/* A piece of it, as each provider has it. */
struct speech {
    struct sim *sim;
    struct buf *to;
    bool anthropic;
    uint32_t block;
};

static void speak_text(struct speech *p, const char *text)
{
    if (!p->anthropic) {
        buf_fmt(p->to,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\""
                "}}]}\n\n",
                text);
        return;
    }
    buf_fmt(p->to,
            "event: content_block_delta\ndata: {\"type\":"
            "\"content_block_delta\",\"index\":%u,\"delta\":{\"type\":"
            "\"text_delta\",\"text\":\"%s\"}}\n\n",
            p->block, text);
}

static void speak_call(struct speech *p, uint32_t i, uint32_t tool)
{
    uint32_t id = chance_below(&p->sim->chance, 1000000);
    uint32_t a = chance_below(&p->sim->chance, 9);

    if (!p->anthropic) {
        buf_fmt(p->to,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
                "\"index\":%u,\"id\":\"call_%u\",\"type\":\"function\","
                "\"function\":{\"name\":\"t%u\",\"arguments\":\"{\\\"a\"}}]}}]}"
                "\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{"
                "\"tool_calls\":[{\"index\":%u,\"function\":{\"arguments\":"
                "\"\\\":%u}\"}}]}}]}\n\n",
                i, id, tool, i, a);
        return;
    }
    buf_fmt(p->to,
            "data: {\"type\":\"content_block_start\",\"index\":%u,"
            "\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_%u\","
            "\"name\":\"t%u\",\"input\":{}}}\n\n"
            "data: {\"type\":\"content_block_delta\",\"index\":%u,\"delta\":{"
            "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":%u}\""
            "}}\n\n"
            "data: {\"type\":\"content_block_stop\",\"index\":%u}\n\n",
            p->block, id, tool, p->block, a, p->block);
    p->block++;
}

static void speak_begin(struct speech *p)
{
    if (p->anthropic)
        buf_cstr(p->to,
                 "event: message_start\ndata: {\"type\":\"message_start\","
                 "\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"usage\":{"
                 "\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
                 "event: ping\ndata: {\"type\":\"ping\"}\n\n");
    else
        buf_cstr(p->to, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":"
                        "\"assistant\",\"content\":\"\"}}]}\n\n: ping\n\n");
}

static void speak_end(struct speech *p, bool calls)
{
    if (p->anthropic)
        buf_fmt(p->to,
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                "\"%s\"},\"usage\":{\"output_tokens\":7}}\n\n"
                "data: {\"type\":\"message_stop\"}\n\n",
                calls ? "tool_use" : "end_turn");
    else
        buf_fmt(p->to,
                "data: {\"choices\":[{\"index\":0,\"delta\":{},"
                "\"finish_reason\":\"%s\"}]}\n\n"
                "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,"
                "\"completion_tokens\":7}}\n\ndata: [DONE]\n\n",
                calls ? "tool_calls" : "stop");
}

static void speak(struct speech *p)
{
    static const char *const words[] = {"so ",      "many ", "words\\n",
                                        "\xc3\xa9", "x",     "\\u00e9 "};
    struct sim *s = p->sim;
    uint32_t calls = !s->draining && chance_of(&s->chance, 600)
                         ? 1 + chance_below(&s->chance, 3)
                         : 0;
    uint32_t texts =
        calls ? chance_below(&s->chance, 3) : 1 + chance_below(&s->chance, 12);

    speak_begin(p);
    if (p->anthropic && texts)
        buf_cstr(p->to, "data: {\"type\":\"content_block_start\",\"index\":0,"
                        "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}"
                        "\n\n");
    for (uint32_t i = 0; i < texts; i++)
        speak_text(p, chance_pick(&s->chance, words));
    if (p->anthropic && texts) {
        buf_cstr(p->to,
                 "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n");
        p->block++;
    }
    for (uint32_t i = 0; i < calls; i++)
        speak_call(p, i, chance_below(&s->chance, TOOLS));
    speak_end(p, calls > 0);
}

/* ---- What it was asked --------------------------------------------------- */

enum { OPEN_MAX = 16 }; /* calls of one message */

/* Calls of the last message that have no result yet. */
struct pairs {
    struct sim *sim;
    wend_str open[OPEN_MAX];
    uint32_t count;
};

static void pair_call(struct pairs *p, wend_str id)
{
    if (p->count < OPEN_MAX)
        p->open[p->count++] = id;
}

static void pair_result(struct pairs *p, wend_str id)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (str_eq(p->open[i], id)) {
            p->open[i] = p->open[--p->count];
            return;
        }
    broken(p->sim, LAW_REQUEST, "a result of '%.*s', which nobody called",
           (int)id.len, id.ptr ? id.ptr : "");
}

static void pairs_done(struct pairs *p)
{
    if (p->count)
        broken(p->sim, LAW_REQUEST, "no result of '%.*s'", (int)p->open[0].len,
               p->open[0].ptr);
    p->count = 0;
}

static void read_message(struct pairs *p, const struct json *m)
{
    wend_str role = json_str(json_get(m, "role"));
    const struct json *list = json_get(m, "tool_calls");
    const struct json *content = json_get(m, "content");

    if (str_is(role, "tool"))
        pair_result(p, json_str(json_get(m, "tool_call_id")));
    else if (str_is(role, "assistant"))
        pairs_done(p);
    for (const struct json *c = list ? list->first : NULL; c; c = c->next)
        pair_call(p, json_str(json_get(c, "id")));
    if (!content || content->kind != JSON_ARRAY)
        return;
    for (const struct json *c = content->first; c; c = c->next) {
        wend_str type = json_str(json_get(c, "type"));

        if (str_is(type, "tool_use"))
            pair_call(p, json_str(json_get(c, "id")));
        else if (str_is(type, "tool_result"))
            pair_result(p, json_str(json_get(c, "tool_use_id")));
    }
}

static void check_request(struct sim *s, wend_str body)
{
    struct arena a = {.mem = &libc_mem};
    const struct json *q = json_parse(body, &a, NULL);
    const struct json *list = json_get(q, "messages");
    struct pairs p = {.sim = s};
    bool drop = s->head.bug && s->head.bug->lose_result;

    if (!list || !list->count)
        broken(s, LAW_REQUEST, "a request without messages");
    for (const struct json *m = list ? list->first : NULL; m; m = m->next)
        if (drop && (str_is(json_str(json_get(m, "role")), "tool")))
            drop = false;
        else
            read_message(&p, m);
    pairs_done(&p);
    s->head.counters->requests++;
    arena_free(&a);
}

/* ---- What comes back ----------------------------------------------------- */

static void make_failure(struct call_away *t)
{
    static const int statuses[] = {429, 500, 503, 529, 400, 401};
    static const char *const waits[] = {NULL, "0", "1", "30", "soon"};
    struct sim *s = t->pool->sim;

    t->status = chance_pick(&s->chance, statuses);
    t->retry_after = chance_pick(&s->chance, waits);
    buf_fmt(&t->body, "{\"error\":{\"type\":\"e%d\",\"message\":\"no\"}}",
            t->status);
}

static void make_answer(struct call_away *t, bool anthropic)
{
    struct sim *s = t->pool->sim;
    struct speech p = {.sim = s, .to = &t->body, .anthropic = anthropic};

    t->status = t->fault == NET_MOVED ? 307 : 200;
    t->how = FETCH_OK;
    if (t->fault == NET_STATUS) {
        make_failure(t);
    } else if (t->fault == NET_PAGE) {
        buf_cstr(&t->body, "<html><body>come back later</body></html>");
    } else if (t->service) {
        buf_cstr(&t->body, "{\"value\":[1,2,3],\"more\":\"\xc3\xa9\"}");
        if (t->fault == NET_TWICE)
            buf_cstr(&t->body, "{}");
    } else {
        speak(&p);
        if (t->fault == NET_TWICE)
            speak(&p);
    }
    t->end = t->body.len;
    if (t->fault == NET_RESET || t->fault == NET_SHORT ||
        t->fault == NET_SILENT)
        t->end = chance_below(&s->chance, (uint32_t)t->body.len);
    if (t->fault == NET_RESET)
        t->how = FETCH_NETWORK;
    if (t->fault == NET_GARBAGE)
        for (size_t i = chance_below(&s->chance, (uint32_t)t->end); i < t->end;
             i++)
            if (chance_of(&s->chance, 100))
                t->body.ptr[i] = (char)chance_next(&s->chance);
}

/* The next thing happens after so long, or the limit of waiting is over. */
static void wait_for(struct call_away *t, int64_t ms, int64_t limit_ms)
{
    struct sim *s = t->pool->sim;
    int64_t at;

    if (limit_ms && ms > limit_ms) {
        ms = limit_ms;
        t->how = FETCH_TIMEOUT;
    }
    at = s->world.clock_us + ms * 1000;
    if (t->until_us && at > t->until_us) {
        at = t->until_us;
        t->how = FETCH_TIMEOUT;
    }
    world_at(&s->world, &t->event, at);
}

static int64_t some_ms(struct sim *s)
{
    if (s->draining)
        return chance_below(&s->chance, 5);
    return chance_of(&s->chance, s->mood.net_stall)
               ? chance_below(&s->chance, 90000)
               : chance_below(&s->chance, s->mood.net_ms_max + 1);
}

static void transfer_gone(struct call_away *t)
{
    struct call_away **link = &t->pool->live;

    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    world_clear(&t->pool->sim->world, &t->event);
    buf_free(&t->body);
    free(t);
}

static void tell_over(struct call_away *t)
{
    t->inside = true;
    t->pool->sim->head.counters->net_ends[t->how]++;
    t->events->end(t->ctx, t->how,
                   t->how == FETCH_OK ? "" : "sim.test: it broke");
    transfer_gone(t);
}

/* False: it was stopped by the callback. */
static bool bring(struct call_away *t)
{
    struct sim *s = t->pool->sim;
    size_t len = 1 + chance_below(&s->chance, s->mood.net_piece);

    if (len > t->end - t->at)
        len = t->end - t->at;
    t->inside = true;
    if (!t->head_told) {
        t->head_told = true;
        t->events->head(t->ctx, &t->base, t->status);
    } else {
        t->paused = !t->events->body(t->ctx, t->body.ptr + t->at, len);
        t->at += t->paused ? 0 : len;
    }
    t->inside = false;
    return !t->stopped;
}

static void on_net(struct world_event *e)
{
    struct call_away *t =
        (struct call_away *)(void *)((char *)e -
                                     offsetof(struct call_away, event));

    if (t->how == FETCH_TIMEOUT || t->fault == NET_REFUSED ||
        (t->head_told && t->at == t->end)) {
        tell_over(t);
        return;
    }
    if (!bring(t)) {
        transfer_gone(t);
        return;
    }
    if (t->paused)
        return;
    if (t->at == t->end && t->fault == NET_SILENT)
        wait_for(t, (int64_t)1 << 30, t->between_ms);
    else
        wait_for(t, some_ms(t->pool->sim), t->between_ms);
}

/* What changes something says by which key: it is on record, and is done once;
 * a client that is redirected says it again there. */
static void check_service(struct sim *s, const struct fetch_request *q)
{
    static const char name[] = "Idempotency-Key: ";

    for (size_t i = 0; q->headers && q->headers[i]; i++) {
        if (strncmp(q->headers[i], name, sizeof name - 1) != 0 ||
            strstr(q->url, "/moved"))
            continue;
        check_call(s, str_of(q->headers[i] + sizeof name - 1));
        if (s->head.bug && s->head.bug->ask_service_again)
            check_call(s, str_of(q->headers[i] + sizeof name - 1));
    }
}

static enum net_fault some_fault(struct sim *s, bool service)
{
    uint32_t permille = service ? s->mood.web_fault : s->mood.net_fault;

    if (s->draining || !chance_of(&s->chance, permille))
        return NET_GOOD;
    return 1 + chance_below(&s->chance,
                            (uint32_t)(service ? NET_FAULTS : NET_MOVED) - 1);
}

/* ---- As struct fetch ----------------------------------------------------- */

static wend_status net_start(struct fetch *base, const struct fetch_request *q,
                             const struct fetch_events *events, void *ctx,
                             struct transfer **out, wend_error *err)
{
    struct net_pool *pool = (struct net_pool *)(void *)base;
    struct sim *s = pool->sim;
    struct call_away *t = calloc(1, sizeof *t);

    (void)err;
    if (!t)
        abort();
    t->base.ops = base->ops;
    t->pool = pool;
    t->next = pool->live;
    pool->live = t;
    t->events = events;
    t->ctx = ctx;
    t->event.fire = on_net;
    t->body.mem = &libc_mem;
    t->between_ms = q->between_ms;
    t->until_us = q->whole_ms ? s->world.clock_us + q->whole_ms * 1000 : 0;
    t->service = !strncmp(q->url, "http://api.test/", 16);
    t->fault = some_fault(s, t->service);
    (t->service ? s->head.counters->web_faults
                : s->head.counters->net_faults)[t->fault]++;
    if (t->service)
        check_service(s, q);
    else
        check_request(s, q->body);
    make_answer(t, strstr(q->url, "/messages") != NULL);
    if (t->fault == NET_REFUSED)
        t->how = FETCH_NETWORK;
    wait_for(t, some_ms(s), q->first_byte_ms);
    trace(s, "a request of %zu bytes; answer %d of %zu, fault %d", q->body.len,
          t->status, t->end, (int)t->fault);
    *out = &t->base;
    return WEND_OK;
}

static wend_str net_header(const struct transfer *base, const char *name)
{
    const struct call_away *t = (const struct call_away *)(const void *)base;

    if (!strcasecmp(name, "retry-after"))
        return str_of(t->retry_after);
    if (!strcasecmp(name, "location") && t->fault == NET_MOVED)
        return STR("http://api.test/moved");
    if (!strcasecmp(name, "content-type"))
        return t->status != 200 || (t->service && t->fault != NET_PAGE)
                   ? STR("application/json")
               : t->fault == NET_PAGE ? STR("text/html")
                                      : STR("text/event-stream");
    return STR_NONE;
}

static void net_resume(struct transfer *base)
{
    struct call_away *t = (struct call_away *)(void *)base;

    if (!t->paused || t->stopped)
        return;
    t->paused = false;
    world_at(&t->pool->sim->world, &t->event, t->pool->sim->world.clock_us);
}

static void net_stop(struct transfer *base)
{
    struct call_away *t = (struct call_away *)(void *)base;

    t->stopped = true;
    if (!t->inside)
        transfer_gone(t);
}

static void net_free(struct fetch *base)
{
    struct net_pool *pool = (struct net_pool *)(void *)base;

    while (pool->live)
        transfer_gone(pool->live);
    free(pool);
}

wend_status net_new(void *ctx, const struct mem *m, struct loop *loop,
                    struct fetch **out, wend_error *err)
{
    static const struct fetch_ops ops = {net_free, net_start, net_header,
                                         net_resume, net_stop};
    struct net_pool *pool = calloc(1, sizeof *pool);

    (void)m, (void)loop, (void)err;
    if (!pool)
        abort();
    pool->base.ops = &ops;
    pool->sim = sim_of_world(ctx);
    *out = &pool->base;
    return WEND_OK;
}

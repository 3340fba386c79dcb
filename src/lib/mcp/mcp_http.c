/*
 * mcp_http.c - a server of tools by streamable HTTP: each message is a POST,
 * its answer a body or a stream of events.
 *
 * Servers of the old kind may give a session, whose name goes with every
 * request, and may let a stream end early: then it is asked for again, from
 * the event it ended at.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "lib/mcp/mcp.h"
#include "wire/http/http.h"

enum {
    ASIDE_MAX = 16, /* messages without an answer, at once */
    ASIDE_MS = 30000,
    SESSION_MAX = 256,
    RESUMES_MAX = 16,      /* of one answer, without anything new */
    RESUME_MS = 1000,      /* unless the server says otherwise, ... */
    RESUME_MAX_MS = 30000, /* ... and no more than this */
    BYE_MS = 500,
    REFUSAL_BYTES_MAX = 4 << 10, /* of a body that says why not */
    HEADERS_MAX = 8 + 4 + MCP_PARAMS_MAX,
};

enum body_kind { BODY_NONE, BODY_WHOLE, BODY_EVENTS, BODY_REFUSAL };

struct mcp_http {
    struct exchange *exchanges;
    size_t aside;                  /* exchanges without an answer */
    char session[SESSION_MAX + 1]; /* empty: none */
};

/* One message on its way, and what comes back for it. */
struct exchange {
    struct exchange *next;
    struct mcp_server *server;
    struct transfer *transfer;
    int64_t id;
    enum body_kind kind;
    int status;
    size_t bytes;
    struct buf request, collected;
    struct sse events;
    bool reading, gone; /* freed after its last callback */
    unsigned resumes;
    struct timer_node later; /* to resume, or to tell why not begun */
    char why[300];           /* it could not begin */
};

/* ---- Life ---------------------------------------------------------------- */

static void exchange_free(struct exchange *x)
{
    struct mcp_http *l = x->server->link;
    struct exchange **at = &l->exchanges;
    struct mem m = x->server->mem;

    if (x->transfer)
        fetch_stop(x->transfer);
    x->transfer = NULL;
    timer_clear(&x->server->rt->timers, &x->later);
    x->gone = true;
    if (x->reading)
        return;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    assert(x->id || l->aside > 0);
    l->aside -= !x->id;
    buf_free(&x->request);
    buf_free(&x->collected);
    sse_free(&x->events);
    mem_free(&m, x);
}

/* What is told may end the exchange: it is kept until that is over. */
static void tell_refused(struct exchange *x, int status, wend_str why)
{
    x->reading = true;
    mcp_server_refused(x->server, x->id, status, why);
    x->reading = false;
    exchange_free(x);
}

/* ---- Requests ------------------------------------------------------------ */

static wend_status begin(struct exchange *x, struct fetch_request *q,
                         const char *const *more, wend_error *err);

static void on_later(struct timer_node *t)
{
    struct exchange *x = container_of(t, struct exchange, later);
    struct fetch_request q = {.method = "GET"};
    char since[SSE_ID_MAX + 20], version[60];
    const char *const more[] = {since, version, NULL};
    wend_error err = {0};

    if (x->why[0]) {
        tell_refused(x, 0, str_of(x->why));
        return;
    }
    snprintf(since, sizeof since, "Last-Event-ID: %s",
             buf_view(&x->events.id).ptr);
    snprintf(version, sizeof version, "MCP-Protocol-Version: %s",
             x->server->machine.version.len ? x->server->machine.version.ptr
                                            : "");
    if (begin(x, &q, more, &err) != WEND_OK)
        tell_refused(x, 0, str_of(err.message));
}

static void later(struct exchange *x, int64_t ms)
{
    wend_runtime *rt = x->server->rt;

    x->later.fire = on_later;
    if (!timer_set(&rt->timers, &x->later, rt_after(rt, ms)))
        mcp_server_nomem(x->server); /* frees it, too */
}

/* Asks for the rest of an answer whose stream ended too early. */
static bool resume(struct exchange *x)
{
    int64_t ms = x->events.retry_ms;

    if (!x->events.id.len || x->server->machine.modern ||
        x->resumes++ >= RESUMES_MAX)
        return false;
    if (ms < 0)
        ms = RESUME_MS;
    later(x, ms < RESUME_MAX_MS ? ms : RESUME_MAX_MS);
    return true;
}

/* ---- What comes back ----------------------------------------------------- */

static bool on_event(void *ctx, wend_str name, wend_str data)
{
    struct exchange *x = ctx;

    (void)name;
    assert(x->reading);
    x->resumes = 0;
    if (data.len)
        mcp_server_text(x->server, data);
    return !x->gone;
}

static void take_session(struct exchange *x, struct transfer *t)
{
    struct mcp_http *l = x->server->link;
    wend_str name = fetch_header(t, "mcp-session-id");

    if (x->server->machine.state != MCP_INITIALIZING || !name.len ||
        name.len > SESSION_MAX)
        return;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] < 0x21 || name.ptr[i] > 0x7e)
            return;
    memcpy(l->session, name.ptr, name.len);
    l->session[name.len] = 0;
}

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct exchange *x = ctx;
    wend_str type = fetch_header(t, "content-type");

    x->status = status;
    x->bytes = 0;
    if (status < 200 || status > 299) {
        x->kind = BODY_REFUSAL;
        return;
    }
    take_session(x, t);
    x->kind = str_starts(type, "text/event-stream")  ? BODY_EVENTS
              : str_starts(type, "application/json") ? BODY_WHOLE
                                                     : BODY_NONE;
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct exchange *x = ctx;
    wend_status s = WEND_OK;

    x->bytes += len;
    if (x->kind == BODY_REFUSAL && x->collected.len < REFUSAL_BYTES_MAX)
        buf_add(&x->collected, p,
                len < REFUSAL_BYTES_MAX ? len : REFUSAL_BYTES_MAX);
    if (x->kind == BODY_WHOLE)
        buf_add(&x->collected, p, len);
    if (x->kind == BODY_EVENTS) {
        x->reading = true;
        s = sse_feed(&x->events, p, len, on_event, x);
        x->reading = false;
    }
    if (x->gone || (x->id && !mcp_waits(&x->server->machine, x->id)))
        exchange_free(x); /* answered: the server may leave its stream open */
    else if (s == WEND_E_LIMIT || x->bytes > LINE_BYTES_MAX)
        tell_refused(x, 0, STR("the server's answer is over 16 MiB"));
    else if (s != WEND_OK || x->collected.failed) {
        x->server->nomem = true;
        tell_refused(x, 0, STR("out of memory"));
    }
    return true;
}

/* The body is complete. */
static void finish(struct exchange *x)
{
    x->reading = true;
    if (x->kind == BODY_EVENTS && !x->events.line.len) /* else it was cut */
        sse_end(&x->events, on_event, x);
    else if (x->kind == BODY_WHOLE && x->collected.len)
        mcp_server_text(x->server, buf_view(&x->collected));
    x->reading = false;
    if (x->gone || !mcp_waits(&x->server->machine, x->id))
        exchange_free(x);
    else if (x->kind == BODY_REFUSAL)
        tell_refused(x, x->status, buf_view(&x->collected));
    else if (x->kind != BODY_EVENTS)
        tell_refused(x, x->status, STR("the answer is not a message"));
    else if (!resume(x))
        tell_refused(x, 0, STR("the stream ended without an answer"));
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct exchange *x = ctx;

    x->transfer = NULL;
    if (how == FETCH_OK)
        finish(x);
    else if (how != FETCH_NETWORK || x->kind != BODY_EVENTS ||
             !mcp_waits(&x->server->machine, x->id) || !resume(x))
        tell_refused(x, 0, str_of(message));
}

static const struct fetch_events fetch_ops = {on_head, on_body, on_end};

/* ---- Beginning ----------------------------------------------------------- */

static wend_status begin(struct exchange *x, struct fetch_request *q,
                         const char *const *more, wend_error *err)
{
    struct mcp_server *s = x->server;
    struct mcp_http *l = s->link;
    const char *headers[HEADERS_MAX + 1];
    char session[SESSION_MAX + 40];
    struct buf token = {.mem = &s->mem};
    struct fetch *fetch;
    size_t n = 0;
    wend_status st;

    headers[n++] = "Content-Type: application/json";
    headers[n++] = "Accept: application/json, text/event-stream";
    if (l->session[0]) {
        snprintf(session, sizeof session, "Mcp-Session-Id: %s", l->session);
        headers[n++] = session;
    }
    if (s->secrets[0]) {
        buf_fmt(&token, "Authorization: Bearer %s",
                strchr(s->secrets[0], '=') + 1);
        headers[n++] = buf_view(&token).ptr;
    }
    while (*more && n < HEADERS_MAX)
        headers[n++] = *more++;
    headers[n] = NULL;
    q->url = s->url.ptr;
    q->headers = headers;
    q->ca_file = s->ca_file;
    q->secret = s->secrets[0] && !s->insecure_http;
    q->connect_ms = CONNECT_MS;
    st = token.failed ? fail_nomem(err) : rt_fetch(s->rt, &fetch, err);
    if (st == WEND_OK)
        st = fetch_start(fetch, q, &fetch_ops, x, &x->transfer, err);
    buf_free(&token);
    return st;
}

static struct exchange *exchange_new(struct mcp_server *s, int64_t id)
{
    struct mcp_http *l = s->link;
    struct exchange *x = mem_zalloc(&s->mem, sizeof *x);

    if (!x)
        return NULL;
    x->server = s;
    x->id = id;
    x->request.mem = x->collected.mem = &s->mem;
    sse_init(&x->events, &s->mem, SSE_EVENTS, LINE_BYTES_MAX);
    x->next = l->exchanges;
    l->exchanges = x;
    l->aside += !id;
    return x;
}

static void http_send(struct mcp_server *s, const struct mcp_send *m)
{
    struct mcp_http *l = s->link;
    bool is_call = m->id && s->machine.state == MCP_READY;
    struct fetch_request q = {
        .whole_ms = m->id ? 0 : ASIDE_MS,
        .once = is_call,
        .harmless = !is_call,
    };
    wend_error err = {0};
    struct exchange *x;

    if (!m->id && l->aside >= ASIDE_MAX)
        return; /* a server that asks for more is not answered */
    x = exchange_new(s, m->id);
    if (!x) {
        mcp_server_nomem(s);
        return;
    }
    buf_str(&x->request, m->body);
    q.body = buf_view(&x->request);
    if (x->request.failed)
        fail_nomem(&err);
    else if (begin(x, &q, m->headers, &err) == WEND_OK)
        return;
    s->nomem = err.status == WEND_E_NOMEM;
    utf8_fmt(x->why, sizeof x->why, "%.280s", err.message);
    later(x, 0);
}

/* ---- The link ------------------------------------------------------------ */

static wend_status http_open(struct mcp_server *s, wend_error *err)
{
    struct mcp_http *l = s->link ? s->link : mem_zalloc(&s->mem, sizeof *l);

    if (!l)
        return fail_nomem(err);
    l->session[0] = 0;
    s->link = l;
    return WEND_OK;
}

static void http_drop(struct mcp_server *s, int64_t id)
{
    struct mcp_http *l = s->link;
    struct exchange *x = l->exchanges;

    while (x && x->id != id)
        x = x->next;
    if (x)
        exchange_free(x);
}

static void http_close(struct mcp_server *s)
{
    struct mcp_http *l = s->link;

    if (!l)
        return;
    while (l->exchanges)
        exchange_free(l->exchanges);
    s->link = NULL;
    mem_free(&s->mem, l);
}

/* Tells the server that the session is over. */
static void http_bye(struct mcp_server *s)
{
    struct mcp_http *l = s->link;
    struct fetch_request q = {.method = "DELETE", .whole_ms = BYE_MS};
    const char *const none[] = {NULL};
    struct exchange *x;
    int64_t until = rt_after(s->rt, BYE_MS), left;

    if (!l || !l->session[0])
        return;
    while (l->exchanges)
        exchange_free(l->exchanges);
    x = exchange_new(s, 0);
    if (!x)
        return;
    if (begin(x, &q, none, NULL) != WEND_OK) {
        exchange_free(x);
        return;
    }
    while (l->exchanges && (left = until - rt_clock(s->rt)) > 0)
        loop_turn(s->rt->loop, (int)(left / 1000) + 1);
}

const struct mcp_link_ops mcp_http_ops = {
    .open = http_open,
    .send = http_send,
    .drop = http_drop,
    .bye = http_bye,
    .close = http_close,
};

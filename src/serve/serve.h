/*
 * serve.h - the server: connections, requests, streams of events.
 *
 * Everything belongs to the thread of the runtime. A request is read whole,
 * answered by the function of its route, and then the next one of its
 * connection is read; so answers keep the order of their requests.
 */
#ifndef SERVE_H
#define SERVE_H

#include "base/hash.h"
#include "base/json.h"
#include "core/event/event.h"
#include "host/sock.h"
#include "lib/runtime/runtime.h"
#include "wend_server.h"
#include "wire/http/request.h"

#define SERVE_MARK "wend.by" /* the label of runs that a server may resume */

enum {
    SERVE_BODY_MAX = 4 << 20,       /* of a request, unless its route says */
    SERVE_BODIES_MAX = 256 << 20,   /* of all requests that are being read */
    SERVE_PIPELINED_MAX = 64 << 10, /* bytes read ahead of an answer */
    SERVE_OUT_MAX = 64 << 10,       /* of a stream in one write */
    SERVE_OUTS_MAX = 256 << 20,     /* of all answers that clients read */
    SERVE_WRITES_MAX = 4,           /* of a stream before others have a turn */
    SERVE_HEAD_MS = 10000,          /* for the head of a request */
    SERVE_BODY_MS = 30000,          /* for a body, and ... */
    SERVE_BODY_RATE = 16 << 10,     /* ... its bytes a second beyond that */
    SERVE_IDLE_MS = 75000,          /* between two requests */
    SERVE_WRITE_MS = 30000,         /* without progress of a write */
    SERVE_LINGER_MS = 2000,         /* after the last answer */
    SERVE_COMMENT_MS = 15000,       /* a stream without events says so */
    SERVE_TICK_MS = 500,
    SERVE_LOOK_MS = 50, /* at the log of a run that this server does not own */
    SERVE_PARAMS_MAX = 3, /* variable segments of a path */
    SERVE_BUCKETS = 1024,
    SERVE_TOKENS_MAX = 10000,
    SERVE_AGENTS_MAX = 256,
    SERVE_USER_MAX = 256, /* bytes of a name, as wend_run_options has it */
    SERVE_KEYS_NEW = 64,  /* idempotency keys that the store may not have yet */
    SERVE_BOUNDS = 13,    /* of a histogram */
    SERVE_OUTCOMES = 16,
    SERVE_CLASSES = 6, /* of a status: 1xx to 5xx */
};

struct serve_conn;
struct serve_run;
struct serve_flow;
struct wend_server;

/* ---- Who asks (token.c) -------------------------------------------------- */

struct serve_holder {
    unsigned char hash[SHA256_BYTES]; /* of the token */
    wend_str user;
    unsigned rights;
};

struct serve_tokens {
    struct arena arena;
    struct serve_holder *list;
    size_t count, cap;
};

/* The token of the options and the file. On failure nothing changes. */
wend_status holders_read(struct wend_server *server, wend_error *err);
void holders_free(struct serve_tokens *t, const struct mem *m);
/* NULL: no such token; also by its hash. */
const struct serve_holder *holders_of(const struct serve_tokens *t,
                                      const unsigned char hash[SHA256_BYTES]);
const struct serve_holder *holders_find(const struct serve_tokens *t,
                                        wend_str token);

/* ---- Requests and answers (answer.c) ------------------------------------- */

/* A request that is complete, until its answer is. */
struct serve_ask {
    struct serve_conn *conn;
    struct wend_server *server;
    const struct http_req *req;
    const struct serve_route *route;
    struct arena arena;
    wend_str body;
    struct http_query query;
    wend_str allow;                    /* methods of the path, for 405 */
    wend_str params[SERVE_PARAMS_MAX]; /* of the path, decoded */
    wend_str user; /* in the arena; absent: the route needs no token */
    unsigned char token[SHA256_BYTES];
    unsigned rights;
    /* For an answer that comes later: called if the connection closes first. */
    void (*gone)(struct serve_ask *q);
    void *ctx;
    bool stays; /* also if the client has closed its side: it may still read */
    struct serve_ask *next; /* that waits for the same run */
};

typedef void (*serve_fn)(struct serve_ask *q);

/* Each ask gets exactly one answer, at once or later; nothing of it may be used
 * after that. */
void respond_bytes(struct serve_ask *q, int status, const char *media,
                   wend_str body, const struct http_field *fields,
                   size_t fields_count);
void respond_json(struct serve_ask *q, int status,
                  struct buf *json); /* frees */
void respond_empty(struct serve_ask *q, int status);
/* application/problem+json; `field` and `hint` may be NULL. */
void respond_problem(struct serve_ask *q, int status, const char *code,
                     const char *field, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
void respond_nomem(struct serve_ask *q);
/* What a failed call of the library means to a client. */
void respond_failed(struct serve_ask *q, const wend_error *err);
/* {"run":ID}, and where it is. */
void respond_run(struct serve_ask *q, int status, const char *id);

/* ---- Connections (conn.c) ------------------------------------------------ */

enum serve_state {
    CONN_IDLE,   /* between requests */
    CONN_HEAD,   /* a request has begun */
    CONN_BODY,   /* its head is known */
    CONN_ANSWER, /* it is answered, at once or later */
    CONN_DENIED, /* the answer waits, so that tokens cannot be tried fast */
    CONN_STREAM, /* the answer is a stream */
    CONN_LINGER, /* all is written; what still comes is dropped */
};

struct serve_conn {
    struct serve_conn *next, **prev;
    struct wend_server *server;
    struct sock *sock;
    enum serve_state state;
    struct http_req *req; /* NULL while idle */
    struct buf head, body, out, ahead;
    struct serve_ask ask;
    struct serve_flow *stream;
    int64_t since_us; /* in this state, or since a write made progress */
    size_t left;      /* bytes of the write in progress, when last looked at */
    int64_t asked_us; /* when the request began */
    unsigned inside;  /* its functions run: it is not freed yet */
    bool ended;       /* the peer sends nothing more */
    bool keep;        /* the connection, after this answer */
    bool chunked;     /* the stream */
    bool dead;
};

void *conn_accept(void *ctx, struct sock *s, const struct sock_events **events);
void conn_free(struct serve_conn *c);
/* Sends the head and, if not absent, the body; then the next request. */
void conn_answer(struct serve_conn *c, const struct http_answer *head,
                 wend_str body);
/* The answer to the request of c is a stream from now on. */
bool conn_stream(struct serve_conn *c, struct serve_flow *s,
                 const struct http_field *fields, size_t fields_count);
/* Whether the stream may send; then pieces, in one write. */
bool conn_ready(const struct serve_conn *c);
void conn_send(struct serve_conn *c, const wend_str *pieces, size_t count);
/* The stream has ended; it is freed by its caller. */
void conn_stream_end(struct serve_conn *c);
void conn_tick(struct serve_conn *c, int64_t now_us);

/* ---- Routes (route.c) ---------------------------------------------------- */

struct serve_route {
    const char *method;
    const char *path; /* {} stands for one segment */
    unsigned right;   /* WEND_RIGHT_ of it; 0: no token is needed */
    serve_fn fn;
    uint64_t body_max; /* 0: it has none */
    bool any_media;    /* of the body; else application/json */
    bool openai;       /* errors as clients of that API read them */
};

extern const struct serve_route serve_routes[]; /* the last one has no path */

/* At the head of a request: finds the route, and who asks. False: it is
 * answered. */
bool route_head(struct serve_ask *q, uint64_t *body_max);
void route_ask(struct serve_ask *q);

/* ---- Runs that this server owns (hub.c) ---------------------------------- */

/* An event on its way to readers; its text is made once for all of them. */
struct serve_frame {
    wend_event *event;
    struct buf native; /* as a server-sent event */
};

struct serve_run {
    struct serve_run *bucket, *dirty_next;
    struct wend_server *server;
    wend_run *run; /* NULL once it is over or parked */
    char id[37];
    struct serve_frame *ring; /* the newest events, while it is read */
    uint64_t first;           /* index of the oldest one in it */
    size_t count, start, bytes;
    int64_t seq, n; /* of the newest event */
    struct serve_flow *streams;
    struct serve_ask *starters; /* wait until its first event is durable */
    void (*watch)(void *ctx, const wend_event *ev); /* NULL: none */
    void *watch_ctx;
    void (*watch_free)(void *ctx);
    bool is_dirty, is_over, parks;
    bool waits; /* for an approval, so nothing is in progress */
};

/* Takes the run over; NULL: out of memory, and the run is freed. */
struct serve_run *hub_add(struct wend_server *server, wend_run *run);
struct serve_run *hub_find(struct wend_server *server, const char *id);
void hub_free(struct serve_run *r); /* a run that is not over is parked */
void hub_pass(struct wend_server *server);
const struct serve_frame *hub_frame(const struct serve_run *r, uint64_t index);
/* Parks a run that waits, or one whose work has failed. */
void hub_park(struct serve_run *r);
void hub_check(struct serve_run *r);
/* The index of the first event behind (seq, n); 0: the ring has not all. */
uint64_t hub_after(const struct serve_run *r, int64_t seq, int64_t n);
void frame_put(struct buf *out, const wend_event *ev);
/* Passes each event to fn, until the run is over. */
void hub_watch(struct serve_run *r, void (*fn)(void *ctx, const wend_event *ev),
               void *ctx, void (*free)(void *ctx));
/* Tells the client the id, as soon as the run is durable. */
void hub_answer(struct serve_run *r, struct serve_ask *q);

/* ---- Streams of events (flow.c) ---------------------------------------- */

/* How events become bytes. `past`: the client has had it, so it is only
 * noted. */
struct serve_voice {
    void (*event)(struct serve_flow *s, const wend_event *ev, bool past,
                  struct buf *out);
    void (*end)(struct serve_flow *s, struct buf *out); /* may be NULL */
    void (*free)(void *ctx);
    bool cancels; /* the run, if the reader leaves before its end */
};

struct serve_flow {
    struct wend_server *server;
    struct serve_conn *conn;
    struct serve_run *run;           /* NULL: not this server's, or over */
    struct serve_flow *next, **prev; /* of the run or feed; else NULL */
    struct serve_flow *reader_next, **reader_prev; /* of the server */
    const struct serve_voice *voice;               /* NULL: native */
    void *ctx;                                     /* of the voice */
    char id[37];
    wend_run *log;  /* reads the store; NULL: the ring has all it needs */
    uint64_t at;    /* next index in the ring */
    int64_t seq, n; /* of the newest event that was taken */
    int64_t past_seq, past_n; /* of a voice: what the client has had */
    int64_t said_us;
    struct buf text; /* to be sent */
    unsigned char token[SHA256_BYTES];
    bool over;  /* run_end was sent */
    bool ended; /* and what stands behind it */
    bool rows;  /* it is a feed: `text` is all there is */
    bool stale; /* it missed rows */
};

struct serve_flow_options {
    const char *id;
    int64_t seq, n; /* that the client has had; 0, 0: nothing */
    const struct serve_voice *voice;
    void *ctx;                       /* freed by the voice, also on failure */
    const struct http_field *fields; /* of the answer */
    size_t fields_count;
};

/* Answers with the events of a run, or with what went wrong. */
void flow_open(struct serve_ask *q, const struct serve_flow_options *o);
void flow_free(struct serve_flow *s);
/* Takes it out of the list of its run or feed. */
void flow_unlink(struct serve_flow *s);
/* The run is over or parked: the rest comes from the store. */
void flow_leave(struct serve_flow *s);
void flow_tick(struct serve_flow *s, int64_t now_us);
/* A stream whose text its owner adds; q is answered. NULL: it failed. */
struct serve_flow *flow_rows(struct serve_ask *q);
void flow_pump(struct serve_flow *s);
/* A control frame; then the stream ends. */
void flow_last(struct serve_flow *s, const char *event, const char *json);
void flow_bye(struct serve_flow *s); /* the server stops */

/* ---- The feed: rows of runs as they change (feed.c) ---------------------- */

void feed_open(struct serve_ask *q);
void feed_changed(struct wend_server *server, const char *id);
void feed_pass(struct wend_server *server);
void feed_tick(struct wend_server *server, int64_t now_us);
void feed_free(struct wend_server *server);

/* ---- Numbers (api/metrics.c) --------------------------------------------- */

struct serve_times {
    int64_t counts[SERVE_BOUNDS + 1], sum_ms;
};

struct serve_metrics {
    int64_t runs_started, runs_resumed, runs_ended[SERVE_OUTCOMES];
    int64_t turns, model_calls[2], tool_calls[2], tokens_in, tokens_out;
    int64_t cost_nano, events[2], requests[SERVE_CLASSES];
    struct serve_times model, first_token, tool;
};

void metrics_event(struct serve_metrics *m, const wend_event *ev);

/* ---- Webhooks (outbox.c) ------------------------------------------------- */

wend_status outbox_options(struct wend_server *server, wend_error *err);
/* Whether a run may name this URL. */
bool outbox_allows(const struct wend_server *server, wend_str url);
/* Before a run starts: its end will be told. False: out of memory. */
bool outbox_expect(struct wend_server *server, const char *run, wend_str url);
/* A run of this server: the URL of the options is told its end, unless the run
 * names one. */
void outbox_new_run(struct wend_server *server, const char *run);
void outbox_ended(struct wend_server *server, const char *run);
void outbox_load(struct wend_server *server); /* what the last server left */
void outbox_tick(struct wend_server *server, int64_t now_us);
void outbox_free(struct wend_server *server);

/* ---- The server (server.c) ----------------------------------------------- */

struct serve_model {
    wend_str name;
    wend_agent *agent;
};

struct serve_agent {
    wend_str name, description;
    struct serve_model *models; /* its own first */
    size_t models_count;
};

/* A key that was used: its hash, the run, the hash of the body. */
struct serve_key {
    char name[SHA256_HEX + 1], run[37], body[SHA256_HEX + 1];
};

struct wend_server {
    struct rt_guest guest;
    wend_runtime *rt; /* NULL once it is gone */
    struct mem mem;
    struct arena arena; /* of the options and agents */
    wend_server_options options;
    struct listener *listener;
    char url[160];
    char name[140];       /* where it listens */
    wend_str public_host; /* with port; absent: none */
    struct serve_tokens tokens;
    struct serve_agent *agents;
    size_t agents_count;
    struct serve_conn *conns;
    size_t conns_count;
    size_t bodies; /* bytes of them */
    size_t outs;   /* bytes of answers that are being written */
    struct serve_run *runs[SERVE_BUCKETS];
    size_t runs_count;
    struct serve_run *dirty;
    struct serve_flow *readers; /* wait for the store */
    struct serve_feed *feed;    /* NULL until the first reader */
    struct serve_metrics metrics;
    struct serve_key keys[SERVE_KEYS_NEW];
    size_t keys_next;
    struct serve_letter *letters;
    int letters_sent; /* on their way */
    wend_str webhook_key;
    struct serve_upload *uploads;
    size_t uploads_bytes, uploads_count;
    struct timer_node tick, look;
    bool draining, ticks, looks;
    int64_t drain_until_us;
};

const struct serve_agent *server_agent(const struct wend_server *server,
                                       wend_str name);
/* The agent for a model; absent: its own. NULL: it may not be asked. */
wend_agent *agent_for(const struct serve_agent *a, wend_str model);
void server_tick_on(struct wend_server *server);
void server_look_on(struct wend_server *server);
void server_look_soon(struct wend_server *server); /* in the next pass */
int64_t server_now(const struct wend_server *server);

/* ---- The page (web.c) ---------------------------------------------------- */

void web_page(struct serve_ask *q);
void web_file(struct serve_ask *q);
void web_api(struct serve_ask *q); /* openapi.json */

/* ---- What clients may see (seen.c) --------------------------------------- */

/* The run that the path names, if this user may see it; in the arena of q.
 * NULL: it is answered. */
const wend_run_info *ask_run(struct serve_ask *q);
const wend_run_info *ask_run_of(struct serve_ask *q, wend_str id);
bool ask_sees(const struct serve_ask *q, const wend_run_info *info);
bool ask_is_admin(const struct serve_ask *q);
void row_put(struct buf *json, const char *key, const wend_run_info *info);

#endif

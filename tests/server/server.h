/*
 * server.h - a model server for tests: all protocols, faults on demand.
 *
 *   main.c      options, sockets, one epoll loop, deadlines
 *   conn.c      a connection: bytes in, bytes out, TLS
 *   http.c      requests in, the heads of answers out
 *   scenario.c  what a request shall get, in a small language
 *   answer.c    an answer, piece by piece, with its faults
 *   proto_*.c   the pieces in the words of each protocol
 */
#ifndef TESTS_SERVER_H
#define TESTS_SERVER_H

#include <openssl/ssl.h>

#include "base/json.h"

/* ---- What a request shall get -------------------------------------------- */

enum plan_kind {
    PLAN_TALK, /* thinking, text, calls in the protocol's words */
    PLAN_STATUS,
    PLAN_BYTES, /* `say` as the whole body, as it is */
    PLAN_FILE,
    PLAN_ECHO, /* the request, as it came */
};

enum fault_kind { FAULT_NONE, FAULT_RESET, FAULT_CUT, FAULT_HANG };

struct plan {
    enum plan_kind kind;
    int64_t thinks, texts; /* deltas; texts -1: some, but not with calls */
    int64_t text_bytes;    /* of each */
    int64_t calls, turns;  /* parallel calls a turn, in so many turns */
    wend_str say;          /* a text of one delta, or the body */
    wend_str call_name, call_args;
    wend_str file, type, encoding;
    wend_str headers; /* more of them: `name: value CRLF` */
    wend_str code;    /* in the body of an error */
    wend_str refuse;  /* a field: a request that has it is refused */
    wend_str stop;    /* why a message ended, for Messages */
    int64_t status;
    int64_t padding; /* bytes of a header that says nothing */
    int64_t clock;   /* unix time of a Date header; 0: none */
    int64_t head_us, first_us, delay_us, slow_us;
    enum fault_kind fault;
    int64_t fault_at;       /* bytes of the body before it */
    int64_t error_at;       /* pieces before an error; -1: none */
    int64_t chunk;          /* bytes a write; 0: a piece a write */
    bool silent;            /* no answer at all */
    bool json, nofinish;    /* not streamed; streamed without an end */
    bool length, eof, shut; /* framing; close after it */
};

extern const struct plan plan_default;

/* The step of a scenario for its nth request, counted from 0. False: it is
 * not understood; `wrong` says what. Strings are in the arena. */
bool plan_read(wend_str scenario, uint64_t nth, struct arena *a,
               struct plan *out, wend_str *wrong);

/* ---- Requests ------------------------------------------------------------ */

struct request {
    wend_str method, target, head, body;
    wend_str path;     /* without scenario and query, decoded */
    wend_str scenario; /* from the head, the target or the body's model */
    bool modelled;     /* it is the model's name: others talk a little */
    const struct proto *proto;
    bool stream, keep;
    bool array;      /* gemini: a JSON array instead of events */
    int64_t results; /* of tools, in the body */
};

/* Bytes of the first request in `in`, 0 if it is not complete, -1 if it is
 * none. Strings point into `in` or the arena. */
int64_t request_read(wend_str in, struct arena *a, struct request *out);
wend_str request_header(const struct request *q, const char *name);

/* ---- Answers ------------------------------------------------------------- */

enum block { BLOCK_NONE, BLOCK_THINK, BLOCK_TEXT };

struct answer {
    const struct proto *proto;
    struct plan plan;
    struct arena arena; /* of request and plan */
    int64_t turn, calls;
    int64_t piece, pieces; /* the next, and how many */
    int64_t body_bytes;    /* so far */
    int64_t start_us;      /* of the body */
    int64_t slow_until_us;
    int64_t block_index, sequence; /* some protocols count */
    enum block block;              /* open now */
    bool whole;                    /* the body is made before the head */
    bool json, array, head_done;
    struct buf held; /* made but not yet framed */
    size_t held_at;
};

/* Words of a protocol. Each appends whole events. */
struct proto {
    const char *name, *suffix; /* of the path */
    const char *type, *type_json;
    void (*begin)(struct answer *a, struct buf *b);
    void (*think)(struct answer *a, struct buf *b, wend_str text);
    void (*text)(struct answer *a, struct buf *b, wend_str text);
    void (*call)(struct answer *a, struct buf *b, int64_t i, wend_str name,
                 wend_str args);
    void (*finish)(struct answer *a, struct buf *b);
    void (*error)(struct answer *a, struct buf *b);   /* in mid stream */
    void (*failure)(struct answer *a, struct buf *b); /* a body */
    void (*whole)(struct answer *a, struct buf *b);   /* not streamed */
};

extern const struct proto proto_chat, proto_responses, proto_messages,
    proto_gemini, proto_ollama, proto_raw;

enum { USAGE_INPUT = 10 };

/* Delta i, for who says all of them again at the end. Lent until the next
 * call. */
wend_str answer_text(const struct answer *a, int64_t i, char *room);
enum { TEXT_BYTES_MAX = 64 << 10 };
int64_t answer_texts(const struct answer *a); /* how many deltas of text */
int64_t answer_usage(const struct answer *a); /* output tokens */
void answer_put_text(const struct answer *a, struct buf *b); /* all, quoted */
/* The name of call i; its arguments are appended. */
wend_str answer_call(const struct answer *a, int64_t i, struct buf *args);
/* Words for plan.status: rate_limit_error ... */
const char *answer_error_type(const struct answer *a);

void answer_begin(struct answer *a, const struct request *q, uint64_t nth,
                  int64_t now_us);
enum answer_next {
    ANSWER_MORE,  /* bytes were added; call again */
    ANSWER_WAIT,  /* not before *due_us */
    ANSWER_DONE,  /* keep the connection, or close it if told */
    ANSWER_CLOSE, /* after what is in `out` */
    ANSWER_RESET,
    ANSWER_HANG,
};
enum answer_next answer_more(struct answer *a, struct buf *out, int64_t now_us,
                             int64_t *due_us);
void answer_free(struct answer *a);

/* ---- Connections --------------------------------------------------------- */

struct conn {
    struct server *server;
    int fd;
    SSL *ssl; /* NULL: plain */
    uint32_t events;
    struct buf in, out;
    size_t out_at;
    int64_t due_us;
    size_t heap_at; /* 1..; 0: no deadline */
    struct answer answer;
    bool answering, keep, hangs;
    enum { AFTER_NONE, AFTER_CLOSE, AFTER_RESET } after; /* all is written */
};

struct key_count {
    struct key_count *next;
    uint64_t count;
    size_t len;
    char key[];
};

struct server {
    struct mem mem;
    int epoll;
    SSL_CTX *tls;
    struct conn **heap;
    size_t heap_len, heap_cap;
    uint64_t connections, open, requests, bytes;
    struct key_count *keys;
    FILE *log;
};

void server_watch(struct conn *c, uint32_t events);
void server_due(struct conn *c, int64_t due_us); /* 0: no deadline */
int64_t server_now_us(void);
/* How often this key was seen before. */
uint64_t server_count(struct server *s, wend_str key);
void server_stats(const struct server *s, struct buf *b);

void conn_new(struct server *s, int fd, bool tls);
void conn_event(struct conn *c, uint32_t events);
void conn_go(struct conn *c); /* its deadline has come */

#endif

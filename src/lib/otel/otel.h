/*
 * otel.h - spans of a runtime's runs, on their way to a receiver.
 *
 * Nothing here makes a run wait or fail: what cannot be kept or sent is
 * counted. A runtime without wend_runtime_trace has none of it.
 */
#ifndef LIB_OTEL_H
#define LIB_OTEL_H

#include "lib/runtime/runtime.h"
#include "wire/otel/otel.h"

/* ---- Runs (trace.c) ------------------------------------------------------ */

/* An event that was decided; with `past` one of the log, before a resume. */
void trace_event(struct wend_run *r, const wend_event *ev, bool past);
/* All events of the run are in the store: its own span may go. */
void trace_kept(struct wend_run *r);
void trace_unend(struct wend_run *r); /* run_end was not kept */
void trace_drop(struct wend_run *r);  /* of a run that is being freed */

/* The traceparent of a span that is open, for requests and programs that belong
 * to it. False: the run is not traced, or there is no such span. */
bool trace_parent(const struct wend_run *r, enum otel_kind kind, wend_str id,
                  char out[OTEL_PARENT_LEN + 1]);
/* The tracestate that goes with it; empty: none. */
wend_str trace_state(const struct wend_run *r);

/* ---- Sending (sender.c) -------------------------------------------------- */

enum {
    TRACE_SPANS_MAX = 2048,      /* as the specification suggests */
    TRACE_BYTES_MAX = 4 << 20,   /* of them */
    TRACE_BATCH_SPANS_MAX = 512, /* at most, in one request */
    TRACE_BATCH_BYTES_MAX =
        1 << 20,                 /* of them: receivers refuse more than 4 MiB */
    TRACE_BATCH_DELAY_MS = 1000, /* that a span waits for others */
    TRACE_TIMEOUT_MS = 10000,    /* of a request */
    TRACE_ATTEMPTS_MAX = 5,      /* of a batch */
    TRACE_BACKOFF_MS = 1000,     /* before the second one; then twice as long */
    TRACE_WAIT_MAX_MS = 30000,   /* whatever Retry-After says */
    TRACE_ANSWER_MAX = 4 << 10,  /* of an answer: more is not looked at */
    TRACE_HEADERS_MAX = 16,
};

struct sender_span;

struct tracer {
    wend_runtime *rt;
    struct arena arena; /* of what it was told */
    const char *url;
    const char *headers[TRACE_HEADERS_MAX + 2];
    bool secret, content;
    const struct json *resource;
    int64_t timeout_ms;
    void (*warn)(void *ctx, const char *message);
    void *warn_ctx;
    struct kept *warn_kept;
    bool warned;
    struct sender_span *first, **tail; /* the queue, oldest first */
    size_t waiting, bytes;
    struct buf body;   /* of the request that is under way or waits */
    size_t body_spans; /* in it; 0: there is none */
    struct transfer *transfer;
    int status; /* of the answer */
    struct buf answer;
    int64_t wait_ms; /* that the answer wants */
    unsigned attempts;
    bool hurries;
    struct timer_node timer;
    int64_t sent, dropped;
};

/* Queues spans, a line each. */
void sender_add(struct tracer *t, wend_str lines);
void sender_lost(struct tracer *t, uint64_t count);
/* What waits is sent now; a batch that fails is not sent again. */
void sender_hurry(struct tracer *t, bool yes);
bool sender_idle(const struct tracer *t);
/* Stops and frees everything; t may be NULL. */
void tracer_free(struct tracer *t);
void sender_open(struct tracer *t); /* t->rt is set */

#endif

/*
 * wend_trace.h - runs as spans of OpenTelemetry. Included by wend.h.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_TRACE_H
#define WEND_TRACE_H

/* ---- Traces: runs as spans of OpenTelemetry ------------------------------ */

typedef struct wend_trace_options {
    size_t size;
    /* Where spans are sent (OTLP/HTTP with JSON), with its path, such as
     * http://127.0.0.1:4318/v1/traces. */
    const char *url;
    /* `Name: value` each, NULL at the end; up to 16. NULL: none. With one of
     * them a plain http URL must be of this machine. */
    const char *const *headers;
    /* A JSON object with string values: what the spans have in common, such as
     * service.name, which is "wend" by default. NULL: nothing else. */
    const char *resource;
    /* Also prompts, answers, arguments, results and the texts of errors, up
     * to 64 KiB each. */
    bool content;
    uint32_t timeout_ms; /* of a request; default 10 s */
    /* Called at most once, when spans could not be sent; NULL: nothing is
     * said. */
    void (*warn)(void *ctx, const char *message);
    void *warn_ctx;
    wend_release_fn warn_release; /* for warn_ctx; see Release */
} wend_trace_options;

/* Sends spans of all runs that the runtime starts or resumes from now on. It
 * never makes a run wait or fail: spans wait in a queue of up to 2,048 and
 * 4 MiB, and are dropped when it is full. Requests are sent while the runtime
 * is pumped, a second after a span has ended, or when 512 wait; those that
 * fail are repeated for some time. A run is part of the trace that its label
 * `traceparent` names, as W3C Trace Context has it; else its trace has the
 * digits of its id. WEND_E_EXISTS: it was called before. WEND_E_INVAL: the URL,
 * a header or the resource is invalid. */
WEND_API wend_status wend_runtime_trace(wend_runtime *rt,
                                        const wend_trace_options *options,
                                        wend_error *err);
/* Sends what is in the queue, and pumps the runtime for at most timeout_ms.
 * WEND_AGAIN: some of it is not sent. For programs that are about to end:
 * wend_runtime_free drops the queue. */
WEND_API wend_status wend_runtime_trace_flush(wend_runtime *rt,
                                              uint32_t timeout_ms);

typedef struct wend_trace_counts {
    size_t size;
    int64_t sent;    /* spans that the receiver has accepted */
    int64_t dropped; /* that it refused, or that could not be sent or queued */
    int64_t waiting; /* in the queue or on their way */
} wend_trace_counts;

/* Counts the spans of a runtime so far; set out->size. Without
 * wend_runtime_trace all counts are 0. */
WEND_API wend_status wend_runtime_trace_counts(const wend_runtime *rt,
                                               wend_trace_counts *out);

#endif

/*
 * sse.h - server-sent events and lines, from bytes in any chunks.
 *
 * The algorithm of the HTML standard: LF, CRLF and bare CR end a line, also
 * when a CRLF is split; one leading BOM is dropped; fields, comments, joined
 * data lines. Two things differ for model servers: an event at the end of
 * input counts although no blank line followed it, and a line `error: ...`
 * (which some servers send) is given as an event named "error".
 */
#ifndef WIRE_SSE_H
#define WIRE_SSE_H

#include "base/str.h"

enum sse_framing {
    SSE_EVENTS, /* text/event-stream */
    SSE_LINES,  /* one JSON value a line; empty lines are skipped */
};

/* name is empty when the event has none; data is valid UTF-8 (bad bytes are
 * replaced). Returns false to stop. */
typedef bool (*sse_fn)(void *ctx, wend_str name, wend_str data);

struct sse {
    enum sse_framing framing;
    size_t bytes_max; /* of one line and of one event's data */
    struct buf line;  /* begun in an earlier chunk */
    struct buf name, data, clean;
    wend_str lent; /* the event's only data line, still in the chunk */
    bool begun, after_cr, any_data, stopped;
    wend_status status; /* WEND_E_LIMIT, WEND_E_NOMEM stick */
    /* For who asks again where a stream ended: the newest id, and how long
     * to wait; -1: not said. */
    struct buf id;
    int64_t retry_ms;
};

enum { SSE_ID_MAX = 1024 }; /* a longer id is no id */

void sse_init(struct sse *s, const struct mem *m, enum sse_framing framing,
              size_t bytes_max);
/* Any chunking gives the same events. An event that is whole in its chunk
 * is given where it lies, without a copy. */
wend_status sse_feed(struct sse *s, const char *p, size_t len, sse_fn fn,
                     void *ctx);
wend_status sse_end(struct sse *s, sse_fn fn, void *ctx);
void sse_free(struct sse *s);

#endif

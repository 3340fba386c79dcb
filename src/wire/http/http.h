/*
 * http.h - HTTP as bytes: answers and event streams.
 */
#ifndef WIRE_HTTP_H
#define WIRE_HTTP_H

#include "base/str.h"
#include "wire/http/chunks.h"

/* ---- Answers of HTTP/1.1 (RFC 9112), from bytes in any chunks ------------ */

enum {
    HTTP1_HEAD_MAX = 32 << 10, /* status line and headers; so are trailers */
    HTTP1_CHUNK_LINE_MAX = 4 << 10, /* a chunk's size and its extensions */
    HTTP1_INTERIM_MAX = 16,         /* heads before the one that counts */
};

/* `why` of a head over HTTP1_HEAD_MAX: no other attempt would be shorter. */
extern const char http1_head_too_long[];

enum http1_event {
    HTTP1_MORE,  /* all that was given is read */
    HTTP1_HEAD,  /* `status` and `head` are known */
    HTTP1_BODY,  /* bytes of the body: see http1_take */
    HTTP1_DONE,  /* complete; what is left of the input belongs to no answer */
    HTTP1_BAD,   /* `why` says what is wrong */
    HTTP1_NOMEM, /* for the head */
};

enum http1_state {
    HTTP1_STATUS_LINE,
    HTTP1_FIELDS,
    HTTP1_LENGTH, /* `left` bytes */
    HTTP1_CLOSE,  /* as many as come */
    HTTP1_CHUNKS,
    HTTP1_OVER,
    HTTP1_BROKEN,
};

struct http1 {
    struct buf *head; /* the caller's: status line and headers, as they came */
    int status;
    bool keep;       /* when done: the connection may be used again */
    const char *why; /* of HTTP1_BAD */
    /* The reader's own. */
    enum http1_state state;
    bool no_body, chunked, has_length, old, says_close, says_keep;
    size_t line_at; /* in head: where the line begins */
    int interim;
    uint64_t left; /* of a body with a length */
    struct http_chunks chunks;
};

/* For the answer to the next request; to_head: to one with HEAD. */
void http1_begin(struct http1 *h, struct buf *head, bool to_head);
/* Takes from the front of *in. HTTP1_BODY: *body is the front of *in, and is
 * not taken yet. */
enum http1_event http1_next(struct http1 *h, wend_str *in, wend_str *body);
/* Takes n bytes of the body, or fewer than were given. */
void http1_take(struct http1 *h, wend_str *in, size_t n);
/* The connection was closed: HTTP1_DONE, or HTTP1_BAD. */
enum http1_event http1_end(struct http1 *h);
/* Whether any byte of an answer has come. */
bool http1_begun(const struct http1 *h);

/* ---- Server-sent events and lines, from bytes in any chunks -------------- */

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
    /* To resume a stream that ended early: the newest id, and how long to
     * wait; -1: not said. */
    struct buf id;
    int64_t retry_ms;
};

enum { SSE_ID_MAX = 1024 }; /* longer ones are ignored */

void sse_init(struct sse *s, const struct mem *m, enum sse_framing framing,
              size_t bytes_max);
/* Any chunking gives the same events. An event that is whole in its chunk
 * is given where it lies, without a copy. */
wend_status sse_feed(struct sse *s, const char *p, size_t len, sse_fn fn,
                     void *ctx);
wend_status sse_end(struct sse *s, sse_fn fn, void *ctx);
void sse_free(struct sse *s);

#endif

/*
 * request_help.h - all requests of a connection, read in pieces, as text.
 */
#ifndef TESTS_REQUEST_HELP_H
#define TESTS_REQUEST_HELP_H

#include <stdlib.h>

#include "base/chance.h"
#include "wire/http/request.h"

/* Appends a request to the text, when it is complete. */
typedef void (*request_put_fn)(struct buf *out, const struct http_req *r,
                               wend_str body);

struct request_reading {
    request_put_fn put;
    uint64_t body_max; /* of each request */
    struct http_req r;
    struct buf head, body, out;
    int requests;    /* complete */
    uint64_t taken;  /* bytes, until the first that is wrong */
    bool bad, wrong; /* refused; the reader broke a promise */
};

static const struct mem request_mem;

static inline void request_reading_begin(struct request_reading *g,
                                         request_put_fn put, uint64_t body_max)
{
    *g = (struct request_reading){.put = put, .body_max = body_max};
    g->head.mem = g->body.mem = g->out.mem = &request_mem;
    http_req_begin(&g->r, &g->head);
}

static inline void request_reading_free(struct request_reading *g)
{
    buf_free(&g->head);
    buf_free(&g->body);
    buf_free(&g->out);
}

static inline void request_done(struct request_reading *g)
{
    g->requests++;
    g->put(&g->out, &g->r, buf_view(&g->body));
    buf_clear(&g->body);
    http_req_begin(&g->r, &g->head);
}

/* The piece is in memory of its own: nothing is read beyond it. */
static inline void request_feed(struct request_reading *g, wend_str piece)
{
    char *copy = malloc(piece.len + 1);
    wend_str in = {copy, piece.len}, before, body;
    enum http_req_event e = HTTP_REQ_HEAD;

    memcpy(copy, piece.ptr, piece.len);
    while (!g->bad && e != HTTP_REQ_MORE) {
        before = in;
        e = http_req_next(&g->r, &in, &body);
        g->wrong |= in.len > before.len ||
                    in.ptr + in.len != before.ptr + before.len ||
                    (e == HTTP_REQ_BODY) != (body.len > 0) ||
                    (e == HTTP_REQ_MORE && in.len) || e == HTTP_REQ_NOMEM;
        g->taken += before.len - in.len;
        if (e == HTTP_REQ_HEAD)
            g->r.body_max = g->body_max;
        buf_str(&g->body, body);
        g->bad = e == HTTP_REQ_BAD;
        if (e == HTTP_REQ_DONE)
            request_done(g);
    }
    free(copy);
}

/* step 0: pieces of 1 to 40 bytes by chance. */
static inline void request_read(struct request_reading *g, wend_str in,
                                size_t step, struct chance *c)
{
    for (size_t at = 0, len; at < in.len; at += len) {
        len = step ? step : 1 + chance_below(c, 40);
        if (len > in.len - at)
            len = in.len - at;
        request_feed(g, (wend_str){in.ptr + at, len});
    }
}

#endif

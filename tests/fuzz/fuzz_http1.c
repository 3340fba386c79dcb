/*
 * fuzz_http1.c - any bytes: the same answer however they are cut.
 *
 * The first byte says whether the request was HEAD, and where it is cut.
 */
#include "wire/http/http.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mem plain;

static void must(bool holds)
{
    if (!holds)
        abort();
}

struct reading {
    struct http1 h;
    struct buf head, body;
    int heads;
    enum http1_event end; /* HTTP1_MORE: none yet */
    size_t left;
};

/* Each piece in memory of its own. */
static void feed(struct reading *r, const uint8_t *p, size_t len)
{
    char *copy = malloc(len);
    wend_str in = {copy, len}, piece;
    enum http1_event e;

    memcpy(copy, p, len);
    while (r->end == HTTP1_MORE &&
           (e = http1_next(&r->h, &in, &piece)) != HTTP1_MORE) {
        must(e != HTTP1_NOMEM && in.len <= len);
        if (e == HTTP1_HEAD) {
            r->heads++;
            must(r->h.status >= 200 && r->h.status < 1000);
            must(r->head.len <= HTTP1_HEAD_MAX);
        } else if (e == HTTP1_BODY) {
            must(piece.len && piece.ptr == in.ptr && piece.len <= in.len);
            buf_str(&r->body, piece);
            http1_take(&r->h, &in, piece.len);
        } else {
            r->end = e;
        }
    }
    must(r->end != HTTP1_MORE || !in.len);
    r->left += in.len;
    free(copy);
}

static void run(const uint8_t *data, size_t size, size_t step,
                struct reading *r)
{
    *r = (struct reading){.head.mem = &plain, .body.mem = &plain};
    http1_begin(&r->h, &r->head, data[0] & 1);
    for (size_t at = 1, len; at < size; at += len) {
        len = step && step < size - at ? step : size - at;
        feed(r, data + at, len);
    }
    if (r->end == HTTP1_MORE)
        r->end = http1_end(&r->h);
    must(r->end == HTTP1_DONE || (r->end == HTTP1_BAD && r->h.why));
    must(r->heads <= 1 && (r->heads || !r->body.len));
    must(!(data[0] & 1) || !r->body.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading whole, cut;

    if (!size)
        return 0;
    run(data, size, 0, &whole);
    run(data, size, 1 + (data[0] >> 1 & 15), &cut);
    must(whole.end == cut.end && whole.heads == cut.heads);
    must(str_eq(buf_view(&whole.body), buf_view(&cut.body)));
    if (whole.end == HTTP1_DONE) {
        must(whole.h.keep == cut.h.keep && whole.left == cut.left);
        must(str_eq(buf_view(&whole.head), buf_view(&cut.head)));
    } else {
        must(!strcmp(whole.h.why, cut.h.why) && !whole.h.keep);
    }
    buf_free(&whole.head);
    buf_free(&whole.body);
    buf_free(&cut.head);
    buf_free(&cut.body);
    return 0;
}

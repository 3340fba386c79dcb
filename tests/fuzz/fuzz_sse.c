/*
 * fuzz_sse.c - any bytes: the same events however they are cut, valid UTF-8.
 *
 * The first byte chooses framing, limit and where it is cut.
 */
#include "wire/http/http.h"

#include <stdlib.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool note(void *ctx, wend_str name, wend_str data)
{
    struct buf *b = ctx;

    must(utf8_valid_len(name) == name.len);
    must(utf8_valid_len(data) == data.len);
    buf_fmt(b, "%zu %zu ", name.len, data.len);
    buf_str(b, name);
    buf_str(b, data);
    return b->len < 1 << 16;
}

/* Each piece in memory of its own; a step of 0 is one piece. */
static wend_status run(const uint8_t *data, size_t size, size_t step,
                       struct buf *out)
{
    static const struct mem plain;
    struct sse s;
    wend_status status;

    out->mem = &plain;
    sse_init(&s, &plain, data[0] & 1 ? SSE_LINES : SSE_EVENTS,
             data[0] & 2 ? 20 : 1 << 20);
    for (size_t at = 1, len; at < size; at += len) {
        char *piece;

        len = step && step < size - at ? step : size - at;
        piece = malloc(len);
        memcpy(piece, data + at, len);
        sse_feed(&s, piece, len, note, out);
        free(piece);
    }
    status = sse_end(&s, note, out);
    sse_free(&s);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = {0}, cut = {0};
    wend_status status;

    if (!size)
        return 0;
    status = run(data, size, 0, &whole);
    must(status == WEND_OK || status == WEND_E_LIMIT);
    must(run(data, size, 1 + (data[0] >> 2 & 7), &cut) == status);
    must(str_eq(buf_view(&whole), buf_view(&cut)));
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}

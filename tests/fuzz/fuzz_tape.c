/*
 * fuzz_tape.c - any bytes as a recording: read to a clear end; the first
 * difference of any two requests is told in valid UTF-8.
 */
#include "base/header.h"
#include "lib/model/tape.h"

#include <stdlib.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void read_response(wend_str rest)
{
    const char *end = rest.ptr + rest.len;
    struct tape_item item = {0};
    enum tape_got got;
    wend_str headers = STR_NONE;
    int status = 0;

    if (!tape_take_head(&rest, &status, &headers, &got)) {
        must(got == TAPE_CUT || got == TAPE_BAD);
        return;
    }
    must(status >= 0 && status < 1000);
    header_value(headers, "content-type");
    while ((got = tape_take(&rest, &item)) == TAPE_CHUNK)
        must(item.at_us >= 0 && item.bytes.ptr + item.bytes.len < end);
    must(got != TAPE_END || !rest.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mem plain;
    wend_str all = {(const char *)data, size}, a, b;
    struct buf out = {.mem = &plain};
    size_t half;

    if (!size)
        return 0;
    read_response(all);
    half = size * data[0] / 256;
    a = (wend_str){all.ptr, half};
    b = (wend_str){all.ptr + half, size - half};
    must(tape_diff(&out, a, b) == !str_eq(a, b));
    must(utf8_valid_len(buf_view(&out)) == out.len);
    buf_free(&out);
    return 0;
}

/*
 * fuzz_listing.c - any list of models, of any provider: rows are sound, and the
 * next page can be asked for.
 *
 * The first byte chooses the provider.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "wire/model/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Ends early now and then. */
static bool on_row(void *ctx, const wend_model_info *row)
{
    size_t *left = ctx;

    must(row->name.len && row->window >= 0 && row->output >= 0);
    must(utf8_valid_len(row->name) == row->name.len);
    return (*left)-- > 1;
}

/* A page of theirs is data: it ends neither the path nor the line. */
static void check_path(const struct codec *c, wend_str page)
{
    static const struct mem plain;
    struct buf b = {.mem = &plain};

    listing_path(c, page, &b);
    must(b.len && b.ptr[0] == '/');
    for (size_t i = 0; i < b.len; i++)
        must((unsigned char)b.ptr[i] > ' ' && (unsigned char)b.ptr[i] < 0x7f &&
             b.ptr[i] != '#');
    buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};
    const struct codec *c;
    const struct json *body;
    wend_str page = STR_NONE;
    size_t left, count = 0;

    if (!size)
        return 0;
    while (codec_at(count))
        count++;
    c = codec_at(data[0] % count);
    left = 1 + data[0] / count;
    check_path(c, STR_NONE);
    body = json_parse((wend_str){(const char *)data + 1, size - 1}, &a, NULL);
    if (listing_read(c, body, on_row, &left, &page)) {
        must(body != NULL);
        if (page.len)
            check_path(c, page);
    } else {
        must(!page.len);
    }
    arena_free(&a);
    return 0;
}

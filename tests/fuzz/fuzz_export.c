/*
 * fuzz_export.c - any bytes as an exported run: refused with a line, or
 * stored so that it verifies and can be exported again.
 *
 * Hashes would keep all but whole files out, so that after a first byte of
 * `h` they are made to fit: a line that begins with `{` is the body of an
 * event, one with `[` that of deltas.
 */
#include <stdlib.h>

#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUN "01a1deac-f734-741b-a843-46a23923acaf"

static const struct mem plain;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool drop(void *ctx, wend_str bytes)
{
    *(size_t *)ctx += bytes.len;
    return true;
}

static void check_run(void *ctx, const char *run, int64_t events)
{
    wend_store *store = ctx;
    wend_verdict v = {.size = sizeof v};
    size_t bytes = 0;

    must(events >= 0);
    must(wend_store_verify(store, run, NULL, &v, NULL) == WEND_OK);
    must(!v.bad_seq && v.seq >= events);
    must(wend_store_export(store, run, 0, drop, &bytes, NULL) == WEND_OK);
    must(bytes > 0);
}

static void make_fit(wend_str in, struct buf *out)
{
    struct chain c = {0};
    char hex[SHA256_HEX + 1];
    int64_t seq = 0, n = 1;

    buf_cstr(out, "{\"wend\":\"run/1\",\"run\":\"" RUN "\"}\n");
    while (in.len) {
        const char *eol = memchr(in.ptr, '\n', in.len);
        wend_str line = {in.ptr, eol ? (size_t)(eol - in.ptr) : in.len};

        if (line.len && line.ptr[0] == '{') {
            chain_event(&c, line);
            hex_text(hex, c.head, SHA256_BYTES);
            buf_fmt(out, "{\"hash\":\"%s\",\"event\":", hex);
            seq++;
            n = 1;
        } else if (line.len) {
            chain_pack(&c, line);
            buf_fmt(out,
                    "{\"seq\":%d,\"n\":%d,\"count\":1,\"deltas\":", (int)seq,
                    (int)n++);
        }
        buf_str(out, line);
        buf_cstr(out, "}\n");
        in.ptr += line.len + (eol != NULL);
        in.len -= line.len + (eol != NULL);
    }
    hex_text(hex, c.head, SHA256_BYTES);
    buf_fmt(out, "{\"end\":\"" RUN "\",\"seq\":%d,\"head\":\"%s\"}\n", (int)seq,
            hex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_str all = {(const char *)data, size};
    struct buf made = {.mem = &plain};
    wend_store *store = NULL;
    wend_error err = {0};
    wend_status s;

    must(wend_store_open("memory:", &store, NULL) == WEND_OK);
    if (size && data[0] == 'h') {
        make_fit((wend_str){all.ptr + 1, size - 1}, &made);
        all = buf_view(&made);
    }
    s = wend_store_import(store, all, check_run, store, &err);
    must(s == WEND_OK || s == WEND_E_INVAL || s == WEND_E_EXISTS ||
         ((s == WEND_E_PARSE || s == WEND_E_CORRUPT) && err.line));
    wend_store_free(store);
    buf_free(&made);
    return 0;
}

/*
 * fuzz_jsonrpc.c - messages of JSON-RPC: what is read can be answered.
 */
#include <stdlib.h>

#include "wire/mcp/jsonrpc.h"

static const struct mem plain;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void ignore(void *ctx, const struct rpc *m)
{
    (void)ctx;
    (void)m;
}

static void answer(void *ctx, const struct rpc *m)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    size_t skipped;

    (void)ctx;
    must(m->kind != RPC_REQUEST || (m->id && m->method.ptr));
    must(m->kind != RPC_NOTIFICATION || (!m->id && m->method.ptr));
    must(m->kind != RPC_RESULT || (m->id && m->result));
    if (m->id) {
        rpc_put_error(&b, m->id, RPC_METHOD_NOT_FOUND, "no");
        must(rpc_read(buf_view(&b), &a, ignore, NULL, &skipped, NULL) ==
                 WEND_OK &&
             !skipped);
    }
    buf_free(&b);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {.mem = &plain};
    size_t skipped;

    rpc_read((wend_str){(const char *)data, size}, &a, answer, NULL, &skipped,
             NULL);
    arena_free(&a);
    return 0;
}

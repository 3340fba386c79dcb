/*
 * fuzz_mcp.c - the MCP machine under any script (see mcp_help.h), and any
 * bytes as a stream of lines: every call ends once, in every chunking.
 */
#include "../unit/mcp_help.h"

static void must(const struct driven *d)
{
    if (d->broken) {
        fprintf(stderr, "%s\n", buf_view(&d->lines).ptr);
        abort();
    }
}

static void script(wend_str in, enum mcp_transport transport)
{
    struct driven d;

    driven_open(&d, &mcp_plain, transport);
    driven_script(&d, in);
    driven_close(&d);
    must(&d);
    buf_free(&d.lines);
}

static bool on_line(void *ctx, wend_str name, wend_str data)
{
    struct driven *d = ctx;

    (void)name;
    mcp_text(&d->mcp, data);
    return true;
}

static struct buf stream(wend_str in, size_t step)
{
    struct sse framing;
    struct driven d;

    driven_open(&d, &mcp_plain, MCP_STDIO);
    sse_init(&framing, &mcp_plain, SSE_LINES, LINE_BYTES_MAX);
    mcp_start(&d.mcp);
    for (size_t i = 0; i < in.len; i += step)
        sse_feed(&framing, in.ptr + i, in.len - i < step ? in.len - i : step,
                 on_line, &d);
    driven_close(&d);
    must(&d);
    sse_free(&framing);
    return d.lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_str in = {(const char *)data, size};
    struct buf whole, bytes;

    script(in, MCP_STDIO);
    script(in, MCP_HTTP);
    whole = stream(in, size ? size : 1);
    bytes = stream(in, 1);
    if (!str_eq(buf_view(&whole), buf_view(&bytes)))
        abort();
    buf_free(&whole);
    buf_free(&bytes);
    return 0;
}

/*
 * fuzz_request.c - any bytes: the same requests however they are cut, and what
 * is accepted reads the same when it is written again.
 *
 * The first byte says where it is cut, and how long a body may be.
 */
#include "request_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct http_req *r, wend_str body)
{
    struct http_host host;

    must(r->method.len && r->method.len <= HTTP_REQ_METHOD_MAX);
    must(r->path.len && (r->path.ptr[0] == '/' || str_is(r->path, "*")));
    must(r->fields_count <= HTTP_REQ_FIELDS_MAX && body.len <= r->body_max);
    must(r->old || r->host.ptr);
    must(!r->host.ptr || http_host_read(r->host, &host));
    must(r->length < 0 || body.len == (uint64_t)r->length);
    must(r->has_body == (r->length != 0) && (!r->old || r->length >= 0));
    must(!r->expects || (r->has_body && !r->old));
    must(r->head->len <= HTTP_REQ_LINE_MAX + HTTP_REQ_FIELDS_BYTES + 4);
}

static void write_again(struct buf *out, const struct http_req *r,
                        wend_str body)
{
    check(r, body);
    buf_str(out, r->method);
    buf_char(out, ' ');
    buf_str(out, r->target);
    buf_cstr(out, r->old ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    for (size_t i = 0; i < r->fields_count; i++) {
        struct http_field f = http_req_field(r, i);

        buf_str(out, f.name);
        buf_char(out, ':');
        buf_str(out, f.value);
        buf_cstr(out, "\r\n");
    }
    buf_cstr(out, "\r\n");
    if (r->length >= 0) {
        buf_str(out, body);
    } else {
        http_chunk_put(out, body);
        buf_cstr(out, http_chunk_last);
    }
}

static void run(struct request_reading *g, wend_str in, size_t step,
                uint64_t body_max)
{
    request_reading_begin(g, write_again, body_max);
    request_read(g, in, step, NULL);
    must(!g->wrong && g->taken <= in.len);
    must(g->bad || g->taken == in.len);
    must(!g->bad || (g->r.status >= 400 && g->r.why && !g->r.keep));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request_reading whole, cut, again;
    wend_str in = {(const char *)data + 1, size - 1};
    uint64_t body_max;

    if (!size)
        return 0;
    body_max = data[0] & 1 ? 1 << 20 : 8;
    run(&whole, in, size, body_max);
    run(&cut, in, 1 + (data[0] >> 1 & 31), body_max);
    run(&again, buf_view(&whole.out), size, body_max);
    must(str_eq(buf_view(&whole.out), buf_view(&cut.out)));
    must(whole.bad == cut.bad && whole.requests == cut.requests);
    must(!whole.bad ||
         (whole.r.status == cut.r.status && !strcmp(whole.r.why, cut.r.why)));
    must(http_req_begun(&whole.r) == http_req_begun(&cut.r));
    must(!again.bad && !http_req_begun(&again.r));
    must(again.requests == whole.requests);
    must(str_eq(buf_view(&whole.out), buf_view(&again.out)));
    request_reading_free(&whole);
    request_reading_free(&cut);
    request_reading_free(&again);
    return 0;
}

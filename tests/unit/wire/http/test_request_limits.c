/*
 * test_request_limits.c - requests at each limit, without end or memory.
 */
#include "wire/http/request.h"

#include "fault.h"
#include "request_help.h"
#include "tap.h"

#define GET "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

enum { BODY_MAX = 100 };

static void put(struct buf *out, const struct http_req *r, wend_str body)
{
    (void)body;
    buf_str(out, r->method);
}

/* A body of 10 GB is refused with its head, and not a byte of it is read. */
static void test_large(void)
{
    struct buf head = {.mem = &request_mem};
    wend_str body, in = STR(POST "Content-Length: 10737418240\r\n\r\nabc");
    struct http_req r;

    http_req_begin(&r, &head);
    tap_is_i64(http_req_next(&r, &in, &body), HTTP_REQ_HEAD, "a long body");
    tap_is_i64(r.length, 10737418240, "its length");
    tap_is_i64(http_req_next(&r, &in, &body), HTTP_REQ_BAD, "no limit is set");
    tap_is_i64(r.status, 413, "that means none is accepted");
    tap_is_i64((int64_t)in.len, 3, "nothing of it is taken");
    tap_is_i64(http_req_next(&r, &in, &body), HTTP_REQ_BAD, "told again");
    buf_free(&head);
}

/* ---- Limits -------------------------------------------------------------- */

static void add_times(struct buf *b, const char *s, size_t n)
{
    while (n--)
        buf_cstr(b, s);
}

static void put_line(struct buf *b, size_t size)
{
    buf_cstr(b, "GET /");
    add_times(b, "x", size - strlen("GET / HTTP/1.1"));
    buf_cstr(b, " HTTP/1.1\r\n" HOST "\r\n");
}

static void put_long_field(struct buf *b, size_t size)
{
    buf_cstr(b, GET HOST "X: ");
    add_times(b, "x", size - strlen(HOST "X: \r\n"));
    buf_cstr(b, "\r\n\r\n");
}

static void put_short_fields(struct buf *b, size_t size)
{
    size_t before, line = 500;

    buf_cstr(b, GET HOST);
    before = b->len - strlen(HOST);
    while (size - (b->len - before) > 2 * line) {
        buf_cstr(b, "X: ");
        add_times(b, "x", line - strlen("X: \r\n"));
        buf_cstr(b, "\r\n");
    }
    buf_cstr(b, "X: ");
    add_times(b, "x", size - (b->len - before) - 2);
    buf_cstr(b, "\r\n\r\n");
}

static void put_many_fields(struct buf *b, size_t count)
{
    buf_cstr(b, GET HOST);
    add_times(b, "A:\r\n", count - 1);
    buf_cstr(b, "\r\n");
}

static void put_chunk_line(struct buf *b, size_t size)
{
    buf_cstr(b, CHUNKED "0;");
    add_times(b, "x", size - strlen("0;\r\n"));
    buf_cstr(b, "\r\n\r\n");
}

static void put_extensions(struct buf *b, size_t size)
{
    buf_cstr(b, CHUNKED);
    for (; size > 200; size -= 99) { /* the CR counts as well */
        buf_cstr(b, "1;");
        add_times(b, "x", 98);
        buf_cstr(b, "\r\na\r\n");
    }
    buf_cstr(b, "0;");
    add_times(b, "x", size - 1);
    buf_cstr(b, "\r\n\r\n");
}

static void put_trailers(struct buf *b, size_t size)
{
    buf_cstr(b, CHUNKED "0\r\nA: b\r\nX: ");
    add_times(b, "x", size - strlen("A: b\r\nX: \r\n\r\n"));
    buf_cstr(b, "\r\n\r\n");
}

static void test_limits(void)
{
    static const struct {
        const char *why;
        void (*put)(struct buf *b, size_t size);
        size_t limit;
        int status;
        const char *wanted;
    } rows[] = {
        {"the request line", put_line, HTTP_REQ_LINE_MAX, 414,
         "the request line is over 8 KiB"},
        {"one header", put_long_field, HTTP_REQ_FIELDS_BYTES, 431,
         "the headers are over 32 KiB"},
        {"bytes of headers", put_short_fields, HTTP_REQ_FIELDS_BYTES, 431,
         "the headers are over 32 KiB"},
        {"headers", put_many_fields, HTTP_REQ_FIELDS_MAX, 431,
         "over 100 headers"},
        {"a chunk's line", put_chunk_line, HTTP_REQ_CHUNK_LINE_MAX, 400,
         "the line of a chunk is too long"},
        {"extensions", put_extensions, HTTP_REQ_CHUNK_EXT_MAX, 400,
         "the extensions of chunks are too long"},
        {"trailers", put_trailers, HTTP_REQ_TRAILERS_BYTES, 431,
         "the trailers are too long"},
    };
    static const size_t steps[] = {1, 7, 1000, 1 << 20};
    struct chance c = {1};

    for (size_t i = 0; i < tap_count(rows); i++)
        for (size_t more = 0; more < 3; more++) {
            struct buf in = {.mem = &request_mem};
            size_t bad = 0;

            rows[i].put(&in, rows[i].limit - 1 + more);
            for (size_t k = 0; k < tap_count(steps); k++) {
                struct request_reading g;

                request_reading_begin(&g, put, BODY_MAX);
                request_read(&g, buf_view(&in), steps[k], &c);
                bad += more < 2 ? g.bad || g.requests != 1
                                : !g.bad || g.r.status != rows[i].status ||
                                      strcmp(g.r.why, rows[i].wanted) != 0;
                request_reading_free(&g);
            }
            tap_ok(!bad, "limit %+d: %s", (int)more - 1, rows[i].why);
            buf_free(&in);
        }
}

/* What never ends takes no more memory than the limit. */
static void test_endless(void)
{
    static const struct {
        const char *why, *begin, *more;
        int status;
    } rows[] = {
        {"an endless target", "GET /", "xxxxxxxx", 414},
        {"an endless header", GET "X: ", "xxxxxxxx", 431},
        {"endless headers", GET, "A: b\r\n", 431},
        {"an endless extension", CHUNKED "1;", "xxxxxxxx", 400},
        {"an endless size", CHUNKED, "00000000", 400},
        {"endless trailers", CHUNKED "0\r\n", "A: b\r\n", 431},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct request_reading g;

        request_reading_begin(&g, put, BODY_MAX);
        request_feed(&g, str_of(rows[i].begin));
        for (int k = 0; k < 100000 && !g.bad; k++)
            request_feed(&g, str_of(rows[i].more));
        tap_is_i64(g.r.status, rows[i].status, "%s", rows[i].why);
        tap_ok(g.head.cap <= (64 << 10), "in bounded memory (%zu bytes)",
               g.head.cap);
        request_reading_free(&g);
    }
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0, rounds = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf head = {.mem = &m};
        wend_str body, in = STR(GET HOST "\r\n");
        struct http_req r;

        http_req_begin(&r, &head);
        bad += http_req_next(&r, &in, &body) !=
               (f.hit ? HTTP_REQ_NOMEM : HTTP_REQ_HEAD);
        buf_free(&head);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(!bad && rounds > 1, "without memory (%d rounds)", rounds);
}

int main(void)
{
    test_large();
    test_limits();
    test_endless();
    test_no_memory();
    return tap_done();
}

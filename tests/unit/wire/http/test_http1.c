/*
 * test_http1.c - answers of HTTP/1.1: each row in any chunks, at the limits.
 */
#include "wire/http/http.h"

#include <stdlib.h>

#include "fault.h"
#include "tap.h"

#define OK11 "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK11 "Transfer-Encoding: chunked\r\n\r\n"

static const struct mem plain;

/* How an answer reads: `STATUS body` and then `keep` or `close`, with what is
 * left of the input; or what is wrong with it. */
struct row {
    const char *why, *input, *wanted;
};

static const struct row bodies[] = {
    {"a length", OK11 "Content-Length: 3\r\n\r\nabc", "200 abc keep"},
    {"no bytes", OK11 "Content-Length: 0\r\n\r\n", "200  keep"},
    {"names in any case", OK11 "CONTENT-length:3\r\n\r\nabc", "200 abc keep"},
    {"space around a value", OK11 "Content-Length: \t 3 \t\r\n\r\nabc",
     "200 abc keep"},
    {"the same length twice",
     OK11 "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "200 abc keep"},
    {"no length: until the end", OK11 "\r\nabc", "200 abc close"},
    {"chunks", CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "200 abcde keep"},
    {"hexadecimal", CHUNKED "00a\r\n0123456789\r\n0\r\n\r\n",
     "200 0123456789 keep"},
    {"in any case", CHUNKED "A\r\n0123456789\r\n000\r\n\r\n",
     "200 0123456789 keep"},
    {"extensions", CHUNKED "3;a=b;c=\"d\"\r\nabc\r\n0 ;x\r\n\r\n",
     "200 abc keep"},
    {"trailers", CHUNKED "3\r\nabc\r\n0\r\nA: b\r\nC:\r\n\r\n", "200 abc keep"},
    {"a line end inside a chunk", CHUNKED "4\r\na\r\nb\r\n0\r\n\r\n",
     "200 a\r\nb keep"},
    {"no words in the status", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na",
     "200 a keep"},
    {"words in any bytes",
     "HTTP/1.1 404 \xc3\xa9t\xc3\xa9\r\nContent-Length: 0\r\n\r\n",
     "404  keep"},
    {"a later version", "HTTP/1.9 200 OK\r\nContent-Length: 1\r\n\r\na",
     "200 a keep"},
    {"lines without CR", "HTTP/1.1 200 OK\nContent-Length: 1\n\na",
     "200 a keep"},
    {"trailers without CR", CHUNKED "0\r\nA: b\n\n", "200  keep"},
    {"a header without a value", OK11 "A:\r\nContent-Length: 0\r\n\r\n",
     "200  keep"},
    {"bytes behind it", OK11 "Content-Length: 1\r\n\r\naHTTP",
     "200 a keep, 4 left"},
    {"bytes behind the last chunk", CHUNKED "0\r\n\r\n\r\n",
     "200  keep, 2 left"},
    {"no body: 204", "HTTP/1.1 204 No\r\n\r\nab", "204  keep, 2 left"},
    {"no body: 304", "HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n",
     "304  keep"},
};

static const struct row connections[] = {
    {"close", OK11 "Connection: close\r\nContent-Length: 0\r\n\r\n",
     "200  close"},
    {"among others",
     OK11 "Connection: a ,CLOSE, b\r\nContent-Length: 0\r\n\r\n", "200  close"},
    {"a word that only looks so",
     OK11 "Connection: closed, x-close\r\nContent-Length: 0\r\n\r\n",
     "200  keep"},
    {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200  close"},
    {"HTTP/1.0, kept",
     "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n",
     "200  keep"},
    {"HTTP/1.0 with chunks is not trusted",
     "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n"
     "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
     "200 a close"},
    {"100 first",
     "HTTP/1.1 100 Continue\r\n\r\n" OK11 "Content-Length: 1\r\n\r\na",
     "200 a keep"},
    {"103 first, whose headers do not count",
     "HTTP/1.1 103 Hints\r\nContent-Length: 9\r\nConnection: close\r\n\r\n" OK11
     "Content-Length: 1\r\n\r\na",
     "200 a keep"},
};

static const struct row wrong[] = {
    {"another protocol", "SSH-2.0-OpenSSH_9.2\r\n", "the answer is not HTTP"},
    {"HTTP/2", "HTTP/2 200\r\n\r\n", "the answer is not HTTP"},
    {"HTTP/0.9", "hello", "the answer is not HTTP"},
    {"in small letters", "http/1.1 200 OK\r\n\r\n", "the answer is not HTTP"},
    {"an empty line first", "\r\n" OK11 "\r\n", "the answer is not HTTP"},
    {"no status", "HTTP/1.1 OK\r\n\r\n", "the answer is not HTTP"},
    {"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n",
     "the answer is not HTTP"},
    {"a status of four", "HTTP/1.1 2000 OK\r\n\r\n", "the answer is not HTTP"},
    {"a status below 100", "HTTP/1.1 099 OK\r\n\r\n", "the answer is not HTTP"},
    {"a control byte in it", "HTTP/1.1 200 O\x01K\r\n\r\n",
     "the answer is not HTTP"},
    {"two lengths", OK11 "Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
     "it has two different Content-Length headers"},
    {"a list of lengths", OK11 "Content-Length: 3, 3\r\n\r\n",
     "its Content-Length is not a number"},
    {"a signed length", OK11 "Content-Length: +3\r\n\r\n",
     "its Content-Length is not a number"},
    {"a negative length", OK11 "Content-Length: -1\r\n\r\n",
     "its Content-Length is not a number"},
    {"an empty length", OK11 "Content-Length:\r\n\r\n",
     "its Content-Length is not a number"},
    {"a length over 63 bits",
     OK11 "Content-Length: 9223372036854775808\r\n\r\n",
     "its Content-Length is not a number"},
    {"length and chunks",
     OK11 "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
     "it has both chunks and a Content-Length"},
    {"another coding", OK11 "Transfer-Encoding: gzip, chunked\r\n\r\n",
     "its Transfer-Encoding is unknown"},
    {"chunks in chunks",
     OK11 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
     "its Transfer-Encoding is unknown"},
    {"a folded header", OK11 "A: b\r\n c\r\n\r\n", "a folded header"},
    {"a space before the colon", OK11 "A : b\r\n\r\n",
     "a header without a name"},
    {"no colon", OK11 "A\r\n\r\n", "a header without a name"},
    {"no name", OK11 ": b\r\n\r\n", "a header without a name"},
    {"a CR alone", OK11 "A: b\rC: d\r\n\r\n", "a control byte in a header"},
    {"a control byte", OK11 "A: \x1b[31m\r\n\r\n",
     "a control byte in a header"},
    {"a changed protocol", "HTTP/1.1 101 Switching\r\n\r\n",
     "it changes the protocol without a request for that"},
    {"a chunk size that is none", CHUNKED "g\r\n",
     "a chunk's size is not a number"},
    {"an empty chunk size", CHUNKED "\r\n", "a chunk's size is not a number"},
    {"a signed chunk size", CHUNKED "+1\r\na\r\n",
     "a chunk's size is not a number"},
    {"a chunk size with 0x", CHUNKED "0x1\r\na\r\n",
     "a chunk's size is not a number"},
    {"a chunk size with space", CHUNKED "1 \r\na\r\n",
     "a chunk's size is not a number"},
    {"a chunk size over 63 bits", CHUNKED "8000000000000000\r\n",
     "a chunk's size is not a number"},
    {"a control byte in an extension", CHUNKED "1;a\x01\r\na\r\n",
     "a control byte behind a chunk's size"},
    {"a chunk size without CR", CHUNKED "1\na\r\n",
     "a chunk's size is not a number"},
    {"a chunk that is longer", CHUNKED "1\r\nab\r\n",
     "a chunk does not end where it should"},
    {"a chunk without CR", CHUNKED "1\r\na\n0\r\n\r\n",
     "a chunk does not end where it should"},
    {"a trailer without a name", CHUNKED "0\r\n: b\r\n\r\n",
     "a trailer is malformed"},
    {"a folded trailer", CHUNKED "0\r\nA: b\r\n c\r\n\r\n",
     "a trailer is malformed"},
    {"a CR alone in a trailer", CHUNKED "0\r\nA: b\rc\r\n\r\n",
     "a trailer is malformed"},
};

static const struct row ends[] = {
    {"nothing", "", "the server closed the connection without an answer"},
    {"in the status line", "HTTP/1.1 2",
     "the server closed the connection without an answer"},
    {"before the empty line", OK11 "A: b\r\n",
     "the server closed the connection without an answer"},
    {"after a 100", "HTTP/1.1 100 Continue\r\n\r\n",
     "the server closed the connection without an answer"},
    {"in the body", OK11 "Content-Length: 3\r\n\r\nab",
     "the connection was closed before the end of the body"},
    {"in a chunk", CHUNKED "3\r\nab",
     "the connection was closed before the end of the body"},
    {"behind a chunk", CHUNKED "2\r\nab\r\n",
     "the connection was closed before the end of the body"},
    {"in the trailers", CHUNKED "0\r\nA: b\r\n",
     "the connection was closed before the end of the body"},
};

/* ---- Reading in pieces --------------------------------------------------- */

struct reading {
    struct http1 h;
    struct buf head, out, body;
    bool over;
};

static void begin(struct reading *r, bool to_head)
{
    *r = (struct reading){0};
    r->head.mem = r->out.mem = r->body.mem = &plain;
    http1_begin(&r->h, &r->head, to_head);
}

static void finish(struct reading *r)
{
    buf_free(&r->head);
    buf_free(&r->out);
    buf_free(&r->body);
}

static void note(struct reading *r, enum http1_event e, size_t left)
{
    r->over = true;
    buf_clear(&r->out);
    if (e != HTTP1_DONE) {
        buf_cstr(&r->out, e == HTTP1_BAD ? r->h.why : "no memory");
        return;
    }
    buf_fmt(&r->out, "%d ", r->h.status);
    buf_str(&r->out, buf_view(&r->body));
    buf_cstr(&r->out, r->h.keep ? " keep" : " close");
    if (left)
        buf_fmt(&r->out, ", %zu left", left);
}

/* rest: bytes that come after this piece. Takes half of each piece of the
 * body first: what is not taken comes again. */
static void feed(struct reading *r, wend_str in, size_t rest)
{
    wend_str piece = STR_NONE;
    enum http1_event e;

    while (!r->over && (e = http1_next(&r->h, &in, &piece)) != HTTP1_MORE) {
        if (e == HTTP1_BODY) {
            size_t n = (piece.len + 1) / 2;

            buf_add(&r->body, piece.ptr, n);
            http1_take(&r->h, &in, n);
        } else if (e != HTTP1_HEAD) {
            note(r, e, in.len + rest);
        }
    }
}

static void read_all(struct reading *r, wend_str in, size_t first, size_t step)
{
    for (size_t at = 0, len; at < in.len; at += len) {
        char *copy;

        len = at || !first ? step : first;
        if (len > in.len - at)
            len = in.len - at;
        copy = malloc(len); /* of its own: nothing is read beyond it */
        memcpy(copy, in.ptr + at, len);
        feed(r, (wend_str){copy, len}, in.len - at - len);
        free(copy);
    }
    if (!r->over)
        note(r, http1_end(&r->h), 0);
}

static void test_rows(const char *what, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wend_str in = str_of(rows[i].input);
        struct reading r;
        size_t bad = 0;

        begin(&r, false);
        read_all(&r, in, 0, in.len + 1);
        tap_is_str(buf_view(&r.out), rows[i].wanted, "%s: %s", what,
                   rows[i].why);
        finish(&r);
        for (size_t at = 0; at <= in.len; at++) { /* 0: byte by byte */
            begin(&r, false);
            read_all(&r, in, at, at ? in.len : 1);
            bad += !str_is(buf_view(&r.out), rows[i].wanted);
            finish(&r);
        }
        tap_ok(!bad, "and cut anywhere: %s", rows[i].why);
    }
}

static void test_to_head(void)
{
    struct reading r;

    begin(&r, true);
    read_all(&r, STR(OK11 "Content-Length: 5\r\n\r\n"), 0, 100);
    tap_is_str(buf_view(&r.out), "200  keep", "an answer to HEAD has no body");
    tap_is_str(buf_view(&r.head), OK11 "Content-Length: 5\r\n",
               "and the head as it came");
    finish(&r);
    begin(&r, false);
    read_all(&r, STR(OK11 "A: \0\r\n\r\n"), 0, 100);
    tap_is_str(buf_view(&r.out), "a control byte in a header", "NUL");
    finish(&r);
}

/* ---- Limits -------------------------------------------------------------- */

static void add_times(struct buf *b, const char *s, size_t n)
{
    while (n--)
        buf_cstr(b, s);
}

/* A head of just so many bytes, one line of which is long, or all short. */
static void put_head(struct buf *b, size_t size, bool long_line)
{
    buf_cstr(b, OK11 "Content-Length: 0\r\n");
    while (!long_line && size - b->len > 60)
        buf_cstr(b, "X-Some: header of 20\r\n");
    buf_cstr(b, "X: ");
    add_times(b, "x", size - b->len - 2);
    buf_cstr(b, "\r\n\r\n");
}

static void put_chunk_line(struct buf *b, size_t size, bool unused)
{
    (void)unused;
    buf_cstr(b, CHUNKED "0;");
    add_times(b, "x", size - 4);
    buf_cstr(b, "\r\n\r\n");
}

static void put_trailers(struct buf *b, size_t size, bool long_line)
{
    size_t before;

    buf_cstr(b, CHUNKED "0\r\n");
    before = b->len;
    while (!long_line && size - (b->len - before) > 60)
        buf_cstr(b, "X-Some: header of 20\r\n");
    buf_cstr(b, "X: ");
    add_times(b, "x", size - (b->len - before) - 4);
    buf_cstr(b, "\r\n\r\n");
}

static void put_interim(struct buf *b, size_t count, bool unused)
{
    (void)unused;
    add_times(b, "HTTP/1.1 102 Wait\r\n\r\n", count);
    buf_cstr(b, OK11 "Content-Length: 0\r\n\r\n");
}

static void test_limits(void)
{
    static const struct {
        const char *why;
        void (*put)(struct buf *b, size_t size, bool long_line);
        bool long_line;
        size_t limit;
        const char *wanted;
    } rows[] = {
        {"the head, of one line", put_head, true, HTTP1_HEAD_MAX,
         http1_head_too_long},
        {"the head, of many", put_head, false, HTTP1_HEAD_MAX,
         http1_head_too_long},
        {"a chunk's line", put_chunk_line, false, HTTP1_CHUNK_LINE_MAX,
         "the line of a chunk is too long"},
        {"a trailer", put_trailers, true, HTTP1_HEAD_MAX,
         "the trailers are too long"},
        {"trailers", put_trailers, false, HTTP1_HEAD_MAX,
         "the trailers are too long"},
        {"interim responses", put_interim, false, HTTP1_INTERIM_MAX,
         "too many interim responses (1xx)"},
    };
    static const size_t steps[] = {1, 7, 1000, 1 << 20};

    for (size_t i = 0; i < tap_count(rows); i++)
        for (size_t more = 0; more < 3; more++) {
            struct buf in = {.mem = &plain};
            size_t bad = 0;

            rows[i].put(&in, rows[i].limit - 1 + more, rows[i].long_line);
            for (size_t k = 0; k < tap_count(steps); k++) {
                struct reading r;

                begin(&r, false);
                read_all(&r, buf_view(&in), 0, steps[k]);
                bad += !str_is(buf_view(&r.out),
                               more < 2 ? "200  keep" : rows[i].wanted);
                finish(&r);
            }
            tap_ok(!bad, "limit %+d: %s", (int)more - 1, rows[i].why);
            buf_free(&in);
        }
}

/* A head that never ends takes no more memory than the limit. */
static void test_endless(void)
{
    struct reading r;
    char x[4096];

    memset(x, 'x', sizeof x);
    begin(&r, false);
    feed(&r, STR(OK11 "X: "), 0);
    for (int i = 0; i < 100; i++)
        feed(&r, (wend_str){x, sizeof x}, 0);
    tap_is_str(buf_view(&r.out), http1_head_too_long, "an endless line");
    tap_ok(r.head.cap <= 2 * HTTP1_HEAD_MAX, "in bounded memory (%zu bytes)",
           r.head.cap);
    finish(&r);
}

/* A server that speaks HTTP/2 only says so at once, whatever it is asked. */
static void test_frame(void)
{
    static const char settings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    wend_str piece, in = {settings, sizeof settings};
    struct reading r;

    begin(&r, false);
    tap_is_i64(http1_next(&r.h, &in, &piece), HTTP1_BAD, "a frame of HTTP/2");
    tap_is_str(r.h.why, "the answer is HTTP/2, which needs https://",
               "a frame of HTTP/2: words");
    finish(&r);
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0, rounds = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct reading r;
        enum http1_event e;
        wend_str piece, in = STR(OK11 "Content-Length: 0\r\n\r\n");

        begin(&r, false);
        r.head.mem = &m;
        e = http1_next(&r.h, &in, &piece);
        bad += e != (f.hit ? HTTP1_NOMEM : HTTP1_HEAD);
        finish(&r);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(!bad && rounds > 1, "without memory (%d rounds)", rounds);
}

int main(void)
{
    test_rows("body", bodies, tap_count(bodies));
    test_rows("connection", connections, tap_count(connections));
    test_rows("wrong", wrong, tap_count(wrong));
    test_rows("closed", ends, tap_count(ends));
    test_to_head();
    test_limits();
    test_endless();
    test_frame();
    test_no_memory();
    return tap_done();
}

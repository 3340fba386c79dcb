/*
 * test_http_answer.c - heads and chunks of answers.
 */
#include "wire/http/request.h"

#include <stdlib.h>

#include "tap.h"
#include "wire/http/http.h"

static const struct mem plain;

#define FIELDS(...)                               \
    .fields = (struct http_field[]){__VA_ARGS__}, \
    .fields_count =                               \
        sizeof(struct http_field[]){__VA_ARGS__} / sizeof(struct http_field)
#define F(name, value)               \
    {                                \
        {name, sizeof(name) - 1},    \
        {                            \
            value, sizeof(value) - 1 \
        }                            \
    }

static void test_heads(void)
{
    const struct {
        const char *why;
        struct http_answer answer;
        const char *wanted;
    } rows[] = {
        {"a length",
         {.status = 200, .length = 3, .keep = true},
         "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\n"
         "\r\n"},
        {"no bytes, closed",
         {.status = 404, .length = 0},
         "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
         "Connection: close\r\n\r\n"},
        {"headers",
         {.status = 201,
          .length = 0,
          .keep = true,
          FIELDS(F("Location", "/a"), F("X", ""))},
         "HTTP/1.1 201 Created\r\nLocation: /a\r\nX: \r\nContent-Length: 0\r\n"
         "Connection: keep-alive\r\n\r\n"},
        {"chunks",
         {.status = 200, .length = HTTP_CHUNKED, .keep = true},
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
         "Connection: keep-alive\r\n\r\n"},
        {"as many bytes as come: it cannot be kept",
         {.status = 200, .length = HTTP_TO_CLOSE, .keep = true},
         "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"},
        {"no body",
         {.status = 204, .length = HTTP_NO_BODY, .keep = true},
         "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n"},
        {"a status that never has a body",
         {.status = 304, .length = 3, .keep = true},
         "HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\n\r\n"},
        {"another that never has one",
         {.status = 204, .length = HTTP_CHUNKED, .keep = true},
         "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n"},
        {"a status without words",
         {.status = 299, .length = 0, .keep = true},
         "HTTP/1.1 299 \r\nContent-Length: 0\r\nConnection: keep-alive\r\n"
         "\r\n"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &plain};

        tap_ok(http_answer_head(&b, &rows[i].answer), "done: %s", rows[i].why);
        tap_is_str(buf_view(&b), rows[i].wanted, "%s", rows[i].why);
        buf_free(&b);
    }
}

static void test_refused(void)
{
    const struct {
        const char *why;
        struct http_answer answer;
    } rows[] = {
        {"a line break in a value",
         {.status = 200, FIELDS(F("A", "b\r\nC: d"))}},
        {"LF in a value", {.status = 200, FIELDS(F("A", "b\nC"))}},
        {"CR in a value", {.status = 200, FIELDS(F("A", "b\r"))}},
        {"NUL in a value", {.status = 200, FIELDS(F("A", "b\0c"))}},
        {"a line break in a name", {.status = 200, FIELDS(F("A\r\n", ""))}},
        {"a space in a name", {.status = 200, FIELDS(F("A ", "b"))}},
        {"no name", {.status = 200, FIELDS(F("", "b"))}},
        {"a length of the caller's",
         {.status = 200, FIELDS(F("A", "b"), F("content-length", "3"))}},
        {"a coding of the caller's",
         {.status = 200, FIELDS(F("Transfer-Encoding", "gzip"))}},
        {"a connection of the caller's",
         {.status = 200, FIELDS(F("connection", "close"))}},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &plain};

        tap_ok(!http_answer_head(&b, &rows[i].answer) && !b.len, "refused: %s",
               rows[i].why);
        buf_free(&b);
    }
}

/* What is written here is read by the reader of answers. */
static void test_chunks(void)
{
    static const size_t sizes[] = {1,   15,   16,    17,    255,
                                   256, 4095, 65535, 65536, 1 << 20};
    struct buf out = {.mem = &plain}, head = {.mem = &plain};
    struct http_answer a = {.status = 200, .length = HTTP_CHUNKED};
    char *data = malloc(1 << 20), room[HTTP_CHUNK_HEAD_MAX];
    size_t total = 0, read = 0;
    wend_str in, piece;
    struct http1 h;
    enum http1_event e;

    memset(data, 'x', 1 << 20);
    http_answer_head(&out, &a);
    http_chunk_put(&out, STR("")); /* would be the last one */
    for (size_t i = 0; i < tap_count(sizes); i++) {
        http_chunk_put(&out, (wend_str){data, sizes[i]});
        total += sizes[i];
    }
    buf_cstr(&out, http_chunk_last);
    in = buf_view(&out);
    http1_begin(&h, &head, false);
    while ((e = http1_next(&h, &in, &piece)) == HTTP1_HEAD || e == HTTP1_BODY)
        if (e == HTTP1_BODY) {
            read += piece.len;
            http1_take(&h, &in, piece.len);
        }
    tap_ok(e == HTTP1_DONE && !in.len, "chunks are read to their end");
    tap_is_i64((int64_t)read, (int64_t)total, "all of them");
    tap_is_i64((int64_t)http_chunk_head(room, SIZE_MAX), HTTP_CHUNK_HEAD_MAX,
               "the longest size has room");
    tap_is_str(((wend_str){room, 18}), "ffffffffffffffff\r\n", "and digits");
    free(data);
    buf_free(&out);
    buf_free(&head);
}

static void test_continue(void)
{
    wend_str piece, in = STR("HTTP/1.1 204 No Content\r\n\r\n");
    wend_str first = str_of(http_continue);
    struct buf head = {.mem = &plain};
    struct http1 h;

    http1_begin(&h, &head, false);
    tap_is_i64(http1_next(&h, &first, &piece), HTTP1_MORE, "100 is read");
    tap_is_i64(http1_next(&h, &in, &piece), HTTP1_HEAD, "then an answer");
    tap_is_i64(h.status, 204, "that counts");
    buf_free(&head);
    tap_is_str(http_reason(503), "Service Unavailable", "words");
    tap_is_str(http_reason(299), "", "no words");
}

int main(void)
{
    test_heads();
    test_refused();
    test_chunks();
    test_continue();
    return tap_done();
}

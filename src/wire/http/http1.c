/*
 * http1.c - answers of HTTP/1.1, from bytes in any chunks.
 *
 *   STATUS_LINE -> FIELDS -+-> LENGTH -------------------------------> OVER
 *        ^            |    +-> CLOSE -- (end of the connection) -----> OVER
 *        +--- (1xx) --+    +-> CHUNKS -------------------------------> OVER
 *
 * A line of the head is read once it is whole.
 */
#include "wire/http/http.h"

#include <assert.h>

#include "base/ascii.h"

static const char not_http[] = "the answer is not HTTP";
/* A frame begins with its length, and that of a first one with a zero. */
static const char http2[] = "the answer is HTTP/2, which needs https://";
const char http1_head_too_long[] =
    "the headers are too long, over 32 KiB; check the proxies between here "
    "and the server";

static enum http1_event bad(struct http1 *h, const char *why)
{
    h->why = why;
    h->state = HTTP1_BROKEN;
    h->keep = false;
    return HTTP1_BAD;
}

void http1_begin(struct http1 *h, struct buf *head, bool to_head)
{
    buf_clear(head);
    *h = (struct http1){.head = head, .no_body = to_head};
}

bool http1_begun(const struct http1 *h)
{
    return h->state != HTTP1_STATUS_LINE || h->head->len || h->interim;
}

/* ---- Headers ------------------------------------------------------------- */

static const char *on_length(struct http1 *h, wend_str value)
{
    int64_t n;

    if (!str_to_i64(value, &n))
        return "its Content-Length is not a number";
    if (h->has_length && h->left != (uint64_t)n)
        return "it has two different Content-Length headers";
    h->has_length = true;
    h->left = (uint64_t)n;
    return NULL;
}

/* A request would have to ask for others, and ours ask for none. */
static const char *on_coding(struct http1 *h, wend_str value)
{
    if (h->chunked || !str_same(value, STR("chunked")))
        return "its Transfer-Encoding is unknown";
    h->chunked = true;
    return NULL;
}

static const char *on_connection(struct http1 *h, wend_str value)
{
    h->says_close |= http_list_has(value, "close");
    h->says_keep |= http_list_has(value, "keep-alive");
    return NULL;
}

static const struct {
    const char *name;
    const char *(*read)(struct http1 *h, wend_str value); /* why not */
} fields[] = {
    {"content-length", on_length},
    {"transfer-encoding", on_coding},
    {"connection", on_connection},
};

static enum http1_event read_field(struct http1 *h, wend_str line)
{
    wend_str name = STR_NONE, value = STR_NONE;
    const char *why = http_field_read(line, &name, &value);

    for (size_t i = 0; i < sizeof fields / sizeof *fields && !why; i++)
        if (str_same(name, str_of(fields[i].name)))
            why = fields[i].read(h, value);
    return why ? bad(h, why) : HTTP1_MORE;
}

/* HTTP/1.1 200 OK; the words are often missing, and the space before them. */
static enum http1_event read_status(struct http1 *h, wend_str line)
{
    const char *p = line.ptr;

    if (line.len < 12 || memcmp(p, "HTTP/1.", 7) != 0 || !is_digit(p[7]) ||
        p[8] != ' ' || p[9] < '1' || p[9] > '9' || !is_digit(p[10]) ||
        !is_digit(p[11]) || (line.len > 12 && p[12] != ' '))
        return bad(h, not_http);
    for (size_t i = 12; i < line.len; i++)
        if (!http_is_text(p[i]))
            return bad(h, not_http);
    h->old = p[7] == '0';
    h->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    h->state = HTTP1_FIELDS;
    return HTTP1_MORE;
}

static enum http1_event interim(struct http1 *h)
{
    if (h->status == 101)
        return bad(h, "it changes the protocol without a request for that");
    if (h->interim == HTTP1_INTERIM_MAX)
        return bad(h, "too many interim responses (1xx)");
    *h = (struct http1){
        .head = h->head, .no_body = h->no_body, .interim = h->interim + 1};
    buf_clear(h->head);
    return HTTP1_MORE;
}

static const struct http_chunks_limits limits = {
    .line_max = HTTP1_CHUNK_LINE_MAX,
    .ext_max = SIZE_MAX,
    .trailers_max = HTTP1_HEAD_MAX,
};

/* RFC 9112, 6.3: which bytes are the body. */
static enum http1_event head_ends(struct http1 *h)
{
    if (h->status < 200)
        return interim(h);
    h->keep = h->old ? h->says_keep && !h->says_close : !h->says_close;
    if (h->no_body || h->status == 204 || h->status == 304) {
        h->state = HTTP1_OVER;
    } else if (h->chunked) {
        if (h->has_length)
            return bad(h, "it has both chunks and a Content-Length");
        h->keep &= !h->old; /* HTTP/1.0 has no chunks */
        h->state = HTTP1_CHUNKS;
        http_chunks_begin(&h->chunks, &limits);
    } else if (h->has_length) {
        h->state = h->left ? HTTP1_LENGTH : HTTP1_OVER;
    } else {
        h->keep = false;
        h->state = HTTP1_CLOSE;
    }
    return HTTP1_HEAD;
}

/* The empty line behind the head counts for nothing. */
static enum http1_event read_line(struct http1 *h)
{
    wend_str line = {h->head->ptr + h->line_at, h->head->len - h->line_at - 1};

    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (!line.len && h->state == HTTP1_FIELDS) {
        h->head->len = h->line_at;
        h->head->ptr[h->line_at] = 0;
        return head_ends(h);
    }
    if (h->head->len > HTTP1_HEAD_MAX)
        return bad(h, http1_head_too_long);
    h->line_at = h->head->len;
    return h->state == HTTP1_STATUS_LINE ? read_status(h, line)
                                         : read_field(h, line);
}

/* Whether what has come of the first line can become one of ours. */
static bool may_be_http(const struct buf *head)
{
    static const char begin[] = "HTTP/1.";
    size_t len = head->len < sizeof begin - 1 ? head->len : sizeof begin - 1;

    return !memcmp(head->ptr, begin, len);
}

static enum http1_event on_head(struct http1 *h, wend_str *in)
{
    enum { EMPTY_LINE = 2, MAX = HTTP1_HEAD_MAX + EMPTY_LINE };
    bool ended = http_line_take(h->head, in, MAX);

    if (h->head->failed)
        return HTTP1_NOMEM;
    if (h->state == HTTP1_STATUS_LINE && !may_be_http(h->head))
        return bad(h, h->head->ptr[0] ? not_http : http2);
    if (ended)
        return read_line(h);
    return h->head->len == MAX ? bad(h, http1_head_too_long) : HTTP1_MORE;
}

/* ---- Public -------------------------------------------------------------- */

static enum http1_event on_chunks(struct http1 *h, wend_str *in, wend_str *body)
{
    const char *why;

    if (h->chunks.state == HTTP_CHUNK_DATA) {
        *body = *in;
        if (h->chunks.left < in->len)
            body->len = (size_t)h->chunks.left;
        return HTTP1_BODY;
    }
    why = http_chunks_byte(&h->chunks, in->ptr[0]);
    *in = str_skip(*in, 1);
    if (h->chunks.state == HTTP_CHUNK_OVER)
        h->state = HTTP1_OVER;
    return why ? bad(h, why) : HTTP1_MORE;
}

static enum http1_event on_input(struct http1 *h, wend_str *in, wend_str *body)
{
    if (h->state <= HTTP1_FIELDS)
        return on_head(h, in);
    if (h->state == HTTP1_CHUNKS)
        return on_chunks(h, in, body);
    *body = *in;
    if (h->state == HTTP1_LENGTH && h->left < in->len)
        body->len = (size_t)h->left;
    return HTTP1_BODY;
}

enum http1_event http1_next(struct http1 *h, wend_str *in, wend_str *body)
{
    enum http1_event e = HTTP1_MORE;

    while (e == HTTP1_MORE) {
        if (h->state == HTTP1_OVER)
            return HTTP1_DONE;
        if (h->state == HTTP1_BROKEN)
            return HTTP1_BAD;
        if (!in->len)
            return HTTP1_MORE;
        e = on_input(h, in, body);
    }
    return e;
}

void http1_take(struct http1 *h, wend_str *in, size_t n)
{
    assert(n <= in->len);
    *in = str_skip(*in, n);
    if (h->state == HTTP1_CHUNKS) {
        http_chunks_take(&h->chunks, n);
    } else if (h->state == HTTP1_LENGTH) {
        assert(n <= h->left);
        h->left -= n;
        if (!h->left)
            h->state = HTTP1_OVER;
    }
}

enum http1_event http1_end(struct http1 *h)
{
    if (h->state == HTTP1_BROKEN)
        return HTTP1_BAD;
    if (h->state == HTTP1_OVER || h->state == HTTP1_CLOSE) {
        h->state = HTTP1_OVER;
        return HTTP1_DONE;
    }
    return bad(h, h->state <= HTTP1_FIELDS
                      ? "the server closed the connection without an answer"
                      : "the connection was closed before the end of the "
                        "body");
}

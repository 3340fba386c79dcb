/*
 * http1.c - answers of HTTP/1.1, from bytes in any chunks.
 *
 *   STATUS_LINE -> FIELDS -+-> LENGTH -------------------------------> OVER
 *        ^            |    +-> CLOSE -- (end of the connection) -----> OVER
 *        +--- (1xx) --+    +-> CHUNK_SIZE -> [SPACE -> EXT] -> LF -+-> DATA
 *                                  ^                               |     |
 *                                  +--- DATA_LF <- DATA_CR <-------|-----+
 *                                                                  |
 *                              OVER <- LAST_LF <- TRAILER ... <----+
 *
 * A line of the head is read once it is whole; chunks are read byte by byte,
 * but for their data.
 */
#include "wire/http/http.h"

#include <assert.h>

#include "base/ascii.h"

static const char not_http[] = "the answer is not HTTP";
/* A frame begins with its length, and that of a first one with a zero. */
static const char http2[] = "the answer is HTTP/2, which needs https://";
const char http1_head_too_long[] =
    "the headers are too long, over 32 KiB; look at what stands between here "
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

/* ---- Characters ---------------------------------------------------------- */

/* Characters of a header's name. */
static bool is_token(char c)
{
    return is_digit(c) || is_letter(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

static bool same_word(wend_str s, const char *word)
{
    return s.len == strlen(word) && str_starts_nocase(s, word);
}

/* ---- Headers ------------------------------------------------------------- */

static const char *on_length(struct http1 *h, wend_str value)
{
    int64_t n;

    if (!str_to_i64(value, &n))
        return "its Content-Length is no number";
    if (h->has_length && h->left != (uint64_t)n)
        return "it has two different Content-Length";
    h->has_length = true;
    h->left = (uint64_t)n;
    return NULL;
}

/* Others would be asked for, and we ask for none. */
static const char *on_coding(struct http1 *h, wend_str value)
{
    if (h->chunked || !same_word(value, "chunked"))
        return "its Transfer-Encoding is not known";
    h->chunked = true;
    return NULL;
}

static const char *on_connection(struct http1 *h, wend_str value)
{
    while (value.len) {
        const char *comma = memchr(value.ptr, ',', value.len);
        size_t len = comma ? (size_t)(comma - value.ptr) : value.len;
        wend_str word = str_trim((wend_str){value.ptr, len}, is_blank);

        h->says_close |= same_word(word, "close");
        h->says_keep |= same_word(word, "keep-alive");
        len += comma != NULL;
        value = (wend_str){value.ptr + len, value.len - len};
    }
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
    wend_str name = line, value;
    const char *why = NULL;

    if (is_blank(line.ptr[0]))
        return bad(h, "a folded header");
    for (name.len = 0; name.len < line.len && is_token(line.ptr[name.len]);)
        name.len++;
    if (!name.len || name.len == line.len || line.ptr[name.len] != ':')
        return bad(h, "a header without a name");
    value = (wend_str){line.ptr + name.len + 1, line.len - name.len - 1};
    for (size_t i = 0; i < value.len; i++)
        if (!is_text(value.ptr[i]))
            return bad(h, "a control byte in a header");
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !why; i++)
        if (same_word(name, fields[i].name))
            why = fields[i].read(h, str_trim(value, is_blank));
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
        if (!is_text(p[i]))
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
        return bad(h, "too many answers that are none (1xx)");
    *h = (struct http1){
        .head = h->head, .no_body = h->no_body, .interim = h->interim + 1};
    buf_clear(h->head);
    return HTTP1_MORE;
}

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
        h->state = HTTP1_CHUNK_SIZE;
        h->left = 0;
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
    enum { EMPTY_LINE = 2 };
    size_t room = HTTP1_HEAD_MAX + EMPTY_LINE + 1 - h->head->len;
    size_t len = in->len < room ? in->len : room;
    const char *end = memchr(in->ptr, '\n', len);

    if (end)
        len = (size_t)(end + 1 - in->ptr);
    buf_add(h->head, in->ptr, len);
    if (h->head->failed)
        return HTTP1_NOMEM;
    *in = str_skip(*in, len);
    if (h->state == HTTP1_STATUS_LINE && !may_be_http(h->head))
        return bad(h, h->head->ptr[0] ? not_http : http2);
    if (end)
        return read_line(h);
    if (h->head->len > HTTP1_HEAD_MAX + EMPTY_LINE)
        return bad(h, http1_head_too_long);
    return HTTP1_MORE;
}

/* ---- Chunks -------------------------------------------------------------- */

static enum http1_event on_chunk_size(struct http1 *h, char c)
{
    static const char why[] = "a chunk's size is no number";
    int digit = hex_value(c);

    if (digit >= 0) {
        if (h->left >> 59) /* as a length, it fits 63 bits */
            return bad(h, why);
        h->left = h->left << 4 | (unsigned)digit;
        return HTTP1_MORE;
    }
    if (h->line_len == 1)
        return bad(h, why);
    if (c == '\r')
        h->state = HTTP1_CHUNK_LF;
    else if (c == ';')
        h->state = HTTP1_CHUNK_EXT;
    else if (is_blank(c))
        h->state = HTTP1_CHUNK_SPACE;
    else
        return bad(h, why);
    return HTTP1_MORE;
}

static enum http1_event on_chunk_space(struct http1 *h, char c)
{
    if (c == ';')
        h->state = HTTP1_CHUNK_EXT;
    else if (!is_blank(c))
        return bad(h, "a chunk's size is no number");
    return HTTP1_MORE;
}

static enum http1_event on_chunk_ext(struct http1 *h, char c)
{
    if (c == '\r')
        h->state = HTTP1_CHUNK_LF;
    else if (!is_text(c))
        return bad(h, "a control byte behind a chunk's size");
    return HTTP1_MORE;
}

static enum http1_event expect(struct http1 *h, char c, char wanted,
                               enum http1_state next)
{
    if (c != wanted)
        return bad(h, "a chunk does not end where it should");
    h->state = next;
    h->line_len = 0;
    return HTTP1_MORE;
}

/* A line of trailers, or the empty one behind them. */
static enum http1_event on_trailer(struct http1 *h, char c)
{
    if (h->state == HTTP1_TRAILER && c == '\r')
        h->state = HTTP1_LAST_LF;
    else if (h->state == HTTP1_TRAILER && c == '\n')
        h->state = HTTP1_OVER;
    else if (h->state != HTTP1_TRAILER_VALUE && is_token(c))
        h->state = HTTP1_TRAILER_NAME;
    else if (h->state == HTTP1_TRAILER_NAME && c == ':')
        h->state = HTTP1_TRAILER_VALUE;
    else if (h->state == HTTP1_TRAILER_VALUE && c == '\r')
        h->state = HTTP1_TRAILER_LF;
    else if (h->state == HTTP1_TRAILER_VALUE && c == '\n')
        h->state = HTTP1_TRAILER;
    else if (h->state != HTTP1_TRAILER_VALUE || !is_text(c))
        return bad(h, "a trailer is malformed");
    return HTTP1_MORE;
}

static enum http1_event trailer_lf(struct http1 *h, char c)
{
    if (c != '\n')
        return bad(h, "a trailer is malformed");
    h->state = h->state == HTTP1_LAST_LF ? HTTP1_OVER : HTTP1_TRAILER;
    return HTTP1_MORE;
}

/* One byte between the pieces of the body. */
static enum http1_event on_byte(struct http1 *h, char c)
{
    size_t max = h->state >= HTTP1_TRAILER ? (size_t)HTTP1_HEAD_MAX
                                           : (size_t)HTTP1_CHUNK_LINE_MAX;

    if (++h->line_len > max)
        return bad(h, h->state >= HTTP1_TRAILER
                          ? "the trailers are too long"
                          : "the line of a chunk is too long");
    switch (h->state) {
    case HTTP1_CHUNK_SIZE: return on_chunk_size(h, c);
    case HTTP1_CHUNK_SPACE: return on_chunk_space(h, c);
    case HTTP1_CHUNK_EXT: return on_chunk_ext(h, c);
    case HTTP1_CHUNK_LF:
        return expect(h, c, '\n', h->left ? HTTP1_CHUNK_DATA : HTTP1_TRAILER);
    case HTTP1_DATA_CR: return expect(h, c, '\r', HTTP1_DATA_LF);
    case HTTP1_DATA_LF: return expect(h, c, '\n', HTTP1_CHUNK_SIZE);
    case HTTP1_TRAILER:
    case HTTP1_TRAILER_NAME:
    case HTTP1_TRAILER_VALUE: return on_trailer(h, c);
    case HTTP1_TRAILER_LF:
    case HTTP1_LAST_LF: return trailer_lf(h, c);
    case HTTP1_STATUS_LINE:
    case HTTP1_FIELDS:
    case HTTP1_LENGTH:
    case HTTP1_CLOSE:
    case HTTP1_CHUNK_DATA:
    case HTTP1_OVER:
    case HTTP1_BROKEN: break;
    }
    assert(!"a byte of something else");
    return HTTP1_BAD;
}

/* ---- Public -------------------------------------------------------------- */

static enum http1_event on_input(struct http1 *h, wend_str *in, wend_str *body)
{
    if (h->state <= HTTP1_FIELDS)
        return on_head(h, in);
    if (h->state == HTTP1_LENGTH || h->state == HTTP1_CHUNK_DATA ||
        h->state == HTTP1_CLOSE) {
        *body = *in;
        if (h->state != HTTP1_CLOSE && h->left < in->len)
            body->len = (size_t)h->left;
        return HTTP1_BODY;
    }
    in->len--;
    return on_byte(h, *in->ptr++);
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
    if (h->state == HTTP1_CLOSE)
        return;
    assert(n <= h->left);
    h->left -= n;
    if (!h->left)
        h->state = h->state == HTTP1_LENGTH ? HTTP1_OVER : HTTP1_DATA_CR;
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

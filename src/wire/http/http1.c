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
    wend_str word;

    while (str_take(&value, ',', &word)) {
        word = str_trim(word, is_blank);
        h->says_close |= str_same(word, STR("close"));
        h->says_keep |= str_same(word, STR("keep-alive"));
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
        if (str_same(name, str_of(fields[i].name)))
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
        return bad(h, "too many interim responses (1xx)");
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

/* Where a byte between the pieces of the body leads: one that `is` such, or
 * this byte. Digits of a size are read before. */
static const struct {
    enum http1_state at;
    char byte;
    bool (*is)(char c);
    enum http1_state next;
} steps[] = {
    {HTTP1_DATA_CR, '\r', NULL, HTTP1_DATA_LF},
    {HTTP1_DATA_LF, '\n', NULL, HTTP1_CHUNK_SIZE},
    {HTTP1_CHUNK_SIZE, '\r', NULL, HTTP1_CHUNK_LF},
    {HTTP1_CHUNK_LF, '\n', NULL, HTTP1_CHUNK_DATA},
    {HTTP1_CHUNK_SIZE, ';', NULL, HTTP1_CHUNK_EXT},
    {HTTP1_CHUNK_SIZE, 0, is_blank, HTTP1_CHUNK_SPACE},
    {HTTP1_CHUNK_SPACE, ';', NULL, HTTP1_CHUNK_EXT},
    {HTTP1_CHUNK_SPACE, 0, is_blank, HTTP1_CHUNK_SPACE},
    {HTTP1_CHUNK_EXT, '\r', NULL, HTTP1_CHUNK_LF},
    {HTTP1_CHUNK_EXT, 0, is_text, HTTP1_CHUNK_EXT},
    {HTTP1_TRAILER, '\r', NULL, HTTP1_LAST_LF},
    {HTTP1_TRAILER, '\n', NULL, HTTP1_OVER},
    {HTTP1_TRAILER, 0, is_token, HTTP1_TRAILER_NAME},
    {HTTP1_TRAILER_NAME, 0, is_token, HTTP1_TRAILER_NAME},
    {HTTP1_TRAILER_NAME, ':', NULL, HTTP1_TRAILER_VALUE},
    {HTTP1_TRAILER_VALUE, '\r', NULL, HTTP1_TRAILER_LF},
    {HTTP1_TRAILER_VALUE, '\n', NULL, HTTP1_TRAILER},
    {HTTP1_TRAILER_VALUE, 0, is_text, HTTP1_TRAILER_VALUE},
    {HTTP1_TRAILER_LF, '\n', NULL, HTTP1_TRAILER},
    {HTTP1_LAST_LF, '\n', NULL, HTTP1_OVER},
};

static const char *const wrong[] = {
    [HTTP1_CHUNK_SIZE] = "a chunk's size is not a number",
    [HTTP1_CHUNK_SPACE] = "a chunk's size is not a number",
    [HTTP1_CHUNK_EXT] = "a control byte behind a chunk's size",
    [HTTP1_CHUNK_LF] = "a chunk does not end where it should",
    [HTTP1_DATA_CR] = "a chunk does not end where it should",
    [HTTP1_DATA_LF] = "a chunk does not end where it should",
    [HTTP1_TRAILER] = "a trailer is malformed",
};

static enum http1_event on_byte(struct http1 *h, char c)
{
    bool trailer = h->state >= HTTP1_TRAILER;
    size_t i = 0, count = sizeof steps / sizeof *steps;
    int digit = h->state == HTTP1_CHUNK_SIZE ? hex_value(c) : -1;

    if (++h->line_len >
        (trailer ? (size_t)HTTP1_HEAD_MAX : (size_t)HTTP1_CHUNK_LINE_MAX))
        return bad(h, trailer ? "the trailers are too long"
                              : "the line of a chunk is too long");
    if (digit >= 0 && !(h->left >> 59)) { /* as a length, it fits 63 bits */
        h->left = h->left << 4 | (unsigned)digit;
        return HTTP1_MORE;
    }
    while (i < count && (steps[i].at != h->state ||
                         !(steps[i].is ? steps[i].is(c) : steps[i].byte == c)))
        i++;
    if (h->state == HTTP1_CHUNK_SIZE && h->line_len == 1)
        i = count; /* a size has a digit */
    if (i == count)
        return bad(h, wrong[trailer ? HTTP1_TRAILER : h->state]);
    if (h->state >= HTTP1_CHUNK_LF && h->state <= HTTP1_DATA_LF)
        h->line_len = 0;
    h->state = steps[i].next;
    if (h->state == HTTP1_CHUNK_DATA && !h->left)
        h->state = HTTP1_TRAILER;
    return HTTP1_MORE;
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

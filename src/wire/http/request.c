/*
 * request.c - requests of HTTP/1.1, from bytes in any pieces.
 *
 *   START -> [START_LF] -> LINE -> FIELDS -> HEAD -+-> LENGTH --> END
 *                                                  +-> CHUNKS --> END
 *                                                  +------------> END
 *
 * A line of the head is read once it is whole, but the method as it comes: a
 * client of another protocol hears at once that it is wrong. Whatever the
 * pieces, the same check fails first.
 */
#include "wire/http/request.h"

#include <assert.h>

#include "base/ascii.h"

enum { LINE_END = 2 }; /* CR LF */

_Static_assert(HTTP_REQ_LINE_MAX + HTTP_REQ_FIELDS_BYTES + 2 * LINE_END <=
                   UINT16_MAX,
               "places in the head fit 16 bits");

static enum http_req_event bad(struct http_req *r, int status, const char *why)
{
    r->status = status;
    r->why = why;
    r->keep = false;
    r->state = HTTP_REQ_AT_FAILURE;
    return HTTP_REQ_BAD;
}

void http_req_begin(struct http_req *r, struct buf *head)
{
    buf_clear(head);
    /* The table of fields counts up to fields_count only. */
    memset(r, 0, offsetof(struct http_req, fields));
    r->head = head;
}

bool http_req_begun(const struct http_req *r)
{
    return r->head->len || r->state > HTTP_REQ_AT_LINE;
}

/* ---- Request line -------------------------------------------------------- */

/* Of what has come of the line; it need not be whole. */
static const char *method_why(wend_str line)
{
    if (line.ptr[0] == 0x16) /* a handshake */
        return "this is TLS, but the server speaks plain HTTP here; use "
               "http://";
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];

        if (c == ' ' && i)
            return NULL;
        if (!http_is_token(c) || (is_letter(c) && c == lower(c)))
            return "the request does not begin with a method in upper case";
        if (i == HTTP_REQ_METHOD_MAX)
            return "the method is over 16 bytes";
    }
    return NULL;
}

static bool is_target(char c)
{
    return c > ' ' && c < 0x7f && !strchr("\"<>\\#", c);
}

static const char *target_why(wend_str target)
{
    for (size_t i = 0; i < target.len; i++) {
        if (target.ptr[i] == '#')
            return "the target has a fragment (#)";
        if (!is_target(target.ptr[i]))
            return "the target has a character that must be escaped";
        if (target.ptr[i] == '%' &&
            (target.len - i < 3 || hex_value(target.ptr[i + 1]) < 0 ||
             hex_value(target.ptr[i + 2]) < 0))
            return "the target has a '%' without two hexadecimal digits";
    }
    return NULL;
}

/* The authority is absent unless the target is a whole URL. */
static const char *split_target(struct http_req *r, wend_str *authority)
{
    wend_str rest = r->target;
    struct http_host host;
    size_t n = 0;

    *authority = STR_NONE;
    if (str_is(rest, "*") && str_is(r->method, "OPTIONS")) {
        r->path = rest;
        return NULL;
    }
    if (str_starts_nocase(rest, "http://"))
        rest = str_skip(rest, strlen("http://"));
    else if (str_starts_nocase(rest, "https://"))
        rest = str_skip(rest, strlen("https://"));
    else if (rest.ptr[0] != '/')
        return "the target does not begin with a slash";
    if (rest.ptr != r->target.ptr) {
        while (n < rest.len && rest.ptr[n] != '/' && rest.ptr[n] != '?')
            n++;
        *authority = (wend_str){rest.ptr, n};
        if (!http_host_read(*authority, &host))
            return "the target's host is malformed";
        rest = str_skip(rest, n);
    }
    for (n = 0; n < rest.len && rest.ptr[n] != '?';)
        n++;
    r->path = n ? (wend_str){rest.ptr, n} : STR("/");
    r->query = n < rest.len ? str_skip(rest, n + 1) : STR_NONE;
    return NULL;
}

static int version_status(wend_str version)
{
    const char *p = version.ptr;

    if (version.len != 8 || memcmp(p, "HTTP/", 5) != 0 || !is_digit(p[5]) ||
        p[6] != '.' || !is_digit(p[7]))
        return 400;
    return p[5] == '1' && p[7] <= '1' ? 0 : 505;
}

/* The method was looked at before. Sets views of the head, which may move
 * until it is whole. */
static enum http_req_event read_request(struct http_req *r, wend_str line,
                                        wend_str *authority)
{
    wend_str rest = line;
    const char *why;
    int status;

    for (size_t i = 0; i < line.len; i++)
        if (!http_is_text(line.ptr[i]) || line.ptr[i] == '\t')
            return bad(r, 400, "a control byte in the request line");
    if (!str_take(&rest, ' ', &r->method) || !str_take(&rest, ' ', &r->target))
        return bad(r, 400, "the request line has no target");
    status = version_status(rest);
    if (!r->target.len || str_has(rest, STR(" ")))
        return bad(r, 400, "a space too many in the request line");
    if (status)
        return bad(r, status,
                   status == 505 ? "the version of HTTP is neither 1.0 nor 1.1"
                                 : "the request line does not end in HTTP/1.1");
    if (str_is(r->method, "CONNECT"))
        return bad(r, 501, "CONNECT is refused: this is not a proxy");
    why = target_why(r->target);
    if (!why)
        why = split_target(r, authority);
    if (why)
        return bad(r, 400, why);
    r->old = line.ptr[line.len - 1] == '0';
    r->is_head = str_is(r->method, "HEAD");
    return HTTP_REQ_MORE;
}

/* ---- Header fields ------------------------------------------------------- */

static enum http_req_event on_host(struct http_req *r, wend_str value)
{
    struct http_host host;

    return http_host_read(value, &host)
               ? HTTP_REQ_MORE
               : bad(r, 400, "the Host header is malformed");
}

static enum http_req_event on_length(struct http_req *r, wend_str value)
{
    r->has_length = true;
    return str_to_i64(value, &r->length)
               ? HTTP_REQ_MORE
               : bad(r, 400, "the Content-Length is not a number");
}

static enum http_req_event on_coding(struct http_req *r, wend_str value)
{
    r->chunked = true;
    return str_same(value, STR("chunked"))
               ? HTTP_REQ_MORE
               : bad(r, 501, "a Transfer-Encoding other than chunked");
}

static enum http_req_event on_expect(struct http_req *r, wend_str value)
{
    r->expects = true;
    return str_same(value, STR("100-continue"))
               ? HTTP_REQ_MORE
               : bad(r, 417, "an expectation other than 100-continue");
}

static enum http_req_event on_connection(struct http_req *r, wend_str value)
{
    r->says_close |= http_list_has(value, "close");
    r->says_keep |= http_list_has(value, "keep-alive");
    return HTTP_REQ_MORE;
}

/* Two readers may take the first or the last of two, or both: of those that
 * decide something there is one. */
static const struct {
    const char *name;
    enum http_req_event (*read)(struct http_req *r, wend_str value);
    const char *twice; /* why not; NULL: it may come again */
} known[] = {
    {"host", on_host, "two Host headers"},
    {"content-length", on_length, "two Content-Length headers"},
    {"transfer-encoding", on_coding, "two Transfer-Encoding headers"},
    {"expect", on_expect, "two Expect headers"},
    {"connection", on_connection, NULL},
    {"content-type", NULL, "two Content-Type headers"},
    {"authorization", NULL, "two Authorization headers"},
    {"origin", NULL, "two Origin headers"},
    {"range", NULL, "two Range headers"},
    {"if-none-match", NULL, "two If-None-Match headers"},
    {"last-event-id", NULL, "two Last-Event-ID headers"},
    {"idempotency-key", NULL, "two Idempotency-Key headers"},
};

static enum http_req_event read_field(struct http_req *r, wend_str line)
{
    size_t i = 0, count = sizeof known / sizeof *known;
    wend_str name = STR_NONE, value = STR_NONE;
    const char *why = http_field_read(line, &name, &value);
    char *at = r->head->ptr + r->line_at;

    if (why)
        return bad(r, 400, why);
    if (r->fields_count == HTTP_REQ_FIELDS_MAX)
        return bad(r, 431, "over 100 headers");
    for (size_t k = 0; k < name.len; k++)
        at[k] = lower(at[k]);
    r->fields[r->fields_count].name_at = (uint16_t)r->line_at;
    r->fields[r->fields_count].name_len = (uint16_t)name.len;
    r->fields[r->fields_count].value_at = (uint16_t)(value.ptr - r->head->ptr);
    r->fields[r->fields_count++].value_len = (uint16_t)value.len;
    while (i < count && !str_is(name, known[i].name))
        i++;
    if (i == count)
        return HTTP_REQ_MORE;
    if (known[i].twice && r->seen & 1u << i)
        return bad(r, 400, known[i].twice);
    r->seen |= 1u << i;
    if (!known[i].read)
        return HTTP_REQ_MORE;
    /* Not all readers take a tab for white space around a value. */
    if (str_has(line, STR("\t")))
        return bad(r, 400, "a tab in a header that frames the request");
    return known[i].read(r, value);
}

/* RFC 9112, 6.3: which bytes are the body. */
static enum http_req_event read_framing(struct http_req *r)
{
    if (r->chunked && r->has_length)
        return bad(r, 400, "both Content-Length and Transfer-Encoding");
    if (r->chunked && r->old)
        return bad(r, 400, "a Transfer-Encoding in HTTP/1.0");
    if (r->chunked)
        r->length = -1;
    r->has_body = r->length != 0;
    r->expects = r->expects && r->has_body && !r->old;
    r->keep = r->old ? r->says_keep && !r->says_close : !r->says_close;
    r->left = r->chunked ? 0 : (uint64_t)r->length;
    return HTTP_REQ_MORE;
}

static enum http_req_event head_ends(struct http_req *r)
{
    wend_str authority, line = {r->head->ptr, r->fields_at - LINE_END};
    enum http_req_event e = read_request(r, line, &authority);

    assert(e == HTTP_REQ_MORE); /* it was read before */
    r->host = http_req_value(r, "host");
    if (!r->host.ptr && !r->old)
        return bad(r, 400, "no Host header");
    if (!r->host.ptr)
        r->host = authority;
    if (authority.ptr && !str_same(authority, r->host))
        return bad(r, 400, "the target's host is not that of the Host header");
    e = read_framing(r);
    if (e != HTTP_REQ_MORE)
        return e;
    r->state = HTTP_REQ_AT_HEAD;
    return HTTP_REQ_HEAD;
}

/* A whole line, with its end. */
static enum http_req_event read_line(struct http_req *r)
{
    wend_str line = {r->head->ptr + r->line_at, r->head->len - r->line_at - 1};
    wend_str authority;

    if (!line.len || line.ptr[line.len - 1] != '\r')
        return bad(r, 400, "a line of the head ends without CR");
    line.len--;
    if (r->state == HTTP_REQ_AT_LINE) {
        r->state = HTTP_REQ_AT_FIELDS;
        r->line_at = r->fields_at = r->head->len;
        return read_request(r, line, &authority);
    }
    if (!line.len)
        return head_ends(r);
    if (r->head->len - r->fields_at > HTTP_REQ_FIELDS_BYTES)
        return bad(r, 431, "the headers are over 32 KiB");
    if (read_field(r, line) == HTTP_REQ_BAD)
        return HTTP_REQ_BAD;
    r->line_at = r->head->len;
    return HTTP_REQ_MORE;
}

static enum http_req_event on_head(struct http_req *r, wend_str *in)
{
    bool first = r->state == HTTP_REQ_AT_LINE;
    size_t max = LINE_END + (first ? (size_t)HTTP_REQ_LINE_MAX
                                   : r->fields_at + HTTP_REQ_FIELDS_BYTES);
    bool ended = http_line_take(r->head, in, max);
    const char *why;

    if (r->head->failed)
        return HTTP_REQ_NOMEM;
    why = first ? method_why(buf_view(r->head)) : NULL;
    if (why)
        return bad(r, 400, why);
    if (ended)
        return read_line(r);
    if (r->head->len < max)
        return HTTP_REQ_MORE;
    return first ? bad(r, 414, "the request line is over 8 KiB")
                 : bad(r, 431, "the headers are over 32 KiB");
}

/* ---- Body ---------------------------------------------------------------- */

static const char too_large[] = "the body is larger than is accepted here";

static const struct http_chunks_limits limits = {
    .line_max = HTTP_REQ_CHUNK_LINE_MAX,
    .ext_max = HTTP_REQ_CHUNK_EXT_MAX,
    .trailers_max = HTTP_REQ_TRAILERS_BYTES,
    .strict = true,
};

static enum http_req_event begin_body(struct http_req *r)
{
    if (!r->chunked && r->left > r->body_max)
        return bad(r, 413, too_large);
    http_chunks_begin(&r->chunks, &limits);
    r->state = r->chunked ? HTTP_REQ_AT_CHUNKS
               : r->left  ? HTTP_REQ_AT_LENGTH
                          : HTTP_REQ_AT_END;
    return HTTP_REQ_MORE;
}

static wend_str take(wend_str *in, uint64_t max)
{
    wend_str piece = {in->ptr, max < in->len ? (size_t)max : in->len};

    *in = str_skip(*in, piece.len);
    return piece;
}

static enum http_req_event on_length_body(struct http_req *r, wend_str *in,
                                          wend_str *body)
{
    *body = take(in, r->left);
    r->left -= body->len;
    if (!r->left)
        r->state = HTTP_REQ_AT_END;
    return HTTP_REQ_BODY;
}

static enum http_req_event on_chunks(struct http_req *r, wend_str *in,
                                     wend_str *body)
{
    struct http_chunks *c = &r->chunks;
    const char *why;

    if (c->state == HTTP_CHUNK_DATA) {
        *body = take(in, c->left);
        r->taken += body->len;
        http_chunks_take(c, body->len);
        return HTTP_REQ_BODY;
    }
    why = http_chunks_byte(c, in->ptr[0]);
    *in = str_skip(*in, 1);
    if (why)
        return bad(r, why == http_trailers_too_long ? 431 : 400, why);
    /* With its size, not when its data has come. */
    if (c->state == HTTP_CHUNK_DATA &&
        (r->taken > r->body_max || c->left > r->body_max - r->taken))
        return bad(r, 413, too_large);
    if (c->state == HTTP_CHUNK_OVER)
        r->state = HTTP_REQ_AT_END;
    return HTTP_REQ_MORE;
}

/* ---- Public -------------------------------------------------------------- */

static enum http_req_event on_start(struct http_req *r, wend_str *in)
{
    if (in->ptr[0] != '\r') {
        r->state = HTTP_REQ_AT_LINE;
        return HTTP_REQ_MORE;
    }
    r->state = HTTP_REQ_AT_START_LF;
    *in = str_skip(*in, 1);
    return HTTP_REQ_MORE;
}

static enum http_req_event on_start_lf(struct http_req *r, wend_str *in)
{
    if (in->ptr[0] != '\n')
        return bad(r, 400, "a CR without LF before the request");
    r->state = HTTP_REQ_AT_LINE;
    *in = str_skip(*in, 1);
    return HTTP_REQ_MORE;
}

static enum http_req_event on_input(struct http_req *r, wend_str *in,
                                    wend_str *body)
{
    switch (r->state) {
    case HTTP_REQ_AT_START: return on_start(r, in);
    case HTTP_REQ_AT_START_LF: return on_start_lf(r, in);
    case HTTP_REQ_AT_LINE:
    case HTTP_REQ_AT_FIELDS: return on_head(r, in);
    case HTTP_REQ_AT_LENGTH: return on_length_body(r, in, body);
    case HTTP_REQ_AT_CHUNKS: return on_chunks(r, in, body);
    case HTTP_REQ_AT_HEAD:
    case HTTP_REQ_AT_END:
    case HTTP_REQ_AT_FAILURE: break;
    }
    return HTTP_REQ_BAD;
}

enum http_req_event http_req_next(struct http_req *r, wend_str *in,
                                  wend_str *body)
{
    enum http_req_event e = HTTP_REQ_MORE;

    *body = STR_NONE;
    while (e == HTTP_REQ_MORE) {
        if (r->state == HTTP_REQ_AT_HEAD)
            e = begin_body(r);
        else if (r->state == HTTP_REQ_AT_END)
            return HTTP_REQ_DONE;
        else if (r->state == HTTP_REQ_AT_FAILURE)
            return HTTP_REQ_BAD;
        else if (!in->len)
            return HTTP_REQ_MORE;
        else
            e = on_input(r, in, body);
    }
    return e;
}

struct http_field http_req_field(const struct http_req *r, size_t i)
{
    const char *p = r->head->ptr;

    assert(i < r->fields_count);
    return (struct http_field){
        {p + r->fields[i].name_at, r->fields[i].name_len},
        {p + r->fields[i].value_at, r->fields[i].value_len},
    };
}

wend_str http_req_value(const struct http_req *r, const char *name)
{
    for (size_t i = 0; i < r->fields_count; i++) {
        struct http_field f = http_req_field(r, i);

        if (str_is(f.name, name))
            return f.value;
    }
    return STR_NONE;
}

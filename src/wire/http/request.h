/*
 * request.h - HTTP/1.1 as a server has it: requests read, answers begun.
 *
 * Two readers that disagree about where a request ends are a hole: what one
 * takes for a body, the other takes for the next request. So this reader
 * accepts one spelling of everything that frames a request, and refuses the
 * rest with a status and a reason.
 */
#ifndef WIRE_HTTP_REQUEST_H
#define WIRE_HTTP_REQUEST_H

#include "base/address.h"
#include "base/str.h"
#include "wire/http/chunks.h"

/* ---- Requests, from bytes in any pieces ---------------------------------- */

enum {
    HTTP_REQ_LINE_MAX = 8 << 10,       /* bytes of the request line; else 414 */
    HTTP_REQ_METHOD_MAX = 16,          /* of the method; else 400 */
    HTTP_REQ_FIELDS_BYTES = 32 << 10,  /* all header lines; else 431 */
    HTTP_REQ_FIELDS_MAX = 100,         /* header lines; else 431 */
    HTTP_REQ_CHUNK_LINE_MAX = 256,     /* a chunk's size with extensions */
    HTTP_REQ_CHUNK_EXT_MAX = 4 << 10,  /* extensions of all chunks */
    HTTP_REQ_TRAILERS_BYTES = 8 << 10, /* all of them; else 431 */
};

enum http_req_event {
    HTTP_REQ_MORE,  /* all that was given is read */
    HTTP_REQ_HEAD,  /* the fields of struct http_req are known: set body_max */
    HTTP_REQ_BODY,  /* a piece of the body */
    HTTP_REQ_DONE,  /* complete; what is left of the input is the next one's */
    HTTP_REQ_BAD,   /* answer `status` with `why` and close the connection */
    HTTP_REQ_NOMEM, /* for the head */
};

enum http_req_state {
    HTTP_REQ_AT_START,    /* an empty line is skipped once */
    HTTP_REQ_AT_START_LF, /* of the empty line */
    HTTP_REQ_AT_LINE,
    HTTP_REQ_AT_FIELDS,
    HTTP_REQ_AT_HEAD, /* complete, but its body was not begun */
    HTTP_REQ_AT_LENGTH,
    HTTP_REQ_AT_CHUNKS,
    HTTP_REQ_AT_END,
    HTTP_REQ_AT_FAILURE,
};

/* A name in lower case and a value without spaces around it. */
struct http_field {
    wend_str name, value;
};

/* What is known from HTTP_REQ_HEAD on; strings are lent from `head`, until
 * the next http_req_begin. */
struct http_req {
    struct buf *head; /* the caller's */
    wend_str method;  /* upper case; whether it is known is not checked */
    wend_str target;  /* as it came */
    wend_str path;    /* begins with a slash, escaped; or it is `*` */
    wend_str query;   /* behind the `?`, escaped; absent if there is none */
    wend_str host;    /* with its port; absent only in HTTP/1.0 */
    bool old;         /* HTTP/1.0: its answer cannot be chunked */
    bool is_head;     /* its answer has no body */
    bool keep;        /* the connection may be used again; not after BAD */
    bool expects;     /* waits for http_continue, if the body is wanted */
    bool has_body;    /* chunks, or a length that is not 0 */
    int64_t length;   /* of the body; -1: chunks */
    size_t fields_count;
    /* The caller's, set at HTTP_REQ_HEAD: longer bodies are refused with 413,
     * those with a length before any byte of it. 0, so no body, until set. */
    uint64_t body_max;
    /* Of HTTP_REQ_BAD: for a person, without a full stop; names no value. */
    int status;
    const char *why;

    /* The reader's own. */
    enum http_req_state state;
    bool says_close, says_keep, chunked, has_length;
    unsigned seen;    /* fields that may come only once, by row */
    size_t line_at;   /* in head: where the line begins */
    size_t fields_at; /* in head: where the header lines begin */
    uint64_t left;    /* of a body with a length */
    uint64_t taken;   /* of a body in chunks */
    struct http_chunks chunks;
    struct {
        uint16_t name_at, name_len, value_at, value_len; /* in head */
    } fields[HTTP_REQ_FIELDS_MAX];
};

/* For the next request of a connection; clears `head`, whose memory stays. */
void http_req_begin(struct http_req *r, struct buf *head);
/* Takes from the front of *in, until something is to be told. The piece of
 * HTTP_REQ_BODY is taken, never empty, and lies in what was given. After DONE
 * and BAD it takes nothing and says the same again. */
enum http_req_event http_req_next(struct http_req *r, wend_str *in,
                                  wend_str *body);
/* Whether any byte of a request has come, but for an empty line: a connection
 * that closes before is no failure. */
bool http_req_begun(const struct http_req *r);
/* The field at i, in the order in which they came. */
struct http_field http_req_field(const struct http_req *r, size_t i);
/* The value of the first field of that name (in lower case), or absent. These
 * come at most once, or the request is refused: host, content-length,
 * transfer-encoding, content-type, authorization, origin, expect, range,
 * if-none-match, last-event-id, idempotency-key. */
wend_str http_req_value(const struct http_req *r, const char *name);

/* ---- Target -------------------------------------------------------------- */

/* A segment of a path (without slashes), decoded into the arena. Absent with
 * a->failed, or if it is invalid: a bad escape, `%2F`, NUL or another control
 * character, not UTF-8, `.` or `..`. */
wend_str http_segment(wend_str text, struct arena *a);

enum { HTTP_QUERY_MAX = 32 }; /* parameters of a query */

struct http_query {
    size_t count;
    struct http_field pairs[HTTP_QUERY_MAX]; /* names as they came, decoded */
};

/* A form (`a=b&c=d+e`), decoded; an absent or empty text has none. Refused:
 * a bad escape, NUL, not UTF-8, an empty name, a name that comes twice, more
 * than HTTP_QUERY_MAX. Values without `=` are empty. Strings live in the
 * arena. */
wend_status http_query_read(wend_str text, struct arena *a,
                            struct http_query *out, wend_error *err);
/* The value of that name, or absent. */
wend_str http_query_value(const struct http_query *q, const char *name);

/* ---- Values of headers; an absent value is like none ----------------------
 */
/* Last-Event-ID, Retry-After: str_to_i64 */

/* Whether it is that media type, in any case, with no parameter but
 * charset=utf-8. */
bool http_media_is(wend_str value, const char *type);

enum http_range {
    HTTP_RANGE_ALL,    /* none, several, or not understood: 200 */
    HTTP_RANGE_PART,   /* 206 */
    HTTP_RANGE_BEYOND, /* 416 */
};

/* Which bytes of `size` are asked for; *from and *len are set in each case
 * (0 and 0 for HTTP_RANGE_BEYOND). */
enum http_range http_range_read(wend_str value, uint64_t size, uint64_t *from,
                                uint64_t *len);
/* The token of `Authorization: Bearer TOKEN`, or absent. */
wend_str http_bearer(wend_str value);
/* Whether If-None-Match names this entity tag, which is given with its quotes
 * (`"abc"`, W/"abc"): 304. */
bool http_etag_among(wend_str value, wend_str etag);

/* `name`, `name:port`, `1.2.3.4:port`, `[::1]:port`. */
struct http_host {
    wend_str name; /* as it came, IPv6 without brackets; lent */
    bool v6;
    struct address address; /* if v6 */
    int port;               /* 1 to 65535; 0: not given */
};

/* Letters, digits, `-`, `_` and dots, or an IPv6 address in brackets. */
bool http_host_read(wend_str text, struct http_host *out);
/* Whether both are the same host and port, in any case; one without a port
 * has `port_default` (80, or 443 behind a proxy that speaks TLS). */
bool http_host_is(wend_str host, wend_str allowed, int port_default);
/* Whether both are the same `http://host:port` or `https://...`; `null` is
 * equal to nothing. */
bool http_origin_is(wend_str origin, wend_str allowed);

/* ---- Answers ------------------------------------------------------------- */

enum {
    HTTP_NO_BODY = -1,        /* 204, 304: neither length nor chunks */
    HTTP_CHUNKED = -2,        /* not for HTTP/1.0 */
    HTTP_TO_CLOSE = -3,       /* as many as come; not `keep` */
    HTTP_CHUNK_HEAD_MAX = 18, /* bytes of http_chunk_head */
};

struct http_answer {
    int status;
    int64_t length; /* of the body (to HEAD: that it would have), or above */
    bool keep;      /* else the connection is closed behind the answer */
    const struct http_field *fields;
    size_t fields_count;
};

extern const char http_continue[];   /* HTTP/1.1 100 Continue, all of it */
extern const char http_chunk_last[]; /* behind the last chunk */

/* Appends status line, headers and the empty line. False, and nothing is
 * appended: a name or value is invalid (a line break would begin another
 * header), or names what is written here (Content-Length, Transfer-Encoding,
 * Connection). */
bool http_answer_head(struct buf *out, const struct http_answer *a);
/* What stands before a chunk of len bytes (not 0), of which it writes the
 * size; CRLF comes behind it. */
size_t http_chunk_head(char out[HTTP_CHUNK_HEAD_MAX], size_t len);
/* A whole chunk; an empty one, which would be the last, is left out. */
void http_chunk_put(struct buf *out, wend_str data);
/* "Not Found"; "" if it is not in the table. */
const char *http_reason(int status);

#endif

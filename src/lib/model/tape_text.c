/*
 * tape_text.c - the text of recorded requests and answers, both ways.
 *
 * Pure. The files that are read are not trusted.
 */
#include "base/header.h"
#include "base/redact.h"
#include "lib/model/tape.h"

enum {
    NUMBER_DIGITS = 4,
    /* A day: no call takes longer, and sums with a clock stay in range. */
    AT_SECONDS_MAX = 24 * 3600,
    STATUS_MAX = 999,
};

static const char key_mark[] = "[key]";

const char *const tape_headers[TAPE_HEADERS] = {
    "content-type", "retry-after", "retry-after-ms",   "x-should-retry",
    "x-request-id", "request-id",  "content-encoding", "location",
};

static const char *const secret_headers[] = {
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "traceparent", /* not secret, but another one in each run */
    NULL,
};

/* ---- Writing ------------------------------------------------------------- */

void tape_path(struct buf *out, const struct tape *t, const char *kind)
{
    buf_fmt(out, "%s/%0*lld.%s", t->dir, NUMBER_DIGITS, (long long)t->number,
            kind);
}

static const char *find_key(wend_str text, wend_str key)
{
    return key.len >= SECRET_BYTES_MIN && text.len
               ? memmem(text.ptr, text.len, key.ptr, key.len)
               : NULL;
}

void tape_put_redacted(struct buf *out, wend_str text, wend_str key)
{
    const char *at;

    while ((at = find_key(text, key))) {
        size_t before = (size_t)(at - text.ptr);

        buf_add(out, text.ptr, before);
        buf_cstr(out, key_mark);
        text = str_skip(text, before + key.len);
    }
    buf_str(out, text);
}

/* A secret of the driver's is a part of the very text. */
static bool is_secret(const char *header, const struct tape *t)
{
    const char *end = header + strlen(header);

    for (size_t i = 0; i < t->secrets_count; i++)
        if (t->secrets[i].ptr >= header && t->secrets[i].ptr < end)
            return true;
    return header_is_among(str_of(header), secret_headers) ||
           find_key(str_of(header), t->key);
}

/* A URL without the name and password in front of its host. */
static void put_url(struct buf *out, wend_str url, wend_str key)
{
    const char *host = url.len ? memmem(url.ptr, url.len, "://", 3) : NULL;
    size_t skip, authority;

    if (host) {
        skip = (size_t)(host - url.ptr) + 3;
        buf_add(out, url.ptr, skip);
        url = str_skip(url, skip);
        authority = strcspn(url.ptr, "/?#");
        for (skip = authority; skip && url.ptr[skip - 1] != '@';)
            skip--;
        url = str_skip(url, skip);
    }
    tape_put_redacted(out, url, key);
}

void tape_put_request(struct buf *out, const struct fetch_request *q,
                      const struct tape *t)
{
    buf_cstr(out, q->method ? q->method : "POST");
    buf_char(out, ' ');
    put_url(out, str_of(q->url), t->key);
    buf_char(out, '\n');
    for (size_t i = 0; q->headers && q->headers[i]; i++)
        if (!is_secret(q->headers[i], t))
            buf_fmt(out, "%s\n", q->headers[i]);
    buf_char(out, '\n');
    tape_put_redacted(out, q->body, t->key);
}

void tape_put_chunk(struct buf *out, int64_t at_us, wend_str bytes)
{
    buf_fmt(out, "@%lld %zu\n", (long long)at_us, bytes.len);
    buf_str(out, bytes);
    buf_char(out, '\n');
}

void tape_put_end(struct buf *out, int64_t at_us, enum fetch_end how,
                  wend_str message)
{
    size_t start;

    buf_fmt(out, "@%lld %s", (long long)at_us, fetch_codes[how]);
    if (message.len)
        buf_char(out, ' ');
    start = out->len;
    buf_str(out, message);
    for (size_t i = start; !out->failed && i < out->len; i++)
        if (out->ptr[i] == '\n')
            out->ptr[i] = ' ';
    buf_char(out, '\n');
}

/* ---- Reading ------------------------------------------------------------- */

/* Takes a line without its newline; false if the text ends before one. */
static bool take_line(wend_str *rest, wend_str *line)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;

    if (!end)
        return false;
    *line = (wend_str){rest->ptr, (size_t)(end - rest->ptr)};
    *rest = str_skip(*rest, line->len + 1);
    return true;
}

bool tape_take_head(wend_str *rest, int *status, wend_str *headers,
                    enum tape_got *got)
{
    wend_str line, word;
    int64_t n;

    *got = TAPE_CUT;
    if (!take_line(rest, &line))
        return false;
    str_take(&line, ' ', &word);
    if (!str_is(word, "status") || !str_to_i64(line, &n) || n > STATUS_MAX) {
        *got = TAPE_BAD;
        return false;
    }
    *status = (int)n;
    headers->ptr = rest->ptr;
    do {
        headers->len = (size_t)(rest->ptr - headers->ptr);
        if (!take_line(rest, &line))
            return false;
    } while (line.len);
    return true;
}

enum tape_got tape_take(wend_str *rest, struct tape_item *out)
{
    wend_str line, word, at;
    int64_t len;
    int how;

    if (rest->len && rest->ptr[0] != '@')
        return TAPE_BAD;
    if (!take_line(rest, &line))
        return TAPE_CUT;
    str_take(&line, ' ', &at);
    at = str_skip(at, 1); /* the '@' */
    if (!str_to_i64(at, &out->at_us) ||
        out->at_us > AT_SECONDS_MAX * INT64_C(1000000))
        return TAPE_BAD;
    str_take(&line, ' ', &word);
    how = str_index(word, fetch_codes, FETCH_ENDS);
    out->bytes = line;
    out->how = how < 0 ? FETCH_OK : (enum fetch_end)how;
    if (how >= 0) /* running out of memory is never recorded */
        return rest->len || how == FETCH_NOMEM ? TAPE_BAD : TAPE_END;
    if (!str_to_i64(word, &len) || line.len)
        return TAPE_BAD;
    if ((uint64_t)len >= rest->len) /* with its newline it is one longer */
        return TAPE_CUT;
    out->bytes = (wend_str){rest->ptr, (size_t)len};
    if (rest->ptr[len] != '\n')
        return TAPE_BAD;
    *rest = str_skip(*rest, (size_t)len + 1);
    return TAPE_CHUNK;
}

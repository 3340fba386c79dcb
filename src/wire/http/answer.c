/*
 * answer.c - heads and chunks of answers.
 */
#include "wire/http/request.h"

#include <assert.h>

#include "base/header.h"

const char http_continue[] = "HTTP/1.1 100 Continue\r\n\r\n";
const char http_chunk_last[] = "0\r\n\r\n";

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *http_reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}

static bool field_ok(const struct http_field *f)
{
    static const char *const ours[] = {
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        NULL,
    };

    for (size_t i = 0; i < f->value.len; i++)
        if (!http_is_text(f->value.ptr[i]))
            return false;
    return header_name_ok(f->name) && !header_is_among(f->name, ours);
}

bool http_answer_head(struct buf *out, const struct http_answer *a)
{
    bool no_body = a->status == 204 || a->status == 304;

    assert(a->status >= 200 && a->status <= 599);
    for (size_t i = 0; i < a->fields_count; i++)
        if (!field_ok(&a->fields[i]))
            return false;
    buf_fmt(out, "HTTP/1.1 %d %s\r\n", a->status, http_reason(a->status));
    for (size_t i = 0; i < a->fields_count; i++) {
        buf_str(out, a->fields[i].name);
        buf_cstr(out, ": ");
        buf_str(out, a->fields[i].value);
        buf_cstr(out, "\r\n");
    }
    if (a->length >= 0 && !no_body)
        buf_fmt(out, "Content-Length: %lld\r\n", (long long)a->length);
    else if (a->length == HTTP_CHUNKED && !no_body)
        buf_cstr(out, "Transfer-Encoding: chunked\r\n");
    buf_cstr(out, a->keep && a->length != HTTP_TO_CLOSE
                      ? "Connection: keep-alive\r\n\r\n"
                      : "Connection: close\r\n\r\n");
    return true;
}

size_t http_chunk_head(char out[HTTP_CHUNK_HEAD_MAX], size_t len)
{
    size_t digits = 1, n = 0;

    assert(len);
    while (digits < 16 && len >> 4 * digits)
        digits++;
    while (digits--)
        out[n++] = "0123456789abcdef"[len >> 4 * digits & 15];
    out[n++] = '\r';
    out[n++] = '\n';
    return n;
}

void http_chunk_put(struct buf *out, wend_str data)
{
    char head[HTTP_CHUNK_HEAD_MAX];

    if (!data.len)
        return;
    buf_add(out, head, http_chunk_head(head, data.len));
    buf_str(out, data);
    buf_cstr(out, "\r\n");
}

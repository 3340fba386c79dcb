/*
 * answer.c - answers: JSON, bytes, and problems that say what to do.
 */
#include "serve/serve.h"

#include <stdio.h>

#include "base/utf8.h"

static const struct http_field no_store = {{"Cache-Control", 13},
                                           {"no-store", 8}};

void respond_bytes(struct serve_ask *q, int status, const char *media,
                   wend_str body, const struct http_field *fields,
                   size_t fields_count)
{
    enum { FIELDS = 12 };
    struct http_field all[FIELDS];
    struct http_answer head = {
        .status = status, .length = (int64_t)body.len, .fields = all};
    size_t n = 0;

    all[n++] = (struct http_field){STR("Content-Type"), str_of(media)};
    all[n++] =
        (struct http_field){STR("X-Content-Type-Options"), STR("nosniff")};
    for (size_t i = 0; i < fields_count && n < FIELDS; i++)
        all[n++] = fields[i];
    head.fields_count = n;
    conn_answer(q->conn, &head, body);
}

void respond_json(struct serve_ask *q, int status, struct buf *json)
{
    if (json->failed) {
        buf_free(json);
        respond_nomem(q);
        return;
    }
    respond_bytes(q, status, "application/json", buf_view(json), &no_store, 1);
    buf_free(json);
}

void respond_empty(struct serve_ask *q, int status)
{
    const struct http_answer head = {.status = status,
                                     .length = HTTP_NO_BODY,
                                     .fields = &no_store,
                                     .fields_count = 1};

    conn_answer(q->conn, &head, STR_NONE);
}

static void put_problem(struct buf *b, int status, const char *code,
                        const char *field, const char *hint, const char *text)
{
    json_open(b, NULL, '{');
    json_add_str(b, "type", STR("about:blank"));
    json_add_str(b, "title", str_of(http_reason(status)));
    json_add_i64(b, "status", status);
    json_add_str(b, "code", str_of(code));
    json_add_str(b, "detail", str_of(text));
    json_add_str(b, "field", str_of(field));
    json_add_str(b, "hint", str_of(hint));
    json_close(b, '}');
}

static void put_openai(struct buf *b, int status, const char *code,
                       const char *field, const char *text)
{
    json_open(b, NULL, '{');
    json_open(b, "error", '{');
    json_add_str(b, "message", str_of(text));
    json_add_str(b, "type",
                 status < 500 ? STR("invalid_request_error")
                              : STR("server_error"));
    json_add_nullable(b, "param", str_of(field));
    json_add_str(b, "code", str_of(code));
    json_close(b, '}');
    json_close(b, '}');
}

void respond_problem(struct serve_ask *q, int status, const char *code,
                     const char *field, const char *hint, const char *fmt, ...)
{
    struct buf b = {.mem = &q->server->mem};
    struct http_field fields[4] = {no_store};
    size_t n = 1;
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    if (q->route && q->route->openai)
        put_openai(&b, status, code, field, text);
    else
        put_problem(&b, status, code, field, hint, text);
    if (status == 401)
        fields[n++] =
            (struct http_field){STR("WWW-Authenticate"), STR("Bearer")};
    if (status == 405)
        fields[n++] = (struct http_field){STR("Allow"), q->allow};
    if (status == 503)
        fields[n++] = (struct http_field){STR("Retry-After"), STR("1")};
    if (b.failed)
        conn_free(q->conn);
    else
        respond_bytes(q, status,
                      q->route && q->route->openai ? "application/json"
                                                   : "application/problem+json",
                      buf_view(&b), fields, n);
    buf_free(&b);
}

void respond_nomem(struct serve_ask *q)
{
    respond_problem(q, 503, "no_memory", NULL, "try again in a second",
                    "out of memory");
}

void respond_failed(struct serve_ask *q, const wend_error *err)
{
    static const struct {
        wend_status status;
        int http;
    } rows[] = {
        {WEND_E_INVAL, 400},   {WEND_E_PARSE, 400}, {WEND_E_NOTFOUND, 404},
        {WEND_E_EXISTS, 409},  {WEND_E_BUSY, 409},  {WEND_E_STALE, 409},
        {WEND_E_LIMIT, 422},   {WEND_E_NOMEM, 503}, {WEND_E_STORE, 503},
        {WEND_E_CORRUPT, 500},
    };
    int http = 500;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == err->status)
            http = rows[i].http;
    respond_problem(q, http, wend_status_name(err->status), NULL, NULL, "%s",
                    err->message);
}

void respond_run(struct serve_ask *q, int status, const char *id)
{
    struct buf b = {.mem = &q->server->mem};
    char where[64];
    const struct http_field fields[] = {
        no_store,
        {STR("Location"), {where, 0}},
    };
    struct http_field all[2];

    snprintf(where, sizeof where, "/v1/runs/%s", id);
    memcpy(all, fields, sizeof all);
    all[1].value = str_of(where);
    json_open(&b, NULL, '{');
    json_add_str(&b, "run", str_of(id));
    json_close(&b, '}');
    if (b.failed)
        respond_nomem(q);
    else
        respond_bytes(q, status, "application/json", buf_view(&b), all, 2);
    buf_free(&b);
}

/*
 * http.h - what the two halves of the HTTP driver share.
 */
#ifndef LIB_HTTP_H
#define LIB_HTTP_H

#include "base/limits.h"
#include "lib/model/tape.h"
#include "lib/otel/otel.h"
#include "lib/run/run.h"
#include "wire/model/failure.h"
#include "wire/model/model.h"

enum { HTTP_HEADERS_MAX = 2 * WISH_HEADERS_MAX + 8 }; /* and wend's own */

struct http_driver {
    struct driver base;
    struct mem mem;
    struct arena arena;
    const struct codec *codec;
    wend_str model;
    const char *base_url, *ca_file, *unix_socket;
    const char *query; /* of the base URL; NULL: none */
    const char *headers[HTTP_HEADERS_MAX + 1];
    const char *key_line; /* the header with the key; NULL: there is none */
    wend_str secrets[KEYS_MAX]; /* in other headers */
    struct tape tape;
    int64_t output_tokens, whole_ms;
    bool http2, insecure_http;
};

/* http_open.c: why the network failed; if a server that people start themselves
 * refuses, also how to start it. In `room`, which is cleared. */
wend_str http_refused(struct buf *room, const char *message, wend_str url);

/* http_refused.c: what the next request to the model asks for, and without
 * which fields. */
uint32_t http_asked(const struct http_driver *d, const struct turn *t,
                    uint32_t *without);
/* Which of them the server refused; f: what it said, or NULL. */
uint32_t http_learn(struct http_driver *d, uint32_t asked,
                    const struct failure *f, wend_str message);
/* Tells the run once what another run has found out. */
void http_tell_left(const struct http_driver *d, struct wend_run *run,
                    const struct turn *t, uint32_t *told);

/* http_headers.c: those of the driver, and in a traced run the span of the
 * request. */
struct http_headers {
    const char *list[HTTP_HEADERS_MAX + 2];
    char trace[sizeof "traceparent: " + OTEL_PARENT_LEN];
};
void http_fill_headers(const struct http_driver *d, const struct wend_run *run,
                       int64_t ask, struct http_headers *out);

/* http_driver.c: asking */
struct session *http_session_open(struct driver *d, struct wend_run *run);
void http_session_ask(struct session *base, const struct turn *t, int64_t ask);
void http_session_stop(struct session *base);
void http_session_close(struct session *base);

#endif

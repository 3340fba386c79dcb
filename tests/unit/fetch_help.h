/*
 * fetch_help.h - a loop, its transfers, and a record of what happened.
 */
#ifndef TESTS_FETCH_HELP_H
#define TESTS_FETCH_HELP_H

#include <time.h>

#include "base/str.h"
#include "host/fetch/fetch.h"
#include "server_help.h"

static const struct mem fetch_mem_libc; /* libc's */

struct world {
    struct test_server server;
    struct loop *loop;
    struct fetch *fetch;
    bool libcurl; /* also where plain sockets would do */
};

/* What one transfer has said so far. */
struct seen {
    struct world *w;
    struct transfer *t;
    int heads, status, ends;
    enum fetch_end how;
    size_t chunks;
    struct buf body;
    char message[512], retry_after[64];
    bool port_told; /* `message` is without it */
    bool keep;      /* the body, too, not only its length */
    size_t bytes;
    /* What to do from inside; each once. */
    bool stop_in_head, stop_in_body, stop_in_end;
    struct seen *stop_other, *start_other;
    size_t pause_every; /* pauses at every nth chunk */
    size_t asked;
    bool paused;
    int after_stop; /* events that must not be */
    bool stopped;
};

static inline int64_t clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void seen_stop(struct seen *s)
{
    s->stopped = true;
    fetch_stop(s->t);
}

static inline void seen_start(struct seen *s, const char *url);

static inline void seen_head(void *ctx, struct transfer *t, int status)
{
    struct seen *s = ctx;
    wend_str v = fetch_header(t, "retry-AFTER");

    s->after_stop += s->stopped;
    s->heads++;
    s->status = status;
    snprintf(s->retry_after, sizeof s->retry_after, "%.*s", (int)v.len,
             v.ptr ? v.ptr : "");
    if (s->stop_in_head)
        seen_stop(s);
}

static inline bool seen_body(void *ctx, const char *p, size_t len)
{
    struct seen *s = ctx;

    s->after_stop += s->stopped;
    if (s->pause_every && ++s->asked % s->pause_every == 0) {
        s->paused = true;
        return false;
    }
    s->chunks++;
    s->bytes += len;
    if (s->keep)
        buf_add(&s->body, p, len);
    if (s->stop_other && !s->stop_other->stopped && !s->stop_other->ends)
        seen_stop(s->stop_other);
    if (s->stop_in_body)
        seen_stop(s);
    return true;
}

/* Ports differ from run to run: `host:port` at the beginning, before ": why" or
 * " through the proxy", becomes `host`. */
static inline bool without_port(char *out, size_t size, const char *message)
{
    const char *end = message + strcspn(message, " "), *port;

    end -= end > message && end[-1] == ':';
    for (port = end; port > message && port[-1] >= '0' && port[-1] <= '9';)
        port--;
    if (port == end || port == message || port[-1] != ':') {
        snprintf(out, size, "%s", message);
        return false;
    }
    snprintf(out, size, "%.*s%s", (int)(port - 1 - message), message, end);
    return true;
}

static inline void seen_end(void *ctx, enum fetch_end how, const char *message)
{
    struct seen *s = ctx;

    s->after_stop += s->stopped;
    s->ends++;
    s->how = how;
    s->port_told = without_port(s->message, sizeof s->message, message);
    if (s->start_other) {
        seen_start(s->start_other, "/=text:3/next");
        s->start_other = NULL;
    }
    if (s->stop_in_end)
        fetch_stop(s->t);
}

static const struct fetch_events seen_events = {seen_head, seen_body, seen_end};

static inline wend_status seen_ask(struct seen *s, struct fetch_request *q,
                                   wend_error *err)
{
    s->body.mem = &fetch_mem_libc;
    if (!q->proxy)
        q->proxy = "";
    q->libcurl = s->w->libcurl;
    return fetch_start(s->w->fetch, q, &seen_events, s, &s->t, err);
}

/* A path of the server, or a whole URL. */
static inline void seen_start(struct seen *s, const char *url)
{
    struct fetch_request q = {.first_byte_ms = 30000, .between_ms = 30000};
    char whole[512];

    snprintf(whole, sizeof whole, "http://127.0.0.1:%d%s", s->w->server.port,
             url);
    q.url = *url == '/' ? whole : url;
    if (seen_ask(s, &q, NULL) != WEND_OK)
        s->ends++;
}

static inline void seen_wait(struct seen *s)
{
    while (!s->ends)
        loop_turn(s->w->loop, 1000);
}

/* Turns the loop for so long. */
static inline void world_run(struct world *w, int64_t ms)
{
    int64_t until = clock_ms() + ms, left;

    while ((left = until - clock_ms()) > 0)
        loop_turn(w->loop, (int)left);
}

/* A counter of the server. */
static inline int64_t world_count(struct world *w, const char *name)
{
    struct seen s = {.w = w, .keep = true};
    int64_t n = -1;
    char key[64], *at;

    seen_start(&s, "/stats");
    seen_wait(&s);
    snprintf(key, sizeof key, "\"%s\":", name);
    at = s.body.ptr ? strstr(s.body.ptr, key) : NULL;
    if (at)
        n = strtoll(at + strlen(key), NULL, 10);
    buf_free(&s.body);
    return n;
}

static inline bool world_open(struct world *w, bool tls)
{
    *w = (struct world){0};
    return server_start(&w->server, tls) &&
           loop_new(&fetch_mem_libc, &w->loop, NULL) == WEND_OK &&
           fetch_new(&fetch_mem_libc, w->loop, &w->fetch, NULL) == WEND_OK;
}

static inline void world_close(struct world *w)
{
    fetch_free(w->fetch);
    loop_free(w->loop);
    server_stop(&w->server);
}

#endif

/*
 * feed.c - rows of runs as they change, for pages that list them.
 *
 * Runs of this server tell when they change. Those of other processes are
 * found by looking at the newest rows now and then.
 */
#include "serve/serve.h"

#include <stdio.h>

enum {
    LOOKED_AT = 64,          /* newest rows that are compared */
    SETS = 256,              /* rows that are remembered, by their run: */
    WAYS = 4,                /* ... of one set */
    FEED_EVERY_US = 1000000, /* how often */
    CHANGED_MAX = 256,       /* runs that changed in one pass; then all */
    SNAPSHOT_MAX = 1000,     /* rows of one kind */
    FEED_TEXT_MAX = 256 << 10,
};

struct serve_feed {
    struct serve_flow *streams;
    char changed[CHANGED_MAX][37];
    size_t changed_count;
    struct seen {
        char id[37];
        uint64_t hash;
    } seen[SETS][WAYS]; /* of a set, the newest first */
    int64_t looked_us;
};

static bool may_see(const struct serve_flow *s, const wend_run_info *info)
{
    const struct serve_holder *h = holders_of(&s->server->tokens, s->token);

    return h && (h->rights & WEND_RIGHT_ADMIN ||
                 (info->user.ptr && str_eq(info->user, h->user)));
}

static void put_row(struct serve_flow *s, wend_str frame, bool news)
{
    if (news && s->text.len + frame.len > FEED_TEXT_MAX) {
        s->stale = true; /* it reads slowly: it gets what holds then */
        return;
    }
    buf_str(&s->text, frame);
}

static void tell_row(struct serve_feed *f, const struct mem *m,
                     const wend_run_info *info, bool news)
{
    struct buf b = {.mem = m}, row = {.mem = m};

    row_put(&row, NULL, info);
    buf_cstr(&b, "event: run\ndata: ");
    buf_str(&b, buf_view(&row));
    buf_cstr(&b, "\n\n");
    b.failed |= row.failed;
    buf_free(&row);
    for (struct serve_flow *s = f->streams; s && !b.failed; s = s->next)
        if (may_see(s, info))
            put_row(s, buf_view(&b), news);
    buf_free(&b);
}

static uint64_t row_hash(const wend_run_info *info)
{
    uint64_t h = mix64(0, info->status.ptr, info->status.len);

    h = mix64(h, &info->turns, sizeof info->turns);
    return mix64(h, &info->ended_us, sizeof info->ended_us);
}

/* Whether the row is new since the last look; notes it. */
static bool is_news(struct serve_feed *f, const wend_run_info *info)
{
    struct seen now = {.hash = row_hash(info)};
    struct seen *set = f->seen[mix64(0, info->run.ptr, info->run.len) % SETS];
    size_t at = 0;
    bool same;

    while (at < WAYS - 1 && !str_is(info->run, set[at].id))
        at++;
    same = str_is(info->run, set[at].id) && set[at].hash == now.hash;
    snprintf(now.id, sizeof now.id, "%.*s", STR_ARGS(info->run));
    memmove(set + 1, set, at * sizeof *set);
    set[0] = now;
    return !same;
}

static void each_row(struct wend_server *server, const char *status,
                     uint32_t limit, bool news)
{
    const wend_list_options o = {
        .size = sizeof o, .status = status, .limit = limit};
    const wend_run_info *info;
    wend_runs *list;

    if (wend_store_list(server->rt->store, &o, &list, NULL) != WEND_OK)
        return;
    while (wend_runs_next(list, &info) == WEND_OK)
        if (is_news(server->feed, info) || !news)
            tell_row(server->feed, &server->mem, info, news);
    wend_runs_free(list);
}

/* All that is in progress; and, for a stream that missed something, the newest
 * ones, since some of them have ended. */
static void snapshot(struct wend_server *server, struct serve_flow *s)
{
    static const char *const live[] = {"running", "waiting", "paused"};
    struct serve_feed *f = server->feed;
    struct serve_flow *others = f->streams, *next = s->next;

    f->streams = s; /* for this one alone */
    s->next = NULL;
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        each_row(server, live[i], SNAPSHOT_MAX, false);
    if (s->stale)
        each_row(server, NULL, SNAPSHOT_MAX, false);
    s->next = next;
    f->streams = others;
    buf_cstr(&s->text, "event: ready\ndata: {}\n\n");
    s->stale = false;
}

void feed_open(struct serve_ask *q)
{
    struct wend_server *server = q->server;
    struct serve_feed *f = server->feed;
    struct serve_flow *s;

    if (!f)
        f = server->feed = mem_zalloc(&server->mem, sizeof *f);
    s = f ? flow_rows(q) : NULL;
    if (!f)
        respond_nomem(q);
    if (!s)
        return;
    if (!f->streams)
        each_row(server, NULL, LOOKED_AT, true); /* what is no news later */
    s->next = f->streams;
    s->prev = &f->streams;
    if (s->next)
        s->next->prev = &s->next;
    f->streams = s;
    snapshot(server, s);
    if (server->draining)
        flow_bye(s);
    else
        flow_pump(s);
}

void feed_changed(struct wend_server *server, const char *id)
{
    struct serve_feed *f = server->feed;

    if (!f || !f->streams)
        return;
    for (size_t i = 0; i < f->changed_count; i++)
        if (!strcmp(f->changed[i], id))
            return;
    if (f->changed_count < CHANGED_MAX)
        snprintf(f->changed[f->changed_count++], 37, "%s", id);
    else
        for (struct serve_flow *s = f->streams; s; s = s->next)
            s->stale = true;
}

static void tell_changed(struct wend_server *server)
{
    struct serve_feed *f = server->feed;
    struct arena a = {.mem = &server->mem};
    wend_run_info *info;

    for (size_t i = 0; i < f->changed_count; i++)
        if (store_info(server->rt->store, f->changed[i], &a, &info, NULL) ==
                WEND_OK &&
            is_news(f, info))
            tell_row(f, &server->mem, info, true);
    f->changed_count = 0;
    arena_free(&a);
}

void feed_pass(struct wend_server *server)
{
    struct serve_feed *f = server->feed;
    struct serve_flow *s, *next;

    if (!f || !f->streams)
        return;
    if (f->changed_count)
        tell_changed(server);
    for (s = f->streams; s; s = next) {
        next = s->next;
        if (s->stale && !s->text.len)
            snapshot(server, s);
        if (s->text.len && conn_ready(s->conn))
            flow_pump(s);
    }
}

void feed_tick(struct wend_server *server, int64_t now_us)
{
    struct serve_feed *f = server->feed;

    if (!f || !f->streams || now_us - f->looked_us < FEED_EVERY_US)
        return;
    f->looked_us = now_us;
    each_row(server, NULL, LOOKED_AT, true);
}

void feed_free(struct wend_server *server)
{
    mem_free(&server->mem, server->feed);
    server->feed = NULL;
}

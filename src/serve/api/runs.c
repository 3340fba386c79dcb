/*
 * runs.c - stored runs: lists, one run, its events, its context, its blobs.
 */
#include "serve/api/api.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "lib/run/run.h"

enum { LIST_MAX = 1000, LIST_DEFAULT = 100, PAGE_MAX = 10000, PAGE = 1000 };

/* ---- Parameters ---------------------------------------------------------- */

/* A number of the query in a range; false: it is answered. */
static bool query_number(struct serve_ask *q, const char *name, int64_t min,
                         int64_t max, int64_t *out)
{
    wend_str text = http_query_value(&q->query, name);
    int64_t n;

    if (!text.ptr)
        return true;
    if (str_to_i64(text, &n) && n >= min && n <= max) {
        *out = n;
        return true;
    }
    respond_problem(q, 400, "query", name, NULL,
                    "%s must be a number from %lld to %lld", name,
                    (long long)min, (long long)max);
    return false;
}

/* Parameters that the route does not have are refused: a misspelled filter
 * would show everything. */
static bool query_known(struct serve_ask *q, const char *const *names, int n)
{
    for (size_t i = 0; i < q->query.count; i++)
        if (str_index(q->query.pairs[i].name, names, n) < 0) {
            respond_problem(q, 400, "query",
                            ask_text(q, q->query.pairs[i].name), NULL,
                            "unknown parameter '%.*s'",
                            (int)(q->query.pairs[i].name.len < 64
                                      ? q->query.pairs[i].name.len
                                      : 64),
                            q->query.pairs[i].name.ptr);
            return false;
        }
    return true;
}
#define QUERY_KNOWN(q, names) \
    query_known((q), (names), (int)(sizeof(names) / sizeof *(names)))

static const char *const statuses[] = {"queued", "running",     "waiting",
                                       "paused", "interrupted", "ok",
                                       "limit",  "canceled",    "failed"};
enum { STATUSES = sizeof statuses / sizeof *statuses };

/* ---- Lists --------------------------------------------------------------- */

static bool list_options(struct serve_ask *q, wend_list_options *o)
{
    static const char *const names[] = {"status", "agent", "session", "user",
                                        "since",  "until", "limit",   "after",
                                        "top",    "q"};
    int64_t limit = LIST_DEFAULT, since = 0, until = 0, top = 0;

    if (!QUERY_KNOWN(q, names) ||
        !query_number(q, "limit", 1, LIST_MAX, &limit) ||
        !query_number(q, "since", 0, INT64_MAX / 1000000, &since) ||
        !query_number(q, "until", 0, INT64_MAX / 1000000, &until) ||
        !query_number(q, "top", 0, 1, &top))
        return false;
    *o = (wend_list_options){
        .size = sizeof *o,
        .status = ask_text(q, http_query_value(&q->query, "status")),
        .agent = ask_text(q, http_query_value(&q->query, "agent")),
        .session = ask_text(q, http_query_value(&q->query, "session")),
        .user = ask_text(q, http_query_value(&q->query, "user")),
        .after = ask_text(q, http_query_value(&q->query, "after")),
        .since_us = since * 1000000,
        .until_us = until * 1000000,
        .limit = (uint32_t)limit,
    };
    if (o->status && str_index(str_of(o->status), statuses, STATUSES) < 0) {
        respond_problem(q, 400, "query", "status",
                        "queued running waiting paused interrupted ok limit "
                        "canceled failed",
                        "there is no such status");
        return false;
    }
    if (!ask_is_admin(q)) {
        if (o->user && !str_is(q->user, o->user)) {
            respond_problem(q, 403, "right", "user", NULL,
                            "only an admin sees runs of others");
            return false;
        }
        o->user = ask_text(q, q->user);
    }
    return true;
}

static bool has_words(wend_str text, wend_str words)
{
    for (size_t i = 0; words.len && i + words.len <= text.len; i++) {
        size_t n = 0;

        while (n < words.len && lower(text.ptr[i + n]) == lower(words.ptr[n]))
            n++;
        if (n == words.len)
            return true;
    }
    return !words.len;
}

/* In the answer, or in the error that came instead. */
static bool answer_has(struct serve_ask *q, const wend_run_info *info,
                       wend_str words)
{
    const wend_replay_options o = {.size = sizeof o, .seq_from = info->seq};
    const wend_event *ev;
    char id[37];
    wend_run *run;
    bool found = false;

    snprintf(id, sizeof id, "%.*s", STR_ARGS(info->run));
    if (!info->ended_us ||
        wend_store_replay(q->server->rt, id, &o, &run, NULL) != WEND_OK)
        return false;
    while (!found && run_poll(run, &ev) == WEND_OK)
        if (ev->type == WEND_RUN_END)
            found = has_words(ev->u.run_end.text, words) ||
                    (ev->u.run_end.error &&
                     has_words(ev->u.run_end.error->message, words));
    wend_run_free(run);
    return found;
}

static bool row_fits(struct serve_ask *q, const wend_run_info *info)
{
    wend_str words = http_query_value(&q->query, "q");

    if (info->child && str_is(http_query_value(&q->query, "top"), "1"))
        return false;
    return !words.len || has_words(info->prompt, words) ||
           answer_has(q, info, words);
}

void api_runs(struct serve_ask *q)
{
    struct buf b = {.mem = &q->server->mem};
    wend_list_options o;
    const wend_run_info *info;
    wend_runs *list;
    wend_error err;
    uint32_t count = 0;
    char last[37] = "";

    if (!list_options(q, &o))
        return;
    if (wend_store_list(q->server->rt->store, &o, &list, &err) != WEND_OK) {
        respond_failed(q, &err);
        return;
    }
    json_open(&b, NULL, '{');
    json_open(&b, "runs", '[');
    while (wend_runs_next(list, &info) == WEND_OK) {
        count++;
        snprintf(last, sizeof last, "%.*s", STR_ARGS(info->run));
        if (row_fits(q, info))
            row_put(&b, NULL, info);
    }
    json_close(&b, ']');
    json_add_nullable(&b, "next", count == o.limit ? str_of(last) : STR_NONE);
    json_close(&b, '}');
    wend_runs_free(list);
    respond_json(q, 200, &b);
}

/* ---- One run ------------------------------------------------------------- */

/* Approvals that wait, by call; in the arena. */
struct waiting {
    struct waiting *next;
    wend_str call, json;
};

static void put_ask(struct serve_ask *q, struct waiting **list,
                    const wend_event *ev)
{
    const wend_ev_approval_ask *a = &ev->u.approval_ask;
    struct buf b = {.mem = &q->server->mem};
    struct waiting *w = arena_alloc(&q->arena, sizeof *w);
    char hash[SHA256_HEX + 1];

    if (!w)
        return;
    sha256_hex(hash, a->args_json);
    json_open(&b, NULL, '{');
    json_add_str(&b, "call", a->call);
    json_add_str(&b, "action", a->action);
    json_add_str(&b, "name", a->name);
    json_add_raw(&b, "args", a->args_json);
    json_add_str(&b, "args_sha256", str_of(hash));
    json_add_str(&b, "reason", a->reason);
    json_add_str(&b, "rule", a->rule);
    json_add_i64(&b, "seq", ev->seq);
    json_close(&b, '}');
    w->call = arena_str(&q->arena, a->call.ptr ? a->call : a->action);
    w->json = buf_keep(&b, &q->arena);
    w->next = *list;
    *list = w;
}

static void drop_ask(struct waiting **list, const wend_ev_approval_answer *a)
{
    wend_str call = a->call.ptr ? a->call : a->action;

    for (; *list; list = &(*list)->next)
        if (str_eq((*list)->call, call)) {
            *list = (*list)->next;
            return;
        }
}

struct story {
    struct waiting *waiting;
    wend_str children; /* JSON items */
    wend_str end;      /* members answer, error, outcome */
};

static void read_end(struct serve_ask *q, const wend_ev_run_end *e,
                     struct story *st)
{
    struct buf b = {.mem = &q->server->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "answer", e->text);
    json_add_str(&b, "limit", e->limit);
    if (e->error) {
        json_open(&b, "error", '{');
        json_add_str(&b, "code", e->error->code);
        json_add_str(&b, "message", e->error->message);
        json_close(&b, '}');
    }
    st->end = buf_keep(&b, &q->arena); /* still open */
}

static bool read_story(struct serve_ask *q, const char *id, struct story *st)
{
    const wend_replay_options o = {
        .size = sizeof o,
        .filter.types = 1ULL << WEND_APPROVAL_ASK |
                        1ULL << WEND_APPROVAL_ANSWER |
                        1ULL << WEND_CHILD_START | 1ULL << WEND_RUN_END,
    };
    struct buf children = {.mem = &q->server->mem};
    const wend_event *ev;
    wend_run *run;
    wend_error err;

    if (wend_store_replay(q->server->rt, id, &o, &run, &err) != WEND_OK) {
        respond_failed(q, &err);
        return false;
    }
    json_open(&children, NULL, '[');
    while (run_poll(run, &ev) == WEND_OK) {
        if (ev->type == WEND_APPROVAL_ASK)
            put_ask(q, &st->waiting, ev);
        else if (ev->type == WEND_APPROVAL_ANSWER)
            drop_ask(&st->waiting, &ev->u.approval_answer);
        else if (ev->type == WEND_CHILD_START)
            json_add_str(&children, NULL, ev->u.child_start.run);
        else if (ev->type == WEND_RUN_END)
            read_end(q, &ev->u.run_end, st);
    }
    json_close(&children, ']');
    st->children = buf_keep(&children, &q->arena);
    wend_run_free(run);
    return true;
}

void api_run(struct serve_ask *q)
{
    struct buf b = {.mem = &q->server->mem};
    const wend_run_info *info = ask_run(q);
    struct story st = {0};

    if (!info || !read_story(q, info->run.ptr, &st))
        return;
    row_put(&b, NULL, info);
    if (b.len)
        b.len--; /* the brace: more members follow */
    if (st.end.len > 1) {
        buf_char(&b, ',');
        buf_str(&b, str_skip(st.end, 1));
    }
    json_open(&b, "waiting", '[');
    for (const struct waiting *w = info->ended_us ? NULL : st.waiting; w;
         w = w->next)
        json_add_raw(&b, NULL, w->json);
    json_close(&b, ']');
    json_add_raw(&b, "children", st.children);
    json_close(&b, '}');
    b.failed |= q->arena.failed;
    respond_json(q, 200, &b);
}

/* ---- Events -------------------------------------------------------------- */

static void events_page(struct serve_ask *q, const wend_run_info *info,
                        int64_t from, int64_t limit)
{
    const wend_replay_options o = {.size = sizeof o, .seq_from = from};
    struct buf b = {.mem = &q->server->mem};
    const wend_event *ev;
    wend_run *run;
    wend_error err;
    int64_t count = 0, next = 0;
    wend_status s;

    if (wend_store_replay(q->server->rt, info->run.ptr, &o, &run, &err) !=
        WEND_OK) {
        respond_failed(q, &err);
        return;
    }
    json_open(&b, NULL, '{');
    json_open(&b, "events", '[');
    while ((s = run_poll(run, &ev)) == WEND_OK) {
        if (wend_event_is_delta(ev->type))
            continue;
        if (count == limit) {
            next = ev->seq;
            break;
        }
        count++;
        json_key(&b, NULL);
        event_write(&b, ev, NULL);
    }
    json_close(&b, ']');
    if (next)
        json_add_i64(&b, "next", next);
    else
        json_add_raw(&b, "next", STR("null"));
    json_close(&b, '}');
    if (s < 0) {
        err = *wend_run_error(run);
        buf_free(&b);
        respond_failed(q, &err);
    } else {
        respond_json(q, 200, &b);
    }
    wend_run_free(run);
}

/* What the client has had: by the number of the last event that it saw, or of
 * the first that it wants. */
static bool read_place(struct serve_ask *q, int64_t *seq, int64_t *n)
{
    wend_str last = http_req_value(q->req, "last-event-id");
    int64_t from = 0;

    if (!last.ptr)
        last = http_query_value(&q->query, "lastEventId");
    *seq = *n = 0;
    if (last.ptr && last.len && !str_to_i64(last, seq)) {
        respond_problem(q, 400, "query", "Last-Event-ID", NULL,
                        "Last-Event-ID must be the id of an event");
        return false;
    }
    if (last.ptr && last.len)
        return true;
    if (!query_number(q, "from", 0, INT64_MAX / 2, &from))
        return false;
    if (from > 1) {
        *seq = from - 1;
        *n = INT64_MAX;
    }
    return true;
}

static bool wants_page(const struct serve_ask *q)
{
    return str_is(http_query_value(&q->query, "format"), "json") ||
           http_media_is(http_req_value(q->req, "accept"), "application/json");
}

void api_events(struct serve_ask *q)
{
    static const char *const names[] = {"from", "lastEventId", "dialect",
                                        "format", "limit"};
    const wend_run_info *info = ask_run(q);
    int64_t seq, n, limit = PAGE;
    struct serve_flow_options o = {0};

    if (!info || !QUERY_KNOWN(q, names) || !read_place(q, &seq, &n) ||
        !query_number(q, "limit", 1, PAGE_MAX, &limit))
        return;
    if (wants_page(q)) {
        events_page(q, info, seq + 1, limit);
        return;
    }
    if (info->ended_us && seq >= info->seq) {
        respond_empty(q, 204); /* else the client would ask for ever */
        return;
    }
    o.id = info->run.ptr;
    o.seq = seq;
    o.n = n;
    if (!voice_of(q, http_query_value(&q->query, "dialect"), &o))
        return;
    flow_open(q, &o);
}

/* ---- Context and blobs --------------------------------------------------- */

static bool add_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

void api_context(struct serve_ask *q)
{
    static const char *const names[] = {"at"};
    struct buf b = {.mem = &q->server->mem};
    const wend_run_info *info = ask_run(q);
    int64_t at = 0;
    wend_error err;

    if (!info || !QUERY_KNOWN(q, names) ||
        !query_number(q, "at", 1, INT64_MAX / 2, &at))
        return;
    if (wend_store_context(q->server->rt->store, info->run.ptr, at, add_bytes,
                           &b, &err) == WEND_OK) {
        respond_json(q, 200, &b);
        return;
    }
    buf_free(&b);
    respond_failed(q, &err);
}

/* Only what a browser shows as a picture is shown; anything else could be a
 * page of this server. */
static const char *media_of(wend_str bytes)
{
    static const struct {
        const char *magic;
        size_t at, len;
        const char *media;
    } rows[] = {
        {"\x89PNG\r\n\x1a\n", 0, 8, "image/png"},
        {"\xff\xd8\xff", 0, 3, "image/jpeg"},
        {"GIF8", 0, 4, "image/gif"},
        {"WEBP", 8, 4, "image/webp"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bytes.len >= rows[i].at + rows[i].len &&
            !memcmp(bytes.ptr + rows[i].at, rows[i].magic, rows[i].len))
            return rows[i].media;
    return "application/octet-stream";
}

static void respond_part(struct serve_ask *q, wend_str bytes)
{
    const char *media = media_of(bytes);
    struct http_field fields[5] = {
        {STR("Cache-Control"), STR("private, max-age=31536000, immutable")},
        {STR("Accept-Ranges"), STR("bytes")},
        {STR("Content-Security-Policy"), STR("sandbox; default-src 'none'")},
    };
    size_t count = 3;
    uint64_t from, len;
    char range[100];
    int status = 200;

    if (!strcmp(media, "application/octet-stream"))
        fields[count++] =
            (struct http_field){STR("Content-Disposition"), STR("attachment")};
    switch (http_range_read(http_req_value(q->req, "range"), bytes.len, &from,
                            &len)) {
    case HTTP_RANGE_ALL: break;
    case HTTP_RANGE_PART:
        status = 206;
        snprintf(range, sizeof range, "bytes %llu-%llu/%zu",
                 (unsigned long long)from, (unsigned long long)(from + len - 1),
                 bytes.len);
        fields[count++] =
            (struct http_field){STR("Content-Range"), str_of(range)};
        break;
    case HTTP_RANGE_BEYOND:
        respond_problem(q, 416, "range", "Range", NULL, "it has %zu bytes",
                        bytes.len);
        return;
    }
    respond_bytes(q, status, media, (wend_str){bytes.ptr + from, (size_t)len},
                  fields, count);
}

void api_blob(struct serve_ask *q)
{
    struct buf b = {.mem = &q->server->mem};
    const char *hash = ask_text(q, q->params[1]);
    const wend_run_info *info = ask_run(q);
    wend_error err;

    if (!info)
        return;
    if (!hash || strlen(hash) != SHA256_HEX)
        respond_problem(q, 404, "not_found", NULL, NULL,
                        "a blob is named by 64 hexadecimal digits");
    else if (wend_store_blob(q->server->rt->store, info->run.ptr, hash,
                             add_bytes, &b, &err) != WEND_OK)
        respond_failed(q, &err);
    else if (b.failed)
        respond_nomem(q);
    else
        respond_part(q, buf_view(&b));
    buf_free(&b);
}

/*
 * route.c - from a request to the function that answers it, past all guards.
 *
 * The order of the guards: Host (a name that others resolve to this machine
 * must not reach it), Origin (nor a page of another site), path, method, token,
 * right, type and size of the body.
 */
#include "serve/serve.h"

#include <stdio.h>
#include <string.h>

#include "serve/proto/proto.h"

enum {
    READ = WEND_RIGHT_READ,
    RUN = WEND_RIGHT_RUN,
    PROTO_MAX = 64 << 20, /* histories come whole, with files in base64 */
    PART_MAX = 48 << 20,  /* bytes of a file, as wend_part has it */
};

#define ID "/v1/runs/{}"

const struct serve_route serve_routes[] = {
    {"GET", "/", 0, web_page, 0, false, false},
    {"GET", "/r/{}", 0, web_page, 0, false, false},
    {"GET", "/chat", 0, web_page, 0, false, false},
    {"GET", "/chat/{}", 0, web_page, 0, false, false},
    {"GET", "/plan", 0, web_page, 0, false, false},
    {"GET", "/plan/{}", 0, web_page, 0, false, false},
    {"GET", "/diff/{}/{}", 0, web_page, 0, false, false},
    {"GET", "/web/{}", 0, web_file, 0, false, false},
    {"GET", "/healthz", 0, api_health, 0, false, false},
    {"GET", "/readyz", 0, api_ready, 0, false, false},
    {"GET", "/openapi.json", READ, web_api, 0, false, false},
    {"POST", "/v1/runs", RUN, api_start, SERVE_BODY_MAX, false, false},
    {"GET", "/v1/runs", READ, api_runs, 0, false, false},
    {"GET", ID, READ, api_run, 0, false, false},
    {"GET", ID "/events", READ, api_events, 0, false, false},
    {"GET", ID "/context", READ, api_context, 0, false, false},
    {"GET", ID "/blobs/{}", READ, api_blob, 0, false, false},
    {"POST", ID "/say", RUN, api_say, SERVE_BODY_MAX, false, false},
    {"POST", ID "/approve", WEND_RIGHT_APPROVE, api_approve, SERVE_BODY_MAX,
     false, false},
    {"POST", ID "/cancel", RUN, api_cancel, SERVE_BODY_MAX, false, false},
    {"POST", ID "/pause", RUN, api_pause, SERVE_BODY_MAX, false, false},
    {"POST", ID "/continue", RUN, api_continue, SERVE_BODY_MAX, false, false},
    {"POST", ID "/compact", RUN, api_compact, SERVE_BODY_MAX, false, false},
    {"POST", ID "/resume", RUN, api_resume, SERVE_BODY_MAX, false, false},
    {"POST", ID "/retry", RUN, api_retry, SERVE_BODY_MAX, false, false},
    {"POST", ID "/fork", RUN, api_fork, SERVE_BODY_MAX, false, false},
    {"GET", "/v1/feed", READ, feed_open, 0, false, false},
    {"POST", "/v1/plans/check", READ, api_plan_check, SERVE_BODY_MAX, false,
     false},
    {"GET", "/v1/agents", READ, api_agents, 0, false, false},
    {"GET", "/v1/tools", READ, api_tools, 0, false, false},
    {"GET", "/v1/me", READ, api_me, 0, false, false},
    {"GET", "/v1/providers", READ, api_providers, 0, false, false},
    {"GET", "/v1/stats", READ, api_stats, 0, false, false},
    {"POST", "/v1/blobs", RUN, api_upload, PART_MAX, true, false},
    {"GET", "/v1/models", READ, proto_models, 0, false, true},
    {"POST", "/v1/chat/completions", RUN, proto_chat, PROTO_MAX, false, true},
    {"POST", "/v1/responses", RUN, proto_responses, PROTO_MAX, false, true},
    {"POST", "/ag-ui/{}", RUN, proto_ag_ui, PROTO_MAX, false, false},
    {"POST", "/ui/{}", RUN, proto_ui, PROTO_MAX, false, false},
    {"GET", "/ui/{}/{}/stream", RUN, proto_ui_again, 0, false, false},
    {"GET", "/metrics", WEND_RIGHT_ADMIN, api_metrics, 0, false, false},
    {NULL, NULL, 0, NULL, 0, false, false},
};

/* ---- Host and Origin ----------------------------------------------------- */

static bool host_fits(const struct wend_server *server, wend_str host)
{
    static const char *const near[] = {"localhost", "127.0.0.1", "[::1]"};
    wend_str own = str_of(server->name);
    const char *port = strrchr(own.ptr, ':');
    char name[160];

    if (server->public_host.ptr &&
        http_host_is(host, server->public_host,
                     str_starts(str_of(server->options.public_url), "https:")
                         ? 443
                         : 80))
        return true;
    if (str_starts(own, "unix:"))
        return str_same(host, STR("localhost"));
    if (http_host_is(host, own, 80))
        return true;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        snprintf(name, sizeof name, "%s%s", near[i], port);
        if (http_host_is(host, str_of(name), 80))
            return true;
    }
    return false;
}

/* A page of this server has the origin that its Host header names. */
static bool origin_fits(const struct serve_ask *q, wend_str origin)
{
    const char *public_url = q->server->options.public_url;
    char own[300];

    if (!origin.ptr)
        return true;
    if (public_url && http_origin_is(origin, str_of(public_url)))
        return true;
    snprintf(own, sizeof own, "http://%.*s", STR_ARGS(q->req->host));
    return http_origin_is(origin, str_of(own));
}

static bool guard_place(struct serve_ask *q)
{
    wend_str host = q->req->host, origin = http_req_value(q->req, "origin");

    if (!host.ptr || !host_fits(q->server, host)) {
        respond_problem(q, 421, "wrong_host", NULL,
                        "use the address that the server prints, or start it "
                        "with --public-url",
                        "this server is not called '%.*s'", STR_ARGS(host));
        return false;
    }
    if (!origin_fits(q, origin)) {
        respond_problem(q, 403, "foreign_origin", NULL, NULL,
                        "requests of pages from '%.*s' are refused",
                        STR_ARGS(origin));
        return false;
    }
    return true;
}

/* ---- Paths --------------------------------------------------------------- */

/* The next segment of a path, without its slash. */
static bool next_segment(wend_str *path, wend_str *out)
{
    if (!path->len || path->ptr[0] != '/')
        return false;
    *path = str_skip(*path, 1);
    *out = (wend_str){path->ptr, 0};
    while (out->len < path->len && path->ptr[out->len] != '/')
        out->len++;
    *path = str_skip(*path, out->len);
    return true;
}

static bool path_fits(struct serve_ask *q, const char *pattern, wend_str path)
{
    wend_str want = str_of(pattern), segment, wanted;
    size_t n = 0;

    while (next_segment(&want, &wanted)) {
        if (!next_segment(&path, &segment))
            return false;
        if (!str_is(wanted, "{}")) {
            if (!str_eq(wanted, segment))
                return false;
            continue;
        }
        if (!segment.len)
            return false;
        q->params[n] = http_segment(segment, &q->arena);
        if (!q->params[n].ptr)
            return false;
        n++;
    }
    return !path.len;
}

static bool method_fits(const struct serve_ask *q, const char *method)
{
    return str_is(q->req->method, method) ||
           (q->req->is_head && !strcmp(method, "GET"));
}

static bool find_route(struct serve_ask *q)
{
    struct buf allow = {.mem = &q->server->mem};
    const struct serve_route *r;

    for (r = serve_routes; r->path; r++) {
        if (!path_fits(q, r->path, q->req->path))
            continue;
        if (method_fits(q, r->method)) {
            q->route = r;
            break;
        }
        if (allow.len)
            buf_cstr(&allow, ", ");
        buf_cstr(&allow, r->method);
        if (!strcmp(r->method, "GET"))
            buf_cstr(&allow, ", HEAD");
    }
    q->allow = allow.len ? buf_view(&allow) : STR_NONE;
    if (!q->route && allow.len)
        respond_problem(q, 405, "method", NULL, NULL,
                        "this path has other methods: %.*s",
                        STR_ARGS(q->allow));
    else if (!q->route)
        respond_problem(q, 404, "not_found", NULL,
                        "GET /openapi.json lists what there is",
                        "there is nothing at this path");
    buf_free(&allow);
    return q->route;
}

/* ---- Tokens and bodies --------------------------------------------------- */

static bool guard_token(struct serve_ask *q)
{
    wend_str token = http_bearer(http_req_value(q->req, "authorization"));
    const struct serve_holder *h = holders_find(&q->server->tokens, token);

    if (!q->route->right)
        return true;
    if (!h) {
        respond_problem(q, 401, "token", NULL,
                        "send Authorization: Bearer TOKEN; 'wend serve' says "
                        "where the token is",
                        token.ptr ? "the token is not known"
                                  : "this needs a token");
        return false;
    }
    q->user = arena_str(&q->arena, h->user);
    q->rights = h->rights;
    memcpy(q->token, h->hash, sizeof q->token);
    if ((h->rights | (h->rights & WEND_RIGHT_ADMIN ? ~0U : 0)) &
        q->route->right)
        return true;
    respond_problem(q, 403, "right", NULL, "ask the operator for it",
                    "the token lacks the right for this");
    return false;
}

static bool guard_body(struct serve_ask *q, uint64_t *body_max)
{
    wend_str media = http_req_value(q->req, "content-type");

    *body_max = q->route->body_max;
    if (!q->req->has_body || q->route->any_media)
        return true;
    if (!*body_max) {
        respond_problem(q, 400, "body", NULL, NULL,
                        "this request takes no body");
        return false;
    }
    if (http_media_is(media, "application/json"))
        return true;
    respond_problem(q, 415, "media_type", "Content-Type",
                    "send Content-Type: application/json",
                    "the body must be JSON");
    return false;
}

bool route_head(struct serve_ask *q, uint64_t *body_max)
{
    return guard_place(q) && find_route(q) && guard_token(q) &&
           guard_body(q, body_max);
}

void route_ask(struct serve_ask *q)
{
    wend_error err;

    if (http_query_read(q->req->query, &q->arena, &q->query, &err) != WEND_OK)
        respond_problem(q, 400, "query", NULL, NULL, "%s", err.message);
    else if (q->server->draining && strcmp(q->route->method, "GET") != 0)
        respond_problem(q, 503, "draining", NULL, "try again in a second",
                        "the server is stopping");
    else
        q->route->fn(q);
}

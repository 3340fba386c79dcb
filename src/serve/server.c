/*
 * server.c - the server itself: options, agents, time, the end.
 */
#include "serve/api/api.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/url.h"
#include "lib/agent/agent.h"
#include "lib/run/run.h"

enum {
    CONNECTIONS_DEFAULT = 20000,
    RUNS_DEFAULT = 1000,
    DRAIN_DEFAULT_MS = 30000,
    NAME_MAX_BYTES = 64,
    RESUMED_MAX = 100000, /* runs of the last server */
};

#define LISTEN_DEFAULT "127.0.0.1:8791"

int64_t server_now(const struct wend_server *server)
{
    return rt_clock(server->rt);
}

/* ---- Time ---------------------------------------------------------------- */

static void each_conn(struct wend_server *server, int64_t now)
{
    struct serve_conn *c, *next;

    for (c = server->conns; c; c = next) {
        next = c->next;
        if (c->state == CONN_STREAM)
            flow_tick(c->stream, now);
        conn_tick(c, now);
    }
}

/* A run whose work failed without an event would stay for ever. */
static void each_run(struct wend_server *server)
{
    for (size_t i = 0; i < SERVE_BUCKETS; i++) {
        struct serve_run *r = server->runs[i], *next;

        for (; r; r = next) {
            next = r->bucket;
            hub_check(r);
        }
    }
}

static void on_tick(struct timer_node *t)
{
    struct wend_server *server = container_of(t, struct wend_server, tick);
    int64_t now = server_now(server);

    server->ticks = false;
    each_conn(server, now);
    each_run(server);
    feed_tick(server, now);
    uploads_tick(server, now);
    outbox_tick(server, now);
    if (server->conns || server->runs_count || server->letters)
        server_tick_on(server);
}

void server_tick_on(struct wend_server *server)
{
    if (server->ticks)
        return;
    server->ticks = timer_set(&server->rt->timers, &server->tick,
                              rt_after(server->rt, SERVE_TICK_MS));
}

static void on_look(struct timer_node *t)
{
    struct wend_server *server = container_of(t, struct wend_server, look);
    struct serve_flow *s = server->readers, *next;

    server->looks = false;
    server->readers = NULL; /* those that still wait come back */
    for (; s; s = next) {
        next = s->reader_next;
        s->reader_prev = NULL;
        s->reader_next = NULL;
        flow_pump(s);
    }
}

static void look_after(struct wend_server *server, int64_t ms)
{
    server->looks =
        timer_set(&server->rt->timers, &server->look, rt_after(server->rt, ms));
}

void server_look_on(struct wend_server *server)
{
    if (!server->looks)
        look_after(server, SERVE_LOOK_MS);
}

void server_look_soon(struct wend_server *server)
{
    look_after(server, 0);
}

static void on_pass(struct rt_guest *g)
{
    struct wend_server *server = container_of(g, struct wend_server, guest);

    hub_pass(server);
    feed_pass(server);
    if (server->draining && !server->runs_count) { /* nothing left to see */
        listener_free(server->listener);
        server->listener = NULL;
    }
}

/* ---- Agents -------------------------------------------------------------- */

const struct serve_agent *server_agent(const struct wend_server *server,
                                       wend_str name)
{
    if (!name.ptr)
        return server->agents_count ? server->agents : NULL;
    for (size_t i = 0; i < server->agents_count; i++)
        if (str_eq(server->agents[i].name, name))
            return &server->agents[i];
    return NULL;
}

wend_agent *agent_for(const struct serve_agent *a, wend_str model)
{
    for (size_t i = 0; i < a->models_count; i++)
        if (!model.ptr || str_eq(a->models[i].name, model))
            return a->models[i].agent;
    return NULL;
}

static bool name_ok(wend_str name)
{
    if (!name.len || name.len > NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_word(name.ptr[i]) && name.ptr[i] != '-' && name.ptr[i] != '.')
            return false;
    return name.ptr[0] != '.';
}

wend_status wend_server_add_agent(wend_server *server,
                                  const wend_server_agent *agent,
                                  wend_error *err)
{
    wend_server_agent o;
    struct serve_agent *a;
    struct arena *arena;

    if (!server || !server->rt ||
        !OPTIONS_TAKE(&o, wend_server_agent, models_count, agent) || !o.agent ||
        !name_ok(str_of(o.name)))
        return fail(err, WEND_E_INVAL,
                    "server: agent or its name is missing, or the name has "
                    "other characters than letters, digits, - _ .");
    if (server->agents_count && server_agent(server, str_of(o.name)))
        return fail(err, WEND_E_EXISTS, "server: two agents are called '%s'",
                    o.name);
    if (server->agents_count == SERVE_AGENTS_MAX)
        return fail(err, WEND_E_LIMIT, "server: more than %d agents",
                    SERVE_AGENTS_MAX);
    arena = &server->arena;
    a = &server->agents[server->agents_count];
    a->name = arena_str(arena, str_of(o.name));
    a->description = arena_str(arena, str_of(o.description));
    a->models = arena_alloc(arena, (o.models_count + 1) * sizeof *a->models);
    if (arena->failed)
        return fail_nomem(err);
    a->models[0] = (struct serve_model){o.agent->model, o.agent};
    for (size_t i = 0; i < o.models_count; i++)
        a->models[i + 1] = (struct serve_model){
            arena_str(arena, str_of(o.models[i])), o.model_agents[i]};
    a->models_count = o.models_count + 1;
    if (arena->failed)
        return fail_nomem(err);
    server->agents_count++;
    return WEND_OK;
}

/* ---- Runs of the last server --------------------------------------------- */

/* Whether a server started the run: its labels say so. */
static bool has_mark(struct wend_server *server, const char *id)
{
    const wend_replay_options o = {
        .size = sizeof o, .seq_to = 1, .filter.types = 1ULL << WEND_RUN_START};
    struct arena a = {.mem = &server->mem};
    const wend_event *ev;
    wend_run *run;
    bool found = false;

    if (wend_store_replay(server->rt, id, &o, &run, NULL) != WEND_OK)
        return false;
    if (run_poll(run, &ev) == WEND_OK)
        found = json_get(json_parse(ev->u.run_start.labels_json, &a, NULL),
                         SERVE_MARK);
    wend_run_free(run);
    arena_free(&a);
    return found;
}

/* One that cannot be resumed stays as it is: 'wend resume' says why. */
static bool resume_one(struct wend_server *server, const wend_run_info *info)
{
    const wend_run_options o = {.size = sizeof o};
    const struct serve_agent *a =
        info->agent.ptr ? server_agent(server, info->agent) : NULL;
    wend_agent *agent = a ? agent_for(a, info->model) : NULL;
    char id[37];
    wend_run *run;

    if (!agent || info->child || info->imported)
        return false;
    snprintf(id, sizeof id, "%.*s", STR_ARGS(info->run));
    return has_mark(server, id) &&
           wend_run_resume(agent, id, &o, &run, NULL) == WEND_OK &&
           hub_add(server, run);
}

wend_status wend_server_resume(wend_server *server, size_t *count,
                               wend_error *err)
{
    const wend_list_options o = {
        .size = sizeof o, .status = "interrupted", .limit = RESUMED_MAX};
    const wend_run_info *info;
    wend_runs *list;
    size_t n = 0;
    wend_status s;

    if (!server || !server->rt)
        return fail(err, WEND_E_INVAL, "server: it is NULL or gone");
    s = wend_store_list(server->rt->store, &o, &list, err);
    if (s != WEND_OK)
        return s;
    while (wend_runs_next(list, &info) == WEND_OK)
        n += resume_one(server, info);
    wend_runs_free(list);
    outbox_load(server);
    if (count)
        *count = n;
    return WEND_OK;
}

/* ---- Life ---------------------------------------------------------------- */

static void shut(struct wend_server *server)
{
    while (server->conns)
        conn_free(server->conns);
    for (size_t i = 0; i < SERVE_BUCKETS; i++)
        while (server->runs[i])
            hub_free(server->runs[i]);
    feed_free(server);
    uploads_free(server);
    outbox_free(server);
    listener_free(server->listener);
    server->listener = NULL;
    timer_clear(&server->rt->timers, &server->tick);
    timer_clear(&server->rt->timers, &server->look);
}

static void on_runtime_gone(struct rt_guest *g)
{
    struct wend_server *server = container_of(g, struct wend_server, guest);

    shut(server);
    server->rt = NULL;
}

void wend_server_free(wend_server *server)
{
    struct mem m;

    if (!server)
        return;
    m = server->mem;
    if (server->rt) {
        shut(server);
        rt_guest_remove(server->rt, &server->guest);
    }
    holders_free(&server->tokens, &m);
    arena_free(&server->arena);
    mem_free(&m, server);
}

static const char *copy(struct wend_server *server, const char *text)
{
    return text ? arena_str(&server->arena, str_of(text)).ptr : NULL;
}

static const char *const *copy_all(struct wend_server *server,
                                   const char *const *list, size_t count)
{
    const char **out = arena_alloc(&server->arena, (count + 1) * sizeof *out);

    for (size_t i = 0; out && i < count; i++)
        out[i] = copy(server, list[i]);
    return out;
}

static void defaults(struct wend_server *server)
{
    wend_server_options *o = &server->options;

    o->listen = copy(server, o->listen ? o->listen : LISTEN_DEFAULT);
    o->token = copy(server, o->token);
    o->token_user = copy(server, o->token_user ? o->token_user : "admin");
    o->tokens = copy(server, o->tokens);
    o->public_url = copy(server, o->public_url);
    o->webhook = copy(server, o->webhook);
    o->webhook_secret = copy(server, o->webhook_secret);
    o->webhook_allow =
        copy_all(server, o->webhook_allow, o->webhook_allow_count);
    if (!o->drain_ms)
        o->drain_ms = DRAIN_DEFAULT_MS;
    if (!o->connections_max)
        o->connections_max = CONNECTIONS_DEFAULT;
    if (!o->runs_max)
        o->runs_max = RUNS_DEFAULT;
}

/* Its host is what browsers send as Host. */
static wend_status read_public_url(struct wend_server *server, wend_error *err)
{
    wend_str text = str_of(server->options.public_url);
    struct url u;

    if (!text.ptr)
        return WEND_OK;
    if (url_parse(text, &server->arena, &u, err) != WEND_OK)
        return WEND_E_INVAL;
    if (!str_is(u.target, "/"))
        return fail(err, WEND_E_INVAL,
                    "the public URL has a path; the server needs a host of its "
                    "own");
    server->public_host = str_skip(text, str_starts(text, "https:") ? 8 : 7);
    while (server->public_host.len &&
           server->public_host.ptr[server->public_host.len - 1] == '/')
        server->public_host.len--;
    return WEND_OK;
}

wend_status wend_server_new(wend_runtime *rt,
                            const wend_server_options *options,
                            wend_server **out, wend_error *err)
{
    wend_server_options o;
    struct wend_server *server;
    wend_status s = rt_enter_for(rt, "server", err);

    if (s != WEND_OK)
        return s;
    if (!out || !OPTIONS_TAKE(&o, wend_server_options, runs_max, options))
        return fail(err, WEND_E_INVAL,
                    "server: out is NULL, or options.size is wrong");
    server = mem_zalloc(&rt->mem, sizeof *server);
    if (!server)
        return fail_nomem(err);
    server->mem = rt->mem;
    server->rt = rt;
    server->arena.mem = &server->mem;
    server->options = o;
    server->tick.fire = on_tick;
    server->look.fire = on_look;
    server->guest = (struct rt_guest){NULL, on_pass, on_runtime_gone};
    rt_guest_add(rt, &server->guest);
    defaults(server);
    server->agents =
        arena_alloc(&server->arena, SERVE_AGENTS_MAX * sizeof *server->agents);
    if (server->arena.failed)
        s = fail_nomem(err);
    if (s == WEND_OK)
        s = read_public_url(server, err);
    if (s == WEND_OK)
        s = outbox_options(server, err);
    if (s == WEND_OK)
        s = holders_read(server, err);
    if (s == WEND_OK)
        s = listener_new(&rt->mem, rt->loop, server->options.listen,
                         conn_accept, server, &server->listener, err);
    if (s != WEND_OK) {
        wend_server_free(server);
        return s;
    }
    snprintf(server->name, sizeof server->name, "%s",
             listener_name(server->listener));
    snprintf(server->url, sizeof server->url, "%s%s",
             str_starts(str_of(server->name), "unix:") ? "" : "http://",
             server->name);
    *out = server;
    return WEND_OK;
}

const char *wend_server_url(const wend_server *server)
{
    return server ? server->url : "";
}

/* ---- Changes while it runs ----------------------------------------------- */

/* Streams of tokens that are gone, or have lost the right, end. */
static void end_revoked(struct wend_server *server)
{
    struct serve_conn *c, *next;

    for (c = server->conns; c; c = next) {
        const struct serve_holder *h;

        next = c->next;
        if (c->state != CONN_STREAM)
            continue;
        h = holders_of(&server->tokens, c->stream->token);
        if (h && h->rights & (WEND_RIGHT_READ | WEND_RIGHT_ADMIN))
            continue;
        flow_last(c->stream, "gone", "{\"reason\":\"token\"}");
    }
}

wend_status wend_server_reload(wend_server *server, wend_error *err)
{
    wend_status s;

    if (!server || !server->rt)
        return fail(err, WEND_E_INVAL, "server: it is NULL or gone");
    s = holders_read(server, err);
    if (s == WEND_OK)
        end_revoked(server);
    return s;
}

static void say_bye(struct wend_server *server)
{
    struct serve_conn *c, *next;

    for (c = server->conns; c; c = next) {
        next = c->next;
        if (c->state == CONN_STREAM)
            flow_bye(c->stream);
        else if (c->state == CONN_IDLE)
            conn_free(c);
    }
}

wend_status wend_server_drain(wend_server *server)
{
    if (!server || !server->rt)
        return WEND_E_INVAL;
    if (server->draining)
        return WEND_OK;
    server->draining = true;
    server->drain_until_us = rt_after(server->rt, server->options.drain_ms);
    for (size_t i = 0; i < SERVE_BUCKETS; i++)
        for (struct serve_run *r = server->runs[i]; r; r = r->bucket)
            hub_park(r);
    say_bye(server);
    server_tick_on(server);
    return WEND_OK;
}

bool wend_server_is_drained(const wend_server *server)
{
    if (!server || !server->rt)
        return true;
    if (!server->draining)
        return false;
    return (!server->runs_count && !server->conns) ||
           server_now(server) >= server->drain_until_us;
}

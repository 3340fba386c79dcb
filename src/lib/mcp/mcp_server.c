/*
 * mcp_server.c - one server of tools: the machine, its deadlines, its
 * restarts, its calls.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "lib/mcp/mcp.h"

enum {
    RESTARTS_MAX = 5, /* without a good answer in between */
    RESTART_MS = 200, /* doubled with each */
    NOTE_BYTES = 600,
};

/* A call that the machine has. */
struct served {
    struct mcp_server *server;
    wend_call *call;
};

/* ---- Words --------------------------------------------------------------- */

void mcp_trouble_tell(wend_agent *a, wend_str name, enum mcp_trouble what,
                      bool stands, wend_str text)
{
    static const struct {
        const char *code;
        bool warning, retryable;
    } rows[] = {
        [MCP_ODD] = {"mcp_odd", true, false},
        [MCP_LEFT] = {"mcp_tool_left_out", true, false},
        [MCP_SAID] = {"mcp_said", true, false},
        [MCP_LOST] = {"mcp_lost", true, false},
        [MCP_DOWN] = {"mcp_down", false, true},
        [MCP_AUTH] = {"mcp_auth", false, false},
        [MCP_CHANGED] = {"mcp_changed", false, false},
        [MCP_CONNECT] = {"mcp_connect", false, true},
    };
    struct buf clean = {.mem = &a->mem};
    struct trouble t = {.warning = rows[what].warning,
                        .retryable = rows[what].retryable,
                        .code = str_of(rows[what].code),
                        .component = STR("mcp"),
                        .of = name};

    utf8_repair(&clean, text);
    t.message = buf_view(&clean);
    if (!clean.failed)
        agent_trouble(a, &t, stands);
    buf_free(&clean);
}

/* What is known before its tools are is told in runs that start later. */
void mcp_server_tell(struct mcp_server *s, enum mcp_trouble what,
                     const char *fmt, ...)
{
    char text[NOTE_BYTES];
    size_t n = utf8_fmt(text, sizeof text, "mcp %s: ", s->name.ptr);
    va_list ap;

    va_start(ap, fmt);
    utf8_vfmt(text + n, sizeof text - n, fmt, ap);
    va_end(ap);
    if (s->note) {
        s->rt->callbacks++;
        s->note(s->note_ctx, text);
        s->rt->callbacks--;
    }
    if (s->agent && what != MCP_NOTE)
        mcp_trouble_tell(s->agent, s->name, what,
                         !s->was_up || what == MCP_DOWN || what == MCP_LEFT ||
                             what == MCP_AUTH || what == MCP_CONNECT,
                         str_of(text));
}

void mcp_server_hide(const struct mcp_server *s, char *text, size_t len)
{
    redact_list(s->values, s->values_count, text, len);
}

/* The same for a copy of the text. */
static void copy_hidden(const struct mcp_server *s, char *out, size_t size,
                        wend_str text)
{
    size_t len = utf8_fmt(out, size, "%.*s", (int)text.len, text.ptr);

    mcp_server_hide(s, out, len);
}

/* ---- Deadlines and restarts ---------------------------------------------- */

/* Only the first start is part of the run's time. */
static bool run_is_shorter(const struct mcp_server *s)
{
    return s->connect_ms && s->connect_ms < s->start_ms && !s->was_up;
}

static int64_t start_limit_ms(const struct mcp_server *s)
{
    return run_is_shorter(s) ? s->connect_ms : s->start_ms;
}

/* After each input: what is asked has until the end of the start. The probe
 * has half of it, so that a program that the probe ends can start again. */
static void watch(struct mcp_server *s)
{
    int64_t end = s->start_end;

    if (s->machine.asked == s->step_id)
        return;
    s->step_id = s->machine.asked;
    if (s->machine.state == MCP_PROBING)
        end -= start_limit_ms(s) * 1000 / 2;
    if (!s->step_id)
        timer_clear(&s->rt->timers, &s->step);
    else if (!timer_set(&s->rt->timers, &s->step, end))
        mcp_server_nomem(s);
}

static void on_step(struct timer_node *t)
{
    struct mcp_server *s = container_of(t, struct mcp_server, step);
    int64_t ms = start_limit_ms(s);
    char limit[100];

    snprintf(limit, sizeof limit, "%lld %s%s",
             (long long)(ms % 1000 ? ms : ms / 1000), ms % 1000 ? "ms" : "s",
             run_is_shorter(s) ? ", the time of the run" : " (start_timeout)");
    s->step_id = 0;
    mcp_timeout(&s->machine, limit);
    watch(s);
}

void mcp_server_begin(struct mcp_server *s)
{
    wend_error err = {0};

    if (!s->starting)
        s->start_end = rt_after(s->rt, start_limit_ms(s));
    s->starting = true;
    if (s->ops->open(s, &err) != WEND_OK) {
        s->nomem = err.status == WEND_E_NOMEM;
        mcp_server_down(s, err.message);
        return;
    }
    mcp_start(&s->machine);
    watch(s);
}

/* Opens the link, or closes it once the server is given up: never from
 * inside what the link itself is doing. */
static void on_link_timer(struct timer_node *t)
{
    struct mcp_server *s = container_of(t, struct mcp_server, link_timer);

    if (s->phase == PHASE_DOWN)
        s->ops->close(s);
    else
        mcp_server_begin(s);
}

static void open_or_close_in(struct mcp_server *s, int64_t ms)
{
    if (!timer_set(&s->rt->timers, &s->link_timer, rt_after(s->rt, ms)) &&
        s->phase != PHASE_DOWN)
        mcp_server_nomem(s);
}

void mcp_server_down(struct mcp_server *s, const char *why)
{
    if (s->phase == PHASE_DOWN)
        return;
    s->phase = PHASE_DOWN;
    copy_hidden(s, s->why, sizeof s->why, str_of(why));
    timer_clear(&s->rt->timers, &s->step);
    mcp_close(&s->machine, s->why);
    if (s->was_up)
        mcp_server_tell(s, MCP_DOWN, "%s; its tools fail from now on", s->why);
    open_or_close_in(s, 0);
}

void mcp_server_nomem(struct mcp_server *s)
{
    s->nomem = true;
    mcp_server_down(s, "out of memory");
}

void mcp_server_lost(struct mcp_server *s, const char *said)
{
    bool again = s->machine.again;
    char why[400];

    if (s->phase == PHASE_DOWN)
        return;
    copy_hidden(s, why, sizeof why, str_of(said));
    mcp_lost(&s->machine, why);
    watch(s);
    if (s->machine.again && !again)
        return; /* the probe ended it: on_again restarts it */
    if (!s->was_up || s->restarts >= RESTARTS_MAX) {
        mcp_server_down(s, why);
        return;
    }
    s->starting = false;
    mcp_server_tell(s, MCP_LOST, "%s; it is started again", why);
    open_or_close_in(s, (int64_t)RESTART_MS << s->restarts++);
}

/* ---- What the machine wants ---------------------------------------------- */

static void on_send(void *ctx, const struct mcp_send *m)
{
    struct mcp_server *s = ctx;

    s->ops->send(s, m);
}

static void on_ready(void *ctx)
{
    struct mcp_server *s = ctx;

    assert(s->phase != PHASE_DOWN); /* then the machine is closed */
    s->phase = PHASE_UP;
    s->was_up = true;
    s->starting = false;
}

static void on_progress(void *ctx, void *call, wend_str text)
{
    struct served *sv = call;
    struct mcp_server *s = ctx;
    struct buf b = {.mem = &s->mem};

    buf_str(&b, text);
    if (!b.failed) {
        mcp_server_hide(s, b.ptr, b.len);
        wend_call_progress(sv->call, b.ptr); /* dropped if too much waits */
    }
    buf_free(&b);
}

static void on_done(void *ctx, void *call, const struct mcp_given *given)
{
    struct mcp_server *s = ctx;
    struct served *sv = call;
    struct buf b = {.mem = &s->mem}, more = {.mem = &s->mem};

    buf_str(&b, given->text);
    buf_str(&more, given->structured);
    if (b.failed || more.failed) {
        wend_call_fail(sv->call, "out of memory");
    } else {
        mcp_server_hide(s, b.ptr, b.len);
        mcp_server_hide(s, more.ptr, more.len);
        if (more.len)
            call_set_structured(sv->call, buf_view(&more));
        for (size_t i = 0; i < given->media_count; i++)
            call_add_part(sv->call, given->media[i].bytes, given->media[i].name,
                          NULL, NULL);
        if (given->ok)
            wend_call_return(sv->call, buf_view(&b));
        else
            wend_call_fail(sv->call, buf_view(&b).ptr);
    }
    if (given->ok)
        s->restarts = 0;
    buf_free(&b);
    buf_free(&more);
    mem_free(&s->mem, sv);
}

static void on_drop(void *ctx, int64_t id)
{
    struct mcp_server *s = ctx;

    if (s->ops->drop)
        s->ops->drop(s, id);
}

static void on_warn(void *ctx, const char *text)
{
    struct mcp_server *s = ctx;
    char clean[500];

    copy_hidden(s, clean, sizeof clean, str_of(text));
    mcp_server_tell(s, MCP_ODD, "%s", clean);
}

static void on_again(void *ctx)
{
    open_or_close_in(ctx, 0);
}

static void on_fail(void *ctx, const char *text)
{
    mcp_server_down(ctx, text);
}

static const struct mcp_sink sink = {
    .send = on_send,
    .ready = on_ready,
    .progress = on_progress,
    .done = on_done,
    .drop = on_drop,
    .warn = on_warn,
    .again = on_again,
    .fail = on_fail,
};

void mcp_server_text(struct mcp_server *s, wend_str text)
{
    mcp_text(&s->machine, text);
    watch(s);
}

/* What is wrong with the server, and not with the call, is told once: the ends
 * of the calls say the rest. */
static void tell_refusal(struct mcp_server *s, int status, wend_str body)
{
    bool shut_out = status == 401 || status == 403;
    char said[300];

    s->shut_out |= shut_out;
    if (s->phase != PHASE_UP || (shut_out ? s->told_auth : s->told_network))
        return;
    if (shut_out) {
        s->told_auth = true;
        mcp_server_tell(s, MCP_AUTH,
                        "it refuses calls with HTTP status %d: its token "
                        "is missing, wrong or expired",
                        status);
    } else if (!status) {
        s->told_network = true;
        copy_hidden(s, said, sizeof said, body);
        mcp_server_tell(s, MCP_CONNECT, "a call got no answer: %s", said);
    }
}

void mcp_server_refused(struct mcp_server *s, int64_t id, int status,
                        wend_str body)
{
    tell_refusal(s, status, body);
    mcp_refused(&s->machine, id, status, body);
    watch(s);
}

/* ---- Calls --------------------------------------------------------------- */

static void on_stop(void *ctx, enum stop_reason why)
{
    struct served *sv = ctx;
    struct mcp_server *s = sv->server;

    (void)why; /* the server is told the same, without an answer */
    mcp_cancel(&s->machine, sv);
    wend_call_fail(sv->call, "");
    mem_free(&s->mem, sv);
}

void mcp_server_call(struct mcp_server *s, const struct mcp_tool *tool,
                     wend_call *call)
{
    struct served *sv = mem_alloc(&s->mem, sizeof *sv);
    char trace[CALL_TRACE_BYTES];

    if (!sv) {
        wend_call_fail(call, "out of memory");
        return;
    }
    *sv = (struct served){.server = s, .call = call};
    if (s->phase == PHASE_DOWN) {
        wend_call_fail(call, s->why);
        mem_free(&s->mem, sv);
        return;
    }
    call_set_stop(call, on_stop, sv);
    mcp_call(&s->machine, sv, tool, wend_call_args(call), wend_call_key(call),
             call_trace(call, trace) ? str_of(trace) : STR_NONE);
    watch(s);
}

/* ---- Life ---------------------------------------------------------------- */

static const char *const *copy_list(struct arena *a, const char *const *list)
{
    size_t n = 0;
    const char **copy;

    while (list && list[n])
        n++;
    copy = arena_alloc(a, (n + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = arena_str(a, str_of(list[i])).ptr;
    return copy;
}

/* `NAME=value` for each name, from our own environment. */
static wend_status take_secrets(struct mcp_server *s, const wend_mcp_options *o,
                                wend_error *err)
{
    const char **list =
        arena_alloc(&s->arena, (o->secrets_count + 1) * sizeof *list);
    wend_str *values =
        arena_alloc(&s->arena, (o->secrets_count + 1) * sizeof *values);
    struct buf b = {.mem = &s->mem};

    for (size_t i = 0; list && values && i < o->secrets_count; i++) {
        const char *name = o->secrets ? o->secrets[i] : NULL;
        const char *value = name ? getenv(name) : NULL;

        if (!value || !*value) {
            buf_free(&b);
            return fail(err, WEND_E_NOTFOUND,
                        "mcp %s: the environment variable '%.80s' is not "
                        "set",
                        o->name, name ? name : "");
        }
        buf_clear(&b);
        buf_fmt(&b, "%s=%s", name, value);
        list[i] = arena_str(&s->arena, buf_view(&b)).ptr;
        values[i] = arena_str(&s->arena, str_of(value));
        s->arena.failed |= b.failed;
    }
    s->secrets = list;
    s->values = values;
    s->values_count = o->secrets_count;
    buf_free(&b);
    return WEND_OK;
}

wend_status mcp_server_new(wend_agent *a, const wend_mcp_options *o,
                           struct kept *note, struct mcp_server **out,
                           wend_error *err)
{
    struct mcp_server *s = mem_zalloc(&a->mem, sizeof *s);
    wend_status st;

    if (!s)
        return fail_nomem(err);
    s->agent = a;
    s->rt = a->rt;
    s->mem = a->mem;
    s->arena.mem = &s->mem;
    s->ops = o->url ? &mcp_http_ops : &mcp_stdio_ops;
    s->step.fire = on_step;
    s->link_timer.fire = on_link_timer;
    s->name = arena_str(&s->arena, str_of(o->name));
    s->url = o->url ? arena_str(&s->arena, str_of(o->url)) : STR_NONE;
    s->command = copy_list(&s->arena, o->command);
    s->cwd = arena_str(&s->arena, a->root).ptr;
    s->ca_file = arena_str(&s->arena, str_of(a->web.ca_file)).ptr;
    s->insecure_http = a->web.insecure_http;
    s->connect_ms = o->connect_ms;
    s->start_ms = o->start_timeout_ms ? o->start_timeout_ms : MCP_START_MS;
    s->timeout_ms = o->timeout_ms ? o->timeout_ms : TOOL_TIMEOUT_DEFAULT_MS;
    s->sandbox_off = o->sandbox_off || a->sandbox_off;
    s->network = o->network;
    s->trust = o->trust;
    s->note = o->note;
    s->note_ctx = o->note_ctx;
    s->note_kept = kept_ref(note);
    mcp_init(&s->machine, &s->mem, o->url ? MCP_HTTP : MCP_STDIO, &sink, s);
    st = take_secrets(s, o, err);
    if (st == WEND_OK && s->arena.failed)
        st = fail_nomem(err);
    if (st != WEND_OK) {
        mcp_server_free(s);
        return st;
    }
    *out = s;
    return WEND_OK;
}

wend_status mcp_server_wait(struct mcp_server *s, wend_error *err)
{
    while (s->phase == PHASE_CONNECTING) /* `step` ends it */
        rt_pump(s->rt, -1);
    if (s->phase == PHASE_UP)
        return WEND_OK;
    if (s->nomem || s->machine.nomem)
        return fail_nomem(err);
    return fail(err, WEND_E_IO, "mcp %s: %.300s", s->name.ptr, s->why);
}

void mcp_server_free(struct mcp_server *s)
{
    struct mem m;

    if (!s)
        return;
    m = s->mem;
    if (s->phase == PHASE_UP)
        s->ops->bye(s);
    s->note = NULL;
    s->agent = NULL;
    mcp_close(&s->machine, "the agent is gone");
    timer_clear(&s->rt->timers, &s->step);
    timer_clear(&s->rt->timers, &s->link_timer);
    s->ops->close(s);
    mcp_free(&s->machine);
    arena_free(&s->arena);
    kept_unref(s->note_kept);
    mem_free(&m, s);
}

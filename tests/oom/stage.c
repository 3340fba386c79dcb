/*
 * stage.c - one round: agent, store and runs, and what is right afterwards.
 */
#include "stage.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

enum { BIG_BYTES = 300 << 10 }; /* an output that becomes a blob */

static char big[BIG_BYTES];
static wend_call *waiting; /* that nobody has answered */
static atomic_int given;   /* tools whose ctx is not released yet */

void flaw(struct tale *t, const char *fmt, ...)
{
    va_list ap;

    if (t->flaw[0])
        return;
    va_start(ap, fmt);
    vsnprintf(t->flaw, sizeof t->flaw, fmt, ap);
    va_end(ap);
}

bool step_ok(struct tale *t, const char *what, wend_status s,
             const wend_error *err)
{
    if (s >= WEND_OK)
        return true;
    if (err && (err->status != s || !err->message[0]))
        flaw(t, "%s: %s, but the error says %s '%s'", what, wend_status_name(s),
             wend_status_name(err->status), err->message);
    if (t->status != WEND_OK)
        return false;
    t->status = s;
    snprintf(t->at, sizeof t->at, "%s", what);
    snprintf(t->message, sizeof t->message, "%.150s", err ? err->message : "");
    return false;
}

/* ---- Tools --------------------------------------------------------------- */

static wend_status tool(void *ctx, wend_call *call)
{
    const char *name = ctx;
    wend_str answer = {"ok", 2};

    if (!strcmp(name, "never")) { /* whoever cancels ends it */
        assert(!waiting);
        waiting = call;
        return WEND_OK;
    }
    if (!strcmp(name, "big"))
        answer = (wend_str){big, sizeof big};
    return wend_call_return(call, answer);
}

void answer_late(void)
{
    if (waiting)
        wend_call_return(waiting, STR("too late"));
    waiting = NULL;
}

static const struct {
    const char *name;
    wend_class call_class;
    bool threaded;
} tools[] = {
    {"read", WEND_CLASS_READ, false},
    {"idem", WEND_CLASS_IDEMPOTENT, false},
    {"unsafe", WEND_CLASS_UNSAFE, false},
    {"never", WEND_CLASS_UNSAFE, false},
    {"big", WEND_CLASS_IDEMPOTENT, false},
    {"thread", WEND_CLASS_READ, true},
};

static void release(void *ctx)
{
    (void)ctx;
    atomic_fetch_sub(&given, 1);
}

int stage_given(void)
{
    return atomic_load(&given);
}

static bool add_tools(struct stage *st, struct tale *t)
{
    memset(big, 'b', sizeof big);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        wend_tool_options o = {.size = sizeof o,
                               .name = tools[i].name,
                               .description = "a tool",
                               .schema = "{\"type\":\"object\"}",
                               .call_class = tools[i].call_class,
                               .threaded = tools[i].threaded,
                               .fn = tool,
                               .ctx = (void *)(uintptr_t)tools[i].name,
                               .release = release};
        wend_status s;

        atomic_fetch_add(&given, 1);
        s = wend_agent_add_tool(st->agent, &o, &st->err);
        if (!step_ok(t, "add_tool", s, &st->err))
            return false;
    }
    return step_ok(t, "add_builtin",
                   wend_agent_add_builtin(st->agent, "calculator", &st->err),
                   &st->err);
}

/* ---- Stage --------------------------------------------------------------- */

static bool add_agent(struct stage *st, const struct scenario *sc,
                      struct tale *t)
{
    static char script[8192];
    const char *model = sc->model ? sc->model : script;
    wend_agent_options o = {.size = sizeof o,
                            .name = "tester",
                            .instructions = "Be brief.",
                            .model = model,
                            .approve = sc->approve,
                            .eager = sc->eager,
                            .schema = sc->schema,
                            .base_url = sc->tls ? servers.https : servers.http,
                            .ca_file = sc->tls ? servers.ca : NULL,
                            .fallbacks = &sc->fallback,
                            .fallbacks_count = sc->fallback != NULL};
    wend_status s;

    if (sc->model)
        o.eager = WEND_EAGER_OFF;
    else
        o.base_url = o.ca_file = NULL;
    snprintf(script, sizeof script, "script:{\"turns\":[%s]}",
             sc->script ? sc->script : "");
    s = wend_agent_new(st->rt, &o, &st->agent, &st->err);
    return step_ok(t, "agent_new", s, &st->err) && add_tools(st, t) &&
           stage_add(st, sc, t);
}

bool stage_open(struct stage *st, const struct scenario *sc, struct tale *t)
{
    wend_runtime_options o = {.size = sizeof o};
    wend_status s = wend_store_open(sc->in_memory ? "memory:" : "wend.db",
                                    &st->store, &st->err);

    if (!step_ok(t, "store_open", s, &st->err))
        return false;
    o.store = st->store;
    s = wend_runtime_new(&o, &st->rt, &st->err);
    return step_ok(t, "runtime_new", s, &st->err) && add_agent(st, sc, t);
}

void stage_close(struct stage *st)
{
    wend_agent_free(st->agent);
    wend_agent_free(st->kid);
    wend_runtime_free(st->rt);
    wend_store_free(st->store);
    *st = (struct stage){0};
}

bool stage_start(struct stage *st, const struct scenario *sc, struct tale *t,
                 wend_run **run)
{
    wend_run_options o = {.size = sizeof o, .plan = sc->planner};
    wend_plan *plan = NULL;
    wend_status s;

    if (!sc->plan) {
        s = wend_run_start(st->agent, STR("go"), &o, run, &st->err);
        return step_ok(t, "run_start", s, &st->err);
    }
    s = wend_plan_parse(str_of(sc->plan), NULL, &plan, &st->err);
    if (step_ok(t, "plan_parse", s, &st->err)) {
        s = wend_run_start_plan(st->agent, plan, NULL, NULL, run, &st->err);
        step_ok(t, "run_start_plan", s, &st->err);
    }
    wend_plan_free(plan);
    return s == WEND_OK;
}

static const wend_ev_error *error_of(const wend_event *ev)
{
    return ev->type == WEND_RUN_END        ? ev->u.run_end.error
           : ev->type == WEND_MODEL_END    ? ev->u.model_end.error
           : ev->type == WEND_CALL_END     ? ev->u.call_end.error
           : ev->type == WEND_ACTION_END   ? ev->u.action_end.error
           : ev->type == WEND_ACTION_RETRY ? ev->u.action_retry.error
           : ev->type == WEND_ERROR        ? &ev->u.error
                                           : NULL;
}

static void note(struct seen *seen, const wend_event *ev, struct tale *t)
{
    const wend_ev_error *e = error_of(ev);

    seen->counts[ev->type]++;
    if (e && !seen->code[0])
        snprintf(seen->code, sizeof seen->code, "%.*s", (int)e->code.len,
                 e->code.ptr);
    if (ev->type == WEND_MODEL_RETRY && !seen->code[0])
        snprintf(seen->code, sizeof seen->code, "%.*s",
                 (int)ev->u.model_retry.reason.len,
                 ev->u.model_retry.reason.ptr);
    if (ev->type == WEND_RUN_END) {
        seen->outcome = ev->u.run_end.outcome;
        snprintf(seen->answer, sizeof seen->answer, "%.*s",
                 (int)ev->u.run_end.text.len, ev->u.run_end.text.ptr);
    }
    if (ev->n)
        return;
    if (ev->seq != seen->seq + 1 && seen->seq)
        flaw(t, "event %lld was shown after %lld", (long long)ev->seq,
             (long long)seen->seq);
    seen->seq = ev->seq;
    if (ev->seq < KEPT_MAX)
        seen->types[ev->seq] = (uint8_t)ev->type;
}

void stage_watch(wend_run *run, const struct scenario *sc, struct tale *t,
                 struct seen *seen)
{
    const wend_event *ev;
    wend_status s, did = WEND_OK;
    bool said = false;

    snprintf(seen->id, sizeof seen->id, "%s", wend_run_id(run));
    while (did == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK) {
        note(seen, ev, t);
        if (ev->type == WEND_APPROVAL_ASK)
            did = wend_run_approve(run, ev->u.approval_ask.call, true, "oom");
        if (ev->type == WEND_CALL_START && sc->cancels)
            did = wend_run_cancel(run);
        if (ev->type == WEND_CALL_START && sc->says && !said) {
            said = true;
            did = wend_run_say(run, STR("and?"));
        }
    }
    seen->status = did == WEND_OK ? s : did;
    if (seen->status < 0)
        step_ok(t, "run_next", seen->status, wend_run_error(run));
}

void play_runs(const struct scenario *sc, struct tale *t)
{
    struct stage st = {0};
    wend_run *runs[RUNS_MAX] = {NULL};

    if (stage_open(&st, sc, t))
        for (int i = 0; i < (sc->runs ? sc->runs : 1); i++)
            if (stage_start(&st, sc, t, &runs[t->count]))
                t->count++;
    for (size_t i = 0; i < t->count; i++)
        stage_watch(runs[i], sc, t, &t->runs[i]);
    for (size_t i = 0; i < t->count; i++)
        wend_run_free(runs[i]);
    answer_late();
    stage_close(&st);
}

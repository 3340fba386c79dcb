/*
 * sim_tools.c - what stands before the host's tools and models.
 *
 * A tool is called at once, or later, or not at all; a model answers or
 * fails. Which keys reached a tool is written down: the log must know more.
 */
#include <assert.h>

#include "base/fail.h"
#include "lib/plan/action.h"
#include "lib/run/shell.h"
#include "lib/sim/sim.h"

enum { SLOW_MS_MAX = 30000 };

struct shim { /* before one tool */
    struct sim_tools *all;
    wend_tool_fn fn;
    void *ctx;
};

struct late { /* a call that was put off */
    struct late *next;
    struct world_event event;
    struct shim *shim;
    wend_call *call;
};

struct sim_tools {
    struct driver_ops spy; /* first: a session's ops lead here */
    const struct driver_ops *real;
    struct mem mem;
    struct arena arena;
    struct sim_book *book;
    wend_runtime *rt;
    struct late *late;
};

/* ---- Numbers ------------------------------------------------------------- */

void sim_numbers_add(struct buf *n, uint64_t value)
{
    buf_add(n, (const char *)&value, sizeof value);
}

size_t sim_numbers_count(const struct buf *n, uint64_t value)
{
    const uint64_t *at = (const void *)n->ptr;
    size_t found = 0;

    for (size_t i = 0; i < n->len / sizeof *at; i++)
        found += at[i] == value;
    return found;
}

static void numbers_drop(struct buf *n, uint64_t value)
{
    uint64_t *at = (void *)n->ptr;

    for (size_t i = n->len / sizeof *at; i--;)
        if (at[i] == value) {
            n->len -= sizeof *at;
            at[i] = at[n->len / sizeof *at];
        }
    assert(!sim_numbers_count(n, value));
}

/* ---- Calls --------------------------------------------------------------- */

static void call_now(struct shim *h, wend_call *call)
{
    struct sim_tools *t = h->all;
    uint64_t key = sim_number(wend_call_key(call));
    wend_status s;

    t->book->report->calls++;
    t->book->report->calls_again += sim_numbers_count(&t->book->made, key) > 0;
    sim_numbers_add(&t->book->made, key);
    t->rt->callbacks++;
    s = h->fn(h->ctx, call);
    t->rt->callbacks--;
    if (s != WEND_OK)
        wend_call_fail(call, wend_status_name(s));
}

static void late_free(struct late *l)
{
    struct sim_tools *t = l->shim->all;
    struct late **link = &t->late;

    while (*link != l)
        link = &(*link)->next;
    *link = l->next;
    world_clear(t->book->world, &l->event);
    mem_free(&t->mem, l);
}

static void on_late(struct world_event *e)
{
    struct late *l = container_of(e, struct late, event);
    struct shim *h = l->shim;
    wend_call *call = l->call;

    late_free(l);
    call_now(h, call);
}

static bool put_off(struct shim *h, wend_call *call)
{
    struct sim_tools *t = h->all;
    struct late *l = mem_zalloc(&t->mem, sizeof *l);

    if (!l)
        return false;
    l->shim = h;
    l->call = call;
    l->event.fire = on_late;
    l->next = t->late;
    t->late = l;
    t->book->report->late_calls++;
    world_at(t->book->world, &l->event,
             t->book->world->clock_us +
                 (int64_t)chance_below(&t->book->chance, SLOW_MS_MAX) * 1000);
    return true;
}

static wend_status shim_call(void *ctx, wend_call *call)
{
    struct shim *h = ctx;
    struct sim_tools *t = h->all;

    if (chance_of(&t->book->chance, t->book->tool_fail)) {
        t->book->report->failed_calls++;
        return wend_call_fail(call, "a simulated failure");
    }
    if (!chance_of(&t->book->chance, t->book->tool_slow) || !put_off(h, call))
        call_now(h, call);
    return WEND_OK;
}

/* ---- Models -------------------------------------------------------------- */

static struct wend_run *run_of_session(const wend_runtime *rt,
                                       const struct session *x)
{
    for (struct wend_run *r = rt->runs; r; r = r->next) {
        if (r->session == x)
            return r;
        for (const struct action_ask *a = r->asks; a; a = a->next)
            if (a->session == x)
                return r;
    }
    return NULL;
}

/* Attempts of actions have negative numbers, and no answers are counted. */
static void spy_ask(struct session *x, const struct turn *turn, int64_t ask)
{
    struct sim_tools *t = (struct sim_tools *)(uintptr_t)x->ops;
    struct wend_run *r = run_of_session(t->rt, x);
    struct model_error e = {.code = STR("service"),
                            .message = STR("a simulated failure")};

    numbers_drop(&t->book->refused, (uint64_t)ask);
    if (!r || !chance_of(&t->book->chance, t->book->model_fail)) {
        t->real->ask(x, turn, ask);
        return;
    }
    t->book->report->model_failures++;
    sim_numbers_add(&t->book->refused, (uint64_t)ask);
    shell_model_fail(r, ask, &e);
}

/* A model that counts its answers never saw what we refused. */
static int64_t spy_recall(struct session *x, const struct turn *turn)
{
    struct sim_tools *t = (struct sim_tools *)(uintptr_t)x->ops;

    if (sim_numbers_count(&t->book->refused, (uint64_t)turn->ask) ||
        !t->real->recall)
        return -1;
    return t->real->recall(x, turn);
}

/* ---- All of an agent ----------------------------------------------------- */

/* Built-in tools are our own and need no shim. */
static bool stand_before(struct sim_tools *t, wend_agent *agent)
{
    for (struct agent_tool *tool = agent->tools.first; tool;
         tool = tool->next) {
        struct shim *h;

        if (tool->place)
            continue;
        h = arena_alloc(&t->arena, sizeof *h);
        if (!h)
            return false;
        *h = (struct shim){t, tool->fn, tool->ctx};
        tool->fn = shim_call;
        tool->ctx = h;
        tool->threaded = false; /* one thread is all there is */
    }
    return true;
}

wend_status sim_tools_new(struct sim_book *book, wend_agent *agent,
                          struct sim_tools **out)
{
    struct mem m = {NULL, NULL};
    struct sim_tools *t = mem_zalloc(&m, sizeof *t);

    if (!t)
        return WEND_E_NOMEM;
    t->arena.mem = &t->mem;
    t->book = book;
    t->rt = agent->rt;
    t->real = agent->driver->ops;
    t->spy = *t->real;
    t->spy.ask = spy_ask;
    t->spy.recall = spy_recall;
    agent->driver->ops = &t->spy;
    *out = t;
    return stand_before(t, agent) ? WEND_OK : WEND_E_NOMEM;
}

void sim_tools_free(struct sim_tools *t)
{
    struct mem m = {NULL, NULL};

    if (!t)
        return;
    while (t->late) {
        wend_call *call = t->late->call;

        late_free(t->late);
        wend_call_fail(call, "its process is gone");
    }
    arena_free(&t->arena);
    mem_free(&m, t);
}

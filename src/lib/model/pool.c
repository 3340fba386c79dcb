/*
 * pool.c - the models of an agent: which one is asked, and whether now.
 */
#include "lib/model/pool.h"
#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

#include "base/code.h"
#include "base/fail.h"
#include "base/utf8.h"

struct pool_entry {
    struct driver *driver;
    wend_str key;
    uint32_t concurrency;
};

struct pool {
    struct driver base;
    struct mem mem;
    struct arena arena;
    size_t count;
    struct pool_entry models[];
};

struct pool_session {
    struct session base;
    struct pool *pool;
    struct wend_run *run;
    int64_t ask;
    const struct turn *turn;    /* what is asked */
    uint32_t at;                /* the model that `ask` is for */
    struct health *held;        /* has a place there */
    struct health *awaited;     /* ... or waits for one */
    struct pool_session *next;  /* that waits, too */
    bool tries;                 /* finds out whether a model is back */
    struct session *sessions[]; /* one for each model, made when needed */
};

/* ---- What is known about a model ----------------------------------------- */

void pool_forget(wend_runtime *rt)
{
    struct health *h;

    while ((h = rt->health)) {
        rt->health = h->next;
        timer_clear(&rt->timers, &h->wake);
        mem_free(&rt->mem, h);
    }
}

static void learn(struct health *h, wend_str code, bool tried)
{
    if (!code_passes(code)) { /* it says nothing about the model */
        h->failures = 0;
        h->rests_until_us = 0;
        return;
    }
    h->failures++;
    if (tried || h->failures >= BREAKER_FAILURES)
        h->rests_until_us = rt_after(h->rt, BREAKER_MS);
}

/* ---- Asking -------------------------------------------------------------- */

static void tell_resting(struct pool_session *s, const struct health *h)
{
    int64_t left_us = h->rests_until_us - rt_clock(h->rt);
    int64_t left_ms = left_us > 1000000 ? left_us / 1000 : 1000;
    char text[200];
    struct model_error e = {
        .code = STR("service"), .retry_after_ms = left_ms, .resting = true};

    utf8_fmt(text, sizeof text,
             "%.100s failed %u times in a row; it is asked again in %lld s",
             h->key, h->failures, (long long)(left_ms + 999) / 1000);
    e.message = str_of(text);
    shell_model_fail(s->run, s->ask, &e);
}

static void go(struct pool_session *s, struct health *h)
{
    struct session *session = s->sessions[s->at];

    if (h->rests_until_us) {
        if (h->trying || rt_clock(h->rt) < h->rests_until_us) {
            tell_resting(s, h);
            return;
        }
        h->trying = s->tries = true;
    }
    assert(!s->held && !s->awaited);
    h->busy++;
    s->held = h;
    session->ops->ask(session, s->turn, s->ask);
}

static uint32_t places(const struct pool_session *s)
{
    uint32_t most = s->pool->models[s->at].concurrency;

    return most ? most : UINT32_MAX;
}

static void wait_for(struct pool_session *s, struct health *h)
{
    s->awaited = h;
    s->next = NULL;
    *h->tail = s;
    h->tail = &s->next;
}

static void leave_queue(struct pool_session *s)
{
    struct health *h = s->awaited;
    struct pool_session **link = &h->first;

    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    if (!*link)
        h->tail = link;
    s->awaited = NULL;
}

/* Not from inside the end of another request: a run that is told of a failure
 * may ask again at once. */
static void on_wake(struct timer_node *t)
{
    struct health *h = container_of(t, struct health, wake);
    struct pool_session *s;

    while ((s = h->first) && h->busy < places(s)) {
        leave_queue(s);
        go(s, h);
    }
}

static struct health *health_of(wend_runtime *rt, wend_str key)
{
    struct health *h = rt->health;

    while (h && !str_is(key, h->key))
        h = h->next;
    if (h)
        return h;
    h = mem_zalloc(&rt->mem, sizeof *h + key.len + 1);
    if (!h)
        return NULL;
    memcpy(h->key, key.ptr, key.len);
    h->rt = rt;
    h->tail = &h->first;
    h->wake.fire = on_wake;
    h->next = rt->health;
    rt->health = h;
    return h;
}

/* Frees the place. */
static void free_place(struct pool_session *s)
{
    struct health *h = s->held;

    if (s->awaited)
        leave_queue(s);
    if (!h)
        return;
    assert(h->busy);
    s->held = NULL;
    h->busy--;
    if (s->tries)
        h->trying = s->tries = false;
    if (h->first && !timer_set(&h->rt->timers, &h->wake, rt_clock(h->rt)))
        shell_fail(h->first->run, WEND_E_NOMEM, "out of memory");
}

/* The session of the model that the turn asks, opened if there is none yet;
 * NULL: out of memory, and the run fails. */
static struct session *session_of(struct pool_session *s, const struct turn *t)
{
    struct driver *d = s->pool->models[t->model_at].driver;
    struct session **session = &s->sessions[t->model_at];

    if (!*session)
        *session = d->ops->open(d, s->run);
    if (!*session)
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
    return *session;
}

static void pool_ask(struct session *base, const struct turn *t, int64_t ask)
{
    struct pool_session *s = (struct pool_session *)(void *)base;
    struct health *h = health_of(s->run->rt, s->pool->models[t->model_at].key);

    free_place(s);
    s->ask = ask;
    s->turn = t;
    s->at = t->model_at;
    if (!session_of(s, t))
        return;
    if (h) /* which stays as long as the runtime */
        s->pool->models[s->at].driver->refused = &h->refused;
    if (!h)
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
    else if (h->first || h->busy >= places(s))
        wait_for(s, h);
    else
        go(s, h);
}

static void pool_ended(struct session *base, wend_str code)
{
    struct pool_session *s = (struct pool_session *)(void *)base;

    if (!s->held)
        return;
    learn(s->held, code, s->tries);
    free_place(s);
}

static int64_t pool_recall(struct session *base, const struct turn *t)
{
    struct pool_session *s = (struct pool_session *)(void *)base;
    struct session *session;

    if (!s->pool->models[t->model_at].driver->ops->recall)
        return -1;
    session = session_of(s, t);
    return session ? session->ops->recall(session, t) : -1;
}

static void pool_give_back(struct session *base, const struct turn *t,
                           int64_t taken)
{
    struct pool_session *s = (struct pool_session *)(void *)base;
    struct session *session = s->sessions[t->model_at];

    session->ops->give_back(session, t, taken);
}

static void pool_stop(struct session *base)
{
    struct pool_session *s = (struct pool_session *)(void *)base;
    struct session *session = s->sessions[s->at];

    free_place(s);
    if (session)
        session->ops->stop(session);
}

/* ---- Life ---------------------------------------------------------------- */

static struct session *pool_session_open(struct driver *d, struct wend_run *run)
{
    struct pool *p = (struct pool *)(void *)d;
    struct pool_session *s =
        mem_zalloc(&run->rt->mem, sizeof *s + p->count * sizeof *s->sessions);

    if (!s)
        return NULL;
    s->base.ops = d->ops;
    s->pool = p;
    s->run = run;
    return &s->base;
}

static void pool_close(struct session *base)
{
    struct pool_session *s = (struct pool_session *)(void *)base;

    pool_stop(base);
    for (size_t i = 0; i < s->pool->count; i++)
        if (s->sessions[i])
            s->sessions[i]->ops->close(s->sessions[i]);
    mem_free(&s->run->rt->mem, s);
}

static void pool_free(struct driver *d)
{
    struct pool *p = (struct pool *)(void *)d;
    struct mem m = p->mem;

    for (size_t i = 0; i < p->count; i++)
        p->models[i].driver->ops->free(p->models[i].driver);
    arena_free(&p->arena);
    mem_free(&m, p);
}

static const struct driver_ops pool_ops = {
    .open = pool_session_open,
    .ask = pool_ask,
    .ended = pool_ended,
    .recall = pool_recall,
    .give_back = pool_give_back,
    .stop = pool_stop,
    .close = pool_close,
    .free = pool_free,
};

wend_status pool_open(const struct pool_model *models, size_t count,
                      const struct mem *m, struct driver **out, wend_error *err)
{
    struct pool *p = mem_zalloc(m, sizeof *p + count * sizeof *p->models);

    if (!p) {
        for (size_t i = 0; i < count; i++)
            models[i].driver->ops->free(models[i].driver);
        return fail_nomem(err);
    }
    p->base.ops = &pool_ops;
    p->base.model = models[0].driver->model;
    p->mem = *m;
    p->arena.mem = &p->mem;
    for (size_t i = 0; i < count; i++) {
        p->models[i].driver = models[i].driver;
        p->models[i].key = arena_str(&p->arena, str_of(models[i].key));
        p->models[i].concurrency = models[i].concurrency;
        p->count++;
    }
    if (p->arena.failed) {
        pool_free(&p->base);
        return fail_nomem(err);
    }
    *out = &p->base;
    return WEND_OK;
}

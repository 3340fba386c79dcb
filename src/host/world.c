/*
 * world.c - an environment that follows a seed.
 */
#include "host/world.h"

#include "base/fail.h"

enum {
    CLOCK_BEGIN_US = 1000000,
    JOB_US_MAX = 3000, /* until a worker has done its job */
};

/* Some day; events of a seed have the same times in every run of it. */
static const int64_t wall_begin_us = 1763171411123456;

/* ---- What will happen ---------------------------------------------------- */

void world_clear(struct world *w, struct world_event *e)
{
    struct world_event **link = &w->first;

    if (!e->set)
        return;
    while (*link != e)
        link = &(*link)->next;
    *link = e->next;
    e->set = false;
}

void world_at(struct world *w, struct world_event *e, int64_t due_us)
{
    struct world_event **link = &w->first;

    world_clear(w, e);
    while (*link && (*link)->due_us <= due_us)
        link = &(*link)->next;
    e->due_us = due_us;
    e->set = true;
    e->next = *link;
    *link = e;
}

int64_t world_next(const struct world *w)
{
    return w->first ? w->first->due_us : INT64_MAX;
}

/* Also what is set meanwhile, if it is for now. */
static bool fire_due(struct world *w)
{
    int64_t now_us = w->clock_us;
    bool any = false;

    while (w->first && w->first->due_us <= now_us) {
        struct world_event *e = w->first;

        world_clear(w, e);
        any = true;
        e->fire(e);
    }
    return any;
}

/* ---- Clock and dice ------------------------------------------------------ */

/* Each look takes a microsecond, so that waiting for the clock ends. */
static int64_t clock_us(void *ctx)
{
    return ((struct world *)ctx)->clock_us++;
}

static int64_t wall_us(void *ctx)
{
    return clock_us(ctx) + ((struct world *)ctx)->ahead_us;
}

static void chance(void *ctx, void *out, size_t len)
{
    struct world *w = ctx;
    unsigned char *p = out;

    while (len--)
        *p++ = (unsigned char)chance_next(&w->chance);
}

/* ---- Waiting ------------------------------------------------------------- */

struct world_loop {
    struct loop base;
    struct mem mem;
    struct world *world;
};

static void loop_end(struct loop *base)
{
    struct world_loop *l = (struct world_loop *)(void *)base;
    struct mem m = l->mem;

    mem_free(&m, l);
}

static int loop_no_fd(const struct loop *base)
{
    (void)base;
    return -1;
}

static void loop_jump(struct loop *base, int timeout_ms)
{
    struct world *w = ((struct world_loop *)(void *)base)->world;
    int64_t until_us = world_next(w);

    if (fire_due(w) || !timeout_ms)
        return;
    if (timeout_ms > 0 && until_us > w->clock_us + (int64_t)timeout_ms * 1000)
        until_us = w->clock_us + (int64_t)timeout_ms * 1000;
    if (until_us == INT64_MAX) {
        w->stuck(w);
        return;
    }
    if (until_us > w->clock_us)
        w->clock_us = until_us;
    fire_due(w);
}

static int loop_no_timeout(struct loop *base)
{
    struct world *w = ((struct world_loop *)(void *)base)->world;
    int64_t left_us = world_next(w) - w->clock_us;

    if (!w->first)
        return -1;
    if (left_us <= 0)
        return 0;
    return left_us / 1000 < INT32_MAX ? (int)(left_us / 1000) + 1 : INT32_MAX;
}

/* A waiting loop never sleeps here. */
static void loop_is_awake(struct loop *base)
{
    (void)base;
}

static wend_status loop(void *ctx, const struct mem *m, struct loop **out,
                        wend_error *err)
{
    static const struct loop_ops ops = {loop_end, loop_no_fd, loop_jump,
                                        loop_no_timeout, loop_is_awake};
    struct world_loop *l = mem_zalloc(m, sizeof *l);

    if (!l)
        return fail_nomem(err);
    l->base.ops = &ops;
    l->mem = *m;
    l->world = ctx;
    *out = &l->base;
    return WEND_OK;
}

/* ---- Workers ------------------------------------------------------------- */

struct world_threads {
    struct threads base;
    struct mem mem;
    struct world *world;
    struct world_event next;
    struct threads_job *first, **tail;
};

static void work(struct world_threads *t)
{
    struct threads_job *job = t->first;

    t->first = job->next;
    if (!t->first)
        t->tail = &t->first;
    if (!atomic_load(job->canceled))
        job->fn(job);
    job->end(job);
}

static void set_next(struct world_threads *t)
{
    int64_t us = chance_below(&t->world->chance, JOB_US_MAX);

    if (t->first && !t->next.set)
        world_at(t->world, &t->next, t->world->clock_us + us);
}

static void on_next(struct world_event *e)
{
    struct world_threads *t = container_of(e, struct world_threads, next);

    work(t);
    set_next(t);
}

static wend_status threads_take(struct threads *base, struct threads_job *job)
{
    struct world_threads *t = (struct world_threads *)(void *)base;

    job->next = NULL;
    *t->tail = job;
    t->tail = &job->next;
    set_next(t);
    return WEND_OK;
}

static void threads_end(struct threads *base)
{
    struct world_threads *t = (struct world_threads *)(void *)base;
    struct mem m = t->mem;

    world_clear(t->world, &t->next);
    while (t->first)
        work(t);
    mem_free(&m, t);
}

static wend_status threads(void *ctx, const struct mem *m, unsigned max,
                           struct threads **out, wend_error *err)
{
    static const struct threads_ops ops = {threads_end, threads_take};
    struct world_threads *t = mem_zalloc(m, sizeof *t);

    (void)max;
    if (!t)
        return fail_nomem(err);
    t->base.ops = &ops;
    t->mem = *m;
    t->world = ctx;
    t->tail = &t->first;
    t->next.fire = on_next;
    *out = &t->base;
    return WEND_OK;
}

/* ---- Nothing else is there ----------------------------------------------- */

static wend_status fetch(void *ctx, const struct mem *m, struct loop *l,
                         struct fetch **out, wend_error *err)
{
    (void)ctx, (void)m, (void)l;
    *out = NULL;
    return fail(err, WEND_E_IO,
                "a simulated world has no network: use a script as the model, "
                "and functions as tools");
}

static wend_status procs(void *ctx, const struct mem *m, struct loop *l,
                         struct procs **out, wend_error *err)
{
    (void)ctx, (void)m, (void)l;
    *out = NULL;
    return fail(err, WEND_E_IO,
                "a simulated world has no programs: use functions as tools");
}

void world_init(struct world *w, uint64_t seed, void (*stuck)(struct world *w))
{
    *w = (struct world){
        .env = {.wall_us = wall_us,
                .clock_us = clock_us,
                .chance = chance,
                .loop = loop,
                .threads = threads,
                .fetch = fetch,
                .procs = procs,
                .ctx = w},
        .chance.state = ~seed,
        .clock_us = CLOCK_BEGIN_US,
        .ahead_us = wall_begin_us,
        .stuck = stuck,
    };
}

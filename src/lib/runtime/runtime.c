/*
 * runtime.c - one loop, one thread: mail, deadlines, the store's inbox.
 *
 * A pump takes the mail, fires what is due and hands what the runs have
 * written to the store in one go, so that everything decided in one pass
 * shares a commit.
 */
#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "lib/model/pool.h"
#include "lib/otel/otel.h"

enum {
    PUMPS_PER_POLL = 16, /* busy pumps between two looks at the fd */
    THREADS_MAX = PARALLEL_MAX,
};

const char *wend_version(void)
{
    return WEND_VERSION;
}

const char *wend_status_name(wend_status s)
{
    switch (s) {
    case WEND_OK: return "ok";
    case WEND_END: return "end";
    case WEND_AGAIN: return "again";
    case WEND_E_INVAL: return "invalid";
    case WEND_E_NOMEM: return "no_memory";
    case WEND_E_NOTFOUND: return "not_found";
    case WEND_E_EXISTS: return "exists";
    case WEND_E_LIMIT: return "limit";
    case WEND_E_MISUSE: return "misuse";
    case WEND_E_STORE: return "store";
    case WEND_E_PARSE: return "parse";
    case WEND_E_BUSY: return "busy";
    case WEND_E_IO: return "io";
    case WEND_E_CORRUPT: return "corrupt";
    case WEND_E_STALE: return "stale";
    }
    return "unknown";
}

wend_status rt_enter(const wend_runtime *rt)
{
    if (!rt)
        return WEND_E_INVAL;
    if (rt->magic != RUNTIME_MAGIC ||
        forked_check(rt->process, NULL) != WEND_OK ||
        !pthread_equal(rt->thread, pthread_self()))
        return WEND_E_MISUSE;
    return WEND_OK;
}

wend_status rt_enter_for(const wend_runtime *rt, const char *what,
                         wend_error *err)
{
    wend_status s = rt_enter(rt);

    fail_clear(err);
    if (s == WEND_OK)
        return s;
    if (!rt)
        return fail(err, s, "%s: the runtime is NULL", what);
    if (rt->magic == RUNTIME_MAGIC && forked_check(rt->process, err) != WEND_OK)
        return s;
    return fail(err, s, "%s: the runtime is freed or of another thread", what);
}

int64_t rt_wall(const wend_runtime *rt)
{
    return rt->env->wall_us(rt->env->ctx);
}

int64_t rt_clock(const wend_runtime *rt)
{
    return rt->env->clock_us(rt->env->ctx);
}

int64_t rt_after(const wend_runtime *rt, int64_t ms)
{
    int64_t now = rt_clock(rt);

    return ms < (INT64_MAX - now) / 1000 ? now + ms * 1000 : INT64_MAX;
}

struct threads *rt_threads(wend_runtime *rt)
{
    if (!rt->threads)
        rt->env->threads(rt->env->ctx, &rt->mem, THREADS_MAX, &rt->threads,
                         NULL);
    return rt->threads;
}

wend_status rt_fetch(wend_runtime *rt, struct fetch **out, wend_error *err)
{
    wend_status s = WEND_OK;

    if (!rt->fetch)
        s = rt->env->fetch(rt->env->ctx, &rt->mem, rt->loop, &rt->fetch, err);
    *out = rt->fetch;
    return s;
}

wend_status rt_procs(wend_runtime *rt, struct procs **out, wend_error *err)
{
    wend_status s = WEND_OK;

    if (!rt->procs)
        s = rt->env->procs(rt->env->ctx, &rt->mem, rt->loop, &rt->procs, err);
    *out = rt->procs;
    return s;
}

/* ---- The store's inbox --------------------------------------------------- */

static void on_inbox_timer(struct timer_node *t)
{
    wend_runtime *rt = container_of(t, struct wend_runtime, inbox_timer);

    if (!rt->live)
        return;
    inbox_serve(rt);
    timer_set(&rt->timers, t, rt_after(rt, INBOX_POLL_MS));
}

/* ---- Life ---------------------------------------------------------------- */

wend_status rt_new(const wend_runtime_options *options, const struct env *env,
                   wend_runtime **out, wend_error *err)
{
    wend_runtime_options o;
    wend_status s = WEND_OK;
    struct mailbox *box;
    struct mem m;
    wend_runtime *rt;

    if (!OPTIONS_TAKE(&o, wend_runtime_options, alloc_ctx, options))
        return fail(err, WEND_E_INVAL, "runtime: options.size is wrong");
    if (!out) {
        if (o.alloc_release)
            o.alloc_release(o.alloc_ctx);
        return fail(err, WEND_E_INVAL, "runtime: out is NULL");
    }
    fail_clear(err);
    m = (struct mem){o.alloc, o.alloc_ctx};
    box = mailbox_new(o.alloc_release, o.alloc_ctx);
    rt = box ? mem_zalloc(&m, sizeof *rt) : NULL;
    if (!rt) {
        if (box)
            mailbox_leave(box);
        return fail_nomem(err);
    }
    rt->mem = m;
    rt->mailbox = box;
    rt->env = env;
    rt->thread = pthread_self();
    rt->process = forked_mark();
    rt->magic = RUNTIME_MAGIC;
    rt->timers.mem = &rt->mem;
    rt->scratch.mem = &rt->mem;
    rt->scratch.chunk_min = 16 << 10; /* most steps fit into one chunk */
    rt->inbox_timer.fire = on_inbox_timer;
    if (o.store)
        s = store_enter(o.store, err);
    if (s == WEND_OK)
        s = env->loop(env->ctx, &rt->mem, &rt->loop, err);
    if (s == WEND_OK)
        rt->mailbox->loop = rt->loop;
    if (s == WEND_OK && o.store)
        rt->store = store_hold(o.store);
    else if (s == WEND_OK)
        s = store_memory_open(&rt->store, err);
    if (s != WEND_OK) {
        rt_destroy(rt);
        return s;
    }
    *out = rt;
    return WEND_OK;
}

wend_status wend_runtime_new(const wend_runtime_options *options,
                             wend_runtime **out, wend_error *err)
{
    return rt_new(options, &env_real, out, err);
}

/* ---- Pumping ------------------------------------------------------------- */

void rt_store_failed(wend_runtime *rt, wend_status s)
{
    assert(s != WEND_OK);
    if (rt->failed.status != WEND_OK)
        return;
    fail(&rt->failed, s, "the store failed; nothing more is accepted");
    rt->store->ops->failure(rt->store, &rt->failed);
    rt->failed.status = WEND_E_STORE;
    atomic_store(&rt->mailbox->store_failed, true);
    for (struct wend_run *r = rt->runs; r; r = r->next)
        shell_fail(r, WEND_E_STORE, rt->failed.message);
}

/* The store may have failed at something that no run waits for. */
wend_status rt_check_store(const wend_runtime *rt, wend_error *err)
{
    wend_error own = rt->failed;

    if (own.status == WEND_OK)
        rt->store->ops->failure(rt->store, &own);
    return own.status == WEND_OK ? WEND_OK
                                 : fail(err, WEND_E_STORE, "%s", own.message);
}

/* The run of a batch may be gone; a failed store concerns all runs. */
static void committed(wend_runtime *rt, struct batch *b)
{
    if (b->status == WEND_E_STORE)
        rt_store_failed(rt, b->status);
    shell_committed(b);
}

/* The next cancel may be posted, with its author, while this one is served. */
static void canceled(struct post *p)
{
    struct wend_run *r = container_of(p, struct wend_run, cancel_post);
    char by[sizeof r->cancel_by];
    struct input in = {.kind = IN_CANCEL};

    memcpy(by, r->cancel_by, sizeof by);
    in.by = str_of(by);
    atomic_store(&r->cancel_posted, false);
    if (r->player)
        replay_cancel(r);
    else if (r->rt) /* else it came while the runtime is being freed */
        shell_input(r, &in);
}

static void open_post(wend_runtime *rt, struct post *p)
{
    switch (p->kind) {
    case POST_COMMITTED: committed(rt, (struct batch *)(void *)p); break;
    case POST_RETURN: call_returned((struct wend_call *)(void *)p); break;
    case POST_OUTPUT: call_output(p); break;
    case POST_CANCEL: canceled(p); break;
    case POST_FREE_RUN:
    case POST_FREE_AGENT:
        p->next = rt->doomed;
        rt->doomed = p;
        break;
    }
}

static void take_mail(wend_runtime *rt)
{
    struct post *p = mailbox_take(rt->mailbox), *next;

    for (; p; p = next) {
        next = p->next;
        open_post(rt, p);
    }
}

void rt_flush(wend_runtime *rt)
{
    struct wend_run *r;

    while ((r = rt->dirty)) {
        assert(r->dirty && r->rt == rt);
        rt->dirty = r->dirty_next;
        r->dirty_next = NULL;
        r->dirty = false;
        shell_submit(r);
    }
}

void rt_guest_add(wend_runtime *rt, struct rt_guest *g)
{
    g->next = rt->guests;
    rt->guests = g;
}

void rt_guest_remove(wend_runtime *rt, struct rt_guest *g)
{
    struct rt_guest **at = &rt->guests;

    while (*at && *at != g)
        at = &(*at)->next;
    if (*at)
        *at = g->next;
}

void rt_destroy(wend_runtime *rt)
{
    struct mailbox *box = rt->mailbox;

    assert(rt->magic == RUNTIME_MAGIC);
    while (rt->guests) {
        struct rt_guest *g = rt->guests;

        rt->guests = g->next;
        g->gone(g);
    }
    while (rt->runs) {
        struct wend_run *r = rt->runs;

        while (r->child) /* it goes with its parent, who looks at it */
            r = r->child->parent;
        run_detach(r);
    }
    while (rt->agents)
        agent_detach(rt->agents);
    rt_flush(rt);
    mailbox_close(box);
    take_mail(rt);
    rt_bury(rt, NULL);
    threads_free(rt->threads);
    if (rt->store && rt->store->ops->own_thread)
        mailbox_settle(box); /* batches are memory of the allocator */
    batch_free(rt->spare);
    pool_forget(rt);
    tracer_free(rt->tracer);
    procs_free(rt->procs);
    fetch_free(rt->fetch);
    loop_free(rt->loop);
    timers_free(&rt->timers);
    arena_free(&rt->scratch);
    wend_store_free(rt->store);
    rt->magic = 0;
    mem_free(&(struct mem){rt->mem.fn, rt->mem.ctx}, rt);
    mailbox_leave(box);
}

static int until_next_timer(wend_runtime *rt, int timeout_ms)
{
    int64_t next = timers_next(&rt->timers), left;

    if (next == INT64_MAX)
        return timeout_ms;
    left = (next - rt_clock(rt) + 999) / 1000;
    if (left < 0)
        left = 0;
    if (timeout_ms >= 0 && left > timeout_ms)
        left = timeout_ms;
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

/* A busy runtime looks at the fd only now and then: a look costs as much
 * as fifty deltas. */
static void look_around(wend_runtime *rt, int timeout_ms)
{
    int wait_ms = until_next_timer(rt, timeout_ms);

    if (atomic_load(&rt->mailbox->any))
        wait_ms = 0;
    if (!wait_ms && ++rt->since_poll < PUMPS_PER_POLL)
        return;
    rt->since_poll = 0;
    loop_turn(rt->loop, wait_ms);
}

void rt_pump(wend_runtime *rt, int timeout_ms)
{
    struct timer_node *t;
    int64_t now;

    rt_flush(rt);
    look_around(rt, timeout_ms);
    take_mail(rt);
    now = rt_clock(rt);
    while ((t = timers_due(&rt->timers, now)))
        t->fire(t);
    rt_flush(rt);
    take_mail(rt); /* a store in memory has answered already */
    rt_flush(rt);
    for (struct rt_guest *g = rt->guests; g; g = g->next)
        g->pass(g);
}

int wend_runtime_fd(const wend_runtime *rt)
{
    return rt_enter(rt) == WEND_OK ? loop_fd(rt->loop) : -1;
}

int wend_runtime_timeout_ms(const wend_runtime *rt)
{
    wend_runtime *self = (wend_runtime *)(uintptr_t)rt;

    if (rt_enter(rt) != WEND_OK)
        return -1;
    if (rt->dirty || atomic_load(&rt->mailbox->any))
        return 0;
    return until_next_timer(self, loop_timeout_ms(rt->loop));
}

wend_status wend_runtime_pump(wend_runtime *rt)
{
    wend_status s = rt_begin(rt);

    if (s != WEND_OK)
        return s;
    rt->since_poll = PUMPS_PER_POLL; /* a foreign loop saw the fd: look */
    rt_pump(rt, 0);
    s = rt->failed.status;
    return rt_end(rt) ? s : WEND_E_MISUSE;
}

wend_status wend_runtime_wakeup(wend_runtime *rt)
{
    if (!rt)
        return WEND_E_INVAL;
    if (rt->magic != RUNTIME_MAGIC ||
        forked_check(rt->process, NULL) != WEND_OK)
        return WEND_E_MISUSE;
    loop_wake(rt->loop);
    return WEND_OK;
}

/* ---- Facts --------------------------------------------------------------- */

/* On the store's thread, or from inside keep. */
static void on_kept(void *ctx, wend_status s)
{
    (void)s;
    mailbox_answered(ctx);
}

void fact_keep(wend_runtime *rt, const struct store_fact *fact)
{
    mailbox_sent(rt->mailbox); /* so that the runtime's end waits for it */
    rt->store->ops->keep(rt->store, fact, on_kept, rt->mailbox);
}

static bool on_fact(void *ctx, const struct store_fact *f)
{
    buf_str(ctx, f->text);
    return false;
}

wend_status fact_text(wend_runtime *rt, wend_str space, wend_str key,
                      struct buf *out, wend_error *err)
{
    wend_status s = rt->store->ops->facts(rt->store, space, key, rt_wall(rt),
                                          on_fact, out, err);

    return s == WEND_OK && out->failed ? fail_nomem(err) : s;
}

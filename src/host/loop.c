/*
 * loop.c - one event loop on libuv.
 *
 * The timer is armed only while loop_turn waits, or in advance for a
 * foreign loop that watches the fd; deadlines are the owner's business.
 */
#include "host/loop.h"

#include <uv.h>

#include "base/fail.h"
#include "host/loop_uv.h"

struct loop {
    const struct mem *mem;
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t timer;
    bool rest; /* before the next wait */
    void (*before)(void *ctx);
    void *before_ctx;
};

static void nothing_async(uv_async_t *a)
{
    (void)a; /* returning from uv_run is all that is wanted */
}

static void nothing_timer(uv_timer_t *t)
{
    (void)t;
}

wend_status loop_new(const struct mem *m, struct loop **out, wend_error *err)
{
    struct loop *l = mem_zalloc(m, sizeof *l);
    int rc;

    if (!l)
        return fail_nomem(err);
    l->mem = m;
    rc = uv_loop_init(&l->uv);
    if (rc) {
        mem_free(m, l);
        return fail(err, WEND_E_IO, "event loop: %s", uv_strerror(rc));
    }
    uv_timer_init(&l->uv, &l->timer);
    rc = uv_async_init(&l->uv, &l->wake, nothing_async);
    if (rc) {
        uv_close((uv_handle_t *)&l->timer, NULL);
        uv_run(&l->uv, UV_RUN_DEFAULT);
        uv_loop_close(&l->uv);
        mem_free(m, l);
        return fail(err, WEND_E_IO, "event loop: %s", uv_strerror(rc));
    }
    *out = l;
    return WEND_OK;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    uv_close((uv_handle_t *)&l->timer, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    uv_loop_close(&l->uv);
    mem_free(l->mem, l);
}

int loop_fd(const struct loop *l)
{
    return uv_backend_fd(&l->uv);
}

void loop_turn(struct loop *l, int timeout_ms)
{
    if (!timeout_ms) {
        uv_run(&l->uv, UV_RUN_NOWAIT);
        return;
    }
    if (l->rest) {
        l->rest = false;
        uv_sleep(LOOP_REST_MS);
    }
    if (l->before)
        l->before(l->before_ctx);
    if (timeout_ms > 0) {
        uv_update_time(&l->uv);
        uv_timer_start(&l->timer, nothing_timer, (uint64_t)timeout_ms, 0);
    }
    uv_run(&l->uv, UV_RUN_ONCE);
    uv_timer_stop(&l->timer);
}

void loop_rest(struct loop *l)
{
    l->rest = true;
}

int loop_timeout_ms(struct loop *l)
{
    uv_update_time(&l->uv); /* else it counts from the last turn */
    return uv_backend_timeout(&l->uv);
}

uv_loop_t *loop_uv(struct loop *l)
{
    return &l->uv;
}

void loop_before(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
    l->before = fn;
    l->before_ctx = ctx;
}

void loop_wake(struct loop *l)
{
    uv_async_send(&l->wake);
}

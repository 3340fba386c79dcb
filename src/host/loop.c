/*
 * loop.c - one event loop on libuv.
 *
 * The timer is armed only while loop_turn waits, or in advance for a
 * foreign loop that watches the fd; deadlines are the owner's business.
 */
#include "host/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fail.h"
#include "host/loop_uv.h"

struct uv {
    struct loop base;
    const struct mem *mem;
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t timer;
    bool rest; /* before the next wait */
    void (*before)(void *ctx);
    void *before_ctx;
};

static struct uv *of(const struct loop *l)
{
    return (struct uv *)(uintptr_t)l;
}

static void nothing_async(uv_async_t *a)
{
    (void)a; /* returning from uv_run is all that is wanted */
}

/* It may fire before uv_run waits: then no timer would end the wait. */
static void on_timer(uv_timer_t *t)
{
    uv_stop(t->loop);
}

static wend_status no_loop(int rc, wend_error *err)
{
    if (rc == UV_ENOMEM)
        return fail_nomem(err);
    return fail(err, WEND_E_IO, "event loop: %s", uv_strerror(rc));
}

static void free_loop(struct loop *base)
{
    struct uv *l = of(base);

    uv_close((uv_handle_t *)&l->timer, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    uv_loop_close(&l->uv);
    mem_free(l->mem, l);
}

static int backend_fd(const struct loop *base)
{
    return uv_backend_fd(&of(base)->uv);
}

static void turn(struct loop *base, int timeout_ms)
{
    struct uv *l = of(base);

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
        uv_timer_start(&l->timer, on_timer, (uint64_t)timeout_ms, 0);
    }
    uv_run(&l->uv, UV_RUN_ONCE);
    uv_timer_stop(&l->timer);
}

static int backend_timeout_ms(struct loop *base)
{
    struct uv *l = of(base);

    uv_update_time(&l->uv); /* else it counts from the last turn */
    return uv_backend_timeout(&l->uv);
}

static void wake(struct loop *base)
{
    uv_async_send(&of(base)->wake);
}

static const struct loop_ops ops = {free_loop, backend_fd, turn,
                                    backend_timeout_ms, wake};

/* libuv aborts if its first loop leaves no two descriptors for a pipe. */
static int room_for_loop(void)
{
    int ends[2], third, rc = 0;

    if (pipe2(ends, O_CLOEXEC))
        return uv_translate_sys_error(errno);
    third = fcntl(ends[0], F_DUPFD_CLOEXEC, 0);
    if (third < 0)
        rc = uv_translate_sys_error(errno);
    else
        close(third);
    close(ends[0]);
    close(ends[1]);
    return rc;
}

wend_status loop_new(const struct mem *m, struct loop **out, wend_error *err)
{
    struct uv *l = mem_zalloc(m, sizeof *l);
    int rc;

    if (!l)
        return fail_nomem(err);
    l->base.ops = &ops;
    l->mem = m;
    rc = room_for_loop();
    if (!rc)
        rc = uv_loop_init(&l->uv);
    if (rc) {
        mem_free(m, l);
        return no_loop(rc, err);
    }
    uv_timer_init(&l->uv, &l->timer);
    rc = uv_async_init(&l->uv, &l->wake, nothing_async);
    if (rc) {
        uv_close((uv_handle_t *)&l->timer, NULL);
        uv_run(&l->uv, UV_RUN_DEFAULT);
        uv_loop_close(&l->uv);
        mem_free(m, l);
        return no_loop(rc, err);
    }
    *out = &l->base;
    return WEND_OK;
}

void loop_rest(struct loop *l)
{
    of(l)->rest = true;
}

uv_loop_t *loop_uv(struct loop *l)
{
    return &of(l)->uv;
}

void loop_before(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
    of(l)->before = fn;
    of(l)->before_ctx = ctx;
}

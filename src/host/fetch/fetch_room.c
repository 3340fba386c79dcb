/*
 * fetch_room.c - transfers wait for a free descriptor.
 *
 * A process may have few, and a failed connection would be blamed on the
 * server. So connections leave a quarter of them, up to SPARE_MAX, to files,
 * programs and look-ups of names. A transfer that finds none waits in `starved`
 * until another one ends; that time does not count while others have
 * connections. One is woken at a time, and wakes the next if it finds room.
 *
 * The limit is the process's, so the counters are for all runtimes and threads.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/fetch/fetch_pool.h"

enum {
    SPARE_SHARE = 4,
    SPARE_MAX = 64,
    IDLE_SHARE = 8, /* of each kind; they keep others from theirs */
    IDLE_MAX = 1000,
    CROWD_SHARE = 4,
    RETRY_MS = 10, /* others than we may give descriptors back */
};

static struct {
    atomic_int process;     /* whose numbers these are */
    atomic_llong nets;      /* with connections of their own */
    atomic_llong connected; /* transfers with one, or making one */
    atomic_llong opening;   /* those of libcurl that have no socket yet */
    atomic_llong alone_ms;  /* when the last of `connected` ended */
} all;

/* A child of fork() has none of its parent's connections. */
static void begin_process(void)
{
    int now = (int)getpid();

    if (atomic_exchange(&all.process, now) == now)
        return;
    atomic_store(&all.nets, 0);
    atomic_store(&all.connected, 0);
    atomic_store(&all.opening, 0);
}

static int64_t limit(void)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur > INT32_MAX)
        return INT32_MAX;
    return (int64_t)l.rlim_cur;
}

/* The system gives the lowest free number: it tells how many are in use. */
static int64_t lowest_free(const struct net *f)
{
    int fd = fcntl(uv_backend_fd(f->uv), F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return INT64_MAX;
    close(fd);
    return fd;
}

bool room_none(const struct net *f)
{
    return lowest_free(f) == INT64_MAX;
}

bool room_crowded(void)
{
    return atomic_load(&all.connected) >= limit() / CROWD_SHARE;
}

/* The host may change it at any time. */
static int64_t measure(struct net *f)
{
    int64_t most = limit(), nets = atomic_load(&all.nets);
    int64_t share = most / IDLE_SHARE / (nets > 1 ? nets : 1) + 1;

    if (most != f->limit || nets != f->nets) {
        f->limit = most;
        f->nets = nets;
        f->idle_max = share < IDLE_MAX ? (size_t)share : IDLE_MAX;
        multi_limit_idle(f);
    }
    return most;
}

static bool has_room(struct net *f)
{
    int64_t most = measure(f), spare = most / SPARE_SHARE, lowest;

    if (spare > SPARE_MAX)
        spare = SPARE_MAX;
    spare += atomic_load(&all.opening);
    lowest = lowest_free(f);
    while (lowest >= most - spare && conn_drop_idle(f))
        lowest = lowest_free(f);
    /* No end of another can be waited for: perhaps it fits all the same. */
    return lowest < (room_others(NULL) ? most - spare : most);
}

static void on_retry(uv_timer_t *timer)
{
    room_wake(timer->data);
}

void room_init(struct net *f)
{
    begin_process();
    atomic_fetch_add(&all.nets, 1);
    ring_init(&f->starved);
    uv_timer_init(f->uv, &f->retry);
    f->retry.data = f;
    f->handles++;
}

void room_enter(struct exchange *t)
{
    struct net *f = t->fetch;

    t->starved = true;
    transfer_arm(t);
    ring_put(&f->starved, &t->queue_link);
    if (!uv_is_active((uv_handle_t *)&f->retry))
        uv_timer_start(&f->retry, on_retry, RETRY_MS, 0);
}

void room_free(void)
{
    atomic_fetch_sub(&all.nets, 1);
}

void room_take(struct exchange *t, bool opening)
{
    atomic_fetch_add(&all.connected, 1);
    atomic_fetch_add(&all.opening, opening);
    t->opening = opening;
}

void room_opened(struct exchange *t)
{
    atomic_fetch_sub(&all.opening, t->opening);
    t->opening = false;
}

void room_leave(struct net *f)
{
    /* Before the count: a reader that sees 0 must see since when. */
    atomic_store(&all.alone_ms, fetch_now_ms(f));
    atomic_fetch_sub(&all.connected, 1);
}

bool room_others(int64_t *alone_ms)
{
    bool any = atomic_load(&all.connected) > 0;

    if (alone_ms)
        *alone_ms = atomic_load(&all.alone_ms);
    return any;
}

void room_wake(struct net *f)
{
    struct exchange *t;

    if (ring_empty(&f->starved))
        return;
    t = of_queue(f->starved.next);
    ring_out(&t->queue_link);
    fetch_enqueue(t);
    if (!uv_is_active((uv_handle_t *)&f->retry))
        uv_timer_start(&f->retry, on_retry, RETRY_MS, 0);
}

bool room_wait(struct exchange *t)
{
    struct net *f = t->fetch;
    bool waited = t->starved;

    /* Who came first goes first. */
    if ((!waited && !ring_empty(&f->starved)) || !has_room(f)) {
        room_enter(t);
        return true;
    }
    t->starved = false;
    if (waited) {
        transfer_enter(t, PHASE_CONNECT);
        room_wake(f);
    }
    return false;
}

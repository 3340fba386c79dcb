/*
 * test_world.c - a world that follows a seed: time jumps, things happen in
 * order, workers work on the loop's thread, and nothing else is there.
 */
#include "host/world.h"

#include <pthread.h>
#include <stdlib.h>

#include "tap.h"

static const struct mem libc_mem;

struct thing {
    struct world_event event;
    struct world *world;
    char name;
    struct thing *sets; /* when it happens */
    int64_t in_us;
};

static char order[32];
static size_t order_len;
static int stuck_count;

static void happen(struct world_event *e)
{
    struct thing *t =
        (struct thing *)(void *)((char *)e - offsetof(struct thing, event));

    order[order_len++] = t->name;
    order[order_len] = 0;
    if (t->sets)
        world_at(t->world, &t->sets->event, t->world->clock_us + t->in_us);
}

static void on_stuck(struct world *w)
{
    (void)w;
    stuck_count++;
}

static void begin(struct world *w, struct loop **loop, struct thing *list,
                  size_t count)
{
    world_init(w, 7, on_stuck);
    w->env.loop(w->env.ctx, &libc_mem, loop, NULL);
    order_len = 0;
    order[0] = 0;
    stuck_count = 0;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct thing){
            .event = {.fire = happen}, .world = w, .name = (char)('a' + i)};
}

static void check_order(void)
{
    struct thing t[4];
    struct world w;
    struct loop *l = NULL;
    int64_t begun_us;

    begin(&w, &l, t, 4);
    begun_us = w.clock_us;
    world_at(&w, &t[0].event, begun_us + 5000);
    world_at(&w, &t[1].event, begun_us + 3000);
    world_at(&w, &t[2].event, begun_us + 3000);
    world_at(&w, &t[3].event, begun_us + 1);
    world_at(&w, &t[3].event, begun_us + 9000000); /* moved */
    loop_turn(l, 0);
    tap_is_str(order, "", "a turn that does not wait: nothing is due");
    tap_is_i64(loop_timeout_ms(l), 4, "until the next one");
    loop_turn(l, -1);
    tap_is_str(order, "bc", "the clock jumps to what is next, in order");
    tap_is_i64(w.clock_us - begun_us, 3000, "not further");
    loop_turn(l, 1);
    tap_is_i64(w.clock_us - begun_us, 4000, "a limit is a limit");
    world_clear(&w, &t[0].event);
    world_clear(&w, &t[0].event);
    loop_turn(l, -1);
    tap_is_str(order, "bcd", "what was cleared does not happen");
    tap_is_i64(world_next(&w), INT64_MAX, "nothing is left");
    tap_is_i64(loop_timeout_ms(l), -1, "and no limit of waiting");
    loop_turn(l, 1000);
    tap_is_i64(stuck_count, 0, "who waits with a limit is not stuck");
    loop_turn(l, -1);
    tap_is_i64(stuck_count, 1, "who waits without one is");
    tap_is_i64(loop_fd(l), -1, "there is nothing to watch");
    loop_wake(l);
    loop_free(l);
}

static void check_setting(void)
{
    struct thing t[3];
    struct world w;
    struct loop *l = NULL;

    begin(&w, &l, t, 3);
    t[0].sets = &t[1];
    t[1].sets = &t[2];
    t[1].in_us = 50;
    world_at(&w, &t[0].event, w.clock_us);
    loop_turn(l, 0);
    tap_is_str(order, "ab", "what is due at once happens in the same turn");
    loop_turn(l, -1);
    tap_is_str(order, "abc", "what is set meanwhile comes later");
    loop_free(l);
}

static void check_clock(void)
{
    struct world a, b, c;
    unsigned char from_a[16], from_b[16], from_c[16];
    int64_t first;

    world_init(&a, 1, on_stuck);
    world_init(&b, 1, on_stuck);
    world_init(&c, 2, on_stuck);
    first = a.env.clock_us(a.env.ctx);
    tap_ok(a.env.clock_us(a.env.ctx) > first, "a look takes time");
    tap_is_i64(a.env.wall_us(a.env.ctx) - a.env.clock_us(a.env.ctx),
               a.ahead_us - 1, "both clocks go alike");
    a.env.chance(a.env.ctx, from_a, sizeof from_a);
    b.env.chance(b.env.ctx, from_b, sizeof from_b);
    c.env.chance(c.env.ctx, from_c, sizeof from_c);
    tap_ok(!memcmp(from_a, from_b, sizeof from_a), "a seed is a seed");
    tap_ok(memcmp(from_a, from_c, sizeof from_a) != 0, "another is another");
}

struct work {
    struct threads_job job;
    char name;
    pthread_t by;
};

static void do_work(struct threads_job *job)
{
    struct work *w = (struct work *)(void *)job;

    order[order_len++] = w->name;
    order[order_len] = 0;
    w->by = pthread_self();
}

static void end_work(struct threads_job *job)
{
    order[order_len++] = job->canceled ? '.' : '!';
    order[order_len] = 0;
}

static void check_workers(void)
{
    struct work jobs[4] = {{.name = 'x'}, {.name = 'y'}, {.name = 'z'}};
    atomic_bool yes = true, no = false;
    struct threads *t = NULL;
    struct world w;
    struct loop *l = NULL;

    begin(&w, &l, NULL, 0);
    w.env.threads(w.env.ctx, &libc_mem, 4, &t, NULL);
    for (int i = 0; i < 3; i++) {
        jobs[i].job.canceled = i == 1 ? &yes : &no;
        jobs[i].job.fn = do_work;
        jobs[i].job.end = end_work;
        tap_is_i64(threads_run(t, &jobs[i].job), WEND_OK, "a job is taken");
    }
    tap_is_str(order, "", "and not done at once");
    while (order_len < 2)
        loop_turn(l, -1);
    tap_ok(pthread_equal(jobs[0].by, pthread_self()), "it is done here");
    threads_free(t);
    tap_is_str(order, "x..z.", "in order, also what is left at the end");
    tap_is_i64(world_next(&w), INT64_MAX, "nothing is left in the world");
    loop_free(l);
}

static void check_nothing_else(void)
{
    struct world w;
    struct loop *l = NULL;
    struct fetch *f = NULL;
    struct procs *p = NULL;
    wend_error err = {0};

    begin(&w, &l, NULL, 0);
    tap_is_i64(w.env.fetch(w.env.ctx, &libc_mem, l, &f, &err), WEND_E_IO, "%s",
               err.message);
    tap_is_i64(w.env.procs(w.env.ctx, &libc_mem, l, &p, &err), WEND_E_IO, "%s",
               err.message);
    loop_free(l);
}

int main(void)
{
    check_order();
    check_setting();
    check_clock();
    check_workers();
    check_nothing_else();
    return tap_done();
}

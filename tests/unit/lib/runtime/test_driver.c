/*
 * test_driver.c - random calls of the whole API, with arguments that make
 * sense and others, memory that fails, and several threads on one store.
 *
 *     test_driver [--seed N | --seeds FROM-TO] [-v]
 *
 * DRIVER_SECONDS bounds it. The laws: no crash, leak, race or hang; misuse is
 * a status; a failure has a reason; all that is stored verifies. One thread
 * alone plays a seed the same way each time.
 */
#include "campaign.h"
#include "driver_ops.h"

#include <signal.h>

enum { OPS_MAX = 160, HANG_SECONDS = 120 };

/* ---- Playing ------------------------------------------------------------- */

static const struct op {
    const char *name;
    void (*fn)(struct worker *w);
    uint32_t weight;
} ops[] = {
    {"runtime", op_runtime, 6},    {"no runtime", op_forget_runtime, 2},
    {"agent", op_agent, 25},       {"no agent", op_forget_agent, 8},
    {"kid", op_kid, 10},           {"memory", op_memory, 12},
    {"pump", op_pump, 60},         {"start", op_start, 60},
    {"plan", op_start_plan, 15},   {"resume", op_resume, 40},
    {"fork", op_fork, 20},         {"replay", op_replay, 25},
    {"read", op_read, 160},        {"tell run", op_tell_run, 40},
    {"no run", op_forget_run, 40}, {"answer", op_answer, 30},
    {"collect", op_collect, 40},   {"collector", op_collector, 6},
    {"list", op_list, 12},         {"tell", op_tell, 25},
    {"move", op_move, 10},         {"care", op_care, 25},
};

static bool verbose;

static void *play(void *arg)
{
    struct worker *w = arg;
    uint32_t all = 0, count = OPS_MAX / 4 + chance_below(&w->chance, OPS_MAX);

    for (size_t i = 0; i < tap_count(ops); i++)
        all += ops[i].weight;
    op_runtime(w);
    op_agent(w);
    while (count--) {
        uint32_t at = chance_below(&w->chance, all);
        const struct op *op = ops;

        for (; at >= op->weight; op++)
            at -= op->weight;
        if (verbose)
            printf("# %s\n", op->name);
        op->fn(w);
        w->done++;
    }
    forget_runtime(w);
    forget(w, K_STORE, w->store);
    wend_collector_free(w->collector);
    return NULL;
}

/* All that is kept is sound. */
static void verify(struct world *v)
{
    const wend_run_info *info;
    wend_store *store = NULL;
    wend_runs *runs = NULL;
    wend_error err = {0};
    wend_list_options o = {.size = sizeof o, .limit = 10000};

    if (wend_store_open(v->path, &store, &err) != WEND_OK ||
        wend_store_check(store, &err) != WEND_OK ||
        wend_store_list(store, &o, &runs, &err) != WEND_OK)
        broken(v, "the store: %s", err.message);
    while (runs && wend_runs_next(runs, &info) == WEND_OK) {
        wend_verdict found = {.size = sizeof found};
        wend_status s =
            wend_store_verify(store, info->run.ptr, NULL, &found, &err);

        if (s != WEND_OK || found.bad_seq)
            broken(v, "run %.36s (%.*s, %s of %.*s%s), event %lld: %s %s",
                   info->run.ptr, (int)info->status.len, info->status.ptr,
                   info->child ? "child" : "fork", (int)info->parent.len,
                   info->parent.ptr ? info->parent.ptr : "",
                   info->imported ? ", imported" : "", (long long)found.bad_seq,
                   found.why, s ? err.message : "");
    }
    wend_runs_free(runs);
    wend_store_free(store);
}

/* Threads of tools that were given up may be at work for a moment: what
 * counts memory stays. */
static void bury_memories(struct world *v)
{
    static struct memory *graves;
    struct memory *m;

    while ((m = v->memories)) {
        for (int i = 0; i < 5000 && atomic_load(&m->live); i++)
            usleep(1000);
        if (atomic_load(&m->live))
            broken(v, "%lld blocks of a runtime are not given back",
                   (long long)atomic_load(&m->live));
        v->memories = m->next;
        m->next = graves;
        graves = m;
    }
}

static int play_seed(uint64_t seed, const char *path, int64_t *done)
{
    struct world v = {
        .seed = seed, .path = path, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker workers[WORKERS_MAX] = {0};
    pthread_t threads[WORKERS_MAX];
    int count = seed % 2 ? 1 : WORKERS_MAX;

    alarm(HANG_SECONDS);
    if (wend_store_open(seed % 4 < 2 ? path : "memory:", &v.shared, NULL))
        broken(&v, "no store");
    for (int i = 0; i < count; i++) {
        workers[i].world = &v;
        workers[i].chance.state = seed * WORKERS_MAX + (uint64_t)i;
        if (count > 1)
            pthread_create(&threads[i], NULL, play, &workers[i]);
        else
            play(&workers[i]);
    }
    for (int i = 0; i < count; i++) {
        if (count > 1)
            pthread_join(threads[i], NULL);
        *done += workers[i].done;
    }
    for (int i = 0; i < CALLS; i++)
        if (v.calls[i])
            wend_call_fail(v.calls[i], "the end");
    while (collect_one(&v))
        continue;
    wend_store_free(v.shared);
    while (atomic_load(&v.inside))
        usleep(100);
    verify(&v);
    bury_memories(&v);
    return atomic_load(&v.broken);
}

static void on_alarm(int signal)
{
    static const char text[] = "not ok 1 - it hangs\n1..1\n";

    (void)signal;
    if (write(1, text, sizeof text - 1) < 0)
        abort();
    abort();
}

int main(int argc, char **argv)
{
    long seed = 0, from = 1;
    double seconds = 4, end;
    int64_t done = 0;
    int bad = 0, seeds = 0;
    const struct campaign_option options[] = {
        {"--seed", .number = &seed},
        {"--from", .number = &from},
        {"-v", .flag = &verbose},
    };
    char dir[CAMPAIGN_DIR];

    campaign_seconds("DRIVER_SECONDS", &seconds);
    if (!campaign_options(options, tap_count(options), argc, argv) ||
        !campaign_enter("driver", dir))
        return 2;
    signal(SIGALRM, on_alarm);
    end = now() + seconds;
    if (seed)
        from = seed;
    while (bad < 3 && (seed ? !seeds : now() < end)) {
        char path[32];

        snprintf(path, sizeof path, "%d.db", seeds);
        bad += play_seed((uint64_t)from + (uint64_t)seeds, path, &done) != 0;
        seeds++;
        unlink(path);
    }
    alarm(0);
    tap_ok(!bad && seeds, "%d seeds from %ld, %lld calls: %d break a law",
           seeds, from, (long long)done, bad);
    campaign_leave(dir);
    return tap_done();
}

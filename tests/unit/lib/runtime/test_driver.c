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
#include "api_help.h"
#include "campaign.h"
#include "driver_more.h"

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
    {"pump", op_pump, 60},         {"trace", op_trace, 2},
    {"start", op_start, 60},       {"plan", op_start_plan, 15},
    {"resume", op_resume, 40},     {"follow", op_follow, 20},
    {"fork", op_fork, 20},         {"replay", op_replay, 25},
    {"read", op_read, 160},        {"tell run", op_tell_run, 40},
    {"no run", op_forget_run, 40}, {"answer", op_answer, 30},
    {"collect", op_collect, 40},   {"collector", op_collector, 6},
    {"dialect", op_dialect, 6},    {"list", op_list, 12},
    {"tell", op_tell, 25},         {"move", op_move, 10},
    {"care", op_care, 25},         {"program", op_program, 4},
    {"servers", op_servers, 2},    {"relics", op_relics, 8},
    {"wrong", op_wrong, 20},       {"wait", op_wait, 10},
    {"laws", op_laws, 10},         {"look", op_look, 10},
    {"work", op_work, 2},          {"load", op_load, 10},
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
    wend_dialect_free(w->dialect);
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
        for (int i = 0; i < 5000 && atomic_load(&m->released) < m->wanted; i++)
            usleep(1000);
        if (atomic_load(&m->released) != m->wanted || atomic_load(&m->late))
            broken(v, "an allocator is released %d times, not %d; %d late uses",
                   atomic_load(&m->released), m->wanted, atomic_load(&m->late));
        v->memories = m->next;
        m->next = graves;
        graves = m;
    }
}

static void bury_tickets(struct world *v)
{
    static struct ticket *graves;
    struct ticket *t;

    while ((t = v->tickets)) {
        for (int i = 0; i < 5000 && atomic_load(&t->released) < t->wanted; i++)
            usleep(1000);
        if (atomic_load(&t->released) != t->wanted || atomic_load(&t->late))
            broken(v, "%s: released %d times, not %d; %d late uses", t->what,
                   atomic_load(&t->released), t->wanted, atomic_load(&t->late));
        v->tickets = t->next;
        t->next = graves;
        graves = t;
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
    bury_tickets(&v);
    bury_memories(&v);
    return atomic_load(&v.broken);
}

/* ---- All of it ----------------------------------------------------------- */

/* What is exported and not driven, and why. */
static const char *const spared[] = {
    /* Tables of names: values in, static text out; test_names has them all. */
    "wend_version",
    "wend_builtin",
    "wend_event_type_of",
    /* Must come before anything else uses the handle, which is shared here. */
    "wend_store_distrust",
    /* Makes worlds of its own, for seconds; sim_* and test_sim play them. */
    "wend_sim_run",
    /* Waits for a server; cli/models asks them all. */
    "wend_models_ask",
    "wend_models_free",
    /* Without a release; the same function as wend_run_listen_release. */
    "wend_run_listen",
};

static bool is_spared(const char *name)
{
    for (size_t i = 0; i < tap_count(spared); i++)
        if (!strcmp(spared[i], name))
            return true;
    return false;
}

struct driven {
    struct buf text; /* of the driver */
    int missing;
};

static void check_driven(void *ctx, const char *name)
{
    struct driven *d = ctx;
    char call[80];

    snprintf(call, sizeof call, "%s(", name);
    if ((strstr(d->text.ptr, call) != NULL) != is_spared(name))
        return;
    printf("# %s is %s\n", name,
           is_spared(name) ? "spared, and driven" : "not driven");
    d->missing++;
}

/* Each function of the headers stands in the driver's text, or is spared. */
static void test_driven(void)
{
    static const char *const own[] = {"tests/unit/driver_world.h",
                                      "tests/unit/driver_ops.h",
                                      "tests/unit/driver_more.h"};
    static const struct mem mem;
    struct driven d = {.text.mem = &mem};
    int count;

    for (size_t i = 0; i < tap_count(own); i++)
        api_read(&d.text, own[i]);
    buf_char(&d.text, 0);
    count = api_each(check_driven, &d);
    tap_ok(count > 90 && !d.missing, "%d functions, %d are not driven", count,
           d.missing);
    buf_free(&d.text);
}

static uint64_t playing; /* the seed */

/* Sanitizers call it before they end the process. */
void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));
void __sanitizer_print_stack_trace(void) __attribute__((weak));

static void tell_seed(void)
{
    char text[40];
    int len = snprintf(text, sizeof text, "# seed %llu\n",
                       (unsigned long long)playing);

    if (write(1, text, (size_t)len) < 0)
        _exit(1);
}

static void on_signal(int signal)
{
    static const char text[] = "not ok 1 - it hangs\n1..1\n";

    tell_seed();
    if (__sanitizer_print_stack_trace)
        __sanitizer_print_stack_trace();
    _exit(signal == SIGALRM && write(1, text, sizeof text - 1) < 0 ? 2 : 1);
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

    test_driven();
    campaign_seconds("DRIVER_SECONDS", &seconds);
    if (!campaign_options(options, tap_count(options), argc, argv) ||
        !campaign_enter("driver", dir))
        return 2;
    signal(SIGALRM, on_signal);
    signal(SIGABRT, on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(tell_seed);
    end = now() + seconds;
    if (seed)
        from = seed;
    while (bad < 3 && (seed ? !seeds : now() < end)) {
        char path[32];

        snprintf(path, sizeof path, "%d.db", seeds);
        playing = (uint64_t)from + (uint64_t)seeds;
        bad += play_seed(playing, path, &done) != 0;
        seeds++;
        unlink(path);
    }
    alarm(0);
    tap_ok(!bad && seeds, "%d seeds from %ld, %lld calls: %d break a law",
           seeds, from, (long long)done, bad);
    printf("# %d calls of programs, %d of servers have succeeded\n",
           atomic_load(&well.programs), atomic_load(&well.servers));
    campaign_leave(dir);
    return tap_done();
}

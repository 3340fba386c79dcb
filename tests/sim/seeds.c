/*
 * seeds.c - many seeds, the same for every simulator.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "seeds.h"
#include "tap.h"

enum {
    SECONDS_DEFAULT = 4,
    BAD_MAX = 3,       /* seeds that are shown */
    SAME_SEEDS = 25,   /* that are run twice */
    COMMON_SEEDS = 40, /* that show most bugs */
    REACH_SEEDS = 1000 /* with more, every kind of world must be seen */
};

static const char *program; /* as it was started */

/* ---- One seed ------------------------------------------------------------ */

void seed_begin(struct sim_head *h, uint64_t seed, const struct how *how,
                struct counters *ignored)
{
    h->seed = seed;
    h->bug = how->bug;
    h->trace = how->trace;
    h->counters = how->counters ? how->counters : ignored;
}

void law_broken(struct sim_head *h, const char *law, const char *fmt, ...)
{
    struct broken *b = &h->broken[h->broken_count];
    va_list ap;

    for (uint32_t i = 0; i < h->broken_count; i++)
        if (!strcmp(h->broken[i].law, law))
            return;
    if (h->broken_count == BROKEN_MAX)
        return;
    h->broken_count++;
    b->law = law;
    va_start(ap, fmt);
    vsnprintf(b->why, sizeof b->why, fmt, ap);
    va_end(ap);
    if (h->trace)
        fprintf(h->trace, "     BROKEN: %s: %s\n", law, b->why);
}

static const struct broken *broken_at(const struct sim *s, uint32_t i)
{
    return &((const struct sim_head *)(const void *)s)->broken[i];
}

/* The laws that a seed breaks, its history, and how to see it again. */
static void seed_show(struct sim *s, uint64_t seed, struct how how)
{
    static const char *const modes[] = {"", " --safety", " --liveness"};
    uint32_t count;

    how.trace = stdout;
    how.counters = NULL;
    count = seed_run(s, seed, &how);
    for (uint32_t i = 0; i < count; i++)
        printf("# BROKEN in step %" PRId64 ": %s: %s\n", seed_steps(s),
               broken_at(s, i)->law, broken_at(s, i)->why);
    printf("# seed %" PRIu64 "; again: %s --seed %" PRIu64 "%s%s%s -v\n", seed,
           program, seed, modes[how.mode], how.bug ? " --bug " : "",
           how.bug ? bug_name(how.bug) : "");
}

static char *trace_of(struct sim *s, uint64_t seed)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    struct how how = {.trace = to};

    if (!to)
        abort();
    seed_run(s, seed, &how);
    fclose(to);
    return text;
}

/* Anything that is not from the seed would show here sooner or later. */
static void check_same(struct sim *s)
{
    uint64_t different = 0;

    for (uint64_t seed = 1; seed <= SAME_SEEDS && !different; seed++) {
        char *first = trace_of(s, seed), *second = trace_of(s, seed);

        if (strcmp(first, second) != 0 || !*first)
            different = seed;
        free(first);
        free(second);
    }
    tap_ok(!different, "the same seed is the same history, byte for byte");
    if (different)
        printf("# seed %" PRIu64 " is not\n", different);
}

/* Those that have found something, here or in the laws. */
static void check_old(struct sim *s)
{
    struct how how = {0};
    uint64_t bad = 0;

    for (size_t i = 0; old_seeds[i] && !bad; i++)
        if (seed_run(s, old_seeds[i], &how))
            seed_show(s, bad = old_seeds[i], how);
    tap_ok(!bad, "seeds that found something once find nothing now");
}

/* ---- Bugs on purpose ----------------------------------------------------- */

static bool has_broken(const struct sim *s, uint32_t count, const char *law)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(broken_at(s, i)->law, law))
            return true;
    return false;
}

static bool bug_shows(struct sim *s, const struct bug *bug, uint64_t seed)
{
    struct how how = {.bug = bug};
    uint32_t count = seed_run(s, seed, &how);

    if (!has_broken(s, count, bug_law(bug)))
        return false;
    tap_ok(true, "bug %s breaks '%s'", bug_name(bug), bug_law(bug));
    printf("# seed %" PRIu64 " step %" PRId64, seed, seed_steps(s));
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(broken_at(s, i)->law, bug_law(bug)) != 0)
            printf(", and '%s'", broken_at(s, i)->law);
    printf("\n");
    return true;
}

/* A bug that the first seeds do not show needs a rare world; the old seeds
 * are rare ones. */
static void check_bug(struct sim *s, const struct bug *bug)
{
    for (uint64_t seed = 1; seed <= seeds_per_bug; seed++) {
        if (bug_shows(s, bug, seed))
            return;
        for (size_t i = 0; seed == COMMON_SEEDS && old_seeds[i]; i++)
            if (bug_shows(s, bug, old_seeds[i]))
                return;
    }
    tap_ok(false, "bug %s breaks '%s' within %" PRIu64 " seeds", bug_name(bug),
           bug_law(bug), seeds_per_bug);
}

static void find_law(void *ctx, const char *law)
{
    for (size_t i = 0; bug_at(i); i++)
        if (!strcmp(bug_law(bug_at(i)), law))
            return;
    *(bool *)ctx = printf("# no bug breaks '%s'\n", law) < 0;
}

/* A law that no bug breaks may be one that nothing can break. */
static void check_bugs(struct sim *s)
{
    bool all = true;

    for (size_t i = 0; bug_at(i); i++)
        check_bug(s, bug_at(i));
    each_law(find_law, &all);
    tap_ok(all, "every law is broken by a bug");
}

static const struct bug *find_bug(const char *name)
{
    size_t i = 0;

    while (bug_at(i) && strcmp(bug_name(bug_at(i)), name) != 0)
        i++;
    return bug_at(i);
}

/* ---- What was seen ------------------------------------------------------- */

static void show_reached(const struct counters *c)
{
    struct reached rows[REACHED_MAX];
    size_t count = find_reached(c, rows);

    for (size_t i = 0; i < count; i++)
        printf("# %10" PRId64 " %s\n", rows[i].count, rows[i].what);
}

/* A simulator that never gets somewhere finds nothing there. The first seeds
 * are always the same ones, so that this is no matter of luck. */
static void check_reach(const struct counters *c)
{
    struct reached rows[REACHED_MAX];
    size_t count = find_reached(c, rows);
    bool all = true;

    for (size_t i = 0; i < count; i++)
        if (!rows[i].count)
            all = printf("# never: %s\n", rows[i].what) < 0;
    tap_ok(all, "every kind of world was seen, and every fault");
}

/* ---- Many ---------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_enough(const struct options *o, uint64_t seed, double began)
{
    if (!o->seconds)
        return seed > o->to;
    return seed - o->from >= o->most || seconds_now() - began >= o->seconds;
}

static void seeds_hold(struct sim *s, const struct options *o, struct how how)
{
    double began = seconds_now();
    uint64_t seed = o->from, bad = 0;

    for (; !is_enough(o, seed, began); seed++) {
        if (!seed_run(s, seed, &how))
            continue;
        seed_show(s, seed, how);
        if (++bad == BAD_MAX)
            break;
    }
    tap_ok(!bad, "all laws hold for seeds %" PRIu64 "..%" PRIu64, o->from,
           seed - 1);
    printf("# %.0f seeds/s, ",
           (double)(seed - o->from) / (seconds_now() - began));
    print_sums(how.counters, seconds_now() - began);
    if (o->verbose)
        show_reached(how.counters);
    if (o->from == 1 && seed > REACH_SEEDS && !bad && !how.bug &&
        o->mode == MODE_SEED)
        check_reach(how.counters);
}

static int usage(void)
{
    fprintf(stderr,
            "usage: %s [--seeds N | A..B | A-B] [--from A] [--seconds N]\n"
            "       [--seed S [-v]] [--safety | --liveness] [--bug NAME] "
            "[--self-test]\nbugs:",
            program);
    for (size_t i = 0; bug_at(i); i++)
        fprintf(stderr, " %s", bug_name(bug_at(i)));
    fprintf(stderr, "\n");
    return 2;
}

int seeds_main(struct sim *s, struct counters *c, int argc, char **argv)
{
    struct options o = {.from = 1, .seconds = SECONDS_DEFAULT};
    struct how how = {.counters = c};

    program = argv[0];
    if (!read_options(&o, argc, argv))
        return usage();
    how.mode = o.mode;
    if (o.bug && !(how.bug = find_bug(o.bug)))
        return usage();
    if (o.self_test || argc == 1) {
        check_bugs(s);
        check_same(s);
        check_old(s);
    }
    if (o.one && o.verbose)
        seed_show(s, o.from, how);
    if (!o.self_test)
        seeds_hold(s, &o, how);
    return tap_done();
}

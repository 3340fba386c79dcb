/*
 * sim_core.c - checks the laws of the core on random histories with faults.
 *
 *     sim_core [--seeds A..B | --seconds N] [--seed S [-v]] [--bug NAME]
 *     sim_core --self-test
 *
 * A seed is a whole run: an agent, a world and everything that goes wrong
 * in it. Without arguments: every planted bug must be caught, then new
 * seeds for a few seconds. Prints TAP.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "../unit/tap.h"
#include "shell.h"

enum {
    SEEDS_PER_BUG = 4000, /* within so many each must be caught */
    SECONDS_DEFAULT = 4,
    STEPS_MAX = 160,    /* of a world with faults; then it is drained */
    REFOLD_EVERY = 40,  /* steps: the whole log from its first byte */
    PROBE_PERMILLE = 60 /* of the steps, cancel in a side history */
};

struct options {
    uint64_t from, to;
    int seconds; /* 0: as many as from..to are */
    const struct bug *bug;
    bool self_test, verbose, one;
};

/* ---- One seed ------------------------------------------------------------ */

static void sim_begin(struct sim *s, uint64_t seed, const struct bug *bug,
                      FILE *trace, struct counters *counters)
{
    memset(s, 0, sizeof *s);
    s->seed = s->chance.state = seed;
    s->bug = bug;
    s->trace = trace;
    s->counters = counters;
    s->mem = fault_mem(&s->fault);
    s->keep_arena.mem = s->scratch.mem = s->world.mem = &s->mem;
    s->fold_arena.mem = s->state.mem = &s->mem;
    s->now_us = 1763171411123456;
    make_mood(s);
    make_start(s);
    s->keep = (struct keep){&s->keep_arena, s->config};
    s->fold_keep = (struct keep){&s->fold_arena, NULL};
    turn_init(&s->turn);
    turn_init(&s->folded);
    turn_write(&s->state, &s->turn);
    book_init(&s->book, s->config);
}

static void sim_end(struct sim *s)
{
    if (s->stream.made && !s->probe)
        reply_free(&s->stream.reply);
    log_free(&s->log);
    buf_free(&s->state);
    arena_free(&s->keep_arena);
    arena_free(&s->scratch);
    arena_free(&s->world);
    arena_free(&s->fold_arena);
    if (s->fault.live)
        broken(s, "nothing leaks", "%lld blocks", (long long)s->fault.live);
    if (!s->probe)
        free(s->leaked);
}

/* What can still come for a run that is being stopped. */
static bool stop_next(struct sim *s, struct input *in)
{
    struct out *o =
        chance_of(&s->chance, 700) ? pick_out(s, FX_RUN_CALL) : NULL;

    if (!o)
        o = find_timer(s, TIMER_STOP);
    memset(in, 0, sizeof *in);
    if (o)
        answer_out(s, o, in);
    return o != NULL;
}

/* The turn is a value, so that a side history costs a copy of one struct:
 * cancel here, then answer or do not; the run must end at once. */
static void probe_cancel(struct sim *s)
{
    static struct sim p;
    struct input in = {.kind = IN_CANCEL, .by = STR("probe")};
    uint32_t most = book_running(&s->book) + 2, used = 1;

    if (!s->book.run_open || s->book.run_over)
        return;
    s->counters->probes++;
    memcpy(&p, s, sizeof p);
    memset(&p.log, 0, sizeof p.log);
    memset(&p.fault, 0, sizeof p.fault);
    p.mem = fault_mem(&p.fault);
    p.keep_arena = p.scratch = p.world = p.fold_arena =
        (struct arena){.mem = &p.mem};
    p.keep.arena = &p.keep_arena;
    p.fold_keep.arena = &p.fold_arena;
    p.state = (struct buf){.mem = &p.mem};
    turn_write(&p.state, &p.turn);
    p.probe = p.draining = true;
    p.mood = (struct mood){0};
    p.trace = NULL;
    deliver(&p, &in);
    while (!p.book.run_over && !p.broken_count && used++ < most)
        if (stop_next(&p, &in))
            deliver(&p, &in);
    if (!p.book.run_over)
        broken(&p, "cancel ends the run", "not within %u inputs", most);
    for (uint32_t i = 0; i < p.broken_count; i++)
        broken(s, p.broken[i].law, "canceled after this step: %.300s",
               p.broken[i].why);
    s->chance = p.chance;
    sim_end(&p);
}

static void step_on(struct sim *s)
{
    struct input in;

    if (!world_next(s, &in))
        return;
    deliver(s, &in);
    s->past[s->past_count++ % PAST_MAX] = in;
    if (s->broken_count)
        return;
    if (s->steps % REFOLD_EVERY == 0)
        refold(s);
    if (chance_of(&s->chance, PROBE_PERMILLE))
        probe_cancel(s);
}

/* Chaos, then a world that answers, then late news for a run that is over. */
static void sim_run(struct sim *s)
{
    uint32_t chaos = chance_below(&s->chance, STEPS_MAX);

    for (uint32_t i = 0; i < chaos && !s->book.run_over && !s->broken_count;
         i++)
        step_on(s);
    s->draining = true;
    for (uint32_t i = 0; i < PATIENCE && !s->book.run_over && !s->broken_count;
         i++)
        step_on(s);
    if (!s->book.run_over && !s->broken_count)
        broken(s, "an answering world ends the run", "not in %d inputs",
               PATIENCE);
    for (uint32_t i = 0; i < 6 && !s->broken_count; i++) {
        uint32_t n = s->past_count < PAST_MAX ? s->past_count : PAST_MAX;

        deliver(s, &s->past[chance_below(&s->chance, n)]);
    }
    if (!s->broken_count)
        refold(s);
}

static void seed_run(struct sim *s, uint64_t seed, const struct bug *bug,
                     FILE *trace, struct counters *counters)
{
    sim_begin(s, seed, bug, trace, counters);
    sim_run(s);
    sim_end(s);
}

/* The laws that a seed breaks, its history, and how to see it again. */
static void seed_show(struct sim *s, uint64_t seed, const struct bug *bug)
{
    static struct counters ignored;

    seed_run(s, seed, bug, stdout, &ignored);
    for (uint32_t i = 0; i < s->broken_count; i++)
        printf("# BROKEN in step %" PRId64 ": %s: %s\n", s->steps,
               s->broken[i].law, s->broken[i].why);
    printf("# seed %" PRIu64 "; again: sim_core --seed %" PRIu64 "%s%s -v\n",
           seed, seed, bug ? " --bug " : "", bug ? bug->name : "");
}

/* ---- Many seeds ---------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_broken(const struct sim *s, const char *law)
{
    for (uint32_t i = 0; i < s->broken_count; i++)
        if (!strcmp(s->broken[i].law, law))
            return true;
    return false;
}

static void check_bug(struct sim *s, const struct bug *bug)
{
    static struct counters ignored;

    for (uint64_t seed = 1; seed <= SEEDS_PER_BUG; seed++) {
        seed_run(s, seed, bug, NULL, &ignored);
        if (!has_broken(s, bug->law))
            continue;
        tap_ok(true, "bug %s breaks '%s'", bug->name, bug->law);
        printf("# seed %" PRIu64 " step %" PRId64, seed, s->steps);
        for (uint32_t i = 0; i < s->broken_count; i++)
            if (strcmp(s->broken[i].law, bug->law))
                printf(", and '%s'", s->broken[i].law);
        printf("\n");
        return;
    }
    tap_ok(false, "bug %s breaks '%s' within %d seeds", bug->name, bug->law,
           SEEDS_PER_BUG);
}

static bool has_bug(const char *law)
{
    for (size_t i = 0; i < BUGS; i++)
        if (!strcmp(bugs[i].law, law))
            return true;
    printf("# no bug breaks '%s'\n", law);
    return false;
}

/* A law that no bug breaks may be one that nothing can break. */
static void check_bugs(struct sim *s)
{
    bool all = true;

    for (size_t i = 0; i < BUGS; i++)
        check_bug(s, &bugs[i]);
    for (size_t i = 0; i < sizeof event_laws / sizeof *event_laws; i++)
        all &= has_bug(event_laws[i].name);
    for (size_t i = 0; i < sizeof step_laws / sizeof *step_laws; i++)
        all &= has_bug(step_laws[i].name);
    tap_ok(all, "every law is broken by a bug");
}

/* A simulator that never gets somewhere finds nothing there. */
static void check_reach(const struct counters *c)
{
    static const wend_event_type types[] = {
        WEND_RUN_START,   WEND_RUN_END,       WEND_TURN_START,
        WEND_TURN_END,    WEND_CONTEXT_START, WEND_CONTEXT_END,
        WEND_MODEL_START, WEND_MODEL_PART,    WEND_MODEL_RETRY,
        WEND_MODEL_END,   WEND_APPROVAL_ASK,  WEND_APPROVAL_ANSWER,
        WEND_CALL_START,  WEND_CALL_END,      WEND_MESSAGE,
        WEND_CONTROL,     WEND_METRICS,       WEND_WARNING,
        WEND_RUN_RESUME};
    bool all = true;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!c->events[types[i]])
            all = printf("# never: %s\n", wend_event_name(types[i])) < 0;
    for (int i = 0; i <= IN_RESUME; i++)
        if (!c->inputs[i] || !c->stale[i])
            all &= i == IN_CANCEL || i == IN_SAY || i == IN_STOP ||
                   i == IN_RESUME || i == IN_ACTION_DONE /* no plans here */ ||
                   printf("# never: input %s\n", input_names[i]) < 0;
    for (int i = WEND_OUTCOME_OK; i <= WEND_OUTCOME_FAILED; i++)
        if (!c->outcomes[i])
            all = printf("# never: run %s\n",
                         wend_outcome_name((wend_outcome)i)) < 0;
    if (!c->superseded || !c->unknown || !c->again)
        all = printf("# never: superseded, unknown or made again\n") < 0;
    tap_ok(all && c->discarded && c->blobs && c->eager && c->probes,
           "every event, input and outcome was seen");
}

static bool seeds_hold(struct sim *s, const struct options *o)
{
    static struct counters c;
    double began = seconds_now(), took;
    uint64_t seed = o->from, bad = 0;

    for (; o->seconds ? seconds_now() - began < o->seconds : seed <= o->to;
         seed++) {
        seed_run(s, seed, o->bug, NULL, &c);
        if (!s->broken_count)
            continue;
        seed_show(s, seed, o->bug);
        if (++bad == 3)
            break;
    }
    took = seconds_now() - began;
    tap_ok(!bad, "all laws hold for seeds %" PRIu64 "..%" PRIu64, o->from,
           seed ? seed - 1 : 0);
    printf("# %.0f seeds/s, %.0f steps/s, %" PRId64 " steps, %" PRId64
           " discarded, %" PRId64 " blobs, %" PRId64 " eager calls, %" PRId64
           " probes, %" PRId64 " crashes: %" PRId64 " superseded, %" PRId64
           " unknown, %" PRId64 " again\n",
           (double)(seed - o->from) / took, (double)c.steps / took, c.steps,
           c.discarded, c.blobs, c.eager, c.probes, c.events[WEND_RUN_RESUME],
           c.superseded, c.unknown, c.again);
    if (seed - o->from >= 500 && !bad)
        check_reach(&c);
    return !bad;
}

/* ---- Options ------------------------------------------------------------- */

static const struct bug *find_bug(const char *name)
{
    for (size_t i = 0; i < BUGS; i++)
        if (!strcmp(bugs[i].name, name))
            return &bugs[i];
    return NULL;
}

static bool read_option(struct options *o, const char *name, const char *value)
{
    char *end = NULL;

    if (!strcmp(name, "--bug"))
        return (o->bug = find_bug(value)) != NULL;
    if (!strcmp(name, "--seconds")) {
        o->seconds = atoi(value);
        return o->seconds > 0;
    }
    o->from = o->to = strtoull(value, &end, 10);
    o->seconds = 0;
    if (!strcmp(name, "--seed")) {
        o->one = true;
        return end != value && !*end;
    }
    if (strcmp(name, "--seeds") || strncmp(end, "..", 2))
        return false;
    value = end + 2;
    o->to = strtoull(value, &end, 10);
    return end != value && !*end;
}

static bool read_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v"))
            o->verbose = true;
        else if (!strcmp(argv[i], "--self-test"))
            o->self_test = true;
        else if (i + 1 == argc || !read_option(o, argv[i], argv[i + 1]))
            return false;
        else
            i++;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options o = {.from = 1, .seconds = SECONDS_DEFAULT};
    const char *longer = getenv("SIM_SECONDS");
    struct sim *s = malloc(sizeof *s);

    if (longer && atoi(longer) > 0)
        o.seconds = atoi(longer);
    if (!s || !read_options(&o, argc, argv)) {
        fprintf(stderr,
                "usage: sim_core [--seeds A..B | --seconds N] [--seed S [-v]] "
                "[--bug NAME] [--self-test]\nbugs:");
        for (size_t i = 0; i < BUGS; i++)
            fprintf(stderr, " %s", bugs[i].name);
        fprintf(stderr, "\n");
        free(s);
        return 2;
    }
    if (o.self_test || argc == 1)
        check_bugs(s);
    if (o.one && o.verbose)
        seed_show(s, o.from, o.bug);
    if (!o.self_test)
        seeds_hold(s, &o);
    free(s);
    return tap_done();
}

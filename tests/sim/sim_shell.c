/*
 * sim_shell.c - checks the laws of the library on a store and a clock that
 * the seed decides about.
 *
 *     sim_shell [--seeds A..B | --seconds N] [--seed S [-v]] [--bug NAME]
 *     sim_shell --self-test
 *
 * A seed is a whole runtime: up to six runs, their models and tools, those
 * who read them, and what goes wrong. Without arguments: every planted bug
 * must be caught, then new seeds for a few seconds. Prints TAP.
 */
#include <time.h>

#include "../unit/tap.h"
#include "lib_laws.h"
#include "lib_plant.h"

enum {
    SEEDS_PER_BUG = 1500, /* within so many each must be caught */
    SECONDS_DEFAULT = 4,
    DRAIN_STEPS = 40000,
    DRAIN_SECONDS = 300, /* of virtual time, until every run must be over */
};

struct options {
    uint64_t from, to;
    int seconds; /* 0: as many as from..to are */
    const struct bug *bug;
    bool self_test, verbose, one;
};

/* ---- Beginning ----------------------------------------------------------- */

static uint32_t some(struct sim *s, uint32_t permille, uint32_t most)
{
    return chance_of(&s->chance, permille) ? 1 + chance_below(&s->chance, most)
                                           : 0;
}

static void make_mood(struct sim *s)
{
    static const uint32_t waits[] = {0, 0, 2, 5, 20, 80, 300, 2000};
    struct mood *m = &s->mood;

    m->calm = chance_of(&s->chance, 60);
    m->runs = 1;
    m->steps = 100;
    if (m->calm) {
        s->counters->calm++;
        return;
    }
    m->flood = chance_of(&s->chance, 4);
    m->commit_ms_max = chance_pick(&s->chance, waits);
    m->runs = 1 + chance_below(&s->chance, RUNS_MAX);
    m->steps = 20 + chance_below(&s->chance, 300);
    m->say = some(s, 400, 15);
    m->pause = some(s, 400, 15);
    m->cancel = some(s, 400, 15);
    m->approve = some(s, 700, 100);
    m->inbox = some(s, 200, 10);
    m->free_run = some(s, 200, 10);
    m->steal = some(s, 200, 20);
    m->fail_store = some(s, 150, 30);
    m->jump = some(s, 300, 30);
    m->progress = some(s, 500, 300);
    m->never = some(s, 500, 200);
    m->nomem = some(s, 100, 20);
    m->hooks = chance_of(&s->chance, 300);
    m->abrupt = chance_of(&s->chance, 100);
    if (m->flood)
        m->commit_ms_max = 2000;
    else
        m->crash = some(s, 300, 30);
}

static bool sim_begin(struct sim *s, uint64_t seed, const struct bug *bug,
                      FILE *to, struct counters *counters)
{
    wend_runtime_options o = {.size = sizeof o};

    memset(s, 0, sizeof *s);
    s->seed = s->chance.state = seed;
    s->ids.state = ~seed;
    s->bug = bug;
    s->trace = to;
    s->counters = counters;
    s->clock_us = 1000000;
    s->env = (struct env){env_wall, env_clock, env_chance, s};
    make_mood(s);
    sim_now = s;
    o.alloc = fault_alloc;
    o.alloc_ctx = &s->fault;
    o.store = &s->store.base;
    if (!store_begin(&s->store, s) ||
        wend_runtime_new(&o, &s->rt, NULL) != WEND_OK)
        return false;
    s->rt->env = &s->env;
    s->agents[0] = make_agent(s);
    s->agents[1] = make_agent(s);
    act_start(s);
    return true;
}

/* ---- One step ------------------------------------------------------------ */

/* Every handle says so from now on. */
static void check_down(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++) {
        struct known *k = &s->runs[i];

        if (!k->handle)
            continue;
        check_told(s, k, "say", wend_run_say(k->handle, STR("hello?")));
        check_told(s, k, "pause", wend_run_pause(k->handle));
        if (k->reader->style != READ_LATE)
            read_on(s, k->reader, UINT32_MAX);
    }
    act_start(s);
}

static void pump(struct sim *s)
{
    bool told = s->store.told, was_down = s->down;
    wend_status st;

    if (s->bug && s->bug->before)
        s->bug->before(s);
    s->in_pump = true;
    st = wend_runtime_pump(s->rt);
    s->in_pump = false;
    if (s->bug && s->bug->after)
        s->bug->after(s);
    s->down |= st == WEND_E_STORE;
    if (told && st != WEND_E_STORE)
        broken(s, LAW_FAILED, "the store failed, pump says %s",
               wend_status_name(st));
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].handle)
            check_run(s, &s->runs[i]);
    for (uint32_t i = 0; i < s->readers_count; i++)
        check_queue(s, &s->readers[i]);
    if (s->down && (!was_down || chance_of(&s->chance, 100)))
        check_down(s);
}

/* To the next thing that will happen; false if nothing will. */
static bool advance(struct sim *s)
{
    int64_t next = timers_next(&s->rt->timers);

    if (atomic_load(&s->rt->mailbox->any) || s->rt->dirty)
        return true;
    if (s->store.first && s->store.first->due_us < next)
        next = s->store.first->due_us;
    for (uint32_t i = 0; i < s->kept_count; i++)
        if (s->kept[i].due_us < next)
            next = s->kept[i].due_us;
    if (next == INT64_MAX)
        return false;
    if (next > s->clock_us && !s->draining && chance_of(&s->chance, 200))
        next = s->clock_us + (int64_t)(chance_next(&s->chance) %
                                       (uint64_t)(next - s->clock_us));
    if (next > s->clock_us)
        s->clock_us = next;
    return true;
}

static bool step(struct sim *s)
{
    s->steps++;
    s->counters->steps++;
    if (s->draining)
        act_kindly(s);
    else
        act(s);
    store_work(&s->store);
    pump(s);
    for (uint32_t i = 0; i < s->readers_count && !s->broken_count; i++)
        read_some(s, &s->readers[i], false);
    return advance(s);
}

/* ---- To the end ---------------------------------------------------------- */

static bool all_over(const struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++) {
        const struct known *k = &s->runs[i];

        if (k->handle && !k->end_acked && !known_failed(s, k))
            return false;
    }
    return true;
}

/* One who ran out of memory may never come back. */
static bool is_excused(const struct sim *s, const struct reader *r)
{
    return known_failed(s, r->of) || (s->fault.hit && !r->owner);
}

/* Whoever has not yet read to the end does so; nobody waits for nothing. */
static bool all_read(struct sim *s)
{
    bool all = true;

    for (uint32_t i = 0; i < s->readers_count && !s->broken_count; i++) {
        struct reader *r = &s->readers[i];

        if (!r->handle || !r->of->end_acked || is_excused(s, r))
            continue;
        read_some(s, r, true);
        all &= r->ended;
    }
    return all;
}

static void drain(struct sim *s)
{
    int64_t until_us = s->clock_us + (int64_t)DRAIN_SECONDS * 1000000;
    bool goes_on = true, over = false;
    uint32_t steps = 0;

    s->draining = true;
    if (s->mood.commit_ms_max > 20)
        s->mood.commit_ms_max = 20;
    while (goes_on && !s->broken_count && s->clock_us < until_us &&
           steps++ < DRAIN_STEPS && !s->store.failed) {
        goes_on = step(s);
        over = all_over(s);
        if (over && all_read(s))
            return;
        goes_on |= over && advance(s); /* somebody may wait now */
    }
    if (s->broken_count || s->store.failed)
        return;
    for (uint32_t i = 0; i < s->readers_count; i++)
        if (s->readers[i].handle && !s->readers[i].ended &&
            !is_excused(s, &s->readers[i]))
            broken(s, LAW_END, "run %u: %s waits for %s",
                   s->readers[i].of->place,
                   s->readers[i].owner ? "its reader" : "a follower",
                   over ? "nothing, all is stored" : "its end");
}

static void check_commits(struct sim *s)
{
    const struct known *k = &s->runs[0];

    if (s->mood.calm && k->batches > 2 + 2 * s->tool_turns)
        broken(s, LAW_COMMITS, "%lld batches for %lld turns with tools",
               (long long)k->batches, (long long)s->tool_turns);
}

static void sim_run(struct sim *s)
{
    for (uint32_t i = 0; i < s->mood.steps && !s->broken_count; i++)
        if (!step(s) && s->runs_count == s->mood.runs)
            break;
    if (s->broken_count || s->mood.abrupt)
        return;
    if (!s->store.failed)
        drain(s);
    for (uint32_t i = 0; i < 20 && s->store.failed && !s->broken_count; i++)
        step(s);
    check_commits(s);
}

/* ---- Letting go of everything -------------------------------------------- */

static void free_handles(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        free_run(s, &s->runs[i]);
    for (uint32_t i = 0; i < s->readers_count; i++) {
        wend_run_free(s->readers[i].handle);
        s->readers[i].handle = NULL;
    }
    wend_agent_free(s->agents[0]);
    wend_agent_free(s->agents[1]);
}

static void free_runtime(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        s->runs[i].cut |= s->runs[i].handle && !s->runs[i].end_acked;
    wend_runtime_free(s->rt);
    s->rt = NULL;
}

static void check_logs(struct sim *s)
{
    wend_runtime_options o = {.size = sizeof o, .store = &s->store.base};
    wend_runtime *rt = NULL;

    if (wend_runtime_new(&o, &rt, NULL) != WEND_OK)
        abort();
    for (uint32_t i = 0; i < s->runs_count; i++)
        check_log(s, rt, &s->runs[i]);
    wend_runtime_free(rt);
}

static void sim_end(struct sim *s)
{
    s->fault.fail_at = 0;
    s->counters->nomem += s->fault.hit;
    if (s->bug && s->bug->leak)
        s->leaked = fault_alloc(&s->fault, NULL, 1);
    if (chance_of(&s->chance, 500)) {
        free_handles(s);
        free_runtime(s);
    } else {
        free_runtime(s);
        free_handles(s);
    }
    s->mood.fail_store = 0;
    while (s->store.first)
        commit_first(&s->store);
    tell_lost(&s->store);
    while (s->kept_count)
        answer_at(s, s->kept_count - 1);
    check_logs(s);
    if (s->fault.live)
        broken(s, LAW_LEAK, "%lld blocks", (long long)s->fault.live);
    wend_store_free(&s->store.base);
    for (uint32_t i = 0; i < s->readers_count; i++)
        buf_free(&s->readers[i].seen);
    for (uint32_t i = 0; i < s->runs_count; i++) {
        free(s->runs[i].starts.at);
        free(s->runs[i].made.at);
    }
    free(s->leaked);
}

/* ---- Seeds --------------------------------------------------------------- */

static void seed_run(struct sim *s, uint64_t seed, const struct bug *bug,
                     FILE *to, struct counters *counters)
{
    if (!sim_begin(s, seed, bug, to, counters))
        abort();
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
               law_names[s->broken[i].law], s->broken[i].why);
    printf("# seed %" PRIu64 "; again: sim_shell --seed %" PRIu64 "%s%s -v\n",
           seed, seed, bug ? " --bug " : "", bug ? bug->name : "");
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_broken(const struct sim *s, enum law law)
{
    for (uint32_t i = 0; i < s->broken_count; i++)
        if (s->broken[i].law == law)
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
        tap_ok(true, "bug %s breaks '%s'", bug->name, law_names[bug->law]);
        printf("# seed %" PRIu64 " step %" PRId64, seed, s->steps);
        for (uint32_t i = 0; i < s->broken_count; i++)
            if (s->broken[i].law != bug->law)
                printf(", and '%s'", law_names[s->broken[i].law]);
        printf("\n");
        return;
    }
    tap_ok(false, "bug %s breaks '%s' within %d seeds", bug->name,
           law_names[bug->law], SEEDS_PER_BUG);
}

/* A law that no bug breaks may be one that nothing can break. */
static void check_bugs(struct sim *s)
{
    bool hit[LAWS] = {false}, all = true;

    for (size_t i = 0; i < BUGS; i++) {
        check_bug(s, &bugs[i]);
        hit[bugs[i].law] = true;
    }
    for (int i = 0; i < LAWS; i++)
        if (!hit[i])
            all = printf("# no bug breaks '%s'\n", law_names[i]) < 0;
    tap_ok(all, "every law is broken by a bug");
}

/* A simulator that never gets somewhere finds nothing there. */
static void check_reach(const struct counters *c)
{
    const struct {
        const char *what;
        int64_t count;
    } rows[] = {
        {"a reader that lags", c->lagged},
        {"a delta held for merging", c->merged},
        {"a listener", c->listened},
        {"a follower", c->followed},
        {"a cancel", c->canceled},
        {"a stolen run", c->stolen},
        {"a failed store", c->failed},
        {"a run freed in the middle", c->freed},
        {"a run whose process died", c->crashed},
        {"a batch that was lost with it", c->forgotten},
        {"a call that was made again", c->again},
        {"a hook", c->hooks},
        {"an approval", c->approvals},
        {"a late answer", c->late_answers},
        {"a deadline", c->deadlines},
        {"a calm world", c->calm},
        {"a failed allocation", c->nomem},
        {"run_end ok", c->outcomes[WEND_OUTCOME_OK]},
        {"run_end limit", c->outcomes[WEND_OUTCOME_LIMIT]},
        {"run_end canceled", c->outcomes[WEND_OUTCOME_CANCELED]},
        {"run_end failed", c->outcomes[WEND_OUTCOME_FAILED]},
    };
    bool all = true;

    for (size_t i = 0; i < tap_count(rows); i++)
        if (!rows[i].count)
            all = printf("# never: %s\n", rows[i].what) < 0;
    tap_ok(all, "every kind of world was seen");
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
    printf("# %.0f seeds/s, %" PRId64 " steps, %" PRId64 " batches, %" PRId64
           " events, %" PRId64 " readers to the end\n",
           (double)(seed - o->from) / took, c.steps, c.batches, c.events,
           c.ends);
    if (seed - o->from >= 300 && !bad)
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
        fprintf(stderr, "usage: sim_shell [--seeds A..B | --seconds N] "
                        "[--seed S [-v]] [--bug NAME] [--self-test]\nbugs:");
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

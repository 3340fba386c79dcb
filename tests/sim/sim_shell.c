/*
 * sim_shell.c - checks the laws of the library on a store and a clock that
 * the seed decides about.
 *
 *     sim_shell [--seeds A..B | --seconds N] [--seed S [-v]] [--bug NAME]
 *     sim_shell [--safety | --liveness] [--self-test]
 *
 * A seed is a whole runtime: up to six runs, their models and tools, those
 * who read them, and what goes wrong. Without arguments: every planted bug
 * must be caught, then new seeds for a few seconds. Prints TAP.
 */
#include <inttypes.h>
#include <unistd.h>

#include "seeds.h"
#include "shell/act.h"
#include "shell/inbox.h"
#include "shell/laws.h"
#include "shell/net.h"
#include "shell/plant.h"
#include "shell/program.h"
#include "shell/reader.h"
#include "shell/served.h"
#include "shell/store.h"
#include "shell/world.h"

enum {
    DRAIN_STEPS = 200000, /* many runs that say much take over 40000 */
    DRAIN_BUGGY = 10000,  /* a bug that breaks another law may keep them */
    DRAIN_SECONDS = 300,  /* of virtual time, until every run must be over */
};

/* A fork that makes the open call of its parent, which was stopped; no memory
 * for a run when the store has failed; a question about an action that was
 * cut off; a store that fails just before a resume; a call that times out when
 * its tool has released it. */
const uint64_t old_seeds[] = {3278,  4529,  4801,  12977, 16051, 609,
                              1591,  10675, 2357,  14170, 18347, 23621,
                              29898, 28959, 37211, 0};

const uint64_t seeds_per_bug = 3000;

/* ---- Beginning ----------------------------------------------------------- */

static uint32_t some(struct sim *s, uint32_t permille, uint32_t most)
{
    return chance_of(&s->chance, permille) ? 1 + chance_below(&s->chance, most)
                                           : 0;
}

static void make_mood(struct sim *s, enum mode mode)
{
    static const uint32_t waits[] = {0, 0, 2, 5, 20, 80, 300, 2000};
    struct mood *m = &s->mood;

    m->calm = chance_of(&s->chance, 60);
    m->runs = 1;
    m->steps = 100;
    if (m->calm) {
        s->head.counters->calm++;
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
    m->storm = some(s, 100, 20);
    m->wired = chance_of(&s->chance, 500) ? 700 : 0;
    m->net_fault = some(s, 600, 400);
    m->net_stall = some(s, 400, 30);
    m->net_ms_max = chance_pick(&s->chance, waits);
    m->net_piece = 1 + chance_pick(&s->chance, waits);
    m->programs = some(s, 500, 700);
    m->plans = some(s, 400, 700);
    m->children = some(s, 300, 200);
    m->planners = some(s, 300, 300);
    m->hooks = chance_of(&s->chance, 300);
    m->abrupt = chance_of(&s->chance, 100);
    if (mode != MODE_SEED)
        m->abrupt = mode == MODE_SAFETY;
    if (mode == MODE_SAFETY)
        m->steps *= 4;
    if (m->flood) {
        m->commit_ms_max = 2000;
        m->wired = m->plans = m->planners = m->children =
            0; /* a script floods */
    } else {
        m->crash = some(s, 300, 30);
        m->reboot = some(s, 200, 15);
        m->fork = some(s, 200, 15);
    }
}

/* From other dice, so that a seed without them is what it was before. */
static void make_far(struct sim *s)
{
    struct chance c = {.state = ~s->head.seed};
    struct mood *m = &s->mood;

    if (m->calm || m->flood)
        return;
    if (chance_of(&c, 200))
        m->web = 200 + chance_below(&c, 400);
    if (chance_of(&c, 200))
        m->served = 200 + chance_below(&c, 400);
    m->web_fault = chance_below(&c, 800);
    m->served_fault = chance_below(&c, 800);
    m->fork_more = chance_of(&c, 500);
    m->retry = m->children && chance_of(&c, 500) ? 200 : 0;
}

static bool sim_begin(struct sim *s, uint64_t seed, const struct how *how)
{
    static struct counters ignored;

    memset(s, 0, sizeof *s);
    seed_begin(&s->head, seed, how, &ignored);
    s->chance.state = seed;
    s->afar.state = seed * 3 + 1;
    world_init(&s->world, seed, on_stuck);
    s->world.env.wall_us = env_wall;
    s->world.env.clock_us = env_clock;
    s->world.env.fetch = net_new;
    s->world.env.procs = stage_new;
    make_mood(s, how->mode);
    make_far(s);
    s->agent_seeds[0] = chance_next(&s->chance);
    s->agent_seeds[1] = chance_next(&s->chance);
    sim_now = s;
    if (!store_begin(&s->store, s) || !runtime_begin(s))
        return false;
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

    if (s->head.bug && s->head.bug->before)
        s->head.bug->before(s);
    s->in_pump = true;
    st = wend_runtime_pump(s->rt);
    s->in_pump = false;
    if (s->head.bug && s->head.bug->after)
        s->head.bug->after(s);
    s->down |= st == WEND_E_STORE;
    if (told && st != WEND_E_STORE)
        broken(s, LAW_FAILED, "the store failed, pump says %s",
               wend_status_name(st));
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].handle)
            check_run(s, &s->runs[i]);
    for (uint32_t i = 0; i < s->readers_count; i++)
        check_queue(s, &s->readers[i]);
    check_programs(s);
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
    if (world_next(&s->world) < next)
        next = world_next(&s->world);
    for (uint32_t i = 0; i < s->kept_count; i++)
        if (s->kept[i].due_us < next)
            next = s->kept[i].due_us;
    if (next == INT64_MAX)
        return false;
    if (next > s->world.clock_us && !s->draining && chance_of(&s->chance, 200))
        next =
            s->world.clock_us + (int64_t)(chance_next(&s->chance) %
                                          (uint64_t)(next - s->world.clock_us));
    if (next > s->world.clock_us)
        s->world.clock_us = next;
    return true;
}

static bool step(struct sim *s)
{
    s->steps++;
    s->head.counters->steps++;
    if (s->draining)
        act_kindly(s);
    else
        act(s);
    store_work(&s->store);
    pump(s);
    for (uint32_t i = 0; i < s->readers_count && !s->head.broken_count; i++)
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
    return known_failed(s, r->of) || (s->head.fault.hit && !r->owner);
}

/* Readers that are not at the end read on; none may wait for nothing. */
static bool all_read(struct sim *s)
{
    bool all = true;

    for (uint32_t i = 0; i < s->readers_count && !s->head.broken_count; i++) {
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
    int64_t until_us = s->world.clock_us + (int64_t)DRAIN_SECONDS * 1000000;
    bool goes_on = true, over = false;
    uint32_t steps = 0, steps_max = DRAIN_STEPS;

    if (s->head.bug && s->head.bug->law != LAW_END)
        steps_max = DRAIN_BUGGY;
    s->draining = true;
    if (s->mood.commit_ms_max > 20)
        s->mood.commit_ms_max = 20;
    while (goes_on && !s->head.broken_count && s->world.clock_us < until_us &&
           steps++ < steps_max && !s->store.failed) {
        goes_on = step(s);
        over = all_over(s);
        if (over && all_read(s))
            return;
        goes_on |= over && advance(s); /* a reader may wait now */
    }
    if (s->head.broken_count || s->store.failed)
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
    for (uint32_t i = 0; i < s->mood.steps && !s->head.broken_count; i++)
        if (!step(s) && s->own_count == s->mood.runs)
            break;
    if (s->head.broken_count || s->mood.abrupt)
        return;
    if (!s->store.failed)
        drain(s);
    for (uint32_t i = 0; i < 20 && s->store.failed && !s->head.broken_count;
         i++)
        step(s);
    /* The store may fail again in a resume, but not once the world answers. */
    for (int i = 0; i < 2 && s->store.failed && !s->mood.flood; i++) {
        if (s->head.broken_count)
            break;
        act_reboot(s);
        drain(s);
    }
    check_commits(s);
}

/* ---- Releasing everything ------------------------------------------------ */

static void check_logs(struct sim *s)
{
    wend_runtime_options o = {.size = sizeof o, .store = s->store.store};
    wend_runtime *rt = NULL;

    s->store.opened_anew = true;
    if (wend_runtime_new(&o, &rt, NULL) != WEND_OK)
        abort();
    for (uint32_t i = 0; i < s->runs_count; i++)
        check_log(s, rt, &s->runs[i]);
    wend_runtime_free(rt);
    check_posted(s);
}

static void sim_end(struct sim *s)
{
    s->head.fault.fail_at = 0;
    s->head.counters->nomem += s->head.fault.hit;
    if (s->head.bug && s->head.bug->leak)
        s->leaked = fault_alloc(&s->head.fault, NULL, 1);
    let_go_of_all(s);
    s->mood.fail_store = 0;
    while (s->store.first)
        commit_first(&s->store);
    tell_lost(&s->store);
    while (s->kept_count)
        answer_at(s, s->kept_count - 1);
    check_logs(s);
    if (s->head.fault.live)
        broken(s, LAW_LEAK, "%lld blocks", (long long)s->head.fault.live);
    wend_store_free(s->store.store);
    for (uint32_t i = 0; i < s->readers_count; i++)
        buf_free(&s->readers[i].seen);
    for (uint32_t i = 0; i < s->runs_count; i++) {
        free(s->runs[i].starts.at);
        free(s->runs[i].made.at);
        free(s->runs[i].act_ids.at);
        free(s->runs[i].act_keys.at);
    }
    free(s->leaked);
}

/* ---- Seeds --------------------------------------------------------------- */

uint32_t seed_run(struct sim *s, uint64_t seed, const struct how *how)
{
    if (!sim_begin(s, seed, how))
        abort();
    sim_run(s);
    sim_end(s);
    return s->head.broken_count;
}

int64_t seed_steps(const struct sim *s)
{
    return s->steps;
}

const struct bug *bug_at(size_t i)
{
    return bugs[i].name ? &bugs[i] : NULL;
}

const char *bug_name(const struct bug *bug)
{
    return bug->name;
}

const char *bug_law(const struct bug *bug)
{
    return law_names[bug->law];
}

void each_law(void (*fn)(void *ctx, const char *law), void *ctx)
{
    for (int i = 0; i < LAWS; i++)
        fn(ctx, law_names[i]);
}

static struct reached *reach(struct reached *at, int64_t count,
                             const char *what)
{
    snprintf(at->what, sizeof at->what, "%s", what);
    at->count = count;
    return at + 1;
}

/* Services, and servers of tools. */
static struct reached *find_far(const struct counters *c, struct reached *at)
{
    static const char *const services[NET_FAULTS] = {
        "a service that answers",         "a service that cannot be reached",
        "a service that fails",           "a service that breaks off",
        "a service that says half of it", "a service that says nothing",
        "a service that says garbage",    "a service that says it twice",
        "a service behind a page",        "a service that has moved",
    };
    static const char *const servers[SERVED_FAULTS] = {
        "a server that answers",
        "a server that answers late",
        "a server that never answers",
        "a server that answers twice",
        "a server that answers something else",
        "a server that talks nonsense",
        "a server that refuses",
        "a server that tells how far it is",
        "a server that dies",
    };

    for (int i = 0; i < NET_FAULTS; i++)
        at = reach(at, c->web_faults[i], services[i]);
    for (int i = 0; i < SERVED_FAULTS; i++)
        at = reach(at, c->served[i], servers[i]);
    return at;
}

size_t find_reached(const struct counters *c, struct reached rows[REACHED_MAX])
{
    const struct {
        const char *what;
        int64_t count;
    } all[] = {
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
        {"a request of another process", c->posted},
        {"one that comes too late", c->late},
        {"an end that waits for one", c->unended},
        {"an approval", c->approvals},
        {"a late answer", c->late_answers},
        {"a deadline", c->deadlines},
        {"a process that died with all its runs", c->reboots},
        {"a batch that was there though no reader was told", c->revived},
        {"a storm of cancels", c->storms},
        {"a plan", c->plans},
        {"a plan that a model wrote", c->model_plans},
        {"a child of a run", c->children},
        {"a fork of a run", c->forks},
        {"a child that a fork continues", c->continued},
        {"a model asked by an action", c->action_asks},
        {"a request", c->requests},
        {"no connection", c->net_faults[NET_REFUSED]},
        {"a failing server", c->net_faults[NET_STATUS]},
        {"a connection that breaks", c->net_faults[NET_RESET]},
        {"a body that is cut short", c->net_faults[NET_SHORT]},
        {"a server that says nothing more", c->net_faults[NET_SILENT]},
        {"garbage", c->net_faults[NET_GARBAGE]},
        {"an answer that comes twice", c->net_faults[NET_TWICE]},
        {"a page of a proxy", c->net_faults[NET_PAGE]},
        {"a transfer that takes too long", c->net_ends[FETCH_TIMEOUT]},
        {"a program that exits", c->program_ends[PROC_EXITED]},
        {"one that is killed", c->program_ends[PROC_SIGNALED]},
        {"one that is stopped", c->program_ends[PROC_STOPPED]},
        {"one that says too much", c->program_ends[PROC_OUTPUT]},
        {"one that is missing", c->program_ends[PROC_NOT_STARTED]},
        {"a calm world", c->calm},
        {"a failed allocation", c->nomem},
        {"run_end ok", c->outcomes[WEND_OUTCOME_OK]},
        {"run_end limit", c->outcomes[WEND_OUTCOME_LIMIT]},
        {"run_end canceled", c->outcomes[WEND_OUTCOME_CANCELED]},
        {"run_end failed", c->outcomes[WEND_OUTCOME_FAILED]},
        {"a fork with another result", c->given},
        {"a fork with another agent's ways", c->taken},
        {"a server of tools", c->servers},
    };
    struct reached *at = rows;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        at = reach(at, all[i].count, all[i].what);
    return (size_t)(find_far(c, at) - rows);
}

void print_sums(const struct counters *c, double seconds)
{
    printf("%.0f steps/s, %" PRId64 " steps, %" PRId64 " batches, %" PRId64
           " events, %" PRId64 " readers to the end\n",
           (double)c->steps / seconds, c->steps, c->batches, c->events,
           c->ends);
}

int main(int argc, char **argv)
{
    static struct counters counted;
    const char *tmp = getenv("TMPDIR");
    struct sim *s = malloc(sizeof *s);
    char dir[200];
    int status;

    snprintf(dir, sizeof dir, "%s/sim_XXXXXX", tmp ? tmp : "/tmp");
    if (!s || !mkdtemp(dir)) {
        perror(dir);
        free(s);
        return 2;
    }
    snprintf(pins_file, sizeof pins_file, "%s/pins", dir);
    status = seeds_main(s, &counted, argc, argv);
    unlink(pins_file);
    rmdir(dir);
    free(s);
    return status;
}

/*
 * sim_core.c - checks the laws of the core on random histories with faults.
 *
 *     sim_core [--seeds A..B | --seconds N] [--seed S [-v]] [--bug NAME]
 *     sim_core [--safety | --liveness] [--self-test]
 *
 * A seed is a whole run: an agent, a world and everything that goes wrong
 * in it. Without arguments: every planted bug must be caught, then new
 * seeds for a few seconds. Prints TAP.
 */
#include <inttypes.h>

#include "core/agent.h"
#include "core/follow.h"
#include "core/fork.h"
#include "core/laws_past.h"
#include "core/laws_plan.h"
#include "core/plan_make.h"
#include "core/plant.h"
#include "core/shell.h"
#include "core/show.h"
#include "core/world.h"
#include "seeds.h"

enum {
    STEPS_MAX = 160,     /* of a world with faults; then it is drained */
    REFOLD_EVERY = 40,   /* steps: the whole log from its first byte */
    PROBE_PERMILLE = 60, /* of the steps, cancel in a side history */
    FORKS_MAX = 4,       /* of a seed, one of the other */
    PLAN_EVERY = 4,      /* each n-th seed is a plan */
    TALK_EVERY = 8,      /* ... or a conversation of several runs */
    CLOSE_PERMILLE = 150 /* of its runs are closed by force */
};

/* A question that a rule of meanwhile answers, when a process goes on; a plan
 * whose process dies while it is paused; a fork of one between the end of a
 * child and that of its action; a limit that a step meets behind an action
 * that it has started; a fork between the warning about an answer and the
 * request to repair it; a plan that fails fast while approval is asked for
 * what was cut off; a fork that may run fewer calls at once; one that is given
 * the result of a call that waits for approval; a decision against an
 * action that is ready; a cancel in a fork that asks about an action whose
 * attempt is closed; a plan that fails fast while it is paused and resumed; a
 * call that starts before one that brings a label, in one step; a run that is
 * followed after it was closed while a summary was written; a hook that answers
 * when a compaction is asked for; a fork from the middle of a context that was
 * to be asked again; a request that does not fit, in the step that ends a
 * summary; a long focus of a compaction; a compaction that offers read_result
 * in a small window; a message that cannot be pinned. */
const uint64_t old_seeds[] = {6860,  13534, 14766, 100020, 100997, 443,   207,
                              4283,  6030,  7355,  8261,   8366,   11252, 21887,
                              28427, 30291, 33011, 43017,  45547,  20912, 218,
                              26,    1074,  1946,  5450,   6050,   8090,  0};

const uint64_t seeds_per_bug = 4000;

/* ---- One seed ------------------------------------------------------------ */

/* Bugs say for themselves what they are about. */
static void make_kind(struct sim *s)
{
    struct chance c = {.state = ~s->head.seed};

    s->planned =
        s->head.bug ? s->head.bug->planned : s->head.seed % PLAN_EVERY == 3;
    if (s->head.bug ? s->head.bug->forks : chance_of(&c, 300))
        s->mood.fork = 10 + chance_below(&c, 100);
    s->talks =
        s->head.bug ? s->head.bug->talks : s->head.seed % TALK_EVERY == 2;
    s->runs = s->talks ? 2 + chance_below(&c, 3) : 1;
}

static void sim_begin(struct sim *s, uint64_t seed, const struct how *how)
{
    static struct counters ignored;

    memset(s, 0, sizeof *s);
    seed_begin(&s->head, seed, how, &ignored);
    s->chance.state = seed;
    s->mem = fault_mem(&s->head.fault);
    s->keep_arena.mem = s->scratch.mem = s->world.mem = &s->mem;
    s->fold_arena.mem = s->state.mem = s->parent_state.mem = &s->mem;
    s->now_us = 1763171411123456;
    make_mood(s);
    make_kind(s);
    make_start(s);
    s->keep = (struct keep){&s->keep_arena, s->config};
    s->fold_keep = (struct keep){&s->fold_arena, NULL};
    turn_init(&s->turn);
    turn_init(&s->folded);
    turn_write(&s->state, &s->turn);
    book_init(&s->book, s->config, &s->carry);
    if (s->planned)
        start_with_plan(s);
}

static void sim_end(struct sim *s)
{
    if (s->stream.made && !s->probe)
        reply_free(&s->stream.reply);
    if (s->spoken.made && !s->probe)
        reply_free(&s->spoken.reply);
    log_free(&s->log);
    buf_free(&s->state);
    buf_free(&s->parent_state);
    arena_free(&s->keep_arena);
    arena_free(&s->scratch);
    arena_free(&s->world);
    arena_free(&s->fold_arena);
    if (s->head.fault.live)
        broken(s, "nothing leaks", "%lld blocks",
               (long long)s->head.fault.live);
    if (!s->probe)
        free(s->leaked);
}

/* What can still come for a run that is being stopped. */
static bool stop_next(struct sim *s, struct input *in)
{
    struct out *o = chance_of(&s->chance, 700)
                        ? pick_out(s, s->planned ? FX_RUN_ACTION : FX_RUN_CALL)
                        : NULL;

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
    uint32_t most = book_busy(&s->book) + 2, used = 1;

    if (!s->book.run_open || s->book.run_over)
        return;
    s->head.counters->probes++;
    memcpy(&p, s, sizeof p);
    memset(&p.log, 0, sizeof p.log);
    memset(&p.head.fault, 0, sizeof p.head.fault);
    p.mem = fault_mem(&p.head.fault);
    p.keep_arena = p.scratch = p.world = p.fold_arena =
        (struct arena){.mem = &p.mem};
    p.keep.arena = &p.keep_arena;
    p.fold_keep.arena = &p.fold_arena;
    p.state = p.parent_state = (struct buf){.mem = &p.mem};
    turn_write(&p.state, &p.turn);
    p.probe = p.draining = true;
    p.mood = (struct mood){0};
    p.head.trace = NULL;
    deliver(&p, &in);
    while (!p.book.run_over && !p.head.broken_count && used++ < most)
        if (stop_next(&p, &in))
            deliver(&p, &in);
    if (!p.book.run_over)
        broken(&p, "cancel ends the run", "not within %u inputs", most);
    for (uint32_t i = 0; i < p.head.broken_count; i++)
        broken(s, p.head.broken[i].law, "canceled after this step: %.300s",
               p.head.broken[i].why);
    s->chance = p.chance;
    sim_end(&p);
}

static void step_on(struct sim *s)
{
    struct input in;

    if (!s->draining && s->forks < FORKS_MAX &&
        chance_of(&s->chance, s->mood.fork)) {
        go_on_as_fork(s);
        return;
    }
    if (!next_input(s, &in))
        return;
    deliver(s, &in);
    s->past[s->past_count++ % PAST_MAX] = in;
    if (s->head.broken_count)
        return;
    if (s->steps % REFOLD_EVERY == 0)
        refold(s);
    if (chance_of(&s->chance, PROBE_PERMILLE))
        probe_cancel(s);
}

/* Chaos, then a world that answers. */
static void run_on(struct sim *s, enum mode mode)
{
    uint32_t chaos =
        mode == MODE_SAFETY ? PATIENCE : chance_below(&s->chance, STEPS_MAX);

    for (uint32_t i = 0;
         i < chaos && !s->book.run_over && !s->head.broken_count; i++)
        step_on(s);
    /* One that is over can be forked, too: it goes on from before its end. */
    if (s->book.run_over && !s->head.broken_count && s->mood.fork &&
        s->forks < FORKS_MAX)
        go_on_as_fork(s);
    if (!s->book.run_over && may_follow(s) &&
        chance_of(&s->chance, CLOSE_PERMILLE))
        return;
    s->draining = true;
    for (uint32_t i = 0; i < PATIENCE && !s->book.run_over &&
                         !s->head.broken_count && mode != MODE_SAFETY;
         i++)
        step_on(s);
    if (!s->book.run_over && !s->head.broken_count && mode != MODE_SAFETY)
        broken(s, "an answering world ends the run", "not in %d inputs",
               PATIENCE);
}

/* A run, those that follow it, and late news for the last one. */
static void sim_run(struct sim *s, enum mode mode)
{
    run_on(s, mode);
    while (may_follow(s)) {
        go_on_as_next(s);
        run_on(s, mode);
    }
    for (uint32_t i = 0; i < 6 && !s->head.broken_count; i++) {
        uint32_t n = s->past_count < PAST_MAX ? s->past_count : PAST_MAX;

        deliver(s, &s->past[chance_below(&s->chance, n)]);
    }
    if (!s->head.broken_count)
        refold(s);
}

uint32_t seed_run(struct sim *s, uint64_t seed, const struct how *how)
{
    sim_begin(s, seed, how);
    sim_run(s, how->mode);
    sim_end(s);
    return s->head.broken_count;
}

/* ---- Many seeds ---------------------------------------------------------- */

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
    return bug->law;
}

void each_law(void (*fn)(void *ctx, const char *law), void *ctx)
{
    const struct event_law *const of_events[] = {event_laws, plan_event_laws,
                                                 past_event_laws};
    const struct step_law *const of_steps[] = {step_laws, plan_step_laws,
                                               past_step_laws};

    for (size_t i = 0; i < 3; i++) {
        for (const struct event_law *l = of_events[i]; l->name; l++)
            fn(ctx, l->name);
        for (const struct step_law *l = of_steps[i]; l->name; l++)
            fn(ctx, l->name);
    }
    fn(ctx, law_parent);
}

static const wend_event_type reached_types[] = {
    WEND_RUN_START,   WEND_RUN_END,       WEND_TURN_START,
    WEND_TURN_END,    WEND_CONTEXT_START, WEND_CONTEXT_END,
    WEND_MODEL_START, WEND_MODEL_PART,    WEND_MODEL_RETRY,
    WEND_MODEL_END,   WEND_APPROVAL_ASK,  WEND_APPROVAL_ANSWER,
    WEND_CALL_START,  WEND_CALL_END,      WEND_MESSAGE,
    WEND_CONTROL,     WEND_METRICS,       WEND_WARNING,
    WEND_ERROR,       WEND_RUN_RESUME,    WEND_CHILD_START,
    WEND_CHILD_END,   WEND_RUN_FORK,      WEND_PLAN_START,
    WEND_PLAN_END,    WEND_ACTION_START,  WEND_ACTION_RETRY,
    WEND_ACTION_END,  WEND_COMPACTED};

/* No model here writes plans, no tool can be looked up. */
static bool can_come(int input)
{
    return input != IN_WRITTEN && input != IN_WARN && input != IN_CHECKED &&
           input != IN_UNENDED;
}

/* Others count for every run that has begun. */
static bool can_be_stale(int input)
{
    return can_come(input) && input != IN_CANCEL && input != IN_SAY &&
           input != IN_STOP && input != IN_RESUME && input != IN_TROUBLE;
}

static void reach(struct reached **at, int64_t count, const char *what,
                  const char *more)
{
    snprintf((*at)->what, sizeof(*at)->what, "%s%s", what, more);
    (*at)++->count = count;
}

size_t find_reached(const struct counters *c, struct reached rows[REACHED_MAX])
{
    struct reached *at = rows;

    for (size_t i = 0; i < sizeof reached_types / sizeof *reached_types; i++)
        reach(&at, c->events[reached_types[i]],
              wend_event_name(reached_types[i]), "");
    for (int i = 0; i <= IN_TROUBLE; i++) {
        if (can_come(i))
            reach(&at, c->inputs[i], "input ", input_names[i]);
        if (can_be_stale(i))
            reach(&at, c->stale[i], "a late input ", input_names[i]);
    }
    for (int i = WEND_OUTCOME_OK; i <= WEND_OUTCOME_FAILED; i++)
        reach(&at, c->outcomes[i], "run ", wend_outcome_name((wend_outcome)i));
    reach(&at, c->superseded, "a model call that was cut off", "");
    reach(&at, c->unknown, "a call with an unknown outcome", "");
    reach(&at, c->again, "a call that was made again", "");
    reach(&at, c->acts_unknown, "an action with an unknown outcome", "");
    reach(&at, c->acts_again, "an action that was done again", "");
    reach(&at, c->given, "a fork with another result", "");
    reach(&at, c->follows, "a run that follows", "");
    reach(&at, c->unanswered, "one that leaves out a failed answer", "");
    reach(&at, c->closed, "one that follows a closed run", "");
    reach(&at, c->refusals, "one that knows what a model refused", "");
    reach(&at, c->labels, "one with labels of its past", "");
    reach(&at, c->folds, "one that is to begin with a compaction", "");
    reach(&at, c->discarded, "a step without memory", "");
    reach(&at, c->blobs, "a blob", "");
    reach(&at, c->eager, "an eager call", "");
    reach(&at, c->probes, "a cancel in a side history", "");
    return (size_t)(at - rows);
}

void print_sums(const struct counters *c, double seconds)
{
    printf("%.0f steps/s, %" PRId64 " steps, %" PRId64 " discarded, %" PRId64
           " blobs, %" PRId64 " eager calls, %" PRId64 " probes, %" PRId64
           " crashes: %" PRId64 " superseded, %" PRId64 " unknown, %" PRId64
           " again, %" PRId64 " plans, %" PRId64 " actions, %" PRId64
           " forks\n",
           (double)c->steps / seconds, c->steps, c->discarded, c->blobs,
           c->eager, c->probes, c->events[WEND_RUN_RESUME], c->superseded,
           c->unknown, c->again, c->events[WEND_PLAN_START],
           c->events[WEND_ACTION_START], c->forks);
}

int main(int argc, char **argv)
{
    static struct counters counted;
    struct sim *s = malloc(sizeof *s);
    int status = s ? seeds_main(s, &counted, argc, argv) : 2;

    free(s);
    return status;
}

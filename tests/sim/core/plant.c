/*
 * plant.c - bugs on purpose: the simulator must catch every one.
 *
 * A bug bends what tt is given, or spoils the step that it gave: to the
 * laws that looks as if tt (or a shell, or a codec) were broken that way.
 */
#include "plant.h"
#include "plant_bend.h"
#include "plant_past.h"
#include "plant_plan.h"
#include "plant_step.h"

static void edit_turn(struct sim *s, struct turn *t, struct step *step)
{
    (void)s, (void)step;
    t->ask++;
}

static void differ(struct sim *s, struct turn *t, struct step *step)
{
    (void)t;
    if (step->events)
        step->events->ev.time_us += s->bends++;
}

static void hide_nomem(struct sim *s, struct turn *t, struct step *step)
{
    (void)s, (void)t;
    step->scratch->failed = step->keep->arena->failed = false;
}

static void leak(struct sim *s, struct turn *t, struct step *step)
{
    (void)t, (void)step;
    if (!s->leaked)
        s->leaked = mem_alloc(&s->mem, 1);
}

/* ---- Spoiled: the step is changed after it was decided ------------------- */

static void forget_call_end(struct sim *s, struct step *step)
{
    forget(s, step, WEND_CALL_END);
}

static void forget_child_end(struct sim *s, struct step *step)
{
    forget(s, step, WEND_CHILD_END);
}

static void repeat_child(struct sim *s, struct step *step)
{
    repeat(s, step, WEND_CHILD_START);
}

static void forget_message(struct sim *s, struct step *step)
{
    forget(s, step, WEND_MESSAGE);
}

/* Not what was said, which another law knows about. */
static void forget_wrong(struct sim *s, struct step *step)
{
    if (*find_event(step, WEND_WARNING))
        forget(s, step, WEND_MESSAGE);
}

static void forget_part(struct sim *s, struct step *step)
{
    forget(s, step, WEND_MODEL_PART);
}

static void forget_turn_end(struct sim *s, struct step *step)
{
    forget(s, step, WEND_TURN_END);
}

static void repeat_call_end(struct sim *s, struct step *step)
{
    repeat(s, step, WEND_CALL_END);
}

static void repeat_answer(struct sim *s, struct step *step)
{
    repeat(s, step, WEND_APPROVAL_ANSWER);
}

static void repeat_part(struct sim *s, struct step *step)
{
    repeat(s, step, WEND_MODEL_PART);
}

/* Applied, but never stored. */
static void unlogged(struct sim *s, struct step *step)
{
    struct step_event **at = find_event(step, WEND_CONTROL);

    (void)s;
    if (*at)
        *at = (*at)->next;
}

static void skip_seq(struct sim *s, struct step *step)
{
    if (s->turn.phase == PH_NEW || !step->events)
        return;
    for (struct step_event *e = step->events; e; e = e->next)
        e->ev.seq++;
    step->turn.seq++;
}

static void go_after_end(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_RUN_END), *more;

    if (!e)
        return;
    more = arena_alloc(step->scratch, sizeof *more);
    more->ev = e->ev;
    more->ev.type = WEND_WARNING;
    more->ev.u.warning.code = more->ev.u.warning.message = STR("late");
    e->next = more;
    recount(s, step);
}

static void swap_results(struct sim *s, struct step *step)
{
    (void)s;
    if (!*find_event(step, WEND_TURN_END))
        return;
    for (const struct msg *m = step->turn.history; m && m->prev; m = m->prev)
        if (m->role == ROLE_TOOL && m->prev->role == ROLE_TOOL) {
            struct msg *a = (struct msg *)(uintptr_t)m;
            struct msg *b = (struct msg *)(uintptr_t)m->prev;
            wend_str call = a->call;

            a->call = b->call;
            b->call = call;
            return;
        }
}

static void misquote(struct sim *s, struct step *step)
{
    (void)s;
    if (*find_event(step, WEND_MODEL_END) && step->turn.history)
        ((struct msg *)(uintptr_t)step->turn.history)->text = STR("misquoted");
}

static void lose_pending(struct sim *s, struct step *step)
{
    (void)s;
    if (*find_event(step, WEND_CALL_END))
        step->turn.pending = NULL;
}

static void time_back(struct sim *s, struct step *step)
{
    if (s->turn.phase != PH_NEW && step->events)
        step->events->ev.time_us = s->turn.time_us - 1;
}

static void wrong_parent(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_TURN_START);

    (void)s;
    if (e && e->ev.u.turn_start.counter > 1)
        e->ev.u.turn_start.parent_id = STR("another");
}

static void wrong_metrics(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_METRICS);

    (void)s;
    if (e)
        e->ev.u.metrics.tokens_out++;
}

static void hide_pending(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_RUN_END);

    (void)s;
    if (e)
        e->ev.u.run_end.pending_count = 0;
}

static void wrong_text(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_RUN_END);

    (void)s;
    if (e)
        e->ev.u.run_end.text = STR("something else");
}

/* A run that failed with its model says that all is well. */
static void call_it_ok(struct sim *s, struct step *step)
{
    struct step_event *end = *find_event(step, WEND_RUN_END);
    const struct step_event *said = *find_event(step, WEND_MODEL_END);

    if (!end || !said || !end->ev.u.run_end.error || s->config->schema ||
        said->ev.u.model_end.outcome != WEND_OUTCOME_FAILED)
        return;
    end->ev.u.run_end.outcome = WEND_OUTCOME_OK;
    end->ev.u.run_end.error = NULL;
    recount(s, step);
}

static void lose_call(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_MODEL_END);

    if (!e || e->ev.u.model_end.calls_count <= s->turn.calls_count)
        return;
    e->ev.u.model_end.calls_count--;
    recount(s, step);
}

/* The model's open bracket stays open over a crash. */
static void forget_cut(struct sim *s, struct step *step)
{
    if (*find_event(step, WEND_RUN_RESUME))
        forget(s, step, WEND_MODEL_END);
}

static void forget_question(struct sim *s, struct step *step)
{
    if (*find_event(step, WEND_RUN_RESUME))
        forget(s, step, WEND_APPROVAL_ASK);
}

static void forget_resume(struct sim *s, struct step *step)
{
    forget(s, step, WEND_RUN_RESUME);
}

static void supersede(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_MODEL_END);

    if (!e || e->ev.u.model_end.outcome != WEND_OUTCOME_FAILED)
        return;
    e->ev.u.model_end.outcome = WEND_OUTCOME_SUPERSEDED;
    recount(s, step);
}

/* A call with an unknown end is said not to have run. */
static void make_up(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_CALL_END);

    if (!e || e->ev.u.call_end.outcome != WEND_OUTCOME_UNKNOWN)
        return;
    e->ev.u.call_end.outcome = WEND_OUTCOME_CANCELED;
    recount(s, step);
}

/* The answer is longer than the request allowed. */
static void overspend(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_MODEL_END);

    if (!e || e->ev.u.model_end.usage.estimated)
        return;
    e->ev.u.model_end.usage.output += 5000;
    recount(s, step);
}

/* What a crash cut off is not charged. */
static void forget_charge(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_MODEL_END);

    if (!e || !e->ev.u.model_end.usage.estimated)
        return;
    e->ev.u.model_end.usage = (wend_ev_usage){.cost_nano = -1};
    recount(s, step);
}

/* A request that was not sent is charged. */
static void charge_unsent(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_MODEL_START);

    while (e && e->ev.type != WEND_MODEL_END)
        e = e->next;
    if (!e)
        return;
    e->ev.u.model_end.usage.output++;
    recount(s, step);
}

/* The attempt that was cut off has no end. */
static void forget_superseded(struct sim *s, struct step *step)
{
    struct step_event **at = &step->events;

    while (*at && !((*at)->ev.type == WEND_CALL_END &&
                    (*at)->ev.u.call_end.outcome == WEND_OUTCOME_SUPERSEDED))
        at = &(*at)->next;
    if (!*at)
        return;
    *at = (*at)->next;
    recount(s, step);
}

static void first_again(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_CALL_START);

    if (!e || e->ev.u.call_start.attempt == 1)
        return;
    e->ev.u.call_start.attempt = 1;
    recount(s, step);
}

static void lose_run(struct sim *s, struct step *step)
{
    struct effect **at = find_effect(step, FX_RUN_CALL);

    (void)s;
    if (*at)
        *at = (*at)->next;
}

static void lose_ask(struct sim *s, struct step *step)
{
    struct effect **at = find_effect(step, FX_ASK_MODEL);

    (void)s;
    if (*at)
        *at = (*at)->next;
}

static void lose_hook(struct sim *s, struct step *step)
{
    struct effect **at = find_effect(step, FX_HOOK);

    (void)s;
    if (*at)
        *at = (*at)->next;
}

static void lose_timers(struct sim *s, struct step *step)
{
    struct effect **at = find_effect(step, FX_TIMER);

    if (s->turn.phase != PH_NEW && *at && (*at)->timer == TIMER_STOP)
        *at = (*at)->next;
}

/* The clock goes on while no process has the run. */
static void count_dead_time(struct sim *s, struct step *step)
{
    const struct step_event *e = *find_event(step, WEND_RUN_RESUME);
    struct effect *fx = step->effects;

    while (fx && !(fx->kind == FX_TIMER && fx->timer == TIMER_RUN))
        fx = fx->next;
    if (e && fx)
        fx->delay_ms -= (e->ev.time_us - s->turn.time_us) / 1000;
}

static void run_twice(struct sim *s, struct step *step)
{
    struct effect *fx = *find_effect(step, FX_RUN_CALL), *copy;

    (void)s;
    if (!fx)
        return;
    copy = arena_alloc(step->scratch, sizeof *copy);
    *copy = *fx;
    fx->next = copy;
}

static void lose_error(struct sim *s, wend_event *ev)
{
    (void)s;
    if (ev->type == WEND_CALL_END)
        ev->u.call_end.error = NULL;
}

static void lose_args(struct sim *s, wend_event *ev)
{
    (void)s;
    if (ev->type == WEND_MODEL_END && ev->u.model_end.calls_count)
        ev->u.model_end.calls_count--;
}

static void lose_turns(struct turn *t)
{
    t->metrics.turns++;
}

/* Not in the state's JSON, but the next decision depends on it. */
static void lose_tokens(struct turn *t)
{
    if (t->history)
        ((struct msg *)(uintptr_t)t->history)->tokens++;
}

static void lose_pinned(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_COMPACTED);

    if (!e)
        return;
    e->ev.u.compacted.kept_json = STR("[]");
    recount(s, step);
}

static void hide_change(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_CONTEXT_END);

    (void)s;
    if (e)
        e->ev.u.context_end.prefix_changed_json = STR_NONE;
}

const struct bug bugs[] = {
    {"lose-pinned", "a compaction loses nothing that must stay",
     .spoil = lose_pinned},
    {"hide-compaction", "a prefix changes only where that is said",
     .spoil = hide_change},
    {"ignore-window", "a request fits the window, or cannot be shorter",
     .bend = bend_window},
    {"forget-call-end", "every call has one result", .spoil = forget_call_end},
    {"forget-child-end", "a child is begun once, and ends inside its call",
     .spoil = forget_child_end},
    {"child-twice", "a child is begun once, and ends inside its call",
     .spoil = repeat_child},
    {"forget-said", "what counts is heard", .spoil = forget_message},
    {"forget-part", "one model_part before the first eager call",
     .spoil = forget_part},
    {"forget-turn-end", "brackets nest", .spoil = forget_turn_end},
    {"repeat-call-end", "a call has one bracket", .spoil = repeat_call_end},
    {"repeat-part", "one model_part before the first eager call",
     .spoil = repeat_part},
    {"apply-unlogged", "the log folds to the live state", .spoil = unlogged},
    {"skip-seq", "seq has no gap", .spoil = skip_seq},
    {"go-after-end", "nothing after run_end", .spoil = go_after_end},
    {"swap-results", "every call in the request has its result",
     .spoil = swap_results},
    {"lose-pending", "the log folds to the live state", .spoil = lose_pending},
    {"time-back", "time never goes back", .spoil = time_back},
    {"wrong-parent", "turns are numbered and chained", .spoil = wrong_parent},
    {"wrong-metrics", "metrics add up", .spoil = wrong_metrics},
    {"wrong-text", "run_end says how it ended", .spoil = wrong_text},
    {"hide-pending", "calls of the caller end the run", .spoil = hide_pending},
    {"call-it-ok", "a run whose last message broke off is not ok",
     .spoil = call_it_ok},
    {"lose-call", "what counts is heard", .spoil = lose_call},
    {"lose-run", "effects follow the log", .spoil = lose_run},
    {"lose-ask", "a run waits for something", .spoil = lose_ask},
    {"lose-hook", "a run waits for something", .spoil = lose_hook},
    {"lose-stop-timer", "a stop ends the run", .spoil = lose_timers},
    {"count-dead-time", "time limits count the time in which it ran",
     .spoil = count_dead_time},
    {"run-twice", "effects follow the log", .spoil = run_twice},
    {"one-too-many", "running calls within the limit", .bend = bend_parallel},
    {"turn-too-many", "turns are numbered and chained", .bend = bend_turns},
    {"spend-too-much", "a question is asked only if it fits the budget",
     .bend = bend_cost},
    {"too-many-tokens", "a question is asked only if it fits the budget",
     .bend = bend_tokens},
    {"ignore-pause", "nothing starts while paused or stopping",
     .bend = bend_pause},
    {"ignore-cancel", "cancel ends the run", .bend = bend_stop},
    {"eager-unsafe", "only safe calls are eager", .bend = bend_eager},
    {"skip-approval", "nothing runs that is not allowed", .bend = bend_approve},
    {"skip-rules", "nothing runs that is not allowed", .bend = bend_rules},
    {"overlap", "calls run in call order", .bend = bend_beside},
    {"late-answer", "late answers change nothing", .bend = bend_late},
    {"retry-after-piece", "a model call is retried only unseen",
     .bend = bend_pieces},
    {"retry-too-often", "a model call is retried only unseen",
     .bend = bend_attempt},
    {"edit-argument", "tt never edits its argument", .after = edit_turn},
    {"differ", "tt is a function", .after = differ},
    {"codec-loses-error", "the codec keeps every byte", .misread = lose_error},
    {"codec-loses-call", "the codec keeps every byte", .misread = lose_args},
    {"keep-half-step", "tt never edits its argument", .keeps_half = true},
    {"repeat-answer", "approval_answer follows approval_ask",
     .spoil = repeat_answer},
    {"misquote", "the request is what was said", .spoil = misquote},
    {"retry-for-ever", "an answering world ends the run", .bend = bend_retry},
    {"hide-nomem", "out of memory leaves no trace", .after = hide_nomem},
    {"skip-schema", "an answer fits its schema", .bend = bend_schema},
    {"repair-again", "one repair, and for a reason", .bend = bend_repair},
    {"forget-wrong", "one repair, and for a reason", .spoil = forget_wrong},
    {"run-unsafe-again", "what was cut off is settled by its class",
     .bend = bend_class},
    {"make-up-outcome", "what was cut off is settled by its class",
     .spoil = make_up},
    {"leave-model-open", "brackets nest", .spoil = forget_cut},
    {"forget-question", "a run waits for something", .spoil = forget_question},
    {"forget-resume", "what counts is heard", .spoil = forget_resume},
    {"supersede", "only an interruption supersedes", .spoil = supersede},
    {"overspend", "a provider that keeps to the maximum keeps the budget",
     .spoil = overspend},
    {"forget-charge", "what a crash cut off is charged",
     .spoil = forget_charge},
    {"charge-unsent", "a request that is not sent costs nothing",
     .spoil = charge_unsent},
    {"forget-action-charge", "what a crash cut off is charged", .planned = true,
     .spoil = forget_charge},
    {"forget-superseded", "a call has one bracket", .spoil = forget_superseded},
    {"first-attempt-again", "a call has one bracket", .spoil = first_again},
    {"leak", "nothing leaks", .after = leak},
    {"end-action-twice", "an action has one bracket", .planned = true,
     .spoil = repeat_action_end},
    {"forget-superseded-action", "an action has one bracket", .planned = true,
     .spoil = forget_superseded_action},
    {"start-action-twice", "an action has one bracket", .planned = true,
     .spoil = repeat_action_start},
    {"lose-files", "an action gets the files that it names", .planned = true,
     .bend = bend_files},
    {"miscount-plan", "a plan ends when its actions have", .planned = true,
     .spoil = miscount_plan},
    {"start-another", "an action starts after what it waits for",
     .planned = true, .spoil = start_another},
    {"skip-for-nothing", "an action is skipped for a reason", .planned = true,
     .spoil = skip_for_nothing},
    {"action-too-many", "actions run within their caps", .planned = true,
     .bend = bend_slots},
    {"beside-sync", "actions run within their caps", .planned = true,
     .bend = bend_holding},
    {"run-unsafe-action-again", "an action is not run twice against its class",
     .planned = true, .bend = bend_class},
    {"make-up-action", "an action is not run twice against its class",
     .planned = true, .spoil = make_up_action},
    {"forget-action-child",
     "an action's child is begun once, and ends inside "
     "it",
     .planned = true, .spoil = forget_action_child},
    {"lose-action", "an action's effect follows its start", .planned = true,
     .spoil = lose_action},
    {"run-action-twice", "an action's effect follows its start",
     .planned = true, .spoil = run_action_twice},
    {"retry-with-effect", "an action is tried again only if that does no harm",
     .planned = true, .bend = bend_effect},
    {"keep-slot-free", "what is ready starts", .planned = true,
     .bend = bend_fewer},
    {"skip-action-approval", "nothing runs that is not allowed",
     .planned = true, .bend = bend_approve},
    {"fork-edits-past", "a fork leaves its parent as it was", .forks = true,
     .spoil = edit_past},
    {"plan-fork-edits-past", "a fork leaves its parent as it was",
     .planned = true, .forks = true, .spoil = edit_plan},
    {"fork-forgets-call", "a run waits for something", .forks = true,
     .spoil = forget_after_fork},
    {"forget-said-before", "a run that follows begins with what was said",
     .talks = true, .settle = settle_less},
    {"say-twice", "a run that follows begins with what was said", .talks = true,
     .settle = settle_twice},
    {"forget-refused", "what a model refused is not asked for again",
     .talks = true, .settle = settle_refused},
    {"forget-labels", "labels of the past count", .talks = true,
     .settle = settle_labels},
    {"forget-compaction",
     "a compaction that is asked for comes, or the log says why not",
     .talks = true, .settle = settle_fold},
    {"json-loses-turns", "a state survives JSON", .reread = lose_turns},
    {"fold-loses-tokens", "a state from the log decides the same",
     .refold = lose_tokens},
    {.name = NULL},
};

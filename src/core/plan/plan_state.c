/*
 * plan_state.c - how far a plan is: what follows from each event.
 *
 * Each event costs what it touches: the action itself and those that wait
 * for it, never all of them. Nothing recurses: a chain of fallbacks is
 * walked in a loop, and a chain of actions continues with the next event.
 */
#include "core/plan/plan_state.h"

#include <assert.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "core/config/config.h"

enum {
    WHY_BYTES_MAX = 200,  /* of an error, in what the run says at its end */
    TOLD_BYTES_MAX = 2000 /* ... in what a model is told about its plan */
};

/* ---- Changing one action ------------------------------------------------- */

static unsigned marks_of(const struct action_state *s)
{
    static const unsigned marks[ACTION_ATS] = {
        [AT_WAITS] = 1 << MARK_OPEN,
        [AT_READY] = 1 << MARK_OPEN | 1 << MARK_READY,
        [AT_SKIPS] = 1 << MARK_OPEN | 1 << MARK_SETTLE,
        [AT_BREAKS] = 1 << MARK_OPEN | 1 << MARK_SETTLE,
        [AT_APPROVAL] = 1 << MARK_OPEN,
        [AT_RUNS] = 1 << MARK_RUNS,
        [AT_LOST] = 1 << MARK_RUNS,
        [AT_DOUBTED] = 1 << MARK_RUNS,
    };

    return marks[s->at];
}

/* A copy to change and then keep; NULL: out of memory. */
static struct action_state *copy_of(const struct plan_state *p, uint32_t i,
                                    struct arena *a)
{
    struct action_state *s = arena_alloc(a, sizeof *s);

    if (s)
        *s = *plan_action_state(p, i);
    return s;
}

/* The same of one that waits; NULL also if it does not, or is PLAN_NONE. */
static struct action_state *waiting_of(const struct plan_state *p, uint32_t i,
                                       struct arena *a)
{
    return i != PLAN_NONE && plan_action_state(p, i)->at == AT_WAITS
               ? copy_of(p, i, a)
               : NULL;
}

void plan_keep_state(struct plan_state *p, uint32_t i,
                     const struct action_state *s, struct arena *a)
{
    pvec_set(&p->actions, p->place[i], s, marks_of(s), a);
}

static void set_value(struct plan_state *p, uint32_t slot, wend_str json,
                      const struct plan_parts *parts, struct arena *a)
{
    wend_str *v = slot != NAME_NONE ? arena_alloc(a, sizeof *v) : NULL;

    assert(slot == NAME_NONE || slot < p->values.count);
    if (!v)
        return;
    *v = json;
    pvec_set(&p->values, slot, v, 0, a);
    plan_set_parts(p, slot, parts, a);
}

/* ---- Who may start ------------------------------------------------------- */

/* Its dependencies let it start. Once no value that it refers to can still
 * come, its condition decides. */
static void look_at_condition(const struct plan_state *p, uint32_t i,
                              struct action_state *s, struct arena *a)
{
    const struct plan_action *action = p->plan->actions[i];
    struct arena scratch = {.mem = a->mem};
    struct scope scope;
    wend_error why = {0};
    bool holds = true;

    if (s->values)
        return;
    s->at = AT_READY;
    if (!action->when)
        return;
    if (!plan_scope(p, action->refs, &scratch, &scope)) {
        a->failed = true;
    } else if (expr_holds(action->when, &scope, &holds, &why) != WEND_OK) {
        a->failed |= scratch.failed || why.status == WEND_E_NOMEM;
        s->at = AT_BREAKS;
        s->reason = arena_str(a, str_of(why.message));
    } else if (!holds) {
        s->at = AT_SKIPS;
        s->reason = STR("condition");
    }
    arena_free(&scratch);
}

static void skip(struct action_state *s, wend_str reason)
{
    s->at = AT_SKIPS;
    s->reason = reason;
}

void plan_look_at_deps(const struct plan_state *p, uint32_t i,
                       struct action_state *s, struct arena *a)
{
    const uint32_t *at = p->plan->graph.deps_at;
    uint32_t deps = at[i + 1] - at[i];
    bool any = p->plan->actions[i]->wait_for_any;

    if (p->plan->open && !p->plan->whole[i])
        return; /* what it waits for is not written yet */
    if (any ? s->oks && s->triggered : !s->waits && !s->fails) {
        if (deps && !s->oks)
            skip(s, STR("dependencies_skipped"));
        else if (s->triggered)
            look_at_condition(p, i, s, a);
    } else if (s->fails && (!any || (!s->waits && !s->oks))) {
        skip(s, STR("dependency_failed"));
    } else if (any && deps && !s->waits && !s->oks) {
        skip(s, STR("dependencies_skipped"));
    } else if (any && !deps && s->triggered) {
        look_at_condition(p, i, s, a);
    }
}

/* A dependency counts like this. NONE: it provides a value to i, and has given
 * it or never will. */
static void dep_counts(struct plan_state *p, uint32_t i, wend_outcome how,
                       struct arena *a)
{
    struct action_state *s = waiting_of(p, i, a);

    if (!s)
        return;
    s->values -= how == WEND_OUTCOME_NONE;
    s->waits -= how != WEND_OUTCOME_NONE;
    s->oks += how == WEND_OUTCOME_OK;
    s->fails += how == WEND_OUTCOME_FAILED;
    plan_look_at_deps(p, i, s, a);
    plan_keep_state(p, i, s, a);
}

static void skip_waiting(struct plan_state *p, uint32_t i, wend_str reason,
                         struct arena *a)
{
    struct action_state *s = waiting_of(p, i, a);

    if (!s)
        return;
    skip(s, reason);
    plan_keep_state(p, i, s, a);
}

static void note_why(struct plan_state *p, wend_str message, struct arena *a)
{
    char text[WHY_BYTES_MAX + sizeof "..."];
    size_t len =
        utf8_fmt(text, sizeof text, "%.*s%s", UTF8_ARGS(message, WHY_BYTES_MAX),
                 message.len > WHY_BYTES_MAX ? "..." : "");

    p->why = arena_str(a, (wend_str){text, len});
}

/* ---- How an action counts ------------------------------------------------ */

/* The first failure that counts is what people are told about. */
static void note_failure(struct plan_state *p, uint32_t i, struct arena *a)
{
    const struct plan_action *action = p->plan->actions[i];
    char text[256 + WHY_BYTES_MAX];
    size_t len;

    if (p->plan->graph.fallback_of[i] != PLAN_NONE ||
        action->mode == ACTION_FORGET || p->broken)
        return;
    len = utf8_fmt(text, sizeof text, "action '%.*s' ended as %s%s%.*s",
                   UTF8_ARGS(action->name, 100),
                   wend_outcome_name(plan_action_state(p, i)->outcome),
                   p->why.len ? ": " : "", (int)p->why.len,
                   p->why.ptr ? p->why.ptr : "");
    p->broken = true;
    p->cause = arena_str(a, (wend_str){text, len});
}

/* A fallback ended: the action that it is for counts as it does. */
static wend_outcome stand_in(struct plan_state *p, uint32_t of,
                             const struct action_state *last, wend_outcome how,
                             struct arena *a)
{
    if (how == WEND_OUTCOME_OK && last->output.ptr) /* else it is forgotten */
        set_value(p, p->plan->actions[of]->output_slot, last->output,
                  last->parts, a);
    if (how == WEND_OUTCOME_OK)
        return how;
    return p->plan->actions[of]->skip_on_error ? WEND_OUTCOME_SKIPPED
                                               : WEND_OUTCOME_FAILED;
}

/* Whether it failed and waits for its fallback. */
static bool waits_for_fallback(const struct plan_state *p, uint32_t i)
{
    const struct action_state *s = plan_action_state(p, i);

    return s->at == AT_ENDED && s->counts == WEND_OUTCOME_NONE;
}

static void counts_as(struct plan_state *p, uint32_t i, wend_outcome how,
                      struct arena *a)
{
    const struct plan_graph *g = &p->plan->graph;
    const struct action_state *last = plan_action_state(p, i);

    for (;;) {
        struct action_state *s = copy_of(p, i, a);
        uint32_t of = g->fallback_of[i];

        if (!s)
            return;
        s->counts = how;
        plan_keep_state(p, i, s, a);
        if (how == WEND_OUTCOME_FAILED)
            note_failure(p, i, a);
        for (uint32_t u = g->users_at[i]; u < g->users_at[i + 1]; u++)
            dep_counts(p, g->users[u], how, a);
        for (uint32_t u = g->value_users_at[i]; u < g->value_users_at[i + 1];
             u++)
            dep_counts(p, g->value_users[u], WEND_OUTCOME_NONE, a);
        skip_waiting(p, g->fallback[i], STR("not_needed"), a);
        if (a->failed || of == PLAN_NONE || !waits_for_fallback(p, of))
            return;
        how = stand_in(p, of, last, how, a);
        i = of;
    }
}

/* It failed: its fallback may start. False if that never will, or if memory
 * ran out and nothing of the step counts. */
static bool call_fallback(struct plan_state *p, uint32_t i, struct arena *a)
{
    uint32_t f = p->plan->graph.fallback[i];
    struct action_state *s = waiting_of(p, f, a);

    if (!s)
        return false;
    s->triggered = true;
    plan_look_at_deps(p, f, s, a);
    plan_keep_state(p, f, s, a);
    return true;
}

/* Those that the decision's other cases name. */
static void skip_not_chosen(struct plan_state *p, uint32_t i, wend_str output,
                            struct arena *a)
{
    const struct plan_graph *g = &p->plan->graph;
    struct arena scratch = {.mem = a->mem};
    const struct json *j = json_parse(output, &scratch, NULL);
    bool *chosen = arena_alloc(&scratch, p->plan->count + 1);
    int64_t which = -1;

    if (chosen) {
        if (json_i64(json_get(j, "case"), &which) && which >= 0 &&
            (size_t)which < p->plan->actions[i]->cases_count) {
            size_t count;
            const uint32_t *c = plan_chosen(p->plan, i, (size_t)which, &count);

            for (size_t k = 0; k < count; k++)
                if (c[k] != PLAN_NONE)
                    chosen[c[k]] = true;
        }
        for (uint32_t k = g->chosen_at[i]; k < g->chosen_at[i + 1]; k++)
            if (g->chosen[k] != PLAN_NONE && !chosen[g->chosen[k]])
                skip_waiting(p, g->chosen[k], STR("not_chosen"), a);
    }
    a->failed |= scratch.failed;
    arena_free(&scratch);
}

/* ---- How many at once, when the plan leaves it to us --------------------- */

static bool says_too_many(const wend_ev_error *e)
{
    return e && (str_is(e->code, "rate_limit") || str_is(e->code, "timeout"));
}

/* An action ended, or failed and is tried again. */
static void pace(struct plan_pace *w, const wend_event *ev)
{
    const wend_ev_action_end *e =
        ev->type == WEND_ACTION_END ? &ev->u.action_end : NULL;
    int64_t took_us = ev->time_us - w->from_us;
    bool faster;

    if (says_too_many(e ? e->error : ev->u.action_retry.error) ||
        (e && e->outcome == WEND_OUTCOME_TIMEOUT))
        *w = (struct plan_pace){.slots = w->slots > 1 ? w->slots / 2 : 1,
                                .from_us = ev->time_us};
    else if (e && ++w->ended >= w->slots) {
        faster = !w->last_ended || (double)w->ended * (double)w->last_us >
                                       (double)w->last_ended * (double)took_us;
        if (faster && w->slots < PARALLEL_MAX)
            w->slots++;
        w->last_ended = w->ended;
        w->last_us = took_us;
        w->ended = 0;
        w->from_us = ev->time_us;
    }
}

/* ---- Events: false, if nothing of the action's state is to be kept ------- */

/* An event about action i, whose state s is a copy. */
struct evolving {
    struct plan_state *p;
    uint32_t i;
    struct action_state *s;
    const wend_event *ev;
    struct arena *a;
};

static bool on_action_start(struct evolving *x)
{
    struct plan_state *p = x->p;
    struct action_state *s = x->s;
    const struct plan_action *action = p->plan->actions[x->i];
    const wend_ev_action_start *e = &x->ev->u.action_start;
    bool again = marks_of(s) == 1 << MARK_RUNS;

    if (s->at == AT_ENDED) /* a forged log may say so */
        return false;
    p->approvals -= action_needs_approval(s); /* stopped before an answer */
    s->at = AT_RUNS;
    s->again |= again;
    s->superseded = false;
    s->began_us = x->ev->time_us;
    s->attempt = e->attempt;
    s->refused = e->policy.decision == WEND_DECISION_DENY;
    s->params = arena_str(x->a, str_or(e->params_json, "{}"));
    s->key = arena_str(x->a, e->key);
    s->left = false;
    if (again)
        return true;
    p->running += action->type != ACTION_DECISION;
    p->holding += action->mode == ACTION_SYNC;
    plan_keep_state(p, x->i, s, x->a);
    if (action->mode == ACTION_FORGET) {
        p->left--;
        counts_as(p, x->i, WEND_OUTCOME_OK, x->a);
    }
    return false;
}

static void count_end(struct plan_state *p, uint32_t i, wend_outcome outcome,
                      bool ran)
{
    const struct plan_action *action = p->plan->actions[i];

    if (ran) {
        p->running -= action->type != ACTION_DECISION;
        p->holding -= action->mode == ACTION_SYNC;
    }
    p->left -= !ran || action->mode != ACTION_FORGET;
    if (outcome == WEND_OUTCOME_OK)
        p->ok++;
    else if (outcome == WEND_OUTCOME_SKIPPED || action->skip_on_error)
        p->skipped++;
    else if (outcome == WEND_OUTCOME_CANCELED)
        p->canceled++;
    else if (outcome == WEND_OUTCOME_UNKNOWN)
        p->unknown++;
    else
        p->failed++;
}

static void how_it_counts(struct plan_state *p, uint32_t i,
                          const wend_ev_action_end *e, struct arena *a)
{
    const struct plan_action *action = p->plan->actions[i];

    if (e->outcome == WEND_OUTCOME_OK || e->outcome == WEND_OUTCOME_SKIPPED)
        counts_as(p, i, e->outcome, a);
    else if (e->outcome == WEND_OUTCOME_CANCELED || !call_fallback(p, i, a))
        counts_as(p, i,
                  action->skip_on_error ? WEND_OUTCOME_SKIPPED
                                        : WEND_OUTCOME_FAILED,
                  a);
}

/* A model gets to know how each of its actions ended. */
static bool is_told(const struct plan *p)
{
    return p->written || p->on_failure == FAILURE_REPLAN;
}

static wend_str told_of(const wend_ev_action_end *e, struct arena *a)
{
    wend_str why = e->error ? e->error->message : e->reason;

    return arena_str(a, (wend_str){why.ptr, utf8_cut(why, TOLD_BYTES_MAX)});
}

/* NULL: nothing came with the result. */
static const struct plan_parts *parts_with(const wend_ev_action_end *e,
                                           struct arena *a)
{
    struct plan_parts *parts =
        e->parts_count ? arena_alloc(a, sizeof *parts) : NULL;

    if (parts)
        *parts = (struct plan_parts){parts_keep(e->parts, e->parts_count, a),
                                     e->parts_count};
    return parts && parts->list ? parts : NULL;
}

static bool on_action_end(struct evolving *x)
{
    struct plan_state *p = x->p;
    struct action_state *s = x->s;
    struct arena *a = x->a;
    uint32_t i = x->i;
    const wend_ev_action_end *e = &x->ev->u.action_end;
    const struct plan_action *action = p->plan->actions[i];
    bool ran = marks_of(s) == 1 << MARK_RUNS;
    const struct plan_parts *parts;
    wend_str output;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED) {
        s->superseded = true; /* the attempt is over, the action is not */
        return ran;
    }
    if (s->at == AT_ENDED)
        return false;
    output = arena_str(a, str_or(e->output_json, "null"));
    parts = parts_with(e, a);
    p->approvals -= action_needs_approval(s);
    count_end(p, i, e->outcome, ran);
    s->at = AT_ENDED;
    s->outcome = e->outcome;
    s->params = s->key = STR_NONE; /* not needed any more */
    s->reason = is_told(p->plan) ? told_of(e, a) : STR_NONE;
    if (p->plan->graph.fallback_of[i] != PLAN_NONE || is_told(p->plan)) {
        s->output = output;
        s->parts = parts;
    }
    plan_keep_state(p, i, s, a);
    if (e->outcome == WEND_OUTCOME_OK)
        set_value(p, action->output_slot, output, parts, a);
    if (e->outcome == WEND_OUTCOME_OK && action->type == ACTION_DECISION)
        skip_not_chosen(p, i, output, a);
    if (e->outcome != WEND_OUTCOME_SKIPPED)
        pace(&p->pace, x->ev);
    if (e->error && !p->broken)
        note_why(p, e->error->message, a);
    if (s->counts == WEND_OUTCOME_NONE)
        how_it_counts(p, i, e, a);
    return false;
}

static bool on_ask(struct evolving *x)
{
    struct action_state *s = x->s;

    if (s->at == AT_ENDED)
        return false;
    x->p->approvals += !action_needs_approval(s);
    s->at = marks_of(s) == 1 << MARK_RUNS ? AT_DOUBTED : AT_APPROVAL;
    s->params = arena_str(x->a, str_or(x->ev->u.approval_ask.args_json, "{}"));
    return true;
}

static bool on_answer(struct evolving *x)
{
    struct action_state *s = x->s;
    wend_str args = x->ev->u.approval_answer.args_json;

    if (!action_needs_approval(s))
        return false;
    x->p->approvals--;
    if (s->at == AT_APPROVAL && args.ptr)
        s->params = arena_str(x->a, args);
    s->at = s->at == AT_DOUBTED ? AT_LOST : AT_READY;
    s->answered = true;
    s->approved = x->ev->u.approval_answer.yes;
    return true;
}

/* What it may cost is reserved until it is known what it did. */
static bool on_asking(struct evolving *x)
{
    bool asking = x->ev->type == WEND_MODEL_START;

    if (x->s->asking == asking)
        return false;
    x->s->asking = asking;
    if (asking)
        x->s->allowed =
            (struct allowance){x->ev->u.model_start.output_tokens,
                               arena_str(x->a, x->ev->u.model_start.limit)};
    return true;
}

static bool on_retry(struct evolving *x)
{
    pace(&x->p->pace, x->ev);
    if (x->s->at != AT_RUNS)
        return false;
    x->s->attempt++;
    x->s->left = false;
    return true;
}

void plan_interrupt(struct plan_state *p, int64_t gap_us, struct arena *a)
{
    uint32_t place = 0, i;

    if (!p->started)
        return;
    p->started_us += gap_us;
    p->pace.from_us += gap_us;
    while (!a->failed && (i = plan_marked(p, MARK_RUNS, &place)) != PLAN_NONE) {
        struct action_state *s = copy_of(p, i, a);

        if (!s)
            return;
        p->approvals -= s->at == AT_DOUBTED;
        s->at = AT_LOST;
        s->began_us += gap_us;
        plan_keep_state(p, i, s, a);
    }
}

void plan_evolve(struct plan_state *p, const wend_event *ev, struct arena *a)
{
#define ON(type, member, on)                            \
    {                                                   \
        type, offsetof(wend_event, u.member.action), on \
    }
    static const struct {
        wend_event_type type;
        size_t action;
        bool (*on)(struct evolving *x);
    } rows[] = {
        ON(WEND_ACTION_START, action_start, on_action_start),
        ON(WEND_ACTION_END, action_end, on_action_end),
        ON(WEND_ACTION_RETRY, action_retry, on_retry),
        ON(WEND_APPROVAL_ASK, approval_ask, on_ask),
        ON(WEND_APPROVAL_ANSWER, approval_answer, on_answer),
        ON(WEND_MODEL_START, model_start, on_asking),
        ON(WEND_MODEL_END, model_end, on_asking),
    };
#undef ON

    if (!p->started)
        return;
    p->ended |= ev->type == WEND_PLAN_END;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const wend_str *id = (const void *)((const char *)ev + rows[r].action);
        struct evolving x = {.p = p, .ev = ev, .a = a};

        if (ev->type != rows[r].type || !id->ptr)
            continue;
        x.i = plan_find(p->plan, *id);
        x.s = x.i != PLAN_NONE ? copy_of(p, x.i, a) : NULL;
        if (x.s && rows[r].on(&x))
            plan_keep_state(p, x.i, x.s, a);
    }
}

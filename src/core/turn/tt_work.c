/*
 * tt_work.c - calls and actions as one thing: work that is done outside the
 * core, once, under one key.
 *
 * The rules for both are here: approval, abandoning, and what happens to work
 * that an interruption cut off. tt_calls.c and tt_plan.c decide what starts,
 * and what follows when something ends.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

/* ---- What it is ---------------------------------------------------------- */

struct work work_of_call(const struct turn *t, const struct call *c)
{
    const struct call_state *s = turn_call_state(t, c->index);
    const struct tool *tool = config_tool(t->config, c->name);
    struct work w = {
        .call = c,
        .id = c->id,
        .name = c->name,
        .args = s->args.ptr ? s->args : c->args,
        .key = s->key,
        .child = s->child,
        .attempt = s->attempt,
        .tool = tool,
        .timeout_ms = tool ? tool->timeout_ms : 0,
        .by_child = tool && tool->child,
        .left = true,
    };

    if (c->index >= t->calls_count)
        return w; /* its message still streams */
    w.lost = t->flags[c->index] & CALL_LOST;
    w.superseded = t->flags[c->index] & CALL_SUPERSEDED;
    w.answered = t->flags[c->index] & CALL_ANSWERED;
    w.approved = t->flags[c->index] & CALL_APPROVED;
    return w;
}

struct work work_of_action(const struct turn *t, uint32_t i)
{
    const struct plan_action *a = t->plan.plan->actions[i];
    const struct action_state *s = plan_action_state(&t->plan, i);
    struct work w = {
        .action = i,
        .id = a->id,
        .name = a->target,
        .args = s->params,
        .key = s->key,
        .child = s->child,
        .attempt = s->attempt,
        .tool = turn_action_tool(t, i),
        .timeout_ms = a->timeout_ms,
        .by_child = a->type == ACTION_AGENT || a->type == ACTION_WORKFLOW,
        .left = s->left,
        .at = s->at,
        .lost = s->at == AT_LOST,
        .superseded = s->superseded,
        .answered = s->answered,
        .approved = s->approved,
    };

    assert(t->plan.started);
    if (a->type == ACTION_RELIC && w.tool && w.tool->timeout_ms < w.timeout_ms)
        w.timeout_ms = w.tool->timeout_ms;
    return w;
}

struct work work_now(const struct turn *t, const struct work *w)
{
    const struct call *c = w->call ? turn_call(t, w->call->index) : NULL;

    if (w->call && !c)
        return *w; /* out of memory */
    return c ? work_of_call(t, c) : work_of_action(t, w->action);
}

bool work_next_open(const struct turn *t, struct work_place *at,
                    struct work *out)
{
    uint32_t i;

    while (at->call < t->calls_count) {
        i = at->call++;
        if (turn_call_runs(t, i) && (int)i != turn_plan_call(t)) {
            *out = work_of_call(t, turn_call(t, i));
            return true;
        }
    }
    if (!t->plan.started)
        return false;
    i = plan_marked(&t->plan, MARK_RUNS, &at->place);
    if (i == PLAN_NONE)
        return false;
    *out = work_of_action(t, i);
    return true;
}

/* ---- Approval ------------------------------------------------------------ */

void request_approval(struct tt *x, const struct work *w,
                      const struct verdict *v)
{
    emit(x, WEND_APPROVAL_ASK,
         &(wend_ev_approval_ask){.call = w->call ? w->id : STR_NONE,
                                 .action = w->call ? STR_NONE : w->id,
                                 .name = w->name,
                                 .args_json = w->args,
                                 .risk = v->policy.risk,
                                 .layers_json = v->policy.layers_json,
                                 .reason = v->reason,
                                 .rule = v->rule});
}

/* The rule that the answer makes for work like this. */
static wend_str remembered(struct tt *x, const struct work *w)
{
    struct admission a;

    admit_work(x, w, &a);
    return !a.verdict.rule.ptr || x->in->approval.yes
               ? a.verdict.rule
               : JOIN(x, STR("!"), a.verdict.rule);
}

static void emit_approval_answer(struct tt *x, const struct work *w, bool yes,
                                 wend_str by, wend_str rule, wend_str args)
{
    emit(x, WEND_APPROVAL_ANSWER,
         &(wend_ev_approval_answer){.call = w->call ? w->id : STR_NONE,
                                    .action = w->call ? STR_NONE : w->id,
                                    .yes = yes,
                                    .by = by,
                                    .remember = rule,
                                    .args_json = args});
}

void approve_by_policy(struct tt *x, const struct work *w)
{
    emit_approval_answer(x, w, true, STR("policy"), STR_NONE, STR_NONE);
}

bool may_change_args(const struct turn *t, const struct work *w)
{
    return !w->lost && !(w->call && is_plan_tool(t->config, w->name));
}

/* Lost work is approved or not as it was: another rule or other arguments
 * would be about another call. */
void answer_approval(struct tt *x, const struct work *w)
{
    bool yes = x->in->approval.yes;
    wend_str args =
        yes && may_change_args(x->t, w) ? x->in->approval.args : STR_NONE;

    emit_approval_answer(x, w, yes, x->in->approval.by,
                         x->in->approval.remember && !w->lost ? remembered(x, w)
                                                              : STR_NONE,
                         args);
}

wend_str changed_refused(const struct turn *t, wend_str id, wend_str args,
                         struct arena *a)
{
    struct step s;
    struct arena unused = {.mem = a->mem};
    const struct keep keep = {.arena = &unused};
    struct tt x = {.s = &s, .from = t, .t = t};
    struct admission admission;
    int i = turn_call_index(t, id);
    struct work w = i >= 0 ? work_of_call(t, turn_call(t, (uint32_t)i))
                           : work_of_action(t, plan_find(t->plan.plan, id));

    step_begin(&s, a, &keep);
    if (!may_change_args(t, &w))
        return w.lost ? STR("it may have run with the old arguments")
                      : STR("the actions of a plan cannot be changed");
    w.args = args;
    admit_work(&x, &w, &admission);
    return admission.refused ? admission.message : STR_NONE;
}

bool refuse_work(struct tt *x, const struct work *w, struct admission *a)
{
    if (w->answered && !w->approved)
        deny(x, a,
             w->call ? STR("denied: the call was not approved")
                     : STR("denied: the action was not approved"));
    if (a->refused == WEND_OUTCOME_NONE)
        return false;
    end_unstarted(x, w, a,
                  &(struct call_done){.outcome = a->refused,
                                      .code = a->code,
                                      .output = a->message});
    return true;
}

/* ---- Stopping ------------------------------------------------------------ */

void abandon_work(struct tt *x)
{
    const struct call_done d = {
        .outcome = WEND_OUTCOME_CANCELED,
        .code = STR("canceled"),
        .output = STR("canceled; it did not stop in time and may have had "
                      "an effect"),
        .effect_possible = true,
    };
    struct work_place at = {0};
    struct work w;

    while (!no_memory(x) && work_next_open(x->t, &at, &w))
        end_work(x, &w, &d);
}

/* ---- After an interruption ----------------------------------------------- */

enum unknown unknown_policy(const struct turn *t)
{
    return t->config->on_unknown == UNKNOWN_ASK &&
                   t->config->own.approve != APPROVE_ASK
               ? UNKNOWN_TELL
               : t->config->on_unknown;
}

wend_class work_class(const struct turn *t, const struct work *w)
{
    if (!w->call)
        return turn_action_class(t, w->action);
    return w->tool ? w->tool->call_class : WEND_CLASS_UNSAFE;
}

/* Whether its effect is unknown after an interruption. An action's child is
 * resumed, or has not begun; what the caller executes is not done here. */
static bool is_unknown(const struct turn *t, const struct work *w)
{
    return work_class(t, w) == WEND_CLASS_UNSAFE && (!w->by_child || w->left) &&
           !(w->call && w->tool && w->tool->client);
}

/* What its child had done is known if that is continued. */
static bool continues(const struct turn *t, const struct work *w)
{
    return turn_unfinished(t, w->call ? w->id : STR_NONE,
                           w->call ? STR_NONE : w->id) != NULL;
}

static bool is_in_doubt(const struct turn *t, const struct work *w)
{
    return w->lost && !w->child.ptr && is_unknown(t, w) && !continues(t, w);
}

/* No program is run because an imported log mentions a call. */
static bool is_checked(const struct turn *t, const struct work *w)
{
    return t->config->on_unknown == UNKNOWN_VERIFY && !t->imported && w->tool &&
           w->tool->verify &&
           (w->call || t->plan.plan->actions[w->action]->type == ACTION_TOOL);
}

bool is_looked_up(const struct turn *t, const struct work *w)
{
    return is_in_doubt(t, w) && is_checked(t, w);
}

/* Why it ended, by whether the log has a cancel. Else its process died, or the
 * run is a fork that begins in the middle of it. */
#define LOST(how, what) "the run was " how " while this " what " was under way"
#define LOST_CALL(how)                                                         \
    STR("unknown: " LOST(how, "call") ". It may have had its effect, wholly, " \
                                      "in part or not at all: find out "       \
                                      "before you call it again")
#define LOST_READ(how) STR("canceled: " LOST(how, "call"))
#define LOST_ACTION(how) STR(LOST(how, "action") "; it may have had an effect")

void end_lost(struct tt *x, const struct work *w)
{
    const wend_str whys[][2] = {
        {LOST_CALL("interrupted"), LOST_CALL("canceled")},
        {LOST_READ("interrupted"), LOST_READ("canceled")},
        {LOST_ACTION("interrupted"), LOST_ACTION("canceled")},
    };
    bool unknown = is_unknown(x->t, w);
    wend_str why = whys[!w->call ? 2 : !unknown]
                       [x->t->stop.outcome == WEND_OUTCOME_CANCELED];

    end_work(
        x, w,
        &(struct call_done){
            .outcome = unknown ? WEND_OUTCOME_UNKNOWN : WEND_OUTCOME_CANCELED,
            .code = unknown ? STR("unknown") : STR("canceled"),
            .output = why,
            .effect_possible = true,
        });
}

/* A fork may begin between the two brackets of a refusal: refused work is
 * refused again. A decision is made again. */
static bool refuse_again(struct tt *x, const struct work *w)
{
    struct work again = *w;
    struct admission a;

    if (!w->call && decide(x, w->action))
        return true;
    if (w->child.ptr)
        return false;
    if (!w->call && !action_params(x, w->action, &again.args))
        return true;
    admit_work(x, &again, &a);
    return refuse_work(x, &again, &a);
}

/* An imported log has no authority to say that it may begin. */
static bool may_begin(struct tt *x, const struct work *w)
{
    struct admission a;

    if (!x->t->imported || w->approved)
        return true;
    admit_work(x, w, &a);
    return a.verdict.policy.decision == WEND_DECISION_ALLOW;
}

/* It was allowed to begin, with the same arguments. No live run begins a call
 * without a tool; a damaged log may. */
void begin_again(struct tt *x, const struct work *w)
{
    const struct admission a = admit_resumed(w);

    if (w->call && !w->tool) {
        end_lost(x, w);
        return;
    }
    if (!w->call)
        emit_action_answer(x, w->action, WEND_OUTCOME_SUPERSEDED, NULL);
    if (refuse_again(x, w))
        return;
    if (!may_begin(x, w))
        end_lost(x, w);
    else if (!stop_over_budget(x, w))
        start_work(x, w, &a);
}

static void request_approval_of_lost(struct tt *x, const struct work *w)
{
    struct admission a;

    admit_work(x, w, &a);
    a.verdict.rule = STR_NONE; /* the answer is about this one alone */
    a.verdict.reason =
        w->call
            ? STR(LOST("interrupted", "call") ", and whether it had its effect "
                                              "is not known; yes runs it again")
            : STR(LOST("interrupted", "action") ", and whether it had its "
                                                "effect is not known; yes runs "
                                                "it again");
    request_approval(x, w, &a.verdict);
}

bool settle_doubt(struct tt *x, const struct work *w, bool over)
{
    enum unknown policy = unknown_policy(x->t);

    if (policy == UNKNOWN_RETRY || !is_in_doubt(x->t, w) ||
        (is_checked(x->t, w) && !over))
        return false;
    if (policy == UNKNOWN_ASK && !over)
        request_approval_of_lost(x, w);
    else
        end_lost(x, w);
    return true;
}

static bool find_checked(const struct turn *t, const struct call_done *d,
                         struct work *out)
{
    int i = d->call.ptr ? turn_call_index(t, d->call) : -1;

    if (d->call.ptr) {
        if (i < 0 || d->turn != t->counter)
            return false;
        *out = work_of_call(t, turn_call(t, (uint32_t)i));
        return true;
    }
    if (!t->plan.started || d->action >= t->plan.plan->count)
        return false;
    *out = work_of_action(t, d->action);
    return out->attempt == d->attempt;
}

/* A paused run looks it up again when it continues. */
void on_checked(struct tt *x)
{
    const struct call_done *d = &x->in->done;
    struct work w;

    if (x->t->paused || !find_checked(x->t, d, &w) || !is_looked_up(x->t, &w))
        return;
    if (d->outcome == WEND_OUTCOME_OK)
        end_work(x, &w, d);
    else if (d->outcome == WEND_OUTCOME_SKIPPED)
        begin_again(x, &w);
    else
        end_lost(x, &w);
    if (w.call)
        run_calls(x);
    else
        run_plan(x);
}

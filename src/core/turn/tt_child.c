/*
 * tt_child.c - a call or an action that a run of its own answers.
 *
 * The child's id follows from the key and the attempt that began it, and
 * stands in child_start before the child does anything: a resume finds the
 * same child and resumes it, so that its outcome is always known.
 *
 * A run that tries another one again continues its children that did not end
 * ok: child_start then names the run that the child is a fork of.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

#include "base/hash.h"
#include "base/id.h"
#include "base/label.h"

bool is_own_key(const struct turn *t, wend_str key)
{
    return key.len > t->run.len && !memcmp(key.ptr, t->run.ptr, t->run.len);
}

static wend_str child_id(struct tt *x, const struct work *w)
{
    int64_t first_us = i64_sum(x->t->started_us, 1000);
    unsigned char digest[SHA256_BYTES];
    char number[24], id[RUN_ID_LEN + 1];
    struct sha256 sha;

    sha256_init(&sha);
    sha256_add(&sha, w->key.ptr, w->key.len);
    sha256_add(&sha, "/", 1);
    sha256_add(&sha, number, i64_text(number, w->attempt));
    sha256_end(&sha, digest);
    /* Ids sort by start, and no child is older than its parent. */
    run_id_make(id, x->in->time_us > first_us ? x->in->time_us : first_us,
                digest);
    return arena_str(x->s->scratch, (wend_str){id, RUN_ID_LEN});
}

static wend_str name_of(const struct work *w, struct arena *a)
{
    const struct json *j = w->call ? json_parse(w->args, a, NULL) : NULL;

    return w->call ? json_str(json_get(j, "agent")) : w->name;
}

wend_str child_name(struct tt *x, const struct work *w)
{
    return name_of(w, x->s->scratch);
}

/* What the child is given: its arguments, and the plan that it is. How it does
 * that (model, instructions, tools) may change. */
static wend_str input_of(const struct work *w, const struct child_config *child,
                         struct arena *a)
{
    unsigned char digest[SHA256_BYTES];
    char hex[SHA256_HEX + 1];
    struct sha256 sha;

    sha256_init(&sha);
    sha256_add(&sha, child->plan_json.ptr, child->plan_json.len);
    sha256_add(&sha, "\n", 1);
    sha256_add(&sha, w->args.ptr, w->args.len);
    sha256_end(&sha, digest);
    hex_text(hex, digest, sizeof digest);
    return arena_str(a, str_of(hex));
}

wend_str turn_child_input(const struct turn *t, wend_str call, wend_str action,
                          struct arena *a)
{
    int c = call.ptr ? turn_call_index(t, call) : -1;
    uint32_t i = action.ptr && t->plan.started ? plan_find(t->plan.plan, action)
                                               : PLAN_NONE;
    const struct child_config *child;
    struct work w;

    if (c < 0 && i == PLAN_NONE)
        return STR_NONE;
    w = c >= 0 ? work_of_call(t, turn_call(t, (uint32_t)c))
               : work_of_action(t, i);
    child = config_child(t->config, name_of(&w, a));
    return child ? input_of(&w, child, a) : STR_NONE;
}

/* The old run goes on only with what it was given. */
static wend_str continued(struct tt *x, const wend_ev_child_start *e,
                          const struct work *w,
                          const struct child_config *child)
{
    const struct unfinished *u = turn_unfinished(x->t, e->call, e->action);

    return u && str_eq(u->input, input_of(w, child, x->s->scratch)) ? u->run
                                                                    : STR_NONE;
}

static void emit_child_start(struct tt *x, const struct work *w,
                             const struct child_config *child)
{
    wend_ev_child_start e = {.run = child_id(x, w),
                             .agent = child->agent,
                             .depth = x->t->config->within.depth + 1,
                             .call = w->call ? w->id : STR_NONE,
                             .action = w->call ? STR_NONE : w->id};

    e.fork_of = continued(x, &e, w, child);
    emit(x, WEND_CHILD_START, &e);
}

void start_child(struct tt *x, const struct work *w, int64_t delay_ms)
{
    const struct child_config *child =
        config_child(x->t->config, child_name(x, w));
    const struct unfinished *u;
    struct effect fx;

    assert(w->by_child);
    if (!child) { /* it was admitted, so only a damaged log gets here */
        end_work(x, w,
                 &(struct call_done){
                     .outcome = WEND_OUTCOME_FAILED,
                     .code = STR("unknown_agent"),
                     .output = w->call ? STR("its agent is not there")
                                       : STR("its agent or plan is not there"),
                 });
        return;
    }
    if (!w->child.ptr)
        emit_child_start(x, w, child);
    if (no_memory(x))
        return;
    fx = work_effect(FX_START_CHILD, w);
    fx.delay_ms = delay_ms;
    fx.child_config = child;
    fx.child = work_now(x->t, w).child;
    u = turn_continued(x->t, fx.child);
    fx.child_of = u ? u->run : STR_NONE;
    want(x, fx);
}

wend_str labels_text(struct tt *x, uint32_t labels)
{
    struct buf b = {.mem = x->s->scratch->mem};

    if (!labels)
        return STR_NONE;
    labels_add(&b, NULL, labels);
    return take_text(x, &b);
}

void end_child(struct tt *x, wend_str run, const struct child_done *d)
{
    const struct child_done unknown = {.outcome = WEND_OUTCOME_CANCELED,
                                       .metrics.cost_nano = -1};

    if (!run.ptr)
        return;
    if (!d)
        d = &unknown;
    emit(x, WEND_CHILD_END,
         &(wend_ev_child_end){.run = run,
                              .outcome = d->outcome,
                              .text = d->text.ptr ? d->text : STR(""),
                              .labels_json = labels_text(x, d->labels),
                              .metrics = d->metrics});
}

/* ---- Limits ---------------------------------------------------------------
 */

/* `own`: the child's limit, 0: none. `left`: what the budgets of this run and
 * its parents left it. The child met the tighter one. */
static bool is_tighter(int64_t left, int64_t own)
{
    return left < INT64_MAX && (!own || left < own);
}

bool child_met_budget(const struct tt *x, wend_str name,
                      const struct child_done *c)
{
    static const wend_ev_limits none;
    const struct child_config *child = config_child(x->t->config, name);
    const struct budget *left = x->in->budget;
    const wend_ev_limits *own =
        child && !child->limits_above ? &child->limits : &none;

    if (c->outcome != WEND_OUTCOME_LIMIT || c->late || !left)
        return false;
    return (str_is(c->limit, "tokens") &&
            is_tighter(left->tokens, own->tokens)) ||
           (str_is(c->limit, "cost") &&
            is_tighter(left->cost_nano, own->cost_nano));
}

/* ---- How it ended --------------------------------------------------------
 */

/* What went wrong, for people and for models. */
static wend_str cause(struct tt *x, wend_str name, const struct child_done *c)
{
    bool limit = c->outcome == WEND_OUTCOME_LIMIT && !c->late;

    return JOIN(x, STR("'"), name,
                c->late ? STR("' was stopped: its time was over")
                : c->outcome == WEND_OUTCOME_CANCELED ? STR("' was canceled")
                : child_met_budget(x, name, c)
                    ? STR("' reached the shared limit of ")
                : limit ? STR("' reached its limit of ")
                        : STR("' failed"),
                limit ? c->limit : STR_NONE,
                c->message.len ? STR(": ") : STR_NONE, c->message);
}

void settle_child(struct tt *x, wend_str name, struct call_done *d)
{
    const struct child_done *c = d->child;

    d->outcome = c->outcome == WEND_OUTCOME_OK         ? WEND_OUTCOME_OK
                 : c->late                             ? WEND_OUTCOME_TIMEOUT
                 : c->outcome == WEND_OUTCOME_CANCELED ? WEND_OUTCOME_CANCELED
                                                       : WEND_OUTCOME_FAILED;
    d->output = c->text.ptr ? c->text : STR("");
    if (d->outcome == WEND_OUTCOME_OK)
        return;
    d->output = cause(x, name, c);
    d->code = d->outcome == WEND_OUTCOME_TIMEOUT    ? STR("timeout")
              : d->outcome == WEND_OUTCOME_CANCELED ? STR("canceled")
              : c->outcome == WEND_OUTCOME_LIMIT    ? STR("limit")
              : c->code.ptr                         ? c->code
                                                    : STR("failed");
    d->effect_possible = c->metrics.tool_calls > 0 || c->metrics.actions > 0;
}

/*
 * tt_bracket.c - the brackets of a call or an action: how it starts, and how
 * it ends.
 *
 * Each start has one end. What an interruption cut off is open when the run
 * resumes; if it begins again, its first attempt ends as superseded just
 * before, so that exactly one end is a result.
 */
#include "core/turn/tt_step.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

/* The same in every attempt, resume and fork; but a fork has children of its
 * own. */
static wend_str work_key(struct tt *x, const struct work *w)
{
    const struct turn *t = x->t;
    char number[24];
    wend_str part;

    if (w->key.len && !(w->by_child && !is_own_key(t, w->key)))
        return w->key;
    part = w->call ? (wend_str){number, i64_text(number, t->counter)}
                   : t->plan.plan->name;
    return JOIN(x, t->run, STR("/"), part, STR("/"), w->id);
}

/* ---- Ends ---------------------------------------------------------------- */

/* The model gets at most OUTPUT_BYTES_MAX; the whole is kept as a blob. */
static wend_str cut_output(struct tt *x, wend_str output)
{
    enum { MARK_ROOM = 256 };
    const struct event_blob *blob = event_blob_add(&x->s->blobs, output);
    wend_str head = {output.ptr,
                     utf8_cut(output, OUTPUT_BYTES_MAX - MARK_ROOM)};

    if (!blob)
        return output;
    return JOIN(x, head,
                text_fmt(x, "\n[cut: %zu of %zu" CUT_MARK "%s has all]",
                         head.len, output.len, blob->hash));
}

static wend_str component_of(const struct turn *t, const struct work *w)
{
    static const char *const names[ACTION_TYPES] = {
        [ACTION_TOOL] = "tool",   [ACTION_AGENT] = "agent",
        [ACTION_RELIC] = "relic", [ACTION_WORKFLOW] = "plan",
        [ACTION_LLM] = "model",   [ACTION_DECISION] = "plan",
    };

    return w->call ? STR("tool")
                   : str_of(names[t->plan.plan->actions[w->action]->type]);
}

const wend_ev_error *work_error(struct tt *x, const struct work *w,
                                const struct call_done *d, wend_str message)
{
    wend_ev_error *error;

    if (d->outcome == WEND_OUTCOME_OK || d->outcome == WEND_OUTCOME_SKIPPED ||
        d->outcome == WEND_OUTCOME_SUPERSEDED)
        return NULL;
    error = draft_error(x, d->code.ptr ? d->code : STR("failed"),
                        message.ptr ? message : STR(""), component_of(x->t, w));
    if (error) {
        error->effect_possible =
            d->effect_possible && work_class(x->t, w) != WEND_CLASS_READ;
        error->retryable = !w->call && d->retryable;
    }
    return error;
}

/* labels: what it brought into the run; absent if it did not run. */
static void emit_call_end(struct tt *x, const struct work *w,
                          const struct call_done *d, wend_str labels)
{
    bool cut = d->output.len > OUTPUT_BYTES_MAX;
    wend_str output = cut ? cut_output(x, d->output) : d->output;

    keep_blobs(x, d->blobs);
    emit(x, WEND_CALL_END,
         &(wend_ev_call_end){.call = w->id,
                             .name = w->name,
                             .outcome = d->outcome,
                             .output = output,
                             .truncated = cut,
                             .cached = d->cached,
                             .labels_json = labels,
                             .ms = d->ms,
                             .error = work_error(x, w, d, output),
                             .given = d->client,
                             .client = d->client,
                             .structured_json = d->structured,
                             .parts = d->parts,
                             .parts_count = d->parts_count});
}

static void emit_action_end(struct tt *x, const struct work *w,
                            const struct call_done *d)
{
    const struct plan_state *p = &x->t->plan;
    const struct plan_action *a = p->plan->actions[w->action];
    const struct action_state *s = plan_action_state(p, w->action);
    wend_ev_action_end e = {0};

    if (x->s->keep->arena->failed)
        return;
    e.action = w->id;
    e.name = a->name;
    e.outcome = d->outcome;
    e.output_json = STR("null");
    if (s->attempt && x->in->time_us > s->began_us)
        e.ms = (x->in->time_us - s->began_us) / 1000;
    e.cached = d->cached;
    e.labels_json = labels_text(x, d->labels);
    if (d->outcome == WEND_OUTCOME_OK) {
        e.output_json = d->json ? d->output : output_json(x, d->output);
        e.output_key = a->output_key;
        e.parts = d->parts;
        e.parts_count = d->parts_count;
        keep_blobs(x, d->blobs);
    }
    e.error = work_error(x, w, d, d->output);
    e.reason = d->reason;
    emit(x, WEND_ACTION_END, &e);
}

/* What a call that ran has brought: of its tool, its arguments, its answer. */
static wend_str call_labels_text(struct tt *x, const struct work *w,
                                 const struct call_done *d)
{
    const struct tool *tool = w->tool;
    uint32_t labels = d->labels;

    if (tool)
        labels |= tool->labels |
                  policy_labels(x->t, tool, w->args, x->s->scratch->mem);
    if (d->child)
        labels |= d->child->labels;
    return tool && labels == tool->labels ? tool->labels_json
                                          : labels_text(x, labels);
}

/* What did not run brings no labels. */
static void emit_end(struct tt *x, const struct work *w,
                     const struct call_done *d, bool ran)
{
    if (w->call)
        emit_call_end(x, w, d, ran ? call_labels_text(x, w, d) : STR_NONE);
    else
        emit_action_end(x, w, d);
}

/* ---- Starts -------------------------------------------------------------- */

static void emit_call_start(struct tt *x, const struct work *w,
                            const struct admission *a)
{
    emit(x, WEND_CALL_START,
         &(wend_ev_call_start){.call = w->id,
                               .name = w->name,
                               .args_json = w->args,
                               .args_invalid = w->call->invalid &&
                                               str_eq(w->args, w->call->args),
                               .call_class = work_class(x->t, w),
                               .key = work_key(x, w),
                               .attempt = w->attempt + 1,
                               .policy = a->verdict.policy});
}

static void emit_action_start(struct tt *x, const struct work *w,
                              const struct admission *a)
{
    const struct plan_action *action = x->t->plan.plan->actions[w->action];

    emit(x, WEND_ACTION_START,
         &(wend_ev_action_start){
             .action = w->id,
             .name = action->name,
             .type = str_of(action_type_names[action->type]),
             .mode = str_of(action_mode_names[action->mode]),
             .target = w->name.ptr ? w->name : STR(""),
             .params_json = w->args.ptr ? w->args : STR("{}"),
             .attempt = w->attempt + 1,
             .key = work_key(x, w),
             .policy = a->verdict.policy});
}

/* What was cut off has shown no result: its end has no error. */
void emit_start(struct tt *x, const struct work *w, const struct admission *a)
{
    const struct call_done superseded = {.outcome = WEND_OUTCOME_SUPERSEDED,
                                         .output = STR("")};

    if (w->lost && !w->superseded)
        emit_end(x, w, &superseded, false);
    if (w->call)
        emit_call_start(x, w, a);
    else
        emit_action_start(x, w, a);
}

struct admission admit_resumed(const struct work *w)
{
    struct admission a = {.tool = w->tool};

    if (!w->call || w->tool)
        a.verdict.policy.rule = STR("resumed");
    if (w->call && w->tool) {
        a.verdict.policy.risk = w->tool->risk;
        a.verdict.policy.layers_json = w->tool->layers_ok;
    }
    return a;
}

void end_work(struct tt *x, const struct work *w, const struct call_done *d)
{
    const struct admission a = admit_resumed(w);

    /* A fork may begin between the end of a superseded attempt and the next
     * start: then the work that ends has no open bracket. */
    if (w->superseded)
        emit_start(x, w, &a);
    if (!w->call)
        emit_action_answer(x, w->action, d->outcome,
                           work_error(x, w, d, d->output));
    end_child(x, w->child, d->child);
    emit_end(x, w, d, true);
}

void end_unstarted(struct tt *x, const struct work *w,
                   const struct admission *a, const struct call_done *d)
{
    emit_start(x, w, a);
    emit_end(x, w, d, false);
}

/* ---- Effects ------------------------------------------------------------- */

struct effect work_effect(enum effect_kind kind, const struct work *w)
{
    return (struct effect){
        .kind = kind,
        .call = w->call,
        .action = w->action,
        .attempt = w->attempt,
        .tool = w->tool,
        .args = w->args,
        .key = w->key,
        .timeout_ms = w->timeout_ms,
    };
}

/* The shell looks before the child begins, and only once. */
static bool may_be_cached(const struct tt *x, const struct work *w)
{
    return !w->call && w->attempt == 1 && !w->child.ptr &&
           x->t->plan.plan->actions[w->action]->cache_ms;
}

/* read_result: the conversation has the answer. */
static struct call_done read_result(struct tt *x, const struct work *w)
{
    struct call_done d = {.outcome = WEND_OUTCOME_OK};
    const struct context_room r = turn_room(x->t);

    /* A page of an eighth stays whole beside others. */
    if (!result_read(x->t->history, x->t->gone, w->args,
                     r.window ? r.most / 8 : INT64_MAX, x->s->scratch,
                     &d.output)) {
        d.outcome = WEND_OUTCOME_FAILED;
        d.code = STR("not_found");
    }
    return d;
}

void run_work(struct tt *x, const struct work *w, int64_t delay_ms)
{
    struct work now = work_now(x->t, w);
    struct call_done d;
    struct effect fx;

    if (x->s->keep->arena->failed)
        return;
    if (w->by_child && !may_be_cached(x, &now)) {
        start_child(x, &now, delay_ms);
        return;
    }
    if (now.tool && now.tool == x->t->config->reader) {
        d = read_result(x, &now);
        end_work(x, &now, &d);
        return;
    }
    if (w->call && now.tool && now.tool->client) {
        end_work(x, &now,
                 &(struct call_done){.outcome = WEND_OUTCOME_OK,
                                     .output = STR(""),
                                     .client = true});
        return;
    }
    if (!fits_window(x, &now, &d)) {
        end_work(x, &now, &d);
        return;
    }
    fx = work_effect(w->call ? FX_RUN_CALL : FX_RUN_ACTION, &now);
    fx.delay_ms = delay_ms;
    want(x, fx);
    if (asks_model(x->t, w))
        emit_action_ask(x, w->action);
}

void start_work(struct tt *x, const struct work *w, const struct admission *a)
{
    if (w->call && is_plan_tool(x->t->config, w->name)) {
        start_plan_call(x, w, a);
        return;
    }
    emit_start(x, w, a);
    run_work(x, w, 0);
}

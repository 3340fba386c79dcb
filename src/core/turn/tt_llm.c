/*
 * tt_llm.c - the model call of an action: its brackets, its budget.
 *
 * It is one request without tools, and one answer; the action decides whether
 * to try again.
 */
#include "core/turn/tt_plan.h"

const struct model_use *action_model(const struct turn *t,
                                     const struct plan_action *a)
{
    uint32_t i = config_model(t->config, a->target);

    return i && i < t->config->models_count ? &t->config->models[i]
                                            : turn_model(t);
}

int64_t action_tokens(const struct turn *t, wend_str params)
{
    return tokens_estimate(t->config->instructions.len) +
           tokens_estimate(params.len);
}

bool asks_model(const struct turn *t, const struct work *w)
{
    return !w->call && t->plan.plan->actions[w->action]->type == ACTION_LLM;
}

bool fits_window(struct tt *x, const struct work *w, struct call_done *d)
{
    const struct turn *t = x->t;
    const struct model_use *m;
    int64_t tokens = action_tokens(t, w->args);

    if (!asks_model(t, w))
        return true;
    m = action_model(t, t->plan.plan->actions[w->action]);
    if (!is_far_over(m, tokens)) {
        if (w->attempt == 1)
            warn_of_window(x, m, tokens);
        return true;
    }
    *d = (struct call_done){
        .outcome = WEND_OUTCOME_FAILED,
        .code = STR("overflow"),
        .output = window_text(x, m, tokens,
                              ": it was not sent; shorten the prompt, or set "
                              "a larger context_tokens"),
    };
    return false;
}

wend_str work_over_budget(const struct tt *x, const struct work *w)
{
    const struct turn *t = x->t;
    struct budget open;

    if (!asks_model(t, w))
        return STR_NONE;
    turn_reserved(t, &open);
    return over_budget(x, action_model(t, t->plan.plan->actions[w->action]),
                       action_tokens(t, w->args), &open);
}

void emit_action_ask(struct tt *x, uint32_t i)
{
    const struct turn *t = x->t;
    const struct plan_action *a = t->plan.plan->actions[i];

    emit(x, WEND_MODEL_START,
         &(wend_ev_model_start){.model = model_name(t, action_model(t, a)),
                                .attempt =
                                    plan_action_state(&t->plan, i)->attempt,
                                .purpose = WEND_PURPOSE_ANSWER,
                                .action = a->id,
                                .messages = 1});
}

static void fill_from_reply(const struct tt *x, const struct plan_action *a,
                            wend_ev_model_end *e)
{
    const struct reply *r = x->in->reply;

    reply_fill(e, r);
    e->usage = r->usage;
    if (e->usage.cost_nano < 0)
        e->usage.cost_nano = price_of(&action_model(x->t, a)->price, &e->usage);
    if (r->first_us > r->began_us)
        e->first_token_ms = (r->first_us - r->began_us) / 1000;
    if (x->in->time_us > r->began_us)
        e->ms = (x->in->time_us - r->began_us) / 1000;
    if (r->finish.len)
        e->finish = r->finish;
}

void emit_action_answer(struct tt *x, uint32_t i, wend_outcome outcome,
                        const wend_ev_error *error)
{
    const struct turn *t = x->t;
    const struct plan_action *a = t->plan.plan->actions[i];
    const struct action_state *s = plan_action_state(&t->plan, i);
    wend_ev_model_end e = {0};

    if (!s->asking)
        return;
    e.outcome = outcome == WEND_OUTCOME_OK ||
                        outcome == WEND_OUTCOME_CANCELED ||
                        outcome == WEND_OUTCOME_SUPERSEDED
                    ? outcome
                    : WEND_OUTCOME_FAILED;
    e.purpose = WEND_PURPOSE_ANSWER;
    e.finish = e.outcome == WEND_OUTCOME_OK
                   ? STR("stop")
                   : str_of(wend_outcome_name(e.outcome));
    e.usage.cost_nano = -1;
    if (x->in->kind == IN_ACTION_DONE && x->in->done.action == i &&
        x->in->reply)
        fill_from_reply(x, a, &e);
    else if (s->at != AT_RUNS && is_charged(t))
        charge(action_model(t, a), action_tokens(t, s->params), &e.usage);
    if (e.outcome == WEND_OUTCOME_FAILED)
        e.error = error;
    e.action = a->id;
    emit(x, WEND_MODEL_END, &e);
    if (outcome == WEND_OUTCOME_OK)
        warn_of_finish(x, e.finish);
}

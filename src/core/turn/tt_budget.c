/*
 * tt_budget.c - what may be spent: a request is sent to a model only if the
 * most that it can use fits beside the open requests.
 *
 * That is the estimated input and the longest answer. The cost of a model
 * without a price is unknown and counts as nothing. A provider may have
 * answered all of a request that a crash cut off: what was reserved for it
 * counts as spent, so that crashes cannot exceed a budget.
 */
#include "core/turn/tt_plan.h"

static void reserve(struct budget *out, const struct model_use *m,
                    int64_t input)
{
    int64_t cost = price_most(&m->price, input, m->output_tokens);

    out->tokens = i64_sum(out->tokens, i64_sum(input, m->output_tokens));
    if (cost > 0)
        out->cost_nano = i64_sum(out->cost_nano, cost);
}

void plan_reserved(const struct turn *t, struct budget *out)
{
    const struct plan_state *p = &t->plan;
    uint32_t place = 0, i;

    *out = (struct budget){0};
    while (p->started && (i = plan_marked(p, MARK_RUNS, &place)) != PLAN_NONE) {
        const struct action_state *s = plan_action_state(p, i);

        if (s->asking)
            reserve(out, action_model(t, p->plan->actions[i]),
                    action_tokens(t, s->params));
    }
}

void turn_reserved(const struct turn *t, struct budget *out)
{
    plan_reserved(t, out);
    if (t->phase == PH_MODEL) /* the model that writes the plan, too */
        reserve(out, turn_model(t), turn_tokens(t));
}

bool is_charged(const struct turn *t)
{
    return t->lives > 1;
}

void charge(const struct model_use *m, int64_t input, wend_ev_usage *out)
{
    *out = (wend_ev_usage){
        .input = input,
        .output = m->output_tokens,
        .cost_nano = price_most(&m->price, input, m->output_tokens),
        .estimated = true,
    };
}

/* A cost below 0 is not known. */
static bool is_too_dear(int64_t cost, const struct budget *open, int64_t left)
{
    return cost < 0 ? open->cost_nano >= left
                    : i64_sum(open->cost_nano, cost) > left;
}

wend_str over_budget(const struct tt *x, const struct model_use *m,
                     int64_t input, const struct budget *open)
{
    const struct turn *t = x->t;
    const wend_ev_limits *most = &t->limits;
    const struct budget *above = x->in->budget;
    int64_t spent = i64_sum(t->metrics.tokens_in, t->metrics.tokens_out);
    int64_t tokens = i64_sum(open->tokens, i64_sum(input, m->output_tokens));
    int64_t cost = price_most(&m->price, input, m->output_tokens);

    if (most->tokens && i64_sum(spent, tokens) > most->tokens)
        return STR("tokens");
    if (most->cost_nano &&
        is_too_dear(cost, open, most->cost_nano - t->metrics.cost_nano))
        return STR("cost");
    if (above && tokens > above->tokens)
        return STR("tokens");
    return above && is_too_dear(cost, open, above->cost_nano) ? STR("cost")
                                                              : STR_NONE;
}

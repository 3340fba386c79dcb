/*
 * laws_budget.c - what a run may spend, and what counts as spent.
 */
#include "laws_budget.h"
#include "book.h"
#include "plan_book.h"
#include "world.h"

/* What a question may cost is reserved, so that only the excess of one over
 * its own estimate can go beyond the limit. */
static void check_budget(struct sim *s, const struct turn *t, const char *name)
{
    const struct book *b = &s->book;
    const struct model_use *model = &b->config->models[b->model_at];
    int64_t input = turn_tokens(t);
    int64_t output = b->allowed ? b->allowed : model->output_tokens;
    int64_t tokens = b->sum.tokens_in + b->sum.tokens_out;
    int64_t cost = price_most(&model->price, input, output);

    if (b->limits.tokens && tokens + input + output > b->limits.tokens)
        broken(s, name, "%lld tokens spent, %lld may", (long long)tokens,
               (long long)b->limits.tokens);
    if (b->limits.cost_nano && cost >= 0 &&
        b->sum.cost_nano + cost > b->limits.cost_nano)
        broken(s, name, "cost: %lld spent, %lld reserved, %lld may",
               (long long)b->sum.cost_nano, (long long)cost,
               (long long)b->limits.cost_nano);
}

/* The same for the question of an action, beside those that are open. */
static void check_act_budget(struct sim *s, const struct effect *fx,
                             const char *name)
{
    const struct book *b = &s->book;
    const struct model_use *model = &b->config->models[0];
    int64_t tokens = b->sum.tokens_in + b->sum.tokens_out, asking = 0;

    for (uint32_t i = 0; i < s->made.count; i++)
        if (b->plan.a[i].asking)
            asking += b->plan.a[i].allowed ? b->plan.a[i].allowed
                                           : model->output_tokens;
    if (b->limits.tokens &&
        tokens + tokens_estimate(fx->args.len) + asking > b->limits.tokens)
        broken(s, name, "a%u: %lld tokens spent, %lld ask, %lld may",
               fx->action, (long long)tokens, (long long)asking,
               (long long)b->limits.tokens);
}

void law_budget(struct sim *s, const struct view *v, const char *name)
{
    for (const struct effect *fx = v->step->effects; fx; fx = fx->next)
        if (fx->kind == FX_ASK_MODEL)
            check_budget(s, &v->step->turn, name);
        else if (fx->kind == FX_RUN_ACTION &&
                 s->made.a[fx->action].type == ACTION_LLM)
            check_act_budget(s, fx, name);
}

/* A provider may have answered all of a question that a crash cut off: it
 * counts with all that was reserved. What is open where a fork begins is its
 * parent's. */
void law_charged(struct sim *s, const wend_event *ev, const char *name)
{
    const wend_ev_usage *u = &ev->u.model_end.usage;
    const struct book *b = &s->book;
    const struct book_action *a;
    int64_t input, output;
    bool cut;

    if (ev->type != WEND_MODEL_END)
        return;
    a = act_find(&s->book.plan, ev->u.model_end.action);
    cut = a ? a->lost && b->lives > 1 : b->model_cut;
    if (u->estimated != cut)
        broken(s, name, "usage is %s", cut ? "reported" : "estimated");
    if (!cut)
        return;
    output = a ? a->allowed : b->allowed;
    if (!output)
        output = b->config->models[a ? 0 : b->model_at].output_tokens;
    input =
        a || b->purpose == WEND_PURPOSE_SUMMARY || b->context_at != b->model_at
            ? 1
            : b->context_tokens;
    if (u->output != output || u->input < input)
        broken(s, name, "%lld + %lld tokens, of %lld + %lld reserved",
               (long long)u->input, (long long)u->output, (long long)input,
               (long long)output);
}

/* One that begins and ends in a step had no answer: it did not fit, or a hook
 * answered. */
void law_unsent(struct sim *s, const wend_event *ev, const char *name)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    if (ev->type != WEND_MODEL_END || !s->book.model_fresh || s->planned)
        return;
    if (e->usage.input || e->usage.output || e->usage.cost_nano > 0)
        broken(s, name, "%lld + %lld tokens", (long long)e->usage.input,
               (long long)e->usage.output);
    if (e->calls_count || (e->text.len && !str_is(e->finish, "hook")))
        broken(s, name, "it is answered with '%.40s'", e->text.ptr);
}

/* A provider that keeps to what a request says, and counts what was estimated,
 * never exceeds a budget: the world has some. Children spend on their own. */
void law_kept(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;
    const wend_ev_usage *u = ev->type == WEND_MODEL_END ? &ev->u.model_end.usage
                             : ev->type == WEND_MODEL_RETRY
                                 ? ev->u.model_retry.usage
                                 : NULL;
    int64_t tokens, cost;

    if (!u || !is_honest(s) || b->shared)
        return;
    tokens = b->sum.tokens_in + b->sum.tokens_out + u->input + u->output;
    cost = b->sum.cost_nano + (u->cost_nano > 0 ? u->cost_nano : 0);
    if (b->limits.tokens && tokens > b->limits.tokens)
        broken(s, name, "%lld tokens, of %lld", (long long)tokens,
               (long long)b->limits.tokens);
    if (b->limits.cost_nano && cost > b->limits.cost_nano)
        broken(s, name, "cost %lld, of %lld", (long long)cost,
               (long long)b->limits.cost_nano);
}

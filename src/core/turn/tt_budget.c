/*
 * tt_budget.c - whether a request may be sent: budgets and windows.
 *
 * A request is sent only if the most that it can use, the estimated input and
 * the longest answer, fits beside the open requests. Where a budget has less
 * room than the longest answer, the request carries what is left as its
 * maximum. The cost of a model without a price is unknown and counts as
 * nothing. A provider may have answered all of a request that a crash cut off:
 * what was reserved for it counts as spent, so that crashes cannot exceed a
 * budget.
 *
 * Tokens are estimated: a request that may not fit into the window is sent with
 * a warning, one far over it is not sent. An unknown window limits nothing.
 */
#include "core/turn/tt_step.h"

/* What counts as the length of an answer until it is known. */
static int64_t reserved_tokens(const struct allowance *a,
                               const struct model_use *m)
{
    return a->tokens ? a->tokens : m->output_tokens;
}

static void reserve(struct budget *out, const struct model_use *m,
                    const struct allowance *a, int64_t input)
{
    int64_t output = reserved_tokens(a, m);

    spend(&out->tokens, i64_sum(input, output));
    spend(&out->cost_nano, price_most(&m->price, input, output));
}

void plan_reserved(const struct turn *t, struct budget *out)
{
    const struct plan_state *p = &t->plan;
    uint32_t place = 0, i;

    *out = (struct budget){0};
    while (p->started && (i = plan_marked(p, MARK_RUNS, &place)) != PLAN_NONE) {
        const struct action_state *s = plan_action_state(p, i);

        if (s->asking)
            reserve(out, action_model(t, p->plan->actions[i]), &s->allowed,
                    action_tokens(t, i, s->params));
    }
}

void turn_reserved(const struct turn *t, struct budget *out)
{
    plan_reserved(t, out);
    if (t->phase == PH_MODEL) /* the model that writes the plan, too */
        reserve(out, turn_model(t), &t->allowed, turn_tokens(t));
}

bool turn_asks_unpriced(const struct turn *t)
{
    const struct plan_state *p = &t->plan;
    uint32_t place = 0, i;

    if (t->phase == PH_MODEL && !turn_model(t)->price.known)
        return true;
    while (p->started && (i = plan_marked(p, MARK_RUNS, &place)) != PLAN_NONE)
        if (plan_action_state(p, i)->asking &&
            !action_model(t, p->plan->actions[i])->price.known)
            return true;
    return false;
}

bool is_charged(const struct turn *t)
{
    return t->lives > 1;
}

void charge(const struct model_use *m, const struct allowance *a, int64_t input,
            wend_ev_usage *out)
{
    int64_t output = reserved_tokens(a, m);

    *out = (wend_ev_usage){
        .input = input,
        .output = output,
        .cost_nano = price_most(&m->price, input, output),
        .estimated = true,
    };
}

void charge_stopped(const struct model_use *m, const struct allowance *a,
                    int64_t input, const struct reply *r, wend_ev_usage *u)
{
    size_t bytes = r->text.len + r->thinking.len;
    int64_t output = a->tokens;

    if (!r->sent || u->input || u->output)
        return;
    for (size_t i = 0; i < r->calls_count; i++)
        bytes += r->calls[i].args.len;
    if (!output && bytes)
        output = tokens_estimate(bytes);
    *u = (wend_ev_usage){
        .input = input,
        .output = output,
        .cost_nano = price_most(&m->price, input, output),
        .estimated = true,
    };
}

/* ---- How long an answer may be ------------------------------------------- */

int64_t turn_children(const struct turn *t)
{
    uint32_t place = 0, i;
    int64_t n = 0;

    for (const struct call *c = t->calls; c; c = c->prev)
        n += turn_call_state(t, c->index)->child.ptr != NULL;
    while (t->plan.started &&
           (i = plan_marked(&t->plan, MARK_RUNS, &place)) != PLAN_NONE)
        n += plan_action_state(&t->plan, i)->child.ptr != NULL;
    return n;
}

/* Children that began in this step: the budget does not know them yet. */
static int64_t new_children(const struct tt *x)
{
    const struct budget *above = x->in->budget;
    int64_t n = turn_children(x->t) - (above ? above->children : 0);

    return n > 0 ? n : 0;
}

/* The answer that the tightest budget has room for. */
struct room {
    int64_t tokens;
    wend_str limit; /* absent: there is no budget */
    int64_t share;  /* of all that use the same budgets */
};

/* `others`: requests that may follow while this one is open. */
static void room_take(struct room *r, int64_t tokens, wend_str limit,
                      int64_t others)
{
    int64_t share = tokens / (1 + others);

    if (!r->limit.ptr || share < r->share)
        r->share = share;
    if (!r->limit.ptr || tokens < r->tokens) {
        r->tokens = tokens;
        r->limit = limit;
    }
}

/* A model without a price may be asked as long as anything is left. */
static int64_t bought(const struct price *p, int64_t input, int64_t left)
{
    if (p->known)
        return price_answer(p, input, left);
    return left > 0 ? INT64_MAX : -1;
}

static int64_t tokens_spent(const struct turn *t)
{
    return i64_sum(t->metrics.tokens_in, t->metrics.tokens_out);
}

static struct room room_for(const struct tt *x, const struct model_use *m,
                            int64_t input, const struct asked *beside)
{
    const wend_ev_limits *most = &x->t->limits;
    const struct budget *above = x->in->budget, *open = &beside->open;
    int64_t own = beside->others + new_children(x);
    int64_t others = own + (above ? above->others : 0);
    int64_t spent = tokens_spent(x->t), cost = x->t->metrics.cost_nano;
    int64_t asked = i64_sum(open->tokens, input);
    /* What this step counts is not in `above` yet: the answer or the child
     * whose end it is. */
    int64_t new_tokens = spent - tokens_spent(x->from);
    int64_t new_cost = cost - x->from->metrics.cost_nano;
    struct room r = {0};

    if (most->tokens)
        room_take(&r, most->tokens - i64_sum(asked, spent), STR("tokens"), own);
    if (most->cost_nano)
        room_take(&r,
                  bought(&m->price, input,
                         most->cost_nano - i64_sum(cost, open->cost_nano)),
                  STR("cost"), own);
    if (above && above->tokens < INT64_MAX)
        room_take(&r, above->tokens - i64_sum(asked, new_tokens), STR("tokens"),
                  others);
    if (above && above->cost_nano < INT64_MAX)
        room_take(&r,
                  bought(&m->price, input,
                         above->cost_nano - i64_sum(new_cost, open->cost_nano)),
                  STR("cost"), others);
    return r;
}

/* A model of which no maximum is known may refuse a large one: it gets one only
 * where that is short. */
bool allow_answer(const struct tt *x, const struct model_use *m, int64_t input,
                  const struct asked *beside, struct allowance *out)
{
    struct room r = room_for(x, m, input, beside);
    int64_t most = m->output_tokens ? m->output_tokens : m->output_max;
    int64_t least = most && most < ANSWER_TOKENS_MIN ? most : ANSWER_TOKENS_MIN;
    int64_t share = r.share;

    *out = (struct allowance){0};
    if (!r.limit.ptr)
        return true;
    if (share < least)
        share = least;
    if (most && share >= most)
        out->tokens = most;
    else if (most || share <= ANSWER_TOKENS_PLAIN)
        *out = (struct allowance){share, r.limit};
    if (r.tokens >= least)
        return true;
    out->limit = r.limit;
    return false;
}

/* ---- Windows ------------------------------------------------------------- */

bool is_far_over(const struct model_use *m, int64_t tokens)
{
    return m->window_known && tokens > m->context_tokens / 10 * 13;
}

static bool is_over(const struct model_use *m, int64_t tokens)
{
    return m->window_known && tokens > m->context_tokens;
}

wend_str model_name(const struct turn *t, const struct model_use *m)
{
    return m == turn_model(t) ? t->model : m->name;
}

wend_str window_text(struct tt *x, const struct model_use *m, int64_t tokens,
                     const char *what)
{
    wend_str name = model_name(x->t, m);

    return text_fmt(x,
                    "the request has about %lld tokens, and the window of "
                    "%.*s has %lld%s",
                    (long long)tokens, (int)name.len, name.ptr,
                    (long long)m->context_tokens, what);
}

void warn_of_window(struct tt *x, const struct model_use *m, int64_t tokens)
{
    if (is_over(m, tokens))
        warn(x, STR("context_full"), window_text(x, m, tokens, ""));
}

/* The newest answer, if it is of this model; else NULL. */
static const struct msg *last_answer(const struct turn *t)
{
    const struct msg *m = t->history;

    while (m && m->role != ROLE_ASSISTANT)
        m = m->prev;
    return m && str_eq(str_or(m->model, ""), t->model) ? m : NULL;
}

/* The user is told once of each file: a model omits in later requests what it
 * omits in its first one, unless new files take the room of older ones. */
void warn_of_media(struct tt *x)
{
    const struct turn *t = x->t;
    wend_str omitted = turn_media_omitted(t, last_answer(t), x->s->scratch);

    if (omitted.ptr)
        warn(
            x, STR("media_omitted"),
            JOIN(x, t->model, STR(" gets notes in place of files: "), omitted));
}

/* ---- Fallback models ----------------------------------------------------- */

static const struct model_use *models_end(const struct turn *t)
{
    const struct model_use *end = t->config->models + t->config->models_count;

    return end[-1].aside ? end - 1 : end; /* at most the last one is */
}

bool has_fallback(const struct turn *t)
{
    return turn_model(t) + 1 < models_end(t);
}

const struct model_use *fallback_model(const struct turn *t, int64_t tokens)
{
    const struct model_use *m = turn_model(t) + 1;

    while (m < models_end(t) && is_far_over(m, tokens))
        m++;
    return m < models_end(t) ? m : NULL;
}

static bool is_known_to_fit(const struct model_use *m, int64_t tokens)
{
    return m->window_known && !is_over(m, tokens);
}

const struct model_use *roomier_model(const struct turn *t, int64_t tokens)
{
    const struct model_use *now = turn_model(t), *may_fit = NULL;

    for (const struct model_use *m = now + 1; m < models_end(t); m++) {
        /* The model that refused may know better than the estimate. */
        if ((m->window_known && now->window_known &&
             m->context_tokens <= now->context_tokens) ||
            is_far_over(m, tokens))
            continue;
        if (is_known_to_fit(m, tokens))
            return m;
        if (!may_fit)
            may_fit = m;
    }
    return may_fit;
}

void warn_of_room(struct tt *x, const struct model_use *m, int64_t tokens)
{
    wend_str window =
        m->window_known ? text_fmt(x, "has %lld", (long long)m->context_tokens)
                        : STR("is not known");

    if (is_known_to_fit(m, tokens))
        return;
    warn(x, STR("context_full"),
         text_fmt(x,
                  "no fallback model is known to have room for about %lld "
                  "tokens; %.*s is asked, whose window %.*s",
                  (long long)tokens, (int)m->name.len, m->name.ptr,
                  (int)window.len, window.ptr));
}

wend_str drop_refused(struct tt *x, const struct model_use *m, uint32_t refused,
                      wend_str why)
{
    struct buf b = {.mem = x->s->scratch->mem};
    wend_str names;

    refused &= ~turn_dropped(x->t, m);
    if (!refused)
        return STR_NONE;
    asked_put(&b, refused);
    names = take_text(x, &b);
    warn(x, STR("param_dropped"),
         JOIN(x, model_name(x->t, m), STR(" does not take "), names,
              STR(", and is asked without: "), why));
    return names;
}

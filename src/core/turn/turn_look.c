/*
 * turn_look.c - questions about the state of a run.
 */
#include "core/turn/turn.h"

#include <assert.h>

const struct call *turn_call(const struct turn *t, uint32_t index)
{
    const struct call *c = t->calls;

    while (c && c->index != index)
        c = c->prev;
    return c;
}

int turn_call_index(const struct turn *t, wend_str id)
{
    for (const struct call *c = t->calls; c; c = c->prev)
        if (str_eq(c->id, id))
            return (int)c->index;
    return -1;
}

bool turn_call_runs(const struct turn *t, uint32_t index)
{
    return (t->flags[index] & (CALL_STARTED | CALL_ENDED)) == CALL_STARTED;
}

bool turn_hands_over(const struct turn *t)
{
    const struct call_state *s = t->states;

    while (s && !s->client)
        s = s->prev;
    return s != NULL;
}

/* One that has ended was given its result by a fork. */
bool turn_call_waits(const struct turn *t, uint32_t index)
{
    return (t->flags[index] & (CALL_ASKED | CALL_ANSWERED | CALL_ENDED)) ==
           CALL_ASKED;
}

uint32_t turn_running(const struct turn *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->calls_count; i++)
        n += turn_call_runs(t, i);
    return n;
}

const struct tool *turn_action_tool(const struct turn *t, uint32_t action)
{
    const struct plan_action *a = t->plan.plan->actions[action];

    if (a->type == ACTION_RELIC)
        return config_endpoint(t->config, a->target);
    return a->type == ACTION_TOOL ? config_tool(t->config, a->target) : NULL;
}

static wend_class target_class(const struct turn *t, uint32_t action)
{
    const struct plan_action *a = t->plan.plan->actions[action];
    const struct tool *tool;
    const struct child_config *child;

    switch ((enum action_type)a->type) {
    case ACTION_TOOL:
    case ACTION_RELIC:
        tool = turn_action_tool(t, action);
        return tool ? tool->call_class : WEND_CLASS_UNSAFE;
    case ACTION_LLM:
    case ACTION_DECISION: return WEND_CLASS_READ;
    case ACTION_AGENT:
        child = config_child(t->config, a->target);
        return child && child->reads ? WEND_CLASS_READ : WEND_CLASS_UNSAFE;
    case ACTION_WORKFLOW:
    case ACTION_TYPES: break;
    }
    return WEND_CLASS_UNSAFE;
}

/* What is written counts, but a model cannot make its target safer. */
wend_class turn_action_class(const struct turn *t, uint32_t action)
{
    const struct plan_action *a = t->plan.plan->actions[action];
    wend_class own = target_class(t, action);

    if (a->call_class < 0 ||
        (t->plan.plan->written && a->call_class > (int)own))
        return own;
    return (wend_class)a->call_class;
}

int turn_plan_call(const struct turn *t)
{
    return t->plan_call.ptr ? turn_call_index(t, t->plan_call) : -1;
}

bool turn_plan_open(const struct turn *t)
{
    return t->plan.started && t->plan.plan->open;
}

uint32_t turn_busy(const struct turn *t)
{
    int plan = turn_plan_call(t);

    return turn_running(t) + t->plan.running -
           (plan >= 0 && turn_call_runs(t, (uint32_t)plan));
}

const struct call_state *turn_call_state(const struct turn *t, uint32_t index)
{
    static const struct call_state none;
    const struct call_state *s = t->states;

    while (s && s->index != index)
        s = s->prev;
    return s ? s : &none;
}

int64_t i64_sum(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

void spend(int64_t *spent, int64_t more)
{
    if (more > 0)
        *spent = i64_sum(*spent, more);
}

/* What counts for a run and for all above it. */
static const size_t counted[] = {
    offsetof(wend_ev_metrics, model_calls),
    offsetof(wend_ev_metrics, tool_calls),
    offsetof(wend_ev_metrics, tool_errors),
    offsetof(wend_ev_metrics, tokens_in),
    offsetof(wend_ev_metrics, tokens_out),
    offsetof(wend_ev_metrics, tokens_cached),
    offsetof(wend_ev_metrics, cost_nano),
};

static int64_t *count_of(const wend_ev_metrics *m, size_t i)
{
    return (int64_t *)((uintptr_t)m + counted[i]);
}

void metrics_add(wend_ev_metrics *m, const wend_ev_metrics *more)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        spend(count_of(m, i), *count_of(more, i));
}

wend_ev_metrics metrics_more(const wend_ev_metrics *all,
                             const wend_ev_metrics *part)
{
    wend_ev_metrics more = {0};

    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        int64_t a = *count_of(all, i), p = *count_of(part, i);

        *count_of(&more, i) = p <= 0 ? a : a > p ? a - p : 0;
    }
    if (all->cost_nano < 0)
        more.cost_nano = -1;
    return more;
}

wend_ev_metrics turn_metrics(const struct turn *t)
{
    wend_ev_metrics m = t->metrics;

    if (t->unpriced)
        m.cost_nano = -1;
    return m;
}

const struct model_use *turn_model(const struct turn *t)
{
    assert(t->model_at < t->config->models_count);
    return &t->config->models[t->model_at];
}

const struct model_use *turn_target_model(const struct turn *t, wend_str target)
{
    uint32_t i = config_model(t->config, target);

    return i && i < t->config->models_count ? &t->config->models[i]
                                            : turn_model(t);
}

wend_str turn_schema(const struct turn *t)
{
    return t->purpose == WEND_PURPOSE_SUMMARY ? STR_NONE
                                              : t->config->schema_text;
}

bool turn_shows_deltas(const struct turn *t)
{
    return t->purpose == WEND_PURPOSE_ANSWER || t->purpose == WEND_PURPOSE_PLAN;
}

int64_t turn_ran_us(const struct turn *t, int64_t time_us)
{
    return time_us - t->started_us - t->idle_us;
}

int64_t turn_answer_tokens(const struct turn *t, int64_t usual)
{
    return t->allowed.limit.ptr ? t->allowed.tokens : usual;
}

/*
 * stats.c - usage and durations of many runs, folded from events.
 *
 * Names come from logs: they are copied, and sanitised when shown.
 */
#include "cli/view/stats.h"

#include <stdlib.h>

#include "base/cost.h"

const int percentiles[PERCENTILES] = {50, 90, 99};

/* ---- Times --------------------------------------------------------------- */

static void add_time(struct stats *s, struct buf *times, int64_t ms)
{
    times->mem = s->arena.mem;
    buf_add(times, (const char *)&ms, sizeof ms);
    s->failed |= times->failed;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Nearest-rank percentiles. */
bool times_spread(struct buf *times, struct spread *out)
{
    int64_t *v = (int64_t *)(void *)times->ptr;
    size_t count = times->len / sizeof *v;

    if (!count)
        return false;
    qsort(v, count, sizeof *v, by_size);
    for (int i = 0; i < PERCENTILES; i++)
        out->at[i] = v[(count * (size_t)percentiles[i] + 99) / 100 - 1];
    out->most = v[count - 1];
    return true;
}

/* ---- By name ------------------------------------------------------------- */

/* There are few models, tools and agents; runs are many. */
static struct tally *tally_named(struct stats *s, struct tally **list,
                                 wend_str name)
{
    wend_str shown = name.ptr ? name : STR("(none)");

    for (; *list; list = &(*list)->next)
        if (str_eq((*list)->name, shown))
            return *list;
    *list = arena_alloc(&s->arena, sizeof **list);
    if (*list)
        (*list)->name = arena_str(&s->arena, shown);
    s->failed |= s->arena.failed;
    return *list;
}

static void add_cause(struct stats *s, wend_str what, wend_str code)
{
    struct cause **at = &s->causes;

    for (; *at; at = &(*at)->next)
        if (str_eq((*at)->what, what) && str_eq((*at)->code, code)) {
            (*at)->count++;
            return;
        }
    *at = arena_alloc(&s->arena, sizeof **at);
    if (*at)
        **at = (struct cause){
            .what = what, .code = arena_str(&s->arena, code), .count = 1};
    s->failed |= s->arena.failed;
}

static void add_error(struct stats *s, wend_str what, const wend_ev_error *e,
                      wend_outcome outcome)
{
    add_cause(s, what,
              e && e->code.len ? e->code : str_of(wend_outcome_name(outcome)));
}

static void add_outcome(struct tally *t, wend_outcome outcome)
{
    if (t && (size_t)outcome <= WEND_OUTCOME_SKIPPED)
        t->outcomes[outcome]++;
}

/* ---- Events -------------------------------------------------------------- */

static void on_run_start(struct stats *s, const wend_event *ev)
{
    s->agent = tally_named(s, &s->agents, ev->u.run_start.agent);
    s->runs.count++;
    s->ended = false;
    s->open = 0;
    if (s->agent)
        s->agent->count++;
}

/* What follows a fork is given to it, until it runs: its parent did it. */
static void on_own(struct stats *s, const wend_event *ev)
{
    s->given = ev->type == WEND_RUN_FORK;
}

/* Only the time in which a process owned the run. */
static void on_run_end(struct stats *s, const wend_event *ev)
{
    const wend_ev_run_end *e = &ev->u.run_end;
    int64_t ms = e->metrics.ms;

    s->ended = true;
    add_outcome(&s->runs, e->outcome);
    add_outcome(s->agent, e->outcome);
    add_time(s, &s->runs.took, ms);
    if (s->agent)
        add_time(s, &s->agent->took, ms);
    if (e->outcome == WEND_OUTCOME_LIMIT)
        add_cause(s, STR("limit"), e->limit.ptr ? e->limit : STR("?"));
    else if (e->outcome == WEND_OUTCOME_FAILED)
        add_error(s, STR("run"), e->error, e->outcome);
}

static void on_turn_start(struct stats *s, const wend_event *ev)
{
    (void)ev;
    s->turns++;
}

static void on_model_start(struct stats *s, const wend_event *ev)
{
    s->open++;
    s->model = tally_named(s, &s->models, ev->u.model_start.model);
    if (s->model)
        s->model->count++;
}

static void add_usage(struct tally *t, const wend_ev_usage *u, int64_t cost)
{
    struct usage *sum;

    if (!t)
        return;
    sum = u->estimated ? &t->estimated : &t->used;
    sum->tokens_in += u->input;
    sum->tokens_out += u->output;
    sum->tokens_cached += u->cached;
    if (cost < 0)
        sum->unpriced++;
    else
        cost_add(&sum->cost_nano, cost);
}

static void use(struct stats *s, const wend_ev_usage *u, int64_t cost)
{
    add_usage(&s->runs, u, cost);
    add_usage(s->agent, u, cost);
    add_usage(s->model, u, cost);
}

/* The attempt counts for the model that failed, later usage for the next. */
static void on_model_retry(struct stats *s, const wend_event *ev)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;

    if (e->usage)
        use(s, e->usage, cost_of_usage(e->usage));
    if (s->model)
        s->model->retries++;
    if (!e->next_model.len || !s->model ||
        str_eq(e->next_model, s->model->name))
        return;
    s->model = tally_named(s, &s->models, e->next_model);
    if (s->model)
        s->model->count++;
}

static void on_model_end(struct stats *s, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    s->open--;
    use(s, &e->usage, cost_of_answer(e));
    add_outcome(s->model, e->outcome);
    if (e->outcome == WEND_OUTCOME_OK && s->model) {
        add_time(s, &s->model->took, e->ms);
        add_time(s, &s->model->first_token, e->first_token_ms);
        add_time(s, &s->runs.first_token, e->first_token_ms);
    } else if (e->outcome == WEND_OUTCOME_FAILED) {
        add_error(s, STR("model"), e->error, e->outcome);
    }
}

static void add_call(struct stats *s, wend_str name, wend_outcome outcome,
                     int64_t ms, bool cached, const wend_ev_error *error)
{
    struct tally *t = tally_named(s, &s->tools, name);

    if (!t)
        return;
    t->count++;
    t->cached += cached;
    add_outcome(t, outcome);
    if (outcome == WEND_OUTCOME_OK)
        add_time(s, &t->took, ms);
    else if (outcome != WEND_OUTCOME_SKIPPED)
        add_error(s, STR("tool"), error, outcome);
}

static void on_call_end(struct stats *s, const wend_event *ev)
{
    const wend_ev_call_end *e = &ev->u.call_end;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED) /* it runs again, one call */
        return;
    add_call(s, e->name, e->outcome, e->ms, e->cached, e->error);
}

/* Removes it; NULL: it has not started. */
static struct stats_begun *take_begun(struct stats *s, wend_str action)
{
    for (struct stats_begun **at = &s->begun; *at; at = &(*at)->next)
        if (str_eq((*at)->action, action)) {
            struct stats_begun *b = *at;

            *at = b->next;
            return b;
        }
    return NULL;
}

/* Only its start names the target. Models and agents are counted at their
 * own ends. */
static void on_action_start(struct stats *s, const wend_event *ev)
{
    const wend_ev_action_start *e = &ev->u.action_start;
    struct stats_begun *b = take_begun(s, e->action); /* retried */

    if (!b && (b = arena_alloc(&s->arena, sizeof *b)))
        b->action = arena_str(&s->arena, e->action);
    if (b && (str_is(e->type, "tool") || str_is(e->type, "relic")))
        b->tool = arena_str(&s->arena, e->target);
    s->failed |= s->arena.failed;
    if (!b)
        return;
    b->next = s->begun;
    s->begun = b;
}

static void on_action_end(struct stats *s, const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;
    const struct stats_begun *b;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED)
        return;
    b = take_begun(s, e->action);
    if (b && b->tool.ptr)
        add_call(s, b->tool, e->outcome, e->ms, e->cached, e->error);
}

typedef void (*stats_fn)(struct stats *s, const wend_event *ev);

static const stats_fn handlers[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = on_run_start,
    [WEND_RUN_END] = on_run_end,
    [WEND_RUN_FORK] = on_own,
    [WEND_RUN_RESUME] = on_own,
    [WEND_TURN_START] = on_turn_start,
    [WEND_MODEL_START] = on_model_start,
    [WEND_MODEL_RETRY] = on_model_retry,
    [WEND_MODEL_END] = on_model_end,
    [WEND_CALL_END] = on_call_end,
    [WEND_ACTION_START] = on_action_start,
    [WEND_ACTION_END] = on_action_end,
};

uint64_t stats_types(void)
{
    uint64_t bits = 0;

    for (int t = 0; t < WEND_EVENT_TYPES; t++)
        if (handlers[t])
            bits |= (uint64_t)1 << t;
    return bits;
}

void stats_event(struct stats *s, const wend_event *ev)
{
    bool of_run = ev->type == WEND_RUN_RESUME || ev->type == WEND_RUN_END;

    if (handlers[ev->type] && (!s->given || of_run))
        handlers[ev->type](s, ev);
}

static void add_unfinished(struct tally *t, bool interrupted)
{
    if (t)
        ++*(interrupted ? &t->interrupted : &t->active);
}

void stats_run_over(struct stats *s, wend_str status)
{
    bool interrupted = str_is(status, "interrupted");

    if (s->agent && !s->ended) {
        add_unfinished(&s->runs, interrupted);
        add_unfinished(s->agent, interrupted);
        for (; s->open > 0; s->open--) /* what it costs is not known */
            use(s, &(wend_ev_usage){.cost_nano = -1}, -1);
    }
    s->agent = s->model = NULL;
    s->begun = NULL;
    s->given = false;
}

/* ---- Life ---------------------------------------------------------------- */

void stats_init(struct stats *s, const struct mem *m)
{
    memset(s, 0, sizeof *s);
    s->arena.mem = m;
}

static void free_times(struct tally *t)
{
    buf_free(&t->first_token);
    buf_free(&t->took);
}

void stats_free(struct stats *s)
{
    struct tally *const lists[] = {s->models, s->tools, s->agents};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (struct tally *t = lists[i]; t; t = t->next)
            free_times(t);
    free_times(&s->runs);
    arena_free(&s->arena);
}

/*
 * child_budget.c - budgets that runs share with their children.
 *
 * Each request to a model must fit into what is left of the limits of its run
 * and of all parents: the limit, less what was spent, less what open requests
 * may still cost. Parents spend what their children spend: while a child runs
 * it is summed up here; once it is over it is in the parent's metrics.
 */
#include "lib/run/child.h"

static void add(struct budget *sum, int64_t tokens, int64_t cost_nano)
{
    spend(&sum->tokens, tokens);
    spend(&sum->cost_nano, cost_nano); /* not what is unknown */
}

static void add_metrics(const wend_ev_metrics *m, struct budget *sum)
{
    add(sum, i64_sum(m->tokens_in, m->tokens_out), m->cost_nano);
}

/* What a child continues counts in the metrics of its parent already. */
static void take_back(const struct turn *t, wend_str child, struct budget *sum)
{
    const struct unfinished *u = turn_continued(t, child);
    struct budget twice = {0};

    if (!u)
        return;
    add_metrics(&u->metrics, &twice);
    if (sum->tokens != INT64_MAX)
        sum->tokens -= twice.tokens;
    if (sum->cost_nano != INT64_MAX)
        sum->cost_nano -= twice.cost_nano;
}

/* ---- After an interruption ----------------------------------------------- */

/* A child that was under way and is not resumed yet: the store says what it has
 * spent. If it cannot, all of the budget counts as spent. */
static void add_stored(const struct wend_run *r, wend_str child,
                       struct budget *sum)
{
    struct arena a = {.mem = &r->rt->mem};
    wend_run_info *info;
    wend_status s = store_info(r->rt->store, child.ptr, &a, &info, NULL);

    if (s == WEND_OK && info->imported && !r->trusts)
        s = WEND_E_NOTFOUND; /* it only has the id of ours */
    if (s == WEND_OK) {
        add(sum, i64_sum(info->tokens_in, info->tokens_out), info->cost_nano);
        take_back(&r->turn, child, sum);
    } else if (s != WEND_E_NOTFOUND)
        sum->tokens = sum->cost_nano = INT64_MAX;
    arena_free(&a);
}

static bool is_lost(const struct wend_run *r, wend_str child)
{
    const struct child *c = r->children;

    while (c && !(c->run && str_is(child, c->id)))
        c = c->next;
    return child.ptr && !c;
}

static void add_lost(const struct wend_run *r, struct budget *sum)
{
    const struct turn *t = &r->turn;
    uint32_t place = 0, i;

    for (const struct call *c = t->calls; c; c = c->prev)
        if (is_lost(r, turn_call_state(t, c->index)->child))
            add_stored(r, turn_call_state(t, c->index)->child, sum);
    while (t->plan.started &&
           (i = plan_marked(&t->plan, MARK_RUNS, &place)) != PLAN_NONE)
        if (is_lost(r, plan_action_state(&t->plan, i)->child))
            add_stored(r, plan_action_state(&t->plan, i)->child, sum);
}

/* A child that is over stands in its parent's metrics already. */
static bool counts(const struct child *c)
{
    return c->run && !c->over;
}

/* ---- Who shares it --------------------------------------------------------
 */

/* Children of `r` but that one (NULL: all of them) that have no request open
 * and may make one. The state knows them before they are started. */
static int64_t others_of(const struct wend_run *r, const struct child *but)
{
    int64_t others = turn_children(&r->turn) - (but != NULL);

    for (const struct child *c = r->children; c; c = c->next)
        others -= c != but && counts(c) && c->run->turn.phase == PH_MODEL;
    return others > 0 ? others : 0;
}

/* ---- What is left -------------------------------------------------------- */

/* Depth is bounded by CHILD_DEPTH_MAX. `but`: its open requests do not count.
 */
static void add_all(const struct wend_run *r, const struct wend_run *but,
                    struct budget *sum)
{
    struct budget reserved;

    add_metrics(&r->turn.metrics, sum);
    if (r != but) {
        turn_reserved(&r->turn, &reserved);
        add(sum, reserved.tokens, reserved.cost_nano);
    }
    for (const struct child *c = r->children; c; c = c->next)
        if (counts(c)) {
            add_all(c->run, but, sum);
            take_back(&r->turn, str_of(c->id), sum);
        }
    if (r->resumed)
        add_lost(r, sum);
}

static int64_t left(int64_t limit, int64_t used)
{
    return !limit ? INT64_MAX : used >= limit ? 0 : limit - used;
}

static bool has_limit(const struct wend_run *r)
{
    return r->turn.limits.tokens || r->turn.limits.cost_nano;
}

/* Where a cost is limited all models have prices, and a resume counts with what
 * is known. */
bool child_cost_unknown(const struct wend_run *r)
{
    const struct wend_run *a = r;

    if (r->over || !turn_children(&r->turn))
        return false;
    while (a && !a->turn.limits.cost_nano)
        a = a->child ? a->child->parent : NULL;
    return !a;
}

const struct budget *child_budget(struct wend_run *r, const struct input *in)
{
    const struct child *below = NULL;
    int64_t others = 0;

    if (!r->child && !r->children && !(r->resumed && has_limit(r)))
        return NULL;
    r->budget = (struct budget){.tokens = INT64_MAX, .cost_nano = INT64_MAX};
    r->budget.children = turn_children(&r->turn) - (in->done.child != NULL);
    for (const struct wend_run *a = r; a;
         a = a->child ? a->child->parent : NULL) {
        const wend_ev_limits *l = &a->turn.limits;
        struct budget used = {0};
        int64_t tokens, cost;

        others += others_of(a, below);
        if (a == r && others && in->done.child) /* it asks no more */
            others--;
        below = a->child;
        if (!has_limit(a))
            continue;
        r->budget.others = others;
        add_all(a, r, &used);
        tokens = left(l->tokens, used.tokens);
        cost = left(l->cost_nano, used.cost_nano);
        if (tokens < r->budget.tokens)
            r->budget.tokens = tokens;
        if (cost < r->budget.cost_nano)
            r->budget.cost_nano = cost;
    }
    return &r->budget;
}

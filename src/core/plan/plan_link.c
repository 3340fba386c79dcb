/*
 * plan_link.c - names of actions become indexes, and edges between actions.
 */
#include <assert.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

/* ---- Names --------------------------------------------------------------- */

static bool unknown_name(struct plan_draft *d, const struct plan_action *a,
                         const struct plan_name *n)
{
    const struct names *ids = &d->plan->ids;
    char hint[STR_HINT_BYTES];

    return !fail_at(
        d->f->err, WEND_E_PARSE, n->line, n->column,
        "'%.*s' names the unknown action '%.*s'%s", STR_ARGS(a->name),
        UTF8_ARGS(n->text, FIELDS_QUOTED_MAX),
        str_hint(hint, str_nearest(n->text, ids->list, sizeof *ids->list, 0,
                                   ids->count)));
}

/* The action of that name; PLAN_NONE, if it may still be written. */
static bool resolve(struct plan_draft *d, uint32_t i, const struct plan_name *n,
                    uint32_t *out)
{
    *out = plan_find(d->plan, n->text);
    if (*out != PLAN_NONE)
        return true;
    d->whole[i] = false;
    return d->plan->open || unknown_name(d, d->actions[i], n);
}

/* ---- Decisions and fallbacks --------------------------------------------- */

/* Counts become the starts of ranges: at[i] is where i's begins. */
static uint32_t starts_of(uint32_t *at, uint32_t count)
{
    uint32_t sum = 0, n;

    for (uint32_t i = 0; i <= count; i++) {
        n = at[i];
        at[i] = sum;
        sum += n;
    }
    return sum;
}

bool draft_turn_around(struct plan_draft *d, const uint32_t *at,
                       const uint32_t *list, const uint32_t **out_at,
                       const uint32_t **out)
{
    uint32_t count = d->plan->count, edges = at[count];
    uint32_t *users_at = draft_array(d, count, sizeof *users_at);
    uint32_t *users = draft_array(d, edges, sizeof *users);

    if (!users_at || !users)
        return false;
    for (uint32_t k = 0; k < edges; k++)
        if (list[k] != PLAN_NONE)
            users_at[list[k]]++;
    starts_of(users_at, count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = at[i]; k < at[i + 1]; k++)
            if (list[k] != PLAN_NONE)
                users[users_at[list[k]]++] = i;
    for (uint32_t i = count; i; i--) /* each start has moved to its end */
        users_at[i] = users_at[i - 1];
    users_at[0] = 0;
    *out_at = users_at;
    *out = users;
    return true;
}

/* Which actions each decision names. */
static bool link_decisions(struct plan_draft *d)
{
    uint32_t count = d->plan->count, at = 0, total;
    uint32_t *chosen_at = draft_array(d, count, sizeof *chosen_at), *chosen;
    bool ok = true;

    for (uint32_t i = 0; chosen_at && i < count; i++)
        for (size_t c = 0; c < d->actions[i]->cases_count; c++)
            chosen_at[i] += (uint32_t)d->actions[i]->cases[c].then.count;
    total = chosen_at ? starts_of(chosen_at, count) : 0;
    if (total > PLAN_EDGES_MAX)
        return !fail(d->f->err, WEND_E_LIMIT,
                     "the decisions of the plan name %u actions; at most %d",
                     total, PLAN_EDGES_MAX);
    chosen = draft_array(d, total, sizeof *chosen);
    if (!chosen_at || !chosen)
        return false;
    for (uint32_t i = 0; i < count; i++)
        for (size_t c = 0; c < d->actions[i]->cases_count; c++) {
            const struct plan_names *then = &d->actions[i]->cases[c].then;

            for (size_t k = 0; ok && k < then->count; k++)
                ok = resolve(d, i, &then->list[k], &chosen[at++]);
        }
    d->plan->graph.chosen_at = chosen_at;
    d->plan->graph.chosen = chosen;
    return ok;
}

static bool link_fallbacks(struct plan_draft *d)
{
    uint32_t count = d->plan->count, to;
    uint32_t *fallback = draft_numbers(d, count, PLAN_NONE);
    uint32_t *fallback_of = draft_numbers(d, count, PLAN_NONE);

    if (!fallback || !fallback_of)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_name *n = &d->actions[i]->fallback;

        if (!n->text.ptr)
            continue;
        if (!resolve(d, i, n, &to))
            return false;
        if (to == PLAN_NONE)
            continue;
        if (fallback_of[to] != PLAN_NONE)
            return !fail_at(d->f->err, WEND_E_PARSE, n->line, n->column,
                            "'%.*s' is the fallback of '%.*s' already",
                            STR_ARGS(n->text),
                            STR_ARGS(d->actions[fallback_of[to]]->name));
        fallback[i] = to;
        fallback_of[to] = i;
    }
    d->plan->graph.fallback = fallback;
    d->plan->graph.fallback_of = fallback_of;
    return true;
}

/* ---- Edges --------------------------------------------------------------- */

/* What linking fills for one action after the other. */
struct dep_links {
    uint32_t *deps, len;
    uint32_t *seen;             /* by action: the last one that waits for it */
    const uint32_t *by_at, *by; /* decisions that name an action */
};

/* All that action i waits for. */
static bool link_deps(struct plan_draft *d, struct dep_links *l, uint32_t i)
{
    const struct plan_names *names = &d->actions[i]->depends_on;
    uint32_t to;

    for (size_t k = 0; k < names->count; k++) {
        const struct plan_name *n = &names->list[k];

        if (!resolve(d, i, n, &to))
            return false;
        if (to == PLAN_NONE)
            continue;
        if (l->seen[to] == i)
            return !fail_at(d->f->err, WEND_E_PARSE, n->line, n->column,
                            "'%.*s' depends on '%.*s' twice",
                            STR_ARGS(d->actions[i]->name), STR_ARGS(n->text));
        l->seen[to] = i;
        l->deps[l->len++] = to;
    }
    for (uint32_t k = l->by_at[i]; k < l->by_at[i + 1]; k++) {
        if (l->seen[l->by[k]] == i)
            continue; /* in two cases, or in depends_on, too */
        l->seen[l->by[k]] = i;
        l->deps[l->len++] = l->by[k];
    }
    return true;
}

static bool link_edges(struct plan_draft *d)
{
    struct plan_graph *g = &d->plan->graph;
    uint32_t count = d->plan->count;
    uint32_t *deps_at = draft_array(d, count, sizeof *deps_at);
    struct dep_links l = {.seen = draft_numbers(d, count, PLAN_NONE)};
    size_t total;

    if (!deps_at || !l.seen ||
        !draft_turn_around(d, g->chosen_at, g->chosen, &l.by_at, &l.by))
        return false;
    total = l.by_at[count];
    for (uint32_t i = 0; i < count; i++) {
        total += d->actions[i]->depends_on.count;
        if (total > PLAN_EDGES_MAX)
            return !fail_at(d->f->err, WEND_E_LIMIT, d->actions[i]->line,
                            d->actions[i]->column,
                            "the plan has more than %d dependencies",
                            PLAN_EDGES_MAX);
    }
    l.deps = draft_array(d, total, sizeof *l.deps);
    if (!l.deps)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        deps_at[i] = l.len;
        if (!link_deps(d, &l, i))
            return false;
    }
    assert(l.len <= total);
    g->edges_count = deps_at[count] = l.len;
    g->deps_at = deps_at;
    g->deps = l.deps;
    return draft_turn_around(d, deps_at, l.deps, &g->users_at, &g->users);
}

bool draft_link(struct plan_draft *d)
{
    uint32_t *none = draft_array(d, d->plan->count, sizeof *none);

    d->plan->whole = d->whole = draft_array(d, d->plan->count, sizeof(bool));
    if (!none || !d->whole)
        return false;
    memset(d->whole, true, d->plan->count);
    d->plan->graph = (struct plan_graph){
        /* No value edges yet. */
        .values_at = none,
        .values = none,
        .value_users_at = none,
        .value_users = none,
    };
    return link_fallbacks(d) && link_decisions(d) && link_edges(d);
}

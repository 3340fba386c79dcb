/*
 * plan_link.c - names of actions become indexes, and edges between actions.
 */
#include <assert.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

/* What linking fills; the plan's graph is a view of it. */
struct plan_links {
    uint32_t *deps_at, *deps;
    const uint32_t *users_at, *users;
    uint32_t *values_at; /* no value edges yet: all zero */
    uint32_t *fallback, *fallback_of;
    uint32_t *chosen_at, *chosen;
    const uint32_t *by_at, *by; /* decisions that name an action */
    uint32_t *seen;             /* by action: the last one that waits for it */
    bool *whole;
};

/* ---- Messages ------------------------------------------------------------ */

static wend_status unknown_name(struct plan_draft *d,
                                const struct plan_action *a,
                                const struct plan_name *n)
{
    const struct names *ids = &d->plan->ids;
    wend_str near =
        str_nearest(n->text, ids->list, sizeof *ids->list, 0, ids->count);

    return fail_at(d->f->err, WEND_E_PARSE, n->line, n->column,
                   "'%.*s' names the unknown action '%.*s'"
                   "%s%.*s%s",
                   (int)a->name.len, a->name.ptr,
                   (int)utf8_cut(n->text, FIELDS_QUOTED_MAX), n->text.ptr,
                   near.ptr ? "; did you mean '" : "", (int)near.len,
                   near.ptr ? near.ptr : "", near.ptr ? "'?" : "");
}

/* The action of that name; PLAN_NONE, if it may still be written. */
static wend_status resolve(struct plan_draft *d, struct plan_links *l,
                           uint32_t i, const struct plan_name *n, uint32_t *out)
{
    *out = plan_find(d->plan, n->text);
    if (*out != PLAN_NONE)
        return WEND_OK;
    l->whole[i] = false;
    return d->plan->open ? WEND_OK : unknown_name(d, d->actions[i], n);
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

wend_status draft_turn_around(struct plan_draft *d, const uint32_t *at,
                              const uint32_t *list, const uint32_t **out_at,
                              const uint32_t **out)
{
    uint32_t count = d->plan->count, edges = at[count];
    uint32_t *users_at = draft_array(d, count, sizeof *users_at);
    uint32_t *users = draft_array(d, edges, sizeof *users);

    if (!users_at || !users)
        return WEND_E_NOMEM;
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
    return WEND_OK;
}

static wend_status link_cases(struct plan_draft *d, struct plan_links *l,
                              uint32_t i)
{
    const struct plan_action *a = d->actions[i];
    uint32_t at = l->chosen_at[i];
    wend_status s;

    for (size_t c = 0; c < a->cases_count; c++)
        for (size_t k = 0; k < a->cases[c].then.count; k++, at++) {
            s = resolve(d, l, i, &a->cases[c].then.list[k], &l->chosen[at]);
            if (s)
                return s;
        }
    return WEND_OK;
}

/* Which actions each decision names. */
static wend_status link_decisions(struct plan_draft *d, struct plan_links *l)
{
    uint32_t count = d->plan->count, total;
    wend_status s = WEND_OK;

    for (uint32_t i = 0; i < count; i++)
        for (size_t c = 0; c < d->actions[i]->cases_count; c++)
            l->chosen_at[i] += (uint32_t)d->actions[i]->cases[c].then.count;
    total = starts_of(l->chosen_at, count);
    if (total > PLAN_EDGES_MAX)
        return fail(d->f->err, WEND_E_LIMIT,
                    "the decisions of the plan name %u actions; at most %d",
                    total, PLAN_EDGES_MAX);
    l->chosen = draft_array(d, total, sizeof *l->chosen);
    if (!l->chosen)
        return WEND_E_NOMEM;
    for (uint32_t i = 0; i < count && !s; i++)
        s = link_cases(d, l, i);
    return s ? s
             : draft_turn_around(d, l->chosen_at, l->chosen, &l->by_at, &l->by);
}

static wend_status link_fallback(struct plan_draft *d, struct plan_links *l,
                                 uint32_t i)
{
    const struct plan_name *n = &d->actions[i]->fallback;
    uint32_t to;
    wend_status s;

    if (!n->text.ptr)
        return WEND_OK;
    s = resolve(d, l, i, n, &to);
    if (s || to == PLAN_NONE)
        return s;
    if (l->fallback_of[to] != PLAN_NONE)
        return fail_at(d->f->err, WEND_E_PARSE, n->line, n->column,
                       "'%.*s' is the fallback of '%.*s' already",
                       (int)n->text.len, n->text.ptr,
                       (int)d->actions[l->fallback_of[to]]->name.len,
                       d->actions[l->fallback_of[to]]->name.ptr);
    assert(l->fallback[i] == PLAN_NONE);
    l->fallback[i] = to;
    l->fallback_of[to] = i;
    return WEND_OK;
}

/* ---- Edges --------------------------------------------------------------- */

static wend_status twice(struct plan_draft *d, uint32_t i,
                         const struct plan_name *n)
{
    return fail_at(d->f->err, WEND_E_PARSE, n->line, n->column,
                   "'%.*s' depends on '%.*s' twice",
                   (int)d->actions[i]->name.len, d->actions[i]->name.ptr,
                   (int)n->text.len, n->text.ptr);
}

/* All that action i waits for, written from *at on. */
static wend_status link_deps(struct plan_draft *d, struct plan_links *l,
                             uint32_t i, uint32_t *at)
{
    const struct plan_names *names = &d->actions[i]->depends_on;
    uint32_t to;
    wend_status s;

    for (size_t k = 0; k < names->count; k++) {
        s = resolve(d, l, i, &names->list[k], &to);
        if (s)
            return s;
        if (to == PLAN_NONE)
            continue;
        if (l->seen[to] == i)
            return twice(d, i, &names->list[k]);
        l->seen[to] = i;
        l->deps[(*at)++] = to;
    }
    for (uint32_t k = l->by_at[i]; k < l->by_at[i + 1]; k++) {
        if (l->seen[l->by[k]] == i)
            continue; /* in two cases, or in depends_on, too */
        l->seen[l->by[k]] = i;
        l->deps[(*at)++] = l->by[k];
    }
    return WEND_OK;
}

static wend_status link_edges(struct plan_draft *d, struct plan_links *l)
{
    uint32_t count = d->plan->count, at = 0;
    size_t total = l->by_at[count];
    wend_status s;

    for (uint32_t i = 0; i < count; i++) {
        total += d->actions[i]->depends_on.count;
        if (total > PLAN_EDGES_MAX)
            return fail_at(d->f->err, WEND_E_LIMIT, d->actions[i]->line,
                           d->actions[i]->column,
                           "the plan has more than %d dependencies",
                           PLAN_EDGES_MAX);
    }
    l->deps = draft_array(d, total, sizeof *l->deps);
    if (!l->deps)
        return WEND_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        l->deps_at[i] = at;
        s = link_deps(d, l, i, &at);
        if (s)
            return s;
    }
    assert(at <= total);
    l->deps_at[count] = at;
    return WEND_OK;
}

static bool make_room(struct plan_draft *d, struct plan_links *l)
{
    uint32_t count = d->plan->count;

    l->deps_at = draft_array(d, count, sizeof *l->deps_at);
    l->values_at = draft_array(d, count, sizeof *l->values_at);
    l->chosen_at = draft_array(d, count, sizeof *l->chosen_at);
    l->fallback = draft_array(d, count, sizeof *l->fallback);
    l->fallback_of = draft_array(d, count, sizeof *l->fallback_of);
    l->seen = draft_array(d, count, sizeof *l->seen);
    l->whole = draft_array(d, count, sizeof *l->whole);
    if (d->f->arena->failed)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        l->fallback[i] = l->fallback_of[i] = l->seen[i] = PLAN_NONE;
        l->whole[i] = true;
    }
    return true;
}

wend_status draft_link(struct plan_draft *d)
{
    struct plan_links l = {0};
    wend_status s = make_room(d, &l) ? WEND_OK : fail_nomem(d->f->err);

    for (uint32_t i = 0; !s && i < d->plan->count; i++)
        s = link_fallback(d, &l, i);
    if (!s)
        s = link_decisions(d, &l);
    if (!s)
        s = link_edges(d, &l);
    if (!s)
        s = draft_turn_around(d, l.deps_at, l.deps, &l.users_at, &l.users);
    if (s)
        return s;
    d->whole = l.whole;
    d->plan->whole = l.whole;
    d->plan->graph = (struct plan_graph){
        .deps_at = l.deps_at,
        .deps = l.deps,
        .users_at = l.users_at,
        .users = l.users,
        .edges_count = l.deps_at[d->plan->count],
        .values_at = l.values_at,
        .values = l.values_at,
        .value_users_at = l.values_at,
        .value_users = l.values_at,
        .fallback = l.fallback,
        .fallback_of = l.fallback_of,
        .chosen_at = l.chosen_at,
        .chosen = l.chosen,
    };
    return WEND_OK;
}

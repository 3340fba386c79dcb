/*
 * plan_value.c - edges to providers that are not direct dependencies.
 *
 * Without these edges the value of a reference could depend on timing: an
 * action between the provider and the user may be skipped early, and the
 * user could start while the provider still runs.
 *
 * A provider that comes after its user gives it nothing, so the user does not
 * wait for it. The order is found for 64 actions at a time: one bit each, one
 * pass over the graph. So the memory is linear in the plan and
 * its edges, and the time is that of a pass for each 64 providers.
 */

#include <assert.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

struct value_edge {
    uint32_t use;  /* index */
    uint32_t by;   /* the provider */
    uint32_t next; /* edge with the same mark; or PLAN_NONE */
    bool before;   /* the provider comes before the user */
    bool implied;  /* ... and has ended in any case when the user starts */
    bool after;    /* the provider comes after the user */
};

static struct value_use *use_at(const struct value_edges *v, uint32_t i)
{
    return (struct value_use *)(void *)v->uses.ptr + i;
}

static struct value_edge *edge_at(const struct value_edges *v, uint32_t i)
{
    return (struct value_edge *)(void *)v->list.ptr + i;
}

static uint32_t uses_count(const struct value_edges *v)
{
    return (uint32_t)(v->uses.len / sizeof(struct value_use));
}

static uint32_t edges_count(const struct value_edges *v)
{
    return (uint32_t)(v->list.len / sizeof(struct value_edge));
}

/* ---- Order --------------------------------------------------------------- */

/* One pass: bits[node] = which of the marked nodes come before it. */
static void spread(const struct plan *p, uint64_t *bits)
{
    const struct plan_graph *g = &p->graph;

    for (uint32_t k = 0; k < p->count * 2; k++) {
        uint32_t node = g->order[k], i = node % p->count;

        if (node < p->count) {
            for (uint32_t e = g->deps_at[i]; e < g->deps_at[i + 1]; e++)
                bits[i] |= bits[p->count + g->deps[e]];
            if (g->fallback_of[i] != PLAN_NONE)
                bits[i] |= bits[g->fallback_of[i]];
        } else {
            bits[node] |= bits[i];
            if (g->fallback[i] != PLAN_NONE)
                bits[node] |= bits[p->count + g->fallback[i]];
        }
    }
}

/* Which of the marked actions have ended, in any case, when i starts. All its
 * dependencies have ended then; or, if it waits for any, one has. One ended
 * ok, so it had started; which one is not known. */
static uint64_t ended_at_start(const struct plan *p, const uint64_t *sure,
                               uint32_t i)
{
    const struct plan_graph *g = &p->graph;
    uint32_t from = g->deps_at[i], to = g->deps_at[i + 1];
    uint64_t one_ran = from < to ? UINT64_MAX : 0, all_ended = 0;

    for (uint32_t e = from; e < to; e++) {
        uint64_t ended = sure[p->count + g->deps[e]];

        one_ran &= sure[g->deps[e]] | ended;
        all_ended |= ended;
    }
    if (g->fallback_of[i] != PLAN_NONE)
        one_ran |= sure[g->fallback_of[i]];
    return p->actions[i]->wait_for_any ? one_ran : one_ran | all_ended;
}

/* ... when i has ended: it may have been skipped because of any dependency. */
static uint64_t ended_at_end(const struct plan *p, const uint64_t *sure,
                             uint32_t i)
{
    const struct plan_graph *g = &p->graph;
    uint32_t from = g->deps_at[i], to = g->deps_at[i + 1];
    uint64_t all = from < to && g->fallback_of[i] == PLAN_NONE ? UINT64_MAX : 0;

    for (uint32_t e = from; e < to; e++)
        all &= sure[p->count + g->deps[e]];
    return all;
}

static void spread_sure(const struct plan *p, uint64_t *sure)
{
    for (uint32_t k = 0; k < p->count * 2; k++) {
        uint32_t node = p->graph.order[k];

        if (node < p->count)
            sure[node] = ended_at_start(p, sure, node);
        else
            sure[node] |= ended_at_end(p, sure, node - p->count);
    }
}

/* The node to mark for an edge, and the one to look at. */
static uint32_t marked_of(const struct value_edges *v,
                          const struct value_edge *e, bool after)
{
    return after ? use_at(v, e->use)->user : v->d->plan->count + e->by;
}

static uint32_t seen_of(const struct value_edges *v, const struct value_edge *e,
                        bool after)
{
    return after ? e->by : use_at(v, e->use)->user;
}

/* Actions to compare with all others, at most 64 at a time. */
struct node_batch {
    uint32_t nodes[64], len;
    uint32_t *first; /* by node: the first edge from it; or PLAN_NONE */
    uint64_t *bits, *sure;
};

static void compare_batch(struct value_edges *v, struct node_batch *b,
                          bool after)
{
    const struct plan *p = v->d->plan;
    size_t bytes = p->count * (size_t)2 * sizeof *b->bits;

    memset(b->bits, 0, bytes);
    for (uint32_t k = 0; k < b->len; k++)
        b->bits[b->nodes[k]] = (uint64_t)1 << k;
    if (!after) {
        memcpy(b->sure, b->bits, bytes);
        spread_sure(p, b->sure);
    }
    spread(p, b->bits);
    for (uint32_t k = 0; k < b->len; k++)
        for (uint32_t i = b->first[b->nodes[k]]; i != PLAN_NONE;
             i = edge_at(v, i)->next) {
            struct value_edge *e = edge_at(v, i);
            uint32_t to = seen_of(v, e, after);

            *(after ? &e->after : &e->before) = b->bits[to] >> k & 1;
            if (!after)
                e->implied = b->sure[to] >> k & 1;
        }
    b->len = 0;
}

/* Sets `before` and `implied` of all edges; or `after` of those that are not
 * before. */
static bool compare(struct value_edges *v, bool after)
{
    uint32_t nodes = v->d->plan->count * 2;
    struct node_batch b = {.first = draft_numbers(v->d, nodes, PLAN_NONE),
                           .bits = draft_array(v->d, nodes, sizeof *b.bits),
                           .sure = draft_array(v->d, nodes, sizeof *b.sure)};

    if (!b.first || !b.bits || !b.sure)
        return false;
    for (uint32_t i = 0; i < edges_count(v); i++) {
        struct value_edge *e = edge_at(v, i);
        uint32_t from = marked_of(v, e, after);

        if (after && e->before)
            continue;
        e->next = b.first[from];
        b.first[from] = i;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        if (b.first[n] != PLAN_NONE)
            b.nodes[b.len++] = n;
        if (b.len == 64 || (b.len && n + 1 == nodes))
            compare_batch(v, &b, after);
    }
    return true;
}

/* ---- Checks -------------------------------------------------------------- */

static bool not_before(struct value_edges *v, const struct value_use *use)
{
    const struct plan_action *by = v->d->actions[use->provider];
    const struct plan_action *user = v->d->actions[use->user];
    char rest[PLAN_NAME_MAX + 64];

    if (by == user)
        return draft_refuse_ref(v->d, use->ref, " is the output of '", by->name,
                                "' itself");
    utf8_fmt(rest, sizeof rest, "', for which '%.*s' does not wait",
             STR_ARGS(user->name));
    return draft_refuse_ref(v->d, use->ref, " is the output of '", by->name,
                            rest);
}

/* In an open plan a decision that is still to come may put them in order. */
static bool check_uses(struct value_edges *v)
{
    const struct plan *p = v->d->plan;

    for (uint32_t i = 0; i < edges_count(v); i++)
        if (edge_at(v, i)->before)
            use_at(v, edge_at(v, i)->use)->provided = true;
    for (uint32_t u = 0; u < uses_count(v); u++) {
        const struct value_use *use = use_at(v, u);

        if (use->provided)
            continue;
        if (!p->open || use->provider == use->user)
            return not_before(v, use);
        v->d->whole[use->user] = false;
    }
    return true;
}

/* ---- The graph ----------------------------------------------------------- */

static bool holds(const struct value_edges *v, const struct value_edge *e)
{
    const struct value_use *use = use_at(v, e->use);

    return use->provided && !e->implied && !e->after && e->by != use->user;
}

/* Edges come in the order of their users; two keys may have one provider. */
static bool fill_graph(struct value_edges *v)
{
    struct plan_graph *g = &v->d->plan->graph;
    uint32_t count = v->d->plan->count, edges = edges_count(v), len = 0;
    uint32_t *at = draft_array(v->d, count, sizeof *at);
    uint32_t *list = draft_array(v->d, edges, sizeof *list);
    uint32_t *last = draft_numbers(v->d, count, PLAN_NONE); /* by provider */

    if (!at || !list || !last)
        return false;
    for (uint32_t i = 0, user = 0; user < count; user++) {
        at[user] = len;
        for (; i < edges && use_at(v, edge_at(v, i)->use)->user == user; i++) {
            const struct value_edge *e = edge_at(v, i);

            if (!holds(v, e) || last[e->by] == user)
                continue;
            last[e->by] = user;
            list[len++] = e->by;
        }
    }
    assert(len <= edges);
    at[count] = len;
    g->values_at = at;
    g->values = list;
    return draft_turn_around(v->d, at, list, &g->value_users_at,
                             &g->value_users);
}

/* ---- For plan_ref.c ------------------------------------------------------ */

bool value_use_add(struct value_edges *v, const struct value_use *use)
{
    buf_add(&v->uses, (const char *)use, sizeof *use);
    return !v->uses.failed || !fail_nomem(v->d->f->err);
}

bool value_edge_add(struct value_edges *v, uint32_t by)
{
    struct value_edge e = {.use = uses_count(v) - 1, .by = by};

    assert(uses_count(v) && by < v->d->plan->count);
    if (edges_count(v) == PLAN_VALUES_MAX)
        return !fail(v->d->f->err, WEND_E_LIMIT,
                     "the plan has more than %d references to actions that are "
                     "not direct dependencies; name them in depends_on",
                     PLAN_VALUES_MAX);
    buf_add(&v->list, (const char *)&e, sizeof e);
    return !v->list.failed || !fail_nomem(v->d->f->err);
}

bool value_edges_settle(struct value_edges *v)
{
    bool any = edges_count(v) > 0, further = false;

    if ((any && !compare(v, false)) || !check_uses(v))
        return false;
    for (uint32_t i = 0; i < edges_count(v); i++)
        further = further || !edge_at(v, i)->before;
    return (!further || compare(v, true)) && (!any || fill_graph(v)) &&
           (!further || draft_order(v->d));
}

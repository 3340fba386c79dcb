/*
 * plan_ref.c - each reference has an input, or an action that is done before.
 *
 * A reference to an action that is not a direct dependency is a value edge
 * (plan_value.c): the user of the value waits for its provider.
 */
#include <assert.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

#define CASE_NONE UINT32_MAX
#define CASE_MANY (UINT32_MAX - 1)

struct checker {
    struct plan_draft *d;
    uint32_t *first; /* by slot: the first action with that output_key */
    uint32_t *also;  /* by action: the next one with the same key */
    uint32_t *seen;  /* by action: whose dependency it is */
    uint32_t *asked; /* by slot: the last action that referred to it */
    struct value_edges edges;
};

/* ---- Messages ------------------------------------------------------------ */

wend_status draft_refuse_ref(struct plan_draft *d, const struct ref *ref,
                             const char *why, wend_str name, const char *rest)
{
    uint32_t line = 0, column = 0;

    if (ref->in)
        fields_inside(d->f, ref->in, ref->at, &line, &column);
    return fail_at(d->f->err, WEND_E_PARSE, line, column, "%.*s%s%.*s%s",
                   (int)utf8_cut(ref->text, REF_SHOWN_MAX), ref->text.ptr, why,
                   (int)name.len, name.len ? name.ptr : "", rest);
}

static wend_status unprovided(struct checker *c, const struct ref *ref)
{
    const struct plan *p = c->d->plan;
    wend_str near = STR_NONE;
    int best = 0;

    for (uint32_t k = 0; k < p->keys.count; k++)
        if ((p->inputs[k].ptr || c->first[k] != PLAN_NONE) &&
            str_nearer(p->keys.list[ref->slot], p->keys.list[k], &best))
            near = p->keys.list[k];
    if (near.ptr)
        return draft_refuse_ref(
            c->d, ref, " is neither an input nor an output_key; did you mean $",
            near, "?");
    if (plan_find(p, p->keys.list[ref->slot]) != PLAN_NONE)
        return draft_refuse_ref(
            c->d, ref,
            " is the name of an action; its output has a name only "
            "by output_key",
            STR(""), "");
    return draft_refuse_ref(c->d, ref, " is neither an input nor an output_key",
                            STR(""), "");
}

/* ---- Who provides -------------------------------------------------------- */

static wend_status same_key(struct checker *c, uint32_t a, uint32_t b)
{
    const struct plan_action *one = c->d->actions[a], *two = c->d->actions[b];

    return fail_at(c->d->f->err, WEND_E_PARSE, two->line, two->column,
                   "'%.*s' and '%.*s' both have the output_key '%.*s', and "
                   "both may run",
                   (int)one->name.len, one->name.ptr, (int)two->name.len,
                   two->name.ptr, (int)two->output_key.len,
                   two->output_key.ptr);
}

static wend_status find_providers(struct checker *c)
{
    struct plan *p = c->d->plan;

    for (uint32_t k = 0; k < p->keys.count; k++)
        c->first[k] = PLAN_NONE;
    for (uint32_t i = p->count; i; i--) {
        const struct plan_action *a = c->d->actions[i - 1];

        c->also[i - 1] = PLAN_NONE;
        if (a->output_slot == NAME_NONE)
            continue;
        if (p->inputs[a->output_slot].ptr)
            return fail_at(c->d->f->err, WEND_E_PARSE, a->line, a->column,
                           "the output_key '%.*s' of '%.*s' is an input "
                           "already",
                           (int)a->output_key.len, a->output_key.ptr,
                           (int)a->name.len, a->name.ptr);
        c->also[i - 1] = c->first[a->output_slot];
        c->first[a->output_slot] = i - 1;
    }
    return WEND_OK;
}

/* By action: the only case that names it, counted over all decisions. */
static void find_cases(const struct plan *p, uint32_t *case_of)
{
    uint32_t number = 0;
    size_t count;

    for (uint32_t i = 0; i < p->count; i++)
        case_of[i] = CASE_NONE;
    for (uint32_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->actions[i]->cases_count; k++, number++) {
            const uint32_t *to = plan_chosen(p, i, k, &count);

            for (size_t n = 0; n < count; n++)
                if (to[n] != PLAN_NONE)
                    case_of[to[n]] =
                        case_of[to[n]] == CASE_NONE || case_of[to[n]] == number
                            ? number
                            : CASE_MANY;
        }
}

/* At most one of those with the same key may end well: they are fallbacks of
 * one another, or stand in different cases of one decision. Where each has a
 * condition, the author must know. */
static wend_status check_same(struct checker *c, uint32_t first,
                              const uint32_t *root, const uint32_t *case_of,
                              const uint32_t *decision_of, uint32_t *taken)
{
    uint32_t first_case = case_of[root[first]], i, mine;
    bool many = false, always = false;

    for (i = first; i != PLAN_NONE; i = c->also[i]) {
        many = many || root[i] != root[first];
        always = always || !c->d->actions[root[i]]->when;
    }
    if (!many || !always)
        return WEND_OK;
    for (i = first; i != PLAN_NONE; i = c->also[i]) {
        mine = case_of[root[i]];
        if (first_case >= CASE_MANY || mine >= CASE_MANY ||
            decision_of[mine] != decision_of[first_case] ||
            (taken[mine] != PLAN_NONE && root[taken[mine]] != root[i]))
            return same_key(c, first, i == first ? c->also[first] : i);
        taken[mine] = i;
    }
    for (i = first; i != PLAN_NONE; i = c->also[i])
        taken[case_of[root[i]]] = PLAN_NONE;
    return WEND_OK;
}

static wend_status check_keys(struct checker *c)
{
    struct plan_draft *d = c->d;
    const struct plan *p = d->plan;
    uint32_t *root = draft_array(d, p->count, sizeof *root), number = 0;
    uint32_t *case_of = draft_array(d, p->count, sizeof *case_of);
    uint32_t *decision_of, *taken;
    wend_status s = WEND_OK;

    for (uint32_t i = 0; i < p->count; i++)
        number += (uint32_t)p->actions[i]->cases_count;
    decision_of = draft_array(d, number, sizeof *decision_of);
    taken = draft_array(d, number, sizeof *taken);
    if (!root || !case_of || !decision_of || !taken)
        return WEND_E_NOMEM;
    number = 0;
    for (uint32_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->actions[i]->cases_count; k++) {
            taken[number] = PLAN_NONE;
            decision_of[number++] = i;
        }
    for (uint32_t k = 0; k < p->count * 2; k++) {
        uint32_t i = p->graph.order[k];

        if (i < p->count) /* after the one it is a fallback of */
            root[i] = p->graph.fallback_of[i] == PLAN_NONE
                          ? i
                          : root[p->graph.fallback_of[i]];
    }
    find_cases(p, case_of);
    for (uint32_t k = 0; !s && k < p->keys.count; k++)
        if (c->first[k] != PLAN_NONE && c->also[c->first[k]] != PLAN_NONE)
            s = check_same(c, c->first[k], root, case_of, decision_of, taken);
    return s;
}

/* ---- References ---------------------------------------------------------- */

/* Whether `by` is a direct dependency of the user whose dependencies were
 * marked last, or stands in for one when it fails. */
static bool is_direct(const struct checker *c, uint32_t user, uint32_t by)
{
    for (; by != PLAN_NONE; by = c->d->plan->graph.fallback_of[by])
        if (c->seen[by] == user)
            return true;
    return false;
}

/* Each provider that is not a direct dependency makes an edge. */
static wend_status check_ref(struct checker *c, uint32_t user,
                             const struct ref *ref)
{
    const struct plan *p = c->d->plan;
    struct value_use use = {.ref = ref, .user = user};
    wend_status s = WEND_OK;

    assert(c->first[ref->slot] != PLAN_NONE); /* an action provides it */
    if (c->asked[ref->slot] == user)
        return WEND_OK; /* the answer is the same */
    c->asked[ref->slot] = user;
    use.provider = c->first[ref->slot];
    for (uint32_t i = use.provider; i != PLAN_NONE; i = c->also[i]) {
        if (p->actions[i]->mode == ACTION_FORGET)
            return draft_refuse_ref(c->d, ref,
                                    " is the output of the fire_and_forget "
                                    "action '",
                                    p->actions[i]->name,
                                    "', for which nothing waits");
        use.provided =
            use.provided || (user != PLAN_NONE && is_direct(c, user, i));
    }
    if (user == PLAN_NONE)
        return WEND_OK; /* the outputs come after all actions */
    s = value_use_add(&c->edges, &use);
    for (uint32_t i = use.provider; !s && i != PLAN_NONE; i = c->also[i])
        if (!is_direct(c, user, i))
            s = value_edge_add(&c->edges, i);
    return s;
}

static wend_status check_refs(struct checker *c, uint32_t user,
                              const struct ref *refs, bool *whole)
{
    const struct plan *p = c->d->plan;
    wend_status s = WEND_OK;

    for (const struct ref *ref = refs; ref && !s; ref = ref->next) {
        if (p->inputs[ref->slot].ptr)
            continue;
        if (c->first[ref->slot] != PLAN_NONE)
            s = check_ref(c, user, ref);
        else if (p->open)
            *whole = false;
        else
            s = unprovided(c, ref);
    }
    return s;
}

static wend_status check_all(struct checker *c, bool *whole)
{
    const struct plan *p = c->d->plan;
    const struct plan_graph *g = &p->graph;
    wend_status s = WEND_OK;

    for (uint32_t i = 0; i < p->count; i++)
        c->seen[i] = PLAN_NONE;
    for (uint32_t k = 0; k < p->keys.count; k++)
        c->asked[k] = p->count; /* no action has this number */
    for (uint32_t i = 0; i < p->count && !s; i++) {
        for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
            c->seen[g->deps[k]] = i;
        s = check_refs(c, i, p->actions[i]->refs, &whole[i]);
    }
    if (!s)
        s = check_refs(c, PLAN_NONE, c->d->output_refs, NULL);
    return s ? s : value_edges_settle(&c->edges, whole);
}

wend_status draft_refs(struct plan_draft *d)
{
    struct checker c = {.d = d};
    uint32_t count = d->plan->count;
    wend_status s;

    c.first = draft_array(d, d->plan->keys.count, sizeof *c.first);
    c.also = draft_array(d, count, sizeof *c.also);
    c.seen = draft_array(d, count, sizeof *c.seen);
    c.asked = draft_array(d, d->plan->keys.count, sizeof *c.asked);
    if (!c.first || !c.also || !c.seen || !c.asked)
        return WEND_E_NOMEM;
    value_edges_init(&c.edges, d);
    s = find_providers(&c);
    if (!s)
        s = check_keys(&c);
    if (!s)
        s = check_all(&c, d->whole);
    value_edges_free(&c.edges);
    return s;
}

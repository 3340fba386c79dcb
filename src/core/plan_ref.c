/*
 * plan_ref.c - each reference has an input, or an action that is done before.
 *
 * Who comes before whom is found for 64 actions at a time: one bit each, one
 * pass over the graph, and over those who refer to them, for all of them. So
 * the memory is linear in the plan, and the time is that of a pass for each
 * 64 actions that are referred to from afar.
 */
#include <stdio.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan_make.h"

#define CASE_NONE UINT32_MAX
#define CASE_MANY (UINT32_MAX - 1)

/* A reference to what no direct dependency provides; one for all that an
 * action has to the same key. */
struct far_ref {
    const struct ref *ref;
    uint32_t user;
    uint32_t next; /* to the same key */
    bool before;   /* one of those who provide it is */
};

struct checker {
    struct plan_draft *d;
    uint32_t *first;  /* by slot: who has that output_key */
    uint32_t *also;   /* by action: the next one who has it */
    uint32_t *seen;   /* by action: whose dependency it is */
    uint32_t *asked;  /* by slot: who has referred to it last */
    struct buf far;   /* struct far_ref */
    uint32_t *far_at; /* by slot: the last of them; or PLAN_NONE */
};

/* ---- Messages ------------------------------------------------------------ */

static wend_status refuse(struct checker *c, const struct ref *ref,
                          const char *why, wend_str name, const char *rest)
{
    uint32_t line = 0, column = 0;

    if (ref->in)
        fields_inside(c->d->f, ref->in, ref->at, &line, &column);
    return fail_at(c->d->f->err, WEND_E_PARSE, line, column, "%.*s%s%.*s%s",
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
        return refuse(c, ref,
                      " is neither an input nor an output_key; did you mean $",
                      near, "?");
    if (plan_find(p, p->keys.list[ref->slot]) != PLAN_NONE)
        return refuse(c, ref,
                      " is the name of an action; its output has a name only "
                      "by output_key",
                      STR(""), "");
    return refuse(c, ref, " is neither an input nor an output_key", STR(""),
                  "");
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
 * condition, who wrote them must know. */
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

/* Whether one of those who provide it is a direct dependency; if none is it
 * is kept for later. */
static wend_status check_ref(struct checker *c, uint32_t user,
                             const struct ref *ref)
{
    const struct plan *p = c->d->plan;
    struct far_ref far = {ref, user, c->far_at[ref->slot], false};

    if (c->asked[ref->slot] == user)
        return WEND_OK; /* the answer is the same */
    c->asked[ref->slot] = user;
    for (uint32_t i = c->first[ref->slot]; i != PLAN_NONE; i = c->also[i]) {
        if (p->actions[i]->mode == ACTION_FORGET)
            return refuse(c, ref,
                          " is the output of the fire_and_forget "
                          "action '",
                          p->actions[i]->name, "', for which nobody waits");
        if (user != PLAN_NONE && c->seen[i] == user)
            return WEND_OK;
    }
    if (user == PLAN_NONE)
        return WEND_OK; /* the outputs come after everyone */
    c->far_at[ref->slot] = (uint32_t)(c->far.len / sizeof far);
    buf_add(&c->far, (const char *)&far, sizeof far);
    return c->far.failed ? fail_nomem(c->d->f->err) : WEND_OK;
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

/* One pass: bits[node] = which of the marked ends come before it. */
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

static wend_status not_before(struct checker *c, const struct far_ref *far)
{
    const struct plan_action *by = c->d->actions[c->first[far->ref->slot]];
    const struct plan_action *user = c->d->actions[far->user];
    char rest[PLAN_NAME_MAX + 64];

    if (by == user)
        return refuse(c, far->ref, " is the output of '", by->name, "' itself");
    snprintf(rest, sizeof rest, "', for which '%.*s' does not wait",
             (int)user->name.len, user->name.ptr);
    return refuse(c, far->ref, " is the output of '", by->name, rest);
}

/* Those who provide what is referred to from afar, in the order of keys. */
struct providers {
    uint32_t slot, action; /* the next one; PLAN_NONE: of the next slot */
};

static bool next_provider(const struct checker *c, struct providers *at)
{
    while (at->action == PLAN_NONE && ++at->slot < c->d->plan->keys.count)
        if (c->far_at[at->slot] != PLAN_NONE)
            at->action = c->first[at->slot];
    return at->action != PLAN_NONE;
}

/* The references to the next of them, 64 at most; bits has a word for each
 * node. */
static void settle(struct checker *c, struct providers *at, uint64_t *bits)
{
    const struct plan *p = c->d->plan;
    struct far_ref *far = (struct far_ref *)(void *)c->far.ptr;
    uint64_t mask[64] = {0};
    uint32_t slots[64], keys = 0;

    memset(bits, 0, p->count * 2 * sizeof *bits);
    for (uint32_t k = 0; k < 64 && next_provider(c, at); k++) {
        if (!keys || slots[keys - 1] != at->slot)
            slots[keys++] = at->slot;
        mask[keys - 1] |= (uint64_t)1 << k;
        bits[p->count + at->action] |= (uint64_t)1 << k;
        at->action = c->also[at->action];
    }
    spread(p, bits);
    for (uint32_t k = 0; k < keys; k++)
        for (uint32_t n = c->far_at[slots[k]]; n != PLAN_NONE; n = far[n].next)
            far[n].before |= (bits[far[n].user] & mask[k]) != 0;
}

static wend_status check_far(struct checker *c, bool *whole)
{
    const struct plan *p = c->d->plan;
    struct far_ref *far = (struct far_ref *)(void *)c->far.ptr;
    size_t count = c->far.len / sizeof *far;
    struct providers at = {UINT32_MAX, PLAN_NONE}; /* before the first slot */
    uint64_t *bits;

    if (!count)
        return WEND_OK;
    bits = draft_array(c->d, p->count * (size_t)2, sizeof *bits);
    if (!bits)
        return WEND_E_NOMEM;
    while (next_provider(c, &at))
        settle(c, &at, bits);
    for (uint32_t n = 0; n < count; n++) {
        if (far[n].before)
            continue;
        if (!p->open || c->first[far[n].ref->slot] == far[n].user)
            return not_before(c, &far[n]);
        whole[far[n].user] = false; /* a decision may still join them */
    }
    return WEND_OK;
}

static wend_status check_all(struct checker *c, bool *whole)
{
    const struct plan *p = c->d->plan;
    const struct plan_graph *g = &p->graph;
    wend_status s = WEND_OK;

    for (uint32_t i = 0; i < p->count; i++)
        c->seen[i] = PLAN_NONE;
    for (uint32_t k = 0; k < p->keys.count; k++) {
        c->far_at[k] = PLAN_NONE;
        c->asked[k] = p->count; /* nobody's number */
    }
    for (uint32_t i = 0; i < p->count && !s; i++) {
        for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
            c->seen[g->deps[k]] = i;
        s = check_refs(c, i, p->actions[i]->refs, &whole[i]);
    }
    if (!s)
        s = check_refs(c, PLAN_NONE, c->d->output_refs, NULL);
    return s ? s : check_far(c, whole);
}

wend_status draft_refs(struct plan_draft *d)
{
    struct checker c = {.d = d, .far = {.mem = d->f->arena->mem}};
    uint32_t count = d->plan->count;
    wend_status s;

    c.first = draft_array(d, d->plan->keys.count, sizeof *c.first);
    c.also = draft_array(d, count, sizeof *c.also);
    c.seen = draft_array(d, count, sizeof *c.seen);
    c.asked = draft_array(d, d->plan->keys.count, sizeof *c.asked);
    c.far_at = draft_array(d, d->plan->keys.count, sizeof *c.far_at);
    if (!c.first || !c.also || !c.seen || !c.asked || !c.far_at)
        return WEND_E_NOMEM;
    s = find_providers(&c);
    if (!s)
        s = check_keys(&c);
    if (!s)
        s = check_all(&c, d->whole);
    buf_free(&c.far);
    return s;
}

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
#define NEITHER " is neither an input nor an output_key"

struct checker {
    struct plan_draft *d;
    uint32_t *first; /* by slot: the first action with that output_key */
    uint32_t *also;  /* by action: the next one with the same key */
    uint32_t *seen;  /* by action: whose dependency it is */
    uint32_t *asked; /* by slot: the last action that referred to it */
    struct value_edges edges;
};

/* ---- Messages ------------------------------------------------------------ */

bool draft_refuse_ref(struct plan_draft *d, const struct ref *ref,
                      const char *why, wend_str name, const char *rest)
{
    uint32_t line = 0, column = 0;

    if (ref->in)
        fields_inside(d->f, ref->in, ref->at, &line, &column);
    return !fail_at(d->f->err, WEND_E_PARSE, line, column, "%.*s%s%.*s%s",
                    UTF8_ARGS(ref->text, REF_SHOWN_MAX), why, (int)name.len,
                    name.len ? name.ptr : "", rest);
}

static bool unprovided(struct checker *c, const struct ref *ref)
{
    const struct plan *p = c->d->plan;
    wend_str name = p->keys.list[ref->slot], near = STR_NONE;
    int best = 0;

    for (uint32_t k = 0; k < p->keys.count; k++)
        if ((p->inputs[k].ptr || c->first[k] != PLAN_NONE) &&
            str_nearer(name, p->keys.list[k], &best))
            near = p->keys.list[k];
    if (!near.ptr && plan_find(p, name) != PLAN_NONE)
        return draft_refuse_ref(
            c->d, ref,
            " is the name of an action; its output has a name only by "
            "output_key",
            STR(""), "");
    return draft_refuse_ref(c->d, ref,
                            near.ptr ? NEITHER "; did you mean $" : NEITHER,
                            near, near.ptr ? "?" : "");
}

/* ---- Who provides -------------------------------------------------------- */

static bool same_key(struct checker *c, uint32_t a, uint32_t b)
{
    const struct plan_action *one = c->d->actions[a], *two = c->d->actions[b];

    return !fail_at(c->d->f->err, WEND_E_PARSE, two->line, two->column,
                    "'%.*s' and '%.*s' both have the output_key '%.*s', and "
                    "both may run",
                    STR_ARGS(one->name), STR_ARGS(two->name),
                    STR_ARGS(two->output_key));
}

static bool find_providers(struct checker *c)
{
    struct plan *p = c->d->plan;

    for (uint32_t i = p->count; i; i--) {
        const struct plan_action *a = c->d->actions[i - 1];

        if (a->output_slot == NAME_NONE)
            continue;
        if (p->inputs[a->output_slot].ptr)
            return !fail_at(c->d->f->err, WEND_E_PARSE, a->line, a->column,
                            "the output_key '%.*s' of '%.*s' is an input "
                            "already",
                            STR_ARGS(a->output_key), STR_ARGS(a->name));
        c->also[i - 1] = c->first[a->output_slot];
        c->first[a->output_slot] = i - 1;
    }
    return true;
}

/* What check_same knows of all actions. */
struct case_book {
    uint32_t *root;    /* by action: that it is, in the end, a fallback of */
    uint32_t *case_of; /* the only case that names it, of all decisions */
    uint32_t *decision_of; /* by case */
    uint32_t *taken;       /* by case: an action of the key looked at */
};

static void find_cases(const struct plan *p, struct case_book *b)
{
    uint32_t number = 0;
    size_t count;

    for (uint32_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->actions[i]->cases_count; k++, number++) {
            const uint32_t *to = plan_chosen(p, i, k, &count);

            b->decision_of[number] = i;
            for (size_t n = 0; n < count; n++) {
                uint32_t *of = to[n] != PLAN_NONE ? &b->case_of[to[n]] : NULL;

                if (of)
                    *of =
                        *of == CASE_NONE || *of == number ? number : CASE_MANY;
            }
        }
}

static void find_roots(const struct plan *p, struct case_book *b)
{
    for (uint32_t k = 0; k < p->count * 2; k++) {
        uint32_t i = p->graph.order[k];

        if (i < p->count) /* after the one it is a fallback of */
            b->root[i] = p->graph.fallback_of[i] == PLAN_NONE
                             ? i
                             : b->root[p->graph.fallback_of[i]];
    }
}

/* At most one of those with the same key may end well: they are fallbacks of
 * one another, or stand in different cases of one decision. Where each has a
 * condition, the author must know. */
static bool check_same(struct checker *c, const struct case_book *b,
                       uint32_t first)
{
    uint32_t first_case = b->case_of[b->root[first]], i, mine;
    bool many = false, always = false;

    for (i = first; i != PLAN_NONE; i = c->also[i]) {
        many = many || b->root[i] != b->root[first];
        always = always || !c->d->actions[b->root[i]]->when;
    }
    if (!many || !always)
        return true;
    for (i = first; i != PLAN_NONE; i = c->also[i]) {
        mine = b->case_of[b->root[i]];
        if (first_case >= CASE_MANY || mine >= CASE_MANY ||
            b->decision_of[mine] != b->decision_of[first_case] ||
            (b->taken[mine] != PLAN_NONE &&
             b->root[b->taken[mine]] != b->root[i]))
            return same_key(c, first, i == first ? c->also[first] : i);
        b->taken[mine] = i;
    }
    for (i = first; i != PLAN_NONE; i = c->also[i])
        b->taken[b->case_of[b->root[i]]] = PLAN_NONE;
    return true;
}

static bool check_keys(struct checker *c)
{
    struct plan_draft *d = c->d;
    const struct plan *p = d->plan;
    struct case_book b;
    size_t cases = 0;
    bool ok = true;

    for (uint32_t i = 0; i < p->count; i++)
        cases += p->actions[i]->cases_count;
    b.root = draft_numbers(d, p->count, 0);
    b.case_of = draft_numbers(d, p->count, CASE_NONE);
    b.decision_of = draft_numbers(d, cases, 0);
    b.taken = draft_numbers(d, cases, PLAN_NONE);
    if (d->f->arena->failed)
        return false;
    find_roots(p, &b);
    find_cases(p, &b);
    for (uint32_t k = 0; ok && k < p->keys.count; k++)
        if (c->first[k] != PLAN_NONE && c->also[c->first[k]] != PLAN_NONE)
            ok = check_same(c, &b, c->first[k]);
    return ok;
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
static bool check_ref(struct checker *c, uint32_t user, const struct ref *ref)
{
    const struct plan *p = c->d->plan;
    struct value_use use = {.ref = ref, .user = user};
    bool ok;

    assert(c->first[ref->slot] != PLAN_NONE); /* an action provides it */
    if (c->asked[ref->slot] == user)
        return true; /* the answer is the same */
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
        return true; /* the outputs come after all actions */
    ok = value_use_add(&c->edges, &use);
    for (uint32_t i = use.provider; ok && i != PLAN_NONE; i = c->also[i])
        ok = is_direct(c, user, i) || value_edge_add(&c->edges, i);
    return ok;
}

static bool check_refs(struct checker *c, uint32_t user, const struct ref *refs,
                       bool *whole)
{
    const struct plan *p = c->d->plan;
    bool ok = true;

    for (const struct ref *ref = refs; ref && ok; ref = ref->next) {
        if (p->inputs[ref->slot].ptr)
            continue;
        if (c->first[ref->slot] != PLAN_NONE)
            ok = check_ref(c, user, ref);
        else if (p->open)
            *whole = false;
        else
            ok = unprovided(c, ref);
    }
    return ok;
}

/* Only tools give files; a fallback may, in the place of its action. */
static bool gives_files(const struct checker *c, uint32_t by)
{
    const struct plan *p = c->d->plan;

    for (; by != PLAN_NONE; by = c->also[by])
        for (uint32_t i = by; i != PLAN_NONE; i = p->graph.fallback[i])
            if (p->actions[i]->type == ACTION_TOOL ||
                p->actions[i]->type == ACTION_RELIC)
                return true;
    return false;
}

static bool check_files(struct checker *c, const struct plan_action *a)
{
    for (size_t i = 0; i < a->files.count; i++) {
        const struct plan_file *file = &a->files.list[i];
        uint32_t by =
            file->ref && !file->given ? c->first[file->ref->slot] : PLAN_NONE;

        if (by != PLAN_NONE && !gives_files(c, by))
            return draft_refuse_ref(c->d, file->ref, " is the output of '",
                                    c->d->actions[by]->name,
                                    "', which is no tool and gives no files");
    }
    return true;
}

static bool check_all(struct checker *c)
{
    const struct plan *p = c->d->plan;
    const struct plan_graph *g = &p->graph;
    bool ok = true;

    for (uint32_t i = 0; i < p->count && ok; i++) {
        for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
            c->seen[g->deps[k]] = i;
        ok = check_refs(c, i, p->actions[i]->refs, &c->d->whole[i]) &&
             check_files(c, p->actions[i]);
    }
    return ok && check_refs(c, PLAN_NONE, c->d->output_refs, NULL) &&
           value_edges_settle(&c->edges);
}

bool draft_refs(struct plan_draft *d)
{
    uint32_t count = d->plan->count, keys = d->plan->keys.count;
    struct checker c = {
        .d = d,
        .first = draft_numbers(d, keys, PLAN_NONE),
        .also = draft_numbers(d, count, PLAN_NONE),
        .seen = draft_numbers(d, count, PLAN_NONE),
        .asked = draft_numbers(d, keys, count), /* no action has this number */
        .edges = {d, {.mem = d->f->arena->mem}, {.mem = d->f->arena->mem}},
    };
    bool ok = !d->f->arena->failed && find_providers(&c) && check_keys(&c) &&
              check_all(&c);

    buf_free(&c.edges.uses);
    buf_free(&c.edges.list);
    return ok;
}

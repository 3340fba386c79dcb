/*
 * retry_child.c - what a retry counts, and the children that it continues.
 *
 * Both follow from the run at its end and from the fork as it begins: what the
 * run has used and the fork has not was used for what is done again, and a
 * child is continued if the call or action that waited for it is open again.
 */
#include "lib/run/fork.h"

#include <string.h>

/* Whether the fork, as it begins, will start that call or action. */
static bool is_open(const struct turn *t, const wend_ev_unfinished *e)
{
    int c = e->call.ptr ? turn_call_index(t, e->call) : -1;
    uint32_t i = e->action.ptr && t->plan.started
                     ? plan_find(t->plan.plan, e->action)
                     : PLAN_NONE;

    return (c >= 0 && !(t->flags[c] & CALL_ENDED)) ||
           (i != PLAN_NONE && plan_action_state(&t->plan, i)->at != AT_ENDED);
}

/* A child that was canceled before it began has no log, but the run that it was
 * to continue has. An imported run may have the id of another one. */
static bool has_log(struct fork *f, wend_str run)
{
    struct arena a = {.mem = &f->store->mem};
    wend_run_info *info;
    bool has = run.ptr &&
               store_info(f->store, run.ptr, &a, &info, NULL) == WEND_OK &&
               (f->imported || !info->imported);

    arena_free(&a);
    return has;
}

struct heirs {
    wend_ev_unfinished *list;
    size_t count;
};

static void add_heir(struct fork *f, struct heirs *h, const struct turn *t,
                     const wend_ev_unfinished *e)
{
    for (size_t i = 0; i < h->count; i++)
        if (str_eq(h->list[i].call, e->call) &&
            str_eq(h->list[i].action, e->action))
            return; /* it has a newer one */
    if (e->input.ptr && is_open(t, e) && has_log(f, e->run))
        h->list[h->count++] = *e;
}

static void add_heirs(struct fork *f, struct heirs *h, const struct turn *t)
{
    const struct retry *r = f->retry;
    size_t count = 0;

    for (const struct retry_child *c = r->children; c; c = c->next)
        count++;
    for (const struct unfinished *u = r->turn.unfinished; u; u = u->next)
        count++;
    h->list = arena_alloc(&f->arena, (count + 1) * sizeof *h->list);
    for (struct retry_child *c = h->list ? r->children : NULL; c; c = c->next) {
        if (!has_log(f, c->e.run))
            c->e.run = c->from;
        add_heir(f, h, t, &c->e);
    }
    for (const struct unfinished *u = h->list ? r->turn.unfinished : NULL; u;
         u = u->next)
        if (!u->as.ptr)
            add_heir(f, h, t,
                     &(wend_ev_unfinished){.call = u->call,
                                           .action = u->action,
                                           .run = u->run,
                                           .input = u->input,
                                           .metrics = u->metrics});
}

/* The fork, as it begins, has used less than the run at its end. */
static const wend_ev_metrics *redone(struct fork *f, const struct turn *t)
{
    const struct turn *end = &f->retry->turn;
    static const wend_ev_metrics none;
    wend_ev_metrics *m = arena_alloc(&f->arena, sizeof *m);

    if (!m)
        return NULL;
    *m = metrics_more(&end->metrics, &t->metrics);
    if (end->unpriced && !t->unpriced)
        m->cost_nano = -1;
    return memcmp(m, &none, sizeof none) != 0 ? m : NULL;
}

static int64_t anew(int64_t limit, int64_t used)
{
    return limit ? i64_sum(limit, used > 0 ? used : 0) : 0;
}

/* A child has its own limits anew, as it would if it began once more: nothing
 * but its file could raise them. Those of its parents count on. */
static void renew_limits(struct fork *f, wend_ev_run_fork *e)
{
    wend_ev_limits *l = arena_alloc(&f->arena, sizeof *l);
    const wend_ev_metrics *m = &f->used;

    if (!l)
        return;
    *l = f->child->start->limits;
    l->turns = anew(l->turns, m->turns);
    l->tokens = anew(l->tokens, i64_sum(m->tokens_in, m->tokens_out));
    l->cost_nano = anew(l->cost_nano, m->cost_nano);
    if (memcmp(l, &f->turn.limits, sizeof *l) != 0)
        e->limits = l;
}

void retry_sum_up(struct fork *f)
{
    wend_ev_run_fork *e = &f->events[0].u.run_fork;
    struct keep keep = {&f->arena, NULL};
    struct turn t = f->turn;
    struct heirs h = {0};

    if (!f->retry)
        return;
    for (size_t i = 0; i < f->events_count; i++)
        turn_apply(&t, &f->events[i], &keep);
    if (f->arena.failed)
        return;
    add_heirs(f, &h, &t);
    e->children = h.list;
    e->children_count = h.count;
    e->redone = redone(f, &t);
    turn_take_redone(&t, e->redone);
    f->used = turn_metrics(&t);
    if (f->child)
        renew_limits(f, e);
}

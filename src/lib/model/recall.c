/*
 * recall.c - the answers that a log has, told to a driver that counts them.
 *
 * A script takes its entries in the order in which it is asked. Model calls
 * of actions are under way beside each other and end in any order; so each
 * takes its entry in the order of beginning, and those that were cut off give
 * theirs back for the request that replaces them.
 */
#include "lib/plan/action.h"

struct recalled {
    struct recalled *next;
    wend_str action; /* absent: the turn's own */
    struct turn turn;
    struct msg msg;
    bool ended;
    int64_t taken;
};

static void take(struct recall *q, struct recalled *c)
{
    const struct driver_ops *ops = q->run->session->ops;

    c->taken = ops->recall ? ops->recall(q->run->session, &c->turn) : -1;
}

static void drop(struct recall *q, struct recalled *c)
{
    struct recalled **link = &q->first;

    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    mem_free(&q->run->rt->mem, c);
}

static struct recalled *find(const struct recall *q, wend_str action)
{
    struct recalled *c = q->first;

    while (c && (c->ended || !str_eq(c->action, action)))
        c = c->next;
    return c;
}

static void ends(struct recall *q, wend_str action)
{
    struct recalled *c = find(q, action);

    if (c)
        c->ended = true;
    while (q->first && q->first->ended) {
        take(q, q->first);
        drop(q, q->first);
    }
}

void recall_before(struct recall *q, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    struct recalled *own = find(q, STR_NONE);

    if (ev->type == WEND_MODEL_RETRY)
        ends(q, STR_NONE);
    else if (ev->type == WEND_RUN_RESUME)
        recall_lost(q);
    else if (ev->type == WEND_MODEL_END && !str_is(e->finish, "hook"))
        ends(q, e->action);
    else if (ev->type == WEND_MODEL_END && own)
        drop(q, own); /* a hook gave the answer: no model was asked */
}

bool recall_after(struct recall *q, const wend_event *ev)
{
    struct recalled **link = &q->first, *c;
    bool of_action =
        ev->type == WEND_MODEL_START && ev->u.model_start.action.ptr;

    if (ev->type != WEND_MODEL_START && ev->type != WEND_MODEL_RETRY)
        return true;
    c = mem_zalloc(&q->run->rt->mem, sizeof *c);
    if (!c)
        return false;
    c->turn = q->run->turn;
    if (of_action) {
        c->action = arena_str(&q->run->arena, ev->u.model_start.action);
        ask_turn(q->run, c->action, &c->turn, &c->msg);
    }
    while (*link)
        link = &(*link)->next;
    *link = c;
    return !q->run->arena.failed;
}

/* A message that is closed with what had begun of it is an answer. */
static bool stays(const struct turn *t)
{
    return t->phase == PH_MODEL && (t->calls_count || turn_plan_open(t));
}

void recall_lost(struct recall *q)
{
    struct wend_run *r = q->run;
    struct recalled *own = find(q, STR_NONE);

    if (own && stays(&r->turn))
        own->ended = true;
    for (struct recalled *c = q->first; c; c = c->next)
        take(q, c);
    while (q->first) {
        if (!q->first->ended && q->first->taken >= 0)
            r->session->ops->give_back(r->session, &q->first->turn,
                                       q->first->taken);
        drop(q, q->first);
    }
}

void recall_free(struct recall *q)
{
    while (q->first)
        drop(q, q->first);
}

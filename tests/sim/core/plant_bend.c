/*
 * plant_bend.c - bugs on purpose: tt decides from something that is not so.
 */
#include "plant_bend.h"

static struct config *bend_config(struct sim *s, struct turn *t)
{
    struct config *c = &s->bent_config;

    if (!t->config)
        return NULL;
    *c = *t->config;
    for (size_t i = 0; i < c->tools_count; i++)
        s->bent_tools[i] = c->tools[i];
    c->tools = s->bent_tools;
    t->config = c;
    return c;
}

void bend_parallel(struct sim *s, struct turn *t, struct input *in)
{
    (void)s, (void)in;
    t->limits.parallel++;
}

void bend_turns(struct sim *s, struct turn *t, struct input *in)
{
    (void)s, (void)in;
    t->limits.turns++;
}

void bend_cost(struct sim *s, struct turn *t, struct input *in)
{
    (void)s, (void)in;
    if (t->limits.cost_nano)
        t->limits.cost_nano += 1000000;
}

void bend_tokens(struct sim *s, struct turn *t, struct input *in)
{
    (void)s, (void)in;
    if (t->limits.tokens)
        t->limits.tokens += 100;
}

void bend_pause(struct sim *s, struct turn *t, struct input *in)
{
    (void)s;
    if (in->kind != IN_PAUSE && in->kind != IN_CONTINUE)
        t->paused = false;
}

void bend_stop(struct sim *s, struct turn *t, struct input *in)
{
    (void)s, (void)in;
    t->stop.outcome = WEND_OUTCOME_NONE;
}

void bend_eager(struct sim *s, struct turn *t, struct input *in)
{
    struct config *c = bend_config(s, t);

    (void)in;
    if (c)
        c->eager = EAGER_ALL;
}

void bend_approve(struct sim *s, struct turn *t, struct input *in)
{
    struct config *c = bend_config(s, t);

    (void)in;
    if (c)
        c->own.approve = APPROVE_ALL;
}

void bend_rules(struct sim *s, struct turn *t, struct input *in)
{
    struct config *c = bend_config(s, t);

    (void)in;
    if (c)
        c->own.rules_count = 0;
}

void bend_beside(struct sim *s, struct turn *t, struct input *in)
{
    (void)in;
    if (!bend_config(s, t))
        return;
    for (size_t i = 0; i < s->bent_config.tools_count; i++)
        s->bent_tools[i].concurrent = true;
}

/* As if neither turn nor ask were looked at. */
void bend_late(struct sim *s, struct turn *t, struct input *in)
{
    int i = turn_call_index(t, in->done.call);

    (void)s;
    in->ask = t->ask;
    if (in->kind != IN_CALL_DONE || i < 0)
        return;
    in->done.turn = t->counter;
    t->flags[i] &= ~CALL_ENDED;
}

void bend_pieces(struct sim *s, struct turn *t, struct input *in)
{
    (void)t;
    if (in->kind != IN_MODEL_FAIL || !in->reply)
        return;
    s->bent_reply = *in->reply;
    s->bent_reply.pieces = 0;
    in->reply = &s->bent_reply;
}

void bend_attempt(struct sim *s, struct turn *t, struct input *in)
{
    (void)s;
    if (in->kind == IN_MODEL_FAIL && t->tries > RETRIES_MAX)
        t->tries = RETRIES_MAX;
}

void bend_schema(struct sim *s, struct turn *t, struct input *in)
{
    struct config *c = bend_config(s, t);

    (void)in;
    if (c)
        c->schema = NULL;
}

void bend_window(struct sim *s, struct turn *t, struct input *in)
{
    struct config *c = bend_config(s, t);

    (void)in;
    if (c)
        c->no_compaction = true;
}

void bend_repair(struct sim *s, struct turn *t, struct input *in)
{
    (void)s;
    if (in->kind == IN_MODEL_DONE)
        t->repair = t->repair_used = false;
}

/* A livelock: the timer asks for itself again, for ever. */
void bend_retry(struct sim *s, struct turn *t, struct input *in)
{
    (void)s;
    if (in->kind == IN_TIMER && in->timer == TIMER_RETRY)
        t->paused = true;
}

/* An unsafe call taken for one that may run twice. */
void bend_class(struct sim *s, struct turn *t, struct input *in)
{
    if (in->kind != IN_RESUME || !bend_config(s, t))
        return;
    for (size_t i = 0; i < s->bent_config.tools_count; i++)
        s->bent_tools[i].call_class = WEND_CLASS_IDEMPOTENT;
}

/* What was bent is not the run's: the next step sees the truth again. */
void unbend(struct sim *s, struct step *step)
{
    bool stops = false, pauses = false;

    if (s->turn.phase == PH_NEW)
        return;
    for (struct step_event *e = step->events; e; e = e->next) {
        const wend_ev_control *c = &e->ev.u.control;
        bool pause;

        if (e->ev.type != WEND_CONTROL)
            continue;
        pause = str_is(c->what, "pause") || str_is(c->what, "continue");
        stops |= !pause && !str_is(c->what, "compact");
        pauses |= pause;
    }
    step->turn.config = s->turn.config;
    step->turn.plan.plan = s->turn.plan.plan;
    step->turn.limits = s->turn.limits;
    step->turn.repair |= s->turn.repair;
    step->turn.repair_used |= s->turn.repair_used;
    if (!stops)
        step->turn.stop = s->turn.stop;
    if (!pauses)
        step->turn.paused = s->turn.paused;
}

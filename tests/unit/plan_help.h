/*
 * plan_help.h - runs a plan through core/tt in virtual time.
 *
 * How long each action takes and how its attempts end is given beforehand.
 * After each step the state folded from the bytes of the events can be
 * compared with the live one.
 */
#ifndef TESTS_PLAN_HELP_H
#define TESTS_PLAN_HELP_H

#include <stdlib.h>

#include "state/state.h"
#include "core/turn/tt.h"
#include "tap.h"

enum { DEEDS_MAX = 256, NEVER = -1 };

#define PLAN_RUN_ID "01900000-0000-7000-8000-0123456789ab"
/* r reads, u may have an effect, q is asked about, n is denied. */
#define PLAN_CONFIG                                                       \
    "{\"tools\":[{\"name\":\"r\",\"class\":\"read\"},{\"name\":\"u\"},"   \
    "{\"name\":\"q\"},{\"name\":\"n\"}],\"policy\":{\"approve\":\"ask\"," \
    "\"rules\":[\"r\",\"u\",\"!n\"]}}"

static const struct mem plan_mem;

/* What the hands would do. */
struct deed {
    int64_t ms;           /* each attempt takes */
    int fails;            /* attempts that fail first */
    wend_outcome as;      /* ... as; NONE: failed */
    bool effect_possible; /* ... and say so */
    int64_t tokens;       /* its model's answer took, each time */
    bool deaf;            /* does not stop when told */
    const char *output;   /* NULL: its index */
};

struct seen {
    int64_t start_ms, end_ms; /* NEVER */
    int starts, ends, retries;
    int cuts; /* attempts that were superseded */
    wend_outcome outcome;
    char reason[48], code[32];
};

struct due {
    uint32_t action;
    int64_t attempt, at_ms, number;
    bool used;
};

struct plan_world {
    struct arena kept, scratch, folded_kept;
    struct keep keep;
    struct turn turn, folded;
    struct deed *deeds;
    struct seen seen[DEEDS_MAX];
    struct due dues[DEEDS_MAX];
    int64_t now_ms, number;
    uint32_t running, running_max, count;
    wend_outcome plan_outcome, run_outcome;
    wend_ev_plan_end plan_end;
    char text[512], error[256];
    struct buf order;          /* what happened: +name -name(outcome) */
    bool lawful;               /* fold and compare after each step */
    bool patience;             /* the stop timer is set */
    const int64_t *learned_ms; /* with the start */
    int64_t parallel;          /* of the run's limits; 0: none */
    int64_t tokens, cost_nano; /* the same */
    const char *config;        /* NULL: PLAN_CONFIG */
    int broken;
};

static inline void plan_broke(struct plan_world *w, const char *law)
{
    if (!w->broken++)
        printf("# broken at %lld ms: %s\n", (long long)w->now_ms, law);
}

static inline void plan_world_free(struct plan_world *w)
{
    arena_free(&w->kept);
    arena_free(&w->scratch);
    arena_free(&w->folded_kept);
    buf_free(&w->order);
    free(w);
}

static inline struct plan_world *plan_world_new(struct deed *deeds)
{
    struct plan_world *w = calloc(1, sizeof *w);

    w->kept.mem = w->scratch.mem = w->folded_kept.mem = &plan_mem;
    w->order.mem = &plan_mem;
    w->keep.arena = &w->kept;
    w->deeds = deeds;
    turn_init(&w->turn);
    turn_init(&w->folded);
    for (uint32_t i = 0; i < DEEDS_MAX; i++)
        w->seen[i].start_ms = w->seen[i].end_ms = NEVER;
    return w;
}

/* ---- Events -------------------------------------------------------------- */

static inline void copy_text(char *to, size_t size, wend_str s)
{
    snprintf(to, size, "%.*s", (int)s.len, s.ptr ? s.ptr : "");
}

static inline void see_start(struct plan_world *w, const wend_event *ev)
{
    uint32_t i = plan_find(w->turn.plan.plan, ev->u.action_start.action);
    struct seen *s = &w->seen[i];

    if (!s->starts++)
        s->start_ms = w->now_ms;
    buf_fmt(&w->order, " +%.*s", (int)ev->u.action_start.action.len,
            ev->u.action_start.action.ptr);
    if (ev->u.action_start.attempt > 1)
        buf_fmt(&w->order, "#%d", (int)ev->u.action_start.attempt);
}

static inline void see_end(struct plan_world *w, const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;
    uint32_t i = plan_find(w->turn.plan.plan, e->action);
    struct seen *s = &w->seen[i];

    buf_fmt(&w->order, " -%.*s", (int)e->action.len, e->action.ptr);
    if (e->outcome == WEND_OUTCOME_SUPERSEDED) {
        s->cuts++;
        buf_cstr(&w->order, "(superseded)");
        return;
    }
    s->ends++;
    s->end_ms = w->now_ms;
    s->outcome = e->outcome;
    copy_text(s->reason, sizeof s->reason, e->reason);
    if (e->error)
        copy_text(s->code, sizeof s->code, e->error->code);
    if (e->outcome != WEND_OUTCOME_OK)
        buf_fmt(&w->order, "(%s%s%s%s%s)", wend_outcome_name(e->outcome),
                e->reason.ptr ? "," : "", s->reason, s->code[0] ? "," : "",
                s->code);
}

static inline void see(struct plan_world *w, const wend_event *ev)
{
    if (ev->type == WEND_ACTION_START) {
        see_start(w, ev);
    } else if (ev->type == WEND_ACTION_END) {
        see_end(w, ev);
    } else if (ev->type == WEND_ACTION_RETRY) {
        w->seen[plan_find(w->turn.plan.plan, ev->u.action_retry.action)]
            .retries++;
        buf_fmt(&w->order, " ~%.*s(%d)", (int)ev->u.action_retry.action.len,
                ev->u.action_retry.action.ptr,
                (int)ev->u.action_retry.delay_ms);
    } else if (ev->type == WEND_APPROVAL_ASK) {
        buf_fmt(&w->order, " ?%.*s", (int)ev->u.approval_ask.action.len,
                ev->u.approval_ask.action.ptr);
    } else if (ev->type == WEND_PLAN_END) {
        w->plan_end = ev->u.plan_end;
        w->plan_outcome = ev->u.plan_end.outcome;
        buf_fmt(&w->order, " plan(%s)", wend_outcome_name(w->plan_outcome));
    } else if (ev->type == WEND_RUN_END) {
        w->run_outcome = ev->u.run_end.outcome;
        copy_text(w->text, sizeof w->text, ev->u.run_end.text);
        if (ev->u.run_end.error)
            copy_text(w->error, sizeof w->error, ev->u.run_end.error->message);
        buf_fmt(&w->order, " run(%s)", wend_outcome_name(w->run_outcome));
    }
}

static inline wend_status plan_no_blob(void *ctx, wend_str hash,
                                       struct arena *a, wend_str *text)
{
    (void)ctx;
    (void)hash;
    (void)a;
    (void)text;
    return WEND_E_NOTFOUND; /* no test here makes one */
}

static inline void fold_event(struct plan_world *w, const wend_event *ev)
{
    struct keep keep = {&w->folded_kept, NULL};
    struct arena a = {.mem = &plan_mem};
    struct buf line = {.mem = &plan_mem};
    wend_event back;

    event_write(&line, ev, NULL);
    if (event_read(buf_view(&line), &a, plan_no_blob, NULL, &back, NULL) !=
        WEND_OK)
        plan_broke(w, "an event reads back");
    else
        turn_apply(&w->folded, &back, &keep);
    arena_free(&a);
    buf_free(&line);
}

static inline char *state_text(const struct turn *t)
{
    struct buf b = {.mem = &plan_mem};

    turn_write(&b, t);
    return b.ptr;
}

static inline void compare_states(struct plan_world *w, const struct turn *old,
                                  const char *old_text)
{
    struct arena a = {.mem = &plan_mem};
    struct keep keep = {&a, NULL};
    char *live = state_text(&w->turn), *folded = state_text(&w->folded);
    char *still = state_text(old), *again;
    struct turn back;

    if (strcmp(live, folded))
        plan_broke(w, "the fold of the log is the live state");
    if (strcmp(still, old_text))
        plan_broke(w, "an old state stays as it was");
    if (turn_read(str_of(live), &keep, &back, NULL) != WEND_OK) {
        plan_broke(w, "a state reads back");
    } else {
        again = state_text(&back);
        if (strcmp(live, again))
            plan_broke(w, "a state equals what was read from it");
        free(again);
    }
    free(live);
    free(folded);
    free(still);
    arena_free(&a);
}

/* ---- Effects ------------------------------------------------------------- */

static inline void add_due(struct plan_world *w, const struct effect *fx)
{
    struct due *d = &w->dues[fx->action];
    const struct deed *deed = &w->deeds[fx->action];

    *d = (struct due){.action = fx->action,
                      .attempt = fx->attempt,
                      .at_ms = w->now_ms + fx->delay_ms + deed->ms,
                      .number = w->number++,
                      .used = true};
}

static inline void take_plan_effects(struct plan_world *w, const struct step *s)
{
    for (const struct effect *fx = s->effects; fx; fx = fx->next) {
        if (fx->kind == FX_RUN_ACTION)
            add_due(w, fx);
        else if (fx->kind == FX_STOP_ACTION && w->dues[fx->action].used &&
                 !w->deeds[fx->action].deaf)
            w->dues[fx->action].at_ms = NEVER; /* canceled, at once */
        else if (fx->kind == FX_TIMER && fx->timer == TIMER_STOP)
            w->patience = true;
    }
}

static inline void plan_feed(struct plan_world *w, struct input *in)
{
    char *old_text = w->lawful ? state_text(&w->turn) : NULL;
    struct turn old = w->turn;
    struct step s;

    in->time_us = 1000000 + w->now_ms * 1000;
    arena_reset(&w->scratch);
    step_begin(&s, &w->scratch, &w->keep);
    tt(&w->turn, in, &s);
    if (w->scratch.failed || w->kept.failed) {
        plan_broke(w, "there is memory");
        free(old_text);
        return;
    }
    w->turn = s.turn;
    for (const struct step_event *e = s.events; e; e = e->next) {
        see(w, &e->ev);
        if (w->lawful)
            fold_event(w, &e->ev);
    }
    take_plan_effects(w, &s);
    w->running = w->turn.plan.running;
    if (w->running > w->running_max)
        w->running_max = w->running;
    if (w->lawful)
        compare_states(w, &old, old_text);
    free(old_text);
}

/* ---- Inputs -------------------------------------------------------------- */

static inline void plan_start_run(struct plan_world *w, wend_str plan_json)
{
    wend_ev_run_start start;
    struct input in = {.kind = IN_START, .start = &start};

    memset(&start, 0, sizeof start);
    start.prompt = STR("plan");
    start.agent = start.model = STR("script");
    start.config_json = w->config ? str_of(w->config) : STR(PLAN_CONFIG);
    start.plan_json = plan_json;
    start.limits.turns = 5;
    start.limits.parallel = w->parallel;
    start.limits.tokens = w->tokens;
    start.limits.cost_nano = w->cost_nano;
    in.learned_ms = w->learned_ms;
    in.run = STR(PLAN_RUN_ID);
    plan_feed(w, &in);
    if (w->turn.plan.plan)
        w->count = w->turn.plan.plan->count;
}

static inline void plan_say(struct plan_world *w, enum input_kind kind)
{
    struct input in = {.kind = kind};

    if (kind != IN_RESUME) /* whom it is said by would end it */
        in.by = STR("user");
    plan_feed(w, &in);
}

/* The attempt that is due first ends; false if none is under way. */
static inline bool plan_tick(struct plan_world *w)
{
    struct due *first = NULL;
    const struct deed *deed;
    struct input in = {.kind = IN_ACTION_DONE};
    struct reply reply = {.usage = {.cost_nano = -1}};
    char number[16];
    bool fails;

    for (uint32_t i = 0; i < w->count; i++) {
        struct due *d = &w->dues[i];

        if (d->used &&
            (!first || d->at_ms < first->at_ms ||
             (d->at_ms == first->at_ms && d->number < first->number)))
            first = d;
    }
    if (!first)
        return false;
    first->used = false;
    deed = &w->deeds[first->action];
    fails = first->attempt <= deed->fails;
    snprintf(number, sizeof number, "%u", first->action);
    in.done.action = first->action;
    in.done.attempt = first->attempt;
    if (deed->tokens) {
        reply.usage.output = deed->tokens;
        in.reply = &reply;
    }
    if (first->at_ms == NEVER) {
        in.done.outcome = WEND_OUTCOME_CANCELED;
        in.done.output = in.done.code = STR("canceled");
    } else {
        w->now_ms = first->at_ms;
        in.done.outcome = !fails     ? WEND_OUTCOME_OK
                          : deed->as ? deed->as
                                     : WEND_OUTCOME_FAILED;
        in.done.output = str_of(deed->output ? deed->output : number);
        in.done.effect_possible = fails && deed->effect_possible;
        if (in.done.outcome == WEND_OUTCOME_TIMEOUT)
            in.done.code = STR("timeout");
    }
    plan_feed(w, &in);
    return true;
}

static inline void plan_play(struct plan_world *w)
{
    while (plan_tick(w))
        continue;
}

#endif

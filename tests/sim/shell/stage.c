/*
 * lib_stage.h - where programs act that are none: what each has, how it goes.
 */
#ifndef SIM_LIB_STAGE_H
#define SIM_LIB_STAGE_H

#include <signal.h>

#include "net.c"

enum program_kind {
    PROGRAM_GOOD,
    PROGRAM_FAILS,    /* an exit code */
    PROGRAM_DIES,     /* by a signal */
    PROGRAM_FLOODS,   /* output until it is killed for it */
    PROGRAM_HANGS,    /* until it is told to stop */
    PROGRAM_STUBBORN, /* until it is killed */
    PROGRAM_MISSING,
    PROGRAM_KINDS
};

struct act {
    struct proc base;
    struct stage *stage;
    struct act *next;
    struct world_event event;
    struct proc_events events;
    void *ctx;
    struct known *of; /* NULL: a server of tools, which is its agent's */
    struct said *said_later;
    struct buf heard; /* of a line that is not whole */
    enum program_kind kind;
    uint32_t pieces; /* of output, to come */
    size_t said;
    int64_t grace_ms;
    bool stopped, ended, freed, inside;
};

/* A line that a server is going to say. */
struct said {
    struct said *next;
    struct act *of;
    struct world_event event;
    struct buf text;
    bool dies; /* instead of its end */
};

struct stage {
    struct procs base;
    struct sim *sim;
    struct act *live;
};

static void said_free(struct said *l)
{
    struct said **link = &l->of->said_later;

    while (*link != l)
        link = &(*link)->next;
    *link = l->next;
    world_clear(&l->of->stage->sim->world, &l->event);
    buf_free(&l->text);
    free(l);
}

static void act_gone(struct act *a)
{
    struct act **link = &a->stage->live;

    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    world_clear(&a->stage->sim->world, &a->event);
    while (a->said_later)
        said_free(a->said_later);
    buf_free(&a->heard);
    free(a);
}

static void tell_exit(struct act *a, enum proc_how how, int code,
                      const char *message)
{
    struct proc_end end = {.how = how, .code = code, .message = message};

    a->ended = a->inside = true;
    trace(a->stage->sim, "%s %u: a program ends: %d %s",
          a->of ? "run" : "server", a->of ? a->of->place : 0, (int)how,
          message);
    if (a->of)
        a->stage->sim->counters->program_ends[how]++;
    a->events.end(a->ctx, &end);
    a->inside = false;
    if (a->freed)
        act_gone(a);
}

static void again_in(struct act *a, int64_t ms)
{
    struct world *w = &a->stage->sim->world;

    world_at(w, &a->event, w->clock_us + ms * 1000);
}

#endif

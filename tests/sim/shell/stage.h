/*
 * stage.h - programs that are only played: what each has and how it goes.
 */
#ifndef SIM_SHELL_STAGE_H
#define SIM_SHELL_STAGE_H

#include "sim.h"

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

void said_free(struct said *l);
void act_gone(struct act *a);
void tell_exit(struct act *a, enum proc_how how, int code, const char *message);
void again_in(struct act *a, int64_t ms);

#endif

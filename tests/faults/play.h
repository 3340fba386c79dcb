/*
 * play.h - scenarios of the command, and one round of them with a fault.
 */
#ifndef FAULTS_PLAY_H
#define FAULTS_PLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    ARGS_MAX = 24,
    TEXT_MAX = 256 << 10,
    BOUND_SECONDS = 20,  /* until it is a hang, at least ... */
    BOUND_TIMES = 20,    /* ... and so often what it takes without a fault */
    CLEAN_SECONDS = 100, /* which may be this */
    TRACEES_MAX = 64,
    TRACE_LINE = 1000,
};

struct scenario {
    const char *name;
    const char *prepare; /* for bash, once; in a folder that rounds copy */
    const char *args[ARGS_MAX]; /* of the command */
    const char *ca;             /* that a resume needs, too */
    const char *then[ARGS_MAX]; /* works, if that has worked */
    const char *file;           /* that it writes */
    bool json;                  /* prints the events of a run */
    bool run;                   /* makes or ends a run: the newest one */
};

struct fault {
    char call[40], error[20];
    int when;
    bool of_store;       /* only calls that name a file of the store count */
    const char *instead; /* what strace does in place of an error */
};

/* What a round came to. */
struct outcome {
    int status;  /* of waitpid */
    bool hangs;  /* and was killed */
    bool hit;    /* the fault came to pass */
    bool store;  /* at a file of the store */
    bool shut;   /* standard output, that nobody reads any more */
    bool pipes;  /* at a new pipe */
    bool spared; /* where it is nobody's fault what follows */
    char flaw[300], fault[300];
    char file[TEXT_MAX];
    char out[TEXT_MAX], err[TEXT_MAX];
};

extern char play_dir[64], play_server[200], play_tls[200], play_ca[100];
extern char play_mcp[200], play_wend[200];
extern char play_short[200]; /* the library of short.c */
extern int play_server_pid;
extern double play_bound; /* seconds until it is a hang */

void blame(struct outcome *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

bool play_prepare(const struct scenario *sc);
/* Without a fault; all calls are in the file "trace". How long it takes says
 * what a hang is: a busy machine is none. */
bool play_clean(const struct scenario *sc, struct outcome *o);
/* How many allocations the command makes. */
int play_count(const struct scenario *sc);
void play_fault(const struct scenario *sc, const struct fault *f,
                struct outcome *o);
/* Another command in the same place; its exit status, -1 if it has none. */
int play_other(const char *const args[], struct outcome *o);

/* The next call of a trace: one line, also where strace makes two, because
 * another call came between its begin and its end. */
bool trace_next(FILE *f, char line[TRACE_LINE]);

/* Whether the round did what it must; and the store afterwards. */
void check_round(const struct scenario *sc, const struct outcome *clean,
                 struct outcome *o);

#endif

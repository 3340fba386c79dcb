/*
 * stage.h - scenarios, what was seen of one, and whether that is right.
 */
#ifndef OOM_STAGE_H
#define OOM_STAGE_H

#include "base/str.h"

enum {
    RUNS_MAX = 3,
    KEPT_MAX = 512, /* events of a run that are compared */
    ROUND_SECONDS = 60,
};

/* What a reader was shown of one run. It is written while memory fails, so
 * nothing in it is allocated. */
struct seen {
    char id[40];
    int64_t seq; /* newest kept event */
    uint8_t types[KEPT_MAX];
    long counts[WEND_EVENT_TYPES];
    char answer[128];
    char code[64];      /* of the first failure that an event tells */
    wend_status status; /* WEND_END: run_end was shown */
    wend_outcome outcome;
};

/* One round of a scenario. */
struct tale {
    wend_status status; /* of the first call that failed */
    char at[40];        /* which one */
    char message[160];
    char flaw[200]; /* what must never be, whatever failed */
    char said[128]; /* what a scenario without runs found */
    struct seen runs[RUNS_MAX];
    size_t count;
};

/* What an agent has besides functions. */
enum {
    USES_COMMAND = 1, /* a program */
    USES_MCP = 2,     /* a server of tools */
    USES_AGENT = 4,   /* another agent, `kid` */
    USES_KV = 8,      /* a relic, `cache` */
};

struct scenario {
    const char *name;
    /* All of it; frees what it made. */
    void (*body)(const struct scenario *, struct tale *);
    const char *script;   /* turns of the model */
    const char *model;    /* in place of a script */
    const char *fallback; /* another model */
    bool tls;             /* the model is asked by libcurl */
    unsigned uses;
    const char *plan, *schema;
    wend_approve approve;
    wend_eager eager;
    bool cancels, says;
    bool planner;           /* the model writes a plan */
    bool unsafe;            /* resumed, it may fail: an outcome is not known */
    bool makes;             /* the store is made in the round */
    bool in_memory;         /* the store is none of SQLite's */
    const char *answers[3]; /* that a run may end with, besides its own */
    int runs;               /* of the script; default 1 */
    /* Before the round, with memory. */
    bool (*prepare)(const struct scenario *);
    bool waits;          /* for real: not all rounds are played */
    const char *planted; /* has a defect that must be found as this */
    unsigned seconds;    /* until a round hangs; default ROUND_SECONDS */
};

extern const struct scenario scenarios[];
extern const size_t scenarios_count;

/* Notes a failed call; whether it was fine. */
bool step_ok(struct tale *t, const char *what, wend_status s,
             const wend_error *err);
void flaw(struct tale *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Where the servers of tests are; set before anything is played. */
struct servers {
    char http[80], https[80], ca[96], mcp[200];
};
extern struct servers servers;

struct stage {
    wend_store *store;
    wend_runtime *rt;
    wend_agent *agent, *kid;
    wend_error err;
};

/* Each is false if it failed, and the tale knows it. */
bool stage_open(struct stage *st, const struct scenario *sc, struct tale *t);
bool stage_start(struct stage *st, const struct scenario *sc, struct tale *t,
                 wend_run **run);
void stage_close(struct stage *st);
int stage_given(
    void); /* tools whose ctx is not released; 0 once all are free */
bool stage_add(struct stage *st, const struct scenario *sc, struct tale *t);
/* The newest run of the store. */
bool stage_find(struct stage *st, struct tale *t, char id[40]);
/* Reads a run to its end. */
void stage_watch(wend_run *run, const struct scenario *sc, struct tale *t,
                 struct seen *seen);
void answer_late(void); /* a call whose run is over */
void play_runs(const struct scenario *sc, struct tale *t);

/* A store as the scenario wants it; made once, then copied. */
bool store_prepare(const struct scenario *sc);
/* With memory again: the store is sound, has all that was shown, and its runs
 * go on to their end. */
void aftermath(const struct scenario *sc, const struct tale *clean,
               struct tale *t);
/* Whether the round told of its failure as it must; see `flaw`. */
void judge(const struct scenario *sc, const struct tale *clean, struct tale *t,
           bool single);

#endif

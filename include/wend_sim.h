/*
 * wend_sim.h - test agents in a world that follows a seed. Included by wend.h.
 *
 * The runtime is the real one. What is around it is not: nothing waits (the
 * clock jumps to what happens next), tools are late or fail, models fail,
 * the store is slow and forgets what was not safe when the process dies, and
 * another process goes on. The same seed is the same history, so a mistake
 * that was found once can be looked at as often as it takes. See
 * wend-sim(3).
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_SIM_H
#define WEND_SIM_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Laws: what holds of every run --------------------------------------- */

typedef struct wend_laws wend_laws;

/* Looks at the events of one run, all of them, from run_start on: a live one
 * that has no filter, or a replay. */
WEND_API wend_status wend_laws_new(wend_laws **out);
/* WEND_E_CORRUPT: this event breaks a law; err says which one. */
WEND_API wend_status wend_laws_add(wend_laws *laws, const wend_event *event,
                                   wend_error *err);
/* No more events follow. WEND_E_CORRUPT: the run has not ended. */
WEND_API wend_status wend_laws_end(const wend_laws *laws, wend_error *err);
WEND_API void wend_laws_free(wend_laws *laws);

/* ---- Simulation ---------------------------------------------------------- */

typedef struct wend_sim_options {
    size_t size;
    /* Makes the agent, as your program does when it starts; called again for
     * each process that goes on after a crash. Its model must be a script,
     * its tools functions that answer before they return. */
    wend_status (*agent)(void *ctx, wend_runtime *rt, wend_agent **out,
                         wend_error *err);
    const char *prompt;
    const wend_plan *plan; /* is run instead, if it is set */
    /* Before each seed: the world outside is as it was in the beginning. May
     * be NULL, as the next one. */
    void (*begin)(void *ctx, uint64_t seed);
    /* The run is over: NULL if all is well, else what is not; lent. */
    const char *(*check)(void *ctx, const wend_event *run_end);
    void *ctx;
    uint64_t seed;  /* the first one; default 1 */
    uint64_t seeds; /* how many; default 1000 */
    /* What goes wrong, in thousandths; 0: never. Until the faults stop (then
     * the run must end), at each step: */
    uint32_t crash;      /* the process dies, another one goes on */
    uint32_t store_fail; /* the disk fails a commit; as above */
    uint32_t cancel;     /* somebody cancels, up to 20 times */
    uint32_t pause;      /* somebody pauses it, and goes on later */
    /* ... at each call: */
    uint32_t tool_slow; /* the tool is called up to 30 s later */
    uint32_t tool_fail; /* it is not called, the call fails */
    /* ... each time that a model is asked: */
    uint32_t model_fail;
    /* Gets a line for each event and each fault; may be NULL. */
    wend_note_fn trace;
    void *trace_ctx;
} wend_sim_options;

typedef struct wend_sim_report {
    size_t size;    /* to be set before */
    bool failed;    /* a law was broken, or `check` has found something: */
    uint64_t seed;  /* ... with this one, where it stopped */
    char why[500];  /* ... and this is what */
    uint64_t seeds; /* that were run */
    /* In all of them; where one is 0, nothing was tested about it. */
    int64_t steps, crashes, store_failures, cancels, pauses;
    int64_t calls;       /* that reached a tool */
    int64_t calls_again; /* ... with a key that it had seen before */
    int64_t late_calls, failed_calls, model_failures;
    int64_t outcomes[WEND_OUTCOME_SKIPPED + 1]; /* of runs */
} wend_sim_report;

/* Runs seeds one after the other until one fails. WEND_OK: the report says
 * how it went, well or not. Anything else: it could not be done. */
WEND_API wend_status wend_sim_run(const wend_sim_options *options,
                                  wend_sim_report *out, wend_error *err);

#ifdef __cplusplus
}
#endif
#endif

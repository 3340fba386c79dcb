/*
 * wend_sim.h - test agents in a simulation driven by a seed. Included by
 * wend.h.
 *
 * The runtime is real, its environment is simulated: nothing waits (the clock
 * jumps to the next event), tools are late or fail, models fail, the store is
 * slow and loses what was not on stable storage when the process dies, and
 * another process resumes the run. The same seed gives the same history, so a
 * failure can be reproduced. See wend-sim(3).
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_SIM_H
#define WEND_SIM_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Laws: invariants of every run --------------------------------------- */

typedef struct wend_laws wend_laws;

/* Makes a checker for the events of one run. It must get all of them, from
 * run_start on, live without a filter or from a replay. It belongs to no
 * runtime and may be used on any thread, on one at a time. */
WEND_API wend_status wend_laws_new(wend_laws **out);
/* Checks the next event. WEND_E_CORRUPT: it breaks a law; err says which. */
WEND_API wend_status wend_laws_add(wend_laws *laws, const wend_event *event,
                                   wend_error *err);
/* Tells that no events follow. WEND_E_CORRUPT: the run has not ended. */
WEND_API wend_status wend_laws_end(const wend_laws *laws, wend_error *err);
/* Frees a checker. */
WEND_API void wend_laws_free(wend_laws *laws);

/* ---- Simulation ---------------------------------------------------------- */

typedef struct wend_sim_options {
    size_t size;
    /* Makes the agent, as the host does when it starts; called again for each
     * process that resumes the run after a crash. Its model must be a script,
     * its tools must be functions that answer before they return. */
    wend_status (*agent)(void *ctx, wend_runtime *rt, wend_agent **out,
                         wend_error *err);
    const char *prompt;
    const wend_plan *plan; /* run instead of the prompt, if set */
    /* Called before each seed to reset what tools change. May be NULL, like
     * the next one. */
    void (*begin)(void *ctx, uint64_t seed);
    /* Called when the run is over. Returns NULL, or a text that says what is
     * wrong; lent. */
    const char *(*check)(void *ctx, const wend_event *run_end);
    void *ctx;
    uint64_t seed;  /* the first one; default 1 */
    uint64_t seeds; /* number of seeds; default 1000 */
    /* Probabilities of faults, in thousandths; 0: never. At each step, until
     * the faults stop (then the run must end): */
    uint32_t crash;      /* the process dies, another one resumes the run */
    uint32_t store_fail; /* a commit fails; then as above */
    uint32_t cancel;     /* the run is canceled, up to 20 times */
    uint32_t pause;      /* the run is paused, and continued later */
    /* ... at each call: */
    uint32_t tool_slow; /* the tool is called up to 30 s later */
    uint32_t tool_fail; /* the call fails without calling the tool */
    /* ... at each request to a model: */
    uint32_t model_fail;
    /* Gets a line for each event and each fault; may be NULL. */
    wend_note_fn trace;
    void *trace_ctx;
} wend_sim_options;

typedef struct wend_sim_report {
    size_t size;    /* set by the caller */
    bool failed;    /* a law was broken, or `check` returned a text: */
    uint64_t seed;  /* ... the seed that failed, where it stopped */
    char why[500];  /* ... and what was wrong */
    uint64_t seeds; /* seeds that were run */
    /* Totals of all seeds; where one is 0, that was not tested. */
    int64_t steps, crashes, store_failures, cancels, pauses;
    int64_t calls;       /* that reached a tool */
    int64_t calls_again; /* ... with a key that it has seen before */
    int64_t late_calls, failed_calls, model_failures;
    int64_t outcomes[WEND_OUTCOME_SKIPPED + 1]; /* of runs */
} wend_sim_report;

/* Runs one seed after another until one fails. WEND_OK: the report has the
 * result, good or bad. Any other status: the simulation could not run. It waits
 * for the end of all seeds. [any thread] */
WEND_API wend_status wend_sim_run(const wend_sim_options *options,
                                  wend_sim_report *out, wend_error *err);

#ifdef __cplusplus
}
#endif
#endif

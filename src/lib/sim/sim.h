/*
 * sim.h - what the halves of wend_sim_run share. Only for src/lib/sim.
 */
#ifndef LIB_SIM_H
#define LIB_SIM_H

#include "base/hash.h"
#include "host/world.h"
#include "lib/run/run.h"

/* ---- sim_store.c: a store that is slow, fails and forgets ---------------- */

/* Commits come later, in order, as the world's clock goes on. `chance` is
 * borrowed. */
wend_status sim_store_new(struct world *w, struct chance *chance,
                          wend_store **out);
/* The next commit fails; then nothing is accepted until the crash. */
void sim_store_fail(wend_store *s);
/* Its process is gone: of what waited the oldest batches may be kept, the rest
 * is lost. It works again for the next process. */
void sim_store_crash(wend_store *s);
/* From now on this run is looked at; others are its children. */
void sim_store_watch(wend_store *s, const char *run);
/* The newest event of the run that its writer was told is safe. */
int64_t sim_store_acked(const wend_store *s);

/* ---- sim_tools.c: what stands before the host's tools and models --------- */

struct sim_tools; /* those of one agent */

/* A buffer can hold numbers, in no order. */
void sim_numbers_add(struct buf *n, uint64_t value);
size_t sim_numbers_count(const struct buf *n, uint64_t value);
static inline uint64_t sim_number(wend_str s) /* for a key */
{
    return mix64(0, s.ptr, s.len);
}

/* What outlives a process. */
struct sim_book {
    struct world *world;
    struct chance chance;
    uint32_t tool_slow, tool_fail, model_fail; /* in thousandths, as of now */
    struct buf made;         /* numbers: keys of calls, each time */
    struct buf refused;      /* numbers: model attempts that no model saw */
    wend_sim_report *report; /* that counts calls and failures of models */
};

/* Puts itself before the agent's tools and its models. */
wend_status sim_tools_new(struct sim_book *book, wend_agent *agent,
                          struct sim_tools **out);
/* The agent is gone; calls that were put off are never made. */
void sim_tools_free(struct sim_tools *t);

#endif

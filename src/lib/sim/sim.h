/*
 * sim.h - what the halves of wend_sim_run share. Only for src/lib/sim.
 */
#ifndef LIB_SIM_H
#define LIB_SIM_H

#include "base/hash.h"
#include "host/world.h"
#include "lib/run/run.h"

/* ---- sim_store.c: a store that is slow, fails and forgets ---------------- */

struct sim_store {
    struct store_ops ops; /* first: those of the store lead here */
    const struct store_ops *real;
    wend_store *store; /* in memory */
    struct mem mem;
    struct world *world;
    struct chance *chance;
    struct world_event event;
    struct held_batch *first, **tail;
    int64_t due_us;      /* of the newest: commits keep their order */
    const char *watched; /* id of the run that acked_seq is about */
    int64_t acked_seq;   /* its newest event that its writer knows is safe */
    bool fails;          /* the next commit; then nothing is accepted */
    bool failed;         /* ... until the crash */
};

/* Commits come later, in order, as the world's clock advances. `chance` and
 * `watched` are borrowed; wend_store_free of its store is the other end. */
wend_status sim_store_new(struct world *w, struct chance *chance,
                          const char *watched, struct sim_store **out);
/* Its process is gone: of what waited the oldest batches may be kept, the rest
 * is lost. It works again for the next process. */
void sim_store_crash(struct sim_store *s);

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

/*
 * world.h - an environment (env.h) that follows a seed.
 *
 * Nothing waits in it: a loop that would wait moves the clock to what happens
 * next. Workers do their jobs one after the other on the loop's own thread, a
 * moment later. There is neither network nor program, unless the maker of the
 * world puts its own into its env.
 */
#ifndef HOST_WORLD_H
#define HOST_WORLD_H

#include "base/chance.h"
#include "host/env.h"

/* Something that will happen; part of what it happens to. */
struct world_event {
    struct world_event *next;
    int64_t due_us;
    void (*fire)(struct world_event *e);
    bool set;
};

struct world {
    struct env env;       /* whose ctx is this world */
    struct chance chance; /* of ids and the like */
    int64_t clock_us;
    int64_t ahead_us;          /* the wall clock, of the other one */
    struct world_event *first; /* by time, then as they were set */
    /* A loop waits, and nothing will happen any more. */
    void (*stuck)(struct world *w);
};

/* stuck: may not be NULL if a loop waits without a limit. */
void world_init(struct world *w, uint64_t seed, void (*stuck)(struct world *w));
/* Sets or moves. It fires in a turn of the loop, not before due_us. */
void world_at(struct world *w, struct world_event *e, int64_t due_us);
void world_clear(struct world *w, struct world_event *e);
int64_t world_next(const struct world *w); /* INT64_MAX: nothing */

#endif

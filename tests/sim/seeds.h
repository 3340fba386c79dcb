/*
 * seeds.h - many seeds, the same for every simulator.
 *
 * A simulator defines what is declared in the first half and calls
 * seeds_main.
 */
#ifndef SIM_SEEDS_H
#define SIM_SEEDS_H

#include <stddef.h>
#include <stdio.h>

#include "fault.h"
#include "options.h"

enum {
    REACHED_MAX = 120,
    BROKEN_MAX = 12, /* laws broken by one seed */
    WHY_BYTES = 400,
};

struct sim;
struct bug;
struct counters;

/* Something that happens in some seed, and how often it did. */
struct reached {
    char what[60];
    int64_t count;
};

struct how {
    const struct bug *bug;
    FILE *trace; /* NULL: silent */
    enum mode mode;
    struct counters *counters; /* NULL: not counted */
};

struct broken {
    const char *law;
    char why[WHY_BYTES];
};

/* The first member of every struct sim. */
struct sim_head {
    uint64_t seed;
    const struct bug *bug;
    FILE *trace; /* NULL: silent */
    struct counters *counters;
    struct fault fault;
    struct broken broken[BROKEN_MAX];
    uint32_t broken_count;
};

/* ---- From the simulator -------------------------------------------------- */

extern const uint64_t seeds_per_bug; /* a bug must be caught within these */
extern const uint64_t old_seeds[];   /* 0 ends them */

/* Returns how many laws the seed breaks. */
uint32_t seed_run(struct sim *s, uint64_t seed, const struct how *how);
int64_t seed_steps(const struct sim *s);
/* NULL behind the last bug. */
const struct bug *bug_at(size_t i);
const char *bug_name(const struct bug *bug);
const char *bug_law(const struct bug *bug);
/* Calls fn for each law. */
void each_law(void (*fn)(void *ctx, const char *law), void *ctx);
/* Fills `rows`, and returns how many. */
size_t find_reached(const struct counters *c, struct reached rows[REACHED_MAX]);
void print_sums(const struct counters *c, double seconds);

/* ---- For the simulator --------------------------------------------------- */

/* Fills h, which is zero; counts into `ignored` if nothing is counted. */
void seed_begin(struct sim_head *h, uint64_t seed, const struct how *how,
                struct counters *ignored);
/* The first violation of each law is kept. */
__attribute__((format(printf, 3, 4))) void
law_broken(struct sim_head *h, const char *law, const char *fmt, ...);
/* Without arguments: every planted bug must be caught, seeds must repeat,
 * then new ones for a few seconds. Prints TAP. */
int seeds_main(struct sim *s, struct counters *c, int argc, char **argv);

#endif

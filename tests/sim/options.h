/*
 * options.h - the command line of a simulator.
 */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Safety: faults to the last step, and nothing bad may happen. Liveness: they
 * stop, and everything must end. Left to the seed: mostly the second. */
enum mode { MODE_SEED, MODE_SAFETY, MODE_LIVENESS };

struct options {
    uint64_t from, to;
    int seconds;   /* 0: as many as from..to are */
    uint64_t most; /* seeds in that time, on the fastest machine */
    const char *bug;
    bool self_test, verbose, one;
    enum mode mode;
};

bool read_options(struct options *o, int argc, char **argv);

#endif

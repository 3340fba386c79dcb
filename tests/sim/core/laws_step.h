/*
 * laws_step.h - the laws that a whole step can break.
 */
#ifndef SIM_CORE_LAWS_STEP_H
#define SIM_CORE_LAWS_STEP_H

#include "book.h"
#include "sim.h"

struct view {
    const struct input *in;
    const struct step *step;
    struct book *before;
    const struct turn *was; /* before the step */
};

struct step_law {
    const char *name; /* NULL after the last law of a table */
    void (*check)(struct sim *s, const struct view *v, const char *name);
};

bool is_stale(struct book *b, const struct input *in);
extern const struct step_law step_laws[];

#endif

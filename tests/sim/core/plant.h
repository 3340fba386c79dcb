/*
 * plant.h - bugs on purpose: the simulator must catch every one.
 */
#ifndef SIM_CORE_PLANT_H
#define SIM_CORE_PLANT_H

#include "sim.h"

struct bug {
    const char *name;
    const char *law; /* that it must break */
    void (*bend)(struct sim *s, struct turn *t, struct input *in);
    void (*after)(struct sim *s, struct turn *t, struct step *step);
    void (*spoil)(struct sim *s, struct step *step);
    void (*misread)(struct sim *s, wend_event *ev); /* what a codec loses */
    void (*reread)(struct turn *t); /* what a state loses in JSON */
    void (*refold)(struct turn *t); /* what a state from the log lacks */
    /* What the run that follows is told. */
    void (*settle)(struct turn *t, const struct keep *k);
    bool keeps_half; /* a step that ran out of memory is not thrown away */
    bool planned, forks, talks; /* the seeds that it is looked for in */
};

/* A bug without a name ends it. */
extern const struct bug bugs[];

#endif

/*
 * giving.h - what is read from the store, and bugs on purpose in it.
 */
#ifndef SIM_SHELL_GIVING_H
#define SIM_SHELL_GIVING_H

#include "sim.h"

struct giving {
    store_item_fn fn;
    void *ctx;
    const struct bug *bug;
};

bool give_item(void *ctx, const struct store_item *item);

#endif

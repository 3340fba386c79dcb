/*
 * pool.h - the models of an agent: which one is asked, and whether now.
 *
 * A pool is a driver made of drivers, one for each model in the order they
 * are tried; which one is asked is the turn's business. What the runs of a
 * runtime learn about a model is kept once for all of them: how many
 * requests are under way, and how many failed in a row. A model that fails
 * BREAKER_FAILURES times in a row rests for BREAKER_MS: requests for it fail
 * at once, nothing is sent. Then one request tries again, and its end decides
 * for all.
 */
#ifndef LIB_POOL_H
#define LIB_POOL_H

#include "lib/run/run.h"

struct pool_session;

/* Facts of a runtime about one model. */
struct health {
    struct health *next;
    wend_runtime *rt;
    uint32_t failures;      /* in a row */
    uint32_t busy;          /* requests under way */
    int64_t rests_until_us; /* by the clock; 0 = it does not rest */
    bool trying;            /* one request finds out whether it is back */
    uint32_t refused;       /* what it does not take, core/config/params.h */
    struct pool_session *first, **tail; /* wait until others have ended */
    struct timer_node wake;             /* looks at them */
    char key[];                         /* model and where it is asked */
};

struct pool_model {
    struct driver *driver;
    const char *key;      /* the same model at the same place, the same key */
    uint32_t concurrency; /* requests at once; 0 = no limit */
};

/* The drivers become the pool's, also when this fails. */
wend_status pool_open(const struct pool_model *models, size_t count,
                      const struct mem *m, struct driver **out,
                      wend_error *err);
void pool_forget(wend_runtime *rt); /* all that it knows about models */

#endif

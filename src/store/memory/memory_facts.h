/*
 * memory_facts.h - what is kept by name, in memory: a list, newest first.
 */
#ifndef STORE_MEMORY_FACTS_H
#define STORE_MEMORY_FACTS_H

#include "store/store.h"

struct memory_fact;

wend_status memory_facts_set(struct memory_fact **list, const struct mem *m,
                             const struct store_fact *f);
void memory_facts_give(const struct memory_fact *list, wend_str space,
                       wend_str key, int64_t now_us, store_fact_fn fn,
                       void *ctx);
/* Those whose time is over by then. */
void memory_facts_drop(struct memory_fact **list, const struct mem *m,
                       int64_t now_us);
void memory_facts_free(struct memory_fact **list, const struct mem *m);

#endif

/*
 * fact.h - fire-and-forget writes of named facts.
 */
#ifndef LIB_FACT_H
#define LIB_FACT_H

#include "lib/runtime/runtime.h"

/* Keeps a copy; a failure is not reported. */
void fact_keep(wend_runtime *rt, const struct store_fact *fact);
/* Appends the text of the fact; nothing if there is none. */
wend_status fact_text(wend_runtime *rt, wend_str space, wend_str key,
                      struct buf *out, wend_error *err);

#endif

/*
 * fact.h - what is kept by name, and nobody waits for.
 */
#ifndef LIB_FACT_H
#define LIB_FACT_H

#include "lib/runtime/runtime.h"

/* Its strings are copied. What cannot be kept is not kept. */
void fact_keep(wend_runtime *rt, const struct store_fact *fact);
/* Adds the text of what has that name; nothing if there is none. */
wend_status fact_text(wend_runtime *rt, wend_str space, wend_str key,
                      struct buf *out, wend_error *err);

#endif

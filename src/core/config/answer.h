/*
 * answer.h - is a final answer what the agent's schema asks for?
 */
#ifndef CORE_ANSWER_H
#define CORE_ANSWER_H

#include "core/schema/schema.h"

/* The JSON text of an answer: without white space around it and without one
 * fence of ```, which models like to put there. A view into `text`. */
wend_str answer_json(wend_str text);

/* On a mismatch appends a sentence that says what is wrong, and where, to
 * `why`. Out of memory is one, too, and makes `scratch` or `why` fail. */
bool answer_fits(const struct schema *schema, wend_str text,
                 struct arena *scratch, struct buf *why);

#endif

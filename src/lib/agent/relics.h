/*
 * relics.h - the kinds of relics that an agent can have. Only for src/lib.
 */
#ifndef LIB_RELICS_H
#define LIB_RELICS_H

#include "lib/agent/agent.h"
#include "wire/file/relic.h"

/* Adds the endpoint RELIC.NAME; what of t is not its name is set. */
wend_status relic_add_end(wend_agent *a, wend_str relic, wend_str name,
                          wend_tool_options *t, const struct tool_kind *kind,
                          wend_error *err);
/* The labels of an endpoint; `otherwise` if its file does not say. */
uint32_t relic_labels(const struct manifest_words *w, uint32_t otherwise);

/* relic_http.c; the manifest is the agent's. */
wend_status relic_add_http(wend_agent *a, const struct relic_manifest *m,
                           wend_error *err);

#endif

/*
 * frame.h - what every request of a run says before the conversation.
 *
 * Instructions, tools and the schema of the answer come from the config;
 * project notes, the date and the state of git from run_start.context. The
 * frame is the same for all turns of a run, so that the bytes before the
 * conversation stay the same and a provider can cache them.
 */
#ifndef CORE_FRAME_H
#define CORE_FRAME_H

#include <stdbool.h>

#include "base/str.h"

struct config;

struct frame {
    wend_str system;   /* the text before the first message; may be empty */
    wend_str parts;    /* rows of context_end.parts, between commas */
    int64_t tokens;    /* estimate for all of it */
    uint64_t prefix;   /* hash of the same */
    uint32_t labels;   /* wend_label: what the notes bring into the run */
    int64_t tools_cut; /* bytes of descriptions that were left out */
};

/* The frame of the config alone, for config_parse. Descriptions of tools (70)
 * are cut, the longest first, if they do not fit 90 % of a known window. */
void frame_fixed(struct config *c, struct arena *a, struct frame *out);

struct model_use;
/* Whether that many estimated tokens are over the model's window. An unknown
 * window is never too small. */
bool frame_over(const struct model_use *m, int64_t tokens);
/* WEND_E_LIMIT: no model of the config has room for what is never cut, so no
 * run can begin. model: the name of the first one. */
wend_status frame_check(const struct config *c, wend_str model,
                        wend_error *err);

/* With what run_start.context adds: notes (priority 50) take at most a quarter
 * of the window and are cut at a word; date and git (30) are dropped if they do
 * not fit; see frame_parts.h. All of the frame fits 90 % of the window, unless
 * instructions, tools and schema alone do not. Lives as long as the arena and
 * the config; NULL: out of memory. */
const struct frame *frame_with(const struct config *c, wend_str context_json,
                               struct arena *a);

#endif

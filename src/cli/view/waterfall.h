/*
 * waterfall.h - the bars of a plan: one per action, in the order they started.
 */
#ifndef CLI_WATERFALL_H
#define CLI_WATERFALL_H

#include "base/str.h"

struct waterfall;

/* NULL: out of memory; the plan is not drawn. */
struct waterfall *waterfall_new(const struct mem *m);
void waterfall_free(struct waterfall *w);
void waterfall_event(struct waterfall *w, const wend_event *ev);
/* At most `rows` lines, each narrower than `width`: if there are more bars,
 * those around the active ones, and counts of the others. */
void waterfall_put(const struct waterfall *w, struct buf *out, size_t width,
                   size_t rows, bool colour, int64_t now_us);
/* Its plan has started and not ended. */
bool waterfall_open(const struct waterfall *w);

#endif

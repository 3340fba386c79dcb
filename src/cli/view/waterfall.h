/*
 * waterfall.h - a plan as it runs, in a terminal: a bar for each action.
 *
 * The bars grow in place. Whoever writes something else to the terminal says
 * so, with waterfall_lift: they make room for it and are drawn below it, or
 * with waterfall_leave: what is drawn stays, too.
 */
#ifndef CLI_WATERFALL_H
#define CLI_WATERFALL_H

#include "base/str.h"

struct waterfall;

enum { WATERFALL_TICK_MS = 100 };

/* NULL: out of memory; then there is none. */
struct waterfall *waterfall_new(const struct mem *m);
void waterfall_free(struct waterfall *w);
void waterfall_event(struct waterfall *w, const wend_event *ev);
/* Draws, as of now; width is the terminal's. */
void waterfall_draw(struct waterfall *w, struct buf *out, size_t width,
                    bool colour, int64_t now_us);
void waterfall_lift(struct waterfall *w, struct buf *out);
void waterfall_leave(struct waterfall *w);
bool waterfall_grows(const struct waterfall *w); /* something runs */

#endif

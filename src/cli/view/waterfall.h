/*
 * waterfall.h - draws a running plan in a terminal: a bar per action.
 *
 * The bars grow in place. Before other text is written to the terminal, call
 * waterfall_lift, which erases them so that they are drawn again below the
 * text, or waterfall_leave, which keeps them above it.
 */
#ifndef CLI_WATERFALL_H
#define CLI_WATERFALL_H

#include "base/str.h"

struct waterfall;

enum { WATERFALL_TICK_MS = 100 };

/* NULL: out of memory; the plan is not drawn. */
struct waterfall *waterfall_new(const struct mem *m);
void waterfall_free(struct waterfall *w);
void waterfall_event(struct waterfall *w, const wend_event *ev);
/* `width` is the width of the terminal. */
void waterfall_draw(struct waterfall *w, struct buf *out, size_t width,
                    bool colour, int64_t now_us);
void waterfall_lift(struct waterfall *w, struct buf *out);
void waterfall_leave(struct waterfall *w);
bool waterfall_grows(const struct waterfall *w); /* something runs */

#endif

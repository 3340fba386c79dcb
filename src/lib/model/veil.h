/*
 * veil.h - secrets of an agent in what its model says. Only for src/lib.
 *
 * A model may have put together what was kept from it, or been told by
 * others. Its answer comes in pieces that are shown and logged at once.
 */
#ifndef LIB_VEIL_H
#define LIB_VEIL_H

#include "lib/run/child.h"

enum veil_what { VEIL_TEXT, VEIL_THINKING, VEIL_ARGS, VEILS };

/* How much of each secret an answer's texts end in. */
struct veil {
    int64_t ask; /* the answer */
    int call;    /* whose arguments came last */
    size_t count;
    struct redact *list; /* VEILS times count */
};

/* The piece with every secret of the run's agent, and of those above it,
 * blanked: itself, or a copy in `room`. `call` counts for VEIL_ARGS. *v is
 * made in the arena when it is needed; without memory nothing is let
 * through, and the run fails. */
wend_str veil_piece(struct wend_run *r, struct veil **v, struct arena *a,
                    int64_t ask, enum veil_what what, int call, wend_str piece,
                    struct buf *room);

#endif

/*
 * source.h - where the bytes of an answer come from: the network or a tape.
 *
 * A source belongs to a session and has one answer under way at a time. All
 * kinds tell it in the same way (struct fetch_events), so that whoever reads
 * cannot tell them apart.
 */
#ifndef LIB_SOURCE_H
#define LIB_SOURCE_H

#include "lib/run/run.h"

struct tape;

/* An answer from a tape, or one that is being recorded; the first member of
 * its own struct. It goes by itself when its end event is over. */
struct flow {
    const struct flow_ops *ops;
};

struct flow_ops {
    wend_str (*header)(const struct flow *f, const char *name);
    void (*resume)(struct flow *f);
    void (*stop)(struct flow *f); /* frees it, once no event is under way */
};

struct source {
    struct transfer *transfer; /* from the network alone */
    struct flow *flow;         /* from or to a tape */
};

/* tape: NULL for the network alone. The head event has no transfer to look
 * at if it comes from a tape: ask source_header. */
wend_status source_start(struct source *s, wend_runtime *rt, struct tape *tape,
                         const struct fetch_request *q,
                         const struct fetch_events *events, void *ctx,
                         wend_error *err);
bool source_busy(const struct source *s);
/* As fetch_header, fetch_resume and fetch_stop. */
wend_str source_header(const struct source *s, const char *name);
void source_resume(struct source *s);
void source_stop(struct source *s);
/* From inside the end event: there is nothing to stop any more. */
void source_over(struct source *s);

#endif

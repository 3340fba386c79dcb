/*
 * reply.h - what a model has written so far: fragments to whole calls.
 *
 * Pure accumulation. A driver feeds pieces; the shell hands the reply to
 * the core with every input, as the part of the world that is not in the
 * log yet.
 */
#ifndef CORE_REPLY_H
#define CORE_REPLY_H

#include "base/json.h"
#include "core/plan/plan_scan.h"

struct reply_call {
    struct buf id, name, args; /* args as streamed */
    wend_str json;             /* once sealed: canonical, or a JSON string
                                  with the raw text */
    bool sealed, invalid;
    struct plan_scan plan; /* of a call that writes a plan: see reply_plan */
};

struct reply {
    const struct mem *mem;
    struct arena arena; /* of sealed values */
    struct buf text, thinking, opaque;
    struct reply_call *calls;
    size_t calls_count, calls_cap; /* those past count keep their buffers */
    size_t calls_made;
    wend_ev_usage usage;
    wend_str finish;            /* in the arena */
    bool more;                  /* it says that it is not the last answer */
    int64_t pieces;             /* that a consumer may have seen */
    int64_t began_us, first_us; /* first_us: of the first piece, 0 = none */
    bool sent;                  /* a request whose end is not known yet */
    bool failed;                /* out of memory somewhere */
};

void reply_init(struct reply *r, const struct mem *m, int64_t began_us);
/* As new, with its memory kept for the next answer. */
void reply_again(struct reply *r, int64_t began_us);
void reply_free(struct reply *r);

void reply_text(struct reply *r, wend_str piece, int64_t now_us);
void reply_thinking(struct reply *r, wend_str piece, int64_t now_us);
/* Opens the next call; an id that this message has already is made unique.
 * Returns its index, or -1 past CALLS_MAX or out of memory. */
int reply_call(struct reply *r, wend_str id, wend_str name);
void reply_args(struct reply *r, int call, wend_str piece, int64_t now_us);
/* Looks for actions in what came of the arguments, which are a plan; true if
 * there are more than before. */
bool reply_plan(struct reply *r, int call);
/* The call's block is complete: its arguments become a JSON value. */
void reply_seal(struct reply *r, int call);
/* Its arguments broke off: they are kept as raw text, whatever they are. */
void reply_seal_cut(struct reply *r, int call);
/* A JSON value to send back with this message. */
void reply_opaque(struct reply *r, wend_str json);
wend_str reply_call_id(const struct reply *r, int call);

#endif

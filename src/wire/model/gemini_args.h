/*
 * gemini_args.h - a call's arguments out of pieces with a path each.
 *
 *     {"jsonPath":"$.city.name","stringValue":"Bos","willContinue":true}
 */
#ifndef WIRE_GEMINI_ARGS_H
#define WIRE_GEMINI_ARGS_H

#include "wire/model/join.h"

struct arg;

/* Zero-initialise with arena.mem set. */
struct args {
    struct arena arena;
    struct arg *root;
    const struct json_cuts *cuts; /* of the pieces that are taken */
    size_t bytes;
    size_t open; /* strings that continue */
    bool broken; /* a piece fits nowhere */
};

/* A list of pieces, and the cuts of the event that they are in; see
 * arena.failed and broken. */
void args_take(struct args *args, const struct json *pieces,
               const struct json_cuts *cuts);
/* The value so far; text that is not JSON if a piece fitted nowhere, so that
 * the rest is not mistaken for the arguments. */
void args_put(const struct args *args, struct buf *out);
void args_reset(struct args *args);

#endif

/*
 * join.h - characters that a server cut between two pieces of a stream.
 *
 * Some servers cut text between UTF-16 units: one piece ends with the first
 * half of a surrogate pair, the next piece begins with the second. The first
 * half is held back until the next piece of the same stream (the text, the
 * thinking, the arguments of one call) comes.
 */
#ifndef WIRE_JOIN_H
#define WIRE_JOIN_H

#include "base/json.h"

/* One for each stream; zero-initialise. */
struct join {
    uint16_t high; /* the half that is held; 0: none */
};

/* The piece as it is to be told: empty if all of it is held. `cuts` is from
 * the event that the piece is a part of. A changed piece is in the arena;
 * empty if that failed. */
wend_str join_piece(struct join *j, const struct json_cuts *cuts,
                    wend_str piece, struct arena *a);
/* At the end of the stream: U+FFFD for a half that is still held, else
 * empty. */
wend_str join_rest(struct join *j);

#endif

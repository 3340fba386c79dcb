/*
 * frame_parts.h - the parts of a request besides the conversation, and which of
 * them give way when the window is too small for all.
 */
#ifndef CORE_FRAME_PARTS_H
#define CORE_FRAME_PARTS_H

#include <stdbool.h>

#include "base/str.h"

enum frame_part_priority {
    PRIORITY_CRITICAL = 100,
    PRIORITY_HIGH = 90, /* what was looked up for the question */
    PRIORITY_MEDIUM = 70,
    PRIORITY_LOW = 50,
    PRIORITY_OPTIONAL = 30,
};

/* What happens to a part that does not fit. */
enum frame_part_fit {
    FIT_WHOLE, /* nothing: it is never cut */
    FIT_CUT,   /* it is cut; dropped, if less than `least` would stay */
    FIT_DROP,
};

enum frame_part_kind {
    PART_INSTRUCTIONS,
    PART_TOOLS, /* descriptions are cut; a tool is never dropped */
    PART_SCHEMA,
    PART_NOTES,
    PART_ENVIRONMENT,
    PART_READER, /* the tool read_result, offered once a result was cut */
    PART_HISTORY,
    PART_KINDS
};

struct frame_part_rule {
    const char *name;
    enum frame_part_priority priority;
    enum frame_part_fit fit;
};
extern const struct frame_part_rule frame_part_rules[PART_KINDS];

struct frame_part {
    enum frame_part_priority priority;
    enum frame_part_fit fit;
    int64_t tokens; /* that it asks for */
    int64_t least;  /* of what a cut leaves, at least */
    int64_t given;  /* what it gets: 0 = dropped */
};

/* Shares out the budget, by priority and within one in their order. No part is
 * cut or dropped for the budget while one of a lower priority gets anything. */
void frame_parts_fit(struct frame_part *list, size_t count, int64_t budget);

/* Appends a row of context_end.parts. of: what its name is followed by, or
 * absent; cut: bytes that were left out. */
void frame_parts_put(struct buf *b, enum frame_part_kind kind, wend_str of,
                     int64_t tokens, int64_t cut);

#endif

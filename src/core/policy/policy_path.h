/*
 * policy_path.h - what rules know of paths: one spelling, places that matter,
 * patterns.
 */
#ifndef CORE_POLICY_PATH_H
#define CORE_POLICY_PATH_H

#include "core/config/config.h"

enum { PATH_BYTES = 4096 }; /* the kernel takes no longer ones */

/* `a/./b//../c` as a/c, relative to the root if it lies beneath it: rules
 * look at the file that is meant, not at how its path is spelled. Absent if
 * it does not fit into out, which is longer than any file's path can be. */
wend_str policy_path(wend_str path, wend_str root, char *out, size_t size);

/* Whether a path in that spelling leads out of the root. */
bool path_is_outside(wend_str path);

/* What is special about a path. */
enum place_kind {
    PLACE_CODE = 1,   /* what is written there runs later, unasked */
    PLACE_SECRET = 2, /* what is read there opens other doors */
};

struct spot {
    unsigned kinds;   /* of the table's rows that fit; 0: a path like others */
    const char *what; /* for people; of the first row that was asked for */
    size_t reach;     /* bytes that a rule must spell out to name the path */
};

/* What is special about a path that policy_path wrote; only these kinds are
 * looked for. Letter case does not matter; rows fit at any depth, and all that
 * lies beneath. */
struct spot path_place(wend_str path, unsigned kinds);

/* Does a pattern, spelled as policy_path writes it, fit the path? A star
 * stands for slashes, too, and a component of two stars for no folder as
 * well. `beneath`: or a folder that the path lies in, but for the root. */
bool path_fits(wend_str pattern, wend_str path, bool beneath);

/* How much of a pattern is literal: up to its first wildcard. */
size_t glob_literal(wend_str pattern);

#endif

/*
 * tree.h - runs under the runs that started them or that they are forks of.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include "base/str.h"

struct tree_run {
    wend_run_info info;
    struct tree_run *parent, *first, *next; /* children: oldest first */
    struct tree_run *root;
    wend_str follows;
    bool listed;
};

struct tree {
    struct arena *arena;
    struct tree_run **runs; /* newest first */
    size_t count, cap;
    size_t at; /* the trees of all runs before it are listed */
};

/* Runs come newest first; the info is copied. `follows`: the run before it in
 * its conversation, or absent. */
void tree_add(struct tree *t, const wend_run_info *info, wend_str follows);
/* Joins what was added. Returns the root whose tree has the newest run, then
 * with each call the next one; NULL at the end. */
void tree_link(struct tree *t);
struct tree_run *tree_next_root(struct tree *t);
/* The run below `at`, or beside it or one of its parents. */
struct tree_run *tree_next(const struct tree_run *at);
/* The lines in front of a run. */
void tree_lines(struct buf *out, const struct tree_run *at);

#endif

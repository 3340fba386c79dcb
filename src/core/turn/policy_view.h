/*
 * policy_view.h - which files a tool may tell about, for one that walks over
 * them on a thread of its own.
 */
#ifndef CORE_POLICY_VIEW_H
#define CORE_POLICY_VIEW_H

#include "core/policy/policy.h"
#include "core/turn/turn.h"

struct path_view {
    wend_str root;
    struct rule_set *sets; /* the run's own, then those above it */
    size_t count;
    bool hides;              /* a rule keeps some path from tools that look */
    struct label_rows *rows; /* as many as sets */
};

/* The rules about paths as they are now, copied: nothing of the turn is
 * touched later. NULL with a->failed. */
const struct path_view *policy_view(const struct turn *t, struct arena *a);
/* May the name of this file or folder be told? No rule denies reading it. */
bool view_names(const struct path_view *v, wend_str path);
/* May it be opened without a question, by a walk that began at `start`? What
 * is asked about at the start itself was answered. */
bool view_opens(const struct path_view *v, wend_str start, wend_str path);
/* wend_label of what reading this file brings, by rows that label. */
uint32_t view_labels(const struct path_view *v, wend_str path);

/* What the user is told at the start: a path that is kept from the file tools,
 * but not from the programs that tools run. Absent: no rule is so. hides: the
 * sandbox can hide paths. */
wend_str policy_gap(const struct config *c, bool hides, struct arena *a);
bool policy_programs(const struct config *c); /* a tool may run one */
/* What the sandbox is to hide from programs: absolute paths of files and
 * folders that rules keep from reading as a whole, NULL at the end. NULL with
 * a->failed. */
const char *const *policy_hidden(const struct turn *t, struct arena *a);

#endif

/*
 * policy.h - may this call run? One function for every path.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/turn.h"

struct verdict {
    wend_ev_policy policy; /* strings are static, the turn's or in the arena */
    wend_str reason;       /* why it is asked or denied */
    wend_str rule;         /* one that fits this call and those like it;
                              absent if there is none */
};

/* args: the call's arguments; NULL if they are no JSON. Deterministic. A
 * failed allocation sets a->failed. */
void policy_check(const struct turn *t, const struct tool *tool,
                  const struct json *args, struct arena *a,
                  struct verdict *out);

/* What the run's calls and actions have brought into it, or are about to. */
uint32_t policy_taint(const struct turn *t);

/* `a/./b//../c` as a/c, relative to the root if it lies beneath it: rules
 * look at the file that is meant, not at how its path is spelled. Absent if
 * it does not fit into out, which is longer than any file's path can be. */
wend_str policy_path(wend_str path, wend_str root, char *out, size_t size);

#endif

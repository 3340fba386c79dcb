/*
 * verdict.h - may this call run? One function for every path.
 */
#ifndef CORE_VERDICT_H
#define CORE_VERDICT_H

#include "core/policy/policy.h"
#include "core/turn/turn.h"

struct verdict {
    wend_ev_policy policy; /* strings are static, the turn's or in the arena */
    wend_str reason;       /* why it is asked or denied */
    wend_str rule;         /* one that fits this call and those like it;
                              absent if there is none */
    uint32_t labels;       /* wend_label of what the call brings, besides its
                              tool's */
};

/* args: the call's arguments; NULL if they are not JSON. Deterministic. A
 * failed allocation sets a->failed. */
void policy_check(const struct turn *t, const struct tool *tool,
                  const struct json *args, struct arena *a,
                  struct verdict *out);

/* wend_label of what a call with these arguments brings besides its tool's:
 * those of rows that label, and sensitive for what reads a secret. They
 * follow from the config and the arguments alone. args: JSON. */
uint32_t policy_labels(const struct turn *t, const struct tool *tool,
                       wend_str args, const struct mem *m);

/* What the run's calls and actions have brought into it, or are about to; all
 * labels if memory runs out. */
uint32_t turn_labels(const struct turn *t, const struct mem *m);

/* The rules of config_restraint(restraint) of the run's config; with 0 those
 * that were remembered come first. */
struct rule_set turn_rules(const struct turn *t, size_t restraint);

/* Whether a rule allows writing this path and names it: its text before the
 * first wildcard reaches into what is special about the path. */
bool policy_names(const struct turn *t, wend_str path);

#endif

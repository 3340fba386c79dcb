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
    wend_str allows;       /* unless it is allowed: the rule that, in front of
                              all others, would allow it; absent: none would */
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

/* ---- policy_view.c: which files a tool may tell about ---------------------
 */

/* For one that walks over them on a thread of its own. */
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

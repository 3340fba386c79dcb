/*
 * policy.h - may this call run? One function for every path.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/config.h"

struct verdict {
    wend_ev_policy policy; /* strings are static or the config's */
    wend_str reason;       /* why it is asked or denied */
};

/* args: the call's arguments; NULL if they are no JSON. Deterministic. */
void policy_check(const struct config *c, const struct tool *tool,
                  const struct json *args, struct verdict *out);

#endif

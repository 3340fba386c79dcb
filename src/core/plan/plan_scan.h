/*
 * plan_scan.h - the actions in the arguments of a `plan` call, as they come.
 *
 * Looks at each byte once, and only at what gives shape: strings, braces.
 * The caller reads the actions; whether the whole is JSON is known at its end.
 */
#ifndef CORE_PLAN_SCAN_H
#define CORE_PLAN_SCAN_H

#include "base/str.h"

struct plan_span {
    size_t at, len;
};

/* Zero-initialise with actions.mem set. */
struct plan_scan {
    size_t at;      /* bytes that were looked at */
    uint32_t depth; /* of open braces and brackets */
    bool in_string, escaped;
    bool is_actions; /* the newest member is "actions" */
    bool in_actions; /* inside its list */
    bool over;       /* that list has ended, or has other things than objects */
    struct plan_span string; /* the newest one, without its quotes */
    size_t action_at;        /* where the open action began */
    struct buf actions;      /* of struct plan_span: those complete */
};

/* text: all that came so far. */
void plan_scan(struct plan_scan *s, wend_str text);
size_t plan_scan_count(const struct plan_scan *s);
wend_str plan_scan_get(const struct plan_scan *s, wend_str text, size_t i);
void plan_scan_clear(struct plan_scan *s); /* for the next text */

#endif

/*
 * script.h - scripted models: what a file says a model will answer.
 *
 * Pure: parsing, choosing an entry, filling in its templates. The pace and
 * the pieces are the driver's (lib/model/script_driver.c).
 */
#ifndef WIRE_SCRIPT_H
#define WIRE_SCRIPT_H

#include "base/json.h"

struct script_call {
    wend_str id; /* absent: call_1, call_2 ... by place */
    wend_str name;
    wend_str args; /* canonical JSON, or args_text as written; never absent */
};

struct script_error {
    wend_str code, message; /* code absent: no error */
    int64_t after;          /* pieces before it fails */
};

struct script_entry {
    wend_str text, thinking, when; /* `when` absent: always */
    const struct script_call *calls;
    size_t calls_count;
    wend_ev_usage usage;
    wend_purpose purpose;
    wend_str finish; /* absent: stop, or tool_calls with calls */
    struct script_error error;
    int64_t chunk; /* code points a piece, default 4 */
    int64_t delay_ms;
    int64_t first_delay_ms; /* -1 = the first piece waits like the others */
    int64_t repeat;         /* 0 = forever */
};

struct script {
    wend_str model; /* default "script" */
    const struct script_entry *entries;
    size_t count;
    const uint32_t *repeats; /* of the entries, dense for script_pick */
};

/* text: YAML or JSON. Unknown keys, wrong types and bad values are refused
 * with line, column and, where one is near, a suggestion. */
wend_status script_parse(wend_str text, struct arena *a, struct script **out,
                         wend_error *err);

/* The entry for the next attempt, or -1; used[i] counts how often entry i
 * was taken and is not changed. */
int script_pick(const struct script *s, const uint32_t *used,
                wend_purpose purpose, wend_str last_message);

/* The purpose whose entries answer a call: a script without entries for plans
 * answers a planner with its answers. */
wend_purpose script_purpose(const struct script *s, wend_purpose purpose);

/* Appends a template with ${turn} (and ${tool_result} if not absent)
 * replaced. Unknown ${...} stay as they are. With `as_json` the values are
 * escaped to stand inside a JSON string. */
void script_fill(struct buf *out, wend_str template_text, int64_t turn,
                 wend_str tool_result, bool as_json);

#endif

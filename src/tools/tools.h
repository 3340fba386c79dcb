/*
 * tools.h - the built-in tools: one file each, one table.
 *
 * A tool's function is called on a worker thread with a struct tool_env as
 * its context and answers through wend_call_return or wend_call_fail. It is
 * bounded in work, looks at wend_call_canceled in loops, and touches files
 * only through host/path.
 */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include "base/json.h"

struct tool_env {
    int root_fd; /* directory that file tools cannot leave */
};

struct builtin {
    wend_tool_info info;
    const char *subject; /* the argument that policy rules match */
    bool concurrent;
    wend_tool_fn fn;
};

const struct builtin *builtin_find(const char *name); /* NULL if none */
const struct builtin *builtin_at(size_t i);           /* NULL past the last */

wend_status tool_calculator(void *env, wend_call *call);
wend_status tool_read_file(void *env, wend_call *call);
wend_status tool_list_dir(void *env, wend_call *call);
wend_status tool_write_file(void *env, wend_call *call);

#endif

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

/* ---- What every tool does first and last --------------------------------- */

/* One call on its way through a tool; must stay where it is. */
struct tool_job {
    struct mem mem;
    struct arena arena; /* arguments, and what the tool needs */
    struct json *args;
    struct buf out; /* the answer */
    wend_error err; /* or why there is none */
};

wend_status tool_begin(struct tool_job *j, const wend_call *call);
/* A string that must be there, unless *out is given before. */
wend_status tool_str(struct tool_job *j, const char *key, wend_str *out);
/* A whole number from min on; *out stays when it is absent. */
wend_status tool_i64(struct tool_job *j, const char *key, int64_t min,
                     int64_t *out);
/* Answers with out, or with err if s is a failure; WEND_OK. */
wend_status tool_end(struct tool_job *j, wend_call *call, wend_status s);

/* ---- The tools without their calls --------------------------------------- */

wend_status calculator_eval(wend_str expression, struct buf *out,
                            wend_error *err);

struct read_range {
    int64_t offset; /* the first line, from 1 */
    int64_t limit;  /* lines; 0 = as many as fit */
};

/* These look at the call only for its cancellation; it may be NULL. */
wend_status read_file_text(int root_fd, wend_str path, struct read_range range,
                           const wend_call *call, struct buf *out,
                           wend_error *err);
wend_status list_dir_text(int root_fd, wend_str path, const wend_call *call,
                          struct buf *out, wend_error *err);

#endif

/*
 * tools.h - the built-in tools: one file each, one table.
 *
 * A tool's function is called with a struct tool_env as its context and
 * answers through wend_call_return or wend_call_fail. Mostly it runs on a
 * worker thread: then it is bounded in work and looks at wend_call_canceled
 * in loops. With `on_loop` it runs on the runtime's thread, must not wait,
 * and answers later. Either way it touches files only through host/path.
 */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include "base/json.h"

struct fetch;
struct network;
struct procs;

/* How tools use the network; lives as long as the agent. */
struct web_env {
    const struct network *network; /* hosts that they may reach */
    const char *ca_file;           /* NULL: the usual ones */
    bool insecure_http;            /* secrets may go over plain http */
    const wend_str *secrets;       /* all of the agent's; NULL: none */
    const size_t *secrets_count;
};

struct tool_env {
    int root_fd;               /* directory that file tools cannot leave */
    const char *root;          /* its path; use it and `web` on the loop only */
    const struct web_env *web; /* lives as long as the agent */
    bool sandbox_off;          /* for programs, as the user said */
};

struct builtin {
    wend_tool_info info;
    const char *subject; /* the argument that policy rules match */
    bool on_loop;    /* fn runs on the runtime's thread, not on a worker's */
    bool program;    /* it starts a program */
    wend_tool_fn fn; /* NULL: a child run answers the call */
};

const struct builtin *builtin_find(const char *name); /* NULL: unknown */
const struct builtin *builtin_at(size_t i);           /* NULL past the last */

wend_status tool_calculator(void *env, wend_call *call);
wend_status tool_read_file(void *env, wend_call *call);
wend_status tool_list_dir(void *env, wend_call *call);
wend_status tool_write_file(void *env, wend_call *call);
wend_status tool_edit_file(void *env, wend_call *call);
wend_status tool_glob(void *env, wend_call *call);
wend_status tool_grep(void *env, wend_call *call);
wend_status tool_http_request(void *env, wend_call *call);
wend_status tool_shell(void *env, wend_call *call);
wend_status tool_exec(void *env, wend_call *call);
wend_status tool_remember(void *env, wend_call *call);
wend_status tool_recall(void *env, wend_call *call);

/* Relics (stores that plans share) of the kind kv; the context is the relic.
 * Values are JSON: put {key, value, ttl?}, get {key} gives the value or null,
 * delete {key}. They run on the loop. */
struct relic_kv {
    wend_str name;
    int64_t ttl_ms; /* default of put; 0: for ever */
};

wend_status relic_kv_put(void *relic, wend_call *call);
wend_status relic_kv_get(void *relic, wend_call *call);
wend_status relic_kv_delete(void *relic, wend_call *call);

/* ---- Tools that work on the loop ----------------------------------------- */

/* Why a call must stop; 0 is no reason. */
enum stop_reason {
    CALL_STOP_DEADLINE = 1, /* call_end will say timeout */
    CALL_STOP_CANCEL,       /* call_end will say canceled */
    CALL_STOP_NOW,          /* the loop may be gone after this */
};

typedef void (*call_stop_fn)(void *ctx, enum stop_reason why);

/* The functions below are for calls that began on the runtime's thread. Call
 * them on it, from fn on until the call is answered, also on that thread.
 *
 * stop is called at the deadline or on cancel, once: the tool ends its work
 * and then answers, from inside stop or within STOP_GRACE_MS; its text goes
 * to the model, its outcome is that of the reason. STOP_SLACK_MS later, or
 * when the run or the runtime ends, stop is called with CALL_STOP_NOW, maybe
 * as a second call: then the tool releases all it holds of the loop before it
 * returns, and answers, though the answer is dropped. ctx must live until the
 * call is answered; after that stop is not called. */
void call_set_stop(wend_call *call, call_stop_fn stop, void *ctx);
/* JSON for call_end besides the answer, set before it; needs memory. */
void call_set_structured(wend_call *call, wend_str json);
/* An image, a document or audio that goes to the model with the answer, set
 * before it; the bytes say what it is. Appends a note for the answer to `note`,
 * which may be NULL. May be called on any thread. WEND_E_INVAL, WEND_E_LIMIT:
 * it is something else, or too much; the error completes the sentence "NAME
 * ...". */
wend_status call_add_part(wend_call *call, wend_str bytes, wend_str name,
                          struct buf *note, wend_error *err);
/* The runtime's transfers, and its programs. */
wend_status call_fetch(wend_call *call, struct fetch **out, wend_error *err);
wend_status call_procs(wend_call *call, struct procs **out, wend_error *err);
/* What the error will say if the call fails; `code` is copied. */
void call_blame(wend_call *call, const char *code, bool no_effect,
                bool retryable);
struct mem call_mem(const wend_call *call);
wend_str call_run(const wend_call *call); /* the id of its run */
/* The traceparent of its span; false: its run is not traced. */
enum { CALL_TRACE_BYTES = 56 };
bool call_trace(const wend_call *call, char out[CALL_TRACE_BYTES]);
/* As call_output; the text is valid, and keys in it are blanked. */
void call_show(wend_call *call, struct buf *text);
/* As wend_call_return and _fail do, with any outcome. */
wend_status call_answer(wend_call *call, wend_outcome outcome, wend_str output);
/* The store, the user and the agent of the call's run; lent. */
wend_store *call_store(const wend_call *call);
wend_str call_user(const wend_call *call); /* absent: it has no user */
wend_str call_agent(const wend_call *call);
/* The folder that facts belong to; absent: all folders share them. */
wend_str call_folder(const wend_call *call);
uint32_t call_memories(const wend_call *call); /* facts that it may be told */
int64_t call_time_us(const wend_call *call);   /* wall clock */
uint32_t call_labels(const wend_call *call);   /* of its run, so far */
/* Whether a rule of its run allows writing this path and names it. */
bool call_names(const wend_call *call, wend_str path);
/* Paths that the run's rules hide from programs; see policy_hidden. */
const char *const *call_hidden(const wend_call *call, struct arena *a);
/* Adds the labels of the answer to the run, besides the tool's own. */
void call_bring(wend_call *call, uint32_t labels);

/* A request as the policy sees it. */
struct call_request {
    const char *method;
    wend_str url;
    bool body;
};
/* May a redirect lead a request of the call there? Where rules allowed the
 * first one they must allow the second, too; what a person allowed may
 * continue at the same host. What a rule denies may not in any case. */
bool call_may_follow(wend_call *call, const struct call_request *from,
                     const struct call_request *to, bool same_host);
/* Which files a tool may show [any thread]; a path is relative to the root.
 * May it show the name? May a walk that began at `start` open the file? If so,
 * the call brings the labels of the rule. `call` may be NULL: no rules. */
bool call_names_file(const wend_call *call, wend_str path);
bool call_opens_file(wend_call *call, wend_str start, wend_str path);
bool call_hides_files(const wend_call *call); /* there is a rule that does */

/* command.c: a program as a tool. All is lent for as long as the call lasts;
 * lists end with NULL and may be NULL. */
struct command_tool {
    const char *root;            /* working directory; it may write there */
    const char *const *secrets;  /* names of variables that it also gets */
    const char *const *readable; /* besides the system's, absolute */
    bool sandbox_off, network;
    bool json;   /* output that is not JSON is a failure */
    bool merges; /* the answer includes standard error */
    bool check;  /* its exit status is the outcome of another call */
    uint64_t memory_bytes, disk_bytes; /* of its whole tree; 0: default */
    uint32_t tasks;
};
wend_status command_start(wend_call *call, const struct command_tool *c,
                          const char *const *argv, wend_str input);

/* ---- What every tool does first and last --------------------------------- */

/* One call on its way through a tool; must stay where it is. */
struct tool_job {
    struct mem mem;
    struct arena arena; /* arguments, and what the tool needs */
    struct json *args;
    struct buf out; /* the answer */
    wend_error err; /* or why there is none */
};

/* An argument, and where it goes; the value already there is the default. */
struct tool_arg {
    const char *key;
    wend_str *str; /* required if there is no default, unless optional */
    int64_t *number, min;
    bool *flag, optional;
};
#define TOOL_ARGS(...) ((const struct tool_arg[]){__VA_ARGS__, {.key = NULL}})

/* Parses the arguments and reads those of the list (TOOL_ARGS). */
wend_status tool_begin(struct tool_job *j, const wend_call *call,
                       const struct tool_arg *args);
/* Appends a name, which may hold any bytes: what is not plain text is escaped
 * (\\ and \xNN), so that no name can look like two. */
void tool_put_name(struct buf *out, wend_str name);
struct walk;
/* Appends how many files a walk kept to itself, if any. */
void tool_put_kept(struct buf *out, size_t hidden, size_t closed);
/* Appends what a walk has not seen, if anything, as notes in brackets. */
void tool_put_gaps(struct buf *out, const struct walk *w);
/* Answers with out, or with err if s is a failure; WEND_OK. */
wend_status tool_end(struct tool_job *j, wend_call *call, wend_status s);
/* The same where the answer comes later unless s is a failure. */
wend_status tool_leave(struct tool_job *j, wend_call *call, wend_status s);
/* Takes back what was added since `before` if notes would not fit any more. */
bool tool_fits(struct buf *out, size_t before);
/* WEND_E_BUSY once the call is canceled; it may be NULL. */
wend_status tool_canceled(const wend_call *call, wend_error *err);
/* How many bytes of a path a message repeats, for %.*s. */
int tool_shown(wend_str path);

/* ---- The tools without their calls --------------------------------------- */

wend_status calculator_eval(wend_str expression, struct buf *out,
                            wend_error *err);

struct read_range {
    int64_t offset; /* the first line, from 1 */
    int64_t limit;  /* lines; 0 = as many as fit */
};

/* These look at the call only for its cancellation; it may be NULL. */
wend_status read_file_text(int root_fd, wend_str path, struct read_range range,
                           wend_call *call, struct buf *out, wend_error *err);
wend_status list_dir_text(int root_fd, wend_str path, const wend_call *call,
                          struct buf *out, wend_error *err);

struct edit {
    wend_str old_text, new_text;
    bool all;
};

wend_status edit_file_text(int root_fd, wend_str path, struct edit edit,
                           struct buf *out, wend_error *err);

wend_status glob_text(int root_fd, wend_str pattern, wend_str path,
                      const wend_call *call, struct buf *out, wend_error *err);

struct grep_options {
    wend_str pattern, path;
    wend_str glob;   /* of files to look into; absent = all */
    int64_t context; /* lines around a match */
    int64_t max;     /* matching lines, or files */
    bool ignore_case, files_only;
};

wend_status grep_text(int root_fd, const struct grep_options *o,
                      wend_call *call, struct buf *out, wend_error *err);

#endif

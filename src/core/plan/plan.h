/*
 * plan.h - a plan: actions and what each waits for, checked and compiled.
 *
 * A plan never changes. Actions have indexes, in the order in which they are
 * written; names are only for people. It comes from a file
 * (wire/plan/plan.h opens it), from the log (run_start.plan), or action by
 * action while a model writes it; all three pass the same checks, and nothing
 * of a plan that fails one of them runs. All of it lives in the arena that it
 * was made in.
 *
 * Nothing here recurses over the graph: a chain of 10,000 is a plan, too.
 */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include "base/json.h"
#include "base/limits.h"
#include "core/config/params.h"
#include "core/plan/expr.h"
#include "core/plan/scope.h"

#define PLAN_NONE UINT32_MAX /* no action */

enum {
    ACTION_FILES_MAX = 64,   /* of one action; as parts of a message */
    ACTION_FILE_BYTES = 255, /* of its path; as the name of a part */
};

enum action_type {
    ACTION_TOOL,
    ACTION_AGENT,
    ACTION_LLM,
    ACTION_RELIC,
    ACTION_WORKFLOW,
    ACTION_DECISION,
    ACTION_TYPES
};
extern const char *const action_type_names[ACTION_TYPES + 1]; /* then NULL */

enum action_mode { ACTION_SYNC, ACTION_ASYNC, ACTION_FORGET, ACTION_MODES };
extern const char *const action_mode_names[ACTION_MODES + 1]; /* then NULL */

enum plan_failure { FAILURE_STOP, FAILURE_CONTINUE, FAILURE_REPLAN, FAILURES };
extern const char *const plan_failure_names[FAILURES + 1]; /* then NULL */

/* A name as it is written, and where. */
struct plan_name {
    wend_str text;
    uint32_t line, column;
};

struct plan_names {
    const struct plan_name *list;
    size_t count;
};

/* Files of an action: one by its path; those that came with a result; or those
 * that an input of this plan was given by the workflow action of another. */
struct plan_file {
    wend_str path;          /* the name of a part of the run; absent: see ref */
    const struct ref *ref;  /* to a result, or to an input; NULL: a path */
    bool given;             /* to an input */
    int64_t part;           /* only this one of them; -1: all */
    const wend_str *hashes; /* of the parts that the input was given */
    size_t hashes_count;
    wend_str input; /* of a workflow: the input of that plan that gets them */
    uint32_t line, column;
};

struct action_files {
    const struct plan_file *list;
    size_t count;
};

/* A case of a decision; plan_chosen has the actions that it chooses. */
struct plan_case {
    const struct expr *when; /* NULL: else */
    struct plan_names then;
    uint32_t first; /* of its names, among those of all cases */
};

struct plan_retry {
    int64_t max; /* extra attempts */
    int64_t delay_ms, delay_max_ms;
    double backoff; /* factor from one delay to the next */
};

/* What is written of an action, compiled. */
struct plan_action {
    wend_str name, id; /* neither is absent */
    int type;          /* enum action_type */
    int mode;          /* enum action_mode */
    wend_str target;   /* "default" for the run's model; absent: a decision */
    const struct template *params; /* makes JSON; NULL: {} */
    struct params asks;            /* of an llm action: what params has */
    const struct template *prompt; /* makes text; NULL: none */
    struct action_files files;     /* that come with it */
    wend_str output_key;           /* absent: its output has no name */
    uint32_t output_slot;          /* of that in a scope; or NAME_NONE */
    int64_t timeout_ms;
    struct plan_retry retry;
    int64_t estimate_ms; /* -1: none is given */
    int64_t learned_ms;  /* in a model's plan: mean of past runs; or -1 */
    int64_t priority;
    int64_t cache_ms; /* 0: not cached */
    int call_class;   /* wend_class; -1: that of the target */
    struct plan_names depends_on;
    bool wait_for_any;       /* wait_for_all is false */
    const struct expr *when; /* NULL: always */
    bool skip_on_error;
    struct plan_name fallback; /* absent text: none */
    const struct plan_case *cases;
    size_t cases_count;

    const struct ref *refs; /* all in it, the last one first */
    uint32_t line, column;  /* where it stands */
    uint32_t target_line, target_column;
    wend_str json; /* canonical, of a plan that is written by a model */
};

struct plan_output {
    wend_str name;
    const struct template *value; /* makes JSON */
};

/* What follows from what is written; indexes of actions throughout. */
struct plan_graph {
    /* Action i waits for deps[deps_at[i] .. deps_at[i + 1]), each once; the
     * decisions that name it are among them. `users` wait for i. */
    const uint32_t *deps_at, *deps;
    const uint32_t *users_at, *users;
    uint32_t edges_count; /* of them */
    /* Actions whose value i refers to without depending on them directly: i
     * does not start while one of them may still provide it. `value_users`
     * are those that refer to i in this way. */
    const uint32_t *values_at, *values;
    const uint32_t *value_users_at, *value_users;
    const uint32_t *fallback;    /* PLAN_NONE: none */
    const uint32_t *fallback_of; /* the action that it is for */
    /* Actions that the cases of a decision name: see plan_chosen. */
    const uint32_t *chosen_at, *chosen;
    const uint32_t *order; /* a topological one of starts and ends: i is the
                            * start of i, count + i its end */
    const uint32_t *wave;  /* from 1; a fallback comes after its action */
    uint32_t waves;
    /* Longest path from its start to the end of the plan, in estimates; one
     * without counts as 1 ms, so that more steps are longer. */
    const int64_t *rank;
    const bool *critical; /* on the path that is the longest of all */
    /* As declared: none counts as 0, fallbacks count as not run, and a
     * fire_and_forget action takes no time on a path. */
    int64_t sequential_ms, critical_ms;
};

struct plan {
    wend_str json; /* canonical; plan_parse of it gives the same plan */
    wend_str name;
    int64_t max_parallel; /* 0: auto */
    bool fail_fast, missing_null;
    int on_failure; /* enum plan_failure */
    bool written;   /* by a model: names need not be the user's will */
    bool open;      /* still being written */

    const struct plan_action *const *actions;
    uint32_t count;
    const bool *whole; /* of an open plan: all that it names is written */
    struct plan_graph graph;

    struct names ids; /* names and ids of actions */
    const uint32_t *id_action;
    struct names keys;      /* inputs, output keys: slots of a scope */
    const wend_str *inputs; /* JSON by slot; absent: no input */
    const struct plan_output *outputs;
    size_t outputs_count;
};

/* A value for an input, in the place of the declared one. */
struct plan_set {
    wend_str name;
    wend_str value;
    bool json; /* else it is a text that becomes what the input is */
};

struct plan_options {
    /* Whether the target (a tool, an agent ...) exists; NULL: no check. May
     * append to the message, such as "; did you mean 'x'?". */
    bool (*knows)(void *ctx, const struct plan_action *a, struct buf *hint);
    void *ctx;
    const struct plan_set *sets;
    size_t sets_count;
    const int64_t *learned_ms; /* for plan_add; NULL: nothing is known */
};

/* What an action took in the past. */
struct plan_learned {
    int64_t runs;     /* that were seen; 0: nothing is known */
    int64_t failures; /* of them */
    int64_t ms;       /* of those that ended well; -1: none did */
};

enum { LEARNED_MS_MAX = 1 << 30 }; /* twelve days */

/* ... all that did, by keys: see plan_past_key. */
struct plan_known {
    wend_str key;
    struct plan_learned learned;
};

struct plan_past {
    const struct plan_known *list; /* in the order of plan_past_order */
    size_t count;
    wend_str model; /* the one that is asked by default */
};

/* ---- Making one ---------------------------------------------------------- */

struct fields; /* base/fields.h */

/* f->root is the plan; its tree and text must live as long as f->arena. */
wend_status plan_read(struct fields *f, const struct plan_options *o,
                      struct plan **out);
/* From the log. */
wend_status plan_parse(wend_str json, const struct plan_options *o,
                       struct arena *a, struct plan **out, wend_error *err);

/* One that is being written: first without any action, then with one more at
 * a time, then finished. Each is a plan of its own and leaves the one before
 * as it was. An action of a file may name those below it; here a decision and
 * an action with a fallback come before those they name, since these would
 * have started. The inputs are JSON; an action whose output_key is the name
 * of one takes its place. */
wend_status plan_open(wend_str name, const struct plan_set *inputs,
                      size_t inputs_count, struct arena *a, struct plan **out,
                      wend_error *err);
wend_status plan_add(const struct plan *before, wend_str action_json,
                     const struct plan_options *o, struct arena *a,
                     struct plan **out, wend_error *err);
wend_status plan_finish(const struct plan *before, struct arena *a,
                        struct plan **out, wend_error *err);
/* An invalid plan: it gets no more actions, and nothing of it may start. */
const struct plan *plan_close(const struct plan *before, struct arena *a);

/* ---- Asking it ----------------------------------------------------------- */

/* Says that a plan with these inputs (may be NULL) has none of that name. */
wend_status plan_no_input(const struct json *inputs, wend_str name,
                          wend_error *err);
/* By id or name; or PLAN_NONE. */
uint32_t plan_find(const struct plan *p, wend_str id);
/* The actions that case c of decision i names: *count indexes, PLAN_NONE for
 * those that are not written yet. */
const uint32_t *plan_chosen(const struct plan *p, uint32_t i, size_t c,
                            size_t *count);
/* Ranks by other estimates (of each action, not negative); NULL: out of
 * memory. */
const int64_t *plan_rank(const struct plan *p, const int64_t *estimate_ms,
                         struct arena *a);
/* By estimates and the ranks that follow from them: the sums as in the graph.
 * Returns the first action of the longest path; PLAN_NONE if it takes no
 * time. */
uint32_t plan_totals(const struct plan *p, const int64_t *ms,
                     const int64_t *rank, int64_t *sequential_ms,
                     int64_t *critical_ms);
/* Sets what is on the longest path from `first` on. */
void plan_mark_path(const struct plan *p, const int64_t *rank, uint32_t first,
                    bool *critical);
/* What the past of an action is kept by: its type and its target. Lent by
 * `room`; absent if it does not fit. */
wend_str plan_past_key(char room[LEARNED_KEY_MAX], const struct plan_action *a,
                       wend_str model);
int plan_past_order(const void *known_a, const void *known_b);
/* NULL: nothing is known. */
const struct plan_learned *plan_past_get(const struct plan_past *past,
                                         wend_str key);
const struct plan_learned *plan_past_find(const struct plan_past *past,
                                          const struct plan_action *a);
/* The sums as in the graph, by what was learned (of each action) where
 * something was. critical: sets those on the longest path; NULL: not wanted.
 * False: out of memory. */
bool plan_learned_totals(const struct plan *p, const struct plan_learned *l,
                         const struct mem *m, int64_t *sequential_ms,
                         int64_t *critical_ms, bool *critical);

#endif

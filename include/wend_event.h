/*
 * wend_event.h - the events of a run. Included by wend.h.
 *
 * One table lists the types; the enum, the wire names, the codec and the
 * manual page wend-events(7) follow from it. Each row has a payload struct,
 * which is the member of `u` with the wire name. Read no other member: there
 * may be no memory behind it. A wend_str with ptr NULL is absent; a member
 * named `..._json` holds one JSON value as text. A pointer to a struct may be
 * NULL where the manual page says that the field may be absent. Some types are
 * reserved and nothing writes them yet; wend-events(7) marks them.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_EVENT_H
#define WEND_EVENT_H

/* constant, wire name, payload type, kept (has a seq in the log) or delta */
#define WEND_EVENTS(X)                                                 \
    X(RUN_START, run_start, wend_ev_run_start, KEPT)                   \
    X(RUN_FORK, run_fork, wend_ev_run_fork, KEPT)                      \
    X(RUN_RESUME, run_resume, wend_ev_run_resume, KEPT)                \
    X(RUN_END, run_end, wend_ev_run_end, KEPT)                         \
    X(TURN_START, turn_start, wend_ev_turn_start, KEPT)                \
    X(TURN_END, turn_end, wend_ev_turn_end, KEPT)                      \
    X(CONTEXT_START, context_start, wend_ev_context_start, KEPT)       \
    X(RETRIEVAL_START, retrieval_start, wend_ev_retrieval_start, KEPT) \
    X(RETRIEVAL_HIT, retrieval_hit, wend_ev_retrieval_hit, KEPT)       \
    X(RETRIEVAL_END, retrieval_end, wend_ev_retrieval_end, KEPT)       \
    X(COMPACTED, compacted, wend_ev_compacted, KEPT)                   \
    X(CONTEXT_END, context_end, wend_ev_context_end, KEPT)             \
    X(MODEL_START, model_start, wend_ev_model_start, KEPT)             \
    X(THINKING_DELTA, thinking_delta, wend_ev_delta, DELTA)            \
    X(TEXT_DELTA, text_delta, wend_ev_delta, DELTA)                    \
    X(ARGS_DELTA, args_delta, wend_ev_delta, DELTA)                    \
    X(MODEL_PART, model_part, wend_ev_model_part, KEPT)                \
    X(MODEL_RETRY, model_retry, wend_ev_model_retry, KEPT)             \
    X(MODEL_END, model_end, wend_ev_model_end, KEPT)                   \
    X(APPROVAL_ASK, approval_ask, wend_ev_approval_ask, KEPT)          \
    X(APPROVAL_ANSWER, approval_answer, wend_ev_approval_answer, KEPT) \
    X(CALL_START, call_start, wend_ev_call_start, KEPT)                \
    X(CALL_OUTPUT, call_output, wend_ev_delta, DELTA)                  \
    X(CALL_END, call_end, wend_ev_call_end, KEPT)                      \
    X(PLAN_START, plan_start, wend_ev_plan_start, KEPT)                \
    X(PLAN_ACTION, plan_action, wend_ev_plan_action, KEPT)             \
    X(ACTION_START, action_start, wend_ev_action_start, KEPT)          \
    X(ACTION_OUTPUT, action_output, wend_ev_delta, DELTA)              \
    X(ACTION_RETRY, action_retry, wend_ev_action_retry, KEPT)          \
    X(ACTION_END, action_end, wend_ev_action_end, KEPT)                \
    X(PLAN_END, plan_end, wend_ev_plan_end, KEPT)                      \
    X(BRANCH_START, branch_start, wend_ev_branch_start, KEPT)          \
    X(BRANCH_END, branch_end, wend_ev_branch_end, KEPT)                \
    X(CHILD_START, child_start, wend_ev_child_start, KEPT)             \
    X(CHILD_END, child_end, wend_ev_child_end, KEPT)                   \
    X(MESSAGE, message, wend_ev_message, KEPT)                         \
    X(CONTROL, control, wend_ev_control, KEPT)                         \
    X(METRICS, metrics, wend_ev_metrics, KEPT)                         \
    X(PROGRESS, progress, wend_ev_progress, KEPT)                      \
    X(WARNING, warning, wend_ev_warning, KEPT)                         \
    X(ERROR, error, wend_ev_error, KEPT)                               \
    /* new types come last: the numbers are part of the ABI */

/* clang-format off */
typedef enum wend_event_type {
    WEND_EVENT_NONE = 0,
#define X(constant, name, payload, keep) WEND_##constant,
    WEND_EVENTS(X)
#undef X
    WEND_EVENT_TYPES /* one more than the last */
} wend_event_type;
/* clang-format on */

/* ---- Types that several events share ------------------------------------- */

typedef enum wend_outcome {
    WEND_OUTCOME_NONE = 0,
    WEND_OUTCOME_OK,
    WEND_OUTCOME_LIMIT,
    WEND_OUTCOME_CANCELED,
    WEND_OUTCOME_FAILED,
    WEND_OUTCOME_SUPERSEDED,
    WEND_OUTCOME_DENIED,
    WEND_OUTCOME_TIMEOUT,
    WEND_OUTCOME_UNKNOWN,
    WEND_OUTCOME_SKIPPED
} wend_outcome;

typedef enum wend_purpose {
    WEND_PURPOSE_ANSWER = 0,
    WEND_PURPOSE_SUMMARY,
    WEND_PURPOSE_REPAIR,
    WEND_PURPOSE_PLAN,
    WEND_PURPOSE_JUDGE,
    WEND_PURPOSE_MEMORY
} wend_purpose;

/* The effect of running the same call twice: unsafe means a second effect. */
typedef enum wend_class {
    WEND_CLASS_UNSAFE = 0,
    WEND_CLASS_IDEMPOTENT,
    WEND_CLASS_READ
} wend_class;

typedef enum wend_category {
    WEND_CATEGORY_GENERAL = 0,
    WEND_CATEGORY_NETWORK,
    WEND_CATEGORY_DESTRUCTIVE
} wend_category;

typedef enum wend_decision {
    WEND_DECISION_ALLOW = 0,
    WEND_DECISION_DENY,
    WEND_DECISION_ASK
} wend_decision;

typedef enum wend_risk {
    WEND_RISK_LOW = 0,
    WEND_RISK_MEDIUM,
    WEND_RISK_HIGH,
    WEND_RISK_CRITICAL
} wend_risk;

typedef struct wend_ev_error {
    wend_str code, message, component;
    bool retryable;
    bool effect_possible;
} wend_ev_error;

typedef struct wend_ev_usage {
    int64_t input, output, cached, reasoning;
    int64_t cost_nano;   /* USD * 10^-9; -1 = not known */
    int64_t cache_write; /* part of input: written to the provider's cache */
    bool estimated;      /* not reported by the provider: a crash interrupted
                            the request, and this is the most it can cost; or
                            it was canceled or timed out */
} wend_ev_usage;

typedef struct wend_ev_policy {
    wend_decision decision;
    wend_risk risk;
    wend_str layers_json;
    wend_str rule;
} wend_ev_policy;

typedef struct wend_ev_call {
    wend_str id, name;
    wend_str args_json;
} wend_ev_call;

/* A picture, a document, a sound or a text file in a message. Its bytes are a
 * blob of the store, see wend_store_blob; they are never in an event. */
typedef struct wend_ev_part {
    wend_str type;  /* text image document audio */
    wend_str media; /* as image/png, from the bytes themselves */
    int64_t bytes;
    wend_str hash;         /* SHA-256 of the bytes, in hex */
    wend_str name;         /* of the file; may be absent */
    int64_t width, height; /* of an image, in pixels */
    int64_t pages;         /* of a document; 0 = not known */
    int64_t ms;            /* of audio; 0 = not known */
} wend_ev_part;

typedef struct wend_ev_limits {
    int64_t turns, time_ms, tokens, cost_nano, parallel; /* 0 = none */
} wend_ev_limits;

typedef struct wend_ev_metrics {
    int64_t turns, model_calls, tool_calls, tool_errors, actions;
    int64_t tokens_in, tokens_out, tokens_cached;
    int64_t cost_nano; /* USD * 10^-9; -1 = not known: a model call in it has
                          no known cost */
    int64_t ms, first_token_ms;
} wend_ev_metrics;

/* ---- Payloads ------------------------------------------------------------ */

typedef struct wend_ev_run_start {
    /* messages_json has all messages, also where the JSON has chunks */
    wend_str prompt, messages_json, agent, model, user, session, cwd;
    wend_str context_json, correlation_id, parent_run, parent_call;
    wend_str plan_json;
    wend_ev_limits limits;
    wend_str labels_json, config_json;
    wend_str follows;          /* the run whose past `messages` is */
    wend_str past_labels_json; /* what that past brings: a list of labels */
    const wend_ev_part *parts; /* that the prompt comes with */
    size_t parts_count;
    const wend_ev_part *past_parts; /* all that `messages` has */
    size_t past_parts_count;
    wend_str past_refused_json; /* what models refused before this run */
} wend_ev_run_start;

/* A child of the run that a fork tries again: it did not end ok. The call or
 * the action that waited for it starts it again, as a fork of it. */
typedef struct wend_ev_unfinished {
    wend_str call, action; /* the one that waited; the other is absent */
    wend_str run;
    wend_str input;          /* SHA-256 of what it was given */
    wend_ev_metrics metrics; /* of it, as the parent counted them */
} wend_ev_unfinished;

typedef struct wend_ev_run_fork {
    wend_str parent;
    int64_t at;
    /* Changes against the parent; absent or NULL: unchanged. */
    wend_str model;
    const wend_ev_limits *limits;
    wend_str config_json;
    wend_str parent_run, parent_call; /* of a child; absent: no run waits */
    wend_str user, session, correlation_id; /* changes, too */
    wend_str labels_json;
    const wend_ev_metrics *redone; /* usage behind `at` that counts here; NULL:
                                      none */
    const wend_ev_unfinished *children;
    size_t children_count;
} wend_ev_run_fork;

typedef struct wend_ev_run_resume {
    int64_t epoch, from_seq;
    wend_str unsettled_json;
    /* Changes against the log before; absent or NULL: unchanged. */
    wend_str model;
    const wend_ev_limits *limits;
    wend_str config_json;
    bool imported; /* approvals and config in the log before are void */
} wend_ev_run_resume;

typedef struct wend_ev_run_end {
    wend_outcome outcome;
    wend_str text, limit;
    const wend_ev_error *error;
    wend_ev_metrics metrics;
    const wend_ev_call *pending; /* calls of client-side tools: the caller
                                    executes them, and gives their results to
                                    wend_run_follow */
    size_t pending_count;
} wend_ev_run_end;

typedef struct wend_ev_turn_start {
    int64_t counter;
    wend_str id, parent_id;
    bool compacted;
} wend_ev_turn_start;

typedef struct wend_ev_turn_end {
    wend_outcome outcome;
    int64_t calls, failed_calls;
} wend_ev_turn_end;

typedef struct wend_ev_context_start {
    int64_t budget_tokens;
} wend_ev_context_start;

typedef struct wend_ev_retrieval_start {
    wend_str query, source;
} wend_ev_retrieval_start;

typedef struct wend_ev_retrieval_hit {
    wend_str title, source;
    double score;
    int64_t tokens;
} wend_ev_retrieval_hit;

typedef struct wend_ev_retrieval_end {
    int64_t count;
    const wend_ev_error *error;
} wend_ev_retrieval_end;

typedef struct wend_ev_compacted {
    wend_str method; /* trimmed summary window */
    int64_t messages_before, messages_after, tokens_before, tokens_after;
    wend_str topics_json;
    int64_t attempts;
    /* From which messages the shorter conversation is made. Messages count
     * from 0 in the conversation before. */
    int64_t from;          /* the first of the newest ones, which all stay */
    wend_str kept_json;    /* [MESSAGE]: older ones that stay */
    wend_str results_json; /* [{message,call,bytes,head,tail}]: results cut to
                              their first and last bytes */
    wend_str summary;      /* behind the first message that stays; absent:
                              none */
    int64_t dropped;       /* messages that a note stands for; 0: no note */
} wend_ev_compacted;

typedef struct wend_ev_context_end {
    int64_t tokens;
    wend_str parts_json, prefix_hash, prefix_changed_json;
} wend_ev_context_end;

typedef struct wend_ev_model_start {
    wend_str model;
    int64_t attempt;
    wend_purpose purpose;
    wend_str action, branch;
    int64_t messages, tools;
    int64_t output_tokens; /* that a budget reserves for the answer; 0: none */
    wend_str limit;        /* the budget that the answer is cut at: tokens or
                              cost; absent: none */
} wend_ev_model_start;

typedef struct wend_ev_delta {
    wend_str call, text, action, branch;
} wend_ev_delta;

typedef struct wend_ev_model_part {
    wend_str text, thinking, opaque_json;
} wend_ev_model_part;

typedef struct wend_ev_model_retry {
    int64_t attempt, delay_ms;
    wend_str reason, next_model;
    const wend_ev_usage *usage; /* of the failed attempt; NULL: the provider
                                   reported none */
    int64_t output_tokens;      /* of the next attempt, as in model_start */
    wend_str limit;
    wend_str dropped_json; /* names of what the model refused to be asked for;
                              absent: nothing */
} wend_ev_model_retry;

typedef struct wend_ev_model_end {
    wend_outcome outcome;
    wend_purpose purpose;
    wend_str text, thinking, opaque_json;
    const wend_ev_call *calls;
    size_t calls_count;
    wend_str finish;
    wend_ev_usage usage;
    int64_t first_token_ms, ms;
    const wend_ev_error *error;
    wend_str action; /* that asked the model; absent: the turn did */
} wend_ev_model_end;

typedef struct wend_ev_approval_ask {
    wend_str call, action, name, args_json;
    wend_risk risk;
    wend_str layers_json, reason;
    wend_str rule; /* that an "always" answer creates; may be absent */
} wend_ev_approval_ask;

typedef struct wend_ev_approval_answer {
    wend_str call, action;
    bool yes;
    wend_str by, remember;
    wend_str args_json; /* that it runs with, as changed with the approval;
                           absent: as the approval_ask shows them */
} wend_ev_approval_answer;

typedef struct wend_ev_call_start {
    wend_str call, name, args_json;
    bool args_invalid;
    wend_class call_class;
    wend_str key;
    int64_t attempt;
    wend_ev_policy policy;
} wend_ev_call_start;

/* Outcome superseded: a crash interrupted this attempt and the call runs again.
 * Each call and each action has exactly one end with another outcome. */
typedef struct wend_ev_call_end {
    wend_str call, name;
    wend_outcome outcome;
    wend_str output;
    bool truncated, cached;
    wend_str labels_json;
    int64_t ms;
    const wend_ev_error *error;
    bool given;                /* not by the tool: the fork supplied this
                                  result, or ... */
    bool client;               /* ... the caller executes the call, and its
                                  result comes with the next run */
    wend_str structured_json;  /* the result of an MCP server as JSON; the model
                                  gets only `output` */
    const wend_ev_part *parts; /* that the model gets with `output` */
    size_t parts_count;
} wend_ev_call_end;

typedef struct wend_ev_plan_start {
    wend_str plan, name;
    bool streamed;
    wend_str actions_json;
    int64_t waves, sequential_ms, critical_path_ms, max_parallel;
    wend_str call;      /* the call by which a model writes it, else absent */
    bool auto_parallel; /* max_parallel is only the initial value */
} wend_ev_plan_start;

typedef struct wend_ev_plan_action {
    wend_str action_json;
    int64_t estimate_ms; /* if learned */
    bool learned;
} wend_ev_plan_action;

typedef struct wend_ev_action_start {
    wend_str action, name, type, mode, target, params_json;
    int64_t attempt;
    wend_str key;
    wend_ev_policy policy;
} wend_ev_action_start;

typedef struct wend_ev_action_retry {
    wend_str action;
    int64_t attempt, delay_ms;
    const wend_ev_error *error;
    wend_str dropped_json; /* as in model_retry; or types of parts */
} wend_ev_action_retry;

typedef struct wend_ev_action_end {
    wend_str action, name;
    wend_outcome outcome;
    bool cached;
    wend_str output_json, output_key;
    int64_t ms;
    const wend_ev_error *error;
    wend_str reason;
    wend_str labels_json; /* besides those of its tool; absent: none */
    bool given;           /* the fork supplied this result, not the action */
    const wend_ev_part *parts; /* that come with the output of a tool */
    size_t parts_count;
} wend_ev_action_end;

typedef struct wend_ev_plan_end {
    wend_outcome outcome;
    int64_t ok, failed, skipped, running, ms;
    int64_t canceled; /* not counted as failed */
    int64_t unknown;  /* nor are these: an interruption hid their outcome */
} wend_ev_plan_end;

typedef struct wend_ev_branch_start {
    wend_str branch;
    int64_t of_turn;
    wend_str label;
} wend_ev_branch_start;

typedef struct wend_ev_branch_end {
    wend_str branch;
    wend_outcome outcome;
    wend_str text;
} wend_ev_branch_end;

typedef struct wend_ev_child_start {
    wend_str run, agent;
    int64_t depth;
    wend_str call, action;
    wend_str fork_of; /* the run that it continues; absent: none */
} wend_ev_child_start;

typedef struct wend_ev_child_end {
    wend_str run;
    wend_outcome outcome;
    wend_str text;
    wend_str labels_json;    /* that it adds to the parent; absent: none */
    wend_ev_metrics metrics; /* of its run_end, including its children */
} wend_ev_child_end;

typedef struct wend_ev_message {
    wend_str role, text;
    bool pinned; /* a compaction keeps it as it is */
    const wend_ev_part *parts;
    size_t parts_count;
    wend_str by; /* "wend": the runtime wrote it; absent: the user or a hook */
} wend_ev_message;

typedef struct wend_ev_control {
    wend_str what, by, value_json;
} wend_ev_control;

typedef struct wend_ev_progress {
    int64_t done, total;
    wend_str label;
} wend_ev_progress;

typedef struct wend_ev_warning {
    wend_str code, message;
} wend_ev_warning;

/* ---- The event ----------------------------------------------------------- */

typedef struct wend_event {
    wend_event_type type;
    bool in_turn;    /* turn and turn_id are set */
    wend_str run;    /* UUIDv7 */
    int64_t seq;     /* of this kept event, or of the last one before a delta */
    int64_t n;       /* number of the delta after seq, from 1; 0 = kept */
    int64_t time_us; /* unix microseconds, never decreasing in a run */
    int64_t turn;    /* from 0 */
    wend_str turn_id;
    union {
#define X(constant, name, payload, keep) payload name;
        WEND_EVENTS(X)
#undef X
    } u;
} wend_event;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the wire name of a type, "call_end" for WEND_CALL_END, or NULL for an
 * invalid type. Static. [any thread] */
WEND_API const char *wend_event_name(wend_event_type type);
/* Returns the type with this wire name, or WEND_EVENT_NONE. [any thread] */
WEND_API wend_event_type wend_event_type_of(const char *name);
/* Tells whether events of a type are deltas. [any thread] */
WEND_API bool wend_event_is_delta(wend_event_type type);
/* Return the word that events use for a value, or NULL for an invalid one.
 * Static. [any thread] */
WEND_API const char *wend_outcome_name(wend_outcome outcome);
WEND_API const char *wend_class_name(wend_class c);
WEND_API const char *wend_category_name(wend_category c);
WEND_API const char *wend_risk_name(wend_risk r);

/* Writes an event as its canonical line, without a newline: the same bytes as
 * in the store. The caller owns `*json` and frees it with wend_string_free.
 * [any thread] */
WEND_API wend_status wend_event_to_json(const wend_event *event, char **json,
                                        size_t *len);
/* Frees a string of wend_event_to_json. [any thread] */
WEND_API void wend_string_free(char *s);

/* Copies an event with everything that it points to. The caller owns the copy.
 * [any thread] */
WEND_API wend_status wend_event_clone(const wend_event *event,
                                      wend_event **out);
/* Frees a copy, never an event that is lent. [any thread] */
WEND_API void wend_event_free(wend_event *event);

#ifdef __cplusplus
}
#endif
#endif

/*
 * dialect.h - another vocabulary: native events in, its records out.
 *
 * A record is one JSON line. A dialect is pure: the same events give the
 * same bytes. It keeps a few counters, and may hold records back until their
 * place in its order is known; in all of them, calls that start while their
 * message still streams come after it.
 *
 * loom: type, timestamp, phase, content, tool_call, tool_result, error,
 * metadata, iteration, turn_id, in this order; what has no value is left
 * out. The last turn of a run has no iteration_end.
 *
 * agio: type, run_id, timestamp (ISO 8601), data, metadata. Steps count from
 * 1; a step is completed after the snapshot of its metrics.
 *
 * cortex: event_type, timestamp, data, action_id, action_name; the last two
 * are null in a record about no action. Iterations count from 1; a plan file
 * is one, else a turn is. A tool call is an action; a call that writes a plan
 * is not, the actions of the plan are. Each action ends in one record,
 * action_completed (status completed or skipped) or action_failed.
 *
 * ag-ui: events of the AG-UI protocol, for clients of 0.0.58 and 1.0. Steps are
 * turns. What has no event of its own is CUSTOM, with the native data as value.
 *
 * openai-chat, responses: what the APIs of those names stream, or the one
 * object that they answer with. ui: the UI message stream of the AI SDK.
 */
#ifndef WIRE_DIALECT_H
#define WIRE_DIALECT_H

#include "base/str.h"

/* All dialects: constant, name. The numbers are indexes of dialect_names. */
#define DIALECT_LIST(X)           \
    X(NATIVE, "native")           \
    X(LOOM, "loom")               \
    X(AGIO, "agio")               \
    X(CORTEX, "cortex")           \
    X(AG_UI, "ag-ui")             \
    X(OPENAI_CHAT, "openai-chat") \
    X(RESPONSES, "responses")     \
    X(UI, "ui")

/* clang-format off */
enum dialect_number {
#define X(constant, name) DIALECT_##constant,
    DIALECT_LIST(X)
#undef X
    DIALECTS
};
/* clang-format on */

extern const char *const dialect_names[]; /* ends with NULL */
extern const struct dialect dialect_native, dialect_loom, dialect_agio,
    dialect_cortex, dialect_ag_ui, dialect_openai_chat, dialect_responses,
    dialect_ui;
const struct dialect *dialect_find(wend_str name); /* NULL: none */

/* What the event is about, in the same members for calls and actions. */
struct dialect_now {
    wend_str id, name;  /* of the call or action */
    wend_str json;      /* its arguments or its output */
    wend_str why, code; /* for what failed */
    wend_str limit;     /* that ended the run */
    const wend_ev_error *error;
    wend_outcome outcome;
    int64_t ms;
    bool truncated, cached;
    bool ended; /* the result of a call or action is told */
    /* What a dialect computes for its rows. */
    int64_t tokens_in, tokens_out, tokens, count;
    double ratio;
    bool yes;
    unsigned records; /* written for this event */
};

/* The events of one run. The dialects keep here what they know about it;
 * each uses only a part. */
struct dialect_stream {
    const struct dialect *dialect;
    const struct mem *mem;
    /* The rules for a type of event are among these: from, and up to. */
    uint8_t from[WEND_EVENT_TYPES], to[WEND_EVENT_TYPES];
    bool verbose;     /* debug records, too, if the dialect has them */
    bool in_model;    /* the message of a turn streams */
    struct buf early; /* records about calls, until that message ends */
    struct buf later; /* the end of a turn, until it is known what follows */
    struct record_call *calls; /* calls and actions that have begun */
    struct buf *out;           /* of this event */
    bool past;                 /* the records of this event are dropped */
    const wend_dialect_options *options; /* or NULL */
    struct flow *flow;                   /* of a protocol; or NULL */
    struct dialect_now now;
    struct buf text;       /* what `now` points to */
    struct arena scratch;  /* of this event */
    int64_t last_us;       /* time of the previous event */
    int64_t turn;          /* from 1; 0 before the first */
    int64_t turn_began_us; /* moved on by the time without a process */
    int64_t file;          /* 1: the first turn is a plan file */
    int64_t turns_max, parallel_max, budget_tokens;
    struct buf turn_id, correlation_id, cancel_by;
    int64_t recoveries; /* attempts whose outcome is open */
    int64_t actions;    /* that ran */
    int64_t tool_calls; /* by actions, each attempt */
    int64_t plan_calls; /* that wrote plans */
    int64_t pieces;     /* of text so far */
    struct buf plan;    /* list of actions that is being written */
    int64_t plan_count;
    bool in_iteration;
    int64_t iterations_max;          /* 0: no limit */
    int64_t batch_done, batch_total; /* actions of the plan, or of a turn */
    int64_t completed;               /* in this iteration */
    bool thought;                    /* the turn's thinking was told */
    bool no_actions;                 /* the planner said so */
    bool no_planner;                 /* a tool `plan` is like any other tool */
};

/* Appends a note for each part of a message, where there is only text:
 * " [image png 800x600 photo.png]". */
void dialect_put_parts(struct buf *b, const wend_ev_part *parts, size_t count);

/* m is borrowed, and so are the strings of the options, which may be NULL. */
void dialect_open(struct dialect_stream *s, const struct dialect *d,
                  const struct mem *m, const wend_dialect_options *options);
/* Appends zero or more lines. With `past` the event is only noted, and `out`
 * stays as it is. False: out of memory, which also sticks in out->failed. */
bool dialect_event(struct dialect_stream *s, const wend_event *ev,
                   struct buf *out, bool past);
/* Ends a protocol's stream because approvals are open: see flow_interrupt. */
bool dialect_interrupt(struct dialect_stream *s, struct buf *out);
void dialect_close(struct dialect_stream *s); /* also if it never was open */

#endif

/*
 * flow.h - a run as a conversation: pieces of text, calls and their results.
 *
 * The protocols that user interfaces and clients of models speak have the same
 * shape and the same traps. flow.c keeps the rules that hold in all of them;
 * a form writes the records of one protocol. A form can rely on this:
 *
 * - `start` comes first and once; `end` or `interrupt` comes last. After past
 *   events there is a `start` again, since the reader's stream begins there.
 * - At most one piece is open, text or thinking, and it has a new id. None is
 *   open in `call`, `step`, `other` and `end`, and no step is in `end`.
 * - A call is told once, when its name and arguments are complete, and has one
 *   result, whatever was retried, superseded or resumed. A call that the
 *   caller executes (`client`) has none.
 * - Text of a model that works for a plan's action is not part of it. Text
 *   that must match a schema comes only at the end, as does that of a plan.
 */
#ifndef WIRE_FLOW_H
#define WIRE_FLOW_H

#include "base/json.h"
#include "wire/dialect/record.h"

enum flow_kind { FLOW_NONE, FLOW_TEXT, FLOW_THINKING };
enum flow_at { FLOW_BEGINS, FLOW_GROWS, FLOW_ENDS };

struct flow_call {
    struct flow_call *next;
    wend_str id;       /* as events have it; in the same block */
    wend_str name;     /* the same, too */
    wend_str args;     /* a JSON value; the same */
    int64_t turn;      /* as in struct flow */
    bool action;       /* of a plan: only its approval is told */
    struct buf reason; /* why it must be approved */
    struct buf shown;  /* the id for the reader: no other call has it */
    bool asked;        /* waits for approval */
    bool answered;     /* it has its result */
    bool by_client;    /* its tool is the caller's */
    bool client;       /* ... and the caller executes it */
};

struct flow {
    const struct flow_form *form;
    struct dialect_stream *s;
    struct buf *out;
    wend_dialect_options o;
    bool past;           /* the last event was */
    bool begun, over;    /* start and end were written */
    bool interrupted;    /* the reader's last stream was */
    bool in_model;       /* the message of a turn streams */
    bool in_turn;        /* as events have it */
    bool in_step;        /* as the reader knows it */
    bool answer_last;    /* the text comes with run_end */
    int64_t time_us;     /* of this event */
    int64_t began_us;    /* the time of the first one */
    int64_t turn;        /* from 1 */
    int64_t asks;        /* of the turn's model, in this turn */
    int64_t pieces;      /* of this ask */
    enum flow_kind open; /* the piece that is open */
    bool shown[3];       /* by kind: pieces of this ask */
    bool cut;            /* the piece that ends is not complete */
    struct buf run_id, thread_id, model, turn_id;
    struct buf id;           /* of the open piece, else of the last */
    struct buf message;      /* id for the calls of this ask */
    struct buf text;         /* of the open piece so far */
    struct buf finish;       /* of the last answer: model_end.finish */
    struct buf client_tools; /* names, a line each */
    int64_t reasoning;       /* tokens */
    struct flow_call *calls, **calls_end; /* all of the run, in order */
    /* For forms. */
    int64_t sequence, items;
    bool any_text;
    struct buf done; /* finished items, or text */
    size_t mark;     /* of `done` when this ask began */
};

struct flow_form {
    /* All of a run is one message, which continues after an interrupt. So a
     * reader who comes late is told the calls that have no result. */
    bool continues;
    void (*start)(struct flow *f);
    void (*step)(struct flow *f, bool begins); /* may be NULL, as the rest */
    void (*piece)(struct flow *f, enum flow_at at, wend_str text);
    void (*discard)(struct flow *f); /* the pieces of this ask are void */
    void (*call)(struct flow *f, const struct flow_call *c);
    void (*result)(struct flow *f, const struct flow_call *c,
                   const wend_ev_call_end *e);
    void (*other)(struct flow *f, const wend_event *ev);
    void (*end)(struct flow *f, const wend_ev_run_end *e);
    void (*interrupt)(struct flow *f); /* approvals are open */
};

/* ---- For dialects -------------------------------------------------------- */

void flow_event(struct dialect_stream *s, const wend_event *ev,
                const struct flow_form *form);
/* Ends the reader's stream because approvals are open. False: none is, or
 * a message streams, or the protocol has no such end. */
bool flow_interrupt(struct dialect_stream *s, struct buf *out);
void flow_drop(struct flow *f);

/* ---- For forms ----------------------------------------------------------- */

/* A record: { and its type, then members, then } and the end of the line. */
struct buf *flow_record(struct flow *f, const char *type);
void flow_record_end(struct flow *f);
/* Drops what this ask has added to `done`. */
void flow_undo(struct flow *f);
/* The call of this turn that events name by `id`, or NULL. */
const struct flow_call *flow_find(const struct flow *f, wend_str id);
/* The id for the reader of a call that events name by `id`. */
wend_str flow_call_id(const struct flow *f, wend_str id);
/* Arguments as text: JSON, or what the model wrote in place of it. */
wend_str flow_args(struct flow *f, const struct flow_call *c);
/* The text of a result, also if the call failed. */
wend_str flow_output(const wend_ev_call_end *e);
/* Adds a list with the ids of calls that the caller executes, if any. */
void flow_add_pending(struct flow *f, const char *key);
bool flow_is_pending(const struct flow *f);
/* The next call that waits for approval, or NULL; c NULL: the first. */
const struct flow_call *flow_asked(const struct flow *f,
                                   const struct flow_call *c);

/* How a run ended, in the words that the protocols share. */
enum flow_end {
    FLOW_STOP,
    FLOW_LENGTH, /* of the answer, or a limit of the run */
    FLOW_FILTER,
    FLOW_CALLS, /* the caller has calls to execute */
    FLOW_CANCELED,
    FLOW_FAILED,
};
enum flow_end flow_ended(const struct flow *f, const wend_ev_run_end *e);
/* Why it failed or was canceled; never absent. */
wend_str flow_why(const wend_ev_run_end *e);
wend_str flow_code(const wend_ev_run_end *e);

#endif

/*
 * call.h - calls of tools, between the shell and the tool.
 *
 * Everything here belongs to the runtime's thread, except what says otherwise.
 */
#ifndef LIB_CALL_H
#define LIB_CALL_H

#include "lib/run/run.h"

struct wend_call {
    struct post post; /* POST_RETURN */
    struct threads_job job;
    struct mem mem;
    unsigned process; /* that made it */
    struct mailbox *mailbox;
    atomic_int refs;              /* the shell's and the tool's */
    atomic_bool canceled;         /* [any thread] */
    atomic_bool answered;         /* [any thread] */
    atomic_size_t waiting;        /* bytes of progress not yet read */
    wend_str id, name, args, key; /* in the same block */
    wend_tool_fn fn;
    void *ctx;
    struct kept *kept;       /* ctx; NULL: it is not released */
    wend_status ran;         /* what fn returned on a thread */
    struct workplace *place; /* that ctx is in; NULL: the host's business */
    struct arena arena;      /* of the next */
    const struct path_view *view; /* which files it may tell about; NULL if it
                                     touches none */
    /* the runtime's thread only */
    struct wend_run *run;   /* NULL once nothing waits for it */
    struct wend_call *next; /* of the run */
    struct agent_tool *tool;
    struct timer_node deadline;
    struct timer_node begin; /* while it waits for its tool's pace */
    struct effect fx;        /* that it carries out, without args and key */
    int64_t began_us;
    bool checks;        /* only looks what became of it */
    atomic_uint labels; /* what its answer brings with it [any thread] */
    call_stop_fn stop;  /* NULL: it cannot be stopped, only given up */
    void *stop_ctx;
    enum stop_reason stopping; /* told so, and why; its answer is awaited */
    struct redact hidden[KEYS_MAX]; /* in what it shows meanwhile */
    size_t unshown; /* bytes of it, while the log's writer is behind */
    struct {
        char code[32];
        bool no_effect, retryable;
    } blame; /* what its error says, if it fails */
    /* the answer, written once before it is posted */
    wend_outcome outcome;
    struct buf output;
    struct buf structured;    /* JSON besides; empty: none */
    struct event_blobs blobs; /* of its parts */
    wend_ev_part *parts;
    size_t parts_count;
    bool attached; /* by the host: the output gets a note for each */
};

/* Whether both are about the same call, or the same action of a plan. */
bool work_same(const struct effect *a, const struct effect *b);
void call_start(struct wend_run *r, const struct effect *fx);
void call_check(struct wend_run *r, const struct effect *fx);
void call_stop(struct wend_run *r, const struct effect *fx);
/* The labels (wend_label) that go with a kept answer of this run. */
uint32_t run_labels(const struct wend_run *r);
/* To give it again, if its tool says so. */
void call_keep_answer(struct wend_call *c, wend_str output);
void call_returned(struct wend_call *c); /* from the mailbox */
void call_output(struct post *p);        /* from the mailbox */
void calls_drop(struct wend_run *r);     /* nothing waits any more */
bool call_look(struct wend_call *c);     /* sets its view; false: no memory */
void call_unref(struct wend_call *c);
void call_run_threaded(struct wend_call *c); /* call_hands.c */
/* call_hands.c: what it shows meanwhile, or how much of it could not be. A
 * listener may have ended the call after both. */
void call_show_text(struct wend_call *c, char *p, size_t len);
void call_tell_unshown(struct wend_call *c);
/* call_hands.c: which limit was reached, then what the tool said when it was
 * told to stop. */
void call_put_limit(const struct wend_call *c, wend_str said, struct buf *out);

/* call_hands.c: a line for each part that a host attached. */
void call_put_notes(const struct wend_call *c, struct buf *out);

/* Whether a rule asks for it and the sandbox can do it here. */
bool run_hides(struct wend_run *r);

#endif

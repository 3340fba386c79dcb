/*
 * cortex.h - the cortex dialect: what its files share.
 */
#ifndef WIRE_CORTEX_H
#define WIRE_CORTEX_H

#include "wire/dialect/record.h"

/* An action that has begun. */
struct cortex_action {
    struct cortex_action *next;
    wend_str id, name; /* in the same block */
    bool is_tool;
    bool thought; /* its model's thinking was told */
    int64_t attempts;
};

/* One run. */
struct cortex {
    const struct mem *mem;
    struct record_calls early;
    struct cortex_action *open;
    struct buf plan; /* actions of one that is being written, with commas */
    int64_t plan_count;
    int64_t iteration;       /* 0 before the first */
    int64_t iterations_max;  /* 0: no limit */
    int64_t iterations_file; /* 1: the first is a plan file */
    int64_t turns_max;
    bool in_iteration;
    int64_t batch_done, batch_total; /* actions of the plan, or of a turn */
    int64_t completed;               /* in this iteration */
    int64_t tokens;                  /* pieces of text so far */
    int64_t tool_calls;              /* by actions of plans */
    int64_t plan_calls;              /* that wrote plans */
    bool thought;                    /* the turn's thinking was told */
    bool no_actions;                 /* the planner said so */
    bool no_planner; /* there is none: a tool `plan` is like any other */
};

/* A record: open it, add the members of its data, close it. */
void cortex_open(struct buf *b, const wend_event *ev, const char *type);
void cortex_close(struct buf *b);
/* One that is about an action. */
void cortex_close_for(struct buf *b, wend_str id, wend_str name);
/* One with a text alone. */
void cortex_text(const wend_event *ev, const char *type, const char *member,
                 wend_str text, struct buf *out);
void cortex_seconds(struct buf *b, int64_t ms); /* duration_seconds */

/* Where the action is in the list of those that have begun, or would be. */
struct cortex_action **cortex_find(struct cortex *c, wend_str id);
wend_str cortex_action_name(struct cortex *c, wend_str id); /* or absent */
/* Whether the call with that name writes a plan. */
bool cortex_is_plan_call(const struct cortex *c, wend_str name);
/* How far the plan is, after one more action. */
void cortex_progress(struct cortex *c, const wend_event *ev, struct buf *out);

/* Of the events with these names. */
void cortex_action_start(struct cortex *c, const wend_event *ev,
                         struct buf *out);
void cortex_action_retry(struct cortex *c, const wend_event *ev,
                         struct buf *out);
void cortex_action_end(struct cortex *c, const wend_event *ev, struct buf *out);
void cortex_call_start(struct cortex *c, const wend_event *ev, struct buf *out);
void cortex_call_end(struct cortex *c, const wend_event *ev, struct buf *out);

#endif

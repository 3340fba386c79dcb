/*
 * child.h - runs that other runs start and wait for, and the agents that do
 * them. Only for src/lib.
 */
#ifndef LIB_CHILD_H
#define LIB_CHILD_H

#include "lib/run/run.h"

/* ---- Agents that an agent may give tasks to (agent_children.c) ----------- */

struct agent_child {
    struct agent_child *next;
    wend_str name, description;
    wend_agent *agent;
    wend_str plan_json; /* absent: it takes a prompt */
    unsigned mode;      /* of its config: see RUN_MODES */
};

/* NULL: no child has that name. */
const struct agent_child *agent_child(const wend_agent *a, wend_str name);
/* Their configs, which the next two need. */
wend_status agent_children_ready(const wend_agent *a, wend_error *err);
/* Whether the windows of its models, and of its children's, have room for what
 * every request says. prompts: it is asked something itself, not only by
 * actions of a plan. Its config is there. */
wend_status agent_fits(const wend_agent *a, unsigned mode, bool prompts,
                       wend_error *err);
/* `,"agents":[...]`: all that is needed to start and to make them again. */
void agent_put_children(const wend_agent *a, struct buf *b);
/* WEND_FORK_ bits: what one of them has from the agent around it. */
uint32_t child_inherits(const struct json *entry);
wend_status agent_offer_task(wend_agent *a, wend_error *err);
/* The tool for the model, in the list of tools. */
void agent_put_task(const wend_agent *a, struct buf *b);
void agent_drop_children(wend_agent *a);

/* ---- Runs ---------------------------------------------------------------- */

/* A child, from child_start to its end. */
struct child {
    struct child *next; /* of the parent */
    struct wend_run *parent;
    struct wend_run *run; /* NULL before it has begun; ours */
    struct effect fx;     /* that it carries out, without args and key */
    char id[40], of[40];  /* of: the run that it continues, or "" */
    wend_str call, args;  /* in the same block; call: or the action's id */
    int64_t began_us;
    struct timer_node timer; /* until it begins, then its deadline, then its
                                end */
    int64_t left_us;         /* of its time, while its parent is paused */
    bool held;               /* it begins when its parent continues */
    bool stopped, late, over;
    bool forked; /* just now, as its parent says */
};

void child_start(struct wend_run *r, const struct effect *fx);
/* False: the call or action has no child. */
bool child_stop(struct wend_run *r, const struct effect *fx);
/* The run was paused or continued: its children follow. */
void children_heed(struct wend_run *r);
/* The run may have ended, and its end may be kept by now. */
void child_look(struct wend_run *r);
/* Keeps what run_end says. */
void run_note_end(struct wend_run *r, const wend_event *run_end);
/* The run has failed: so do its parent and its children. */
void children_fail(struct wend_run *r, wend_status s, const char *message);
void children_drop(struct wend_run *r);
/* child_budget.c: what others leave of the run's budgets and of those above
 * it; NULL if there are no others. Lent until the next call. */
const struct budget *child_budget(struct wend_run *r, const struct input *in);
/* What the children under way cost is in no metrics yet. */
bool child_cost_unknown(const struct wend_run *r);

/* What the run_start of a child has from its parent. */
void child_fill_start(const struct child *c, wend_ev_run_start *e);
/* What a child that is resumed has in its log, and its parent says otherwise by
 * now; in the arena of its run. */
wend_status child_over(struct wend_run *r, wend_ev_run_resume *over,
                       wend_error *err);

/* run.c; past: NULL for none; a child has its config there. */
wend_status run_begin(struct wend_run *r, wend_str prompt,
                      const struct plan *plan, const wend_run_options *o,
                      const struct run_past *past, wend_error *err);
/* resume.c: a run that the store may have, or may have the end of; *found is
 * false if there is none. */
wend_status run_resume_child(struct wend_run *r, bool *found, wend_error *err);
/* plan_run.c: what of a start is the plan's, and the durations that were
 * learned; nothing if the plan is NULL. */
const int64_t *plan_fill_start(struct wend_run *r, const struct plan *plan,
                               bool root, wend_ev_run_start *e);
/* plan_run.c: the plan with these inputs, in `a`. */
wend_status plan_with_inputs(wend_str plan_json, wend_str inputs,
                             struct arena *a, struct plan **out,
                             wend_error *err);

#endif

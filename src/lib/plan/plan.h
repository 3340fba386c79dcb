/*
 * plan.h - plans of hosts and of models, and what past runs tell about them.
 */
#ifndef LIB_PLAN_H
#define LIB_PLAN_H

#include "lib/run/run.h"

/* ---- Plans of the host (plan.c) ------------------------------------------ */

wend_status plan_enter(const wend_plan *plan, wend_error *err); /* as others */
const struct plan *plan_inside(const wend_plan *plan);          /* lent */
/* Where the files of its actions are: beside this file. False: no memory. */
bool plan_set_path(wend_plan *plan, const char *path);
const char *plan_folder(const wend_plan *plan); /* NULL: it is no file's */

/* ---- Checks before a run (plan_args.c, plan_run.c) ----------------------- */

/* Whether what is known of an action's arguments fits its tool's schema; they
 * are as written, NULL for none. If not, `why` says what is wrong, and `at` is
 * the argument (NULL: none is to blame). */
bool plan_args_fit(const struct json *params, wend_str schema_text,
                   struct arena *a, struct buf *why, const struct json **at);
/* Whether the agent has all that the plan needs. Its config 0 is made. */
wend_status plan_check_actions(wend_agent *agent, const struct plan *p,
                               wend_error *err);

/* ---- Files of its actions (plan_files.c) --------------------------------- */

struct plan_files {
    const char *folder; /* that they are read from; NULL: all are given */
    const wend_part *parts;
    size_t count;
};

/* In: what is given. Out: all that the actions name, in the arena, and fit for
 * their models. The agent's config 0 is made. */
wend_status plan_files_take(wend_agent *agent, const struct plan *p,
                            struct plan_files *files, struct arena *a,
                            wend_error *err);
/* The same of a plan that this action runs: it reads none, and gets those that
 * the action gives its inputs. */
wend_status plan_files_inside(const struct plan *p,
                              const struct plan_action *by, wend_error *err);

/* ---- Plans that a model writes (planner.c) ------------------------------- */

/* Members of a config: what the model is told, what its plans may name. */
wend_status planner_put(const wend_agent *a, struct buf *b, wend_error *err);
/* The tool `plan`, after the agent's own. */
void planner_put_tool(const wend_agent *a, struct buf *b);
/* After a piece of a call's arguments: an action of a plan may be complete. */
void planner_look(struct wend_run *r, int64_t ask, int call);

/* ---- What calls and actions took in the past (learned.c) ----------------- */

/* Takes note of an end, now or from the log. The turn is the one before the
 * event. */
void learned_note(struct wend_run *r, const wend_event *ev);
/* Keeps what the run has shown, once: its end is in the store. */
void learned_keep(struct wend_run *r);
void learned_forget(struct wend_run *r);

/* What the store knows of the past, for plans that the run's model writes;
 * looked up once. NULL: it writes none. */
const struct plan_past *learned_past(struct wend_run *r);
/* What the store knows about the plan's actions, by index, in `a`; `model` is
 * the one that is asked by default. NULL: nothing, or it cannot be read. */
const struct plan_learned *learned_plan(wend_store *store, const struct plan *p,
                                        wend_str model, struct arena *a);
/* The same as the start of a run takes it. */
const int64_t *learned_ms(wend_store *store, const struct plan *p,
                          wend_str model, struct arena *a);

#endif

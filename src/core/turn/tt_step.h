/*
 * tt_step.h - how the parts of tt write a step. Only for core/turn.
 */
#ifndef CORE_TT_STEP_H
#define CORE_TT_STEP_H

#include "core/turn/tt.h"
#include "core/turn/verdict.h"

/* What is decided about a call or an action before it starts. */
struct admission {
    const struct tool *tool;
    struct verdict verdict;
    wend_outcome refused; /* NONE: it may run */
    wend_str code, message;
};

/* A call of the message or an action of the plan, as it is now: a copy of what
 * rules ask about, the same for both. */
struct work {
    const struct call *call; /* NULL: the action */
    uint32_t action;         /* its index */
    wend_str id, name;       /* of an action: its target */
    wend_str args;           /* that it got, or will get as far as is known */
    wend_str key;            /* absent: it has not begun */
    wend_str child;          /* the run that it waits for; absent: none */
    const struct tool *tool; /* or endpoint; NULL: it has none */
    int64_t attempt;         /* 0: it has not begun */
    int64_t timeout_ms;
    enum action_at at;       /* of an action */
    bool by_child;           /* a run of its own answers it */
    bool lost;               /* open, and no process runs it */
    bool superseded;         /* ... and its bracket is closed */
    bool left;               /* its child has ended, or is another run's */
    bool answered, approved; /* its approval */
};

/* One call of tt: where it stands, what came in. */
struct tt {
    struct step *s;
    const struct turn *from; /* the state before the step */
    const struct turn *t;    /* s->turn: the state after all emitted events */
    const struct input *in;
    wend_ev_usage cut; /* at a resume: what the model call that was open counts
                          as, by the config that it was asked with */
};

/* Then nothing of the step counts, and loops stop. */
static inline bool no_memory(const struct tt *x)
{
    return x->s->scratch->failed || x->s->keep->arena->failed;
}

/* Adds an event to the step and applies it. The payload is the struct of that
 * type (wend_ev_warning for WEND_WARNING); what it points to lasts as long as
 * the step. */
void emit(struct tt *x, wend_event_type type, const void *payload);
/* Asks for an effect; ask and turn are filled in. */
void want(struct tt *x, struct effect effect);
void want_timer(struct tt *x, enum timer timer, int64_t delay_ms);
wend_ev_error *draft_error(struct tt *x, wend_str code, wend_str message,
                           wend_str component);
/* Texts in scratch; absent, with scratch->failed: out of memory. take_text
 * frees b. */
wend_str take_text(struct tt *x, struct buf *b);
wend_str text_fmt(struct tt *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
wend_str text_join(struct tt *x, const wend_str *parts, size_t count);
#define JOIN(x, ...)                                    \
    text_join(x, (const wend_str[]){__VA_ARGS__},       \
              sizeof((const wend_str[]){__VA_ARGS__}) / \
                  sizeof(wend_str)) /* of texts: one text */
void warn(struct tt *x, wend_str code, wend_str message);
void tell_troubles(struct tt *x); /* those of the input */
void tell_gap(struct tt *x);      /* a rule that programs get round */

/* tt.c: the turn's end and what follows it */
void end_turn(struct tt *x, wend_outcome outcome);
void end_run(struct tt *x, wend_outcome outcome, wend_str limit,
             const wend_ev_error *error);
void begin_turn(struct tt *x);
void enter_turn(struct tt *x);
void next_turn(struct tt *x); /* after a turn: the next one, or the end */
void emit_compact(struct tt *x, wend_str by, wend_str focus);
void emit_control(struct tt *x, wend_str what, wend_str by,
                  wend_str value_json);
void stop_all(struct tt *x); /* the control event has been written */
void time_is_over(struct tt *x);
void limit_reached(struct tt *x, wend_str limit); /* ends the run */
void stop_for(struct tt *x, wend_str by, wend_str code, wend_str message);

void emit_metrics(struct tt *x);
wend_ev_metrics metrics_now(const struct tt *x);
/* To the model, in the place of the user. */
void emit_note(struct tt *x, wend_str text);
/* Bytes of parts, to be kept with this step. */
void keep_blobs(struct tt *x, const struct event_blob *list);

/* tt_resume.c: requests; those of a resume are heard before anything starts */
bool hear(struct tt *x, const struct remote_request *q); /* false: refused */
/* tt_context.c: whether there is room for it in every request; else a warning
 * says why not. */
bool may_pin(struct tt *x, wend_str text);
void on_unended(struct tt *x);

/* tt_plan.c */
void begin_plan(struct tt *x);
void run_plan(struct tt *x);     /* as below, and what follows the plan's end */
void advance_plan(struct tt *x); /* starts what may; ends the plan if done */
void end_plan(struct tt *x, wend_outcome outcome); /* unless it has ended */
void on_action_done(struct tt *x);
bool on_plan_approval(struct tt *x); /* false: it is about no action */
void stop_plan(struct tt *x);
void resume_plan(struct tt *x);
void restart_lost_actions(struct tt *x);
/* Those that no process runs any more: again, or ended as unknown. */
void resume_actions(struct tt *x);
wend_str plan_text(struct tt *x); /* what it gives: its outputs */

/* tt_action.c: one action; it starts, asks or is refused; false: nothing was
 * done */
bool start_action(struct tt *x, uint32_t i);
void retry_action(struct tt *x, const struct work *w,
                  const struct call_done *d);
bool may_retry_action(const struct tt *x, const struct work *w,
                      const struct call_done *d);
/* Failed before anything began. */
void refuse_action(struct tt *x, uint32_t i, wend_str code, wend_str message);
/* Its model call. */
static inline const struct model_use *action_model(const struct turn *t,
                                                   const struct plan_action *a)
{
    return turn_target_model(t, a->target);
}
int64_t action_tokens(const struct turn *t, uint32_t i, wend_str params);
bool asks_model(const struct turn *t, const struct work *w);
/* False: it asks a model, the request is far over its window, and *d says so.
 */
bool fits_window(struct tt *x, const struct work *w, struct call_done *d);
/* True: it would ask a model over a limit, so the run has been stopped. */
bool stop_over_budget(struct tt *x, const struct work *w);
void emit_action_ask(struct tt *x, uint32_t i);
/* Ends its model call, if one is open. */
void emit_action_answer(struct tt *x, uint32_t i, wend_outcome outcome,
                        const wend_ev_error *error);
/* What it gets. False: it was refused, or there is no memory. */
bool action_params(struct tt *x, uint32_t i, wend_str *out);
/* The first case that holds; takes no time, and no slot. False: it is no
 * decision. */
bool decide(struct tt *x, uint32_t i);
/* A tool's text as JSON: what it is if it is JSON, else a string. */
wend_str output_json(struct tt *x, wend_str text);

/* tt_planner.c: plans that the model writes */
/* Takes the complete actions of the plan that is being written. */
void take_written(struct tt *x);
void start_plan_call(struct tt *x, const struct work *w,
                     const struct admission *a);
void end_plan_call(struct tt *x); /* if its plan is over */
bool end_planning(struct tt *x);  /* true: the run has ended */
bool ask_for_plan(struct tt *x);  /* a file's plan failed; false: that's it */

/* tt_context.c */
void emit_context(struct tt *x); /* its start */
void end_context(struct tt *x);  /* its end, with all that is in it */
/* A compaction that was asked for is not done. */
void warn_unfolded(struct tt *x, wend_str why);
/* True: a model is asked for a summary first; else the context is complete. */
bool assemble_context(struct tt *x);
void on_summary_done(struct tt *x); /* with what the reply has */
void on_summary_fail(struct tt *x); /* its model_end is written */

/* tt_model.c */
void ask_model(struct tt *x);
void send_request(struct tt *x); /* the context is complete */
void emit_model_start(struct tt *x, wend_str model, wend_purpose purpose,
                      const struct allowance *a);
/* calls: of the reply, of which those after `whole` are only as far as they
 * were acted upon. */
void emit_model_end(struct tt *x, wend_outcome outcome, size_t calls,
                    size_t whole, const wend_ev_error *error);
/* Whether a request with `input` tokens may be sent, and how long its answer
 * may be. failed: usage of an attempt that is not counted as spent yet, or
 * NULL. */
bool allow_turn(const struct tt *x, const struct model_use *model,
                int64_t input, const wend_ev_usage *failed,
                struct allowance *out);
wend_purpose turn_purpose(const struct turn *t); /* of the next question */
void on_model_done(struct tt *x);
void warn_of_finish(struct tt *x, const struct allowance *a, wend_str finish);
void on_model_fail(struct tt *x);
void on_retry_timer(struct tt *x);
void close_model(struct tt *x, wend_outcome outcome,
                 const wend_ev_error *error);
/* The texts of a reply, its usage, and its first piece since from_us. */
void reply_fill(wend_ev_model_end *e, const struct reply *r,
                const struct model_use *m, int64_t from_us);
static inline wend_str text_or_absent(const struct buf *b)
{
    return b->len ? buf_view(b) : STR_NONE;
}
void close_answer(struct tt *x); /* the turn had no calls: is this it? */

/* Of what a model refused, what it had not refused before: warns of it. Absent:
 * nothing; else its names, as a list. `why`: the model's words. */
wend_str drop_refused(struct tt *x, const struct model_use *m, uint32_t refused,
                      wend_str why);

/* tt_calls.c: which calls run, and in which order */
void start_eager(struct tt *x);
void emit_part(struct tt *x);
void settle_calls(struct tt *x); /* refuses or asks, once the message ends */
void run_calls(struct tt *x);    /* starts what may; ends the turn if done */
void on_call_done(struct tt *x);
void on_call_hook(struct tt *x);
void on_approval(struct tt *x);
void stop_calls(struct tt *x);
/* The calls that the caller executes, with the arguments that they got. */
void fill_pending(struct tt *x, wend_ev_run_end *e);

/* tt_work.c: what holds for calls and for actions */
struct work work_of_call(const struct turn *t, const struct call *c);
struct work work_of_action(const struct turn *t, uint32_t i);
/* The same one after what has been emitted since; its call is the turn's. */
struct work work_now(const struct turn *t, const struct work *w);
struct work_place {
    uint32_t call, place;
};
/* The next one that has begun and not ended: calls, then actions. A plan's
 * call is left out: it ends with its actions. */
bool work_next_open(const struct turn *t, struct work_place *at,
                    struct work *out);
void request_approval(struct tt *x, const struct work *w,
                      const struct verdict *v);
void answer_approval(struct tt *x, const struct work *w); /* by the input */
void approve_by_policy(struct tt *x, const struct work *w);
/* Whether an approval may come with other arguments. */
bool may_change_args(const struct turn *t, const struct work *w);
/* True: it was refused, by its admission or by a person. */
bool refuse_work(struct tt *x, const struct work *w, struct admission *a);
void abandon_work(struct tt *x); /* all that is open */
wend_class work_class(const struct turn *t, const struct work *w);
/* Lost, and a program of its tool finds out what became of it. */
bool is_looked_up(const struct turn *t, const struct work *w);
void begin_again(struct tt *x, const struct work *w);
void end_lost(struct tt *x, const struct work *w); /* as unknown, or canceled */
/* Does what the policy says if it is in doubt; false: it is not. `over`: too
 * late to ask for approval or to look it up. */
bool settle_doubt(struct tt *x, const struct work *w, bool over);
/* What happens to work in doubt; without a person to ask, the model is told. */
enum unknown unknown_policy(const struct turn *t);
void on_checked(struct tt *x);

/* tt_bracket.c: its start and its end. A start supersedes the attempt that an
 * interruption cut off. */
void emit_start(struct tt *x, const struct work *w, const struct admission *a);
void start_work(struct tt *x, const struct work *w, const struct admission *a);
void run_work(struct tt *x, const struct work *w, int64_t delay_ms);
/* `w` is as it is now. */
void end_work(struct tt *x, const struct work *w, const struct call_done *d);
/* Refused without running: both brackets in one step. */
void end_unstarted(struct tt *x, const struct work *w,
                   const struct admission *a, const struct call_done *d);
/* NULL: that outcome is no error. */
const wend_ev_error *work_error(struct tt *x, const struct work *w,
                                const struct call_done *d, wend_str message);
/* An effect about it, with all that the shell needs. */
struct effect work_effect(enum effect_kind kind, const struct work *w);
/* It was allowed to begin before the run was interrupted. */
struct admission admit_resumed(const struct work *w);

/* tt_child.c: what a call or an action has done by a run of its own */
/* Not one that a fork has from the run it shares its past with. */
bool is_own_key(const struct turn *t, wend_str key);
/* Starts the child, or resumes the one that is under way already. */
void start_child(struct tt *x, const struct work *w, int64_t delay_ms);
/* The end of a child that is under way; NULL: nothing more is known. */
void end_child(struct tt *x, wend_str run, const struct child_done *d);
/* What the child's end means for the work that waits for it. */
void settle_child(struct tt *x, wend_str name, struct call_done *d);
/* Whether it ended at a budget of ours or of our parents, not at its own. */
bool child_met_budget(const struct tt *x, wend_str name,
                      const struct child_done *d);
/* The agent or plan that does it. */
wend_str child_name(struct tt *x, const struct work *w);
wend_str labels_text(struct tt *x, uint32_t labels); /* absent: none */

/* tt_budget.c: turn_reserved (tt.h), and of it what actions ask */
void plan_reserved(const struct turn *t, struct budget *out);
/* What a request shares the budgets with. */
struct asked {
    struct budget open; /* reserved for requests that are open */
    int64_t others;     /* requests that may follow while it is open */
};
/* How long the answer to a request with `input` tokens may be. False: it must
 * not be sent, since out->limit, our own or a parent's, leaves too little. */
bool allow_answer(const struct tt *x, const struct model_use *m, int64_t input,
                  const struct asked *beside, struct allowance *out);
/* Whether what is open was cut off by a crash; what is open where a fork
 * begins is the parent's, which counts it. */
bool is_charged(const struct turn *t);
/* The usage of a request that a crash cut off: all that was reserved. */
void charge(const struct model_use *m, const struct allowance *a, int64_t input,
            wend_ev_usage *out);
/* The usage of a request that we stopped before the provider reported any: what
 * a budget reserved, else what has come. */
void charge_stopped(const struct model_use *m, const struct allowance *a,
                    int64_t input, const struct reply *r, wend_ev_usage *u);

/* tt_resume.c */
void check_lost_calls(struct tt *x);
void on_resume(struct tt *x);
void arm_timers(struct tt *x, int64_t left_ms); /* of the run's time */
void restart_lost(struct tt *x); /* those that may run once more */

/* tt_admit.c: with the arguments that `w` has */
void admit_work(struct tt *x, const struct work *w, struct admission *a);
void deny(struct tt *x, struct admission *a, wend_str message);

/* tt_window.c */
/* As events call it. */
wend_str model_name(const struct turn *t, const struct model_use *m);
/* Over 1.3 times the window: the request is not sent. */
bool is_far_over(const struct model_use *m, int64_t tokens);
wend_str window_text(struct tt *x, const struct model_use *m, int64_t tokens,
                     const char *what);
void warn_of_window(struct tt *x, const struct model_use *m, int64_t tokens);
void warn_of_media(struct tt *x); /* files that the request does not carry */
bool has_fallback(const struct turn *t);
/* The first fallback that the request may be sent to; NULL: none. */
const struct model_use *fallback_model(const struct turn *t, int64_t tokens);
/* For a request that the turn's model has no room for: the first fallback whose
 * window is known to fit, else the first that may; NULL: none. */
const struct model_use *roomier_model(const struct turn *t, int64_t tokens);
/* Warns if that model is not known to fit. */
void warn_of_room(struct tt *x, const struct model_use *m, int64_t tokens);

#endif

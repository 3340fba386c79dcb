/*
 * gist.c - an event as one readable line: when, which, and what matters.
 */
#include "cli/view/view.h"

#include "cli/term.h"

static void text(struct buf *b, wend_str s)
{
    buf_str(b, s.ptr ? s : STR("-"));
}

static void number(struct buf *b, int64_t n, const char *unit)
{
    buf_fmt(b, "%lld %s", (long long)n, unit);
}

static void put_error(struct buf *b, const wend_ev_error *e)
{
    if (!e)
        return;
    buf_cstr(b, ": ");
    text(b, e->code);
    buf_cstr(b, ": ");
    text(b, e->message);
}

static void outcome(struct buf *b, wend_outcome o, const wend_ev_error *e)
{
    buf_cstr(b, wend_outcome_name(o));
    put_error(b, e);
}

static void run_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.run_start.model);
    buf_cstr(b, ": ");
    text(b, ev->u.run_start.prompt);
}

static void run_fork(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.run_fork.parent);
    buf_fmt(b, " at %lld", (long long)ev->u.run_fork.at);
}

static void run_resume(struct buf *b, const wend_event *ev)
{
    buf_fmt(b, "after %lld", (long long)ev->u.run_resume.from_seq);
}

static void run_end(struct buf *b, const wend_event *ev)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    outcome(b, e->outcome, e->error);
    if (e->limit.ptr) {
        buf_cstr(b, ": ");
        text(b, e->limit);
    }
    if (e->text.len) {
        buf_cstr(b, ": ");
        text(b, e->text);
    }
}

static void turn_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.turn_start.id);
}

static void turn_end(struct buf *b, const wend_event *ev)
{
    const wend_ev_turn_end *e = &ev->u.turn_end;

    outcome(b, e->outcome, NULL);
    buf_fmt(b, ", %lld calls, %lld failed", (long long)e->calls,
            (long long)e->failed_calls);
}

static void context_start(struct buf *b, const wend_event *ev)
{
    number(b, ev->u.context_start.budget_tokens, "tokens at most");
}

static void context_end(struct buf *b, const wend_event *ev)
{
    number(b, ev->u.context_end.tokens, "tokens");
}

static void retrieval_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.retrieval_start.query);
}

static void retrieval_hit(struct buf *b, const wend_event *ev)
{
    buf_fmt(b, "%.3f ", ev->u.retrieval_hit.score);
    text(b, ev->u.retrieval_hit.title);
}

static void retrieval_end(struct buf *b, const wend_event *ev)
{
    number(b, ev->u.retrieval_end.count, "found");
    put_error(b, ev->u.retrieval_end.error);
}

static void compacted(struct buf *b, const wend_event *ev)
{
    const wend_ev_compacted *e = &ev->u.compacted;

    text(b, e->method);
    buf_fmt(b, ", %lld to %lld tokens", (long long)e->tokens_before,
            (long long)e->tokens_after);
}

static void model_start(struct buf *b, const wend_event *ev)
{
    const wend_ev_model_start *e = &ev->u.model_start;

    text(b, e->model);
    buf_fmt(b, ", attempt %lld, %lld messages, %lld tools",
            (long long)e->attempt, (long long)e->messages, (long long)e->tools);
}

/* All deltas have the same payload. */
static void delta(struct buf *b, const wend_event *ev)
{
    if (ev->u.text_delta.call.ptr) {
        text(b, ev->u.text_delta.call);
        buf_cstr(b, ": ");
    }
    text(b, ev->u.text_delta.text);
}

static void model_part(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.model_part.text);
}

static void model_retry(struct buf *b, const wend_event *ev)
{
    number(b, ev->u.model_retry.delay_ms, "ms: ");
    text(b, ev->u.model_retry.reason);
}

static void model_end(struct buf *b, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    outcome(b, e->outcome, e->error);
    buf_fmt(b, ", %lld + %lld tokens", (long long)e->usage.input,
            (long long)e->usage.output);
    for (size_t i = 0; i < e->calls_count; i++) {
        buf_cstr(b, i ? ", " : ", calls ");
        text(b, e->calls[i].name);
    }
    if (e->text.len) {
        buf_cstr(b, ": ");
        text(b, e->text);
    }
}

static void approval_ask(struct buf *b, const wend_event *ev)
{
    const wend_ev_approval_ask *e = &ev->u.approval_ask;

    text(b, e->name);
    buf_fmt(b, ", risk %s: ", wend_risk_name(e->risk));
    text(b, e->args_json);
}

static void approval_answer(struct buf *b, const wend_event *ev)
{
    const wend_ev_approval_answer *e = &ev->u.approval_answer;

    text(b, e->call.ptr ? e->call : e->action);
    buf_cstr(b, e->yes ? " allowed by " : " refused by ");
    text(b, e->by);
}

static void call_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.call_start.name);
    buf_char(b, ' ');
    text(b, ev->u.call_start.args_json);
}

static void call_end(struct buf *b, const wend_event *ev)
{
    const wend_ev_call_end *e = &ev->u.call_end;

    text(b, e->name);
    buf_char(b, ' ');
    outcome(b, e->outcome, e->error);
    if (!e->error) {
        buf_cstr(b, ": ");
        text(b, e->output);
    }
}

static void plan_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.plan_start.name);
    buf_fmt(b, ", %lld waves", (long long)ev->u.plan_start.waves);
}

static void plan_action(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.plan_action.action_json);
}

static void action_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.action_start.name);
    buf_char(b, ' ');
    text(b, ev->u.action_start.params_json);
}

static void action_retry(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.action_retry.action);
    put_error(b, ev->u.action_retry.error);
}

static void action_end(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.action_end.name);
    buf_char(b, ' ');
    outcome(b, ev->u.action_end.outcome, ev->u.action_end.error);
}

static void plan_end(struct buf *b, const wend_event *ev)
{
    const wend_ev_plan_end *e = &ev->u.plan_end;

    outcome(b, e->outcome, NULL);
    buf_fmt(b, ", %lld ok, %lld failed, %lld skipped", (long long)e->ok,
            (long long)e->failed, (long long)e->skipped);
    if (e->canceled)
        buf_fmt(b, ", %lld canceled", (long long)e->canceled);
}

static void branch_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.branch_start.label);
}

static void branch_end(struct buf *b, const wend_event *ev)
{
    outcome(b, ev->u.branch_end.outcome, NULL);
}

static void child_start(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.child_start.agent);
    buf_char(b, ' ');
    text(b, ev->u.child_start.run);
}

static void child_end(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.child_end.run);
    buf_char(b, ' ');
    outcome(b, ev->u.child_end.outcome, NULL);
}

static void message(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.message.role);
    buf_cstr(b, ": ");
    text(b, ev->u.message.text);
}

static void control(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.control.what);
    buf_cstr(b, " by ");
    text(b, ev->u.control.by);
}

static void metrics(struct buf *b, const wend_event *ev)
{
    const wend_ev_metrics *m = &ev->u.metrics;

    buf_fmt(b, "%lld turns, %lld calls, %lld + %lld tokens, %lld ms",
            (long long)m->turns, (long long)m->tool_calls,
            (long long)m->tokens_in, (long long)m->tokens_out,
            (long long)m->ms);
}

static void progress(struct buf *b, const wend_event *ev)
{
    buf_fmt(b, "%lld of %lld ", (long long)ev->u.progress.done,
            (long long)ev->u.progress.total);
    text(b, ev->u.progress.label);
}

static void warning(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.warning.code);
    buf_cstr(b, ": ");
    text(b, ev->u.warning.message);
}

static void error(struct buf *b, const wend_event *ev)
{
    text(b, ev->u.error.code);
    buf_cstr(b, ": ");
    text(b, ev->u.error.message);
}

typedef void (*gist_fn)(struct buf *b, const wend_event *ev);

/* All deltas share one function. */
#define thinking_delta delta
#define text_delta delta
#define args_delta delta
#define call_output delta
#define action_output delta

static const gist_fn gists[WEND_EVENT_TYPES] = {
#define X(constant, name, payload, keep) [WEND_##constant] = name,
    WEND_EVENTS(X)
#undef X
};

void gist_event(struct view *v, const wend_event *ev)
{
    struct buf line = {.mem = &v->mem};
    struct buf *out = &v->results.text;

    buf_fmt(&line, "%+9.3f %4lld", (double)(ev->time_us - v->began_us) / 1e6,
            (long long)ev->seq);
    if (ev->n)
        buf_fmt(&line, ".%-4lld", (long long)ev->n);
    else
        buf_cstr(&line, "     ");
    if (ev->in_turn)
        buf_fmt(&line, " %3lld", (long long)ev->turn);
    else
        buf_cstr(&line, "    ");
    buf_fmt(&line, "  %-15s ", wend_event_name(ev->type));
    gists[ev->type](&line, ev);
    term_line(out, buf_view(&line), v->width);
    buf_char(out, '\n');
    out->failed |= line.failed;
    buf_free(&line);
}

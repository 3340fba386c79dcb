/*
 * gist.c - an event as one readable line: time, number, type and a summary.
 */
#include "cli/view/view.h"

#include <stddef.h>

#include "base/json.h"
#include "cli/term.h"
#include "wire/dialect/dialect.h"

/* ---- Members of events, written by their type ---------------------------- */

static void text(struct buf *b, wend_str s)
{
    buf_str(b, s.ptr ? s : STR("-"));
}

static void put_text(struct buf *b, const void *at)
{
    text(b, *(const wend_str *)at);
}

static void put_number(struct buf *b, const void *at)
{
    buf_i64(b, *(const int64_t *)at);
}

static void put_score(struct buf *b, const void *at)
{
    buf_fmt(b, "%.3f", *(const double *)at);
}

static void put_outcome(struct buf *b, const void *at)
{
    buf_cstr(b, wend_outcome_name(*(const wend_outcome *)at));
}

static void put_risk(struct buf *b, const void *at)
{
    buf_cstr(b, wend_risk_name(*(const wend_risk *)at));
}

/* Whether the line ends with that word. */
static bool says(const struct buf *b, wend_str word)
{
    return b->len > word.len && b->ptr[b->len - word.len - 1] == ' ' &&
           str_eq((wend_str){b->ptr + b->len - word.len, word.len}, word);
}

/* Behind what failed: its outcome may be the code, and the message, which is
 * also for models, may begin with it. */
static void put_error(struct buf *b, const void *at)
{
    const wend_ev_error *e = *(const wend_ev_error *const *)at;
    wend_str message;

    if (!e)
        return;
    message = e->message;
    if (!says(b, e->code)) {
        buf_cstr(b, ": ");
        text(b, e->code);
    }
    if (e->code.len && message.len > e->code.len + 2 &&
        str_starts(message, e->code.ptr) && message.ptr[e->code.len] == ':')
        message = str_skip(message, e->code.len + 2);
    buf_cstr(b, ": ");
    text(b, message);
}

struct gist_member {
    size_t at; /* in the event */
    void (*put)(struct buf *b, const void *at);
};

/* clang-format off */
#define M(name)                                                                \
    {offsetof(wend_event, u.name),                                             \
     _Generic(((wend_event *)0)->u.name,                                       \
              wend_str: put_text, int64_t: put_number, double: put_score,      \
              wend_outcome: put_outcome, wend_risk: put_risk,                  \
              const wend_ev_error *: put_error)}
/* clang-format on */

/* ---- What no row can say ------------------------------------------------- */

/* ": s" unless it is empty. */
static void put_rest(struct buf *b, wend_str s)
{
    if (!s.len)
        return;
    buf_cstr(b, ": ");
    buf_str(b, s);
}

static void put_name(struct buf *b, const char **comma, const char *what,
                     wend_str name)
{
    if (!name.ptr)
        return;
    buf_fmt(b, "%s%s ", *comma, what);
    buf_str(b, name);
    *comma = ", ";
}

/* "model (follows RUN, user ann, session s, team=search): prompt" */
static void more_run_start(struct buf *b, const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;
    bool own = !str_eq(e->correlation_id, ev->run);
    struct arena a = {.mem = b->mem};
    const struct json *labels = json_parse(e->labels_json, &a, NULL);
    const char *comma = " (";

    text(b, e->model);
    put_name(b, &comma, "follows", e->follows);
    put_name(b, &comma, "user", e->user);
    put_name(b, &comma, "session", e->session);
    put_name(b, &comma, "correlation", own ? e->correlation_id : STR_NONE);
    for (labels = labels ? labels->first : NULL; labels;
         labels = labels->next) {
        buf_cstr(b, comma);
        buf_str(b, labels->key);
        buf_char(b, '=');
        buf_str(b, json_str(labels));
        comma = ", ";
    }
    buf_cstr(b, *comma == ',' ? "): " : ": ");
    text(b, e->prompt);
    dialect_put_parts(b, e->parts, e->parts_count);
    arena_free(&a);
}

static void more_run_end(struct buf *b, const wend_event *ev)
{
    if (ev->u.run_end.limit.ptr) {
        buf_cstr(b, ": ");
        text(b, ev->u.run_end.limit);
    }
    for (size_t i = 0; i < ev->u.run_end.pending_count; i++) {
        buf_cstr(b, i ? ", " : ", pending ");
        text(b, ev->u.run_end.pending[i].name);
    }
    put_rest(b, ev->u.run_end.text);
}

static void more_model_end(struct buf *b, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    for (size_t i = 0; i < e->calls_count; i++) {
        buf_cstr(b, i ? ", " : ", calls ");
        text(b, e->calls[i].name);
    }
    put_rest(b, e->text);
}

static void more_answer(struct buf *b, const wend_event *ev)
{
    const wend_ev_approval_answer *e = &ev->u.approval_answer;

    text(b, e->call.ptr ? e->call : e->action);
    buf_cstr(b, e->yes ? " allowed by " : " refused by ");
    text(b, e->by);
}

static void more_call_end(struct buf *b, const wend_event *ev)
{
    if (ev->u.call_end.error)
        return;
    if (ev->u.call_end.client) {
        buf_cstr(b, ", for the caller");
        return;
    }
    buf_cstr(b, ": ");
    text(b, ev->u.call_end.output);
}

/* ", what run", if there is one. */
static void put_link(struct buf *b, const char *what, wend_str run)
{
    const char *comma = ", ";

    put_name(b, &comma, what, run);
}

static void more_run_fork(struct buf *b, const wend_event *ev)
{
    put_link(b, "child of", ev->u.run_fork.parent_run);
}

static void more_child_start(struct buf *b, const wend_event *ev)
{
    put_link(b, "continues", ev->u.child_start.fork_of);
}

static void more_action_end(struct buf *b, const wend_event *ev)
{
    if (ev->u.action_end.given)
        buf_cstr(b, ", given");
}

static void more_plan_end(struct buf *b, const wend_event *ev)
{
    if (ev->u.plan_end.canceled)
        buf_fmt(b, ", %lld canceled", (long long)ev->u.plan_end.canceled);
    if (ev->u.plan_end.unknown)
        buf_fmt(b, ", %lld unknown", (long long)ev->u.plan_end.unknown);
}

/* All deltas have the same payload. */
static void more_delta(struct buf *b, const wend_event *ev)
{
    if (ev->u.text_delta.call.ptr) {
        text(b, ev->u.text_delta.call);
        buf_cstr(b, ": ");
    }
    text(b, ev->u.text_delta.text);
}

/* ---- One row for each event ---------------------------------------------- */

struct gist {
    const char *text; /* each % is the next member */
    struct gist_member members[5];
};

static const struct gist
    run_start = {.text = ""},
    run_fork = {"% at %", {M(run_fork.parent), M(run_fork.at)}},
    run_resume = {"after %", {M(run_resume.from_seq)}},
    run_end = {"%%", {M(run_end.outcome), M(run_end.error)}},
    turn_start = {"%", {M(turn_start.id)}},
    turn_end = {"%, % calls, % failed",
                {M(turn_end.outcome), M(turn_end.calls),
                 M(turn_end.failed_calls)}},
    context_start = {"% tokens at most", {M(context_start.budget_tokens)}},
    context_end = {"% tokens", {M(context_end.tokens)}},
    retrieval_start = {"%", {M(retrieval_start.query)}},
    retrieval_hit = {"% %", {M(retrieval_hit.score), M(retrieval_hit.title)}},
    retrieval_end = {"% found%",
                     {M(retrieval_end.count), M(retrieval_end.error)}},
    compacted = {"%, % to % tokens",
                 {M(compacted.method), M(compacted.tokens_before),
                  M(compacted.tokens_after)}},
    model_start = {"%, attempt %, % messages, % tools",
                   {M(model_start.model), M(model_start.attempt),
                    M(model_start.messages), M(model_start.tools)}},
    thinking_delta = {.text = ""}, text_delta = {.text = ""},
    args_delta = {.text = ""}, model_part = {"%", {M(model_part.text)}},
    model_retry = {"% ms: %", {M(model_retry.delay_ms), M(model_retry.reason)}},
    model_end = {"%%, % + % tokens",
                 {M(model_end.outcome), M(model_end.error),
                  M(model_end.usage.input), M(model_end.usage.output)}},
    approval_ask = {"%, risk %: %",
                    {M(approval_ask.name), M(approval_ask.risk),
                     M(approval_ask.args_json)}},
    approval_answer = {.text = ""},
    call_start = {"% %", {M(call_start.name), M(call_start.args_json)}},
    call_output = {.text = ""},
    call_end = {"% %%",
                {M(call_end.name), M(call_end.outcome), M(call_end.error)}},
    plan_start = {"%, % waves", {M(plan_start.name), M(plan_start.waves)}},
    plan_action = {"%", {M(plan_action.action_json)}},
    action_start = {"% %", {M(action_start.name), M(action_start.params_json)}},
    action_output = {.text = ""},
    action_retry = {"%%", {M(action_retry.action), M(action_retry.error)}},
    action_end = {"% %%",
                  {M(action_end.name), M(action_end.outcome),
                   M(action_end.error)}},
    plan_end = {"%, % ok, % failed, % skipped",
                {M(plan_end.outcome), M(plan_end.ok), M(plan_end.failed),
                 M(plan_end.skipped)}},
    branch_start = {"%", {M(branch_start.label)}},
    branch_end = {"%", {M(branch_end.outcome)}},
    child_start = {"% %", {M(child_start.agent), M(child_start.run)}},
    child_end = {"% %", {M(child_end.run), M(child_end.outcome)}},
    message = {"%: %", {M(message.role), M(message.text)}},
    control = {"% by %", {M(control.what), M(control.by)}},
    metrics = {"% turns, % calls, % + % tokens, % ms",
               {M(metrics.turns), M(metrics.tool_calls), M(metrics.tokens_in),
                M(metrics.tokens_out), M(metrics.ms)}},
    progress = {"% of % %",
                {M(progress.done), M(progress.total), M(progress.label)}},
    warning = {"%: %", {M(warning.code), M(warning.message)}},
    error = {"%: %", {M(error.code), M(error.message)}};

/* Behind the row. */
static void (*const more[WEND_EVENT_TYPES])(struct buf *b,
                                            const wend_event *ev) = {
    [WEND_RUN_START] = more_run_start,     [WEND_RUN_END] = more_run_end,
    [WEND_THINKING_DELTA] = more_delta,    [WEND_TEXT_DELTA] = more_delta,
    [WEND_ARGS_DELTA] = more_delta,        [WEND_MODEL_END] = more_model_end,
    [WEND_APPROVAL_ANSWER] = more_answer,  [WEND_CALL_OUTPUT] = more_delta,
    [WEND_CALL_END] = more_call_end,       [WEND_ACTION_OUTPUT] = more_delta,
    [WEND_PLAN_END] = more_plan_end,       [WEND_RUN_FORK] = more_run_fork,
    [WEND_CHILD_START] = more_child_start, [WEND_ACTION_END] = more_action_end,
};

/* An event without a row is a compile error. */
static const struct gist *const gists[WEND_EVENT_TYPES] = {
#define X(constant, name, payload, keep) [WEND_##constant] = &name,
    WEND_EVENTS(X)
#undef X
};

static void put_gist(struct buf *b, const wend_event *ev)
{
    const struct gist *g = gists[ev->type];
    const struct gist_member *m = g->members;

    for (const char *p = g->text; *p; p++) {
        if (*p != '%') {
            buf_char(b, *p);
        } else {
            m->put(b, (const char *)ev + m->at);
            m++;
        }
    }
    if (more[ev->type])
        more[ev->type](b, ev);
}

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
    put_gist(&line, ev);
    term_line(out, buf_view(&line), v->width);
    buf_char(out, '\n');
    out->failed |= line.failed;
    buf_free(&line);
}

/*
 * status.c - what a run does at the moment, in one line.
 */
#include "cli/view/status.h"

#include <stdio.h>

#include "base/cost.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/term.h"

static void copy(char *to, size_t size, wend_str s)
{
    utf8_fmt(to, size, "%.*s", (int)(s.len < size ? s.len : size), s.ptr);
}

static void turn_to(struct status *s, int now, const wend_event *ev)
{
    if ((int)s->now == now)
        return;
    s->now = now;
    s->since_us = ev->time_us;
}

/* ---- Events -------------------------------------------------------------- */

static void run_start(struct status *s, const wend_event *ev)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    const struct json *config =
        json_parse(ev->u.run_start.config_json, &a, NULL);

    json_i64(json_get(config, "context_tokens"), &s->window);
    arena_free(&a);
}

static void model_start(struct status *s, const wend_event *ev)
{
    if (ev->u.model_start.action.ptr)
        return; /* the bar of its action shows it */
    copy(s->model, sizeof s->model, ev->u.model_start.model);
    s->compacts = ev->u.model_start.purpose == WEND_PURPOSE_SUMMARY;
    s->now = STATUS_NONE; /* each attempt has its own time */
    turn_to(s, STATUS_ASKS, ev);
}

static void thinking_delta(struct status *s, const wend_event *ev)
{
    if (!ev->u.thinking_delta.action.ptr)
        turn_to(s, STATUS_THINKS, ev);
}

static void text_delta(struct status *s, const wend_event *ev)
{
    if (!ev->u.text_delta.action.ptr)
        turn_to(s, STATUS_WRITES, ev);
}

static void model_retry(struct status *s, const wend_event *ev)
{
    s->now = STATUS_NONE;
    turn_to(s, STATUS_WAITS, ev);
    s->until_us = ev->time_us + ev->u.model_retry.delay_ms * 1000;
}

static void model_end(struct status *s, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    const wend_ev_usage *u = &e->usage;

    s->tokens_in += u->input;
    s->tokens_out += u->output;
    cost_add(&s->cost_nano, cost_of_answer(e));
    if (e->action.ptr)
        return;
    s->context = u->input + u->output;
    turn_to(s, STATUS_NONE, ev);
}

static void call_start(struct status *s, const wend_event *ev)
{
    const wend_ev_call_start *e = &ev->u.call_start;
    struct status_call *c;

    s->calls_count++;
    if (s->named == STATUS_CALLS_MAX)
        return;
    c = &s->calls[s->named++];
    copy(c->id, sizeof c->id, e->call);
    utf8_fmt(c->text, sizeof c->text, "%.*s %.*s", (int)e->name.len,
             e->name.ptr,
             (int)(e->args_json.len < 120 ? e->args_json.len : 120),
             e->args_json.ptr);
    c->began_us = ev->time_us;
}

static void call_end(struct status *s, const wend_event *ev)
{
    if (s->calls_count)
        s->calls_count--;
    for (size_t i = 0; i < s->named; i++)
        if (str_is(ev->u.call_end.call, s->calls[i].id)) {
            s->ended = s->calls[i];
            s->named--;
            memmove(s->calls + i, s->calls + i + 1,
                    (s->named - i) * sizeof *s->calls);
            return;
        }
}

/* What the former process had begun starts again. */
static void run_resume(struct status *s, const wend_event *ev)
{
    s->calls_count = s->named = 0;
    turn_to(s, STATUS_NONE, ev);
}

static void control(struct status *s, const wend_event *ev)
{
    const wend_ev_control *e = &ev->u.control;

    if (str_is(e->what, "pause")) {
        s->paused = true;
        copy(s->pause_by, sizeof s->pause_by, e->by);
    } else if (str_is(e->what, "continue")) {
        s->paused = false;
    }
}

void status_event(struct status *s, const wend_event *ev)
{
    static void (*const fold[WEND_EVENT_TYPES])(struct status *,
                                                const wend_event *) = {
        [WEND_RUN_START] = run_start,
        [WEND_MODEL_START] = model_start,
        [WEND_THINKING_DELTA] = thinking_delta,
        [WEND_TEXT_DELTA] = text_delta,
        [WEND_MODEL_RETRY] = model_retry,
        [WEND_MODEL_END] = model_end,
        [WEND_CALL_START] = call_start,
        [WEND_CALL_END] = call_end,
        [WEND_CONTROL] = control,
        [WEND_RUN_RESUME] = run_resume,
    };

    if (fold[ev->type])
        fold[ev->type](s, ev);
}

/* ---- Rows ---------------------------------------------------------------- */

static double since(int64_t then_us, int64_t now_us)
{
    return now_us > then_us ? (double)(now_us - then_us) / 1e6 : 0;
}

static void put_seconds(struct buf *out, double seconds)
{
    buf_fmt(out, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
}

/* 950, 1.2k, 34k, 1.2M */
static void put_tokens(struct buf *out, int64_t n)
{
    if (n < 1000)
        buf_fmt(out, "%lld", (long long)n);
    else if (n < 1000000)
        buf_fmt(out, n < 10000 ? "%.1fk" : "%.0fk", (double)n / 1e3);
    else
        buf_fmt(out, "%.1fM", (double)n / 1e6);
}

void status_used(struct buf *out, int64_t in, int64_t made, int64_t nano)
{
    put_tokens(out, in);
    buf_cstr(out, " + ");
    put_tokens(out, made);
    buf_cstr(out, " tokens");
    if (nano > 0)
        buf_fmt(out, nano < 10000000 ? ", $%.4f" : ", $%.2f",
                (double)nano / 1e9);
}

static void put_model(const struct status *s, struct buf *out, int64_t now_us)
{
    static const char *const words[] = {
        [STATUS_ASKS] = "asking ",
        [STATUS_THINKS] = "thinking ",
        [STATUS_WRITES] = "writing ",
    };

    if (s->paused) {
        buf_fmt(out, "paused by %s; 'wend continue' continues it", s->pause_by);
        return;
    }
    if (s->now == STATUS_WAITS) {
        buf_cstr(out, "next attempt in ");
        put_seconds(out, since(now_us, s->until_us));
        return;
    }
    buf_cstr(out, s->compacts ? "compacting, asking " : words[s->now]);
    if (s->now == STATUS_ASKS)
        buf_fmt(out, "%s ", s->model);
    put_seconds(out, since(s->since_us, now_us));
}

static void put_row(struct buf *out, struct buf *row, size_t width)
{
    term_line(out, buf_view(row), width > 1 ? width - 1 : 1);
    buf_char(out, '\n');
    buf_clear(row);
}

void status_put(const struct status *s, struct buf *out, size_t width,
                size_t rows, int64_t now_us)
{
    struct buf row = {.mem = out->mem};
    size_t named = s->named;
    bool busy = s->paused || s->now != STATUS_NONE;

    if (named + 2 > rows)
        named = rows > 2 ? rows - 2 : 0;
    for (size_t i = 0; i < named; i++) {
        buf_cstr(&row, "... ");
        put_seconds(&row, since(s->calls[i].began_us, now_us));
        buf_fmt(&row, " %s", s->calls[i].text);
        put_row(out, &row, width);
    }
    if (s->calls_count > named) {
        buf_fmt(&row, "... %zu more calls", s->calls_count - named);
        put_row(out, &row, width);
    }
    if (busy)
        put_model(s, &row, now_us);
    if (s->tokens_in || s->tokens_out) {
        buf_cstr(&row, row.len ? "; " : "");
        status_used(&row, s->tokens_in, s->tokens_out, s->cost_nano);
    }
    if (s->context && s->window)
        buf_fmt(&row, "; context %d %%",
                (int)((double)s->context * 100 / (double)s->window));
    if (row.len && (busy || s->calls_count))
        put_row(out, &row, width);
    out->failed |= row.failed;
    buf_free(&row);
}

static void put_count(struct buf *out, int64_t count, const char *what)
{
    if (count)
        buf_fmt(out, "%lld %s%s, ", (long long)count, what,
                count == 1 ? "" : "s");
}

void status_sum(struct buf *out, const wend_ev_metrics *m)
{
    put_count(out, m->turns, "turn");
    put_count(out, m->tool_calls, "call");
    put_count(out, m->actions, "action");
    status_used(out, m->tokens_in, m->tokens_out, m->cost_nano);
    buf_cstr(out, ", ");
    put_seconds(out, (double)m->ms / 1000);
}

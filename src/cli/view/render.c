/*
 * render.c - a run for its user: the streaming answer, tool calls and errors.
 */
#include "cli/view/view.h"

#include <string.h>

#include "base/json.h"
#include "cli/term.h"

/* ---- Text ---------------------------------------------------------------- */

static void put_markdown(struct view *v, struct buf *out, wend_str text)
{
    struct buf safe = {.mem = &v->mem}, rows = {.mem = &v->mem};

    live_fit(v);
    if (!v->piece_any)
        wrap_begin(&v->wrap, v->width);
    term_piece(&safe, &v->before, text);
    markdown_text(v->markdown, &rows, buf_view(&safe));
    wrap_text(&v->wrap, out, buf_view(&rows));
    out->failed |= safe.failed || rows.failed;
    buf_free(&safe);
    buf_free(&rows);
}

/* What Markdown holds back belongs to the message that ends. */
static void end_markdown(struct view *v)
{
    struct buf *out, rows = {.mem = &v->mem};
    size_t before;

    if (!v->markdown || !v->piece_any)
        return;
    out = view_results(v);
    before = out->len;
    live_fit(v);
    markdown_end(v->markdown, &rows);
    wrap_text(&v->wrap, out, buf_view(&rows));
    out->failed |= rows.failed;
    buf_free(&rows);
    if (out->len == before)
        return;
    v->text_open = out->ptr[out->len - 1] != '\n';
    live_text(v, (wend_str){out->ptr + before, out->len - before});
}

static void put_text(struct view *v, wend_str text)
{
    struct buf *out;
    size_t before;

    if (!text.len)
        return;
    out = view_results(v);
    before = out->len;
    if (!v->piece_any && v->text_open)
        buf_char(out, '\n'); /* separate the texts of two messages */
    if (!v->piece_any)
        v->before = (struct utf8_before){0};
    if (v->markdown)
        put_markdown(v, out, text);
    else if (v->safe_only)
        term_piece(out, &v->before, text);
    else
        buf_str(out, text);
    v->piece_any = true;
    if (out->len > before)
        v->text_open = out->ptr[out->len - 1] != '\n';
    v->last_call.len = 0;
    live_text(v, (wend_str){out->ptr + before, out->len - before});
}

/* An answer with a schema is for a program: print nothing else. */
static void run_start(struct view *v, const wend_event *ev)
{
    struct arena a = {.mem = &v->mem};
    const struct json *config =
        json_parse(ev->u.run_start.config_json, &a, NULL);

    v->whole = v->final || json_get(config, "schema") != NULL;
    v->plan = ev->u.run_start.plan_json.ptr != NULL;
    v->began_us = ev->time_us;
    str_copy(v->parent, sizeof v->parent, ev->u.run_start.parent_run);
    arena_free(&a);
}

/* A fork of a child is a child only if its parent made it. */
static void note_fork(struct view *v, const wend_event *ev)
{
    str_copy(v->parent, sizeof v->parent, ev->u.run_fork.parent_run);
}

static void run_fork(struct view *v, const wend_event *ev)
{
    note_fork(v, ev);
    render_fork(v, ev);
}

static void text_delta(struct view *v, const wend_event *ev)
{
    const wend_ev_delta *e = &ev->u.text_delta;

    if (!v->whole && !e->action.ptr && !e->branch.ptr)
        put_text(v, e->text);
}

static void model_start(struct view *v, const wend_event *ev)
{
    v->plan &= !ev->in_turn; /* it failed, and a model continues */
    if (ev->u.model_start.action.ptr)
        return; /* the message that planned it may not be over yet */
    v->piece_any = v->thought_any = v->planned = false;
}

static void talk_line(struct view *v, const char *colour, const char *mark,
                      wend_str text)
{
    struct buf *out = view_talk(v);
    size_t used = strlen(mark);

    view_paint(v, colour);
    buf_cstr(out, mark);
    term_line(out, text, v->width > used ? v->width - used : 1);
    view_paint(v, *colour ? PAINT_PLAIN : "");
    buf_char(out, '\n');
}

/* ---- Thinking ------------------------------------------------------------ */

/* Bytes of the first row: to a line end, or to the last space within
 * `columns`; 0 = the text may continue on it. */
static size_t first_row(wend_str text, size_t columns)
{
    size_t used = 0, space = 0, len;

    for (size_t at = 0; at < text.len; at += len) {
        uint32_t c = utf8_first(str_skip(text, at), &len);

        if (c == '\n')
            return at + 1;
        if (c == ' ')
            space = at + 1;
        used += term_columns((wend_str){text.ptr + at, len});
        if (used > columns && at)
            return space ? space : at;
    }
    return 0;
}

/* Rows are shown when they are full: between the pieces of a row others may
 * have to be told. */
static void think(struct view *v, wend_str text)
{
    wend_str rest;
    size_t len;

    buf_str(&v->thought, text);
    rest = buf_view(&v->thought);
    while ((len = first_row(rest, v->width > 3 ? v->width - 3 : 1))) {
        talk_line(v, PAINT_DIM, "~ ",
                  (wend_str){rest.ptr, len - (rest.ptr[len - 1] == '\n')});
        rest = str_skip(rest, len);
    }
    if (v->thought.failed)
        view_talk(v)->failed = true;
    if (rest.len < v->thought.len)
        memmove(v->thought.ptr, rest.ptr, rest.len);
    v->thought.len = rest.len;
}

static void think_end(struct view *v)
{
    if (v->thought.len)
        think(v, STR("\n"));
}

static bool shows_thoughts(const struct view *v, wend_str action)
{
    return v->verbose && v->talks && !action.ptr;
}

static void thinking_delta(struct view *v, const wend_event *ev)
{
    const wend_ev_delta *e = &ev->u.thinking_delta;

    if (!shows_thoughts(v, e->action) || e->branch.ptr)
        return;
    v->thought_any = true;
    think(v, e->text);
}

/* ---- Messages ------------------------------------------------------------ */

/* The run continues with the calls that had started; tell the user. */
static void message_cut(struct view *v, const wend_ev_model_end *e)
{
    buf_cstr(view_talk(v), "wend: the model's message was truncated: ");
    term_line(view_talk(v), e->error->message, v->width);
    buf_fmt(view_talk(v), "; continuing with the %zu calls that had started\n",
            e->calls_count);
}

static void model_end(struct view *v, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    if (e->action.ptr)
        return; /* its action reports the outcome */
    end_markdown(v);
    if (e->outcome == WEND_OUTCOME_SUPERSEDED && v->piece_any && !v->quiet)
        buf_cstr(view_talk(v),
                 "wend: the answer was interrupted and starts again\n");
    if (e->outcome == WEND_OUTCOME_FAILED && e->calls_count && e->error &&
        !v->quiet)
        message_cut(v, e);
    if (e->purpose != WEND_PURPOSE_ANSWER &&
        e->purpose != WEND_PURPOSE_REPAIR && e->purpose != WEND_PURPOSE_PLAN)
        return;
    if (shows_thoughts(v, e->action) && !v->thought_any) {
        think(v, e->thinking);
        think_end(v);
    }
    if (!v->whole && !v->piece_any && e->outcome == WEND_OUTCOME_OK) {
        put_text(v, e->text); /* it came in one piece */
        end_markdown(v);
    }
}

static void model_retry(struct view *v, const wend_event *ev)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;

    if (v->quiet)
        return;
    buf_cstr(view_talk(v), "wend: the model failed (");
    term_line(view_talk(v), e->reason, v->width);
    buf_fmt(view_talk(v), "); retrying in %.1f s\n",
            (double)e->delay_ms / 1000);
}

/* ---- Tools --------------------------------------------------------------- */

/* `> name arguments`; in a chat > is the mark of the user. */
static void call_line(struct view *v, wend_str call, wend_str text)
{
    talk_line(v, PAINT_DIM, v->in_chat ? "- " : "> ", text);
    v->last_call.ptr = v->call;
    v->last_call.len = call.len < sizeof v->call ? call.len : 0;
    if (v->last_call.len)
        memcpy(v->call, call.ptr, call.len);
}

static void call_start(struct view *v, const wend_event *ev)
{
    const wend_ev_call_start *e = &ev->u.call_start;
    struct buf line = {.mem = &v->mem};

    if (!v->talks || v->paints || (v->planned && str_is(e->name, "plan")))
        return; /* the panel shows it, or its actions */
    buf_str(&line, e->name);
    buf_char(&line, ' ');
    buf_str(&line, e->args_json);
    call_line(v, e->call, buf_view(&line));
    buf_free(&line);
}

static void talk_whole(struct view *v, const char *colour, const char *mark,
                       wend_str text)
{
    view_paint(v, colour);
    buf_cstr(view_talk(v), mark);
    term_lines(view_talk(v), text, TALK_INDENT);
    view_paint(v, PAINT_PLAIN);
    buf_char(view_talk(v), '\n');
}

/* What a model is told often begins with it. */
static bool says_outcome(wend_str message, wend_outcome outcome)
{
    const char *name = wend_outcome_name(outcome);

    return str_starts(message, name) &&
           str_starts(str_skip(message, strlen(name)), ": ");
}

/* In a chat a call is one line: how long it took, then what it was; a failure
 * adds why. */
static void fold_call(struct view *v, const wend_ev_call_end *e)
{
    struct buf line = {.mem = &v->mem};

    buf_fmt(&line, e->ms < 1000 ? "%.0f ms" : "%.1f s",
            e->ms < 1000 ? (double)e->ms : (double)e->ms / 1000);
    buf_fmt(&line, " %s  %s", wend_outcome_name(e->outcome),
            v->status.ended.text);
    call_line(v, e->call, buf_view(&line));
    buf_free(&line);
}

/* Name the call before its result only if the result could belong to
 * another. */
static void call_end(struct view *v, const wend_event *ev)
{
    const wend_ev_call_end *e = &ev->u.call_end;
    struct buf line = {.mem = &v->mem};
    bool ok = e->outcome == WEND_OUTCOME_OK;

    if (e->outcome == WEND_OUTCOME_DENIED && !v->talks && !v->quiet) {
        buf_fmt(&line, "%.*s: ", (int)e->name.len, e->name.ptr);
        buf_str(&line, e->error ? e->error->message : e->output);
        talk_whole(v, "", "wend: ", buf_view(&line));
        buf_free(&line);
        return;
    }
    if (!v->talks || e->outcome == WEND_OUTCOME_SUPERSEDED ||
        (v->planned && str_is(e->name, "plan")))
        return;
    if (v->in_chat && v->paints && str_is(e->call, v->status.ended.id)) {
        fold_call(v, e);
        if (ok && !v->verbose)
            return;
    } else if (v->paints && str_is(e->call, v->status.ended.id)) {
        call_line(v, e->call, str_of(v->status.ended.text));
    }
    if (!v->last_call.len || !str_eq(v->last_call, e->call)) {
        buf_str(&line, e->name);
        buf_cstr(&line, ": ");
    }
    if (!ok && !(e->error && says_outcome(e->error->message, e->outcome)))
        buf_fmt(&line, "%s: ", wend_outcome_name(e->outcome));
    buf_str(&line, !ok && e->error ? e->error->message
                   : e->client     ? STR("the caller of the run executes it")
                                   : e->output);
    if (ok)
        talk_line(v, PAINT_DIM, "  = ", buf_view(&line));
    else
        talk_whole(v, PAINT_RED, "  ! ", buf_view(&line));
    buf_free(&line);
    v->last_call.len = 0;
}

static void approval_ask(struct view *v, const wend_event *ev)
{
    if (v->talks && !v->live) /* a live approval is shown in full */
        talk_line(v, "", "? ", ev->u.approval_ask.name);
}

static void approval_answer(struct view *v, const wend_event *ev)
{
    const wend_ev_approval_answer *e = &ev->u.approval_answer;

    if (v->talks && !v->live)
        talk_line(v, "", e->yes ? "  allowed by " : "  refused by ", e->by);
}

/* ---- What others tell the run -------------------------------------------- */

static void message(struct view *v, const wend_event *ev)
{
    if (!v->talks || !str_is(ev->u.message.role, "user"))
        return;
    talk_line(v, "", "said: ", ev->u.message.text);
}

static void control(struct view *v, const wend_event *ev)
{
    const wend_ev_control *e = &ev->u.control;

    static const char *const whats[] = {"pause", "continue", "compact"};
    static const char *const said[] = {"paused", "continued",
                                       "asked to shorten the conversation"};
    int what = str_index(e->what, whats, sizeof whats / sizeof *whats);

    /* A chat has said so when the user asked for it. */
    if (v->quiet || what < 0 || (v->in_chat && str_is(e->by, "api")))
        return;
    buf_fmt(view_talk(v), "wend: %s by ", said[what]);
    term_line(view_talk(v), str_or(e->by, "the host"), v->width);
    buf_char(view_talk(v), '\n');
}

/* ---- What went wrong ----------------------------------------------------- */

/* A live command has already printed the messages about MCP servers. */
static bool is_told(const struct view *v, wend_str code)
{
    return v->live && str_starts(code, "mcp_");
}

static void warning(struct view *v, const wend_event *ev)
{
    if (v->quiet || is_told(v, ev->u.warning.code))
        return;
    buf_cstr(view_talk(v), "wend: warning: ");
    render_words(v, ev->u.warning.message, strlen("wend: warning: "));
}

static void error(struct view *v, const wend_event *ev)
{
    if (v->quiet || is_told(v, ev->u.error.code))
        return;
    render_error(v, "error", &ev->u.error, "");
}

static void run_end(struct view *v, const wend_event *ev)
{
    const wend_ev_run_end *e = &ev->u.run_end;
    bool ok = e->outcome == WEND_OUTCOME_OK;

    if (v->plan && ok && e->text.len)
        render_outputs(v, e->text);
    else if (v->keeps && ok)
        buf_str(&v->answer, e->text);
    else if (v->whole && ok)
        put_text(v, e->text);
    view_end(v);
    render_outcome(v, ev);
}

static void compacted(struct view *v, const wend_event *ev)
{
    const wend_ev_compacted *e = &ev->u.compacted;

    struct buf text = {.mem = &v->mem};

    if (v->quiet)
        return;
    buf_fmt(&text,
            "wend: the conversation was shortened (%.*s): %lld tokens "
            "instead of %lld, %lld messages instead of %lld",
            (int)e->method.len, e->method.ptr, (long long)e->tokens_after,
            (long long)e->tokens_before, (long long)e->messages_after,
            (long long)e->messages_before);
    render_words(v, buf_view(&text), 0);
    view_talk(v)->failed |= text.failed;
    buf_free(&text);
}

typedef void (*render_fn)(struct view *v, const wend_event *ev);

static const render_fn renderers[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = run_start,
    [WEND_MODEL_START] = model_start,
    [WEND_THINKING_DELTA] = thinking_delta,
    [WEND_TEXT_DELTA] = text_delta,
    [WEND_MODEL_END] = model_end,
    [WEND_MODEL_RETRY] = model_retry,
    [WEND_COMPACTED] = compacted,
    [WEND_APPROVAL_ASK] = approval_ask,
    [WEND_APPROVAL_ANSWER] = approval_answer,
    [WEND_CALL_START] = call_start,
    [WEND_CALL_END] = call_end,
    [WEND_PLAN_START] = render_plan_start,
    [WEND_RUN_FORK] = run_fork,
    [WEND_RUN_RESUME] = render_fork,
    [WEND_ACTION_START] = render_action_start,
    [WEND_ACTION_RETRY] = render_action_retry,
    [WEND_ACTION_END] = render_action_end,
    [WEND_PLAN_END] = render_plan_end,
    [WEND_MESSAGE] = message,
    [WEND_CONTROL] = control,
    [WEND_WARNING] = warning,
    [WEND_ERROR] = error,
    [WEND_RUN_END] = run_end,
};

void render_event(struct view *v, const wend_event *ev)
{
    if (ev->type != WEND_THINKING_DELTA)
        think_end(v);
    if (renderers[ev->type])
        renderers[ev->type](v, ev);
}

/* Times count from the resume. */
void render_past(struct view *v, const wend_event *ev)
{
    if (ev->type == WEND_RUN_START)
        run_start(v, ev);
    if (ev->type == WEND_RUN_FORK)
        note_fork(v, ev);
    if (ev->type == WEND_MODEL_START)
        model_start(v, ev);
    v->began_us = 0;
}

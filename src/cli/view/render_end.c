/*
 * render_end.c - how a run ended, and what to do about it, for its user.
 */
#include <string.h>
#include <unistd.h>

#include "cli/term.h"
#include "cli/view/view.h"

void render_words(struct view *v, wend_str text, size_t column)
{
    size_t width = term_wraps_at(STDERR_FILENO);
    struct buf *out = view_talk(v);
    wend_str line;

    if (!width)
        term_lines(out, text, TALK_INDENT);
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    for (bool first = true; width && text.len && str_line(&text, &line);
         first = false) {
        if (!first)
            buf_fmt(out, "\n%*s", line.len ? TALK_INDENT : 0, "");
        term_words(out, line, first ? column : TALK_INDENT, TALK_INDENT, width);
    }
    buf_char(out, '\n');
}

/* In one line, with what to do; below it what else a program wrote. */
void render_error(struct view *v, const char *what, const wend_ev_error *e,
                  const char *what_to_do)
{
    struct buf *out = view_talk(v), text = {.mem = &v->mem};
    wend_str rest = e->message, line = STR_NONE;

    str_line(&rest, &line);
    view_paint(v, PAINT_RED);
    buf_fmt(out, "wend: %s", what);
    view_paint(v, PAINT_PLAIN);
    buf_cstr(out, ": ");
    buf_str(&text, e->code);
    buf_cstr(&text, ": ");
    buf_str(&text, line);
    buf_cstr(&text, *what_to_do ? "; " : "");
    buf_cstr(&text, what_to_do);
    buf_char(&text, '\n');
    buf_str(&text, rest);
    render_words(v, buf_view(&text), strlen("wend: : ") + strlen(what));
    out->failed |= text.failed;
    buf_free(&text);
}

static const struct {
    const char *code, *what_to_do;
} hints[] = {
    {"auth", "check the provider's API key; see 'wend doctor'"},
    {"rate_limit", "wait, or use another model"},
    {"service", "the provider has a problem; try again later"},
    {"network", "check the connection; see 'wend doctor'"},
    {"timeout", "try again, or raise the time limits"},
    {"overflow", "the conversation is too long for this model"},
    {"not_found", "check the model name; see 'wend models PROVIDER'"},
};

static void failed(struct view *v, const wend_ev_run_end *e)
{
    const wend_ev_error unknown = {.code = STR("failed"),
                                   .message = STR("no reason given")};
    const wend_ev_error *why = e->error ? e->error : &unknown;
    const char *what_to_do = "";

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (str_is(why->code, hints[i].code))
            what_to_do = hints[i].what_to_do;
    if (str_is(why->message, "script: no turn left"))
        what_to_do = "the script has fewer turns than this run needs: add one, "
                     "or 'repeat: forever'";
    render_error(v, "run failed", why, what_to_do);
    if (v->in_chat && !v->quiet)
        render_words(v,
                     str_is(why->code, "overflow")
                         ? STR("wend: /undo takes the message back, /clear "
                               "begins a new conversation")
                         : STR("wend: /retry asks again"),
                     0);
}

static const struct {
    const char *limit, *what, *option;
} limits[] = {
    {"turns", "turns", "--max-turns"},
    {"time", "time", "--timeout"},
    {"tokens", "tokens", "--budget-tokens"},
    {"cost", "cost", "--budget-cost"},
};

/* The run to name for a retry: a child continues with its parent. */
static wend_str retried(const struct view *v, wend_str run)
{
    return *v->parent ? str_of(v->parent) : run;
}

static void limited(struct view *v, const wend_ev_run_end *e, wend_str run)
{
    struct buf *out = view_talk(v);

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (str_is(e->limit, limits[i].limit)) {
            buf_fmt(out, "wend: stopped at the limit of %s; %s raises it",
                    limits[i].what, limits[i].option);
            if (v->stored)
                buf_fmt(out, ": 'wend retry %.*s %s ...' resumes from there",
                        (int)run.len, run.ptr, limits[i].option);
            buf_char(out, '\n');
            return;
        }
    if (str_is(e->limit, "loop")) {
        buf_cstr(out, "wend: stopped: the model repeats itself; 'loop: off' in "
                      "the agent's file, or 'repeat: ok' in the tool's, allows "
                      "it\n");
        return;
    }
    buf_cstr(out, "wend: stopped at a limit: ");
    term_line(out, e->limit, v->width);
    buf_char(out, '\n');
}

static void canceled(struct view *v, wend_str run)
{
    buf_cstr(view_talk(v), v->in_chat ? "wend: stopped; /retry asks again"
                                      : "wend: canceled");
    if (v->stored && !v->in_chat)
        buf_fmt(view_talk(v), "; 'wend retry %.*s' resumes from there",
                (int)run.len, run.ptr);
    buf_char(view_talk(v), '\n');
}

static void handed_over(struct view *v, const wend_ev_run_end *e)
{
    struct buf text = {.mem = &v->mem};

    buf_fmt(&text, "wend: the caller of the run executes %s: ",
            e->pending_count == 1 ? "this call" : "these calls");
    for (size_t i = 0; i < e->pending_count; i++) {
        buf_cstr(&text, i ? ", " : "");
        buf_str(&text, e->pending[i].name);
        buf_char(&text, ' ');
        buf_str(&text, e->pending[i].args_json);
    }
    buf_cstr(&text, "; a run that follows has the results");
    render_words(v, buf_view(&text), 0);
    view_talk(v)->failed |= text.failed;
    buf_free(&text);
}

/* On a terminal wrapped between words. */
static void put_sum(struct view *v, const wend_ev_run_end *e)
{
    struct buf text = {.mem = &v->mem};

    buf_fmt(&text, "wend: %s, ", wend_outcome_name(e->outcome));
    status_sum(&text, &e->metrics);
    view_paint(v, PAINT_DIM);
    term_words(view_talk(v), buf_view(&text), 0, TALK_INDENT,
               term_wraps_at(STDERR_FILENO));
    view_paint(v, PAINT_PLAIN);
    buf_char(view_talk(v), '\n');
    view_talk(v)->failed |= text.failed;
    buf_free(&text);
}

void render_outcome(struct view *v, const wend_event *ev)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    if (e->outcome == WEND_OUTCOME_FAILED)
        failed(v, e);
    else if (e->outcome == WEND_OUTCOME_LIMIT && !v->quiet)
        limited(v, e, retried(v, ev->run));
    else if (e->outcome == WEND_OUTCOME_CANCELED && !v->quiet)
        canceled(v, retried(v, ev->run));
    else if (e->pending_count && !v->quiet)
        handed_over(v, e);
    if ((v->verbose || v->talks) && !v->in_chat)
        put_sum(v, e);
}

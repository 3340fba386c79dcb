/*
 * render_plan.c - a plan for its user: a line per event, and the outputs as
 * results.
 */
#include "cli/view/view.h"

#include "base/json.h"
#include "cli/term.h"

static double seconds(const struct view *v, const wend_event *ev)
{
    return (double)(ev->time_us - v->began_us) / 1e6;
}

/* True: its bar shows it, and no line is needed. */
static bool has_bar(const struct view *v)
{
    return v->paints && v->waterfall;
}

/* `  1.23 s  what  name  more` */
static void line(struct view *v, const wend_event *ev, const char *what,
                 wend_str name, wend_str more)
{
    struct buf text = {.mem = &v->mem}, *out;

    if (v->quiet)
        return;
    out = view_talk(v);
    if (!v->began_us) /* resumed: its start is not shown */
        v->began_us = ev->time_us;
    buf_fmt(out, "%8.2f s  %-8s ", seconds(v, ev), what);
    buf_str(&text, name);
    if (more.len) {
        buf_cstr(&text, ": ");
        buf_str(&text, more);
    }
    term_lines(out, buf_view(&text), 4); /* why it failed, whole */
    buf_char(out, '\n');
    buf_free(&text);
}

void render_plan_start(struct view *v, const wend_event *ev)
{
    v->planned = ev->u.plan_start.call.ptr != NULL;
    if (!has_bar(v))
        line(v, ev, "plan", ev->u.plan_start.name, STR_NONE);
}

void render_action_start(struct view *v, const wend_event *ev)
{
    if (!has_bar(v) && !v->given) /* else it started in another run */
        line(v, ev, "start", ev->u.action_start.name, STR_NONE);
}

/* What a fork is given stands between its first event and its first resume. */
void render_fork(struct view *v, const wend_event *ev)
{
    v->given = ev->type == WEND_RUN_FORK;
}

void render_action_retry(struct view *v, const wend_event *ev)
{
    const wend_ev_action_retry *e = &ev->u.action_retry;

    line(v, ev, "again", e->action, e->error ? e->error->message : STR_NONE);
}

void render_action_end(struct view *v, const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;
    wend_str why = e->error ? e->error->message : e->reason;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED)
        return;                  /* its next start follows */
    if (e->error || !has_bar(v)) /* why stays above the bars */
        line(v, ev, e->given ? "given" : wend_outcome_name(e->outcome), e->name,
             why);
}

void render_plan_end(struct view *v, const wend_event *ev)
{
    const wend_ev_plan_end *e = &ev->u.plan_end;
    struct buf text = {.mem = &v->mem};

    v->plan |= !ev->in_turn; /* even if its start was not shown */
    if (has_bar(v)) {
        live_plan_end(v);
        return;
    }
    buf_fmt(&text, "%lld ok, %lld failed, %lld skipped", (long long)e->ok,
            (long long)e->failed, (long long)e->skipped);
    if (e->canceled)
        buf_fmt(&text, ", %lld canceled", (long long)e->canceled);
    if (e->unknown)
        buf_fmt(&text, ", %lld unknown", (long long)e->unknown);
    if (e->running)
        buf_fmt(&text, ", %lld still running", (long long)e->running);
    line(v, ev, "plan", str_of(wend_outcome_name(e->outcome)), buf_view(&text));
    buf_free(&text);
}

/* A single string output is printed as text; anything else as JSON. */
void render_outputs(struct view *v, wend_str json)
{
    struct arena a = {.mem = &v->mem};
    const struct json *j = json_parse(json, &a, NULL);
    const struct json *only = j && j->count == 1 ? j->first : NULL;
    struct buf *out = v->keeps ? &v->answer : view_results(v);
    wend_str text = only && only->kind == JSON_STRING ? only->text : json;

    if (v->safe_only && !v->keeps)
        term_text(out, text);
    else
        buf_str(out, text);
    if (!v->keeps)
        v->text_open = text.len && text.ptr[text.len - 1] != '\n';
    arena_free(&a);
}

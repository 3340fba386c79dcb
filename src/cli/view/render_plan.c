/*
 * render_plan.c - a plan for its user: a line per event, and the outputs as
 * results.
 */
#include "cli/view/view.h"

#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/term.h"

static double seconds(const struct view *v, const wend_event *ev)
{
    return (double)(ev->time_us - v->began_us) / 1e6;
}

static int64_t now_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void draw(struct view *v)
{
    if (v->waterfall_waits)
        return;
    waterfall_draw(v->waterfall, view_talk(v), v->width, v->colour,
                   now_us(CLOCK_REALTIME));
    v->waterfall_us = now_us(CLOCK_MONOTONIC);
}

/* Not on each call: drawing also wakes the loop. */
int view_tick(struct view *v)
{
    const int64_t tick_us = WATERFALL_TICK_MS * 1000;
    int64_t since_us;

    if (!v->waterfall || v->waterfall_waits || !waterfall_grows(v->waterfall))
        return -1;
    since_us = now_us(CLOCK_MONOTONIC) - v->waterfall_us;
    if (since_us < tick_us)
        return (int)((tick_us - since_us + 999) / 1000);
    draw(v);
    return WATERFALL_TICK_MS;
}

/* True: the bars show it, and no line is needed. */
static bool bars_have(struct view *v, const wend_event *ev)
{
    if (!v->waterfall && ev->type == WEND_PLAN_START && v->live && v->talks &&
        isatty(STDERR_FILENO))
        v->waterfall = waterfall_new(&v->mem);
    if (!v->waterfall)
        return false;
    waterfall_event(v->waterfall, ev);
    draw(v);
    return true;
}

/* `  1.23 s  what  name  more` */
static void line(struct view *v, const wend_event *ev, const char *what,
                 wend_str name, wend_str more)
{
    enum { COLUMNS_BEFORE = 24 };
    struct buf *out = view_talk(v);
    struct buf text = {.mem = &v->mem};

    if (v->quiet)
        return;
    if (!v->began_us) /* resumed: its start is not shown */
        v->began_us = ev->time_us;
    if (v->waterfall)
        waterfall_lift(v->waterfall, out);
    buf_fmt(out, "%8.2f s  %-8s ", seconds(v, ev), what);
    buf_str(&text, name);
    if (more.len) {
        buf_cstr(&text, ": ");
        buf_str(&text, more);
    }
    term_line(out, buf_view(&text),
              v->width > COLUMNS_BEFORE + 20 ? v->width - COLUMNS_BEFORE : 20);
    buf_char(out, '\n');
    buf_free(&text);
}

void render_plan_start(struct view *v, const wend_event *ev)
{
    v->planned = ev->u.plan_start.call.ptr != NULL;
    if (!bars_have(v, ev))
        line(v, ev, "plan", ev->u.plan_start.name, STR_NONE);
}

void render_plan_action(struct view *v, const wend_event *ev)
{
    bars_have(v, ev); /* its start and its end have lines */
}

void render_action_start(struct view *v, const wend_event *ev)
{
    if (!bars_have(v, ev))
        line(v, ev, "start", ev->u.action_start.name, STR_NONE);
}

void render_action_retry(struct view *v, const wend_event *ev)
{
    const wend_ev_action_retry *e = &ev->u.action_retry;

    line(v, ev, "again", e->action, e->error ? e->error->message : STR_NONE);
    if (v->waterfall)
        draw(v);
}

void render_action_end(struct view *v, const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED)
        return;                   /* its next start follows */
    if (v->waterfall && e->error) /* why stays above the bars */
        line(v, ev, wend_outcome_name(e->outcome), e->name, e->error->message);
    if (bars_have(v, ev))
        return;
    line(v, ev, wend_outcome_name(e->outcome), e->name,
         e->error        ? e->error->message
         : e->reason.ptr ? e->reason
                         : STR_NONE);
}

void render_plan_end(struct view *v, const wend_event *ev)
{
    const wend_ev_plan_end *e = &ev->u.plan_end;
    struct buf text = {.mem = &v->mem};

    v->plan |= !ev->in_turn; /* even if its start was not shown */
    if (bars_have(v, ev))
        return;
    buf_fmt(&text, "%lld ok, %lld failed, %lld skipped", (long long)e->ok,
            (long long)e->failed, (long long)e->skipped);
    if (e->canceled)
        buf_fmt(&text, ", %lld canceled", (long long)e->canceled);
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
    struct buf *out = &v->results.text;
    wend_str text = only && only->kind == JSON_STRING ? only->text : json;

    if (v->safe_only)
        term_text(out, text);
    else
        buf_str(out, text);
    v->text_open = text.len && text.ptr[text.len - 1] != '\n';
    arena_free(&a);
}

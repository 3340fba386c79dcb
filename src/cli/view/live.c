/*
 * live.c - the panel of a run on a terminal: the bars of its plan, what it
 * does at the moment, and the approval that it asks for.
 *
 * Events only change what the panel is to show. It is painted at most ten
 * times a second, and not while text streams: then the text shows that the
 * run is alive.
 */
#include <unistd.h>

#include "cli/keys.h"
#include "cli/term.h"
#include "cli/view/view.h"

enum {
    PAINT_US = 100000, /* between two paints */
    TEXT_US = 300000,  /* without text, before a paint */
    TYPED_US = 20000,  /* the same for a text that the user types, once text of
                          the run was written over it */
    ROWS_LEFT = 2,     /* of the screen, for the text above */
    BARS_MIN = 2,      /* rows of bars beside a question, else none */
};

void live_event(struct view *v, const wend_event *ev)
{
    if (ev->type == WEND_PLAN_START && !v->waterfall)
        v->waterfall = waterfall_new(&v->mem);
    if (v->waterfall)
        waterfall_event(v->waterfall, ev);
    status_event(&v->status, ev);
    v->event_us = ev->time_us;
    v->heard_us = steady_us();
}

/* What follows is for the new width. */
static void refit_text(struct view *v)
{
    if (!v->markdown)
        return;
    v->markdown->width = v->width - 1;
    v->wrap.width = v->width;
    if (v->paints)
        wrap_moved(&v->wrap, v->column < v->width ? v->column : v->width);
}

/* The text above is wrapped anew as well. */
static bool has_new_size(struct view *v)
{
    v->width = term_width(STDERR_FILENO);
    if (!panel_resize(&v->panel, v->width, term_height(STDERR_FILENO),
                      term_reflows()))
        return false;
    if (term_reflows() && v->line) {
        v->column = (v->line - 1) % v->width + 1;
        if (v->panel.column)
            v->panel.column = v->column;
    }
    refit_text(v);
    if (v->question.len)
        v->lay(v->asker);
    return true;
}

void live_lift(struct view *v)
{
    if (!v->paints)
        return;
    if (v->panel.rows && !v->question.len) {
        has_new_size(v);             /* it may lie elsewhere by now */
        if (v->column >= v->width) { /* it continues below: panel_lift */
            v->line = v->column = 0;
            wrap_moved(&v->wrap, 0);
        }
    }
    panel_lift(&v->panel, v->together ? &v->results.text : &v->talk.text);
}

/* A shell had the terminal, and has ended its line. */
void live_anew(struct view *v)
{
    panel_forget(&v->panel);
    v->painted_us = 0;
    v->column = v->line = 0;
    v->text_open &= !v->safe_only;
    wrap_moved(&v->wrap, 0);
}

void live_fit(struct view *v)
{
    size_t width = v->width;

    if (v->paints)
        has_new_size(v);
    else if ((v->width = term_width(STDERR_FILENO)) != width)
        refit_text(v);
}

void live_text(struct view *v, wend_str text)
{
    if (!v->paints || !v->together)
        return;
    v->column = term_column(v->column, v->width, text);
    v->line = term_column(v->line, SIZE_MAX / 2, text);
    v->text_us = steady_us();
}

/* The time of the run: that of its newest event, and what has passed since. */
static int64_t run_now_us(const struct view *v, int64_t mono_us)
{
    return v->event_us + (mono_us - v->heard_us);
}

/* An empty text makes room for a question. */
static bool shows_typed(const struct view *v)
{
    return v->typed_any || !v->question.len;
}

static void put_rows(const struct view *v, struct buf *rows, int64_t mono_us)
{
    size_t room = v->panel.height,
           used = str_count(buf_view(&v->question), '\n') +
                  str_count(buf_view(&v->typed), '\n');
    int64_t run_us = run_now_us(v, mono_us);

    room = room > used + ROWS_LEFT ? room - used - ROWS_LEFT : 1;
    if (!v->waterfall || !waterfall_open(v->waterfall)) {
        if (!v->question.len)
            status_put(&v->status, rows, v->width, room, run_us);
    } else if (!used || room >= BARS_MIN) { /* else each paint would scroll */
        waterfall_put(v->waterfall, rows, v->width, room, v->colour, run_us);
    }
    buf_str(rows, buf_view(&v->question));
    if (shows_typed(v))
        buf_str(rows, buf_view(&v->typed));
}

static void paint(struct view *v, int64_t mono_us)
{
    struct buf rows = {.mem = &v->mem};
    struct out *o = v->together ? &v->results : &v->talk;

    put_rows(v, &rows, mono_us);
    if (!rows.failed)
        panel_paint(&v->panel, &o->text, buf_view(&rows), v->column);
    if (!rows.failed && v->typed.len && shows_typed(v))
        panel_cursor(&v->panel, &o->text, v->typed_up, v->typed_column);
    buf_free(&rows);
    v->painted_us = mono_us;
}

/* A line that the user types in answer to a question stands behind it: painted
 * once, it stays until text moves it. A key leaves no trace. */
static bool is_typed_at(const struct view *v)
{
    return v->question.len && v->panel.rows && !v->keys;
}

int view_tick(struct view *v)
{
    int64_t mono_us, wait_us;

    if (!v->paints || v->lent)
        return -1;
    mono_us = steady_us();
    wait_us = v->painted_us - mono_us +
              (v->typed_any && !v->panel.rows ? TYPED_US : PAINT_US);
    if (!v->question.len && !v->typed_any &&
        v->text_us + TEXT_US - mono_us > wait_us)
        wait_us = v->text_us + TEXT_US - mono_us;
    if (wait_us > 0)
        return (int)((wait_us + 999) / 1000);
    if (!keys_present()) /* in the background: another program has it */
        return PAINT_US / 1000;
    if (v->keys)
        keys_raw(); /* an echo would shift the panel */
    if (!has_new_size(v) && is_typed_at(v))
        return PAINT_US / 1000;
    paint(v, mono_us);
    return v->panel.rows ? PAINT_US / 1000 : -1;
}

void live_plan_end(struct view *v)
{
    waterfall_put(v->waterfall, view_talk(v), v->width, SIZE_MAX, v->colour,
                  v->event_us);
}

/*
 * bar.c - something that began and ended, and its bar in a picture of time.
 */
#include "cli/view/bar.h"

#include <stdio.h>

double bar_place(const struct bar_scale *s, int64_t time_us, double length)
{
    double all = (double)(s->ended_us - s->began_us);
    double at = (double)(time_us - s->began_us);

    if (all <= 0 || at <= 0)
        return 0;
    return at >= all ? length : at * length / all;
}

void bar_put(struct buf *b, const struct bar *bar, const struct bar_scale *s,
             size_t columns, const char *full, const char *empty)
{
    size_t from = (size_t)bar_place(s, bar->began_us, (double)columns);
    size_t to = (size_t)bar_place(s, bar->ended_us, (double)columns);

    if (from == columns)
        from--;
    if (to <= from)
        to = from + 1;
    for (size_t i = 0; i < columns; i++)
        buf_cstr(b, i < from || i >= to ? empty : full);
}

const char *bar_outcome(wend_outcome o)
{
    return o ? wend_outcome_name(o) : "no end";
}

void bar_put_state(struct buf *b, wend_str state)
{
    if (str_is(state, "waiting"))
        state = STR("waits for you");
    for (size_t i = 0; i < state.len; i++)
        buf_char(b, state.ptr[i] == '-' ? ' ' : state.ptr[i]);
}

void bar_put_time(struct buf *b, int64_t ms, int columns)
{
    char text[32];

    if (ms < 10000)
        snprintf(text, sizeof text, "%lldms", (long long)ms);
    else
        snprintf(text, sizeof text, "%.1fs", (double)ms / 1e3);
    buf_fmt(b, "%*s", columns, text);
}

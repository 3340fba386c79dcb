/*
 * timeline_axis.c - time as a place, without what is idle.
 *
 * One long wait would hide every bar. So idle time, and time in which no
 * process owned the run, is a break of fixed width.
 */
#include <stdlib.h>

#include "cli/view/timeline.h"

enum {
    IDLE_US_MIN = 20000000,
    IDLE_PART = 10,    /* and a tenth of the span */
    CUT_PERCENT = 4,   /* width of a break ... */
    CUTS_PERCENT = 40, /* ... and of all of them */
};

struct stretch {
    int64_t from_us, to_us;
};

static int by_start(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    return (x->from_us > y->from_us) - (x->from_us < y->from_us);
}

static int by_place(const void *a, const void *b)
{
    const struct axis_cut *x = a, *y = b;

    return (x->from_us > y->from_us) - (x->from_us < y->from_us);
}

/* list NULL: only counts. */
static size_t find_work(const struct timeline *t, struct stretch *list)
{
    size_t count = 0;

    for (const struct turn_line *line = t->turns; line; line = line->next)
        for (const struct span *s = line->spans; s; s = s->next)
            for (const struct piece *p = s->pieces; p; p = p->next)
                if (p->kind == PIECE_WORK && list)
                    list[count++] = (struct stretch){p->began_us, p->ended_us};
                else
                    count += p->kind == PIECE_WORK;
    return count;
}

/* A gap in a hole belongs to it. */
static void add_gap(struct axis *x, size_t holes, const struct gap *g)
{
    for (size_t i = 0; i < holes; i++)
        if (x->cuts[i].from_us <= g->at_us && g->at_us <= x->cuts[i].to_us) {
            x->cuts[i].us += g->us;
            x->cuts[i].epoch = g->epoch;
            x->cuts[i].forked = g->forked;
            return;
        }
    x->cuts[x->count++] =
        (struct axis_cut){g->at_us, g->at_us, g->us, g->epoch, g->forked};
}

static void find_cuts(struct axis *x, const struct stretch *work, size_t count,
                      const struct gap *gaps)
{
    int64_t at = x->began_us, least = (x->ended_us - x->began_us) / IDLE_PART;
    size_t holes;

    for (size_t i = 0; i <= count; i++) {
        int64_t until = i < count ? work[i].from_us : x->ended_us;

        if (until - at > IDLE_US_MIN && until - at > least)
            x->cuts[x->count++] =
                (struct axis_cut){at, until, until - at, 0, false};
        if (i < count && work[i].to_us > at)
            at = work[i].to_us;
    }
    holes = x->count;
    for (; gaps; gaps = gaps->next)
        add_gap(x, holes, gaps);
    qsort(x->cuts, x->count, sizeof *x->cuts, by_place);
}

void axis_init(struct axis *x, const struct timeline *t, struct arena *a)
{
    size_t count = find_work(t, NULL), gaps = 0;
    struct stretch *work = arena_alloc(a, (count + 1) * sizeof *work);

    *x = (struct axis){.began_us = t->scale.began_us,
                       .ended_us = t->scale.ended_us};
    for (const struct gap *g = t->gaps; g; g = g->next)
        gaps++;
    x->cuts = arena_alloc(a, (gaps + IDLE_PART + 1) * sizeof *x->cuts);
    find_work(t, work);
    qsort(work, count, sizeof *work, by_start);
    find_cuts(x, work, count, t->gaps);
    x->shown_us = x->ended_us - x->began_us;
    for (size_t i = 0; i < x->count; i++)
        x->shown_us -= x->cuts[i].to_us - x->cuts[i].from_us;
    x->cut_width = x->count * CUT_PERCENT > CUTS_PERCENT
                       ? (double)CUTS_PERCENT / (double)x->count
                       : CUT_PERCENT;
}

/* Percent of the width for the time outside of the cuts. */
static double scaled(const struct axis *x, int64_t us)
{
    double room = 100 - (double)x->count * x->cut_width;

    return x->shown_us > 0 ? (double)us * room / (double)x->shown_us : 0;
}

static double place(const struct axis *x, int64_t time_us, bool ends)
{
    int64_t us = time_us - x->began_us;
    double at = 0, all;

    for (size_t i = 0; i < x->count && x->cuts[i].from_us <= time_us; i++) {
        const struct axis_cut *c = &x->cuts[i];
        int64_t wide = c->to_us - c->from_us, in = time_us - c->from_us;

        if (ends && !in)
            break;
        if (in >= wide) {
            at += x->cut_width;
            us -= wide;
        } else {
            at += x->cut_width * (double)in / (double)wide;
            us -= in;
        }
    }
    all = at + scaled(x, us);
    return all < 0 ? 0 : all > 100 ? 100 : all;
}

double axis_begin(const struct axis *x, int64_t time_us)
{
    return place(x, time_us, false);
}

double axis_end(const struct axis *x, int64_t time_us)
{
    return place(x, time_us, true);
}

double axis_cut_at(const struct axis *x, size_t i)
{
    int64_t us = x->cuts[i].from_us - x->began_us;

    for (size_t k = 0; k < i; k++)
        us -= x->cuts[k].to_us - x->cuts[k].from_us;
    return scaled(x, us) + (double)i * x->cut_width;
}

int64_t axis_time(const struct axis *x, double percent)
{
    double room = 100 - (double)x->count * x->cut_width, rest = percent;
    int64_t us = 0;

    for (size_t i = 0; i < x->count && axis_cut_at(x, i) < percent; i++) {
        if (percent < axis_cut_at(x, i) + x->cut_width)
            return -1;
        rest -= x->cut_width;
        us += x->cuts[i].to_us - x->cuts[i].from_us;
    }
    return us + (room > 0 ? (int64_t)((double)x->shown_us * rest / room) : 0);
}

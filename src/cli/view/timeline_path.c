/*
 * timeline_path.c - the critical path of a run: what its time went into.
 *
 * Back from what ended last, to what it waited for: an action to the last of
 * the actions it depends on, a call to the answer that asked for it, anything
 * else to what ended last before it began. What a span does inside (its model
 * call, its child) is part of it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/view/timeline.h"

struct path {
    struct span **list; /* by end */
    size_t count;
};

static int by_end(const void *a, const void *b)
{
    const struct span *x = *(struct span *const *)a;
    const struct span *y = *(struct span *const *)b;

    return x->bar.ended_us != y->bar.ended_us
               ? (x->bar.ended_us > y->bar.ended_us ? 1 : -1)
           : x->bar.began_us != y->bar.began_us
               ? (x->bar.began_us > y->bar.began_us ? 1 : -1)
               : 0;
}

static bool is_step(const struct span *s)
{
    return !s->owner && s->pieces && s->kind != SPAN_CHILD;
}

/* list NULL: only counts. */
static size_t gather(const struct timeline *t, struct span **list)
{
    size_t count = 0;

    for (struct turn_line *line = t->turns; line; line = line->next)
        for (struct span *s = line->spans; s; s = s->next)
            if (is_step(s)) {
                if (list)
                    list[count] = s;
                count++;
            }
    return count;
}

static bool names(wend_str list, wend_str name)
{
    while (list.len) {
        const char *end = memmem(list.ptr, list.len, ", ", 2);
        size_t len = end ? (size_t)(end - list.ptr) : list.len;

        if (str_eq((wend_str){list.ptr, len}, name))
            return true;
        list = str_skip(list, end ? len + 2 : len);
    }
    return false;
}

/* Whether `s` may have waited for `before`, which ended at its begin or
 * earlier. */
static bool follows(const struct span *s, const struct span *before)
{
    const struct action_note *n = s->note;

    if (before->bar.ended_us > s->bar.began_us || before == s)
        return false;
    return !n || !n->after.len || names(n->after, before->bar.id) ||
           names(n->after, before->bar.name);
}

/* A call may begin before the message that asks for it ends. */
static struct span *asked_by(const struct path *p, const struct span *s)
{
    struct span *found = NULL;

    for (size_t i = 0; s->kind == SPAN_CALL && i < p->count; i++) {
        struct span *m = p->list[i];

        if (m->kind == SPAN_MODEL && m->bar.began_us <= s->bar.began_us &&
            m->bar.ended_us > s->bar.began_us)
            found = m;
    }
    return found;
}

/* `at`: where the search begins; those behind it end later. */
static struct span *before(const struct path *p, const struct span *s,
                           size_t *at)
{
    struct span *found = asked_by(p, s);

    while (!found && *at)
        if (follows(s, p->list[--*at]))
            found = p->list[*at];
    return found;
}

void timeline_path(struct timeline *t)
{
    struct path p = {.count = gather(t, NULL)};
    int64_t from_us = INT64_MAX;
    size_t at, marked = 0;
    struct span *s;

    p.list = arena_alloc(&t->arena, (p.count + 1) * sizeof *p.list);
    gather(t, p.list);
    qsort(p.list, p.count, sizeof *p.list, by_end);
    at = p.count ? p.count - 1 : 0;
    for (s = p.count ? p.list[at] : NULL; s && !s->critical;
         s = before(&p, s, &at)) {
        int64_t end_us = s->bar.ended_us < from_us ? s->bar.ended_us : from_us;

        s->critical = true;
        marked++;
        if (end_us > s->bar.began_us)
            t->path_us += end_us - s->bar.began_us;
        from_us = s->bar.began_us;
    }
    t->has_path = marked < p.count; /* else nothing ran beside anything */
}

/*
 * collector.c - events as the host keeps, prints and collects them.
 */
#include "lib/run/run.h"

static const struct mem libc_mem = {NULL, NULL};

wend_status wend_event_to_json(const wend_event *event, char **json,
                               size_t *len)
{
    struct buf b = {.mem = &libc_mem};

    if (!event || !json || !event_fields(event->type))
        return WEND_E_INVAL;
    event_write(&b, event, NULL);
    if (b.failed) {
        buf_free(&b);
        return WEND_E_NOMEM;
    }
    *json = b.ptr;
    if (len)
        *len = b.len;
    return WEND_OK;
}

void wend_string_free(char *s)
{
    mem_free(&libc_mem, s);
}

wend_status wend_event_clone(const wend_event *event, wend_event **out)
{
    if (!event || !out || !event_fields(event->type))
        return WEND_E_INVAL;
    *out = event_copy(&libc_mem, event);
    return *out ? WEND_OK : WEND_E_NOMEM;
}

void wend_event_free(wend_event *event)
{
    mem_free(&libc_mem, event);
}

/* ---- What most consumers want to know about a run ------------------------ */

struct wend_collector {
    unsigned process; /* that made it */
    struct buf text;
    size_t kept; /* of the text, before the open message */
    wend_event **events;
    size_t count, cap;
    const wend_event *end;
};

wend_status wend_collector_new(wend_collector **out)
{
    wend_collector *c;

    if (!out)
        return WEND_E_INVAL;
    c = mem_zalloc(&libc_mem, sizeof *c);
    if (!c)
        return WEND_E_NOMEM;
    c->process = forked_mark();
    c->text.mem = &libc_mem;
    *out = c;
    return WEND_OK;
}

static bool usable(const wend_collector *c)
{
    return c && forked_check(c->process, NULL) == WEND_OK;
}

/* Only the text of turns: models of actions answer to the plan, side by
 * side. */
static void add_text(wend_collector *c, const wend_event *ev)
{
    if (ev->type == WEND_TEXT_DELTA && !ev->u.text_delta.action.ptr)
        buf_str(&c->text, ev->u.text_delta.text);
    else if (ev->type == WEND_MODEL_START && !ev->u.model_start.action.ptr)
        c->kept = c->text.len;
    else if (ev->type == WEND_MODEL_END && !ev->u.model_end.action.ptr &&
             ev->u.model_end.outcome == WEND_OUTCOME_SUPERSEDED &&
             c->kept < c->text.len)
        c->text.len = c->kept; /* cut off: void for readers */
}

wend_status wend_collector_add(wend_collector *c, const wend_event *event)
{
    wend_event *copy, **more;

    if (!c || !event || !event_fields(event->type))
        return WEND_E_INVAL;
    if (!usable(c))
        return WEND_E_MISUSE;
    add_text(c, event);
    if (event->n)
        return c->text.failed ? WEND_E_NOMEM : WEND_OK;
    more = mem_more(&libc_mem, c->events, c->count, &c->cap, sizeof *more);
    if (!more)
        return WEND_E_NOMEM;
    c->events = more;
    copy = event_copy(&libc_mem, event);
    if (!copy)
        return WEND_E_NOMEM;
    c->events[c->count++] = copy;
    if (copy->type == WEND_RUN_END)
        c->end = copy;
    return WEND_OK;
}

wend_str wend_collector_text(const wend_collector *c)
{
    return usable(c) ? buf_view(&c->text) : STR_NONE;
}

wend_str wend_collector_answer(const wend_collector *c)
{
    return usable(c) && c->end ? c->end->u.run_end.text : STR_NONE;
}

const wend_event *wend_collector_get(const wend_collector *c,
                                     wend_event_type type, size_t i)
{
    for (size_t e = 0; usable(c) && e < c->count; e++)
        if (c->events[e]->type == type && !i--)
            return c->events[e];
    return NULL;
}

void wend_collector_free(wend_collector *c)
{
    if (!usable(c))
        return;
    for (size_t i = 0; i < c->count; i++)
        mem_free(&libc_mem, c->events[i]);
    mem_free(&libc_mem, c->events);
    buf_free(&c->text);
    mem_free(&libc_mem, c);
}

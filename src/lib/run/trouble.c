/*
 * trouble.c - problems of components that do not end the run: each becomes a
 * warning or an error event, by a decision of the core.
 *
 * A problem of an agent before a run starts (a server that does not connect)
 * stays with the agent and is reported in each of its runs.
 */
#include "lib/run/shell.h"

#include <stdio.h>

#include "base/utf8.h"

enum {
    STANDING_MAX = 64, /* of an agent; more would repeat them */
    WAITING_MAX = 64,  /* of a run, until its next step */
};

static void add_copy(struct trouble **list, size_t most,
                     const struct trouble *t, struct arena *a)
{
    struct trouble *copy;
    size_t count = 0;

    for (; *list; list = &(*list)->next)
        count++;
    copy = count < most ? arena_alloc(a, sizeof *copy) : NULL;
    if (!copy)
        return;
    *copy = (struct trouble){.warning = t->warning,
                             .retryable = t->retryable,
                             .code = arena_str(a, t->code),
                             .message = arena_str(a, t->message),
                             .component = arena_str(a, t->component),
                             .of = arena_str(a, t->of)};
    *list = copy;
}

static void run_trouble(struct wend_run *r, const struct trouble *t)
{
    struct input in = {.kind = IN_TROUBLE};

    if (!r->agent || r->over || r->parked || r->error.status != WEND_OK)
        return;
    add_copy(&r->troubles, WAITING_MAX, t, &r->arena);
    if (!r->rt->stepping && r->turn.phase != PH_NEW)
        shell_input(r, &in);
}

__attribute__((format(printf, 4, 0))) static void
run_says(struct wend_run *r, bool warning, const char *code, const char *fmt,
         va_list ap)
{
    struct trouble t = {.code = str_of(code),
                        .component = str_of(code),
                        .warning = warning,
                        .retryable = !warning};
    char message[400];

    utf8_vfmt(message, sizeof message, fmt, ap);
    t.message = utf8_keep(str_of(message), &r->arena);
    if (t.message.ptr)
        run_trouble(r, &t);
}

void run_error(struct wend_run *r, const char *component, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    run_says(r, false, component, fmt, ap);
    va_end(ap);
}

void run_warn(struct wend_run *r, const char *code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    run_says(r, true, code, fmt, ap);
    va_end(ap);
}

void run_inherit_troubles(struct wend_run *r)
{
    for (const struct trouble *t = r->agent->troubles; t; t = t->next)
        add_copy(&r->troubles, WAITING_MAX, t, &r->arena);
}

void agent_trouble(wend_agent *a, const struct trouble *t, bool stands)
{
    struct wend_run *next;

    if (stands)
        add_copy(&a->troubles, STANDING_MAX, t, &a->arena);
    for (struct wend_run *r = a->rt->runs; r; r = next) {
        next = r->next;
        if (r->agent == a && r->turn.phase != PH_NEW)
            run_trouble(r, t);
    }
}

void agent_forget_trouble(wend_agent *a, wend_str of)
{
    struct trouble **link = &a->troubles;

    while (*link)
        if (str_eq((*link)->of, of))
            *link = (*link)->next;
        else
            link = &(*link)->next;
}

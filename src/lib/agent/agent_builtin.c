/*
 * agent_builtin.c - the built-in tools of an agent, and where they work.
 */
#include <unistd.h>

#include "base/fail.h"
#include "host/path.h"
#include "lib/run/child.h"

void workplace_unref(struct workplace *w)
{
    struct mem m;

    if (!w || atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    m = w->mem;
    if (w->env.root_fd >= 0)
        close(w->env.root_fd);
    mem_free(&m, w);
}

static wend_status find_place(wend_agent *a, wend_error *err)
{
    struct workplace *w = a->place ? NULL : mem_zalloc(&a->mem, sizeof *w);

    if (a->place)
        return WEND_OK;
    if (!w)
        return fail_nomem(err);
    w->mem = a->mem;
    w->env.web = &a->web;
    atomic_init(&w->refs, 1);
    w->env.root = a->root.ptr;
    w->env.sandbox_off = a->sandbox_off;
    w->env.root_fd = path_root(a->root.ptr, err);
    if (w->env.root_fd < 0) {
        workplace_unref(w);
        return WEND_E_IO;
    }
    a->place = w;
    return WEND_OK;
}

wend_status wend_agent_add_builtin(wend_agent *a, const char *name,
                                   wend_error *err)
{
    const struct builtin *b = name ? builtin_find(name) : NULL;
    wend_status s = agent_enter(a, "tool", err);
    wend_tool_options t = {.size = sizeof t};
    struct tool_kind kind = {.source = "builtin"};

    if (s != WEND_OK)
        return s;
    if (!b)
        return fail(err, WEND_E_NOTFOUND,
                    "there is no built-in tool '%.80s'; `wend tools` lists "
                    "them",
                    name ? name : "");
    if (!b->fn)
        return agent_offer_task(a, err);
    s = find_place(a, err);
    if (s != WEND_OK)
        return s;
    t.name = b->info.name.ptr;
    t.description = b->info.description.ptr;
    t.schema = b->info.schema.ptr;
    t.call_class = b->info.call_class;
    t.category = b->info.category;
    t.labels = b->info.labels;
    t.concurrent = b->info.concurrent;
    t.threaded = !b->on_loop;
    t.subject = b->subject;
    t.fn = b->fn;
    t.ctx = &a->place->env;
    kind.place = a->place;
    kind.program = b->program;
    kind.sandbox_off = a->sandbox_off;
    return agent_add(a, &t, &kind, err);
}

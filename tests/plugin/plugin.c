/*
 * plugin.c - what a host loads and unloads: a tool, an allocator, and the
 * functions that release them.
 */
#include "plugin.h"

#include <stdlib.h>
#include <unistd.h>

enum { LINGER_US = 2000 }; /* in the function, behind its answer */

static void *plugin_alloc(void *ctx, void *p, size_t size)
{
    struct plugin_count *count = ctx;

    atomic_fetch_add(&count->allocations, 1);
    if (size)
        return realloc(p, size);
    free(p);
    return NULL;
}

static wend_status plugin_tool(void *ctx, wend_call *call)
{
    struct plugin_count *count = ctx;
    wend_str done = {"done", 4};
    wend_status s = count->answer(call, done);

    usleep(LINGER_US);
    atomic_fetch_add(&count->calls, 1);
    return s;
}

static void plugin_release(void *ctx)
{
    struct plugin_count *count = ctx;

    atomic_fetch_add(&count->releases, 1);
}

__attribute__((visibility("default")))
const struct plugin plugin = {plugin_tool, plugin_alloc, plugin_release};

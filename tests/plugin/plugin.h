/*
 * plugin.h - what a plugin gives to the host that loads it.
 */
#ifndef TESTS_PLUGIN_H
#define TESTS_PLUGIN_H

#include <stdatomic.h>

#include "wend.h"

/* The host's, and lent to what the plugin gives. */
struct plugin_count {
    atomic_int calls, allocations, releases;
    wend_status (*answer)(wend_call *call, wend_str output); /* the library's */
};

struct plugin {
    wend_tool_fn tool; /* a plugin_count is its ctx, as that of the next two */
    wend_alloc_fn alloc;
    wend_release_fn release;
};

#endif

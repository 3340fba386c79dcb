/*
 * api_help.h - the names of all public functions, from the headers.
 */
#ifndef TESTS_API_HELP_H
#define TESTS_API_HELP_H

#include <stdio.h>

#include "base/str.h"
#include "tap.h"

static const char *const api_headers[] = {
    "include/wend.h",       "include/wend_agent.h", "include/wend_dialect.h",
    "include/wend_event.h", "include/wend_load.h",  "include/wend_plan.h",
    "include/wend_sim.h",   "include/wend_store.h", "include/wend_trace.h",
};

static inline bool api_read(struct buf *out, const char *path)
{
    char part[4096];
    FILE *f = fopen(path, "r");
    size_t n;

    while (f && (n = fread(part, 1, sizeof part, f)))
        buf_add(out, part, n);
    return f && !fclose(f);
}

/* Calls fn with the name of each function; how many there are. */
static inline int api_each(void (*fn)(void *ctx, const char *name), void *ctx)
{
    static const struct mem mem;
    struct buf text = {.mem = &mem};
    int count = 0;

    for (size_t i = 0; i < tap_count(api_headers); i++)
        api_read(&text, api_headers[i]);
    buf_char(&text, 0);
    for (char *at = text.ptr; at && (at = strstr(at, "\nWEND_API "));) {
        char *end = strchr(at, '('), *begin = end;

        while (begin[-1] == '_' || (begin[-1] >= 'a' && begin[-1] <= 'z'))
            begin--;
        *end = 0;
        fn(ctx, begin);
        at = end + 1;
        count++;
    }
    buf_free(&text);
    return count;
}

#endif

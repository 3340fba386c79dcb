/*
 * sim.c - a piece of the trace.
 */
#include "sim.h"

__attribute__((format(printf, 2, 3))) void trace(struct sim *s, const char *fmt,
                                                 ...)
{
    va_list ap;

    if (!s->head.trace)
        return;
    va_start(ap, fmt);
    vfprintf(s->head.trace, fmt, ap);
    va_end(ap);
}

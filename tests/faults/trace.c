/*
 * trace.c - reads what strace has written.
 */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool trace_next(FILE *f, char line[TRACE_LINE])
{
    static struct {
        int pid;
        char head[TRACE_LINE];
    } begun[TRACEES_MAX];
    static size_t newest;
    char rest[TRACE_LINE / 2];

    while (f && fgets(line, TRACE_LINE, f)) {
        char *cut = strstr(line, "<unfinished ...>");
        const char *tail = strstr(line, " resumed>");
        int pid = atoi(line);
        size_t i = 0;

        if (!cut && !tail)
            return true;
        while (i < TRACEES_MAX && begun[i].pid != pid)
            i++;
        if (cut) {
            *cut = 0;
            if (i == TRACEES_MAX)
                i = newest++ % TRACEES_MAX;
            begun[i].pid = pid;
            memcpy(begun[i].head, line, TRACE_LINE);
        } else if (i < TRACEES_MAX) {
            snprintf(rest, sizeof rest, "%s", tail + strlen(" resumed>"));
            snprintf(line, TRACE_LINE, "%.*s%s", TRACE_LINE / 2, begun[i].head,
                     rest);
            return true;
        }
    }
    return false;
}

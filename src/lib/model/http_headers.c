/*
 * http_headers.c - the headers of one request to a model.
 */
#include "lib/model/http.h"

#include <stdio.h>

#include "lib/plan/action.h"

void http_fill_headers(const struct http_driver *d, const struct wend_run *run,
                       int64_t ask, struct http_headers *out)
{
    const struct action_ask *a = ask_under_way(run, ask);
    wend_str action =
        a ? run->turn.plan.plan->actions[a->action]->id : STR_NONE;
    char parent[OTEL_PARENT_LEN + 1];
    size_t n = 0;

    for (; d->headers[n]; n++)
        out->list[n] = d->headers[n];
    if (trace_parent(run, OTEL_CHAT, action, parent)) {
        snprintf(out->trace, sizeof out->trace, "traceparent: %s", parent);
        out->list[n++] = out->trace;
    }
    out->list[n] = NULL;
}

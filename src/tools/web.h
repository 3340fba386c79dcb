/*
 * web.h - a request over HTTP within bounds, on the runtime's loop.
 *
 * base/network says which addresses are allowed, and fetch asks that for the
 * very address it is about to connect to. Redirects are followed here, each
 * like a request of its own. No proxy is used: it would look names up for us,
 * behind the check.
 */
#ifndef TOOLS_WEB_H
#define TOOLS_WEB_H

#include "base/url.h"
#include "tools/tools.h"

struct transfer;

enum {
    WEB_HEADERS_MAX = 64,
    WEB_HEADERS_BYTES_MAX = 32 << 10,
};

struct web {
    struct tool_job job;
    wend_call *call;
    const struct web_env *env;
    /* The head of what is no redirect; may be NULL. */
    void (*head)(struct web *w, const struct transfer *t);
    /* Makes the answer, in job, of `text`, which is cut if is_cut. */
    wend_status (*done)(struct web *w);
    const void *ctx;         /* of these */
    const wend_str *secrets; /* blanked in the answer */
    size_t secrets_count;
    struct url url;
    const char *method;
    const char *headers[WEB_HEADERS_MAX + 3]; /* ours, and the NULL */
    size_t headers_count;
    wend_str body; /* absent: none */
    int64_t bytes_max;
    struct buf text;
    int status, hops;
    bool is_text, is_encoded, is_cut;
    bool tells; /* failures have a code, and say whether there was an effect */
    struct fetch *fetch;
    struct transfer *transfer; /* NULL: none is under way */
};

/* NULL: out of memory; *s is the result of tool_begin. */
struct web *web_new(wend_call *call, const struct tool_arg *args,
                    wend_status *s);
/* `name: value`; both were checked. */
void web_add_header(struct web *w, const char *name, wend_str value);
/* One that a model or a user wrote: checked. */
wend_status web_take_header(struct web *w, wend_str name, wend_str value);
/* Sets out, unless s is a failure, and answers the call sooner or later. */
void web_start(struct web *w, wend_status s);

#endif

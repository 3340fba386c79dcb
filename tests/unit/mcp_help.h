/*
 * mcp_help.h - an MCP machine driven by a small script, and what it does as
 * lines of text.
 *
 * A script has one step a line:
 *
 *     start   timeout   lost WHY   close WHY
 *     < MESSAGE               from the server
 *     refused ID STATUS BODY  an answer over HTTP that is none
 *     call X TOOL ARGS        X is a letter that names the call
 *     cancel X
 *
 * and what it does is told as
 *
 *     send ID BODY            and below it its headers, one a line
 *     ready TOOL...   progress X "TEXT"   done X ok|failed "TEXT"
 *     drop ID   warn TEXT   again   fail TEXT
 */
#ifndef TESTS_MCP_HELP_H
#define TESTS_MCP_HELP_H

#include <stdlib.h>

#include "base/limits.h"
#include "fault.h"
#include "tap.h"
#include "wire/http/http.h"
#include "wire/mcp/mcp.h"

static const struct mem mcp_plain;

struct driven {
    struct mcp mcp;
    struct buf lines;
    char open[128]; /* calls: 0, or '?' until done */
    int broken;     /* laws */
};

static inline void driven_law(struct driven *d, bool holds, const char *what)
{
    if (holds)
        return;
    d->broken++;
    buf_fmt(&d->lines, "LAW %s\n", what);
}

static inline void driven_send(void *ctx, const struct mcp_send *m)
{
    struct driven *d = ctx;
    struct arena a = {.mem = &mcp_plain};

    driven_law(d, json_parse_own(m->body, &a, NULL) != NULL, "JSON is sent");
    driven_law(d, !memchr(m->body.ptr, '\n', m->body.len), "on one line");
    driven_law(d, d->mcp.state != MCP_FAILED, "nothing after a failure");
    buf_fmt(&d->lines, "send %lld ", (long long)m->id);
    buf_str(&d->lines, m->body);
    buf_char(&d->lines, '\n');
    for (size_t i = 0; m->headers[i]; i++) {
        driven_law(d, !strpbrk(m->headers[i], "\r\n"), "a header is a line");
        buf_fmt(&d->lines, "  %s\n", m->headers[i]);
    }
    arena_free(&a);
}

static inline void driven_ready(void *ctx)
{
    struct driven *d = ctx;

    buf_cstr(&d->lines, "ready");
    for (const struct mcp_tool *t = d->mcp.tools; t; t = t->next) {
        buf_char(&d->lines, ' ');
        buf_str(&d->lines, t->name);
    }
    buf_char(&d->lines, '\n');
}

static inline void driven_progress(void *ctx, void *call, wend_str text)
{
    struct driven *d = ctx;
    char name = *(char *)call;

    driven_law(d, d->open[(int)name] == '?', "progress of an open call");
    buf_fmt(&d->lines, "progress %c ", name);
    json_put_str(&d->lines, text);
    buf_char(&d->lines, '\n');
}

static inline void driven_done(void *ctx, void *call,
                               const struct mcp_given *given)
{
    struct driven *d = ctx;
    char name = *(char *)call;

    driven_law(d, d->open[(int)name] == '?', "a call is done once");
    d->open[(int)name] = 0;
    buf_fmt(&d->lines, "done %c %s ", name, given->ok ? "ok" : "failed");
    json_put_str(&d->lines, given->text);
    if (given->structured.ptr) {
        buf_char(&d->lines, ' ');
        buf_str(&d->lines, given->structured);
    }
    buf_char(&d->lines, '\n');
}

static inline void driven_drop(void *ctx, int64_t id)
{
    struct driven *d = ctx;

    buf_fmt(&d->lines, "drop %lld\n", (long long)id);
}

static inline void driven_warn(void *ctx, const char *text)
{
    struct driven *d = ctx;

    buf_fmt(&d->lines, "warn %s\n", text);
}

static inline void driven_again(void *ctx)
{
    struct driven *d = ctx;

    buf_cstr(&d->lines, "again\n");
}

static inline void driven_fail(void *ctx, const char *text)
{
    struct driven *d = ctx;

    driven_law(d, !d->mcp.calls, "no call outlives the connection");
    buf_fmt(&d->lines, "fail %s\n", text);
}

static const struct mcp_sink driven_sink = {
    .send = driven_send,
    .ready = driven_ready,
    .progress = driven_progress,
    .done = driven_done,
    .drop = driven_drop,
    .warn = driven_warn,
    .again = driven_again,
    .fail = driven_fail,
};

/* Letters that calls point to. */
static inline void *driven_name(char c)
{
    static char names[128];

    names[c & 127] = (char)(c & 127);
    return &names[c & 127];
}

static inline wend_str driven_word(wend_str *rest)
{
    const char *space = memchr(rest->ptr, ' ', rest->len);
    wend_str word = {rest->ptr,
                     space ? (size_t)(space - rest->ptr) : rest->len};
    size_t used = word.len + (space != NULL);

    rest->ptr += used;
    rest->len -= used;
    return word;
}

static inline void driven_call(struct driven *d, wend_str rest)
{
    char *name = driven_name(driven_word(&rest).ptr[0]);
    wend_str tool = driven_word(&rest);
    const struct mcp_tool *t = d->mcp.tools;
    struct arena a = {.mem = &mcp_plain};
    bool json = !rest.len || json_parse(rest, &a, NULL);

    arena_free(&a);
    while (t && !str_eq(t->name, tool))
        t = t->next;
    if (!t || !json || d->open[(int)*name])
        return; /* whoever calls has checked the arguments */
    d->open[(int)*name] = '?';
    mcp_call(&d->mcp, name, t, rest.len ? rest : STR("{}"), STR("k"), STR_NONE);
}

static inline void driven_step(struct driven *d, wend_str line)
{
    wend_str rest = line, verb = driven_word(&rest);
    char text[200];
    int64_t id = 0, status = 0;

    snprintf(text, sizeof text, "%.*s", (int)rest.len, rest.ptr);
    if (str_is(verb, "start")) {
        mcp_start(&d->mcp);
    } else if (str_is(verb, "timeout")) {
        mcp_timeout(&d->mcp, "10 s");
    } else if (str_is(verb, "lost")) {
        mcp_lost(&d->mcp, text);
    } else if (str_is(verb, "close")) {
        mcp_close(&d->mcp, text);
    } else if (str_is(verb, "<")) {
        mcp_text(&d->mcp, rest);
    } else if (str_is(verb, "refused")) {
        str_to_i64(driven_word(&rest), &id);
        str_to_i64(driven_word(&rest), &status);
        mcp_refused(&d->mcp, id, (int)status, rest);
    } else if (str_is(verb, "call") && rest.len) {
        driven_call(d, rest);
    } else if (str_is(verb, "cancel") && rest.len) {
        char *name = driven_name(rest.ptr[0]);

        d->open[(int)*name] = 0;
        mcp_cancel(&d->mcp, name);
    }
}

static inline void driven_open(struct driven *d, const struct mem *mem,
                               enum mcp_transport transport)
{
    memset(d, 0, sizeof *d);
    d->lines.mem = &mcp_plain;
    mcp_init(&d->mcp, mem, transport, &driven_sink, d);
}

static inline void driven_close(struct driven *d)
{
    mcp_close(&d->mcp, "closed");
    for (size_t i = 0; i < sizeof d->open; i++)
        driven_law(d, !d->open[i], "every call is done in the end");
    mcp_free(&d->mcp);
}

static inline void driven_script(struct driven *d, wend_str script)
{
    while (script.len) {
        const char *end = memchr(script.ptr, '\n', script.len);
        wend_str line = {script.ptr,
                         end ? (size_t)(end - script.ptr) : script.len};

        if (line.len)
            driven_step(d, line);
        script.ptr += line.len + (end != NULL);
        script.len -= line.len + (end != NULL);
    }
}

#endif

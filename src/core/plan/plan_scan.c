/*
 * plan_scan.c - the actions in the arguments of a `plan` call, as they come.
 */
#include "core/plan/plan_scan.h"

#include <assert.h>
#include <string.h>

enum { IN_WHOLE = 1, IN_LIST = 2 }; /* depths */

static void on_string(struct plan_scan *s, char c)
{
    if (s->escaped)
        s->escaped = false;
    else if (c == '\\')
        s->escaped = true;
    else if (c == '"') {
        s->in_string = false;
        s->string.len = s->at - s->string.at;
    }
}

static void on_open(struct plan_scan *s, char c)
{
    if (!s->depth && c != '{')
        s->over = true;
    if (s->depth == IN_LIST && s->in_actions) {
        s->over = c != '{';
        s->action_at = s->at;
    }
    if (s->depth == IN_WHOLE && s->is_actions) {
        s->in_actions = c == '[';
        s->over = c != '[';
    }
    s->depth++;
}

static void on_close(struct plan_scan *s, char c)
{
    struct plan_span span = {s->action_at, s->at + 1 - s->action_at};

    s->depth -= s->depth > 0;
    if (s->depth == IN_LIST && s->in_actions && c == '}')
        buf_add(&s->actions, (const char *)&span, sizeof span);
    else if (s->depth <= IN_LIST && s->in_actions)
        s->over = true; /* the list ends, or an object with a bracket */
}

static void look(struct plan_scan *s, wend_str text)
{
    char c = text.ptr[s->at];
    wend_str name = {text.ptr + s->string.at, s->string.len};

    if (s->in_string) {
        on_string(s, c);
        return;
    }
    switch (c) {
    case '"':
        s->in_string = true;
        s->string.at = s->at + 1;
        break;
    case ':':
        if (s->depth == IN_WHOLE)
            s->is_actions = str_is(name, "actions");
        break;
    case '{':
    case '[': on_open(s, c); break;
    case '}':
    case ']': on_close(s, c); break;
    }
    /* Something else than an object between the commas of the list. */
    if (s->in_actions && s->depth == IN_LIST && !strchr(" \t\r\n,[]{}", c))
        s->over = true;
}

void plan_scan(struct plan_scan *s, wend_str text)
{
    for (; s->at < text.len && !s->over; s->at++)
        look(s, text);
}

size_t plan_scan_count(const struct plan_scan *s)
{
    return s->actions.len / sizeof(struct plan_span);
}

wend_str plan_scan_get(const struct plan_scan *s, wend_str text, size_t i)
{
    const struct plan_span *span = (const void *)s->actions.ptr;

    assert(i < plan_scan_count(s) && span[i].at + span[i].len <= text.len);
    return (wend_str){text.ptr + span[i].at, span[i].len};
}

void plan_scan_clear(struct plan_scan *s)
{
    struct buf actions = s->actions;

    buf_clear(&actions);
    memset(s, 0, sizeof *s);
    s->actions = actions;
}

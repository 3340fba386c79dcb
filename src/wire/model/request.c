/*
 * request.c - one walk over what a model is asked, for the request of any API.
 */
#include "wire/model/request.h"

#include <assert.h>
#include <stdio.h>

#include "base/ascii.h"

enum { THINK_TOKENS_MIN = 1024 }; /* fewer are refused by some */

/* ---- History ------------------------------------------------------------- */

const struct msg **wire_messages(const struct turn *t, const struct msg *after,
                                 struct arena *a, size_t *count)
{
    const struct msg **list;
    size_t n = 0;

    for (const struct msg *m = t->history; m != after; m = m->prev)
        n++;
    list = arena_alloc(a, (n + 1) * sizeof *list);
    *count = list ? n : 0;
    for (const struct msg *m = t->history; list && m != after; m = m->prev)
        list[--n] = m;
    return list;
}

const struct call **wire_calls(const struct msg *m, struct arena *a,
                               size_t *count)
{
    const struct call **list;
    size_t n = 0;

    for (const struct call *c = m->calls; c; c = c->prev)
        n++;
    list = arena_alloc(a, (n + 1) * sizeof *list);
    *count = list ? n : 0;
    for (const struct call *c = m->calls; list && c; c = c->prev)
        list[--n] = c;
    return list;
}

bool wire_is_own(const struct turn *t, const struct msg *m)
{
    return !m->model.ptr || str_eq(m->model, t->model);
}

static wend_str new_id(const struct msg *m, uint32_t call, char *room)
{
    uint32_t number = (uint32_t)m->index * CALLS_MAX + call;

    snprintf(room, WIRE_ID + 1, "c%08x", number);
    return (wend_str){room, WIRE_ID};
}

wend_str wire_call_id(const struct turn *t, const struct msg *m,
                      const struct call *c, char room[WIRE_ID + 1])
{
    return wire_is_own(t, m) ? c->id : new_id(m, c->index, room);
}

wend_str wire_result_id(const struct turn *t, const struct msg *result,
                        char room[WIRE_ID + 1])
{
    const struct msg *m = result->prev;

    while (m && m->role == ROLE_TOOL)
        m = m->prev;
    if (!m || wire_is_own(t, m))
        return result->call;
    for (const struct call *c = m->calls; c; c = c->prev)
        if (str_eq(c->id, result->call))
            return new_id(m, c->index, room);
    return result->call;
}

int64_t wire_think_tokens(enum effort effort, int64_t max_tokens)
{
    static const int64_t tokens[EFFORTS] = {
        [EFFORT_LOW] = THINK_TOKENS_MIN,
        [EFFORT_MEDIUM] = 8192,
        [EFFORT_HIGH] = 16384,
    };
    int64_t half = max_tokens / 2;

    if (!max_tokens || tokens[effort] <= half)
        return tokens[effort];
    if (half >= THINK_TOKENS_MIN)
        return half;
    return max_tokens > THINK_TOKENS_MIN ? THINK_TOKENS_MIN : 0;
}

/* ---- The walk ------------------------------------------------------------ */

static void put_messages(struct request_writer *w)
{
    for (; w->at < w->count; w->at++) {
        const struct msg *m = w->list[w->at];

        switch (m->role) {
        case ROLE_USER:
        case ROLE_SYSTEM: w->form->said(w, m); break;
        case ROLE_ASSISTANT: w->form->assistant(w, m); break;
        case ROLE_TOOL: w->form->result(w, m); break;
        }
    }
}

void codec_request(const struct codec *c, const struct wire_ask *q,
                   struct buf *out)
{
    const struct request_form *form = c->request;
    bool effort = !(q->without & UINT32_C(1) << ASKED_EFFORT);
    struct request_writer w = {.codec = c,
                               .effort = effort ? q->turn->config->effort : 0,
                               .q = q,
                               .turn = q->turn,
                               .config = q->turn->config,
                               .form = form,
                               .out = out,
                               .arena = {.mem = out->mem}};
    const struct msg *after = form->extends ? q->after : NULL;

    w.own = arena_alloc(&w.arena, form->own_size ? form->own_size : 1);
    w.list = wire_messages(q->turn, after, &w.arena, &w.count);
    if (q->schema.len)
        w.schema = json_parse(q->schema, &w.arena, NULL);
    if (!w.own)
        goto done;
    if (!after)
        form->head(&w);
    put_messages(&w);
    if (form->extends && q->messages_end)
        *q->messages_end = out->len;
    form->tail(&w);
done:
    out->failed |= w.arena.failed;
    arena_free(&w.arena);
}

void request_put_tools(struct request_writer *w, const char *key)
{
    const struct config *c = w->config;
    bool reads = turn_reads(w->turn);

    if (!c->tools_count)
        return;
    json_open(w->out, key, '[');
    for (size_t i = 0; i < c->tools_count; i++) {
        w->last_tool = !reads && i + 1 == c->tools_count;
        w->form->tool(w, &c->tools[i]);
    }
    w->last_tool = true;
    if (reads)
        w->form->tool(w, c->reader);
    json_close(w->out, ']');
}

void request_put_calls(struct request_writer *w, const struct msg *m)
{
    size_t count;
    const struct call **calls;

    assert(w->form->call);
    if (!m->calls)
        return;
    calls = wire_calls(m, &w->arena, &count);
    json_open(w->out, "tool_calls", '[');
    for (size_t i = 0; i < count; i++)
        w->form->call(w, m, calls[i]);
    json_close(w->out, ']');
}

/* ---- Members that several APIs have -------------------------------------- */

void request_put_name(struct buf *b, wend_str name)
{
    json_key(b, "name");
    name_put(b, name);
}

void request_put_tool(struct buf *b, const struct tool *t, const char *key,
                      const char *any)
{
    request_put_name(b, t->name);
    if (t->description.len)
        request_str(b, "description", t->description);
    json_add_raw(b, key, tool_schema(t).len ? tool_schema(t) : str_of(any));
}

/* Text that is not JSON is a JSON string already: the model gets back
 * exactly what it wrote. */
void request_put_args(struct buf *b, const struct call *c)
{
    json_key(b, "arguments");
    if (c->invalid)
        buf_str(b, c->args);
    else
        json_put_str(b, c->args);
}

void request_open(struct buf *b, enum role role)
{
    static const char *const heads[] = {
        [ROLE_USER] = "{\"role\":\"user\"",
        [ROLE_ASSISTANT] = "{\"role\":\"assistant\"",
        [ROLE_TOOL] = "{\"role\":\"tool\"",
        [ROLE_SYSTEM] = "{\"role\":\"system\"",
    };

    json_key(b, NULL);
    buf_cstr(b, heads[role]);
}

void request_put_said(struct buf *b, enum role role, wend_str text)
{
    request_open(b, role);
    request_str(b, "content", text);
    json_close(b, '}');
}

void request_said(struct request_writer *w, const struct msg *m)
{
    request_open(w->out, m->role);
    request_result_text(w, "content", m);
    json_close(w->out, '}');
}

void request_head(struct request_writer *w)
{
    buf_char(w->out, '{');
    request_str(w->out, "model", w->q->model);
    json_open(w->out, "messages", '[');
    if (w->turn->frame->system.len)
        request_put_said(w->out, ROLE_SYSTEM, w->turn->frame->system);
}

void request_tail(struct request_writer *w)
{
    buf_cstr(w->out, "]}");
}

/* ---- Names of tools ------------------------------------------------------ */

/* Bytes at the start that every provider takes. */
static size_t plain_len(wend_str s)
{
    size_t n = 0;

    while (n < s.len && (is_letter(s.ptr[n]) || is_digit(s.ptr[n]) ||
                         s.ptr[n] == '_' || s.ptr[n] == '-'))
        n++;
    return n;
}

static void put(struct buf *b, wend_str s, const char *dot)
{
    size_t n = plain_len(s);

    buf_cstr(b, s.len ? "\"" : "\"_");
    while (n < s.len) {
        buf_add(b, s.ptr, n);
        buf_cstr(b, s.ptr[n] == '.' ? dot : "_");
        s = str_skip(s, n + 1);
        n = plain_len(s);
    }
    buf_add(b, s.ptr, n);
    buf_char(b, '"');
}

bool name_is_plain(wend_str name)
{
    return name.len && plain_len(name) == name.len;
}

void name_put(struct buf *b, wend_str name)
{
    put(b, name, "__");
}

void name_put_id(struct buf *b, wend_str id)
{
    put(b, id, "_");
}

/* Whether `said` is the name with its dots replaced. */
static bool is_meant(wend_str name, wend_str said)
{
    size_t at = 0;

    for (size_t i = 0; i < name.len; i++) {
        const char *as = name.ptr[i] == '.' ? "__" : &name.ptr[i];
        size_t len = name.ptr[i] == '.' ? 2 : 1;

        if (said.len - at < len || memcmp(said.ptr + at, as, len))
            return false;
        at += len;
    }
    return at == said.len;
}

wend_str name_meant(const struct config *c, wend_str said)
{
    if (config_tool(c, said))
        return said;
    for (size_t i = 0; i < c->tools_count; i++)
        if (is_meant(c->tools[i].name, said))
            return c->tools[i].name;
    return said;
}

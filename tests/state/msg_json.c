/*
 * msg_json.c - the messages of a run's state as JSON, and back.
 */
#include "core/event/event.h"
#include "state/state.h"

/* ---- Writing ------------------------------------------------------------- */

/* First call first: the list is walked from its far end by index. */
void calls_write(struct buf *b, const struct call *last)
{
    uint32_t count = last ? last->index + 1 : 0;

    buf_char(b, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct call *c = last;

        while (c->index != i)
            c = c->prev;
        buf_fmt(b, "%s{\"invalid\":%s", i ? "," : "",
                c->invalid ? "true" : "false");
        json_add_nullable(b, "id", c->id);
        json_add_nullable(b, "name", c->name);
        json_add_nullable(b, "args", c->args);
        buf_char(b, '}');
    }
    buf_char(b, ']');
}

static void put_msg(struct buf *b, const struct msg *m)
{
    buf_fmt(b, "{\"role\":\"%s\",\"failed\":%s", role_names[m->role],
            m->failed ? "true" : "false");
    json_add_bool(b, "pinned", m->pinned);
    json_add_bool(b, "summary", m->summary);
    json_add_bool(b, "own", m->own);
    json_add_bool(b, "client", m->client);
    json_add_i64(b, "turn", m->turn);
    json_add_nullable(b, "whole", m->whole);
    json_add_nullable(b, "text", m->text);
    json_add_nullable(b, "thinking", m->thinking);
    json_add_nullable(b, "opaque", m->opaque);
    json_add_nullable(b, "model", m->model);
    json_add_nullable(b, "call", m->call);
    json_add_nullable(b, "name", m->name);
    if (m->parts_count) {
        json_open(b, "parts", '[');
        for (size_t i = 0; i < m->parts_count; i++)
            part_write(b, &m->parts[i]);
        json_close(b, ']');
    }
    buf_cstr(b, ",\"calls\":");
    calls_write(b, m->calls);
    buf_char(b, '}');
}

void msgs_write(struct buf *b, const struct msg *newest)
{
    size_t count = 0;
    const struct msg **list;

    for (const struct msg *m = newest; m; m = m->prev)
        count++;
    list = mem_alloc(b->mem, count * sizeof *list);
    if (!list) {
        b->failed = true;
        return;
    }
    for (const struct msg *m = newest; m; m = m->prev)
        list[--count] = m;
    buf_char(b, '[');
    for (const struct msg *m = newest; m; m = m->prev, count++) {
        if (count)
            buf_char(b, ',');
        put_msg(b, list[count]);
    }
    buf_char(b, ']');
    mem_free(b->mem, list);
}

/* ---- Reading ------------------------------------------------------------- */

wend_str state_str(const struct json *j, const char *name, struct arena *a)
{
    return arena_str(a, json_str(json_get(j, name)));
}

bool state_bool(const struct json *j, const char *name)
{
    const struct json *value = json_get(j, name);

    return value && value->kind == JSON_TRUE;
}

const struct call *calls_read(const struct json *list, struct arena *a)
{
    struct call *last = NULL;
    uint32_t index = 0;

    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        struct call *c = arena_alloc(a, sizeof *c);

        if (!c || index == CALLS_MAX)
            return last;
        c->prev = last;
        c->index = index++;
        c->id = state_str(j, "id", a);
        c->name = state_str(j, "name", a);
        c->args = state_str(j, "args", a);
        c->invalid = state_bool(j, "invalid");
        last = c;
    }
    return last;
}

struct msg *msg_read(const struct json *j, struct arena *a)
{
    int role = str_index(json_str(json_get(j, "role")), role_names, 4);
    struct msg *m = arena_alloc(a, sizeof *m);

    if (!m || role < 0)
        return NULL;
    m->role = (enum role)role;
    m->text = state_str(j, "text", a);
    m->thinking = state_str(j, "thinking", a);
    m->opaque = state_str(j, "opaque", a);
    m->model = state_str(j, "model", a);
    m->call = state_str(j, "call", a);
    m->name = state_str(j, "name", a);
    m->failed = state_bool(j, "failed");
    m->pinned = state_bool(j, "pinned");
    m->summary = state_bool(j, "summary");
    m->own = state_bool(j, "own");
    m->client = state_bool(j, "client");
    json_i64(json_get(j, "turn"), &m->turn);
    m->whole = state_str(j, "whole", a);
    m->parts = parts_of(j, a, &m->parts_count);
    m->calls = calls_read(json_get(j, "calls"), a);
    return m;
}

/* Messages that are no conversation. */
bool msgs_read(const struct json *list, struct arena *a, const struct msg **out)
{
    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        struct msg *m = msg_read(j, a);

        if (!m)
            return false;
        m->prev = *out;
        *out = m;
    }
    return true;
}

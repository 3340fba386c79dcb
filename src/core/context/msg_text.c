/*
 * msg_text.c - a conversation as JSON, one message a member, oldest first: as
 * run_start.messages has it.
 */
#include "core/context/context.h"
#include "base/limits.h"
#include "core/event/event.h"

const char *const role_names[ROLES] = {
    [ROLE_USER] = "user",
    [ROLE_ASSISTANT] = "assistant",
    [ROLE_TOOL] = "tool",
    [ROLE_SYSTEM] = "system",
};

const struct msg **msg_list(const struct msg *newest, struct arena *a,
                            size_t *count)
{
    const struct msg **list;
    size_t at = 0;

    for (const struct msg *m = newest; m; m = m->prev)
        at++;
    *count = at;
    list = at ? arena_alloc(a, at * sizeof *list) : NULL;
    for (const struct msg *m = list ? newest : NULL; m; m = m->prev)
        list[--at] = m;
    return list;
}

static void put_calls(struct buf *b, const struct call *newest)
{
    const struct call *list[CALLS_MAX];
    size_t count = 0;

    for (const struct call *c = newest; c && count < CALLS_MAX; c = c->prev)
        list[count++] = c;
    if (!count)
        return;
    json_open(b, "calls", '[');
    while (count--) {
        json_open(b, NULL, '{');
        json_add_str(b, "id", list[count]->id);
        json_add_str(b, "name", list[count]->name);
        json_add_raw(b, "args", list[count]->args);
        json_close(b, '}');
    }
    json_close(b, ']');
}

static void put_msg(struct buf *b, const struct msg *m, enum messages_form form)
{
    wend_str text = form == MESSAGES_WHOLE ? result_whole(m) : m->text;

    json_open(b, NULL, '{');
    json_add_str(b, "role", str_of(role_names[m->role]));
    if (m->role == ROLE_TOOL) {
        json_add_str(b, "call", m->call);
        json_add_str(b, "name", m->name);
    }
    json_add_str(b, "text", text);
    if (m->pinned)
        json_add_bool(b, "pinned", true);
    if (m->summary)
        json_add_bool(b, "summary", true);
    if (m->own)
        json_add_str(b, "by", STR(MESSAGE_BY_WEND));
    json_add_str(b, "thinking", m->thinking);
    if (m->opaque.len && !str_is(m->opaque, "[]"))
        json_add_raw(b, "opaque", m->opaque);
    json_add_str(b, "model", m->model);
    put_calls(b, m->calls);
    if (m->parts_count) {
        json_open(b, "parts", '[');
        for (size_t i = 0; i < m->parts_count; i++)
            part_write(b, &m->parts[i]);
        json_close(b, ']');
    }
    if (m->failed)
        json_add_bool(b, "failed", true);
    json_close(b, '}');
}

/* Marks with NULL what is left out so that at most `most` remain. They begin
 * with a message of the user; if the newest of these is older than that, it
 * stays, and what follows it begins where no call is open. */
static void cut(const struct msg **list, size_t count, size_t most)
{
    size_t from = count - most, user = from;

    while (user < count && list[user]->role != ROLE_USER)
        user++;
    if (user < count) {
        memset(list, 0, user * sizeof *list);
        return;
    }
    user = from;
    while (user > 0 && list[user - 1]->role != ROLE_USER)
        user--;
    if (!user) { /* there is none at all */
        memset(list, 0, count * sizeof *list);
        return;
    }
    from++; /* it counts, too */
    while (from < count && list[from]->role == ROLE_TOOL)
        from++;
    memset(list, 0, (user - 1) * sizeof *list);
    memset(list + user, 0, (from - user) * sizeof *list);
}

int64_t messages_most(const struct msg *newest, int64_t most)
{
    int64_t least = 2; /* the calls, and a message of the user */

    for (; newest && newest->role == ROLE_TOOL; newest = newest->prev)
        least++;
    return most && most < least ? least : most;
}

wend_str messages_text(const struct msg *newest, int64_t most,
                       enum messages_form form, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    size_t count;
    const struct msg **list = msg_list(newest, a, &count);

    if (!list)
        return STR_NONE;
    if (most > 0 && (uint64_t)most < count)
        cut(list, count, (size_t)most);
    json_open(&b, NULL, '[');
    for (size_t at = 0; at < count; at++)
        if (list[at])
            put_msg(&b, list[at], form);
    json_close(&b, ']');
    if (b.len == 2 && !b.failed) {
        buf_free(&b);
        return STR_NONE;
    }
    return buf_keep(&b, a);
}

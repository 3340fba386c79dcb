/*
 * frame_parts.c - the parts of a request besides the conversation, and which of
 * them give way when the window is too small for all.
 */
#include "core/config/frame_parts.h"

#include "base/json.h"

const struct frame_part_rule frame_part_rules[PART_KINDS] = {
    [PART_INSTRUCTIONS] = {"instructions", PRIORITY_CRITICAL, FIT_WHOLE},
    [PART_TOOLS] = {"tools", PRIORITY_MEDIUM, FIT_CUT},
    [PART_SCHEMA] = {"schema", PRIORITY_CRITICAL, FIT_WHOLE},
    [PART_NOTES] = {"notes", PRIORITY_LOW, FIT_CUT},
    [PART_ENVIRONMENT] = {"environment", PRIORITY_OPTIONAL, FIT_DROP},
    [PART_READER] = {"tool", PRIORITY_MEDIUM, FIT_WHOLE},
    [PART_HISTORY] = {"history", PRIORITY_CRITICAL, FIT_WHOLE},
};

static int64_t share(const struct frame_part *p, int64_t left)
{
    if (p->tokens <= left || p->fit == FIT_WHOLE)
        return p->tokens;
    return p->fit == FIT_CUT && left > 0 && left >= p->least ? left : 0;
}

static enum frame_part_priority next_below(const struct frame_part *list,
                                           size_t count, int below)
{
    int next = 0;

    for (size_t i = 0; i < count; i++)
        if ((int)list[i].priority < below && (int)list[i].priority > next)
            next = (int)list[i].priority;
    return (enum frame_part_priority)next;
}

void frame_parts_fit(struct frame_part *list, size_t count, int64_t budget)
{
    int now = PRIORITY_CRITICAL + 1;

    while ((now = (int)next_below(list, count, now)))
        for (size_t i = 0; i < count; i++) {
            struct frame_part *p = &list[i];

            if ((int)p->priority != now)
                continue;
            p->given = share(p, budget);
            budget = p->given < p->tokens ? 0 : budget - p->given;
        }
}

void frame_parts_put(struct buf *b, enum frame_part_kind kind, wend_str of,
                     int64_t tokens, int64_t cut)
{
    struct buf name = {.mem = b->mem};

    json_open(b, NULL, '{');
    if (of.len) {
        buf_cstr(&name, frame_part_rules[kind].name);
        buf_char(&name, ' ');
        buf_str(&name, of);
        json_add_str(b, "name", buf_view(&name));
    } else {
        json_add_str(b, "name", str_of(frame_part_rules[kind].name));
    }
    json_add_i64(b, "priority", frame_part_rules[kind].priority);
    json_add_i64(b, "tokens", tokens);
    json_add_bool(b, "truncated", cut > 0);
    if (cut > 0)
        json_add_i64(b, "cut", cut);
    json_close(b, '}');
    b->failed |= name.failed;
    buf_free(&name);
}

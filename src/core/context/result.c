/*
 * result.c - read_result: pages of results of which the conversation has only
 * a part.
 */
#include "core/context/context.h"

#include <stdio.h>

#include "base/utf8.h"

enum {
    PAGE_BYTES = 8 << 10,  /* some 2,000 tokens */
    PAGE_BYTES_LEAST = 64, /* however small the window is: reading ends */
};

wend_str result_whole(const struct msg *m)
{
    return m->whole.ptr ? m->whole : m->text;
}

bool result_goes(const struct msg *m, const struct compaction *c)
{
    return m->role == ROLE_TOOL && m->index < c->from; /* none is kept */
}

/* `call` is TURN/ID as the note in the result has it, or the id alone. */
static bool is_meant(const struct msg *m, wend_str call)
{
    char turn[32];
    int len = snprintf(turn, sizeof turn, "%lld/", (long long)m->turn);

    return str_eq(m->call, call) ||
           (str_starts(call, turn) &&
            str_eq(m->call, str_skip(call, (size_t)len)));
}

/* The newest one: names of calls repeat, and a turn is part of a whole name. */
static const struct msg *find(const struct msg *list, wend_str call, bool cut)
{
    while (list && (list->role != ROLE_TOOL || (cut && !list->whole.ptr) ||
                    !is_meant(list, call)))
        list = list->prev;
    return list;
}

static size_t page_bytes(wend_str rest, int64_t most)
{
    size_t bytes = PAGE_BYTES;

    while (bytes > PAGE_BYTES_LEAST &&
           text_millitokens((wend_str){rest.ptr, utf8_cut(rest, bytes)}) /
                   1000 >
               most)
        bytes /= 2;
    return utf8_cut(rest, bytes);
}

static wend_str page(wend_str all, int64_t offset, int64_t most,
                     struct arena *a)
{
    struct buf b = {.mem = a->mem};
    size_t from = (size_t)offset, len;
    wend_str rest;

    while (from < all.len && ((unsigned char)all.ptr[from] & 0xc0) == 0x80)
        from++;
    rest = str_skip(all, from);
    len = page_bytes(rest, most);
    buf_add(&b, rest.ptr, len);
    buf_fmt(&b, "\n[bytes %zu to %zu of %zu", from, from + len, all.len);
    if (from + len < all.len)
        buf_fmt(&b, "; the next offset is %zu", from + len);
    buf_cstr(&b, "]");
    return buf_keep(&b, a);
}

bool result_read(const struct msg *history, const struct msg *gone,
                 wend_str args, int64_t most, struct arena *a, wend_str *out)
{
    const struct json *j = json_parse(args, a, NULL);
    wend_str call = json_str(json_get(j, "call"));
    int64_t offset = 0;
    const struct msg *m;

    *out = STR("read_result needs \"call\", the name in the note of a result "
               "that was cut");
    if (!call.len)
        return false;
    *out = STR("read_result: \"offset\" must be a number from 0");
    if (json_get(j, "offset") &&
        (!json_i64(json_get(j, "offset"), &offset) || offset < 0))
        return false;
    m = find(history, call, true);
    if (!m)
        m = find(gone, call, false);
    *out = STR("read_result: no result with that name has been cut or left "
               "out in this run: make the call again");
    if (!m)
        return false;
    *out = STR("read_result: the offset is beyond the end of the result");
    if ((uint64_t)offset >= result_whole(m).len)
        return false;
    *out = page(result_whole(m), offset, most, a);
    return true;
}

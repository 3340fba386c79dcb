/*
 * result.c - read_result: pages of results of which the conversation has only
 * a part.
 */
#include "core/context/context.h"

#include <stdio.h>

#include "base/utf8.h"

enum { PAGE_BYTES = 8 << 10 }; /* some 2,000 tokens */

/* `call` is TURN/ID as the note in the result has it, or the id alone. */
static bool is_meant(const struct msg *m, wend_str call)
{
    char turn[32];
    int len = snprintf(turn, sizeof turn, "%lld/", (long long)m->turn);

    if (m->role != ROLE_TOOL || !m->whole.ptr)
        return false;
    return str_eq(m->call, call) ||
           (str_starts(call, turn) &&
            str_eq(m->call, str_skip(call, (size_t)len)));
}

static wend_str page(wend_str all, int64_t offset, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    size_t from = (size_t)offset, len;
    wend_str rest;

    while (from < all.len && ((unsigned char)all.ptr[from] & 0xc0) == 0x80)
        from++;
    rest = str_skip(all, from);
    len = utf8_cut(rest, PAGE_BYTES);
    buf_add(&b, rest.ptr, len);
    buf_fmt(&b, "\n[bytes %zu to %zu of %zu", from, from + len, all.len);
    if (from + len < all.len)
        buf_fmt(&b, "; the next offset is %zu", from + len);
    buf_cstr(&b, "]");
    return buf_keep(&b, a);
}

bool result_read(const struct msg *history, wend_str args, struct arena *a,
                 wend_str *out)
{
    const struct json *j = json_parse(args, a, NULL);
    wend_str call = json_str(json_get(j, "call"));
    int64_t offset = 0;
    const struct msg *m = history;

    *out = STR("read_result needs \"call\", the name in the note of a result "
               "that was cut");
    if (!call.len)
        return false;
    *out = STR("read_result: \"offset\" must be a number from 0");
    if (json_get(j, "offset") &&
        (!json_i64(json_get(j, "offset"), &offset) || offset < 0))
        return false;
    while (m && !is_meant(m, call))
        m = m->prev;
    *out = STR("read_result: no result with that name has been cut, or a "
               "summary has replaced it: make the call again");
    if (!m)
        return false;
    *out = STR("read_result: the offset is beyond the end of the result");
    if ((uint64_t)offset >= m->whole.len)
        return false;
    *out = page(m->whole, offset, a);
    return true;
}

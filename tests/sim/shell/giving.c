/*
 * giving.c - what is read from the store, and bugs on purpose in it.
 */
#include "giving.h"

/* context_end comes as an unknown event. */
static bool bend_end(struct giving *r, const struct store_item *item)
{
    struct store_item other = *item;
    struct buf b = {.mem = &libc_mem};
    char *at = memmem(item->body.ptr, item->body.len, "\"context_end\"", 13);
    bool more;

    if (!at)
        return r->fn(r->ctx, item);
    buf_str(&b, item->body);
    memcpy(b.ptr + (at - item->body.ptr), "\"context_and\"", 13);
    other.body = buf_view(&b);
    more = r->fn(r->ctx, &other);
    buf_free(&b);
    return more;
}

/* A microsecond of its time. */
static bool flip(struct giving *r, const struct store_item *item)
{
    struct store_item other = *item;
    struct buf b = {.mem = &libc_mem};
    char *at = memmem(item->body.ptr, item->body.len, "\"time\":", 7);
    bool more;

    if (!at)
        return r->fn(r->ctx, item);
    buf_str(&b, item->body);
    at = b.ptr + (at - item->body.ptr) + 7 + 16;
    *at = *at == '0' ? '1' : '0';
    other.body = buf_view(&b);
    more = r->fn(r->ctx, &other);
    buf_free(&b);
    return more;
}

bool give_item(void *ctx, const struct store_item *item)
{
    struct giving *r = ctx;

    if (r->bug && r->bug->read_flips && !item->is_pack && item->seq == 4)
        return flip(r, item);

    if (r->bug && r->bug->read_loses_ends && !item->is_pack &&
        memmem(item->body.ptr, item->body.len, "\"call_end\"", 10))
        return true;
    if (r->bug && r->bug->read_loses_actions && !item->is_pack &&
        memmem(item->body.ptr, item->body.len, "\"action_end\"", 12))
        return true;
    if (r->bug && r->bug->read_bends && !item->is_pack)
        return bend_end(r, item);
    return r->fn(r->ctx, item);
}

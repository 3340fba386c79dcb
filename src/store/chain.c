/*
 * chain.c - the hash chain over a run's log.
 *
 * Bodies and packs are JSON objects and arrays, which end where they end:
 * no length goes between them.
 */
#include "store/store.h"

static struct sha256 *open_link(struct chain *c)
{
    if (!c->packs_any) {
        sha256_init(&c->packs);
        sha256_add(&c->packs, c->head, sizeof c->head);
        c->packs_any = true;
    }
    return &c->packs;
}

void chain_pack(struct chain *c, wend_str body)
{
    sha256_add(open_link(c), body.ptr, body.len);
}

void chain_event(struct chain *c, wend_str body)
{
    struct sha256 *link = open_link(c);

    sha256_add(link, body.ptr, body.len);
    sha256_end(link, c->head);
    c->packs_any = false;
}

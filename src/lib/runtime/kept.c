/*
 * kept.c - a counted reference to a context of the host.
 */
#include "lib/runtime/kept.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fail.h"

struct kept {
    wend_release_fn release;
    void *ctx;
    atomic_int refs;
};

wend_status kept_new(wend_release_fn release, void *ctx, struct kept **out,
                     wend_error *err)
{
    struct kept *k = release ? calloc(1, sizeof *k) : NULL;

    *out = k;
    if (!release)
        return WEND_OK;
    if (!k) {
        release(ctx);
        return fail_nomem(err);
    }
    k->release = release;
    k->ctx = ctx;
    atomic_init(&k->refs, 1);
    return WEND_OK;
}

struct kept *kept_ref(struct kept *k)
{
    if (k)
        atomic_fetch_add(&k->refs, 1);
    return k;
}

void kept_unref(struct kept *k)
{
    if (!k || atomic_fetch_sub(&k->refs, 1) != 1)
        return;
    assert(k->release);
    k->release(k->ctx);
    free(k);
}

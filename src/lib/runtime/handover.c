/*
 * handover.c - handles that are freed by another thread, or in a callback.
 *
 * A host with a garbage collector frees handles in any order and from the
 * thread that its collector runs on. A handle that belongs to a loop is handed
 * over by mail and freed between two passes. A runtime is freed by the caller,
 * unless a call is inside: then by that call, when it ends.
 *
 *     IDLE --begin--> INSIDE --end---> IDLE
 *     IDLE --free---> GONE
 *                     INSIDE --free--> DOOMED --end--> GONE
 */
#include <assert.h>
#include <stdlib.h>

#include "base/fail.h"
#include "lib/run/run.h"

enum use { USE_IDLE, USE_INSIDE, USE_DOOMED, USE_GONE };

/* ---- Runs and agents ----------------------------------------------------- */

/* Whether this thread may free what belongs to the mailbox's runtime: it is the
 * runtime's thread, no call is inside, and no other thread frees the runtime.
 * Then rt_end follows. */
static bool go_inside(struct mailbox *b)
{
    int idle = USE_IDLE;

    return pthread_equal(b->owner, pthread_self()) &&
           atomic_compare_exchange_strong(&b->use, &idle, USE_INSIDE);
}

/* Whether the caller frees the handle now. Else its runtime does, or it was
 * freed before. */
static bool frees_now(struct mailbox *b, atomic_bool *freed, struct post *post,
                      enum post_kind kind, bool *inside)
{
    if (atomic_exchange(freed, true))
        return false;
    post->kind = kind;
    *inside = go_inside(b);
    return *inside || !mailbox_post(b, post); /* its runtime is gone */
}

void wend_run_free(wend_run *r)
{
    wend_runtime *rt;
    bool inside;

    if (!r || r->magic != RUN_MAGIC || r->child ||
        forked_check(r->process, NULL) != WEND_OK)
        return; /* a child is its parent's */
    if (!frees_now(r->mailbox, &r->freed, &r->free_post, POST_FREE_RUN,
                   &inside))
        return;
    rt = inside ? r->rt : NULL;
    run_drop(r);
    if (rt)
        rt_end(rt);
}

void wend_agent_free(wend_agent *a)
{
    wend_runtime *rt;
    bool inside;

    if (!a || forked_check(a->process, NULL) != WEND_OK)
        return;
    if (!frees_now(a->mailbox, &a->freed, &a->free_post, POST_FREE_AGENT,
                   &inside))
        return;
    rt = inside ? a->rt : NULL;
    agent_drop(a);
    if (rt)
        rt_end(rt);
}

void rt_bury(wend_runtime *rt, const struct wend_run *but)
{
    struct post **link = &rt->doomed, *p;

    while ((p = *link)) {
        struct wend_run *r = container_of(p, struct wend_run, free_post);

        if (p->kind == POST_FREE_RUN && r == but) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        if (p->kind == POST_FREE_RUN)
            run_drop(r);
        else
            agent_drop(container_of(p, struct wend_agent, free_post));
    }
}

bool run_is_doomed(const struct wend_run *r)
{
    const struct post *p = r->rt->doomed;

    while (p && p != &r->free_post)
        p = p->next;
    return p || atomic_load(&r->mailbox->use) == USE_DOOMED;
}

/* ---- The runtime --------------------------------------------------------- */

wend_status rt_begin(wend_runtime *rt)
{
    wend_status s = rt_enter(rt);

    return s != WEND_OK || go_inside(rt->mailbox) ? s : WEND_E_MISUSE;
}

bool rt_end(wend_runtime *rt)
{
    int inside = USE_INSIDE;

    rt_bury(rt, NULL);
    if (atomic_compare_exchange_strong(&rt->mailbox->use, &inside, USE_IDLE))
        return true;
    atomic_store(&rt->mailbox->use, USE_GONE);
    rt_destroy(rt);
    return false;
}

wend_status rt_end_of(wend_runtime *rt, bool inside, wend_status s,
                      wend_error *err)
{
    return inside && !rt_end(rt)
               ? fail(err, WEND_E_MISUSE, "the runtime was freed by a callback")
               : s;
}

void wend_runtime_free(wend_runtime *rt)
{
    struct mailbox *b;
    int use, next;

    if (!rt || rt->magic != RUNTIME_MAGIC ||
        forked_check(rt->process, NULL) != WEND_OK)
        return;
    b = rt->mailbox;
    mailbox_ref(b); /* the runtime may go as soon as it is doomed */
    use = atomic_load(&b->use);
    do
        next = use == USE_IDLE     ? USE_GONE
               : use == USE_INSIDE ? USE_DOOMED
                                   : use;
    while (!atomic_compare_exchange_strong(&b->use, &use, next));
    if (use == USE_IDLE)
        rt_destroy(rt);
    else if (use == USE_INSIDE)
        mailbox_wake(b); /* the call that is inside destroys it */
    mailbox_unref(b);
}

/* ---- Contexts of the host ------------------------------------------------ */

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

/*
 * prune.c - old runs out of the store.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "lib/run/run.h"
#include "store/table.h"

enum { PAGE = 1000 };

struct prune {
    wend_store *store;
    int64_t before_us;
    struct name_set parents; /* of runs that stay */
    struct buf ids;          /* of those that go, RUN_ID_LEN + 1 bytes each */
    wend_pruned done;
};

static bool keep_parent(struct prune *p, wend_str id)
{
    return id.len != RUN_ID_LEN || name_set_put(&p->parents, id);
}

/* Newest first: whether a run has children that stay is known by now. */
static bool judge(struct prune *p, const wend_run_info *info)
{
    bool old = info->ended_us && info->ended_us < p->before_us;
    bool shared = old && name_set_get(&p->parents, info->run);

    p->done.kept += shared;
    if (!old || shared)
        return keep_parent(p, info->parent);
    p->done.runs++;
    buf_str(&p->ids, info->run);
    buf_add(&p->ids, "", 1);
    return !p->ids.failed;
}

static wend_status choose(struct prune *p, wend_error *err)
{
    wend_list_options o = {.size = sizeof o, .limit = PAGE};
    char after[RUN_ID_LEN + 1];
    size_t count = PAGE;
    wend_status s = WEND_OK;

    while (s == WEND_OK && count == PAGE) {
        struct arena page = {.mem = &p->store->mem};
        wend_run_info *rows = NULL;

        s = p->store->ops->list(p->store, &o, &page, &rows, &count, err);
        for (size_t i = 0; s == WEND_OK && i < count; i++)
            if (!judge(p, &rows[i]))
                s = fail_nomem(err);
        if (s == WEND_OK && count) {
            wend_str last = rows[count - 1].run;

            memcpy(after, last.ptr, RUN_ID_LEN);
            after[RUN_ID_LEN] = 0;
            o.after = after;
        }
        arena_free(&page);
    }
    return s;
}

/* Newest first, so that a child is gone before its parent. A run that
 * another process has forked or pruned meanwhile is left alone. */
static wend_status forget(struct prune *p, wend_error *err)
{
    int64_t chosen = p->done.runs;
    wend_status s = p->store->ops->forget(p->store, p->ids.ptr, (size_t)chosen,
                                          &p->done.runs, err);

    p->done.kept += chosen - p->done.runs;
    if (s == WEND_OK)
        s = p->store->ops->tidy(p->store, env_real.wall_us(NULL),
                                &p->done.bytes, err);
    return s;
}

wend_status wend_store_prune(wend_store *store,
                             const wend_prune_options *options,
                             wend_pruned *out, wend_error *err)
{
    wend_prune_options o;
    struct prune p = {.store = store, .parents.size = sizeof(struct node)};
    size_t size;
    wend_status s;

    if (!store || !options ||
        !OPTIONS_TAKE(&o, wend_prune_options, dry_run, options))
        return fail(err, WEND_E_INVAL,
                    "prune: store or options are NULL, or an option is wrong");
    if (out && !options_size(out->size, OPTIONS_FIRST(wend_pruned, bytes)))
        return fail(err, WEND_E_INVAL, "prune: out's size is not set");
    s = store_enter(store, err);
    if (s != WEND_OK)
        return s;
    p.before_us = o.ended_before_us;
    p.parents.arena.mem = p.ids.mem = &store->mem;
    s = choose(&p, err);
    if (s == WEND_OK && !o.dry_run)
        s = forget(&p, err);
    if (out) {
        size = out->size < sizeof p.done ? out->size : sizeof p.done;
        p.done.size = out->size;
        memcpy(out, &p.done, size);
    }
    name_set_free(&p.parents);
    buf_free(&p.ids);
    return s;
}

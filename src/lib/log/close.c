/*
 * close.c - runs that no process will resume: ended by force, removed, pruned.
 *
 * Nothing of the log is read: it may be what is damaged.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "lib/run/run.h"
#include "store/table.h"

/* The two last events of a run, and what the list says about it then. */
struct closing {
    struct arena arena;
    struct batch batch;
    struct store_request *waiting;
    size_t waiting_count;
    wend_run_info *info;
    struct lease lease;
};

static bool put_events(struct closing *c, const char *id, const char *by,
                       int64_t seq)
{
    static const wend_ev_error error = {
        .code = {"closed", 6},
        .message = {"the run was closed by force", 27},
        .component = {"store", 5},
    };
    wend_event control = {.type = WEND_CONTROL, .run = str_of(id)};
    wend_event end = {.type = WEND_RUN_END, .run = str_of(id)};

    control.seq = seq + 1;
    end.seq = seq + 2;
    control.time_us = end.time_us = env_real.wall_us(NULL);
    control.u.control.what = STR("cancel");
    control.u.control.by = str_of(by);
    end.u.run_end.outcome = WEND_OUTCOME_CANCELED;
    end.u.run_end.text = STR("");
    end.u.run_end.error = &error;
    end.u.run_end.metrics.turns = c->info->turns;
    end.u.run_end.metrics.tokens_in = c->info->tokens_in;
    end.u.run_end.metrics.tokens_out = c->info->tokens_out;
    end.u.run_end.metrics.cost_nano = c->info->cost_nano;
    return batch_event(&c->batch, &control) && batch_event(&c->batch, &end);
}

bool close_wrote(const wend_event *ev)
{
    const wend_ev_error *e =
        ev->type == WEND_RUN_END ? ev->u.run_end.error : NULL;

    return e ? str_is(e->code, "closed")
             : ev->type == WEND_CONTROL && str_is(ev->u.control.what, "cancel");
}

/* Only a cancel is heard; other requests came too late. */
static bool hear(struct closing *c)
{
    if (!batch_heard_room(&c->batch, c->waiting_count))
        return false;
    for (size_t i = 0; i < c->waiting_count; i++)
        batch_heard(&c->batch, c->waiting[i].id,
                    !str_is(c->waiting[i].what, "cancel"));
    return batch_ready(&c->batch);
}

/* A run that cannot be closed is left without an owner, as it was. */
static wend_status write_end(wend_store *store, struct closing *c,
                             const char *id, int64_t epoch, wend_error *err)
{
    struct store_batch *b = &c->batch.sb,
                       left = {.run = str_of(id),
                               .epoch = epoch,
                               .summary = store_left(c->info)};
    wend_status s;

    b->run = left.run;
    b->epoch = epoch;
    b->summary = left.summary;
    b->summary.status = "canceled";
    b->summary.ended_us = c->batch.events[1].time_us;
    s = store_append_wait(store, b);
    if (s == WEND_OK)
        return s;
    store_append_wait(store, &left);
    return fail(err, s, "run %s could not be closed: %s", id,
                wend_status_name(s));
}

/* All that needs memory comes before the run is claimed. */
static wend_status claim(wend_store *store, struct closing *c, const char *id,
                         int64_t *epoch, wend_error *err)
{
    int64_t seq;
    wend_status s = lease_claim(&c->lease, store, c, str_of(id), c->info->seq,
                                epoch, &seq, err);

    return s == WEND_AGAIN
               ? fail(err, WEND_E_BUSY, "run %s has just been changed", id)
               : s;
}

wend_status wend_store_close(wend_store *store, const char *id, const char *by,
                             wend_error *err)
{
    struct closing c = {0};
    int64_t epoch;
    wend_status s = store_enter_run(store, id, err);

    if (s != WEND_OK)
        return s;
    c.arena.mem = &store->mem;
    batch_init(&c.batch, &store->mem);
    s = store_info(store, id, &c.arena, &c.info, err);
    if (s == WEND_OK && c.info->ended_us)
        s = fail(err, WEND_E_INVAL, "run %s is over", id);
    if (s == WEND_OK)
        s = store->ops->waiting(store, str_of(id), &c.arena, &c.waiting,
                                &c.waiting_count, err);
    if (s == WEND_OK)
        s = put_events(&c, id, by ? by : "api", c.info->seq) && hear(&c)
                ? claim(store, &c, id, &epoch, err)
                : fail_nomem(err);
    if (s == WEND_OK)
        s = write_end(store, &c, id, epoch, err);
    lease_end(&c.lease);
    arena_free(&c.arena);
    batch_end(&c.batch);
    return s;
}

wend_status wend_store_remove(wend_store *store, const char *id,
                              wend_error *err)
{
    wend_status s = wend_store_close(store, id, "remove", err);

    /* One that is over needs no end. */
    if (s == WEND_OK ||
        (s == WEND_E_INVAL && store_enter_run(store, id, NULL) == WEND_OK)) {
        fail_clear(err);
        s = store_forget_run(store, id, err);
    }
    return s;
}

/* ---- Old runs ------------------------------------------------------------ */

enum { PAGE = 1000 };

struct prune {
    wend_store *store;
    wend_prune_options o;
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
    bool old = info->ended_us && info->ended_us < p->o.ended_before_us;
    bool shared = old && name_set_get(&p->parents, info->run);

    p->done.kept += shared;
    if (!old || shared)
        return keep_parent(p, info->parent) && keep_parent(p, info->fork_of);
    p->done.runs++;
    if (p->o.dry_run && p->o.each)
        p->o.each(p->o.each_ctx, info);
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
    struct prune p = {.store = store, .parents.size = sizeof(struct node)};
    size_t size;
    wend_status s;

    if (!store || !options ||
        !OPTIONS_TAKE(&p.o, wend_prune_options, dry_run, options))
        return fail(err, WEND_E_INVAL,
                    "prune: store or options are NULL, or an option is wrong");
    if (out && !options_size(out->size, OPTIONS_FIRST(wend_pruned, bytes)))
        return fail(err, WEND_E_INVAL, "prune: out's size is not set");
    s = store_enter(store, err);
    if (s != WEND_OK)
        return s;
    p.parents.arena.mem = p.ids.mem = &store->mem;
    s = choose(&p, err);
    if (s == WEND_OK && !p.o.dry_run)
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

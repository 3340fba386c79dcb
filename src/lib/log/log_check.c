/*
 * log_check.c - a log read item by item: whether it is as it was written.
 */
#include "lib/log/log.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "store/pack.h"

bool log_check_bad(struct log_check *c, const char *fmt, ...)
{
    va_list args;

    c->status = WEND_E_CORRUPT;
    va_start(args, fmt);
    utf8_vfmt(c->why, sizeof c->why, fmt, args);
    va_end(args);
    return false;
}

static bool out_of_memory(struct log_check *c)
{
    log_check_bad(c, "out of memory");
    c->status = WEND_E_NOMEM;
    return false;
}

void log_check_free(struct log_check *c)
{
    arena_free(&c->arena);
}

/* ---- Blobs --------------------------------------------------------------- */

bool log_blob_fits(wend_str hash, wend_str text)
{
    char hex[SHA256_HEX + 1];

    sha256_hex(hex, text);
    return str_is(hash, hex);
}

wend_status log_text(void *ctx, wend_str hash, struct arena *a, wend_str *text)
{
    wend_store *store = ctx;
    struct buf b = {.mem = &store->mem};
    wend_status s = store->ops->blob(store, hash, &b, NULL);

    if (s == WEND_OK) {
        *text = arena_str(a, buf_view(&b));
        s = text->ptr ? WEND_OK : WEND_E_NOMEM;
    }
    buf_free(&b);
    return s;
}

wend_status log_blob(void *ctx, wend_str hash, struct arena *a, wend_str *text)
{
    wend_status s = log_text(ctx, hash, a, text);

    return s == WEND_OK && !log_blob_fits(hash, *text) ? WEND_E_CORRUPT : s;
}

/* ---- Items --------------------------------------------------------------- */

static bool count_delta(void *ctx, wend_event *delta)
{
    (void)delta;
    ++*(int64_t *)ctx;
    return true;
}

static bool check_pack(struct log_check *c, const struct store_item *item)
{
    int64_t count = 0;
    wend_status s;

    if (!c->seq || item->seq != c->seq || item->n != c->n + 1)
        return log_check_bad(c, "follows deltas that are missing, or at a "
                                "wrong place");
    if (c->over)
        return log_check_bad(c, "follows the end of the run: there are deltas "
                                "after it");
    s = pack_read(item->body, item->seq, item->n, &c->arena, count_delta,
                  &count, NULL);
    if (s == WEND_E_NOMEM)
        return out_of_memory(c);
    if (s != WEND_OK || count != item->count || !count)
        return log_check_bad(c, "follows deltas that cannot be read");
    chain_pack(&c->chain, item->body);
    c->n += count;
    return true;
}

wend_str log_cut_blob(const wend_event *ev)
{
    enum { MARK_BYTES = 160 }; /* it ends with the mark */
    wend_str rest = STR_NONE, hash = STR_NONE;

    if (ev->type == WEND_CALL_END && ev->u.call_end.truncated)
        rest = ev->u.call_end.output;
    if (rest.len > MARK_BYTES)
        rest = (wend_str){rest.ptr + rest.len - MARK_BYTES, MARK_BYTES};
    while (rest.ptr && store_blob_next(&rest, &hash))
        ;
    return hash;
}

/* The event belongs to the same run as the one before it, or is the first of a
 * fork from there. */
static bool check_run(struct log_check *c)
{
    const wend_ev_run_fork *f = &c->ev.u.run_fork;
    bool same = str_is(c->ev.run, c->owner);
    bool forks = c->ev.type == WEND_RUN_FORK;

    if (!run_id_valid(c->ev.run))
        return log_check_bad(c, "is of no run");
    if (c->seq && !same && (!forks || str_is(c->run, c->owner)))
        return log_check_bad(c, "is of another run");
    if (forks && (same || f->at != c->seq || !str_is(f->parent, c->owner)))
        return log_check_bad(c, "is a fork of something else than what is "
                                "before it");
    return true;
}

bool log_check_own(struct log_check *c)
{
    if (c->status != WEND_OK || !c->seq || str_is(c->run, c->owner))
        return c->status == WEND_OK;
    c->seq = 0;
    return log_check_bad(c, "is of another run, and no fork leads from there "
                            "to this one");
}

static wend_status check_parts(struct log_check *c)
{
    const wend_ev_part *p;
    wend_status s = WEND_OK;
    wend_str bytes;

    for (size_t i = 0; s == WEND_OK && (p = event_part(&c->ev, i)); i++) {
        s = c->blob(c->blob_ctx, str_or(p->hash, ""), &c->arena, &bytes);
        if (s == WEND_OK && (int64_t)bytes.len != p->bytes)
            s = WEND_E_CORRUPT;
    }
    return s;
}

/* What the hash says is right, this was also written by us. */
static bool check_event(struct log_check *c, const struct store_item *item)
{
    wend_error err = {0};
    wend_status s =
        event_read(item->body, &c->arena, c->blob, c->blob_ctx, &c->ev, &err);
    wend_str cut = s == WEND_OK ? log_cut_blob(&c->ev) : STR_NONE, all;

    if (cut.ptr)
        s = c->blob(c->blob_ctx, cut, &c->arena, &all);
    if (s == WEND_OK)
        s = check_parts(c);
    if (s == WEND_E_NOMEM || c->arena.failed)
        return out_of_memory(c);
    if (s != WEND_OK)
        return log_check_bad(c, "cannot be read: %s",
                             err.message[0] ? err.message
                                            : "a blob is missing or damaged");
    if (!check_run(c))
        return false;
    if (c->ev.seq != item->seq || c->ev.n)
        return log_check_bad(c, "has another number inside");
    if (c->ev.time_us < c->time_us)
        return log_check_bad(c, "is older than the one before it");
    if (c->over)
        return log_check_bad(c, "follows the end of the run");
    return true;
}

/* An event that does not fit what is before it. A fork whose first event is
 * gone shows its parent's event in that place: then that is the bad one. */
static bool misfit(struct log_check *c, const struct store_item *item)
{
    wend_status s =
        event_read(item->body, &c->arena, c->blob, c->blob_ctx, &c->ev, NULL);

    if (s == WEND_E_NOMEM || c->arena.failed)
        return out_of_memory(c);
    if (s != WEND_OK || !c->seq || c->ev.type == WEND_EVENT_NONE ||
        c->ev.type == WEND_RUN_FORK || c->ev.seq != item->seq ||
        !str_eq(c->ev.run, c->run) || str_is(c->run, c->owner))
        return log_check_bad(c, "does not fit its hash: it, the deltas before "
                                "it or the hash was changed");
    c->seq--;
    return log_check_bad(c, "is in the place of the fork's first event, which "
                            "is missing");
}

bool log_check_item(struct log_check *c, const struct store_item *item)
{
    assert(c->blob);
    assert(c->status == WEND_OK); /* nothing follows a bad item */
    arena_reset(&c->arena);
    if (item->is_pack)
        return check_pack(c, item);
    if (item->seq != c->seq + 1)
        return log_check_bad(c, item->seq > c->seq
                                    ? "is missing"
                                    : "has a number below 1, or one twice");
    chain_event(&c->chain, item->body);
    if (memcmp(c->chain.head, item->hash, sizeof item->hash) != 0)
        return misfit(c, item);
    if (!check_event(c, item))
        return false;
    memcpy(c->owner, c->ev.run.ptr, RUN_ID_LEN);
    c->seq = item->seq;
    c->n = 0;
    c->time_us = c->ev.time_us;
    c->over = c->ev.type == WEND_RUN_END;
    return true;
}

/* ---- What lists say ------------------------------------------------------ */

static void note_start(struct log_birth *birth, const wend_event *ev,
                       struct arena *a)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    birth->b = (struct store_birth){
        .agent = arena_str(a, e->agent),
        .model = arena_str(a, e->model),
        .prompt = arena_str(a, store_prompt(e->prompt)),
        .user = arena_str(a, e->user),
        .session = arena_str(a, e->session),
        .parent = arena_str(a, e->parent_run),
        .started_us = ev->time_us,
    };
    birth->seq = ev->seq;
}

static void note_fork(struct log_birth *birth, const wend_event *ev,
                      struct arena *a)
{
    const wend_ev_run_fork *e = &ev->u.run_fork;

    birth->b.parent = arena_str(a, e->parent);
    birth->b.above = arena_str(a, e->parent_run);
    birth->b.started_us = ev->time_us;
    if (e->model.ptr)
        birth->b.model = arena_str(a, e->model);
    if (e->user.ptr)
        birth->b.user = arena_str(a, e->user);
    if (e->session.ptr)
        birth->b.session = arena_str(a, e->session);
    birth->seq = ev->seq;
    birth->open = true;
}

void log_birth_note(struct log_birth *birth, const wend_event *ev,
                    struct arena *a)
{
    if (ev->type == WEND_RUN_START)
        note_start(birth, ev, a);
    else if (ev->type == WEND_RUN_FORK)
        note_fork(birth, ev, a);
    else if (birth->open && ev->type == WEND_MESSAGE)
        birth->b.prompt = arena_str(a, store_prompt(ev->u.message.text));
    else if (ev->type == WEND_CALL_START || ev->type == WEND_CALL_END ||
             ev->type == WEND_ACTION_END)
        return; /* a result that was given with the fork */
    birth->open &= ev->type == WEND_RUN_FORK;
}

/* ---- Whose event --------------------------------------------------------- */

/* A fork begins after what it shares, so that this comes to an end even in a
 * damaged store. */
wend_status log_owner(wend_store *store, wend_str run, int64_t seq,
                      char owner[RUN_ID_LEN + 1], wend_error *err)
{
    struct store_state state = {.first = INT64_MAX};
    int64_t below;
    wend_status s;

    utf8_fmt(owner, RUN_ID_LEN + 1, "%.*s", (int)run.len, run.ptr);
    do {
        struct arena a = {.mem = &store->mem};
        wend_run_info *info = NULL;

        below = state.first;
        s = store->ops->state(store, str_of(owner), &state, err);
        if (s == WEND_OK && seq < state.first && state.first < below)
            s = store_info(store, owner, &a, &info, err);
        if (s == WEND_OK && info && run_id_valid(info->fork_of))
            memcpy(owner, info->fork_of.ptr, RUN_ID_LEN);
        else
            below = 0;
        arena_free(&a);
    } while (s == WEND_OK && below);
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

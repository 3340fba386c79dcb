/*
 * log_verify.c - whether a stored run is as it was written.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/utf8.h"
#include "lib/log/log.h"
#include "lib/run/run.h"

enum { EPOCH_MAX = 1000000000 }; /* no run changes hands that often */

struct verify {
    struct log_check check;
    const char *head;    /* wanted, or NULL */
    int64_t head_at;     /* the event that has it */
    int64_t head_seq;    /* the event whose hash is in the verdict */
    wend_run_info *info; /* what lists say */
    struct store_state before;
    struct log_birth birth;
    int64_t epoch; /* of the newest run_resume */
    struct arena arena;
    wend_verdict v;
};

static void keep_head(struct verify *v)
{
    struct log_check *c = &v->check;

    hex_text(v->v.head, c->chain.head, SHA256_BYTES);
    v->head_seq = c->seq;
    if (v->head && !strcmp(v->head, v->v.head))
        v->head_at = c->seq;
}

/* ---- What lists say ------------------------------------------------------ */

static bool same(wend_str listed, wend_str said)
{
    return listed.ptr ? str_eq(listed, said) : !said.ptr || !said.len;
}

/* It was noted a moment before the event, by a clock that can be set. */
static bool near(int64_t listed_us, int64_t said_us)
{
    const int64_t hour_us = INT64_C(3600000000);

    return listed_us > said_us - hour_us && listed_us < said_us + hour_us;
}

static bool birth_listed(const struct verify *v)
{
    const struct store_birth *b = &v->birth.b;
    const wend_run_info *i = v->info;

    return same(i->agent, b->agent) && same(i->model, b->model) &&
           same(i->prompt, b->prompt) && same(i->user, b->user) &&
           same(i->session, b->session) && near(i->started_us, b->started_us) &&
           /* An imported run has the events of others that it shares. */
           (!i->parent.ptr || i->imported ||
            same(i->parent, b->above.ptr ? b->above : b->parent));
}

static bool end_listed(struct verify *v)
{
    const wend_ev_run_end *e = &v->check.ev.u.run_end;
    const wend_run_info *i = v->info;

    return str_is(i->status, wend_outcome_name(e->outcome)) &&
           i->ended_us == v->check.ev.time_us && i->turns == e->metrics.turns &&
           i->tokens_in == e->metrics.tokens_in &&
           i->tokens_out == e->metrics.tokens_out &&
           i->cost_nano == e->metrics.cost_nano;
}

/* ---- The log ------------------------------------------------------------- */

/* The log itself is good so far: reading continues. */
static void row_bad(struct verify *v, const char *why)
{
    if (v->v.bad_seq)
        return;
    v->v.bad_seq = v->check.seq;
    utf8_fmt(v->v.why, sizeof v->v.why, "%s", why);
}

static bool on_item(void *ctx, const struct store_item *item)
{
    struct verify *v = ctx;
    struct log_check *c = &v->check;

    if (!log_check_item(c, item))
        return false;
    if (item->is_pack)
        return true;
    keep_head(v);
    log_birth_note(&v->birth, &c->ev, &v->arena);
    if (c->ev.type == WEND_RUN_RESUME && str_eq(c->ev.run, c->run))
        v->epoch = c->ev.u.run_resume.epoch;
    /* A run that continued after the list was made was not over then. */
    if (c->ev.type == WEND_RUN_END && v->before.ended_us && !end_listed(v))
        row_bad(v, "says something else than the list of runs");
    if (c->seq == v->before.seq &&
        memcmp(c->chain.head, v->before.head, SHA256_BYTES) != 0)
        row_bad(v, "has another hash than the run's head");
    return true;
}

/* The log against what the run's row said before it was read. */
static void check_end(struct verify *v)
{
    struct log_check *c = &v->check;

    if (v->birth.seq && !birth_listed(v) &&
        (!v->v.bad_seq || v->birth.seq < v->v.bad_seq)) {
        v->v.bad_seq = v->birth.seq;
        snprintf(v->v.why, sizeof v->v.why,
                 "says something else than the list of runs");
    }
    if (!c->seq || c->seq < v->before.seq)
        log_check_bad(c, "is missing");
    else if (c->seq < v->before.noted)
        log_check_bad(c,
                      "is missing: events up to %lld were written; the "
                      "store's -wal file was damaged or cut, or the store is "
                      "an older copy",
                      (long long)v->before.noted);
    else if (!v->before.epoch || v->before.epoch > EPOCH_MAX ||
             (!v->info->imported && v->before.epoch < v->epoch))
        row_bad(v, "has an owner that the list of runs does not know: its "
                   "epoch was changed");
    else if (v->before.ended_us && c->seq > v->before.seq)
        row_bad(v, "is newer than the list of runs says");
    else if (v->before.ended_us && !c->over)
        row_bad(v, "is not the end, but the list of runs says it is over");
    else if (!v->before.ended_us && c->over && c->seq == v->before.seq)
        row_bad(v, "is the end, but the list of runs does not say so");
}

static void check_head(struct verify *v)
{
    struct log_check *c = &v->check;
    int64_t newest = c->seq;

    if (!v->head || v->head_at == newest)
        return;
    c->seq = v->head_at;
    if (v->head_at)
        log_check_bad(c,
                      "and what follows it was added: the hash is that of "
                      "event %lld",
                      (long long)v->head_at);
    else
        log_check_bad(c, "or a later event was changed, and the chain computed "
                         "anew: no event has the hash");
}

static wend_status verify(wend_store *store, const char *id, struct verify *v,
                          wend_error *err)
{
    struct log_check *c = &v->check;
    struct arena a = {.mem = &store->mem};
    wend_error why = {0};
    wend_status s = store->ops->state(store, str_of(id), &v->before, err);

    if (s == WEND_OK)
        s = store_info(store, id, &a, &v->info, err);
    if (s == WEND_OK) {
        /* From the lowest number there can be: what is before 1 is wrong. */
        s = store->ops->read(store, str_of(id),
                             (struct store_place){INT64_MIN, 0}, 0, on_item, v,
                             &why);
        if (s == WEND_E_CORRUPT) {
            log_check_bad(c, "cannot be read: %s", why.message);
            s = WEND_OK;
        }
        if (s != WEND_OK)
            fail(err, s, "%s", why.message);
    }
    if (s == WEND_OK && v->arena.failed)
        s = fail_nomem(err);
    if (s == WEND_OK && log_check_own(c))
        check_end(v);
    if (s == WEND_OK && c->status == WEND_OK)
        check_head(v);
    if (s == WEND_OK && c->status == WEND_E_NOMEM)
        s = fail_nomem(err);
    arena_free(&a);
    return s;
}

wend_status wend_store_verify(wend_store *store, const char *id,
                              const char *head, wend_verdict *out,
                              wend_error *err)
{
    struct verify v = {.head = head, .v = {.size = sizeof v.v}};
    size_t size;
    wend_status s;

    if (!out || !options_size(out->size, OPTIONS_FIRST(wend_verdict, head)))
        return fail(err, WEND_E_INVAL,
                    "verify: out is NULL, or its size is not set");
    s = store_enter_run(store, id, err);
    if (s != WEND_OK)
        return s;
    size = out->size < sizeof v.v ? out->size : sizeof v.v;
    v.check.run = str_of(id);
    v.check.blob = log_blob;
    v.check.blob_ctx = store;
    v.check.arena.mem = v.arena.mem = &store->mem;
    s = verify(store, id, &v, err);
    v.v.seq = v.check.seq;
    if (v.head_seq != v.v.seq)
        v.v.head[0] = 0;
    if (v.check.status == WEND_E_CORRUPT &&
        (!v.v.bad_seq || v.check.seq < v.v.bad_seq)) {
        v.v.bad_seq = v.check.seq + 1;
        memcpy(v.v.why, v.check.why, sizeof v.v.why);
    }
    if (s == WEND_OK && v.v.bad_seq)
        s = log_owner(store, v.check.run, v.v.bad_seq, v.v.bad_run, err);
    v.v.size = out->size;
    memcpy(out, &v.v, size);
    arena_free(&v.arena);
    log_check_free(&v.check);
    return s;
}

wend_status wend_store_accept_loss(wend_store *store, const char *id,
                                   wend_error *err)
{
    wend_status s = store_enter_run(store, id, err);

    return s == WEND_OK && store->ops->accept_loss
               ? store->ops->accept_loss(store, str_of(id), err)
               : s;
}

wend_status wend_store_check(wend_store *store, wend_error *err)
{
    wend_status s = store_enter(store, err);

    return s == WEND_OK ? store->ops->check(store, err) : s;
}

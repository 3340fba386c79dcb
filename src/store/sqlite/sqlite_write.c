/*
 * sqlite_write.c - the writer thread of an SQLite store.
 *
 * It takes all that is queued, writes it in one transaction and reports
 * back after the commit: many runs share one fsync. A batch that does not
 * fit is undone alone. After a failure of the storage nothing is tried
 * again: what the disk holds then is only known after a fresh open.
 */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "base/fail.h"
#include "store/sqlite/sqlite.h"

struct db_work {
    struct store_batch *batches;
    struct db_op *ops;
};

wend_status db_outcome(struct db *db, int rc, wend_error *err)
{
    if (rc == SQLITE_OK)
        return WEND_OK;
    if ((rc & 0xff) == SQLITE_CONSTRAINT)
        return WEND_E_STALE;
    db_fail(db, err);
    if (err)
        err->status = WEND_E_STORE;
    return WEND_E_STORE;
}

wend_status db_write(struct db *db, enum query q, const struct db_value *values,
                     wend_error *err)
{
    return db_outcome(db, db_run(db, q, values), err);
}

/* ---- One batch ----------------------------------------------------------- */

static int add_run(struct db *db, const struct store_batch *b,
                   struct log_place *at)
{
    const struct store_birth *birth = b->birth;
    int rc;

    at->epoch = b->epoch;
    at->seq = b->events_count ? b->events[0].seq - 1 : 0;
    rc = db_run(db, Q_RUN_ADD,
                VALUES(db_str(b->run), db_str(birth->agent),
                       db_str(birth->model),
                       db_str(store_prompt(birth->prompt)), db_str(birth->user),
                       db_str(birth->session), db_str(birth->parent),
                       db_int(birth->started_us), db_int(at->epoch),
                       db_int(at->seq), db_int(birth->imported)));
    at->id = sqlite3_last_insert_rowid(db->handle);
    return rc == SQLITE_OK && at->seq
               ? db_fork_head(db, birth->parent, at->seq, at->chain.head)
               : rc;
}

/* Packs that came in batches before this one are part of the next link. */
static int add_packs_to_chain(struct db *db, struct log_place *at)
{
    struct db_ask a =
        ask(db, Q_PACKS_AFTER, VALUES(db_int(at->id), db_int(at->seq)));

    while (ask_step(&a) == SQLITE_ROW)
        chain_pack(&at->chain, ask_get_str(&a, 0));
    ask_reset(&a);
    return a.rc == SQLITE_DONE ? SQLITE_OK : a.rc;
}

static int find_pack(struct db *db, struct log_place *at)
{
    struct db_ask a = ask(db, Q_PACK_LAST, VALUES(db_int(at->id)));

    if (ask_step(&a) == SQLITE_ROW) {
        at->pack.id = ask_get_i64(&a, 0);
        at->pack.seq = ask_get_i64(&a, 1);
        at->pack.n = ask_get_i64(&a, 2);
    }
    at->pack.known = a.rc == SQLITE_ROW || a.rc == SQLITE_DONE;
    ask_reset(&a);
    return at->pack.known ? SQLITE_OK : a.rc;
}

static bool is_old(const struct store_pack *p, const struct log_place *at)
{
    return at->pack.id && (at->pack.seq > p->seq ||
                           (at->pack.seq == p->seq && at->pack.n >= p->n));
}

/* Packs come in order: one that does not was there before. */
static int add_pack(struct db *db, const struct store_pack *p,
                    struct log_place *at)
{
    int64_t id = at->id << 32 | p->seq;
    int rc = at->pack.known ? SQLITE_OK : find_pack(db, at);

    if (rc != SQLITE_OK || is_old(p, at))
        return rc != SQLITE_OK ? rc : SQLITE_CONSTRAINT;
    at->pack.id = id > at->pack.id ? id : at->pack.id + 1;
    at->pack.seq = p->seq;
    at->pack.n = p->n;
    return db_run(db, Q_PACK_ADD,
                  VALUES(db_int(at->pack.id), db_int(p->seq), db_int(p->n),
                         db_int(p->count), db_str(p->body)));
}

static int add_event(struct db *db, wend_str run_id,
                     const struct store_event *e, struct log_place *at)
{
    wend_str body = e->body;
    bool cut = event_cut(run_id, &body);

    if (e->seq > DB_SEQ_MAX || (!cut && str_starts(body, EVENT_CUT)))
        return SQLITE_CONSTRAINT; /* it could not be given back */
    chain_event(&at->chain, e->body);
    at->seq = e->seq;
    return db_run(db, Q_EVENT_ADD,
                  VALUES(db_int(at->id), db_int(e->seq),
                         db_str(cut ? STR("{") : STR("")), db_str(body),
                         db_bytes(at->chain.head, sizeof at->chain.head)));
}

static int add_blob(struct db *db, const struct store_blob *b)
{
    return db_run(
        db, Q_BLOB_ADD,
        VALUES(db_str(str_of(b->hash)),
               db_bytes(b->body.ptr ? b->body.ptr : "", b->body.len)));
}

static struct db_value int_or_null(bool is_int, int64_t n)
{
    return is_int ? db_int(n) : db_str(STR_NONE);
}

static int set_run(struct db *db, const struct store_summary *m, int64_t owner,
                   const struct log_place *at)
{
    bool held = !m->ended_us && strcmp(m->status, "interrupted") != 0;

    return db_run(db, Q_RUN_SET,
                  VALUES(db_int(at->id), db_str(str_of(m->status)),
                         int_or_null(m->ended_us, m->ended_us),
                         db_int(m->turns), db_int(m->tokens_in),
                         db_int(m->tokens_out), db_int(m->cost_nano),
                         int_or_null(held, owner), db_int(at->seq),
                         db_bytes(at->chain.head, sizeof at->chain.head)));
}

static int add_rows(struct db *db, const struct store_batch *b, int64_t owner,
                    struct log_place *at)
{
    size_t p = 0;
    int rc = SQLITE_OK;

    if (b->events_count && !b->birth)
        rc = add_packs_to_chain(db, at);
    for (size_t i = 0; rc == SQLITE_OK && i < b->events_count; i++) {
        for (; rc == SQLITE_OK && p < b->packs_count &&
               b->packs[p].seq < b->events[i].seq;
             p++) {
            rc = add_pack(db, &b->packs[p], at);
            chain_pack(&at->chain, b->packs[p].body);
        }
        if (rc == SQLITE_OK)
            rc = add_event(db, b->run, &b->events[i], at);
    }
    for (; rc == SQLITE_OK && p < b->packs_count; p++)
        rc = add_pack(db, &b->packs[p], at);
    for (size_t i = 0; rc == SQLITE_OK && i < b->blobs_count; i++)
        rc = add_blob(db, &b->blobs[i]);
    if (rc == SQLITE_OK)
        rc = set_run(db, &b->summary, owner, at);
    return rc;
}

static wend_status add_batch(struct db *db, const struct store_batch *b,
                             int64_t owner, wend_error *err)
{
    struct log_place at = {0};
    wend_status refused = WEND_OK;
    int rc;

    if (b->birth) {
        rc = add_run(db, b, &at);
    } else {
        rc = db_find_run(db, b->run, &at);
        if (rc == SQLITE_DONE)
            return WEND_E_STALE;
    }
    if (rc == SQLITE_OK && !store_batch_fits(b, at.epoch, at.seq))
        return WEND_E_STALE;
    if (rc == SQLITE_OK && (b->heard_count || b->summary.ended_us))
        rc = db_hear(db, at.id, b, &refused);
    if (refused != WEND_OK)
        return refused;
    if (rc == SQLITE_OK)
        rc = add_rows(db, b, owner, &at);
    return db_outcome(db, rc, err);
}

/* ---- Claims -------------------------------------------------------------- */

wend_status db_find_known(struct db *db, struct db_op *op, struct log_place *at)
{
    int rc = db_find_run(db, op->run, at);

    return rc == SQLITE_DONE ? store_missing("run", op->run, &op->err)
                             : db_outcome(db, rc, &op->err);
}

static wend_status claim(struct db *db, struct db_op *op)
{
    struct log_place at = {0};
    wend_status s = db_find_known(db, op, &at);

    if (s != WEND_OK)
        return s;
    op->epoch = at.epoch + 1;
    op->seq = at.seq;
    if (at.owner && owner_alive(op->owner, at.owner) &&
        at.owner != op->owner->id)
        return fail(&op->err, WEND_E_BUSY,
                    "run %.*s is held by another process", (int)op->run.len,
                    op->run.ptr);
    s = store_claimable(op->run, op->known, at.seq, at.ended_us, &op->err);
    if (s == WEND_OK)
        s = db_note_check(op->owner, at.id, op->run, at.seq, &op->err);
    if (s == WEND_OK)
        s = db_outcome(db, db_drop_late(db), &op->err);
    if (s == WEND_OK)
        s = db_write(db, Q_RUN_CLAIM,
                     VALUES(db_int(at.id), db_int(op->owner->id)), &op->err);
    return s;
}

/* ---- One transaction ----------------------------------------------------- */

/* Moves the batches that do not fit to `refused`; WEND_E_STORE ends it all. */
static wend_status write_batches(struct sqlite_store *s,
                                 struct store_batch **list,
                                 struct store_batch **refused, wend_error *err)
{
    struct db *db = &s->write;
    struct store_batch *b;
    wend_status status;

    while ((b = *list)) {
        status = db_write(db, Q_BATCH, NULL, err);
        if (status == WEND_OK)
            status = add_batch(db, b, s->owner.id, err);
        if (status == WEND_E_STORE)
            return status;
        if (status != WEND_OK &&
            db_write(db, Q_BATCH_UNDO, NULL, err) != WEND_OK)
            return WEND_E_STORE;
        if (db_write(db, Q_BATCH_KEEP, NULL, err) != WEND_OK)
            return WEND_E_STORE;
        if (status == WEND_OK) {
            list = &b->next;
            continue;
        }
        *list = b->next;
        b->next = NULL;
        b->refused = status;
        *refused = b;
        refused = &b->next;
    }
    return WEND_OK;
}

static wend_status write_ops(struct sqlite_store *s, struct db_op *ops,
                             wend_error *err)
{
    for (struct db_op *op = ops; op; op = op->next) {
        op->status = op->fn(&s->write, op);
        if (op->status == WEND_E_STORE) {
            *err = op->err;
            return WEND_E_STORE;
        }
    }
    return WEND_OK;
}

/* It may hold less than was written: the next open will see. */
static void leave_log(struct db *db)
{
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

static wend_status write_all(struct sqlite_store *s, struct db_work *w,
                             struct store_batch **refused, wend_error *err)
{
    struct db *db = &s->write;
    wend_status status = db_write(db, Q_BEGIN_WRITE, NULL, err);

    if (status == WEND_OK)
        status = write_batches(s, &w->batches, refused, err);
    if (status == WEND_OK)
        status = write_ops(s, w->ops, err);
    if (status == WEND_OK)
        status = db_write(db, Q_COMMIT, NULL, err);
    if (status == WEND_OK)
        return status;
    if (!sqlite3_get_autocommit(db->handle))
        db_run(db, Q_ROLLBACK, NULL);
    leave_log(db);
    return WEND_E_STORE;
}

/* ---- The thread ---------------------------------------------------------- */

static bool take_work(struct sqlite_store *s, struct db_work *w)
{
    pthread_mutex_lock(&s->lock);
    while (!s->batches && !s->ops && !s->stopping)
        pthread_cond_wait(&s->wake, &s->lock);
    w->batches = s->batches;
    s->batches = NULL;
    s->batches_last = &s->batches;
    w->ops = s->ops;
    s->ops = NULL;
    s->ops_last = &s->ops;
    pthread_mutex_unlock(&s->lock);
    return w->batches || w->ops;
}

static void report_batches(struct store_batch *list, wend_status failure)
{
    struct store_batch *next;

    for (; list; list = next) {
        next = list->next;
        list->done(list, failure != WEND_OK ? failure : list->refused);
    }
}

static void report_ops(struct sqlite_store *s, struct db_op *ops,
                       const wend_error *failure)
{
    struct db_op *next, *told = NULL;

    pthread_mutex_lock(&s->lock);
    if (failure->status != WEND_OK)
        s->failure = *failure;
    for (; ops; ops = next) {
        next = ops->next;
        if (failure->status != WEND_OK) {
            ops->status = failure->status;
            ops->err = *failure;
        }
        if (ops->done) {
            ops->next = told;
            told = ops;
        }
        ops->finished = true; /* a waiting op is gone after this */
    }
    pthread_cond_broadcast(&s->finished);
    pthread_mutex_unlock(&s->lock);
    for (; told; told = next) {
        next = told->next;
        told->done(told);
    }
}

static bool any_patient(const struct db_op *ops)
{
    while (ops && !ops->patient)
        ops = ops->next;
    return ops;
}

/* Outside of the queue: others write meanwhile. They finish what is left then,
 * so that the log begins anew. */
static void checkpoint(struct db *db, wend_error *failure)
{
    if (db->checkpoint_due && failure->status == WEND_OK &&
        db_outcome(db, db_checkpoint(db), failure) != WEND_OK)
        leave_log(db);
    db->checkpoint_due = false;
}

static void tell_held(struct db_op *ops, int64_t held_us)
{
    for (; ops; ops = ops->next)
        ops->held_us = held_us;
}

static void *writer(void *ctx)
{
    struct sqlite_store *s = ctx;
    wend_error failure = s->refusal;
    struct db_work w;

    while (take_work(s, &w)) {
        struct store_batch *refused = NULL;

        s->write.checkpoint_later = any_patient(w.ops);
        if (failure.status == WEND_OK &&
            queue_enter(&s->queue, &failure) == WEND_OK) {
            int64_t since_us = queue_now_us();

            forked_enter();
            if (write_all(s, &w, &refused, &failure) == WEND_OK)
                db_note(s, w.batches);
            forked_leave();
            queue_leave(&s->queue);
            tell_held(w.ops, queue_now_us() - since_us);
            checkpoint(&s->write, &failure);
        }
        report_ops(s, w.ops, &failure);
        report_batches(w.batches, failure.status);
        report_batches(refused, failure.status);
    }
    return NULL;
}

/* Call with s->lock held. */
static void queue_op(struct sqlite_store *s, struct db_op *op)
{
    assert(op->fn);
    assert(s->writer_runs);
    op->next = NULL;
    op->finished = false;
    *s->ops_last = op;
    s->ops_last = &op->next;
    pthread_cond_signal(&s->wake);
}

void db_queue(struct sqlite_store *s, struct db_op *op)
{
    pthread_mutex_lock(&s->lock);
    queue_op(s, op);
    pthread_mutex_unlock(&s->lock);
}

wend_status db_wait(struct sqlite_store *s, struct db_op *op, wend_error *err)
{
    pthread_mutex_lock(&s->lock);
    queue_op(s, op);
    while (!op->finished)
        pthread_cond_wait(&s->finished, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (op->status != WEND_OK && err)
        *err = op->err;
    return op->status;
}

bool db_writer_start(struct sqlite_store *s)
{
    sigset_t all, before;

    s->batches_last = &s->batches;
    s->ops_last = &s->ops;
    s->queue = (struct queue){.owner = &s->owner, .path = s->path};
    /* The host's signals are for the host's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->writer_runs = !pthread_create(&s->writer, NULL, writer, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->writer_runs;
}

void db_writer_stop(struct sqlite_store *s)
{
    if (!s->writer_runs)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->writer, NULL);
    s->writer_runs = false;
}

void db_append(wend_store *store, struct store_batch *b)
{
    struct sqlite_store *s = (struct sqlite_store *)store;

    assert(b->done);
    assert(s->writer_runs);
    b->next = NULL;
    b->refused = WEND_OK;
    pthread_mutex_lock(&s->lock);
    *s->batches_last = b;
    s->batches_last = &b->next;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

wend_status db_claim(wend_store *store, wend_str run_id, int64_t known,
                     int64_t *epoch, int64_t *seq, wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct db_op op = {
        .fn = claim, .owner = &s->owner, .run = run_id, .known = known};
    wend_status status = db_wait(s, &op, err);

    *epoch = op.epoch;
    *seq = op.seq;
    return status;
}

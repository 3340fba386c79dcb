/*
 * sqlite_write.c - the writer thread of an SQLite store.
 *
 * It takes all that is queued, writes it in one transaction and reports
 * back after the commit: many runs share one fsync. A batch that does not
 * fit is undone alone. After a failure of the storage nothing is tried
 * again: what the disk holds then is only known after a fresh open.
 */
#include <signal.h>
#include <string.h>

#include "base/fail.h"
#include "store/sqlite/sqlite.h"

struct work {
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

static int run(struct db *db, enum query q)
{
    struct db_ask a = ask(db, q);

    return ask_run(&a);
}

/* ---- One batch ----------------------------------------------------------- */

static int add_run(struct db *db, const struct store_batch *b,
                   struct log_place *at)
{
    const struct store_birth *birth = b->birth;
    struct db_ask a = ask(db, Q_RUN_ADD);
    int rc;

    at->epoch = b->epoch;
    at->seq = b->events_count ? b->events[0].seq - 1 : 0;
    ask_str(&a, b->run);
    ask_str(&a, birth->agent);
    ask_str(&a, birth->model);
    ask_str(&a, store_prompt(birth->prompt));
    ask_str(&a, birth->user);
    ask_str(&a, birth->session);
    ask_str(&a, birth->parent);
    ask_i64(&a, birth->started_us);
    ask_i64(&a, at->epoch);
    ask_i64(&a, at->seq);
    ask_i64(&a, birth->imported);
    rc = ask_run(&a);
    at->id = sqlite3_last_insert_rowid(db->handle);
    return rc == SQLITE_OK && at->seq
               ? db_fork_head(db, birth->parent, at->seq, at->chain.head)
               : rc;
}

/* SQLITE_ROW if there is such a run. */
static int find_run(struct db *db, wend_str id, struct log_place *at)
{
    struct db_ask a = ask(db, Q_RUN);
    wend_str head;
    int rc;

    ask_str(&a, id);
    rc = ask_step(&a);
    if (rc == SQLITE_ROW) {
        at->id = ask_get_i64(&a, RUN_ID);
        at->epoch = ask_get_i64(&a, RUN_EPOCH);
        at->seq = ask_get_i64(&a, RUN_SEQ);
        at->owner = ask_get_i64(&a, RUN_OWNER);
        at->ended_us = ask_get_i64(&a, RUN_ENDED);
        head = ask_get_str(&a, RUN_HEAD);
        if (head.len == sizeof at->chain.head)
            memcpy(at->chain.head, head.ptr, head.len);
    }
    ask_reset(&a);
    return rc;
}

/* Packs that came in batches before this one are part of the next link. */
static int add_packs_to_chain(struct db *db, struct log_place *at)
{
    struct db_ask a = ask(db, Q_PACKS_AFTER);
    int rc;

    ask_i64(&a, at->id);
    ask_i64(&a, at->seq);
    while ((rc = ask_step(&a)) == SQLITE_ROW)
        chain_pack(&at->chain, ask_get_str(&a, 0));
    ask_reset(&a);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int find_pack(struct db *db, struct log_place *at)
{
    struct db_ask a = ask(db, Q_PACK_LAST);

    ask_i64(&a, at->id);
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
    struct db_ask a;

    if (rc != SQLITE_OK || is_old(p, at))
        return rc != SQLITE_OK ? rc : SQLITE_CONSTRAINT;
    at->pack.id = id > at->pack.id ? id : at->pack.id + 1;
    at->pack.seq = p->seq;
    at->pack.n = p->n;
    a = ask(db, Q_PACK_ADD);
    ask_i64(&a, at->pack.id);
    ask_i64(&a, p->seq);
    ask_i64(&a, p->n);
    ask_i64(&a, p->count);
    ask_str(&a, p->body);
    return ask_run(&a);
}

static int add_event(struct db *db, wend_str run_id,
                     const struct store_event *e, struct log_place *at)
{
    wend_str body = e->body;
    bool cut = event_cut(run_id, &body);
    struct db_ask a;

    if (e->seq > DB_SEQ_MAX || (!cut && str_starts(body, EVENT_CUT)))
        return SQLITE_CONSTRAINT; /* it could not be given back */
    chain_event(&at->chain, e->body);
    at->seq = e->seq;
    a = ask(db, Q_EVENT_ADD);
    ask_i64(&a, at->id);
    ask_i64(&a, e->seq);
    ask_str(&a, cut ? STR("{") : STR(""));
    ask_str(&a, body);
    ask_bytes(&a, at->chain.head, sizeof at->chain.head);
    return ask_run(&a);
}

static int add_blob(struct db *db, const struct store_blob *b)
{
    struct db_ask a = ask(db, Q_BLOB_ADD);

    ask_str(&a, str_of(b->hash));
    ask_bytes(&a, b->body.ptr ? b->body.ptr : "", b->body.len);
    return ask_run(&a);
}

static int set_run(struct db *db, const struct store_summary *m, int64_t owner,
                   const struct log_place *at)
{
    struct db_ask a = ask(db, Q_RUN_SET);

    ask_i64(&a, at->id);
    ask_str(&a, str_of(m->status));
    if (m->ended_us)
        ask_i64(&a, m->ended_us);
    else
        ask_null(&a);
    ask_i64(&a, m->turns);
    ask_i64(&a, m->tokens_in);
    ask_i64(&a, m->tokens_out);
    ask_i64(&a, m->cost_nano);
    if (m->ended_us || !strcmp(m->status, "interrupted"))
        ask_null(&a);
    else
        ask_i64(&a, owner);
    ask_i64(&a, at->seq);
    ask_bytes(&a, at->chain.head, sizeof at->chain.head);
    return ask_run(&a);
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
        rc = find_run(db, b->run, &at);
        if (rc == SQLITE_DONE)
            return WEND_E_STALE;
        if (rc == SQLITE_ROW)
            rc = SQLITE_OK;
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
    int rc = find_run(db, op->run, at);

    if (rc == SQLITE_DONE)
        return fail(&op->err, WEND_E_NOTFOUND, "no run '%.*s'",
                    (int)op->run.len, op->run.ptr);
    return rc == SQLITE_ROW ? WEND_OK : db_outcome(db, rc, &op->err);
}

static wend_status claim(struct db *db, struct db_op *op)
{
    struct log_place at = {0};
    wend_status s = db_find_known(db, op, &at);
    struct db_ask a;

    if (s != WEND_OK)
        return s;
    op->epoch = at.epoch + 1;
    op->seq = at.seq;
    if (at.owner && owner_alive(op->owner, at.owner) &&
        at.owner != op->owner->id)
        return fail(&op->err, WEND_E_BUSY,
                    "run %.*s is held by another process", (int)op->run.len,
                    op->run.ptr);
    if (op->known != STORE_SEQ_ANY && op->known != at.seq)
        return WEND_AGAIN;
    if (at.ended_us)
        return fail(&op->err, WEND_E_INVAL, "run %.*s is over",
                    (int)op->run.len, op->run.ptr);
    s = db_note_check(op->owner, at.id, op->run, at.seq, &op->err);
    if (s != WEND_OK)
        return s;
    s = db_outcome(db, db_drop_late(db), &op->err);
    if (s != WEND_OK)
        return s;
    a = ask(db, Q_RUN_CLAIM);
    ask_i64(&a, at.id);
    ask_i64(&a, op->owner->id);
    return db_outcome(db, ask_run(&a), &op->err);
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
        status = db_outcome(db, run(db, Q_BATCH), err);
        if (status == WEND_OK)
            status = add_batch(db, b, s->owner.id, err);
        if (status == WEND_E_STORE)
            return status;
        if (status != WEND_OK &&
            db_outcome(db, run(db, Q_BATCH_UNDO), err) != WEND_OK)
            return WEND_E_STORE;
        if (db_outcome(db, run(db, Q_BATCH_KEEP), err) != WEND_OK)
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

static wend_status write_all(struct sqlite_store *s, struct work *w,
                             struct store_batch **refused, wend_error *err)
{
    struct db *db = &s->write;
    wend_status status = db_outcome(db, run(db, Q_BEGIN_WRITE), err);

    if (status == WEND_OK)
        status = write_batches(s, &w->batches, refused, err);
    if (status == WEND_OK)
        status = write_ops(s, w->ops, err);
    if (status == WEND_OK)
        status = db_outcome(db, run(db, Q_COMMIT), err);
    if (status == WEND_OK)
        return status;
    if (!sqlite3_get_autocommit(db->handle))
        run(db, Q_ROLLBACK);
    leave_log(db);
    return WEND_E_STORE;
}

/* ---- The thread ---------------------------------------------------------- */

static bool take_work(struct sqlite_store *s, struct work *w)
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
    struct work w;

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

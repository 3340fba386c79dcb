/*
 * sqlite_prune.c - removes runs from an SQLite store, and returns free space.
 *
 * All of it in small transactions, so that another writer waits for one of
 * them at most. A run is marked first: from then on it is hidden, and what a
 * crash leaves of it goes the next time. One thread of one process at a time:
 * a run that is new while blobs are looked at has the highest number.
 */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "store/sqlite/sqlite.h"
#include "store/table.h"

enum {
    HOLD_US = 15000,       /* for which others wait, work and its commit */
    PORTION_US = 5000,     /* of work in the first transaction ... */
    PORTION_MIN_US = 1000, /* ... and in any */
    ROWS_AT_ONCE = 64,     /* then the clock is looked at */
    ROOM_US = 15000000,    /* for returning free space */
};

/* Most runs have no parent: it is small, and made with the first prune. */
static const char create_index[] =
    "CREATE INDEX IF NOT EXISTS runs_parent ON runs (parent)"
    " WHERE parent IS NOT NULL";

struct prune_op {
    struct db_op op;
    int64_t id;      /* of a run */
    int64_t from;    /* the run that is swept first */
    bool wrapped;    /* those behind it are gone */
    int64_t count;   /* out: rows or pages */
    const char *ids; /* of runs, each with its NUL */
    size_t ids_left;
    int64_t gone; /* out: of them */
    int64_t portion_us, until_us;
    struct kept_blobs *blobs;
    int64_t now_us;
};

static struct prune_op *begin(struct db_op *op)
{
    struct prune_op *p = (struct prune_op *)(void *)op;

    p->until_us = queue_now_us() + p->portion_us;
    return p;
}

static bool time_left(const struct prune_op *p)
{
    return queue_now_us() < p->until_us;
}

/* How much work the next transaction may do: so much that with its commit it
 * takes HOLD_US. Grows slowly: one that takes too long makes others wait, one
 * that is too short costs little. */
static int64_t next_portion_us(int64_t portion_us, int64_t held_us)
{
    int64_t grown_us = portion_us + portion_us / 4;
    int64_t fits_us = held_us > HOLD_US    ? portion_us * HOLD_US / held_us
                      : grown_us < HOLD_US ? grown_us
                                           : HOLD_US;

    return fits_us > PORTION_MIN_US ? fits_us : PORTION_MIN_US;
}

/* Processes that wait to write come before the next one. */
static wend_status portion(struct sqlite_store *s, struct prune_op *p,
                           wend_error *err)
{
    wend_status status;

    if (!p->portion_us)
        p->portion_us = PORTION_US;
    p->op.owner = &s->owner;
    p->op.patient = true;
    status = db_wait(s, &p->op, err);
    p->portion_us = next_portion_us(p->portion_us, p->op.held_us);
    queue_yield(&s->queue);
    return status;
}

static wend_status done(struct db *db, struct db_op *op, int rc)
{
    return rc == SQLITE_OK ? WEND_OK : db_fail(db, &op->err);
}

/* ---- A run --------------------------------------------------------------- */

static wend_status mark(struct db *db, struct db_op *op)
{
    struct prune_op *p = begin(op);
    wend_status s = db_exec(db, create_index, &op->err);

    p->gone = 0;
    for (; s == WEND_OK && p->ids_left && time_left(p); p->ids_left--) {
        wend_str run = str_of(p->ids);

        s = done(db, op, db_run(db, Q_PRUNE_MARK, VALUES(db_str(run))));
        p->gone += sqlite3_changes(db->handle);
        p->ids += run.len + 1;
    }
    return s;
}

/* Some rows of a run that is marked. When none is left the run itself goes, and
 * its note: one that stays would say that the run was lost. */
static wend_status sweep_run(struct db *db, struct db_op *op, int64_t id)
{
    static const enum query rows[] = {Q_PRUNE_EVENTS, Q_PRUNE_DELTAS};
    static const enum query rest[] = {Q_REQUESTS_DROP, Q_PRUNE_RUN};
    int64_t left = ROWS_AT_ONCE;
    int rc = SQLITE_OK;

    for (int i = 0; rc == SQLITE_OK && i < 2 && left > 0; i++) {
        rc = db_run(db, rows[i], VALUES(db_int(id), db_int(left)));
        left -= sqlite3_changes(db->handle);
    }
    if (rc != SQLITE_OK || !left)
        return done(db, op, rc);
    for (int i = 0; rc == SQLITE_OK && i < 2; i++)
        rc = db_run(db, rest[i], VALUES(db_int(id)));
    if (rc == SQLITE_OK && !db_note_clear(op->owner, id))
        return fail(&op->err, WEND_E_STORE,
                    "the note of a pruned run cannot be cleared in the store's "
                    "-lock file: %s; prune again",
                    strerror(errno));
    return done(db, op, rc);
}

static int next_marked(struct db *db, int64_t *id)
{
    int rc = db_first(db, Q_PRUNE_NEXT, VALUES(db_int(*id)), id);

    if (rc != SQLITE_OK)
        *id = 0;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Some rows of those that are marked; p->id 0: none is left. */
static wend_status sweep(struct db *db, struct db_op *op)
{
    struct prune_op *p = begin(op);
    wend_status s;

    do {
        s = done(db, op, next_marked(db, &p->id));
        if (s == WEND_OK && !p->id && p->from && !p->wrapped) {
            p->wrapped = true;
            s = done(db, op, next_marked(db, &p->id));
        }
        if (s == WEND_OK && p->id)
            s = sweep_run(db, op, p->id);
    } while (s == WEND_OK && p->id && time_left(p));
    return s;
}

/* The place from which on a run's pages are beyond the end of the file once
 * `count` runs are gone and it has given them back; low enough that there are
 * free pages to spare before it. */
static wend_status sweep_from(struct sqlite_store *s, int64_t count,
                              int64_t *from, wend_error *err)
{
    wend_status status = db_read_begin(s, err);
    int rc = status == WEND_OK
                 ? db_first(&s->read, Q_PRUNE_FROM, VALUES(db_int(count)), from)
                 : SQLITE_DONE;

    if (rc != SQLITE_OK && rc != SQLITE_DONE)
        status = db_fail(&s->read, err);
    return db_read_end(s, status, err);
}

/* All that is marked, from run `from` on and then those before it: SQLite puts
 * free pages on a list that it looks through from the newest on, first for a
 * low page that takes what the last page of the file has, and then for that
 * last page. In another order each search would go through all of the list. */
static wend_status sweep_all(struct sqlite_store *s, int64_t from,
                             wend_error *err)
{
    struct prune_op p = {.op.fn = sweep, .id = from, .from = from};
    wend_status status;

    do
        status = portion(s, &p, err);
    while (status == WEND_OK && p.id);
    return status;
}

static wend_status lock(struct sqlite_store *s, wend_error *err)
{
    wend_status status = WEND_OK;

    pthread_mutex_lock(&s->care_lock);
    if (!owner_lock(&s->owner)) {
        status = fail(err, WEND_E_STORE, "store %s: cannot be locked: %s",
                      s->path, strerror(errno));
        pthread_mutex_unlock(&s->care_lock);
    }
    return status;
}

static void unlock(struct sqlite_store *s)
{
    owner_unlock(&s->owner);
    pthread_mutex_unlock(&s->care_lock);
}

wend_status db_forget(wend_store *store, const char *ids, size_t count,
                      int64_t *gone, wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct prune_op p = {.op.fn = mark, .ids = ids, .ids_left = count};
    int64_t from = 0;
    wend_status status = lock(s, err);

    *gone = 0;
    if (status != WEND_OK)
        return status;
    while (status == WEND_OK && p.ids_left) {
        status = portion(s, &p, err);
        *gone += status == WEND_OK ? p.gone : 0;
    }
    if (status == WEND_OK)
        status = sweep_from(s, *gone, &from, err);
    if (status == WEND_OK)
        status = sweep_all(s, from, err);
    unlock(s);
    return status;
}

/* ---- Blobs --------------------------------------------------------------- */

struct kept_blob { /* that the store has */
    struct node node;
    bool used, gone;
};

/* Events that may be added while blobs are looked at: those of a run that is
 * not over, behind its newest one, and those of runs that are new. */
struct event_span {
    int64_t after, until;
};

struct kept_blobs {
    struct name_set set; /* struct kept_blob, by hash */
    size_t at;           /* the first slot with one that is unused */
    struct buf spans;    /* struct event_span */
};

static wend_status load_blobs(struct db *db, struct kept_blobs *blobs,
                              wend_error *err)
{
    struct db_ask q = ask(db, Q_BLOB_HASHES, NULL);

    while (ask_step(&q) == SQLITE_ROW) {
        wend_str hash = ask_get_str(&q, 0);

        /* Another length is not a hash of ours. */
        if (hash.len == SHA256_HEX && !name_set_put(&blobs->set, hash)) {
            q.rc = SQLITE_NOMEM;
            break;
        }
    }
    return ask_end(&q, err);
}

static wend_status load_spans(struct db *db, struct kept_blobs *blobs,
                              wend_error *err)
{
    struct db_ask q = ask(db, Q_EVENTS_OPEN, NULL);
    wend_status s;

    while (ask_step(&q) == SQLITE_ROW) {
        struct event_span span = {ask_get_i64(&q, 0), ask_get_i64(&q, 1)};

        buf_add(&blobs->spans, (const char *)&span, sizeof span);
    }
    s = ask_end(&q, err);
    return s == WEND_OK && blobs->spans.failed ? fail_nomem(err) : s;
}

/* By the events of a span. */
static wend_status mark_used(struct db *db, struct kept_blobs *blobs,
                             struct event_span span, wend_error *err)
{
    struct db_ask q =
        ask(db, Q_BLOB_USERS, VALUES(db_int(span.after), db_int(span.until)));

    while (ask_step(&q) == SQLITE_ROW) {
        wend_str rest = ask_get_str(&q, 0), hash;

        while (store_blob_next(&rest, &hash)) {
            struct kept_blob *b = name_set_get(&blobs->set, hash);

            if (b)
                b->used = true;
        }
    }
    return ask_end(&q, err);
}

static struct kept_blob *next_unused(struct kept_blobs *blobs)
{
    const struct table *t = &blobs->set.table;

    for (; blobs->at < t->slots_count; blobs->at++)
        for (struct node *n = t->slots[blobs->at]; n; n = n->next) {
            struct kept_blob *b = (struct kept_blob *)n;

            if (!b->used && !b->gone)
                return b;
        }
    return NULL;
}

/* Some of those that no event refers to, also none that is newer than the
 * look. */
static wend_status drop_blobs(struct db *db, struct db_op *op)
{
    struct prune_op *p = begin(op);
    const struct event_span *spans =
        (const struct event_span *)(void *)p->blobs->spans.ptr;
    size_t count = p->blobs->spans.len / sizeof *spans;
    wend_status s = WEND_OK;
    struct kept_blob *b;

    for (size_t i = 0; s == WEND_OK && i < count; i++)
        s = mark_used(db, p->blobs, spans[i], &op->err);
    while (s == WEND_OK && (b = next_unused(p->blobs))) {
        wend_str hash = str_of(name_set_name(&p->blobs->set, b));

        s = done(db, op, db_run(db, Q_BLOB_DROP, VALUES(db_str(hash))));
        b->gone = true;
        if (!time_left(p))
            break;
    }
    return s;
}

static wend_status look_at_blobs(struct sqlite_store *s,
                                 struct kept_blobs *blobs, wend_error *err)
{
    const struct event_span all = {0, INT64_MAX};
    wend_status status = db_read_begin(s, err);

    if (status == WEND_OK)
        status = load_blobs(&s->read, blobs, err);
    /* Each statement sees at least what the one before saw. */
    if (status == WEND_OK && blobs->set.table.count)
        status = load_spans(&s->read, blobs, err);
    if (status == WEND_OK && blobs->set.table.count)
        status = mark_used(&s->read, blobs, all, err);
    return db_read_end(s, status, err);
}

static wend_status tidy_blobs(struct sqlite_store *s, wend_error *err)
{
    struct kept_blobs blobs = {
        .set = {.arena.mem = &s->base.mem, .size = sizeof(struct kept_blob)},
        .spans.mem = &s->base.mem};
    struct prune_op p = {.op.fn = drop_blobs, .blobs = &blobs};
    wend_status status = look_at_blobs(s, &blobs, err);

    while (status == WEND_OK && next_unused(&blobs))
        status = portion(s, &p, err);
    name_set_free(&blobs.set);
    buf_free(&blobs.spans);
    return status;
}

/* ---- Facts --------------------------------------------------------------- */

static wend_status drop_facts(struct db *db, struct db_op *op)
{
    struct prune_op *p = begin(op);

    return db_facts_drop(db, p->now_us, &p->count, &op->err);
}

static wend_status tidy_facts(struct sqlite_store *s, int64_t now_us,
                              wend_error *err)
{
    struct prune_op p = {.op.fn = drop_facts, .now_us = now_us};
    wend_status status;

    do
        status = portion(s, &p, err);
    while (status == WEND_OK && p.count);
    return status;
}

/* ---- Room ---------------------------------------------------------------- */

/* It takes a free page from the file with each step. One may take
 * milliseconds: SQLite looks through the list of free pages for it. */
static wend_status vacuum(struct db *db, struct prune_op *p)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(db->handle, "PRAGMA incremental_vacuum(0)", -1,
                                &q, NULL);

    if (rc != SQLITE_OK)
        return db_fail(db, &p->op.err);
    do
        rc = sqlite3_step(q);
    while (rc == SQLITE_ROW && time_left(p));
    sqlite3_reset(q);
    sqlite3_finalize(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? WEND_OK
                                                 : db_fail(db, &p->op.err);
}

static wend_status give_back(struct db *db, struct db_op *op)
{
    struct prune_op *p = begin(op);
    int64_t before = 0, after = 0;
    wend_status s = db_number(db, "PRAGMA page_count", &before, &op->err);

    if (s == WEND_OK)
        s = vacuum(db, p);
    if (s == WEND_OK)
        s = db_number(db, "PRAGMA page_count", &after, &op->err);
    p->count = before - after;
    return s;
}

/* A file that was made without keeps its free pages and uses them again; so
 * does one that has more of them than can be given back in that time. */
static wend_status give_all_back(struct sqlite_store *s, int64_t *bytes,
                                 wend_error *err)
{
    struct prune_op p = {.op.fn = give_back};
    int64_t page = 0, until_us = queue_now_us() + ROOM_US;
    wend_status status = db_read_begin(s, err);

    if (status == WEND_OK)
        status = db_number(&s->read, "PRAGMA page_size", &page, err);
    status = db_read_end(s, status, err);
    while (status == WEND_OK && queue_now_us() < until_us) {
        status = portion(s, &p, err);
        if (p.count <= 0)
            break;
        *bytes += p.count * page;
    }
    return status;
}

wend_status db_tidy(wend_store *store, int64_t now_us, int64_t *bytes,
                    wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status = lock(s, err);

    *bytes = 0;
    if (status != WEND_OK)
        return status;
    status = sweep_all(s, 0, err);
    if (status == WEND_OK)
        status = tidy_facts(s, now_us, err);
    if (status == WEND_OK)
        status = tidy_blobs(s, err);
    if (status == WEND_OK)
        status = give_all_back(s, bytes, err);
    unlock(s);
    return status;
}

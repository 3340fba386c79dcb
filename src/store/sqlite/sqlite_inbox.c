/*
 * sqlite_inbox.c - requests to runs in an SQLite store.
 *
 * A row stays until a batch of its run deals with it: it goes in the same
 * transaction as what it led to, or becomes 'late', which its sender reads. If
 * the sender is gone, a later request, claim or end of a run deletes the row.
 */
#include <time.h>

#include "base/fail.h"
#include "base/limits.h"
#include "store/sqlite/sqlite.h"

/* A sender waits for seconds; one that has not asked by then is gone. The id of
 * a request is the time at which it came. */
#define LATE_US (INT64_C(600) * 1000000)

/* ---- The writer's part --------------------------------------------------- */

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int db_drop_late(struct db *db)
{
    return db_run(db, Q_REQUESTS_LATE_DROP, VALUES(db_int(now_us() - LATE_US)));
}

static wend_status post(struct db *db, struct db_op *op)
{
    struct log_place at = {0};
    wend_status s = db_find_known(db, op, &at);
    int64_t count = 0;

    if (s == WEND_OK)
        s = db_outcome(db, db_drop_late(db), &op->err);
    if (s == WEND_OK)
        s = db_outcome(
            db, db_first(db, Q_REQUESTS_COUNT, VALUES(db_int(at.id)), &count),
            &op->err);
    if (s == WEND_OK)
        s = store_postable(op->run, at.ended_us, count, &op->err);
    if (s == WEND_OK)
        s = db_write(db, Q_REQUEST_ADD,
                     VALUES(db_int(now_us()), db_int(at.id), db_str(op->what),
                            db_str(op->body)),
                     &op->err);
    op->id = sqlite3_last_insert_rowid(db->handle);
    return s;
}

static wend_status drop(struct db *db, struct db_op *op)
{
    return db_write(db, Q_REQUEST_DROP, VALUES(db_int(op->id)), &op->err);
}

int db_hear(struct db *db, int64_t id, const struct store_batch *b,
            wend_status *refused)
{
    int64_t waiting = 0;
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < b->heard_count; i++)
        rc = db_run(db, b->heard[i].late ? Q_REQUEST_LATE : Q_REQUEST_DROP,
                    VALUES(db_int(b->heard[i].id)));
    if (rc == SQLITE_OK && b->summary.ended_us)
        rc = db_drop_late(db);
    if (rc == SQLITE_OK && b->summary.ended_us)
        rc = db_first(db, Q_REQUESTS_WAITING, VALUES(db_int(id)), &waiting);
    if (rc == SQLITE_OK && waiting)
        *refused = WEND_E_BUSY;
    return rc;
}

/* ---- On the caller's thread ---------------------------------------------- */

wend_status db_post(wend_store *store, wend_str run, const char *what,
                    wend_str body, int64_t *id, wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct db_op op = {
        .fn = post, .run = run, .what = str_of(what), .body = body};
    wend_status status = db_wait(s, &op, err);

    if (id)
        *id = op.id;
    return status;
}

/* The requests of a run (Q_REQUESTS_OF) or an owner (Q_REQUESTS). */
static wend_status requests(struct sqlite_store *s, enum query q,
                            struct db_value of, struct arena *arena,
                            struct store_request *list, size_t *count,
                            wend_error *err)
{
    struct db_ask a = ask(&s->read, q, VALUES(of, db_int(REQUESTS_MAX)));
    wend_status status;

    for (*count = 0; ask_step(&a) == SQLITE_ROW; ++*count)
        list[*count] = (struct store_request){
            .id = ask_get_i64(&a, 0),
            .run = arena_str(arena, ask_get_str(&a, 1)),
            .what = arena_str(arena, ask_get_str(&a, 2)),
            .body = arena_str(arena, ask_get_str(&a, 3)),
        };
    status = ask_end(&a, err);
    return status == WEND_OK && arena->failed ? fail_nomem(err) : status;
}

wend_status db_waiting(wend_store *store, wend_str run, struct arena *a,
                       struct store_request **out, size_t *count,
                       wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status = db_read_begin(s, err);

    *count = 0;
    if (status == WEND_OK) {
        *out = arena_alloc(a, REQUESTS_MAX * sizeof **out);
        if (!*out)
            status = fail_nomem(err);
    }
    if (status == WEND_OK)
        status = requests(s, Q_REQUESTS_OF, db_str(run), a, *out, count, err);
    return db_read_end(s, status, err);
}

static wend_status take(struct sqlite_store *s, struct arena *arena,
                        struct store_request *list, size_t *count,
                        wend_error *err)
{
    int64_t at = s->taken_at;
    wend_status status = db_first(&s->read, Q_CHANGED, NULL, &at) == SQLITE_OK
                             ? WEND_OK
                             : db_fail(&s->read, err);

    if (status == WEND_OK && at != s->taken_at)
        status = requests(s, Q_REQUESTS, db_int(s->owner.id), arena, list,
                          count, err);
    if (status == WEND_OK)
        s->taken_at = at;
    else
        *count = 0;
    return status;
}

/* What is left is for another caller, which finds it without a change of the
 * file. */
static void look_again(struct sqlite_store *s)
{
    pthread_mutex_lock(&s->read_lock);
    s->taken_at = -1;
    pthread_mutex_unlock(&s->read_lock);
}

wend_status db_take(wend_store *store, store_request_fn fn, void *ctx,
                    wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct store_request list[REQUESTS_MAX];
    struct arena arena = {.mem = &store->mem};
    wend_status status = db_read_begin(s, err);
    size_t count = 0, taken = 0;

    if (status == WEND_OK)
        status = take(s, &arena, list, &count, err);
    status = db_read_end(s, status, err);
    for (size_t i = 0; i < count; i++)
        taken += fn(ctx, &list[i]);
    if (taken < count || count == REQUESTS_MAX)
        look_again(s);
    arena_free(&arena);
    return status;
}

static wend_status look_up(struct sqlite_store *s, int64_t id,
                           enum store_fate *out, wend_error *err)
{
    int64_t late = 0;
    int rc = db_first(&s->read, Q_REQUEST, VALUES(db_int(id)), &late);

    *out = rc != SQLITE_OK ? FATE_HEARD : late ? FATE_LATE : FATE_WAITS;
    return rc == SQLITE_OK || rc == SQLITE_DONE ? WEND_OK
                                                : db_fail(&s->read, err);
}

wend_status db_fate(wend_store *store, int64_t id, enum store_fate *out,
                    wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    struct db_op op = {.fn = drop, .id = id};
    wend_status status = db_read_begin(s, err);

    if (status == WEND_OK)
        status = look_up(s, id, out, err);
    status = db_read_end(s, status, err);
    return status == WEND_OK && *out == FATE_LATE ? db_wait(s, &op, err)
                                                  : status;
}

/*
 * sqlite_inbox.c - requests to runs in an SQLite store.
 *
 * A row stays until a batch of its run deals with it: it goes in the same
 * transaction as what it led to, or becomes 'late', which its sender reads. If
 * that is gone, the row goes with a later request, claim or end of a run.
 */
#include <time.h>

#include "base/fail.h"
#include "base/limits.h"
#include "store/sqlite/sqlite.h"

/* A sender waits for seconds; one that has not asked by then is gone. The id of
 * a request is the time at which it came. */
#define LATE_US (INT64_C(600) * 1000000)

/* ---- The writer's part --------------------------------------------------- */

static int count_requests(struct db *db, int64_t run, int64_t *all,
                          int64_t *waiting)
{
    struct db_ask a = ask(db, Q_REQUESTS_COUNT);
    int rc;

    ask_i64(&a, run);
    rc = ask_step(&a);
    if (rc == SQLITE_ROW) {
        *all = ask_get_i64(&a, 0);
        *waiting = ask_get_i64(&a, 1);
    }
    ask_reset(&a);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int db_drop_late(struct db *db)
{
    struct db_ask a = ask(db, Q_REQUESTS_LATE_DROP);

    ask_i64(&a, now_us() - LATE_US);
    return ask_run(&a);
}

static wend_status post(struct db *db, struct db_op *op)
{
    struct log_place at = {0};
    wend_status s = db_find_known(db, op, &at);
    int64_t all = 0, waiting;
    struct db_ask a;

    if (s != WEND_OK)
        return s;
    if (at.ended_us)
        return fail(&op->err, WEND_E_INVAL, "run %.*s is over",
                    (int)op->run.len, op->run.ptr);
    s = db_outcome(db, db_drop_late(db), &op->err);
    if (s == WEND_OK)
        s = db_outcome(db, count_requests(db, at.id, &all, &waiting), &op->err);
    if (s != WEND_OK)
        return s;
    if (all >= REQUESTS_MAX)
        return fail(&op->err, WEND_E_LIMIT,
                    "%d requests to run %.*s wait already", REQUESTS_MAX,
                    (int)op->run.len, op->run.ptr);
    a = ask(db, Q_REQUEST_ADD);
    ask_i64(&a, now_us());
    ask_i64(&a, at.id);
    ask_str(&a, op->what);
    ask_str(&a, op->body);
    s = db_outcome(db, ask_run(&a), &op->err);
    op->id = sqlite3_last_insert_rowid(db->handle);
    return s;
}

static wend_status drop(struct db *db, struct db_op *op)
{
    struct db_ask a = ask(db, Q_REQUEST_DROP);

    ask_i64(&a, op->id);
    return db_outcome(db, ask_run(&a), &op->err);
}

int db_hear(struct db *db, int64_t id, const struct store_batch *b,
            wend_status *refused)
{
    int64_t all, waiting = 0;
    int rc = SQLITE_OK;

    for (size_t i = 0; rc == SQLITE_OK && i < b->heard_count; i++) {
        struct db_ask a =
            ask(db, b->heard[i].late ? Q_REQUEST_LATE : Q_REQUEST_DROP);

        ask_i64(&a, b->heard[i].id);
        rc = ask_run(&a);
    }
    if (rc == SQLITE_OK && b->summary.ended_us)
        rc = db_drop_late(db);
    if (rc == SQLITE_OK && b->summary.ended_us)
        rc = count_requests(db, id, &all, &waiting);
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

/* What a query gives; its parameters but the last are set. */
static wend_status requests(struct sqlite_store *s, struct db_ask *a,
                            struct arena *arena, struct store_request *list,
                            size_t *count, wend_error *err)
{
    wend_status status = WEND_OK;

    ask_i64(a, REQUESTS_MAX);
    for (*count = 0; ask_step(a) == SQLITE_ROW; ++*count)
        list[*count] = (struct store_request){
            .id = ask_get_i64(a, 0),
            .run = arena_str(arena, ask_get_str(a, 1)),
            .what = arena_str(arena, ask_get_str(a, 2)),
            .body = arena_str(arena, ask_get_str(a, 3)),
        };
    if (a->rc != SQLITE_DONE)
        status = db_fail(&s->read, err);
    else if (arena->failed)
        status = fail_nomem(err);
    ask_reset(a);
    return status;
}

wend_status db_waiting(wend_store *store, wend_str run, struct arena *a,
                       struct store_request **out, size_t *count,
                       wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status = db_read_begin(s, err);
    struct db_ask q;

    *count = 0;
    if (status == WEND_OK) {
        *out = arena_alloc(a, REQUESTS_MAX * sizeof **out);
        if (!*out)
            status = fail_nomem(err);
    }
    if (status == WEND_OK) {
        q = ask(&s->read, Q_REQUESTS_OF);
        ask_str(&q, run);
        status = requests(s, &q, a, *out, count, err);
    }
    return db_read_end(s, status, err);
}

static wend_status changed(struct sqlite_store *s, int64_t *at, wend_error *err)
{
    struct db_ask a = ask(&s->read, Q_CHANGED);
    wend_status status = WEND_OK;

    if (ask_step(&a) == SQLITE_ROW)
        *at = ask_get_i64(&a, 0);
    else
        status = db_fail(&s->read, err);
    ask_reset(&a);
    return status;
}

static wend_status take(struct sqlite_store *s, struct arena *arena,
                        struct store_request *list, size_t *count,
                        wend_error *err)
{
    int64_t at = s->taken_at;
    wend_status status = changed(s, &at, err);
    struct db_ask a;

    if (status == WEND_OK && at != s->taken_at) {
        a = ask(&s->read, Q_REQUESTS);
        ask_i64(&a, s->owner.id);
        status = requests(s, &a, arena, list, count, err);
    }
    if (status == WEND_OK)
        s->taken_at = at;
    else
        *count = 0;
    return status;
}

/* What is left is somebody else's, who shall find it without a change. */
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
    struct db_ask a = ask(&s->read, Q_REQUEST);
    int rc;

    ask_i64(&a, id);
    rc = ask_step(&a);
    *out = rc != SQLITE_ROW                     ? FATE_HEARD
           : str_is(ask_get_str(&a, 0), "late") ? FATE_LATE
                                                : FATE_WAITS;
    ask_reset(&a);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? WEND_OK
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

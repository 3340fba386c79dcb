/*
 * sqlite_facts.c - named facts: the table `memory`.
 *
 * The table is made with the first fact: most stores have none, and an
 * empty table takes a page.
 */
#include "base/fail.h"
#include "store/sqlite/sqlite.h"

enum { FACTS_AT_ONCE = 500 }; /* dropped, so that others write in between */

static const char create[] = "CREATE TABLE IF NOT EXISTS memory ("
                             " space TEXT NOT NULL,"
                             " key TEXT NOT NULL,"
                             " text TEXT NOT NULL,"
                             " time INTEGER NOT NULL,"  /* unix microseconds */
                             " until INTEGER NOT NULL," /* 0 = for ever */
                             " PRIMARY KEY (space, key)) WITHOUT ROWID";

struct keep_op {
    struct db_op op;
    struct mem mem;
    struct store_fact fact;
    store_kept_fn done; /* NULL: none */
    void *ctx;
};

static wend_status keep(struct db *db, struct db_op *op)
{
    const struct store_fact *f = &container_of(op, struct keep_op, op)->fact;
    wend_status s = db_exec(db, create, &op->err);
    int rc;

    if (s != WEND_OK)
        return s;
    if (f->text.ptr)
        rc = db_run(db, Q_FACT_SET,
                    VALUES(db_str(f->space), db_str(f->key), db_str(f->text),
                           db_int(f->time_us), db_int(f->until_us)));
    else
        rc = db_run(db, Q_FACT_DROP, VALUES(db_str(f->space), db_str(f->key)));
    return rc == SQLITE_OK ? WEND_OK : db_fail(db, &op->err);
}

static void kept(struct db_op *op)
{
    struct keep_op *k = container_of(op, struct keep_op, op);
    struct mem m = k->mem;

    if (k->done)
        k->done(k->ctx, op->status);
    mem_free(&m, k);
}

void db_keep(wend_store *store, const struct store_fact *fact,
             store_kept_fn done, void *ctx)
{
    struct store_fact copy = *fact;
    wend_str *const texts[] = {&copy.space, &copy.key, &copy.text, NULL};
    struct keep_op *k = store_block(&store->mem, sizeof *k, texts);

    if (k) {
        *k = (struct keep_op){.op = {.fn = keep, .done = kept},
                              .mem = store->mem,
                              .fact = copy,
                              .done = done,
                              .ctx = ctx};
        db_queue((struct sqlite_store *)store, &k->op);
    } else if (done) {
        done(ctx, WEND_E_NOMEM);
    }
}

wend_status db_facts_there(struct db *db, int64_t *there, wend_error *err)
{
    return db_number(db,
                     "SELECT count(*) FROM sqlite_schema"
                     " WHERE name = 'memory'",
                     there, err);
}

wend_status db_facts_drop(struct db *db, int64_t now_us, int64_t *count,
                          wend_error *err)
{
    int64_t there = 0;
    wend_status s = db_facts_there(db, &there, err);

    *count = 0;
    if (s != WEND_OK || !there)
        return s;
    if (db_run(db, Q_FACTS_OVER,
               VALUES(db_int(now_us), db_int(FACTS_AT_ONCE))) != SQLITE_OK)
        return db_fail(db, err);
    *count = sqlite3_changes(db->handle);
    return WEND_OK;
}

static wend_status give(struct sqlite_store *s, wend_str space, wend_str key,
                        int64_t now_us, store_fact_fn fn, void *ctx,
                        wend_error *err)
{
    struct db_ask a = ask(&s->read, Q_FACTS,
                          VALUES(db_str(space), db_str(key), db_int(now_us)));
    bool more = true;

    while (more && ask_step(&a) == SQLITE_ROW) {
        struct store_fact f = {.space = space,
                               .key = ask_get_str(&a, 0),
                               .text = ask_get_str(&a, 1),
                               .time_us = ask_get_i64(&a, 2),
                               .until_us = ask_get_i64(&a, 3)};

        more = fn(ctx, &f);
    }
    if (more)
        return ask_end(&a, err);
    ask_reset(&a);
    return WEND_OK;
}

wend_status db_facts(wend_store *store, wend_str space, wend_str key,
                     int64_t now_us, store_fact_fn fn, void *ctx,
                     wend_error *err)
{
    struct sqlite_store *s = (struct sqlite_store *)store;
    wend_status status = db_read_begin(s, err);
    int64_t there = 0;

    if (status == WEND_OK)
        status = db_facts_there(&s->read, &there, err);
    if (status == WEND_OK && there)
        status = give(s, space, key, now_us, fn, ctx, err);
    return db_read_end(s, status, err);
}

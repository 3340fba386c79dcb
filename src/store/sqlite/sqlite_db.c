/*
 * sqlite_db.c - a connection to an SQLite store and its statements.
 *
 * A connection belongs to one thread at a time; statements are prepared
 * when first asked for and kept.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/limits.h"
#include "store/sqlite/sqlite.h"

/* The first event of its own: run_start of a child, run_fork of a fork, which
 * may be a child, too. Few runs have a parent. */
#define LIST_FIRST                                                     \
    "(SELECT CASE WHEN e.seq = 1 THEN 'child' WHEN json_valid(e.body)" \
    " THEN json_extract(e.body, '$.data.parent_run') END"              \
    " FROM events AS e WHERE e.id > (runs.id << 32)"                   \
    " AND e.id < (runs.id + 1 << 32) ORDER BY e.id LIMIT 1)"
#define LIST_COLUMNS                                                   \
    "SELECT run, status, agent, model, prompt, user, session, parent," \
    " started, ended, turns, tokens_in, tokens_out, cost, seq, owner," \
    " imported, CASE WHEN parent IS NULL THEN NULL ELSE " LIST_FIRST   \
    " END FROM runs WHERE (?1 IS NULL OR user = ?1)"                   \
    " AND (?2 IS NULL OR session = ?2) AND (?3 IS NULL OR agent = ?3)" \
    " AND (?4 IS NULL OR status = ?4) AND (?5 = 0 OR ended IS NULL)"   \
    " AND started >= ?6 AND started < ?7"                              \
    " AND (?8 IS NULL OR id < (SELECT id FROM runs WHERE run = ?8))"   \
    " AND status <> 'pruned'"
/* In the order in which they came here: an imported run may have any id and
 * any time. */
#define LIST_ORDER " ORDER BY id DESC"
/* The rows of a run in `events` and `deltas`: its number is in the upper half
 * of theirs. */
#define OF_RUN "id >= (?1 << 32) AND id < (?1 + 1 << 32)"

static const char *const queries[QUERIES] = {
    [Q_BEGIN] = "BEGIN",
    [Q_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [Q_COMMIT] = "COMMIT",
    [Q_ROLLBACK] = "ROLLBACK",
    [Q_BATCH] = "SAVEPOINT batch",
    [Q_BATCH_KEEP] = "RELEASE batch",
    [Q_BATCH_UNDO] = "ROLLBACK TO batch",
    [Q_RUN] = "SELECT id, epoch, seq, head, owner, ended, parent FROM runs"
              " WHERE run = ? AND status <> 'pruned'",
    [Q_RUN_ROW] = "SELECT 1 FROM runs WHERE id = ? AND run = ?",
    [Q_RUNS_OPEN] = "SELECT id, run, seq FROM runs WHERE ended IS NULL",
    [Q_RUN_ADD] = "INSERT INTO runs (run, agent, model, prompt, user,"
                  " session, parent, started, epoch, seq, imported)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 OR"
                  " ifnull((SELECT imported FROM runs WHERE run = ?7), 0))",
    [Q_RUN_SET] = "UPDATE runs SET status = ?2, ended = ?3, turns = ?4,"
                  " tokens_in = ?5, tokens_out = ?6, cost = ?7, owner = ?8,"
                  " seq = ?9, head = ?10 WHERE id = ?1",
    [Q_RUN_CLAIM] = "UPDATE runs SET epoch = epoch + 1, owner = ?2,"
                    " status = 'running' WHERE id = ?1",
    [Q_EVENT_ADD] = "INSERT INTO events (id, body, hash)"
                    " VALUES (?1 << 32 | ?2, ?3 || ?4, ?5)",
    [Q_PACK_LAST] = "SELECT id, seq, n FROM deltas WHERE " OF_RUN
                    " ORDER BY id DESC LIMIT 1",
    [Q_PACK_ADD] = "INSERT INTO deltas (id, seq, n, count, body)"
                   " VALUES (?, ?, ?, ?, ?)",
    [Q_BLOB_ADD] = "INSERT INTO blobs (hash, body) VALUES (?, ?)"
                   " ON CONFLICT (hash) DO NOTHING",
    /* No id twice: by it a sender asks what became of its request. */
    [Q_REQUEST_ADD] = "INSERT INTO inbox (id, run, what, body)"
                      " SELECT max(?1, coalesce(max(id), 0) + 1), ?2, ?3, ?4"
                      " FROM inbox",
    [Q_REQUEST_LATE] = "UPDATE inbox SET what = 'late', body = '{}'"
                       " WHERE id = ?",
    [Q_REQUEST] = "SELECT what = 'late' FROM inbox WHERE id = ?",
    [Q_FACT_SET] = "INSERT INTO memory (space, key, text, time, until)"
                   " VALUES (?, ?, ?, ?, ?) ON CONFLICT (space, key) DO UPDATE"
                   " SET text = excluded.text, time = excluded.time,"
                   " until = excluded.until",
    [Q_FACT_DROP] = "DELETE FROM memory WHERE space = ? AND key = ?",
    [Q_FACTS] = "SELECT key, text, time, until FROM memory WHERE space = ?1"
                " AND (?2 IS NULL OR key = ?2) AND (until = 0 OR until > ?3)"
                " ORDER BY time DESC, key",
    [Q_FACTS_OVER] = "DELETE FROM memory WHERE (space, key) IN (SELECT space,"
                     " key FROM memory WHERE until > 0 AND until <= ?"
                     " LIMIT ?)",
    [Q_REQUEST_DROP] = "DELETE FROM inbox WHERE id = ?",
    [Q_REQUESTS_LATE_DROP] = "DELETE FROM inbox WHERE what = 'late' AND id < ?",
    [Q_REQUESTS_DROP] = "DELETE FROM inbox WHERE run = ?",
    [Q_EVENTS] = "SELECT seq, body, hash FROM events"
                 " WHERE id >= (?1 << 32 | ?2) AND id <= (?1 << 32 | ?3)"
                 " ORDER BY id",
    [Q_EVENT_FIRST] = "SELECT min(id) & 0xffffffff FROM events WHERE " OF_RUN,
    [Q_EVENT_HASH] = "SELECT hash FROM events WHERE id = (?1 << 32 | ?2)",
    /* The lower half of a pack's id is at least its seq. */
    [Q_PACKS] = "SELECT seq, n, count, body FROM deltas"
                " WHERE id >= (?1 << 32 | ?2) AND id < (?1 + 1 << 32)"
                " AND seq >= ?2 AND seq <= ?3"
                " AND (seq > ?4 OR n + count - 1 > ?5) ORDER BY id",
    /* From the end backwards: there may be many before them. With a second
     * lower bound SQLite would seek to that one and read all. */
    [Q_PACKS_AFTER] = "SELECT body FROM deltas WHERE id < (?1 + 1 << 32)"
                      " AND id > coalesce((SELECT id FROM deltas WHERE " OF_RUN
                      " AND seq < ?2 ORDER BY id DESC LIMIT 1),"
                      " (?1 << 32) - 1) ORDER BY id",
    [Q_BLOB] = "SELECT body FROM blobs WHERE hash = ?",
    [Q_REQUESTS] = "SELECT inbox.id, runs.run, what, body FROM inbox"
                   " JOIN runs ON runs.id = inbox.run WHERE owner = ?"
                   " AND what <> 'late' ORDER BY inbox.id LIMIT ?",
    [Q_REQUESTS_OF] = "SELECT inbox.id, runs.run, what, body FROM inbox"
                      " JOIN runs ON runs.id = inbox.run WHERE runs.run = ?"
                      " AND what <> 'late' ORDER BY inbox.id LIMIT ?",
    [Q_REQUESTS_COUNT] = "SELECT count(*) FROM inbox WHERE run = ?",
    [Q_REQUESTS_WAITING] = "SELECT count(*) FROM inbox WHERE run = ?"
                           " AND what <> 'late'",
    /* Makes no row larger: a page that is split for it would be the last of
     * the file. */
    [Q_PRUNE_MARK] = "UPDATE runs SET status = 'pruned', owner = NULL,"
                     " head = NULL"
                     " WHERE run = ?1 AND ended IS NOT NULL AND"
                     " status <> 'pruned' AND NOT EXISTS (SELECT 1 FROM runs"
                     " AS child WHERE child.parent = ?1 AND"
                     " child.status <> 'pruned')",
    [Q_PRUNE_FROM] = "SELECT id FROM runs ORDER BY id LIMIT 1 OFFSET"
                     " (SELECT max(count(*) - ?, count(*) / 32) FROM runs)",
    [Q_PRUNE_NEXT] = "SELECT id FROM runs WHERE status = 'pruned'"
                     " AND id >= ? ORDER BY id LIMIT 1",
    [Q_PRUNE_EVENTS] = "DELETE FROM events WHERE id IN (SELECT id FROM events"
                       " WHERE " OF_RUN " LIMIT ?2)",
    [Q_PRUNE_DELTAS] = "DELETE FROM deltas WHERE id IN (SELECT id FROM deltas"
                       " WHERE " OF_RUN " LIMIT ?2)",
    [Q_PRUNE_RUN] = "DELETE FROM runs WHERE id = ? AND status = 'pruned'",
    [Q_BLOB_HASHES] = "SELECT hash FROM blobs",
    [Q_EVENTS_OPEN] = "SELECT coalesce((SELECT max(e.id) FROM events AS e"
                      " WHERE e.id >= (r.id << 32) AND e.id < (r.id + 1 <<"
                      " 32)), r.id << 32), r.id + 1 << 32 FROM runs AS r"
                      " WHERE ended IS NULL UNION ALL SELECT"
                      " coalesce(max(id) + 1 << 32, 0), 0x7fffffffffffffff"
                      " FROM runs",
    [Q_BLOB_USERS] = "SELECT body FROM events WHERE id > ? AND id < ?"
                     " AND (instr(body, '{\"blob\":\"')"
                     " OR instr(body, '" CUT_MARK "')"
                     " OR instr(body, '" PART_MARK "'))",
    [Q_BLOB_DROP] = "DELETE FROM blobs WHERE hash = ?",
    [Q_CHANGED] = "PRAGMA data_version",
    [Q_LIST] = LIST_COLUMNS LIST_ORDER,
    [Q_LIST_PREFIX] = LIST_COLUMNS " AND run >= ?9 AND run < ?10" LIST_ORDER,
};

/* What to tell people; the others speak for themselves. */
static const struct {
    int number; /* of the system */
    const char *text;
} limits[] = {
    {EFBIG, "the limit of file sizes is reached (ulimit -f); raise it"},
    {ENOSPC, "the disk is full; make room"},
    {EDQUOT, "the quota of the disk is used up; make room"},
    {EMFILE, "too many files are open; raise the limit (ulimit -n)"},
    {ENFILE, "too many files are open in the whole system"},
};

static const struct {
    int code;
    wend_status status;
    const char *text;
} failures[] = {
    {SQLITE_FULL, WEND_E_STORE, "the disk is full; make room"},
    {SQLITE_READONLY, WEND_E_STORE,
     "is read-only; make the file and its directory writable, or choose "
     "another store"},
    {SQLITE_BUSY, WEND_E_STORE,
     "is locked by another program, and nothing was written for 30 s; end it"},
    {SQLITE_CORRUPT, WEND_E_CORRUPT,
     "the file is damaged; keep a copy and try sqlite3's .recover"},
    {SQLITE_NOTADB, WEND_E_STORE,
     "is not a wend store, nor any SQLite file; choose another path"},
    {SQLITE_CANTOPEN, WEND_E_STORE,
     "cannot be opened; the file and its directory must be yours and "
     "writable"},
    {SQLITE_NOMEM, WEND_E_NOMEM, "out of memory"},
};

/* What the system said about the file that failed; 0 if it is not known. */
static int errno_of(sqlite3 *handle)
{
    sqlite3_file *log = NULL;
    int number = 0;

    if (sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER,
                             &log) == SQLITE_OK &&
        log && log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (!number)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number ? number : sqlite3_system_errno(handle);
}

wend_status db_fail(const struct db *db, wend_error *err)
{
    int code = db->handle ? sqlite3_extended_errcode(db->handle) : SQLITE_NOMEM;
    int number = 0;

    if ((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN)
        number = errno_of(db->handle);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].number == number)
            return fail(err, WEND_E_STORE, "store %s: %s", db->path,
                        limits[i].text);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == (code & 0xff))
            return fail(err, failures[i].status, "store %s: %s", db->path,
                        failures[i].text);
    return fail(err, WEND_E_STORE, "store %s: %s%s%s (SQLite code %d)",
                db->path, sqlite3_errmsg(db->handle), number ? ": " : "",
                number ? strerror(number) : "", code);
}

/* Evenly and often, so that a steady writer cannot keep others out. */
static int on_busy(void *ctx, int tries)
{
    const struct timespec ms = {.tv_nsec = 1000000};
    struct db *db = ctx;

    if (!tries)
        patience_begin(&db->patience, db->path, QUEUE_IDLE_MS);
    nanosleep(&ms, NULL);
    return patience_left(&db->patience);
}

wend_status db_exec(struct db *db, const char *sql, wend_error *err)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK
               ? WEND_OK
               : db_fail(db, err);
}

/* `name` is the path or a URI of it. */
static wend_status connect_as(struct db *db, const char *path, const char *name,
                              int flags, wend_error *err)
{
    /* What is in the file is data: it may not make us run anything. */
    static const int off[] = {
        SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        SQLITE_DBCONFIG_ENABLE_TRIGGER,
        SQLITE_DBCONFIG_ENABLE_VIEW,
    };
    int rc;

    db->path = path;
    rc = sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return db_fail(db, err);
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_handler(db->handle, on_busy, db);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        sqlite3_db_config(db->handle, off[i], 0, NULL);
    /* Pages that a savepoint may need again, and sorted rows: they belong
     * into no other file, and a commit of many batches is faster. */
    return db_exec(db, "PRAGMA temp_store = MEMORY", err);
}

wend_status db_connect(struct db *db, const char *path, wend_error *err)
{
    return connect_as(db, path, path, SQLITE_OPEN_READWRITE, err);
}

/* The path is absolute. */
wend_status db_connect_still(struct db *db, const char *path,
                             const struct still *still, wend_error *err)
{
    const struct mem mem = {0};
    struct buf uri = {.mem = &mem};
    wend_status s;

    db->path = path;
    buf_cstr(&uri, "file://");
    for (const char *p = path; *p; p++)
        if (strchr("%?#", *p))
            buf_fmt(&uri, "%%%02X", (unsigned)(unsigned char)*p);
        else
            buf_char(&uri, *p);
    buf_cstr(&uri, still->on ? "?immutable=1" : "?readonly_shm=1");
    s = uri.failed ? fail_nomem(err)
                   : connect_as(db, path, uri.ptr,
                                SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    buf_free(&uri);
    return s;
}

void db_close(struct db *db)
{
    for (int i = 0; i < QUERIES; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_close(db->handle);
    memset(db, 0, sizeof *db);
}

/* The first row of a statement that is to be finalized; NULL if none. */
static sqlite3_stmt *first_row(struct db *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

wend_status db_number(struct db *db, const char *sql, int64_t *out,
                      wend_error *err)
{
    sqlite3_stmt *row = first_row(db, sql);

    if (!row)
        return db_fail(db, err);
    *out = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return WEND_OK;
}

wend_status db_text(struct db *db, const char *sql, char *out, size_t size,
                    wend_error *err)
{
    sqlite3_stmt *row = first_row(db, sql);
    const char *value;

    if (!row)
        return db_fail(db, err);
    value = (const char *)sqlite3_column_text(row, 0);
    snprintf(out, size, "%s", value ? value : "");
    sqlite3_finalize(row);
    return value ? WEND_OK : fail_nomem(err);
}

wend_status db_says(struct db *db, const char *sql, const char *text, bool *yes,
                    wend_error *err)
{
    char value[40];
    wend_status s = db_text(db, sql, value, sizeof value, err);

    *yes = s == WEND_OK && !strcmp(value, text);
    return s;
}

/* ---- Statements ---------------------------------------------------------- */

static int bind(sqlite3_stmt *statement, int at, const struct db_value *v)
{
    switch (v->kind) {
    case DB_INT: return sqlite3_bind_int64(statement, at, v->number);
    case DB_TEXT:
        return sqlite3_bind_text64(statement, at, v->text.ptr, v->text.len,
                                   SQLITE_STATIC, SQLITE_UTF8);
    case DB_BYTES:
        return sqlite3_bind_blob64(statement, at, v->text.ptr, v->text.len,
                                   SQLITE_STATIC);
    case DB_LAST: break;
    }
    return SQLITE_OK;
}

struct db_ask ask(struct db *db, enum query q, const struct db_value *values)
{
    struct db_ask a = {.db = db};

    assert(db->handle);
    assert(queries[q]);
    if (!db->statements[q])
        a.rc = sqlite3_prepare_v3(db->handle, queries[q], -1,
                                  SQLITE_PREPARE_PERSISTENT, &db->statements[q],
                                  NULL);
    a.statement = db->statements[q];
    for (int i = 0; values && values[i].kind != DB_LAST && a.rc == SQLITE_OK;
         i++)
        a.rc = bind(a.statement, i + 1, &values[i]);
    return a;
}

int ask_step(struct db_ask *a)
{
    if (a->rc == SQLITE_OK || a->rc == SQLITE_ROW)
        a->rc = sqlite3_step(a->statement);
    return a->rc;
}

void ask_reset(struct db_ask *a)
{
    if (!a->statement) /* there was no memory for it */
        return;
    sqlite3_reset(a->statement);
    sqlite3_clear_bindings(a->statement);
}

wend_status ask_end(struct db_ask *a, wend_error *err)
{
    wend_status s = a->rc == SQLITE_DONE    ? WEND_OK
                    : a->rc == SQLITE_NOMEM ? fail_nomem(err)
                                            : db_fail(a->db, err);

    ask_reset(a);
    return s;
}

int db_run(struct db *db, enum query q, const struct db_value *values)
{
    struct db_ask a = ask(db, q, values);

    while (ask_step(&a) == SQLITE_ROW)
        ;
    ask_reset(&a);
    return a.rc == SQLITE_DONE ? SQLITE_OK : a.rc;
}

int db_first(struct db *db, enum query q, const struct db_value *values,
             int64_t *out)
{
    struct db_ask a = ask(db, q, values);

    if (ask_step(&a) == SQLITE_ROW)
        *out = ask_get_i64(&a, 0);
    ask_reset(&a);
    return a.rc == SQLITE_ROW ? SQLITE_OK : a.rc;
}

int64_t ask_get_i64(const struct db_ask *a, int column)
{
    return sqlite3_column_int64(a->statement, column);
}

wend_str ask_get_str(struct db_ask *a, int column)
{
    /* The pointer first: asking for it settles the length. */
    const void *p = sqlite3_column_blob(a->statement, column);
    size_t len = (size_t)sqlite3_column_bytes(a->statement, column);

    if (p || sqlite3_column_type(a->statement, column) == SQLITE_NULL)
        return (wend_str){p, len};
    if (sqlite3_errcode(a->db->handle) == SQLITE_NOMEM)
        a->rc = SQLITE_NOMEM;
    return STR("");
}

void ask_get_hash(struct db_ask *a, int column, unsigned char out[SHA256_BYTES])
{
    wend_str hash = ask_get_str(a, column);

    if (hash.len == SHA256_BYTES)
        memcpy(out, hash.ptr, hash.len);
}

/*
 * sqlite.h - the parts of the SQLite engine.
 *
 * sqlite.c joins them; sqlite_db.c is a connection and its statements,
 * sqlite_schema.c says which tables there are, sqlite_open.c makes, checks and
 * upgrades a file, sqlite_write.c is the writer thread, sqlite_read.c answers
 * on the caller's thread.
 */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "store/queue.h"
#include "store/store.h"

/* The number of an event has 32 bits for its seq (sqlite_schema.c). */
#define DB_SEQ_MAX INT64_C(0xffffffff)

/* ---- A file that can only be read ---------------------------------------- */

/* How it was when it was opened. Only `on` if it is read as one that never
 * changes: then still_check follows each look at it. */
struct still {
    bool on;
    struct stat file;
};

/* Whether it is there, and it or its folder cannot be written. */
bool still_only(const char *path);
/* WEND_E_STORE: it has changed, and what was read of it may be wrong. */
wend_status still_check(const struct still *was, const char *path,
                        wend_error *err);

/* ---- A connection (sqlite_db.c) ------------------------------------------ */

enum query {
    Q_BEGIN,
    Q_BEGIN_WRITE,
    Q_COMMIT,
    Q_ROLLBACK,
    Q_BATCH,
    Q_BATCH_KEEP,
    Q_BATCH_UNDO,
    Q_RUN,
    Q_RUN_ROW,
    Q_RUNS_OPEN,
    Q_RUN_ADD,
    Q_RUN_SET,
    Q_RUN_CLAIM,
    Q_EVENT_ADD,
    Q_PACK_LAST,
    Q_PACK_ADD,
    Q_BLOB_ADD,
    Q_REQUEST_ADD,
    Q_REQUEST_LATE,
    Q_REQUEST_DROP,
    Q_REQUESTS_DROP,
    Q_REQUESTS_LATE_DROP,
    Q_EVENTS,
    Q_EVENT_FIRST,
    Q_EVENT_HASH,
    Q_PACKS,
    Q_PACKS_AFTER,
    Q_BLOB,
    Q_REQUEST,
    Q_REQUESTS,
    Q_REQUESTS_OF,
    Q_REQUESTS_COUNT,
    Q_REQUESTS_WAITING,
    Q_CHANGED,
    Q_LIST,
    Q_LIST_PREFIX,
    Q_FACT_SET,
    Q_FACT_DROP,
    Q_FACTS,
    Q_FACTS_OVER,
    Q_PRUNE_MARK,
    Q_PRUNE_FROM,
    Q_PRUNE_NEXT,
    Q_PRUNE_EVENTS,
    Q_PRUNE_DELTAS,
    Q_PRUNE_RUN,
    Q_BLOB_HASHES,
    Q_EVENTS_OPEN,
    Q_BLOB_USERS,
    Q_BLOB_DROP,
    QUERIES
};

/* Columns of Q_RUN. */
enum { RUN_ID, RUN_EPOCH, RUN_SEQ, RUN_HEAD, RUN_OWNER, RUN_ENDED, RUN_PARENT };

struct db {
    sqlite3 *handle;
    const char *path; /* the store's */
    sqlite3_stmt *statements[QUERIES];
    struct patience patience; /* while another connection has it locked */
    bool made, adopted;       /* by db_open, see wend_store_origin */
    bool lost;                /* by db_open: commits, see wal_has_lost */
    bool checkpoint_later;    /* not in the commit that it is due in ... */
    bool checkpoint_due;      /* ... but this is set */
    int checkpointed;         /* pages of the log that are in the file, then */
};

/* A parameter of a statement, lent until that is reset. An absent text is
 * NULL. */
struct db_value {
    enum { DB_LAST, DB_INT, DB_TEXT, DB_BYTES } kind;
    int64_t number;
    wend_str text;
};

#define VALUES(...) ((const struct db_value[]){__VA_ARGS__, {.kind = DB_LAST}})

static inline struct db_value db_int(int64_t n)
{
    return (struct db_value){.kind = DB_INT, .number = n};
}

static inline struct db_value db_str(wend_str s)
{
    return (struct db_value){.kind = DB_TEXT, .text = s};
}

static inline struct db_value db_bytes(const void *p, size_t len)
{
    return (struct db_value){.kind = DB_BYTES, .text = {p, len}};
}

/* A statement that gives rows. */
struct db_ask {
    struct db *db;
    sqlite3_stmt *statement;
    int rc; /* of the last step, or the first error */
};

/* Does not make the file. On failure close it nevertheless. */
wend_status db_connect(struct db *db, const char *path, wend_error *err);
/* The same, to read a file that cannot be written. */
wend_status db_connect_still(struct db *db, const char *path,
                             const struct still *still, wend_error *err);
void db_close(struct db *db);
/* Says what went wrong last: WEND_E_STORE, _CORRUPT or _NOMEM. */
wend_status db_fail(const struct db *db, wend_error *err);
/* The first column of the first row, which is not NULL. */
wend_status db_number(struct db *db, const char *sql, int64_t *out,
                      wend_error *err);
wend_status db_text(struct db *db, const char *sql, char *out, size_t size,
                    wend_error *err);
/* Whether it is `text`. */
wend_status db_says(struct db *db, const char *sql, const char *text, bool *yes,
                    wend_error *err);
wend_status db_exec(struct db *db, const char *sql, wend_error *err);

/* Runs a statement to its end: SQLITE_OK or an error. `values` NULL: it has no
 * parameters. */
int db_run(struct db *db, enum query q, const struct db_value *values);
/* The first column of its first row: SQLITE_OK, SQLITE_DONE if it gives none,
 * or an error. */
int db_first(struct db *db, enum query q, const struct db_value *values,
             int64_t *out);

struct db_ask ask(struct db *db, enum query q, const struct db_value *values);
int ask_step(struct db_ask *a); /* SQLITE_ROW, SQLITE_DONE or an error */
int64_t ask_get_i64(const struct db_ask *a, int column);
/* Lent until the next step or reset. */
wend_str ask_get_str(struct db_ask *a, int column);
/* Copies a hash; leaves `out` if the column holds something else. */
void ask_get_hash(struct db_ask *a, int column,
                  unsigned char out[SHA256_BYTES]);
void ask_reset(struct db_ask *a);
/* Resets. WEND_OK if the last step was SQLITE_DONE. */
wend_status ask_end(struct db_ask *a, wend_error *err);

/* ---- The file (sqlite_open.c) -------------------------------------------- */

struct db_step { /* from one version to the next */
    int from;
    const char *sql;
};

struct db_schema {
    int version;
    const char *create;
    const struct db_step *steps;
    size_t steps_count;
};

extern const struct db_schema db_schema_now;

/* Opens or makes the file and becomes one of its owners. On failure both
 * are to be closed nevertheless. */
wend_status db_open(const char *path, const struct db_schema *schema,
                    struct db *db, struct owner *owner, wend_error *err);
/* Opens one that is still_only; who owns its runs can be asked. On failure
 * as above. */
wend_status db_open_still(const char *path, const struct db_schema *schema,
                          struct db *db, struct owner *owner,
                          struct still *still, wend_error *err);
/* Moves what the log has into the file; SQLITE_OK or an error. */
int db_checkpoint(struct db *db);
/* wal_scan.c: whether the write-ahead log of the store at `path` has lost
 * commits. A log that cannot be read has lost nothing yet. */
bool wal_has_lost(const char *path);
/* The random id that the file was made with; empty if it is malformed. */
wend_status db_store_id(struct db *db, char id[STORE_ID_BYTES],
                        wend_error *err);

/* ---- The engine ---------------------------------------------------------- */

/* Work for the writer that is no batch. */
struct db_op {
    struct db_op *next;
    wend_status (*fn)(struct db *db, struct db_op *op);
    const struct owner *owner;
    wend_str run, what, body;
    int64_t known;      /* of a claim: see store_ops */
    int64_t epoch, seq; /* out, of a claim */
    int64_t id;         /* of a request; out, of a post */
    wend_status status;
    wend_error err;
    bool finished;
    bool patient; /* others do not wait for the checkpoint that it makes due */
    int64_t held_us; /* out: how long no other process could write */
    void (*done)(struct db_op *op); /* instead of being waited for */
};

struct sqlite_store {
    wend_store base;
    char path[STORE_PATH_MAX]; /* absolute */
    struct owner owner;
    wend_error refusal; /* of all that writes; status WEND_OK: none */

    struct db write;    /* the writer's alone once it runs, ... */
    struct queue queue; /* ... and this */
    pthread_t writer;
    bool writer_runs;
    pthread_mutex_t lock; /* guards what follows, up to `failure` */
    pthread_cond_t wake, finished;
    struct store_batch *batches, **batches_last;
    struct db_op *ops, **ops_last;
    bool stopping;
    wend_error failure; /* status WEND_OK: none */

    pthread_mutex_t care_lock; /* of the thread that prunes: the lock of the
                                  file does not part threads of one handle */
    pthread_mutex_t read_lock; /* guards what follows */
    struct db read;            /* opened when first needed */
    struct still still;        /* of it */
    int64_t taken_at;          /* Q_CHANGED when there was nothing to take */
};

bool db_writer_start(struct sqlite_store *s);
void db_writer_stop(struct sqlite_store *s); /* after all that is queued */
void db_append(wend_store *store, struct store_batch *b);
wend_status db_claim(wend_store *store, wend_str run, int64_t known,
                     int64_t *epoch, int64_t *seq, wend_error *err);
void db_queue(struct sqlite_store *s, struct db_op *op); /* op->done is told */
wend_status db_wait(struct sqlite_store *s, struct db_op *op, wend_error *err);
wend_status db_failure(wend_store *store, wend_error *err);

/* The row of an event has its body without the run that it begins with, which
 * the row's number tells. Cuts it off, and the brace before it, if it stands
 * there. */
#define EVENT_CUT "{\"seq\":"
bool event_cut(wend_str run, wend_str *body);
wend_status db_read(wend_store *store, wend_str run, struct store_place from,
                    uint32_t max, store_item_fn fn, void *ctx, wend_error *err);
/* The first event of its own that a run has; 0 if there is none. */
wend_status db_first_event(struct db *db, int64_t id, int64_t *seq,
                           wend_error *err);
/* The hash of event seq of a run or of an ancestor whose past it shares: the
 * chain of a fork continues from there. SQLITE_CONSTRAINT: no such event. */
int db_fork_head(struct db *db, wend_str parent, int64_t seq,
                 unsigned char head[SHA256_BYTES]);
wend_status db_list(wend_store *store, const wend_list_options *o,
                    struct arena *a, wend_run_info **rows, size_t *count,
                    wend_error *err);
wend_status db_blob(wend_store *store, wend_str hash, struct buf *out,
                    wend_error *err);
/* sqlite_care.c */
wend_status db_state(wend_store *store, wend_str run, struct store_state *out,
                     wend_error *err);
wend_status db_check(wend_store *store, wend_error *err);
/* A note counts for the store whose id the owner has. After a commit: how far
 * the runs of its batches are. */
void db_note(struct sqlite_store *s, const struct store_batch *batches);
int64_t db_noted(const struct owner *o, int64_t id, wend_str run);
/* False, with errno: it is still there, and says that the run was lost. */
bool db_note_clear(const struct owner *o, int64_t id);
/* WEND_E_CORRUPT: a run whose newest event is seq had more. */
wend_status db_note_check(const struct owner *o, int64_t id, wend_str run,
                          int64_t seq, wend_error *err);
/* After a log has lost commits: each unfinished run may have had one more
 * event. */
wend_status db_note_loss(struct sqlite_store *s, wend_error *err);
wend_status db_accept_loss(wend_store *store, wend_str run, wend_error *err);
/* sqlite_prune.c */
wend_status db_forget(wend_store *store, const char *ids, size_t count,
                      int64_t *gone, wend_error *err);
wend_status db_tidy(wend_store *store, int64_t now_us, int64_t *bytes,
                    wend_error *err);
/* sqlite_facts.c */
void db_keep(wend_store *store, const struct store_fact *fact,
             store_kept_fn done, void *ctx);
/* Whether the table is there: it is made with the first fact. */
wend_status db_facts_there(struct db *db, int64_t *there, wend_error *err);
/* Drops some of those whose time is over by then. */
wend_status db_facts_drop(struct db *db, int64_t now_us, int64_t *count,
                          wend_error *err);
wend_status db_facts(wend_store *store, wend_str space, wend_str key,
                     int64_t now_us, store_fact_fn fn, void *ctx,
                     wend_error *err);

/* sqlite_inbox.c */
wend_status db_post(wend_store *store, wend_str run, const char *what,
                    wend_str body, int64_t *id, wend_error *err);
wend_status db_take(wend_store *store, store_request_fn fn, void *ctx,
                    wend_error *err);
wend_status db_waiting(wend_store *store, wend_str run, struct arena *a,
                       struct store_request **out, size_t *count,
                       wend_error *err);
wend_status db_fate(wend_store *store, int64_t id, enum store_fate *out,
                    wend_error *err);
/* For the writer. Deals with the requests that a batch of run `id` has heard.
 * WEND_E_BUSY: it ends the run, and others wait. */
int db_hear(struct db *db, int64_t id, const struct store_batch *b,
            wend_status *refused);
/* Those whose senders are gone. */
int db_drop_late(struct db *db);

/* ---- A run --------------------------------------------------------------- */

struct log_place { /* where its log stands */
    int64_t id, epoch, seq;
    int64_t owner, ended_us; /* 0: none, not yet */
    struct chain chain;
    struct { /* the newest row of its deltas; id 0: none */
        int64_t id, seq, n;
        bool known;
    } pack;
};
/* SQLITE_OK, SQLITE_DONE if there is no such run, or an error. */
int db_find_run(struct db *db, wend_str run, struct log_place *at);
/* The same as a status. */
wend_status db_known(struct db *db, wend_str run, struct log_place *at,
                     wend_error *err);

/* For operations of the writer. */
wend_status db_find_known(struct db *db, struct db_op *op,
                          struct log_place *at);
/* A conflict is the fault of what was to be written, everything else the
 * storage's. */
wend_status db_outcome(struct db *db, int rc, wend_error *err);
/* The outcome of db_run. */
wend_status db_write(struct db *db, enum query q, const struct db_value *values,
                     wend_error *err);

/* The connection for reading, locked; read_end follows in any case, and gives
 * `status` back, or why what was read does not count. */
wend_status db_read_begin(struct sqlite_store *s, wend_error *err);
wend_status db_read_end(struct sqlite_store *s, wend_status status,
                        wend_error *err);

/* As store_sqlite_open; the newest schema is a parameter. */
wend_status sqlite_open_as(const char *path, const struct db_schema *schema,
                           enum store_use use, wend_store **out,
                           wend_error *err);

#endif

/*
 * sqlite_schema.c - the tables of an SQLite store, and those of older ones.
 *
 * A row of `events` is found by its number alone, which holds the run in the
 * upper 32 bits and the seq in the lower: a second index would be written
 * with every commit. A row of `deltas` has the run there, too, and below it
 * the next number that is not smaller than its seq, so that both tables are
 * in the order in which they are read.
 *
 * Pages are small because a commit writes every page that it touches; a row
 * that is larger than one continues in pages of its own, without gaps.
 */
#include "store/sqlite/sqlite.h"

#define EVENTS                                                               \
    "CREATE TABLE events ("                                                  \
    " id INTEGER PRIMARY KEY," /* run << 32 | seq */                         \
    " hash BLOB NOT NULL,"                                                   \
    " body TEXT NOT NULL,"               /* see event_cut */                 \
    " run INTEGER AS (id >> 32),"        /* runs.id */                       \
    " seq INTEGER AS (id & 0xffffffff)," /* For people; the body begins with \
                                            them, so they take no room. */   \
    " type TEXT AS (substr(body, instr(body, '\"type\":\"') + 8,"            \
    " instr(substr(body, instr(body, '\"type\":\"') + 8), '\"') - 1)),"      \
    " time REAL AS (CAST(substr(body, instr(body, '\"time\":') + 7, 24)"     \
    " AS REAL)));"

#define DELTAS                                              \
    "CREATE TABLE deltas ("                                 \
    " id INTEGER PRIMARY KEY,"                              \
    " seq INTEGER NOT NULL," /* of the event before them */ \
    " n INTEGER NOT NULL,"   /* of the first */             \
    " count INTEGER NOT NULL,"                              \
    " body TEXT NOT NULL,"                                  \
    " run INTEGER AS (id >> 32));"

/* Tells the stores of this user from files that were made elsewhere. */
#define MAKE_ID                              \
    "CREATE TABLE store (id TEXT NOT NULL);" \
    "INSERT INTO store VALUES (lower(hex(randomblob(16))));"

static const char create[] =
    "CREATE TABLE runs ("
    " id INTEGER PRIMARY KEY,"
    " run TEXT NOT NULL UNIQUE,"
    " status TEXT NOT NULL DEFAULT 'running',"
    " agent TEXT, model TEXT,"
    " prompt TEXT," /* its beginning; all of it is in run_start */
    " user TEXT, session TEXT, parent TEXT,"
    " started INTEGER NOT NULL," /* unix microseconds */
    " ended INTEGER,"
    " turns INTEGER NOT NULL DEFAULT 0,"
    " tokens_in INTEGER NOT NULL DEFAULT 0,"
    " tokens_out INTEGER NOT NULL DEFAULT 0,"
    " cost INTEGER NOT NULL DEFAULT 0," /* USD * 10^-9 */
    " owner INTEGER," /* the byte that its process has locked */
    " epoch INTEGER NOT NULL,"
    " seq INTEGER NOT NULL,"
    " head BLOB,"
    " imported INTEGER NOT NULL DEFAULT 0);" /* it, or what it descends from */
    EVENTS DELTAS "CREATE TABLE blobs ("
    " hash TEXT PRIMARY KEY,"
    " body BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE inbox ("
    " id INTEGER PRIMARY KEY,"
    " run INTEGER NOT NULL,"
    " what TEXT NOT NULL,"
    " body TEXT NOT NULL);" MAKE_ID;

/* Version 1 knew an imported run by an epoch below 1, which its forks and
 * children did not have. */
static const char from_1[] =
    "ALTER TABLE runs ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;"
    "WITH RECURSIVE descent (run) AS (SELECT run FROM runs WHERE epoch < 1"
    " UNION SELECT runs.run FROM runs JOIN descent"
    " ON runs.parent = descent.run)"
    " UPDATE runs SET imported = 1 WHERE run IN"
    " (SELECT run FROM descent);" MAKE_ID;

/* Version 2 found events and deltas by an index over run and seq. What was
 * never a row of a log has no place in the new tables; the copy keeps it. */
static const char from_2[] =
    "ALTER TABLE events RENAME TO events_2;"
    "ALTER TABLE deltas RENAME TO deltas_2;" EVENTS DELTAS
    "INSERT INTO events (id, hash, body)"
    " SELECT run << 32 | seq, hash,"
    "  CASE WHEN substr(body, 1, length(head) + 6) = head || '\"seq\":'"
    "  THEN '{' || substr(body, length(head) + 1) ELSE body END"
    " FROM (SELECT e.*, '{\"run\":\"' || r.run || '\",' AS head"
    "  FROM events_2 AS e LEFT JOIN runs AS r ON r.id = e.run"
    "  AND length(r.run) = 36)"
    " WHERE run BETWEEN 1 AND 0x7ffffffe AND seq BETWEEN 1 AND 0xffffffff"
    " ORDER BY run, seq;"
    "INSERT INTO deltas (id, seq, n, count, body)"
    " SELECT d.run << 32 | p.place, d.seq, d.n, d.count, d.body"
    " FROM (SELECT id, nth + max(seq - nth)"
    "  OVER (PARTITION BY run ORDER BY seq, n) AS place"
    "  FROM (SELECT id, run, seq, n, row_number()"
    "   OVER (PARTITION BY run ORDER BY seq, n) AS nth FROM deltas_2"
    "   WHERE run BETWEEN 1 AND 0x7ffffffe AND seq BETWEEN 0 AND 0x7fffffff))"
    " AS p JOIN deltas_2 AS d ON d.id = p.id"
    " ORDER BY d.run << 32 | p.place;"
    "DROP TABLE events_2;"
    "DROP TABLE deltas_2;";

static const struct db_step steps[] = {
    {1, from_1},
    {2, from_2},
};

const struct db_schema db_schema_now = {
    .version = 3,
    .create = create,
    .steps = steps,
    .steps_count = sizeof steps / sizeof *steps,
};

/*
 * test_sqlite_upgrade.c - SQLite stores of older versions.
 */
#include <sys/stat.h>

#include "store/sqlite/sqlite.h"
#include "sqlite_help.h"

#define FORK_B "01900000-0000-7000-8000-00000000000c"

static bool sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    bool ok = sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, text, NULL, NULL, &why) == SQLITE_OK;

    if (why)
        printf("# %s\n", why);
    sqlite3_free(why);
    sqlite3_close(db);
    return ok;
}

static int64_t number(const char *path, const char *text)
{
    struct sqlite_store *s = (struct sqlite_store *)open_store(path);
    int64_t n = -1;

    if (s)
        db_number(&s->write, text, &n, NULL);
    wend_store_free((wend_store *)s);
    return n;
}

static int64_t mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) ? -1 : (int64_t)(st.st_mode & 0777);
}

/* ---- The steps ----------------------------------------------------------- */

static void steps(void)
{
    const int now = db_schema_now.version;
    const struct db_step two[] = {
        {now, "ALTER TABLE runs ADD COLUMN note TEXT"},
        {now + 1, "UPDATE runs SET note = 'upgraded'"},
    };
    const struct db_step broken[] = {
        {now, "ALTER TABLE runs ADD COLUMN note TEXT; SELECT nonsense"},
    };
    const struct db_schema later = {now + 2, db_schema_now.create, two, 2};
    const struct db_schema never = {now + 1, db_schema_now.create, broken, 1};
    const char *path = path_of("upgrade.db");
    char copy[PATH_BYTES + 16];
    wend_store *s = open_store(path), *old;
    wend_error err = {0};
    int64_t notes = 0;

    snprintf(copy, sizeof copy, "%s.v%d.bak", path, now);
    put_event(s, RUN_A, 1, "{}");
    tap_ok(sqlite_open_as(path, &later, STORE_WRITE, &old, &err) == WEND_E_BUSY,
           "not while it is open: %s", err.message);
    wend_store_free(s);
    tap_ok(sqlite_open_as(path, &never, STORE_WRITE, &s, &err) < 0 && !s,
           "a step that fails: %s", err.message);
    s = open_store(path);
    tap_ok(s && log_read(s, RUN_A).seq_last == 1, "changes nothing");
    wend_store_free(s);
    tap_ok(sqlite_open_as(path, &later, STORE_WRITE, &s, NULL) == WEND_OK,
           "upgraded");
    if (s) {
        struct sqlite_store *at = (struct sqlite_store *)s;

        db_number(&at->write,
                  "SELECT count(*) FROM runs WHERE note ="
                  " 'upgraded'",
                  &notes, NULL);
        tap_is_i64(notes, 1, "step by step");
        tap_is_i64(log_read(s, RUN_A).seq_last, 1, "with all events");
    }
    wend_store_free(s);
    tap_is_i64(mode_of(copy), 0600, "a copy is kept");
    s = open_store(copy);
    tap_ok(s && log_read(s, RUN_A).seq_last == 1, "and can be opened");
    wend_store_free(s);
    tap_ok(wend_store_open(path, &s, &err) == WEND_E_STORE,
           "an older version refuses it: %s", err.message);
}

/* ---- Version 1 ----------------------------------------------------------- */

/* Its tables, filled from those of today. */
static const char to_version_1[] =
    "PRAGMA journal_mode = DELETE;"
    "PRAGMA page_size = 8192;"
    "VACUUM;"
    "BEGIN;"
    "ALTER TABLE events RENAME TO now_events;"
    "ALTER TABLE deltas RENAME TO now_deltas;"
    "CREATE TABLE events ("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " body TEXT NOT NULL, hash BLOB NOT NULL,"
    " type TEXT AS (substr(body, instr(body, '\"type\":\"') + 8,"
    " instr(substr(body, instr(body, '\"type\":\"') + 8), '\"') - 1)),"
    " time REAL AS (CAST(substr(body, instr(body, '\"time\":') + 7, 24)"
    " AS REAL)),"
    " UNIQUE (run, seq));"
    "CREATE TABLE deltas ("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " n INTEGER NOT NULL, count INTEGER NOT NULL, body TEXT NOT NULL,"
    " UNIQUE (run, seq, n));"
    /* In the order of their commits, runs mixed. */
    "INSERT INTO events (run, seq, body, hash)"
    " SELECT r.id, e.seq, iif(substr(e.body, 1, 7) = '{\"seq\":',"
    " '{\"run\":\"' || r.run || '\",' || substr(e.body, 2), e.body), hash"
    " FROM now_events AS e JOIN runs AS r ON r.id = e.run ORDER BY e.seq;"
    "INSERT INTO deltas (run, seq, n, count, body)"
    " SELECT run, seq, n, count, body FROM now_deltas ORDER BY seq, n;"
    "DROP TABLE now_events;"
    "DROP TABLE now_deltas;"
    "ALTER TABLE runs DROP COLUMN imported;"
    "UPDATE runs SET epoch = -1000000000 WHERE run = '" RUN_B "';"
    "DROP TABLE store;"
    "PRAGMA user_version = 1;"
    "COMMIT";

struct pack_row {
    int64_t seq, n, count;
};

static const struct pack_row packs[] = {
    {1, 1, 2}, {1, 3, 1}, {1, 4, 40}, {1, 44, 2}, {2, 1, 1}, {7, 1, 3},
};

/* Events as the runtime writes them, and packs: several after one event. */
static void fill(wend_store *s, const char *run, const char *parent,
                 int64_t first, int64_t last)
{
    struct store_birth birth = {.parent = str_of(parent), .started_us = 1000};
    size_t p = 0;

    for (int64_t seq = first; seq <= last; seq++) {
        char body[200];
        struct store_event e = {.seq = seq, .body = {body, 0}};
        struct store_batch b = {.run = str_of(run),
                                .epoch = 1,
                                .birth = seq == first ? &birth : NULL,
                                .events = &e,
                                .events_count = 1};
        struct store_pack list[tap_count(packs)];

        e.body.len = (size_t)snprintf(
            body, sizeof body,
            "{\"run\":\"%s\",\"seq\":%lld,\"time\":1.5,\"type\":\"warning\","
            "\"data\":{\"text\":\"\xc3\xa4 %lld\"}}",
            run, (long long)seq, (long long)seq);
        b.packs = list;
        for (; !parent && p < tap_count(packs) && packs[p].seq == seq; p++)
            list[b.packs_count++] =
                (struct store_pack){packs[p].seq, packs[p].n, packs[p].count,
                                    STR("[1,[\"x\",\"a\",[1,0]]]")};
        if (put(s, &b) != WEND_OK)
            tap_ok(false, "%s: event %d is kept", run, (int)seq);
    }
}

/* All that a reader gets of the runs, as text. */
static bool note_item(void *ctx, const struct store_item *item)
{
    char hash[SHA256_HEX + 1];

    hex_text(hash, item->hash, SHA256_BYTES);
    buf_fmt(ctx, "%d %lld %lld %lld %s ", item->is_pack, (long long)item->seq,
            (long long)item->n, (long long)item->count, hash);
    buf_str(ctx, item->body);
    buf_char(ctx, '\n');
    return true;
}

static const char *const runs[] = {RUN_A, RUN_B, FORK_B};

static void note_all(wend_store *s, struct buf *out)
{
    for (size_t i = 0; i < tap_count(runs); i++)
        for (int64_t from = 0; from < 9; from += 4)
            s->ops->read(s, str_of(runs[i]), (struct store_place){from, 1}, 0,
                         note_item, out, NULL);
}

static void version_1(void)
{
    const struct mem mem = {0};
    const char *path = path_of("v1.db");
    char copy[PATH_BYTES + 16];
    struct buf before = {.mem = &mem}, after = {.mem = &mem};
    wend_store *s = open_store(path);

    snprintf(copy, sizeof copy, "%s.v1.bak", path);
    fill(s, RUN_A, NULL, 1, 9);
    fill(s, RUN_B, NULL, 1, 8);
    fill(s, FORK_B, RUN_B, 5, 7);
    put_event(s, "01900000-0000-7000-8000-00000000000d", 1, "{}");
    note_all(s, &before);
    wend_store_free(s);
    tap_ok(sql(path, to_version_1), "a store of version 1");
    s = open_store(path);
    tap_ok(s != NULL, "is opened");
    if (!s)
        return;
    note_all(s, &after);
    tap_ok(before.len > 3000 && str_eq(buf_view(&before), buf_view(&after)),
           "and gives the same bytes: %zu", before.len);
    for (size_t i = 0; i < tap_count(runs); i++)
        tap_ok(log_read(s, runs[i]).bad == 0, "run %zu: its chain is whole", i);
    tap_ok(put_event(s, RUN_A, 10, "{}") == WEND_OK, "it can be written");
    wend_store_free(s);
    tap_is_i64(number(path, "PRAGMA user_version"), db_schema_now.version,
               "with the version of today");
    tap_is_i64(number(path, "SELECT count(*) FROM runs WHERE imported"), 2,
               "what was imported is marked, and what is forked from it");
    tap_is_i64(number(path, "PRAGMA page_size"), 1024, "and its pages");
    tap_is_i64(number(path, "PRAGMA auto_vacuum"), 2, "room is given back");
    tap_is_i64(number(path, "SELECT count(*) FROM sqlite_schema WHERE name"
                            " LIKE 'sqlite_autoindex_events%'"),
               0, "without a second index");
    tap_is_i64(mode_of(copy), 0600, "the old one is kept");
    buf_free(&before);
    buf_free(&after);
}

int main(void)
{
    dir = dir_make();
    steps();
    version_1();
    dir_remove(dir);
    return tap_done();
}

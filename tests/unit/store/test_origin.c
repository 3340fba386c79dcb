/*
 * test_origin.c - where a store and its runs come from: the id of a file, and
 * the mark of imported runs, which their forks and children inherit.
 */
#include <sqlite3.h>
#include <sys/stat.h>

#include "store_help.h"

#define RUN_A "01900000-0000-7000-8000-00000000000a"
#define RUN_B "01900000-0000-7000-8000-00000000000b"
#define RUN_C "01900000-0000-7000-8000-00000000000c"
#define RUN_D "01900000-0000-7000-8000-00000000000d"

static const char *dir;

static const char *path_of(const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* ---- Files of version 1 -------------------------------------------------- */

/* As that version made it; it never changes again. RUN_A was imported, RUN_B
 * is a fork of it, RUN_C a child of that fork, RUN_D was made there. */
static const char version_1[] =
    "PRAGMA application_id = 2003136100; PRAGMA user_version = 1;"
    "CREATE TABLE runs ("
    " id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE,"
    " status TEXT NOT NULL DEFAULT 'running', agent TEXT, model TEXT,"
    " prompt TEXT, user TEXT, session TEXT, parent TEXT,"
    " started INTEGER NOT NULL, ended INTEGER,"
    " turns INTEGER NOT NULL DEFAULT 0, tokens_in INTEGER NOT NULL DEFAULT 0,"
    " tokens_out INTEGER NOT NULL DEFAULT 0, cost INTEGER NOT NULL DEFAULT 0,"
    " owner INTEGER, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, head BLOB);"
    "CREATE TABLE events ("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " body TEXT NOT NULL, hash BLOB NOT NULL,"
    " type TEXT AS (substr(body, instr(body, '\"type\":\"') + 8,"
    " instr(substr(body, instr(body, '\"type\":\"') + 8), '\"') - 1)),"
    " time REAL AS (CAST(substr(body, instr(body, '\"time\":') + 7, 24)"
    " AS REAL)), UNIQUE (run, seq));"
    "CREATE TABLE deltas ("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " n INTEGER NOT NULL, count INTEGER NOT NULL, body TEXT NOT NULL,"
    " UNIQUE (run, seq, n));"
    "CREATE TABLE blobs (hash TEXT PRIMARY KEY, body BLOB NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE inbox (id INTEGER PRIMARY KEY, run INTEGER NOT NULL,"
    " what TEXT NOT NULL, body TEXT NOT NULL);"
    "INSERT INTO runs (run, parent, started, epoch, seq) VALUES"
    " ('" RUN_A "', NULL, 1, -999999998, 0),"
    " ('" RUN_B "', '" RUN_A "', 2, 1, 0),"
    " ('" RUN_C "', '" RUN_B "', 3, 1, 0),"
    " ('" RUN_D "', NULL, 4, 1, 0)";

static void make_old(const char *path, mode_t mode)
{
    sqlite3 *db = NULL;
    char *why = NULL;

    sqlite3_open(path, &db);
    if (sqlite3_exec(db, version_1, NULL, NULL, &why) != SQLITE_OK)
        printf("# %s\n", why);
    sqlite3_free(why);
    sqlite3_close(db);
    chmod(path, mode);
}

/* ---- What is looked at --------------------------------------------------- */

static bool imported(wend_store *s, const char *run)
{
    struct arena a = {.mem = &s->mem};
    wend_run_info *info = NULL;
    bool yes = store_info(s, run, &a, &info, NULL) == WEND_OK && info->imported;

    arena_free(&a);
    return yes;
}

static wend_store_origin origin(const char *path)
{
    wend_store_origin o = {.size = sizeof o};
    wend_store *s = NULL;
    wend_error err = {0};

    if (wend_store_open(path, &s, &err) != WEND_OK ||
        wend_store_origin_of(s, &o, &err) != WEND_OK)
        printf("# %s\n", err.message);
    wend_store_free(s);
    return o;
}

static void ids(void)
{
    wend_store_origin first = origin(path_of("new.db"));
    wend_store_origin again = origin(path_of("new.db"));
    wend_store_origin other = origin(path_of("other.db"));
    wend_store_origin memory = origin("memory:");

    tap_is_i64((int64_t)strlen(first.id), 32, "a new file gets an id");
    tap_ok(first.made && !again.made, "who made it knows, once");
    tap_is_str(str_of(again.id), str_of(first.id), "the id stays");
    tap_ok(strcmp(first.id, other.id) != 0, "another file has another id");
    tap_is_str(str_of(memory.id), STR(""), "memory has none");
}

static void adoption(void)
{
    static const struct {
        const char *name;
        mode_t mode;
        bool adopted;
    } rows[] = {
        {"private.db", 0600, true},
        {"group.db", 0640, false},
        {"others.db", 0644, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wend_store_origin o;

        make_old(path_of(rows[i].name), rows[i].mode);
        o = origin(path_of(rows[i].name));
        tap_ok(o.adopted == rows[i].adopted && strlen(o.id) == 32 && !o.made,
               "upgraded with mode %o: %s", (unsigned)rows[i].mode,
               rows[i].adopted ? "adopted" : "not adopted");
        tap_ok(!origin(path_of(rows[i].name)).adopted, "and only once");
    }
}

/* An id that names a path is none. */
static void forged_id(void)
{
    const char *path = path_of("forged.db");
    sqlite3 *db = NULL;

    origin(path);
    sqlite3_open(path, &db);
    sqlite3_exec(db, "UPDATE store SET id = '../../../../.bashrc'", NULL, NULL,
                 NULL);
    sqlite3_close(db);
    tap_is_str(str_of(origin(path).id), STR(""), "a malformed id is none");
}

static void upgraded_marks(void)
{
    static const struct {
        const char *name, *run;
        bool imported;
    } rows[] = {
        {"an imported run", RUN_A, true},
        {"its fork", RUN_B, true},
        {"the child of its fork", RUN_C, true},
        {"a run that was made there", RUN_D, false},
    };
    wend_store *s = NULL;

    make_old(path_of("marks.db"), 0600);
    wend_store_open(path_of("marks.db"), &s, NULL);
    for (size_t i = 0; s && i < sizeof rows / sizeof *rows; i++)
        tap_ok(imported(s, rows[i].run) == rows[i].imported,
               "upgraded: %s is %s", rows[i].name,
               rows[i].imported ? "imported" : "not");
    wend_store_free(s);
}

/* ---- The mark ------------------------------------------------------------ */

static void born(wend_store *s, const char *run, const char *parent, int64_t at,
                 bool marked)
{
    struct store_birth birth = {
        .parent = str_of(parent), .started_us = 1, .imported = marked};
    struct store_event e = {.seq = at, .type = WEND_WARNING, .body = STR("{}")};
    struct store_batch b = {.run = str_of(run),
                            .epoch = 1,
                            .birth = &birth,
                            .events = &e,
                            .events_count = 1};

    tap_ok(put(s, &b) == WEND_OK, "born: %s", run);
}

static void inherited(const char *url)
{
    wend_store *s = NULL;
    int64_t epoch, seq;

    wend_store_open(url, &s, NULL);
    born(s, RUN_A, NULL, 1, true);
    born(s, RUN_B, RUN_A, 2, false); /* a fork */
    born(s, RUN_C, RUN_B, 1, false); /* a child */
    born(s, RUN_D, NULL, 1, false);
    put_summary(s, RUN_A, 1, "interrupted", 0);
    s->ops->claim(s, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq, NULL);
    tap_ok(imported(s, RUN_A), "%.7s: a claim leaves the mark", url);
    tap_ok(imported(s, RUN_B), "%.7s: a fork has it", url);
    tap_ok(imported(s, RUN_C), "%.7s: a child of the fork has it", url);
    tap_ok(!imported(s, RUN_D), "%.7s: others do not", url);
    wend_store_distrust(s, NULL);
    tap_ok(imported(s, RUN_D), "%.7s: all have it in a store of others", url);
    wend_store_free(s);
}

int main(void)
{
    dir = dir_make();
    ids();
    adoption();
    forged_id();
    upgraded_marks();
    inherited("memory:");
    inherited(path_of("inherit.db"));
    dir_remove(dir);
    return tap_done();
}

/*
 * test_sqlite.c - the SQLite store: its file, its owners, its failures.
 */
#include "store/sqlite/sqlite.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "sqlite_help.h"

enum { NOBODY = 65534 };

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;

    sqlite3_close(db);
    return ok;
}

/* ---- Files that are refused -------------------------------------------------
 */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

static void make_text(const char *path)
{
    write_text(path, "Dear diary, this is not a database at all.\n");
}

static void make_long_text(const char *path)
{
    FILE *f = fopen(path, "w");

    for (int i = 0; i < 2000; i++)
        fputs("Dear diary.\n", f);
    fclose(f);
}

static void make_foreign(const char *path)
{
    sql(path, "CREATE TABLE bookmarks (url TEXT)");
}

static void make_newer(const char *path)
{
    wend_store_free(open_store(path));
    sql(path, "PRAGMA user_version = 7");
}

static void make_too_old(const char *path)
{
    wend_store_free(open_store(path));
    sql(path, "PRAGMA user_version = 0");
}

static void make_damaged(const char *path)
{
    FILE *f;

    wend_store_free(open_store(path));
    f = fopen(path, "r+");
    fseek(f, 100, SEEK_SET);
    for (int i = 0; i < 4000; i++)
        fputc(0xee, f);
    fclose(f);
}

static void make_directory(const char *path)
{
    mkdir(path, 0700);
}

static void make_link_to_nothing(const char *path)
{
    if (symlink("/tmp/wend-test-nothing-here", path))
        printf("# no link\n");
}

static void refused(void)
{
    static const struct {
        const char *name;
        void (*make)(const char *path);
        const char *says;
    } rows[] = {
        {"short text", make_text, "not a wend store"},
        {"long text", make_long_text, "not a wend store"},
        {"foreign database", make_foreign, "is not a wend store"},
        {"newer version", make_newer, "has version 7"},
        {"version without a step", make_too_old, "version 0, too old"},
        {"damaged database", make_damaged, "damaged"},
        {"directory", make_directory, "is not a file"},
        {"link to nothing", make_link_to_nothing, ""},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        const char *path = path_of(rows[i].name);
        wend_store *s = NULL;
        wend_error err = {0};
        wend_status status;

        rows[i].make(path);
        status = wend_store_open(path, &s, &err);
        tap_ok(status < 0 && !s && strstr(err.message, rows[i].says) &&
                   strstr(err.message, path),
               "refused: %s", err.message);
        rmdir(path);
    }
    tap_ok(access("/tmp/wend-test-nothing-here", F_OK) != 0,
           "nothing is made behind a link");
}

/* A file that another program made is left as it was. */
static void foreign_untouched(void)
{
    const char *path = path_of("foreign.db");
    char lock[PATH_BYTES + 8];
    struct stat before, after;
    wend_store *s = NULL;

    make_foreign(path);
    chmod(path, 0644);
    stat(path, &before);
    wend_store_open(path, &s, NULL);
    stat(path, &after);
    snprintf(lock, sizeof lock, "%s-lock", path);
    tap_ok(!s && before.st_mode == after.st_mode &&
               before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
               access(lock, F_OK) != 0,
           "a foreign file is left alone");
}

static void other_user(void)
{
    const char *path = path_of("theirs.db");
    wend_store *s = NULL;
    wend_error err = {0};

    if (geteuid()) {
        tap_ok(true, "another user's store # SKIP not root");
        return;
    }
    wend_store_free(open_store(path));
    if (chown(path, NOBODY, NOBODY))
        printf("# chown failed\n");
    tap_ok(wend_store_open(path, &s, &err) == WEND_E_STORE &&
               strstr(err.message, "belongs to another user"),
           "another user's store is refused: %s", err.message);
}

static void read_only(void)
{
    char sub[PATH_BYTES], path[PATH_BYTES + 16];
    bool root = !geteuid();
    wend_error fresh = {0}, old = {0};
    wend_store *s;

    snprintf(sub, sizeof sub, "%s/ro", dir);
    mkdir(sub, 0700);
    if (root &&
        (chmod(dir, 0711) || chown(sub, NOBODY, NOBODY) || seteuid(NOBODY)))
        printf("# cannot become nobody\n");
    snprintf(path, sizeof path, "%s/old.db", sub);
    wend_store_free(open_store(path));
    chmod(path, 0400);
    wend_store_open(path, &s, &old);
    chmod(sub, 0500);
    snprintf(path, sizeof path, "%s/new.db", sub);
    wend_store_open(path, &s, &fresh);
    if (root && (seteuid(0) || chmod(dir, 0700)))
        printf("# cannot become root again\n");
    chmod(sub, 0700);
    tap_ok(old.status == WEND_E_STORE && strstr(old.message, "read-only"),
           "a read-only file: %s", old.message);
    tap_ok(fresh.status == WEND_E_STORE && strstr(fresh.message, "read-only"),
           "a read-only directory: %s", fresh.message);
    dir_remove(sub);
}

/* ---- Making and upgrading ------------------------------------------------ */

static mode_t mode_of(const char *path, const char *ending)
{
    char name[PATH_BYTES + 16];
    struct stat st = {0};

    snprintf(name, sizeof name, "%s%s", path, ending);
    return stat(name, &st) ? 0 : st.st_mode & 07777;
}

static void modes(void)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-lock"};
    const char *path = path_of("modes.db");
    mode_t before = umask(0);
    wend_store *s = open_store(path);

    put_event(s, RUN_A, 1, "{}");
    for (size_t i = 0; i < tap_count(endings); i++)
        tap_is_i64(mode_of(path, endings[i]), 0600, "mode of store%s",
                   endings[i]);
    wend_store_free(s);
    chmod(path, 0644);
    s = open_store(path);
    put_event(s, RUN_B, 1, "{}");
    tap_is_i64(mode_of(path, ""), 0600, "made private again");
    tap_is_i64(mode_of(path, "-wal"), 0600, "and so the log");
    wend_store_free(s);
    write_text(path_of("empty.db"), "");
    s = open_store(path_of("empty.db"));
    tap_ok(s && put_event(s, RUN_A, 1, "{}") == WEND_OK,
           "an empty file becomes a store");
    wend_store_free(s);
    umask(before);
}

static void settings(void)
{
    const char *path = path_of("settings.db");
    struct sqlite_store *s = (struct sqlite_store *)open_store(path);
    bool wal = false, full = false;
    int64_t id = 0;

    db_says(&s->write, "PRAGMA journal_mode", "wal", &wal, NULL);
    db_says(&s->write, "PRAGMA synchronous", "2", &full, NULL);
    db_number(&s->write, "PRAGMA application_id", &id, NULL);
    tap_ok(wal && full, "write-ahead log, fully synchronous");
    tap_is_i64(id, 0x77656e64, "application id");
    wend_store_free(&s->base);
}

/* Where a store is when nobody says so. */
static void default_place(void)
{
    static const struct {
        const char *name, *home, *data, *store, *wanted;
    } rows[] = {
        {"HOME", "h", NULL, NULL, "h/.local/share/wend"},
        {"XDG_DATA_HOME", "h", "x/y", NULL, "x/y/wend"},
        {"WEND_STORE", "h", "x", "s.db", NULL},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        char at[3][PATH_BYTES];
        struct stat st = {0};
        wend_store *s = NULL;

        snprintf(at[0], PATH_BYTES, "%s/%s", dir, rows[i].home);
        snprintf(at[1], PATH_BYTES, "%s/%s", dir,
                 rows[i].data ? rows[i].data : "");
        snprintf(at[2], PATH_BYTES, "%s/%s", dir,
                 rows[i].store ? rows[i].store : rows[i].wanted);
        setenv("HOME", at[0], 1);
        setenv("XDG_DATA_HOME", rows[i].data ? at[1] : "not/absolute", 1);
        setenv("WEND_STORE", rows[i].store ? at[2] : "", 1);
        tap_ok(wend_store_open(NULL, &s, NULL) == WEND_OK &&
                   !stat(at[2], &st) && !(st.st_mode & 077),
               "by %s: %s", rows[i].name, at[2]);
        wend_store_free(s);
    }
    unsetenv("WEND_STORE");
}

static void make_and_put(const char *path, int number)
{
    wend_store *s = open_store(path);
    char run[64];

    snprintf(run, sizeof run, "01900000-0000-7000-8000-%012d", number);
    if (!s || put_event(s, run, 1, "{}") != WEND_OK)
        _exit(1);
    wend_store_free(s);
    _exit(0);
}

/* Several processes may find no file at the same time. */
static void made_at_once(void)
{
    enum { MAKERS = 8, ROUNDS = 20 };
    int bad = 0, status;
    pid_t pids[MAKERS];

    for (int round = 0; round < ROUNDS; round++) {
        char name[32];

        snprintf(name, sizeof name, "race%d.db", round);
        for (int i = 0; i < MAKERS; i++) {
            pids[i] = fork();
            if (!pids[i])
                make_and_put(path_of(name), i);
        }
        for (int i = 0; i < MAKERS; i++)
            bad += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    }
    tap_is_i64(bad, 0, "%d processes make the same store", MAKERS);
}

/* ---- Owners -------------------------------------------------------------- */

static void two_handles(void)
{
    const char *path = path_of("two.db");
    wend_store *first = open_store(path), *second = open_store(path);
    int64_t epoch = 0, seq = 0;
    wend_error err = {0};

    put_event(first, RUN_A, 1, "{}");
    put_event(first, RUN_B, 1, "{}");
    put_summary(first, RUN_B, 1, "ok", 9);
    tap_is_str(listed_status(second, RUN_A), "running", "held by the first");
    tap_ok(second->ops->claim(second, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq,
                              &err) == WEND_E_BUSY &&
               strstr(err.message, RUN_A),
           "the living are not robbed: %s", err.message);
    wend_store_free(first);
    tap_is_str(listed_status(second, RUN_A), "interrupted", "first is gone");
    tap_is_str(listed_status(second, RUN_B), "ok", "what is over stays so");
    tap_ok(second->ops->claim(second, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq,
                              NULL) == WEND_OK &&
               epoch == 2,
           "now it can be claimed");
    first = open_store(path);
    tap_is_str(listed_status(first, RUN_A), "running", "held by the second");
    tap_ok(put_event(first, RUN_A, 2, "{}") == WEND_E_STALE,
           "epoch 1 writes nothing more");
    wend_store_free(first);
    wend_store_free(second);
}

struct taken {
    int count;
    char what[16];
};

static bool on_request(void *ctx, const struct store_request *r)
{
    struct taken *t = ctx;

    t->count++;
    snprintf(t->what, sizeof t->what, "%.*s", (int)r->what.len, r->what.ptr);
    return true;
}

/* From another process to the owner, and to whoever claims the run later. */
static void requests(void)
{
    const char *path = path_of("inbox.db");
    wend_store *owner = open_store(path), *other = open_store(path);
    struct taken t = {0}, wrong = {0};
    int64_t epoch, seq, began;

    put_event(owner, RUN_A, 1, "{}");
    other->ops->post(other, STR(RUN_A), "cancel", STR("{}"), NULL, NULL);
    other->ops->take(other, on_request, &wrong, NULL);
    owner->ops->take(owner, on_request, &t, NULL);
    tap_ok(t.count == 1 && !strcmp(t.what, "cancel"), "the owner gets it");
    owner->ops->post(owner, STR(RUN_A), "pause", STR("{}"), NULL, NULL);
    wend_store_free(owner);
    other->ops->take(other, on_request, &wrong, NULL);
    tap_is_i64(wrong.count, 0, "nobody else does");
    other->ops->claim(other, STR(RUN_A), STORE_SEQ_ANY, &epoch, &seq, NULL);
    other->ops->take(other, on_request, &wrong, NULL);
    tap_ok(wrong.count == 2 && !strcmp(wrong.what, "pause"),
           "a new owner gets what the old one did not deal with");
    usleep(50000);
    began = now_us();
    for (int i = 0; i < 1000; i++)
        other->ops->take(other, on_request, &wrong, NULL);
    printf("# an idle poll takes %.1f us\n", (double)(now_us() - began) / 1e3);
    tap_is_i64(wrong.count, 2, "not again while nothing changes");
    wend_store_free(other);
}

/* Two packs with the same place: the second insert of the batch fails. */
static void half_a_batch(void)
{
    const struct store_pack pack = {1, 1, 1, STR("[1]")};
    const struct store_pack both[] = {{1, 0, 1, STR("[0]")},
                                      {1, 1, 1, STR("[1]")}};
    const struct store_event e = {2, WEND_WARNING, 1, STR("{}")};
    wend_store *s = open_store(path_of("half.db"));
    struct store_batch b = {.run = STR(RUN_A), .epoch = 1};
    struct log log;

    put_event(s, RUN_A, 1, "{}");
    b.packs = &pack;
    b.packs_count = 1;
    put(s, &b);
    b.packs = both;
    b.packs_count = 2;
    b.events = &e;
    b.events_count = 1;
    tap_ok(put(s, &b) == WEND_E_STALE, "a conflict inside a batch");
    log = log_read(s, RUN_A);
    tap_ok(log.packs == 1 && log.seq_last == 1 && !log.bad,
           "nothing of the batch is kept");
    wend_store_free(s);
}

/* ---- Speed and size ------------------------------------------------------ */

enum { SIZE_RUNS = 200, SIZE_EVENTS = 27 };

static int64_t fill(wend_store *s, int number)
{
    static char big[2301], small[401];
    const struct store_birth birth = {.agent = STR("agent"),
                                      .model = STR("script:x"),
                                      .prompt = STR("Say hello"),
                                      .started_us = 1763171411123456};
    struct store_event events[SIZE_EVENTS];
    char run[64];
    struct store_batch b = {
        .run = {run, 36}, .epoch = 1, .birth = &birth, .events = events};
    int64_t bytes = 0;

    memset(big, 'x', 2300);
    memset(small, 'x', 400);
    snprintf(run, sizeof run, "01900000-0000-7000-8000-%012d", number);
    for (int i = 0; i < SIZE_EVENTS; i++) {
        size_t len = 200 + (size_t)((i * 7919 + number * 104729) % 201);

        events[i] = (struct store_event){
            i + 1, i % 9 == 5 ? WEND_MODEL_END : WEND_CALL_START,
            1763171411123456 + i,
            i % 9 == 5 ? (wend_str){big, 2300} : (wend_str){small, len}};
        bytes += (int64_t)events[i].body.len;
    }
    for (int i = 0; i < SIZE_EVENTS; i += 3) { /* three in a step */
        b.events = &events[i];
        b.events_count = 3;
        put(s, &b);
        b.birth = NULL;
    }
    return bytes;
}

static void size_and_speed(void)
{
    const char *path = path_of("size.db");
    wend_store *s = open_store(path);
    int64_t bytes = 0, began = now_us(), took;
    struct stat st;
    double ratio;

    for (int i = 0; i < SIZE_RUNS; i++)
        bytes += fill(s, i);
    took = now_us() - began;
    wend_store_free(s);
    stat(path, &st);
    ratio = (double)st.st_size / (double)bytes;
    printf("# a commit of 3 events takes %.0f us\n",
           (double)took / (SIZE_RUNS * SIZE_EVENTS / 3));
    tap_ok(ratio <= 1.3, "%.1f MB in %.2f times their bytes",
           (double)bytes / 1e6, ratio);
    began = now_us();
    s = open_store(path);
    took = now_us() - began;
    printf("# open takes %.2f ms\n", (double)took / 1e3);
    began = now_us();
    wend_store_free(s);
    printf("# close takes %.2f ms\n", (double)(now_us() - began) / 1e3);
}

/* Steps of SQLite's machine to find the packs before an event, the run having
 * `count` of them. The writer has nothing to do meanwhile. */
static int steps_of(wend_store *s, int from, int count)
{
    struct db *db = &((struct sqlite_store *)s)->write;
    struct store_pack pack = {0, 1, 1, STR("[1]")};
    struct store_event e = {0, WEND_WARNING, 1, STR("{}")};
    struct store_batch b = {.run = STR(RUN_A),
                            .epoch = 1,
                            .events = &e,
                            .events_count = 1,
                            .packs = &pack,
                            .packs_count = 1};

    for (int i = from; i < count; i++) {
        e.seq = i + 2;
        pack.seq = i + 1;
        if (i == count - 1)
            sqlite3_stmt_status(db->statements[Q_PACKS_AFTER],
                                SQLITE_STMTSTATUS_VM_STEP, 1);
        put(s, &b);
    }
    return sqlite3_stmt_status(db->statements[Q_PACKS_AFTER],
                               SQLITE_STMTSTATUS_VM_STEP, 0);
}

/* A commit costs the same however long the run's log is. */
static void long_run(void)
{
    enum { FEW = 10, MANY = 300 };
    wend_store *s = open_store(path_of("long.db"));
    int few, many;

    put_event(s, RUN_A, 1, "{}");
    few = steps_of(s, 0, FEW);
    many = steps_of(s, FEW, MANY);
    tap_ok(few > 0 && many <= 2 * few,
           "a commit after %d packs takes %d steps, %d after %d", MANY, many,
           few, FEW);
    wend_store_free(s);
}

int main(void)
{
    dir = dir_make();
    made_at_once(); /* forks, so before any thread */
    refused();
    foreign_untouched();
    other_user();
    read_only();
    modes();
    settings();
    default_place();
    two_handles();
    requests();
    half_a_batch();
    long_run();
    size_and_speed();
    dir_remove(dir);
    return tap_done();
}

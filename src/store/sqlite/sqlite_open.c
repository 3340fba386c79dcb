/*
 * sqlite_open.c - makes, checks and upgrades the file of an SQLite store.
 *
 * A file is ours by its application id; its user_version says which schema
 * it has. Nothing is changed in a file before it is known to be ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/sqlite/sqlite.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

enum { APPLICATION_ID = 0x77656e64 }; /* "wend" */
/* A commit writes every page that it touches, and most rows are small. */
#define PAGE_BYTES 1024
#define SET_PAGE_BYTES "PRAGMA page_size = " TEXT(PAGE_BYTES) ";"
/* Pages that many commits change are written back only once in 4 MiB. */
enum { CHECKPOINT_PAGES = (4 << 20) / PAGE_BYTES };
/* A patient operation moves less at once: while the system syncs the file, a
 * sync of the log takes as long. */
enum { PATIENT_PAGES = (1 << 20) / PAGE_BYTES };
enum { STILL_TRIES = 3 }; /* to open one that others open and close */

enum kind { KIND_NEW, KIND_OURS, KIND_FOREIGN };

enum { VERSION_WITH_ID = 2 }; /* the first that has one */

/* ---- The file itself ----------------------------------------------------- */

static wend_status make_file(const char *path, wend_error *err)
{
    int fd =
        open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd >= 0) {
        /* No other process can have it open yet: closing drops no locks. */
        close(fd);
        return WEND_OK;
    }
    if (errno == EEXIST)
        return WEND_OK;
    if (errno == EACCES || errno == EROFS || errno == EPERM)
        return fail(err, WEND_E_STORE,
                    "store %s: its directory is read-only; make it writable, "
                    "or choose another store",
                    path);
    return fail(err, WEND_E_STORE, "store %s: cannot be made: %s", path,
                strerror(errno));
}

static wend_status check_file(const char *path, bool *is_private,
                              wend_error *err)
{
    struct stat st;

    *is_private = false;
    if (stat(path, &st))
        return fail(err, WEND_E_STORE, "store %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(err, WEND_E_STORE, "store %s: is not a file", path);
    if (st.st_uid != geteuid())
        return fail(err, WEND_E_STORE,
                    "store %s: belongs to another user (%ld)", path,
                    (long)st.st_uid);
    *is_private = !(st.st_mode & 077);
    return WEND_OK;
}

/* An SQLite file gives its mode to the files beside it when they are made;
 * those of a process that died may be there already. */
static wend_status make_private(const char *path, wend_error *err)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char name[STORE_PATH_MAX];
    struct stat st;

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (store_beside(name, path, endings[i]) && !stat(name, &st) &&
            (st.st_mode & 077) && chmod(name, 0600))
            return fail(err, WEND_E_STORE,
                        "store %s: cannot be made private: %s", name,
                        strerror(errno));
    return WEND_OK;
}

/* ---- A file that can only be read ---------------------------------------- */

/* SQLite needs PATH-shm to read beside a write-ahead log. Where both exist it
 * reads them without writing, also beside a program that writes them (the same
 * folder may be mounted for writing elsewhere). Without a log no process has
 * the file open, and SQLite can read it only as immutable. It may change
 * nevertheless: a writer makes its log first, so each look ends with a check
 * that there is still no log and that the file is the same. */

static bool cannot_write(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) &&
           (errno == EROFS || errno == EACCES || errno == EPERM);
}

bool still_only(const char *path)
{
    char dir[STORE_PATH_MAX];

    return !faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) &&
           (cannot_write(path) || (store_dir(dir, path) && cannot_write(dir)));
}

/* The size of the file beside PATH; -1: it does not exist. */
static int64_t size_of(const char *path, const char *ending)
{
    char name[STORE_PATH_MAX];
    struct stat st;

    if (!store_beside(name, path, ending))
        return 1; /* in doubt there is something in it */
    if (!stat(name, &st))
        return st.st_size;
    return errno == ENOENT ? -1 : 1;
}

static bool has_log(const char *path)
{
    return size_of(path, "-wal") > 0 || size_of(path, "-journal") > 0;
}

static wend_status still_begin(const char *path, struct still *out,
                               wend_error *err)
{
    bool shared = size_of(path, "-shm") >= 0;

    *out = (struct still){.on = !shared || size_of(path, "-wal") < 0};
    if (out->on && has_log(path))
        return fail(err, WEND_E_STORE,
                    "store %s: is read-only, and its newest changes are in a "
                    "file beside it that can be read only where it can be "
                    "written; copy all of them to another place",
                    path);
    if (out->on && stat(path, &out->file))
        return fail(err, WEND_E_STORE, "store %s: %s", path, strerror(errno));
    return WEND_OK;
}

wend_status still_check(const struct still *was, const char *path,
                        wend_error *err)
{
    struct stat now;

    if (!was->on ||
        (!stat(path, &now) && now.st_dev == was->file.st_dev &&
         now.st_ino == was->file.st_ino && now.st_size == was->file.st_size &&
         now.st_mtim.tv_sec == was->file.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == was->file.st_mtim.tv_nsec &&
         now.st_ctim.tv_sec == was->file.st_ctim.tv_sec &&
         now.st_ctim.tv_nsec == was->file.st_ctim.tv_nsec && !has_log(path)))
        return WEND_OK;
    return fail(err, WEND_E_STORE,
                "store %s: can only be read here, and was changed elsewhere "
                "meanwhile; try again",
                path);
}

/* ---- What it is ---------------------------------------------------------- */

static wend_status check_kind(const struct db *db, enum kind kind,
                              int64_t version, const struct db_schema *schema,
                              wend_error *err)
{
    if (kind == KIND_FOREIGN)
        return fail(err, WEND_E_STORE,
                    "store %s: is not a wend store but another program's "
                    "SQLite file; choose another path",
                    db->path);
    if (kind == KIND_OURS && version > schema->version)
        return fail(err, WEND_E_STORE,
                    "store %s: has version %lld, made by a newer wend; this "
                    "one knows up to version %d",
                    db->path, (long long)version, schema->version);
    return WEND_OK;
}

/* In one transaction: another process may be making it. Fails unless the file
 * is new or has a schema that we know. */
static wend_status look(struct db *db, const struct db_schema *schema,
                        enum kind *kind, int64_t *version, wend_error *err)
{
    int64_t id, objects;
    wend_status s = db_exec(db, "BEGIN", err);

    if (s == WEND_OK)
        s = db_number(db, "PRAGMA application_id", &id, err);
    if (s == WEND_OK)
        s = db_number(db, "PRAGMA user_version", version, err);
    if (s == WEND_OK)
        s = db_number(db, "SELECT count(*) FROM sqlite_schema", &objects, err);
    if (!sqlite3_get_autocommit(db->handle))
        db_exec(db, "ROLLBACK", NULL);
    if (s != WEND_OK)
        return s;
    /* Without tables: made by us, but not to the end. */
    *kind = id == APPLICATION_ID        ? KIND_OURS
            : id || *version || objects ? KIND_FOREIGN
                                        : KIND_NEW;
    return check_kind(db, *kind, *version, schema, err);
}

int db_checkpoint(struct db *db)
{
    int pages = 0;
    int rc = sqlite3_wal_checkpoint_v2(db->handle, "main",
                                       SQLITE_CHECKPOINT_PASSIVE, NULL, &pages);

    if ((rc & 0xff) == SQLITE_BUSY)
        return SQLITE_OK; /* others are at it */
    db->checkpointed = rc == SQLITE_OK ? pages : 0;
    return rc;
}

/* SQLite's own would leave a failed write or sync of the file unsaid, and try
 * it again with the next commit. Said here it fails the commit. */
static int on_commit(void *ctx, sqlite3 *handle, const char *name, int pages)
{
    struct db *db = ctx;

    (void)handle;
    (void)name;
    if (db->checkpointed > pages)
        db->checkpointed = 0; /* the log began anew */
    if (db->checkpoint_later)
        db->checkpoint_due = pages - db->checkpointed >= PATIENT_PAGES;
    return db->checkpoint_later || pages < CHECKPOINT_PAGES ? SQLITE_OK
                                                            : db_checkpoint(db);
}

/* Both are read back: durability depends on them. */
static wend_status set_modes(struct db *db, wend_error *err)
{
    bool full = false, wal = false;
    wend_status s = db_exec(db,
                            "PRAGMA synchronous = FULL;"
                            "PRAGMA journal_size_limit = 67108864;"
                            "PRAGMA journal_mode = WAL",
                            err);

    sqlite3_wal_hook(db->handle, on_commit, db);
    if (s == WEND_OK)
        s = db_says(db, "PRAGMA synchronous", "2", &full, err);
    if (s == WEND_OK)
        s = db_says(db, "PRAGMA journal_mode", "wal", &wal, err);
    if (s == WEND_OK && !wal)
        s = fail(err, WEND_E_STORE,
                 "store %s: no write-ahead log is possible here (a network "
                 "file system?); choose another place",
                 db->path);
    else if (s == WEND_OK && !full)
        s = fail(err, WEND_E_STORE, "store %s: SQLite refuses to be durable",
                 db->path);
    return s;
}

/* ---- Making and upgrading ------------------------------------------------ */

/* Makes the last change of the transaction and commits it, with the version. */
static wend_status commit(struct db *db, const char *change, int version,
                          wend_error *err)
{
    char sql[100];
    wend_status s = db_exec(db, change, err);

    snprintf(sql, sizeof sql,
             "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
             APPLICATION_ID, version);
    return s == WEND_OK ? db_exec(db, sql, err) : s;
}

static wend_status create(struct db *db, const struct db_schema *schema,
                          wend_error *err)
{
    /* Free pages go to the end of the file only if it is made so. */
    wend_status s =
        db_exec(db, SET_PAGE_BYTES "PRAGMA auto_vacuum = INCREMENTAL", err);

    if (s == WEND_OK)
        s = set_modes(db, err);
    if (s == WEND_OK)
        s = db_exec(db, "BEGIN IMMEDIATE", err);
    return s == WEND_OK ? commit(db, schema->create, schema->version, err) : s;
}

static wend_status copy_into(struct db *from, struct db *to, wend_error *err)
{
    sqlite3_backup *b =
        sqlite3_backup_init(to->handle, "main", from->handle, "main");

    if (b)
        sqlite3_backup_step(b, -1);
    return b && sqlite3_backup_finish(b) == SQLITE_OK ? WEND_OK
                                                      : db_fail(to, err);
}

/* Keeps PATH.v<version>.bak; it has its name only once it is whole. */
static wend_status keep_copy(const char *path, int64_t version, wend_error *err)
{
    char ending[40], name[STORE_PATH_MAX], part[STORE_PATH_MAX];
    struct db from = {0}, to = {0};
    wend_status s;

    snprintf(ending, sizeof ending, ".v%lld.bak", (long long)version);
    if (!store_beside(name, path, ending) || !store_beside(part, name, ".part"))
        s = fail(err, WEND_E_STORE, "store %s: its path is too long", path);
    else if (unlink(part) && errno != ENOENT)
        s = fail(err, WEND_E_STORE, "cannot remove %s: %s", part,
                 strerror(errno));
    else
        s = make_file(part, err);
    if (s == WEND_OK)
        s = db_connect(&from, path, err);
    if (s == WEND_OK)
        s = db_connect(&to, part, err);
    if (s == WEND_OK)
        s = copy_into(&from, &to, err);
    db_close(&from);
    db_close(&to);
    if (s == WEND_OK && rename(part, name))
        s = fail(err, WEND_E_STORE, "cannot make %s: %s", name,
                 strerror(errno));
    if (s == WEND_OK)
        s = store_sync_name(name, err);
    return s;
}

static const struct db_step *step_from(const struct db_schema *schema,
                                       int64_t version)
{
    for (size_t i = 0; i < schema->steps_count; i++)
        if (schema->steps[i].from == version)
            return &schema->steps[i];
    return NULL;
}

/* An old file gets the pages of a new one. That needs the file alone and room
 * for a second one; another program that reads it just now is no failure: the
 * file is good as it is. Atomic by SQLite's rollback journal. */
static wend_status set_pages(struct db *db, wend_error *err)
{
    int64_t bytes = 0;
    bool alone = false;
    wend_status s = db_number(db, "PRAGMA page_size", &bytes, err);

    if (s != WEND_OK || bytes == PAGE_BYTES)
        return s;
    db_says(db, "PRAGMA journal_mode = DELETE", "delete", &alone, NULL);
    if (!alone)
        return WEND_OK;
    return db_exec(
        db,
        "PRAGMA synchronous = FULL; PRAGMA temp_store = FILE;" SET_PAGE_BYTES
        "VACUUM; PRAGMA temp_store = MEMORY",
        err);
}

static wend_status upgrade(struct db *db, const struct owner *owner,
                           int64_t version, const struct db_schema *schema,
                           wend_error *err)
{
    wend_status s;

    for (int64_t v = version; v < schema->version; v++)
        if (!step_from(schema, v))
            return fail(err, WEND_E_STORE,
                        "store %s: has version %lld, too old for this wend",
                        db->path, (long long)version);
    if (!owner_alone(owner))
        return fail(err, WEND_E_BUSY,
                    "store %s: must be upgraded from version %lld, but other "
                    "programs have it open; end them first",
                    db->path, (long long)version);
    /* Writing is locked out first, so that the copy lacks nothing. */
    s = db_exec(db, "BEGIN IMMEDIATE", err);
    if (s == WEND_OK)
        s = keep_copy(db->path, version, err);
    for (; s == WEND_OK && version < schema->version; version++)
        s = db_exec(db, step_from(schema, version)->sql, err);
    if (s == WEND_OK)
        s = commit(db, "", schema->version, err);
    return s == WEND_OK ? set_pages(db, err)
                        : s; /* closing undoes what was not committed */
}

/* Another process may be doing the same: the one that waited looks again.
 * `was_private`: no other user could write to the file before. */
static wend_status settle(struct db *db, const struct owner *owner,
                          const struct db_schema *schema, bool was_private,
                          wend_error *err)
{
    enum kind kind;
    int64_t version;
    wend_status s;

    if (!owner_lock(owner))
        return fail(err, WEND_E_STORE, "store %s: cannot be locked: %s",
                    db->path, strerror(errno));
    s = look(db, schema, &kind, &version, err);
    if (s == WEND_OK && kind == KIND_NEW) {
        s = create(db, schema, err);
        db->made = s == WEND_OK;
    } else if (s == WEND_OK && version < schema->version) {
        s = upgrade(db, owner, version, schema, err);
        db->adopted = s == WEND_OK && version < VERSION_WITH_ID && was_private;
    }
    owner_unlock(owner);
    return s;
}

wend_status db_store_id(struct db *db, char id[STORE_ID_BYTES], wend_error *err)
{
    wend_status s =
        db_text(db, "SELECT id FROM store LIMIT 1", id, STORE_ID_BYTES, err);

    /* It becomes the name of a file. */
    if (s == WEND_OK && strspn(id, "0123456789abcdef") != STORE_ID_BYTES - 1)
        id[0] = 0;
    return s;
}

/* `how` is owner_open or owner_look. */
static wend_status own(const char *path,
                       wend_status (*how)(const char *, struct owner *,
                                          wend_error *),
                       struct owner *owner, wend_error *err)
{
    char name[STORE_PATH_MAX];

    return store_beside(name, path, "-lock")
               ? how(name, owner, err)
               : fail(err, WEND_E_STORE, "store %s: its path is too long",
                      path);
}

wend_status db_open(const char *path, const struct db_schema *schema,
                    struct db *db, struct owner *owner, wend_error *err)
{
    enum kind kind;
    int64_t version;
    bool was_private = false;
    wend_status s = make_file(path, err);

    if (s == WEND_OK)
        s = check_file(path, &was_private, err);
    if (s == WEND_OK)
        s = owner_meet(path, owner, err);
    if (s == WEND_OK)
        s = db_connect(db, path, err);
    if (s == WEND_OK && sqlite3_db_readonly(db->handle, "main"))
        s = fail(err, WEND_E_STORE, "store %s: %s", path,
                 faccessat(AT_FDCWD, path, W_OK, AT_EACCESS)
                     ? "is read-only; make it writable, or choose another "
                       "store"
                     : "can be opened only for reading, though it is "
                       "writable; try again, and see that not too many "
                       "files are open (ulimit -n)");
    if (s == WEND_OK)
        s = look(db, schema, &kind, &version, err);
    if (s == WEND_OK)
        s = make_private(path, err);
    if (s == WEND_OK)
        s = own(path, owner_open, owner, err);
    /* Nothing has written to the log since; others would do so meanwhile. */
    db->lost = s == WEND_OK && owner_alone(owner) && wal_has_lost(path);
    if (s == WEND_OK && (kind == KIND_NEW || version < schema->version))
        s = settle(db, owner, schema, was_private, err);
    if (s == WEND_OK)
        s = set_modes(db, err);
    return s;
}

static wend_status look_still(const char *path, const struct db_schema *schema,
                              struct db *db, struct still *still,
                              wend_error *err)
{
    enum kind kind = KIND_NEW;
    int64_t version = 0;
    wend_status s = still_begin(path, still, err);

    if (s == WEND_OK)
        s = db_connect_still(db, path, still, err);
    if (s == WEND_OK)
        s = db_exec(db, "PRAGMA query_only = ON", err);
    if (s == WEND_OK)
        s = look(db, schema, &kind, &version, err);
    if (s == WEND_OK && (kind == KIND_NEW || version < schema->version))
        s = fail(err, WEND_E_STORE,
                 "store %s: has version %lld and must be upgraded, but is "
                 "read-only; make it writable, or copy it to another place",
                 path, (long long)version);
    return s;
}

wend_status db_open_still(const char *path, const struct db_schema *schema,
                          struct db *db, struct owner *owner,
                          struct still *still, wend_error *err)
{
    bool is_private;
    wend_status s = check_file(path, &is_private, err), found = WEND_E_STORE;

    if (s == WEND_OK)
        s = owner_meet(path, owner, err);
    /* A process that can write it may just be opening or closing it. */
    for (int i = 0; s == WEND_OK && i < STILL_TRIES && found == WEND_E_STORE;
         i++) {
        db_close(db);
        found = look_still(path, schema, db, still, err);
    }
    if (s == WEND_OK)
        s = found;
    if (s == WEND_OK)
        s = own(path, owner_look, owner, err);
    return s;
}

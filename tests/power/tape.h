/*
 * tape.h - an SQLite VFS that notes what is done to the files of a store.
 *
 * It stands before the real one and is the default, so that the store opens
 * through it without knowing. Everything that a disk could lose is noted in
 * order: files made and dropped, writes, cuts, syncs. A sync does not reach
 * the real file: what a cut of the power leaves is made from the notes alone
 * (disk.h). One of the calls can be told to fail.
 */
#ifndef POWER_TAPE_H
#define POWER_TAPE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum file { FILE_DB, FILE_WAL, FILE_JOURNAL, FILES };
static const char *const file_ends[FILES] = {"", "-wal", "-journal"};

enum op_kind { OP_MAKE, OP_WRITE, OP_CUT, OP_SYNC, OP_SYNC_BAD, OP_DROP };

struct op {
    enum op_kind kind;
    int file;
    bool dir;   /* the directory is synced, too */
    int64_t at; /* of a write; the new size of a cut */
    size_t len;
    unsigned char *bytes;
};

/* How a call fails: once; or there is no room for writes from then on; or, as
 * a control, they are not done, and it says that they were. */
enum fault { FAULT_NONE, FAULT_IO, FAULT_FULL, FAULT_SILENT };

/* The settings of a store that keeps no promise. */
enum control { CONTROL_NONE, CONTROL_NORMAL, CONTROL_OFF };

static struct tape {
    pthread_mutex_t lock;
    char path[128]; /* of the store; empty: nothing is noted */
    struct op *ops;
    size_t count, room;
    bool exists[FILES];
    long strays; /* files that have no name: what they hold is elsewhere */
    enum control control;
    enum fault fault;
    long calls, fault_at; /* counts from 1 */
    bool failed;          /* the fault has been */
    long calls_after;     /* it */
} tape = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct tape_file {
    sqlite3_file base;
    int file; /* -1: not one of ours */
    bool dir_due;
    sqlite3_file *real;
};

static sqlite3_vfs *vfs_real;
static _Thread_local bool pragma_passes;

static void *must(void *p)
{
    if (!p)
        abort(); /* a test has memory */
    return p;
}

/* Call with the lock held. */
static void note_op(struct op op, const void *bytes)
{
    if (tape.count == tape.room) {
        tape.room = tape.room ? tape.room * 2 : 1024;
        tape.ops = must(realloc(tape.ops, tape.room * sizeof *tape.ops));
    }
    if (op.len) {
        op.bytes = must(malloc(op.len));
        memcpy(op.bytes, bytes, op.len);
    }
    tape.ops[tape.count++] = op;
}

static void note(struct op op, const void *bytes)
{
    pthread_mutex_lock(&tape.lock);
    note_op(op, bytes);
    pthread_mutex_unlock(&tape.lock);
}

/* Whether this call fails. */
static enum fault fault_here(bool writes)
{
    enum fault f = FAULT_NONE;

    pthread_mutex_lock(&tape.lock);
    tape.calls++;
    tape.calls_after += tape.failed;
    if (tape.fault == FAULT_IO ? tape.calls == tape.fault_at
                               : tape.fault && writes && tape.fault_at &&
                                     tape.calls >= tape.fault_at)
        f = tape.fault;
    tape.failed |= f != FAULT_NONE;
    pthread_mutex_unlock(&tape.lock);
    return f;
}

static struct tape_file *of(sqlite3_file *f)
{
    return (struct tape_file *)(void *)f;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
    return of(f)->real;
}

/* ---- Calls that are noted ------------------------------------------------ */

static int on_write(sqlite3_file *f, const void *bytes, int len,
                    sqlite3_int64 at)
{
    struct op op = {OP_WRITE, of(f)->file, false, at, (size_t)len, NULL};
    enum fault fault = op.file < 0 ? FAULT_NONE : fault_here(true);

    if (fault == FAULT_SILENT)
        return SQLITE_OK;
    if (fault)
        op.len /= 2; /* as much as there was room for */
    if (op.file >= 0 && op.len)
        note(op, bytes);
    if (!fault)
        return real_of(f)->pMethods->xWrite(real_of(f), bytes, len, at);
    if (op.len)
        real_of(f)->pMethods->xWrite(real_of(f), bytes, (int)op.len, at);
    return fault == FAULT_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int on_cut(sqlite3_file *f, sqlite3_int64 size)
{
    struct op op = {OP_CUT, of(f)->file, false, size, 0, NULL};

    if (op.file >= 0 && fault_here(false))
        return SQLITE_IOERR_TRUNCATE;
    if (op.file >= 0)
        note(op, NULL);
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int on_sync(sqlite3_file *f, int flags)
{
    struct op op = {OP_SYNC, of(f)->file, of(f)->dir_due, 0, 0, NULL};

    if (op.file < 0)
        return real_of(f)->pMethods->xSync(real_of(f), flags);
    if (fault_here(false)) {
        op.kind = OP_SYNC_BAD;
        op.dir = false;
    } else {
        of(f)->dir_due = false;
    }
    note(op, NULL);
    return op.kind == OP_SYNC ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

/* A control pretends to be as durable as it is asked to be. */
static int on_control(sqlite3_file *f, int what, void *arg)
{
    char **pragma = arg;

    if (what == SQLITE_FCNTL_PRAGMA && of(f)->file >= 0 && tape.control &&
        !pragma_passes && !sqlite3_stricmp(pragma[1], "synchronous")) {
        if (!pragma[2])
            pragma[0] = sqlite3_mprintf("2");
        return SQLITE_OK;
    }
    return real_of(f)->pMethods->xFileControl(real_of(f), what, arg);
}

static int on_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

/* ---- Calls that go on as they are ---------------------------------------- */

static int on_read(sqlite3_file *f, void *to, int len, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, len, at);
}

static int on_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int on_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int on_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int on_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}

static int on_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int on_device(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int on_shm_map(sqlite3_file *f, int page, int size, int extend,
                      void volatile **out)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}

static int on_shm_lock(sqlite3_file *f, int from, int count, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), from, count, flags);
}

static void on_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int on_shm_unmap(sqlite3_file *f, int drop)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), drop);
}

/* ---- The VFS ------------------------------------------------------------- */

static int file_of(const char *path)
{
    size_t len = strlen(tape.path);

    if (!path || !len || strncmp(path, tape.path, len))
        return -1;
    for (int i = 0; i < FILES; i++)
        if (!strcmp(path + len, file_ends[i]))
            return i;
    return -1;
}

static int on_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file,
                   int flags, int *out)
{
    static const sqlite3_io_methods methods = {
        2,
        on_close,
        on_read,
        on_write,
        on_cut,
        on_sync,
        on_size,
        on_lock,
        on_unlock,
        on_reserved,
        on_control,
        on_sector,
        on_device,
        on_shm_map,
        on_shm_lock,
        on_shm_barrier,
        on_shm_unmap,
        NULL,
        NULL,
    };
    struct tape_file *f = of(file);
    int rc;

    (void)vfs;
    *f = (struct tape_file){.file = file_of(path),
                            .real = (sqlite3_file *)(void *)(f + 1)};
    rc = vfs_real->xOpen(vfs_real, path, f->real, flags, out);
    if (rc != SQLITE_OK)
        return rc;
    f->base.pMethods = &methods;
    tape.strays += !path && tape.path[0];
    if (f->file < 0)
        return rc;
    /* The real one does so with the first sync of what it may have made. */
    f->dir_due = (flags & SQLITE_OPEN_CREATE) && f->file != FILE_DB;
    pthread_mutex_lock(&tape.lock);
    if (!tape.exists[f->file])
        note_op((struct op){.kind = OP_MAKE, .file = f->file}, NULL);
    tape.exists[f->file] = true;
    pthread_mutex_unlock(&tape.lock);
    return rc;
}

static int on_delete(sqlite3_vfs *vfs, const char *path, int sync_dir)
{
    struct op op = {.kind = OP_DROP, .file = file_of(path), .dir = sync_dir};
    int rc = vfs_real->xDelete(vfs_real, path, false);

    (void)vfs;
    if (rc != SQLITE_OK || op.file < 0)
        return rc;
    pthread_mutex_lock(&tape.lock);
    tape.exists[op.file] = false;
    note_op(op, NULL);
    pthread_mutex_unlock(&tape.lock);
    return rc;
}

/* Each connection of a control is weakened as it opens. */
static int on_connect(sqlite3 *db, char **err,
                      const struct sqlite3_api_routines *api)
{
    const char *sql = tape.control == CONTROL_OFF ? "PRAGMA synchronous = OFF"
                                                  : "PRAGMA synchronous = 1";

    (void)err;
    (void)api;
    if (!tape.control || file_of(sqlite3_db_filename(db, "main")) < 0)
        return SQLITE_OK;
    pragma_passes = true;
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    pragma_passes = false;
    return SQLITE_OK;
}

static bool tape_register(void)
{
    static sqlite3_vfs vfs;

    vfs_real = sqlite3_vfs_find(NULL);
    if (!vfs_real)
        return false;
    vfs = *vfs_real; /* what is not about files goes on as it is */
    vfs.zName = "tape";
    vfs.pNext = NULL;
    vfs.szOsFile += (int)sizeof(struct tape_file);
    vfs.xOpen = on_open;
    vfs.xDelete = on_delete;
    return sqlite3_vfs_register(&vfs, 1) == SQLITE_OK &&
           sqlite3_auto_extension((void (*)(void))on_connect) == SQLITE_OK;
}

static void tape_clear(void)
{
    for (size_t i = 0; i < tape.count; i++)
        free(tape.ops[i].bytes);
    free(tape.ops);
    tape = (struct tape){.lock = PTHREAD_MUTEX_INITIALIZER};
}

/* From now on what is done to this store is noted. */
static void tape_start(const char *path, enum control control)
{
    tape_clear();
    snprintf(tape.path, sizeof tape.path, "%s", path);
    tape.control = control;
    for (int i = 0; i < FILES; i++) {
        char name[sizeof tape.path + 16];

        snprintf(name, sizeof name, "%s%s", path, file_ends[i]);
        tape.exists[i] = !access(name, F_OK);
    }
}

/* The notes stay. */
static inline void tape_stop(void)
{
    tape.path[0] = 0;
    tape.control = CONTROL_NONE;
}

#endif

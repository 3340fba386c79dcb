/*
 * sqlite_still.c - a file that can only be read.
 *
 * SQLite needs PATH-shm to read beside a write-ahead log. Where both exist it
 * reads them without writing, also beside a program that writes them (the same
 * folder may be mounted for writing elsewhere). Without a log no process has
 * the file open, and SQLite can read it only as immutable. It may change
 * nevertheless: a writer makes its log first, so each look ends with a check
 * that there is still no log and that the file is the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/sqlite/sqlite.h"

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

wend_status still_begin(const char *path, struct still *out, wend_error *err)
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

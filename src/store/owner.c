/*
 * owner.c - who is alive: kernel locks on a file beside the store.
 *
 * The locks belong to the open file description, not to the process: two
 * handles in one process are two owners, and closing one leaves the other
 * its lock. A forked child would share them, and closes its copy (forked.h).
 */
#include "store/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

enum { BYTE_MAKE = 0, ID_TRIES = 8 };

static const int64_t id_max = INT64_C(1) << 62; /* file offsets have 63 bits */
static const int64_t byte_write = (INT64_C(1) << 62) + 1;
static const int64_t byte_wait = (INT64_C(1) << 62) + 2;

/* Locks or unlocks a byte, `how` being F_OFD_SETLK or F_OFD_SETLKW: as fcntl
 * does. */
static int set(const struct owner *o, int how, short type, int64_t byte)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return fcntl(o->fd, how, &lock);
}

/* Whether another handle has a lock there; len 0 reaches to the end of all
 * offsets. */
enum others { OTHERS_NO, OTHERS_YES, OTHERS_UNKNOWN };
static enum others others_have(const struct owner *o, int64_t start,
                               int64_t len)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = start,
                         .l_len = len};

    return fcntl(o->fd, F_OFD_GETLK, &lock) ? OTHERS_UNKNOWN
           : lock.l_type == F_UNLCK         ? OTHERS_NO
                                            : OTHERS_YES;
}

static bool id_lock(struct owner *o)
{
    uint64_t chance;

    for (int i = 0; i < ID_TRIES; i++) {
        if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
            return false;
        o->id = (int64_t)(chance % (uint64_t)(id_max - 1)) + 1;
        if (!set(o, F_OFD_SETLK, F_WRLCK, o->id))
            return true;
        if (errno != EAGAIN && errno != EACCES)
            return false;
    }
    return false;
}

wend_status owner_meet(const char *path, struct owner *o, wend_error *err)
{
    o->file.fd = &o->fd;
    return forked_file_add(&o->file, path, err);
}

wend_status owner_open(const char *lock_path, struct owner *o, wend_error *err)
{
    struct stat st;

    o->file.fd = &o->fd;
    if (forked_file_open(&o->file, lock_path, O_RDWR | O_CREAT | O_NOFOLLOW,
                         0600) < 0 ||
        fstat(o->fd, &st))
        return fail(err, WEND_E_STORE, "cannot open %s: %s", lock_path,
                    strerror(errno));
    if (st.st_uid != geteuid() || !S_ISREG(st.st_mode))
        return fail(err, WEND_E_STORE,
                    "%s is not a file of yours; remove it or choose another "
                    "store",
                    lock_path);
    if ((st.st_mode & 077) && fchmod(o->fd, 0600))
        return fail(err, WEND_E_STORE, "cannot make %s private: %s", lock_path,
                    strerror(errno));
    if (!id_lock(o))
        return fail(err, WEND_E_STORE, "cannot lock %s: %s", lock_path,
                    strerror(errno));
    return WEND_OK;
}

wend_status owner_look(const char *lock_path, struct owner *o, wend_error *err)
{
    o->file.fd = &o->fd;
    forked_file_open(&o->file, lock_path, O_RDONLY | O_NOFOLLOW, 0);
    o->ownerless = o->fd < 0 && errno == ENOENT;
    return o->fd >= 0 || o->ownerless
               ? WEND_OK
               : fail(err, WEND_E_STORE, "cannot open %s: %s", lock_path,
                      strerror(errno));
}

void owner_close(struct owner *o)
{
    o->file.fd = &o->fd;
    forked_file_close(&o->file);
}

bool owner_alive(const struct owner *o, int64_t id)
{
    if (id == o->id) /* a lock does not stand in its own way */
        return true;
    return !o->ownerless && others_have(o, id, 1) != OTHERS_NO;
}

bool owner_alone(const struct owner *o)
{
    return others_have(o, BYTE_MAKE + 1, 0) == OTHERS_NO;
}

bool owner_lock(const struct owner *o)
{
    int rc;

    do
        rc = set(o, F_OFD_SETLKW, F_WRLCK, BYTE_MAKE);
    while (rc && errno == EINTR);
    return !rc;
}

void owner_unlock(const struct owner *o)
{
    set(o, F_OFD_SETLK, F_UNLCK, BYTE_MAKE);
}

/* ---- The queue of those that write --------------------------------------- */

enum owner_try owner_write_try(const struct owner *o)
{
    if (!set(o, F_OFD_SETLK, F_WRLCK, byte_write))
        return OWNER_GOT;
    return errno == EAGAIN || errno == EACCES || errno == EINTR ? OWNER_TAKEN
                                                                : OWNER_FAILED;
}

void owner_write_end(const struct owner *o)
{
    set(o, F_OFD_SETLK, F_UNLCK, byte_write);
}

bool owner_others_wait(const struct owner *o)
{
    return others_have(o, byte_wait, 1) == OTHERS_YES;
}

void owner_wait_mark(const struct owner *o, bool waits)
{
    set(o, F_OFD_SETLK, waits ? F_RDLCK : F_UNLCK, byte_wait);
}

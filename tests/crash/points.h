/*
 * points.h - where a process can be killed, counted.
 *
 * SQLite and the loop write and sync through libc; this program defines these
 * functions itself, so that each call is two points: before it, and after.
 */
#ifndef CRASH_POINTS_H
#define CRASH_POINTS_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Seen by the libraries, too. */
#define POINT_API __attribute__((visibility("default")))

static atomic_long points_seen; /* in this process */
static long points_kill;        /* dies at this one; 0 = never */
static atomic_bool points_on;

static void point(void)
{
    if (atomic_load(&points_on) &&
        atomic_fetch_add(&points_seen, 1) + 1 == points_kill) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
}

POINT_API ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    ssize_t n;

    point();
    n = syscall(SYS_pwrite64, fd, bytes, count, at);
    point();
    return n;
}

POINT_API ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    return pwrite64(fd, bytes, count, at);
}

POINT_API int fdatasync(int fd)
{
    int rc;

    point();
    rc = (int)syscall(SYS_fdatasync, fd);
    point();
    return rc;
}

POINT_API int fsync(int fd)
{
    int rc;

    point();
    rc = (int)syscall(SYS_fsync, fd);
    point();
    return rc;
}

#endif

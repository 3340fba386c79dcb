/*
 * forked.c - what a child process has from before its fork().
 *
 * The handlers stay registered until the process ends; the shared library is
 * linked so that it stays, too (-z nodelete).
 */
#include "store/forked.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"

enum { FORK_WAIT_MS = 1000 }; /* more than a commit takes on a slow disk */

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Changes only in the child's handler, where there is one thread. */
static unsigned process;

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct forked_file *files;     /* of this process */
static struct forked_file *inherited; /* open in the parent at the fork */

static pthread_rwlock_t inside = PTHREAD_RWLOCK_INITIALIZER;
static _Thread_local unsigned depth; /* of this thread inside */
static bool all_out; /* no thread was inside at the fork that is under way */
static bool torn;    /* the fork that made this process did not find it so */

/* ---- The handlers -------------------------------------------------------- */

static bool wait_for_all_out(void)
{
    struct timespec until;

    if (depth)
        return false; /* it forks from a callback */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FORK_WAIT_MS / 1000;
    return !pthread_rwlock_timedwrlock(&inside, &until);
}

static void before_fork(void)
{
    bool out = wait_for_all_out();

    pthread_mutex_lock(&files_lock); /* of another fork, too */
    all_out = out;
}

static void after_in_parent(void)
{
    bool out = all_out;

    pthread_mutex_unlock(&files_lock);
    if (out)
        pthread_rwlock_unlock(&inside);
}

/* The parent keeps its locks: they go with the last descriptor. */
static void after_in_child(void)
{
    struct forked_file **last = &inherited;

    process++;
    torn = torn || !all_out;
    for (struct forked_file *f = files; f; f = f->next) {
        if (*f->fd >= 0)
            close(*f->fd);
        *f->fd = -1;
    }
    while (*last)
        last = &(*last)->next;
    *last = files;
    files = NULL;
    files_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    inside = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
}

static void watch_forks(void)
{
    /* Without memory for three pointers a handle that went through a fork is
     * not known as one; nothing else depends on it. */
    pthread_atfork(before_fork, after_in_parent, after_in_child);
}

/* ---- Handles ------------------------------------------------------------- */

unsigned forked_mark(void)
{
    pthread_once(&once, watch_forks);
    return process;
}

wend_status forked_check(unsigned mark, wend_error *err)
{
    fail_clear(err); /* every call at the border comes by here */
    return mark == process
               ? WEND_OK
               : fail(err, WEND_E_MISUSE,
                      "the handle was made before fork(): only the parent "
                      "process can use it; make a new one in the child");
}

/* ---- Files --------------------------------------------------------------- */

static bool is_inherited(const struct forked_file *f)
{
    const struct forked_file *o = inherited;

    while (o && (o->dev != f->dev || o->ino != f->ino))
        o = o->next;
    return o != NULL;
}

wend_status forked_file_add(struct forked_file *f, const char *path,
                            wend_error *err)
{
    struct stat st;

    forked_mark();
    if (torn)
        return fail(err, WEND_E_MISUSE,
                    "store %s: a thread of the parent was inside SQLite at "
                    "fork(), and holds its locks in this process for ever; "
                    "start a program (exec) that opens it",
                    path);
    if (stat(path, &st))
        return fail(err, WEND_E_STORE, "store %s: %s", path, strerror(errno));
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    if (is_inherited(f))
        return fail(err, WEND_E_MISUSE,
                    "store %s: the parent had it open at fork(), and SQLite "
                    "would take no locks here; fork before it is opened, or "
                    "start a program (exec) that opens it",
                    path);
    assert(!f->prev);
    pthread_mutex_lock(&files_lock);
    f->prev = &files;
    f->next = files;
    if (files)
        files->prev = &f->next;
    files = f;
    pthread_mutex_unlock(&files_lock);
    return WEND_OK;
}

int forked_file_open(struct forked_file *f, const char *lock_path, int flags,
                     mode_t mode)
{
    int number, fd;

    pthread_mutex_lock(&files_lock);
    fd = *f->fd = open(lock_path, flags | O_CLOEXEC, mode);
    number = errno;
    pthread_mutex_unlock(&files_lock);
    errno = number;
    return fd;
}

void forked_file_close(struct forked_file *f)
{
    pthread_mutex_lock(&files_lock);
    if (*f->fd >= 0)
        close(*f->fd);
    *f->fd = -1;
    if (f->prev)
        *f->prev = f->next;
    if (f->prev && f->next)
        f->next->prev = f->prev;
    f->prev = NULL;
    pthread_mutex_unlock(&files_lock);
}

/* ---- Inside SQLite ------------------------------------------------------- */

void forked_enter(void)
{
    if (!depth++)
        pthread_rwlock_rdlock(&inside);
}

void forked_leave(void)
{
    assert(depth > 0);
    if (!--depth)
        pthread_rwlock_unlock(&inside);
}

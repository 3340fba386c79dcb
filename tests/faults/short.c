/*
 * short.c - put before libc by LD_PRELOAD: reads and writes that do less than
 * they were asked to, and memory that there is not.
 *
 * FAULT_CALL names the call, FAULT_WHEN which one of them is cut to half; 0:
 * every one of more than a few bytes. For `malloc` it is the allocation that
 * fails; with FAULT_ERROR=NSS the process ends there as libc ends it when it
 * cannot read nsswitch.conf, as a control. For `output` all that goes to
 * standard output is lost, as another.
 * FAULT_COUNT is a file that is told at the end how many there were.
 * FAULT_HIT is a file that is made when one comes to pass, and that says whose
 * call it was. Programs that this one starts are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WHOLE = 8 }; /* an eventfd takes this at once or not at all */

#define SHOWN __attribute__((visibility("default")))

static const char *fault_call = "none", *fault_error = "", *fault_hit;
static const char *fault_count;
static long fault_when;
static atomic_long seen, allocations;

/* The environment stays where it is, even what is taken out of it. */
__attribute__((constructor)) static void begin(void)
{
    const char *call = getenv("FAULT_CALL"), *when = getenv("FAULT_WHEN");

    if (getenv("FAULT_ERROR"))
        fault_error = getenv("FAULT_ERROR");
    fault_hit = getenv("FAULT_HIT");
    fault_count = getenv("FAULT_COUNT");
    if (call && when) {
        fault_when = atol(when);
        fault_call = call;
    }
    unsetenv("LD_PRELOAD");
    atomic_store(&allocations, 0);
}

/* By the kernel itself: what is counted here must not be ours. */
static void hit(const void *caller)
{
    int fd = open(fault_hit, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Dl_info from;

    if (dladdr(caller, &from))
        syscall(SYS_write, fd, from.dli_fname, strlen(from.dli_fname));
    close(fd);
}

/* Inlined, so that whoever called is whoever called read and its kin. */
__attribute__((always_inline)) static inline size_t cut(const char *call,
                                                        size_t len)
{
    if (strcmp(fault_call, call) != 0 || len <= WHOLE)
        return len;
    if (fault_when && atomic_fetch_add(&seen, 1) + 1 != fault_when)
        return len;
    hit(__builtin_return_address(0));
    return len / 2;
}

/* The libc's own, whatever its type is. */
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define REAL(result, name, ...) \
    result (*real)(__VA_ARGS__) = (result(*)(__VA_ARGS__))(uintptr_t)next(name)

SHOWN ssize_t read(int fd, void *to, size_t len)
{
    REAL(ssize_t, "read", int, void *, size_t);
    return real(fd, to, cut("read", len));
}

SHOWN ssize_t write(int fd, const void *from, size_t len)
{
    REAL(ssize_t, "write", int, const void *, size_t);

    if (fd == 1 && !strcmp(fault_call, "output")) {
        hit(__builtin_return_address(0));
        return (ssize_t)len;
    }
    return real(fd, from, cut("write", len));
}

SHOWN ssize_t pread64(int fd, void *to, size_t len, off64_t at)
{
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
    return real(fd, to, cut("pread64", len), at);
}

SHOWN ssize_t pwrite64(int fd, const void *from, size_t len, off64_t at)
{
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return real(fd, from, cut("pwrite64", len), at);
}

SHOWN ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    struct iovec first = {0};

    if (count > 0)
        first = parts[0];
    if (!first.iov_len || cut("writev", 100) == 100)
        return real(fd, parts, count);
    first.iov_len = (first.iov_len + 1) / 2;
    return real(fd, &first, 1);
}

SHOWN ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    REAL(ssize_t, "sendmsg", int, const struct msghdr *, int);
    struct iovec first = {0};
    struct msghdr part = *m;

    if (m->msg_iovlen && m->msg_iov[0].iov_len)
        first = m->msg_iov[0];
    if (!first.iov_len || cut("sendmsg", 100) == 100)
        return real(fd, m, flags);
    first.iov_len = (first.iov_len + 1) / 2;
    part.msg_iov = &first;
    part.msg_iovlen = 1;
    return real(fd, &part, flags);
}

SHOWN ssize_t send(int fd, const void *from, size_t len, int flags)
{
    REAL(ssize_t, "send", int, const void *, size_t, int);
    return real(fd, from, cut("sendto", len), flags);
}

SHOWN ssize_t recv(int fd, void *to, size_t len, int flags)
{
    REAL(ssize_t, "recv", int, void *, size_t, int);
    return real(fd, to, cut("recvfrom", len), flags);
}

/* ---- Memory -------------------------------------------------------------- */

/* clang-format off */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
/* clang-format on */

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int fd = open(fault_count, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    snprintf(text, sizeof text, "%ld\n", atomic_load(&allocations));
    if (write(fd, text, strlen(text)) < 0)
        _exit(125);
    close(fd);
}

/* What libc says when it ends the process for want of a line of
 * nsswitch.conf. */
static const char nss_abort[] =
    "wend: nss_database.c:410: nss_database_reload: Assertion `errno == ERANGE "
    "|| errno == EINVAL' failed.\n";

static bool is_of(const void *caller, const char *library)
{
    Dl_info from;

    return dladdr(caller, &from) && strstr(from.dli_fname, library);
}

static bool fails(const void *caller)
{
    if (!strcmp(fault_error, "NSS") && is_of(caller, "/libc.so"))
        return false; /* those that come first, and are spared */
    if (atomic_fetch_add(&allocations, 1) + 1 != fault_when ||
        strcmp(fault_call, "malloc") != 0)
        return false;
    hit(caller);
    if (!strcmp(fault_error, "NSS")) {
        syscall(SYS_write, 2, nss_abort, sizeof nss_abort - 1);
        abort();
    }
    errno = ENOMEM;
    return true;
}

SHOWN void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

SHOWN void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL
                                              : __libc_calloc(count, size);
}

SHOWN void *realloc(void *p, size_t size)
{
    const void *caller = __builtin_return_address(0);

    /* libuv ends the process if its table of descriptors cannot grow. */
    return size && fails(caller) && !is_of(caller, "libuv")
               ? NULL
               : __libc_realloc(p, size);
}

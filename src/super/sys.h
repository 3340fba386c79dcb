/*
 * sys.h - system calls without libc; each gives its result or -errno.
 */
#ifndef SUPER_SYS_H
#define SUPER_SYS_H

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    long r;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
}
#elif defined(__aarch64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "the supervisor knows x86-64 and arm64"
#endif

#define SYS_ARG(x) ((long)(x))
#define sys0(n) sys6(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a) sys6(n, SYS_ARG(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b) sys6(n, SYS_ARG(a), SYS_ARG(b), 0, 0, 0, 0)
#define sys3(n, a, b, c) sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), 0, 0, 0)
#define sys4(n, a, b, c, d) \
    sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), 0, 0)
#define sys5(n, a, b, c, d, e) \
    sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), SYS_ARG(e), 0)

/* Numbers that older headers lack; the same on both machines. */
#ifndef __NR_pidfd_getfd
#define __NR_pidfd_getfd 438
#endif
#ifndef __NR_openat2
#define __NR_openat2 437
#endif
#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif

#define COUNT(table) (sizeof(table) / sizeof *(table))

typedef uint64_t sys_signals; /* the kernel's signal set: bit n - 1 */

static inline size_t text_len(const char *s)
{
    size_t n = 0;

    while (s[n])
        n++;
    return n;
}

static inline bool text_starts(const char *s, const char *prefix)
{
    while (*prefix)
        if (*s++ != *prefix++)
            return false;
    return true;
}

static inline bool text_is(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static inline bool text_ends(const char *s, const char *end)
{
    size_t n = text_len(s), m = text_len(end);

    return n >= m && text_is(s + n - m, end);
}

static inline long sys_open(long at, const char *name, int flags)
{
    return sys4(__NR_openat, at, name, flags | O_CLOEXEC, 0);
}

static inline void sys_close(long fd) /* below 0: does nothing */
{
    if (fd >= 0)
        sys1(__NR_close, fd);
}

/* The text of a file and its length; empty if it cannot be read. */
static inline size_t sys_read_text(long at, const char *name, char *out,
                                   size_t size)
{
    long fd = sys_open(at, name, O_RDONLY);
    long n = fd < 0 ? 0 : sys3(__NR_read, fd, out, size - 1);

    sys_close(fd);
    n = n > 0 ? n : 0;
    out[n] = 0;
    return (size_t)n;
}

/* Writes to a file that exists: 0 or -errno. */
static inline long sys_write_text(long at, const char *name, const char *text)
{
    long fd = sys_open(at, name, O_WRONLY), len = (long)text_len(text);
    long n = fd < 0 ? fd : sys3(__NR_write, fd, text, len);

    sys_close(fd);
    return n == len ? 0 : n < 0 ? n : -EIO;
}

struct sys_entry { /* linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t len;
    uint8_t type;
    char name[];
};

struct sys_list {
    long dir, at, len;
    char room[8192] __attribute__((aligned(8)));
};

static inline void sys_list(struct sys_list *l, long dir)
{
    l->dir = dir;
    l->at = l->len = 0;
}

/* The next entry of the folder, without . and ..; NULL: there is no more. */
static inline const struct sys_entry *sys_next(struct sys_list *l)
{
    const struct sys_entry *e;

    do {
        if (l->at >= l->len) {
            l->len = sys3(__NR_getdents64, l->dir, l->room, sizeof l->room);
            l->at = 0;
        }
        if (l->len <= 0)
            return NULL;
        e = (const void *)(l->room + l->at);
        l->at += e->len;
    } while (text_is(e->name, ".") || text_is(e->name, ".."));
    return e;
}

#endif

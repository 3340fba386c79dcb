/*
 * alloc.c - malloc and its kin, counted, in front of the sanitizer's.
 *
 * Built with the address sanitizer only: it brings the functions that do the
 * work. What they hand out is theirs, so leaks and errors are still found.
 */
#include "alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include <sanitizer/common_interface_defs.h>

/* clang-format off */
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *p, size_t size);
void __interceptor_free(void *p);
int __interceptor_posix_memalign(void **out, size_t align, size_t size);
void *__interceptor_aligned_alloc(size_t align, size_t size);
void *__interceptor_memalign(size_t align, size_t size);
int __interceptor_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                                 void *(*fn)(void *), void *arg);
/* clang-format on */
void *memalign(size_t align, size_t size);

static struct oom_plan plan;
static atomic_bool armed;
static atomic_long count, failed, live;
/* What the sanitizer allocates when a thread begins is its own business. */
static _Thread_local bool ready;

void oom_arm(struct oom_plan p)
{
    plan = p;
    ready = true;
    atomic_store(&count, 0);
    atomic_store(&failed, 0);
    atomic_store(&armed, true);
}

void oom_disarm(void)
{
    atomic_store(&armed, false);
}

long oom_count(void)
{
    return atomic_load(&count);
}

long oom_failed(void)
{
    return atomic_load(&failed);
}

long oom_live(void)
{
    return atomic_load(&live);
}

static bool fails(void)
{
    long n;

    if (!atomic_load(&armed) || !ready)
        return false;
    n = atomic_fetch_add(&count, 1) + 1;
    if (!plan.fail_at || n < plan.fail_at || (n > plan.fail_at && !plan.sticks))
        return false;
    if (!atomic_fetch_add(&failed, 1) && plan.tells) {
        atomic_store(&armed, false); /* a stack needs memory */
        __sanitizer_print_stack_trace();
        atomic_store(&armed, true);
    }
    errno = ENOMEM;
    return true;
}

/* What others cannot bear is spared. libuv ends the process when its table of
 * descriptors cannot grow (abort in maybe_resize), and has no other use for
 * realloc. libcurl (7.88) frees the name of a TLS session twice if it cannot
 * copy the rest of what OpenSSL hands to it (Curl_ssl_addsessionid). */
static bool is_from(const void *caller, const char *library)
{
    Dl_info from;

    return dladdr(caller, &from) && strstr(from.dli_fname, library);
}

static bool is_spared(const void *caller, bool again)
{
    return atomic_load(&armed) && again && is_from(caller, "libuv");
}

struct climb {
    int frames_left;
    bool in_libssl;
};

static _Unwind_Reason_Code climb_on(struct _Unwind_Context *frame, void *ctx)
{
    struct climb *c = ctx;

    c->in_libssl = is_from((void *)_Unwind_GetIP(frame), "libssl");
    return c->in_libssl || !--c->frames_left ? _URC_END_OF_STACK
                                             : _URC_NO_REASON;
}

/* Whether libcurl copies a string while OpenSSL calls it. */
static bool is_session(const void *caller)
{
    struct climb c = {.frames_left = 10};

    if (atomic_load(&armed) && is_from(caller, "libcurl"))
        _Unwind_Backtrace(climb_on, &c);
    return c.in_libssl;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add(&live, 1);
    return p;
}

/* Not hidden, so that libraries find them first. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return !is_spared(__builtin_return_address(0), false) && fails()
               ? NULL
               : counted(__interceptor_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__interceptor_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
    void *moved;

    if (size && !is_spared(__builtin_return_address(0), true) && fails())
        return NULL;
    moved = __interceptor_realloc(p, size);
    atomic_fetch_add(&live, (moved && !p) - (p && !size));
    return moved;
}

void free(void *p)
{
    if (p)
        atomic_fetch_sub(&live, 1);
    __interceptor_free(p);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    int failure;

    if (fails())
        return ENOMEM;
    failure = __interceptor_posix_memalign(out, align, size);
    if (!failure)
        counted(*out);
    return failure;
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : counted(__interceptor_aligned_alloc(align, size));
}

void *memalign(size_t align, size_t size)
{
    return fails() ? NULL : counted(__interceptor_memalign(align, size));
}

/* The sanitizer's own would not come by here. */
char *strdup(const char *s)
{
    size_t size = strlen(s) + 1;
    bool spared = is_session(__builtin_return_address(0));
    char *copy = spared ? counted(__interceptor_malloc(size)) : malloc(size);

    return copy ? memcpy(copy, s, size) : NULL;
}

char *strndup(const char *s, size_t max)
{
    size_t len = strnlen(s, max);
    char *copy = malloc(len + 1);

    if (!copy)
        return NULL;
    copy[len] = 0;
    return memcpy(copy, s, len);
}

struct thread {
    void *(*fn)(void *);
    void *arg;
};

/* A crash is told by the sanitizer, not by the kernel alone. */
static void *thread_main(void *arg)
{
    struct thread t = *(struct thread *)arg;
    sigset_t crashes;

    __interceptor_free(arg);
    sigemptyset(&crashes);
    sigaddset(&crashes, SIGSEGV);
    sigaddset(&crashes, SIGBUS);
    sigaddset(&crashes, SIGFPE);
    pthread_sigmask(SIG_UNBLOCK, &crashes, NULL);
    ready = true;
    return t.fn(t.arg);
}

int pthread_create(pthread_t *id, const pthread_attr_t *attr,
                   void *(*fn)(void *), void *arg)
{
    struct thread *t = __interceptor_malloc(sizeof *t);
    int failure;

    *t = (struct thread){fn, arg};
    failure = __interceptor_pthread_create(id, attr, thread_main, t);
    if (failure)
        __interceptor_free(t);
    return failure;
}

#pragma GCC visibility pop

/*
 * tap.h - checks that print TAP, for every test of this project.
 *
 * A check returns whether it held, so that a test may stop early. The plan
 * comes last; `return tap_done();` ends main.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "wend.h"

#define tap_ok(holds, ...) tap_check((holds), __FILE__, __LINE__, __VA_ARGS__)
/* Both may be a wend_str or a C string. */
#define tap_is_str(got, want, ...) \
    tap_check_str(tap_str(got), tap_str(want), __FILE__, __LINE__, __VA_ARGS__)
#define tap_is_i64(got, want, ...) \
    tap_check_i64((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define tap_count(table) (sizeof(table) / sizeof *(table))

/* clang-format off */
#define tap_str(s)                     \
    _Generic((s),                      \
             wend_str: tap_str_same,   \
             const char *: tap_str_of, \
             char *: tap_str_of)(s)
/* clang-format on */

static int tap_checks, tap_failures;

static inline wend_str tap_str_same(wend_str s)
{
    return s;
}

static inline wend_str tap_str_of(const char *s)
{
    return (wend_str){s, s ? strlen(s) : 0};
}

__attribute__((format(printf, 4, 0))) static inline bool
tap_report(bool holds, const char *file, int line, const char *fmt, va_list ap)
{
    tap_failures += !holds;
    printf("%s %d - ", holds ? "ok" : "not ok", ++tap_checks);
    vprintf(fmt, ap);
    printf("\n");
    if (!holds)
        printf("# at %s:%d\n", file, line);
    fflush(stdout); /* so that a crash later does not hide it */
    return holds;
}

__attribute__((format(printf, 4, 5))) static inline bool
tap_check(bool holds, const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_report(holds, file, line, fmt, ap);
    va_end(ap);
    return holds;
}

/* On one line, whatever is in it. */
static inline void tap_show(const char *what, wend_str s)
{
    printf("# %s: ", what);
    if (!s.ptr)
        printf("(absent)");
    else
        printf("(%zu bytes) ", s.len);
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] >= 0x20 && s.ptr[i] < 0x7f)
            putchar(s.ptr[i]);
        else
            printf("\\x%02x", (unsigned char)s.ptr[i]);
    printf("\n");
}

/* Absent equals only absent. */
__attribute__((format(printf, 5, 6))) static inline bool
tap_check_str(wend_str got, wend_str want, const char *file, int line,
              const char *fmt, ...)
{
    bool holds = got.len == want.len && !got.ptr == !want.ptr &&
                 (!got.len || !memcmp(got.ptr, want.ptr, got.len));
    va_list ap;

    va_start(ap, fmt);
    tap_report(holds, file, line, fmt, ap);
    va_end(ap);
    if (!holds) {
        tap_show("got", got);
        tap_show("wanted", want);
    }
    return holds;
}

__attribute__((format(printf, 5, 6))) static inline bool
tap_check_i64(int64_t got, int64_t want, const char *file, int line,
              const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_report(got == want, file, line, fmt, ap);
    va_end(ap);
    if (got != want)
        printf("# got: %" PRId64 "\n# wanted: %" PRId64 "\n", got, want);
    return got == want;
}

/* The exit code. No check at all is a failure, too. */
static inline int tap_done(void)
{
    printf("1..%d\n", tap_checks);
    if (tap_failures)
        printf("# %d of %d failed\n", tap_failures, tap_checks);
    return tap_failures || !tap_checks;
}

#endif

/*
 * fail.h - report and return in one line.
 */
#ifndef BASE_FAIL_H
#define BASE_FAIL_H

#include <stdarg.h>

#include "wend.h"

/* Fills err (may be NULL) and returns s. */
wend_status fail(wend_error *err, wend_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a place in the input, both from 1. */
wend_status fail_at(wend_error *err, wend_status s, uint32_t line,
                    uint32_t column, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
wend_status fail_vat(wend_error *err, wend_status s, uint32_t line,
                     uint32_t column, const char *fmt, va_list ap)
    __attribute__((format(printf, 5, 0)));
/* An error in a file: `PATH:LINE:COLUMN: why`, `PATH: why` if it has no place,
 * or that memory ran out. `why` may be what err points to. */
wend_status fail_in(wend_error *err, const char *path, const wend_error *why);
wend_status fail_nomem(wend_error *err);
/* For the start of a call that may succeed. */
void fail_clear(wend_error *err);

#endif

/*
 * fail.c - report and return in one line.
 */
#include "base/fail.h"

#include <assert.h>

#include "base/utf8.h"

wend_status fail_vat(wend_error *err, wend_status s, uint32_t line,
                     uint32_t column, const char *fmt, va_list ap)
{
    if (!err)
        return s;
    err->status = s;
    err->line = line;
    err->column = column;
    /* It may end up in an event. */
    utf8_vfmt(err->message, sizeof err->message, fmt, ap);
    return s;
}

wend_status fail(wend_error *err, wend_status s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_vat(err, s, 0, 0, fmt, ap);
    va_end(ap);
    return s;
}

wend_status fail_at(wend_error *err, wend_status s, uint32_t line,
                    uint32_t column, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_vat(err, s, line, column, fmt, ap);
    va_end(ap);
    return s;
}

wend_status fail_in(wend_error *err, const char *path, const wend_error *why)
{
    const wend_error w = *why;

    assert(w.status != WEND_OK); /* the parser has filled it */
    if (w.status == WEND_E_NOMEM)
        return fail_nomem(err);
    return w.line ? fail_at(err, w.status, w.line, w.column,
                            "%.200s:%u:%u: %.300s", path, w.line, w.column,
                            w.message)
                  : fail(err, w.status, "%.200s: %.300s", path, w.message);
}

wend_status fail_nomem(wend_error *err)
{
    return fail(err, WEND_E_NOMEM, "out of memory");
}

void fail_clear(wend_error *err)
{
    if (!err)
        return;
    err->status = WEND_OK;
    err->line = err->column = 0;
    err->message[0] = 0;
}

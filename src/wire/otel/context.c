/*
 * context.c - W3C Trace Context: the header traceparent, both ways.
 */
#include "wire/otel/otel.h"

#include "base/ascii.h"
#include "base/hash.h"

enum { VERSION_AT = 0, TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53 };

/* Lower case only, as the standard says. */
static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static bool read_bytes(const char *p, unsigned char *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = digit(p[2 * i]), low = digit(p[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool all_zero(const unsigned char *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (p[i])
            return false;
    return true;
}

bool otel_parent_read(wend_str text, struct otel_context *out)
{
    static const size_t dashes[] = {TRACE_AT - 1, SPAN_AT - 1, FLAGS_AT - 1};
    unsigned char version;
    const char *p = text.ptr;

    if (!p || text.len < OTEL_PARENT_LEN)
        return false;
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
        if (p[dashes[i]] != '-')
            return false;
    if (!read_bytes(p + VERSION_AT, &version, 1) || version == 0xff ||
        !read_bytes(p + TRACE_AT, out->trace, sizeof out->trace) ||
        !read_bytes(p + SPAN_AT, out->span, sizeof out->span) ||
        !read_bytes(p + FLAGS_AT, &out->flags, 1))
        return false;
    if (text.len > OTEL_PARENT_LEN && (!version || p[OTEL_PARENT_LEN] != '-'))
        return false;
    return !all_zero(out->trace, sizeof out->trace) &&
           !all_zero(out->span, sizeof out->span);
}

void otel_parent_text(const struct otel_context *c,
                      char out[OTEL_PARENT_LEN + 1])
{
    memcpy(out, "00-", TRACE_AT);
    hex_text(out + TRACE_AT, c->trace, sizeof c->trace);
    out[SPAN_AT - 1] = '-';
    hex_text(out + SPAN_AT, c->span, sizeof c->span);
    out[FLAGS_AT - 1] = '-';
    hex_text(out + FLAGS_AT, &c->flags, 1);
}

bool otel_state_ok(wend_str text)
{
    if (!text.len || text.len > OTEL_STATE_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

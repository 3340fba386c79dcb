/*
 * decimal.c - numbers of JSON as exact decimals.
 */
#include "base/decimal.h"

#include <assert.h>

/* No text is long enough to make up for an exponent like this. */
static const int64_t exponent_max = INT64_C(1) << 60;

static int64_t exponent_of(const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    int64_t n = 0;

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end; p++)
        if (n < exponent_max / 16)
            n = n * 10 + (*p - '0');
    return negative ? -n : n;
}

struct decimal decimal_of(wend_str text)
{
    struct decimal d = {.from = text.ptr, .to = text.ptr + text.len};
    const char *p;
    bool fraction = false;

    d.negative = d.from < d.to && *d.from == '-';
    d.from += d.negative;
    for (p = d.from; p < d.to && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.')
            fraction = true;
        else
            d.exponent -= fraction;
    }
    if (p < d.to)
        d.exponent += exponent_of(p + 1, d.to);
    d.to = p;
    for (; d.from < d.to && (d.to[-1] == '0' || d.to[-1] == '.'); d.to--)
        d.exponent += d.to[-1] == '0';
    while (d.from < d.to && (*d.from == '0' || *d.from == '.'))
        d.from++;
    for (p = d.from; p < d.to; p++)
        d.count += *p != '.';
    if (!d.count)
        d.exponent = 0;
    return d;
}

/* -1, 0 or 1: on which side of zero. */
static int sign(const struct decimal *d)
{
    return !d->count ? 0 : d->negative ? -1 : 1;
}

/* Both of the same order of magnitude, so digit stands over digit. */
static int compare_digits(const struct decimal *a, const struct decimal *b)
{
    const char *p = a->from, *q = b->from;

    for (; p < a->to && q < b->to; p++, q++) {
        p += *p == '.';
        q += *q == '.';
        if (*p != *q)
            return *p < *q ? -1 : 1;
    }
    return (p < a->to) - (q < b->to); /* the last digit is never a zero */
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
    int side = sign(a);
    int64_t order_a = a->exponent + (int64_t)a->count;
    int64_t order_b = b->exponent + (int64_t)b->count;

    if (side != sign(b))
        return side < sign(b) ? -1 : 1;
    if (!side)
        return 0;
    if (order_a != order_b)
        return order_a < order_b ? -side : side;
    return side * compare_digits(a, b);
}

bool decimal_multiple(const struct decimal *d, const struct decimal *unit)
{
    int64_t zeros = d->exponent - unit->exponent;
    uint64_t divisor = 0, rest = 0;

    assert(unit->count > 0);
    assert(unit->count <= DECIMAL_UNIT_DIGITS);
    if (!d->count)
        return true;
    if (zeros < 0) /* its digits end in none */
        return false;
    for (const char *p = unit->from; p < unit->to; p++)
        if (*p != '.')
            divisor = divisor * 10 + (uint64_t)(*p - '0');
    for (const char *p = d->from; p < d->to; p++)
        if (*p != '.')
            rest = (rest * 10 + (uint64_t)(*p - '0')) % divisor;
    /* Below 2^64 there are at most 63 factors 2: 64 zeros are enough. */
    for (int i = 0; rest && i < 64 && i < zeros; i++)
        rest = rest * 10 % divisor;
    return !rest;
}

void decimal_put(struct buf *b, const struct decimal *d)
{
    if (sign(d) < 0)
        buf_char(b, '-');
    for (const char *p = d->from; p < d->to; p++)
        if (*p != '.')
            buf_char(b, *p);
    buf_char(b, 'e');
    buf_i64(b, d->exponent);
}

bool decimal_nano(wend_str text, int64_t max, int64_t *out)
{
    struct decimal d = decimal_of(text);
    int64_t zeros = d.exponent + DECIMAL_NANO_DIGITS, n = 0;

    *out = 0;
    if (!d.count)
        return true;
    if (d.negative || zeros < 0 || zeros > 2 * DECIMAL_NANO_DIGITS)
        return false;
    for (const char *p = d.from; p < d.to; p++) {
        if (*p == '.')
            continue;
        if (n > (max - (*p - '0')) / 10)
            return false;
        n = n * 10 + (*p - '0');
    }
    while (zeros-- > 0) {
        if (n > max / 10)
            return false;
        n *= 10;
    }
    *out = n;
    return true;
}

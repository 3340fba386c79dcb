/*
 * decimal.h - numbers of JSON as exact decimals.
 *
 * Nothing is rounded: a decimal is a view of the text it was read from, so
 * 0.1 is a tenth and a number of a thousand digits has a thousand digits.
 */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include "base/str.h"

/* digits * 10^exponent, where neither end of the digits is a zero. */
struct decimal {
    const char *from, *to; /* text of the digits, a '.' may be among them */
    size_t count;          /* of digits; 0 means zero */
    int64_t exponent;      /* so negative means not an integer */
    bool negative;
};

struct decimal decimal_of(wend_str text); /* of a JSON number; lent */
/* Below 0, 0 or above 0. */
int decimal_compare(const struct decimal *a, const struct decimal *b);

enum { DECIMAL_UNIT_DIGITS = 18 }; /* at most; 19 would overflow 64 bits */
/* Whether d / unit is an integer; unit is not 0. */
bool decimal_multiple(const struct decimal *d, const struct decimal *unit);
/* The same text for equal numbers and for no others. */
void decimal_put(struct buf *b, const struct decimal *d);
enum { DECIMAL_NANO_DIGITS = 9 };
/* A JSON number as an integer of 10^-9 parts, from 0 to max; false: it has
 * more digits, or is out of range. */
bool decimal_nano(wend_str text, int64_t max, int64_t *out);

#endif

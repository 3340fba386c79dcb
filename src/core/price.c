/*
 * price.c - what tokens cost, in integers.
 */
#include "core/price.h"

enum { MILLION = 1000000, PARTS = 3 };

static int64_t above_zero(int64_t n)
{
    return n > 0 ? n : 0;
}

/* Whole millions are counted apart from the rest, so that nothing overflows
 * but a sum beyond all money. */
int64_t price_of(const struct price *p, const wend_ev_usage *u)
{
    int64_t input = above_zero(u->input), output = above_zero(u->output);
    /* More cached than read is a mistake, and nothing is below zero. */
    int64_t cached = above_zero(u->cached < input ? u->cached : input);
    const int64_t tokens[PARTS] = {input - cached, cached, output};
    const int64_t prices[PARTS] = {p->input, p->cached, p->output};
    int64_t whole = 0, rest = 0, product;

    if (!p->known || (!input && !output))
        return -1;
    for (int i = 0; i < PARTS; i++) {
        if (__builtin_mul_overflow(tokens[i] / MILLION, prices[i], &product) ||
            __builtin_add_overflow(whole, product, &whole))
            return INT64_MAX;
        rest += tokens[i] % MILLION * prices[i];
    }
    rest = rest / MILLION + (rest % MILLION != 0);
    return __builtin_add_overflow(whole, rest, &whole) ? INT64_MAX : whole;
}

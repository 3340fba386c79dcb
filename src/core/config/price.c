/*
 * price.c - what tokens cost, in integers.
 */
#include "core/config/config.h"

#include <assert.h>

enum { MILLION = 1000000, PARTS = 4 };

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
    int64_t fresh = input - cached;
    int64_t written =
        above_zero(u->cache_write < fresh ? u->cache_write : fresh);
    const int64_t tokens[PARTS] = {fresh - written, cached, written, output};
    const int64_t prices[PARTS] = {
        p->input, p->cached, p->cache_write < 0 ? p->input : p->cache_write,
        p->output};
    int64_t whole = 0, rest = 0, product;

    assert(!p->known || (p->input >= 0 && p->output >= 0));
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

int64_t price_most(const struct price *p, int64_t input, int64_t output)
{
    wend_ev_usage most = {.input = input, .output = output};

    if (p->cache_write > p->input)
        most.cache_write = input;
    else if (p->cached > p->input)
        most.cached = input;
    return price_of(p, &most);
}

/* The question is rounded up, so the sum of both never exceeds `nano`. */
int64_t price_answer(const struct price *p, int64_t input, int64_t nano)
{
    int64_t asked = price_most(p, input, 0), whole, rest;

    assert(p->known);
    nano -= above_zero(asked);
    if (nano < 0)
        return -1;
    if (!p->output)
        return INT64_MAX;
    rest = nano % p->output * MILLION / p->output;
    if (__builtin_mul_overflow(nano / p->output, MILLION, &whole) ||
        __builtin_add_overflow(whole, rest, &whole))
        return INT64_MAX;
    return whole;
}

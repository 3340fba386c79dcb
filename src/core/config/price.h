/*
 * price.h - what tokens cost, in integers.
 */
#ifndef CORE_PRICE_H
#define CORE_PRICE_H

#include "wend_event.h"

/* USD * 10^-9 for a million tokens, each from 0 to PRICE_NANO_MAX. */
struct price {
    bool known; /* false: the rest says nothing */
    int64_t input, cached, output;
    int64_t cache_write; /* -1: as input */
};

/* 2000 USD for a million tokens: far above any price list, and a sum of
 * four prices for less than a million tokens each fits 64 bits. */
#define PRICE_NANO_MAX (INT64_C(2000) * 1000000000)

/* USD * 10^-9, rounded up once; INT64_MAX if there is no such number; -1 if
 * the price is not known or nothing was counted. */
int64_t price_of(const struct price *p, const wend_ev_usage *u);
/* The same for a question before it is asked: the most that it can cost,
 * whatever of it is cached, or written to a cache, in the end. */
int64_t price_most(const struct price *p, int64_t input, int64_t output);

#endif

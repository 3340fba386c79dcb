/*
 * chance.h - all chance of a simulation, from one seed.
 *
 * splitmix64: any seed is a good one, also 0 and 1, and the next number
 * costs two multiplications.
 */
#ifndef BASE_CHANCE_H
#define BASE_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *c)
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 .. n-1; the bias of the remainder does not matter here. */
static inline uint32_t chance_below(struct chance *c, uint32_t n)
{
    return n ? (uint32_t)(chance_next(c) >> 32) % n : 0;
}

static inline bool chance_of(struct chance *c, uint32_t permille)
{
    return chance_below(c, 1000) < permille;
}

#define chance_pick(c, table) \
    ((table)[chance_below((c), (uint32_t)(sizeof(table) / sizeof *(table)))])

#endif

/*
 * test_pvec.c - a vector that never changes, against an array that does.
 */
#include "core/plan/pvec.h"

#include "base/chance.h"
#include "tap.h"

enum { COUNT_MAX = 700, CHANGES = 300, OLD = 20 };

static const struct mem plain;
static int things[COUNT_MAX + 1];

struct copy {
    struct pvec v;
    const void *elements[COUNT_MAX];
    unsigned marks[COUNT_MAX];
};

static struct copy now, old[OLD];

static bool is_same(const struct copy *c)
{
    for (uint32_t i = 0; i < c->v.count; i++)
        if (pvec_get(&c->v, i) != c->elements[i])
            return false;
    for (unsigned m = 0; m < PVEC_MARKS; m++) {
        uint32_t at = 0;

        for (uint32_t i = 0; i < c->v.count; i++) {
            if (!(c->marks[i] >> m & 1))
                continue;
            if (pvec_next(&c->v, m, at) != i)
                return false;
            at = i + 1;
        }
        if (pvec_next(&c->v, m, at) != PVEC_NONE)
            return false;
    }
    return true;
}

static void check_count(uint32_t count, uint64_t seed)
{
    struct arena a = {.mem = &plain};
    struct chance c = {seed};
    bool same = true;
    size_t held;

    memset(&now, 0, sizeof now);
    pvec_make(&now.v, count, &things[0], &a);
    for (uint32_t i = 0; i < count; i++)
        now.elements[i] = &things[0];
    same &= is_same(&now);
    held = a.held;
    for (int n = 0; count && n < CHANGES; n++) {
        uint32_t i = chance_below(&c, count);
        unsigned marks = chance_below(&c, 1 << PVEC_MARKS) &
                         chance_below(&c, 1 << PVEC_MARKS);

        old[n % OLD] = now;
        now.elements[i] = &things[1 + chance_below(&c, COUNT_MAX)];
        now.marks[i] = marks;
        if (n < CHANGES / 10)
            old[n % OLD].v.count = 0; /* its tree is the one that changes */
        if (n < CHANGES / 10)
            pvec_set(&now.v, i, now.elements[i], marks, NULL);
        else
            pvec_set(&now.v, i, now.elements[i], marks, &a);
        same &= is_same(&now);
    }
    for (int n = 0; n < OLD; n++)
        same &= is_same(&old[n]);
    tap_ok(same && !a.failed, "%u elements", count);
    tap_ok(a.held - held <= (size_t)CHANGES * 4 * 128, "%u: a change is small",
           count);
    arena_free(&a);
}

int main(void)
{
    static const uint32_t counts[] = {0,  1,  2,   7,   8,   9,        63,
                                      64, 65, 511, 512, 513, COUNT_MAX};

    for (size_t i = 0; i < tap_count(counts); i++)
        check_count(counts[i], i + 1);
    return tap_done();
}

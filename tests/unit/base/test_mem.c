/*
 * test_mem.c - the allocator hook and arenas.
 */
#include "base/mem.h"

#include "fault.h"
#include "tap.h"

static void test_hook(void)
{
    struct fault f = {0};
    struct mem m = fault_mem(&f), plain = {0};
    char *p = mem_alloc(&m, 0), *zeros;
    bool all_zero = true;

    tap_ok(p, "an allocation of nothing is still an address");
    p = mem_realloc(&m, p, 100);
    tap_is_i64(f.live, 1, "realloc moves, it does not add");
    mem_free(&m, p);
    tap_is_i64(f.live, 0, "free goes through the hook");
    mem_free(&m, NULL);
    tap_is_i64(f.live, 0, "freeing NULL is nothing");
    zeros = mem_zalloc(&plain, 1000);
    for (int i = 0; zeros && i < 1000; i++)
        all_zero = all_zero && !zeros[i];
    tap_ok(zeros && all_zero, "without a hook libc gives, and it is zeroed");
    mem_free(&plain, zeros);
}

static void test_more(void)
{
    struct fault f = {0};
    struct mem m = fault_mem(&f);
    size_t count, cap = 0;
    int *list = NULL, *last, sum = 0, zeros = 0;

    for (size_t i = 0; i < 100; i++) {
        list = mem_more(&m, list, i, &cap, sizeof *list);
        list[i] = (int)i;
    }
    for (int i = 0; i < 100; i++)
        sum += list[i];
    tap_is_i64(sum, 4950, "a list grows and keeps what it has");
    tap_ok(cap >= 100 && f.live == 1, "there is one list");
    mem_free(&m, list);
    list = NULL;
    for (cap = count = 0; count < 100; zeros += last && !*last)
        last = mem_add(&m, &list, &count, &cap, sizeof *list);
    tap_ok(zeros == 100 && list + 99 == last, "what is added is zeroed");
    mem_free(&m, list);
}

/* Dirty memory from the hook: what an arena hands out must be its own. */
static void *dirty_alloc(void *ctx, void *p, size_t size)
{
    void *moved = fault_alloc(ctx, p, size);

    if (moved && !p)
        memset(moved, 0xa5, size);
    return moved;
}

static void test_arena(void)
{
    static const struct {
        const char *why;
        size_t size;
    } sizes[] = {
        {"one byte leaves the next one aligned", 1},
        {"a multiple of the alignment", 64},
        {"one more than a multiple", 65},
        {"over the first chunk", 5000},
        {"over the largest chunk", 1 << 20},
        {"small after large", 3},
    };
    struct fault f = {0};
    struct mem m = {dirty_alloc, &f};
    struct arena a = {.mem = &m};

    tap_is_i64(f.count, 0, "an arena costs nothing before its first use");
    for (size_t i = 0; i < tap_count(sizes); i++) {
        unsigned char *p = arena_alloc(&a, sizes[i].size);
        bool good = p && (uintptr_t)p % 8 == 0;

        for (size_t k = 0; good && k < sizes[i].size; k++)
            good = !p[k];
        if (p)
            memset(p, 0xff, sizes[i].size); /* the sanitizer sees overlaps */
        tap_ok(good, "aligned and zeroed: %s", sizes[i].why);
    }
    tap_ok(a.held > 1 << 20, "held counts the chunks");
    arena_reset(&a);
    tap_is_i64(f.live, 1, "reset keeps one chunk");
    tap_ok(arena_alloc(&a, 8), "and goes on in it");
    tap_is_i64(f.live, 1, "without another");
    arena_free(&a);
    tap_is_i64(f.live, 0, "free gives all back");
    tap_is_i64((int64_t)a.held, 0, "and forgets it");
    arena_free(&a);
    arena_reset(&a);
    tap_ok(arena_alloc(&a, 8), "a freed arena may be used again");
    arena_free(&a);
}

static void test_strings(void)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    wend_str copy = arena_str(&a, (wend_str){"a\0bcd", 3});

    tap_is_str(copy, ((wend_str){"a\0b", 3}), "a copy has its length");
    tap_ok(copy.ptr && !copy.ptr[3], "and ends with a NUL");
    tap_is_str(arena_str(&a, (wend_str){NULL, 0}), (const char *)NULL,
               "absent stays absent");
    tap_is_str(arena_str(&a, (wend_str){"", 0}), "", "empty is not absent");
    arena_free(&a);
}

static void test_failures(void)
{
    struct fault f = {.fail_at = 2};
    struct mem m = fault_mem(&f);
    struct arena a = {.mem = &m};
    char *first = arena_alloc(&a, 16);

    tap_ok(!arena_alloc(&a, 1 << 20), "the second chunk fails");
    tap_ok(a.failed, "and that sticks");
    tap_ok(first && arena_alloc(&a, 16), "what fits is still given");
    tap_ok(a.failed, "and does not hide it");
    arena_reset(&a);
    tap_ok(!a.failed, "a new start forgets it");
    tap_ok(!arena_alloc(&a, SIZE_MAX), "sizes that wrap round fail");
    tap_ok(!arena_alloc(&a, SIZE_MAX - 7), "just below, too");
    tap_ok(!arena_chars(&a, SIZE_MAX), "no room for the NUL");
    tap_is_str(arena_str(&a, (wend_str){"x", SIZE_MAX}), (const char *)NULL,
               "a copy that fails is absent");
    arena_free(&a);
    tap_is_i64(f.live, 0, "nothing leaks");
}

int main(void)
{
    test_hook();
    test_more();
    test_arena();
    test_strings();
    test_failures();
    return tap_done();
}

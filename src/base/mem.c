/*
 * mem.c - the allocator hook and arenas.
 *
 * Arenas hand out zeroed memory and free it all at once. Chunks double up
 * to ARENA_CHUNK_MAX; a larger request gets a chunk of its own.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum {
    ARENA_CHUNK_MIN = 1 << 10, /* a parked run needs little more */
    ARENA_CHUNK_MAX = 64 << 10,
    MORE_FIRST = 4, /* elements of a list that grows */
};

struct arena_chunk {
    struct arena_chunk *prev;
    size_t size; /* of `bytes` */
    char bytes[];
};

void *mem_realloc(const struct mem *m, void *p, size_t size)
{
    if (m->fn)
        return m->fn(m->ctx, p, size);
    if (!size) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

void *mem_alloc(const struct mem *m, size_t size)
{
    return mem_realloc(m, NULL, size ? size : 1);
}

void *mem_zalloc(const struct mem *m, size_t size)
{
    void *p = mem_alloc(m, size);

    if (p)
        memset(p, 0, size);
    return p;
}

void mem_free(const struct mem *m, void *p)
{
    if (p)
        mem_realloc(m, p, 0);
}

void *mem_more(const struct mem *m, void *list, size_t count, size_t *cap,
               size_t element_size)
{
    size_t more = *cap ? *cap * 2 : MORE_FIRST;

    assert(count <= *cap);
    if (count < *cap)
        return list;
    list = mem_realloc(m, list, more * element_size);
    if (list)
        *cap = more;
    return list;
}

void *mem_add(const struct mem *m, void *list, size_t *count, size_t *cap,
              size_t element_size)
{
    char *p;

    memcpy(&p, list, sizeof p); /* a pointer of the caller's type */
    p = mem_more(m, p, *count, cap, element_size);
    if (!p)
        return NULL;
    memcpy(list, &p, sizeof p);
    return memset(p + (*count)++ * element_size, 0, element_size);
}

static bool arena_grow(struct arena *a, size_t need)
{
    size_t size = a->chunk_min ? a->chunk_min : ARENA_CHUNK_MIN;
    struct arena_chunk *c;

    if (a->last && a->last->size < ARENA_CHUNK_MAX)
        size = a->last->size * 2;
    else if (a->last)
        size = ARENA_CHUNK_MAX;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof *c)
        return false;
    c = mem_alloc(a->mem, sizeof *c + size);
    if (!c)
        return false;
    c->prev = a->last;
    c->size = size;
    a->last = c;
    a->at = c->bytes;
    a->end = c->bytes + size;
    a->held += sizeof *c + size;
    return true;
}

static void *arena_take(struct arena *a, size_t size)
{
    size_t rounded = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    void *p;

    if (rounded < size ||
        ((size_t)(a->end - a->at) < rounded && !arena_grow(a, rounded))) {
        a->failed = true;
        return NULL;
    }
    p = a->at;
    a->at += rounded;
    return p;
}

void *arena_alloc_more(struct arena *a, size_t size)
{
    void *p = arena_take(a, size);

    if (p)
        memset(p, 0, size);
    return p;
}

char *arena_chars(struct arena *a, size_t len)
{
    char *p = len < SIZE_MAX ? arena_take(a, len + 1) : NULL;

    if (p)
        p[len] = 0;
    else
        a->failed = true;
    return p;
}

wend_str arena_str(struct arena *a, wend_str s)
{
    wend_str copy = {NULL, 0};
    char *p;

    if (!s.ptr)
        return copy;
    p = arena_chars(a, s.len);
    if (!p)
        return copy;
    memcpy(p, s.ptr, s.len);
    copy.ptr = p;
    copy.len = s.len;
    return copy;
}

void arena_free(struct arena *a)
{
    struct arena_chunk *c = a->last, *prev;

    for (; c; c = prev) {
        prev = c->prev;
        mem_free(a->mem, c);
    }
    a->last = NULL;
    a->at = a->end = NULL;
    a->held = 0;
    a->failed = false;
}

void arena_reset(struct arena *a)
{
    struct arena_chunk *keep = a->last;

    if (!keep) {
        a->failed = false;
        return;
    }
    a->last = keep->prev;
    arena_free(a);
    keep->prev = NULL;
    a->last = keep;
    a->at = keep->bytes;
    a->end = keep->bytes + keep->size;
    a->held = sizeof *keep + keep->size;
}

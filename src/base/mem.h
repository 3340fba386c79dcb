/*
 * mem.h - all memory comes through one hook; arenas for what lives together.
 *
 * There is no global allocator: code that allocates holds a struct mem. A
 * failed allocation returns NULL and, in arenas and buffers, sticks
 * (`failed`), so that a builder may check once at its end.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wend.h"

/* The struct that p is a member of. */
#define container_of(p, type, member) \
    ((type *)((uintptr_t)(p)-offsetof(type, member)))

struct mem {
    wend_alloc_fn fn; /* NULL: libc's realloc and free */
    void *ctx;
};

void *mem_alloc(const struct mem *m, size_t size); /* not zeroed */
void *mem_zalloc(const struct mem *m, size_t size);
void *mem_realloc(const struct mem *m, void *p, size_t size);
void mem_free(const struct mem *m, void *p);
/* A list with room for one more element behind `count`: the list, or one that
 * takes its place and has twice the room. NULL: out of memory. */
void *mem_more(const struct mem *m, void *list, size_t count, size_t *cap,
               size_t element_size);
/* Adds a zeroed element to the list that `list` points to. NULL: out of
 * memory, and nothing has changed. */
void *mem_add(const struct mem *m, void *list, size_t *count, size_t *cap,
              size_t element_size);

struct arena_chunk;

/* Zero-initialise with `mem` set; nothing is allocated before first use. */
struct arena {
    const struct mem *mem;
    struct arena_chunk *last;
    char *at, *end;   /* free room in the last chunk */
    size_t held;      /* bytes in all chunks */
    size_t chunk_min; /* of the first chunk; 0 = ARENA_CHUNK_MIN */
    bool failed;
};

enum { ARENA_ALIGN = 8 };

void *arena_alloc_more(struct arena *a, size_t size); /* from a new chunk */

/* Zeroed, aligned. Inline: a tree is made node by node. */
static inline void *arena_alloc(struct arena *a, size_t size)
{
    size_t rounded = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    void *p = a->at;

    if (!rounded || (size_t)(a->end - a->at) < rounded)
        return arena_alloc_more(a, size);
    a->at += rounded;
    return memset(p, 0, size);
}

/* Room for a string of `len` bytes and a NUL; not zeroed. */
char *arena_chars(struct arena *a, size_t len);
wend_str arena_str(struct arena *a, wend_str s); /* NUL-terminated copy */
void arena_free(struct arena *a);
/* Forgets everything but keeps the newest chunk for reuse. */
void arena_reset(struct arena *a);

#endif

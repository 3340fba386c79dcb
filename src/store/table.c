/*
 * table.c - a hash table of nodes that carry their key.
 */
#include "store/table.h"

#include <assert.h>
#include <string.h>

enum { TABLE_MIN = 64 };

static uint32_t hash_of(wend_str key)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < key.len; i++)
        h = (h ^ (unsigned char)key.ptr[i]) * 16777619u;
    return h;
}

bool table_room(struct table *t, const struct mem *m)
{
    size_t count = t->slots_count ? t->slots_count * 2 : TABLE_MIN;
    struct node **slots, *n, *next;

    if (t->count < t->slots_count)
        return true;
    slots = mem_zalloc(m, count * sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->slots_count; i++)
        for (n = t->slots[i]; n; n = next) {
            next = n->next;
            n->next = slots[n->hash & (count - 1)];
            slots[n->hash & (count - 1)] = n;
        }
    mem_free(m, t->slots);
    t->slots = slots;
    t->slots_count = count;
    return true;
}

void table_add(struct table *t, struct node *n, wend_str key)
{
    struct node **slot;

    assert(t->count < t->slots_count); /* table_room came before */
    n->hash = hash_of(key);
    n->key_len = (uint32_t)key.len;
    slot = &t->slots[n->hash & (t->slots_count - 1)];
    n->next = *slot;
    *slot = n;
    t->count++;
}

void *table_get(const struct table *t, wend_str key, size_t key_at)
{
    uint32_t hash = hash_of(key);
    struct node *n;

    if (!t->slots_count)
        return NULL;
    n = t->slots[hash & (t->slots_count - 1)];
    while (n && !(n->hash == hash && n->key_len == key.len &&
                  !memcmp((char *)n + key_at, key.ptr, key.len)))
        n = n->next;
    return n;
}

void table_remove(struct table *t, struct node *n)
{
    struct node **at = &t->slots[n->hash & (t->slots_count - 1)];

    assert(t->count > 0);
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    t->count--;
}

void *name_set_get(const struct name_set *s, wend_str name)
{
    return table_get(&s->table, name, s->size);
}

void *name_set_put(struct name_set *s, wend_str name)
{
    struct node *n = name_set_get(s, name);

    assert(s->size >= sizeof *n);
    if (n || !table_room(&s->table, s->arena.mem))
        return n;
    n = arena_alloc(&s->arena, s->size + name.len + 1);
    if (!n)
        return NULL;
    memcpy((char *)n + s->size, name.ptr, name.len);
    table_add(&s->table, n, name);
    return n;
}

const char *name_set_name(const struct name_set *s, const void *member)
{
    return (const char *)member + s->size;
}

void name_set_free(struct name_set *s)
{
    const struct mem *m = s->arena.mem;

    mem_free(m, s->table.slots);
    arena_free(&s->arena);
    *s = (struct name_set){.arena.mem = m, .size = s->size};
}

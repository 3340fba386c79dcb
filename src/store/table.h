/*
 * table.h - a hash table of nodes that carry their key.
 *
 * A node is the first member of what is kept; the table owns its slots
 * alone. Keys are ids of our own making: an unkeyed hash will do.
 */
#ifndef STORE_TABLE_H
#define STORE_TABLE_H

#include "base/str.h"

struct node {
    struct node *next;
    uint32_t key_len;
    uint32_t hash;
};

struct table {
    struct node **slots;
    size_t slots_count, count;
};

/* Makes room for one more node, so that table_add cannot fail. */
bool table_room(struct table *t, const struct mem *m);
void table_add(struct table *t, struct node *n, wend_str key);
/* `key_at` is where a node's key stands, counted from the node. */
void *table_get(const struct table *t, wend_str key, size_t key_at);

/* The node is in the table. */
void table_remove(struct table *t, struct node *n);

#endif

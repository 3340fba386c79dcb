/*
 * table.h - a hash table of nodes that carry their key.
 *
 * A node is the first member of what is kept; the table owns only its slots.
 * Keys are ids that wend makes: an unkeyed hash will do.
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

/* A set of names. A member begins with a node and has `size` bytes, which are
 * zero at first; its name stands behind them. */
struct name_set {
    struct arena arena; /* set its mem */
    struct table table;
    size_t size;
};

void *name_set_get(const struct name_set *s,
                   wend_str name); /* NULL if there is none */
/* The member of that name, which is made if there is none. NULL: out of
 * memory. */
void *name_set_put(struct name_set *s, wend_str name);
const char *name_set_name(const struct name_set *s, const void *member);
void name_set_free(struct name_set *s); /* can be used again */

#endif

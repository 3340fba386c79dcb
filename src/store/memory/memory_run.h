/*
 * memory_run.h - one run of the memory store: its rows and their hashes.
 */
#ifndef STORE_MEMORY_RUN_H
#define STORE_MEMORY_RUN_H

#include "store/store.h"
#include "store/table.h"

/* A kept event or a pack. */
struct memory_row {
    int64_t seq;
    int64_t at; /* time_us of an event, n of a pack */
    uint32_t count, len;
    bool is_pack;
    char body[];
};

struct memory_rows { /* the rows of one batch */
    struct memory_rows *next;
    char bytes[];
};

enum text {
    T_RUN,
    T_AGENT,
    T_MODEL,
    T_PROMPT,
    T_USER,
    T_SESSION,
    T_PARENT,
    TEXTS
};

struct memory_run {
    struct node node; /* key: the run id */
    struct memory_rows *blocks;
    struct memory_row **rows; /* by seq, then n */
    uint32_t rows_count, rows_cap;
    uint32_t rows_hashed, hashes_count, hashes_cap;
    uint32_t text_len[TEXTS];                 /* UINT32_MAX: absent */
    unsigned char (*hashes)[SHA256_BYTES];    /* of the first events */
    int64_t number;                           /* later runs have higher ones */
    int64_t epoch, seq, seq_base, started_us; /* base: before the first */
    unsigned char head_base[SHA256_BYTES]; /* of the event before the first */
    struct store_summary summary;
    bool imported;
    char text[];
};

/* A run without rows from b->birth; NULL when out of memory. */
struct memory_run *memory_run_new(const struct mem *m,
                                  const struct store_batch *b);
void memory_run_free(const struct mem *m, struct memory_run *r);
wend_str memory_run_text(const struct memory_run *r, enum text which);
/* Copies the rows of b: all of them, or none and false. */
bool memory_run_add(struct memory_run *r, const struct mem *m,
                    const struct store_batch *b);
/* The first row that is not before event seq. */
size_t memory_run_find(const struct memory_run *r, int64_t seq);
/* The hash of the newest event; false when out of memory. */
bool memory_run_head(struct memory_run *r, const struct mem *m,
                     unsigned char head[SHA256_BYTES]);
/* False when out of memory. */
bool memory_run_item(struct memory_run *r, const struct mem *m,
                     const struct memory_row *row, struct store_item *item);

#endif

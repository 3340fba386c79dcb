/*
 * memory_run.c - one run of the memory store: its rows and their hashes.
 *
 * Bodies are copied once, a batch in one block, and never move. Hashes are
 * computed when someone reads: most runs in memory are never read again.
 */
#include "store/memory/memory.h"

#include <assert.h>
#include <string.h>

enum { ROWS_MIN = 8 }; /* about as many as a parked run has */

void memory_run_free(const struct mem *m, struct memory_run *r)
{
    struct memory_rows *b, *next;

    if (!r)
        return;
    for (b = r->blocks; b; b = next) {
        next = b->next;
        mem_free(m, b);
    }
    mem_free(m, r->rows);
    mem_free(m, r->hashes);
    mem_free(m, r);
}

struct memory_run *memory_run_new(const struct mem *m,
                                  const struct store_batch *b)
{
    wend_str run = b->run;
    struct store_birth birth = *b->birth;
    wend_str *const texts[] = {&run,          &birth.agent, &birth.model,
                               &birth.prompt, &birth.user,  &birth.session,
                               &birth.parent, &birth.above, NULL};
    struct memory_run *r;

    birth.prompt = store_prompt(birth.prompt);
    r = store_block(m, offsetof(struct memory_run, text), texts);
    if (!r)
        return NULL;
    r->birth = birth;
    r->epoch = b->epoch;
    r->seq_base = b->events_count ? b->events[0].seq - 1 : 0;
    r->seq = r->seq_base;
    return r;
}

static bool rows_room(struct memory_run *r, const struct mem *m, size_t more)
{
    size_t cap = r->rows_cap ? r->rows_cap : ROWS_MIN;
    struct memory_row **rows;

    if (more > UINT32_MAX / 2 - r->rows_count)
        return false;
    while (cap < r->rows_count + more)
        cap *= 2;
    if (cap == r->rows_cap)
        return true;
    rows = mem_realloc(m, r->rows, cap * sizeof *rows);
    if (!rows)
        return false;
    r->rows = rows;
    r->rows_cap = (uint32_t)cap;
    return true;
}

static size_t row_size(wend_str body)
{
    const size_t align = _Alignof(struct memory_row);

    return (offsetof(struct memory_row, body) + body.len + align - 1) &
           ~(align - 1);
}

static struct memory_row *row_put(struct memory_run *r, char **at,
                                  wend_str body)
{
    struct memory_row *row = (struct memory_row *)(void *)*at;

    *at += row_size(body);
    memset(row, 0, sizeof *row);
    row->len = (uint32_t)body.len & INT32_MAX;
    if (body.len)
        memcpy(row->body, body.ptr, body.len);
    r->rows[r->rows_count++] = row;
    return row;
}

/* Packs from number p on that stand before event seq. */
static size_t put_packs(struct memory_run *r, char **at,
                        const struct store_batch *b, size_t p, int64_t seq)
{
    for (; p < b->packs_count && b->packs[p].seq < seq; p++) {
        struct memory_row *row = row_put(r, at, b->packs[p].body);

        row->seq = b->packs[p].seq;
        row->n = (uint32_t)b->packs[p].n;
        row->count = (uint32_t)b->packs[p].count;
        row->is_pack = true;
    }
    return p;
}

bool memory_run_add(struct memory_run *r, const struct mem *m,
                    const struct store_batch *b)
{
    size_t size = sizeof(struct memory_rows), p = 0;
    struct memory_rows *block;
    char *at;

    for (size_t i = 0; i < b->packs_count; i++) {
        size += row_size(b->packs[i].body);
        if (b->packs[i].n > UINT32_MAX)
            return false; /* 4 GiB of deltas after one event */
    }
    for (size_t i = 0; i < b->events_count; i++)
        size += row_size(b->events[i].body);
    if (size == sizeof *block)
        return true;
    if (size > INT32_MAX || !rows_room(r, m, b->packs_count + b->events_count))
        return false;
    block = mem_alloc(m, size);
    if (!block)
        return false;
    assert(r->rows_count + b->packs_count + b->events_count <= r->rows_cap);
    block->next = r->blocks;
    r->blocks = block;
    at = block->bytes;
    for (size_t i = 0; i < b->events_count; i++) {
        struct memory_row *row;

        p = put_packs(r, &at, b, p, b->events[i].seq);
        row = row_put(r, &at, b->events[i].body);
        row->seq = b->events[i].seq;
        r->seq = row->seq;
    }
    put_packs(r, &at, b, p, INT64_MAX);
    return true;
}

/* Makes hashes[0 .. count - 1] known. */
static bool hash_events(struct memory_run *r, const struct mem *m, size_t count)
{
    struct chain c = {0};

    assert(count <= (size_t)(r->seq - r->seq_base));
    if (count > r->hashes_cap) {
        /* As many as there are: a log is mostly read to its end. */
        size_t cap = (size_t)(r->seq - r->seq_base);
        void *p = mem_realloc(m, r->hashes, cap * sizeof *r->hashes);

        if (!p)
            return false;
        r->hashes = p;
        r->hashes_cap = (uint32_t)cap;
    }
    memcpy(c.head,
           r->hashes_count ? r->hashes[r->hashes_count - 1] : r->head_base,
           sizeof c.head);
    while (r->hashes_count < count) {
        const struct memory_row *row = r->rows[r->rows_hashed++];
        wend_str body = {row->body, row->len};

        if (row->is_pack) {
            chain_pack(&c, body);
            continue;
        }
        chain_event(&c, body);
        memcpy(r->hashes[r->hashes_count++], c.head, sizeof c.head);
    }
    return true;
}

bool memory_run_head(struct memory_run *r, const struct mem *m,
                     unsigned char head[SHA256_BYTES])
{
    size_t count = (size_t)(r->seq - r->seq_base);

    memcpy(head, r->head_base, SHA256_BYTES);
    if (!count)
        return true;
    if (!hash_events(r, m, count))
        return false;
    memcpy(head, r->hashes[count - 1], SHA256_BYTES);
    return true;
}

size_t memory_run_find(const struct memory_run *r, int64_t seq)
{
    size_t low = 0, high = r->rows_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (r->rows[mid]->seq < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool memory_run_item(struct memory_run *r, const struct mem *m,
                     const struct memory_row *row, struct store_item *item)
{
    size_t nth; /* of the run's events, from 1 */

    *item = (struct store_item){
        .is_pack = row->is_pack,
        .seq = row->seq,
        .body = {row->body, row->len},
    };
    if (item->is_pack) {
        item->n = row->n;
        item->count = row->count;
        return true;
    }
    nth = (size_t)(row->seq - r->seq_base);
    if (!hash_events(r, m, nth))
        return false;
    memcpy(item->hash, r->hashes[nth - 1], sizeof item->hash);
    return true;
}

/*
 * memory_prune.c - takes runs and blobs out of the memory store.
 */
#include "store/memory/memory.h"

static bool has_child(const struct memory_store *m, wend_str run)
{
    for (size_t i = 0; i < m->runs.slots_count; i++)
        for (const struct node *n = m->runs.slots[i]; n; n = n->next)
            if (str_eq(memory_run_text((const struct memory_run *)n, T_PARENT),
                       run))
                return true;
    return false;
}

wend_status memory_forget(wend_store *s, const char *ids, size_t count,
                          int64_t *gone, wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;

    (void)err;
    *gone = 0;
    pthread_mutex_lock(&m->lock);
    for (; count; count--, ids += strlen(ids) + 1) {
        struct memory_run *r = memory_run_get(m, str_of(ids));

        if (!r || !r->summary.ended_us || has_child(m, str_of(ids)))
            continue;
        memory_inbox_drop(m, str_of(ids));
        table_remove(&m->runs, &r->node);
        memory_run_free(&s->mem, r);
        ++*gone;
    }
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

static void mark_used(struct memory_store *m, const struct memory_run *r)
{
    for (size_t i = 0; i < r->rows_count; i++) {
        wend_str rest = {r->rows[i]->body, r->rows[i]->len}, hash;

        while (store_blob_next(&rest, &hash)) {
            struct memory_blob *b = memory_blob_get(m, hash);

            if (b)
                b->used = true;
        }
    }
}

wend_status memory_tidy(wend_store *s, int64_t now_us, int64_t *bytes,
                        wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    struct node *n, *next;

    (void)err;
    *bytes = 0;
    pthread_mutex_lock(&m->lock);
    memory_facts_drop(m, now_us);
    for (size_t i = 0; i < m->runs.slots_count; i++)
        for (n = m->runs.slots[i]; n; n = n->next)
            mark_used(m, (struct memory_run *)n);
    for (size_t i = 0; i < m->blobs.slots_count; i++)
        for (n = m->blobs.slots[i]; n; n = next) {
            struct memory_blob *b = (struct memory_blob *)n;

            next = n->next;
            if (!b->used) {
                *bytes += (int64_t)b->len;
                table_remove(&m->blobs, n);
                mem_free(&s->mem, b);
                continue;
            }
            b->used = false;
        }
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

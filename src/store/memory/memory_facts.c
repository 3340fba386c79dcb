/*
 * memory_facts.c - named facts in memory: a list, newest first.
 */
#include "store/memory/memory.h"

struct memory_fact {
    struct memory_fact *next;
    struct store_fact fact; /* its strings in the same block */
};

static wend_status set(struct memory_store *m, const struct store_fact *f)
{
    const struct mem *mem = &m->base.mem;
    struct store_fact copy = *f;
    wend_str *const texts[] = {&copy.space, &copy.key, &copy.text, NULL};
    struct memory_fact **link = &m->facts, *old, *n = NULL;

    if (f->text.ptr && !(n = store_block(mem, sizeof *n, texts)))
        return WEND_E_NOMEM;
    while ((old = *link) && !(str_eq(old->fact.space, f->space) &&
                              str_eq(old->fact.key, f->key)))
        link = &old->next;
    if (old) {
        *link = old->next;
        mem_free(mem, old);
    }
    if (!n)
        return WEND_OK;
    for (link = &m->facts; *link && (*link)->fact.time_us > f->time_us;)
        link = &(*link)->next; /* newest first */
    *n = (struct memory_fact){.next = *link, .fact = copy};
    *link = n;
    return WEND_OK;
}

void memory_keep(wend_store *s, const struct store_fact *fact,
                 store_kept_fn done, void *ctx)
{
    struct memory_store *m = (struct memory_store *)s;
    wend_status status;

    pthread_mutex_lock(&m->lock);
    status = set(m, fact);
    pthread_mutex_unlock(&m->lock);
    if (done)
        done(ctx, status);
}

static bool has_expired(const struct store_fact *f, int64_t now_us)
{
    return f->until_us && f->until_us <= now_us;
}

wend_status memory_facts(wend_store *s, wend_str space, wend_str key,
                         int64_t now_us, store_fact_fn fn, void *ctx,
                         wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    bool more = true;

    (void)err;
    pthread_mutex_lock(&m->lock);
    for (struct memory_fact *n = m->facts; n && more; n = n->next)
        if (str_eq(n->fact.space, space) &&
            (!key.ptr || str_eq(n->fact.key, key)) &&
            !has_expired(&n->fact, now_us))
            more = fn(ctx, &n->fact);
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

void memory_facts_drop(struct memory_store *m, int64_t now_us)
{
    struct memory_fact **link = &m->facts, *n;

    while ((n = *link)) {
        if (now_us >= 0 && !has_expired(&n->fact, now_us)) {
            link = &n->next;
            continue;
        }
        *link = n->next;
        mem_free(&m->base.mem, n);
    }
}

/*
 * memory_facts.c - named facts in memory: a list, newest first.
 */
#include "store/memory/memory.h"

struct memory_fact {
    struct memory_fact *next;
    struct store_fact fact; /* its strings in the same block */
};

static struct memory_fact *fact_new(const struct mem *m,
                                    const struct store_fact *f)
{
    struct store_fact copy = *f;
    wend_str *const texts[] = {&copy.space, &copy.key, &copy.text, NULL};
    struct memory_fact *n = memory_block(m, sizeof *n, texts);

    if (n)
        n->fact = copy;
    return n;
}

wend_status memory_facts_set(struct memory_fact **list, const struct mem *m,
                             const struct store_fact *f)
{
    struct memory_fact *n = f->text.ptr ? fact_new(m, f) : NULL;
    struct memory_fact **link = list, *old;

    if (f->text.ptr && !n)
        return WEND_E_NOMEM;
    while ((old = *link)) {
        if (str_eq(old->fact.space, f->space) &&
            str_eq(old->fact.key, f->key)) {
            *link = old->next;
            mem_free(m, old);
            break;
        }
        link = &old->next;
    }
    if (!n)
        return WEND_OK;
    for (link = list; *link && (*link)->fact.time_us > f->time_us;)
        link = &(*link)->next; /* newest first */
    n->next = *link;
    *link = n;
    return WEND_OK;
}

void memory_facts_give(const struct memory_fact *list, wend_str space,
                       wend_str key, int64_t now_us, store_fact_fn fn,
                       void *ctx)
{
    for (const struct memory_fact *n = list; n; n = n->next) {
        const struct store_fact *f = &n->fact;

        if (str_eq(f->space, space) && (!key.ptr || str_eq(f->key, key)) &&
            (!f->until_us || f->until_us > now_us) && !fn(ctx, f))
            return;
    }
}

void memory_facts_drop(struct memory_fact **list, const struct mem *m,
                       int64_t now_us)
{
    struct memory_fact *n;

    while ((n = *list)) {
        if (!n->fact.until_us || n->fact.until_us > now_us) {
            list = &n->next;
            continue;
        }
        *list = n->next;
        mem_free(m, n);
    }
}

void memory_facts_free(struct memory_fact **list, const struct mem *m)
{
    while (*list) {
        struct memory_fact *n = *list;

        *list = n->next;
        mem_free(m, n);
    }
}

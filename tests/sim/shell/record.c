/*
 * record.c - looks whether what is called is on record.
 */
#include "record.h"

/* Whatever happens outside the library: is the run still its own? */
void check_acts(struct sim *s, const struct known *k, const char *what)
{
    if (s->down)
        broken(s, LAW_FAILED, "run %u: %s after the store failed", k->place,
               what);
    if (k->stale_told)
        broken(s, LAW_STALE, "run %u: %s though it is stale", k->place, what);
    if (k->stop_acked)
        broken(s, LAW_AFTER, "run %u: %s", k->place, what);
}

/* On record; a fork may make its parent's open call, by the same key. */
static uint32_t starts_of(const struct sim *s, const struct known *k,
                          uint64_t key)
{
    uint32_t n = set_count(&k->starts, key);

    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].forked)
            n += set_count(&s->runs[i].starts, key);
    return n;
}

static bool may_act(const struct known *k)
{
    return !k->stop_acked && !k->stale_told;
}

/* Who makes a call: the one in its key, or a fork that has it from there. */
static struct known *caller_of(struct sim *s, struct known *k, wend_str key)
{
    for (struct wend_run *r = s->rt->runs; r && k->has_forks && !may_act(k);
         r = r->next)
        for (const struct wend_call *c = r->calls; c; c = c->next)
            if (str_eq(c->key, key) && may_act(known_by_id(s, str_of(r->id))))
                return known_by_id(s, str_of(r->id));
    return k;
}

struct known *check_call(struct sim *s, wend_str key)
{
    struct known *k = known_by_id(s, (wend_str){key.ptr, 36});

    trace(s, "run %u calls %.*s", k->place, (int)key.len, key.ptr);
    if (!starts_of(s, k, hash_of(key)))
        broken(s, LAW_ACTED, "run %u: call %.*s is not on record", k->place,
               (int)key.len, key.ptr);
    /* Once for each call_start, of which a resume may write another. */
    if (set_count(&k->made, hash_of(key)) >= starts_of(s, k, hash_of(key)))
        broken(s, LAW_MADE, "run %u: call %.*s", k->place, (int)key.len,
               key.ptr);
    s->head.counters->again += set_count(&k->made, hash_of(key)) > 0;
    set_add(&k->made, hash_of(key));
    k = caller_of(s, k, key);
    check_acts(s, k, "a tool is called");
    return k;
}

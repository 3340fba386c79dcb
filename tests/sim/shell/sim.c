/*
 * sim.c - the names of the laws, and what is known about runs.
 */
#include "sim.h"

const struct mem libc_mem;

const char *const law_names[LAWS] = {
    [LAW_BATCH] = "a batch follows the one before it",
    [LAW_SHOWN] = "stored before shown",
    [LAW_ACTED] = "stored before acted",
    [LAW_ORDER] = "every event once, in order",
    [LAW_LOG] = "the log is what was seen",
    [LAW_LISTEN] = "a listener hears at once",
    [LAW_FAILED] = "a failed store stops everything",
    [LAW_STALE] = "a stale run fails alone",
    [LAW_END] = "every run ends",
    [LAW_CALL_END] = "every call has one end",
    [LAW_ACTION_END] = "every action has one end",
    [LAW_MADE] = "a call is made once",
    [LAW_MISUSE] = "misuse is told",
    [LAW_CANCEL] = "a cancel is recorded at once",
    [LAW_STOP] = "a stopped run ends in time",
    [LAW_AFTER] = "nothing starts after a recorded stop",
    [LAW_QUEUE] = "a reader's queue is bounded",
    [LAW_WRITER] = "only the log's writer slows a run down",
    [LAW_COMMITS] = "a tool turn costs two commits",
    [LAW_HOOK] = "a hook hears of each turn once",
    [LAW_REPAIR] = "a repair is not shown as it comes",
    [LAW_STREAM] = "the laws that the library checks",
    [LAW_REQUEST] = "a request has one result of every call",
    [LAW_PROGRAM] = "no program outlives its run",
    [LAW_CHAIN] = "the chain of hashes holds, also over a fork",
    [LAW_TIME] = "a run takes as long as it ran, whatever the wall clock says",
    [LAW_HEARD] = "what was accepted is heard, or its sender is told",
    [LAW_LEAK] = "nothing leaks",
};

__attribute__((format(printf, 2, 3))) void trace(struct sim *s, const char *fmt,
                                                 ...)
{
    va_list ap;

    if (!s->head.trace)
        return;
    fprintf(s->head.trace, "%8.3f ", (double)s->world.clock_us / 1e6);
    va_start(ap, fmt);
    vfprintf(s->head.trace, fmt, ap);
    va_end(ap);
    fputc('\n', s->head.trace);
}

/* ---- Sets ---------------------------------------------------------------- */

uint64_t hash_of(wend_str s)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.ptr[i]) * 1099511628211u;
    return h;
}

uint32_t set_count(const struct set *s, uint64_t h)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->count; i++)
        n += s->at[i] == h;
    return n;
}

void set_add(struct set *s, uint64_t h)
{
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->at = realloc(s->at, s->cap * sizeof *s->at);
        if (!s->at)
            abort();
    }
    s->at[s->count++] = h;
}

struct known *known_by_id(struct sim *s, wend_str id)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (str_is(id, s->runs[i].id))
            return &s->runs[i];
    return NULL;
}

struct sim *sim_of_world(void *w)
{
    return (struct sim *)(void *)((char *)w - offsetof(struct sim, world));
}

bool is_of(const struct known *k, const struct known *parent)
{
    while (k && k != parent)
        k = k->parent;
    return k != NULL;
}

/* Its work has ended without a run_end, for a reason that we gave. */
bool known_failed(const struct sim *s, const struct known *k)
{
    return k->stolen || k->cut || s->store.failed ||
           (k->handle && k->handle->error.status == WEND_E_NOMEM);
}

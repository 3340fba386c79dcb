/*
 * tool_keep.c - what an agent keeps of a tool's calls.
 */
#include "lib/agent/agent.h"

#include <assert.h>

#include "base/limits.h"

enum { MINUTE_US = 60 * 1000 * 1000 };

/* The call before the last `count` must be a minute old: then no minute has
 * more than that. */
int64_t pace_take(struct pace *p, int64_t now_us)
{
    int64_t *oldest;
    int64_t due;

    if (!p->count)
        return now_us;
    assert(p->at < p->count);
    oldest = &p->begun_us[p->at];
    due =
        *oldest && *oldest + MINUTE_US > now_us ? *oldest + MINUTE_US : now_us;
    *oldest = due;
    p->at = (p->at + 1) % p->count;
    return due;
}

static size_t weight(const struct kept_answer *k)
{
    return sizeof *k + k->args.len + k->output.len;
}

const struct kept_answer *answers_find(const struct answers *a, wend_str args,
                                       int64_t now_us)
{
    for (const struct kept_answer *k = a->newest; k; k = k->next)
        if (k->until_us > now_us && str_eq(k->args, args))
            return k;
    return NULL;
}

/* Oldest last; only the newest stay. */
static void drop_old(struct answers *a, const struct mem *m)
{
    struct kept_answer **link = &a->newest;
    size_t bytes = 0;

    a->count = 0;
    while (*link && a->count < ANSWERS_KEPT_MAX &&
           bytes + weight(*link) <= ANSWERS_BYTES_MAX) {
        bytes += weight(*link);
        a->count++;
        link = &(*link)->next;
    }
    while (*link) {
        struct kept_answer *k = *link;

        *link = k->next;
        mem_free(m, k);
    }
    a->bytes = bytes;
    assert(a->bytes <= ANSWERS_BYTES_MAX);
}

void answers_keep(struct answers *a, const struct mem *m, wend_str args,
                  wend_str output, uint32_t labels, int64_t until_us)
{
    size_t text = args.len + output.len;
    struct kept_answer *k = text <= ANSWERS_BYTES_MAX / 4
                                ? mem_zalloc(m, sizeof *k + text + 1)
                                : NULL;
    char *at = (char *)(k + 1);

    if (!k)
        return;
    k->args = str_pack(&at, args);
    k->output = str_pack(&at, output);
    k->until_us = until_us;
    k->labels = labels;
    k->next = a->newest;
    a->newest = k;
    drop_old(a, m);
}

void answers_free(struct answers *a, const struct mem *m)
{
    while (a->newest) {
        struct kept_answer *k = a->newest;

        a->newest = k->next;
        mem_free(m, k);
    }
    *a = (struct answers){0};
}

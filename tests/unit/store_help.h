/*
 * store_help.h - what the tests of stores have in common.
 */
#ifndef TESTS_STORE_HELP_H
#define TESTS_STORE_HELP_H

#include <ftw.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"
#include "tap.h"

#define FROM_START ((struct store_place){1, 0})

struct wait {
    sem_t sem;
    wend_status status;
};

static inline void wait_done(struct store_batch *b, wend_status s)
{
    struct wait *w = b->ctx;

    w->status = s;
    sem_post(&w->sem);
}

static inline void put_begin(wend_store *s, struct store_batch *b,
                             struct wait *w)
{
    sem_init(&w->sem, 0, 0);
    b->ctx = w;
    b->done = wait_done;
    if (!b->summary.status)
        b->summary.status = "running";
    s->ops->append(s, b);
}

static inline wend_status put_end(struct wait *w)
{
    while (sem_wait(&w->sem))
        ;
    sem_destroy(&w->sem);
    return w->status;
}

static inline wend_status put(wend_store *s, struct store_batch *b)
{
    struct wait w;

    put_begin(s, b, &w);
    return put_end(&w);
}

/* One event, with a birth if it is the first. */
static inline wend_status put_event(wend_store *s, const char *run, int64_t seq,
                                    const char *body)
{
    struct store_birth birth = {.agent = str_of("a"), .started_us = 1000};
    struct store_event e = {.seq = seq,
                            .type = WEND_WARNING,
                            .time_us = 1000 + seq,
                            .body = str_of(body)};
    struct store_batch b = {.run = str_of(run),
                            .epoch = 1,
                            .birth = seq == 1 ? &birth : NULL,
                            .events = &e,
                            .events_count = 1};

    return put(s, &b);
}

static inline wend_status put_summary(wend_store *s, const char *run,
                                      int64_t epoch, const char *status,
                                      int64_t ended_us)
{
    struct store_batch b = {
        .run = str_of(run),
        .epoch = epoch,
        .summary = {.status = status, .ended_us = ended_us}};

    return put(s, &b);
}

/* A log that was read: checks order, gaps and the chain on the way. */
struct log {
    int64_t seq_last, packs, bytes;
    struct chain chain;
    int bad;
};

static inline bool log_item(void *ctx, const struct store_item *item)
{
    struct log *l = ctx;

    l->bytes += (int64_t)item->body.len;
    if (item->is_pack) {
        l->bad += item->seq != l->seq_last;
        l->packs++;
        chain_pack(&l->chain, item->body);
        return true;
    }
    l->bad += item->seq != l->seq_last + 1;
    l->seq_last = item->seq;
    chain_event(&l->chain, item->body);
    l->bad += memcmp(l->chain.head, item->hash, SHA256_BYTES) != 0;
    return true;
}

static inline struct log log_read(wend_store *s, const char *run)
{
    struct log l = {0};

    if (s->ops->read(s, str_of(run), FROM_START, 0, log_item, &l, NULL) !=
        WEND_OK)
        l.bad++;
    return l;
}

/* The status that a listing shows for a run; lent until the next call. */
static inline const char *listed_status(wend_store *s, const char *run)
{
    static char status[32];
    wend_list_options o = {.size = sizeof o, .run = run};
    const wend_run_info *info;
    wend_runs *list = NULL;

    snprintf(status, sizeof status, "(none)");
    if (wend_store_list(s, &o, &list, NULL) == WEND_OK &&
        wend_runs_next(list, &info) == WEND_OK)
        snprintf(status, sizeof status, "%.*s", (int)info->status.len,
                 info->status.ptr);
    wend_runs_free(list);
    return status;
}

static inline char *dir_make(void)
{
    static char dir[64];

    snprintf(dir, sizeof dir, "/tmp/wend-test-XXXXXX");
    return mkdtemp(dir);
}

static inline int remove_one(const char *path, const struct stat *st, int type,
                             struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

/* Removes the directory with all that is in it. */
static inline void dir_remove(const char *dir)
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif

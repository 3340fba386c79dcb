/*
 * queue.c - which of the processes that share a store may write now.
 */
#include "store/queue.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "store/store.h"

enum {
    LOOK_US = 100000,      /* between two looks at the log's file */
    LOOK_MAX_US = 1000000, /* more than that between them: we were stopped */
    USUAL_MIN_US = 1000,   /* about what a commit takes */
    ASKS = 16,             /* in the usual time */
    SLEEP_MIN_US = 100,
    SLEEP_MAX_US = 100000,
    YIELD_US = 50000, /* of hundreds that write there is always one more */
};

int64_t queue_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- Patience ------------------------------------------------------------ */

/* Whether the log's file has changed since the last look: each commit of any
 * program goes through it. */
static bool log_changed(struct patience *p)
{
    char name[STORE_PATH_MAX];
    struct stat st;
    bool changed;

    if (!store_beside(name, p->path, "-wal") || stat(name, &st))
        memset(&st, 0, sizeof st);
    changed = st.st_size != p->wal_size ||
              st.st_mtim.tv_sec != p->wal_time.tv_sec ||
              st.st_mtim.tv_nsec != p->wal_time.tv_nsec;
    p->wal_size = st.st_size;
    p->wal_time = st.st_mtim;
    return changed;
}

void patience_begin(struct patience *p, const char *path, int idle_ms)
{
    *p = (struct patience){.path = path,
                           .looked_us = queue_now_us(),
                           .idle_max_us = (int64_t)idle_ms * 1000};
    log_changed(p);
}

bool patience_left(struct patience *p)
{
    int64_t now = queue_now_us(), since = now - p->looked_us;

    if (since < LOOK_US)
        return true;
    p->looked_us = now;
    p->idle_us += since < LOOK_MAX_US ? since : LOOK_MAX_US;
    if (log_changed(p))
        p->idle_us = 0;
    return p->idle_us < p->idle_max_us;
}

/* ---- The queue ----------------------------------------------------------- */

static void sleep_us(int64_t us)
{
    struct timespec t = {.tv_nsec = (long)us * 1000};

    nanosleep(&t, NULL);
}

/* As often as the wait is long: hundreds that ask in vain would take the
 * processor from the one that writes. None asks in step with another. */
static void sleep_a_while(struct queue *q, int64_t waited_us)
{
    int64_t us = (waited_us > q->usual_us ? waited_us : q->usual_us) / ASKS;

    q->chance = q->chance * 6364136223846793005u + 1442695040888963407u;
    us = us < SLEEP_MAX_US ? us : SLEEP_MAX_US;
    us = us > SLEEP_MIN_US ? us : SLEEP_MIN_US;
    sleep_us(us / 2 + (int64_t)(q->chance >> 33) % us);
}

static wend_status wait_in(struct queue *q, enum owner_try *got,
                           wend_error *err)
{
    struct patience patience;
    int64_t began = queue_now_us(), waited = 0;
    int idle_ms = q->idle_ms ? q->idle_ms : QUEUE_IDLE_MS;

    patience_begin(&patience, q->path, idle_ms);
    while (*got == OWNER_TAKEN && patience_left(&patience)) {
        sleep_a_while(q, waited);
        *got = owner_write_try(q->owner);
        waited = queue_now_us() - began;
    }
    q->usual_us += (waited - q->usual_us) / 4;
    if (q->usual_us < USUAL_MIN_US)
        q->usual_us = USUAL_MIN_US;
    return *got == OWNER_TAKEN
               ? fail(err, WEND_E_STORE,
                      "store %s: no process has written it for %d s, and one "
                      "keeps the others out; it may be stopped: 'fuser %s' "
                      "shows which have it open",
                      q->path, idle_ms / 1000, q->path)
               : WEND_OK;
}

wend_status queue_enter(struct queue *q, wend_error *err)
{
    enum owner_try got = OWNER_TAKEN;
    wend_status s = WEND_OK;

    assert(q->owner->fd >= 0);
    if (!q->usual_us) {
        q->usual_us = USUAL_MIN_US;
        q->chance = (uint64_t)q->owner->id;
    }
    if (!owner_others_wait(q->owner))
        got = owner_write_try(q->owner);
    if (got == OWNER_TAKEN) {
        owner_wait_mark(q->owner, true);
        s = wait_in(q, &got, err);
        owner_wait_mark(q->owner, false);
    }
    if (got == OWNER_FAILED)
        s = fail(err, WEND_E_STORE, "store %s: its lock file fails: %s",
                 q->path, strerror(errno));
    return s;
}

void queue_leave(const struct queue *q)
{
    owner_write_end(q->owner);
}

void queue_yield(const struct queue *q)
{
    int64_t until = queue_now_us() + YIELD_US;

    while (owner_others_wait(q->owner) && queue_now_us() < until)
        sleep_us(SLEEP_MIN_US);
}

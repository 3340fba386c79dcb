/*
 * threads.c - a small pool for work that would block the loop.
 *
 * Its memory is libc's: a thread that was left behind at work must not need
 * an allocator whose owner is gone.
 */
#include "host/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"

struct workers;

struct worker {
    struct workers *pool;
    pthread_t id;
    bool alive;
    struct threads_job *job; /* whose function it is inside, however long */
    bool left;               /* had a job when the pool went: it ends alone */
};

struct workers {
    struct threads base;
    pthread_mutex_t lock;
    pthread_cond_t work;     /* there is some, or the pool is closed */
    pthread_cond_t returned; /* a function has, and the pool is closed */
    struct threads_job *first, **tail;
    unsigned max, alive, idle, queued;
    unsigned holders; /* once it is closed: who closes it, and those left */
    bool closed;
    struct worker each[];
};

/* ---- A worker ------------------------------------------------------------ */

/* Call it with the lock, which it leaves. */
static void unlock_and_release(struct workers *t)
{
    bool last = --t->holders == 0;

    pthread_mutex_unlock(&t->lock);
    if (!last)
        return;
    pthread_cond_destroy(&t->work);
    pthread_cond_destroy(&t->returned);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static struct threads_job *take(struct workers *t)
{
    struct threads_job *job = t->first;

    if (job) {
        t->first = job->next;
        t->queued--;
    }
    if (!t->first)
        t->tail = &t->first;
    return job;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct workers *t = w->pool;
    struct threads_job *job;

    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->first && !t->closed) {
            t->idle++;
            pthread_cond_wait(&t->work, &t->lock);
            t->idle--;
        }
        job = take(t);
        if (!job)
            break;
        /* Decided with the lock, since close_pool looks at it. */
        w->job = atomic_load(job->canceled) ? NULL : job;
        pthread_mutex_unlock(&t->lock);
        if (w->job)
            job->fn(job);
        pthread_mutex_lock(&t->lock);
        w->job = NULL;
        if (t->closed)
            pthread_cond_signal(&t->returned);
        pthread_mutex_unlock(&t->lock);
        job->end(job);
        pthread_mutex_lock(&t->lock);
    }
    if (w->left)
        unlock_and_release(t);
    else
        pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Signals are for the host program's threads, not for ours. */
static bool start_worker(struct workers *t)
{
    struct worker *w = &t->each[t->alive];
    sigset_t all, old;

    w->pool = t;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    w->alive = !pthread_create(&w->id, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return w->alive;
}

/* ---- The pool ------------------------------------------------------------ */

static wend_status run(struct threads *base, struct threads_job *job)
{
    struct workers *t = (struct workers *)(void *)base;
    wend_status s = WEND_OK;

    pthread_mutex_lock(&t->lock);
    job->next = NULL;
    *t->tail = job;
    t->tail = &job->next;
    t->queued++;
    if (t->queued > t->idle && t->alive < t->max) {
        if (start_worker(t))
            t->alive++;
        else if (!t->alive)
            s = WEND_E_IO;
    }
    if (s != WEND_OK) { /* no worker will take it: it is the newest of none */
        t->first = NULL;
        t->tail = &t->first;
        t->queued = 0;
    }
    pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
    return s;
}

static bool returns_soon(const struct workers *t)
{
    for (unsigned i = 0; i < t->alive; i++)
        if (t->each[i].job && atomic_load(t->each[i].job->answered))
            return true;
    return false;
}

/* Call it with the lock. */
static void await_returns(struct workers *t)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += THREADS_RETURN_MS / 1000;
    while (returns_soon(t))
        if (pthread_cond_timedwait(&t->returned, &t->lock, &until))
            return;
}

static void close_pool(struct threads *base)
{
    struct workers *t = (struct workers *)(void *)base;
    struct threads_job *rest, *next;

    pthread_mutex_lock(&t->lock);
    t->closed = true;
    t->holders = 1;
    rest = t->first;
    t->first = NULL;
    t->tail = &t->first;
    await_returns(t);
    for (unsigned i = 0; i < t->alive; i++)
        if (t->each[i].job) {
            t->each[i].left = true;
            t->holders++;
            pthread_detach(t->each[i].id);
        }
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (; rest; rest = next) {
        next = rest->next;
        rest->end(rest);
    }
    /* `left` changes no more. */
    for (unsigned i = 0; i < t->alive; i++)
        if (!t->each[i].left)
            pthread_join(t->each[i].id, NULL);
    pthread_mutex_lock(&t->lock);
    unlock_and_release(t);
}

static const struct threads_ops ops = {close_pool, run};

wend_status threads_new(const struct mem *m, unsigned max, struct threads **out,
                        wend_error *err)
{
    struct workers *t = calloc(1, sizeof *t + max * sizeof *t->each);

    (void)m;
    if (!t)
        return fail_nomem(err);
    t->base.ops = &ops;
    t->max = max;
    t->tail = &t->first;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->returned, NULL);
    *out = &t->base;
    return WEND_OK;
}

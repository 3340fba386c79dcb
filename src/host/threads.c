/*
 * threads.c - a small pool for work that would block the loop.
 */
#include "host/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/fail.h"

struct workers {
    struct threads base;
    struct mem mem; /* by value: the owner may be gone before us */
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct threads_job *first, **tail;
    unsigned max, alive, idle, queued;
    bool closed;
};

static void release(struct workers *t)
{
    struct mem m = t->mem;

    pthread_cond_destroy(&t->work);
    pthread_mutex_destroy(&t->lock);
    mem_free(&m, t);
}

static void *worker(void *arg)
{
    struct workers *t = arg;
    struct threads_job *job;
    bool last;

    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->first && !t->closed) {
            t->idle++;
            pthread_cond_wait(&t->work, &t->lock);
            t->idle--;
        }
        job = t->first;
        if (!job)
            break;
        t->first = job->next;
        if (!t->first)
            t->tail = &t->first;
        t->queued--;
        pthread_mutex_unlock(&t->lock);
        job->fn(job);
        pthread_mutex_lock(&t->lock);
    }
    last = --t->alive == 0;
    pthread_mutex_unlock(&t->lock);
    if (last)
        release(t);
    return NULL;
}

/* Signals are the host program's; its threads shall get them, not ours. */
static bool start_thread(struct workers *t)
{
    sigset_t all, old;
    pthread_attr_t attr;
    pthread_t id;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    rc = pthread_create(&id, &attr, worker, t);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc == 0;
}

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
        if (start_thread(t))
            t->alive++;
        else if (!t->alive)
            s = WEND_E_IO;
    }
    if (s != WEND_OK) { /* nobody will take it: it is the newest of none */
        t->first = NULL;
        t->tail = &t->first;
        t->queued = 0;
    }
    pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
    return s;
}

static void close_pool(struct threads *base)
{
    struct workers *t = (struct workers *)(void *)base;
    bool last;

    pthread_mutex_lock(&t->lock);
    t->closed = true;
    last = !t->alive;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    if (last)
        release(t);
}

static const struct threads_ops ops = {close_pool, run};

wend_status threads_new(const struct mem *m, unsigned max, struct threads **out,
                        wend_error *err)
{
    struct workers *t = mem_zalloc(m, sizeof *t);

    if (!t)
        return fail_nomem(err);
    t->base.ops = &ops;
    t->mem = *m;
    t->max = max;
    t->tail = &t->first;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    *out = &t->base;
    return WEND_OK;
}

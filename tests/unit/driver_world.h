/*
 * driver_world.h - what the random driver plays with: runtimes whose memory
 * fails, stores that several threads share, handles on their way to a
 * collector, calls that wait for an answer.
 */
#ifndef TESTS_DRIVER_WORLD_H
#define TESTS_DRIVER_WORLD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/chance.h"
#include "base/str.h"
#include "tap.h"

enum { WORKERS_MAX = 3, AGENTS = 2, RUNS = 4, IDS = 16, CALLS = 32 };

/* ---- Memory -------------------------------------------------------------- */

/* Of one runtime; called from any thread, and after the runtime is gone. */
struct memory {
    struct memory *next;
    atomic_llong live, fails_in; /* allocations until one fails; 0 = none */
    atomic_int released, late;   /* late: it was used after that */
    int wanted;                  /* releases: one, or none */
};

static void memory_release(void *ctx)
{
    struct memory *m = ctx;

    atomic_fetch_add(&m->released, 1);
}

static void *memory_alloc(void *ctx, void *p, size_t size)
{
    struct memory *m = ctx;
    void *moved;

    atomic_fetch_add(&m->late, atomic_load(&m->released));
    if (!size) {
        atomic_fetch_sub(&m->live, p != NULL);
        free(p);
        return NULL;
    }
    if (atomic_load(&m->fails_in) > 0 && atomic_fetch_sub(&m->fails_in, 1) == 1)
        return NULL;
    moved = realloc(p, size);
    atomic_fetch_add(&m->live, moved && !p);
    return moved;
}

/* ---- The world ----------------------------------------------------------- */

enum kind { K_RUN, K_AGENT, K_RUNTIME, K_STORE };

/* What calls of tools that are no functions came to, in all seeds: it is a
 * driver of nothing if none of them ever succeeds. */
static struct {
    atomic_int programs, servers;
} well;

/* A handle that its thread has forgotten. */
struct garbage {
    struct garbage *next;
    enum kind kind;
    void *handle;
};

/* What a call is given as ctx, with the function that releases it. */
struct ticket {
    struct ticket *next;
    struct world *world;
    struct worker *worker;
    const char *what;
    atomic_int released, late;
    int wanted; /* releases: one, or none */
};

struct world {
    uint64_t seed;
    const char *path; /* of the file that is shared */
    wend_store *shared;
    pthread_mutex_t lock; /* guards what follows */
    struct garbage *garbage;
    struct memory *memories;
    struct ticket *tickets;
    char ids[IDS][40]; /* of runs */
    unsigned ids_count;
    wend_call *calls[CALLS]; /* that wait for an answer */
    atomic_int inside;       /* tools' functions at work */
    atomic_int broken;       /* laws */
};

/* One thread with its own runtime. */
struct worker {
    struct world *world;
    struct chance chance;
    struct memory *memory;
    wend_store *store; /* of the runtime; NULL: its own */
    wend_runtime *rt;
    wend_agent *agents[AGENTS];
    wend_run *runs[RUNS];
    wend_collector *collector;
    wend_dialect *dialect;
    int64_t done; /* operations */
};

static void ticket_release(void *ctx)
{
    struct ticket *t = ctx;

    atomic_fetch_add(&t->released, 1);
}

static void ticket_used(struct ticket *t)
{
    atomic_fetch_add(&t->late, atomic_load(&t->released));
}

/* Options whose size is wrong are not taken, and what is in them neither. */
static struct ticket *ticket_new(struct worker *w, const char *what, bool taken)
{
    struct ticket *t = calloc(1, sizeof *t);

    t->world = w->world;
    t->worker = w;
    t->what = what;
    t->wanted = taken;
    pthread_mutex_lock(&w->world->lock);
    t->next = w->world->tickets;
    w->world->tickets = t;
    pthread_mutex_unlock(&w->world->lock);
    return t;
}

static void free_handle(enum kind kind, void *handle)
{
    switch (kind) {
    case K_RUN: wend_run_free(handle); break;
    case K_AGENT: wend_agent_free(handle); break;
    case K_RUNTIME: wend_runtime_free(handle); break;
    case K_STORE: wend_store_free(handle); break;
    }
}

/* Frees it, or leaves that to the thread that collects next. */
static void forget(struct worker *w, enum kind kind, void *handle)
{
    struct garbage *g = malloc(sizeof *g);

    if (!handle || !g || chance_of(&w->chance, 400)) {
        free(g);
        free_handle(kind, handle);
        return;
    }
    g->kind = kind;
    g->handle = handle;
    pthread_mutex_lock(&w->world->lock);
    g->next = w->world->garbage;
    w->world->garbage = g;
    pthread_mutex_unlock(&w->world->lock);
}

static bool collect_one(struct world *v)
{
    struct garbage *g;

    pthread_mutex_lock(&v->lock);
    g = v->garbage;
    if (g)
        v->garbage = g->next;
    pthread_mutex_unlock(&v->lock);
    if (!g)
        return false;
    free_handle(g->kind, g->handle);
    free(g);
    return true;
}

/* All that was made from the runtime goes with it, in any order. */
static void forget_runtime(struct worker *w)
{
    bool first = chance_of(&w->chance, 500);

    if (first)
        forget(w, K_RUNTIME, w->rt);
    for (int i = 0; i < RUNS; i++) {
        forget(w, K_RUN, w->runs[i]);
        w->runs[i] = NULL;
    }
    for (int i = 0; i < AGENTS; i++) {
        forget(w, K_AGENT, w->agents[i]);
        w->agents[i] = NULL;
    }
    if (!first)
        forget(w, K_RUNTIME, w->rt);
    w->rt = NULL;
}

__attribute__((format(printf, 2, 3))) static void broken(struct world *v,
                                                         const char *fmt, ...)
{
    va_list ap;

    atomic_fetch_add(&v->broken, 1);
    printf("# seed %llu: ", (unsigned long long)v->seed);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
}

/* ---- Ids and calls ------------------------------------------------------- */

static void note_id(struct world *v, const char *id)
{
    if (!id)
        return;
    pthread_mutex_lock(&v->lock);
    snprintf(v->ids[v->ids_count++ % IDS], sizeof v->ids[0], "%s", id);
    pthread_mutex_unlock(&v->lock);
}

/* Mostly one that there is. */
static const char *some_id(struct worker *w, char out[40])
{
    static const char *const wrong[] = {NULL, "", "no id",
                                        "00000000-0000-7000-8000-000000000000"};
    struct world *v = w->world;

    if (chance_of(&w->chance, 50))
        return chance_pick(&w->chance, wrong);
    pthread_mutex_lock(&v->lock);
    snprintf(out, 40, "%s",
             v->ids_count
                 ? v->ids[chance_below(&w->chance,
                                       v->ids_count < IDS ? v->ids_count : IDS)]
                 : wrong[3]);
    pthread_mutex_unlock(&v->lock);
    return out;
}

static wend_call *take_call(struct world *v, uint32_t at)
{
    wend_call *call;

    pthread_mutex_lock(&v->lock);
    call = v->calls[at % CALLS];
    v->calls[at % CALLS] = NULL;
    pthread_mutex_unlock(&v->lock);
    return call;
}

static wend_status tool_keeps(void *ctx, wend_call *call)
{
    struct world *v = ((struct ticket *)ctx)->world;
    int i = 0;

    ticket_used(ctx);
    pthread_mutex_lock(&v->lock);
    while (i < CALLS && v->calls[i])
        i++;
    if (i < CALLS)
        v->calls[i] = call;
    pthread_mutex_unlock(&v->lock);
    return i < CALLS ? WEND_OK : WEND_E_LIMIT;
}

/* One red point. */
static const wend_part gif = {
    .data = {"GIF89a\1\0\1\0\200\0\0\377\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1"
             "\0;",
             35}};

static wend_status tool_echoes(void *ctx, wend_call *call)
{
    struct world *v = ((struct ticket *)ctx)->world;
    wend_status s;

    atomic_fetch_add(&v->inside, 1);
    ticket_used(ctx);
    if (!wend_call_id(call).ptr || !wend_call_name(call).ptr ||
        !wend_call_key(call).ptr)
        broken(v, "a call without id, name or key");
    if (wend_call_canceled(call))
        wend_call_progress(call, "too late");
    wend_call_progress(call, "so");
    wend_call_attach(call, &gif, NULL);
    s = wend_call_return(call, wend_call_args(call));
    atomic_fetch_sub(&v->inside, 1);
    return s;
}

static wend_status tool_fails(void *ctx, wend_call *call)
{
    ticket_used(ctx);
    return wend_call_fail(call, "no");
}

/* ---- Laws ---------------------------------------------------------------- */

/* A failed call gives a reason and no handle; after a success the error is
 * empty. */
static bool check(struct worker *w, const char *what, wend_status s,
                  const wend_error *err, const void *out)
{
    if (s > WEND_AGAIN || s < WEND_E_STALE)
        broken(w->world, "%s: status %d", what, s);
    if (s != WEND_OK && out)
        broken(w->world, "%s: %s, and a handle", what, wend_status_name(s));
    if (err && (err->status != s || (s < 0) != (err->message[0] != 0)))
        broken(w->world, "%s: status %s, error %s '%s'", what,
               wend_status_name(s), wend_status_name(err->status),
               err->message);
    return s == WEND_OK;
}

/* Of any run, in any order: it need not make sense to the dialect. */
static void feed_dialect(struct worker *w, const wend_event *ev)
{
    wend_str lines = {0};

    wend_dialect_feed(w->dialect, ev,
                      chance_of(&w->chance, 900) ? &lines : NULL);
    if (lines.len && lines.ptr[lines.len - 1] != '\n')
        broken(w->world, "half a record");
    if (chance_of(&w->chance, 100))
        wend_dialect_interrupt(w->dialect, &lines);
}

#endif

/*
 * work.h - what is done while the tape runs, and how an image goes on.
 */
#ifndef POWER_WORK_H
#define POWER_WORK_H

#include "book.h"

enum {
    RUNS_MAX = 16,
    FORK_DEPTH = 2,
    BIG_BYTES = 300 << 10,
    PAGE_BYTES = 60000
};

#define CALL(tool) "{\"name\":\"" tool "\",\"args\":{}}"
#define TURN(calls) "{\"calls\":[" calls "]},"
#define TALK(text, chunk, calls) \
    "{\"text\":\"" text "\",\"chunk\":" chunk ",\"calls\":[" calls "]},"
#define DONE "{\"text\":\"done\"}"
#define SMALL CALL("small")
#define PAGE CALL("page")
#define BIG CALL("big")

struct work {
    const char *name, *script;
    int runs;   /* at once */
    int rounds; /* one after the other */
    bool prunes, reopens;
    int restarts; /* of the write-ahead log, at least */
    bool imports; /* the runs come from a file */
    bool forks;   /* each run is forked when it is over, and so is the fork */
};

static const struct work works[] = {
    {"tool turns",
     TALK("a few words", "3", SMALL) TURN(SMALL "," PAGE)
         TALK("and more", "2", SMALL) DONE,
     .runs = 1, .rounds = 2, .reopens = true, .restarts = 2},
    {"many runs", TALK("go", "1", SMALL) TURN(SMALL "," SMALL) DONE, .runs = 12,
     .rounds = 1, .restarts = 1},
    {"blobs", TURN(BIG) TURN(SMALL) TURN(BIG) DONE, .runs = 2, .rounds = 1,
     .restarts = 1},
    {"checkpoints", TURN(PAGE "," PAGE) TURN(PAGE) DONE, .runs = 4,
     .rounds = 12, .restarts = 3},
    {"prune", TURN(PAGE "," BIG) TALK("words", "1", SMALL) DONE, .runs = 3,
     .rounds = 3, .prunes = true, .restarts = 2},
    {"import", TURN(BIG) TALK("words", "1", PAGE) TURN(BIG) DONE, .runs = 3,
     .rounds = 1, .restarts = 1, .imports = true},
    {"forks", TALK("words", "2", SMALL) TURN(PAGE) TURN(BIG) DONE, .runs = 2,
     .rounds = 2, .prunes = true, .restarts = 1, .forks = true},
};
enum { WORKS = sizeof works / sizeof *works };

/* ---- Tools --------------------------------------------------------------- */

static wend_status on_call(void *ctx, wend_call *call)
{
    static char text[BIG_BYTES];
    static long calls;
    size_t len = (size_t)(uintptr_t)ctx;

    book_effect(wend_call_key(call));
    /* Never the same: equal blobs are one. */
    memset(text, 'a' + (int)(calls % 26), sizeof text);
    snprintf(text, sizeof text, "%ld", calls++);
    return wend_call_return(call, (wend_str){text, len});
}

static wend_agent *make_agent(wend_runtime *rt, const struct work *w)
{
    static const struct {
        const char *name;
        size_t bytes;
    } tools[] = {{"small", 100}, {"page", PAGE_BYTES}, {"big", BIG_BYTES}};
    char model[2048];
    wend_agent_options o = {
        .size = sizeof o, .model = model, .approve = WEND_APPROVE_ALL};
    wend_agent *agent = NULL;

    snprintf(model, sizeof model, "script:{\"turns\":[%s]}", w->script);
    if (wend_agent_new(rt, &o, &agent, NULL) != WEND_OK)
        return NULL;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        wend_tool_options t = {.size = sizeof t,
                               .name = tools[i].name,
                               .call_class = WEND_CLASS_IDEMPOTENT,
                               .fn = on_call,
                               .ctx = (void *)(uintptr_t)tools[i].bytes};

        if (wend_agent_add_tool(agent, &t, NULL) != WEND_OK)
            abort();
    }
    return agent;
}

/* ---- A store with all that belongs to it --------------------------------- */

struct opened {
    wend_store *store;
    wend_runtime *rt;
    wend_agent *agent;
};

static void place_close(struct opened *p)
{
    wend_agent_free(p->agent);
    wend_runtime_free(p->rt);
    wend_store_free(p->store);
    memset(p, 0, sizeof *p);
}

static bool place_open(struct opened *p, const char *path, const struct work *w)
{
    wend_runtime_options o = {.size = sizeof o};

    memset(p, 0, sizeof *p);
    if (wend_store_open(path, &p->store, NULL) != WEND_OK)
        return false;
    book_watch(p->store);
    o.store = p->store;
    if (wend_runtime_new(&o, &p->rt, NULL) == WEND_OK)
        p->agent = make_agent(p->rt, w);
    if (!p->agent)
        place_close(p);
    return p->agent != NULL;
}

/* To the end; whether it was good. */
static bool watch(wend_run *run)
{
    const wend_event *ev;
    bool good = false;

    while (wend_run_next(run, &ev) == WEND_OK) {
        book_shown(ev);
        if (ev->type == WEND_RUN_END)
            good = ev->u.run_end.outcome == WEND_OUTCOME_OK;
    }
    return good;
}

static bool watch_all(wend_run **runs, int count)
{
    bool good = true;

    for (int i = 0; i < count; i++) {
        good &= runs[i] && watch(runs[i]);
        wend_run_free(runs[i]);
        runs[i] = NULL;
    }
    return good;
}

/* A fork of the run, and one of that, each to its end. */
static bool fork_run(struct opened *p, const char *run)
{
    bool good = true;
    char id[40];

    snprintf(id, sizeof id, "%.36s", run);
    for (int i = 0; i < FORK_DEPTH && good; i++) {
        wend_fork_options o = {.size = sizeof o, .at = 7 + 6 * i};
        wend_run *fork = NULL;

        good = wend_run_fork(p->agent, id, &o, NULL, &fork, NULL) == WEND_OK;
        if (good)
            snprintf(id, sizeof id, "%s", wend_run_id(fork));
        good = good && watch_all(&fork, 1);
    }
    return good;
}

/* Starts the runs of a round and sees to their end. */
static bool work_round(struct opened *p, const struct work *w)
{
    wend_run *runs[RUNS_MAX] = {NULL};
    char ids[RUNS_MAX][40];
    bool good = true;

    for (int i = 0; i < w->runs && good; i++) {
        good = wend_run_start(p->agent, (wend_str){"go", 2}, NULL, &runs[i],
                              NULL) == WEND_OK;
        if (good)
            snprintf(ids[i], sizeof ids[i], "%s", wend_run_id(runs[i]));
    }
    good &= watch_all(runs, w->runs) && book_fact(p->store);
    for (int i = 0; i < w->runs && w->forks && good; i++)
        good = fork_run(p, ids[i]);
    return good;
}

static bool prune(wend_store *s)
{
    wend_prune_options o = {.size = sizeof o, .ended_before_us = INT64_MAX};
    wend_pruned out = {.size = sizeof out};

    return wend_store_prune(s, &o, &out, NULL) == WEND_OK && out.runs;
}

/* ---- Runs of another store ----------------------------------------------- */

static struct buf exported;

static bool keep_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

/* Makes the runs elsewhere. The book is empty afterwards. */
static inline void work_export(const struct work *w)
{
    static const struct mem mem;
    wend_run *runs[RUNS_MAX] = {NULL};
    struct opened p;

    buf_free(&exported);
    exported = (struct buf){.mem = &mem};
    if (!place_open(&p, "memory:", w))
        abort();
    for (int i = 0; i < w->runs; i++)
        if (wend_run_start(p.agent, (wend_str){"go", 2}, NULL, &runs[i],
                           NULL) != WEND_OK)
            abort();
    for (int i = 0; i < w->runs; i++) {
        char id[40];

        snprintf(id, sizeof id, "%s", wend_run_id(runs[i]));
        if (!watch(runs[i]) || wend_store_export(p.store, id, 0, keep_bytes,
                                                 &exported, NULL) != WEND_OK)
            abort();
        wend_run_free(runs[i]);
    }
    place_close(&p);
    book_clear();
}

static bool import(wend_store *s)
{
    return wend_store_import(s, buf_view(&exported), NULL, NULL, NULL) ==
           WEND_OK;
}

/* All of it; whether it went well. */
static bool work_do(const struct work *w, const char *path)
{
    struct opened p = {0};
    bool good = true;

    for (int round = 0; round < w->rounds && good; round++) {
        if (!p.agent && !place_open(&p, path, w))
            return false;
        good = w->imports ? import(p.store) : work_round(&p, w);
        if (w->prunes && good)
            good = prune(p.store);
        if (w->reopens)
            place_close(&p);
    }
    place_close(&p);
    return good;
}

/* ---- Going on ------------------------------------------------------------ */

/* Each run of the store that is not over comes to a good end. One that is
 * only the beginning of what was imported is made whole. */
static bool work_resume(const struct work *w, const char *path, long *resumed)
{
    wend_list_options all = {.size = sizeof all, .limit = 10000};
    const wend_run_info *info;
    wend_runs *list = NULL;
    struct opened p;
    bool good = place_open(&p, path, w);

    if (!good)
        return false;
    if (w->imports)
        good = import(p.store);
    if (good)
        good = wend_store_list(p.store, &all, &list, NULL) == WEND_OK;
    while (good && wend_runs_next(list, &info) == WEND_OK) {
        wend_run *run = NULL;
        char id[40];

        if (info->ended_us)
            continue;
        snprintf(id, sizeof id, "%.*s", (int)info->run.len, info->run.ptr);
        good = wend_run_resume(p.agent, id, NULL, &run, NULL) == WEND_OK &&
               watch_all(&run, 1);
        ++*resumed;
    }
    wend_runs_free(list);
    place_close(&p);
    return good;
}

#endif

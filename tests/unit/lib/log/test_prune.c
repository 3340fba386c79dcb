/*
 * test_prune.c - old runs go, on every engine, and nothing else does.
 */
#include <pthread.h>
#include <sys/stat.h>

#include "base/id.h"
#include "base/limits.h"
#include "fault.h"
#include "store_help.h"

#define ID(n) "01900000-0000-7000-8000-00000000000" n
#define HASH_A \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B \
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HASH_C \
    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define CUT(hash) "{\"output\":\"[cut: 1 of 2" CUT_MARK hash " has all]\"}"
#define REF(hash) "{\"text\":{\"blob\":\"" hash "\",\"bytes\":1,\"head\":\"\"}}"

struct given {
    const char *id, *parent;
    int64_t ended_us; /* 0: it is not over */
    const char *body;
};

static void add_run(wend_store *s, const struct given *g)
{
    const struct store_birth birth = {.prompt = str_of(g->body),
                                      .parent = str_of(g->parent),
                                      .started_us = 1};
    const struct store_event e = {1, WEND_WARNING, 1, str_of(g->body)};
    const struct store_pack pack = {1, 1, 1, STR("[1]")};
    const struct store_blob blobs[] = {
        {HASH_A, STR("a")}, {HASH_B, STR("b")}, {HASH_C, STR("c")}};
    struct store_batch b = {
        .run = str_of(g->id),
        .epoch = 1,
        .birth = &birth,
        .events = &e,
        .events_count = 1,
        .packs = &pack,
        .packs_count = 1,
        .blobs = blobs,
        .blobs_count = 3,
        .summary = {.status = g->ended_us ? "ok" : "running",
                    .ended_us = g->ended_us},
    };

    if (put(s, &b) != WEND_OK)
        tap_ok(false, "a run is added");
}

/* The last digits of the runs that are there, newest first. */
static const char *left(wend_store *s)
{
    static char text[32];
    const wend_run_info *info;
    wend_runs *list = NULL;
    size_t len = 0;

    wend_store_list(s, NULL, &list, NULL);
    while (len < sizeof text - 1 && wend_runs_next(list, &info) == WEND_OK)
        text[len++] = info->run.ptr[RUN_ID_LEN - 1];
    text[len] = 0;
    wend_runs_free(list);
    return text;
}

static bool has_blob(wend_store *s, const char *hash)
{
    struct buf out = {.mem = &s->mem};
    bool there = s->ops->blob(s, str_of(hash), &out, NULL) == WEND_OK;

    buf_free(&out);
    return there;
}

static const struct given runs[] = {
    {ID("1"), NULL, 100, REF(HASH_A)},    /* old, has a new child */
    {ID("2"), NULL, 100, REF(HASH_A)},    /* old */
    {ID("3"), NULL, 100, REF(HASH_B)},    /* old, has an old child */
    {ID("4"), ID("3"), 100, "{}"},        /* old child */
    {ID("5"), ID("1"), 900, CUT(HASH_C)}, /* new child */
    {ID("6"), NULL, 0, "{}"},             /* not over */
    {ID("7"), NULL, 500, "{}"},           /* ended at the border */
};

static void fill(wend_store *s)
{
    for (size_t i = 0; i < tap_count(runs); i++)
        add_run(s, &runs[i]);
}

static void prune(wend_store *s, const char *kind)
{
    wend_prune_options o = {
        .size = sizeof o, .ended_before_us = 500, .dry_run = true};
    wend_pruned done = {.size = sizeof done};
    wend_error err = {0};

    fill(s);
    tap_ok(store_forget_run(s, ID("6"), &err) == WEND_E_BUSY,
           "%s a run that is not over: %s", kind, err.message);
    tap_ok(store_forget_run(s, ID("1"), &err) == WEND_E_BUSY,
           "%s a run with a child: %s", kind, err.message);
    tap_ok(store_forget_run(s, ID("f"), &err) == WEND_E_NOTFOUND,
           "%s a run that is not there", kind);
    tap_ok(wend_store_prune(s, &o, &done, &err) == WEND_OK && done.runs == 3 &&
               done.kept == 1,
           "%s dry run: %s", kind, err.message);
    tap_is_str((const char *)left(s), "7654321", "%s dry run: all are there",
               kind);
    o.dry_run = false;
    tap_ok(wend_store_prune(s, &o, &done, &err) == WEND_OK && done.runs == 3 &&
               done.kept == 1 && done.bytes >= 0,
           "%s prune: %s", kind, err.message);
    tap_is_str((const char *)left(s), "7651", "%s prune: what stays", kind);
    tap_ok(s->ops->read(s, STR(ID("2")), FROM_START, 0, log_item,
                        &(struct log){0}, NULL) == WEND_E_NOTFOUND,
           "%s prune: no log of what is gone", kind);
    tap_ok(has_blob(s, HASH_A) && !has_blob(s, HASH_B),
           "%s prune: blobs that nobody refers to", kind);
    tap_ok(has_blob(s, HASH_C), "%s prune: all of what was cut stays", kind);
    tap_ok(!log_read(s, ID("1")).bad && s->ops->check(s, &err) == WEND_OK,
           "%s prune: the rest is whole %s", kind, err.message);
    add_run(s, &runs[2]);
    tap_is_str((const char *)left(s), "37651", "%s an id can be used again",
               kind);
    tap_ok(!log_read(s, ID("3")).bad, "%s and has a log of its own", kind);
    o.ended_before_us = 1000;
    wend_store_prune(s, &o, &done, &err);
    tap_is_str((const char *)left(s), "6", "%s all that is over", kind);
}

static void *prune_thread(void *ctx)
{
    wend_prune_options o = {.size = sizeof o, .ended_before_us = 500};

    return (void *)(intptr_t)wend_store_prune(ctx, &o, NULL, NULL);
}

/* A handle may be shared: whoever comes second waits, and finds it done. */
static void prune_at_once(wend_store *s, const char *kind)
{
    pthread_t threads[4];
    int64_t bad = 0;

    fill(s);
    for (size_t i = 0; i < tap_count(threads); i++)
        bad += pthread_create(&threads[i], NULL, prune_thread, s) != 0;
    for (size_t i = 0; i < tap_count(threads); i++) {
        void *status = NULL;

        pthread_join(threads[i], &status);
        bad += (intptr_t)status != WEND_OK;
    }
    tap_is_i64(bad, 0, "%s four threads prune", kind);
    tap_is_str((const char *)left(s), "7651", "%s what they leave", kind);
    tap_ok(has_blob(s, HASH_A) && !has_blob(s, HASH_B), "%s and its blobs",
           kind);
}

/* Rows that grew when runs are marked would be moved to new pages behind all
 * others, and those are the first that have to go again. */
static void prune_grows_nothing(const char *dir)
{
    enum { RUNS = 2000, SMALL_BYTES = 8 << 10 };
    wend_prune_options o = {.size = sizeof o, .ended_before_us = 500};
    wend_pruned done = {.size = sizeof done};
    char path[128], url[136], id[RUN_ID_LEN + 1], body[80];
    wend_store *s = NULL;
    struct stat st = {0};
    wend_status status;

    snprintf(path, sizeof path, "%s/grows.db", dir);
    snprintf(url, sizeof url, "sqlite:%s", path);
    wend_store_open(url, &s, NULL);
    for (int i = 0; i < RUNS; i++) {
        snprintf(id, sizeof id, "01900000-0000-7000-8000-%012d", i);
        snprintf(body, sizeof body, "{\"a\":\"%.*d\"}", i % 50, 0);
        add_run(s, &(struct given){id, NULL, 100, body});
    }
    wend_store_free(s);
    stat(path, &st);
    wend_store_open(url, &s, NULL);
    status = wend_store_prune(s, &o, &done, NULL);
    tap_ok(status == WEND_OK && done.runs == RUNS &&
               done.bytes > st.st_size / 2 &&
               done.bytes <= st.st_size + SMALL_BYTES,
           "a prune gives back what was there: %lld of %lld bytes",
           (long long)done.bytes, (long long)st.st_size);
    wend_store_free(s);
}

static void misuse(void)
{
    wend_prune_options o = {.size = sizeof o}, unset = {0};
    wend_pruned no_size = {0};
    wend_store *s = NULL;

    store_memory_open(&s, NULL);
    tap_ok(wend_store_prune(NULL, &o, NULL, NULL) == WEND_E_INVAL &&
               wend_store_prune(s, NULL, NULL, NULL) == WEND_E_INVAL &&
               wend_store_prune(s, &unset, NULL, NULL) == WEND_E_INVAL &&
               wend_store_prune(s, &o, &no_size, NULL) == WEND_E_INVAL &&
               wend_store_prune(s, &o, NULL, NULL) == WEND_OK,
           "arguments are checked");
    wend_store_free(s);
}

static void out_of_memory(void)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        wend_prune_options o = {.size = sizeof o, .ended_before_us = 500};
        wend_store *s = NULL;
        wend_status status;

        store_memory_open(&s, NULL);
        fill(s);
        s->mem = fault_mem(&f);
        status = wend_store_prune(s, &o, NULL, NULL);
        bad += status != WEND_OK && status != WEND_E_NOMEM;
        bad += f.hit == (status == WEND_OK);
        s->mem = (struct mem){0}; /* what it gave can be freed by any */
        bad += (status == WEND_OK) != !strcmp(left(s), "7651");
        wend_store_free(s);
    }
    tap_is_i64(bad, 0, "without memory nothing goes");
}

int main(void)
{
    static const char *const kinds[] = {"memory:", "sqlite:"};
    char *dir = dir_make(), url[128];

    snprintf(url, sizeof url, "sqlite:%s/wend.db", dir);
    for (size_t i = 0; i < tap_count(kinds); i++) {
        wend_store *s = NULL;

        wend_store_open(i ? url : kinds[i], &s, NULL);
        prune(s, kinds[i]);
        wend_store_free(s);
    }
    snprintf(url, sizeof url, "sqlite:%s/threads.db", dir);
    for (size_t i = 0; i < tap_count(kinds); i++) {
        wend_store *s = NULL;

        wend_store_open(i ? url : kinds[i], &s, NULL);
        prune_at_once(s, kinds[i]);
        wend_store_free(s);
    }
    prune_grows_nothing(dir);
    misuse();
    out_of_memory();
    dir_remove(dir);
    return tap_done();
}

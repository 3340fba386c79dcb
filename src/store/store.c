/*
 * store.c - opens a store by its url and lists what is in it.
 */
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/utf8.h"

struct wend_runs {
    unsigned process; /* that made it */
    struct mem mem;
    struct arena arena;
    wend_run_info *rows;
    size_t count, at;
};

/* ---- The hash chain over a run's log --------------------------------------
 */

/* Bodies and packs are JSON objects and arrays, which end where they end: no
 * length goes between them. */
static struct sha256 *open_link(struct chain *c)
{
    if (!c->packs_any) {
        sha256_init(&c->packs);
        sha256_add(&c->packs, c->head, sizeof c->head);
        c->packs_any = true;
    }
    return &c->packs;
}

void chain_pack(struct chain *c, wend_str body)
{
    sha256_add(open_link(c), body.ptr, body.len);
}

void chain_event(struct chain *c, wend_str body)
{
    struct sha256 *link = open_link(c);

    sha256_add(link, body.ptr, body.len);
    sha256_end(link, c->head);
    c->packs_any = false;
}

/* ---- What engines share -------------------------------------------------- */

wend_str store_prompt(wend_str prompt)
{
    if (prompt.ptr)
        prompt.len = utf8_cut(prompt, PROMPT_LISTED_MAX);
    return prompt;
}

bool store_blob_next(wend_str *rest, wend_str *hash)
{
    static const char *const marks[] = {"{\"blob\":\"", CUT_MARK, PART_MARK};
    const char *first = NULL;
    size_t left;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t len = strlen(marks[i]);
        const char *at = memmem(rest->ptr, rest->len, marks[i], len);

        if (at && (!first || at + len < first))
            first = at + len;
    }
    if (!first)
        return false;
    left = (size_t)(rest->ptr + rest->len - first);
    *hash = (wend_str){first, left < SHA256_HEX ? left : SHA256_HEX};
    *rest = (wend_str){first, left};
    return true;
}

bool store_batch_fits(const struct store_batch *b, int64_t epoch, int64_t seq)
{
    size_t p = 0;

    if (b->epoch != epoch)
        return false;
    for (size_t e = 0; e <= b->events_count; e++) {
        for (; p < b->packs_count && b->packs[p].seq == seq; p++)
            if (p && b->packs[p - 1].seq == seq &&
                b->packs[p].n != b->packs[p - 1].n + b->packs[p - 1].count)
                return false;
        if (e < b->events_count && b->events[e].seq != ++seq)
            return false;
    }
    return p == b->packs_count;
}

wend_status store_missing(const char *what, wend_str name, wend_error *err)
{
    return fail(err, WEND_E_NOTFOUND, "no %s '%.*s'", what, (int)name.len,
                name.ptr);
}

static wend_status not_over(wend_str run, int64_t ended_us, wend_error *err)
{
    return ended_us ? fail(err, WEND_E_INVAL, "run %.*s is over", (int)run.len,
                           run.ptr)
                    : WEND_OK;
}

wend_status store_claimable(wend_str run, int64_t known, int64_t seq,
                            int64_t ended_us, wend_error *err)
{
    return known != STORE_SEQ_ANY && known != seq
               ? WEND_AGAIN
               : not_over(run, ended_us, err);
}

wend_status store_postable(wend_str run, int64_t ended_us, int64_t requests,
                           wend_error *err)
{
    wend_status s = not_over(run, ended_us, err);

    return s == WEND_OK && requests >= REQUESTS_MAX
               ? fail(err, WEND_E_LIMIT, "%d requests to run %.*s wait already",
                      REQUESTS_MAX, (int)run.len, run.ptr)
               : s;
}

bool store_give(struct store_reader *r, const struct store_item *item)
{
    assert(!r->stopped);
    r->stopped = !r->fn(r->ctx, item) || (r->left && !--r->left);
    return !r->stopped;
}

void *store_block(const struct mem *m, size_t size, wend_str *const *texts)
{
    size_t total = size;
    char *block, *at;

    for (size_t i = 0; texts[i]; i++)
        total += texts[i]->len;
    block = mem_zalloc(m, total);
    at = block ? block + size : NULL;
    for (size_t i = 0; at && texts[i]; i++) {
        if (texts[i]->len)
            memcpy(at, texts[i]->ptr, texts[i]->len);
        if (texts[i]->ptr) /* what is absent stays so */
            texts[i]->ptr = at;
        at += texts[i]->len;
    }
    return block;
}

bool store_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    bool ok = !pthread_mutexattr_init(&attr);

    if (!ok)
        return false;
    ok = !pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE) &&
         !pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
    return ok;
}

void store_init(wend_store *s, const struct store_ops *ops)
{
    s->ops = ops;
    s->process = forked_mark();
    pthread_mutex_init(&s->leases_lock, NULL);
}

wend_status store_enter(const wend_store *s, wend_error *err)
{
    return s ? forked_check(s->process, err)
             : fail(err, WEND_E_INVAL, "store is NULL");
}

wend_status store_enter_run(const wend_store *s, const char *id,
                            wend_error *err)
{
    return s && id && run_id_valid(str_of(id))
               ? store_enter(s, err)
               : fail(err, WEND_E_INVAL,
                      "store is NULL, or id is not the id of a run");
}

struct store_summary store_left(const wend_run_info *info)
{
    return (struct store_summary){.status = "interrupted",
                                  .turns = info->turns,
                                  .tokens_in = info->tokens_in,
                                  .tokens_out = info->tokens_out,
                                  .cost_nano = info->cost_nano};
}

struct appended {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
    wend_status status;
};

static void on_appended(struct store_batch *b, wend_status s)
{
    struct appended *a = b->ctx;

    pthread_mutex_lock(&a->lock);
    a->status = s;
    a->is_done = true;
    pthread_cond_signal(&a->done);
    pthread_mutex_unlock(&a->lock);
}

wend_status store_append_wait(wend_store *s, struct store_batch *b)
{
    struct appended a = {.lock = PTHREAD_MUTEX_INITIALIZER,
                         .done = PTHREAD_COND_INITIALIZER};

    assert(b->run.ptr);
    assert(b->summary.status);
    b->done = on_appended;
    b->ctx = &a;
    s->ops->append(s, b);
    pthread_mutex_lock(&a.lock);
    while (!a.is_done)
        pthread_cond_wait(&a.done, &a.lock);
    pthread_mutex_unlock(&a.lock);
    pthread_cond_destroy(&a.done);
    pthread_mutex_destroy(&a.lock);
    return a.status;
}

wend_status store_forget_run(wend_store *s, const char *id, wend_error *err)
{
    struct store_state state;
    int64_t gone = 0;
    wend_status status = s->ops->state(s, str_of(id), &state, err);

    if (status == WEND_OK)
        status = s->ops->forget(s, id, 1, &gone, err);
    return status == WEND_OK && !gone
               ? fail(err, WEND_E_BUSY,
                      "run %s is not over, or another run shares its past", id)
               : status;
}

wend_status store_info(wend_store *s, const char *id, struct arena *a,
                       wend_run_info **out, wend_error *err)
{
    wend_list_options o = {.size = sizeof o, .run = id, .limit = 1};
    size_t count = 0;
    wend_status status = s->ops->list(s, &o, a, out, &count, err);

    if (status == WEND_OK && count)
        (*out)->imported |= s->foreign;
    return status == WEND_OK && !count
               ? fail(err, WEND_E_NOTFOUND, "there is no run %s", id)
               : status;
}

bool store_beside(char name[STORE_PATH_MAX], const char *path,
                  const char *ending)
{
    return snprintf(name, STORE_PATH_MAX, "%s%s", path, ending) <
           STORE_PATH_MAX;
}

bool store_dir(char dir[STORE_PATH_MAX], const char *path)
{
    const char *end = strrchr(path, '/');
    int len = end && end > path ? (int)(end - path) : 1;

    return snprintf(dir, STORE_PATH_MAX, "%.*s", len, path) < STORE_PATH_MAX;
}

wend_status store_sync_name(const char *path, wend_error *err)
{
    char dir[STORE_PATH_MAX];
    wend_status s = WEND_OK;
    int fd = store_dir(dir, path)
                 ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;

    /* Some file systems have no such thing, and need none. */
    if (fd < 0 || (fsync(fd) && errno != EINVAL))
        s = fail(err, WEND_E_STORE, "cannot make %s safe: %s", path,
                 strerror(errno));
    if (fd >= 0)
        close(fd);
    return s;
}

/* Makes every directory of `path` that is missing, for us alone. */
static wend_status make_dirs(char *path, wend_error *err)
{
    wend_status s = WEND_OK;

    for (char *p = strchr(path + 1, '/'); p && s == WEND_OK;
         p = strchr(p + 1, '/')) {
        *p = 0;
        if (!mkdir(path, 0700))
            s = store_sync_name(path, err);
        else if (errno != EEXIST)
            s = fail(err, WEND_E_STORE,
                     "cannot make directory %s: %s; set WEND_STORE to another "
                     "place",
                     path, strerror(errno));
        *p = '/';
    }
    return s;
}

static wend_status open_default(enum store_use use, wend_store **out,
                                wend_error *err)
{
    static const char name[] = "/wend/wend.db";
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    char path[STORE_PATH_MAX];
    int len;
    wend_status s;

    if (data && data[0] == '/') /* a relative one is to be ignored */
        len = snprintf(path, sizeof path, "%s%s", data, name);
    else if (home && home[0] == '/')
        len = snprintf(path, sizeof path, "%s/.local/share%s", home, name);
    else
        return fail(err, WEND_E_INVAL,
                    "no place for the store: HOME is not set; set WEND_STORE "
                    "to a path");
    if (len >= STORE_PATH_MAX)
        return fail(err, WEND_E_INVAL,
                    "the path of the store is too long; set WEND_STORE");
    s = make_dirs(path, err);
    return s == WEND_OK ? store_sqlite_open(path, use, out, err) : s;
}

/* SQLite's own word means the same: no file of that name is made. */
static bool is_memory(wend_str url)
{
    static const char *const words[] = {
        "memory:", ":memory:", "sqlite::memory:"};

    return str_index(url, words, 3) >= 0;
}

static wend_status open_url(const char *url, enum store_use use,
                            wend_store **out, wend_error *err)
{
    wend_str u;

    if (!out)
        return fail(err, WEND_E_INVAL, "out is NULL");
    fail_clear(err);
    *out = NULL;
    if (!url) {
        url = getenv("WEND_STORE");
        if (!url || !*url)
            return open_default(use, out, err);
    }
    u = str_of(url);
    if (is_memory(u))
        return store_memory_open(out, err);
    if (str_starts(u, "sqlite:"))
        url += strlen("sqlite:");
    /* The url is not shown: it may hold a password. */
    else if (str_starts(u, "postgres://") || str_starts(u, "postgresql://"))
        return fail(err, WEND_E_INVAL,
                    "PostgreSQL is not built in; give a path to an SQLite "
                    "file, or memory:");
    else if (strstr(url, "://"))
        return fail(err, WEND_E_INVAL,
                    "no such kind of store; give a path to an SQLite file, "
                    "or memory:");
    if (!*url)
        return fail(err, WEND_E_INVAL,
                    "the path of the store is empty; give a path to an SQLite "
                    "file, or memory:");
    return store_sqlite_open(url, use, out, err);
}

wend_status wend_store_open(const char *url, wend_store **out, wend_error *err)
{
    return open_url(url, STORE_WRITE, out, err);
}

wend_status wend_store_open_read(const char *url, wend_store **out,
                                 wend_error *err)
{
    return open_url(url, STORE_READ, out, err);
}

wend_status wend_store_origin_of(wend_store *store, wend_store_origin *out,
                                 wend_error *err)
{
    wend_store_origin o = {.size = sizeof o};
    wend_status s;

    if (!store || !out ||
        !options_size(out->size, OPTIONS_FIRST(wend_store_origin, adopted)))
        return fail(err, WEND_E_INVAL,
                    "origin: store or out is NULL, or out->size is not set");
    s = store_enter(store, err);
    if (s != WEND_OK)
        return s;
    memcpy(o.id, store->id, sizeof o.id);
    o.made = store->made;
    o.adopted = store->adopted;
    o.size = out->size < sizeof o ? out->size : sizeof o;
    memcpy(out, &o, o.size);
    return WEND_OK;
}

wend_status wend_store_distrust(wend_store *store, wend_error *err)
{
    wend_status s = store_enter(store, err);

    if (s == WEND_OK)
        store->foreign = true;
    return s;
}

wend_store *store_hold(wend_store *s)
{
    atomic_fetch_add(&s->holders, 1);
    return s;
}

void wend_store_free(wend_store *store)
{
    if (store_enter(store, NULL) != WEND_OK ||
        atomic_fetch_sub(&store->holders, 1))
        return;
    pthread_mutex_destroy(&store->leases_lock);
    store->ops->free(store);
}

wend_status wend_store_list(wend_store *store, const wend_list_options *options,
                            wend_runs **out, wend_error *err)
{
    wend_list_options o = {.size = sizeof o};
    wend_runs *list;
    wend_status s;

    if (!store || !out)
        return fail(err, WEND_E_INVAL, "store or out is NULL");
    *out = NULL;
    s = store_enter(store, err);
    if (s == WEND_OK)
        s = store->ops->failure(store, err);
    if (s != WEND_OK)
        return s;
    if (!OPTIONS_TAKE(&o, wend_list_options, until_us, options))
        return fail(err, WEND_E_INVAL, "list options: size is wrong");
    if (!o.limit)
        o.limit = LIST_LIMIT_DEFAULT;
    list = mem_zalloc(&store->mem, sizeof *list);
    if (!list)
        return fail_nomem(err);
    list->process = store->process;
    list->mem = store->mem;
    list->arena.mem = &list->mem;
    s = store->ops->list(store, &o, &list->arena, &list->rows, &list->count,
                         err);
    for (size_t i = 0; s == WEND_OK && i < list->count; i++)
        list->rows[i].imported |= store->foreign;
    if (s == WEND_OK) {
        *out = list;
        list = NULL; /* now the caller's */
    }
    wend_runs_free(list);
    return s;
}

wend_status wend_runs_next(wend_runs *list, const wend_run_info **info)
{
    if (!list || !info)
        return WEND_E_INVAL;
    *info = NULL;
    if (forked_check(list->process, NULL) != WEND_OK)
        return WEND_E_MISUSE;
    if (list->at == list->count)
        return WEND_END;
    *info = &list->rows[list->at++];
    return WEND_OK;
}

void wend_runs_free(wend_runs *list)
{
    struct mem mem;

    if (!list || forked_check(list->process, NULL) != WEND_OK)
        return;
    mem = list->mem;
    arena_free(&list->arena);
    mem_free(&mem, list);
}

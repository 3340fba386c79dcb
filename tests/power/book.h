/*
 * book.h - what a store was given, what it said was safe, and when.
 *
 * The book stands between the library and the store: every batch is noted
 * with its bytes when it is handed over, and with the place of the tape when
 * the store says that it is safe. From that place on each image of the disk
 * must have it.
 */
#ifndef POWER_BOOK_H
#define POWER_BOOK_H

#include <semaphore.h>

#include "base/str.h"
#include "store/store.h"
#include "tape.h"

static const size_t never = SIZE_MAX;

struct kept {
    char *body;
    size_t len;
    size_t safe_at; /* the place of the tape, or never */
    bool ends;      /* a batch ends with it */
};

struct book_run {
    char id[40];
    int64_t before; /* events that are the parent's */
    struct kept *events;
    size_t count, room;
    size_t going_at, gone_at; /* it is to be forgotten; it is */
};

enum { FACTS_MAX = 64 };

static struct book {
    struct book_run *runs;
    size_t count, room;
    size_t facts[FACTS_MAX]; /* when each was safe; fact i has the key i */
    size_t facts_count;
    long early; /* shown or done before it was safe */
    long shown, effects;
    bool hasty; /* a control: safe as soon as it is given */
} book;

static struct store_ops book_ops;
static void (*real_append)(wend_store *s, struct store_batch *b);
static wend_status (*real_forget)(wend_store *s, const char *ids, size_t count,
                                  int64_t *gone, wend_error *err);

struct told { /* in the place of the caller's `done` */
    store_done_fn done;
    void *ctx;
    size_t run, events; /* safe, if this is */
};

static void book_clear(void)
{
    for (size_t i = 0; i < book.count; i++) {
        for (size_t k = 0; k < book.runs[i].count; k++)
            free(book.runs[i].events[k].body);
        free(book.runs[i].events);
    }
    free(book.runs);
    memset(&book, 0, sizeof book);
}

/* ---- Notes; the tape's lock is held -------------------------------------- */

static struct book_run *run_of(wend_str id)
{
    for (size_t i = 0; i < book.count; i++)
        if (str_is(id, book.runs[i].id))
            return &book.runs[i];
    return NULL;
}

static struct book_run *run_add(wend_str id, int64_t before)
{
    struct book_run *r = run_of(id);

    if (r)
        return r;
    if (book.count == book.room) {
        book.room = book.room ? book.room * 2 : 16;
        book.runs = must(realloc(book.runs, book.room * sizeof *book.runs));
    }
    r = &book.runs[book.count++];
    *r = (struct book_run){
        .before = before, .going_at = never, .gone_at = never};
    snprintf(r->id, sizeof r->id, "%.*s", (int)id.len, id.ptr);
    return r;
}

static void kept_add(struct book_run *r, wend_str body, size_t safe_at,
                     bool ends)
{
    struct kept *k;

    if (r->count == r->room) {
        r->room = r->room ? r->room * 2 : 64;
        r->events = must(realloc(r->events, r->room * sizeof *r->events));
    }
    k = &r->events[r->count++];
    *k = (struct kept){must(malloc(body.len + 1)), body.len, safe_at, ends};
    memcpy(k->body, body.ptr, body.len);
}

static void on_book_done(struct store_batch *b, wend_status s)
{
    struct told t = *(struct told *)b->ctx;

    free(b->ctx);
    b->done = t.done;
    b->ctx = t.ctx;
    pthread_mutex_lock(&tape.lock);
    for (size_t i = t.events; s == WEND_OK && i; i--) {
        struct kept *k = &book.runs[t.run].events[i - 1];

        if (k->safe_at != never)
            break;
        k->safe_at = tape.count;
    }
    pthread_mutex_unlock(&tape.lock);
    t.done(b, s);
}

static void book_append(wend_store *s, struct store_batch *b)
{
    struct told *t = must(malloc(sizeof *t));
    int64_t first = b->events_count ? b->events[0].seq : 1;
    struct book_run *r;

    pthread_mutex_lock(&tape.lock);
    r = run_add(b->run, b->birth ? first - 1 : 0);
    for (size_t i = 0; i < b->events_count; i++)
        kept_add(r, b->events[i].body, book.hasty ? tape.count : never,
                 i + 1 == b->events_count);
    *t = (struct told){b->done, b->ctx, (size_t)(r - book.runs), r->count};
    pthread_mutex_unlock(&tape.lock);
    b->done = on_book_done;
    b->ctx = t;
    real_append(s, b);
}

static void forget_at(wend_str id, bool gone)
{
    struct book_run *r;

    pthread_mutex_lock(&tape.lock);
    r = run_add(id, 0);
    *(gone ? &r->gone_at : &r->going_at) = tape.count;
    pthread_mutex_unlock(&tape.lock);
}

/* `ids` one after the other, each with its zero. */
static void forget_all_at(const char *ids, size_t count, bool gone)
{
    for (; count; count--, ids += strlen(ids) + 1)
        forget_at(str_of(ids), gone);
}

/* Some stay if another run shares their past: then none counts as gone. */
static wend_status book_forget(wend_store *s, const char *ids, size_t count,
                               int64_t *gone, wend_error *err)
{
    wend_status status;

    forget_all_at(ids, count, false);
    status = real_forget(s, ids, count, gone, err);
    if (status == WEND_OK && *gone == (int64_t)count)
        forget_all_at(ids, count, true);
    return status;
}

struct book_keep {
    sem_t done;
    wend_status status;
};

static inline void on_kept(void *ctx, wend_status s)
{
    struct book_keep *b = ctx;

    pthread_mutex_lock(&tape.lock);
    if (s == WEND_OK)
        book.facts[book.facts_count++] = tape.count;
    pthread_mutex_unlock(&tape.lock);
    b->status = s;
    sem_post(&b->done);
}

/* Keeps one more fact by name; whether the store says that it is safe. */
static inline bool book_fact(wend_store *s)
{
    struct book_keep b = {.status = WEND_OK};
    char key[24];

    if (book.facts_count == FACTS_MAX)
        return true;
    snprintf(key, sizeof key, "%zu", book.facts_count);
    sem_init(&b.done, 0, 0);
    s->ops->keep(s,
                 &(struct store_fact){.space = STR("power"),
                                      .key = str_of(key),
                                      .text = str_of(key)},
                 on_kept, &b);
    while (sem_wait(&b.done))
        ;
    sem_destroy(&b.done);
    return b.status == WEND_OK;
}

/* From now on what the store is given is noted. */
static void book_watch(wend_store *s)
{
    real_append = s->ops->append;
    real_forget = s->ops->forget;
    book_ops = *s->ops;
    book_ops.append = book_append;
    book_ops.forget = book_forget;
    s->ops = &book_ops;
}

/* ---- Shown and done ------------------------------------------------------ */

static void book_shown(const wend_event *ev)
{
    const struct book_run *r;
    int64_t at;

    if (ev->n)
        return; /* pieces may come first */
    pthread_mutex_lock(&tape.lock);
    r = run_of(ev->run);
    at = r ? ev->seq - r->before : 0;
    book.early +=
        at < 1 || (size_t)at > r->count || r->events[at - 1].safe_at == never;
    book.shown++;
    pthread_mutex_unlock(&tape.lock);
}

/* The effect of a call: its call_start must be safe. */
static void book_effect(wend_str key)
{
    bool safe = false;

    pthread_mutex_lock(&tape.lock);
    for (size_t i = 0; i < book.count && !safe; i++)
        for (size_t k = book.runs[i].count; k && !safe; k--) {
            const struct kept *e = &book.runs[i].events[k - 1];

            safe = e->safe_at != never &&
                   memmem(e->body, e->len, key.ptr, key.len) &&
                   memmem(e->body, e->len, "\"call_start\"", 12);
        }
    book.early += !safe;
    book.effects++;
    pthread_mutex_unlock(&tape.lock);
}

/* ---- What is there before ------------------------------------------------ */

static bool load_item(void *ctx, const struct store_item *item)
{
    if (!item->is_pack)
        kept_add(ctx, item->body, 0, true);
    return true;
}

/* All that is in a store is safe: it has survived. */
static void book_load(const char *path)
{
    wend_list_options all = {.size = sizeof all, .limit = 10000};
    const wend_run_info *info;
    wend_runs *list = NULL;
    wend_store *s = NULL;

    memset(&book, 0, sizeof book);
    if (wend_store_open(path, &s, NULL) != WEND_OK)
        return;
    if (wend_store_list(s, &all, &list, NULL) == WEND_OK)
        while (wend_runs_next(list, &info) == WEND_OK)
            s->ops->read(s, info->run, (struct store_place){1, 0}, 0, load_item,
                         run_add(info->run, 0), NULL);
    wend_runs_free(list);
    wend_store_free(s);
}

/* ---- What is there after a cut ------------------------------------------- */

/* What all images came to. */
struct finding {
    long unopened, damaged, lost, wrong, partial, unsound, undead, unfinished;
    long early, images, events, facts, newer, resumed, twice, dropped, torn;
};

static bool is_good(const struct finding *f)
{
    return !f->unopened && !f->damaged && !f->lost && !f->wrong &&
           !f->partial && !f->unsound && !f->undead && !f->unfinished &&
           !f->early;
}

struct reading {
    const struct book_run *run;
    int64_t seq;
    bool wrong, ends;
};

static bool read_item(void *ctx, const struct store_item *item)
{
    struct reading *r = ctx;
    int64_t at = item->seq - r->run->before;

    if (item->is_pack)
        return true; /* part of the chain, which is verified */
    r->wrong |= item->seq != ++r->seq;
    if (at < 1)
        return true; /* the parent's */
    if ((size_t)at > r->run->count) {
        r->wrong = true;
        return false;
    }
    r->wrong |=
        item->body.len != r->run->events[at - 1].len ||
        memcmp(item->body.ptr, r->run->events[at - 1].body, item->body.len);
    r->ends = r->run->events[at - 1].ends;
    return true;
}

static void check_run(wend_store *s, const struct book_run *r, size_t at,
                      struct finding *f)
{
    struct reading read = {.run = r, .ends = true};
    wend_verdict v = {.size = sizeof v};
    struct store_state state;
    int64_t safe = r->before;
    wend_status there = s->ops->state(s, str_of(r->id), &state, NULL);

    for (size_t i = 0; i < r->count; i++)
        if (r->events[i].safe_at <= at)
            safe = r->before + (int64_t)i + 1;
    if (there == WEND_E_NOTFOUND) {
        f->lost += safe > r->before && at < r->going_at;
        return;
    }
    f->undead += at >= r->gone_at;
    if (s->ops->read(s, str_of(r->id), (struct store_place){1, 0}, 0, read_item,
                     &read, NULL) != WEND_OK)
        read.wrong = true;
    f->lost += read.seq < safe;
    f->wrong += read.wrong;
    f->partial += !read.ends;
    f->events += read.seq;
    f->newer += read.seq > safe;
    f->unsound +=
        wend_store_verify(s, r->id, NULL, &v, NULL) != WEND_OK || v.bad_seq;
}

static bool count_fact(void *ctx, const struct store_fact *fact)
{
    *(long *)ctx += str_eq(fact->key, fact->text);
    return true;
}

static void check_facts(wend_store *s, size_t at, struct finding *f)
{
    for (size_t i = 0; i < book.facts_count; i++) {
        char key[24];
        long found = 0;

        if (book.facts[i] > at)
            continue;
        snprintf(key, sizeof key, "%zu", i);
        s->ops->facts(s, STR("power"), str_of(key), 0, count_fact, &found,
                      NULL);
        f->lost += !found;
        f->facts++;
    }
}

/* The store at `path` against what was safe at that place of the tape. */
static void check_store(const char *path, size_t at, struct finding *f)
{
    wend_store *s = NULL;
    wend_error err = {0};

    f->images++;
    if (wend_store_open(path, &s, &err) != WEND_OK) {
        f->unopened++;
        return;
    }
    f->damaged += s->ops->check(s, &err) != WEND_OK;
    for (size_t i = 0; i < book.count; i++)
        check_run(s, &book.runs[i], at, f);
    check_facts(s, at, f);
    wend_store_free(s);
}

#endif

/*
 * memory.c - the store that forgets: runs kept in memory.
 *
 * append calls done before it returns. One lock guards everything.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "store/memory_facts.h"
#include "store/memory_run.h"

struct blob {
    struct node node; /* key: the hash */
    size_t len;
    bool used;    /* while the store is tidied */
    char bytes[]; /* the hash, then the text */
};

struct request {
    struct request *next;
    struct store_request view;
    char bytes[];
};

struct memory {
    wend_store base;
    pthread_mutex_t lock;
    struct table runs, blobs;
    struct request *inbox, **inbox_last;
    int64_t request_id;
    struct memory_fact *facts;
};

static struct memory_run *run_get(const struct memory *m, wend_str id)
{
    return table_get(&m->runs, id, offsetof(struct memory_run, text));
}

static struct blob *blob_get(const struct memory *m, wend_str hash)
{
    return table_get(&m->blobs, hash, offsetof(struct blob, bytes));
}

static struct memory_run *run_find(const struct memory *m, wend_str id,
                                   wend_error *err)
{
    struct memory_run *r = run_get(m, id);

    if (!r)
        fail(err, WEND_E_NOTFOUND, "no run '%.*s'", (int)id.len, id.ptr);
    return r;
}

/* ---- Appending ----------------------------------------------------------- */

/* A blob that stays behind when its batch fails harms nobody. */
static bool blobs_add(struct memory *m, const struct store_batch *b)
{
    for (size_t i = 0; i < b->blobs_count; i++) {
        wend_str hash = str_of(b->blobs[i].hash);
        wend_str body = b->blobs[i].body;
        struct blob *blob;

        if (blob_get(m, hash))
            continue;
        if (!table_room(&m->blobs, &m->base.mem))
            return false;
        blob = mem_alloc(&m->base.mem, sizeof *blob + hash.len + body.len);
        if (!blob)
            return false;
        blob->len = body.len;
        blob->used = false;
        memcpy(blob->bytes, hash.ptr, hash.len);
        if (body.len)
            memcpy(blob->bytes + hash.len, body.ptr, body.len);
        table_add(&m->blobs, &blob->node, hash);
    }
    return true;
}

static wend_status add(struct memory *m, const struct store_batch *b)
{
    const struct mem *mem = &m->base.mem;
    struct memory_run *r = run_get(m, b->run), *fresh = NULL;

    if (r ? b->birth || !store_batch_fits(b, r->epoch, r->seq) : !b->birth)
        return WEND_E_STALE;
    if (!r) {
        fresh = r = memory_run_new(mem, b);
        if (!r || !table_room(&m->runs, mem))
            goto nomem;
        if (!store_batch_fits(b, r->epoch, r->seq)) {
            memory_run_free(mem, fresh);
            return WEND_E_STALE;
        }
    }
    if (!blobs_add(m, b) || !memory_run_add(r, mem, b))
        goto nomem;
    r->summary = b->summary;
    if (fresh)
        table_add(&m->runs, &fresh->node, b->run);
    return WEND_OK;
nomem:
    memory_run_free(mem, fresh);
    return WEND_E_NOMEM;
}

static void memory_append(wend_store *s, struct store_batch *b)
{
    struct memory *m = (struct memory *)s;
    wend_status status;

    pthread_mutex_lock(&m->lock);
    status = add(m, b);
    pthread_mutex_unlock(&m->lock);
    b->done(b, status);
}

static wend_status memory_claim(wend_store *s, wend_str run, int64_t *epoch,
                                int64_t *seq, wend_error *err)
{
    struct memory *m = (struct memory *)s;
    struct memory_run *r;

    pthread_mutex_lock(&m->lock);
    r = run_find(m, run, err);
    if (r) {
        if (!r->summary.ended_us)
            r->summary.status = "running";
        *epoch = ++r->epoch;
        *seq = r->seq;
    }
    pthread_mutex_unlock(&m->lock);
    return r ? WEND_OK : WEND_E_NOTFOUND;
}

/* ---- Reading ------------------------------------------------------------- */

static wend_status memory_read(wend_store *s, wend_str run,
                               struct store_place from, uint32_t max,
                               store_item_fn fn, void *ctx, wend_error *err)
{
    struct memory *m = (struct memory *)s;
    wend_status status = WEND_OK;
    struct store_item item;
    struct memory_run *r;
    uint32_t given = 0;

    pthread_mutex_lock(&m->lock);
    r = run_find(m, run, err);
    if (!r)
        status = WEND_E_NOTFOUND;
    for (size_t i = r ? memory_run_find(r, from.seq) : 0;
         r && i < r->rows_count && (!max || given < max); i++) {
        if (!memory_run_item(r, &s->mem, r->rows[i], &item)) {
            status = fail_nomem(err);
            break;
        }
        if (item.is_pack && item.seq == from.seq &&
            item.n + item.count - 1 <= from.n)
            continue;
        given++;
        if (!fn(ctx, &item))
            break;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

static wend_status memory_blob(wend_store *s, wend_str hash, struct buf *out,
                               wend_error *err)
{
    struct memory *m = (struct memory *)s;
    wend_status status = WEND_OK;
    struct blob *b;

    pthread_mutex_lock(&m->lock);
    b = blob_get(m, hash);
    if (b)
        buf_add(out, b->bytes + b->node.key_len, b->len);
    else
        status = fail(err, WEND_E_NOTFOUND, "no blob '%.*s'", (int)hash.len,
                      hash.ptr);
    pthread_mutex_unlock(&m->lock);
    return out->failed ? fail_nomem(err) : status;
}

static wend_status memory_state(wend_store *s, wend_str run,
                                struct store_state *out, wend_error *err)
{
    struct memory *m = (struct memory *)s;
    wend_status status = WEND_OK;
    struct memory_run *r;

    pthread_mutex_lock(&m->lock);
    r = run_find(m, run, err);
    if (!r)
        status = WEND_E_NOTFOUND;
    else if (!memory_run_head(r, &s->mem, out->head))
        status = fail_nomem(err);
    if (r) {
        out->epoch = r->epoch;
        out->seq = r->seq;
        out->ended_us = r->summary.ended_us;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* Nobody but us writes here. */
static wend_status memory_check(wend_store *s, wend_error *err)
{
    (void)s;
    (void)err;
    return WEND_OK;
}

/* ---- Forgetting ---------------------------------------------------------- */

static bool has_child(const struct memory *m, wend_str run)
{
    for (size_t i = 0; i < m->runs.slots_count; i++)
        for (const struct node *n = m->runs.slots[i]; n; n = n->next)
            if (str_eq(memory_run_text((const struct memory_run *)n, T_PARENT),
                       run))
                return true;
    return false;
}

static wend_status memory_forget(wend_store *s, wend_str run, wend_error *err)
{
    struct memory *m = (struct memory *)s;
    wend_status status = WEND_OK;
    struct memory_run *r;

    pthread_mutex_lock(&m->lock);
    r = run_find(m, run, err);
    if (!r)
        status = WEND_E_NOTFOUND;
    else if (!r->summary.ended_us || has_child(m, run))
        status = fail(err, WEND_E_BUSY,
                      "run %.*s is not over, or another run shares its past",
                      (int)run.len, run.ptr);
    if (status == WEND_OK) {
        table_remove(&m->runs, &r->node);
        memory_run_free(&s->mem, r);
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

static void mark_used(struct memory *m, const struct memory_run *r)
{
    for (size_t i = 0; i < r->rows_count; i++) {
        wend_str rest = {r->rows[i]->body, r->rows[i]->len}, hash;

        while (store_blob_next(&rest, &hash)) {
            struct blob *b = blob_get(m, hash);

            if (b)
                b->used = true;
        }
    }
}

static wend_status memory_tidy(wend_store *s, int64_t *bytes, wend_error *err)
{
    struct memory *m = (struct memory *)s;
    struct node *n, *next;

    (void)err;
    *bytes = 0;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->runs.slots_count; i++)
        for (n = m->runs.slots[i]; n; n = n->next)
            mark_used(m, (struct memory_run *)n);
    for (size_t i = 0; i < m->blobs.slots_count; i++)
        for (n = m->blobs.slots[i]; n; n = next) {
            struct blob *b = (struct blob *)n;

            next = n->next;
            if (!b->used) {
                *bytes += (int64_t)b->len;
                table_remove(&m->blobs, n);
                mem_free(&s->mem, b);
                continue;
            }
            b->used = false;
        }
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

/* ---- Listing ------------------------------------------------------------- */

static bool text_is(const struct memory_run *r, enum text which,
                    const char *wanted)
{
    return !wanted || str_is(memory_run_text(r, which), wanted);
}

/* Newest first; ids settle what started in the same microsecond. */
static int newer(const void *a, const void *b)
{
    const struct memory_run *x = *(struct memory_run *const *)a,
                            *y = *(struct memory_run *const *)b;

    if (x->started_us != y->started_us)
        return x->started_us > y->started_us ? -1 : 1;
    return -memcmp(x->text, y->text,
                   x->node.key_len < y->node.key_len ? x->node.key_len
                                                     : y->node.key_len);
}

static bool listed(const struct memory_run *r, const wend_list_options *o,
                   struct memory_run *after)
{
    return text_is(r, T_USER, o->user) && text_is(r, T_SESSION, o->session) &&
           text_is(r, T_AGENT, o->agent) &&
           (!o->status || !strcmp(r->summary.status, o->status)) &&
           (!o->run || str_starts(memory_run_text(r, T_RUN), o->run)) &&
           r->started_us >= o->since_us &&
           (!o->until_us || r->started_us < o->until_us) &&
           (!after || newer(&after, &r) < 0);
}

static void info_of(const struct memory_run *r, struct arena *a,
                    wend_run_info *info)
{
    *info = (wend_run_info){
        .run = arena_str(a, memory_run_text(r, T_RUN)),
        .status = str_of(r->summary.status),
        .agent = arena_str(a, memory_run_text(r, T_AGENT)),
        .model = arena_str(a, memory_run_text(r, T_MODEL)),
        .prompt = arena_str(a, memory_run_text(r, T_PROMPT)),
        .user = arena_str(a, memory_run_text(r, T_USER)),
        .session = arena_str(a, memory_run_text(r, T_SESSION)),
        .parent = arena_str(a, memory_run_text(r, T_PARENT)),
        .started_us = r->started_us,
        .ended_us = r->summary.ended_us,
        .turns = r->summary.turns,
        .tokens_in = r->summary.tokens_in,
        .tokens_out = r->summary.tokens_out,
        .cost_nano = r->summary.cost_nano,
        .seq = r->seq,
        .imported = r->epoch <= 0,
    };
}

static wend_status list(const struct memory *m, const wend_list_options *o,
                        struct arena *a, wend_run_info **rows, size_t *count,
                        wend_error *err)
{
    struct memory_run **found, *after = NULL;
    size_t found_count = 0;

    if (o->after && !(after = run_find(m, str_of(o->after), err)))
        return WEND_E_NOTFOUND;
    found = arena_alloc(a, m->runs.count * sizeof *found);
    for (size_t i = 0; found && i < m->runs.slots_count; i++)
        for (struct node *n = m->runs.slots[i]; n; n = n->next)
            if (listed((struct memory_run *)n, o, after))
                found[found_count++] = (struct memory_run *)n;
    if (found_count)
        qsort(found, found_count, sizeof *found, newer);
    *count = found_count < o->limit ? found_count : o->limit;
    *rows = arena_alloc(a, *count * sizeof **rows);
    for (size_t i = 0; *rows && i < *count; i++)
        info_of(found[i], a, &(*rows)[i]);
    return a->failed ? fail_nomem(err) : WEND_OK;
}

static wend_status memory_list(wend_store *s, const wend_list_options *o,
                               struct arena *a, wend_run_info **rows,
                               size_t *count, wend_error *err)
{
    struct memory *m = (struct memory *)s;
    wend_status status;

    pthread_mutex_lock(&m->lock);
    status = list(m, o, a, rows, count, err);
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* ---- Requests ------------------------------------------------------------ */

static wend_str put(char **at, wend_str s)
{
    wend_str copy = {*at, s.len};

    if (s.len)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return copy;
}

static struct request *request_new(const struct mem *m, wend_str run,
                                   wend_str what, wend_str body)
{
    struct request *r =
        mem_zalloc(m, sizeof *r + run.len + what.len + body.len);
    char *p;

    if (!r)
        return NULL;
    p = r->bytes;
    r->view.run = put(&p, run);
    r->view.what = put(&p, what);
    r->view.body = put(&p, body);
    return r;
}

static wend_status memory_post(wend_store *s, wend_str run, const char *what,
                               wend_str body, wend_error *err)
{
    struct memory *m = (struct memory *)s;
    wend_status status = WEND_OK;
    struct request *q;
    struct memory_run *r;

    pthread_mutex_lock(&m->lock);
    r = run_find(m, run, err);
    if (!r)
        status = WEND_E_NOTFOUND;
    else if (r->summary.ended_us)
        status =
            fail(err, WEND_E_INVAL, "run %.*s is over", (int)run.len, run.ptr);
    else if (!(q = request_new(&s->mem, run, str_of(what), body)))
        status = fail_nomem(err);
    else {
        q->view.id = ++m->request_id;
        *m->inbox_last = q;
        m->inbox_last = &q->next;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* In front of those that came meanwhile, without those for runs that are
 * over: nobody will answer them. */
static void put_back(struct memory *m, struct request *left)
{
    struct request **link = &left, *q;

    pthread_mutex_lock(&m->lock);
    while ((q = *link)) {
        struct memory_run *r = run_get(m, q->view.run);

        if (r && !r->summary.ended_us) {
            link = &q->next;
            continue;
        }
        *link = q->next;
        mem_free(&m->base.mem, q);
    }
    *link = m->inbox;
    if (!m->inbox)
        m->inbox_last = left ? link : &m->inbox;
    m->inbox = left;
    pthread_mutex_unlock(&m->lock);
}

static wend_status memory_take(wend_store *s, store_request_fn fn, void *ctx,
                               wend_error *err)
{
    struct memory *m = (struct memory *)s;
    struct request *q, *next, *left = NULL, **left_last = &left;

    (void)err;
    pthread_mutex_lock(&m->lock);
    q = m->inbox;
    m->inbox = NULL;
    m->inbox_last = &m->inbox;
    pthread_mutex_unlock(&m->lock);
    for (; q; q = next) {
        next = q->next;
        if (fn(ctx, &q->view)) {
            mem_free(&s->mem, q);
            continue;
        }
        q->next = NULL;
        *left_last = q;
        left_last = &q->next;
    }
    put_back(m, left);
    return WEND_OK;
}

static wend_status memory_failure(wend_store *s, wend_error *err)
{
    (void)s;
    (void)err;
    return WEND_OK;
}

static void memory_free(wend_store *s)
{
    struct memory *m = (struct memory *)s;
    struct mem mem = s->mem;
    struct node *n, *next;

    for (struct request *q = m->inbox, *q_next; q; q = q_next) {
        q_next = q->next;
        mem_free(&mem, q);
    }
    for (size_t i = 0; i < m->runs.slots_count; i++)
        for (n = m->runs.slots[i]; n; n = next) {
            next = n->next;
            memory_run_free(&mem, (struct memory_run *)n);
        }
    for (size_t i = 0; i < m->blobs.slots_count; i++)
        for (n = m->blobs.slots[i]; n; n = next) {
            next = n->next;
            mem_free(&mem, n);
        }
    memory_facts_free(&m->facts, &mem);
    mem_free(&mem, m->runs.slots);
    mem_free(&mem, m->blobs.slots);
    pthread_mutex_destroy(&m->lock);
    mem_free(&mem, m);
}

static void memory_keep(wend_store *s, struct store_keep *k)
{
    struct memory *m = (struct memory *)s;
    wend_status status;

    pthread_mutex_lock(&m->lock);
    status = memory_facts_set(&m->facts, &s->mem, &k->fact);
    pthread_mutex_unlock(&m->lock);
    k->done(k, status);
}

static wend_status memory_facts(wend_store *s, wend_str space, wend_str key,
                                int64_t now_us, store_fact_fn fn, void *ctx,
                                wend_error *err)
{
    struct memory *m = (struct memory *)s;

    (void)err;
    pthread_mutex_lock(&m->lock);
    memory_facts_give(m->facts, space, key, now_us, fn, ctx);
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

wend_status store_memory_open(wend_store **out, wend_error *err)
{
    static const struct store_ops ops = {
        .free = memory_free,
        .append = memory_append,
        .claim = memory_claim,
        .read = memory_read,
        .list = memory_list,
        .blob = memory_blob,
        .state = memory_state,
        .check = memory_check,
        .forget = memory_forget,
        .tidy = memory_tidy,
        .post = memory_post,
        .take = memory_take,
        .keep = memory_keep,
        .facts = memory_facts,
        .failure = memory_failure,
    };
    const struct mem mem = {0};
    struct memory *m = mem_zalloc(&mem, sizeof *m);

    if (!m)
        return fail_nomem(err);
    if (!store_lock_init(&m->lock)) {
        mem_free(&mem, m);
        return fail_nomem(err);
    }
    m->base.ops = &ops;
    m->inbox_last = &m->inbox;
    *out = &m->base;
    return WEND_OK;
}

/*
 * memory.c - the store in memory, which is gone with its process.
 *
 * append calls done before it returns. One lock guards everything.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "store/memory/memory.h"

struct memory_run *memory_run_get(const struct memory_store *m, wend_str id)
{
    return table_get(&m->runs, id, offsetof(struct memory_run, text));
}

struct memory_blob *memory_blob_get(const struct memory_store *m, wend_str hash)
{
    return table_get(&m->blobs, hash, offsetof(struct memory_blob, bytes));
}

struct memory_run *memory_run_known(const struct memory_store *m, wend_str id,
                                    wend_error *err)
{
    struct memory_run *r = memory_run_get(m, id);

    if (!r)
        store_missing("run", id, err);
    return r;
}

/* ---- Appending ----------------------------------------------------------- */

/* A blob that stays behind when its batch fails does no harm. */
static bool blobs_add(struct memory_store *m, const struct store_batch *b)
{
    for (size_t i = 0; i < b->blobs_count; i++) {
        wend_str hash = str_of(b->blobs[i].hash);
        wend_str body = b->blobs[i].body;
        struct memory_blob *blob;

        if (memory_blob_get(m, hash))
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

/* As db_fork_head. A parent is there before its fork, so that no run can be
 * its own ancestor. */
static wend_status take_head(const struct memory_store *m,
                             struct memory_run *fork)
{
    struct memory_run *r = fork;
    int64_t seq = fork->seq_base;
    struct store_item item;

    do
        r = memory_run_get(m, r->birth.parent);
    while (r && seq <= r->seq_base);
    if (!r || seq > r->seq)
        return WEND_E_STALE;
    if (!memory_run_item(r, &m->base.mem, r->rows[memory_run_find(r, seq)],
                         &item))
        return WEND_E_NOMEM;
    assert(!item.is_pack);
    memcpy(fork->head_base, item.hash, sizeof item.hash);
    return WEND_OK;
}

static wend_status add(struct memory_store *m, const struct store_batch *b)
{
    const struct mem *mem = &m->base.mem;
    struct memory_run *r = memory_run_get(m, b->run), *fresh = NULL;
    const struct memory_run *parent;
    wend_status s = WEND_OK;

    if (r ? b->birth || !store_batch_fits(b, r->epoch, r->seq) : !b->birth)
        return WEND_E_STALE;
    if (!memory_inbox_lets(m, b))
        return WEND_E_BUSY;
    if (!r) {
        fresh = r = memory_run_new(mem, b);
        if (fresh)
            fresh->number = ++m->run_number;
        if (r && (parent = memory_run_get(m, b->birth->parent)))
            r->birth.imported |= parent->birth.imported;
        if (!r || !table_room(&m->runs, mem))
            s = WEND_E_NOMEM;
        else if (!store_batch_fits(b, r->epoch, r->seq))
            s = WEND_E_STALE;
        else if (r->seq_base)
            s = take_head(m, r);
    }
    if (s == WEND_OK && (!blobs_add(m, b) || !memory_run_add(r, mem, b)))
        s = WEND_E_NOMEM;
    if (s != WEND_OK) {
        memory_run_free(mem, fresh);
        return s;
    }
    r->summary = b->summary;
    memory_inbox_heard(m, b);
    if (fresh)
        table_add(&m->runs, &fresh->node, b->run);
    return WEND_OK;
}

static void memory_append(wend_store *s, struct store_batch *b)
{
    struct memory_store *m = (struct memory_store *)s;
    wend_status status;

    pthread_mutex_lock(&m->lock);
    status = add(m, b);
    pthread_mutex_unlock(&m->lock);
    b->done(b, status);
}

static wend_status memory_claim(wend_store *s, wend_str run, int64_t known,
                                int64_t *epoch, int64_t *seq, wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    struct memory_run *r;
    wend_status status = WEND_E_NOTFOUND;

    pthread_mutex_lock(&m->lock);
    r = memory_run_known(m, run, err);
    if (r) {
        *seq = r->seq;
        status = store_claimable(run, known, r->seq, r->summary.ended_us, err);
    }
    if (status == WEND_OK) {
        r->summary.status = "running";
        *epoch = ++r->epoch;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* ---- Reading ------------------------------------------------------------- */

/* The part of a log that is one run's: up to event `last`. The deltas after
 * the last event of an ancestor belong to what followed there. */
static wend_status read_part(struct memory_store *m, struct memory_run *r,
                             struct store_place from, int64_t last,
                             struct store_reader *to, wend_error *err)
{
    struct store_item item;

    for (size_t i = memory_run_find(r, from.seq);
         i < r->rows_count && !to->stopped; i++) {
        if (!memory_run_item(r, &m->base.mem, r->rows[i], &item))
            return fail_nomem(err);
        if (item.seq > last || (item.is_pack && item.seq == last))
            break;
        if (item.is_pack && item.seq == from.seq &&
            item.n + item.count - 1 <= from.n)
            continue;
        store_give(to, &item);
    }
    return WEND_OK;
}

struct log_part { /* of a log: one run's, up to event `last` */
    struct memory_run *r;
    int64_t last;
};

/* As find_parts in sqlite_read.c: newest first. */
static bool find_parts(const struct memory_store *m, struct memory_run *r,
                       int64_t from, struct buf *parts)
{
    struct log_part p = {r, INT64_MAX};

    while (p.r) {
        int64_t base = p.r->seq_base;

        buf_add(parts, (const char *)&p, sizeof p);
        if (!base || base < from)
            break;
        p.last = base < p.last ? base : p.last;
        p.r = memory_run_get(m, p.r->birth.parent);
    }
    return !parts->failed;
}

static wend_status memory_read(wend_store *s, wend_str run,
                               struct store_place from, uint32_t max,
                               store_item_fn fn, void *ctx, wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    struct store_reader to = {.fn = fn, .ctx = ctx, .left = max};
    struct buf parts = {.mem = &s->mem};
    wend_status status = WEND_OK;
    struct memory_run *r;

    pthread_mutex_lock(&m->lock);
    r = memory_run_known(m, run, err);
    if (!r)
        status = WEND_E_NOTFOUND;
    else if (!find_parts(m, r, from.seq, &parts))
        status = fail_nomem(err);
    while (status == WEND_OK && parts.len && !to.stopped) {
        const struct log_part *p;

        parts.len -= sizeof *p;
        p = (const struct log_part *)(void *)(parts.ptr + parts.len);
        status = read_part(m, p->r, from, p->last, &to, err);
    }
    pthread_mutex_unlock(&m->lock);
    buf_free(&parts);
    return status;
}

static wend_status memory_blob(wend_store *s, wend_str hash, struct buf *out,
                               wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    wend_status status = WEND_OK;
    struct memory_blob *b;

    pthread_mutex_lock(&m->lock);
    b = memory_blob_get(m, hash);
    if (b)
        buf_add(out, b->bytes + b->node.key_len, b->len);
    else
        status = store_missing("blob", hash, err);
    pthread_mutex_unlock(&m->lock);
    return out->failed ? fail_nomem(err) : status;
}

static wend_status memory_state(wend_store *s, wend_str run,
                                struct store_state *out, wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    wend_status status = WEND_OK;
    struct memory_run *r;

    pthread_mutex_lock(&m->lock);
    r = memory_run_known(m, run, err);
    if (!r)
        status = WEND_E_NOTFOUND;
    else if (!memory_run_head(r, &s->mem, out->head))
        status = fail_nomem(err);
    if (r) {
        out->epoch = r->epoch;
        out->seq = r->seq;
        out->first = r->rows_count ? r->seq_base + 1 : 0;
        out->ended_us = r->summary.ended_us;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* For `check` and `failure`: what no other process writes is sound. */
static wend_status memory_sound(wend_store *s, wend_error *err)
{
    (void)s;
    (void)err;
    return WEND_OK;
}

/* ---- Listing ------------------------------------------------------------- */

static wend_str run_id(const struct memory_run *r)
{
    return (wend_str){r->text, r->node.key_len};
}

static bool text_is(wend_str text, const char *wanted)
{
    return !wanted || str_is(text, wanted);
}

/* Newest here first: an imported run may have any id and any time. */
static int newer(const void *a, const void *b)
{
    const struct memory_run *x = *(struct memory_run *const *)a,
                            *y = *(struct memory_run *const *)b;

    return (x->number < y->number) - (x->number > y->number);
}

static bool listed(const struct memory_run *r, const wend_list_options *o,
                   struct memory_run *after)
{
    const struct store_birth *b = &r->birth;

    return text_is(b->user, o->user) && text_is(b->session, o->session) &&
           text_is(b->agent, o->agent) &&
           (!o->status || !strcmp(r->summary.status, o->status)) &&
           (!o->run || str_starts(run_id(r), o->run)) &&
           b->started_us >= o->since_us &&
           (!o->until_us || b->started_us < o->until_us) &&
           (!after || newer(&after, &r) < 0);
}

static void info_of(const struct memory_run *r, struct arena *a,
                    wend_run_info *info)
{
    *info = (wend_run_info){
        .run = arena_str(a, run_id(r)),
        .status = str_of(r->summary.status),
        .agent = arena_str(a, r->birth.agent),
        .model = arena_str(a, r->birth.model),
        .prompt = arena_str(a, r->birth.prompt),
        .user = arena_str(a, r->birth.user),
        .session = arena_str(a, r->birth.session),
        .parent =
            arena_str(a, r->birth.above.ptr ? r->birth.above : r->birth.parent),
        .started_us = r->birth.started_us,
        .ended_us = r->summary.ended_us,
        .turns = r->summary.turns,
        .tokens_in = r->summary.tokens_in,
        .tokens_out = r->summary.tokens_out,
        .cost_nano = r->summary.cost_nano,
        .seq = r->seq,
        .imported = r->birth.imported,
        .child = r->birth.above.ptr || (r->birth.parent.ptr && !r->seq_base),
        .fork_of = r->seq_base ? arena_str(a, r->birth.parent) : STR_NONE,
    };
}

static wend_status list(const struct memory_store *m,
                        const wend_list_options *o, struct arena *a,
                        wend_run_info **rows, size_t *count, wend_error *err)
{
    struct memory_run **found, *after = NULL;
    size_t found_count = 0;

    if (o->after && !(after = memory_run_known(m, str_of(o->after), err)))
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
    struct memory_store *m = (struct memory_store *)s;
    wend_status status;

    pthread_mutex_lock(&m->lock);
    status = list(m, o, a, rows, count, err);
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* ---- Pruning ------------------------------------------------------------- */

static bool has_child(const struct memory_store *m, wend_str run)
{
    for (size_t i = 0; i < m->runs.slots_count; i++)
        for (const struct node *n = m->runs.slots[i]; n; n = n->next)
            if (str_eq(((const struct memory_run *)n)->birth.parent, run))
                return true;
    return false;
}

static wend_status memory_forget(wend_store *s, const char *ids, size_t count,
                                 int64_t *gone, wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;

    (void)err;
    *gone = 0;
    pthread_mutex_lock(&m->lock);
    for (; count; count--, ids += strlen(ids) + 1) {
        struct memory_run *r = memory_run_get(m, str_of(ids));

        if (!r || !r->summary.ended_us || has_child(m, str_of(ids)))
            continue;
        memory_inbox_drop(m, str_of(ids));
        table_remove(&m->runs, &r->node);
        memory_run_free(&s->mem, r);
        ++*gone;
    }
    pthread_mutex_unlock(&m->lock);
    return WEND_OK;
}

static void mark_used(struct memory_store *m, const struct memory_run *r)
{
    for (size_t i = 0; i < r->rows_count; i++) {
        wend_str rest = {r->rows[i]->body, r->rows[i]->len}, hash;

        while (store_blob_next(&rest, &hash)) {
            struct memory_blob *b = memory_blob_get(m, hash);

            if (b)
                b->used = true;
        }
    }
}

static wend_status memory_tidy(wend_store *s, int64_t now_us, int64_t *bytes,
                               wend_error *err)
{
    struct memory_store *m = (struct memory_store *)s;
    struct node *n, *next;

    (void)err;
    *bytes = 0;
    pthread_mutex_lock(&m->lock);
    memory_facts_drop(m, now_us);
    for (size_t i = 0; i < m->runs.slots_count; i++)
        for (n = m->runs.slots[i]; n; n = n->next)
            mark_used(m, (struct memory_run *)n);
    for (size_t i = 0; i < m->blobs.slots_count; i++)
        for (n = m->blobs.slots[i]; n; n = next) {
            struct memory_blob *b = (struct memory_blob *)n;

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

/* ---- Life ---------------------------------------------------------------- */

static void memory_free(wend_store *s)
{
    struct memory_store *m = (struct memory_store *)s;
    struct mem mem = s->mem;
    struct node *n, *next;

    for (struct memory_request *q = m->inbox, *q_next; q; q = q_next) {
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
    memory_facts_drop(m, -1);
    mem_free(&mem, m->runs.slots);
    mem_free(&mem, m->blobs.slots);
    pthread_mutex_destroy(&m->lock);
    mem_free(&mem, m);
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
        .check = memory_sound,
        .forget = memory_forget,
        .tidy = memory_tidy,
        .post = memory_post,
        .take = memory_take,
        .waiting = memory_waiting,
        .fate = memory_fate,
        .keep = memory_keep,
        .facts = memory_facts,
        .failure = memory_sound,
    };
    const struct mem mem = {0};
    struct memory_store *m = mem_zalloc(&mem, sizeof *m);

    if (!m)
        return fail_nomem(err);
    if (!store_lock_init(&m->lock)) {
        mem_free(&mem, m);
        return fail_nomem(err);
    }
    store_init(&m->base, &ops);
    m->inbox_last = &m->inbox;
    *out = &m->base;
    return WEND_OK;
}

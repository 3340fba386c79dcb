/*
 * store.c - a store that commits when the simulator says so.
 *
 * It is the store in memory with a few operations of its own. What is appended
 * waits for its time, in the order of appending; a commit may fail, and then
 * everything after it does. What is on record is written down here a second
 * time, so that the laws do not have to believe the library.
 */
#include "giving.h"
#include "requests.h"
#include "store.h"

/* ---- What a batch must be ------------------------------------------------ */

static bool count_delta(void *ctx, wend_event *delta)
{
    (void)delta;
    ++*(int64_t *)ctx;
    return true;
}

/* Deltas are numbered from 1 after each kept event, without a gap. */
static void check_pack(struct sim *s, struct known *k,
                       const struct store_pack *p, int64_t seq)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    int64_t count = 0, want = p->seq == k->pack_seq ? k->pack_n + 1 : 1;

    if (p->seq != seq || p->n != want)
        broken(s, LAW_BATCH, "run %u: deltas from %lld/%lld, wanted %lld/%lld",
               k->place, (long long)p->seq, (long long)p->n, (long long)seq,
               (long long)want);
    if (pack_read(p->body, p->seq, p->n, &a, count_delta, &count, NULL) !=
            WEND_OK ||
        count != p->count)
        broken(s, LAW_BATCH, "run %u: a pack of %lld deltas says %lld",
               k->place, (long long)count, (long long)p->count);
    if (p->count > k->pack_max)
        k->pack_max = (uint32_t)p->count;
    k->pack_seq = p->seq;
    k->pack_n = p->n + p->count - 1;
    arena_free(&a);
}

static void check_batch(struct sim *s, struct known *k,
                        const struct store_batch *b)
{
    size_t p = 0;

    if (!!b->birth == k->born)
        broken(s, LAW_BATCH, "run %u: born %s", k->place,
               k->born ? "twice" : "never");
    if (b->epoch != k->epoch)
        broken(s, LAW_BATCH, "run %u: epoch %lld, wanted %lld", k->place,
               (long long)b->epoch, (long long)k->epoch);
    for (size_t i = 0; i <= b->events_count; i++) {
        while (p < b->packs_count &&
               (i == b->events_count || b->packs[p].seq < b->events[i].seq))
            check_pack(s, k, &b->packs[p++], k->sent_seq);
        if (i == b->events_count)
            break;
        if (b->events[i].seq != k->sent_seq + 1)
            broken(s, LAW_BATCH, "run %u: event %lld after %lld", k->place,
                   (long long)b->events[i].seq, (long long)k->sent_seq);
        k->sent_seq = b->events[i].seq;
    }
    k->born = true;
    k->batches++;
    s->head.counters->batches++;
}

/* ---- What is on record --------------------------------------------------- */

static void record_action(struct known *k, const wend_ev_action_start *e)
{
    set_add(&k->act_ids, hash_of(e->action));
    set_add(&k->act_keys, hash_of(e->key));
    set_add(&k->starts, hash_of(e->key));
}

/* The same key once more. */
static void record_retry(struct known *k, wend_str action)
{
    uint32_t i = k->act_ids.count;

    while (i && k->act_ids.at[i - 1] != hash_of(action))
        i--;
    if (i)
        set_add(&k->starts, k->act_keys.at[i - 1]);
}

static void record_known(struct known *k, const wend_event *ev)
{
    if (ev->type == WEND_CALL_START)
        set_add(&k->starts, hash_of(ev->u.call_start.key));
    else if (ev->type == WEND_ACTION_START)
        record_action(k, &ev->u.action_start);
    else if (ev->type == WEND_ACTION_RETRY)
        record_retry(k, ev->u.action_retry.action);
    else if (ev->type == WEND_CONTROL)
        k->stop_acked |= str_is(ev->u.control.what, "cancel") ||
                         str_is(ev->u.control.what, "limits");
    else if (ev->type == WEND_RUN_FORK) {
        k->stop_acked = false; /* that was its parent's */
        k->forked_at = ev->u.run_fork.at;
    }
    k->asks += ev->type == WEND_MODEL_START || ev->type == WEND_MODEL_RETRY;
    k->turns_begun += ev->type == WEND_TURN_START;
    k->turns_ended += ev->type == WEND_TURN_END;
    k->messages_begun += ev->type == WEND_MODEL_START;
    k->end_acked |= ev->type == WEND_RUN_END;
    k->acked_seq = ev->seq;
}

static void record_event(struct sim *s, struct known *k, wend_str body)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    wend_event ev;

    if (event_read(body, &a, NULL, NULL, &ev, NULL) != WEND_OK)
        broken(s, LAW_BATCH, "run %u: an event after %lld cannot be read",
               k->place, (long long)k->acked_seq);
    else
        record_known(k, &ev);
    arena_free(&a);
}

static void record(struct sim *s, struct known *k, const struct store_batch *b)
{
    for (size_t i = 0; i < b->events_count; i++)
        record_event(s, k, b->events[i].body);
    if (k->cancel_waits && b->events_count && !k->stop_acked && !k->end_acked)
        broken(s, LAW_HEARD, "run %u goes on, though it was to be canceled",
               k->place);
    k->cancel_waits &= !b->events_count;
}

/* ---- Committing ---------------------------------------------------------- */

static void note_status(struct store_batch *b, wend_status s)
{
    *(wend_status *)b->ctx = s;
}

/* Once it is told the batch is its owner's again. */
static void keep_copy(struct held *h)
{
    const struct store_batch *b = h->batch;
    struct store_event *events;
    struct store_pack *packs;
    struct store_birth *birth;

    h->own.mem = &libc_mem;
    events = arena_alloc(&h->own, (b->events_count + 1) * sizeof *events);
    packs = arena_alloc(&h->own, (b->packs_count + 1) * sizeof *packs);
    birth = arena_alloc(&h->own, sizeof *birth);
    for (size_t i = 0; i < b->events_count; i++) {
        events[i] = b->events[i];
        events[i].body = arena_str(&h->own, b->events[i].body);
    }
    for (size_t i = 0; i < b->packs_count; i++) {
        packs[i] = b->packs[i];
        packs[i].body = arena_str(&h->own, b->packs[i].body);
    }
    h->copy = *b;
    h->copy.run = arena_str(&h->own, b->run);
    h->copy.events = events;
    h->copy.packs = packs;
    h->copy.blobs_count = 0;
    h->copy.birth = b->birth ? birth : NULL;
}

static wend_status commit(struct slow_store *st, const struct held *h)
{
    const struct bug *bug = st->sim->head.bug;
    struct store_batch copy = *h->batch;
    wend_status s = WEND_E_NOMEM;

    if (bug && bug->drop_pack && copy.events_count)
        copy.packs_count = 0;
    if (bug && bug->hear_again)
        copy.heard_count = 0;
    if (bug && bug->end_anyway && copy.summary.ended_us)
        drop_requests(st, copy.run);
    copy.done = note_status;
    copy.ctx = &s;
    st->real->append(st->store, &copy);
    if (s == WEND_OK && copy.events_count)
        h->of->stored_seq = copy.events[copy.events_count - 1].seq;
    if (s == WEND_OK && copy.packs_count) {
        const struct store_pack *p = &copy.packs[copy.packs_count - 1];

        h->of->stored_pack_seq = p->seq;
        h->of->stored_pack_n = p->n + p->count - 1;
    }
    return s;
}

/* A batch whose commit failed may be there after all: only a fresh look at
 * the disk would tell. */
static wend_status fail_commit(struct slow_store *st, struct held *h)
{
    struct sim *s = st->sim;

    if (!st->failed) {
        trace(s, "     the store fails");
        s->head.counters->failed++;
        st->failed = true;
        if (chance_of(&s->chance, 500))
            commit(st, h);
    }
    return WEND_E_STORE;
}

static bool fails_now(struct sim *s)
{
    return s->mood.fail_store && !s->draining &&
           chance_of(&s->chance, s->mood.fail_store);
}

static void back_to_stored(struct known *k)
{
    k->sent_seq = k->stored_seq;
    k->pack_seq = k->stored_pack_seq;
    k->pack_n = k->stored_pack_n;
    k->born &= k->stored_seq > 0;
}

static void tell(struct slow_store *st, struct held *h, wend_status status)
{
    struct sim *s = st->sim;
    const struct bug *bug = s->head.bug;

    if (status == WEND_E_STORE && bug && bug->ack_failed)
        status = WEND_OK;
    else if (status == WEND_OK && (!bug || !bug->ack_early))
        record(s, h->of, h->batch);
    st->told |= status == WEND_E_STORE;
    if (status == WEND_E_STALE)
        trace(s, "     run %u is refused as stale", h->of->place);
    if (status == WEND_E_BUSY) {
        trace(s, "     run %u may not end yet", h->of->place);
        s->head.counters->unended++;
        back_to_stored(h->of);
    }
    h->told = true;
    if (bug)
        keep_copy(h);
    h->batch->done(h->batch, status);
    h->batch = &h->copy;
}

/* Takes the oldest one out. */
void commit_first(struct slow_store *st)
{
    struct sim *s = st->sim;
    const struct bug *bug = s->head.bug;
    struct held *h = st->first;
    wend_status status;

    st->first = h->next;
    if (!st->first)
        st->last = &st->first;
    h->of->waiting_bytes -= h->bytes;
    if (bug && bug->ack_never && h->batch->events_count && s->plants++ == 3) {
        h->next = st->lost;
        st->lost = h;
        return;
    }
    status = st->failed || fails_now(s) ? fail_commit(st, h) : commit(st, h);
    if (status == WEND_E_STALE && !h->of->stolen)
        broken(s, LAW_STALE, "run %u is refused, nobody stole it",
               h->of->place);
    if (bug && bug->stale_spreads && h->of->stolen && st->first &&
        !st->first->told && st->first->of != h->of)
        tell(st, st->first, WEND_E_STALE);
    if (!h->told)
        tell(st, h, status);
    else if (bug && bug->ack_early && status == WEND_OK)
        record(s, h->of, h->batch);
    arena_free(&h->own);
    free(h);
}

static void forget(struct slow_store *st, struct held *h)
{
    h->of->waiting_bytes -= h->bytes;
    st->sim->head.counters->forgotten++;
    if (!h->told)
        h->batch->done(h->batch, WEND_E_STALE);
    arena_free(&h->own);
    free(h);
}

/* A process died: what it had not yet committed was never there. */
void store_forget(struct slow_store *st, struct known *k)
{
    struct held **link = &st->first, *h;

    while ((h = *link)) {
        if (!is_of(h->of, k)) {
            link = &h->next;
            continue;
        }
        *link = h->next;
        forget(st, h);
    }
    st->last = link;
    for (uint32_t i = 0; i < st->sim->runs_count; i++)
        if (is_of(&st->sim->runs[i], k))
            back_to_stored(&st->sim->runs[i]);
}

/* Those that a bug has forgotten still hold memory. */
void tell_lost(struct slow_store *st)
{
    struct held *h;

    while ((h = st->lost)) {
        st->lost = h->next;
        h->batch->done(h->batch, WEND_E_STORE);
        free(h);
    }
}

static void drop_first(struct slow_store *st)
{
    struct held *h = st->first;

    st->first = h->next;
    if (!st->first)
        st->last = &st->first;
    forget(st, h);
}

/* All processes died: of what waited, the oldest batches may be there. What
 * is on record is learned anew from what is. */
static bool learn(void *ctx, const struct store_item *item)
{
    struct known *k = ctx;

    if (!item->is_pack)
        record_event(k->sim, k, item->body);
    return true;
}

void store_learn(struct slow_store *st, struct known *k)
{
    st->real->read(st->store, str_of(k->id), (struct store_place){0, 0}, 0,
                   learn, k, NULL);
}

void store_crash(struct slow_store *st)
{
    struct sim *s = st->sim;

    while (st->first && !st->failed && chance_of(&s->chance, 500)) {
        s->head.counters->revived++;
        commit(st, st->first);
        drop_first(st);
    }
    while (st->first)
        drop_first(st);
    tell_lost(st);
    st->failed = st->told = false;
    for (uint32_t i = 0; i < s->runs_count; i++) {
        struct known *k = &s->runs[i];

        back_to_stored(k);
        k->starts.count = k->act_ids.count = k->act_keys.count = 0;
        k->asks = k->turns_begun = k->turns_ended = k->messages_begun = 0;
        k->stop_acked = k->end_acked = false;
        if (k->stored_seq)
            store_learn(st, k);
    }
}

/* ---- The engine ---------------------------------------------------------- */

static size_t bytes_of(const struct store_batch *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->events_count; i++)
        n += b->events[i].body.len;
    for (size_t i = 0; i < b->packs_count; i++)
        n += b->packs[i].body.len;
    return n;
}

/* A second answer before the first: the older one of two is told later. */
static void swap_acks(struct slow_store *st, struct held *h)
{
    if (st->first != h && !h->told && h->batch->events_count)
        tell(st, h, WEND_OK);
}

/* A run that another one has started. */
static struct known *child_of(struct sim *s, const struct store_batch *b)
{
    struct known *k = &s->runs[s->runs_count];

    if (!b->birth || s->runs_count == KNOWN_MAX)
        abort();
    memset(k, 0, sizeof *k);
    k->place = s->runs_count++;
    k->sim = s;
    k->epoch = 1;
    k->parent = known_by_id(s, b->birth->parent);
    if (!k->parent)
        broken(s, LAW_BATCH, "run %u is a child without a parent", k->place);
    snprintf(k->id, sizeof k->id, "%.*s", (int)b->run.len, b->run.ptr);
    s->head.counters->children++;
    trace(s, "run %u is a child", k->place);
    return k;
}

/* One that continues another: the run that waits for it has just made it. */
static void adopt(struct sim *s, const struct store_batch *b)
{
    struct known *k = child_of(s, b), *of = known_by_id(s, b->birth->parent);

    k->parent = known_by_id(s, b->birth->above);
    if (!k->parent || !of)
        broken(s, LAW_BATCH, "run %u continues a child without a parent",
               k->place);
    k->born = k->forked = true;
    of->has_forks = true;
    k->pack_max = of->pack_max; /* its past has them */
    store_learn(&s->store, k);
    k->stored_seq = k->sent_seq = k->acked_seq;
    s->head.counters->continued++;
}

static bool is_fork(const struct store_batch *b)
{
    return b->birth && b->events_count && b->events[0].seq > 1;
}

static void slow_append(wend_store *base, struct store_batch *b)
{
    struct slow_store *st = slow(base);
    struct sim *s = st->sim;
    struct known *k = known_by_id(s, b->run);
    struct held *h = calloc(1, sizeof *h);
    int64_t wait_us = chance_below(&s->chance, s->mood.commit_ms_max + 1);

    if (!h)
        abort();
    if (st->forking || is_fork(b)) { /* it waits for this */
        free(h);
        st->real->append(st->store, b);
        if (!st->forking)
            adopt(s, b);
        return;
    }
    if (!k && s->starting && b->birth && !b->birth->parent.ptr) {
        k = s->starting;
        snprintf(k->id, sizeof k->id, "%.*s", (int)b->run.len, b->run.ptr);
    }
    if (!k)
        k = child_of(s, b);
    check_batch(s, k, b);
    h->batch = b;
    h->of = k;
    h->bytes = bytes_of(b);
    k->waiting_bytes += h->bytes;
    if (s->world.clock_us + wait_us * 1000 > st->due_us)
        st->due_us = s->world.clock_us + wait_us * 1000;
    h->due_us = st->due_us;
    *st->last = h;
    st->last = &h->next;
    if (s->head.bug && s->head.bug->ack_early)
        tell(st, h, WEND_OK);
    if (s->head.bug && s->head.bug->ack_swapped)
        swap_acks(st, h);
    while (!s->mood.commit_ms_max && st->first)
        commit_first(st);
}

void store_work(struct slow_store *st)
{
    while (st->first && st->first->due_us <= st->sim->world.clock_us)
        commit_first(st);
}

static wend_status slow_claim(wend_store *base, wend_str run, int64_t known,
                              int64_t *epoch, int64_t *seq, wend_error *err)
{
    const struct bug *bug = slow(base)->sim->head.bug;
    struct known *k = known_by_id(slow(base)->sim, run);
    wend_status st = slow(base)->real->claim(base, run, known, epoch, seq, err);

    if (bug && bug->claim_stays && k && k->left)
        return WEND_E_BUSY;
    if (st == WEND_OK && k)
        k->epoch = *epoch;
    return st;
}

static wend_status slow_read(wend_store *base, wend_str run,
                             struct store_place from, uint32_t max,
                             store_item_fn fn, void *ctx, wend_error *err)
{
    struct slow_store *st = slow(base);
    struct giving r = {.fn = fn, .ctx = ctx, .bug = st->sim->head.bug};

    return st->real->read(st->store, run, from, max, give_item, &r, err);
}

static wend_status slow_failure(wend_store *base, wend_error *err)
{
    if (!slow(base)->failed || slow(base)->opened_anew)
        return WEND_OK;
    if (err) {
        memset(err, 0, sizeof *err);
        err->status = WEND_E_STORE;
        snprintf(err->message, sizeof err->message, "the disk is gone");
    }
    return WEND_E_STORE;
}

bool store_begin(struct slow_store *st, struct sim *s)
{
    if (store_memory_open(&st->store, NULL) != WEND_OK)
        return false;
    st->sim = s;
    st->last = &st->first;
    st->real = st->store->ops;
    st->ops = *st->real;
    st->ops.append = slow_append;
    st->ops.claim = slow_claim;
    st->ops.read = slow_read;
    st->ops.waiting = slow_waiting;
    st->ops.failure = slow_failure;
    st->store->ops = &st->ops;
    return true;
}

/*
 * batch.c - what steps of one run add to the store, on its way there.
 *
 * Bodies are written one after the other into one buffer; while it grows
 * they are known by their offset.
 */

#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

enum {
    EVENTS_FIRST = 16,      /* a turn's events fit without growing */
    SPARE_BYTES = 64 << 10, /* a larger buffer is not kept for reuse */
};

struct batch *batch_new(struct wend_run *r)
{
    struct batch *b = r->rt->spare;

    r->rt->spare = NULL;
    if (!b)
        b = mem_zalloc(&r->rt->mem, sizeof *b);
    if (!b)
        return NULL;
    b->mem = r->rt->mem;
    b->effects_tail = &b->effects;
    b->post.kind = POST_COMMITTED;
    b->run = r;
    memcpy(b->id, r->id, sizeof b->id);
    b->mailbox = r->rt->mailbox;
    mailbox_ref(b->mailbox);
    b->arena.mem = b->bytes.mem = &b->mem;
    return b;
}

static void free_effects(struct batch *b, struct fx_node *fx)
{
    for (struct fx_node *next; fx; fx = next) {
        next = fx->next;
        mem_free(&b->mem, fx);
    }
}

static void empty(struct batch *b)
{
    free_effects(b, b->effects);
    for (size_t i = 0; i < b->packs_count; i++)
        mem_free(&b->mem, (void *)(uintptr_t)b->packs[i].body.ptr);
    arena_free(&b->arena);
}

void batch_free(struct batch *b)
{
    struct mailbox *box;
    struct mem m;

    if (!b)
        return;
    m = b->mem;
    box = b->mailbox;
    empty(b);
    mem_free(&m, b->events);
    mem_free(&m, b->packs);
    mem_free(&m, b->heard);
    buf_free(&b->bytes);
    mem_free(&m, b);
    mailbox_unref(box);
}

void batch_done(struct batch *b)
{
    wend_runtime *rt = b->run ? b->run->rt : NULL;
    struct batch fresh = {.mem = b->mem,
                          .events = b->events,
                          .events_cap = b->events_cap,
                          .packs = b->packs,
                          .packs_cap = b->packs_cap,
                          .heard = b->heard,
                          .heard_cap = b->heard_cap,
                          .bytes = b->bytes};

    if (!rt || rt->spare || b->bytes.cap > SPARE_BYTES) {
        batch_free(b);
        return;
    }
    empty(b);
    mailbox_unref(b->mailbox);
    *b = fresh;
    buf_clear(&b->bytes);
    rt->spare = b;
}

/* Room for one more element; the array may move. */
static bool grow(const struct mem *m, void *array, size_t *cap, size_t count,
                 size_t size)
{
    void **p = array;
    size_t want = *cap ? *cap * 2 : EVENTS_FIRST;
    void *more;

    if (count < *cap)
        return true;
    more = mem_realloc(m, *p, want * size);
    if (!more)
        return false;
    *p = more;
    *cap = want;
    return true;
}

bool batch_blobs(struct batch *b, const struct event_blob *list)
{
    for (; list; list = list->next) {
        struct event_blob *copy = arena_alloc(&b->arena, sizeof *copy);

        if (!copy)
            return false;
        *copy = *list;
        copy->text = arena_str(&b->arena, list->text);
        copy->next = b->blobs;
        b->blobs = copy;
        b->blobs_count++;
    }
    return !b->arena.failed;
}

bool batch_event(struct batch *b, const wend_event *ev)
{
    struct event_blobs blobs = {.arena = &b->arena};
    size_t at = b->bytes.len;

    if (!grow(&b->mem, &b->events, &b->events_cap, b->events_count,
              sizeof *b->events))
        return false;
    event_write(&b->bytes, ev, &blobs);
    if (b->bytes.failed || b->arena.failed)
        return false;
    b->events[b->events_count++] = (struct store_event){
        ev->seq, ev->type, ev->time_us, {(const char *)at, b->bytes.len - at}};
    b->last_seq = ev->seq;
    at = b->blobs_count;
    if (!batch_blobs(b, blobs.first))
        return false;
    if (ev->type == WEND_RUN_END) {
        b->end_blobs = b->blobs;
        b->end_blobs_count = b->blobs_count - at;
    }
    return true;
}

bool batch_heard_room(struct batch *b, size_t more)
{
    bool ok = true;

    while (ok && b->heard_cap < b->heard_count + more)
        ok = grow(&b->mem, &b->heard, &b->heard_cap, b->heard_cap,
                  sizeof *b->heard);
    return ok;
}

void batch_heard(struct batch *b, int64_t request, bool late)
{
    assert(b->heard_count < b->heard_cap);
    b->heard[b->heard_count++] = (struct store_heard){request, late};
}

void batch_unend(struct batch *b)
{
    struct event_blob **link = &b->blobs;

    for (size_t e = 0; e < b->events_count; e++)
        b->events[e].body.ptr =
            (const char *)(size_t)(b->events[e].body.ptr - b->bytes.ptr);
    assert(b->events_count);
    b->events_count--;
    b->bytes.len = (size_t)b->events[b->events_count].body.ptr;
    b->last_seq--;
    while (b->end_blobs_count && *link != b->end_blobs)
        link = &(*link)->next;
    for (; b->end_blobs_count; b->end_blobs_count--, b->blobs_count--)
        *link = (*link)->next;
    b->status = WEND_OK;
}

bool batch_pack(struct batch *b, struct pack *p)
{
    struct store_pack sp = {.seq = p->seq, .n = p->n, .count = p->count};

    if (!p->count)
        return true;
    if (!grow(&b->mem, &b->packs, &b->packs_cap, b->packs_count,
              sizeof *b->packs) ||
        !pack_close(p, &sp.body))
        return false;
    b->packs[b->packs_count++] = sp;
    return true;
}

bool batch_effects(struct batch *b, const struct effect *fx)
{
    for (; fx; fx = fx->next) {
        size_t extra = fx->args.len + fx->key.len + 2;
        struct fx_node *n = mem_zalloc(&b->mem, sizeof *n + extra);
        char *text;

        if (!n)
            return false;
        n->fx = *fx;
        n->fx.next = NULL;
        text = (char *)(n + 1);
        if (fx->args.len)
            memcpy(text, fx->args.ptr, fx->args.len);
        n->fx.args.ptr = text;
        text += fx->args.len + 1;
        if (fx->key.len)
            memcpy(text, fx->key.ptr, fx->key.len);
        n->fx.key.ptr = text;
        *b->effects_tail = n;
        b->effects_tail = &n->next;
    }
    return true;
}

struct batch_mark batch_mark(const struct batch *b)
{
    return (struct batch_mark){b->events_count, b->bytes.len,    b->blobs_count,
                               b->blobs,        b->effects_tail, b->last_seq};
}

/* A batch has all events of a step or none. Deltas that were packed on the way
 * stay. */
void batch_undo(struct batch *b, struct batch_mark m)
{
    free_effects(b, *m.effects_tail);
    *m.effects_tail = NULL;
    b->effects_tail = m.effects_tail;
    b->events_count = m.events_count;
    b->bytes.len = m.bytes_len;
    b->bytes.failed = b->arena.failed = false;
    b->blobs = m.blobs;
    b->blobs_count = m.blobs_count;
    b->last_seq = m.last_seq;
}

void batch_clear(struct batch *b)
{
    batch_undo(b, (struct batch_mark){.effects_tail = &b->effects});
    b->heard_count = b->end_blobs_count = 0;
}

void batch_birth(struct batch *b, const struct store_birth *birth)
{
    wend_str *const texts[] = {&b->birth.agent,   &b->birth.model,
                               &b->birth.prompt,  &b->birth.user,
                               &b->birth.session, &b->birth.parent};

    b->birth = *birth;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(&b->arena, *texts[i]);
    b->sb.birth = &b->birth;
}

size_t batch_bytes(const struct batch *b)
{
    size_t bytes = b->bytes.len + b->arena.held;

    for (size_t i = 0; i < b->packs_count; i++)
        bytes += b->packs[i].body.len;
    return bytes;
}

void batch_answer(struct batch *b, wend_status s)
{
    b->status = s;
    if (mailbox_post(b->mailbox, &b->post))
        return;
    if (s == WEND_E_BUSY)
        batch_leave(b);
    else
        batch_free(b);
}

/* Called by the store, possibly from its thread. */
static void on_done(struct store_batch *sb, wend_status s)
{
    struct batch *b = sb->ctx;
    struct mailbox *box = b->mailbox;

    batch_answer(b, s);
    mailbox_answered(box);
}

bool batch_submit(struct batch *b, wend_store *store)
{
    struct store_blob *blobs = NULL;
    size_t i = 0;

    for (size_t e = 0; e < b->events_count; e++)
        b->events[e].body.ptr = b->bytes.ptr + (size_t)b->events[e].body.ptr;
    if (b->blobs_count)
        blobs = arena_alloc(&b->arena, b->blobs_count * sizeof *blobs);
    for (struct event_blob *l = b->blobs; blobs && l; l = l->next, i++) {
        memcpy(blobs[i].hash, l->hash, sizeof blobs[i].hash);
        blobs[i].body = l->text;
    }
    b->sb.events = b->events;
    b->sb.events_count = b->events_count;
    b->sb.packs = b->packs;
    b->sb.packs_count = b->packs_count;
    b->sb.blobs = blobs;
    b->sb.blobs_count = i;
    b->sb.heard = b->heard;
    b->sb.heard_count = b->heard_count;
    b->store = store;
    b->sb.done = on_done;
    b->sb.ctx = b;
    if (b->arena.failed) {
        batch_answer(b, WEND_E_NOMEM);
        return false;
    }
    mailbox_sent(b->mailbox);
    store->ops->append(store, &b->sb);
    return true;
}

void batch_leave(struct batch *b)
{
    batch_unend(b);
    b->sb.summary.status = "interrupted";
    b->sb.summary.ended_us = 0;
    batch_submit(b, b->store);
}

/* Only the log's own writer slows a run down. */
bool shell_may_read(const struct wend_run *r)
{
    return r->sent_bytes < QUEUE_BYTES_MAX;
}

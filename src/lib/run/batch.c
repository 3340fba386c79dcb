/*
 * batch.c - what steps of one run add to the store, on its way there.
 *
 * Bodies are written one after the other into one buffer; while it grows
 * they are known by their offset.
 */

#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

enum { SPARE_BYTES = 64 << 10 }; /* a larger buffer is not kept for reuse */

void batch_init(struct batch *b, const struct mem *m)
{
    b->mem = *m;
    b->arena.mem = b->bytes.mem = &b->mem;
    b->effects_tail = &b->effects;
}

struct batch *batch_new(struct wend_run *r)
{
    struct batch *b = r->rt->spare;

    r->rt->spare = NULL;
    if (!b)
        b = mem_zalloc(&r->rt->mem, sizeof *b);
    if (!b)
        return NULL;
    batch_init(b, &r->rt->mem);
    b->post.kind = POST_COMMITTED;
    b->run = r;
    memcpy(b->id, r->id, sizeof b->id);
    b->mailbox = r->rt->mailbox;
    mailbox_ref(b->mailbox);
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
    for (size_t i = 0; i < b->sb.packs_count; i++)
        mem_free(&b->mem, (void *)(uintptr_t)b->packs[i].body.ptr);
    arena_free(&b->arena);
}

void batch_end(struct batch *b)
{
    empty(b);
    mem_free(&b->mem, b->events);
    mem_free(&b->mem, b->packs);
    mem_free(&b->mem, b->heard);
    buf_free(&b->bytes);
}

void batch_free(struct batch *b)
{
    struct mailbox *box;
    struct mem m;

    if (!b)
        return;
    m = b->mem;
    box = b->mailbox;
    batch_end(b);
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
        b->sb.blobs_count++;
    }
    return !b->arena.failed;
}

bool batch_event(struct batch *b, const wend_event *ev)
{
    struct event_blobs blobs = {.arena = &b->arena};
    size_t at = b->bytes.len;
    struct store_event *events = mem_more(
        &b->mem, b->events, b->sb.events_count, &b->events_cap, sizeof *events);

    if (!events)
        return false;
    b->events = events;
    event_write(&b->bytes, ev, &blobs);
    if (b->bytes.failed || b->arena.failed)
        return false;
    events[b->sb.events_count++] = (struct store_event){
        ev->seq, ev->type, ev->time_us, {(const char *)at, b->bytes.len - at}};
    b->last_seq = ev->seq;
    at = b->sb.blobs_count;
    if (!batch_blobs(b, blobs.first))
        return false;
    if (ev->type == WEND_RUN_END) {
        b->end_blobs = b->blobs;
        b->end_blobs_count = b->sb.blobs_count - at;
    }
    return true;
}

bool batch_heard_room(struct batch *b, size_t more)
{
    struct store_heard *heard = b->heard;

    while (b->heard_cap < b->sb.heard_count + more) {
        heard = mem_more(&b->mem, b->heard, b->heard_cap, &b->heard_cap,
                         sizeof *heard);
        if (!heard)
            return false;
        b->heard = heard;
    }
    return true;
}

void batch_heard(struct batch *b, int64_t request, bool late)
{
    assert(b->sb.heard_count < b->heard_cap);
    b->heard[b->sb.heard_count++] = (struct store_heard){request, late};
}

void batch_unend(struct batch *b)
{
    struct event_blob **link = &b->blobs;

    for (size_t e = 0; e < b->sb.events_count; e++)
        b->events[e].body.ptr =
            (const char *)(size_t)(b->events[e].body.ptr - b->bytes.ptr);
    assert(b->sb.events_count);
    b->sb.events_count--;
    b->bytes.len = (size_t)b->events[b->sb.events_count].body.ptr;
    b->last_seq--;
    while (b->end_blobs_count && *link != b->end_blobs)
        link = &(*link)->next;
    for (; b->end_blobs_count; b->end_blobs_count--, b->sb.blobs_count--)
        *link = (*link)->next;
    b->status = WEND_OK;
}

bool batch_pack(struct batch *b, struct pack *p)
{
    struct store_pack sp = {.seq = p->seq, .n = p->n, .count = p->count},
                      *packs;

    if (!p->count)
        return true;
    packs = mem_more(&b->mem, b->packs, b->sb.packs_count, &b->packs_cap,
                     sizeof *packs);
    if (!packs)
        return false;
    b->packs = packs;
    if (!pack_close(p, &sp.body))
        return false;
    packs[b->sb.packs_count++] = sp;
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
        n->fx.args = str_pack(&text, fx->args);
        text++; /* each ends with a NUL */
        n->fx.key = str_pack(&text, fx->key);
        *b->effects_tail = n;
        b->effects_tail = &n->next;
    }
    return true;
}

/* A batch has all events of a step or none. Deltas that were packed on the way
 * stay. */
void batch_undo(struct batch *b, const struct batch *before)
{
    free_effects(b, *before->effects_tail);
    *before->effects_tail = NULL;
    b->effects_tail = before->effects_tail;
    b->sb.events_count = before->sb.events_count;
    b->bytes.len = before->bytes.len;
    b->bytes.failed = b->arena.failed = false;
    b->blobs = before->blobs;
    b->sb.blobs_count = before->sb.blobs_count;
    b->last_seq = before->last_seq;
}

void batch_clear(struct batch *b)
{
    batch_undo(b, &(struct batch){.effects_tail = &b->effects});
    b->sb.heard_count = b->end_blobs_count = 0;
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

    for (size_t i = 0; i < b->sb.packs_count; i++)
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

bool batch_ready(struct batch *b)
{
    struct store_blob *blobs = NULL;
    size_t i = 0;

    for (size_t e = 0; e < b->sb.events_count; e++)
        b->events[e].body.ptr = b->bytes.ptr + (size_t)b->events[e].body.ptr;
    if (b->sb.blobs_count)
        blobs = arena_alloc(&b->arena, b->sb.blobs_count * sizeof *blobs);
    for (struct event_blob *l = b->blobs; blobs && l; l = l->next, i++) {
        memcpy(blobs[i].hash, l->hash, sizeof blobs[i].hash);
        blobs[i].body = l->text;
    }
    b->sb.events = b->events;
    b->sb.packs = b->packs;
    b->sb.blobs = blobs;
    b->sb.heard = b->heard;
    return !b->arena.failed;
}

bool batch_submit(struct batch *b, wend_store *store)
{
    b->store = store;
    b->sb.done = on_done;
    b->sb.ctx = b;
    if (!batch_ready(b)) {
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

/*
 * laws.c - what must hold of every run after each pump.
 *
 * The other laws stand where something happens: a batch is appended
 * (store.c), an event given out (reader.c), a tool called
 * (world.c), a handle told something (act.c).
 */
#include "laws.h"
#include "reader.h"

static void check_stopping(struct sim *s, struct known *k)
{
    const struct wend_run *r = k->handle;
    bool going = !r->over && r->error.status == WEND_OK;
    int64_t grace_us = (STOP_GRACE_MS + STOP_SLACK_MS) * 1000;

    if (k->cancel_sent && going && r->turn.stop.outcome == WEND_OUTCOME_NONE)
        broken(s, LAW_CANCEL, "run %u: canceled, and goes on", k->place);
    k->cancel_sent = false;
    if (!k->stop_acked)
        return;
    if (!k->stop_seen_us)
        k->stop_seen_us = s->world.clock_us;
    else if (going && s->world.clock_us > k->stop_seen_us + grace_us)
        broken(s, LAW_STOP, "run %u: still there %lld ms after its stop",
               k->place,
               (long long)(s->world.clock_us - k->stop_seen_us) / 1000);
}

static void check_hooks(struct sim *s, const struct known *k)
{
    if (!k->hooked || k->handle->error.status != WEND_OK ||
        atomic_load(&s->rt->mailbox->any))
        return; /* the word may still be in the mail */
    for (int64_t t = 0; t < k->turns_ended && t < TURNS_KNOWN; t++)
        if (k->heard_after[t] != 1)
            broken(s, LAW_HOOK, "run %u: turn %lld has ended, unheard",
                   k->place, (long long)t);
}

void check_run(struct sim *s, struct known *k)
{
    const struct wend_run *r = k->handle;

    if (r->durable_seq > k->acked_seq)
        broken(s, LAW_SHOWN, "run %u: visible up to %lld, acked %lld", k->place,
               (long long)r->durable_seq, (long long)k->acked_seq);
    if (k->waiting_bytes > 2 * QUEUE_BYTES_MAX)
        broken(s, LAW_WRITER, "run %u: %zu bytes wait at the store", k->place,
               k->waiting_bytes);
    if (r->shown.listen && is_ready(k->reader) &&
        !k->reader->filter.merge_count) /* those wait for company */
        broken(s, LAW_LISTEN, "run %u: %u events, and nobody told", k->place,
               r->shown.count);
    if (r->error.status == WEND_E_STALE && !k->stolen)
        broken(s, LAW_STALE, "run %u is stale, nobody stole it", k->place);
    k->stale_told |= r->error.status == WEND_E_STALE;
    check_stopping(s, k);
    if (!k->planned)
        check_hooks(s, k);
}

/* A record more than its limit, and a delta that was held. */
void check_queue(struct sim *s, const struct reader *r)
{
    uint32_t most = QUEUE_EVENTS_MAX + 1 + r->of->pack_max;

    if (r->handle && r->handle->shown.count > most)
        broken(s, LAW_QUEUE, "run %u: %u events wait, at most %u", r->of->place,
               r->handle->shown.count, most);
}

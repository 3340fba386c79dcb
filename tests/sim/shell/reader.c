/*
 * reader.c - those who read a run, and what they may be given.
 *
 * A reader writes down all it was given. In the end that is compared with
 * the log, read back by a runtime that knows nothing of the run.
 */
#include "reader.h"

struct reader *reader_add(struct sim *s, struct known *k, bool owner)
{
    struct reader *r = &s->readers[s->readers_count++];

    memset(r, 0, sizeof *r);
    r->sim = s;
    r->of = k;
    r->owner = owner;
    r->seen.mem = &libc_mem;
    return r;
}

/* ---- Writing down -------------------------------------------------------- */

static void note_line(struct reader *r, const wend_event *ev)
{
    char *json = NULL;
    size_t len = 0;

    if (wend_event_to_json(ev, &json, &len) != WEND_OK)
        abort();
    buf_char(&r->seen, '\n');
    buf_add(&r->seen, json, len);
    wend_string_free(json);
}

/* Where deltas are joined depends on when they came; their text and what
 * they belong to does not. */
static void note_joined(struct reader *r, const wend_event *ev)
{
    const wend_ev_delta *d = &ev->u.text_delta;

    if (r->joined != ev->type || r->joined_call != hash_of(d->call) ||
        r->seq != ev->seq)
        buf_fmt(&r->seen, "\n%s %lld %.*s: ", wend_event_name(ev->type),
                (long long)ev->seq, (int)d->call.len,
                d->call.ptr ? d->call.ptr : "");
    buf_str(&r->seen, d->text);
    r->joined_call = hash_of(d->call);
}

static void note(struct reader *r, const wend_event *ev)
{
    bool joins = ev->n && r->filter.merge_count > 1;

    if (joins)
        note_joined(r, ev);
    else
        note_line(r, ev);
    r->joined = joins ? ev->type : WEND_EVENT_NONE;
    r->seq = ev->seq;
    r->n = ev->n;
    r->time_us = ev->time_us;
    if (!ev->n)
        r->kept_len = r->seen.len;
}

/* ---- What may be given --------------------------------------------------- */

static bool wants(const struct reader *r, wend_event_type type)
{
    return !r->filter.types || r->filter.types >> type & 1;
}

static bool follows(const struct reader *r, const wend_event *ev)
{
    bool later = ev->seq > r->seq || (ev->seq == r->seq && ev->n > r->n);

    if (r->filter.types)
        return later && wants(r, ev->type);
    if (!ev->n)
        return ev->seq == r->seq + 1;
    return ev->seq == r->seq &&
           (r->filter.merge_count > 1 ? ev->n > r->n : ev->n == r->n + 1);
}

static void see(struct sim *s, struct reader *r, const wend_event *ev)
{
    const struct known *k = r->of;

    s->head.counters->events++;
    if (ev->seq > k->stored_seq || (r->owner && ev->seq > k->acked_seq))
        broken(s, LAW_SHOWN, "run %u: %s %lld/%lld, stored %lld, acked %lld",
               k->place, wend_event_name(ev->type), (long long)ev->seq,
               (long long)ev->n, (long long)k->stored_seq,
               (long long)k->acked_seq);
    if (!follows(r, ev) || r->ended || (!str_is(ev->run, k->id) && !k->forked))
        broken(s, LAW_ORDER, "run %u: %s %lld/%lld after %lld/%lld%s", k->place,
               wend_event_name(ev->type), (long long)ev->seq, (long long)ev->n,
               (long long)r->seq, (long long)r->n,
               r->ended ? " and the end" : "");
    if (ev->time_us < r->time_us)
        broken(s, LAW_ORDER, "run %u: time goes back at %lld/%lld", k->place,
               (long long)ev->seq, (long long)ev->n);
    if (ev->type == WEND_MODEL_START)
        r->repairs = ev->u.model_start.purpose == WEND_PURPOSE_REPAIR;
    if (r->repairs && !r->filter.types &&
        (ev->type == WEND_TEXT_DELTA || ev->type == WEND_THINKING_DELTA ||
         ev->type == WEND_ARGS_DELTA))
        broken(s, LAW_REPAIR, "run %u: %s %lld/%lld", k->place,
               wend_event_name(ev->type), (long long)ev->seq, (long long)ev->n);
    note(r, ev);
    trace(s, "run %u %s %s %lld/%lld", k->place,
          r->owner ? "shows" : "is followed:", wend_event_name(ev->type),
          (long long)ev->seq, (long long)ev->n);
    if (ev->type == WEND_RUN_END && r->owner)
        s->head.counters->outcomes[ev->u.run_end.outcome]++;
    s->head.counters->model_plans +=
        ev->type == WEND_PLAN_START && ev->u.plan_start.call.ptr;
    if (ev->type == WEND_CALL_END && r->owner)
        s->head.counters->deadlines +=
            ev->u.call_end.outcome == WEND_OUTCOME_TIMEOUT;
}

/* ---- Reading ------------------------------------------------------------- */

static void check_end(struct sim *s, struct reader *r)
{
    const struct known *k = r->of;

    if (!k->end_acked && !(k->cut && !r->owner))
        broken(s, LAW_ORDER, "run %u: ended before its end", k->place);
    r->ended = true;
    r->early = !k->end_acked;
    s->head.counters->ends++;
}

/* What a handle may say when it has nothing to give. */
static void check_status(struct sim *s, struct reader *r, wend_status st)
{
    const struct known *k = r->of;
    bool nomem = s->head.fault.hit && st == WEND_E_NOMEM;

    if (st == WEND_END)
        check_end(s, r);
    if (s->down && st != WEND_E_STORE && !(st < 0 && !r->owner) && !nomem &&
        !(k->stale_told && st == WEND_E_STALE))
        broken(s, LAW_FAILED, "run %u: poll says %s", k->place,
               wend_status_name(st));
    if (st == WEND_E_STALE && !k->stolen)
        broken(s, LAW_STALE, "run %u: poll says stale, nobody stole it",
               k->place);
    if (st < 0 && st != WEND_E_STALE && st != WEND_E_STORE && !nomem)
        broken(s, LAW_END, "run %u: poll says %s", k->place,
               wend_status_name(st));
    if (st == WEND_E_STORE && !s->store.failed)
        broken(s, LAW_END, "run %u: poll says store, which is well", k->place);
}

/* Next does not wait when there is something; otherwise it would, for real
 * time, which does not pass here. */
bool is_ready(const struct reader *r)
{
    const struct shown *q = &r->handle->shown;

    return r->owner && q->count &&
           q->ring[q->first]->seq <= r->handle->durable_seq;
}

/* At most max events; the status that ended it, WEND_OK if none did. */
wend_status read_on(struct sim *s, struct reader *r, uint32_t max)
{
    wend_status st = WEND_OK;
    const wend_event *ev;

    while (max-- && s->head.broken_count == 0) {
        bool waits = is_ready(r) && chance_of(&s->chance, 100);

        st = waits ? wend_run_next(r->handle, &ev)
                   : wend_run_poll(r->handle, &ev);
        if (st != WEND_OK) {
            check_status(s, r, st);
            break;
        }
        see(s, r, ev);
    }
    return st;
}

void on_event(void *ctx, const wend_event *ev)
{
    struct reader *r = ctx;
    const wend_event *other;

    see(r->sim, r, ev);
    r->sim->head.counters->listened++;
    if (wend_run_poll(r->handle, &other) != WEND_E_MISUSE)
        broken(r->sim, LAW_MISUSE, "run %u: poll inside a listener",
               r->of->place);
}

/* As its reader is inclined to; `all` for one who has come to read. */
void read_some(struct sim *s, struct reader *r, bool all)
{
    uint32_t max = 0;

    if (!r->handle || (r->ended && !s->down))
        return;
    switch (r->style) {
    case READ_ALL: max = UINT32_MAX; break;
    case READ_SOME: max = chance_below(&s->chance, 4); break;
    case READ_SELDOM:
        max = chance_of(&s->chance, 20) ? chance_below(&s->chance, 500) : 0;
        break;
    case READ_LATE:
    case READ_LISTEN:
    case STYLES: break;
    }
    s->head.counters->lagged += r->handle->shown.lagged && r->owner;
    s->head.counters->merged += r->handle->shown.held != NULL;
    read_on(s, r, all ? UINT32_MAX : max);
}

/* ---- The log, read back -------------------------------------------------- */

struct looked {
    struct reader log;               /* everything */
    struct reader want[READERS_MAX]; /* what each of the run's should have */
    struct set starts, ends;
    struct set action_starts, action_ends;
    wend_laws *laws;
};

/* What a request led to. */
static void find_posted(struct sim *s, const struct known *k,
                        const wend_event *ev)
{
    for (uint32_t i = 0; i < s->posts_count; i++) {
        struct posted *p = &s->posts[i];

        if (p->to == k &&
            (ev->type == WEND_MESSAGE ? str_is(ev->u.message.text, p->text)
                                      : !strcmp(p->what, "cancel")))
            p->found++;
    }
}

static void look(struct sim *s, struct looked *l, const struct known *k,
                 const wend_event *ev)
{
    wend_error err = {0};

    if (wend_laws_add(l->laws, ev, &err) != WEND_OK)
        broken(s, LAW_STREAM, "run %u: %s", k->place, err.message);
    if (ev->type == WEND_RUN_END &&
        (ev->u.run_end.metrics.ms < 0 ||
         ev->u.run_end.metrics.ms > s->world.clock_us / 1000))
        broken(s, LAW_TIME, "run %u: %lld ms, in a world of %lld ms", k->place,
               (long long)ev->u.run_end.metrics.ms,
               (long long)s->world.clock_us / 1000);
    if (!follows(&l->log, ev))
        broken(s, LAW_ORDER, "run %u: the log has %s %lld/%lld after %lld/%lld",
               k->place, wend_event_name(ev->type), (long long)ev->seq,
               (long long)ev->n, (long long)l->log.seq, (long long)l->log.n);
    l->log.seq = ev->seq;
    l->log.n = ev->n;
    for (uint32_t i = 0; i < s->readers_count; i++)
        if (s->readers[i].of == k && ev->seq > s->readers[i].from &&
            wants(&s->readers[i], ev->type))
            note(&l->want[i], ev);
    if (ev->type == WEND_MESSAGE ||
        (ev->type == WEND_CONTROL && (str_is(ev->u.control.what, "cancel") ||
                                      str_is(ev->u.control.what, "limits"))))
        find_posted(s, k, ev);
    if (ev->type == WEND_CALL_START && ev->u.call_start.attempt == 1)
        set_add(&l->starts,
                hash_of(ev->u.call_start.call) + (uint64_t)ev->turn);
    if (ev->type == WEND_CALL_END &&
        ev->u.call_end.outcome != WEND_OUTCOME_SUPERSEDED)
        set_add(&l->ends, hash_of(ev->u.call_end.call) + (uint64_t)ev->turn);
    if (ev->type == WEND_ACTION_START && ev->u.action_start.attempt == 1)
        set_add(&l->action_starts, hash_of(ev->u.action_start.action));
    if (ev->type == WEND_ACTION_END &&
        ev->u.action_end.outcome != WEND_OUTCOME_SUPERSEDED)
        set_add(&l->action_ends, hash_of(ev->u.action_end.action));
}

static void compare(struct sim *s, const struct reader *r, struct buf *want)
{
    const struct known *k = r->of;
    bool failed =
        r->orphan ||
        (!r->ended && known_failed(s, k) &&
         !(k->cut && !s->store.failed && !k->stolen && !s->head.fault.hit));
    size_t len = failed ? r->kept_len : r->seen.len, i = 0;

    while (i < len && i < want->len && r->seen.ptr[i] == want->ptr[i])
        i++;
    if (i < len || (r->ended && !r->early && k->end_acked && len != want->len))
        broken(s, LAW_LOG,
               "run %u: %s of %zu bytes, log of %zu, differ at %zu: "
               "'%.80s', log '%.80s'",
               k->place, r->owner ? "reader" : "follower", len, want->len, i,
               i < r->seen.len ? r->seen.ptr + i : "",
               i < want->len ? want->ptr + i : "");
}

static void check_calls(struct sim *s, const struct known *k,
                        const struct looked *l)
{
    for (uint32_t i = 0; i < l->ends.count; i++)
        if (set_count(&l->ends, l->ends.at[i]) != 1 ||
            set_count(&l->starts, l->ends.at[i]) != 1)
            broken(s, LAW_CALL_END, "run %u: a call ends twice", k->place);
    if (k->end_acked && l->starts.count != l->ends.count)
        broken(s, LAW_CALL_END, "run %u: %u calls start, %u end", k->place,
               l->starts.count, l->ends.count);
}

/* One that is skipped has an end and no start. */
static void check_actions(struct sim *s, const struct known *k,
                          const struct looked *l)
{
    for (uint32_t i = 0; i < l->action_ends.count; i++)
        if (set_count(&l->action_ends, l->action_ends.at[i]) != 1)
            broken(s, LAW_ACTION_END, "run %u: an action ends twice", k->place);
    for (uint32_t i = 0; i < l->action_starts.count; i++)
        if (set_count(&l->action_starts, l->action_starts.at[i]) != 1 ||
            (k->end_acked &&
             set_count(&l->action_ends, l->action_starts.at[i]) != 1))
            broken(s, LAW_ACTION_END, "run %u: an action has no end", k->place);
    s->head.counters->actions += l->action_starts.count;
}

static void check_chain(struct sim *s, const struct known *k)
{
    wend_verdict v = {.size = sizeof v};
    wend_error err = {0};

    if (wend_store_verify(s->store.store, k->id, NULL, &v, &err) != WEND_OK)
        broken(s, LAW_CHAIN, "run %u: %s", k->place, err.message);
    else if (v.bad_seq || v.seq != k->stored_seq)
        broken(s, LAW_CHAIN, "run %u: event %lld of %lld: %s", k->place,
               (long long)v.bad_seq, (long long)k->stored_seq, v.why);
}

/* rt is a fresh one over the same store. */
void check_log(struct sim *s, wend_runtime *rt, struct known *k)
{
    static struct looked l;
    const wend_event *ev;
    wend_run *log = NULL;
    wend_status st;

    if (k->stored_seq)
        check_chain(s, k);
    if (!k->stored_seq)
        return;
    if (wend_store_replay(rt, k->id, NULL, &log, NULL) != WEND_OK) {
        broken(s, LAW_LOG, "run %u: its log cannot be read", k->place);
        return;
    }
    memset(&l, 0, sizeof l);
    if (wend_laws_new(&l.laws) != WEND_OK)
        abort();
    for (uint32_t i = 0; i < s->readers_count; i++) {
        l.want[i].filter = s->readers[i].filter;
        l.want[i].seen.mem = &libc_mem;
    }
    while ((st = wend_run_poll(log, &ev)) == WEND_OK)
        look(s, &l, k, ev);
    if (st != WEND_END || l.log.seq < k->acked_seq)
        broken(s, LAW_LOG, "run %u: the log ends at %lld (%s), acked %lld",
               k->place, (long long)l.log.seq, wend_status_name(st),
               (long long)k->acked_seq);
    for (uint32_t i = 0; i < s->readers_count; i++) {
        if (s->readers[i].of == k)
            compare(s, &s->readers[i], &l.want[i].seen);
        buf_free(&l.want[i].seen);
    }
    check_calls(s, k, &l);
    if (k->planned) /* else several plans may have the same names */
        check_actions(s, k, &l);
    if (k->end_acked && wend_laws_end(l.laws, NULL) != WEND_OK)
        broken(s, LAW_STREAM, "run %u: it has not ended", k->place);
    wend_laws_free(l.laws);
    free(l.action_starts.at);
    free(l.action_ends.at);
    free(l.starts.at);
    free(l.ends.at);
    wend_run_free(log);
}

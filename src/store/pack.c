/*
 * pack.c - deltas in the log: many in one record, each with its boundary.
 *
 * pack_read gives back exactly what pack_add was given, an absent string
 * as absent and an empty one as empty.
 */
#include "store/pack.h"

#include <assert.h>

#include "base/fail.h"

enum { DELTA_PLAIN = 3, DELTA_FULL = 6 }; /* members of one delta */

static const char kinds[WEND_EVENT_TYPES] = {
    [WEND_THINKING_DELTA] = 'k', [WEND_TEXT_DELTA] = 'x',
    [WEND_ARGS_DELTA] = 'a',     [WEND_CALL_OUTPUT] = 'o',
    [WEND_ACTION_OUTPUT] = 'p',
};

static wend_event_type type_of(wend_str kind)
{
    for (int t = 0; kind.len == 1 && t < WEND_EVENT_TYPES; t++)
        if (kinds[t] && kinds[t] == kind.ptr[0])
            return (wend_event_type)t;
    return WEND_EVENT_NONE;
}

static void put_str(struct buf *b, wend_str s)
{
    buf_char(b, ',');
    if (s.ptr)
        json_put_str(b, s);
    else
        buf_cstr(b, "null");
}

void pack_add(struct pack *p, const wend_event *delta)
{
    /* All deltas have the same payload, whichever member is named. */
    const wend_ev_delta *d = &delta->u.text_delta;
    const wend_str rest[] = {d->call, d->action, d->branch};
    size_t rest_count = sizeof rest / sizeof *rest;
    const char open[] = {'[', '"', kinds[delta->type], '"', ','};

    assert(kinds[delta->type]);
    if (!p->count) {
        p->seq = delta->seq;
        p->n = delta->n;
        p->time_us = delta->time_us;
        buf_char(&p->body, '[');
        buf_i64(&p->body, delta->time_us);
    }
    buf_char(&p->body, ',');
    buf_add(&p->body, open, sizeof open);
    buf_i64(&p->body, delta->time_us - p->time_us);
    put_str(&p->body, d->text);
    while (rest_count && !rest[rest_count - 1].ptr)
        rest_count--;
    for (size_t i = 0; i < rest_count; i++)
        put_str(&p->body, rest[i]);
    buf_char(&p->body, ']');
    p->time_us = delta->time_us;
    p->text_bytes += d->text.len;
    p->count++;
}

wend_str pack_close(struct pack *p)
{
    buf_char(&p->body, ']');
    return buf_view(&p->body);
}

void pack_clear(struct pack *p)
{
    buf_clear(&p->body);
    p->seq = p->n = p->count = p->time_us = 0;
    p->text_bytes = 0;
}

/* False unless j is a string or null; past the last member means absent. */
static bool take_str(const struct json **j, wend_str *out)
{
    const struct json *value = *j;

    *out = STR_NONE;
    if (!value)
        return true;
    *j = value->next;
    if (value->kind == JSON_STRING)
        *out = value->text;
    return value->kind == JSON_STRING || value->kind == JSON_NULL;
}

/* e->time_us is that of the delta before. */
static bool read_delta(const struct json *j, wend_event *e)
{
    wend_ev_delta *d = &e->u.text_delta;
    int64_t later_us;

    if (j->kind != JSON_ARRAY || j->count < DELTA_PLAIN ||
        j->count > DELTA_FULL)
        return false;
    j = j->first;
    e->type = type_of(json_str(j));
    j = j->next;
    if (e->type == WEND_EVENT_NONE || !json_i64(j, &later_us) ||
        __builtin_add_overflow(e->time_us, later_us, &e->time_us))
        return false;
    j = j->next;
    return take_str(&j, &d->text) && take_str(&j, &d->call) &&
           take_str(&j, &d->action) && take_str(&j, &d->branch);
}

static wend_status damaged(wend_error *err, int64_t seq, int64_t n)
{
    return fail(err, WEND_E_CORRUPT,
                "the log is damaged at delta %lld after event %lld",
                (long long)n, (long long)seq);
}

wend_status pack_read(wend_str body, int64_t seq, int64_t n,
                      struct arena *scratch, pack_fn fn, void *ctx,
                      wend_error *err)
{
    wend_error why = {0};
    const struct json *j = json_parse(body, scratch, &why);
    int64_t time_us;

    if (!j && why.status == WEND_E_NOMEM)
        return fail_nomem(err);
    if (!j || j->kind != JSON_ARRAY || !json_i64(j->first, &time_us))
        return damaged(err, seq, n);
    for (j = j->first->next; j; j = j->next) {
        wend_event e = {.seq = seq, .n = n++, .time_us = time_us};

        if (!read_delta(j, &e))
            return damaged(err, seq, e.n);
        time_us = e.time_us;
        if (!fn(ctx, &e))
            break;
    }
    return WEND_OK;
}

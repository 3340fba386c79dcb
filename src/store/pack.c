/*
 * pack.c - deltas in the log: many in one record, each with its boundary.
 *
 * pack_read gives back exactly what pack_add was given, an absent id as
 * absent and an empty one as empty; a delta's text is never absent.
 */
#include "store/pack.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"

enum { LIST_PLAIN = 3, LIST_FULL = LIST_PLAIN + PACK_IDS };

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

void pack_init(struct pack *p, const struct mem *m)
{
    memset(p, 0, sizeof *p);
    p->body.mem = p->text.mem = p->marks.mem = m;
    for (int i = 0; i < PACK_IDS; i++)
        p->ids[i].mem = m;
}

void pack_free(struct pack *p)
{
    buf_free(&p->body);
    buf_free(&p->text);
    buf_free(&p->marks);
    for (int i = 0; i < PACK_IDS; i++)
        buf_free(&p->ids[i]);
}

/* Clearing a buffer forgives it; the pack does not forget. */
static void note_failure(struct pack *p)
{
    p->failed |= p->body.failed || p->text.failed || p->marks.failed ||
                 p->ids[0].failed || p->ids[1].failed || p->ids[2].failed;
}

/* ---- Writing ------------------------------------------------------------- */

static void end_list(struct pack *p)
{
    const char open[] = {',', '[', '"', kinds[p->type], '"', ','};
    int ids = PACK_IDS;

    if (p->type == WEND_EVENT_NONE)
        return;
    buf_add(&p->body, open, sizeof open);
    json_put_str(&p->body, buf_view(&p->text));
    buf_add(&p->body, ",[", 2);
    buf_str(&p->body, buf_view(&p->marks));
    buf_char(&p->body, ']');
    while (ids && !p->has_id[ids - 1])
        ids--;
    for (int i = 0; i < ids; i++) {
        buf_char(&p->body, ',');
        if (p->has_id[i])
            json_put_str(&p->body, buf_view(&p->ids[i]));
        else
            buf_cstr(&p->body, "null");
    }
    buf_char(&p->body, ']');
    note_failure(p);
    buf_clear(&p->text);
    buf_clear(&p->marks);
    p->type = WEND_EVENT_NONE;
}

static bool goes_on(const struct pack *p, wend_event_type type,
                    const wend_str *ids)
{
    if (p->type != type)
        return false;
    for (int i = 0; i < PACK_IDS; i++)
        if (p->has_id[i] != (ids[i].ptr != NULL) ||
            (ids[i].ptr && !str_eq(ids[i], buf_view(&p->ids[i]))))
            return false;
    return true;
}

static void begin_list(struct pack *p, wend_event_type type,
                       const wend_str *ids)
{
    p->type = type;
    for (int i = 0; i < PACK_IDS; i++) {
        p->has_id[i] = ids[i].ptr != NULL;
        buf_clear(&p->ids[i]);
        buf_str(&p->ids[i], ids[i]);
    }
}

bool pack_add(struct pack *p, const wend_event *delta)
{
    /* All deltas have the same payload, whichever member is named. */
    const wend_ev_delta *d = &delta->u.text_delta;
    const wend_str ids[PACK_IDS] = {d->call, d->action, d->branch};

    assert(kinds[delta->type]);
    if (!p->count) {
        p->seq = delta->seq;
        p->n = delta->n;
        p->time_us = delta->time_us;
        buf_char(&p->body, '[');
        buf_i64(&p->body, delta->time_us);
    }
    if (!goes_on(p, delta->type, ids)) {
        end_list(p);
        begin_list(p, delta->type, ids);
    }
    if (p->marks.len)
        buf_char(&p->marks, ',');
    buf_i64(&p->marks, (int64_t)d->text.len);
    buf_char(&p->marks, ',');
    buf_i64(&p->marks, delta->time_us - p->time_us);
    buf_str(&p->text, d->text);
    p->time_us = delta->time_us;
    p->text_bytes += d->text.len;
    p->count++;
    note_failure(p);
    return !p->failed;
}

bool pack_close(struct pack *p, wend_str *body)
{
    const struct mem *m = p->body.mem;
    bool ok;

    end_list(p);
    buf_char(&p->body, ']');
    note_failure(p);
    ok = !p->failed;
    if (ok) {
        *body = buf_view(&p->body);
        p->body = (struct buf){.mem = m};
    }
    p->seq = p->n = p->count = p->time_us = 0;
    p->text_bytes = 0;
    p->failed = false;
    return ok;
}

/* ---- Reading ------------------------------------------------------------- */

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

struct list {
    wend_event ev; /* what the deltas of this list share */
    wend_str text; /* not yet given out */
    const struct json *mark;
};

static bool list_open(const struct json *j, struct list *l)
{
    wend_ev_delta *d = &l->ev.u.text_delta;

    if (j->kind != JSON_ARRAY || j->count < LIST_PLAIN || j->count > LIST_FULL)
        return false;
    j = j->first;
    l->ev.type = type_of(json_str(j));
    j = j->next;
    l->text = json_str(j);
    j = j->next;
    if (l->ev.type == WEND_EVENT_NONE || !l->text.ptr ||
        j->kind != JSON_ARRAY || !j->count || j->count % 2)
        return false;
    l->mark = j->first;
    j = j->next;
    return take_str(&j, &d->call) && take_str(&j, &d->action) &&
           take_str(&j, &d->branch);
}

/* One delta off the list; false if its mark is wrong. */
static bool list_take(struct list *l)
{
    int64_t len, later_us;

    if (!json_i64(l->mark, &len) || len < 0 || (size_t)len > l->text.len ||
        !json_i64(l->mark->next, &later_us) ||
        __builtin_add_overflow(l->ev.time_us, later_us, &l->ev.time_us))
        return false;
    l->ev.u.text_delta.text = (wend_str){l->text.ptr, (size_t)len};
    l->text.ptr += len;
    l->text.len -= (size_t)len;
    l->mark = l->mark->next->next;
    return l->mark || !l->text.len; /* the marks cover all of the text */
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
    struct list l;

    if (!j && why.status == WEND_E_NOMEM)
        return fail_nomem(err);
    memset(&l, 0, sizeof l);
    if (!j || j->kind != JSON_ARRAY || !json_i64(j->first, &l.ev.time_us))
        return damaged(err, seq, n);
    l.ev.seq = seq;
    for (j = j->first->next; j; j = j->next) {
        if (!list_open(j, &l))
            return damaged(err, seq, n);
        while (l.mark) {
            wend_event ev;

            if (!list_take(&l))
                return damaged(err, seq, n);
            ev = l.ev; /* fn may write into its own */
            ev.n = n++;
            if (!fn(ctx, &ev))
                return WEND_OK;
        }
    }
    return WEND_OK;
}

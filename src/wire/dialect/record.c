/*
 * record.c - what the records of all dialects share.
 */
#include "wire/dialect/record.h"

#include <string.h>

#include "base/hash.h"

void record_fate(struct buf *b, wend_outcome outcome, bool truncated,
                 bool cached)
{
    if (outcome != WEND_OUTCOME_OK)
        json_add_str(b, "outcome", str_of(wend_outcome_name(outcome)));
    if (truncated)
        json_add_bool(b, "truncated", true);
    if (cached)
        json_add_bool(b, "cached", true);
}

void record_let_go(struct buf *held, struct buf *out)
{
    out->failed |= held->failed;
    buf_str(out, buf_view(held));
    buf_clear(held);
}

void record_calls_init(struct record_calls *c, const struct mem *m)
{
    c->held.mem = c->open.mem = m;
}

void record_calls_free(struct record_calls *c)
{
    buf_free(&c->held);
    buf_free(&c->open);
}

/* Of the call or action that the event is about. */
static uint64_t hash_of(const wend_event *ev)
{
    bool action = ev->type == WEND_ACTION_START || ev->type == WEND_ACTION_END;
    wend_str id = ev->type == WEND_CALL_START     ? ev->u.call_start.call
                  : ev->type == WEND_CALL_END     ? ev->u.call_end.call
                  : ev->type == WEND_ACTION_START ? ev->u.action_start.action
                                                  : ev->u.action_end.action;

    return mix64(action, id.ptr, id.len);
}

/* Where it is in `open`; the end of it: nowhere. */
static size_t find_open(const struct record_calls *c, uint64_t hash)
{
    size_t at = 0;

    while (at < c->open.len && memcmp(c->open.ptr + at, &hash, sizeof hash))
        at += sizeof hash;
    return at;
}

bool record_calls_begin(struct record_calls *c, const wend_event *ev)
{
    uint64_t hash = hash_of(ev);

    if (find_open(c, hash) < c->open.len)
        return false;
    buf_add(&c->open, (const char *)&hash, sizeof hash);
    return true;
}

bool record_calls_end(struct record_calls *c, const wend_event *ev)
{
    uint64_t hash = hash_of(ev);
    size_t at = find_open(c, hash);
    wend_outcome outcome = ev->type == WEND_CALL_END ? ev->u.call_end.outcome
                                                     : ev->u.action_end.outcome;

    if (outcome == WEND_OUTCOME_SUPERSEDED)
        return false;
    if (at < c->open.len) {
        c->open.len -= sizeof hash;
        memmove(c->open.ptr + at, c->open.ptr + c->open.len, sizeof hash);
    }
    return true;
}

struct buf *record_calls_out(struct record_calls *c, struct buf *out)
{
    return c->in_model ? &c->held : out;
}

void record_calls_model(struct record_calls *c, const wend_event *ev,
                        struct buf *out)
{
    if (ev->type == WEND_MODEL_START && !ev->u.model_start.action.ptr)
        c->in_model = true;
    if (ev->type != WEND_MODEL_END || ev->u.model_end.action.ptr)
        return;
    c->in_model = false;
    record_let_go(&c->held, out);
}

/*
 * record.c - the members of a dialect's records, written one by one.
 */
#include "wire/record.h"

void record_key(struct buf *b, const char *name)
{
    if (b->len && b->ptr[b->len - 1] != '{')
        buf_char(b, ',');
    buf_char(b, '"');
    buf_cstr(b, name);
    buf_add(b, "\":", 2);
}

void record_str(struct buf *b, const char *name, wend_str s)
{
    if (!s.ptr)
        return;
    record_key(b, name);
    json_put_str(b, s);
}

void record_i64(struct buf *b, const char *name, int64_t n)
{
    record_key(b, name);
    buf_i64(b, n);
}

void record_f64(struct buf *b, const char *name, double d)
{
    record_key(b, name);
    json_put_f64(b, d);
}

void record_bool(struct buf *b, const char *name, bool yes)
{
    record_key(b, name);
    buf_cstr(b, yes ? "true" : "false");
}

void record_open(struct buf *b, const char *name)
{
    record_key(b, name);
    buf_char(b, '{');
}

void record_close(struct buf *b)
{
    buf_char(b, '}');
}

void record_fate(struct buf *b, wend_outcome outcome, bool truncated,
                 bool cached)
{
    if (outcome != WEND_OUTCOME_OK)
        record_str(b, "outcome", str_of(wend_outcome_name(outcome)));
    if (truncated)
        record_bool(b, "truncated", true);
    if (cached)
        record_bool(b, "cached", true);
}

void record_let_go(struct buf *held, struct buf *out)
{
    out->failed |= held->failed;
    buf_str(out, buf_view(held));
    buf_clear(held);
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

/*
 * source.c - where the bytes of an answer come from: the network or a tape.
 */
#include "lib/model/source.h"

#include "lib/model/tape.h"

wend_status source_start(struct source *s, wend_runtime *rt, struct tape *tape,
                         const struct fetch_request *q,
                         const struct fetch_events *events, void *ctx,
                         wend_error *err)
{
    struct fetch *fetch;
    wend_status st;

    if (tape && tape->plays)
        return tape_play(tape, rt, q, events, ctx, &s->flow, err);
    st = rt_fetch(rt, &fetch, err);
    if (st != WEND_OK)
        return st;
    if (tape)
        return tape_record(tape, rt, fetch, q, events, ctx, &s->flow, err);
    return fetch_start(fetch, q, events, ctx, &s->transfer, err);
}

bool source_busy(const struct source *s)
{
    return s->transfer || s->flow;
}

wend_str source_header(const struct source *s, const char *name)
{
    return s->flow ? s->flow->ops->header(s->flow, name)
                   : fetch_header(s->transfer, name);
}

void source_resume(struct source *s)
{
    if (s->flow)
        s->flow->ops->resume(s->flow);
    else if (s->transfer)
        fetch_resume(s->transfer);
}

void source_stop(struct source *s)
{
    struct source was = *s;

    source_over(s);
    if (was.flow)
        was.flow->ops->stop(was.flow);
    if (was.transfer)
        fetch_stop(was.transfer);
}

void source_over(struct source *s)
{
    *s = (struct source){NULL, NULL};
}

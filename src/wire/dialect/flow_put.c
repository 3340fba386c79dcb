/*
 * flow_put.c - what the forms of protocols need to write their records.
 */
#include "wire/dialect/flow.h"

/* ---- Records ------------------------------------------------------------- */

struct buf *flow_record(struct flow *f, const char *type)
{
    json_open(f->out, NULL, '{');
    json_add_str(f->out, "type", str_of(type));
    return f->out;
}

void flow_record_end(struct flow *f)
{
    json_close(f->out, '}');
    buf_char(f->out, '\n');
}

void flow_undo(struct flow *f)
{
    if (f->mark < f->done.len)
        f->done.ptr[f->done.len = f->mark] = 0;
}

/* ---- Calls --------------------------------------------------------------- */

wend_str flow_args(struct flow *f, const struct flow_call *c)
{
    const struct json *j;

    if (c->args.ptr[0] != '"')
        return c->args;
    j = record_json(f->s, c->args);
    return j ? str_or(json_str(j), "") : c->args;
}

wend_str flow_output(const wend_ev_call_end *e)
{
    if (e->output.len)
        return e->output;
    if (e->error && e->error->message.len)
        return e->error->message;
    return e->outcome == WEND_OUTCOME_OK
               ? STR("")
               : str_of(wend_outcome_name(e->outcome));
}

bool flow_is_pending(const struct flow *f)
{
    const struct flow_call *c = f->calls;

    while (c && !c->client)
        c = c->next;
    return c;
}

void flow_add_pending(struct flow *f, const char *key)
{
    if (!flow_is_pending(f))
        return;
    json_open(f->out, key, '[');
    for (const struct flow_call *c = f->calls; c; c = c->next)
        if (c->client)
            json_add_str(f->out, NULL, buf_view(&c->shown));
    json_close(f->out, ']');
}

const struct flow_call *flow_asked(const struct flow *f,
                                   const struct flow_call *c)
{
    c = c ? c->next : f->calls;
    while (c && !c->asked)
        c = c->next;
    return c;
}

/* ---- Ends ---------------------------------------------------------------- */

enum flow_end flow_ended(const struct flow *f, const wend_ev_run_end *e)
{
    wend_str finish = buf_view(&f->finish);

    if (e->outcome == WEND_OUTCOME_CANCELED)
        return FLOW_CANCELED;
    if (e->outcome == WEND_OUTCOME_LIMIT)
        return FLOW_LENGTH;
    if (e->outcome != WEND_OUTCOME_OK)
        return FLOW_FAILED;
    return flow_is_pending(f)                 ? FLOW_CALLS
           : str_is(finish, "length")         ? FLOW_LENGTH
           : str_is(finish, "content_filter") ? FLOW_FILTER
                                              : FLOW_STOP;
}

wend_str flow_why(const wend_ev_run_end *e)
{
    if (e->error && e->error->message.len)
        return e->error->message;
    return e->outcome == WEND_OUTCOME_CANCELED ? STR("the run was canceled")
                                               : STR("the run failed");
}

wend_str flow_code(const wend_ev_run_end *e)
{
    return e->error && e->error->code.len
               ? e->error->code
               : str_of(wend_outcome_name(e->outcome));
}

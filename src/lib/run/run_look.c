/*
 * run_look.c - what a host can ask about a run.
 */
#include "lib/run/run.h"

const char *wend_run_id(const wend_run *r)
{
    return r && r->magic == RUN_MAGIC &&
                   forked_check(r->process, NULL) == WEND_OK
               ? r->id
               : NULL;
}

wend_status wend_run_outcome(const wend_run *r, wend_outcome *out)
{
    if (!r || !out || r->magic != RUN_MAGIC)
        return WEND_E_INVAL;
    if (forked_check(r->process, NULL) != WEND_OK ||
        (r->rt && rt_enter(r->rt) != WEND_OK))
        return WEND_E_MISUSE;
    if (r->outcome == WEND_OUTCOME_NONE ||
        (r->agent && r->durable_seq != r->turn.seq)) /* it may be refused */
        return WEND_AGAIN;
    *out = r->outcome;
    return WEND_OK;
}

const wend_error *wend_run_error(const wend_run *r)
{
    static _Thread_local wend_error forked;

    if (!r || r->magic != RUN_MAGIC)
        return NULL;
    if (forked_check(r->process, &forked) != WEND_OK)
        return &forked;
    return r->error.status != WEND_OK ? &r->error : &r->said;
}

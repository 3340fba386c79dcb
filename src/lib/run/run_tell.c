/*
 * run_tell.c - what a host tells a run that is under way.
 */

#include "lib/run/shell.h"

#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"

static wend_status tell(struct wend_run *r, struct input *in)
{
    wend_status s = run_enter(r);

    if (s != WEND_OK)
        return s;
    if (!r->agent)
        return fail(&r->said, WEND_E_INVAL, "a replay takes no input");
    if (r->error.status != WEND_OK)
        return r->error.status;
    if (r->over)
        return fail(&r->said, WEND_END, "the run is over");
    shell_input(r, in);
    return r->error.status;
}

wend_status wend_run_say(wend_run *r, wend_str text)
{
    struct input in = {.kind = IN_SAY};
    wend_status s = text.ptr ? run_enter(r) : WEND_E_INVAL;
    struct buf b = {0};

    if (s != WEND_OK)
        return s;
    if (text.len > BLOB_BYTES_MAX)
        return fail(&r->said, WEND_E_LIMIT, "the text is over %d bytes",
                    BLOB_BYTES_MAX);
    b.mem = &r->rt->mem;
    utf8_repair(&b, text);
    in.text = buf_view(&b);
    s = b.failed ? fail_nomem(&r->said) : tell(r, &in);
    buf_free(&b);
    return s;
}

static bool action_waits(const wend_run *r, wend_str id)
{
    const struct plan_state *p = &r->turn.plan;
    uint32_t i = p->started ? plan_find(p->plan, id) : PLAN_NONE;

    return i != PLAN_NONE && action_needs_approval(plan_action_state(p, i));
}

static wend_status approve(wend_run *r, wend_str call, bool yes, bool remember,
                           const char *by)
{
    struct input in = {.kind = IN_APPROVAL};
    wend_status s = call.ptr ? run_enter(r) : WEND_E_INVAL;
    int i;

    if (s != WEND_OK)
        return s;
    i = turn_call_index(&r->turn, call);
    if (!action_waits(r, call) &&
        (i < 0 || !turn_call_waits(&r->turn, (uint32_t)i)))
        return fail(&r->said, WEND_E_NOTFOUND,
                    "no call or action '%.*s' waits for approval",
                    (int)call.len, call.ptr);
    in.approval.call = call;
    in.approval.yes = yes;
    in.approval.remember = remember;
    in.approval.by = utf8_keep(str_of(by ? by : "api"), &r->arena);
    return tell(r, &in);
}

wend_status wend_run_approve(wend_run *r, wend_str call, bool yes,
                             const char *by)
{
    return approve(r, call, yes, false, by);
}

wend_status wend_run_approve_always(wend_run *r, wend_str call, bool yes,
                                    const char *by)
{
    return approve(r, call, yes, true, by);
}

wend_status wend_run_pause(wend_run *r)
{
    struct input in = {.kind = IN_PAUSE, .by = STR("api")};

    return tell(r, &in);
}

wend_status wend_run_continue(wend_run *r)
{
    struct input in = {.kind = IN_CONTINUE, .by = STR("api")};

    return tell(r, &in);
}

wend_status wend_run_cancel(wend_run *r)
{
    return wend_run_cancel_by(r, "api");
}

wend_status wend_run_cancel_by(wend_run *r, const char *by)
{
    size_t len = by ? strlen(by) : 0;

    if (!r || !len || len > CANCEL_BY_MAX || utf8_valid_len(str_of(by)) != len)
        return WEND_E_INVAL;
    if (r->magic != RUN_MAGIC || forked_check(r->process, NULL) != WEND_OK)
        return WEND_E_MISUSE;
    if (atomic_load(&r->mailbox->store_failed))
        return WEND_E_STORE;
    if (atomic_exchange(&r->cancel_posted, true))
        return WEND_OK; /* one is on its way */
    memcpy(r->cancel_by, by, len + 1);
    if (mailbox_post(r->mailbox, &r->cancel_post))
        return WEND_OK;
    atomic_store(&r->cancel_posted, false);
    return WEND_E_MISUSE; /* the runtime is gone */
}

/* ---- What a host can ask ------------------------------------------------- */

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

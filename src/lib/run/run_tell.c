/*
 * run_tell.c - what a host tells a run that is under way.
 */

#include "lib/run/child.h"
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

static wend_status tell_text(struct wend_run *r, struct input *in,
                             wend_str text, size_t most)
{
    wend_status s = run_enter(r);
    struct buf b = {0};

    if (s != WEND_OK)
        return s;
    if (text.len > most)
        return fail(&r->said, WEND_E_LIMIT, "the text is over %zu bytes", most);
    b.mem = &r->rt->mem;
    utf8_repair(&b, text);
    in->text = buf_view(&b);
    s = b.failed ? fail_nomem(&r->said) : tell(r, in);
    buf_free(&b);
    return s;
}

wend_status wend_run_say(wend_run *r, wend_str text)
{
    return wend_run_say_parts(r, text, NULL, 0);
}

wend_status wend_run_say_parts(wend_run *r, wend_str text,
                               const wend_part *parts, size_t count)
{
    struct input in = {.kind = IN_SAY};
    struct parts_given given = {.parts = parts, .count = count};
    wend_status s = text.ptr ? run_enter(r) : WEND_E_INVAL;
    struct arena a = {0};

    if (s != WEND_OK)
        return s;
    a.mem = &r->rt->mem;
    given.agent = r->agent;
    if (r->agent && r->turn.config)
        given.model = turn_model(&r->turn);
    if (given.model)
        given.refused = ~turn_media(&r->turn);
    s = parts_take(&given, &a, &in.parts, &r->said);
    if (s == WEND_OK)
        s = tell_text(r, &in, text, BLOB_BYTES_MAX);
    arena_free(&a);
    return s;
}

wend_status run_control(wend_run *r, enum input_kind kind, wend_str text,
                        wend_str by)
{
    struct input in = {.kind = kind, .by = by};

    return kind == IN_COMPACT ? tell_text(r, &in, text, FOCUS_BYTES_MAX)
                              : tell(r, &in);
}

wend_status wend_run_compact(wend_run *r, wend_str focus)
{
    return run_control(r, IN_COMPACT, focus, STR("api"));
}

static bool action_waits(const wend_run *r, wend_str id)
{
    const struct plan_state *p = &r->turn.plan;
    uint32_t i = p->started ? plan_find(p->plan, id) : PLAN_NONE;

    return i != PLAN_NONE && action_needs_approval(plan_action_state(p, i));
}

static bool waits(const wend_run *r, wend_str call)
{
    int i = turn_call_index(&r->turn, call);

    return action_waits(r, call) ||
           (i >= 0 && turn_call_waits(&r->turn, (uint32_t)i));
}

wend_str run_args_refused(const struct wend_run *r, wend_str call,
                          wend_str args, struct arena *a)
{
    return call.ptr && waits(r, call) ? changed_refused(&r->turn, call, args, a)
                                      : STR_NONE;
}

static wend_status find_waiting(wend_run *r, wend_str call)
{
    wend_status s = call.ptr ? run_enter(r) : WEND_E_INVAL;

    if (s != WEND_OK)
        return s;
    if (waits(r, call))
        return WEND_OK;
    return fail(&r->said, WEND_E_NOTFOUND,
                "no call or action '%.*s' waits for approval", (int)call.len,
                call.ptr);
}

static wend_status approve(wend_run *r, wend_str call, bool yes, bool remember,
                           wend_str args, const char *by)
{
    struct input in = {
        .kind = IN_APPROVAL,
        .approval = {
            .call = call, .args = args, .yes = yes, .remember = remember}};
    wend_status s = find_waiting(r, call);

    if (s != WEND_OK)
        return s;
    in.approval.by = utf8_keep(str_of(by ? by : "api"), &r->arena);
    return tell(r, &in);
}

wend_status wend_run_approve(wend_run *r, wend_str call, bool yes,
                             const char *by)
{
    return approve(r, call, yes, false, STR_NONE, by);
}

wend_status wend_run_approve_always(wend_run *r, wend_str call, bool yes,
                                    const char *by)
{
    return approve(r, call, yes, true, STR_NONE, by);
}

/* In canonical form, once they are as the tool wants them and no rule denies
 * them: until then the call waits, and the host can ask for others. */
static wend_status read_changed(wend_run *r, wend_str call, wend_str args,
                                struct arena *a, wend_str *out)
{
    wend_error why = {0};
    const struct json *j = json_parse(args, a, &why);
    wend_str refused;

    if (!j && !a->failed)
        return fail(&r->said, WEND_E_INVAL,
                    "the arguments are not valid JSON: line %u, column %u: %s",
                    why.line, why.column, why.message);
    *out = json_text(j, a);
    refused = a->failed ? STR_NONE : changed_refused(&r->turn, call, *out, a);
    if (a->failed)
        return fail_nomem(&r->said);
    return refused.ptr
               ? fail(&r->said, WEND_E_INVAL, "%.*s",
                      (int)utf8_cut(refused, sizeof r->said.message - 1),
                      refused.ptr)
               : WEND_OK;
}

wend_status wend_run_approve_changed(wend_run *r, wend_str call, wend_str args,
                                     const char *by)
{
    struct arena a = {0};
    wend_str text = STR_NONE;
    wend_status s = args.ptr ? find_waiting(r, call) : WEND_E_INVAL;

    if (s != WEND_OK)
        return s;
    a.mem = &r->rt->mem;
    s = read_changed(r, call, args, &a, &text);
    if (s == WEND_OK)
        s = approve(r, call, true, false, text, by);
    arena_free(&a);
    return s;
}

/* ---- Approvals that cannot come ------------------------------------------ */

bool run_waits_for_approval(const struct wend_run *r)
{
    const struct turn *t = &r->turn;

    for (uint32_t i = 0; i < t->calls_count; i++)
        if (turn_call_waits(t, i))
            return true;
    return t->plan.approvals > 0;
}

/* Nothing of it is in progress, except for children. */
static bool is_idle(const struct wend_run *r)
{
    uint32_t children = 0;

    for (const struct child *c = r->children; c; c = c->next)
        children += c->run != NULL;
    return !r->open && !r->sent && !r->replying &&
           turn_busy(&r->turn) <= children &&
           (children || run_waits_for_approval(r));
}

static bool is_within(const struct wend_run *r, const struct wend_run *top)
{
    while (r != top && r->child)
        r = r->child->parent;
    return r == top;
}

bool run_waits_in_vain(const struct wend_run *r)
{
    const wend_runtime *rt = r->rt;
    bool any = false;

    if (rt->store->ops->shared || r->player)
        return false;
    for (const struct wend_run *q = rt->runs; q; q = q->next) {
        if (q->over || !q->agent || q->error.status != WEND_OK)
            continue;
        if (!is_within(q, r) || q->shown.listen || q->hook || !is_idle(q))
            return false;
        any |= run_waits_for_approval(q);
    }
    return any && !atomic_load(&r->cancel_posted);
}

wend_status wend_run_pause(wend_run *r)
{
    return run_control(r, IN_PAUSE, STR_NONE, STR("api"));
}

wend_status wend_run_continue(wend_run *r)
{
    return run_control(r, IN_CONTINUE, STR_NONE, STR("api"));
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

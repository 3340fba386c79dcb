/*
 * run_options.c - the strings in option structs of hosts.
 */
#include "lib/run/run.h"

#include "base/fail.h"
#include "base/utf8.h"

wend_status run_options(const wend_run_options *options, wend_run_options *o,
                        struct kept **hook, wend_error *err)
{
    *hook = NULL;
    if (!OPTIONS_TAKE(o, wend_run_options, hook_ctx, options))
        return fail(err, WEND_E_INVAL, "run: options.size is wrong");
    o->size = sizeof *o;
    return kept_new(o->hook_release, o->hook_ctx, hook, err);
}

wend_status run_give(wend_status s, wend_run **out, struct kept *hook)
{
    if (s == WEND_OK)
        (*out)->hook_kept = kept_ref(hook);
    kept_unref(hook);
    return s;
}

void run_name(struct wend_run *r, const wend_run_options *o)
{
    r->birth.user = utf8_keep(str_of(o->user), &r->arena);
    r->birth.session = utf8_keep(str_of(o->session), &r->arena);
    r->correlation = utf8_keep(
        str_of(o->correlation_id ? o->correlation_id : r->id), &r->arena);
}

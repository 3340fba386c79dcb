/*
 * run_options.c - the strings in option structs of hosts.
 */
#include "lib/run/run.h"

#include "base/fail.h"
#include "base/utf8.h"

wend_str run_clean(struct wend_run *r, const char *s)
{
    struct buf b = {.mem = &r->rt->mem};
    wend_str kept = STR_NONE;

    if (s) {
        utf8_repair(&b, str_of(s));
        kept = arena_str(&r->arena, buf_view(&b));
        r->arena.failed |= b.failed;
    }
    buf_free(&b);
    return kept;
}

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
    r->birth.user = run_clean(r, o->user);
    r->birth.session = run_clean(r, o->session);
    r->correlation =
        run_clean(r, o->correlation_id ? o->correlation_id : r->id);
}

/*
 * http_refused.c - what a model has refused to be asked for: for all runs of
 * the runtime. The log of a run has what it found out itself.
 */
#include "lib/model/http.h"
#include "wire/model/params.h"

uint32_t http_asked(const struct http_driver *d, const struct turn *t,
                    uint32_t *without)
{
    *without = turn_dropped(t, turn_model(t));
    if (d->base.refused)
        *without |= *d->base.refused;
    return wire_asked(t, *without);
}

uint32_t http_learn(struct http_driver *d, uint32_t asked,
                    const struct failure *f, wend_str message)
{
    uint32_t refused = wire_refused(d->codec, asked, f ? f->word : STR_NONE,
                                    f ? f->param : STR_NONE, message);

    if (d->base.refused)
        *d->base.refused |= refused;
    return refused;
}

void http_tell_left(const struct http_driver *d, struct wend_run *run,
                    const struct turn *t, uint32_t *told)
{
    uint32_t left = wire_asked(t, turn_dropped(t, turn_model(t)) | *told);
    struct buf names = {.mem = &run->rt->mem};

    left &= d->base.refused ? *d->base.refused : 0;
    *told |= left;
    if (!left)
        return;
    asked_put(&names, left);
    run_warn(run, "param_dropped",
             "%.*s does not take %s, as an earlier run found out, and is asked "
             "without",
             STR_ARGS(d->model), buf_view(&names).ptr);
    buf_free(&names);
}

/*
 * tt_window.c - whether a request fits into the window of a model, and which
 * fallback model has the room for it.
 *
 * Tokens are estimated: a request that may not fit is sent with a warning, one
 * far over the window is not sent. A window that is not known limits nothing.
 */
#include "core/turn/tt_step.h"

bool is_far_over(const struct model_use *m, int64_t tokens)
{
    return m->window_known && tokens > m->context_tokens / 10 * 13;
}

static bool is_over(const struct model_use *m, int64_t tokens)
{
    return m->window_known && tokens > m->context_tokens;
}

wend_str model_name(const struct turn *t, const struct model_use *m)
{
    return m == turn_model(t) ? t->model : m->name;
}

wend_str window_text(struct tt *x, const struct model_use *m, int64_t tokens,
                     const char *what)
{
    wend_str name = model_name(x->t, m);

    return text_fmt(x,
                    "the request has about %lld tokens, and the window of "
                    "%.*s has %lld%s",
                    (long long)tokens, (int)name.len, name.ptr,
                    (long long)m->context_tokens, what);
}

void warn_of_window(struct tt *x, const struct model_use *m, int64_t tokens)
{
    if (is_over(m, tokens))
        warn(x, STR("context_full"), window_text(x, m, tokens, ""));
}

/* ---- Fallback models ----------------------------------------------------- */

static const struct model_use *models_end(const struct turn *t)
{
    return t->config->models + t->config->models_count;
}

bool has_fallback(const struct turn *t)
{
    return turn_model(t) + 1 < models_end(t);
}

const struct model_use *fallback_model(const struct turn *t, int64_t tokens)
{
    const struct model_use *m = turn_model(t) + 1;

    while (m < models_end(t) && is_far_over(m, tokens))
        m++;
    return m < models_end(t) ? m : NULL;
}

/* The model that refused may know better than the estimate. */
static bool is_roomier(const struct model_use *m, const struct model_use *than)
{
    return !m->window_known || !than->window_known ||
           m->context_tokens > than->context_tokens;
}

static bool is_known_to_fit(const struct model_use *m, int64_t tokens)
{
    return m->window_known && !is_over(m, tokens);
}

const struct model_use *roomier_model(const struct turn *t, int64_t tokens)
{
    const struct model_use *now = turn_model(t), *may_fit = NULL;

    for (const struct model_use *m = now + 1; m < models_end(t); m++) {
        if (!is_roomier(m, now) || is_far_over(m, tokens))
            continue;
        if (is_known_to_fit(m, tokens))
            return m;
        if (!may_fit)
            may_fit = m;
    }
    return may_fit;
}

void warn_of_room(struct tt *x, const struct model_use *m, int64_t tokens)
{
    wend_str window =
        m->window_known ? text_fmt(x, "has %lld", (long long)m->context_tokens)
                        : STR("is not known");

    if (is_known_to_fit(m, tokens))
        return;
    warn(x, STR("context_full"),
         text_fmt(x,
                  "no fallback model is known to have room for about %lld "
                  "tokens; %.*s is asked, whose window %.*s",
                  (long long)tokens, (int)m->name.len, m->name.ptr,
                  (int)window.len, window.ptr));
}

/*
 * tt_value.c - the values that an action gets, and what a decision chooses.
 */
#include "core/turn/tt_plan.h"

static const struct plan_action *action_of(const struct tt *x, uint32_t i)
{
    return x->t->plan.plan->actions[i];
}

/* {"prompt":...} in front of the other values. */
static bool put_params(const struct plan_action *a, const struct scope *scope,
                       struct arena *scratch, struct buf *out, wend_error *why)
{
    struct buf text = {.mem = scratch->mem};
    wend_status s = WEND_OK;

    if (!a->prompt) {
        if (a->params)
            s = template_put(a->params, scope, ARGS_BYTES_MAX, out, why);
        else
            buf_cstr(out, "{}");
        return s == WEND_OK;
    }
    s = template_put(a->prompt, scope, BLOB_BYTES_MAX / 4, &text, why);
    if (s == WEND_OK) {
        json_open(out, NULL, '{');
        json_add_str(out, "prompt", buf_view(&text));
        out->failed |= text.failed;
        buf_clear(&text);
        if (a->params)
            s = template_put(a->params, scope, ARGS_BYTES_MAX, &text, why);
        if (s == WEND_OK && text.len > 2) { /* more than {} */
            buf_char(out, ',');
            buf_add(out, text.ptr + 1, text.len - 1);
        } else {
            json_close(out, '}');
        }
    }
    out->failed |= text.failed;
    buf_free(&text);
    return s == WEND_OK;
}

bool action_params(struct tt *x, uint32_t i, wend_str *out)
{
    const struct plan_action *a = action_of(x, i);
    struct buf b = {.mem = x->s->scratch->mem};
    struct scope scope;
    wend_error why = {0};

    if (!plan_scope(&x->t->plan, a->refs, x->s->scratch, &scope))
        return false;
    if (put_params(a, &scope, x->s->scratch, &b, &why)) {
        *out = take_text(x, &b);
        return !x->s->scratch->failed;
    }
    x->s->scratch->failed |= b.failed || why.status == WEND_E_NOMEM;
    buf_free(&b);
    if (!x->s->scratch->failed)
        refuse_action(x, i,
                      why.status == WEND_E_LIMIT ? STR("too_long")
                                                 : STR("bad_reference"),
                      arena_str(x->s->scratch, str_of(why.message)));
    return false;
}

wend_str output_json(struct tt *x, wend_str text)
{
    struct buf b = {.mem = x->s->scratch->mem};

    json_put_any(&b, text);
    return take_text(x, &b);
}

/* ---- Decisions ----------------------------------------------------------- */

static void put_choice(struct buf *b, const struct plan_action *a, size_t c)
{
    bool chosen = c < a->cases_count;

    json_open(b, NULL, '{');
    if (chosen)
        json_add_i64(b, "case", (int64_t)c);
    else
        json_add_raw(b, "case", STR("null"));
    json_open(b, "then", '[');
    for (size_t k = 0; chosen && k < a->cases[c].then.count; k++)
        json_add_str(b, NULL, a->cases[c].then.list[k].text);
    json_close(b, ']');
    json_close(b, '}');
}

bool decide(struct tt *x, uint32_t i)
{
    const struct plan_action *a = action_of(x, i);
    const struct admission none = {0};
    struct work w;
    struct call_done d = {.outcome = WEND_OUTCOME_OK, .json = true};
    struct buf b = {.mem = x->s->scratch->mem};
    struct scope scope;
    wend_error why = {0};
    bool holds = false;
    size_t c = 0;

    if (a->type != ACTION_DECISION)
        return false;
    if (!plan_scope(&x->t->plan, a->refs, x->s->scratch, &scope))
        return true;
    for (; c < a->cases_count; c++) {
        if (!a->cases[c].when)
            break;
        if (expr_holds(a->cases[c].when, &scope, &holds, &why) != WEND_OK) {
            x->s->scratch->failed |= why.status == WEND_E_NOMEM;
            refuse_action(x, i, STR("bad_condition"),
                          arena_str(x->s->scratch, str_of(why.message)));
            return true;
        }
        if (holds)
            break;
    }
    put_choice(&b, a, c);
    d.output = take_text(x, &b);
    w = work_of_action(x->t, i);
    w.args = STR_NONE;
    end_unstarted(x, &w, &none, &d);
    return true;
}

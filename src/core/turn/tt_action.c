/*
 * tt_action.c - one action of a plan: its values, its model call, how it starts
 * and is tried again.
 *
 * The model call is one request without tools, and one answer; the action
 * decides whether to try again.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "core/media/media.h"

/* ---- Its model call ------------------------------------------------------ */

int64_t action_tokens(const struct turn *t, uint32_t i, wend_str params)
{
    const struct plan_action *a = t->plan.plan->actions[i];
    int64_t tokens =
        tokens_estimate(t->frame->system.len) + tokens_estimate(params.len);
    const wend_ev_part *p;

    for (size_t f = 0; f < a->files.count; f++)
        for (size_t n = 0; (p = turn_file(t, &a->files.list[f], n)); n++)
            spend(&tokens, part_tokens(p, action_model(t, a)));
    return tokens;
}

bool asks_model(const struct turn *t, const struct work *w)
{
    return !w->call && t->plan.plan->actions[w->action]->type == ACTION_LLM;
}

bool fits_window(struct tt *x, const struct work *w, struct call_done *d)
{
    const struct turn *t = x->t;
    const struct model_use *m;
    int64_t tokens;

    if (!asks_model(t, w))
        return true;
    tokens = action_tokens(t, w->action, w->args);
    m = action_model(t, t->plan.plan->actions[w->action]);
    if (!is_far_over(m, tokens)) {
        if (w->attempt == 1)
            warn_of_window(x, m, tokens);
        return true;
    }
    *d = (struct call_done){
        .outcome = WEND_OUTCOME_FAILED,
        .code = STR("overflow"),
        .output = window_text(x, m, tokens,
                              ": it was not sent; shorten the prompt, or set "
                              "a larger context_tokens"),
    };
    return false;
}

/* Itself, or by a run of its own. */
static bool uses_models(const struct plan_action *a)
{
    return a->type == ACTION_LLM || a->type == ACTION_AGENT ||
           a->type == ACTION_WORKFLOW;
}

/* Other actions that could ask while this one does; of many ready ones only the
 * first are looked at. */
static int64_t other_asks(const struct turn *t, uint32_t action)
{
    enum { LOOKED_AT_MAX = 64 };
    const struct plan_state *p = &t->plan;
    uint32_t place = 0, looked = 0, i;
    int64_t slots = t->limits.parallel, others = 0;

    if (slots <= 0 || slots > plan_slots(p))
        slots = plan_slots(p);
    slots -= p->running;
    while (others + 1 < slots && looked++ < LOOKED_AT_MAX &&
           (i = plan_marked(p, MARK_READY, &place)) != PLAN_NONE)
        others += i != action && uses_models(p->plan->actions[i]);
    return others;
}

/* True if it asks no model. */
static bool allow_work(const struct tt *x, const struct work *w, bool alone,
                       struct allowance *out)
{
    const struct turn *t = x->t;
    struct asked beside = {0};

    *out = (struct allowance){0};
    if (!asks_model(t, w))
        return true;
    if (!alone) {
        turn_reserved(t, &beside.open);
        beside.others = other_asks(t, w->action);
    }
    return allow_answer(x, action_model(t, t->plan.plan->actions[w->action]),
                        action_tokens(t, w->action, w->args), &beside, out);
}

bool stop_over_budget(struct tt *x, const struct work *w)
{
    struct allowance a;
    bool fits = allow_work(x, w, false, &a);

    if (!fits)
        limit_reached(x, a.limit);
    return !fits;
}

/* Its own requests leave too little only as long as they are open. */
static bool waits_for_budget(const struct tt *x, const struct work *w)
{
    struct allowance a;

    return !allow_work(x, w, false, &a) && allow_work(x, w, true, &a);
}

void emit_action_ask(struct tt *x, uint32_t i)
{
    const struct turn *t = x->t;
    const struct plan_action *a = t->plan.plan->actions[i];
    struct work w = work_of_action(t, i);
    struct allowance allowed;

    allow_work(x, &w, false, &allowed);
    emit(x, WEND_MODEL_START,
         &(wend_ev_model_start){.model = model_name(t, action_model(t, a)),
                                .attempt =
                                    plan_action_state(&t->plan, i)->attempt,
                                .purpose = WEND_PURPOSE_ANSWER,
                                .action = a->id,
                                .messages = 1,
                                .output_tokens = allowed.tokens,
                                .limit = allowed.limit});
}

static void fill_from_reply(const struct tt *x, const struct plan_action *a,
                            wend_ev_model_end *e)
{
    const struct reply *r = x->in->reply;

    reply_fill(e, r, action_model(x->t, a), r->began_us);
    if (x->in->time_us > r->began_us)
        e->ms = (x->in->time_us - r->began_us) / 1000;
    if (r->finish.len)
        e->finish = r->finish;
}

void emit_action_answer(struct tt *x, uint32_t i, wend_outcome outcome,
                        const wend_ev_error *error)
{
    const struct turn *t = x->t;
    const struct plan_action *a = t->plan.plan->actions[i];
    const struct action_state *s = plan_action_state(&t->plan, i);
    wend_ev_model_end e = {0};

    if (!s->asking)
        return;
    e.outcome = outcome == WEND_OUTCOME_OK ||
                        outcome == WEND_OUTCOME_CANCELED ||
                        outcome == WEND_OUTCOME_SUPERSEDED
                    ? outcome
                    : WEND_OUTCOME_FAILED;
    e.purpose = WEND_PURPOSE_ANSWER;
    e.finish = e.outcome == WEND_OUTCOME_OK
                   ? STR("stop")
                   : str_of(wend_outcome_name(e.outcome));
    e.usage.cost_nano = -1;
    if (x->in->kind == IN_ACTION_DONE && x->in->done.action == i &&
        x->in->reply) {
        fill_from_reply(x, a, &e);
        if (outcome == WEND_OUTCOME_CANCELED || outcome == WEND_OUTCOME_TIMEOUT)
            charge_stopped(action_model(t, a), &s->allowed,
                           action_tokens(t, i, s->params), x->in->reply,
                           &e.usage);
    } else if (s->at != AT_RUNS && is_charged(t))
        charge(action_model(t, a), &s->allowed, action_tokens(t, i, s->params),
               &e.usage);
    if (e.outcome == WEND_OUTCOME_FAILED)
        e.error = error;
    e.action = a->id;
    emit(x, WEND_MODEL_END, &e);
    if (outcome == WEND_OUTCOME_OK)
        warn_of_finish(x, &s->allowed, e.finish);
}

/* ---- Values -------------------------------------------------------------- */

static const struct plan_action *action_of(const struct tt *x, uint32_t i)
{
    return x->t->plan.plan->actions[i];
}

/* Of an entry that means no file. */
static wend_status no_file(const struct turn *t, const struct plan_file *f,
                           wend_error *why)
{
    if (!f->ref)
        return fail(why, WEND_E_NOTFOUND, "the run has no file '%.*s'",
                    UTF8_ARGS(f->path, 80));
    return t->plan.plan->missing_null
               ? WEND_OK
               : fail(why, WEND_E_NOTFOUND, "%.*s has no files",
                      UTF8_ARGS(f->ref->text, 80));
}

static wend_status put_file(const struct turn *t, const struct plan_file *f,
                            struct buf *out, size_t *count, wend_error *why)
{
    const wend_ev_part *p;
    size_t n = 0;

    for (; (p = turn_file(t, f, n)); n++, ++*count) {
        if (*count == ACTION_FILES_MAX)
            return fail(why, WEND_E_LIMIT, "an action has at most %d files",
                        ACTION_FILES_MAX);
        json_key(out, NULL);
        part_write(out, p);
    }
    return n ? WEND_OK : no_file(t, f, why);
}

/* Before anything is sent, if the model is known not to accept them. */
static wend_status check_files(const struct turn *t,
                               const struct plan_action *a,
                               const struct mem *mem, wend_error *why)
{
    const struct model_use *m = action_model(t, a);
    struct buf text = {.mem = mem};
    size_t images = 0;
    const wend_ev_part *p;
    bool refused = false;

    for (size_t i = 0; i < a->files.count; i++)
        for (size_t n = 0; (p = turn_file(t, &a->files.list[i], n)); n++)
            images += media_type_of(p) == MEDIA_IMAGE;
    for (size_t i = 0; i < a->files.count; i++)
        for (size_t n = 0; !refused && (p = turn_file(t, &a->files.list[i], n));
             n++)
            refused =
                part_refused(m, p, images, str_or(p->name, "a part"), &text);
    if (refused)
        fail(why, text.failed ? WEND_E_NOMEM : WEND_E_INVAL, "%.*s",
             UTF8_ARGS(buf_view(&text), 400));
    buf_free(&text);
    return refused ? why->status : WEND_OK;
}

/* As "parts"; a workflow has the names of the inputs that get them. */
static wend_status put_files(const struct turn *t, const struct plan_action *a,
                             struct buf *out, wend_error *why)
{
    bool mapped = a->type == ACTION_WORKFLOW;
    wend_status s = WEND_OK;
    size_t count = 0;

    if (!a->files.count)
        return WEND_OK;
    if (a->type == ACTION_LLM)
        s = check_files(t, a, out->mem, why);
    if (!mapped)
        json_open(out, "parts", '[');
    for (size_t i = 0; s == WEND_OK && i < a->files.count; i++) {
        if (mapped) {
            json_key(out, NULL);
            json_put_str(out, a->files.list[i].input);
            buf_cstr(out, ":[");
        }
        s = put_file(t, &a->files.list[i], out, &count, why);
        if (mapped)
            json_close(out, ']');
    }
    if (!mapped)
        json_close(out, ']');
    return s;
}

static wend_status put_prompt(const struct plan_action *a,
                              const struct scope *scope, struct buf *out,
                              wend_error *why)
{
    struct buf text = {.mem = out->mem};
    wend_status s = WEND_OK;

    if (a->prompt)
        s = template_put(a->prompt, scope, BLOB_BYTES_MAX / 4, &text, why);
    if (a->prompt && s == WEND_OK)
        json_add_str(out, "prompt", buf_view(&text));
    out->failed |= text.failed;
    buf_free(&text);
    return s;
}

/* {"prompt":...,"parts":[...]} in front of the other values. */
static bool put_params(const struct turn *t, const struct plan_action *a,
                       const struct scope *scope, struct buf *out,
                       wend_error *why)
{
    struct buf others = {.mem = out->mem};
    wend_status s;

    json_open(out, NULL, '{');
    s = put_prompt(a, scope, out, why);
    if (s == WEND_OK)
        s = put_files(t, a, out, why);
    if (s == WEND_OK && a->params)
        s = template_put(a->params, scope, ARGS_BYTES_MAX, &others, why);
    if (s == WEND_OK && others.len > 2) { /* more than {} */
        json_key(out, NULL);
        buf_add(out, others.ptr + 1, others.len - 2);
    }
    json_close(out, '}');
    out->failed |= others.failed;
    buf_free(&others);
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
    if (put_params(x->t, a, &scope, &b, &why)) {
        *out = take_text(x, &b);
        return !x->s->scratch->failed;
    }
    x->s->scratch->failed |= b.failed || why.status == WEND_E_NOMEM;
    buf_free(&b);
    if (!x->s->scratch->failed)
        refuse_action(x, i,
                      why.status == WEND_E_LIMIT   ? STR("too_long")
                      : why.status == WEND_E_INVAL ? STR("media")
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

/* ---- Its start ----------------------------------------------------------- */

void refuse_action(struct tt *x, uint32_t i, wend_str code, wend_str message)
{
    const struct admission none = {0};
    struct work w = work_of_action(x->t, i);

    w.args = STR_NONE;
    end_unstarted(x, &w, &none,
                  &(struct call_done){.outcome = WEND_OUTCOME_FAILED,
                                      .code = code,
                                      .output = message});
}

/* An approval is for the values that were shown. */
bool start_action(struct tt *x, uint32_t i)
{
    struct work w = work_of_action(x->t, i);
    struct admission a;

    if (decide(x, i))
        return true;
    if (!w.answered && !action_params(x, i, &w.args))
        return true;
    admit_work(x, &w, &a);
    if (x->t->plan.plan->open &&
        (a.refused || a.verdict.policy.decision != WEND_DECISION_ALLOW))
        return false; /* that is said when the plan is complete */
    if (refuse_work(x, &w, &a))
        return true;
    if (a.verdict.policy.decision == WEND_DECISION_ASK && !w.answered) {
        request_approval(x, &w, &a.verdict);
        return true;
    }
    if (a.verdict.policy.decision == WEND_DECISION_ASK) {
        a.verdict.policy.decision = WEND_DECISION_ALLOW;
        a.verdict.policy.rule = STR("approved");
    }
    if (waits_for_budget(x, &w) || stop_over_budget(x, &w))
        return false;
    start_work(x, &w, &a);
    return true;
}

/* ---- Once more ----------------------------------------------------------- */

/* The types of its files that its model was sent and refuses in these words. */
static uint32_t refused_media(const struct tt *x, const struct work *w,
                              const struct call_done *d)
{
    const struct plan_action *a = action_of(x, w->action);
    const wend_ev_part *p;
    uint32_t present = 0;

    if (a->type != ACTION_LLM || !str_is(d->code, "media") ||
        (x->in->reply && x->in->reply->pieces))
        return 0;
    for (size_t i = 0; i < a->files.count; i++)
        for (size_t n = 0; (p = turn_file(x->t, &a->files.list[i], n)); n++)
            if (media_type_of(p) < MEDIA_TYPES)
                present |= 1u << media_type_of(p);
    return media_in_words(d->output,
                          present & turn_media_of(x->t, action_model(x->t, a)));
}

/* As turns do in their own way, see ask_without_media. */
static wend_str drop_media(struct tt *x, const struct work *w,
                           const struct call_done *d)
{
    const struct plan_action *a = action_of(x, w->action);
    uint32_t types = refused_media(x, w, d);
    struct buf b = {.mem = x->s->scratch->mem};
    wend_str names;

    if (!types)
        return STR_NONE;
    json_open(&b, NULL, '[');
    for (int i = 0; i < MEDIA_TYPES; i++)
        if (types & 1u << i)
            json_add_str(&b, NULL, str_of(media_type_names[i]));
    json_close(&b, ']');
    names = take_text(x, &b);
    warn(x, STR("media_refused"),
         JOIN(x, model_name(x->t, action_model(x->t, a)), STR(" "),
              media_reason(types, x->s->scratch),
              STR(" and is asked again without: "), d->output));
    return names;
}

/* Its model, something that it can be asked without. */
static bool refuses(const struct tt *x, const struct work *w,
                    const struct call_done *d)
{
    const struct model_use *m = action_model(x->t, action_of(x, w->action));

    return d->refused & ~turn_dropped(x->t, m) || refused_media(x, w, d);
}

bool may_retry_action(const struct tt *x, const struct work *w,
                      const struct call_done *d)
{
    const struct turn *t = x->t;

    if (d->outcome != WEND_OUTCOME_FAILED && d->outcome != WEND_OUTCOME_TIMEOUT)
        return false;
    return (w->attempt <= t->plan.plan->actions[w->action]->retry.max ||
            refuses(x, w, d)) &&
           t->stop.outcome == WEND_OUTCOME_NONE && !plan_fails_fast(&t->plan) &&
           !t->plan.wrong.ptr &&
           (!d->effect_possible || work_class(t, w) != WEND_CLASS_UNSAFE);
}

static int64_t retry_delay(const struct plan_retry *r, int64_t attempt)
{
    double delay = (double)r->delay_ms;

    for (int64_t n = 1; n < attempt && delay < (double)r->delay_max_ms; n++)
        delay *= r->backoff;
    return delay < (double)r->delay_max_ms ? (int64_t)delay : r->delay_max_ms;
}

void retry_action(struct tt *x, const struct work *w, const struct call_done *d)
{
    const struct plan_action *a = x->t->plan.plan->actions[w->action];
    wend_str dropped =
        drop_refused(x, action_model(x->t, a), d->refused, d->output);
    const wend_ev_error *error = work_error(x, w, d, d->output);
    struct allowance allowed;
    int64_t delay_ms;
    struct work now;

    assert(!w->call);
    if (!dropped.ptr)
        dropped = drop_media(x, w, d);
    delay_ms = dropped.ptr ? 0 : retry_delay(&a->retry, w->attempt);
    emit_action_answer(x, w->action, d->outcome, error);
    end_child(x, w->child, d->child);
    if (!allow_work(x, w, false, &allowed)) {
        now = work_now(x->t, w); /* without its child */
        end_work(x, &now, d);
        limit_reached(x, allowed.limit);
        return;
    }
    emit(x, WEND_ACTION_RETRY,
         &(wend_ev_action_retry){.action = w->id,
                                 .attempt = w->attempt,
                                 .delay_ms = delay_ms,
                                 .error = error,
                                 .dropped_json = dropped});
    run_work(x, w, delay_ms);
}

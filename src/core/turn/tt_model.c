/*
 * tt_model.c - the model's part of a turn: context, question, answer.
 */
#include "core/turn/tt_step.h"

#include <string.h>

#include "base/code.h"
#include "base/hash.h"
#include "core/config/answer.h"

static wend_str parts_json(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    struct buf b = {.mem = x->s->scratch->mem};

    buf_room(&b, t->config->parts.len + 128);
    buf_char(&b, '[');
    buf_str(&b, t->config->parts);
    buf_cstr(&b, "{\"name\":\"history\",\"priority\":100,\"tokens\":");
    buf_i64(&b, t->history ? t->history->tokens : 0);
    buf_cstr(&b, ",\"truncated\":false}]");
    return take_text(x, &b);
}

/* What a provider has cached of the last request serves this one, too, as far
 * as their beginnings are the same. A turn only adds to the conversation, and
 * config changes only in a fork, so that nothing but that and another model
 * takes it away: from the first byte, since config stands there and no model
 * shares its cache. */
static wend_str prefix_changed(const struct turn *t)
{
    if (!t->context_model.ptr)
        return STR_NONE;
    if (!str_eq(t->context_model, t->model))
        return STR("{\"byte\":0,\"cause\":\"model\"}");
    return t->reconfigured ? STR("{\"byte\":0,\"cause\":\"config\"}")
                           : STR_NONE;
}

void end_context(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    wend_event *ev = draft(x, WEND_CONTEXT_END);
    uint64_t prefix;
    unsigned char bytes[8];
    char hex[2 * sizeof bytes + 1];

    if (!ev)
        return;
    prefix = t->history ? t->history->prefix : t->config->prefix;
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(prefix >> (56 - 8 * i));
    hex_text(hex, bytes, sizeof bytes);
    ev->u.context_end.tokens = turn_tokens(t);
    ev->u.context_end.parts_json = parts_json(x);
    ev->u.context_end.prefix_hash =
        arena_str(x->s->scratch, (wend_str){hex, sizeof hex - 1});
    ev->u.context_end.prefix_changed_json = prefix_changed(t);
    emit(x, ev);
}

static void emit_context(struct tt *x)
{
    wend_event *ev = draft(x, WEND_CONTEXT_START);

    if (ev)
        ev->u.context_start.budget_tokens =
            turn_model(&x->s->turn)->context_tokens * 9 / 10;
    emit(x, ev);
    end_context(x);
}

static void emit_model_start(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    wend_event *ev = draft(x, WEND_MODEL_START);

    if (ev) {
        ev->u.model_start.model = t->model;
        ev->u.model_start.attempt = t->again ? t->attempt + 1 : 1;
        ev->u.model_start.purpose = turn_purpose(t);
        ev->u.model_start.messages = t->history ? t->history->index + 1 : 0;
        ev->u.model_start.tools =
            t->config->no_tool_calls ? 0 : (int64_t)t->config->tools_count;
    }
    emit(x, ev);
}

/* What the provider said that the answer took, whether it was whole or not. */
static wend_ev_usage reply_usage(const struct turn *t, const struct reply *r)
{
    wend_ev_usage u = r->usage;

    if (u.cost_nano < 0) /* what the provider says goes first */
        u.cost_nano = price_of(&turn_model(t)->price, &u);
    return u;
}

static int64_t or_none(int64_t n)
{
    return n > 0 ? n : 0;
}

/* `failed`: what an attempt used that is not counted as spent yet, or NULL. */
static wend_str turn_over_budget(const struct tt *x,
                                 const struct model_use *model,
                                 const wend_ev_usage *failed)
{
    const struct turn *t = &x->s->turn;
    struct budget open;

    plan_reserved(t, &open);
    if (failed) {
        open.tokens = i64_sum(open.tokens, or_none(failed->input));
        open.tokens = i64_sum(open.tokens, or_none(failed->output));
        open.cost_nano = i64_sum(open.cost_nano, or_none(failed->cost_nano));
    }
    return over_budget(x, model, turn_tokens(t), &open);
}

void answer_instead(struct tt *x, wend_str text)
{
    wend_event *ev;

    emit_context(x);
    emit_model_start(x);
    ev = draft(x, WEND_MODEL_END);
    if (ev) {
        ev->u.model_end.outcome = WEND_OUTCOME_OK;
        ev->u.model_end.purpose = x->s->turn.purpose;
        ev->u.model_end.text = text;
        ev->u.model_end.finish = STR("hook"); /* no model was asked */
        ev->u.model_end.usage.cost_nano = -1;
    }
    emit(x, ev);
    run_calls(x);
}

/* ---- The answer ---------------------------------------------------------- */

/* How many of the reply's calls belong to the message as it is closed. */
static size_t sealed_count(const struct reply *r)
{
    size_t n = 0;

    while (n < r->calls_count && r->calls[n].sealed)
        n++;
    return n;
}

/* Those after the first `whole` are only as far as they were acted upon. */
static wend_ev_call *list_calls(struct tt *x, size_t count, size_t whole)
{
    const struct reply *r = x->in->reply;
    wend_ev_call *calls =
        arena_alloc(x->s->scratch, (count ? count : 1) * sizeof *calls);

    for (size_t i = 0; calls && i < count; i++) {
        const struct call *started = turn_call(&x->s->turn, (uint32_t)i);

        if (started) /* a reply cannot change what has begun */
            calls[i] =
                (wend_ev_call){started->id, started->name, started->args};
        else if (i >= whole)
            calls[i] = plan_call_so_far(x);
        else
            calls[i] =
                (wend_ev_call){buf_view(&r->calls[i].id),
                               buf_view(&r->calls[i].name), r->calls[i].json};
    }
    return calls;
}

/* What a message says that was cut off after its first call had begun: what
 * was sealed by then, as nothing else may be acted upon. */
static void fill_from_part(const struct turn *t, wend_ev_model_end *e)
{
    e->text = t->part_text;
    e->thinking = t->part_thinking;
    e->opaque_json = t->part_opaque;
}

static void fill_from_reply(const struct turn *t, const struct reply *r,
                            wend_ev_model_end *e)
{
    e->text = buf_view(&r->text);
    if (r->thinking.len)
        e->thinking = buf_view(&r->thinking);
    if (r->opaque.len)
        e->opaque_json = buf_view(&r->opaque);
    e->usage = reply_usage(t, r);
    if (r->first_us > t->model_us)
        e->first_token_ms = (r->first_us - t->model_us) / 1000;
}

static wend_event *draft_model_end(struct tt *x, wend_outcome outcome,
                                   size_t calls, size_t whole)
{
    const struct turn *t = &x->s->turn;
    bool resumed = x->in->kind == IN_RESUME;
    const struct reply *r = resumed && t->part ? NULL : x->in->reply;
    wend_event *ev = draft(x, WEND_MODEL_END);
    wend_ev_model_end *e;

    if (!ev)
        return NULL;
    e = &ev->u.model_end;
    e->outcome = outcome;
    e->purpose = t->purpose;
    e->finish = outcome == WEND_OUTCOME_OK ? STR("stop")
                                           : str_of(wend_outcome_name(outcome));
    e->usage.cost_nano = -1;
    if (!resumed && x->in->time_us > t->model_us)
        e->ms = (x->in->time_us - t->model_us) / 1000;
    if (r)
        fill_from_reply(t, r, e);
    else
        fill_from_part(t, e);
    if (resumed && is_charged(t))
        e->usage = x->cut;
    e->calls = list_calls(x, calls, whole);
    e->calls_count = e->calls ? calls : 0;
    if (outcome == WEND_OUTCOME_OK && r && r->finish.len)
        e->finish = r->finish;
    else if (outcome == WEND_OUTCOME_OK && calls)
        e->finish = STR("tool_calls");
    return ev;
}

/* Ends the model's bracket with what has begun: a call that has started, or
 * a plan that was begun, is part of the message for good; what has not never
 * was. */
void close_model(struct tt *x, wend_outcome outcome, const wend_ev_error *error)
{
    const struct turn *t = &x->s->turn;
    wend_event *ev = draft_model_end(
        x, outcome, t->calls_count + turn_plan_open(t), t->calls_count);

    if (ev)
        ev->u.model_end.error = error;
    emit(x, ev);
}

/* Asks again after a delay: the same model, or another one. `failed` is what
 * the attempt before used, or NULL. */
static void ask_again(struct tt *x, wend_str model, int64_t delay_ms,
                      wend_str reason, const wend_ev_usage *failed)
{
    const struct turn *t = &x->s->turn;
    wend_event *ev = draft(x, WEND_MODEL_RETRY);
    struct effect *fx;

    if (ev) {
        ev->u.model_retry.attempt = t->attempt;
        ev->u.model_retry.delay_ms = delay_ms;
        ev->u.model_retry.reason = reason;
        ev->u.model_retry.next_model = model;
        ev->u.model_retry.usage = failed;
    }
    emit(x, ev);
    fx = want(x, FX_TIMER);
    if (fx) {
        fx->timer = TIMER_RETRY;
        fx->delay_ms = delay_ms;
    }
}

/* ---- The question -------------------------------------------------------- */

/* Nothing is sent. A fallback model is asked if one may have the room. */
static void refuse_request(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    int64_t tokens = turn_tokens(t);
    const struct model_use *next = roomier_model(t, tokens);
    const wend_ev_error *error;

    emit_model_start(x);
    if (next && !turn_over_budget(x, next, NULL).ptr) {
        warn_of_room(x, next, tokens);
        ask_again(x, next->name, 0, STR("overflow"), NULL);
        return;
    }
    error = draft_error(
        x, STR("overflow"),
        window_text(x, turn_model(t), tokens,
                    has_fallback(t) && !next
                        ? ": it was not sent, and no fallback model has the "
                          "room; shorten the conversation, or set a larger "
                          "context_tokens"
                        : ": it was not sent; shorten the conversation, or set "
                          "a larger context_tokens"),
        STR("model"));
    close_model(x, WEND_OUTCOME_FAILED, error);
    end_turn(x, WEND_OUTCOME_FAILED);
    end_run(x, WEND_OUTCOME_FAILED, STR_NONE, error);
}

void ask_model(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    wend_str limit;

    if (!t->again || t->forked) /* else it stands already */
        emit_context(x);
    limit = turn_over_budget(x, turn_model(t), NULL);
    if (limit.ptr) {
        end_turn(x, WEND_OUTCOME_LIMIT);
        end_run(x, WEND_OUTCOME_LIMIT, limit, NULL);
        return;
    }
    if (is_far_over(turn_model(t), turn_tokens(t))) {
        refuse_request(x);
        return;
    }
    if (!t->again)
        warn_of_window(x, turn_model(t), turn_tokens(t));
    emit_model_start(x);
    want(x, FX_ASK_MODEL);
}

/* The model says that this is not its last answer, and calls nobody. */
static void ask_to_continue(struct tt *x)
{
    wend_event *ev = draft(x, WEND_MESSAGE);

    if (ev) {
        ev->u.message.role = STR("user");
        ev->u.message.text = STR("Go on.");
    }
    emit(x, ev);
}

void warn_of_finish(struct tt *x, wend_str finish)
{
    struct buf b = {.mem = x->s->scratch->mem};
    wend_str unknown = STR("unknown:");

    if (str_is(finish, "length")) {
        warn(x, STR("answer_cut"),
             STR("the model stopped at its output limit; the answer is cut"));
    } else if (str_is(finish, "content_filter")) {
        warn(x, STR("answer_filtered"),
             STR("the provider's content filter cut the answer"));
    } else if (finish.len && str_starts(finish, unknown.ptr)) {
        buf_cstr(&b, "the provider ended the answer with an unknown reason: ");
        buf_add(&b, finish.ptr + unknown.len, finish.len - unknown.len);
        warn(x, STR("finish_unknown"), take_text(x, &b));
    }
}

void on_model_done(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    wend_str finish;

    if (t->phase != PH_MODEL || x->in->ask != t->ask || !x->in->reply)
        return;
    finish = x->in->reply->finish;
    emit(x, draft_model_end(x, WEND_OUTCOME_OK, sealed_count(x->in->reply),
                            sealed_count(x->in->reply)));
    warn_of_finish(x, finish);
    if (x->in->reply->more && !t->calls_count)
        ask_to_continue(x);
    settle_calls(x);
    run_calls(x);
}

/* Said by nobody but us: what is wrong, and what was wanted. A fork that
 * begins between the two has been warned. */
static void ask_repair(struct tt *x, wend_str why)
{
    wend_event *ev = draft(x, WEND_MESSAGE);
    struct buf b = {.mem = x->s->scratch->mem};
    wend_str text;

    buf_str(&b, why);
    buf_cstr(&b, "\nAnswer again, with nothing but JSON that fits this JSON "
                 "Schema:\n");
    buf_str(&b, x->s->turn.config->schema_text);
    text = take_text(x, &b);
    if (ev) {
        ev->u.message.role = STR("user");
        ev->u.message.text = text;
    }
    if (!x->s->turn.repair)
        warn(x, STR("answer_invalid"), why);
    emit(x, ev);
    end_turn(x, WEND_OUTCOME_OK);
    next_turn(x);
}

static void give_up_answer(struct tt *x, wend_str why)
{
    const wend_ev_error *error =
        draft_error(x, STR("answer_invalid"), why, STR("schema"));

    end_turn(x, WEND_OUTCOME_FAILED);
    end_run(x, WEND_OUTCOME_FAILED, STR_NONE, error);
}

void close_answer(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    struct buf b = {.mem = x->s->scratch->mem};
    wend_str why;

    if (!t->config->schema ||
        answer_fits(t->config->schema, t->answer, x->s->scratch, &b)) {
        buf_free(&b);
        end_turn(x, WEND_OUTCOME_OK);
        next_turn(x);
        return;
    }
    why = take_text(x, &b);
    if (x->s->scratch->failed)
        return;
    if (t->repair_used)
        give_up_answer(x, why);
    else
        ask_repair(x, why);
}

/* ---- Failure ------------------------------------------------------------- */

/* Nothing was given to anybody that another attempt would take back. */
static bool may_ask_again(const struct turn *t, const struct input *in)
{
    return !t->calls_count && !turn_plan_open(t) &&
           (!in->reply || !in->reply->pieces);
}

/* The same request may be answered another time. */
static bool is_passing(const struct turn *t, const struct input *in)
{
    return may_ask_again(t, in) && !in->error.retry_never &&
           code_passes(in->error.code);
}

static bool is_overflow(const struct input *in)
{
    return str_is(in->error.code, "overflow");
}

/* The model to ask in place of one that cannot answer, or NULL. An invalid
 * request is ours: another model would be asked the same. */
static const struct model_use *next_model(const struct turn *t,
                                          const struct input *in)
{
    if (!may_ask_again(t, in) || str_is(in->error.code, "invalid"))
        return NULL;
    return is_overflow(in) ? roomier_model(t, turn_tokens(t))
                           : fallback_model(t, turn_tokens(t));
}

/* Doubling from RETRY_BASE_MS, less up to a quarter. The jitter comes from
 * the run's id, so that many runs spread and a replay does not differ. */
static int64_t retry_delay(const struct turn *t, int64_t wish_ms)
{
    int64_t delay = RETRY_BASE_MS;
    uint32_t mix = 2166136261u;

    if (wish_ms > 0 && wish_ms <= RETRY_AFTER_MAX_MS)
        return wish_ms;
    for (int64_t i = 1; i < t->tries && delay < RETRY_CAP_MS; i++)
        delay *= 2;
    if (delay > RETRY_CAP_MS)
        delay = RETRY_CAP_MS;
    for (size_t i = 0; i < t->run.len; i++)
        mix = (mix ^ (unsigned char)t->run.ptr[i]) * 16777619u;
    mix = (mix ^ (uint32_t)t->ask) * 16777619u;
    return delay - delay / 4 * (int64_t)(mix >> 16 & 0xff) / 256;
}

/* What the failed attempt used; NULL: nothing was told. */
static const wend_ev_usage *failed_usage(struct tt *x)
{
    const struct reply *r = x->in->reply;
    wend_ev_usage *u;

    if (!r || (!r->usage.input && !r->usage.output && r->usage.cost_nano <= 0))
        return NULL;
    u = arena_alloc(x->s->scratch, sizeof *u);
    if (u)
        *u = reply_usage(&x->s->turn, r);
    return u;
}

/* Whether it is asked again, this model or the next. If only a budget is in
 * the way, *limit says which. */
static bool try_again(struct tt *x, wend_str *limit)
{
    const struct turn *t = &x->s->turn;
    const struct model_use *next = next_model(t, x->in);
    const wend_ev_usage *failed = failed_usage(x);

    if (is_passing(t, x->in) && t->tries <= RETRIES_MAX &&
        !(next && x->in->error.resting)) {
        if (failed) /* else what was reserved for it is still there */
            *limit = turn_over_budget(x, turn_model(t), failed);
        if (!limit->ptr) {
            ask_again(x, t->model, retry_delay(t, x->in->error.retry_after_ms),
                      x->in->error.code, failed);
            return true;
        }
    }
    if (!next)
        return false;
    *limit = turn_over_budget(x, next, failed);
    if (limit->ptr)
        return false;
    if (is_overflow(x->in))
        warn_of_room(x, next, turn_tokens(t));
    else
        warn_of_window(x, next, turn_tokens(t));
    ask_again(x, next->name, 0, x->in->error.code, failed);
    return true;
}

/* What the provider says, and that no fallback would have been better. */
static wend_str failure_text(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    struct buf b = {.mem = x->s->scratch->mem};

    if (!is_overflow(x->in) || !has_fallback(t) || !may_ask_again(t, x->in) ||
        roomier_model(t, turn_tokens(t)))
        return x->in->error.message;
    buf_str(&b, x->in->error.message);
    buf_cstr(&b, " (no fallback model has a larger window)");
    return take_text(x, &b);
}

void on_model_fail(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    wend_str limit = STR_NONE;
    wend_ev_error *error;

    if (t->phase != PH_MODEL || x->in->ask != t->ask || try_again(x, &limit))
        return;
    error = draft_error(x, x->in->error.code, failure_text(x), STR("model"));
    if (error)
        error->retryable = is_passing(t, x->in);
    close_model(x, WEND_OUTCOME_FAILED, error);
    if (x->s->turn.calls_count) { /* what began is finished, then we go on */
        run_calls(x);
        return;
    }
    end_turn(x, limit.ptr ? WEND_OUTCOME_LIMIT : WEND_OUTCOME_FAILED);
    end_run(x, limit.ptr ? WEND_OUTCOME_LIMIT : WEND_OUTCOME_FAILED, limit,
            limit.ptr ? NULL : error);
}

void on_retry_timer(struct tt *x)
{
    const struct turn *t = &x->s->turn;

    if (t->phase != PH_MODEL || x->in->ask != t->ask)
        return;
    if (t->paused) /* look again soon: no new call while paused */
        want_timer(x, TIMER_RETRY, STOP_SLACK_MS);
    else
        want(x, FX_ASK_MODEL);
}

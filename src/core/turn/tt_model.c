/*
 * tt_model.c - the model's part of a turn: context, question, answer.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

#include "base/code.h"

/* What the next model call is for. */
wend_purpose turn_purpose(const struct turn *t)
{
    if (t->repair && !t->repair_used)
        return WEND_PURPOSE_REPAIR;
    return t->config->plan_tool ? WEND_PURPOSE_PLAN : WEND_PURPOSE_ANSWER;
}

/* What an interruption cut off is asked again. */
static int64_t next_attempt(const struct turn *t, wend_purpose purpose)
{
    bool summary = purpose == WEND_PURPOSE_SUMMARY;

    if (t->again && summary == (t->purpose == WEND_PURPOSE_SUMMARY))
        return t->attempt + 1;
    return summary ? t->summary_tries + 1 : 1;
}

void emit_model_start(struct tt *x, wend_str model, wend_purpose purpose,
                      const struct allowance *a)
{
    const struct turn *t = x->t;
    const struct config *c = t->config;
    bool summary = purpose == WEND_PURPOSE_SUMMARY; /* with a question */

    emit(x, WEND_MODEL_START,
         &(wend_ev_model_start){
             .model = model,
             .attempt = next_attempt(t, purpose),
             .purpose = purpose,
             .messages = (t->history ? t->history->index + 1 : 0) + summary,
             .tools =
                 c->no_tool_calls ? 0 : (int64_t)c->tools_count + turn_reads(t),
             .output_tokens = a->tokens,
             .limit = a->limit});
}

/* The usage that the provider reported, of a whole answer or a broken one. */
static wend_ev_usage reply_usage(const struct reply *r,
                                 const struct model_use *m)
{
    wend_ev_usage u = r->usage;

    if (u.cost_nano < 0) /* else the provider's own sum counts */
        u.cost_nano = price_of(&m->price, &u);
    return u;
}

/* The actions of a plan may ask while a model writes it: they get their share.
 */
bool allow_turn(const struct tt *x, const struct model_use *model,
                int64_t input, const wend_ev_usage *failed,
                struct allowance *out)
{
    struct asked beside = {.others = x->t->config->plan_tool != NULL};

    plan_reserved(x->t, &beside.open);
    if (failed) {
        spend(&beside.open.tokens, failed->input);
        spend(&beside.open.tokens, failed->output);
        spend(&beside.open.cost_nano, failed->cost_nano);
    }
    return allow_answer(x, model, input, &beside, out);
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

/* The call in model_end of a plan that is open: with what was handed over. */
static wend_ev_call plan_call_so_far(struct tt *x)
{
    struct buf b = {.mem = x->s->scratch->mem};

    json_open(&b, NULL, '{');
    json_open(&b, "actions", '[');
    for (uint32_t i = 0; i < x->t->plan.plan->count; i++)
        json_add_raw(&b, NULL, x->t->plan.plan->actions[i]->json);
    json_close(&b, ']');
    json_close(&b, '}');
    return (wend_ev_call){x->t->plan_call, STR("plan"), take_text(x, &b)};
}

/* Those after the first `whole` are only as far as they were acted upon. */
static wend_ev_call *list_calls(struct tt *x, size_t count, size_t whole)
{
    const struct reply *r = x->in->reply;
    wend_ev_call *calls =
        arena_alloc(x->s->scratch, (count ? count : 1) * sizeof *calls);

    for (size_t i = 0; calls && i < count; i++) {
        const struct call *started = turn_call(x->t, (uint32_t)i);

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

void reply_fill(wend_ev_model_end *e, const struct reply *r,
                const struct model_use *m, int64_t from_us)
{
    e->text = buf_view(&r->text);
    e->thinking = text_or_absent(&r->thinking);
    e->opaque_json = text_or_absent(&r->opaque);
    e->usage = reply_usage(r, m);
    if (r->first_us > from_us)
        e->first_token_ms = (r->first_us - from_us) / 1000;
}

void emit_model_end(struct tt *x, wend_outcome outcome, size_t calls,
                    size_t whole, const wend_ev_error *error)
{
    const struct turn *t = x->t;
    bool resumed = x->in->kind == IN_RESUME;
    const struct reply *r = resumed && t->part ? NULL : x->in->reply;
    wend_ev_model_end e = {0};

    assert(whole <= calls);
    e.outcome = outcome;
    e.purpose = t->purpose;
    e.finish = outcome == WEND_OUTCOME_OK ? STR("stop")
                                          : str_of(wend_outcome_name(outcome));
    e.usage.cost_nano = -1;
    e.error = error;
    if (!resumed && x->in->time_us > t->model_us)
        e.ms = (x->in->time_us - t->model_us) / 1000;
    if (r)
        reply_fill(&e, r, turn_model(t), t->model_us);
    else { /* cut off after its first call had begun: what was sealed by then */
        e.text = t->part_text;
        e.thinking = t->part_thinking;
        e.opaque_json = t->part_opaque;
    }
    if (resumed && is_charged(t))
        e.usage = x->cut;
    else if (r && outcome == WEND_OUTCOME_CANCELED)
        charge_stopped(turn_model(t), &t->allowed, turn_tokens(t), r, &e.usage);
    e.calls = list_calls(x, calls, whole);
    e.calls_count = e.calls ? calls : 0;
    if (outcome == WEND_OUTCOME_OK && r && r->finish.len)
        e.finish = r->finish;
    else if (outcome == WEND_OUTCOME_OK && calls)
        e.finish = STR("tool_calls");
    emit(x, WEND_MODEL_END, &e);
}

/* Ends the model's bracket with what has begun: a started call or plan is part
 * of the message for good; the rest never was. */
void close_model(struct tt *x, wend_outcome outcome, const wend_ev_error *error)
{
    assert(no_memory(x) || x->t->phase == PH_MODEL);
    emit_model_end(x, outcome, x->t->calls_count + turn_plan_open(x->t),
                   x->t->calls_count, error);
}

/* Asks again after a delay, the same model or another one. `failed`: usage of
 * the attempt before, or NULL. */
static void ask_again(struct tt *x, wend_str model, int64_t delay_ms,
                      wend_str reason, const wend_ev_usage *failed,
                      const struct allowance *a, wend_str dropped_json)
{
    emit(x, WEND_MODEL_RETRY,
         &(wend_ev_model_retry){.attempt = x->t->attempt,
                                .delay_ms = delay_ms,
                                .reason = reason,
                                .next_model = model,
                                .usage = failed,
                                .output_tokens = a->tokens,
                                .limit = a->limit,
                                .dropped_json = dropped_json});
    want_timer(x, TIMER_RETRY, delay_ms);
}

/* ---- The question -------------------------------------------------------- */

/* Nothing is sent. A fallback model is asked if one may have the room. */
static void refuse_request(struct tt *x)
{
    const struct turn *t = x->t;
    int64_t tokens = turn_tokens(t);
    const struct model_use *next = roomier_model(t, tokens);
    const wend_ev_error *error;
    struct allowance a = {0};

    emit_model_start(x, t->model, turn_purpose(t), &a);
    if (next && allow_turn(x, next, turn_tokens_for(t, next), NULL, &a)) {
        warn_of_room(x, next, tokens);
        ask_again(x, next->name, 0, STR("overflow"), NULL, &a, STR_NONE);
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
    /* A reply in this step is that of a summary, which has its own end. */
    emit(x, WEND_MODEL_END,
         &(wend_ev_model_end){.outcome = WEND_OUTCOME_FAILED,
                              .purpose = t->purpose,
                              .finish = STR("failed"),
                              .usage.cost_nano = -1,
                              .error = error});
    end_turn(x, WEND_OUTCOME_FAILED);
    end_run(x, WEND_OUTCOME_FAILED, STR_NONE, error);
}

/* The provider has refused it, and it did not become shorter. */
static void fail_too_long(struct tt *x)
{
    const struct turn *t = x->t;
    const wend_ev_error *error = draft_error(
        x, STR("overflow"),
        text_fmt(x,
                 "the model refused a request of about %lld tokens as too "
                 "long, and it cannot be made shorter: what must stay has "
                 "about %lld; shorten the instructions or the prompt, or use "
                 "a model with a larger window",
                 (long long)t->refused_tokens, (long long)turn_tokens(t)),
        STR("model"));

    end_turn(x, WEND_OUTCOME_FAILED);
    end_run(x, WEND_OUTCOME_FAILED, STR_NONE, error);
}

/* Instructions and tools alone are over the window: nothing that is left out of
 * the conversation would help. */
static bool is_hopeless(const struct turn *t)
{
    return frame_over(turn_model(t), t->frame->tokens);
}

void send_request(struct tt *x)
{
    const struct turn *t = x->t;
    struct allowance a;

    if (t->refused && t->refused_tokens &&
        turn_tokens(t) >= t->refused_tokens) {
        fail_too_long(x);
        return;
    }
    if (!allow_turn(x, turn_model(t), turn_tokens(t), NULL, &a)) {
        end_turn(x, WEND_OUTCOME_LIMIT);
        end_run(x, WEND_OUTCOME_LIMIT, a.limit, NULL);
        return;
    }
    if (is_far_over(turn_model(t), turn_tokens(t)) || is_hopeless(t)) {
        refuse_request(x);
        return;
    }
    if (!t->again) {
        warn_of_window(x, turn_model(t), turn_tokens(t));
        warn_of_media(x);
    }
    emit_model_start(x, t->model, turn_purpose(t), &a);
    want(x, (struct effect){.kind = FX_ASK_MODEL});
}

/* What was cut off is asked for again with the context that it had; a fork may
 * begin in the middle of one, which then does not count. */
void ask_model(struct tt *x)
{
    const struct turn *t = x->t;
    bool stands = t->again && !t->forked && !x->from->context &&
                  t->purpose != WEND_PURPOSE_SUMMARY;

    if (!stands && assemble_context(x))
        return; /* a summary is asked for first */
    send_request(x);
}

void warn_of_finish(struct tt *x, const struct allowance *a, wend_str finish)
{
    wend_str unknown = STR("unknown:");

    if (str_is(finish, "length") && a->limit.ptr)
        warn(x, STR("answer_cut"),
             text_fmt(x,
                      "the answer is cut: the budget of %.*s left %lld tokens "
                      "for it",
                      (int)a->limit.len, a->limit.ptr, (long long)a->tokens));
    else if (str_is(finish, "length"))
        warn(x, STR("answer_cut"),
             STR("the model stopped at its output limit; the answer is cut"));
    else if (str_is(finish, "content_filter"))
        warn(x, STR("answer_filtered"),
             STR("the provider's content filter cut the answer"));
    else if (finish.len && str_starts(finish, unknown.ptr))
        warn(x, STR("finish_unknown"),
             JOIN(x,
                  STR("the provider ended the answer with an unknown reason: "),
                  {finish.ptr + unknown.len, finish.len - unknown.len}));
}

void on_model_done(struct tt *x)
{
    const struct reply *r = x->in->reply;

    if (x->t->phase != PH_MODEL || x->in->ask != x->t->ask || !r)
        return;
    if (x->t->purpose == WEND_PURPOSE_SUMMARY) {
        on_summary_done(x);
        return;
    }
    emit_model_end(x, WEND_OUTCOME_OK, sealed_count(r), sealed_count(r), NULL);
    warn_of_finish(x, &x->t->allowed, r->finish);
    if (r->more && !x->t->calls_count) /* it says that this is not its last */
        emit_note(x, STR("Go on."));
    settle_calls(x);
    run_calls(x);
}

/* Tells the model what is wrong and what was wanted. A fork that begins
 * between the two events has been warned. */
static void ask_repair(struct tt *x, wend_str why)
{
    if (!x->t->repair)
        warn(x, STR("answer_invalid"), why);
    emit_note(
        x, JOIN(x, why,
                STR("\nAnswer again, with nothing but JSON that fits this JSON "
                    "Schema:\n"),
                x->t->config->schema_text));
    end_turn(x, WEND_OUTCOME_OK);
    next_turn(x);
}

void close_answer(struct tt *x)
{
    const struct turn *t = x->t;
    struct buf b = {.mem = x->s->scratch->mem};
    wend_str why;

    if (t->cut && t->allowed.limit.ptr) {
        end_turn(x, WEND_OUTCOME_LIMIT);
        end_run(x, WEND_OUTCOME_LIMIT, t->allowed.limit, NULL);
        return;
    }
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
    if (!t->repair_used) {
        ask_repair(x, why);
        return;
    }
    end_turn(x, WEND_OUTCOME_FAILED);
    end_run(x, WEND_OUTCOME_FAILED, STR_NONE,
            draft_error(x, STR("answer_invalid"), why, STR("schema")));
}

/* ---- Failure ------------------------------------------------------------- */

/* Nothing was shown that another attempt would take back. */
static bool may_ask_again(const struct turn *t, const struct input *in)
{
    return !t->calls_count && !turn_plan_open(t) &&
           (!in->reply || !in->reply->pieces);
}

/* The same request may succeed later. */
static bool is_passing(const struct turn *t, const struct input *in)
{
    return may_ask_again(t, in) && !in->error.retry_never &&
           code_passes(in->error.code);
}

static bool is_overflow(const struct input *in)
{
    return str_is(in->error.code, "overflow");
}

/* The model to ask instead of one that cannot answer, or NULL. Another model
 * would get the same invalid request. */
static const struct model_use *next_model(const struct turn *t,
                                          const struct input *in)
{
    if (!may_ask_again(t, in) || str_is(in->error.code, "invalid"))
        return NULL;
    return is_overflow(in) ? roomier_model(t, turn_tokens(t))
                           : fallback_model(t, turn_tokens(t));
}

/* Doubling from RETRY_BASE_MS, less up to a quarter. The jitter comes from the
 * run's id and the ask: many runs spread, and no randomness is needed. */
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
        *u = reply_usage(r, turn_model(x->t));
    return u;
}

/* Once for each field: the request is another one then. */
static bool try_without(struct tt *x)
{
    const struct turn *t = x->t;
    struct allowance a = t->allowed;
    wend_str dropped;

    if (!x->in->error.refused || !may_ask_again(t, x->in))
        return false;
    dropped = drop_refused(x, turn_model(t), x->in->error.refused,
                           x->in->error.message);
    if (dropped.ptr)
        ask_again(x, t->model, 0, x->in->error.code, NULL, &a, dropped);
    return dropped.ptr != NULL;
}

/* The same model once more. Without usage of the failed attempt, what was
 * reserved for it is still there. */
static bool try_same(struct tt *x, const wend_ev_usage *failed,
                     int64_t delay_ms, wend_str reason, wend_str *limit)
{
    const struct turn *t = x->t;
    struct allowance a = t->allowed;

    if (failed && !allow_turn(x, turn_model(t), turn_tokens(t), failed, &a)) {
        *limit = a.limit;
        return false;
    }
    ask_again(x, t->model, delay_ms, reason, failed, &a, STR_NONE);
    return true;
}

/* Whether it is asked again, this model or the next. If only a budget is in
 * the way, *limit says which. */
static bool try_again(struct tt *x, wend_str *limit)
{
    const struct turn *t = x->t;
    const struct model_use *next = next_model(t, x->in);
    const wend_ev_usage *failed = failed_usage(x);
    struct allowance a;

    if (try_without(x))
        return true;
    if (is_passing(t, x->in) && t->tries <= RETRIES_MAX &&
        !(next && x->in->error.resting) &&
        try_same(x, failed, retry_delay(t, x->in->error.retry_after_ms),
                 x->in->error.code, limit))
        return true;
    if (!next)
        return false;
    if (!allow_turn(x, next, turn_tokens_for(t, next), failed, &a)) {
        *limit = a.limit;
        return false;
    }
    *limit = STR_NONE;
    if (is_overflow(x->in))
        warn_of_room(x, next, turn_tokens(t));
    else
        warn_of_window(x, next, turn_tokens(t));
    ask_again(x, next->name, 0, x->in->error.code, failed, &a, STR_NONE);
    return true;
}

/* What the provider says, and that no fallback would have been better. */
static wend_str failure_text(struct tt *x)
{
    const struct turn *t = x->t;
    wend_str said = x->in->error.message;

    if (is_overflow(x->in) && t->refused)
        said = text_fmt(x,
                        "%.*s (the model refused %lld requests of this turn as "
                        "too long, the last one of about %lld tokens)",
                        STR_ARGS(said), (long long)t->refused + 1,
                        (long long)turn_tokens(t));
    if (!is_overflow(x->in) || !has_fallback(t) || !may_ask_again(t, x->in) ||
        roomier_model(t, turn_tokens(t)))
        return said;
    return JOIN(x, said, STR(" (no fallback model has a larger window)"));
}

/* The model refused parts of the request. It is asked again, once for each
 * type, with notes in their place, and never gets these types again. */
static bool ask_without_media(struct tt *x, wend_str *limit)
{
    const struct turn *t = x->t;
    uint32_t types;
    wend_str reason;

    if (!str_is(x->in->error.code, "media") || !may_ask_again(t, x->in))
        return false;
    types = media_in_words(x->in->error.message,
                           turn_media(t) & turn_media_present(t));
    if (!types)
        return false;
    reason = media_reason(types, x->s->scratch);
    warn(x, STR("media_refused"),
         JOIN(x, t->model, STR(" "), reason,
              STR(" and is asked again without: "), x->in->error.message));
    return try_same(x, failed_usage(x), 0, reason, limit);
}

void on_model_fail(struct tt *x)
{
    const struct turn *t = x->t;
    wend_str limit = STR_NONE;
    wend_outcome outcome;
    wend_ev_error *error;

    if (t->phase != PH_MODEL || x->in->ask != t->ask ||
        ask_without_media(x, &limit) || try_again(x, &limit))
        return;
    error = draft_error(x, x->in->error.code, failure_text(x), STR("model"));
    if (error)
        error->retryable = is_passing(t, x->in);
    close_model(x, WEND_OUTCOME_FAILED, error);
    if (t->purpose == WEND_PURPOSE_SUMMARY) {
        on_summary_fail(x);
        return;
    }
    if (t->phase == PH_TURN) { /* it was too long */
        enter_turn(x);
        return;
    }
    if (t->calls_count) { /* what began is finished first */
        run_calls(x);
        return;
    }
    outcome = limit.ptr ? WEND_OUTCOME_LIMIT : WEND_OUTCOME_FAILED;
    end_turn(x, outcome);
    end_run(x, outcome, limit, limit.ptr ? NULL : error);
}

void on_retry_timer(struct tt *x)
{
    if (x->t->phase != PH_MODEL || x->in->ask != x->t->ask)
        return;
    if (x->t->paused) /* look again soon: no new call while paused */
        want_timer(x, TIMER_RETRY, STOP_SLACK_MS);
    else
        want(x, (struct effect){.kind = FX_ASK_MODEL});
}

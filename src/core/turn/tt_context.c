/*
 * tt_context.c - the context of a request: what is in it, and how it is kept
 * within the model's window.
 *
 * Before each request, never inside a batch of calls:
 *
 *     context_start
 *       crowded: results are cut         compacted(trimmed)
 *       still crowded: a model is asked  model_start(summary) model_end ...
 *       ... up to 3 times                compacted(summary) or (window)
 *     context_end
 *
 * A conversation that a compaction has just made is not compacted again before
 * it has a new message, or the provider refuses it; but a summary may follow
 * cut results. Each refusal in a turn goes further: all of the above, then
 * without the first step, then without the second, then the run fails.
 *
 * A compaction that is asked for (control compact) leaves out most of what
 * there is, however much room there is; without a summary nothing goes.
 */
#include "core/turn/tt_step.h"

#include "base/code.h"
#include "core/config/frame_parts.h"

/* Each turn writes it: without printf. */
static wend_str parts_json(struct tt *x)
{
    const struct turn *t = x->t;
    int64_t reader = turn_reads(t) ? reader_tokens() : 0;
    int64_t said = turn_tokens(t) - t->frame->tokens - reader;
    struct buf b = {.mem = x->s->scratch->mem};

    buf_room(&b, t->frame->parts.len + 128);
    buf_char(&b, '[');
    buf_str(&b, t->frame->parts);
    if (t->frame->parts.len)
        buf_char(&b, ',');
    if (reader) {
        frame_parts_put(&b, PART_READER, t->config->reader->name, reader, 0);
        buf_char(&b, ',');
    }
    frame_parts_put(&b, PART_HISTORY, STR_NONE, said > 0 ? said : 0, 0);
    buf_char(&b, ']');
    return take_text(x, &b);
}

/* A provider's cache of the last request serves this one as far as both begin
 * the same. A turn only adds to the conversation, so only another config (in a
 * fork or a resume), another model or a compaction invalidates it: the first
 * two from the first byte, since the config comes first and models share no
 * cache. */
static wend_str prefix_changed(struct tt *x)
{
    const struct turn *t = x->t;

    if (!t->context_model.ptr)
        return STR_NONE;
    if (!str_eq(t->context_model, t->model))
        return STR("{\"byte\":0,\"cause\":\"model\"}");
    if (t->reconfigured)
        return STR("{\"byte\":0,\"cause\":\"config\"}");
    return t->recut ? text_fmt(x, "{\"byte\":%lld,\"cause\":\"compacted\"}",
                               (long long)t->recut_byte)
                    : STR_NONE;
}

static wend_str prefix_hex(struct tt *x, uint64_t prefix)
{
    unsigned char bytes[8];
    char hex[2 * sizeof bytes + 1];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(prefix >> (56 - 8 * i));
    hex_text(hex, bytes, sizeof bytes);
    return arena_str(x->s->scratch, (wend_str){hex, sizeof hex - 1});
}

void end_context(struct tt *x)
{
    const struct turn *t = x->t;
    uint64_t prefix = t->history ? t->history->prefix : t->frame->prefix;

    emit(x, WEND_CONTEXT_END,
         &(wend_ev_context_end){.tokens = turn_tokens(t),
                                .parts_json = parts_json(x),
                                .prefix_hash = prefix_hex(x, prefix),
                                .prefix_changed_json = prefix_changed(x)});
}

void emit_context(struct tt *x)
{
    int64_t window = turn_model(x->t)->context_tokens;

    emit(x, WEND_CONTEXT_START,
         &(wend_ev_context_start){.budget_tokens = window * 9 / 10});
}

/* ---- Compaction ---------------------------------------------------------- */

static int64_t messages(const struct turn *t)
{
    return t->history ? t->history->index + 1 : 0;
}

static bool is_crowded(const struct turn *t, const struct context_room *r)
{
    return !t->config->no_compaction && r->window && t->history &&
           r->fixed + t->history->tokens >= r->most;
}

static void emit_compacted(struct tt *x, wend_str method,
                           const struct compaction *c, int64_t attempts)
{
    const struct turn *t = x->t;
    const struct msg *after =
        compact_build(t->history, c, t->frame->prefix, x->s->scratch);

    if (!after)
        return;
    emit(x, WEND_COMPACTED,
         &(wend_ev_compacted){
             .method = method,
             .messages_before = messages(t),
             .messages_after = after->index + 1,
             .tokens_before = turn_tokens(t),
             .tokens_after =
                 turn_tokens_with(t, after->tokens - t->history->tokens),
             .topics_json = summary_topics(c->summary, x->s->scratch),
             .attempts = attempts,
             .from = c->from,
             .kept_json = compaction_kept(c, x->s->scratch),
             .results_json = compaction_cuts(c, t->history, x->s->scratch),
             .summary = c->summary,
             .dropped = c->dropped});
}

static void trim(struct tt *x, const struct context_room *r)
{
    struct compaction c = {.readable = x->t->config->reader != NULL};

    if (compact_trim(x->t->history, r, x->s->scratch, &c))
        emit_compacted(x, STR("trimmed"), &c, 0);
}

/* Whether a compaction that was asked for leaves anything out. */
static bool can_fold(struct tt *x)
{
    const struct turn *t = x->t;
    const struct context_room r = turn_fold_room(t);
    struct compaction c = {0};

    return t->fold && compact_tail(t->history, &r, STR(""), x->s->scratch, &c);
}

void warn_unfolded(struct tt *x, wend_str why)
{
    warn(x, STR("not_compacted"),
         JOIN(x, STR("the conversation stays as it is: "), why));
}

/* Leaving out a long result offers the model a tool to read it. */
static bool may_add_reader(const struct turn *t)
{
    const struct msg *m = t->history;

    while (m &&
           (m->role != ROLE_TOOL || result_whole(m).len < RESULT_NAMED_BYTES))
        m = m->prev;
    return m && t->config->reader && !turn_reads(t);
}

/* The summary of the turn, if it has one; without, the newest messages, unless
 * all of them have room. */
static void shorten(struct tt *x, const struct context_room *r)
{
    const struct turn *t = x->t;
    struct compaction c = {.readable = t->config->reader != NULL};
    bool summary = t->summary.ptr;
    struct context_room room = t->fold && summary ? turn_fold_room(t) : *r;

    if (may_add_reader(t))
        room.fixed += reader_tokens();
    if (!summary && !is_crowded(t, r))
        warn_unfolded(x, STR("no summary could be made"));
    else if (compact_tail(t->history, &room, t->summary, x->s->scratch, &c))
        emit_compacted(x, summary ? STR("summary") : STR("window"), &c,
                       t->summary_tries + summary);
    else if (t->fold)
        warn_unfolded(x, STR("with the summary it would be longer"));
}

/* ---- Summaries ----------------------------------------------------------- */

static int64_t summary_input(const struct turn *t, const struct model_use *m,
                             int64_t question)
{
    return m == turn_model(t) ? turn_tokens_with(t, question)
                              : turn_tokens_for(t, m) +
                                    question * family_scale(m->spec) / 1000;
}

/* The agent may name another model, which is asked once if it has the room;
 * after that the run's own. */
static const struct model_use *summary_model(const struct turn *t,
                                             int64_t question)
{
    const struct model_use *m = &t->config->models[t->config->summary_at];
    int64_t input = summary_input(t, m, question);

    if (!t->config->summary_at || t->summary_tries ||
        (m->window_known && input > m->context_tokens - m->context_tokens / 8))
        return turn_model(t);
    return m;
}

/* Its request has one message more, and needs room for the answer. NULL: no
 * model is asked. */
static const struct model_use *
may_ask_summary(struct tt *x, const struct context_room *r, struct allowance *a)
{
    const struct turn *t = x->t;
    int64_t question = msg_tokens(summary_question(t->focus, x->s->scratch));
    const struct model_use *m = summary_model(t, question);

    if (t->summary_tries >= SUMMARY_TRIES_MAX ||
        (m == turn_model(t) &&
         !compact_fit(t->history, r, summary_room(r, question),
                      t->frame->prefix, x->s->scratch)) ||
        !allow_turn(x, m, summary_input(t, m, question), NULL, a))
        return NULL;
    return m;
}

/* True: a model is asked for a summary. `ask`: it may be. */
static bool make_room(struct tt *x, bool ask)
{
    const struct context_room r = turn_room(x->t);
    const struct model_use *m = NULL;
    struct allowance a;

    if (!is_crowded(x->t, &r) && !can_fold(x))
        return false;
    if (ask && !x->t->summary.ptr)
        m = may_ask_summary(x, &r, &a);
    if (m) {
        emit_model_start(x, model_name(x->t, m), WEND_PURPOSE_SUMMARY, &a);
        want(x, (struct effect){.kind = FX_ASK_MODEL});
        return true;
    }
    shorten(x, &r);
    return false;
}

static int64_t pinned_tokens(const struct msg *list)
{
    int64_t sum = 0;

    for (; list; list = list->prev)
        if (list->pinned || (!list->prev && list->role == ROLE_USER))
            sum += msg_tokens(list->text) + list->media;
    return sum;
}

bool may_pin(struct tt *x, wend_str text)
{
    const struct turn *t = x->t;
    const struct msg *said = t->aside ? t->aside : t->history;
    const struct context_room r = turn_room(t);
    const struct token_map map = {.scale = family_scale(turn_model(t)->spec)};
    int64_t stays = r.fixed + pinned_tokens(said) + pinned_tokens(t->pending) +
                    msg_tokens(text);

    if (!r.window || t->config->no_compaction || stays < r.most)
        return true;
    warn(x, STR("pin_refused"),
         text_fmt(x,
                  "the message of about %lld tokens cannot be pinned: with it, "
                  "what must stay in each request has about %lld tokens, and a "
                  "request to %.*s has at most %lld; say it without --pin, or "
                  "shorten it",
                  (long long)tokens_of(&map, msg_tokens(text)),
                  (long long)tokens_of(&map, stays), STR_ARGS(t->model),
                  (long long)tokens_of(&map, r.most)));
    return false;
}

void emit_compact(struct tt *x, wend_str by, wend_str focus)
{
    struct buf b = {.mem = x->s->scratch->mem};

    if (focus.len) {
        json_open(&b, NULL, '{');
        json_add_str(&b, "focus", focus);
        json_close(&b, '}');
    }
    emit_control(x, STR("compact"), by,
                 focus.len ? take_text(x, &b) : STR_NONE);
}

/* Results may have been cut before a crash or a pause, or before a fork began:
 * then the summary is what is left to do. */
bool assemble_context(struct tt *x)
{
    const struct turn *t = x->t;
    const struct context_room r = turn_room(t);
    bool settled, cut;

    emit_context(x);
    settled = messages(t) == t->settled;
    cut = settled && t->trimmed;
    if (t->fold && !can_fold(x))
        warn_unfolded(x, STR("there is nothing to leave out"));
    if (is_crowded(t, &r) ? !settled || cut || t->fold : can_fold(x)) {
        if (!t->fold && !cut && !t->summary.ptr && !t->summary_tries &&
            t->refused < 2)
            trim(x, &r);
        if (make_room(x, t->refused < REFUSALS_MAX))
            return true;
    }
    end_context(x);
    return false;
}

/* A paused run continues with a context of its own. */
static void after_summary(struct tt *x, bool ask)
{
    if (!x->t->paused && make_room(x, ask))
        return;
    end_context(x);
    if (!x->t->paused)
        send_request(x);
}

void on_summary_done(struct tt *x)
{
    const struct reply *r = x->in->reply;
    const struct context_room room = turn_room(x->t);
    const char *wrong =
        summary_wrong(buf_view(&r->text), r->calls_count > 0, r->finish, &room);
    const wend_ev_error *error = NULL;

    if (wrong)
        error = draft_error(x, STR("summary"), str_of(wrong), STR("model"));
    emit_model_end(x, wrong ? WEND_OUTCOME_FAILED : WEND_OUTCOME_OK, 0, 0,
                   error);
    if (wrong)
        warn(x, STR("summary_failed"), str_of(wrong));
    after_summary(x, true);
}

/* It has been retried as any other request. One that broke off can still be
 * asked for again, since no reader has seen it; one that was too
 * long, of less; one of another model, of the run's own. */
void on_summary_fail(struct tt *x)
{
    const struct reply *r = x->in->reply;
    wend_str code = x->in->error.code;
    bool other = x->t->config->summary_at && x->t->summary_tries == 1;

    warn(x, STR("summary_failed"), x->in->error.message);
    after_summary(x, (r && r->pieces && code_passes(code)) ||
                         str_is(code, "overflow") || other);
}

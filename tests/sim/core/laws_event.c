/*
 * laws_event.c - the laws that one event of the log can break.
 *
 * Each looks at the event as a reader gets it, and at the book before the
 * event is entered. The event comes from the stored bytes.
 */
#include "base/id.h"
#include "book.h"
#include "laws_budget.h"
#include "laws_client.h"
#include "laws_context.h"
#include "laws_event.h"
#include "plan_book.h"

static void law_over(struct sim *s, const wend_event *ev, const char *name)
{
    if (s->book.run_over)
        broken(s, name, "%s after run_end", wend_event_name(ev->type));
}

static void law_seq(struct sim *s, const wend_event *ev, const char *name)
{
    if (ev->seq != s->book.seq + 1 || ev->n)
        broken(s, name, "seq %lld after %lld", (long long)ev->seq,
               (long long)s->book.seq);
}

static void law_time(struct sim *s, const wend_event *ev, const char *name)
{
    if (ev->time_us < s->book.time_us)
        broken(s, name, "%lld us back at seq %lld",
               (long long)(s->book.time_us - ev->time_us), (long long)ev->seq);
}

/* What must be open, and what must not, for an event to come. */
enum {
    RUN = 1,
    TURN = 2,
    CONTEXT = 4,
    MODEL = 8,
    CONTEXT_DONE = 16,
    MODEL_DONE = 32,
    CALLS = 64, /* one is open */
    PLAN = 128,
    PLAN_DONE = 256,
    ACTS = 512, /* one is open */
};

struct place {
    unsigned needs, bars;
};

static const struct place turn_places[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = {0, RUN},
    [WEND_RUN_END] = {RUN, TURN},
    [WEND_RUN_RESUME] = {RUN | TURN, 0},
    [WEND_TURN_START] = {RUN, TURN},
    [WEND_TURN_END] = {RUN | TURN, CONTEXT | MODEL | CALLS},
    [WEND_CONTEXT_START] = {RUN | TURN, CONTEXT | CONTEXT_DONE | MODEL},
    [WEND_COMPACTED] = {RUN | TURN | CONTEXT, MODEL},
    [WEND_CONTEXT_END] = {RUN | TURN | CONTEXT, MODEL},
    [WEND_MODEL_START] = {RUN | TURN | CONTEXT_DONE, MODEL | MODEL_DONE},
    [WEND_MODEL_PART] = {RUN | TURN | MODEL, CALLS},
    [WEND_MODEL_RETRY] = {RUN | TURN | MODEL, CALLS},
    [WEND_MODEL_END] = {RUN | TURN | MODEL, 0},
    [WEND_APPROVAL_ASK] = {RUN | TURN | MODEL_DONE, 0},
    [WEND_APPROVAL_ANSWER] = {RUN | TURN | MODEL_DONE, 0},
    [WEND_CALL_START] = {RUN | TURN | CONTEXT_DONE, CONTEXT},
    [WEND_CALL_END] = {RUN | TURN | CALLS, CONTEXT},
    [WEND_CHILD_START] = {RUN | TURN | CALLS, CONTEXT},
    [WEND_CHILD_END] = {RUN | TURN | CALLS, CONTEXT},
    [WEND_MESSAGE] = {RUN | TURN, 0},
    [WEND_CONTROL] = {RUN | TURN, 0},
    [WEND_METRICS] = {RUN, 0},
    [WEND_WARNING] = {RUN, 0},
    [WEND_ERROR] = {RUN, 0},
    [WEND_RUN_FORK] = {RUN, 0},
};

/* Of a run that is a plan: what is forgotten may end after plan_end. */
static const struct place plan_places[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = {0, RUN},
    [WEND_RUN_END] = {RUN | PLAN_DONE, ACTS},
    [WEND_RUN_RESUME] = {RUN, 0},
    [WEND_RUN_FORK] = {RUN, 0},
    [WEND_PLAN_START] = {RUN, PLAN},
    [WEND_PLAN_END] = {RUN | PLAN, PLAN_DONE},
    [WEND_ACTION_START] = {RUN | PLAN, 0},
    [WEND_ACTION_RETRY] = {RUN | PLAN | ACTS, 0},
    [WEND_ACTION_END] = {RUN | PLAN, 0},
    [WEND_MODEL_START] = {RUN | PLAN | ACTS, 0},
    [WEND_MODEL_END] = {RUN | PLAN | ACTS, 0},
    [WEND_APPROVAL_ASK] = {RUN | PLAN, 0},
    [WEND_APPROVAL_ANSWER] = {RUN | PLAN, 0},
    [WEND_CHILD_START] = {RUN | PLAN | ACTS, 0},
    [WEND_CHILD_END] = {RUN | PLAN | ACTS, 0},
    [WEND_MESSAGE] = {RUN, 0},
    [WEND_CONTROL] = {RUN, 0},
    [WEND_METRICS] = {RUN, 0},
    [WEND_WARNING] = {RUN, 0},
    [WEND_ERROR] = {RUN, 0},
};

static void law_brackets(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;
    unsigned open =
        (b->run_open ? RUN : 0) | (b->turn_open ? TURN : 0) |
        (b->context_open ? CONTEXT : 0) | (b->model_open ? MODEL : 0) |
        (b->turn_open && b->context_done ? CONTEXT_DONE : 0) |
        (b->turn_open && b->model_done ? MODEL_DONE : 0) |
        (book_running(b) ? CALLS : 0) | (b->plan.open ? PLAN : 0) |
        (b->plan.over ? PLAN_DONE : 0) | (acts_running(&b->plan) ? ACTS : 0);
    const struct place *places = s->planned ? plan_places : turn_places;
    unsigned needs = places[ev->type].needs, bars = places[ev->type].bars;

    if (ev->type == WEND_MODEL_START && !s->planned &&
        ev->u.model_start.purpose == WEND_PURPOSE_SUMMARY)
        needs = RUN | TURN | CONTEXT;
    if (ev->type == WEND_CONTROL && b->turn < 0 &&
        str_is(ev->u.control.what, "compact"))
        needs = RUN; /* the run begins with it */
    if (b->summed && !b->context_used && ev->type == WEND_CONTEXT_START)
        bars &= ~(unsigned)CONTEXT_DONE; /* of a pause, or a crash */
    if (b->forked) { /* anywhere, and with a context of its own */
        needs &= ~(unsigned)TURN;
        bars &= ev->type == WEND_CONTEXT_START ? ~(unsigned)CONTEXT_DONE : ~0U;
    }
    if ((open & needs) != needs || (open & bars))
        broken(s, name, "%s where open is %u, needed %u, barred %u",
               wend_event_name(ev->type), open, needs, bars);
    if (!needs && !bars)
        broken(s, name, "%s has no place here", wend_event_name(ev->type));
}

static void law_turn_ids(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;
    const wend_ev_turn_start *e = &ev->u.turn_start;
    bool starts = ev->type == WEND_TURN_START;
    int64_t counter = b->turn + starts;
    char id[TURN_ID_MAX] = "";

    turn_id_make(id, str_of(s->run), counter);
    if (!str_is(ev->run, s->run))
        broken(s, name, "run is '%.*s'", (int)ev->run.len, ev->run.ptr);
    if (ev->in_turn != (b->turn_open || starts))
        broken(s, name, "%s %s a turn", wend_event_name(ev->type),
               ev->in_turn ? "says it is in" : "does not name");
    if (ev->in_turn &&
        (ev->turn != counter || !str_is(ev->turn_id, starts ? id : b->turn_id)))
        broken(s, name, "%s is in turn %lld '%.*s', not %s",
               wend_event_name(ev->type), (long long)ev->turn,
               (int)ev->turn_id.len, ev->turn_id.ptr, starts ? id : b->turn_id);
    if (!starts)
        return;
    if (counter >= b->limits.turns)
        broken(s, name, "turn %lld of %lld", (long long)counter + 1,
               (long long)b->limits.turns);
    if (e->counter != counter || !str_is(e->id, id))
        broken(s, name, "turn_start %lld '%.*s', not %s", (long long)e->counter,
               (int)e->id.len, e->id.ptr, id);
    if (b->turn < 0 ? e->parent_id.ptr != NULL
                    : !str_is(e->parent_id, b->turn_id))
        broken(s, name, "parent_id is '%.*s', not '%s'", (int)e->parent_id.len,
               e->parent_id.ptr ? e->parent_id.ptr : "", b->turn_id);
}

static void law_part(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;

    if (ev->type == WEND_MODEL_PART && (b->part || b->calls_count))
        broken(s, name, "a second model_part, or one after a call");
    if (ev->type == WEND_CALL_START && b->model_open && !b->part)
        broken(s, name, "an eager call_start without a model_part");
}

static void law_call_bracket(struct sim *s, const wend_event *ev,
                             const char *name)
{
    struct book *b = &s->book;
    const struct book_call *c;

    if (ev->type == WEND_CALL_START) {
        c = book_call(b, ev->u.call_start.call);
        if (c && c->started && !c->closed)
            broken(s, name, "call %s starts twice", c->id);
        if (ev->u.call_start.attempt != (c ? c->attempt : 0) + 1)
            broken(s, name, "attempt %lld of '%.*s'",
                   (long long)ev->u.call_start.attempt,
                   (int)ev->u.call_start.call.len, ev->u.call_start.call.ptr);
        if (b->model_done && !c)
            broken(s, name, "call '%.*s' is not in model_end.calls",
                   (int)ev->u.call_start.call.len, ev->u.call_start.call.ptr);
    } else if (ev->type == WEND_CALL_END) {
        c = book_call(b, ev->u.call_end.call);
        if (!c || !c->started || c->ended || c->closed)
            broken(s, name, "call_end of '%.*s', which is not open",
                   (int)ev->u.call_end.call.len, ev->u.call_end.call.ptr);
    }
}

/* One child at a time, inside its call; a resumed call keeps the one that it
 * had. */
static void law_child(struct sim *s, const wend_event *ev, const char *name)
{
    struct book *b = &s->book;
    const struct book_call *c;

    if (s->planned) /* they have a law of their own */
        return;
    if (ev->type == WEND_CHILD_START) {
        c = book_call(b, ev->u.child_start.call);
        if (!book_runs(c) || !c->tool || !c->tool->child || c->child)
            broken(s, name, "child_start for a call that has none");
        if (!run_id_valid(ev->u.child_start.run))
            broken(s, name, "a child without an id");
    } else if (ev->type == WEND_CHILD_END) {
        if (!book_parent(b, ev->u.child_end.run))
            broken(s, name, "child_end of a child that is not open");
    } else if (ev->type == WEND_CALL_END) {
        c = book_call(b, ev->u.call_end.call);
        if (c && c->child && ev->u.call_end.outcome != WEND_OUTCOME_SUPERSEDED)
            broken(s, name, "'%s' ends before its child", c->id);
    }
}

static void check_act_approval(struct sim *s, const wend_event *ev,
                               const char *name)
{
    bool asks = ev->type == WEND_APPROVAL_ASK;
    bool answers = ev->type == WEND_APPROVAL_ANSWER;
    const struct book_action *a =
        asks      ? act_find(&s->book.plan, ev->u.approval_ask.action)
        : answers ? act_find(&s->book.plan, ev->u.approval_answer.action)
                  : NULL;

    if (asks && (!a || a->ended || act_waits(a) || (a->started && !a->lost)))
        broken(s, name,
               "approval_ask for an unknown action, or one that started");
    if (answers && !act_waits(a))
        broken(s, name, "approval_answer to no open question");
}

static void law_approval(struct sim *s, const wend_event *ev, const char *name)
{
    struct book *b = &s->book;
    const struct book_call *c;

    if (s->planned) {
        check_act_approval(s, ev, name);
    } else if (ev->type == WEND_APPROVAL_ASK) {
        c = book_call(b, ev->u.approval_ask.call);
        if (!c || (c->asked && !c->unheard) || (c->started && !c->lost))
            broken(s, name, "approval_ask for a call that is %s",
                   !c         ? "unknown"
                   : c->asked ? "asked for"
                              : "started");
    } else if (ev->type == WEND_APPROVAL_ANSWER) {
        c = book_call(b, ev->u.approval_answer.call);
        if (!c || !c->asked || c->answered)
            broken(s, name, "approval_answer to no open question");
    }
}

/* Calls that began are at the head of the list, in the same order. */
static void check_listed(struct sim *s, const wend_ev_model_end *e,
                         const char *name)
{
    const struct book *b = &s->book;

    if (e->calls_count < b->calls_count) {
        broken(s, name, "model_end lists %zu calls, %u have begun",
               e->calls_count, b->calls_count);
        return;
    }
    for (uint32_t i = 0; i < b->calls_count; i++)
        if (!str_is(e->calls[i].id, b->calls[i].id))
            broken(s, name, "model_end lists '%.*s' as %u, '%s' began",
                   (int)e->calls[i].id.len, e->calls[i].id.ptr, i,
                   b->calls[i].id);
}

static void law_results(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;

    if (ev->type == WEND_MODEL_END && !s->planned)
        check_listed(s, &ev->u.model_end, name);
    if (ev->type != WEND_TURN_END)
        return;
    for (uint32_t i = 0; i < b->calls_count; i++)
        if (!b->calls[i].listed || !b->calls[i].started || !b->calls[i].ended)
            broken(s, name, "turn_end before call_end of '%s'%s",
                   b->calls[i].id, b->calls[i].listed ? "" : " (not listed)");
    if (ev->u.turn_end.calls != b->calls_count ||
        ev->u.turn_end.failed_calls != b->failed)
        broken(s, name, "turn_end counts %lld calls, %lld failed, not %u, %u",
               (long long)ev->u.turn_end.calls,
               (long long)ev->u.turn_end.failed_calls, b->calls_count,
               b->failed);
}

/* A child that was cut off is resumed even if only to stop it; an action whose
 * attempt is closed as superseded is opened again only to end (law_still looks
 * at effects); and what is under way may ask its model once more. */
static void law_quiet(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book_action *a = NULL;
    bool starts = ev->type == WEND_MODEL_START && !s->planned;

    if (ev->type == WEND_ACTION_START) {
        a = act_find(&s->book.plan, ev->u.action_start.action);
        starts = !(a && (a->child || a->closed) && s->book.stopping);
    }
    if (starts && (s->book.paused || s->book.stopping))
        broken(s, name, "%s while %s", wend_event_name(ev->type),
               s->book.paused ? "paused" : "stopping");
}

static void law_retry(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;
    const wend_ev_model_retry *e = &ev->u.model_retry;

    if (ev->type != WEND_MODEL_RETRY)
        return;
    if (s->stream.open && s->stream.reply.pieces && s->stream.ask == b->asks)
        broken(s, name, "retry after %lld pieces",
               (long long)s->stream.reply.pieces);
    if (b->calls_count)
        broken(s, name, "retry after a call has begun");
    if (e->attempt != b->attempt)
        broken(s, name, "retry of attempt %lld; at %lld", (long long)e->attempt,
               (long long)b->attempt);
    if (b->model_at + 1 < b->config->models_count &&
        str_eq(e->next_model, b->config->models[b->model_at + 1].name)) {
        if (e->delay_ms)
            broken(s, name, "another model waits %lld ms",
                   (long long)e->delay_ms);
        return;
    }
    if (!str_eq(e->next_model, s->turn.model))
        broken(s, name, "a model that is not the next one");
    if (e->dropped_json.ptr || str_starts(e->reason, "refused "))
        return; /* without what the model refused: at once */
    if (b->tries > RETRIES_MAX)
        broken(s, name, "retry of try %lld, most %d", (long long)b->tries,
               RETRIES_MAX);
    if (e->delay_ms <= 0 || e->delay_ms > RETRY_AFTER_MAX_MS)
        broken(s, name, "a delay of %lld ms", (long long)e->delay_ms);
}

static void law_metrics(struct sim *s, const wend_event *ev, const char *name)
{
    wend_ev_metrics want = s->book.sum;
    const wend_ev_metrics *got =
        ev->type == WEND_METRICS ? &ev->u.metrics : &ev->u.run_end.metrics;

    if (ev->type != WEND_METRICS && ev->type != WEND_RUN_END)
        return;
    want.ms = (ev->time_us - s->book.started_us - s->book.idle_us) / 1000;
    if (s->book.unpriced)
        want.cost_nano = -1;
    if (memcmp(got, &want, sizeof want))
        broken(s, name,
               "turns %lld models %lld calls %lld errors %lld in %lld out "
               "%lld ms %lld; wanted %lld %lld %lld %lld %lld %lld %lld",
               (long long)got->turns, (long long)got->model_calls,
               (long long)got->tool_calls, (long long)got->tool_errors,
               (long long)got->tokens_in, (long long)got->tokens_out,
               (long long)got->ms, (long long)want.turns,
               (long long)want.model_calls, (long long)want.tool_calls,
               (long long)want.tool_errors, (long long)want.tokens_in,
               (long long)want.tokens_out, (long long)want.ms);
}

static void law_run_end(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;
    const wend_ev_run_end *e = &ev->u.run_end;
    bool bare =
        b->config->schema && e->outcome == WEND_OUTCOME_OK && !e->pending_count;

    if (ev->type != WEND_RUN_END)
        return;
    if (hash_str(e->text) != (bare ? b->answer_bare : b->answer))
        broken(s, name, "text '%.*s' is not the last answer", (int)e->text.len,
               e->text.ptr);
    if (b->stopping && e->outcome != b->stop)
        broken(s, name, "outcome %s, stopped for %s",
               wend_outcome_name(e->outcome), wend_outcome_name(b->stop));
    if (!b->stopping && e->outcome == WEND_OUTCOME_CANCELED)
        broken(s, name, "canceled, but not by anyone");
    if ((e->outcome == WEND_OUTCOME_LIMIT) != (e->limit.ptr != NULL) ||
        (e->outcome == WEND_OUTCOME_FAILED) != (e->error != NULL))
        broken(s, name, "outcome %s does not fit limit or error",
               wend_outcome_name(e->outcome));
}

static void law_whole(struct sim *s, const wend_event *ev, const char *name)
{
    if (ev->type == WEND_RUN_END && s->book.broken_off &&
        ev->u.run_end.outcome == WEND_OUTCOME_OK &&
        !ev->u.run_end.pending_count)
        broken(s, name, "ok, though the last message broke off");
}

/* Read and idempotent calls run again; an unsafe one only if the policy or
 * a person says so, and else its end says that it is unknown. A fork may begin
 * at the end of a superseded attempt: then there is one more bracket around
 * that end, see law_effects. */
static void law_lost(struct sim *s, const wend_event *ev, const char *name)
{
    struct book *b = &s->book;
    struct book_call *c = NULL;
    bool unsafe, twice;

    if (ev->type == WEND_CALL_START)
        c = book_call(b, ev->u.call_start.call);
    else if (ev->type == WEND_CALL_END)
        c = book_call(b, ev->u.call_end.call);
    else
        return;
    if (ev->type == WEND_CALL_END && ev->u.call_end.given)
        return; /* its maker knows better */
    if (!c || !c->lost) {
        if (ev->type == WEND_CALL_END && !(c && c->doubted) &&
            ev->u.call_end.outcome == WEND_OUTCOME_UNKNOWN)
            broken(s, name, "unknown, though nothing was cut off");
        return;
    }
    if (!c->tool) /* a fork began between the brackets of a refused call */
        return;
    unsafe = c->tool->call_class == WEND_CLASS_UNSAFE && !c->tool->client;
    twice = !unsafe || c->child || /* which is gone on with */
            b->config->on_unknown == UNKNOWN_RETRY ||
            (b->config->on_unknown == UNKNOWN_ASK && c->yes);
    if (ev->type == WEND_CALL_START) {
        c->doubted = !twice;
    } else if (ev->u.call_end.outcome == WEND_OUTCOME_SUPERSEDED) {
        if (!twice)
            broken(s, name, "unsafe '%s' begins twice", c->id);
    } else if (ev->u.call_end.outcome !=
               (unsafe ? WEND_OUTCOME_UNKNOWN : WEND_OUTCOME_CANCELED)) {
        broken(s, name, "'%s' ends as %s", c->id,
               wend_outcome_name(ev->u.call_end.outcome));
    } else if (twice && !b->stopping) {
        broken(s, name, "'%s' is given up", c->id);
    }
}

/* Of a call or an action: it was cut off, and begins again. */
static void check_superseded(struct sim *s, const wend_event *ev,
                             const char *name)
{
    const struct book_call *c = ev->type == WEND_CALL_END
                                    ? book_call(&s->book, ev->u.call_end.call)
                                    : NULL;
    const struct book_action *a =
        ev->type == WEND_ACTION_END
            ? act_find(&s->book.plan, ev->u.action_end.action)
            : NULL;

    if ((c && ev->u.call_end.outcome == WEND_OUTCOME_SUPERSEDED && !c->lost) ||
        (a && ev->u.action_end.outcome == WEND_OUTCOME_SUPERSEDED && !a->lost))
        broken(s, name, "%s superseded, but nothing was cut off",
               wend_event_name(ev->type));
}

static void law_superseded(struct sim *s, const wend_event *ev,
                           const char *name)
{
    const struct book *b = &s->book;
    bool is = ev->type == WEND_MODEL_END &&
              ev->u.model_end.outcome == WEND_OUTCOME_SUPERSEDED;

    check_superseded(s, ev, name);
    if (s->planned) /* a pause may come between the two */
        is = is && !act_find(&s->book.plan, ev->u.model_end.action)->lost;
    if (is && (!b->resumed || b->calls_count))
        broken(s, name, "superseded %s",
               b->resumed ? "after a call began" : "for no reason");
    if (ev->type == WEND_MODEL_START && !s->planned &&
        ev->u.model_start.purpose != WEND_PURPOSE_SUMMARY &&
        (ev->u.model_start.attempt > 1) != (b->attempt && b->context_used))
        broken(s, name, "attempt %lld", (long long)ev->u.model_start.attempt);
}

/* By hand, without core/answer: white space and one fence do not count. */
static bool fits(struct sim *s, wend_str text)
{
    struct arena a = {.mem = &s->mem};
    struct buf copy = {.mem = &s->mem};
    struct json *value;
    char *from, *to;
    bool ok;

    buf_str(&copy, text);
    buf_char(&copy, ' '); /* never NULL */
    from = copy.ptr + strspn(copy.ptr, " \t\r\n");
    for (to = copy.ptr + copy.len; to > from && strchr(" \t\r\n", to[-1]);)
        *--to = 0;
    if (to - from >= 6 && !strncmp(from, "```", 3) && !strcmp(to - 3, "```")) {
        to[-3] = 0;
        from += 3;
        if (!strncasecmp(from, "json", 4))
            from += 4;
    }
    value = json_parse(str_of(from), &a, NULL);
    ok = value && schema_check(s->config->schema, value, NULL);
    arena_free(&a);
    buf_free(&copy);
    return ok;
}

static void law_answer(struct sim *s, const wend_event *ev, const char *name)
{
    const wend_ev_run_end *e = &ev->u.run_end;
    bool invalid;

    if (ev->type != WEND_RUN_END)
        return;
    invalid = e->error && str_is(e->error->code, "answer_invalid");
    if (s->config->schema && e->outcome == WEND_OUTCOME_OK &&
        !e->pending_count && !fits(s, e->text))
        broken(s, name, "ok with '%.*s'", (int)e->text.len, e->text.ptr);
    if (invalid && (!s->config->schema || fits(s, e->text)))
        broken(s, name, "refused '%.*s'", (int)e->text.len, e->text.ptr);
    if (invalid && !s->book.repaired)
        broken(s, name, "given up without a repair");
}

static void law_repair(struct sim *s, const wend_event *ev, const char *name)
{
    const struct book *b = &s->book;
    bool due = b->invalid > b->repaired;

    if (ev->type == WEND_WARNING && b->invalid &&
        str_is(ev->u.warning.code, "answer_invalid"))
        broken(s, name, "a second answer_invalid");
    if (s->planned)
        return;
    if (ev->type == WEND_MODEL_END && ev->u.model_end.purpose != b->purpose)
        broken(s, name, "model_end of another purpose");
    if (ev->type != WEND_MODEL_START ||
        ev->u.model_start.purpose == WEND_PURPOSE_SUMMARY)
        return;
    if (due != (ev->u.model_start.purpose == WEND_PURPOSE_REPAIR))
        broken(s, name, "asked for %s",
               due ? "another answer" : "a repair of nothing");
    if (due && !b->told)
        broken(s, name, "the model is not told what is wrong");
}

const struct event_law event_laws[] = {
    {"nothing after run_end", law_over},
    {"seq has no gap", law_seq},
    {"time never goes back", law_time},
    {"brackets nest", law_brackets},
    {"turns are numbered and chained", law_turn_ids},
    {"one model_part before the first eager call", law_part},
    {"a call has one bracket", law_call_bracket},
    {"a child is begun once, and ends inside its call", law_child},
    {"approval_answer follows approval_ask", law_approval},
    {"every call has one result", law_results},
    {"calls of the caller end the run", law_client},
    {"nothing starts while paused or stopping", law_quiet},
    {"a model call is retried only unseen", law_retry},
    {"metrics add up", law_metrics},
    {"run_end says how it ended", law_run_end},
    {"a run whose last message broke off is not ok", law_whole},
    {"an answer fits its schema", law_answer},
    {"one repair, and for a reason", law_repair},
    {"what was cut off is settled by its class", law_lost},
    {"only an interruption supersedes", law_superseded},
    {"what a crash cut off is charged", law_charged},
    {"a request that is not sent costs nothing", law_unsent},
    {"a provider that keeps to the maximum keeps the budget", law_kept},
    {"a compaction loses nothing that must stay", law_stays},
    {"a prefix changes only where that is said", law_prefix},
    {NULL, NULL},
};

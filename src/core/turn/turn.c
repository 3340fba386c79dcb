/*
 * turn.c - the state of a run: an immutable value, evolved by events.
 *
 * Nothing here decides; see tt.c for that. Every event type has its line in
 * the switch at the end, also those that change nothing yet.
 */
#include "core/turn/turn.h"

#include <assert.h>
#include <string.h>

#include "base/cost.h"
#include "core/media/media.h"
#include "core/policy/policy.h"
#include "core/turn/messages.h"

/* Of one that the caller executes, until its result comes. */
#define NOT_GIVEN "[the caller gave no result for this call]"

void turn_init(struct turn *t)
{
    memset(t, 0, sizeof *t);
    t->counter = -1;
}

/* ---- Messages ------------------------------------------------------------ */

bool turn_history_add(struct turn *t, struct msg *m)
{
    if (!m)
        return false;
    assert(t->config && t->frame);
    for (size_t i = 0; i < m->parts_count; i++)
        spend(&m->media, part_tokens(&m->parts[i], turn_model(t)));
    msg_seal(m);
    msg_link(m, t->history, t->frame->prefix);
    t->history = m;
    return true;
}

/* The default of a field that the log always has, so that a live state and one
 * from the log are the same. */
static wend_str kept(const struct keep *k, wend_str s, wend_str absent)
{
    return arena_str(k->arena, s.ptr ? s : absent);
}

static struct msg *new_msg(const struct keep *k, enum role role, wend_str text,
                           const wend_ev_part *parts, size_t parts_count)
{
    struct msg *m = arena_alloc(k->arena, sizeof *m);

    if (m) {
        m->role = role;
        m->text = kept(k, text, STR(""));
        m->parts = parts_keep(parts, parts_count, k->arena);
        m->parts_count = m->parts ? parts_count : 0;
    }
    return m;
}

/* ---- One function for each event that changes something ------------------ */

/* The past ends with what the model has not answered yet: results of calls, or
 * a message of the user. */
static bool asks_nothing_new(const struct turn *t, const wend_ev_run_start *e)
{
    return !e->prompt.len && !e->parts_count && t->history &&
           t->history->role != ROLE_ASSISTANT;
}

static void on_run_start(struct turn *t, const wend_event *ev,
                         const struct keep *k)
{
    const wend_ev_run_start *e = &ev->u.run_start;
    struct plan *plan = NULL;

    t->run = arena_str(k->arena, ev->run);
    t->started_us = ev->time_us;
    t->lives = 1;
    t->model = kept(k, e->model, STR(""));
    t->limits = e->limits;
    t->context_json = kept(k, e->context_json, STR("{}"));
    if (!turn_take_config(t, e->config_json, k))
        return;
    if (e->plan_json.ptr &&
        plan_parse(e->plan_json, NULL, k->arena, &plan, NULL) != WEND_OK) {
        k->arena->failed = true;
        return;
    }
    t->plan.plan = plan;
    t->labels = t->config->within.labels | t->frame->labels;
    t->file_plan = plan ? plan->name : STR_NONE;
    t->phase = PH_BETWEEN;
    turn_take_refusals(t, e->past_refused_json, k);
    turn_take_messages(t, e, k);
    if (t->config && !asks_nothing_new(t, e))
        turn_history_add(
            t, new_msg(k, ROLE_USER, e->prompt, e->parts, e->parts_count));
    t->first = t->history;
}

static void on_turn_start(struct turn *t, const wend_ev_turn_start *e,
                          const struct keep *k)
{
    t->phase = PH_TURN;
    t->counter = e->counter;
    t->parent_id = t->id;
    t->id = arena_str(k->arena, e->id);
    t->calls = NULL;
    t->calls_count = t->failed_calls = 0;
    memset(t->flags, 0, sizeof t->flags);
    t->states = NULL;
    t->part = t->halted = t->cut = t->again = false;
    t->entered = false;
    t->refused = 0;
    t->part_text = t->part_thinking = t->part_opaque = STR_NONE;
    t->plan_call = t->plan_stop = STR_NONE;
    t->circle.due = CIRCLE_NONE;
    t->metrics.turns++;
    turn_forget_unfinished(t, k);
}

static void add_call(struct turn *t, const struct keep *k, wend_str id,
                     wend_str name, wend_str args, bool invalid)
{
    struct call *c = t->calls_count < CALLS_MAX
                         ? arena_alloc(k->arena, sizeof *c)
                         : NULL; /* no live run has more; a log may */

    if (!c)
        return;
    c->prev = t->calls;
    c->index = t->calls_count++;
    c->id = kept(k, id, STR(""));
    c->name = kept(k, name, STR(""));
    c->args = kept(k, args, STR("{}"));
    c->invalid = invalid;
    t->calls = c;
}

static void on_model_start(struct turn *t, const wend_event *ev,
                           const struct keep *k)
{
    if (ev->u.model_start.action.ptr) {
        t->metrics.model_calls++;
        plan_evolve(&t->plan, ev, k->arena);
        return;
    }
    t->phase = PH_MODEL;
    t->again = false;
    t->ask++;
    t->attempt = ev->u.model_start.attempt;
    t->tries = 1;
    t->purpose = ev->u.model_start.purpose;
    t->repair_used |= t->purpose == WEND_PURPOSE_REPAIR;
    t->model_us = ev->time_us;
    t->allowed =
        (struct allowance){ev->u.model_start.output_tokens,
                           arena_str(k->arena, ev->u.model_start.limit)};
    t->metrics.model_calls++;
    if (t->purpose == WEND_PURPOSE_SUMMARY)
        turn_ask_summary(t, ev->u.model_start.model, k);
    else if (t->folding)
        turn_unfold(t);
}

static void on_model_part(struct turn *t, const wend_ev_model_part *e,
                          const struct keep *k)
{
    t->part = true;
    t->part_text = kept(k, e->text, STR(""));
    t->part_thinking = arena_str(k->arena, e->thinking);
    t->part_opaque = kept(k, e->opaque_json, STR("[]"));
}

/* A run stays with the model it has changed to: the conversation has what the
 * first one wrote, and its cache is not worth more failed requests. */
static void change_model(struct turn *t, wend_str name, const struct keep *k)
{
    uint32_t i = t->model_at + 1;

    while (i < t->config->models_count &&
           !str_eq(t->config->models[i].name, name))
        i++;
    if (i >= t->config->models_count)
        return;
    t->model_at = i;
    t->model = arena_str(k->arena, name);
    t->tries = 0;
    t->refused_tokens = t->refused = t->limit_tokens = 0;
    t->used_tokens = t->used_estimate = t->ratio = 0;
}

static void spend_usage(struct turn *t, const wend_ev_usage *u)
{
    spend(&t->metrics.tokens_in, u->input);
    spend(&t->metrics.tokens_out, u->output);
    spend(&t->metrics.tokens_cached, u->cached);
    spend(&t->metrics.cost_nano, u->cost_nano);
}

static void on_model_retry(struct turn *t, const wend_event *ev,
                           const struct keep *k)
{
    wend_str next = ev->u.model_retry.next_model;

    if (ev->u.model_retry.usage) {
        spend_usage(t, ev->u.model_retry.usage);
        t->unpriced |= cost_of_usage(ev->u.model_retry.usage) < 0;
    }
    turn_note_refused(t, ev->u.model_retry.reason, k);
    turn_take_dropped(t, turn_model(t), ev->u.model_retry.dropped_json, k);
    if (next.ptr && !str_eq(next, t->model))
        change_model(t, next, k);
    t->allowed =
        (struct allowance){ev->u.model_retry.output_tokens,
                           arena_str(k->arena, ev->u.model_retry.limit)};
    t->ask++;
    t->attempt++;
    /* Without what the model refused it is another request. */
    t->tries += !ev->u.model_retry.dropped_json.ptr;
    t->metrics.model_calls++;
}

/* The provider refused the request; a shorter one may follow. */
static bool is_too_long(const struct turn *t, const wend_ev_model_end *e)
{
    return e->outcome == WEND_OUTCOME_FAILED && e->error &&
           str_is(e->error->code, "overflow") && t->refused < REFUSALS_MAX &&
           !t->config->no_compaction && !e->text.len && !t->calls_count;
}

static void on_model_end(struct turn *t, const wend_event *ev,
                         const struct keep *k)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    struct msg *m;

    spend_usage(t, &e->usage);
    t->unpriced |= cost_of_answer(e) < 0;
    if (!t->metrics.first_token_ms)
        t->metrics.first_token_ms = e->first_token_ms;
    if (e->action.ptr) {
        plan_evolve(&t->plan, ev, k->arena);
        return;
    }
    if (e->purpose == WEND_PURPOSE_SUMMARY) {
        turn_on_summary(t, e, k);
        return;
    }
    /* A JSON string in place of arguments is raw text that did not parse: JSON
     * arguments are never a bare string. */
    for (size_t i = t->calls_count; i < e->calls_count; i++) {
        const wend_ev_call *c = &e->calls[i];

        add_call(t, k, c->id, c->name, c->args_json,
                 str_starts(c->args_json, "\""));
    }
    t->phase = PH_CALLS;
    if (turn_plan_open(t) && e->outcome != WEND_OUTCOME_OK)
        turn_on_plan_cut(t, k);
    if (e->outcome == WEND_OUTCOME_SUPERSEDED) { /* as if not asked yet */
        t->phase = PH_TURN;
        t->again = true;
        t->repair_used &= t->purpose != WEND_PURPOSE_REPAIR;
        return;
    }
    if (e->purpose != WEND_PURPOSE_ANSWER &&
        e->purpose != WEND_PURPOSE_REPAIR && e->purpose != WEND_PURPOSE_PLAN)
        return;
    turn_on_usage(t, &e->usage, t->history);
    t->answer = kept(k, e->text, STR(""));
    t->unanswered = e->outcome != WEND_OUTCOME_OK;
    if (is_too_long(t, e)) {
        t->phase = PH_TURN;
        t->refused++;
        turn_on_refused(t, e->error->message);
        t->settled = -1;
        return;
    }
    t->halted = str_is(e->finish, "pause") && e->outcome == WEND_OUTCOME_OK;
    t->cut = str_is(e->finish, "length");
    if (t->config->plan_tool && str_is(e->finish, "final"))
        t->plan_stop = STR("final");
    if (!e->text.len && !t->calls_count && !t->halted)
        return;
    m = arena_alloc(k->arena, sizeof *m);
    if (!m)
        return;
    m->role = ROLE_ASSISTANT;
    m->text = t->answer;
    m->model = t->model;
    m->thinking = arena_str(k->arena, e->thinking);
    m->opaque = kept(k, e->opaque_json, STR("[]"));
    m->calls = t->calls;
    turn_history_add(t, m);
}

/* A damaged log may hold an invalid rule; it never matches. */
void turn_remember(struct turn *t, wend_str text, const struct keep *k)
{
    struct remembered *r = arena_alloc(k->arena, sizeof *r);

    if (!r || rule_parse(arena_str(k->arena, text), &r->rule, NULL) != WEND_OK)
        return;
    r->prev = t->rules;
    t->rules = r;
}

struct call_state *turn_change_call(struct turn *t, uint32_t index,
                                    const struct keep *k)
{
    struct call_state *s = arena_alloc(k->arena, sizeof *s);

    if (!s)
        return NULL;
    *s = *turn_call_state(t, index);
    s->prev = t->states;
    s->index = index;
    t->states = s;
    return s;
}

static void on_approval_ask(struct turn *t, const wend_event *ev,
                            const struct keep *k)
{
    const wend_ev_approval_ask *e = &ev->u.approval_ask;
    int i = turn_call_index(t, e->call);
    struct call_state *s = i >= 0 ? turn_change_call(t, (uint32_t)i, k) : NULL;

    plan_evolve(&t->plan, ev, k->arena);
    if (!s)
        return;
    s->shown = kept(k, e->args_json, STR("{}"));
    t->flags[i] |= CALL_ASKED;
    t->flags[i] &= ~(CALL_ANSWERED | CALL_APPROVED);
}

static void on_approval_answer(struct turn *t, const wend_event *ev,
                               const struct keep *k)
{
    const wend_ev_approval_answer *e = &ev->u.approval_answer;
    int i = turn_call_index(t, e->call);
    /* A forged log may change what has begun. */
    struct call_state *s =
        i >= 0 && e->args_json.ptr && !(t->flags[i] & CALL_STARTED)
            ? turn_change_call(t, (uint32_t)i, k)
            : NULL;

    if (i >= 0)
        t->flags[i] |= CALL_ANSWERED | (e->yes ? CALL_APPROVED : 0);
    if (s) {
        s->args = s->shown = arena_str(k->arena, e->args_json);
        s->changed = true;
    }
    if (e->remember.len)
        turn_remember(t, e->remember, k);
    plan_evolve(&t->plan, ev, k->arena);
}

static void on_call_start(struct turn *t, const wend_ev_call_start *e,
                          const struct keep *k)
{
    struct call_state *s;
    int i;

    if (turn_call_index(t, e->call) < 0)
        add_call(t, k, e->call, e->name, e->args_json, e->args_invalid);
    i = turn_call_index(t, e->call);
    if (i < 0 || (t->flags[i] & CALL_ENDED)) /* a forged log may say so */
        return;
    s = turn_change_call(t, (uint32_t)i, k);
    if (!s)
        return;
    t->flags[i] |= CALL_STARTED;
    t->flags[i] &= ~(CALL_LOST | CALL_SUPERSEDED);
    s->attempt = e->attempt;
    s->args = turn_call(t, s->index)->args;
    if (e->args_json.ptr && !str_eq(e->args_json, s->args))
        s->args = arena_str(k->arena, e->args_json);
    s->key = kept(k, e->key, STR(""));
    if (is_plan_tool(t->config, e->name)) {
        t->plan_args = s->args;
        turn_on_plan_call(t, e->call, k);
    }
}

/* A plan that repeats itself is found by its own rule, a tool that polls says
 * so, and the result of one that the caller executes is not known yet. */
static void look_for_loop(struct turn *t, const struct call_state *s,
                          const wend_ev_call_end *e)
{
    const struct call *c = turn_call(t, s->index);
    const struct tool *tool = config_tool(t->config, c->name);
    struct circle_call call = {.tool = c->name,
                               .output_bytes = s->output.len,
                               .turn = t->counter,
                               .failed = e->outcome != WEND_OUTCOME_OK};
    unsigned char outcome = (unsigned char)e->outcome;

    if (t->config->loop_off || s->client || (tool && tool->repeat_ok) ||
        is_plan_tool(t->config, c->name) ||
        e->outcome == WEND_OUTCOME_CANCELED ||
        e->outcome == WEND_OUTCOME_SKIPPED)
        return;
    call.output = mix64(mix64(0, &outcome, 1), c->name.ptr, c->name.len);
    call.output = mix64(call.output, s->output.ptr, s->output.len);
    call.result = mix64(call.output, s->args.ptr, s->args.len);
    circle_add(&t->circle, &call);
}

static void on_call_end(struct turn *t, const wend_ev_call_end *e,
                        const struct keep *k)
{
    int i = turn_call_index(t, e->call);
    struct call_state *s;

    if (i < 0 || (t->flags[i] & CALL_ENDED))
        return;
    if (e->outcome == WEND_OUTCOME_SUPERSEDED) { /* no result: it runs again */
        if (turn_call_runs(t, (uint32_t)i))
            t->flags[i] |= CALL_SUPERSEDED;
        return;
    }
    s = turn_change_call(t, (uint32_t)i, k);
    if (!s)
        return;
    t->flags[i] |= CALL_ENDED;
    t->flags[i] &= ~CALL_LOST;
    s->outcome = e->outcome;
    s->client = e->given && e->client;
    s->output = s->client ? STR(NOT_GIVEN) : kept(k, e->output, STR(""));
    s->parts = parts_keep(e->parts, e->parts_count, k->arena);
    s->parts_count = s->parts ? e->parts_count : 0;
    if (is_plan_tool(t->config, e->name))
        turn_on_plan_result(t, e, k);
    if (e->labels_json.ptr)
        t->labels |= tool_labels(config_tool(t->config, e->name));
    turn_take_labels(t, e->labels_json, k);
    look_for_loop(t, s, e);
    t->metrics.tool_calls++;
    if (e->outcome != WEND_OUTCOME_OK) {
        t->metrics.tool_errors++;
        t->failed_calls++;
    }
}

static void on_turn_end(struct turn *t, const wend_ev_turn_end *e,
                        const struct keep *k)
{
    t->unanswered |= e->outcome != WEND_OUTCOME_OK && !t->calls_count;
    turn_add_results(t, k);
    t->phase = PH_BETWEEN;
    t->metrics_due = true;
}

static void on_message(struct turn *t, const wend_event *ev,
                       const struct keep *k)
{
    enum role role =
        str_is(ev->u.message.role, "system") ? ROLE_SYSTEM : ROLE_USER;
    struct msg *m = new_msg(k, role, ev->u.message.text, ev->u.message.parts,
                            ev->u.message.parts_count);

    if (!m)
        return;
    m->pinned = ev->u.message.pinned;
    m->own = str_is(ev->u.message.by, MESSAGE_BY_WEND);
    m->prev = t->pending;
    t->pending = m;
}

/* A stop is recorded before what it stops ends:
 *     cancel by user; cancel by hook {"code","message"}; limits {"reached"};
 * limits with anything else are those that hold from here on;
 *     compact {"focus"}. */
static void on_control(struct turn *t, const wend_ev_control *e,
                       const struct keep *k)
{
    struct arena scratch = {.mem = k->arena->mem};
    struct json *value = NULL;

    if (e->value_json.ptr)
        value = json_parse(e->value_json, &scratch, NULL);
    if (str_is(e->what, "pause")) {
        t->paused = true;
        t->paused_above = str_is(e->by, "parent");
    } else if (str_is(e->what, "continue")) {
        t->paused = t->paused_above = false;
    } else if (str_is(e->what, "cancel")) {
        t->stop.code = arena_str(k->arena, json_str(json_get(value, "code")));
        t->stop.message =
            arena_str(k->arena, json_str(json_get(value, "message")));
        t->stop.outcome =
            t->stop.code.ptr ? WEND_OUTCOME_FAILED : WEND_OUTCOME_CANCELED;
    } else if (json_get(value, "reached")) {
        t->stop.outcome = WEND_OUTCOME_LIMIT;
        t->stop.limit =
            arena_str(k->arena, json_str(json_get(value, "reached")));
    } else if (str_is(e->what, "limits")) {
        turn_take_limits(t, value);
    } else if (str_is(e->what, "compact")) {
        turn_fold(t, json_str(json_get(value, "focus")), k);
    }
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}

static void apply(struct turn *t, const wend_event *ev, const struct keep *k)
{
    switch (ev->type) {
    case WEND_RUN_START: on_run_start(t, ev, k); break;
    case WEND_TURN_START: on_turn_start(t, &ev->u.turn_start, k); break;
    case WEND_CONTEXT_START: turn_on_context_start(t, k); break;
    case WEND_COMPACTED: turn_on_compacted(t, ev, k); break;
    case WEND_CONTEXT_END: turn_on_context_end(t); break;
    case WEND_MODEL_START: on_model_start(t, ev, k); break;
    case WEND_MODEL_PART: on_model_part(t, &ev->u.model_part, k); break;
    case WEND_MODEL_RETRY: on_model_retry(t, ev, k); break;
    case WEND_MODEL_END: on_model_end(t, ev, k); break;
    case WEND_APPROVAL_ASK: on_approval_ask(t, ev, k); break;
    case WEND_APPROVAL_ANSWER: on_approval_answer(t, ev, k); break;
    case WEND_CALL_START: on_call_start(t, &ev->u.call_start, k); break;
    case WEND_CALL_END: on_call_end(t, &ev->u.call_end, k); break;
    case WEND_TURN_END: on_turn_end(t, &ev->u.turn_end, k); break;
    case WEND_MESSAGE: on_message(t, ev, k); break;
    case WEND_CONTROL: on_control(t, &ev->u.control, k); break;
    case WEND_WARNING: turn_on_warning(t, ev, k); break;
    case WEND_RUN_END: t->phase = PH_END; break;
    case WEND_METRICS: t->metrics_due = false; break;
    case WEND_ERROR:
    case WEND_PROGRESS: break; /* nothing to remember */
    case WEND_RUN_RESUME: turn_resume(t, ev, k); break;
    case WEND_PLAN_START: turn_on_plan_start(t, ev, k); break;
    case WEND_PLAN_ACTION: turn_on_plan_action(t, ev, k); break;
    case WEND_PLAN_END: turn_on_plan_end(t, ev, k); break;
    case WEND_ACTION_END: turn_on_action_end(t, ev, k); break;
    case WEND_ACTION_START: plan_evolve(&t->plan, ev, k->arena); break;
    case WEND_ACTION_RETRY: turn_on_action_retry(t, ev, k); break;
    case WEND_RUN_FORK: turn_fork(t, ev, k); break;
    case WEND_RETRIEVAL_START:
    case WEND_RETRIEVAL_HIT:
    case WEND_RETRIEVAL_END:
    case WEND_BRANCH_START:
    case WEND_BRANCH_END: break; /* nothing writes these yet */
    case WEND_CHILD_START: turn_child_start(t, ev, k); break;
    case WEND_CHILD_END: turn_child_end(t, ev, k); break;
    case WEND_THINKING_DELTA:
    case WEND_TEXT_DELTA:
    case WEND_ARGS_DELTA:
    case WEND_CALL_OUTPUT:
    case WEND_ACTION_OUTPUT: break; /* deltas change no state */
    case WEND_EVENT_NONE:
    case WEND_EVENT_TYPES: break; /* from a newer writer */
    }
}

void turn_apply(struct turn *t, const wend_event *ev, const struct keep *k)
{
    if (ev->n) /* a delta */
        return;
    /* Before run_start there is nothing to evolve; a damaged log may try. */
    if (t->config || ev->type == WEND_RUN_START)
        apply(t, ev, k);
    t->seq = ev->seq;
    t->time_us = ev->time_us;
    t->metrics.ms = turn_ran_us(t, t->time_us) / 1000;
}

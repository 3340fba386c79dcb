/*
 * test_laws.c - the laws that wend_laws checks, on streams made by hand.
 *
 * A stream is words, `type:id/attempt`; seq, time and turn are filled in as
 * they should be. `+` before a word leaves a seq out, `<` sets the time
 * back, `~` says that it is in a turn when it is not, and not when it is.
 * `call_cut`, `action_cut` and `model_cut` are ends as superseded,
 * `model_broke` is one as failed; `model_ok` and `run_ok` are ends as ok.
 */
#include <stdlib.h>

#include "base/str.h"
#include "tap.h"

#define BEGIN "run_start turn_start context_start context_end "
#define END " turn_end/0 metrics run_end"

struct row {
    const char *why, *stream;
    const char *broken; /* part of what is said; NULL: nothing is */
};

static const struct row rows[] = {
    {"a run of one text",
     BEGIN "model_start text_delta text_delta model_end" END, NULL},
    {"calls that start when listed",
     BEGIN "model_start model_end:a call_start:a/1 call_end:a turn_end/1 "
           "metrics turn_start context_start context_end model_start "
           "model_end" END,
     NULL},
    {"a call that starts before its message ends",
     BEGIN "model_start model_part call_start:a/1 call_output:a call_end:a "
           "model_end:a turn_end/1 metrics run_end",
     NULL},
    {"a call that runs again after a crash",
     BEGIN "model_start model_end:a call_start:a/1 run_resume call_cut:a "
           "call_start:a/2 call_end:a turn_end/1 metrics run_end",
     NULL},
    {"and once more, after two",
     BEGIN "model_start model_end:a call_start:a/1 run_resume call_cut:a "
           "call_start:a/2 run_resume call_cut:a call_start:a/3 call_end:a "
           "turn_end/1 metrics run_end",
     NULL},
    {"a call whose outcome is not known",
     BEGIN "model_start model_end:a call_start:a/1 run_resume call_end:a "
           "turn_end/1 metrics run_end",
     NULL},
    {"a model that is asked again after a crash",
     BEGIN "model_start text_delta run_resume model_cut model_start "
           "model_end" END,
     NULL},
    {"a question that is asked again after a crash",
     BEGIN
     "model_start model_end:a approval_ask:a run_resume approval_ask:a "
     "approval_answer:a call_start:a/1 call_end:a turn_end/1 metrics run_end",
     NULL},
    {"a plan",
     "run_start plan_start action_start:x/1 action_output:x action_end:x "
     "action_end:y plan_end metrics run_end",
     NULL},
    {"an action that is tried again",
     "run_start plan_start action_start:x/1 action_retry:x/1 run_resume "
     "action_cut:x action_start:x/3 action_end:x plan_end metrics run_end",
     NULL},
    {"an action that its plan does not wait for",
     "run_start plan_start forgotten:x/1 plan_end metrics run_resume "
     "action_cut:x forgotten:x/2 action_end:x metrics run_end",
     NULL},
    {"the same in a turn",
     BEGIN "model_start model_end:a,b call_start:a/1 plan_start forgotten:x/1 "
           "plan_end metrics action_end:x call_end:a call_start:b/1 plan_start "
           "plan_end metrics call_end:b turn_end/2 metrics run_end",
     NULL},
    {"a child",
     BEGIN "model_start model_end:a call_start:a/1 child_start:r "
           "child_end:r call_end:a turn_end/1 metrics run_end",
     NULL},

    {"a message that broke off is followed by a whole one",
     BEGIN "model_start model_broke turn_end/0 metrics turn_start "
           "context_start context_end model_start model_ok turn_end/0 metrics "
           "run_ok",
     NULL},
    {"a run that fails with its message", BEGIN "model_start model_broke" END,
     NULL},

    {"a call that the caller executes",
     BEGIN "model_start model_ok:a call_start:a/1 call_given:a turn_end/1 "
           "metrics run_pending/1",
     NULL},
    {"though its message broke off",
     BEGIN "model_start model_broke:a call_start:a/1 call_given:a turn_end/1 "
           "metrics run_pending/1",
     NULL},
    {"a cancel lists none",
     BEGIN "model_start model_ok:a call_start:a/1 call_given:a turn_end/1 "
           "metrics run_end",
     NULL},

    {"a call that the caller never hears of",
     BEGIN "model_start model_ok:a call_start:a/1 call_given:a turn_end/1 "
           "metrics run_ok",
     "0 calls are pending, not 1"},
    {"one that has its result",
     BEGIN "model_start model_ok:a call_start:a/1 call_end:a turn_end/1 "
           "metrics run_pending/1",
     "1 calls are pending, not 0"},
    {"a turn without the result of the caller",
     BEGIN "model_start model_ok:a call_start:a/1 call_given:a turn_end/1 "
           "metrics turn_start",
     "calls of the turn before are pending"},
    {"a run is ok after a message that broke off",
     BEGIN "model_start model_broke turn_end/0 metrics run_ok",
     "ok, though the last message broke off"},
    {"and after one that was superseded",
     BEGIN "model_start model_broke turn_end/0 metrics turn_start "
           "context_start context_end model_start run_resume model_cut "
           "turn_end/0 metrics run_ok",
     "ok, though the last message broke off"},
    {"something else comes first", "turn_start", "the run is not open"},
    {"the run starts twice", "run_start run_start", "the run is open"},
    {"something follows the end", "run_start run_end warning", "after run_end"},
    {"a seq is left out", "run_start +turn_start", "3/0 after 1/0"},
    {"a delta is left out", BEGIN "model_start text_delta +text_delta",
     "5/3 after 5/1"},
    {"time goes back", "run_start <turn_start", "time goes back by"},
    {"it says it is in a turn", "run_start ~warning", "it names a turn"},
    {"it does not say so", "run_start turn_start ~warning", "names no turn"},
    {"a turn is left open", "run_start turn_start run_end", "a turn is open"},
    {"two turns at once", "run_start turn_start turn_start", "a turn is open"},
    {"a context is left open", "run_start turn_start context_start turn_end/0",
     "a context is open"},
    {"two models at once", BEGIN "model_start model_start", "one is open"},
    {"a model outside of a turn", "run_start model_start", "outside of a turn"},
    {"text of nobody", BEGIN "text_delta", "no model is asked"},
    {"an end of nothing", BEGIN "model_end", "no model is asked"},
    {"a call that nobody wanted",
     BEGIN "model_start model_end:a call_start:b/1", "'b' is no call of"},
    {"a call that is listed twice", BEGIN "model_start model_end:a,a",
     "'a' is listed twice"},
    {"a call starts twice",
     BEGIN "model_start model_end:a call_start:a/1 call_start:a/2",
     "'a' starts twice"},
    {"a call starts again, and its first attempt has no end",
     BEGIN "model_start model_end:a call_start:a/1 run_resume call_start:a/2",
     "'a' starts again, but its last attempt has no end"},
    {"so does an action",
     "run_start plan_start action_start:x/1 run_resume action_start:x/2",
     "'x' starts again, but its last attempt has no end"},
    {"a call is superseded, and nothing follows",
     BEGIN "model_start model_end:a call_start:a/1 run_resume call_cut:a "
           "turn_end/1",
     "a call is open"},
    {"so is an action",
     "run_start plan_start action_start:x/1 run_resume action_cut:x plan_end",
     "an action is open"},
    {"so is one that its plan forgot",
     "run_start plan_start forgotten:x/1 plan_end metrics run_resume "
     "action_cut:x run_end",
     "a forgotten action is open"},
    {"a superseded attempt has a result, too",
     BEGIN "model_start model_end:a call_start:a/1 run_resume call_cut:a "
           "call_end:a",
     "'a' is not open"},
    {"a call is superseded without a crash",
     BEGIN "model_start model_end:a call_start:a/1 call_cut:a",
     "'a' is superseded, though nothing cut it off"},
    {"a model is", BEGIN "model_start model_cut",
     "superseded, though nothing cut it off"},
    {"a call starts after its end",
     BEGIN "model_start model_end:a call_start:a/1 call_end:a run_resume "
           "call_start:a/2",
     "'a' starts twice"},
    {"an attempt is left out", BEGIN "model_start model_end:a call_start:a/2",
     "attempt 2 of 'a' after 0"},
    {"a call ends twice",
     BEGIN "model_start model_end:a call_start:a/1 call_end:a call_end:a",
     "'a' is not open"},
    {"output of a call that has ended",
     BEGIN "model_start model_end:a call_start:a/1 call_end:a call_output:a",
     "'a' is not open"},
    {"a call without an end",
     BEGIN "model_start model_end:a call_start:a/1 turn_end/1",
     "a call is open"},
    {"a call without a start", BEGIN "model_start model_end:a turn_end/1",
     "listed, but never made"},
    {"a call that its message forgets",
     BEGIN "model_start model_part call_start:a/1 call_end:a model_end "
           "turn_end/1",
     "made, but not listed"},
    {"a turn that counts wrong", BEGIN "model_start model_end turn_end/1",
     "1 calls, there were 0"},
    {"an answer to no question",
     BEGIN "model_start model_end:a approval_answer:a", "'a' is not open"},
    {"a question is asked twice",
     BEGIN "model_start model_end:a approval_ask:a approval_ask:a",
     "asked about already"},
    {"an action without a plan", "run_start action_start:x/1",
     "no plan is open"},
    {"an action starts twice",
     "run_start plan_start action_start:x/1 action_start:x/2",
     "'x' starts twice"},
    {"an action ends twice", "run_start plan_start action_end:x action_end:x",
     "'x' is not open"},
    {"a retry of another attempt",
     "run_start plan_start action_start:x/1 action_retry:x/2",
     "attempt 2 of 'x' is not open"},
    {"a plan does not wait", "run_start plan_start action_start:x/1 plan_end",
     "an action is open"},
    {"nobody waits for the forgotten",
     "run_start plan_start forgotten:x/1 plan_end metrics run_end",
     "a forgotten action is open"},
    {"a turn that is not accounted for",
     BEGIN "model_start model_end turn_end/0 run_end",
     "no metrics since a turn or plan has ended"},
    {"... before another",
     BEGIN "model_start model_end turn_end/0 run_resume turn_start",
     "no metrics since a turn or plan has ended"},
    {"a plan that is not accounted for",
     "run_start plan_start plan_end run_end",
     "no metrics since a turn or plan has ended"},
    {"nor is what it forgot",
     "run_start plan_start forgotten:x/1 plan_end metrics action_end:x run_end",
     "no metrics since a turn or plan has ended"},
    {"a child that does not end", "run_start child_start:r run_end",
     "a child is open"},
    {"the end of no child", "run_start child_end:r", "'r' is not open"},
};

/* ---- Making streams ------------------------------------------------------ */

struct maker {
    wend_event ev;
    wend_ev_call calls[4];
    bool in_turn;
    int64_t turns;
};

static wend_event_type type_of(const char *name)
{
    for (int i = 1; i < WEND_EVENT_TYPES; i++)
        if (!strcmp(wend_event_name((wend_event_type)i), name))
            return (wend_event_type)i;
    printf("# no event '%s'\n", name);
    abort();
}

static void fill_more(struct maker *m, wend_str id, int64_t number)
{
    wend_event *ev = &m->ev;

    if (ev->type == WEND_TURN_START) {
        ev->u.turn_start.counter = m->turns++;
        ev->u.turn_start.parent_id =
            ev->u.turn_start.counter ? STR("before") : STR_NONE;
    } else if (ev->type == WEND_TURN_END) {
        ev->u.turn_end.calls = number;
    } else if (ev->type == WEND_MODEL_END) {
        ev->u.model_end.calls = m->calls;
        for (size_t i = 0; i < id.len; i += 2)
            m->calls[ev->u.model_end.calls_count++].id =
                (wend_str){id.ptr + i, 1};
    } else if (ev->type == WEND_ACTION_RETRY) {
        ev->u.action_retry.attempt = number;
    }
}

/* The ids of all these events stand first in their payloads. */
static void fill(struct maker *m, wend_str id, int64_t number)
{
    wend_event *ev = &m->ev;

    memset(&ev->u, 0, sizeof ev->u);
    if (ev->type == WEND_CALL_START) {
        ev->u.call_start.call = id;
        ev->u.call_start.attempt = number;
    } else if (ev->type == WEND_ACTION_START) {
        ev->u.action_start.action = id;
        ev->u.action_start.attempt = number;
    } else if (ev->type == WEND_ACTION_OUTPUT) {
        ev->u.action_output.action = id;
    } else if (ev->type == WEND_ACTION_RETRY) {
        ev->u.action_retry.action = id;
    } else if (ev->type == WEND_ACTION_END) {
        ev->u.action_end.action = id;
    } else if (ev->type == WEND_CALL_END) {
        ev->u.call_end.call = id;
    } else if (ev->type == WEND_CALL_OUTPUT) {
        ev->u.call_output.call = id;
    } else if (ev->type == WEND_APPROVAL_ASK) {
        ev->u.approval_ask.call = id;
    } else if (ev->type == WEND_APPROVAL_ANSWER) {
        ev->u.approval_answer.call = id;
    } else if (ev->type == WEND_CHILD_START) {
        ev->u.child_start.run = id;
    } else if (ev->type == WEND_CHILD_END) {
        ev->u.child_end.run = id;
    }
    fill_more(m, id, number);
}

static bool is_delta(wend_event_type t)
{
    return t == WEND_TEXT_DELTA || t == WEND_CALL_OUTPUT ||
           t == WEND_ACTION_OUTPUT;
}

/* Ends whose outcome matters. */
static const struct end_word {
    const char *word;
    wend_event_type type;
    wend_outcome outcome;
    size_t at; /* where it is */
} ends[] = {
    {"call_cut", WEND_CALL_END, WEND_OUTCOME_SUPERSEDED,
     offsetof(wend_event, u.call_end.outcome)},
    {"action_cut", WEND_ACTION_END, WEND_OUTCOME_SUPERSEDED,
     offsetof(wend_event, u.action_end.outcome)},
    {"model_cut", WEND_MODEL_END, WEND_OUTCOME_SUPERSEDED,
     offsetof(wend_event, u.model_end.outcome)},
    {"model_broke", WEND_MODEL_END, WEND_OUTCOME_FAILED,
     offsetof(wend_event, u.model_end.outcome)},
    {"model_ok", WEND_MODEL_END, WEND_OUTCOME_OK,
     offsetof(wend_event, u.model_end.outcome)},
    {"run_ok", WEND_RUN_END, WEND_OUTCOME_OK,
     offsetof(wend_event, u.run_end.outcome)},
    {"run_pending", WEND_RUN_END, WEND_OUTCOME_OK,
     offsetof(wend_event, u.run_end.outcome)},
    {"call_given", WEND_CALL_END, WEND_OUTCOME_OK,
     offsetof(wend_event, u.call_end.outcome)},
};

static const struct end_word *end_of(const char *word)
{
    for (size_t i = 0; i < tap_count(ends); i++)
        if (!strcmp(word, ends[i].word))
            return &ends[i];
    return NULL;
}

static void make(struct maker *m, char *word)
{
    char *number = strchr(word, '/'), *id = strchr(word, ':');
    bool gap = *word == '+', back = *word == '<', flip = *word == '~';
    const struct end_word *end;
    bool forgets;

    word += gap || back || flip;
    if (number)
        *number++ = 0;
    if (id)
        *id++ = 0;
    forgets = !strcmp(word, "forgotten");
    end = end_of(word);
    m->ev.type = end ? end->type : forgets ? WEND_ACTION_START : type_of(word);
    if (is_delta(m->ev.type)) {
        m->ev.n += 1 + gap;
    } else {
        m->ev.seq += 1 + gap;
        m->ev.n = 0;
    }
    m->ev.time_us += back ? -5 : 5;
    m->in_turn |= m->ev.type == WEND_TURN_START;
    m->ev.in_turn = m->in_turn != flip;
    m->in_turn &= m->ev.type != WEND_TURN_END;
    fill(m, str_of(id), number ? atoi(number) : 0);
    if (forgets)
        m->ev.u.action_start.mode = STR("fire_and_forget");
    if (end)
        *(wend_outcome *)((char *)&m->ev + end->at) = end->outcome;
    if (end && !strcmp(end->word, "call_given"))
        m->ev.u.call_end.given = m->ev.u.call_end.client = true;
    if (end && !strcmp(end->word, "run_pending"))
        m->ev.u.run_end.pending_count = (size_t)atoi(number);
}

static void check_row(const struct row *r)
{
    struct maker m = {.ev = {.run = STR("r"), .time_us = 100}};
    wend_error err = {0};
    wend_laws *laws = NULL;
    wend_status s = wend_laws_new(&laws);
    char text[600], *rest = text, *word;

    snprintf(text, sizeof text, "%s", r->stream);
    while (s == WEND_OK && (word = strsep(&rest, " "))) {
        make(&m, word);
        s = wend_laws_add(laws, &m.ev, &err);
    }
    if (!r->broken)
        tap_ok(s == WEND_OK && wend_laws_end(laws, NULL) == WEND_OK, "%s: %s",
               r->why, err.message);
    else
        tap_ok(s == WEND_E_CORRUPT && !rest && strstr(err.message, r->broken),
               "%s: %s, and at its last event", r->why, err.message);
    wend_laws_free(laws);
}

static void check_misuse(void)
{
    wend_laws *laws = NULL;
    wend_error err = {0};

    tap_is_i64(wend_laws_new(NULL), WEND_E_INVAL, "nowhere to put them");
    tap_is_i64(wend_laws_add(NULL, NULL, &err), WEND_E_INVAL, "no laws");
    tap_is_i64(wend_laws_end(NULL, NULL), WEND_E_INVAL, "no laws to end");
    wend_laws_new(&laws);
    tap_is_i64(wend_laws_end(laws, &err), WEND_E_CORRUPT, "nothing came: %s",
               err.message);
    wend_laws_free(laws);
    wend_laws_free(NULL);
}

/* A type without a row in the table of laws could come anywhere. */
static void check_each_type(void)
{
    for (int t = 1; t < WEND_EVENT_TYPES; t++) {
        bool delta = is_delta((wend_event_type)t), first = t == WEND_RUN_START;
        wend_event ev = {.type = (wend_event_type)t, .run = STR("r")};
        wend_error err = {0};
        wend_laws *laws = NULL;

        ev.seq = !delta;
        ev.n = delta;
        wend_laws_new(&laws);
        tap_ok((wend_laws_add(laws, &ev, &err) == WEND_OK) == first,
               "%s as the first event: %s", wend_event_name(ev.type),
               first ? "is lawful" : err.message);
        wend_laws_free(laws);
    }
}

int main(void)
{
    for (size_t i = 0; i < tap_count(rows); i++)
        check_row(&rows[i]);
    check_each_type();
    check_misuse();
    return tap_done();
}

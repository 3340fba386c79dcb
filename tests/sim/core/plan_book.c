/*
 * plan_book.c - a plan that was made up, and what a reader of the log knows
 * about how far it is.
 *
 * Written from PLANS alone and without core/plan/plan_state.c, so that a
 * mistake there does not hide itself here. Action i is called "a<i>". Flat and
 * without ownership, like the book that it is a part of.
 */
#include "plan_book.h"

/* Or NO_ACTION. */
int act_index(const struct plan_book *b, wend_str id)
{
    int i = id.len == 2 && id.ptr[0] == 'a' ? id.ptr[1] - '0' : NO_ACTION;

    return b->made && i >= 0 && i < (int)b->made->count ? i : NO_ACTION;
}

struct book_action *act_find(struct plan_book *b, wend_str id)
{
    int i = act_index(b, id);

    return i == NO_ACTION ? NULL : &b->a[i];
}

bool act_runs(const struct book_action *a)
{
    return a && a->started && !a->ended;
}

bool act_waits(const struct book_action *a)
{
    return a && a->asked && !a->answered && !a->unheard && !a->ended;
}

bool outcome_failed(wend_outcome o)
{
    return o != WEND_OUTCOME_NONE && o != WEND_OUTCOME_OK &&
           o != WEND_OUTCOME_SKIPPED;
}

/* How i counts for those who wait for it; NONE: that is open. */
static wend_outcome act_counts(const struct plan_book *b, int i)
{
    const struct made_action *m = &b->made->a[i];
    const struct book_action *a = &b->a[i];
    wend_outcome failed =
        m->skip_on_error ? WEND_OUTCOME_SKIPPED : WEND_OUTCOME_FAILED;
    wend_outcome instead;

    if (m->mode == ACTION_FORGET && a->started)
        return WEND_OUTCOME_OK;
    if (!a->ended || !outcome_failed(a->outcome))
        return a->ended ? a->outcome : WEND_OUTCOME_NONE;
    if (m->fallback == NO_ACTION || a->outcome == WEND_OUTCOME_CANCELED)
        return failed;
    instead = act_counts(b, m->fallback);
    return instead == WEND_OUTCOME_OK || instead == WEND_OUTCOME_NONE ? instead
                                                                      : failed;
}

/* A failure that is the plan's. */
bool plan_broken(const struct plan_book *b)
{
    for (uint32_t i = 0; i < b->made->count; i++)
        if (b->made->a[i].fallback_of == NO_ACTION &&
            b->made->a[i].mode != ACTION_FORGET &&
            act_counts(b, (int)i) == WEND_OUTCOME_FAILED)
            return true;
    return false;
}

bool plan_stops(const struct plan_book *b)
{
    return b->made->fail_fast && plan_broken(b);
}

/* Decisions take no time, and no slot. */
uint32_t acts_running(const struct plan_book *b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; b->made && i < b->made->count; i++)
        n += act_runs(&b->a[i]) && b->made->a[i].type != ACTION_DECISION;
    return n;
}

bool acts_hold(const struct plan_book *b)
{
    for (uint32_t i = 0; i < b->made->count; i++)
        if (act_runs(&b->a[i]) && b->made->a[i].mode == ACTION_SYNC)
            return true;
    return false;
}

bool is_child_type(const struct made_action *m)
{
    return m->type == ACTION_AGENT || m->type == ACTION_WORKFLOW;
}

/* Only what says so may run twice. */
bool act_is_unsafe(const struct made_action *m)
{
    if (m->class_ >= 0)
        return m->class_ == WEND_CLASS_UNSAFE;
    if (m->type == ACTION_TOOL)
        return !m->tool || m->tool->call_class == WEND_CLASS_UNSAFE;
    return is_child_type(m); /* the one that there is has an unsafe tool */
}

/* Whether a value that i refers to may still come from one that it does not
 * depend on directly. */
static bool act_value_open(const struct plan_book *b, int i)
{
    const struct made_action *m = &b->made->a[i];

    if (m->of == NO_ACTION)
        return false;
    for (int of = m->of; of != NO_ACTION; of = b->made->a[of].fallback_of)
        if (m->deps >> of & 1)
            return false;
    return act_counts(b, m->of) == WEND_OUTCOME_NONE;
}

/* Whether what i waits for lets it start; `why` if not. */
static const char *act_held(const struct plan_book *b, int i)
{
    const struct made_action *m = &b->made->a[i];
    uint32_t oks = 0, open = 0, fails = 0;

    for (uint32_t d = 0; d < b->made->count; d++) {
        wend_outcome o;

        if (!(m->deps >> d & 1))
            continue;
        o = act_counts(b, (int)d);
        oks += o == WEND_OUTCOME_OK;
        open += o == WEND_OUTCOME_NONE;
        fails += o == WEND_OUTCOME_FAILED;
        if (o == WEND_OUTCOME_OK && b->made->a[d].type == ACTION_DECISION &&
            b->made->a[d].other == i && b->made->a[d].chosen != NO_ACTION)
            return "another was chosen";
    }
    if (m->any && m->deps ? !oks : open || fails || (m->deps && !oks))
        return "what it waits for is not there";
    if (m->fallback_of != NO_ACTION &&
        !(b->a[m->fallback_of].ended &&
          outcome_failed(b->a[m->fallback_of].outcome) &&
          b->a[m->fallback_of].outcome != WEND_OUTCOME_CANCELED))
        return "whom it is the fallback for has not failed";
    if (act_value_open(b, i))
        return "a value it refers to may still come";
    return NULL;
}

/* One that waits for any may be ready before a decision is against it. */
const char *act_waits_for(const struct plan_book *b, int i)
{
    return b->a[i].ready ? NULL : act_held(b, i);
}

/* ---- Entering events ----------------------------------------------------- */

static void act_start(struct book_action *a, int64_t attempt)
{
    a->fresh = !a->started;
    a->started = true;
    a->lost = a->closed = a->left = a->ran = a->begun = false;
    a->attempt = attempt;
}

/* What was open does not run, and what was asked is not heard. */
static void acts_lost(struct plan_book *b)
{
    for (uint32_t i = 0; b->made && i < b->made->count; i++) {
        struct book_action *a = &b->a[i];

        if (act_runs(a)) {
            a->lost = true;
            a->asked = a->answered = a->yes = false;
            a->ran = a->begun = false;
        } else {
            a->unheard = a->asked && !a->answered;
        }
    }
}

static void act_approval(struct plan_book *b, const wend_event *ev)
{
    bool asks = ev->type == WEND_APPROVAL_ASK;
    struct book_action *a = act_find(b, asks ? ev->u.approval_ask.action
                                             : ev->u.approval_answer.action);

    if (!a)
        return;
    a->asked = true;
    a->unheard = false;
    a->answered = !asks;
    a->yes = !asks && ev->u.approval_answer.yes;
}

struct book_action *act_parent(struct plan_book *b, wend_str run)
{
    for (uint32_t i = 0; b->made && i < b->made->count; i++)
        if (b->a[i].child && str_is(run, b->a[i].child_id))
            return &b->a[i];
    return NULL;
}

static void act_child(struct plan_book *b, const wend_event *ev)
{
    struct book_action *a;

    if (ev->type == WEND_CHILD_START) {
        a = act_find(b, ev->u.child_start.action);
        if (a) {
            a->child = true;
            snprintf(a->child_id, sizeof a->child_id, "%.*s",
                     (int)ev->u.child_start.run.len, ev->u.child_start.run.ptr);
        }
        return;
    }
    a = act_parent(b, ev->u.child_end.run);
    if (!a)
        return;
    a->child = false;
    a->left = true;
}

static void act_model(struct plan_book *b, const wend_event *ev)
{
    bool starts = ev->type == WEND_MODEL_START;
    struct book_action *a =
        act_find(b, starts ? ev->u.model_start.action : ev->u.model_end.action);

    if (a)
        a->asking = starts;
    if (a && starts)
        a->allowed = ev->u.model_start.output_tokens;
}

/* Those of turns are not looked at. */
void plan_book_add(struct plan_book *b, const wend_event *ev)
{
    struct book_action *a = NULL;

    switch ((int)ev->type) {
    case WEND_PLAN_START: b->open = true; break;
    case WEND_PLAN_END: b->over = true; break;
    case WEND_ACTION_START:
        a = act_find(b, ev->u.action_start.action);
        if (a)
            act_start(a, ev->u.action_start.attempt);
        break;
    case WEND_ACTION_RETRY:
        a = act_find(b, ev->u.action_retry.action);
        if (a)
            act_start(a, ev->u.action_retry.attempt + 1);
        break;
    case WEND_ACTION_END:
        a = act_find(b, ev->u.action_end.action);
        if (a && ev->u.action_end.outcome == WEND_OUTCOME_SUPERSEDED) {
            a->closed = true;
        } else if (a) {
            a->ended = true;
            a->lost = false;
            a->outcome = ev->u.action_end.outcome;
        }
        break;
    case WEND_APPROVAL_ASK:
    case WEND_APPROVAL_ANSWER: act_approval(b, ev); break;
    case WEND_CHILD_START:
    case WEND_CHILD_END: act_child(b, ev); break;
    case WEND_MODEL_START:
    case WEND_MODEL_END: act_model(b, ev); break;
    case WEND_RUN_FORK:
    case WEND_RUN_RESUME: acts_lost(b); break;
    default: break;
    }
    for (uint32_t i = 0; b->open && i < b->made->count; i++)
        b->a[i].ready |= !act_held(b, (int)i);
}

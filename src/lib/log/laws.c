/*
 * laws.c - what must hold of the events of every run.
 *
 * Written from what wend-events(7) promises, without the core's turn: a check
 * must not use the code that it checks. What is open is a list of spans; ids
 * are kept as hashes. A log is checked as a whole, across all processes that
 * wrote it: what a crash cut off has an end of its own before it starts again.
 */
#include <assert.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "lib/log/log.h"
#include "lib/run/run.h"

enum {
    RUN = 1,
    TURN = 2,
    CONTEXT = 4,
    RETRIEVAL = 8,
    MODEL = 16, /* of a turn */
    PLAN = 32,
    /* Spans: one is open. */
    CALLS = 64,
    ACTIONS = 128,
    FORGOTTEN = 256, /* an action that its plan does not wait for */
    ASKING = 512,    /* the model of an action or a branch */
    CHILDREN = 1024,
    BRANCHES = 2048,
};

enum law_kind { OF_CALL, OF_ACTION, OF_MODEL, OF_CHILD, OF_BRANCH, OF_ASK };

struct law_span {
    uint64_t id;
    enum law_kind kind;
    bool open, listed;
    bool lost;       /* its process has died */
    bool superseded; /* its attempt has ended, and another one follows */
    bool forgets;    /* its plan does not wait for it */
    int64_t attempt;
};

struct wend_laws {
    unsigned process; /* that made it */
    struct mem mem;
    struct law_span *spans;
    size_t count, cap, pending; /* pending: calls that the caller executes */
    unsigned open;              /* of RUN to PLAN */
    bool over, blind;           /* the newest event may not know what is open */
    bool due;                   /* metrics, since a turn or plan has ended */
    bool model_lost; /* that of the turn was asked by a process that died */
    bool broken_off; /* the newest message of a turn is not whole */
    int64_t seq, n, time_us, turns;
    wend_error *err; /* of the event that is looked at */
    const wend_event *ev;
    wend_status status;
};

__attribute__((format(printf, 2, 3))) static void broken(struct wend_laws *l,
                                                         const char *fmt, ...)
{
    char text[300];
    va_list ap;

    if (l->status != WEND_OK)
        return; /* the first reason is the reason */
    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    l->status = fail(l->err, WEND_E_CORRUPT, "event %lld, %s: %s",
                     (long long)l->ev->seq, wend_event_name(l->ev->type), text);
}

static void broken_for(struct wend_laws *l, wend_str id, const char *why)
{
    broken(l, "'%.*s' %s", (int)id.len, id.ptr, why);
}

/* ---- Spans --------------------------------------------------------------- */

static struct law_span *find(const struct wend_laws *l, enum law_kind kind,
                             wend_str id)
{
    uint64_t hash = mix64(0, id.ptr, id.len);

    for (size_t i = l->count; i--;)
        if (l->spans[i].id == hash && l->spans[i].kind == kind)
            return &l->spans[i];
    return NULL;
}

static struct law_span *add(struct wend_laws *l, enum law_kind kind,
                            wend_str id)
{
    struct law_span *more =
        mem_more(&l->mem, l->spans, l->count, &l->cap, sizeof *more);

    if (!more) {
        l->status = fail_nomem(l->err);
        return NULL;
    }
    l->spans = more;
    l->spans[l->count] =
        (struct law_span){.id = mix64(0, id.ptr, id.len), .kind = kind};
    return &l->spans[l->count++];
}

/* It has no result yet. */
static bool is_open(const struct law_span *s)
{
    return s->open || s->superseded;
}

static void drop(struct wend_laws *l, enum law_kind kind)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->spans[i].kind != kind || is_open(&l->spans[i]))
            l->spans[kept++] = l->spans[i];
    l->count = kept;
}

static unsigned open_now(const struct wend_laws *l)
{
    static const unsigned bits[] = {
        [OF_CALL] = CALLS,     [OF_ACTION] = ACTIONS,  [OF_MODEL] = ASKING,
        [OF_CHILD] = CHILDREN, [OF_BRANCH] = BRANCHES, [OF_ASK] = 0};
    unsigned open = l->open;

    for (size_t i = 0; i < l->count; i++)
        if (is_open(&l->spans[i]))
            open |= l->spans[i].forgets ? FORGOTTEN : bits[l->spans[i].kind];
    return open;
}

/* The first attempt of a span, or one more after its process died and the
 * attempt before it was ended as superseded. */
static struct law_span *begin(struct wend_laws *l, enum law_kind kind,
                              wend_str id, int64_t attempt)
{
    struct law_span *s = find(l, kind, id);
    bool awaited = s && (s->superseded || (s->listed && !s->attempt));

    if (s && s->open && s->lost)
        broken_for(l, id, "starts again, but its last attempt has no end");
    else if (s && !awaited)
        broken_for(l, id, "starts twice");
    if (!s)
        s = add(l, kind, id);
    if (!s)
        return NULL;
    if (attempt && attempt != s->attempt + 1)
        broken(l, "attempt %lld of '%.*s' after %lld", (long long)attempt,
               (int)id.len, id.ptr, (long long)s->attempt);
    s->open = true;
    s->lost = s->superseded = false;
    s->attempt = attempt;
    return s;
}

/* A question: it has no attempts, and may come again once it has ended. */
static void open_once(struct wend_laws *l, enum law_kind kind, wend_str id,
                      const char *why_not)
{
    struct law_span *s = find(l, kind, id);

    if (s && s->open)
        broken_for(l, id, why_not);
    if (!s)
        s = add(l, kind, id);
    if (s)
        s->open = true;
}

static void end(struct wend_laws *l, enum law_kind kind, wend_str id,
                wend_outcome outcome)
{
    struct law_span *s = find(l, kind, id);
    bool superseded = outcome == WEND_OUTCOME_SUPERSEDED;

    if (!s || !s->open) {
        broken_for(l, id, "is not open");
        return;
    }
    if (superseded && !s->lost)
        broken_for(l, id, "is superseded, though nothing cut it off");
    s->open = s->lost = false;
    s->superseded = superseded && kind != OF_MODEL; /* it need not ask again */
}

/* Children and branches have no attempts, and a question is just answered. */
static void begin_once(struct wend_laws *l, enum law_kind kind, wend_str id)
{
    begin(l, kind, id, 0);
}

static void end_once(struct wend_laws *l, enum law_kind kind, wend_str id)
{
    end(l, kind, id, WEND_OUTCOME_OK);
}

static void needs_open(struct wend_laws *l, enum law_kind kind, wend_str id)
{
    const struct law_span *s = find(l, kind, id);

    if (!s || !s->open)
        broken_for(l, id, "is not open");
}

/* ---- Events -------------------------------------------------------------- */

static void on_resume(struct wend_laws *l)
{
    l->model_lost = l->open & MODEL;
    for (size_t i = 0; i < l->count; i++) {
        l->spans[i].lost |= l->spans[i].open;
        if (l->spans[i].kind == OF_ASK)
            l->spans[i].open = false; /* its process is gone */
    }
}

static void needs_metrics(struct wend_laws *l)
{
    if (l->due)
        broken(l, "no metrics since a turn or plan has ended");
}

static void on_run_end(struct wend_laws *l)
{
    const wend_ev_run_end *e = &l->ev->u.run_end;
    size_t pending = e->outcome == WEND_OUTCOME_OK ? l->pending : 0;

    needs_metrics(l);
    if (l->broken_off && e->outcome == WEND_OUTCOME_OK && !pending)
        broken(l, "ok, though the last message broke off");
    if (e->pending_count != pending)
        broken(l, "%zu calls are pending, not %zu", e->pending_count, pending);
}

static void on_metrics(struct wend_laws *l)
{
    l->due = false;
}

static void on_turn_start(struct wend_laws *l)
{
    const wend_ev_turn_start *e = &l->ev->u.turn_start;

    needs_metrics(l);
    if (l->pending)
        broken(l, "calls of the turn before are pending");
    if (e->counter != l->turns)
        broken(l, "turn %lld, not %lld", (long long)e->counter,
               (long long)l->turns);
    if ((e->parent_id.ptr != NULL) != (l->turns > 0))
        broken(l, l->turns ? "no parent" : "a parent of the first turn");
    l->turns++;
    drop(l, OF_CALL);
}

static void on_turn_end(struct wend_laws *l)
{
    const wend_ev_turn_end *e = &l->ev->u.turn_end;
    int64_t calls = 0;

    needs_metrics(l);
    l->due = true;
    for (size_t i = 0; i < l->count; i++) {
        const struct law_span *s = &l->spans[i];

        calls += s->kind == OF_CALL;
        if (s->kind == OF_CALL && (!s->listed || !s->attempt))
            broken(l, "a call was %s",
                   s->listed ? "listed, but never made"
                             : "made, but not listed");
    }
    if (calls != e->calls)
        broken(l, "%lld calls, there were %lld", (long long)e->calls,
               (long long)calls);
}

static void on_model_start(struct wend_laws *l)
{
    const wend_ev_model_start *e = &l->ev->u.model_start;

    if (e->action.ptr || e->branch.ptr) {
        open_once(l, OF_MODEL, e->action.ptr ? e->action : e->branch,
                  "asks already");
        return;
    }
    if (!(l->open & TURN) || l->open & MODEL)
        broken(l, l->open & MODEL ? "one is open" : "outside of a turn");
    l->open |= MODEL;
    l->model_lost = false;
}

static void list_calls(struct wend_laws *l, const wend_ev_model_end *e)
{
    for (size_t i = 0; i < e->calls_count; i++) {
        struct law_span *s = find(l, OF_CALL, e->calls[i].id);

        if (s && s->listed)
            broken(l, "call '%.*s' is listed twice", (int)e->calls[i].id.len,
                   e->calls[i].id.ptr);
        if (!s)
            s = add(l, OF_CALL, e->calls[i].id);
        if (s)
            s->listed = true;
    }
}

static void on_model_end(struct wend_laws *l)
{
    const wend_ev_model_end *e = &l->ev->u.model_end;

    if (e->action.ptr) {
        end(l, OF_MODEL, e->action, e->outcome);
        return;
    }
    if (!(l->open & MODEL) && !(open_now(l) & ASKING))
        broken(l, "no model is asked");
    if (e->outcome == WEND_OUTCOME_SUPERSEDED && !l->model_lost)
        broken(l, "superseded, though nothing cut it off");
    l->open &= ~(unsigned)MODEL;
    if (e->outcome != WEND_OUTCOME_SUPERSEDED &&
        e->purpose != WEND_PURPOSE_SUMMARY)
        l->broken_off = e->outcome != WEND_OUTCOME_OK;
    list_calls(l, e);
}

static void on_model_retry(struct wend_laws *l)
{
    if (!(open_now(l) & (MODEL | ASKING)))
        broken(l, "no model is asked");
}

static void on_text(struct wend_laws *l)
{
    if (l->ev->u.text_delta.action.ptr)
        needs_open(l, OF_MODEL, l->ev->u.text_delta.action);
    else
        on_model_retry(l);
}

static void on_question(struct wend_laws *l)
{
    const wend_ev_approval_ask *e = &l->ev->u.approval_ask;

    open_once(l, OF_ASK, e->call.ptr ? e->call : e->action,
              "is asked about already");
}

static void on_answer(struct wend_laws *l)
{
    const wend_ev_approval_answer *e = &l->ev->u.approval_answer;

    end_once(l, OF_ASK, e->call.ptr ? e->call : e->action);
}

static void on_call_start(struct wend_laws *l)
{
    const wend_ev_call_start *e = &l->ev->u.call_start;
    const struct law_span *s = find(l, OF_CALL, e->call);

    if (!(l->open & MODEL) && !s)
        broken_for(l, e->call, "is no call of the message");
    begin(l, OF_CALL, e->call, e->attempt);
}

static void on_call_end(struct wend_laws *l)
{
    const wend_ev_call_end *e = &l->ev->u.call_end;

    l->pending += e->client;
    end(l, OF_CALL, e->call, e->outcome);
}

static void on_plan_start(struct wend_laws *l)
{
    needs_metrics(l);
    drop(l, OF_ACTION);
}

/* Another plan may use the same names. */
static void on_plan_end(struct wend_laws *l)
{
    drop(l, OF_ACTION);
    l->due = true;
}

static void on_action_start(struct wend_laws *l)
{
    const wend_ev_action_start *e = &l->ev->u.action_start;
    struct law_span *s = find(l, OF_ACTION, e->action);

    /* One that was cut off begins again, its plan may be over. */
    if (!(l->open & PLAN) && !(s && s->superseded))
        broken(l, "no plan is open");
    s = begin(l, OF_ACTION, e->action, e->attempt);
    if (s)
        s->forgets = str_is(e->mode, "fire_and_forget");
}

static void on_action_retry(struct wend_laws *l)
{
    const wend_ev_action_retry *e = &l->ev->u.action_retry;
    struct law_span *s = find(l, OF_ACTION, e->action);

    if (!s || !s->open || e->attempt != s->attempt)
        broken(l, "attempt %lld of '%.*s' is not open", (long long)e->attempt,
               (int)e->action.len, e->action.ptr);
    else
        s->attempt++;
}

/* One that is skipped ends without a start. Metrics follow one that its plan
 * forgot; in a turn they are those of the turn. */
static void on_action_end(struct wend_laws *l)
{
    const wend_ev_action_end *e = &l->ev->u.action_end;

    l->due |=
        !(l->open & (PLAN | TURN)) && e->outcome != WEND_OUTCOME_SUPERSEDED;
    if (find(l, OF_ACTION, e->action))
        end(l, OF_ACTION, e->action, e->outcome);
    else
        add(l, OF_ACTION, e->action);
}

#define AT(member) offsetof(wend_event, u.member)

/* What an event does to one span, without more ado. */
static const struct {
    void (*rule)(struct wend_laws *l, enum law_kind kind, wend_str id);
    enum law_kind kind;
    size_t id; /* offset in the event */
} of_spans[WEND_EVENT_TYPES] = {
    [WEND_CALL_OUTPUT] = {needs_open, OF_CALL, AT(call_output.call)},
    [WEND_ACTION_OUTPUT] = {needs_open, OF_ACTION, AT(action_output.action)},
    [WEND_CHILD_START] = {begin_once, OF_CHILD, AT(child_start.run)},
    [WEND_CHILD_END] = {end_once, OF_CHILD, AT(child_end.run)},
    [WEND_BRANCH_START] = {begin_once, OF_BRANCH, AT(branch_start.branch)},
    [WEND_BRANCH_END] = {end_once, OF_BRANCH, AT(branch_end.branch)},
};

/* What must be open besides the run, what must not be, and what the event opens
 * or closes. A type without a row may come anywhere in a run. */
static const struct {
    unsigned needs, bars, opens, closes;
    void (*look)(struct wend_laws *l);
} rules[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = {0, RUN, RUN, 0, NULL},
    [WEND_RUN_RESUME] = {0, 0, 0, 0, on_resume},
    [WEND_RUN_END] = {0,
                      TURN | CONTEXT | MODEL | PLAN | CALLS | ACTIONS |
                          FORGOTTEN | ASKING | CHILDREN | BRANCHES,
                      0, 0, on_run_end},
    [WEND_TURN_START] = {0, TURN, TURN, 0, on_turn_start},
    [WEND_TURN_END] = {TURN, CONTEXT | MODEL | PLAN | CALLS | BRANCHES, 0, TURN,
                       on_turn_end},
    [WEND_CONTEXT_START] = {TURN, CONTEXT | MODEL, CONTEXT, 0, NULL},
    [WEND_COMPACTED] = {CONTEXT, RETRIEVAL | MODEL, 0, 0, NULL},
    [WEND_CONTEXT_END] = {CONTEXT, RETRIEVAL | MODEL, 0, CONTEXT, NULL},
    [WEND_RETRIEVAL_START] = {CONTEXT, RETRIEVAL, RETRIEVAL, 0, NULL},
    [WEND_RETRIEVAL_HIT] = {RETRIEVAL, 0, 0, 0, NULL},
    [WEND_RETRIEVAL_END] = {RETRIEVAL, 0, 0, RETRIEVAL, NULL},
    [WEND_MODEL_START] = {0, 0, 0, 0, on_model_start},
    [WEND_THINKING_DELTA] = {0, 0, 0, 0, on_text},
    [WEND_TEXT_DELTA] = {0, 0, 0, 0, on_text},
    [WEND_ARGS_DELTA] = {0, 0, 0, 0, on_text},
    [WEND_MODEL_PART] = {MODEL, 0, 0, 0, NULL},
    [WEND_MODEL_RETRY] = {0, 0, 0, 0, on_model_retry},
    [WEND_MODEL_END] = {0, 0, 0, 0, on_model_end},
    [WEND_APPROVAL_ASK] = {0, 0, 0, 0, on_question},
    [WEND_APPROVAL_ANSWER] = {0, 0, 0, 0, on_answer},
    [WEND_CALL_START] = {TURN, CONTEXT, 0, 0, on_call_start},
    [WEND_CALL_OUTPUT] = {TURN, 0, 0, 0, NULL},
    [WEND_CALL_END] = {TURN, 0, 0, 0, on_call_end},
    [WEND_PLAN_START] = {0, PLAN, PLAN, 0, on_plan_start},
    [WEND_PLAN_ACTION] = {PLAN, 0, 0, 0, NULL},
    [WEND_ACTION_START] = {0, 0, 0, 0, on_action_start},
    [WEND_ACTION_RETRY] = {0, 0, 0, 0, on_action_retry},
    [WEND_ACTION_END] = {0, 0, 0, 0, on_action_end},
    [WEND_PLAN_END] = {PLAN, ACTIONS, 0, PLAN, on_plan_end},
    [WEND_METRICS] = {0, 0, 0, 0, on_metrics},
};

static void look_at_order(struct wend_laws *l)
{
    const wend_event *ev = l->ev;
    bool in_turn = l->open & TURN || ev->type == WEND_TURN_START;

    if (l->over)
        broken(l, "after run_end");
    if (ev->n ? ev->seq != l->seq || ev->n != l->n + 1 : ev->seq != l->seq + 1)
        broken(l, "%lld/%lld after %lld/%lld", (long long)ev->seq,
               (long long)ev->n, (long long)l->seq, (long long)l->n);
    if (ev->time_us < l->time_us)
        broken(l, "time goes back by %lld us",
               (long long)(l->time_us - ev->time_us));
    if (ev->in_turn != in_turn &&
        (ev->in_turn ||
         !(close_wrote(ev) || (l->blind && ev->type == WEND_RUN_FORK))))
        broken(l, in_turn ? "it names no turn" : "it names a turn");
}

static void look_at_place(struct wend_laws *l)
{
    /* clang-format off */
    static const char *const names[] = {
        "the run", "a turn", "a context", "a retrieval", "a model", "a plan",
        "a call", "an action", "a forgotten action", "a model of an action",
        "a child", "a branch"};
    /* clang-format on */
    unsigned open = open_now(l), bars = rules[l->ev->type].bars;
    unsigned needs =
        rules[l->ev->type].needs | (l->ev->type == WEND_RUN_START ? 0 : RUN);

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (needs >> i & 1 && !(open >> i & 1))
            broken(l, "%s is not open", names[i]);
        else if (bars >> i & 1 && open >> i & 1)
            broken(l, "%s is open", names[i]);
}

static void look_inside(struct wend_laws *l)
{
    size_t at = of_spans[l->ev->type].id;

    if (rules[l->ev->type].look)
        rules[l->ev->type].look(l);
    if (at)
        of_spans[l->ev->type].rule(
            l, of_spans[l->ev->type].kind,
            *(const wend_str *)((const char *)l->ev + at));
}

/* ---- Public -------------------------------------------------------------- */

wend_status wend_laws_new(wend_laws **out)
{
    const struct mem m = {NULL, NULL};

    if (!out)
        return WEND_E_INVAL;
    *out = mem_zalloc(&m, sizeof **out);
    if (*out)
        (*out)->process = forked_mark();
    return *out ? WEND_OK : WEND_E_NOMEM;
}

wend_status wend_laws_add(wend_laws *l, const wend_event *ev, wend_error *err)
{
    if (!l || !ev || !event_fields(ev->type))
        return fail(err, WEND_E_INVAL, "laws: no event");
    if (forked_check(l->process, err) != WEND_OK)
        return WEND_E_MISUSE;
    l->err = err;
    l->ev = ev;
    l->status = WEND_OK;
    look_at_order(l);
    if (!close_wrote(ev))
        look_at_place(l);
    if (!close_wrote(ev) && l->status == WEND_OK)
        look_inside(l);
    l->open |= rules[ev->type].opens;
    l->open &= ~rules[ev->type].closes;
    l->over |= ev->type == WEND_RUN_END;
    l->blind = close_wrote(ev) || (l->blind && ev->type == WEND_RUN_FORK);
    l->seq = ev->seq;
    l->n = ev->n;
    l->time_us = ev->time_us;
    return l->status;
}

wend_status wend_laws_end(const wend_laws *l, wend_error *err)
{
    if (!l)
        return fail(err, WEND_E_INVAL, "laws: there are none");
    if (forked_check(l->process, err) != WEND_OK)
        return WEND_E_MISUSE;
    return l->over ? WEND_OK
                   : fail(err, WEND_E_CORRUPT,
                          "the run has not ended: event %lld is its last one",
                          (long long)l->seq);
}

void wend_laws_free(wend_laws *l)
{
    struct mem m = {NULL, NULL};

    if (!l || forked_check(l->process, NULL) != WEND_OK)
        return;
    mem_free(&m, l->spans);
    mem_free(&m, l);
}

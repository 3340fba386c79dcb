/*
 * laws_plan.c - the laws of a run that is a plan: of its events, and of steps.
 */
#include "laws_plan.h"
#include "plan_book.h"

/* ---- Of one event -------------------------------------------------------- */

static void check_act_start(struct sim *s, const wend_ev_action_start *e,
                            const char *name)
{
    const struct book_action *a = act_find(&s->book.plan, e->action);

    if (!a || a->ended || (a->started && !a->closed))
        broken(s, name, "'%.*s' starts, which %s", (int)e->action.len,
               e->action.ptr,
               !a         ? "was not written"
               : a->ended ? "has ended"
                          : "is under way");
    else if (e->attempt != a->attempt + 1)
        broken(s, name, "attempt %lld of '%.*s'", (long long)e->attempt,
               (int)e->action.len, e->action.ptr);
}

static void check_act_end(struct sim *s, const wend_ev_action_end *e,
                          const char *name)
{
    const struct book_action *a = act_find(&s->book.plan, e->action);

    if (!a || a->ended || a->closed)
        broken(s, name, "'%.*s' ends, which %s", (int)e->action.len,
               e->action.ptr, a ? "has ended" : "was not written");
    else if (a->started == (e->outcome == WEND_OUTCOME_SKIPPED))
        broken(s, name, "'%.*s' is %s, and %s", (int)e->action.len,
               e->action.ptr, wend_outcome_name(e->outcome),
               a->started ? "had started" : "never started");
    else if (a->asking)
        broken(s, name, "'%.*s' ends before its model call", (int)e->action.len,
               e->action.ptr);
}

static void law_act_bracket(struct sim *s, const wend_event *ev,
                            const char *name)
{
    const struct book_action *a;

    if (ev->type == WEND_ACTION_START) {
        check_act_start(s, &ev->u.action_start, name);
    } else if (ev->type == WEND_ACTION_END) {
        check_act_end(s, &ev->u.action_end, name);
    } else if (ev->type == WEND_ACTION_RETRY) {
        a = act_find(&s->book.plan, ev->u.action_retry.action);
        if (!act_runs(a) || a->lost || ev->u.action_retry.attempt != a->attempt)
            broken(s, name, "a retry of what is not under way");
    }
}

/* ... of the action that it names, or of what ran in its place. */
static void law_act_files(struct sim *s, const wend_event *ev, const char *name)
{
    const struct plan_book *b = &s->book.plan;
    int i = ev->type == WEND_ACTION_START && b->made
                ? act_index(b, ev->u.action_start.action)
                : NO_ACTION;
    const struct made_action *m = i != NO_ACTION ? &b->made->a[i] : NULL;
    wend_str params = ev->u.action_start.params_json;
    char hash[32];

    if (!m || m->files == NO_ACTION || b->a[i].started ||
        !str_has(params, m->type == ACTION_WORKFLOW ? STR("\"f\":[")
                                                    : STR("\"parts\":[")))
        return; /* one that ends at once has no values */
    for (int of = m->files; of != NO_ACTION; of = b->made->a[of].fallback) {
        bool given = b->a[of].ended && b->a[of].outcome == WEND_OUTCOME_OK &&
                     b->made->a[of].type == ACTION_TOOL &&
                     b->made->a[of].mode != ACTION_FORGET &&
                     act_gives_file((uint32_t)of);

        snprintf(hash, sizeof hash, "\"hash\":\"a%d\"", of);
        if (str_has(params, str_of(hash)) != given)
            broken(s, name, "'a%d' %s the file of 'a%d'", i,
                   given ? "does not get" : "gets", of);
    }
}

/* What must have ended, has; and the end says how many did. */
static void law_plan_end(struct sim *s, const wend_event *ev, const char *name)
{
    const struct plan_book *b = &s->book.plan;
    const wend_ev_plan_end *e = &ev->u.plan_end;
    wend_ev_plan_end sum = {0};

    if (ev->type == WEND_RUN_END && b->open && acts_running(b))
        broken(s, name, "run_end, and %u actions run", acts_running(b));
    if (ev->type != WEND_PLAN_END)
        return;
    for (uint32_t i = 0; i < b->made->count; i++) {
        const struct made_action *m = &b->made->a[i];
        wend_outcome o = b->a[i].ended ? b->a[i].outcome : WEND_OUTCOME_NONE;

        sum.running += act_runs(&b->a[i]);
        if (outcome_failed(o) && m->skip_on_error)
            o = WEND_OUTCOME_SKIPPED;
        sum.ok += o == WEND_OUTCOME_OK;
        sum.skipped += o == WEND_OUTCOME_SKIPPED;
        sum.canceled += o == WEND_OUTCOME_CANCELED;
        sum.unknown += o == WEND_OUTCOME_UNKNOWN;
        sum.failed += outcome_failed(o) && o != WEND_OUTCOME_CANCELED &&
                      o != WEND_OUTCOME_UNKNOWN;
        if (!b->a[i].ended && !(m->mode == ACTION_FORGET && b->a[i].started))
            broken(s, name, "plan_end before the end of a%u", i);
    }
    if (e->ok != sum.ok || e->failed != sum.failed ||
        e->skipped != sum.skipped || e->running != sum.running ||
        e->canceled != sum.canceled || e->unknown != sum.unknown)
        broken(s, name,
               "plan_end does not count %lld ok, %lld failed, %lld skipped, "
               "%lld running, %lld canceled, %lld unknown",
               (long long)sum.ok, (long long)sum.failed, (long long)sum.skipped,
               (long long)sum.running, (long long)sum.canceled,
               (long long)sum.unknown);
    if (!s->book.stopping &&
        (e->outcome == WEND_OUTCOME_FAILED) != plan_broken(b))
        broken(s, name, "the plan is %s", wend_outcome_name(e->outcome));
}

static void law_deps(struct sim *s, const wend_event *ev, const char *name)
{
    const struct plan_book *b = &s->book.plan;
    int i = ev->type == WEND_ACTION_START
                ? act_index(b, ev->u.action_start.action)
                : NO_ACTION;

    if (i == NO_ACTION || b->a[i].started)
        return;
    if (act_waits_for(b, i))
        broken(s, name, "a%d starts: %s", i, act_waits_for(b, i));
    if (b->made->a[i].never)
        broken(s, name, "a%d starts, its condition does not hold", i);
    if (b->over)
        broken(s, name, "a%d starts after plan_end", i);
}

static void law_skipped(struct sim *s, const wend_event *ev, const char *name)
{
    static const char *const held[] = {"dependency_failed",
                                       "dependencies_skipped", "not_needed",
                                       "not_chosen"};
    const struct plan_book *b = &s->book.plan;
    const wend_ev_action_end *e = &ev->u.action_end;
    int i = ev->type == WEND_ACTION_END ? act_index(b, e->action) : NO_ACTION;
    bool ok;

    if (i == NO_ACTION || e->outcome != WEND_OUTCOME_SKIPPED)
        return;
    ok = str_is(e->reason, "condition")   ? b->made->a[i].never
         : str_is(e->reason, "fail_fast") ? plan_stops(b)
         : str_is(e->reason, "canceled") || str_is(e->reason, "limit")
             ? s->book.stopping
             : str_index(e->reason, held, 4) >= 0 && act_waits_for(b, i);
    if (!ok)
        broken(s, name, "a%d: '%.*s'", i, (int)e->reason.len,
               e->reason.ptr ? e->reason.ptr : "");
}

static void law_caps(struct sim *s, const wend_event *ev, const char *name)
{
    const struct plan_book *b = &s->book.plan;
    int i = ev->type == WEND_ACTION_START
                ? act_index(b, ev->u.action_start.action)
                : NO_ACTION;
    uint32_t running = acts_running(b);

    if (i == NO_ACTION || b->a[i].started)
        return;
    if (acts_hold(b))
        broken(s, name, "a%d starts beside one that is sync", i);
    if (b->made->a[i].type == ACTION_DECISION)
        return;
    if ((b->made->slots && running >= b->made->slots) ||
        (s->book.limits.parallel && running >= s->book.limits.parallel))
        broken(s, name, "a%d starts beside %u, at most %lld and %lld", i,
               running, (long long)b->made->slots,
               (long long)s->book.limits.parallel);
}

/* Of one that was cut off: again if its class allows it, if the policy or a
 * person says so, or if its child is gone on with. */
static void law_act_lost(struct sim *s, const wend_event *ev, const char *name)
{
    struct plan_book *b = &s->book.plan;
    int i =
        ev->type == WEND_ACTION_START ? act_index(b, ev->u.action_start.action)
        : ev->type == WEND_ACTION_END ? act_index(b, ev->u.action_end.action)
                                      : NO_ACTION;
    struct book_action *a = i == NO_ACTION ? NULL : &b->a[i];
    bool unsafe, twice;

    if (!a || !a->lost) {
        if (a && ev->type == WEND_ACTION_END && !a->doubted &&
            ev->u.action_end.outcome == WEND_OUTCOME_UNKNOWN)
            broken(s, name, "a%d is unknown, though nothing was cut off", i);
        return;
    }
    unsafe = act_is_unsafe(&b->made->a[i]) && !a->child &&
             (!is_child_type(&b->made->a[i]) || a->left);
    twice = !unsafe || s->config->on_unknown == UNKNOWN_RETRY ||
            (s->config->on_unknown == UNKNOWN_ASK && a->yes);
    if (ev->type == WEND_ACTION_END &&
        ev->u.action_end.outcome == WEND_OUTCOME_SUPERSEDED) {
        if (!twice)
            broken(s, name, "a%d, which is unsafe, is superseded", i);
        return;
    }
    if (ev->type == WEND_ACTION_START) {
        a->doubted = !twice; /* law_act_effects looks what becomes of it */
        return;
    }
    if (ev->u.action_end.outcome !=
        (unsafe ? WEND_OUTCOME_UNKNOWN : WEND_OUTCOME_CANCELED))
        broken(s, name, "a%d ends as %s", i,
               wend_outcome_name(ev->u.action_end.outcome));
    else if (twice && !s->book.stopping && !plan_stops(b))
        broken(s, name, "a%d is given up", i);
}

static bool is_superseded(const wend_event *ev)
{
    return ev->type == WEND_ACTION_END &&
           ev->u.action_end.outcome == WEND_OUTCOME_SUPERSEDED;
}

/* One at a time, inside its action; one more attempt keeps the one that it
 * had. */
static void law_act_child(struct sim *s, const wend_event *ev, const char *name)
{
    struct plan_book *b = &s->book.plan;
    int i = NO_ACTION;

    if (ev->type == WEND_CHILD_START) {
        i = act_index(b, ev->u.child_start.action);
        if (i == NO_ACTION || !act_runs(&b->a[i]) || b->a[i].child ||
            !is_child_type(&b->made->a[i]))
            broken(s, name, "child_start for an action that has none");
    } else if (ev->type == WEND_CHILD_END) {
        if (!act_parent(b, ev->u.child_end.run))
            broken(s, name, "child_end of a child that is not open");
    } else if (ev->type == WEND_ACTION_END || ev->type == WEND_ACTION_RETRY) {
        i = act_index(b, ev->type == WEND_ACTION_END
                             ? ev->u.action_end.action
                             : ev->u.action_retry.action);
        if (i != NO_ACTION && b->a[i].child && !is_superseded(ev))
            broken(s, name, "a%d ends before its child", i);
    }
}

const struct event_law plan_event_laws[] = {
    {"an action has one bracket", law_act_bracket},
    {"an action gets the files that it names", law_act_files},
    {"a plan ends when its actions have", law_plan_end},
    {"an action starts after what it waits for", law_deps},
    {"an action is skipped for a reason", law_skipped},
    {"actions run within their caps", law_caps},
    {"an action is not run twice against its class", law_act_lost},
    {"an action's child is begun once, and ends inside it", law_act_child},
    {NULL, NULL},
};

/* ---- Of a step ----------------------------------------------------------- */

static void check_act_effect(struct sim *s, const struct effect *fx,
                             const char *name)
{
    struct plan_book *b = &s->book.plan;
    struct book_action *a =
        fx->action < b->made->count ? &b->a[fx->action] : NULL;
    bool *seen;

    if (!act_runs(a) || a->lost || fx->attempt != a->attempt) {
        broken(s, name, "an effect %d for a%u, attempt %lld, not under way",
               (int)fx->kind, fx->action, (long long)fx->attempt);
        return;
    }
    if (fx->kind == FX_STOP_ACTION) {
        if (!s->book.stopping && !plan_stops(b))
            broken(s, name, "a%u is told to stop for no reason", fx->action);
        return;
    }
    seen = fx->kind == FX_START_CHILD ? &a->begun : &a->ran;
    if (*seen)
        broken(s, name, "effect %d twice for a%u", (int)fx->kind, fx->action);
    if (fx->kind == FX_START_CHILD && !a->child)
        broken(s, name, "a%u has no child to begin", fx->action);
    *seen = true;
}

static void law_act_effects(struct sim *s, const struct view *v,
                            const char *name)
{
    struct plan_book *b = &s->book.plan;

    for (const struct effect *fx = v->step->effects; fx; fx = fx->next)
        if (fx->kind == FX_RUN_ACTION || fx->kind == FX_STOP_ACTION ||
            fx->kind == FX_START_CHILD)
            check_act_effect(s, fx, name);
    for (uint32_t i = 0; i < b->made->count; i++) {
        const struct book_action *a = &b->a[i];

        if (act_runs(a) && !a->lost && a->doubted)
            broken(s, name, "a%u, which is unsafe, runs again", i);
        if (act_runs(a) && !a->lost && !a->ran && !a->begun)
            broken(s, name, "action_start of a%u, but it does not run", i);
        if (a->lost && !a->asked && !s->book.paused)
            broken(s, name, "a%u is not settled", i);
    }
}

/* What failed may have had an effect: then only what may run twice does. */
static void law_act_retry(struct sim *s, const struct view *v, const char *name)
{
    const struct made_plan *p = s->book.plan.made;
    const struct call_done *d = &v->in->done;
    bool effect = d->child ? d->child->metrics.tool_calls > 0 ||
                                 d->child->metrics.actions > 0
                           : d->effect_possible;

    for (const struct step_event *e = v->step->events; e; e = e->next) {
        int i = e->ev.type == WEND_ACTION_RETRY
                    ? act_index(&s->book.plan, e->ev.u.action_retry.action)
                    : NO_ACTION;

        if (i == NO_ACTION)
            continue;
        if (v->in->kind != IN_ACTION_DONE || (int)d->action != i)
            broken(s, name, "a%d, which no event mentions", i);
        else if (effect && act_is_unsafe(&p->a[i]))
            broken(s, name, "a%d, though it may have had an effect", i);
        else if (v->before->plan.a[i].attempt > p->a[i].retry_max)
            broken(s, name, "a%d for the %lldth time", i,
                   (long long)v->before->plan.a[i].attempt);
    }
}

/* A question may have to wait until it is known what the open ones used. */
static bool waits_for_budget(const struct sim *s, uint32_t action)
{
    const struct book *b = &s->book;
    bool asking = false;

    for (uint32_t i = 0; i < s->made.count; i++)
        asking |= b->plan.a[i].asking;
    return asking && s->made.a[action].type == ACTION_LLM &&
           (b->limits.tokens || b->limits.cost_nano);
}

/* There are no barriers: a free slot is for any action that is ready. */
static void law_ready(struct sim *s, const struct view *v, const char *name)
{
    const struct plan_book *b = &s->book.plan;
    uint32_t running = acts_running(b);
    bool full = running >= b->made->slots || /* 0: it depends */
                (s->book.limits.parallel && running >= s->book.limits.parallel);

    (void)v;
    if (!b->open || b->over || s->book.paused || s->book.stopping ||
        s->book.run_over || plan_stops(b) || acts_hold(b))
        return;
    for (uint32_t i = 0; i < b->made->count; i++) {
        const struct book_action *a = &b->a[i];

        if (a->started || a->ended || act_waits(a) || act_waits_for(b, (int)i))
            continue;
        if ((!full && !waits_for_budget(s, i)) || b->made->a[i].never)
            broken(s, name, "a%u waits for nothing", i);
    }
}

const struct step_law plan_step_laws[] = {
    {"an action's effect follows its start", law_act_effects},
    {"an action is tried again only if that does no harm", law_act_retry},
    {"what is ready starts", law_ready},
    {NULL, NULL},
};

/* ---- Of a fork ----------------------------------------------------------- */

const char law_parent[] = "a fork leaves its parent as it was";

/* Also while it goes on: they share all that was before. */
void check_parent(struct sim *s)
{
    struct buf b = {.mem = &s->mem};

    if (!s->parent_state.len)
        return;
    turn_write(&b, &s->parent);
    if (!str_eq(buf_view(&b), buf_view(&s->parent_state)))
        broken(s, law_parent, "its state has changed");
    buf_free(&b);
}

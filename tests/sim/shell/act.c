/*
 * act.c - what a host does: starts runs, tells them things, frees them.
 *
 * Every action is checked for the status that it must have.
 */
#include "act.h"
#include "fork.h"
#include "inbox.h"
#include "plan.h"
#include "reader.h"
#include "store.h"
#include "world.h"

/* ---- Starting ------------------------------------------------------------ */

static void begin_known(struct sim *s, struct known *k)
{
    memset(k, 0, sizeof *k);
    k->place = s->runs_count;
    k->sim = s;
    k->epoch = 1;
    /* Those of children are their parent's, which cannot tell them apart. */
    k->hooked =
        s->mood.hooks && !s->mood.children && chance_of(&s->chance, 500);
    k->reader = reader_add(s, k, true);
    k->reader->filter = some_filter(s);
    k->reader->style = (enum style)chance_below(&s->chance, STYLES);
}

/* In some worlds a run continues the conversation of one that is over. */
static wend_status start_talk(struct sim *s, struct known *k,
                              wend_run_options *o)
{
    const struct known *old =
        s->head.seed % 8 == 3 && s->runs_count
            ? &s->runs[chance_below(&s->chance, s->runs_count)]
            : NULL;
    wend_status st = WEND_E_INVAL;

    if (old && old->end_acked && !old->parent && !old->planned && !o->plan) {
        k->agent = old->agent;
        o->compact = chance_of(&s->chance, 500) ? "" : NULL;
        st = wend_run_follow(s->agents[k->agent], old->id, STR("and then?"), o,
                             &k->handle, NULL);
        trace(s, "run %u follows run %u: %s", k->place, old->place,
              wend_status_name(st));
        o->compact = NULL;
    }
    if (st != WEND_E_INVAL) /* its model writes plans */
        return st;
    return wend_run_start(s->agents[k->agent], STR("a prompt"), o, &k->handle,
                          NULL);
}

void act_start(struct sim *s)
{
    struct known *k = &s->runs[s->runs_count];
    wend_run_options o = {.size = sizeof o};
    wend_status st;

    if (s->own_count == s->mood.runs || s->readers_count == READERS_MAX ||
        s->runs_count == KNOWN_MAX)
        return;
    begin_known(s, k);
    o.filter = k->reader->filter;
    if (k->hooked) {
        o.hook = hook;
        o.hook_ctx = k;
    }
    k->agent = chance_below(&s->chance, 2);
    k->planned = !k->hooked && chance_of(&s->chance, s->mood.plans);
    o.plan = !k->planned && chance_of(&s->chance, s->mood.planners);
    s->starting = k;
    st = k->planned ? start_plan(s, k, &o) : start_talk(s, k, &o);
    s->starting = NULL;
    if (st != (s->down ? WEND_E_STORE : WEND_OK) &&
        !(st == WEND_E_NOMEM && s->head.fault.hit) &&
        st != WEND_E_LIMIT) /* the window has no room for its tools */
        broken(s, s->down ? LAW_FAILED : LAW_END, "start says %s",
               wend_status_name(st));
    if (st != WEND_OK) {
        s->readers_count--;
        return;
    }
    s->runs_count++;
    s->own_count++;
    snprintf(k->id, sizeof k->id, "%s", wend_run_id(k->handle));
    k->reader->handle = k->handle;
    if (k->reader->style == READ_LISTEN)
        wend_run_listen(k->handle, on_event, k->reader);
    trace(s, "run %u starts, style %d, filter %llx, merge %u%s", k->place,
          (int)k->reader->style, (unsigned long long)o.filter.types,
          o.filter.merge_count, k->hooked ? ", hooks" : "");
}

/* One more reader, who lives off the store alone. */
static void act_follow(struct sim *s)
{
    struct known *k = pick_run(s);
    wend_replay_options o = {.size = sizeof o, .follow = true};
    struct reader *r;

    if (!k || !k->stored_seq || s->readers_count == READERS_MAX || s->down)
        return;
    r = reader_add(s, k, false);
    r->filter = o.filter = some_filter(s);
    r->style = (enum style)chance_below(&s->chance, READ_LISTEN);
    o.speed = chance_of(&s->chance, 300) ? 5 : 0;
    if (wend_store_replay(s->rt, k->id, &o, &r->handle, NULL) != WEND_OK) {
        if (!s->head.fault.hit &&
            !s->store.failed) /* which s may not know yet */
            broken(s, LAW_LOG, "run %u cannot be followed", k->place);
        s->readers_count--;
        return;
    }
    s->head.counters->followed++;
    trace(s, "run %u is followed, style %d, filter %llx, merge %u", k->place,
          (int)r->style, (unsigned long long)r->filter.types,
          r->filter.merge_count);
}

/* ---- Telling ------------------------------------------------------------- */

void check_told(struct sim *s, const struct known *k, const char *what,
                wend_status st)
{
    trace(s, "run %u %s: %s", k->place, what, wend_status_name(st));
    if ((s->head.fault.hit && st == WEND_E_NOMEM) ||
        (k->stale_told && s->down && st == WEND_E_STORE))
        return;
    if (k->stale_told ? st != WEND_E_STALE : s->down && st != WEND_E_STORE)
        broken(s, s->down ? LAW_FAILED : LAW_STALE, "run %u: %s says %s",
               k->place, what, wend_status_name(st));
    else if (!s->down && !k->stolen && !s->store.failed && st != WEND_OK &&
             st != WEND_END)
        broken(s, LAW_END, "run %u: %s says %s", k->place, what,
               wend_status_name(st));
}

static void act_say(struct sim *s)
{
    struct known *k = pick_run(s);

    if (k)
        check_told(s, k, "say", wend_run_say(k->handle, STR("more")));
}

static void act_pause(struct sim *s)
{
    struct known *k = pick_run(s);

    if (!k)
        return;
    if (chance_of(&s->chance, 500))
        check_told(s, k, "pause", wend_run_pause(k->handle));
    else
        check_told(s, k, "continue", wend_run_continue(k->handle));
}

static void act_cancel(struct sim *s)
{
    struct known *k = pick_run(s);
    wend_status st;

    if (!k)
        return;
    if (s->head.bug && s->head.bug->forget_cancel)
        atomic_store(&k->handle->cancel_posted, true);
    st = wend_run_cancel(k->handle);
    trace(s, "run %u cancel", k->place);
    s->head.counters->canceled++;
    if (st == WEND_E_STORE && s->store.failed)
        return; /* there is nothing left to cancel */
    k->cancel_sent = true;
    if (st != WEND_OK)
        broken(s, LAW_CANCEL, "run %u: cancel says %s", k->place,
               wend_status_name(st));
}

/* Everything is told to stop, several times, in two ways. */
static void act_storm(struct sim *s)
{
    uint32_t count = 1 + chance_below(&s->chance, 20);

    s->head.counters->storms++;
    for (uint32_t i = 0; i < count; i++)
        if (chance_of(&s->chance, 800)) {
            act_cancel(s);
        } else {
            struct known *k = pick_run(s);

            if (k && k->stored_seq)
                post(s, k, "cancel", STR("{}"));
        }
}

static void answer_approval(struct sim *s, struct known *k, uint32_t i)
{
    const struct turn *t = &k->handle->turn;
    wend_str id = turn_call(t, i)->id;

    if (!turn_call_waits(t, i))
        return;
    s->head.counters->approvals++;
    check_told(
        s, k, "approve",
        wend_run_approve(k->handle, id, chance_of(&s->chance, 700), NULL));
}

static void answer_approvals(struct sim *s, struct known *k)
{
    const struct plan_state *p = &k->handle->turn.plan;

    for (uint32_t i = 0; i < k->handle->turn.calls_count; i++)
        answer_approval(s, k, i);
    for (uint32_t i = 0; p->started && i < p->plan->count; i++) {
        if (!action_needs_approval(plan_action_state(p, i)))
            continue;
        s->head.counters->approvals++;
        check_told(s, k, "approve",
                   wend_run_approve(k->handle, p->plan->actions[i]->id,
                                    chance_of(&s->chance, 700), NULL));
    }
}

/* A child has no handle: it is told as by another process. */
static void answer_children(struct sim *s)
{
    for (const struct wend_run *r = s->rt->runs; r; r = r->next)
        for (uint32_t i = 0; r->child && i < r->turn.calls_count; i++) {
            struct buf body = {.mem = &libc_mem};

            if (!turn_call_waits(&r->turn, i))
                continue;
            buf_cstr(&body, "{\"call\":");
            json_put_str(&body, turn_call(&r->turn, i)->id);
            buf_fmt(&body, ",\"yes\":%s}",
                    chance_of(&s->chance, 700) ? "true" : "false");
            s->store.real->post(s->store.store, str_of(r->id), "approve",
                                buf_view(&body), NULL, NULL);
            buf_free(&body);
        }
}

static void act_approve(struct sim *s)
{
    struct known *k = pick_run(s);

    if (!k)
        return;
    if (!s->down && !k->stolen &&
        wend_run_approve(k->handle, STR("nobody"), true, NULL) !=
            WEND_E_NOTFOUND)
        broken(s, LAW_MISUSE, "run %u: approves what nobody asked", k->place);
    answer_approvals(s, k);
    answer_children(s);
}

/* As another process would. */
static void act_inbox(struct sim *s)
{
    struct known *k = pick_run(s);

    if (k && k->stored_seq)
        post(s, k, some_request(&s->chance), STR_NONE);
    if (s->runs_count)
        post_to_child(s);
}

static void act_listen(struct sim *s)
{
    struct known *k = pick_run(s);
    bool on;

    if (!k || k->reader->ended)
        return;
    on = k->reader->style != READ_LISTEN;
    k->reader->style = on ? READ_LISTEN : READ_SOME;
    wend_run_listen(k->handle, on ? on_event : NULL, k->reader);
}

/* ---- Tools answer -------------------------------------------------------- */

void answer_at(struct sim *s, uint32_t i)
{
    wend_call *call = s->kept[i].call;
    bool late = wend_call_canceled(call);

    s->kept[i] = s->kept[--s->kept_count];
    s->head.counters->late_answers += late;
    trace(s, "a tool answers%s", late ? ", too late" : "");
    answer(s, call);
}

static void act_answer(struct sim *s)
{
    for (uint32_t i = s->kept_count; i--;)
        if (s->kept[i].due_us <= s->world.clock_us)
            answer_at(s, i);
        else if (chance_of(&s->chance, s->mood.progress))
            wend_call_progress(s->kept[i].call, "still at it");
}

/* ---- Letting go ---------------------------------------------------------- */

void free_run(struct sim *s, struct known *k)
{
    if (!k->handle)
        return;
    trace(s, "run %u is freed", k->place);
    k->cut |= !k->end_acked;
    wend_run_free(k->handle);
    k->handle = k->reader->handle = NULL;
}

static void act_free(struct sim *s)
{
    struct known *k = pick_run(s);

    if (k) {
        free_run(s, k);
        s->head.counters->freed++;
    }
}

static void act_steal(struct sim *s)
{
    struct known *k = pick_run(s);
    int64_t epoch, seq;

    if (!k || !k->stored_seq || k->stolen || s->runs_count < 2)
        return;
    if (s->store.real->claim(s->store.store, str_of(k->id), STORE_SEQ_ANY,
                             &epoch, &seq, NULL) == WEND_OK) {
        k->stolen = true;
        s->head.counters->stolen++;
        trace(s, "run %u is stolen", k->place);
    }
}

/* The new process has a reader of its own, and no hooks. The last words of the
 * old one may have made the store fail: then only a process with a fresh store
 * can resume the run, and must. */
static void take_up(struct sim *s, struct known *k)
{
    struct reader *r = reader_add(s, k, true);
    wend_run_options o = {.size = sizeof o};
    wend_status st;

    r->filter = o.filter = some_filter(s);
    r->style = (enum style)chance_below(&s->chance, READ_LISTEN);
    r->from = r->seq = k->stored_seq;
    k->hooked = k->cancel_sent = false;
    k->stop_seen_us = 0;
    post_without_owner(s, k);
    k->cancel_waits = cancel_waits(s, k);
    st = wend_run_resume(s->agents[k->agent], k->id, &o, &k->handle, NULL);
    trace(s, "run %u goes on after %lld: %s", k->place,
          (long long)k->stored_seq, wend_status_name(st));
    k->left = st != WEND_OK;
    if (k->left) {
        if (!(st == WEND_E_NOMEM && s->head.fault.hit) &&
            !(st == WEND_E_STORE && s->store.failed))
            broken(s, LAW_END, "run %u: resume says %s", k->place,
                   wend_status_name(st));
        s->readers_count--;
        return;
    }
    k->cut = false;
    k->reader = r;
    r->handle = k->handle;
    s->head.counters->crashed++;
}

/* The process of a run dies; another one goes on. */
static void act_crash(struct sim *s)
{
    struct known *k = pick_run(s);

    if (!k || !k->stored_seq || k->end_acked || k->stolen || s->store.failed ||
        s->down || k->handle->error.status != WEND_OK ||
        s->readers_count == READERS_MAX)
        return;
    k->reader->orphan = true;
    free_run(s, k);
    store_forget(&s->store, k);
    /* Its last word, if that was kept, may have been its end. */
    if (!k->end_acked)
        take_up(s, k);
}

bool goes_on(const struct sim *s, const struct known *k)
{
    if (k->left)
        return !k->stolen;
    return k->handle && k->stored_seq && !k->end_acked && !k->stolen &&
           (k->handle->error.status == WEND_OK ||
            (k->handle->error.status == WEND_E_STORE && s->store.failed));
}

bool runtime_begin(struct sim *s)
{
    wend_runtime_options o = {.size = sizeof o,
                              .store = s->store.store,
                              .alloc = fault_alloc,
                              .alloc_ctx = &s->head.fault};
    uint64_t fail_at = s->head.fault.fail_at;
    wend_status st;

    s->head.fault.fail_at = 0;
    st = rt_new(&o, &s->world.env, &s->rt, NULL);
    s->head.fault.fail_at = fail_at;
    if (st == WEND_OK)
        make_agents(s);
    return st == WEND_OK;
}

/* The order of releases must not matter. */
void let_go_of_all(struct sim *s)
{
    bool handles_first = chance_of(&s->chance, 500);

    if (!handles_first) {
        wend_runtime_free(s->rt);
        s->rt = NULL;
    }
    for (uint32_t i = 0; i < s->runs_count; i++)
        free_run(s, &s->runs[i]);
    for (uint32_t i = 0; i < s->readers_count; i++) {
        wend_run_free(s->readers[i].handle);
        s->readers[i].handle = NULL;
    }
    wend_agent_free(s->agents[0]);
    wend_agent_free(s->agents[1]);
    if (handles_first)
        wend_runtime_free(s->rt);
    s->rt = NULL;
}

/* The process dies with all its runs, perhaps because its disk did; another
 * one opens the store and goes on. */
void act_reboot(struct sim *s)
{
    bool mine[KNOWN_MAX] = {false};
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->runs_count; i++)
        count += mine[i] = goes_on(s, &s->runs[i]);
    if (s->readers_count + count > READERS_MAX)
        return;
    trace(s, "the process dies");
    s->head.counters->reboots++;
    for (uint32_t i = 0; i < s->readers_count; i++)
        s->readers[i].orphan |= !s->readers[i].ended;
    let_go_of_all(s);
    while (s->kept_count)
        answer_at(s, s->kept_count - 1);
    store_crash(&s->store);
    s->down = false;
    if (!runtime_begin(s))
        abort();
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (mine[i] && !s->runs[i].end_acked)
            take_up(s, &s->runs[i]);
}

static void act_jump(struct sim *s)
{
    s->world.clock_us += (int64_t)chance_below(&s->chance, 3000) * 1000;
    if (chance_of(&s->chance, 300))
        s->world.ahead_us +=
            (int64_t)chance_below(&s->chance, 2000000) - 1000000;
    if (chance_of(&s->chance, 50)) /* by hours */
        s->world.ahead_us +=
            ((int64_t)chance_below(&s->chance, 20000) - 10000) * 1000000;
}

static void act_nomem(struct sim *s)
{
    if (!s->head.fault.fail_at)
        s->head.fault.fail_at =
            s->head.fault.count + 1 + chance_below(&s->chance, 300);
}

/* One step's worth of what a host might do. */
void act(struct sim *s)
{
    const struct mood *m = &s->mood;
    const struct {
        uint32_t permille;
        void (*act)(struct sim *s);
    } acts[] = {
        {m->runs > 1 ? 60 : 0, act_start},
        {m->say, act_say},
        {m->pause, act_pause},
        {m->cancel, act_cancel},
        {m->approve, act_approve},
        {m->inbox, act_inbox},
        {m->free_run, act_free},
        {m->steal, act_steal},
        {m->crash, act_crash},
        {m->reboot, act_reboot},
        {m->storm, act_storm},
        {m->fork, act_fork},
        {m->retry, act_retry},
        {m->jump, act_jump},
        {m->nomem, act_nomem},
        {m->calm ? 0 : 8, act_follow},
        {m->calm ? 0 : 6, act_listen},
    };

    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (acts[i].permille && chance_of(&s->chance, acts[i].permille))
            acts[i].act(s);
    act_answer(s);
}

/* A world that answers, so that every run can end. */
void act_kindly(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++) {
        struct known *k = &s->runs[i];

        if (!k->handle || k->handle->over || k->handle->error.status != WEND_OK)
            continue;
        if (k->handle->turn.paused)
            wend_run_continue(k->handle);
        answer_approvals(s, k);
    }
    if (!s->down && chance_of(&s->chance, 100))
        answer_children(s);
    act_answer(s);
}

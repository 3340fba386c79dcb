/*
 * run.c - runs as the host sees them: started, read, told, freed.
 */
#include "lib/otel/otel.h"
#include "lib/plan/action.h"
#include "lib/run/call.h"
#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/utf8.h"
#include "core/turn/messages.h"
#include "lib/plan/plan.h"
#include "lib/run/child.h"

/* ---- Life ---------------------------------------------------------------- */

static void on_timer(struct timer_node *t)
{
    struct run_timer *timer = container_of(t, struct run_timer, node);
    struct input in = {
        .kind = IN_TIMER, .timer = timer->kind, .ask = timer->ask};

    shell_input(timer->run, &in);
}

struct wend_run *run_new(wend_runtime *rt, wend_error *err)
{
    struct wend_run *r = mem_zalloc(&rt->mem, sizeof *r);

    if (!r) {
        fail_nomem(err);
        return NULL;
    }
    r->magic = RUN_MAGIC;
    r->process = rt->process;
    r->mailbox = rt->mailbox;
    mailbox_ref(r->mailbox);
    r->rt = rt;
    r->mem = rt->mem;
    r->arena.mem = &rt->mem;
    pack_init(&r->pack, &rt->mem);
    r->cancel_post.kind = POST_CANCEL;
    r->sent_tail = &r->sent;
    turn_init(&r->turn);
    for (int i = 0; i < TIMERS; i++) {
        r->timers[i].run = r;
        r->timers[i].kind = (enum timer)i;
        r->timers[i].node.fire = on_timer;
    }
    r->next = rt->runs;
    r->prev = &rt->runs;
    if (r->next)
        r->next->prev = &r->next;
    rt->runs = r;
    return r;
}

void run_live(struct wend_run *r)
{
    r->rt->live++;
    if (!r->rt->inbox_timer.place)
        timer_set(&r->rt->timers, &r->rt->inbox_timer,
                  rt_after(r->rt, INBOX_POLL_MS));
}

static void drop_dirty(struct wend_run *r)
{
    struct wend_run **link = &r->rt->dirty;

    while (r->dirty && *link != r)
        link = &(*link)->dirty_next;
    if (r->dirty)
        *link = r->dirty_next;
    r->dirty = false;
}

/* A cancel from another thread may still be in the mail. */
static void drop_cancel(struct wend_run *r)
{
    struct mailbox *b = r->rt->mailbox;

    if (!atomic_load(&r->cancel_posted))
        return;
    pthread_mutex_lock(&b->lock);
    for (struct post **link = &b->first; *link; link = &(*link)->next)
        if (*link == &r->cancel_post) {
            *link = r->cancel_post.next;
            break;
        }
    b->tail = &b->first;
    while (*b->tail)
        b->tail = &(*b->tail)->next;
    pthread_mutex_unlock(&b->lock);
}

/* A run that ran out of memory is still ours, unless it never reached the
 * store; one that another owner has claimed, or whose store failed, must not be
 * touched. */
static bool may_write(const struct wend_run *r)
{
    return r->rt->failed.status == WEND_OK &&
           (r->error.status == WEND_OK ||
            (r->error.status == WEND_E_NOMEM && r->born));
}

/* Deltas that were shown but not packed go to the store, with the status that
 * the run has no owner any more. */
static void park(struct wend_run *r)
{
    if (r->over || !r->agent || r->turn.phase == PH_NEW)
        return;
    r->rt->live--;
    r->parked = true;
    if (!may_write(r))
        return;
    if (!r->open)
        r->open = batch_new(r);
    if (r->open && r->error.status == WEND_OK)
        batch_pack(r->open, &r->pack);
}

unsigned run_mode(const wend_run_options *o)
{
    return (o->hook ? RUN_HOOKS : 0u) | (o->plan ? RUN_PLANS : 0u);
}

struct wend_run *run_of(wend_agent *agent, const wend_run_options *o,
                        wend_error *err)
{
    struct wend_run *r = run_new(agent->rt, err);

    if (!r)
        return NULL;
    r->agent = agent;
    agent->runs++;
    r->mode = run_mode(o);
    r->hook = o->hook;
    r->hook_ctx = o->hook_ctx;
    r->shown.filter = o->filter;
    return r;
}

/* Releases everything that belongs to the runtime. */
void run_detach(struct wend_run *r)
{
    wend_runtime *rt = r->rt;

    park(r);
    drop_dirty(r);
    if (may_write(r))
        shell_submit(r);
    batch_free(r->open);
    r->open = NULL;
    lease_end(&r->lease); /* after the status that it is released */
    for (struct batch *b = r->sent; b; b = b->next)
        b->run = NULL;
    drop_cancel(r);
    calls_drop(r);
    asks_drop(r);
    learned_forget(r);
    trace_drop(r);
    children_drop(r);
    if (r->session)
        r->session->ops->close(r->session);
    reply_free(&r->reply);
    tagged_free(r);
    for (int i = 0; i < TIMERS; i++)
        timer_clear(&rt->timers, &r->timers[i].node);
    timer_clear(&rt->timers, &r->pack_timer);
    pack_free(&r->pack);
    replay_free(r);
    show_free(r);
    arena_free(&r->arena);
    if (r->agent)
        agent_release(r->agent);
    assert(!r->dirty && !r->open); /* the runtime's list would keep it */
    *r->prev = r->next;
    if (r->next)
        r->next->prev = r->prev;
    memset(&r->answer, 0, sizeof r->answer);
    kept_unref(r->hook_kept);
    r->hook_kept = NULL;
    r->session = NULL;
    r->agent = NULL;
    r->replying = false;
    r->rt = NULL;
}

void run_drop(struct wend_run *r)
{
    struct mem m = r->mem;
    struct mailbox *box = r->mailbox;

    if (r->rt)
        run_detach(r);
    r->magic = 0;
    mem_free(&m, r);
    mailbox_unref(box);
}

/* ---- Options ------------------------------------------------------------- */

wend_status run_options(const wend_run_options *options, wend_run_options *o,
                        struct kept **hook, wend_error *err)
{
    *hook = NULL;
    if (!OPTIONS_TAKE(o, wend_run_options, hook_ctx, options))
        return fail(err, WEND_E_INVAL, "run: options.size is wrong");
    o->size = sizeof *o;
    return kept_new(o->hook_release, o->hook_ctx, hook, err);
}

wend_status run_give(wend_status s, wend_run **out, struct kept *hook)
{
    if (s == WEND_OK)
        (*out)->hook_kept = kept_ref(hook);
    kept_unref(hook);
    return s;
}

/* ---- Starting ------------------------------------------------------------ */

static wend_status check_start(const wend_agent *a, wend_str prompt,
                               const struct run_past *past, wend_run **out,
                               wend_error *err)
{
    wend_status s;

    if (!a || !out)
        return fail(err, WEND_E_INVAL, "run: agent or out is NULL");
    s = agent_enter(a, "run", err);
    if (s == WEND_OK)
        s = rt_check_store(a->rt, err);
    if (s != WEND_OK)
        return s;
    if (!prompt.ptr && !(past && past->asked))
        return fail(err, WEND_E_INVAL, "run: prompt is NULL");
    if (prompt.len > BLOB_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "run: the prompt is over %d bytes",
                    BLOB_BYTES_MAX);
    return WEND_OK;
}

static wend_status fill_start(struct wend_run *r, const wend_run_options *o,
                              const struct run_past *past, wend_ev_run_start *e,
                              wend_error *err)
{
    static const struct run_past none;
    const wend_agent *a = r->agent;
    wend_status s;

    if (!past)
        past = &none;
    e->agent = a->name;
    e->model = past->model.ptr ? arena_str(&r->arena, past->model) : a->model;
    e->cwd = past->cwd.ptr ? past->cwd : a->cwd;
    e->limits = past->limits ? *past->limits : a->limits;
    e->config_json =
        past->config_json.ptr ? past->config_json : a->configs[r->mode]->json;
    e->messages_json = agent_blank(a, past->messages_json, &r->arena);
    e->past_parts =
        messages_parts(e->messages_json, &r->arena, &e->past_parts_count);
    e->follows = past->follows;
    e->past_labels_json = past->labels_json;
    e->past_refused_json = past->refused_json;
    run_name(r, o);
    e->user = r->birth.user;
    e->session = r->birth.session;
    e->correlation_id = r->correlation;
    s = run_limits_lower(&o->limits, &e->limits, err);
    if (s == WEND_OK)
        s = run_name_check(&r->arena, o, &e->labels_json, err);
    return s;
}

/* What the listing shows; strings live as long as the run. */
static void fill_birth(struct wend_run *r, const wend_ev_run_start *e)
{
    r->birth = (struct store_birth){
        .agent = e->agent,
        .model = e->model,
        .prompt = arena_str(&r->arena, store_prompt(e->prompt)),
        .user = e->user,
        .session = e->session,
        .parent = e->parent_run,
        .started_us = shell_now(r),
    };
    r->epoch = 1;
}

static wend_status fill_compact(struct wend_run *r, const struct plan *plan,
                                const wend_run_options *o, struct input *in,
                                wend_error *err)
{
    wend_str focus = str_of(o->compact);

    if (!o->compact)
        return WEND_OK;
    if (plan)
        return fail(err, WEND_E_INVAL,
                    "run: a plan has no conversation to compact");
    if (focus.len > FOCUS_BYTES_MAX || utf8_valid_len(focus) != focus.len)
        return fail(err, WEND_E_INVAL,
                    "run: options.compact is over %d bytes, or not UTF-8",
                    FOCUS_BYTES_MAX);
    in->compact = agent_blank(r->agent, focus, &r->arena);
    return WEND_OK;
}

/* Those of the prompt, and the bytes of those of the past. */
static wend_status take_parts(struct wend_run *r, const struct plan *plan,
                              const wend_run_options *o,
                              const struct run_past *past, wend_ev_run_start *e,
                              struct input *in, wend_error *err)
{
    const struct model_use *model = r->agent->configs[r->mode]->models;
    const struct parts_given given = {
        .parts = o->parts,
        .count = o->parts_count,
        .agent = r->agent,
        .model = plan ? NULL : model, /* its actions may ask others */
        .refused = past ? past->refused : 0};
    wend_status s = parts_take(&given, &r->arena, &in->parts, err);

    e->parts = in->parts.list;
    e->parts_count = in->parts.count;
    in->blobs = past ? past->blobs : NULL;
    return s;
}

wend_status run_begin(struct wend_run *r, wend_str prompt,
                      const struct plan *plan, const wend_run_options *o,
                      const struct run_past *past, wend_error *err)
{
    struct buf text = {.mem = &r->rt->mem};
    wend_ev_run_start e;
    struct input in = {.kind = IN_START, .start = &e};
    wend_status s;

    memset(&e, 0, sizeof e);
    s = fill_start(r, o, past, &e, err);
    if (s == WEND_OK)
        s = fill_compact(r, plan, o, &in, err);
    if (s == WEND_OK && !r->child)
        s = take_parts(r, plan, o, past, &e, &in, err);
    if (s == WEND_OK && !r->child)
        s = run_context(r, &e.context_json, err);
    if (r->child) {
        child_fill_start(r->child, &e);
        e.parts = past->parts;
        e.parts_count = past->parts_count;
        e.past_refused_json =
            turn_refusals_text(&r->child->parent->turn, &r->arena);
    }
    r->correlation = arena_str(&r->arena, e.correlation_id);
    in.repaired = utf8_repair(&text, prompt);
    in.hides = run_hides(r);
    e.prompt = agent_blank(r->agent, buf_view(&text), &r->arena);
    in.learned_ms = plan_fill_start(r, plan, !r->child, &e);
    if (s == WEND_OK) {
        fill_birth(r, &e);
        in.run = str_of(r->id);
        r->session = r->agent->driver->ops->open(r->agent->driver, r);
        if (!r->session || text.failed || r->arena.failed)
            s = fail_nomem(err);
    }
    if (s == WEND_OK) {
        lease_begin(&r->lease, r->rt->store, r->rt, in.run);
        run_live(r);
        run_inherit_troubles(r);
        if (!plan)
            run_warn_tools(r);
        shell_input(r, &in);
        if (r->error.status != WEND_OK) {
            r->rt->live -= r->turn.phase == PH_NEW;
            s = fail(err, r->error.status, "%s", r->error.message);
        }
    }
    buf_free(&text);
    return s;
}

wend_status run_start(wend_agent *agent, wend_str prompt,
                      const struct plan *plan, const wend_run_options *o,
                      const struct run_past *past, wend_run **out,
                      wend_error *err)
{
    struct wend_run *r;
    wend_status s = check_start(agent, prompt, past, out, err);

    if (s == WEND_OK)
        s = agent_config(agent, run_mode(o), err);
    if (s == WEND_OK) /* a config of the past is checked where it is made */
        s = agent_fits(agent, run_mode(o),
                       !plan && !(past && past->config_json.ptr), err);
    if (s != WEND_OK)
        return s;
    r = run_of(agent, o, err);
    if (!r)
        return WEND_E_NOMEM;
    s = run_make_id(r, o->id, err);
    if (s == WEND_OK)
        s = run_begin(r, prompt, plan, o, past, err);
    if (s == WEND_OK) {
        drop_dirty(r);
        shell_submit(r); /* the caller finds its id in the store */
        if (r->error.status != WEND_OK)
            s = fail(err, r->error.status, "%s", r->error.message);
    }
    if (s != WEND_OK) {
        run_drop(r);
        return s;
    }
    *out = r;
    return WEND_OK;
}

wend_status wend_run_start(wend_agent *agent, wend_str prompt,
                           const wend_run_options *options, wend_run **out,
                           wend_error *err)
{
    struct kept *hook;
    wend_run_options o;
    wend_status s = run_options(options, &o, &hook, err);

    if (s == WEND_OK)
        s = o.messages || o.client_tools
                ? run_start_told(agent, prompt, &o, out, err)
                : run_start(agent, prompt, NULL, &o, NULL, out, err);
    return run_give(s, out, hook);
}

/* ---- Reading ------------------------------------------------------------- */

wend_status run_enter(struct wend_run *r)
{
    wend_status s;

    if (!r)
        return WEND_E_INVAL;
    if (r->magic != RUN_MAGIC || !r->rt)
        return WEND_E_MISUSE;
    s = rt_enter(r->rt);
    if (s == WEND_OK)
        memset(&r->said, 0, sizeof r->said);
    return s;
}

/* For what waits, pumps or calls back; rt_end follows. */
static wend_status begin(struct wend_run *r)
{
    wend_status s = run_enter(r);

    if (s == WEND_OK && rt_begin(r->rt) != WEND_OK)
        s = fail(&r->said, WEND_E_MISUSE, "not from inside a callback");
    return s;
}

static bool is_drained(const struct wend_run *r)
{
    if (r->player)
        return replay_over(r);
    return r->over && !r->shown.count && !r->shown.lagged &&
           r->durable_seq == r->turn.seq &&
           !r->children; /* an abandoned child has an end to write */
}

wend_status run_poll(struct wend_run *r, const wend_event **event)
{
    show_visible(r);
    *event = r->shown.listen ? NULL : show_next(r);
    if (*event)
        return WEND_OK;
    if (r->rt->failed.status != WEND_OK)
        r->error = r->rt->failed;
    if (r->error.status != WEND_OK)
        return r->error.status;
    return is_drained(r) ? WEND_END : WEND_AGAIN;
}

/* Waits until end_us for something to be said about the run. `alone`: the
 * caller answers no approval, so that there may be nothing to wait for. */
static wend_status next(struct wend_run *r, int64_t end_us, bool alone,
                        const wend_event **event)
{
    wend_runtime *rt = r->rt;
    bool pumped = false;
    wend_status s;

    while ((s = run_poll(r, event)) == WEND_AGAIN && !run_is_doomed(r) &&
           !(alone && run_waits_in_vain(r))) {
        int64_t left_us = end_us - rt_clock(rt);
        int64_t left_ms = left_us > 0 ? (left_us - 1) / 1000 + 1 : 0;

        if (!left_ms && pumped)
            break;
        rt_pump(rt, left_ms > INT32_MAX ? -1 : (int)left_ms);
        rt_bury(rt, r);
        pumped = true;
    }
    return s;
}

/* Lent strings are gone if the run was freed meanwhile. */
static wend_status end(struct wend_run *r, wend_status s)
{
    bool gone = run_is_doomed(r);

    return rt_end(r->rt) && !gone ? s : WEND_E_MISUSE;
}

/* A child may go while the runtime is pumped. */
static wend_status begin_wait(wend_run *r)
{
    wend_status s = run_enter(r);

    return s == WEND_OK && r->child ? WEND_E_MISUSE : begin(r);
}

static wend_status give(wend_run *r, wend_status s, const wend_event **event)
{
    s = end(r, s);
    if (s != WEND_OK)
        *event = NULL;
    return s;
}

wend_status wend_run_poll(wend_run *r, const wend_event **event)
{
    wend_status s = event ? begin(r) : WEND_E_INVAL;

    return s == WEND_OK ? give(r, run_poll(r, event), event) : s;
}

wend_status wend_run_next(wend_run *r, const wend_event **event)
{
    wend_status s = event ? begin_wait(r) : WEND_E_INVAL;

    return s == WEND_OK ? give(r, next(r, INT64_MAX, false, event), event) : s;
}

wend_status wend_run_next_for(wend_run *r, uint32_t timeout_ms,
                              const wend_event **event)
{
    wend_status s = event ? begin_wait(r) : WEND_E_INVAL;

    return s == WEND_OK
               ? give(r, next(r, rt_after(r->rt, timeout_ms), false, event),
                      event)
               : s;
}

wend_status wend_run_listen_release(wend_run *r, wend_listen_fn fn, void *ctx,
                                    wend_release_fn release)
{
    struct kept *kept;
    wend_status s = kept_new(release, ctx, &kept, NULL);

    if (s == WEND_OK)
        s = run_enter(r);
    if (s != WEND_OK) {
        kept_unref(kept);
        return s;
    }
    show_listen(r, fn, ctx, kept);
    return r->error.status;
}

wend_status wend_run_listen(wend_run *r, wend_listen_fn fn, void *ctx)
{
    return wend_run_listen_release(r, fn, ctx, NULL);
}

wend_status wend_run_wait(wend_run *r, wend_str *text)
{
    const wend_event *ev;
    wend_status s = text ? begin_wait(r) : WEND_E_INVAL;

    if (s != WEND_OK)
        return s;
    while ((s = next(r, INT64_MAX, true, &ev)) == WEND_OK)
        continue;
    if (s == WEND_AGAIN && !run_is_doomed(r))
        s = fail(&r->said, WEND_E_MISUSE,
                 "the run waits for an approval that nothing can give: its "
                 "store is in memory and it has no listener or hook; read its "
                 "events with wend_run_next and call wend_run_approve, or set "
                 "approve to WEND_APPROVE_DENY or WEND_APPROVE_ALL");
    *text = r->answer;
    s = end(r, s == WEND_END ? WEND_OK : s);
    if (s == WEND_E_MISUSE)
        *text = STR_NONE;
    return s;
}

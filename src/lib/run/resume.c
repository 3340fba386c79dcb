/*
 * resume.c - resumes a run from its log.
 *
 * turn_apply folds the log, as in a live run; the agent adds only the driver
 * and the functions of its tools. Then the run is claimed; a resume that fails
 * leaves the log and the list as they were.
 *
 * The log of an imported run is not trusted: it gives the history, and the
 * agent the rest. run_resume says so, and replaces the config.
 */
#include "lib/run/run.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "lib/run/call.h"
#include "lib/otel/otel.h"
#include "lib/plan/plan.h"
#include "lib/run/child.h"

/* A log that is being folded into a run's state. */
struct fold {
    struct wend_run *r;
    struct log_reader log;
    struct recall recall;
    int64_t n;             /* newest delta after turn.seq */
    uint32_t models_max;   /* that the agent can ask */
    int64_t after;         /* what the reader has had; 0 = all so far */
    wend_ev_limits limits; /* from now on, where not 0 ... */
    bool limited;          /* ... which one is */
    bool redefined;        /* a child whose parent was changed */
    bool ended;            /* a run that is over is fine, too */
    bool foreign;          /* the log has no authority */
    uint32_t take;         /* WEND_FORK_ bits: what the agent says instead */
};

/* What the log has of a message that was open at its end. */
static wend_status fold_delta(struct fold *f, const wend_event *ev)
{
    struct wend_run *r = f->r;

    f->n = ev->n;
    if (ev->time_us > r->last_us)
        r->last_us = ev->time_us;
    if (r->turn.phase == PH_MODEL && ev->type == WEND_TEXT_DELTA)
        reply_text(&r->reply, ev->u.text_delta.text, ev->time_us);
    else if (r->turn.phase == PH_MODEL && ev->type == WEND_THINKING_DELTA)
        reply_thinking(&r->reply, ev->u.text_delta.text, ev->time_us);
    return r->reply.failed ? WEND_E_NOMEM : WEND_OK;
}

/* What children inherit, and the model of its first calls. */
static void note_start(struct fold *f, const wend_ev_run_start *e)
{
    struct wend_run *r = f->r;

    if (f->foreign)
        return;
    r->correlation = arena_str(&r->arena, e->correlation_id);
    r->birth.model = arena_str(&r->arena, e->model);
    r->birth.user = arena_str(&r->arena, e->user);
    r->birth.session = arena_str(&r->arena, e->session);
}

static void note_fork(struct fold *f, const wend_ev_run_fork *e)
{
    struct wend_run *r = f->r;

    if (f->foreign)
        return;
    if (e->correlation_id.ptr)
        r->correlation = arena_str(&r->arena, e->correlation_id);
    if (e->user.ptr)
        r->birth.user = arena_str(&r->arena, e->user);
    if (e->session.ptr)
        r->birth.session = arena_str(&r->arena, e->session);
}

/* It has not answered yet. False: out of memory. */
static bool other_model(struct fold *f, wend_str model)
{
    struct wend_run *r = f->r;

    recall_free(&f->recall);
    r->session->ops->close(r->session);
    r->session = r->agent->driver->ops->open(r->agent->driver, r);
    r->birth.model = arena_str(&r->arena, model);
    return r->session != NULL;
}

static wend_status fold_event(void *ctx, const wend_event *ev)
{
    struct fold *f = ctx;
    struct wend_run *r = f->r;
    struct keep keep = {&r->arena, NULL};
    wend_str model = ev->type == WEND_RUN_FORK     ? ev->u.run_fork.model
                     : ev->type == WEND_RUN_RESUME ? ev->u.run_resume.model
                                                   : STR_NONE;

    trace_event(r, ev, true);
    if (ev->n)
        return fold_delta(f, ev);
    if ((ev->type == WEND_RUN_START) != (ev->seq == 1))
        return WEND_E_CORRUPT;
    recall_before(&f->recall, ev);
    if (!f->foreign)
        learned_note(r, ev);
    if (model.ptr && !other_model(f, model))
        return WEND_E_NOMEM;
    if (ev->type == WEND_MODEL_START || ev->type == WEND_MODEL_RETRY)
        reply_again(&r->reply, ev->time_us);
    turn_apply(&r->turn, ev, &keep);
    r->arena.failed |= !recall_after(&f->recall, ev);
    if (ev->type == WEND_RUN_START)
        note_start(f, &ev->u.run_start);
    else if (ev->type == WEND_RUN_FORK)
        note_fork(f, &ev->u.run_fork);
    if (ev->type == WEND_RUN_END)
        run_note_end(r, ev);
    f->n = 0;
    return r->arena.failed ? WEND_E_NOMEM : WEND_OK;
}

/* A run whose schemas cannot be checked any more does not continue. */
static wend_status check_schemas(const struct config *c, const char *id,
                                 uint32_t take, wend_error *err)
{
    const struct {
        const struct tool *tools;
        size_t count;
        uint32_t take; /* that replaces them */
    } rows[] = {{c->tools, c->tools_count, WEND_FORK_TOOLS | WEND_FORK_CONFIG},
                {c->endpoints, c->endpoints_count, WEND_FORK_CONFIG}};

    if (c->schema_wrong.ptr && !(take & WEND_FORK_CONFIG))
        return fail(err, WEND_E_INVAL,
                    "run %s: this version cannot check answers by the schema "
                    "in its log: %s; resume it with an agent file (-a)",
                    id, c->schema_wrong.ptr);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (size_t i = 0; !(take & rows[k].take) && i < rows[k].count; i++)
            if (rows[k].tools[i].schema_wrong.ptr)
                return fail(err, WEND_E_INVAL,
                            "run %s: this version cannot check the arguments "
                            "of tool '%.*s' by the schema in its log: %s; "
                            "resume it with other tools (-t, --tools, --mcp) "
                            "or an agent file (-a)",
                            id, (int)rows[k].tools[i].name.len,
                            rows[k].tools[i].name.ptr,
                            rows[k].tools[i].schema_wrong.ptr);
    return WEND_OK;
}

wend_status config_usable(const struct config *c, const char *id, uint32_t take,
                          uint32_t models, wend_error *err)
{
    if (c->models_count > models &&
        !(take & (WEND_FORK_MODEL | WEND_FORK_CONFIG)))
        return fail(err, WEND_E_INVAL,
                    "run %s was started with %u models, the agent has %u", id,
                    c->models_count, models);
    return check_schemas(c, id, take, err);
}

/* All that the store has and the run does not know yet. */
static wend_status fold_log(struct fold *f, wend_error *err)
{
    struct wend_run *r = f->r;
    wend_status s;

    if (!r->turn.seq)
        past_feed(r->agent->past, r->id, &f->log);
    s = log_read_more(&f->log, r->id, err);
    if (s != WEND_OK)
        return s;
    if (r->turn.phase == PH_END && !f->ended)
        return fail(err, WEND_E_INVAL,
                    "run %s is over; there is nothing to resume", r->id);
    if (r->turn.phase == PH_NEW)
        return fail(err, WEND_E_NOTFOUND, "there is no run %s", r->id);
    if (!str_is(r->turn.run, r->id))
        return fail(err, WEND_E_CORRUPT,
                    "run %s is a fork whose own events are missing", r->id);
    return r->turn.phase == PH_END
               ? WEND_OK
               : config_usable(r->turn.config, r->id,
                               f->redefined ? WEND_FORK_CONFIG : f->take,
                               f->models_max, err);
}

/* ---- Claiming ------------------------------------------------------------ */

/* A live run of this runtime cannot be resumed. `but`: the run that resumes, or
 * NULL. */
static wend_status check_ours(const wend_runtime *rt, const char *id,
                              const struct wend_run *but, wend_error *err)
{
    for (const struct wend_run *r = rt->runs; r; r = r->next)
        if (r != but && !strcmp(r->id, id) && r->agent && !r->over &&
            r->error.status == WEND_OK)
            return fail(err, WEND_E_BUSY, "run %s is under way in this process",
                        id);
    return WEND_OK;
}

static wend_status check_resume(const wend_agent *a, const char *id,
                                wend_run **out, wend_error *err)
{
    wend_status s;

    if (!a || !out || !id || !run_id_valid(str_of(id)))
        return fail(
            err, WEND_E_INVAL,
            "resume: agent or out is NULL, or id is not the id of a run");
    s = agent_enter(a, "resume", err);
    if (s == WEND_OK)
        s = rt_check_store(a->rt, err);
    return s == WEND_OK ? check_ours(a->rt, id, NULL, err) : s;
}

/* Reads what was written since the last look. */
static wend_status catch_up(struct fold *f, int64_t seq, wend_error *err)
{
    struct wend_run *r = f->r;
    int64_t had = r->turn.seq;
    wend_status s = fold_log(f, err);

    r->over = r->turn.phase == PH_END;
    if (s == WEND_OK && (r->turn.seq == had || r->turn.seq < seq))
        s = fail(err, WEND_E_CORRUPT,
                 "the log of run %s is damaged at event %lld", r->id,
                 (long long)r->turn.seq + 1);
    return s;
}

/* Claims the run once all of its log is known: reading can fail, and a resume
 * that fails leaves the run as it is. */
static wend_status claim(struct fold *f, wend_error *err)
{
    struct wend_run *r = f->r;
    wend_store *store = r->rt->store;
    int64_t seq = 0;
    wend_status s;

    assert(!r->open);
    r->open = batch_new(r); /* release needs it */
    if (!r->open)
        return fail_nomem(err);
    while ((s = lease_claim(&r->lease, store, r->rt, str_of(r->id), r->turn.seq,
                            &r->epoch, &seq, err)) == WEND_AGAIN) {
        s = catch_up(f, seq, err);
        if (s != WEND_OK || r->over)
            break;
    }
    if (s != WEND_OK || r->over) {
        batch_free(r->open);
        r->open = NULL;
        return s;
    }
    r->born = r->resumed = true;
    run_live(r);
    return WEND_OK;
}

/* What the agent says instead of the log from here on. */
static wend_status take_over(struct fold *f, wend_ev_run_resume *over,
                             wend_error *err)
{
    struct wend_run *r = f->r;
    const struct config *ours;
    wend_status s;

    if (f->take & WEND_FORK_CONFIG && r->turn.config->plan_tool)
        r->mode |= RUN_PLANS;
    s = agent_config(r->agent, r->mode, err);
    if (s != WEND_OK)
        return s;
    ours = r->agent->configs[r->mode];
    over->imported = f->foreign;
    over->config_json =
        f->take & WEND_FORK_CONFIG
            ? ours->json
            : config_mix(r->turn.config->json, ours->json,
                         f->take | (f->limited ? WEND_FORK_LIMITS : 0),
                         &r->arena);
    if (str_eq(over->config_json, r->turn.config->json))
        over->config_json = STR_NONE;
    if (f->take & (WEND_FORK_MODEL | WEND_FORK_CONFIG)) {
        over->model = r->agent->model;
        r->arena.failed |= !other_model(f, over->model);
    }
    if (f->take & WEND_FORK_LIMITS)
        over->limits = &r->agent->limits;
    return r->arena.failed ? fail_nomem(err) : WEND_OK;
}

/* A child follows the definition that its parent has of it by now. */
static wend_status redefine(struct fold *f, wend_ev_run_resume *over,
                            wend_error *err)
{
    wend_status s = child_over(f->r, over, err);

    if (s == WEND_OK && over->model.ptr && !other_model(f, over->model))
        s = fail_nomem(err);
    return s;
}

static wend_status first_step(struct fold *f, wend_error *err)
{
    struct wend_run *r = f->r;
    struct input in = {.kind = IN_RESUME, .epoch = r->epoch};
    wend_ev_run_resume over = {0};
    bool differs = f->take || f->foreign || f->limited || f->redefined;
    wend_status s = !differs       ? WEND_OK
                    : f->redefined ? redefine(f, &over, err)
                                   : take_over(f, &over, err);

    if (s != WEND_OK)
        return s;
    if (f->take || f->foreign || over.config_json.ptr || over.limits) {
        in.over = &over;
        in.hides = run_hides(r);
    }
    if (f->limited)
        in.limits = &f->limits;
    if (r->child && r->child->parent->turn.stop.outcome != WEND_OUTCOME_NONE)
        in.by = STR("parent"); /* nothing of it starts again */
    r->durable_seq = r->turn.seq;
    r->shown.seq = f->after ? f->after : r->turn.seq;
    r->shown.n = f->after ? INT64_MAX : f->n;
    r->shown.lagged = f->after != 0;
    if (r->turn.time_us > r->last_us)
        r->last_us = r->turn.time_us;
    r->replying = r->turn.phase == PH_MODEL;
    recall_lost(&f->recall);
    run_inherit_troubles(r);
    s = inbox_input(r, &in, err);
    r->replying = false; /* the next one begins anew */
    return s;
}

/* Releases a claimed run unchanged: nothing is added to its log, and the list
 * says what it said before. */
static void release(struct wend_run *r, const struct turn *before)
{
    r->turn = *before;
    if (r->over) /* by the step that is undone */
        run_live(r);
    r->over = false;
    memset(&r->error, 0, sizeof r->error);
    batch_clear(r->open);
}

static wend_status resume(struct fold *f, wend_error *err)
{
    struct wend_run *r = f->r;
    struct turn before;
    wend_status s;

    f->log = (struct log_reader){.store = r->rt->store,
                                 .mem = &r->rt->mem,
                                 .blob = log_text,
                                 .fn = fold_event,
                                 .ctx = f};
    f->recall.run = r;
    f->models_max = r->agent->configs[0]->models_count;
    reply_init(&r->reply, &r->rt->mem, 0);
    r->session = r->agent->driver->ops->open(r->agent->driver, r);
    if (!r->session)
        return fail_nomem(err);
    s = fold_log(f, err);
    r->over = r->turn.phase == PH_END;
    r->durable_seq = r->turn.seq;
    if (s == WEND_OK && !r->over)
        s = claim(f, err);
    before = r->turn;
    if (s == WEND_OK && !r->over) {
        s = first_step(f, err);
        if (s == WEND_OK && r->turn.limits.cost_nano)
            s = budget_check(r->turn.config, err);
        if (s != WEND_OK)
            release(r, &before);
    }
    recall_free(&f->recall);
    log_read_free(&f->log);
    return s;
}

static wend_status is_imported(struct wend_run *r, bool *yes, wend_error *err)
{
    struct arena a = {.mem = &r->rt->mem};
    wend_run_info *info = NULL;
    wend_status s = store_info(r->rt->store, r->id, &a, &info, err);

    *yes = s == WEND_OK && info->imported;
    arena_free(&a);
    return s;
}

/* An imported file may have a run with the id of a child that one of our runs
 * has not started yet. */
static wend_status check_child(struct wend_run *r, wend_error *err)
{
    bool imported;
    wend_status s = is_imported(r, &imported, err);

    return s == WEND_OK && imported && !r->child->parent->trusts
               ? fail(err, WEND_E_EXISTS,
                      "its id, %s, is that of an imported run", r->id)
               : s;
}

wend_status run_resume_child(struct wend_run *r, bool *found, wend_error *err)
{
    struct fold f = {.r = r,
                     .ended = true,
                     .redefined =
                         r->child->parent->turn.redefined && !r->child->forked};
    wend_status s = check_ours(r->rt, r->id, r, err);

    if (s == WEND_OK)
        s = check_child(r, err);
    if (s == WEND_OK)
        s = agent_config(r->agent, 0, err);
    if (s == WEND_OK)
        s = resume(&f, err);
    *found = s != WEND_E_NOTFOUND && s != WEND_E_EXISTS;
    r->over |= s != WEND_OK && !r->born; /* not claimed: nothing to release */
    return s;
}

wend_status run_resume(wend_agent *agent, const char *id, int64_t after,
                       const wend_run_options *o, wend_run **out,
                       wend_error *err)
{
    static const wend_ev_limits none;
    struct fold f = {.after = after};
    struct wend_run *r;
    wend_status s = check_resume(agent, id, out, err);

    if (s != WEND_OK)
        return s;
    if (o->take > 2 * WEND_FORK_PARAMS - 1 ||
        !run_limits(&o->limits, &f.limits))
        return fail(err, WEND_E_INVAL,
                    "resume: options.take or options.limits is wrong");
    f.limited = memcmp(&f.limits, &none, sizeof none) != 0;
    s = agent_config(agent, 0, err);
    if (s != WEND_OK)
        return s;
    r = run_of(agent, o, err);
    if (!r)
        return WEND_E_NOMEM;
    memcpy(r->id, id, RUN_ID_LEN);
    f.r = r;
    s = is_imported(r, &f.foreign, err);
    r->trusts = o->trust_log;
    f.take = f.foreign && !o->trust_log ? WEND_FORK_CONFIG | WEND_FORK_LIMITS
                                        : o->take;
    if (s == WEND_OK && f.foreign)
        run_name(r, o);
    if (s == WEND_OK)
        s = resume(&f, err);
    if (s != WEND_OK) {
        r->over |= !r->born; /* not claimed: nothing to release */
        run_drop(r);
        return s;
    }
    past_free(agent->past);
    agent->past = NULL;
    *out = r;
    return WEND_OK;
}

wend_status wend_run_resume(wend_agent *agent, const char *id,
                            const wend_run_options *options, wend_run **out,
                            wend_error *err)
{
    struct kept *hook;
    wend_run_options o;
    wend_status s = run_options(options, &o, &hook, err);

    if (s == WEND_OK)
        s = run_resume(agent, id, 0, &o, out, err);
    return run_give(s, out, hook);
}

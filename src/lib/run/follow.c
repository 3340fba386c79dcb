/*
 * follow.c - runs that begin with the past of a conversation: that of another
 * run, or messages of the host.
 *
 * The log of that run is folded as for a resume. Its messages are then part of
 * the new run's own log, in run_start: either run can be removed. Only blobs
 * are shared (event_write.c), and a store keeps those that an event refers to.
 * What was spent, decided or approved there does not count here; only the
 * labels of what it has read do.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/label.h"
#include "core/turn/messages.h"
#include "core/turn/verdict.h"
#include "lib/run/run.h"

struct follow {
    wend_agent *agent;
    const char *id;
    wend_str prompt;
    wend_run_options o;
    wend_run_info *info;
    struct arena arena;
    struct log_reader log;
    struct turn turn; /* as that run ended */
    wend_str cwd, user, session;
    struct run_past past;
    struct part_source from; /* parts that the caller adds */
    wend_error *err;
};

/* ---- Client-side tools of the options ------------------------------------ */

static wend_status take_clients(const wend_agent *agent,
                                const wend_run_options *o,
                                struct run_past *past, struct arena *a,
                                wend_error *err)
{
    if (!o->client_tools)
        return WEND_OK;
    if (o->plan)
        return fail(err, WEND_E_INVAL,
                    "run: no run follows one whose model writes plans: it "
                    "takes no client_tools");
    return agent_config_with(
        agent,
        past->config_json.ptr ? past->config_json
                              : agent->configs[run_mode(o)]->json,
        str_of(o->client_tools), a, &past->config_json, err);
}

/* ---- The run before it --------------------------------------------------- */

static wend_status fold_event(void *ctx, const wend_event *ev)
{
    struct follow *f = ctx;
    struct keep keep = {&f->arena, NULL};

    if (ev->n || ev->type == WEND_RUN_END)
        return WEND_OK;
    if (ev->type == WEND_RUN_START)
        f->cwd = arena_str(&f->arena, ev->u.run_start.cwd);
    turn_apply(&f->turn, ev, &keep);
    return f->arena.failed ? WEND_E_NOMEM : WEND_OK;
}

static wend_status check_info(const struct follow *f)
{
    if (f->info->child)
        return fail(f->err, WEND_E_INVAL,
                    "run %s is a child of run %.*s; continue that one", f->id,
                    (int)f->info->parent.len, f->info->parent.ptr);
    if (!f->info->ended_us)
        return fail(f->err, WEND_E_BUSY,
                    "run %s is not over: its status is %.*s; wait for its end, "
                    "or resume it",
                    f->id, (int)f->info->status.len, f->info->status.ptr);
    return WEND_OK;
}

static wend_status read_log(struct follow *f)
{
    struct keep keep = {&f->arena, NULL};
    wend_status s;

    f->log = (struct log_reader){.store = f->agent->rt->store,
                                 .mem = &f->agent->rt->mem,
                                 .blob = log_text,
                                 .fn = fold_event,
                                 .ctx = f};
    turn_init(&f->turn);
    past_feed(f->agent->past, f->id, &f->log);
    s = log_read_more(&f->log, f->id, f->err);
    if (s != WEND_OK)
        return s;
    if (!f->turn.config || f->turn.seq + 1 < f->info->seq)
        return fail(f->err, WEND_E_CORRUPT,
                    "the log of run %s is damaged at event %lld", f->id,
                    (long long)f->turn.seq + 1);
    if (f->turn.file_plan.ptr || f->turn.config->plan_tool)
        return fail(f->err, WEND_E_INVAL,
                    "run %s is a plan, which has no conversation to continue; "
                    "start a new run",
                    f->id);
    turn_settle(&f->turn, &keep);
    return f->arena.failed ? fail_nomem(f->err) : WEND_OK;
}

/* ---- What the new run has of it ------------------------------------------ */

/* What that run had, except for what is taken from the agent. */
static wend_status fill_config(struct follow *f, uint32_t take)
{
    const struct config *theirs = f->turn.config;
    const struct config *ours = f->agent->configs[run_mode(&f->o)];
    struct run_past *past = &f->past;

    if (!(take & WEND_FORK_LIMITS))
        past->limits = &f->turn.limits;
    if (take & WEND_FORK_CONFIG)
        return WEND_OK;
    past->cwd = f->cwd;
    past->config_json =
        config_mix(theirs->json, ours->json, take | TAKE_HOOKS, &f->arena);
    if (!(take & WEND_FORK_MODEL))
        past->model = theirs->models[0].name;
    return f->arena.failed ? fail_nomem(f->err) : WEND_OK;
}

static wend_str labels_of(struct follow *f)
{
    uint32_t labels = turn_labels(&f->turn, &f->agent->rt->mem);
    struct buf b = {.mem = f->arena.mem};

    if (f->info->imported)
        labels |= WEND_LABEL_UNTRUSTED_SOURCE;
    if (!labels)
        return STR_NONE;
    labels_add(&b, NULL, labels);
    return buf_keep(&b, &f->arena);
}

static int64_t max_history(const struct follow *f, uint32_t take)
{
    const struct config *ours = f->agent->configs[run_mode(&f->o)];
    int64_t most = take & WEND_FORK_CONFIG ? ours->max_history
                                           : f->turn.config->max_history;

    return f->prompt.len ? most : messages_most(f->turn.history, most);
}

/* With these the model has something to answer, unless it said the last. */
static bool ends_asked(const struct msg *newest)
{
    return newest && newest->role != ROLE_ASSISTANT;
}

/* Results of pending calls, and what else the caller adds to that past. */
static wend_status add_told(struct follow *f)
{
    wend_status s;

    if (!f->o.messages)
        return WEND_OK;
    f->from.agent = f->agent;
    f->from.store = f->agent->rt->store;
    f->from.blobs.arena = &f->arena;
    s = messages_continue(str_of(f->o.messages), part_told, &f->from, &f->arena,
                          &f->turn.history, f->err);
    f->past.blobs = f->from.blobs.first;
    f->past.asked = ends_asked(f->turn.history);
    return s;
}

static wend_status fill(struct follow *f)
{
    bool foreign = f->info->imported;
    uint32_t take = foreign && !f->o.trust_log
                        ? WEND_FORK_CONFIG | WEND_FORK_LIMITS
                        : f->o.take;
    uint32_t models = f->agent->configs[run_mode(&f->o)]->models_count;
    wend_status s = config_usable(f->turn.config, f->id, take, models, f->err);

    if (s == WEND_OK)
        s = fill_config(f, take);
    if (s != WEND_OK)
        return s;
    if (!f->o.user && !foreign)
        f->o.user = arena_str(&f->arena, f->info->user).ptr;
    if (!f->o.session && !foreign)
        f->o.session = arena_str(&f->arena, f->info->session).ptr;
    if (!f->o.compact && f->turn.fold) /* it had no further request */
        f->o.compact = str_or(f->turn.focus, "").ptr;
    f->past.follows = str_of(f->id);
    f->past.labels_json = labels_of(f);
    if (!foreign || f->o.trust_log)
        f->past.refused_json = turn_refusals_text(&f->turn, &f->arena);
    s = add_told(f);
    f->past.messages_json = messages_text(f->turn.history, max_history(f, take),
                                          MESSAGES_WHOLE, &f->arena);
    return s == WEND_OK && f->arena.failed ? fail_nomem(f->err) : s;
}

/* What the first model of the new run is known to refuse. */
static void note_refused(struct follow *f, const struct config *c)
{
    if (f->past.refused_json.ptr)
        f->past.refused = ~turn_media_of(&f->turn, c->models);
}

/* The agent's own config was checked when it was made. */
static wend_status check_config(struct follow *f)
{
    struct arena a = {.mem = f->arena.mem};
    struct config *c = NULL;
    wend_status s = take_clients(f->agent, &f->o, &f->past, &f->arena, f->err);

    if (s != WEND_OK)
        return s;

    if (!f->past.config_json.ptr) {
        note_refused(f, f->agent->configs[run_mode(&f->o)]);
        return WEND_OK;
    }
    s = config_parse(f->past.config_json, &a, &c, f->err);
    if (s == WEND_OK)
        s = frame_check(c, str_or(f->past.model, f->agent->model.ptr), f->err);
    if (s == WEND_OK && f->past.limits && f->past.limits->cost_nano)
        s = budget_check(c, f->err);
    if (s == WEND_OK)
        note_refused(f, c);
    arena_free(&a);
    return s;
}

static wend_status follow(struct follow *f, wend_run **out)
{
    wend_store *store = f->agent->rt->store;
    wend_status s = store_info(store, f->id, &f->arena, &f->info, f->err);

    if (s == WEND_OK)
        s = check_info(f);
    if (s == WEND_OK)
        s = agent_config(f->agent, run_mode(&f->o), f->err);
    if (s == WEND_OK)
        s = read_log(f);
    if (s == WEND_OK)
        s = fill(f);
    if (s == WEND_OK)
        s = check_config(f);
    if (s == WEND_OK)
        s = run_start(f->agent, f->prompt, NULL, &f->o, &f->past, out, f->err);
    if (s == WEND_OK) {
        past_free(f->agent->past);
        f->agent->past = NULL;
    }
    return s;
}

static wend_status check(const struct follow *f, wend_run **out)
{
    wend_status s;

    if (!f->agent || !out || !f->id || !run_id_valid(str_of(f->id)))
        return fail(
            f->err, WEND_E_INVAL,
            "follow: agent or out is NULL, or id is not the id of a run");
    s = agent_enter(f->agent, "follow", f->err);
    if (s == WEND_OK)
        s = rt_check_store(f->agent->rt, f->err);
    if (s != WEND_OK)
        return s;
    if (f->o.plan || f->o.take > 2 * WEND_FORK_PARAMS - 1)
        return fail(f->err, WEND_E_INVAL,
                    "follow: options.take is wrong, or plan is set: the past "
                    "is that of the run");
    return WEND_OK;
}

wend_status wend_run_follow(wend_agent *agent, const char *id, wend_str prompt,
                            const wend_run_options *options, wend_run **out,
                            wend_error *err)
{
    struct follow f = {.agent = agent, .id = id, .prompt = prompt, .err = err};
    struct kept *hook;
    wend_status s = run_options(options, &f.o, &hook, err);

    if (s == WEND_OK)
        s = check(&f, out);
    if (s == WEND_OK) {
        f.arena.mem = &agent->rt->mem;
        s = follow(&f, out);
        log_read_free(&f.log);
        arena_free(&f.arena);
    }
    return run_give(s, out, hook);
}

/* ---- Messages of the host ------------------------------------------------ */

/* The agent's own tools fit: see agent_fits. */
static wend_status check_room(const wend_agent *agent,
                              const struct run_past *past, struct arena *a,
                              wend_error *err)
{
    struct config *c = NULL;
    wend_status s;

    if (!past->config_json.ptr)
        return WEND_OK;
    s = config_parse(past->config_json, a, &c, err);
    return s == WEND_OK ? frame_check(c, agent->model, err) : s;
}

wend_status run_start_told(wend_agent *agent, wend_str prompt,
                           const wend_run_options *o, wend_run **out,
                           wend_error *err)
{
    struct run_past past = {0};
    const struct msg *newest = NULL;
    struct arena a = {0};
    struct part_source from = {.agent = agent, .blobs.arena = &a};
    int64_t most;
    wend_status s;

    if (!agent)
        return fail(err, WEND_E_INVAL, "run: agent or out is NULL");
    s = agent_enter(agent, "run", err);
    if (s == WEND_OK)
        s = agent_config(agent, run_mode(o), err);
    if (s != WEND_OK)
        return s;
    a.mem = &agent->rt->mem;
    from.store = agent->rt->store;
    if (o->messages)
        s = messages_parse(str_of(o->messages), part_told, &from, &a, &newest,
                           err);
    if (s == WEND_OK)
        s = take_clients(agent, o, &past, &a, err);
    if (s == WEND_OK)
        s = check_room(agent, &past, &a, err);
    if (s == WEND_OK) {
        most = agent->configs[run_mode(o)]->max_history;
        if (!prompt.len)
            most = messages_most(newest, most);
        past.blobs = from.blobs.first;
        past.asked = ends_asked(newest);
        past.messages_json = messages_text(newest, most, MESSAGES_WHOLE, &a);
        s = a.failed ? fail_nomem(err)
                     : run_start(agent, prompt, NULL, o, &past, out, err);
    }
    arena_free(&a);
    return s;
}

/*
 * fork.c - a new run that shares another one's past.
 *
 * A fork begins with what the caller gives: run_fork, results for open calls, a
 * message, all in one batch. Then it is a run without an owner, and is resumed
 * like any other. Only the last shared event of the past is read, unless the
 * state there is needed.
 */
#include "lib/run/fork.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/utf8.h"
#include "lib/log/log.h"

/* ---- What it shares ------------------------------------------------------ */

/* The result of that call or action; a superseded attempt has none. */
static bool is_result(const wend_event *ev, wend_str id)
{
    if (ev->type == WEND_CALL_END)
        return str_eq(ev->u.call_end.call, id) &&
               ev->u.call_end.outcome != WEND_OUTCOME_SUPERSEDED;
    return ev->type == WEND_ACTION_END && str_eq(ev->u.action_end.action, id) &&
           ev->u.action_end.outcome != WEND_OUTCOME_SUPERSEDED;
}

/* Reads events from `from` on, until fn has enough. */
wend_status fork_read(struct fork *f, int64_t from, log_event_fn fn)
{
    log_read_free(&f->log);
    f->log = (struct log_reader){.store = f->store,
                                 .mem = &f->store->mem,
                                 .blob = log_blob,
                                 .fn = fn,
                                 .ctx = f,
                                 .first = from,
                                 .unchained = true,
                                 .no_deltas = true};
    return log_read_more(&f->log, f->id, f->err);
}

static wend_status take_first(void *ctx, const wend_event *ev)
{
    (void)ctx;
    (void)ev;
    return WEND_END; /* it is f->log.around */
}

static wend_status look_for_result(void *ctx, const wend_event *ev)
{
    struct fork *f = ctx;

    if (is_result(ev, str_of(f->o.results[0].call)))
        f->o.at = ev->seq - 1;
    return WEND_OK;
}

static wend_status until_at(const struct fork *f, const wend_event *ev)
{
    return f->arena.failed     ? WEND_E_NOMEM
           : ev->seq < f->o.at ? WEND_OK
                               : WEND_END;
}

static wend_status note_birth(void *ctx, const wend_event *ev)
{
    struct fork *f = ctx;

    log_birth_note(&f->birth, ev, &f->arena);
    return until_at(f, ev);
}

static wend_status fold_event(void *ctx, const wend_event *ev)
{
    struct fork *f = ctx;
    struct keep keep = {&f->arena, NULL};

    turn_apply(&f->turn, ev, &keep);
    return until_at(f, ev);
}

/* Just before that call or action ended. */
static wend_status find_result(struct fork *f)
{
    wend_status s = fork_read(f, 1, look_for_result);

    return s == WEND_OK && !f->o.at
               ? fail(f->err, WEND_E_INVAL,
                      "no call or action '%.80s' of run %s has ended",
                      f->o.results[0].call, f->id)
               : s;
}

static wend_status find_at(struct fork *f, const wend_run_info *info)
{
    wend_status s = WEND_OK;

    if (!f->o.at && f->o.results_count)
        s = find_result(f);
    else if (!f->o.at)
        s = retry_look(f, info);
    if (s != WEND_OK)
        return s;
    if (f->o.at < 1 || f->o.at > info->seq)
        return fail(f->err, WEND_E_INVAL,
                    "run %s has no event %lld: they are 1 to %lld", f->id,
                    (long long)f->o.at, (long long)info->seq);
    s = fork_read(f, f->o.at, take_first);
    f->last = f->log;
    f->log = (struct log_reader){0};
    f->at = &f->last.around;
    if (s != WEND_OK)
        return s;
    if (f->at->seq != f->o.at || !run_id_valid(f->at->run))
        return fail(f->err, WEND_E_CORRUPT,
                    "the log of run %s is damaged at event %lld", f->id,
                    (long long)f->o.at);
    if (f->at->type == WEND_RUN_END)
        return fail(f->err, WEND_E_INVAL,
                    "event %lld is the end of run %s, and nothing follows it; "
                    "fork at %lld or before",
                    (long long)f->o.at, f->id, (long long)f->o.at - 1);
    return WEND_OK;
}

wend_status fork_state(struct fork *f)
{
    wend_status s;

    if (f->turn.config)
        return WEND_OK; /* it is known already */
    turn_init(&f->turn);
    s = fork_read(f, 1, fold_event);
    if (s == WEND_OK && (f->turn.seq != f->o.at || !f->turn.config))
        s = fail(f->err, WEND_E_CORRUPT,
                 "the log of run %s is damaged before event %lld", f->id,
                 (long long)f->o.at);
    return s;
}

/* ---- What it says -------------------------------------------------------- */

wend_event *fork_add(struct fork *f, wend_event_type type)
{
    wend_event *ev = &f->events[f->events_count++];

    memset(ev, 0, sizeof *ev);
    ev->type = type;
    ev->run = str_of(f->fork);
    ev->seq = f->o.at + (int64_t)f->events_count;
    ev->time_us = f->now_us;
    ev->in_turn = f->at->in_turn && f->at->type != WEND_TURN_END;
    ev->turn = f->at->turn;
    ev->turn_id = f->at->turn_id;
    return ev;
}

/* A text of the host's: valid, and without keys of the agent's. */
static wend_str clean(struct fork *f, wend_str text)
{
    text = utf8_keep(text, &f->arena);
    return f->o.agent ? agent_blank(f->o.agent, text, &f->arena) : text;
}

static wend_str if_other(wend_str now, wend_str before)
{
    return str_eq(now, before) ? STR_NONE : now;
}

/* The parent's values replace those that the old child had. */
static void say_child(struct fork *f, wend_ev_run_fork *e)
{
    const wend_ev_run_start *s = f->child->start;

    e->parent_run = s->parent_run;
    e->parent_call = s->parent_call;
    e->config_json = if_other(s->config_json, f->turn.config->json);
    e->model = if_other(s->model, f->turn.model);
    e->correlation_id = if_other(s->correlation_id, f->correlation);
}

static void say_fork(struct fork *f)
{
    wend_ev_run_fork *e = &fork_add(f, WEND_RUN_FORK)->u.run_fork;

    e->parent = f->at->run;
    e->at = f->o.at;
    e->user = if_other(f->user, f->owner->user);
    e->session = if_other(f->session, f->owner->session);
    e->correlation_id = utf8_keep(str_of(f->o.correlation_id), &f->arena);
    e->labels_json = f->labels_json;
    if (f->o.take)
        e->config_json = if_other(config_mix(f->turn.config->json,
                                             f->o.agent->configs[0]->json,
                                             f->o.take, &f->arena),
                                  f->turn.config->json);
    if (f->o.take & (WEND_FORK_MODEL | WEND_FORK_CONFIG))
        e->model = f->o.agent->model;
    if (f->o.take & WEND_FORK_LIMITS)
        e->limits = &f->o.agent->limits;
    if (f->child)
        say_child(f, e);
}

/* A call that had not begun gets both brackets, as one that is refused. */
static void say_call(struct fork *f, uint32_t i, wend_str output)
{
    const struct call *c = turn_call(&f->turn, i);
    const struct tool *tool = config_tool(f->turn.config, c->name);

    assert(!(f->turn.flags[i] & CALL_ENDED));
    f->turn.flags[i] |= CALL_ENDED;
    if (!(f->turn.flags[i] & CALL_STARTED))
        fork_add(f, WEND_CALL_START)->u.call_start = (wend_ev_call_start){
            .call = c->id,
            .name = c->name,
            .args_json = c->args,
            .args_invalid = c->invalid,
            .call_class = tool ? tool->call_class : WEND_CLASS_UNSAFE,
            .attempt = 1,
            .policy.rule = STR("given"),
        };
    fork_add(f, WEND_CALL_END)->u.call_end = (wend_ev_call_end){
        .call = c->id,
        .name = c->name,
        .outcome = WEND_OUTCOME_OK,
        .output = clean(f, output),
        .given = true,
    };
}

/* A call with a child cannot be given a result, nor an action that asks a
 * model: their brackets would stay open. Nor is one open between the end of a
 * superseded attempt and the next start. */
bool fork_open_call(const struct turn *t, int i)
{
    return i >= 0 && !(t->flags[i] & CALL_ENDED) &&
           !(t->flags[i] & CALL_SUPERSEDED) &&
           !turn_call_state(t, (uint32_t)i)->child.ptr;
}

bool fork_open_action(const struct plan_state *p, uint32_t i)
{
    const struct action_state *s =
        i != PLAN_NONE ? plan_action_state(p, i) : NULL;

    return s && (s->at == AT_RUNS || s->at == AT_LOST) && !s->superseded &&
           !s->asking && !s->child.ptr;
}

static void say_action(struct fork *f, uint32_t i, wend_str output)
{
    const struct plan_action *a = f->turn.plan.plan->actions[i];
    wend_event *ev = fork_add(f, WEND_ACTION_END);
    struct buf json = {.mem = &f->store->mem};

    json_put_any(&json, clean(f, output));
    ev->u.action_end = (wend_ev_action_end){
        .action = a->id,
        .name = a->name,
        .outcome = WEND_OUTCOME_OK,
        .output_json = buf_keep(&json, &f->arena),
        .output_key = a->output_key,
        .given = true,
    };
    plan_evolve(&f->turn.plan, ev, &f->arena); /* it is open no more */
}

static wend_status say_result(struct fork *f, const wend_fork_result *r)
{
    const struct plan_state *p = &f->turn.plan;
    wend_str id = str_of(r->call);
    int call = turn_call_index(&f->turn, id);
    uint32_t action = p->started ? plan_find(p->plan, id) : PLAN_NONE;

    if (!r->output.ptr || r->output.len > OUTPUT_BYTES_MAX)
        return fail(f->err, WEND_E_LIMIT,
                    "the result of '%.80s' is NULL or over %d bytes", r->call,
                    OUTPUT_BYTES_MAX);
    if (fork_open_call(&f->turn, call))
        say_call(f, (uint32_t)call, r->output);
    else if (fork_open_action(p, action))
        say_action(f, action, r->output);
    else
        return fail(f->err, WEND_E_INVAL,
                    "no call or action '%.80s' is open at event %lld of run "
                    "%s; fork where it has begun and not ended, best just "
                    "before its end",
                    r->call, (long long)f->o.at, f->id);
    return WEND_OK;
}

static wend_status say_all(struct fork *f)
{
    size_t most = 2 + 2 * f->o.results_count + f->done_count;
    wend_status s = WEND_OK;

    f->events = arena_alloc(&f->arena, most * sizeof *f->events);
    if (!f->events)
        return fail_nomem(f->err);
    say_fork(f);
    retry_say(f);
    for (size_t i = 0; s == WEND_OK && i < f->o.results_count; i++)
        s = say_result(f, &f->o.results[i]);
    if (s == WEND_OK && f->o.say.ptr)
        fork_add(f, WEND_MESSAGE)->u.message =
            (wend_ev_message){.role = STR("user"),
                              .text = clean(f, f->o.say),
                              .parts = f->parts.list,
                              .parts_count = f->parts.count};
    assert(f->events_count <= most);
    f->used.cost_nano = -1; /* counted when it runs */
    if (s == WEND_OK)
        retry_sum_up(f);
    return s == WEND_OK && f->arena.failed ? fail_nomem(f->err) : s;
}

/* ---- Into the store ------------------------------------------------------ */

/* Whether more of what that run was made with may follow the event. */
static bool is_birth(const wend_event *ev)
{
    return ev->type == WEND_RUN_FORK ||
           (ev->type == WEND_CALL_START &&
            str_is(ev->u.call_start.policy.rule, "given")) ||
           (ev->type == WEND_CALL_END && ev->u.call_end.given &&
            !ev->u.call_end.client) ||
           (ev->type == WEND_ACTION_END && ev->u.action_end.given);
}

/* What lists give as its prompt. That of a fork may have been said after the
 * event, and is not shared then: the log tells. */
static wend_status find_prompt(struct fork *f, wend_run_info *info)
{
    wend_status s;

    if (f->o.say.ptr || !is_birth(f->at))
        return WEND_OK;
    s = fork_read(f, 1, note_birth);
    info->prompt = f->birth.b.prompt;
    return s;
}

static wend_status put(struct fork *f, const wend_run_info *info)
{
    const wend_ev_run_fork *e = &f->events[0].u.run_fork;
    struct store_birth birth = {
        .agent = info->agent,
        .model = e->model.ptr ? e->model : info->model,
        .prompt = f->o.say.ptr ? f->events[f->events_count - 1].u.message.text
                               : info->prompt,
        .user = f->user,
        .session = f->session,
        .parent = str_of(f->id),
        .above = e->parent_run,
        .started_us = f->now_us,
    };
    struct batch b = {.sb = {.run = str_of(f->fork),
                             .epoch = 1,
                             .birth = &birth,
                             .summary = {.status = "interrupted",
                                         .turns = f->at->turn + f->at->in_turn,
                                         .tokens_in = f->used.tokens_in,
                                         .tokens_out = f->used.tokens_out,
                                         .cost_nano = f->used.cost_nano}}};
    wend_status s = WEND_OK;

    batch_init(&b, &f->store->mem);
    if (!batch_blobs(&b, f->parts.blobs))
        s = WEND_E_NOMEM;
    for (size_t i = 0; s == WEND_OK && i < f->events_count; i++)
        s = batch_event(&b, &f->events[i]) ? WEND_OK : WEND_E_NOMEM;
    if (s == WEND_OK)
        s = batch_ready(&b) ? store_append_wait(f->store, &b.sb) : WEND_E_NOMEM;
    batch_end(&b);
    if (s == WEND_E_STALE)
        fail(f->err, s, "run %s was pruned meanwhile", f->id);
    else if (s == WEND_E_NOMEM)
        fail_nomem(f->err);
    else if (s != WEND_OK && f->store->ops->failure(f->store, f->err) == 0)
        fail(f->err, s, "the fork cannot be stored");
    return s;
}

/* A plan asks no model, so nothing would read the text. */
static wend_status check_say(struct fork *f)
{
    wend_status s;

    if (!f->o.say.ptr)
        return WEND_OK;
    if (f->o.say.len > BLOB_BYTES_MAX)
        return fail(f->err, WEND_E_LIMIT, "fork: the text is over %d bytes",
                    BLOB_BYTES_MAX);
    s = fork_read(f, 1, take_first);
    if (s == WEND_OK && f->log.around.type == WEND_RUN_START &&
        f->log.around.u.run_start.plan_json.ptr)
        s = fail(f->err, WEND_E_INVAL,
                 "run %s is a plan: no model would read the text", f->id);
    return s;
}

/* User and session of the run that was named, unless its maker says others. */
static wend_status name_fork(struct fork *f, const wend_run_info *info)
{
    const wend_ev_run_start *s = f->child ? f->child->start : NULL;
    const wend_run_options names = {.user = f->o.user,
                                    .session = f->o.session,
                                    .correlation_id = f->o.correlation_id,
                                    .labels = f->o.labels};

    f->user = s ? s->user : info->user;
    f->session = s ? s->session : info->session;
    if (names.user)
        f->user = utf8_keep(str_of(names.user), &f->arena);
    if (names.session)
        f->session = utf8_keep(str_of(names.session), &f->arena);
    return run_name_check(&f->arena, &names, &f->labels_json, f->err);
}

static wend_status make(struct fork *f, const struct env *env)
{
    wend_run_info *info = NULL;
    char owner[RUN_ID_LEN + 1];
    unsigned char chance[10];
    wend_status s = store_info(f->store, f->id, &f->arena, &info, f->err);

    if (s == WEND_OK)
        s = name_fork(f, info);
    if (s == WEND_OK)
        s = find_at(f, info);
    if (s == WEND_OK)
        s = log_owner(f->store, str_of(f->id), f->o.at, owner, f->err);
    if (s == WEND_OK && strcmp(owner, f->id) != 0) {
        /* What that run shares itself is shared with its owner: by the store,
         * since an imported log may name a run of ours. */
        f->id = arena_str(&f->arena, str_of(owner)).ptr;
        s = f->id ? store_info(f->store, f->id, &f->arena, &info, f->err)
                  : fail_nomem(f->err);
    }
    if (s == WEND_OK)
        s = check_say(f);
    if (s == WEND_OK)
        s = find_prompt(f, info);
    if (s == WEND_OK && (f->o.results_count || f->o.take || f->o.parts_count))
        s = fork_state(f);
    if (s == WEND_OK)
        s = fork_parts(f);
    if (s != WEND_OK)
        return s;
    env->chance(env->ctx, chance, sizeof chance);
    f->now_us = env->wall_us(env->ctx);
    if (f->child)
        memcpy(f->fork, f->child->id, sizeof f->fork);
    else
        run_id_make(f->fork, f->now_us, chance);
    if (f->now_us < f->at->time_us)
        f->now_us = f->at->time_us;
    f->owner = info;
    s = say_all(f);
    return s == WEND_OK ? put(f, info) : s;
}

static wend_status check(const struct fork *f, bool taken, wend_error *err)
{
    const wend_fork_options *o = &f->o;
    wend_status s;

    if (!taken || o->at < 0 || (o->results_count && !o->results) ||
        (o->take && !o->agent) || o->take > 2 * WEND_FORK_PARAMS - 1)
        return fail(err, WEND_E_INVAL, "fork: an option is wrong");
    for (size_t i = 0; i < o->results_count; i++)
        if (!o->results[i].call)
            return fail(err, WEND_E_INVAL, "fork: result %zu names no call",
                        i + 1);
    s = f->store->ops->failure(f->store, err);
    if (s != WEND_OK || !o->agent)
        return s;
    s = agent_enter(o->agent, "fork", err);
    return s == WEND_OK ? agent_config(o->agent, 0, err) : s;
}

static void fork_free(struct fork *f)
{
    retry_free(f);
    log_read_free(&f->last);
    log_read_free(&f->log);
    arena_free(&f->arena);
}

static wend_status fork_make(wend_store *store, const struct env *env,
                             const char *id, const wend_fork_options *options,
                             char fork[37], int64_t *at, wend_error *err)
{
    struct fork f = {.store = store, .id = id, .err = err};
    bool taken = OPTIONS_TAKE(&f.o, wend_fork_options, take, options);
    wend_status s;

    if (!run_id_valid(str_of(id)))
        return fail(err, WEND_E_INVAL, "fork: '%.60s' is not the id of a run",
                    id);
    f.arena.mem = &store->mem;
    s = check(&f, taken, err);
    if (s == WEND_OK)
        s = make(&f, env);
    if (s == WEND_OK)
        memcpy(fork, f.fork, sizeof f.fork);
    *at = f.o.at;
    fork_free(&f);
    return s;
}

wend_status fork_child(struct wend_runtime *rt, const char *of,
                       const struct fork_child *child, bool trusts,
                       wend_error *err)
{
    struct fork f = {.store = rt->store, .id = of, .child = child, .err = err};
    wend_run_info *info = NULL;
    wend_status s;

    f.arena.mem = &rt->store->mem;
    f.o.size = sizeof f.o;
    s = store_info(rt->store, of, &f.arena, &info, err);
    if (s == WEND_OK && info->imported && !trusts)
        s = fail(err, WEND_E_EXISTS,
                 "the run that it continues, %s, was imported", of);
    if (s == WEND_OK)
        s = make(&f, rt->env);
    fork_free(&f);
    return s;
}

wend_status wend_store_fork_at(wend_store *store, const char *id, int64_t *at,
                               wend_error *err)
{
    struct fork f = {.store = store, .id = id, .err = err};
    wend_run_info *info = NULL;
    wend_status s = store_enter(store, err);

    if (s == WEND_OK && (!id || !at || !run_id_valid(str_of(id))))
        s = fail(err, WEND_E_INVAL, "fork: id or at is NULL or wrong");
    if (s != WEND_OK)
        return s;
    f.arena.mem = &store->mem;
    s = store_info(store, id, &f.arena, &info, err);
    if (s == WEND_OK)
        s = retry_look(&f, info);
    if (s == WEND_OK)
        *at = f.o.at;
    fork_free(&f);
    return s;
}

wend_status wend_store_fork(wend_store *store, const char *id,
                            const wend_fork_options *options, char fork[37],
                            wend_error *err)
{
    wend_status s = store_enter(store, err);
    int64_t at;

    if (s == WEND_OK && (!id || !fork))
        s = fail(err, WEND_E_INVAL, "fork: id or fork is NULL");
    if (s == WEND_OK)
        s = fork_make(store, &env_real, id, options, fork, &at, err);
    return s;
}

wend_status wend_run_fork(wend_agent *agent, const char *id,
                          const wend_fork_options *fork,
                          const wend_run_options *options, wend_run **out,
                          wend_error *err)
{
    wend_fork_options o;
    wend_run_options run;
    struct kept *hook;
    char own[RUN_ID_LEN + 1];
    int64_t at = 0;
    wend_status s = run_options(options, &run, &hook, err);

    if (s == WEND_OK)
        s = agent_enter(agent, "fork", err);
    if (s == WEND_OK &&
        (!id || !out || !OPTIONS_TAKE(&o, wend_fork_options, take, fork)))
        s = fail(err, WEND_E_INVAL, "fork: id, out or an option is wrong");
    if (s == WEND_OK) {
        o.size = sizeof o;
        o.agent = agent;
        s = fork_make(agent->rt->store, agent->rt->env, id, &o, own, &at, err);
    }
    if (s == WEND_OK) {
        s = run_resume(agent, own, at, &run, out, err);
        if (s != WEND_OK)
            wend_store_remove(agent->rt->store, own, NULL);
    }
    return run_give(s, out, hook);
}

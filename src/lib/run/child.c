/*
 * child.c - runs that other runs start and wait for.
 *
 * A child is a run like any other, with its own log, that belongs to the
 * library instead of the host. What the parent's core decides about it is kept
 * before anything happens here; the parent is told of its end once the child's
 * own run_end is kept. So the two logs together always say where both stand,
 * and a resumed parent finds the same child.
 */
#include "lib/plan/action.h"
#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/fork.h"
#include "lib/run/shell.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/label.h"
#include "core/policy/policy.h"
#include "core/turn/verdict.h"

static void unlink_child(struct child *c)
{
    struct child **link = &c->parent->children;

    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
}

static void child_free(struct child *c)
{
    wend_runtime *rt = c->parent->rt;

    unlink_child(c);
    timer_clear(&rt->timers, &c->timer);
    if (c->run)
        run_drop(c->run);
    mem_free(&rt->mem, c);
}

static void on_over(struct timer_node *t)
{
    struct child *c = container_of(t, struct child, timer);
    struct wend_run *parent = c->parent;

    child_free(c);
    if (parent->over)
        show_at(parent, rt_clock(parent->rt)); /* it may be drained now */
}

/* Tells the parent. The run may be at work further up: it goes a moment
 * later. */
static void settle(struct child *c, struct child_done *d)
{
    struct wend_run *r = c->parent;
    struct input in =
        work_answer(&c->fx, WEND_OUTCOME_NONE, STR_NONE, STR_NONE);

    if (c->over)
        return;
    in.done.ms = (rt_clock(r->rt) - c->began_us) / 1000;
    in.done.child = d;
    c->over = true;
    d->late = c->late;
    c->timer.fire = on_over;
    shell_timer(r, &c->timer, rt_clock(r->rt));
    shell_input(r, &in);
}

/* It has no log, or its log cannot be resumed. */
static void settle_unbegun(struct child *c, wend_outcome outcome,
                           const char *code, const char *message)
{
    struct child_done d = {
        .outcome = outcome, .code = str_of(code), .message = str_of(message)};

    settle(c, &d);
}

void run_note_end(struct wend_run *r, const wend_event *run_end)
{
    const wend_ev_run_end *e = &run_end->u.run_end;

    r->outcome = r->end.outcome = e->outcome;
    r->answer = r->end.text = arena_str(&r->arena, e->text);
    r->end.limit = arena_str(&r->arena, e->limit);
    if (e->error) {
        r->end.code = arena_str(&r->arena, e->error->code);
        r->end.message = arena_str(&r->arena, e->error->message);
    }
}

void child_look(struct wend_run *r)
{
    struct child *c = r->child;

    if (!c || !r->over || r->durable_seq != r->turn.seq)
        return;
    r->end.labels = r->turn.labels;
    r->end.metrics = turn_metrics(&r->turn);
    settle(c, &r->end);
}

/* ---- What it is told ----------------------------------------------------- */

/* A policy as restraint_read reads it. */
static void put_policy(struct buf *b, const struct remembered *said,
                       const struct restraint *policy)
{
    json_open(b, NULL, '{');
    json_add_str(b, "approve", str_of(approve_names[policy->approve]));
    json_open(b, "rules", '[');
    for (; said; said = said->prev)
        json_add_str(b, NULL, said->rule.text);
    for (size_t i = 0; i < policy->rules_count; i++)
        json_add_str(b, NULL, policy->rules[i].text);
    json_close(b, ']');
    label_rows_put(b, &policy->label_rows);
    json_close(b, '}');
}

/* Its own config, and what it inherits: the policies above come first. */
static void put_config(struct buf *b, const struct child *c)
{
    const struct turn *t = &c->parent->turn;
    const struct config *config = t->config;

    assert(c->fx.child_config->config_json.len);
    buf_add(b, c->fx.child_config->config_json.ptr,
            c->fx.child_config->config_json.len - 1);
    if (c->parent->hook)
        json_add_bool(b, "hooks", true);
    json_open(b, "within", '{');
    json_add_i64(b, "depth", config->within.depth + 1);
    labels_add(b, "labels", turn_labels(t, b->mem));
    json_open(b, "policies", '[');
    for (size_t i = 1; i < config_restraints(config); i++)
        put_policy(b, NULL, config_restraint(config, i));
    put_policy(b, t->rules, &config->own);
    json_close(b, ']');
    json_close(b, '}');
    json_close(b, '}');
}

/* Files of the action that it works for, which its arguments describe. */
static struct action_files files_of(const struct child *c)
{
    const struct plan *p = c->parent->turn.plan.plan;

    return c->fx.call ? (struct action_files){0}
                      : p->actions[c->fx.action]->files;
}

/* The prompt; other arguments follow as JSON, or stand alone. */
static void put_prompt(struct buf *b, const struct child *c,
                       const struct json *args)
{
    const struct json *prompt = json_get(args, "prompt");
    const struct json *parts =
        files_of(c).count ? json_get(args, "parts") : NULL;
    struct buf others = {.mem = b->mem};

    buf_str(b, json_str(prompt));
    for (const struct json *m = args ? args->first : NULL; m; m = m->next)
        if (m != prompt && m != parts &&
            (!c->fx.call || !str_is(m->key, "agent")))
            json_add_pair(&others, m->key, m);
    if (others.len)
        buf_fmt(b, "%s{%.*s}", b->len ? "\n\n" : "", (int)others.len,
                others.ptr);
    b->failed |= others.failed;
    buf_free(&others);
}

static int64_t least(int64_t a, int64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* The parent's values replace the agent's. */
void child_fill_start(const struct child *c, wend_ev_run_start *e)
{
    const struct wend_run *parent = c->parent;

    e->agent = c->fx.child_config->agent;
    e->model = c->fx.child_config->model;
    e->parent_run = str_of(parent->id);
    e->parent_call = c->call;
    e->user = parent->birth.user;
    e->session = parent->birth.session;
    if (parent->correlation.ptr)
        e->correlation_id = parent->correlation;
    if (!c->fx.child_config->notes_off)
        e->context_json = parent->turn.context_json;
    e->limits = c->fx.child_config->limits;
    e->limits.parallel =
        c->fx.child_config->plan_json.ptr
            ? parent->turn.limits.parallel
            : least(e->limits.parallel, parent->turn.limits.parallel);
}

/* ---- Its files ----------------------------------------------------------- */

/* Of a plan: by the inputs that get them. */
static void take_inputs(const struct child *c, const struct json *args,
                        struct arena *a, struct run_past *out)
{
    struct action_files files = files_of(c);
    wend_ev_part *list = arena_alloc(a, ACTION_FILES_MAX * sizeof *list);
    const struct json *j;

    for (size_t i = 0; list && i < files.count; i++)
        for (j = json_items(json_member(args, files.list[i].input));
             j && out->parts_count < ACTION_FILES_MAX; j = j->next)
            out->parts_count += part_read(j, a, &list[out->parts_count]);
    out->parts = list;
}

/* An agent whose model is known not to accept one does not start. */
static wend_status take_files(const struct child *c, const struct json *args,
                              struct arena *a, struct run_past *out,
                              wend_error *err)
{
    wend_agent *agent = c->run->agent;
    wend_status s;

    if (!files_of(c).count)
        return WEND_OK;
    if (c->fx.child_config->plan_json.ptr) {
        take_inputs(c, args, a, out);
        return WEND_OK;
    }
    out->parts = parts_of(args, a, &out->parts_count);
    s = agent_config(agent, 0, err);
    return s == WEND_OK ? parts_accepted(out->parts, out->parts_count,
                                         agent->configs[0]->models, a->mem, err)
                        : s;
}

/* ---- Starting ------------------------------------------------------------ */

static wend_status start_new(struct child *c, const wend_run_options *o,
                             wend_error *err)
{
    struct wend_run *r = c->run;
    struct arena a = {.mem = &r->rt->mem};
    struct buf config = {.mem = a.mem}, prompt = {.mem = a.mem};
    struct json *args = json_parse(c->args, &a, err);
    struct run_past past = {0};
    struct plan *plan = NULL;
    wend_status s = args ? WEND_OK : WEND_E_INVAL;

    put_config(&config, c);

    if (s == WEND_OK && c->fx.child_config->plan_json.ptr)
        s = plan_with_inputs(c->fx.child_config->plan_json, c->args, &a, &plan,
                             err);
    else if (s == WEND_OK)
        put_prompt(&prompt, c, args);
    if (s == WEND_OK)
        s = take_files(c, args, &a, &past, err);
    if (config.failed || prompt.failed || a.failed)
        s = fail_nomem(err);
    past.config_json = buf_view(&config);
    if (s == WEND_OK)
        s = run_begin(r, plan ? plan->name : buf_view(&prompt), plan, o, &past,
                      err);
    buf_free(&config);
    buf_free(&prompt);
    arena_free(&a);
    return s;
}

static wend_status new_run(struct child *c, wend_agent *agent,
                           const wend_run_options *o, wend_error *err)
{
    assert(c->parent->agent);
    c->run = run_of(agent, o, err);
    if (!c->run)
        return WEND_E_NOMEM;
    memcpy(c->run->id, c->id, sizeof c->id);
    c->run->child = c;
    return WEND_OK;
}

/* Makes it as a fork of the run that it continues. */
static wend_status make_fork(struct child *c, wend_error *err)
{
    struct wend_run *parent = c->parent;
    struct buf config = {.mem = &parent->rt->mem};
    wend_ev_run_start e = {0};
    wend_status s;

    put_config(&config, c);
    child_fill_start(c, &e);
    e.config_json = buf_view(&config);
    s = config.failed
            ? fail_nomem(err)
            : fork_child(parent->rt, c->of,
                         &(struct fork_child){.id = c->id, .start = &e},
                         parent->trusts, err);
    buf_free(&config);
    return s;
}

wend_status child_over(struct wend_run *r, wend_ev_run_resume *over,
                       wend_error *err)
{
    struct buf config = {.mem = r->arena.mem};
    wend_ev_run_start e = {0};
    wend_ev_limits *limits = arena_alloc(&r->arena, sizeof *limits);
    wend_str json;

    put_config(&config, r->child);
    json = buf_keep(&config, &r->arena);
    child_fill_start(r->child, &e);
    if (r->arena.failed || !limits)
        return fail_nomem(err);
    if (!str_eq(json, r->turn.config->json))
        over->config_json = json;
    if (!str_eq(e.model, r->turn.model))
        over->model = e.model;
    *limits = e.limits;
    if (r->child->fx.child_config->limits_above &&
        memcmp(limits, &r->turn.limits, sizeof *limits) != 0)
        over->limits = limits;
    return WEND_OK;
}

/* *found: the store has it. */
static wend_status resume_run(struct child *c, wend_agent *agent,
                              const wend_run_options *o, bool *found,
                              wend_error *err)
{
    wend_status s = new_run(c, agent, o, err);

    if (s == WEND_OK)
        s = run_resume_child(c->run, found, err);
    if (s == WEND_OK || *found || s == WEND_E_EXISTS || !c->run)
        return s;
    run_drop(c->run);
    c->run = NULL;
    return s;
}

/* The store may have the child of a resumed parent already; *found then. */
static wend_status start_run(struct child *c, wend_agent *agent, bool *found,
                             wend_error *err)
{
    wend_run_options o = {.size = sizeof o,
                          .hook = c->parent->hook,
                          .hook_ctx = c->parent->hook_ctx};
    wend_status s = WEND_E_NOTFOUND;

    if (c->parent->resumed)
        s = resume_run(c, agent, &o, found, err);
    if (s != WEND_E_NOTFOUND || *found)
        return s;
    if (c->of[0]) {
        s = make_fork(c, err);
        c->forked = true;
        return s == WEND_OK ? resume_run(c, agent, &o, found, err) : s;
    }
    s = new_run(c, agent, &o, err);
    return s == WEND_OK ? start_new(c, &o, err) : s;
}

static void stop_run(struct child *c, wend_str by)
{
    struct input in = {.kind = IN_CANCEL, .by = by};

    assert(c->run);
    if (c->stopped || c->over)
        return;
    c->stopped = true;
    shell_input(c->run, &in);
}

static void on_deadline(struct timer_node *t)
{
    struct child *c = container_of(t, struct child, timer);

    c->late = !c->run->over;
    stop_run(c, STR("timeout"));
}

/* A child that was paused itself stays paused. */
static void resume_child(struct child *c)
{
    struct input in = {.kind = IN_CONTINUE, .by = STR("parent")};

    if (c->run->turn.paused_above)
        shell_input(c->run, &in);
}

static void begin(struct child *c)
{
    struct wend_run *r = c->parent;
    const struct agent_child *hands =
        agent_child(r->agent, c->fx.child_config->name);
    wend_error err = {0};
    bool found = false;
    wend_status s;

    c->held = r->turn.paused && r->turn.stop.outcome == WEND_OUTCOME_NONE;
    if (c->held)
        return;
    c->began_us = rt_clock(r->rt);
    if (!hands) {
        settle_unbegun(c, WEND_OUTCOME_FAILED, "agent_missing",
                       "it is not there any more: the run was resumed "
                       "without it");
        return;
    }
    s = start_run(c, hands->agent, &found, &err);
    if (s != WEND_OK && (found || s == WEND_E_NOMEM || s == WEND_E_STORE)) {
        shell_fail(r, s, err.message);
    } else if (s != WEND_OK) {
        settle_unbegun(c, WEND_OUTCOME_FAILED, "not_started", err.message);
    } else if (c->run->over) {
        child_look(c->run); /* it was over when we came */
    } else {
        c->timer.fire = on_deadline;
        shell_timer(r, &c->timer, rt_after(r->rt, c->fx.timeout_ms));
        resume_child(c);
    }
}

static void on_begin(struct timer_node *t)
{
    begin(container_of(t, struct child, timer));
}

static struct child *child_new(struct wend_run *r, const struct effect *fx)
{
    wend_str id = work_id(r, fx);
    struct child *c =
        mem_zalloc(&r->rt->mem, sizeof *c + id.len + fx->args.len + 2);
    char *text;

    if (!c)
        return NULL;
    text = (char *)(c + 1);
    c->call = str_pack(&text, id);
    text++; /* each ends with a NUL */
    c->args = str_pack(&text, fx->args);
    snprintf(c->id, sizeof c->id, "%.*s", (int)fx->child.len, fx->child.ptr);
    if (fx->child_of.ptr)
        snprintf(c->of, sizeof c->of, "%.*s", (int)fx->child_of.len,
                 fx->child_of.ptr);
    c->parent = r;
    c->fx = *fx;
    c->timer.fire = on_begin;
    c->next = r->children;
    r->children = c;
    return c;
}

/* A run that is being stopped starts no child, but one that was under way
 * before it was interrupted is resumed, to be stopped. */
void child_start(struct wend_run *r, const struct effect *fx)
{
    bool stopping = r->turn.stop.outcome != WEND_OUTCOME_NONE;
    struct child *c;

    if (!work_runs(r, fx) || (stopping && !r->resumed))
        return; /* ended meanwhile, or will be stopped before it began */
    c = child_new(r, fx);
    if (!c)
        shell_nomem(r);
    else if (!fx->delay_ms)
        begin(c);
    else
        shell_timer(r, &c->timer, rt_after(r->rt, fx->delay_ms));
}

/* ---- Pauses -------------------------------------------------------------- */

static void pause_run(struct child *c)
{
    struct input in = {.kind = IN_PAUSE, .by = STR("parent")};
    wend_runtime *rt = c->parent->rt;

    if (c->timer.place) {
        c->left_us = c->timer.due_us - rt_clock(rt);
        timer_clear(&rt->timers, &c->timer);
    }
    shell_input(c->run, &in);
}

static void continue_run(struct child *c)
{
    struct wend_run *r = c->parent;

    if (!c->timer.place)
        shell_timer(r, &c->timer, i64_sum(rt_clock(r->rt), c->left_us));
    resume_child(c);
}

void children_heed(struct wend_run *r)
{
    if (r->turn.stop.outcome != WEND_OUTCOME_NONE)
        return; /* they are stopped, too */
    for (struct child *c = r->children; c; c = c->next) {
        if (c->over)
            continue;
        if (r->turn.paused && c->run)
            pause_run(c);
        else if (!r->turn.paused && c->held)
            begin(c);
        else if (!r->turn.paused && c->run)
            continue_run(c);
    }
}

wend_run *wend_run_child(wend_run *r, size_t i)
{
    struct child *c;

    if (!r || r->magic != RUN_MAGIC || !r->rt || rt_enter(r->rt) != WEND_OK)
        return NULL;
    for (c = r->children; c; c = c->next)
        if (c->run && !c->over && !i--)
            return c->run;
    return NULL;
}

/* ---- Ending -------------------------------------------------------------- */

bool child_stop(struct wend_run *r, const struct effect *fx)
{
    struct child *c = r->children;

    while (c && (c->over || !work_same(&c->fx, fx)))
        c = c->next;
    if (!c)
        return false;
    if (c->held && r->resumed)
        begin(c); /* it may have a log, which is closed, too */
    if (c->run)
        stop_run(c, STR("parent"));
    else
        settle_unbegun(c, WEND_OUTCOME_CANCELED, "canceled",
                       "canceled before it began");
    return true;
}

static void leave(struct child *c)
{
    wend_runtime *rt = c->parent->rt;

    c->over = true;
    c->timer.fire = on_over;
    timer_set(&rt->timers, &c->timer, rt_clock(rt));
}

void children_fail(struct wend_run *r, wend_status s, const char *message)
{
    for (struct child *c = r->children; c; c = c->next) {
        timer_clear(&r->rt->timers, &c->timer);
        if (c->run)
            shell_fail(c->run, s, message);
    }
    if (r->child && !r->child->parent->over)
        shell_fail(r->child->parent, s, message);
    else if (r->child)
        leave(r->child); /* nothing waits for it any more */
}

void children_drop(struct wend_run *r)
{
    while (r->children)
        child_free(r->children);
}

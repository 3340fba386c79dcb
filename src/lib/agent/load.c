/*
 * load.c - an agent from a file and what the host says besides.
 *
 * The host's options override the file. An agent inside another takes its
 * tools, instructions and limits from its own file, and from the host's options
 * only those about models, keys and permissions. Its usage also counts towards
 * the limits of the outer agent.
 */
#include "lib/agent/agent.h"
#include "lib/agent/load.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "lib/agent/wishes.h"
#include "tools/tools.h"

void load_say(const struct load *l, wend_note_fn fn, const char *format, ...)
{
    char text[600];
    va_list args;

    va_start(args, format);
    utf8_vfmt(text, sizeof text, format, args);
    va_end(args);
    if (fn)
        fn(l->o.note_ctx, text);
}

/* ---- Options ------------------------------------------------------------- */

/* Both lists (b may be NULL: room for as many), and room for one more; NULL
 * without memory. */
static const char **join(struct load *l, const char *const *a, size_t a_count,
                         const char *const *b, size_t b_count)
{
    const char **list =
        arena_alloc(&l->arena, (a_count + b_count + 1) * sizeof *list);

    if (list && a_count)
        memcpy(list, a, a_count * sizeof *list);
    if (list && b && b_count)
        memcpy(list + a_count, b, b_count * sizeof *list);
    return list;
}

/* `wins`: the new value counts before the one that is there. */
static void take_text(const char **at, const char *text, bool wins)
{
    if (text && (wins || !*at))
        *at = text;
}

static void take_number(int64_t *at, int64_t n, bool wins)
{
    if (n && (wins || !*at))
        *at = n;
}

static void take_count(uint32_t *at, uint32_t n, bool wins)
{
    if (n && (wins || !*at))
        *at = n;
}

void load_limits(wend_limits *l, const wend_limits *from, bool wins)
{
    take_count(&l->turns, from->turns, wins);
    take_count(&l->parallel, from->parallel, wins);
    take_number(&l->time_ms, from->time_ms, wins);
    take_number(&l->tokens, from->tokens, wins);
    take_number(&l->cost_nano, from->cost_nano, wins);
}

/* Options of the outer agent that an inner one does not inherit. */
static void forget_own(const struct load *l, wend_agent_options *o)
{
    uint32_t parallel = o->limits.parallel;

    o->name = o->instructions = o->schema = NULL;
    o->limits = (wend_limits){.parallel = parallel};
    o->context_tokens = 0;
    o->max_history = o->max_memories = 0;
    o->compaction_off = false;
    o->memory_user = l->agent.memory_user;
    o->loop_off = l->agent.loop_off;
    o->project = l->agent.project;
}

static void take_file(wend_agent_options *o, const wend_agent_options *f,
                      bool wins)
{
    take_text(&o->name, f->name, wins);
    take_text(&o->model, f->model, wins);
    take_text(&o->base_url, f->base_url, wins);
    take_text(&o->summary_model, f->summary_model, wins);
    take_text(&o->instructions, f->instructions, wins);
    load_limits(&o->limits, &f->limits, wins);
    take_number(&o->context_tokens, f->context_tokens, wins);
    take_count(&o->max_history, f->max_history, wins);
    take_count(&o->max_memories, f->max_memories, wins);
    o->compaction_off |= f->compaction_off;
    o->memory_user |= f->memory_user;
    o->loop_off |= f->loop_off;
    if (f->project)
        o->project = f->project;
    if (f->fallbacks && (wins || !o->fallbacks)) {
        o->fallbacks = f->fallbacks;
        o->fallbacks_count = f->fallbacks_count;
    }
}

wend_agent_options load_options(const struct load *l, const wend_manifest *m)
{
    wend_agent_options o = l->agent;

    if (m)
        take_file(&o, m->options, false);
    return o;
}

/* An agent inside another that names no model asks the outer one's, in the same
 * way. */
wend_status load_wishes(struct load *l, const wend_agent_options *f, bool inner,
                        wend_agent_options *o)
{
    const wend_agent_options *base = inner ? o : f, *over = inner ? f : o;
    bool own = inner && f->model;
    size_t count = own ? 0 : base->params_count;
    const char **params =
        join(l, base->params, count, over->params, over->params_count);

    if (!params)
        return fail_nomem(l->err);
    if (!over->headers_count && !own) {
        o->headers = base->headers;
        o->headers_count = base->headers_count;
    } else {
        o->headers = over->headers;
        o->headers_count = over->headers_count;
    }
    o->extra = over->extra || own ? over->extra : base->extra;
    o->params_count = count + over->params_count;
    o->params = params;
    return WEND_OK;
}

/* The host's rules come first, whichever agent it is. */
wend_status load_lists(struct load *l, const wend_agent_options *f,
                       wend_agent_options *o)
{
    const wend_agent_options *h = &l->agent;
    const char **rules =
        join(l, h->rules, h->rules_count, f->rules, f->rules_count);

    o->network =
        join(l, h->network, h->network_count, f->network, f->network_count);
    o->network_count = h->network_count + f->network_count;
    o->label_rows = join(l, h->label_rows, h->label_rows_count, f->label_rows,
                         f->label_rows_count);
    o->label_rows_count = h->label_rows_count + f->label_rows_count;
    if (!rules || !o->network || !o->label_rows)
        return fail_nomem(l->err);
    o->rules_count = h->rules_count + f->rules_count;
    if (l->o.allow_rest) {
        for (size_t i = 0; i < o->rules_count; i++)
            rules[i] += rules[i][0] == '?';
        rules[o->rules_count++] = "*";
    }
    o->rules = rules;
    o->guarded = l->guarded;
    o->guarded_count = l->guarded_count;
    return WEND_OK;
}

/* ---- Guarded files ------------------------------------------------------- */

/* A path that no call can name needs no guard. */
static void guard(struct load *l, const char *path)
{
    assert(l->guarded);
    if (utf8_valid_len(str_of(path)) == strlen(path))
        l->guarded[l->guarded_count++] = path;
}

wend_status load_guard(struct load *l, const wend_manifest *m)
{
    size_t files = m ? m->files_count : 0;

    l->guarded =
        join(l, l->agent.guarded, l->agent.guarded_count, NULL, files + 1);
    if (!l->guarded)
        return fail_nomem(l->err);
    l->guarded_count = l->agent.guarded_count;
    if (m)
        guard(l, m->path);
    for (size_t i = 0; i < files; i++) {
        const char *path =
            path_beside(&l->arena, m->path, str_of(m->files[i].name));

        if (!path)
            return fail_nomem(l->err);
        guard(l, path);
    }
    return WEND_OK;
}

/* ---- Tools --------------------------------------------------------------- */

static const wend_command_options *
command_named(const wend_command_options *const *list, size_t count,
              const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->name && !strcmp(list[i]->name, name))
            return list[i];
    return NULL;
}

wend_status load_command(struct load *l, wend_agent *agent,
                         const wend_manifest *m, const wend_command_options *c)
{
    wend_error why = {0};
    wend_status s = wend_agent_add_command(agent, c, &why);

    for (size_t i = 0; s && m && i < m->commands_count; i++)
        if (m->commands[i] == c)
            return fail_at(l->err, s, why.line, why.column, "%.150s: %.300s",
                           tool_file_of(c)->path, why.message);
    return s ? fail_at(l->err, s, why.line, why.column, "%s", why.message) : s;
}

static wend_status add_named(struct load *l, wend_agent *agent,
                             const wend_manifest *m, bool inner,
                             const char *name)
{
    const wend_command_options *c = NULL;
    wend_status s;

    if (builtin_find(name)) {
        s = wend_agent_add_builtin(agent, name, l->err);
        return s == WEND_E_EXISTS ? WEND_OK : s; /* named twice counts once */
    }
    if (!inner)
        c = command_named(l->o.commands, l->o.commands_count, name);
    if (!c && m)
        c = command_named(m->commands, m->commands_count, name);
    if (!c)
        return fail(l->err, WEND_E_NOTFOUND, "there is no tool '%.80s'", name);
    return load_command(l, agent, m, c);
}

wend_status load_tools(struct load *l, wend_agent *agent,
                       const wend_manifest *m, bool inner)
{
    const char *const *list = manifest_tools_default;
    struct tool_names all;
    size_t count = 0;
    wend_status s = WEND_OK;

    while (list[count])
        count++;
    if (!inner && l->o.tools) {
        list = l->o.tools;
        count = l->o.tools_count;
    } else if (!inner && l->o.plan) {
        tool_names_fill(&all, NULL);
        list = all.list;
        count = (size_t)all.count;
    } else if (m && m->tools) {
        list = m->tools;
        count = m->tools_count;
    }
    for (size_t i = 0; !s && i < count; i++)
        s = add_named(l, agent, m, inner, list[i]);
    for (size_t i = 0; !s && !inner && i < l->o.commands_count; i++)
        if (str_index(str_of(l->o.commands[i]->name), list, (int)count) < 0)
            s = wend_agent_add_command(agent, l->o.commands[i], l->err);
    return s;
}

/* ---- Servers ------------------------------------------------------------- */

uint32_t load_time_left(struct load *l, int64_t time_ms)
{
    int64_t now = rt_clock(l->rt), left;

    if (!time_ms)
        return 0;
    if (!l->begun_us)
        l->begun_us = now;
    left = time_ms - (now - l->begun_us) / 1000;
    return left < 1 ? 1 : left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

wend_status load_mcps(struct load *l, wend_agent *agent,
                      const wend_mcp_options *list, size_t count,
                      wend_error **errs)
{
    const wend_mcp_options **each =
        arena_alloc(&l->arena, (count + 1) * sizeof *each);

    *errs = arena_alloc(&l->arena, (count + 1) * sizeof **errs);
    if (!each || !*errs)
        return fail_nomem(l->err);
    for (size_t i = 0; i < count; i++)
        each[i] = &list[i];
    if (count && wend_agent_add_mcps(agent, each, count, *errs) == WEND_E_NOMEM)
        return fail_nomem(l->err);
    return WEND_OK;
}

wend_status load_relics(struct load *l, wend_agent *agent,
                        const wend_manifest_relic *list, size_t count,
                        int64_t time_ms, wend_error **errs)
{
    struct arena *a = &l->arena;
    wend_str *texts = arena_alloc(a, (count + 1) * sizeof *texts);
    wend_relic_options *all = arena_alloc(a, (count + 1) * sizeof *all);
    const wend_relic_options **each =
        arena_alloc(a, (count + 1) * sizeof *each);

    *errs = arena_alloc(a, (count + 1) * sizeof **errs);
    if (!texts || !all || !each || !*errs)
        return fail_nomem(l->err);
    for (size_t i = 0; i < count; i++) {
        all[i] = (wend_relic_options){.size = sizeof all[i],
                                      .file = list[i].path,
                                      .note = l->o.note,
                                      .note_ctx = l->o.note_ctx,
                                      .connect_ms = load_time_left(l, time_ms)};
        each[i] = &all[i];
        texts[i] = list[i].text;
    }
    if (count &&
        wend_agent_add_relics(agent, texts, each, count, *errs) == WEND_E_NOMEM)
        return fail_nomem(l->err);
    return WEND_OK;
}

/* The host's servers first, then the file's. */
static wend_status copy_servers(struct load *l, const wend_manifest *m,
                                size_t given, const wend_agent_options *o,
                                wend_mcp_options *to, size_t count)
{
    uint32_t left = load_time_left(l, o->limits.time_ms);

    for (size_t i = 0; i < count; i++) {
        const wend_mcp_options *from =
            i < given ? l->o.servers[i] : m->servers[i - given];

        if (!OPTIONS_TAKE(&to[i], wend_mcp_options, note_ctx, from))
            return fail(l->err, WEND_E_INVAL,
                        "load: the size of a server's options is wrong");
        if (i >= given) {
            to[i].note = l->o.note;
            to[i].note_ctx = l->o.note_ctx;
        }
        to[i].size = sizeof to[i];
        to[i].sandbox_off |= o->sandbox_off;
        to[i].connect_ms = left;
    }
    return WEND_OK;
}

/* A mistake of the host or the file, unlike a server that does not answer. */
static bool is_mistake(wend_status s)
{
    return s == WEND_E_INVAL || s == WEND_E_EXISTS || s == WEND_E_NOMEM ||
           s == WEND_E_MISUSE;
}

wend_status load_servers(struct load *l, wend_agent *agent,
                         const wend_manifest *m, bool inner,
                         const wend_agent_options *o)
{
    size_t given = inner ? 0 : l->o.servers_count;
    size_t count = given + (m ? m->servers_count : 0);
    wend_mcp_options *all;
    wend_error *errs;
    wend_status s;

    if (!count)
        return WEND_OK;
    all = arena_alloc(&l->arena, count * sizeof *all);
    if (!all)
        return fail_nomem(l->err);
    s = copy_servers(l, m, given, o, all, count);
    if (!s)
        s = load_mcps(l, agent, all, count, &errs);
    for (size_t i = 0; !s && i < count; i++) {
        if (is_mistake(errs[i].status))
            s = fail(l->err, errs[i].status, "%s", errs[i].message);
        else if (errs[i].status)
            load_say(l, l->o.warn, "%s; its tools are not offered",
                     errs[i].message);
    }
    return s;
}

/* ---- Agents -------------------------------------------------------------- */

/* Recursion is bounded by AGENT_DEPTH_MAX. */
static wend_status add_agents(struct load *l, wend_agent *agent,
                              const wend_manifest *m,
                              const wend_agent_options *o)
{
    size_t count = m ? m->agents_count : 0;
    wend_status s = WEND_OK;

    for (size_t i = 0; !s && i < count; i++) {
        wend_child_options child = {.size = sizeof child,
                                    .name = m->agents[i]->name,
                                    .description = m->agents[i]->description};

        s = load_agent(l, m->agents[i], o, &child.agent);
        if (!s)
            s = wend_agent_add_agent(agent, &child, l->err);
        wend_agent_free(child.agent);
    }
    if (!s && count)
        s = wend_agent_add_builtin(agent, "task", l->err);
    return s == WEND_E_EXISTS ? WEND_OK : s;
}

wend_status load_agent(struct load *l, const wend_manifest *m,
                       const wend_agent_options *outer, wend_agent **out)
{
    static const wend_agent_options nothing;
    const wend_agent_options *f = m ? m->options : &nothing;
    wend_agent_options o = outer ? *outer : l->agent;
    wend_agent *agent = NULL;
    wend_status s;

    if (outer)
        forget_own(l, &o);
    take_file(&o, f, outer != NULL);
    for (size_t i = 0; m && i < m->unserved_count; i++)
        load_say(l, l->o.note,
                 "%.200s: '%s' is not served by this version and has no effect",
                 m->path, m->unserved[i]);
    s = load_lists(l, f, &o);
    if (!s)
        s = load_wishes(l, f, outer != NULL, &o);
    if (!s && m)
        s = wishes_check(m->path, &agent_file_of(m)->manifest->wishes,
                         outer ? &nothing : &l->agent, o.model, l->arena.mem,
                         l->err);
    if (!s)
        s = wend_agent_new(l->rt, &o, &agent, l->err);
    if (!s && outer)
        agent->inherits =
            WEND_FORK_POLICY |
            (f->model ? 0 : (uint32_t)(WEND_FORK_MODEL | WEND_FORK_PARAMS));
    if (!s)
        s = load_tools(l, agent, m, outer != NULL);
    if (!s)
        s = load_servers(l, agent, m, outer != NULL, &o);
    if (!s)
        s = add_agents(l, agent, m, &o);
    if (!s) {
        *out = agent;
        agent = NULL;
    }
    wend_agent_free(agent);
    return s;
}

/* ---- Public -------------------------------------------------------------- */

static wend_status check_trust(const struct load *l, const wend_manifest *m,
                               const char *sum, const char *option)
{
    if (!m || (sum && (!strcmp(sum, "any") || !strcmp(sum, m->sum))))
        return WEND_OK;
    return fail(
        l->err, WEND_E_STALE,
        "%.200s is not trusted: it has %zu programs and servers, its "
        "sum is %s, and %s; look at it, then give its sum as "
        "options.%s",
        m->path, m->commands_count + m->servers_count + m->relics_count, m->sum,
        sum && *sum ? "another one was accepted" : "none was accepted", option);
}

static wend_status load(struct load *l, const wend_manifest *m,
                        wend_agent **out)
{
    const wend_manifest *plan = l->o.plan;
    wend_status s = check_trust(l, m, l->o.trust, "trust");

    if (!s)
        s = check_trust(l, plan, l->o.plan_trust, "plan_trust");
    if (!s && m)
        s = wend_manifest_check(m, l->err);
    if (!s && plan)
        s = wend_manifest_check(plan, l->err);
    if (!s && plan)
        s = load_plan_models(l, m, plan);
    if (!s)
        s = load_guard(l, m);
    if (s)
        return s;
    return plan ? load_plan(l, m, plan, out) : load_agent(l, m, NULL, out);
}

wend_status load_begin(struct load *l, wend_runtime *rt, const char *what,
                       wend_error *err)
{
    wend_status s = rt_enter_for(rt, what, err);

    if (s)
        return s;
    l->rt = rt;
    l->err = err;
    l->arena.mem = &rt->mem;
    /* A callback may free the runtime while servers start. Inside a callback
     * this fails: then only servers are refused, see is_mistake. */
    l->inside = rt_begin(rt) == WEND_OK;
    return WEND_OK;
}

wend_status load_take(struct load *l, const wend_load_options *options)
{
    if (!OPTIONS_TAKE(&l->o, wend_load_options, note_ctx, options) ||
        !OPTIONS_TAKE(&l->agent, wend_agent_options, cwd, l->o.agent))
        return fail(l->err, WEND_E_INVAL,
                    "load: options.size or options.agent->size is wrong");
    if ((l->o.plan && !l->o.plan->plan) ||
        (l->o.manifest && l->o.manifest->plan))
        return fail(l->err, WEND_E_INVAL,
                    "load: options.plan must be a plan, options.manifest "
                    "an agent");
    if ((l->o.tools_count && !l->o.tools) ||
        (l->o.commands_count && !l->o.commands) ||
        (l->o.servers_count && !l->o.servers))
        return fail(l->err, WEND_E_INVAL,
                    "load: options.tools, commands or servers is NULL");
    l->agent.size = sizeof l->agent;
    return WEND_OK;
}

wend_status load_end(struct load *l, wend_status s, wend_agent **out)
{
    assert(!s == (*out != NULL));
    arena_free(&l->arena);
    if (!l->inside)
        return s;
    s = rt_end_of(l->rt, true, s, l->err);
    if (s) {
        wend_agent_free(*out);
        *out = NULL;
    }
    return s;
}

wend_status wend_agent_load(wend_runtime *rt, const char *path,
                            const wend_load_options *options, wend_agent **out,
                            wend_error *err)
{
    struct load l = {0};
    wend_manifest *own = NULL;
    wend_status s;

    if (!out)
        return fail(err, WEND_E_INVAL, "load: out is NULL");
    *out = NULL;
    s = load_begin(&l, rt, "load", err);
    if (s)
        return s;
    s = load_take(&l, options);
    if (!s && path && !l.o.manifest)
        s = wend_manifest_open(path, NULL, &own, err);
    if (!s)
        s = load(&l, l.o.manifest ? l.o.manifest : own, out);
    wend_manifest_free(own);
    return load_end(&l, s, out);
}

/*
 * of_run.c - the agent of a run, made again from what its log says.
 *
 * run_start.config has all that the run is, or run_fork.config of a fork
 * that changed it. This file makes the means to act: drivers of models, tools,
 * servers. Keys come from the environment and key files, as always. The log of
 * an imported run counts only if the host allows it.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/json.h"
#include "lib/agent/agent.h"
#include "lib/agent/load.h"
#include "lib/agent/wishes.h"
#include "lib/log/log.h"
#include "lib/run/child.h"

/* The agent in the log. */
struct past {
    wend_run_past seen; /* by the host */
    const struct json *config;
    const char *const *rules; /* its own, which follow the host's */
    size_t rules_count;
};

struct remake {
    struct load load;
    wend_of_run_options o;
    const char *id;
    struct past past;
    wend_str cwd;      /* also of agents inside */
    wend_status fatal; /* why something is missing that could be made */
};

/* What cannot be made again fails later, and the run continues; but nothing is
 * left out because memory is short, or because a callback may not start
 * servers. */
static bool is_lost(struct remake *m, wend_status s)
{
    bool fatal = s == WEND_E_NOMEM || s == WEND_E_MISUSE;

    if (fatal)
        m->fatal = s;
    return s != WEND_OK && !fatal;
}

static const char *text_of(struct remake *m, const struct json *j)
{
    return arena_str(&m->load.arena, json_str(j)).ptr;
}

/* The host overrides the log. */
static bool sandbox_off(const struct remake *m, const struct json *word)
{
    if (m->o.sandbox_on || m->load.agent.sandbox_off)
        return !m->o.sandbox_on;
    return str_is(json_str(word), "off");
}

static uint64_t bytes_of(const struct json *j)
{
    int64_t n;

    return json_i64(j, &n) && n > 0 ? (uint64_t)n : 0;
}

static uint32_t number_of(const struct json *j)
{
    uint64_t n = bytes_of(j);

    return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* A list of strings; *count may be NULL for one that ends with NULL. */
static const char *const *list_of(struct remake *m, const struct json *list,
                                  size_t *count)
{
    size_t n = list ? list->count : 0, i = 0;
    const char **out = arena_alloc(&m->load.arena, (n + 1) * sizeof *out);

    for (const struct json *j = n ? list->first : NULL; out && j; j = j->next)
        out[i++] = text_of(m, j);
    if (count)
        *count = i;
    return out;
}

/* ---- The log ------------------------------------------------------------- */

static void take_config(struct remake *m, wend_str json,
                        const wend_ev_limits *limits)
{
    struct arena *a = &m->load.arena;

    if (json.ptr) {
        m->past.seen.config = arena_str(a, json);
        m->past.config = json_parse(m->past.seen.config, a, NULL);
    }
    if (limits)
        m->past.seen.limits =
            (wend_limits){.turns = (uint32_t)limits->turns,
                          .parallel = (uint32_t)limits->parallel,
                          .time_ms = limits->time_ms,
                          .tokens = limits->tokens,
                          .cost_nano = limits->cost_nano};
}

static wend_status take_event(void *ctx, const wend_event *ev)
{
    struct remake *m = ctx;
    const wend_ev_run_start *e = &ev->u.run_start;

    if (ev->type == WEND_RUN_FORK) {
        take_config(m, ev->u.run_fork.config_json, ev->u.run_fork.limits);
    } else if (ev->type == WEND_RUN_RESUME) {
        take_config(m, ev->u.run_resume.config_json, ev->u.run_resume.limits);
    } else if (ev->type == WEND_RUN_START) {
        m->past.seen.agent = arena_str(&m->load.arena, e->agent);
        m->past.seen.cwd = arena_str(&m->load.arena, e->cwd);
        take_config(m, e->config_json, &e->limits);
    }
    if (m->o.past && ev->type < 64 && m->o.past_types >> ev->type & 1)
        m->o.past(m->o.ctx, ev);
    return WEND_OK;
}

static wend_status read_past(struct remake *m, struct past_log **log)
{
    const struct log_reader reader = {.store = m->load.rt->store,
                                      .mem = &m->load.rt->mem,
                                      .blob = log_text,
                                      .fn = take_event,
                                      .ctx = m};
    wend_status s = past_read(&reader, m->id, m->o.at, log, m->load.err);

    /* The resume refuses what follows the damage. */
    if (s == WEND_E_CORRUPT && m->past.config)
        s = WEND_OK;
    if (m->load.arena.failed)
        s = fail_nomem(m->load.err);
    if (s == WEND_OK && !m->past.config)
        s = fail(m->load.err, WEND_E_CORRUPT,
                 "the log of run %s is damaged at event 1", m->id);
    return s == WEND_OK && m->load.arena.failed ? fail_nomem(m->load.err) : s;
}

/* ---- Tools --------------------------------------------------------------- */

/* The policy of a call comes from the log, so class and category do not matter
 * here, except that a program may use the network. */
static wend_status add_command(struct remake *m, wend_agent *agent,
                               const struct json *t, wend_error *err)
{
    wend_command_options o = {.size = sizeof o};

    o.name = text_of(m, json_get(t, "name"));
    o.argv = list_of(m, json_get(t, "argv"), &o.argv_count);
    o.verify = list_of(m, json_get(t, "verify"), &o.verify_count);
    o.secrets = list_of(m, json_get(t, "secrets"), &o.secrets_count);
    o.network = json_is_true(json_get(t, "network"));
    if (str_is(json_str(json_get(t, "category")), "network"))
        o.category = WEND_CATEGORY_NETWORK;
    o.output_json = json_is_true(json_get(t, "output_json"));
    o.sandbox_off = sandbox_off(m, json_get(t, "sandbox"));
    o.labels = labels_read(json_get(t, "labels"));
    o.per_minute = number_of(json_get(t, "per_minute"));
    o.memory_bytes = bytes_of(json_get(t, "memory"));
    o.disk_bytes = bytes_of(json_get(t, "disk"));
    o.tasks = number_of(json_get(t, "tasks"));
    if (str_is(json_str(json_get(t, "class")), "read")) {
        o.call_class = WEND_CLASS_READ;
        o.cache_ms = number_of(json_get(t, "cache_ms"));
    }
    if (!o.argv || !o.secrets)
        return fail_nomem(err);
    return wend_agent_add_command(agent, &o, err);
}

static void read_server(struct remake *m, const struct json *j,
                        wend_mcp_options *o)
{
    *o = (wend_mcp_options){.size = sizeof *o,
                            .note = m->load.o.note,
                            .note_ctx = m->load.o.note_ctx};
    o->name = text_of(m, json_get(j, "name"));
    o->url = text_of(m, json_get(j, "url"));
    if (!o->url)
        o->command = list_of(m, json_get(j, "command"), NULL);
    o->secrets = list_of(m, json_get(j, "secrets"), &o->secrets_count);
    o->timeout_ms = number_of(json_get(j, "timeout_ms"));
    o->start_timeout_ms = number_of(json_get(j, "start_timeout_ms"));
    o->sandbox_off = sandbox_off(m, json_get(j, "sandbox"));
    o->network = json_is_true(json_get(j, "network"));
    o->trust = json_is_true(json_get(j, "trust"));
    o->connect_ms = load_time_left(&m->load, m->load.agent.limits.time_ms);
}

static void add_servers(struct remake *m, wend_agent *agent,
                        const struct json *servers)
{
    size_t count = servers ? servers->count : 0, i = 0;
    wend_mcp_options *list =
        arena_alloc(&m->load.arena, (count + 1) * sizeof *list);
    wend_error *errs;

    for (const struct json *j = list && count ? servers->first : NULL; j;
         j = j->next)
        read_server(m, j, &list[i++]);
    if (!list || load_mcps(&m->load, agent, list, count, &errs)) {
        m->fatal = WEND_E_NOMEM;
        return;
    }
    for (i = 0; i < count; i++)
        if (is_lost(m, errs[i].status))
            load_say(&m->load, m->load.o.warn,
                     "%s; calls of its tools will fail", errs[i].message);
}

/* The calls of a tool that cannot be made again fail; the run continues. */
static void add_tools(struct remake *m, wend_agent *agent,
                      const struct json *config)
{
    const struct json *list = json_get(config, "tools");

    for (const struct json *t = list ? list->first : NULL; t; t = t->next) {
        const char *name = text_of(m, json_get(t, "name"));
        wend_str source = json_str(json_get(t, "source"));
        wend_error err = {0};
        wend_status s = WEND_OK;

        if (str_is(source, "builtin"))
            s = wend_agent_add_builtin(agent, name, &err);
        else if (str_is(source, "command"))
            s = add_command(m, agent, t, &err);
        else if (!str_is(source, "mcp") && !str_is(source, "planner") &&
                 !str_is(source, "client"))
            load_say(&m->load, m->load.o.warn,
                     "the tool '%s' belongs to the program that started the "
                     "run; its calls will fail",
                     name ? name : "");
        if (is_lost(m, s))
            load_say(&m->load, m->load.o.warn,
                     "the tool '%s' is not there: %s; its calls will fail",
                     name ? name : "", err.message);
    }
    add_servers(m, agent, json_get(config, "mcp"));
}

static void add_relics(struct remake *m, wend_agent *agent,
                       const struct json *relics)
{
    size_t count = relics ? relics->count : 0, i = 0;
    const struct json *first = count ? relics->first : NULL;
    struct arena *a = &m->load.arena;
    wend_manifest_relic *list = arena_alloc(a, (count + 1) * sizeof *list);
    wend_error *errs;

    for (const struct json *r = list ? first : NULL; r; r = r->next) {
        const struct json *file = json_get(r, "manifest");

        list[i++] =
            (wend_manifest_relic){.path = text_of(m, json_get(r, "file")),
                                  .text = file ? json_text(file, a) : STR("")};
    }
    if (a->failed || load_relics(&m->load, agent, list, count,
                                 m->load.agent.limits.time_ms, &errs)) {
        m->fatal = WEND_E_NOMEM;
        return;
    }
    i = 0;
    for (const struct json *r = first; r; r = r->next, i++) {
        wend_str name = json_str(json_get(json_get(r, "manifest"), "name"));

        if (is_lost(m, errs[i].status))
            load_say(&m->load, m->load.o.warn,
                     "the relic '%.*s' is not there: %s; its actions will "
                     "fail",
                     (int)name.len, name.ptr ? name.ptr : "", errs[i].message);
    }
}

/* ---- The agent ----------------------------------------------------------- */

/* *summary: the one with that name; one for summaries alone is no fallback. */
static const char *const *fallbacks_of(struct remake *m,
                                       const struct json *config, size_t *count,
                                       const char **summary)
{
    const struct json *list = json_get(config, "fallback");
    wend_str name = json_str(json_get(config, "summary_model"));
    size_t n = list ? list->count : 0, i = 0;
    const char **out = arena_alloc(&m->load.arena, (n + 1) * sizeof *out);

    for (const struct json *j = n ? list->first : NULL; out && j; j = j->next) {
        struct buf b = {.mem = m->load.arena.mem};
        wend_str url = json_str(json_get(j, "base_url"));

        buf_str(&b, json_str(json_get(j, "model")));
        if (url.ptr) {
            buf_char(&b, '@');
            buf_str(&b, url);
        }
        out[i] = buf_keep(&b, &m->load.arena).ptr;
        if (name.ptr && str_eq(json_str(json_get(j, "name")), name))
            *summary = out[i];
        i += !json_is_true(json_get(j, "aside"));
    }
    *count = i;
    return out;
}

/* A script is found from the run's directory. */
static const char *model_of(struct remake *m, const struct json *config)
{
    static const char prefix[] = "script:";
    wend_str name = json_str(json_get(config, "model"));
    wend_str path = {name.ptr + sizeof prefix - 1,
                     name.len - sizeof prefix + 1};
    struct buf b = {.mem = m->load.arena.mem};

    if (!name.ptr || !str_starts(name, prefix) || !path.len || !m->cwd.ptr ||
        path.ptr[0] == '/' || path.ptr[0] == '{' || path.ptr[0] == '-')
        return arena_str(&m->load.arena, name).ptr;
    buf_cstr(&b, prefix);
    buf_str(&b, m->cwd);
    buf_char(&b, '/');
    buf_str(&b, path);
    return buf_keep(&b, &m->load.arena).ptr;
}

static wend_status make(struct remake *m, const struct past *past,
                        uint32_t take, wend_agent **agent)
{
    const wend_agent_options *host = &m->load.agent;
    const wend_agent_options own = {.rules = past->rules,
                                    .rules_count = past->rules_count};
    const struct json *config = past->config;
    wend_agent_options o = {
        .size = sizeof o,
        .key_file = host->key_file,
        .ca_file = host->ca_file,
        .insecure_http = host->insecure_http,
        .models_file = host->models_file,
        .name = past->seen.agent.ptr,
        .limits = past->seen.limits,
        .cwd = m->cwd.ptr,
    };
    wend_status s = WEND_OK;
    int64_t memories;

    o.model = model_of(m, config);
    o.base_url = text_of(m, json_get(config, "base_url"));
    o.output_tokens = number_of(json_get(config, "output_tokens"));
    if (take & WEND_FORK_POLICY) {
        o.approve = host->approve;
        s = load_lists(&m->load, &own, &o);
    }
    o.sandbox_off = sandbox_off(m, json_get(config, "sandbox"));
    o.network = list_of(m, json_get(config, "network"), &o.network_count);
    o.guarded = list_of(m, json_get(config, "guarded"), &o.guarded_count);
    o.label_rows = list_of(m, json_get(json_get(config, "policy"), "labels"),
                           &o.label_rows_count);
    o.project = str_is(json_str(json_get(config, "notes")), "off")
                    ? WEND_PROJECT_OFF
                    : host->project;
    o.memory_user =
        str_is(json_str(json_get(json_get(config, "memory"), "scope")), "user");
    if (json_i64(json_get(config, "max_memories"), &memories))
        o.max_memories = (uint32_t)memories;
    o.fallbacks = fallbacks_of(m, config, &o.fallbacks_count, &o.summary_model);
    if (!s)
        s = wishes_past(&m->load, config, take, &o);
    if (take & WEND_FORK_MODEL) {
        /* Another model of the provider is found where this one was. */
        if (host->base_url || !o.model ||
            (host->model && !wish_same_api(host->model, o.model)))
            o.base_url = host->base_url;
        o.fallbacks = host->fallbacks;
        o.fallbacks_count = host->fallbacks_count;
        o.summary_model = host->summary_model;
        o.output_tokens = 0;
        if (host->model)
            o.model = host->model;
    }
    load_limits(&o.limits, &host->limits, true);
    if (m->load.arena.failed)
        return fail_nomem(m->load.err);
    return s ? s : wend_agent_new(m->load.rt, &o, agent, m->load.err);
}

/* ---- Its children -------------------------------------------------------- */

static wend_status make_whole(struct remake *m, const struct past *past,
                              uint32_t take, wend_agent **agent);

static wend_status add_child(struct remake *m, wend_agent *parent,
                             const struct json *child, wend_agent *agent,
                             wend_error *err)
{
    wend_child_options o = {.size = sizeof o, .agent = agent};
    wend_str text = json_text(json_get(child, "plan"), &m->load.arena);
    wend_plan *plan = NULL;
    wend_status s = WEND_OK;

    o.name = text_of(m, json_get(child, "name"));
    if (m->load.arena.failed)
        return fail_nomem(err);
    if (text.ptr) {
        s = wend_plan_parse(text, NULL, &plan, err);
        o.plan = plan;
    }
    if (s == WEND_OK)
        s = wend_agent_add_agent(parent, &o, err);
    wend_plan_free(plan);
    return s;
}

static const struct json *rules_of(const struct json *config)
{
    return json_get(json_get(config, "policy"), "rules");
}

/* The host's rules come first in both, and what it adds to allow the rest comes
 * last. */
static void keep_rules(struct remake *m, const struct json *outer,
                       struct past *past)
{
    const struct json *own = rules_of(past->config), *theirs = rules_of(outer);
    const struct json *at = theirs ? theirs->first : NULL;
    size_t same = 0, count;
    const char *const *list = list_of(m, own, &count);

    for (const struct json *j = own ? own->first : NULL;
         j && at && str_eq(json_str(j), json_str(at)); j = j->next) {
        same++;
        at = at->next;
    }
    while (at && at->next)
        at = at->next;
    if (!list)
        return;
    past->rules = list + same;
    past->rules_count = count - same;
    if (at && past->rules_count && str_is(json_str(at), "*") &&
        !strcmp(list[count - 1], "*"))
        past->rules_count--;
}

static void keep_limits(const struct json *j, wend_limits *l)
{
    l->turns = number_of(json_get(j, "turns"));
    l->parallel = number_of(json_get(j, "parallel"));
    l->time_ms = (int64_t)bytes_of(json_get(j, "time_ms"));
    l->tokens = (int64_t)bytes_of(json_get(j, "tokens"));
    l->cost_nano = (int64_t)bytes_of(json_get(j, "cost_nano"));
}

/* What is taken from the host reaches those that inherit it. The tasks of one
 * that cannot be made again fail; the run continues. */
static void add_children(struct remake *m, wend_agent *parent,
                         const struct json *config, uint32_t take)
{
    const struct json *list = json_get(config, "agents");
    wend_error *outer = m->load.err, err;

    m->load.err = &err;
    for (const struct json *k = list ? list->first : NULL; k; k = k->next) {
        struct past past = {.config = json_get(k, "config")};
        uint32_t inherits = child_inherits(k);
        wend_agent *agent = NULL;
        wend_status s;

        fail_clear(&err);
        past.seen.agent =
            arena_str(&m->load.arena, json_str(json_get(k, "agent")));
        keep_rules(m, config, &past);
        keep_limits(json_get(k, "limits"), &past.seen.limits);
        s = make_whole(m, &past, take & inherits, &agent);
        if (s == WEND_OK)
            agent->inherits = inherits;
        if (s == WEND_OK)
            s = add_child(m, parent, k, agent, &err);
        if (is_lost(m, s))
            load_say(&m->load, m->load.o.warn,
                     "the agent '%s' is not there%s%s; its tasks will fail",
                     past.seen.agent.ptr ? past.seen.agent.ptr : "",
                     err.message[0] ? ": " : "", err.message);
        wend_agent_free(agent);
    }
    m->load.err = outer;
}

/* From its log, but for what is to be taken from elsewhere. Recursion is
 * bounded by the depth of JSON. */
static wend_status make_whole(struct remake *m, const struct past *past,
                              uint32_t take, wend_agent **agent)
{
    wend_status s = make(m, past, take, agent);

    if (s)
        return s;
    add_relics(m, *agent, json_get(past->config, "relics"));
    add_children(m, *agent, past->config, take);
    if (!(take & WEND_FORK_TOOLS)) {
        add_tools(m, *agent, past->config);
        return WEND_OK;
    }
    s = load_tools(&m->load, *agent, NULL, false);
    return s ? s : load_servers(&m->load, *agent, NULL, false, &m->load.agent);
}

/* ---- Public -------------------------------------------------------------- */

static wend_status review(const struct remake *m)
{
    if (m->o.review)
        return m->o.review(m->o.ctx, &m->past.seen, m->load.err);
    if (!m->past.seen.imported)
        return WEND_OK;
    return fail(m->load.err, WEND_E_STALE,
                "run %s was imported: its log does not say which programs "
                "start and where keys are sent; give wend_run_resume an agent "
                "of your own, or let options.review answer for it",
                m->id);
}

static wend_status remake(struct remake *m, wend_agent **out)
{
    struct arena *a = &m->load.arena;
    struct past_log *log = NULL;
    wend_run_info *info = NULL;
    wend_agent *agent = NULL;
    wend_status s = store_info(m->load.rt->store, m->id, a, &info, m->load.err);

    m->past.seen.run = str_of(m->id);
    m->past.seen.imported = s == WEND_OK && info->imported;
    if (!s)
        s = read_past(m, &log);
    if (!s)
        s = review(m);
    if (!s) /* which may have filled it in */
        s = load_take(&m->load, m->o.load);
    m->cwd = m->past.seen.cwd;
    if (!s && m->o.take & WEND_FORK_CONFIG)
        s = wend_agent_load(m->load.rt, NULL, m->o.load, &agent, m->load.err);
    else if (!s)
        s = make_whole(m, &m->past, m->o.take, &agent);
    if (!s && (m->fatal == WEND_E_NOMEM || a->failed))
        s = fail_nomem(m->load.err);
    else if (!s && m->fatal)
        s = fail(m->load.err, m->fatal,
                 "agent of a run: its servers cannot start inside a callback");
    if (!s) {
        agent->past = log;
        log = NULL;
        *out = agent;
        agent = NULL;
    }
    wend_agent_free(agent);
    past_free(log);
    return s;
}

wend_status wend_agent_of_run(wend_runtime *rt, const char *id,
                              const wend_of_run_options *options,
                              wend_agent **out, wend_error *err)
{
    struct remake m = {.id = id};
    wend_status s;

    if (!out || !id || !run_id_valid(str_of(id)) ||
        !OPTIONS_TAKE(&m.o, wend_of_run_options, ctx, options) ||
        m.o.take > 2 * WEND_FORK_PARAMS - 1)
        return fail(
            err, WEND_E_INVAL,
            "agent of a run: out is NULL, id is not the id of a run, or "
            "options.size or take is wrong");
    *out = NULL;
    s = load_begin(&m.load, rt, "agent of a run", err);
    if (s)
        return s;
    s = rt_check_store(rt, err);
    if (!s)
        s = remake(&m, out);
    return load_end(&m.load, s, out);
}

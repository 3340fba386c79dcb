/*
 * again.c - the agent of a run, made again from what its log says.
 *
 * run_start.config has all that the run is, or run_fork.config of a fork
 * that changed it; here are only the hands: which models are asked and
 * where, which tools there are. Keys come from where they always come from.
 * That of an imported run counts only if the user has seen it and said yes.
 */
#include "cli/agent/again.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/json.h"
#include "cli/agent/agent_make.h"
#include "cli/agent/agent_tools.h"
#include "cli/agent/relics.h"
#include "cli/agent/servers.h"
#include "cli/authority.h"
#include "cli/config.h"
#include "wire/file/manifest.h"

/* What the log says. */
struct past {
    wend_str agent, cwd;
    wend_limits limits;
    const struct json *config;
};

static const char *text_of(struct cli *cli, const struct json *j)
{
    return arena_str(&cli->arena, json_str(j)).ptr;
}

static bool is_true(const struct json *j)
{
    return j && j->kind == JSON_TRUE;
}

/* The command line's word goes before the log's. */
static bool sandbox_off(const struct cli *cli, const struct json *word)
{
    return cli->given.sandbox >= 0 ? cli->given.sandbox == 1
                                   : str_is(json_str(word), "off");
}

static uint32_t number_of(const struct json *j)
{
    int64_t n;

    return json_i64(j, &n) && n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static uint64_t bytes_of(const struct json *j)
{
    int64_t n;

    return json_i64(j, &n) && n > 0 ? (uint64_t)n : 0;
}

/* A list of strings; *count may be NULL for one that ends with NULL. */
static const char *const *list_of(struct cli *cli, const struct json *list,
                                  size_t *count)
{
    size_t n = list ? list->count : 0, i = 0;
    const char **out = arena_alloc(&cli->arena, (n + 1) * sizeof *out);

    for (const struct json *j = n ? list->first : NULL; out && j; j = j->next)
        out[i++] = text_of(cli, j);
    if (count)
        *count = i;
    return out;
}

/* ---- The log ------------------------------------------------------------- */

static int damaged(const char *id)
{
    return complain(EXIT_STORE, "the log of run %s is damaged at event 1", id);
}

static void take_config(struct cli *cli, struct past *past, wend_str json,
                        const wend_ev_limits *limits)
{
    if (json.ptr)
        past->config =
            json_parse_own(arena_str(&cli->arena, json), &cli->arena, NULL);
    if (limits)
        past->limits = (wend_limits){.turns = (uint32_t)limits->turns,
                                     .parallel = (uint32_t)limits->parallel,
                                     .time_ms = limits->time_ms,
                                     .tokens = limits->tokens,
                                     .cost_nano = limits->cost_nano};
}

static bool take_event(struct cli *cli, struct past *past, const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    if (ev->type == WEND_RUN_FORK) {
        take_config(cli, past, ev->u.run_fork.config_json,
                    ev->u.run_fork.limits);
        return true;
    }
    if (ev->type == WEND_RUN_RESUME) {
        take_config(cli, past, ev->u.run_resume.config_json,
                    ev->u.run_resume.limits);
        return true;
    }
    past->agent = arena_str(&cli->arena, e->agent);
    past->cwd = arena_str(&cli->arena, e->cwd);
    take_config(cli, past, e->config_json, &e->limits);
    return true;
}

static int read_past(struct cli *cli, const char *id, int64_t to,
                     struct past *out)
{
    wend_replay_options o = {.size = sizeof o,
                             .seq_to = to,
                             .filter.types = UINT64_C(1) << WEND_RUN_START |
                                             UINT64_C(1) << WEND_RUN_FORK |
                                             UINT64_C(1) << WEND_RUN_RESUME};
    const wend_event *ev = NULL;
    wend_run *log = NULL;
    wend_error err = {0};
    wend_status s = wend_store_replay(cli->rt, id, &o, &log, &err);
    int code = EXIT_DONE;

    if (s != WEND_OK)
        return give_up(cli, s, &err);
    do
        s = wend_run_next(log, &ev);
    while (s == WEND_OK && take_event(cli, out, ev));
    if (s < 0 && s != WEND_E_CORRUPT)
        code = give_up(cli, s, wend_run_error(log));
    else if (!out->config)
        code = damaged(id);
    wend_run_free(log);
    return cli->arena.failed ? complain(EXIT_FAILED, "out of memory") : code;
}

/* ---- Tools --------------------------------------------------------------- */

static uint32_t labels_of(const struct json *list)
{
    static const char *const names[] = {"untrusted_source", "sensitive",
                                        "external_effect"};
    uint32_t labels = 0;

    for (const struct json *j = list ? list->first : NULL; j; j = j->next) {
        int i = str_index(json_str(j), names, 3);

        labels |= i < 0 ? 0 : UINT32_C(1) << i;
    }
    return labels;
}

/* What policy says about a call is the log's: class and category are not
 * needed once more, but that a program may use the network is. */
static wend_status add_command(struct cli *cli, wend_agent *agent,
                               const struct json *t, wend_error *err)
{
    wend_command_options o = {.size = sizeof o};

    o.name = text_of(cli, json_get(t, "name"));
    o.argv = list_of(cli, json_get(t, "argv"), &o.argv_count);
    o.verify = list_of(cli, json_get(t, "verify"), &o.verify_count);
    o.secrets = list_of(cli, json_get(t, "secrets"), &o.secrets_count);
    o.network = is_true(json_get(t, "network"));
    if (str_is(json_str(json_get(t, "category")), "network"))
        o.category = WEND_CATEGORY_NETWORK;
    o.output_json = is_true(json_get(t, "output_json"));
    o.sandbox_off = sandbox_off(cli, json_get(t, "sandbox"));
    o.labels = labels_of(json_get(t, "labels"));
    o.per_minute = number_of(json_get(t, "per_minute"));
    o.memory_bytes = bytes_of(json_get(t, "memory"));
    o.disk_bytes = bytes_of(json_get(t, "disk"));
    o.tasks = number_of(json_get(t, "tasks"));
    if (str_is(json_str(json_get(t, "class")), "read")) {
        o.call_class = WEND_CLASS_READ;
        o.cache_ms = number_of(json_get(t, "cache_ms"));
    }
    if (!o.argv || !o.secrets)
        return WEND_E_NOMEM;
    return wend_agent_add_command(agent, &o, err);
}

static void read_server(struct cli *cli, const struct json *m,
                        wend_mcp_options *o)
{
    *o = (wend_mcp_options){
        .size = sizeof *o, .note = server_say, .note_ctx = cli};
    o->name = text_of(cli, json_get(m, "name"));
    o->url = text_of(cli, json_get(m, "url"));
    if (!o->url)
        o->command = list_of(cli, json_get(m, "command"), NULL);
    o->secrets = list_of(cli, json_get(m, "secrets"), &o->secrets_count);
    o->timeout_ms = number_of(json_get(m, "timeout_ms"));
    o->start_timeout_ms = number_of(json_get(m, "start_timeout_ms"));
    o->sandbox_off = sandbox_off(cli, json_get(m, "sandbox"));
    o->network = is_true(json_get(m, "network"));
    o->trust = is_true(json_get(m, "trust"));
    o->connect_ms = (uint32_t)cli->set.timeout_ms;
}

static void add_servers(struct cli *cli, wend_agent *agent,
                        const struct json *servers)
{
    size_t count = 0, i = 0;
    const wend_mcp_options **list;
    wend_mcp_options *options;
    wend_error *errs;

    for (const struct json *m = servers ? servers->first : NULL; m; m = m->next)
        count++;
    list = arena_alloc(&cli->arena, (count + 1) * sizeof *list);
    options = arena_alloc(&cli->arena, (count + 1) * sizeof *options);
    errs = arena_alloc(&cli->arena, (count + 1) * sizeof *errs);
    if (!list || !options || !errs) {
        complain(0, "out of memory; calls of servers' tools will fail");
        return;
    }
    for (const struct json *m = count ? servers->first : NULL; m; m = m->next) {
        read_server(cli, m, &options[i]);
        list[i] = &options[i];
        i++;
    }
    wend_agent_add_mcps(agent, list, count, errs);
    for (i = 0; i < count; i++)
        if (errs[i].status != WEND_OK)
            complain(0, "%s; calls of its tools will fail", errs[i].message);
}

/* A tool that cannot be made again fails its calls; the run goes on. */
static void add_tools(struct cli *cli, wend_agent *agent,
                      const struct json *config)
{
    const struct json *list = json_get(config, "tools");

    for (const struct json *t = list ? list->first : NULL; t; t = t->next) {
        const char *name = text_of(cli, json_get(t, "name"));
        wend_str source = json_str(json_get(t, "source"));
        wend_error err = {0};
        wend_status s = WEND_OK;

        if (str_is(source, "builtin"))
            s = wend_agent_add_builtin(agent, name, &err);
        else if (str_is(source, "command"))
            s = add_command(cli, agent, t, &err);
        else if (!str_is(source, "mcp") && !str_is(source, "planner"))
            complain(0,
                     "the tool '%s' belongs to the program that started "
                     "the run; its calls will fail",
                     name ? name : "");
        if (s != WEND_OK)
            complain(0, "the tool '%s' is not there: %s; its calls will fail",
                     name ? name : "", err.message);
    }
    add_servers(cli, agent, json_get(config, "mcp"));
}

static void add_relics(struct cli *cli, wend_agent *agent,
                       const struct json *list)
{
    size_t count = list ? list->count : 0, i = 0;
    struct relic_list relics;
    bool ok = relic_list_new(cli, count, &relics);

    for (const struct json *r = ok && count ? list->first : NULL; r;
         r = r->next) {
        const struct json *m = json_get(r, "manifest");

        relic_list_put(cli, &relics, m ? json_text(m, &cli->arena) : STR(""),
                       text_of(cli, json_get(r, "file")));
    }
    if (!ok || cli->arena.failed ||
        relic_list_add(&relics, agent) == WEND_E_NOMEM) {
        complain(0, "out of memory; actions of relics will fail");
        return;
    }
    for (const struct json *r = count ? list->first : NULL; r; r = r->next) {
        const wend_error *err = &relics.errs[i++];
        wend_str name = json_str(json_get(json_get(r, "manifest"), "name"));

        if (err->status != WEND_OK)
            complain(0,
                     "the relic '%.*s' is not there: %s; its actions will fail",
                     (int)name.len, name.ptr ? name.ptr : "", err->message);
    }
}

/* ---- The agent ----------------------------------------------------------- */

static const char *const *fallbacks_of(struct cli *cli, const struct json *list,
                                       size_t *count)
{
    size_t n = list ? list->count : 0, i = 0;
    const char **out = arena_alloc(&cli->arena, (n + 1) * sizeof *out);

    for (const struct json *j = n ? list->first : NULL; out && j; j = j->next) {
        struct buf b = {.mem = cli->arena.mem};
        wend_str url = json_str(json_get(j, "base_url"));

        buf_str(&b, json_str(json_get(j, "model")));
        if (url.ptr) {
            buf_char(&b, '@');
            buf_str(&b, url);
        }
        out[i++] = buf_keep(&b, &cli->arena).ptr;
    }
    *count = i;
    return out;
}

static void take_limits(const struct settings *given, wend_limits *l)
{
    if (given->max_turns)
        l->turns = (uint32_t)given->max_turns;
    if (given->parallel)
        l->parallel = (uint32_t)given->parallel;
    if (given->timeout_ms)
        l->time_ms = given->timeout_ms;
    if (given->budget_tokens)
        l->tokens = given->budget_tokens;
    if (given->budget_cost)
        l->cost_nano = given->budget_cost;
}

static int make(struct cli *cli, const struct past *past, uint32_t take,
                wend_agent **agent)
{
    const struct settings *set = &cli->set;
    const struct json *config = past->config;
    wend_agent_options o = {
        .size = sizeof o,
        .key_file = set->key_file,
        .ca_file = set->ca_file,
        .insecure_http = set->insecure_http,
        .models_file = set->models,
        .name = past->agent.ptr,
        .limits = past->limits,
    };
    wend_error err = {0};
    wend_status s;
    int code = EXIT_DONE;
    bool asks, rest;

    o.model = text_of(cli, json_get(config, "model"));
    o.base_url = text_of(cli, json_get(config, "base_url"));
    o.output_tokens = number_of(json_get(config, "output_tokens"));
    o.sandbox_off = sandbox_off(cli, json_get(config, "sandbox"));
    o.network = list_of(cli, json_get(config, "network"), &o.network_count);
    o.guarded = list_of(cli, json_get(config, "guarded"), &o.guarded_count);
    o.label_rows = list_of(cli, json_get(json_get(config, "policy"), "labels"),
                           &o.label_rows_count);
    o.memory_user =
        str_is(json_str(json_get(json_get(config, "memory"), "scope")), "user");
    o.fallbacks =
        fallbacks_of(cli, json_get(config, "fallback"), &o.fallbacks_count);
    if (take & WEND_FORK_MODEL) {
        o.base_url = cli->given.base_url;
        o.fallbacks = cli->given.fallback.items;
        o.fallbacks_count = cli->given.fallback.count;
        o.output_tokens = 0;
        if (cli->given.model)
            o.model = cli->given.model;
    }
    take_limits(&cli->given, &o.limits);
    cli->past_tools = json_get(config, "tools");
    if (take & WEND_FORK_POLICY)
        code = agent_approve(cli, &o, &asks, &rest);
    if (cli->arena.failed)
        return complain(EXIT_FAILED, "out of memory");
    if (code)
        return code;
    s = wend_agent_new(cli->rt, &o, agent, &err);
    if (s == WEND_OK)
        key_file_look(set);
    return s == WEND_OK ? EXIT_DONE : give_up(cli, s, &err);
}

/* The settings' tools, which are read from where the command was called. */
static int given_tools(struct cli *cli, wend_agent *agent)
{
    wend_load_options o = {.size = sizeof o};
    wend_error err = {0};
    wend_status s = WEND_OK;
    int code = tools_fill(cli, &o);

    if (!o.tools)
        o.tools = manifest_tools_default;
    for (size_t i = 0; !code && !s &&
                       (o.tools_count ? i < o.tools_count : o.tools[i] != NULL);
         i++)
        s = wend_agent_add_builtin(agent, o.tools[i], &err);
    for (size_t i = 0; !code && !s && i < o.commands_count; i++)
        s = wend_agent_add_command(agent, o.commands[i], &err);
    if (!code && !s)
        wend_agent_add_mcps(agent, o.servers, o.servers_count, NULL);
    return code || !s ? code : give_up(cli, s, &err);
}

/* ---- Its children -------------------------------------------------------- */

static int make_whole(struct cli *cli, const struct past *past, uint32_t take,
                      wend_agent **agent);

static wend_status add_kid(struct cli *cli, wend_agent *parent,
                           const struct json *kid, wend_agent *agent,
                           wend_error *err)
{
    wend_kid_options o = {.size = sizeof o, .agent = agent};
    wend_str text = json_text(json_get(kid, "plan"), &cli->arena);
    wend_plan *plan = NULL;
    wend_status s = WEND_OK;

    o.name = text_of(cli, json_get(kid, "name"));
    if (cli->arena.failed)
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

/* One that cannot be made again fails its tasks; the run goes on. */
static void add_kids(struct cli *cli, wend_agent *parent,
                     const struct json *list)
{
    for (const struct json *k = list ? list->first : NULL; k; k = k->next) {
        struct past past = {.config = json_get(k, "config")};
        wend_agent *agent = NULL;
        wend_error err = {0};

        past.agent = arena_str(&cli->arena, json_str(json_get(k, "agent")));
        if (make_whole(cli, &past, 0, &agent) ||
            add_kid(cli, parent, k, agent, &err) != WEND_OK)
            complain(0, "the agent '%s' is not there%s%s; its tasks will fail",
                     past.agent.ptr ? past.agent.ptr : "",
                     err.message[0] ? ": " : "", err.message);
        wend_agent_free(agent);
    }
}

/* From its log, but for what is to be taken from elsewhere. Recursion is
 * bounded by the depth of JSON. */
static int make_whole(struct cli *cli, const struct past *past, uint32_t take,
                      wend_agent **agent)
{
    int code = make(cli, past, take, agent);

    if (code)
        return code;
    add_relics(cli, *agent, json_get(past->config, "relics"));
    add_kids(cli, *agent, json_get(past->config, "agents"));
    if (take & WEND_FORK_TOOLS)
        return given_tools(cli, *agent);
    add_tools(cli, *agent, past->config);
    return EXIT_DONE;
}

/* A script is found from here, also when the run is of another directory. */
static int whole_path(struct cli *cli)
{
    const char *name = cli->given.model;
    struct buf b = {.mem = cli->arena.mem};
    char *path;

    if (!name || !str_starts(str_of(name), "script:") || name[7] == '{')
        return EXIT_DONE;
    path = realpath(name + 7, NULL);
    if (!path)
        return EXIT_DONE; /* the agent says what is wrong with it */
    buf_fmt(&b, "script:%s", path);
    cli->given.model = cli->set.model = buf_keep(&b, &cli->arena).ptr;
    free(path);
    return cli->arena.failed ? complain(EXIT_FAILED, "out of memory")
                             : EXIT_DONE;
}

/* Of the log nothing counts: as run makes it. */
static int make_given(struct cli *cli, struct again *how, wend_agent **agent)
{
    bool asks;

    if (!cli->set.model || !*cli->set.model)
        return complain(EXIT_USAGE,
                        "no model is set: the run was imported, so that its "
                        "log does not name one; give -m NAME or -a FILE");
    how->take = WEND_FORK_CONFIG | WEND_FORK_LIMITS;
    return agent_make(cli, agent, &asks);
}

int again_agent(struct cli *cli, const char *id, struct again *how,
                wend_agent **agent)
{
    uint32_t take = how->take;
    struct past past = {0};
    bool asks;
    int code = whole_path(cli);

    if (!code && how->imported && (take || cli->given.sandbox >= 0))
        return make_given(cli, how, agent);
    if (!code)
        code = read_past(cli, id, how->at, &past);
    if (!code && how->imported)
        code = authority_ask(cli, id, past.cwd, past.config);
    how->trust_log = !code && how->imported;
    if (!code && take & WEND_FORK_TOOLS)
        code = tools_load(cli);
    if (code)
        return code;
    /* Files that the run names by relative paths are found from there. */
    if (past.cwd.ptr && chdir(past.cwd.ptr))
        return complain(EXIT_USAGE, "the directory of run %s, %s: %s", id,
                        past.cwd.ptr, strerror(errno));
    return take & WEND_FORK_CONFIG ? agent_make(cli, agent, &asks)
                                   : make_whole(cli, &past, take, agent);
}

/*
 * doctor_ask.c - wend doctor: the model, its provider and the MCP servers,
 * with the settings and the code of `wend run`.
 */
#include "cli/cmd/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/config.h"
#include "wire/model/local.h"
#include "wire/model/model.h"

enum {
    PROBE_MS = 10000,  /* for each answer: doctor must not hang */
    PROBE_TOKENS = 16, /* of the smallest answer */
};

static bool is_script(const struct finding *f)
{
    return str_starts(str_of(f->d->agent.model), "script:");
}

/* The variable with the key of the model's provider; NULL: it needs none. */
static const char *key_env(const struct finding *f)
{
    const char *model = f->d->agent.model, *colon = strchr(model, ':');
    const struct codec *c =
        codec_find((wend_str){model, colon ? (size_t)(colon - model) : 0});

    return c ? c->key_env : NULL;
}

static void fix_key(struct finding *f, enum mark mark)
{
    struct buf fix = {.mem = &cli_mem};
    const char *env = key_env(f);

    if (env)
        buf_fmt(&fix, "export %s=KEY, or give a file with --key-file", env);
    else
        buf_cstr(&fix, "give a file with --key-file");
    found(f, mark, fix.ptr);
}

/* ---- The model ----------------------------------------------------------- */

/* As for `run`, which refuses to start. */
static void fail_unset(struct finding *f)
{
    struct buf fix = {.mem = &cli_mem};
    bool named;

    buf_cstr(&f->what, "not set");
    buf_cstr(&fix, "wend run -m PROVIDER:NAME, or write 'model: PROVIDER:NAME' "
                   "into ");
    if (!config_path(&fix, &named))
        buf_cstr(&fix, "the config file");
    buf_cstr(&fix, "; 'wend models' lists names");
    found(f, MARK_FAIL, fix.ptr);
}

void check_model(struct finding *f)
{
    const wend_agent_options *o = &f->d->agent;
    struct cli *cli = f->cli;

    if (!o->model || !*o->model) {
        fail_unset(f);
        return;
    }
    if (cli->rt &&
        wend_agent_new(cli->rt, o, &f->d->probe, &cli->err) == WEND_OK) {
        buf_cstr(&f->what, o->model);
        return;
    }
    buf_cstr(&f->what, cli->err.message);
    if (strstr(cli->err.message, "no key for"))
        fix_key(f, MARK_FAIL);
    else
        found(f, MARK_FAIL,
              is_script(f) ? "fix the script, or use another model with -m"
                           : "use another model with -m; 'wend models' lists "
                             "what is known");
}

/* ---- The provider -------------------------------------------------------- */

/* `llama3` is `llama3:latest`. */
static bool has_model(const wend_model_list *list, wend_str name)
{
    for (size_t i = 0; i < list->count; i++) {
        wend_str n = list->models[i].name;

        if (str_eq(n, name) ||
            (n.len > name.len && n.ptr[name.len] == ':' &&
             !memcmp(n.ptr, name.ptr, name.len) &&
             str_is((wend_str){n.ptr + name.len, n.len - name.len}, ":latest")))
            return true;
    }
    return false;
}

static void judge_list(struct finding *f, const wend_model_list *list)
{
    const char *model = f->d->agent.model;
    const char *name = strchr(model, ':') + 1;
    struct buf fix = {.mem = &cli_mem};

    buf_str(&f->what, list->url);
    buf_fmt(&f->what, " answers, with %zu model%s", list->count,
            list->count == 1 ? "" : "s");
    if (has_model(list, str_of(name)))
        return;
    buf_fmt(&f->what, ", but '%s' is not one of them", name);
    buf_fmt(&fix, "wend models %.*s%s%s", (int)(name - 1 - model), model,
            f->d->agent.base_url ? " --base-url " : "",
            f->d->agent.base_url ? f->d->agent.base_url : "");
    found(f, list->count ? MARK_FAIL : MARK_NOTE, fix.ptr);
}

/* A server without a list answers the smallest request. */
static void ask_smallest(struct finding *f)
{
    wend_agent_options o = f->d->agent;
    struct cli *cli = f->cli;
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    wend_status s;

    o.output_tokens = PROBE_TOKENS;
    o.model_timeout_ms = o.limits.time_ms = PROBE_MS;
    o.limits.turns = 1;
    o.record_dir = NULL;
    o.fallbacks_count = 0;
    s = wend_runtime_new(NULL, &rt, &cli->err);
    if (s == WEND_OK)
        s = wend_agent_new(rt, &o, &agent, &cli->err);
    if (s == WEND_OK)
        s = wend_run_start(agent, STR("hi"), NULL, &run, &cli->err);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK)
        if (ev->type == WEND_RUN_END && ev->u.run_end.error) {
            buf_str(&f->what, ev->u.run_end.error->message);
            found(f, MARK_FAIL, "check the model, the key and --base-url");
        }
    if (f->mark == MARK_OK && s != WEND_END) {
        buf_cstr(&f->what, cli->err.message);
        found(f, MARK_FAIL, "check the model, the key and --base-url");
    } else if (f->mark == MARK_OK) {
        buf_cstr(&f->what, "answers a small request; it has no list of models");
    }
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
}

static void judge_failure(struct finding *f, wend_status s)
{
    const char *said = f->cli->err.message, *start;

    if (s == WEND_E_NOTFOUND) {
        ask_smallest(f);
        return;
    }
    buf_cstr(&f->what, said);
    start = strstr(said, "start it: ");
    if (s == WEND_E_STALE)
        fix_key(f, MARK_FAIL);
    else if (start)
        found(f, MARK_FAIL,
              arena_str(&f->cli->arena, str_of(start + strlen("start it: ")))
                  .ptr);
    else
        found(f, MARK_FAIL,
              f->d->agent.base_url
                  ? "check --base-url, and that the server runs: curl -v URL"
                  : "check the network and the proxy variables: curl -v URL");
}

void check_provider(struct finding *f)
{
    wend_agent_options o = f->d->agent;
    wend_status s;

    if (f->cli->set.offline || !f->d->probe || is_script(f) || o.playback_dir) {
        buf_cstr(&f->what, f->cli->set.offline ? "not asked: --offline"
                           : !f->d->probe      ? "not asked: no model"
                                          : "not asked: no network needed");
        return;
    }
    o.model_timeout_ms = PROBE_MS;
    s = wend_models_ask(f->cli->rt, &o, &f->d->list, &f->cli->err);
    if (s == WEND_OK)
        judge_list(f, f->d->list);
    else
        judge_failure(f, s);
}

/* ---- MCP servers --------------------------------------------------------- */

static void fix_program(struct buf *fix, const wend_mcp_options *o,
                        const char *said)
{
    const char *program = o->command[0];
    bool path = strchr(program, '/') != NULL;

    if (strstr(said, "there is no such program"))
        buf_fmt(fix,
                path ? "%s: check this path, and that what its first line "
                       "names is installed"
                     : "%s is not found in PATH: install it, or give its path",
                program);
    else if (path && access(program, X_OK))
        buf_fmt(fix, "chmod +x %s", program);
    else
        buf_fmt(fix, "run it by hand: %s%s", program,
                o->command[1] ? " ..." : "");
}

static void put_server(struct finding *f, const wend_mcp_options *o,
                       const wend_error *err)
{
    struct buf fix = {.mem = &cli_mem};

    buf_fmt(&f->what, "%s%s: %s", f->what.len ? "; " : "", o->name,
            err->status == WEND_OK ? "ok" : err->message);
    if (err->status == WEND_OK)
        return;
    if (err->status == WEND_E_STALE)
        buf_fmt(&fix,
                "look at its tools, then accept them: wend tools --mcp "
                "'%s=%s' --accept",
                o->name, o->url ? o->url : "COMMAND");
    else if (o->url)
        buf_fmt(&fix, "check that %s answers: curl -v %s", o->name, o->url);
    else
        fix_program(&fix, o, err->message);
    if (f->mark != MARK_FAIL)
        found(f, MARK_FAIL, fix.ptr);
}

/* Those of the options and of the agent's file, all at once. */
void check_servers(struct finding *f)
{
    struct doctor *d = f->d;
    const wend_manifest *m = f->cli->agent;
    size_t more = m ? m->servers_count : 0,
           count = d->load.servers_count + more;
    struct arena *a = &f->cli->arena;
    wend_mcp_options *all = arena_alloc(a, (count + 1) * sizeof *all);
    const wend_mcp_options **list = arena_alloc(a, (count + 1) * sizeof *list);
    wend_error *errs = arena_alloc(a, (count + 1) * sizeof *errs);

    if (!count || f->cli->set.offline || !d->probe) {
        buf_cstr(&f->what, !count ? "none" : "not asked");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = i < more ? *m->servers[i] : *d->load.servers[i - more];
        all[i].look = true;
        all[i].note = NULL;
        list[i] = &all[i];
    }
    wend_agent_add_mcps(d->probe, list, count, errs);
    for (size_t i = 0; i < count; i++)
        put_server(f, list[i], &errs[i]);
}

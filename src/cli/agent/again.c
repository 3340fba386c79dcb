/*
 * again.c - the agent of a run, by wend_agent_of_run: what the options say
 * instead of the log, and what the user says to an imported one.
 */
#include "cli/agent/agent.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/config.h"
#include "cli/term.h"
#include "cli/trust.h"
#include "cli/view/view.h"

struct looking {
    struct cli *cli;
    struct again *how;
    const char *id;
    wend_load_options load;
    wend_agent_options agent;
    int code; /* why it was refused; what is wrong has been said */
};

/* ---- Authority ----------------------------------------------------------- */

uint32_t authority_given(const struct settings *given)
{
    uint32_t take = 0;

    if (given->agent)
        take |= WEND_FORK_CONFIG | WEND_FORK_LIMITS;
    if (given->model || given->base_url || given->fallback.count)
        take |= WEND_FORK_MODEL;
    if (given->params.count)
        take |= WEND_FORK_PARAMS;
    if (given->tools.count || given->tool_files.count || given->servers.count)
        take |= WEND_FORK_TOOLS;
    if (given->approve.count)
        take |= WEND_FORK_POLICY;
    if (given->max_turns || given->timeout_ms || given->budget_tokens ||
        given->budget_cost || given->parallel)
        take |= WEND_FORK_LIMITS;
    return take;
}

/* ---- An imported log ----------------------------------------------------- */

/* The description of a tool for the model grants no permission. */
static bool is_shown(wend_str key)
{
    static const char *const words[] = {"description", "schema"};

    return str_index(key, words, 2) < 0;
}

/* As JSON, so that no text can look like another line. */
static void put_one(struct buf *b, const struct json *j)
{
    struct buf text = {.mem = b->mem};

    json_put(&text, j);
    term_text(b, buf_view(&text));
}

static void put_tree(struct buf *b, const struct json *j, int depth)
{
    for (const struct json *m = j->first; m; m = m->next) {
        bool nested = (m->kind == JSON_OBJECT || m->kind == JSON_ARRAY) &&
                      m->first != NULL;

        if (m->key.ptr && !is_shown(m->key))
            continue;
        buf_fmt(b, "%*s", 2 * depth, "");
        if (m->key.ptr)
            term_line(b, m->key, 200);
        else
            buf_char(b, '-');
        buf_cstr(b, m->key.ptr ? ": " : " ");
        if (!nested)
            put_one(b, m);
        buf_char(b, '\n');
        if (nested)
            put_tree(b, m, depth + 1);
    }
}

/* Asks whether an imported log may set `config` for a run in `cwd`: shown in
 * full on a terminal, refused without one, after a message that says what to do
 * instead. */
static int authority_ask(const char *id, wend_str cwd,
                         const struct json *config)
{
    struct buf b = {.mem = &cli_mem};

    if (term_asks()) {
        buf_fmt(&b,
                "Run %s was imported. According to its log it resumes with:\n"
                "  directory: ",
                id);
        term_line(&b, cwd, 4096);
        buf_char(&b, '\n');
        put_tree(&b, config, 1);
        buf_cstr(&b, "It will run these programs and send your keys there. "
                     "Resume it? [y]es [n]o ");
        if (says_yes(buf_view(&b)))
            return EXIT_DONE;
    }
    return complain(EXIT_USAGE,
                    "run %s was imported: its log cannot choose model, tools "
                    "or policy. Give them as for 'wend run': -a FILE, or -m "
                    "NAME, -t NAME, --approve WHAT ...",
                    id);
}

/* ---- A store that was made elsewhere ------------------------------------- */

static bool ask_about_store(const char *path)
{
    struct buf b = {.mem = &cli_mem};

    buf_cstr(&b, "Store ");
    term_line(&b, str_of(path), 4096);
    buf_cstr(&b, " was not created by you on this machine. Its runs choose "
                 "which programs start and where keys are sent.\n"
                 "Trust it from now on? [y]es [n]o ");
    return says_yes(buf_view(&b));
}

static int distrust(struct cli *cli, const char *path)
{
    int code = report(cli, wend_store_distrust(cli->store, &cli->err));

    return code ? code
                : complain(EXIT_DONE,
                           "store %s was created elsewhere, so all its runs "
                           "count as imported; 'wend trust %s' or "
                           "--trust-store trusts it",
                           path, path);
}

int authority_store(struct cli *cli)
{
    const char *env = getenv("WEND_TRUST_STORE");
    struct buf path = {.mem = &cli_mem};
    wend_store_origin o = {.size = sizeof o};
    wend_error *err = &cli->err;
    bool known = false;
    wend_status s;

    if (cli->set.trust_store || (env && *env && strcmp(env, "0") != 0) ||
        !store_file(cli, &path))
        return EXIT_DONE;
    s = wend_store_origin_of(cli->store, &o, err);
    if (s == WEND_OK)
        s = stores_have(o.id, &cli->arena, &known, err);
    if (s == WEND_E_NOTFOUND && !cli->set.quiet) /* nowhere to remember it */
        complain(0, "%s; assuming that the store is yours", err->message);
    if (known || s == WEND_E_NOTFOUND)
        return EXIT_DONE;
    if (s != WEND_OK)
        return report(cli, s);
    if (!term_asks() || !o.id[0] || !ask_about_store(path.ptr))
        return distrust(cli, path.ptr);
    if (stores_add(o.id, path.ptr, STORES_ACCEPTED, &cli->arena, err) !=
        WEND_OK)
        complain(0, "%s; the question will be asked again", err->message);
    return EXIT_DONE;
}

/* ---- Paths --------------------------------------------------------------- */

/* A script is found from here, also when the run is of another directory. */
static void whole_script(struct cli *cli)
{
    const char *name = cli->given.model, *real;
    struct buf b = {.mem = &cli_mem};

    if (!name || !str_starts(str_of(name), "script:") || name[7] == '{')
        return;
    real = trust_real(name + 7, &cli->arena);
    if (!real)
        return; /* the agent says what is wrong with it */
    buf_fmt(&b, "script:%s", real);
    cli->given.model = cli->set.model = b.ptr;
}

static void make_whole(const char *here, const char **path)
{
    struct buf b = {.mem = &cli_mem};

    if (!*path || **path == '/')
        return;
    buf_fmt(&b, "%s/%s", here, *path);
    *path = b.ptr;
}

/* The programs of an agent's file are relative to it, as it was opened. */
static int open_whole(struct cli *cli, const char *here)
{
    const wend_manifest *old = cli->agent, *m = NULL;
    const char *path = old ? old->path : NULL;
    struct settings *set = &cli->set;

    if (!path || *path == '/')
        return EXIT_DONE;
    make_whole(here, &path);
    if (agent_open(cli, path, false, &m) != WEND_OK)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    if (strcmp(m->sum, old->sum) != 0)
        return complain(EXIT_USAGE, "%s has just changed; try again", path);
    if (set->model == old->options->model)
        set->model = m->options->model;
    for (size_t i = 0; set->fallback.origin == ORIGIN_AGENT &&
                       i < m->options->fallbacks_count;
         i++)
        set->fallback.items[i] = m->options->fallbacks[i];
    cli->agent = m;
    return EXIT_DONE;
}

/* Files that the run names by relative paths are found from its directory,
 * those that the user names from here. */
static int move(struct cli *cli, const char *id, const char *cwd)
{
    struct settings *set = &cli->set;
    const char **const paths[] = {&set->schema,     &set->key_file,
                                  &set->ca_file,    &set->models,
                                  &set->record_dir, &set->playback_dir};
    const char *here = trust_real(".", &cli->arena);
    int code;

    if (here && strcmp(here, cwd) != 0) {
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
            make_whole(here, paths[i]);
        for (size_t i = 0; i < set->tool_files.count; i++)
            make_whole(here, &set->tool_files.items[i]);
        code = open_whole(cli, here);
        if (code)
            return code;
    }
    return chdir(cwd) ? complain(EXIT_USAGE, "the directory of run %s, %s: %s",
                                 id, cwd, strerror(errno))
                      : EXIT_DONE;
}

/* ---- The agent ----------------------------------------------------------- */

/* The log does not count: the agent is made as for a new run. */
static int make_given(struct cli *cli, struct again *how)
{
    if (!cli->set.model || !*cli->set.model)
        return complain(EXIT_USAGE,
                        "no model is set: the run was imported, so that its "
                        "log does not name one; give -m NAME or -a FILE");
    how->take = WEND_FORK_CONFIG | WEND_FORK_LIMITS;
    return agent_make(cli);
}

/* Only what the command line names overrides the log. */
static int fill(struct looking *l)
{
    struct cli *cli = l->cli;
    uint32_t take = l->how->take;
    wend_agent_options *o = &l->agent;
    int code = EXIT_DONE;

    if (take & WEND_FORK_CONFIG)
        return agent_fill(cli, &l->load, o);
    *o = agent_options(cli, &cli->given);
    if (take & WEND_FORK_POLICY)
        code = agent_approve(cli, o, &l->load.allow_rest);
    if (!code && take & WEND_FORK_TOOLS)
        code = tools_fill(cli, &l->load);
    return code;
}

static int look(struct looking *l, const wend_run_past *past)
{
    struct cli *cli = l->cli;
    const struct json *config =
        json_parse_own(arena_str(&cli->arena, past->config), &cli->arena, NULL);
    const char *cwd = arena_str(&cli->arena, past->cwd).ptr;
    int code = EXIT_DONE;

    assert(config); /* the library has read it */
    if (past->imported)
        code = authority_ask(l->id, past->cwd, config);
    l->how->trust_log = !code && past->imported;
    cli->past_tools = json_get(config, "tools");
    if (!code && cwd)
        code = move(cli, l->id, cwd);
    if (!code && l->how->take & WEND_FORK_TOOLS)
        code = tools_load(cli);
    return code ? code : fill(l);
}

static wend_status review(void *ctx, const wend_run_past *past, wend_error *err)
{
    struct looking *l = ctx;

    (void)err;
    l->code = look(l, past);
    return l->code ? WEND_E_STALE : WEND_OK;
}

static void show_past(void *ctx, const wend_event *ev)
{
    struct looking *l = ctx;

    view_past(l->how->view, ev);
}

int again_agent(struct cli *cli, const char *id, struct again *how)
{
    struct looking l = {.cli = cli,
                        .how = how,
                        .id = id,
                        .load = {.size = sizeof l.load,
                                 .agent = &l.agent,
                                 .note = server_say,
                                 .warn = server_warn,
                                 .note_ctx = cli}};
    wend_of_run_options of = {.size = sizeof of,
                              .at = how->at,
                              .take = how->take,
                              .load = &l.load,
                              .sandbox_on = cli->given.sandbox == 0,
                              .review = review,
                              .ctx = &l};
    wend_status s;

    whole_script(cli);
    if (how->imported && (how->take || cli->given.sandbox >= 0))
        return make_given(cli, how);
    if (how->view && view_past_types(how->view)) {
        of.past = show_past;
        of.past_types = view_past_types(how->view);
    }
    s = wend_agent_of_run(cli->rt, id, &of, &cli->made, &cli->err);
    if (s != WEND_OK)
        return l.code ? l.code : agent_report(cli, s);
    key_file_look(&cli->set);
    how->view = NULL; /* it has had the past */
    return EXIT_DONE;
}

/*
 * again.c - the agent of a run, by wend_agent_of_run: what the options say
 * instead of the log, and what the user says to an imported one.
 */
#include "cli/agent/agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/authority.h"
#include "cli/config.h"
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

/* ---- Paths --------------------------------------------------------------- */

/* A script is found from here, also when the run is of another directory. */
static int whole_script(struct cli *cli)
{
    const char *name = cli->given.model, *real;
    struct buf b = {.mem = cli->arena.mem};

    if (!name || !str_starts(str_of(name), "script:") || name[7] == '{')
        return EXIT_DONE;
    real = trust_real(name + 7, &cli->arena);
    if (!real)
        return EXIT_DONE; /* the agent says what is wrong with it */
    buf_fmt(&b, "script:%s", real);
    cli->given.model = cli->set.model = buf_keep(&b, &cli->arena).ptr;
    return cli->arena.failed ? complain(EXIT_FAILED, "out of memory")
                             : EXIT_DONE;
}

static void make_whole(struct cli *cli, const char *here, const char **path)
{
    struct buf b = {.mem = cli->arena.mem};

    if (!*path || **path == '/')
        return;
    buf_fmt(&b, "%s/%s", here, *path);
    *path = buf_keep(&b, &cli->arena).ptr;
}

/* The programs of an agent's file are relative to it, as it was opened. */
static int open_whole(struct cli *cli, const char *here)
{
    const wend_manifest *old = cli->agent, *m = NULL;
    const char *path = old ? old->path : NULL;
    struct settings *set = &cli->set;
    wend_error err = {0};

    if (!path || *path == '/')
        return EXIT_DONE;
    make_whole(cli, here, &path);
    if (!path)
        return complain(EXIT_FAILED, "out of memory");
    if (agent_open(cli, path, false, &m, &err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", err.message);
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
            make_whole(cli, here, paths[i]);
        for (size_t i = 0; i < set->tool_files.count; i++)
            make_whole(cli, here, &set->tool_files.items[i]);
        if (cli->arena.failed)
            return complain(EXIT_FAILED, "out of memory");
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

/* Only what the command line names overrides the log. */
static int fill(struct looking *l)
{
    struct cli *cli = l->cli;
    uint32_t take = l->how->take;
    wend_agent_options *o = &l->agent;
    int code = EXIT_DONE;
    bool asks;

    if (take & WEND_FORK_CONFIG)
        return agent_fill(cli, &l->load, o, &asks);

    *o = agent_options(&cli->given, &cli->set);
    if (take & WEND_FORK_POLICY)
        code = agent_approve(cli, o, &asks, &l->load.allow_rest);
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

    if (!config)
        return complain(EXIT_FAILED, "out of memory");
    if (past->imported)
        code = authority_ask(cli, l->id, past->cwd, config);
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

int again_agent(struct cli *cli, const char *id, struct again *how,
                wend_agent **agent)
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
    wend_error err = {0};
    wend_status s;
    int code = whole_script(cli);

    if (!code && how->imported && (how->take || cli->given.sandbox >= 0))
        return make_given(cli, how, agent);
    if (code)
        return code;
    if (how->view && view_past_types(how->view)) {
        of.past = show_past;
        of.past_types = view_past_types(how->view);
    }
    s = wend_agent_of_run(cli->rt, id, &of, agent, &err);
    if (s != WEND_OK)
        return l.code ? l.code : agent_not_made(cli, s, &err);
    key_file_look(&cli->set);
    how->view = NULL; /* it has had the past */
    return EXIT_DONE;
}

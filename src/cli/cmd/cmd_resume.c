/*
 * cmd_resume.c - wend resume: resumes interrupted runs.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/authority.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/each_run.h"
#include "cli/resume_all.h"
#include "cli/stream.h"

enum { TAKE_TRIES = 50 };

static const struct opt opts[] = {
    ROWS_AGENT,
    ROWS_LIMITS("maximum number of turns since the start of the run",
                LIMIT_TOKENS, LIMIT_COST),
    ROW_STORE,
    ROW_TRUST_STORE,
    ROW_FLAG(accept_loss, "accept-loss",
             "also resume a run that lost the end of its log"),
    ROW_NUMBER(jobs, "jobs", "N", "maximum number of runs at once (default 4)",
               .letter = 'j', .min = 1, .max = 64),
    ROWS_EVENTS,
    ROW_LOG_FILE(""),
    ROWS_TALK,
};

/* Limits alone replace those of the run; a whole config brings its own. */
static wend_run_options options_of(const struct settings *given,
                                   const struct again *how)
{
    wend_run_options o = {
        .size = sizeof o, .take = how->take, .trust_log = how->trust_log};

    if (how->take & WEND_FORK_CONFIG)
        return o;
    o.take &= ~(uint32_t)WEND_FORK_LIMITS;
    o.limits = (wend_limits){.turns = (uint32_t)given->max_turns,
                             .time_ms = given->timeout_ms,
                             .tokens = given->budget_tokens,
                             .cost_nano = given->budget_cost};
    return o;
}

static wend_status take(struct cli *cli, wend_agent *agent, const char *id,
                        const struct again *how, wend_run **out,
                        wend_error *err)
{
    const wend_run_options o = options_of(&cli->given, how);
    wend_status s = WEND_OK;

    for (int i = 0; i < TAKE_TRIES; i++) {
        s = wend_run_resume(agent, id, &o, out, err);
        if (s != WEND_E_BUSY)
            break;
        nanosleep(&resume_moment, NULL);
    }
    return s;
}

static int go(struct cli *cli, wend_agent *agent, const char *id,
              const struct again *how, struct view *view)
{
    struct stream st = {.cli = cli, .view = view, .live = true, .asks = true};
    wend_error err = {0};
    int code = how->view ? stream_past(&st, id, 0) : EXIT_DONE;
    wend_status s;

    if (code)
        return code;
    s = cli->set.accept_loss ? wend_store_accept_loss(cli->store, id, &err)
                             : WEND_OK;
    if (s == WEND_OK)
        s = take(cli, agent, id, how, &st.run, &err);
    view->live = true;
    if (s == WEND_E_BUSY)
        return complain(EXIT_USAGE, "%s", err.message);
    code = s == WEND_OK ? stream_go(&st) : give_up(cli, s, &err);
    wend_run_free(st.run);
    return code;
}

static int resume(struct cli *cli, const char *id, bool imported)
{
    struct again how = {.take = authority_given(&cli->given),
                        .imported = imported};
    wend_agent *agent = NULL;
    struct view view;
    int code;

    /* Do this first: its files are relative to the directory of the command. */
    if (!view_open(&view, &cli->set, view_look(&cli->set)))
        return EXIT_USAGE;
    how.view = &view;
    code = again_agent(cli, id, &how, &agent);
    if (!code)
        code = go(cli, agent, id, &how, &view);
    wend_agent_free(agent);
    view_free(&view);
    return code;
}

/* An active or paused parent resumes its children itself, and could not if
 * another process owned them. */
static int resume_named(struct cli *cli, const char *id, bool imported)
{
    char parent[40] = "";

    run_state(cli, id, parent);
    if (run_state(cli, parent, NULL) == RUN_UNDER_WAY)
        return complain(
            EXIT_USAGE,
            "run %s is a child of run %s, which is active and resumes it", id,
            parent);
    return resume(cli, id, imported);
}

static int run(struct cli *cli)
{
    struct found found;
    int code;

    code = open_runtime(cli);
    if (!code)
        code = authority_store(cli);
    if (!code && !cli->args_count)
        return resume_all(cli);
    if (!code)
        code = find_run(cli, cli->args[0], &found);
    return code ? code : resume_named(cli, found.id, found.imported);
}

const struct command command_resume = {
    .name = "resume",
    .args = "[OPTIONS] [RUN]",
    .summary = "resume an interrupted run, or all of them",
    .more = RUN_IS ". Without RUN, all interrupted\n"
                   "runs are resumed concurrently, except those that are "
                   "paused or imported; damaged\n"
                   "runs are reported and skipped.\n"
                   "Recorded work is not repeated. Calls that were active run "
                   "again if their class\n"
                   "is read or idempotent; the outcome of other calls is "
                   "unknown, and the model is\n"
                   "told so. Options override the settings in the log. The log "
                   "of an imported run is\n"
                   "not used for settings, so they must be given. The exit "
                   "status is that of the\n"
                   "run.\n",
    .args_max = 1,
    .expected = "at most one run",
    .opts = opts,
    .takes_agent = true,
    .agent_named = true,
    .run = run,
};

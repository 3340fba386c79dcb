/*
 * cmd_replay.c - wend replay: replays a run as it happened.
 */
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/authority.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/stream.h"

static const struct opt opts[] = {
    ROW_FACTOR(speed, "speed",
               "playback speed: 2 is twice as fast, 0 is no delay"),
    ROW_NUMBER(seq_to, "to", "SEQ", "stop after this kept event", .min = 1),
    ROW_FLAG(live, "live", "then continue from there as a fork"),
    ROW_TRUST_STORE,
    ROWS_EVENTS,
    ROW_STORE,
    ROWS_TALK,
};

/* Continues as another run with the same history. */
static int go_on(struct cli *cli, const struct found *found, struct view *view)
{
    wend_fork_options o = {.size = sizeof o, .at = cli->set.seq_to};
    struct again how = {.at = o.at, .imported = found->imported};
    wend_run_options ro = {.size = sizeof ro};
    const char *id = found->id;
    struct stream st = {.cli = cli, .view = view, .live = true, .asks = true};
    wend_agent *agent = NULL;
    wend_error err = {0};
    wend_status s;
    int code = again_agent(cli, id, &how, &agent);

    ro.trust_log = how.trust_log;
    if (!code) {
        s = wend_run_fork(agent, id, &o, &ro, &st.run, &err);
        if (s == WEND_OK && !cli->set.quiet)
            complain(0, "run %s continues from there", wend_run_id(st.run));
        view->live = true;
        code = s == WEND_OK ? stream_go(&st) : give_up(cli, s, &err);
        wend_run_free(st.run);
    }
    wend_agent_free(agent);
    return code;
}

static int run(struct cli *cli)
{
    const struct settings *set = &cli->set;
    wend_replay_options o = {
        .size = sizeof o, .speed = set->speed, .seq_to = set->seq_to};
    struct found found;
    struct view view;
    struct stream st = {.cli = cli, .view = &view};
    wend_error err = {0};
    wend_status s;
    int code;

    if (set->live && !set->seq_to)
        return usage_error(cli, "--live requires --to SEQ");
    code = open_runtime(cli);
    if (code == EXIT_DONE && set->live)
        code = authority_store(cli);
    if (code == EXIT_DONE)
        code = find_run(cli, cli->args[0], &found);
    if (code != EXIT_DONE)
        return code;
    if (!view_open(&view, set, view_look(set)))
        return EXIT_USAGE;
    s = wend_store_replay(cli->rt, found.id, &o, &st.run, &err);
    code = s == WEND_OK ? stream_go(&st) : give_up(cli, s, &err);
    if (code == EXIT_DONE && !view.outcome && !set->seq_to)
        complain(0, "the run is unfinished: no run_end was recorded");
    wend_run_free(st.run);
    if (code == EXIT_DONE && set->live)
        code = go_on(cli, &found, &view);
    view_free(&view);
    return code;
}

const struct command command_replay = {
    .name = "replay",
    .args = "[OPTIONS] RUN",
    .summary = "replay a run as it happened",
    .more = RUN_IS ".\n"
                   "No model is called and no tool runs, except after SEQ with "
                   "--live. The exit\n"
                   "status is that of the run.\n",
    TAKES_A_RUN,
    .opts = opts,
    .only_reads = true,
    .run = run,
};

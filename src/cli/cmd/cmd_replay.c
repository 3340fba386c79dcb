/*
 * cmd_replay.c - wend replay: replays a run as it happened.
 */
#include <unistd.h>

#include "cli/agent/agent.h"
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
static int continue_live(struct stream *st, const struct found *found)
{
    struct cli *cli = st->cli;
    wend_fork_options o = {.size = sizeof o, .at = cli->set.seq_to};
    struct again how = {.at = o.at, .imported = found->imported};
    wend_run_options ro = {.size = sizeof ro};
    int code = again_agent(cli, found->id, &how);

    if (code)
        return code;
    ro.trust_log = how.trust_log;
    wend_run_free(st->run);
    st->run = NULL;
    st->live = st->asks = true;
    code = report(
        cli, wend_run_fork(cli->made, found->id, &o, &ro, &st->run, &cli->err));
    if (code)
        return code;
    if (!cli->set.quiet)
        complain(0, "run %s continues from there", wend_run_id(st->run));
    return stream_go(st);
}

static int run(struct cli *cli)
{
    const struct settings *set = &cli->set;
    wend_replay_options o = {
        .size = sizeof o, .speed = set->speed, .seq_to = set->seq_to};
    struct stream st = {.cli = cli};
    struct found found;
    int code;

    if (set->live && !set->seq_to)
        return usage_error(cli, "--live requires --to SEQ");
    code = open_runtime(cli);
    if (!code && set->live)
        code = authority_store(cli);
    if (!code)
        code = find_run(cli, cli->args[0], &found);
    if (!code)
        code = stream_open(&st);
    if (code)
        return code;
    code = report(cli,
                  wend_store_replay(cli->rt, found.id, &o, &st.run, &cli->err));
    if (!code)
        code = stream_go(&st);
    if (!code && !st.view.outcome && !set->seq_to)
        complain(0, "the run is unfinished: no run_end was recorded");
    if (!code && set->live)
        code = continue_live(&st, &found);
    stream_close(&st);
    return code;
}

const struct command command_replay = {
    .name = "replay",
    .args = "[OPTIONS] RUN",
    .summary = "replay a run as it happened",
    .more = "No model is called and no tool runs, except after SEQ with "
            "--live. The exit\n"
            "status is that of the run.\n",
    TAKES_A_RUN,
    .opts = opts,
    .only_reads = true,
    .run = run,
};

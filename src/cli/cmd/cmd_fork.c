/*
 * cmd_fork.c - wend fork: a new run that shares the history of another.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/stream.h"

static const struct opt opts[] = {
    ROW_NUMBER(seq_at, "at", "SEQ",
               "last event to share (default: before the end)", .min = 1),
    ROW_LIST(results, "result", "CALL=TEXT",
             "result of that call or action; may be repeated"),
    ROW_FLAG(no_run, "no-run", "only create the fork and print its id"),
    ROWS_AGENT,
    ROWS_LIMITS("maximum number of turns, shared ones included",
                "maximum number of tokens, shared ones included",
                "maximum cost, shared part included"),
    ROW_PARALLEL("maximum number of concurrent calls"),
    ROW_STORE,
    ROW_TRUST_STORE,
    ROWS_EVENTS,
    ROW_LOG_FILE(""),
    ROWS_TALK,
};

/* ---- What is to be different --------------------------------------------- */

static int fill_results(struct cli *cli, wend_fork_options *o)
{
    const struct words *w = &cli->set.results;
    wend_fork_result *list =
        arena_alloc(&cli->arena, (w->count + 1) * sizeof *list);

    for (size_t i = 0; i < w->count; i++) {
        const char *equals = strchr(w->items[i], '=');
        wend_str call = {w->items[i],
                         equals ? (size_t)(equals - w->items[i]) : 0};

        if (!call.len)
            return usage_error(cli, "--result: expected CALL=TEXT, not '%s'",
                               w->items[i]);
        list[i].call = arena_str(&cli->arena, call).ptr;
        list[i].output = str_of(equals + 1);
    }
    o->results = list;
    o->results_count = w->count;
    return EXIT_DONE;
}

/* The arguments after RUN. */
static int fill_say(struct cli *cli, wend_fork_options *o)
{
    struct buf b = {.mem = &cli_mem};

    if (cli->args_count < 2)
        return EXIT_DONE;
    put_args(cli, 1, &b);
    o->say = buf_view(&b);
    return o->say.len ? EXIT_DONE : usage_error(cli, "the message is empty");
}

/* ---- Making it ----------------------------------------------------------- */

static int make(struct cli *cli, const char *id, const wend_fork_options *o)
{
    struct buf b = {.mem = &cli_mem};
    char fork[37];
    int code = report(cli, wend_store_fork(cli->store, id, o, fork, &cli->err));

    if (code)
        return code;
    if (cli->set.json) {
        json_open(&b, NULL, '{');
        json_add_str(&b, "run", str_of(fork));
        json_add_str(&b, "fork_of", str_of(id));
        buf_cstr(&b, "}\n");
    } else
        buf_fmt(&b, "%s\n", fork);
    return print_buf(&b);
}

static int go(struct stream *st, const char *id, const wend_fork_options *o,
              const struct again *how)
{
    wend_run_options ro = {.size = sizeof ro, .trust_log = how->trust_log};
    struct cli *cli = st->cli;
    int code = how->view ? stream_past(st, id, o->at) : EXIT_DONE;

    if (!code)
        code = report(cli,
                      wend_run_fork(o->agent, id, o, &ro, &st->run, &cli->err));
    if (code)
        return code;
    if (!cli->set.quiet)
        complain(0, "run %s is a fork of %s", wend_run_id(st->run), id);
    return stream_go(st);
}

static int fork_it(struct cli *cli, const struct found *found,
                   wend_fork_options *o)
{
    struct again how = {.at = o->at,
                        .take = authority_given(&cli->given),
                        .imported = found->imported};
    struct stream st = {.cli = cli, .live = true, .asks = true};
    const char *id = found->id;
    int code;

    if (cli->set.no_run && !how.take)
        return make(cli, id, o); /* a fork without a run needs no agent */
    how.view = &st.view;
    code = stream_open(&st);
    if (!code)
        code = again_agent(cli, id, &how);
    o->agent = cli->made;
    o->take = how.take;
    if (!code)
        code = cli->set.no_run ? make(cli, id, o) : go(&st, id, o, &how);
    stream_close(&st);
    return code;
}

static int run(struct cli *cli)
{
    wend_fork_options o = {.size = sizeof o, .at = cli->set.seq_at};
    struct found found;
    int code;

    code = fill_say(cli, &o);
    if (!code)
        code = fill_results(cli, &o);
    if (!code)
        code = open_runtime(cli);
    if (!code)
        code = authority_store(cli);
    if (!code)
        code = find_run(cli, cli->args[0], &found);
    return code ? code : fork_it(cli, &found, &o);
}

const struct command command_fork = {
    .name = "fork",
    .args = "[OPTIONS] RUN [MESSAGE]",
    .summary = "start a new run that shares the history of another",
    .more = "RUN does not change and may be active. MESSAGE is the next user "
            "message. CALL is\n"
            "a call or an action that is open at SEQ; without --at the fork "
            "starts just\n"
            "before its end. Settings default to those of RUN. If RUN was "
            "imported, only its\n"
            "history is used: give the settings as for 'wend run'. The exit "
            "status is that of\n"
            "the new run.\n",
    .args_min = 1,
    .args_max = ARGS_ANY,
    .expected = "a run, or last",
    .opts = opts,
    .takes_agent = true,
    .agent_named = true,
    .run = run,
};

/*
 * cmd_fork.c - wend fork: a new run that shares the history of another.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "cli/agent/agent.h"
#include "cli/authority.h"
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

    for (size_t i = 0; list && i < w->count; i++) {
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
    return cli->arena.failed ? complain(EXIT_FAILED, "out of memory")
                             : EXIT_DONE;
}

/* The arguments after RUN. */
static int fill_say(struct cli *cli, wend_fork_options *o)
{
    struct buf b = {.mem = cli->arena.mem};

    if (cli->args_count < 2)
        return EXIT_DONE;
    put_args(cli, 1, &b);
    o->say = buf_keep(&b, &cli->arena);
    if (!o->say.ptr)
        return complain(EXIT_FAILED, "out of memory");
    return o->say.len ? EXIT_DONE : usage_error(cli, "the message is empty");
}

/* ---- Making it ----------------------------------------------------------- */

static int print_made(const struct cli *cli, const char *id, const char *fork)
{
    struct buf b = {.mem = cli->arena.mem};
    int code;

    if (cli->set.json) {
        json_open(&b, NULL, '{');
        json_add_str(&b, "run", str_of(fork));
        json_add_str(&b, "fork_of", str_of(id));
        buf_cstr(&b, "}\n");
    } else
        buf_fmt(&b, "%s\n", fork);
    code = print_buf(&b);
    buf_free(&b);
    return code;
}

static int make(struct cli *cli, const char *id, const wend_fork_options *o)
{
    char fork[37];
    wend_error err = {0};
    wend_status s = wend_store_fork(cli->store, id, o, fork, &err);

    return s == WEND_OK ? print_made(cli, id, fork) : give_up(cli, s, &err);
}

static int go(struct cli *cli, const char *id, const wend_fork_options *o,
              const struct again *how, struct view *view)
{
    wend_run_options ro = {.size = sizeof ro, .trust_log = how->trust_log};
    struct stream st = {.cli = cli, .view = view, .live = true, .asks = true};
    wend_error err = {0};
    int code = how->view ? stream_past(&st, id, o->at) : EXIT_DONE;
    wend_status s;

    if (code)
        return code;
    s = wend_run_fork(o->agent, id, o, &ro, &st.run, &err);
    view->live = true;
    if (s != WEND_OK)
        return give_up(cli, s, &err);
    if (!cli->set.quiet)
        complain(0, "run %s is a fork of %s", wend_run_id(st.run), id);
    code = stream_go(&st);
    wend_run_free(st.run);
    return code;
}

static int fork_it(struct cli *cli, const struct found *found,
                   wend_fork_options *o)
{
    struct again how = {.at = o->at,
                        .take = authority_given(&cli->given),
                        .imported = found->imported};
    const char *id = found->id;
    struct view view;
    int code;

    if (cli->set.no_run && !how.take)
        return make(cli, id, o); /* a fork without a run needs no agent */
    if (!view_open(&view, &cli->set, view_look(&cli->set)))
        return EXIT_USAGE;
    how.view = &view;
    code = again_agent(cli, id, &how, &o->agent);
    o->take = how.take;
    if (!code && cli->set.no_run)
        code = make(cli, id, o);
    else if (!code)
        code = go(cli, id, o, &how, &view);
    wend_agent_free(o->agent);
    view_free(&view);
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
    .more = RUN_IS
    ". It does not change and may be\n"
    "active. MESSAGE is the next user message. CALL is a call or an action "
    "that is\n"
    "open at SEQ; without --at the fork starts just before its end. Settings "
    "default\n"
    "to those of RUN. If RUN was imported, only its history is used: give the\n"
    "settings as for 'wend run'. The exit status is that of the new run.\n",
    .args_min = 1,
    .args_max = ARGS_ANY,
    .expected = "a run, or last",
    .opts = opts,
    .takes_agent = true,
    .agent_named = true,
    .run = run,
};

/*
 * cmd_fork.c - wend fork and wend retry: a new run that shares the history of
 * another.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/stream.h"
#include "cli/term.h"

/* clang-format off */
#define ROWS_FORK                                                             \
    ROW_FLAG(no_run, "no-run", "only create the fork and print its id"),      \
    ROWS_AGENT,                                                               \
    ROWS_LIMITS("maximum number of turns, shared ones included",              \
                "maximum number of tokens, shared ones included",             \
                "maximum cost, shared part included"),                        \
    ROW_PARALLEL("maximum number of concurrent calls"),                       \
    ROW_TEXT(user, "user", "NAME", "another user than that of RUN"),          \
    ROW_TEXT(session, "session", "NAME", "another session"),                  \
    ROW_LIST(labels, "label", "KEY=VALUE",                                    \
             "label instead of those of RUN; may be repeated"),               \
    ROW_TEXT(correlation_id, "correlation-id", "ID",                          \
             "another id of another system"),                                 \
    ROW_STORE,                                                                \
    ROW_TRUST_STORE,                                                          \
    ROWS_EVENTS,                                                              \
    ROW_LOG_FILE(""),                                                         \
    ROWS_TALK
/* clang-format on */

static const struct opt opts[] = {
    ROW_NUMBER(seq_at, "at", "SEQ",
               "last event to share (default: before the failure)", .min = 1),
    ROW_LIST(results, "result", "CALL=TEXT",
             "result of that call or action; may be repeated"),
    ROW_FILES(FILES_HELP),
    ROWS_FORK,
};

static const struct opt retry_opts[] = {
    ROWS_FORK,
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
        return cli->set.files.count
                   ? usage_error(cli, "--file needs a message to send it with")
                   : EXIT_DONE;
    put_args(cli, 1, &b);
    o->say = buf_view(&b);
    return o->say.len ? read_parts(cli, &o->parts, &o->parts_count)
                      : usage_error(cli, "the message is empty");
}

/* ---- What is tried again ------------------------------------------------- */

enum { RETRY_LIMIT_MAX = 16 };

/* A run and how it ended. */
struct retry_run {
    struct found found;
    char status[16], line[512];
    char limit[RETRY_LIMIT_MAX]; /* that it reached; else empty */
    char parent[37];             /* of a child; else empty */
};

static bool is_retried(const char *status)
{
    static const char *const words[] = {"failed", "canceled", "limit"};

    return str_index(str_of(status), words, 3) >= 0;
}

static void keep_run(struct retry_run *r, const wend_run_info *info)
{
    struct buf line = {.mem = &cli_mem};

    str_copy(r->found.id, sizeof r->found.id, info->run);
    str_copy(r->status, sizeof r->status, info->status);
    str_copy(r->parent, sizeof r->parent, info->child ? info->parent : STR(""));
    r->found.imported = info->imported;
    put_run(&line, info, term_width(STDERR_FILENO));
    str_copy(r->line, sizeof r->line, buf_view(&line));
}

struct retry_search {
    struct cli *cli;
    struct retry_run *out;
    struct words parents; /* of newer forks: they were tried again */
    bool found;
};

static int look_for_retry(void *ctx, const wend_run_info *info)
{
    struct retry_search *s = ctx;
    bool forked = false;

    keep_run(s->out, info);
    for (size_t i = 0; i < s->parents.count && !forked; i++)
        forked = str_is(info->run, s->parents.items[i]);
    if (info->fork_of.ptr)
        words_add(&s->parents, arena_str(&s->cli->arena, info->fork_of).ptr,
                  &s->cli->arena);
    s->found = !info->child && !info->imported && !forked &&
               is_retried(s->out->status);
    return s->found ? EXIT_FAILED : EXIT_DONE; /* the first is enough */
}

/* The newest run that did not end ok, and that no fork continues. */
static int find_retry(struct cli *cli, struct retry_run *out)
{
    const wend_list_options all = {.size = sizeof all};
    struct retry_search s = {.cli = cli, .out = out};
    int code = each_run(cli, &all, -1, look_for_retry, &s);

    if (!s.found)
        return code ? code
                    : complain(EXIT_USAGE,
                               "no run to retry: none failed, was canceled or "
                               "reached a limit, or it was continued since; "
                               "'wend runs' lists them");
    if (!cli->set.quiet)
        complain(0, "retrying run %.*s", (int)strcspn(out->line, "\n"),
                 out->line);
    return EXIT_DONE;
}

static int keep_named(void *ctx, const wend_run_info *info)
{
    keep_run(ctx, info);
    return EXIT_DONE;
}

static void note_limit(void *ctx, const wend_event *ev)
{
    struct retry_run *r = ctx;

    str_copy(r->limit, sizeof r->limit, ev->u.run_end.limit);
}

/* What the run has spent counts in the fork, so that the same limit would end
 * it at once. */
static int check_limit(struct cli *cli, struct retry_run *r)
{
    const struct settings *g = &cli->given;
    const struct {
        const char *limit, *option;
        bool given;
    } rows[] = {
        {"turns", "--max-turns", g->max_turns != 0},
        {"tokens", "--budget-tokens", g->budget_tokens != 0},
        {"cost", "--budget-cost", g->budget_cost != 0},
    };
    wend_replay_options o = {.size = sizeof o, .filter.types = TYPE(RUN_END)};
    int code = each_event(cli, r->found.id, &o, note_limit, r);

    for (size_t i = 0; !code && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(r->limit, rows[i].limit) && !rows[i].given && !g->agent)
            code = complain(EXIT_USAGE,
                            "run %s stopped at its limit of %s; raise it with "
                            "%s",
                            r->found.id, rows[i].limit, rows[i].option);
    return code;
}

static int check_retry(struct cli *cli, struct retry_run *r)
{
    const char *id = r->found.id;
    char top[40];

    if (*r->parent) { /* which would continue the old child, and do it twice */
        memcpy(top, r->parent, sizeof r->parent);
        run_top(cli, top);
        return complain(EXIT_USAGE,
                        "run %s is a child of run %s; 'wend retry %s' "
                        "continues both",
                        id, r->parent, top);
    }
    if (is_retried(r->status))
        return check_limit(cli, r);
    if (!strcmp(r->status, "ok"))
        return complain(EXIT_USAGE,
                        "run %s ended ok: there is nothing to retry; 'wend "
                        "fork %s MESSAGE' continues it, 'wend fork %s --at "
                        "SEQ' starts again from an event",
                        id, id, id);
    if (!strcmp(r->status, "interrupted"))
        return complain(EXIT_USAGE,
                        "run %s has not ended; 'wend resume %s' "
                        "resumes it",
                        id, id);
    return complain(EXIT_USAGE, "run %s is active (%s)", id, r->status);
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
    wend_run_options ro = {.size = sizeof ro,
                           .trust_log = how->trust_log,
                           .user = o->user,
                           .session = o->session,
                           .correlation_id = o->correlation_id,
                           .labels = o->labels};
    struct cli *cli = st->cli;
    int code = how->view ? stream_past(st, id, how->at) : EXIT_DONE;

    if (!code)
        code = report(cli,
                      wend_run_fork(o->agent, id, o, &ro, &st->run, &cli->err));
    if (code)
        return code;
    if (!cli->set.quiet)
        complain(0, "run %s is a fork of %s", wend_run_id(st->run), id);
    return stream_go(st);
}

static int fill_names(struct cli *cli, wend_fork_options *o)
{
    wend_run_options names = {0};
    int code = names_fill(cli, &names);

    o->user = names.user;
    o->session = names.session;
    o->correlation_id = names.correlation_id;
    o->labels = names.labels;
    return code;
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
    if (!code && !o->at && !o->results_count)
        code =
            report(cli, wend_store_fork_at(cli->store, id, &how.at, &cli->err));
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
        code = fill_names(cli, &o);
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

static int run_retry(struct cli *cli)
{
    wend_fork_options o = {.size = sizeof o};
    wend_list_options named = {.size = sizeof named};
    struct retry_run r = {0};
    int code = fill_names(cli, &o);

    if (!code)
        code = open_runtime(cli);
    if (!code)
        code = authority_store(cli);
    if (!code && !cli->args_count) {
        code = find_retry(cli, &r);
    } else if (!code) {
        code = find_run(cli, cli->args[0], &r.found);
        named.run = r.found.id;
        if (!code)
            code = each_run(cli, &named, 1, keep_named, &r);
    }
    if (!code)
        code = check_retry(cli, &r);
    return code ? code : fork_it(cli, &r.found, &o);
}

const struct command command_retry = {
    .name = "retry",
    .args = "[OPTIONS] [RUN]",
    .summary = "try again where a run failed, was canceled or hit a limit",
    .more = "Starts a fork from before the failed answer, the cancel or the "
            "limit. Without\n"
            "RUN it takes the last run that did not end ok and was not tried "
            "again since.\n"
            "Calls and actions that ended ok are not repeated, nor those of "
            "children; actions\n"
            "of a plan that failed or were canceled run again. A limit of "
            "turns, tokens or\n"
            "cost must be raised by its option; the time starts anew. Other "
            "settings default\n"
            "to those of RUN.\n",
    .args_max = 1,
    .expected = "at most one run",
    .statuses = "failed canceled limit",
    .no_child = true,
    .opts = retry_opts,
    .takes_agent = true,
    .agent_named = true,
    .run = run_retry,
};

const struct command command_fork = {
    .name = "fork",
    .args = "[OPTIONS] RUN [MESSAGE]",
    .summary = "start a new run that shares the history of another",
    .more = "RUN does not change and may be active. MESSAGE is the next user "
            "message. CALL\n"
            "is a call or an action that is open at SEQ; without --at the fork "
            "starts just\n"
            "before its end. Without --at and --result a run that did not end "
            "ok is\n"
            "continued as by 'wend retry'. Settings default to those of RUN. "
            "If RUN was\n"
            "imported, only its history is used: give the settings as for "
            "'wend run'. The\n"
            "exit status is that of the new run.\n",
    .args_min = 1,
    .args_max = ARGS_ANY,
    .expected = "a run, or last",
    .opts = opts,
    .takes_agent = true,
    .agent_named = true,
    .run = run,
};

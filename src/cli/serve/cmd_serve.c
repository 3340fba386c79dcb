/*
 * cmd_serve.c - wend serve: the runs of a store over HTTP, with a page.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/serve/serve.h"
#include "cli/signals.h"
#include "cli/term.h"
#include "wend_server.h"

static const struct opt opts[] = {
    ROW_TEXT(listen, "listen", "ADDR",
             "IP:PORT or unix:PATH (default 127.0.0.1:8791)"),
    ROW_TEXT(agents, "agents", "DIR", "serve every agent file in DIR"),
    ROW_FLAG(open, "open", "open the page in a browser"),
    ROW_TEXT(token_file, "token-file", "FILE",
             "file with the token (default: one that is made)"),
    ROW_TEXT(tokens, "tokens", "FILE",
             "tokens of users: SHA256 USER RIGHT[,RIGHT] a line"),
    ROW_TEXT(public_url, "public-url", "URL",
             "address of the server behind a proxy"),
    ROW_TEXT(webhook, "webhook", "URL", "tell URL the end of each run"),
    ROW_LIST(webhook_allow, "webhook-allow", "ORIGIN",
             "origin for webhooks of runs; may be repeated"),
    ROW_TIME(drain_ms, "drain",
             "maximum wait for runs after SIGTERM (default 30s)"),
    ROW_AGENT("agent: a file or a name (default ./wend.yaml)"),
    ROW_MODEL("provider:model or script:FILE (default $WEND_MODEL)"),
    ROWS_PROVIDER,
    ROW_MODELS,
    ROW_PARAM(""),
    ROW_TOOL("tool to offer; may be repeated"),
    ROW_TOOLS("file that defines a tool to offer; may be repeated"),
    ROW_MCP("MCP server NAME=COMMAND or NAME=URL; may be repeated"),
    ROW_TEXT(instructions, "instructions", "TEXT",
             "system instructions for the model"),
    ROWS_LIMITS("maximum number of turns of a run (default 50)", LIMIT_TOKENS,
                LIMIT_COST),
    ROW_APPROVE(APPROVE_HELP),
    ROW_SANDBOX(SANDBOX_HELP),
    ROW_TEXT(log_file, "log-file", "FILE",
             "append a line of JSON for each request to FILE"),
    ROW_STORE_ANY,
    ROW_QUIET("print nothing but failures"),
    ROWS_END,
};

struct served {
    struct cli *cli;
    wend_server *server;
    wend_agent *agents[SERVED_AGENTS_MAX];
    size_t count;
    int log_fd;
};

/* ---- Agents -------------------------------------------------------------- */

static int add_agent(struct served *s, wend_agent *agent, const char *name,
                     const char *description)
{
    const wend_server_agent a = {.size = sizeof a,
                                 .name = name,
                                 .description = description,
                                 .agent = agent};

    s->agents[s->count++] = agent;
    return report(s->cli, wend_server_add_agent(s->server, &a, &s->cli->err));
}

/* The agent of -a, of ./wend.yaml or the built-in one. */
static int add_default(struct served *s)
{
    struct cli *cli = s->cli;
    const wend_manifest *m = cli->agent;
    int code = cli->set.model ? agent_make(cli) : no_model();
    wend_agent *agent = cli->made;

    cli->made = NULL;
    return code ? code
                : add_agent(s, agent, m ? m->name : AGENT_BUILTIN,
                            m ? m->description : NULL);
}

static int add_file(struct served *s, const char *path)
{
    struct cli *cli = s->cli;
    int code = report(cli, agent_open(cli, path, true, &cli->agent));

    if (!code)
        code = report(cli, wend_manifest_check(cli->agent, &cli->err));
    if (code)
        return code;
    if (s->count == SERVED_AGENTS_MAX)
        return complain(EXIT_USAGE, "more than %d agents", SERVED_AGENTS_MAX);
    code = agent_make(cli);
    if (!code)
        code =
            add_agent(s, cli->made, cli->agent->name, cli->agent->description);
    cli->made = NULL;
    return code;
}

static int add_agents(struct served *s)
{
    struct cli *cli = s->cli;
    const char **paths;
    size_t count;
    int code;

    if (!cli->set.agents || cli->given.agent)
        code = add_default(s);
    else
        code = EXIT_DONE;
    if (code || !cli->set.agents)
        return code;
    code = serve_agent_files(cli, cli->set.agents, &paths, &count);
    for (size_t i = 0; !code && i < count; i++)
        code = add_file(s, paths[i]);
    return code;
}

/* ---- The loop ------------------------------------------------------------ */

static void log_request(void *ctx, wend_str line)
{
    struct served *s = ctx;
    struct buf b = {.mem = &cli_mem};

    buf_str(&b, line);
    buf_char(&b, '\n');
    if (write(s->log_fd, b.ptr, b.len) < 0)
        complain(0, "cannot write the log: %s", strerror(errno));
    buf_free(&b);
}

static void take_signals(struct served *s, int *code)
{
    int got;

    while ((got = signals_next())) {
        if (got == SIGHUP) {
            if (wend_server_reload(s->server, &s->cli->err) != WEND_OK)
                complain(0, "%s; the tokens stay as they are",
                         s->cli->err.message);
            continue;
        }
        *code = got == SIGINT ? EXIT_CANCELED : EXIT_TERM;
        if (!s->cli->set.quiet)
            complain(0, "stopping; runs are parked and resumed at the next "
                        "start");
        wend_server_drain(s->server);
    }
}

static int serve(struct served *s, int signals)
{
    wend_runtime *rt = s->cli->rt;
    struct pollfd fds[] = {{.fd = wend_runtime_fd(rt), .events = POLLIN},
                           {.fd = signals, .events = POLLIN}};
    int code = EXIT_DONE;

    while (!wend_server_is_drained(s->server)) {
        int wait_ms = wend_runtime_timeout_ms(rt);
        wend_status st;

        if (code && (wait_ms < 0 || wait_ms > 100))
            wait_ms = 100; /* the end of its patience */
        if (poll(fds, 2, wait_ms) < 0 && errno != EINTR)
            return complain(EXIT_FAILED, "poll: %s", strerror(errno));
        take_signals(s, &code);
        st = wend_runtime_pump(rt);
        if (st != WEND_OK) {
            complain(0, "the store failed; the server stops");
            return EXIT_STORE;
        }
    }
    return code;
}

static void say_where(const struct served *s, const char *token,
                      const char *token_path)
{
    const char *url = wend_server_url(s->server);
    const char *public_url = s->cli->set.public_url;

    if (s->cli->set.quiet)
        return;
    complain(0, "listening on %s", url);
    if (token && isatty(STDERR_FILENO))
        complain(0, "open %s/#token=%s", public_url ? public_url : url, token);
    else if (token_path)
        complain(0, "the token is in %s", token_path);
}

static int start(struct served *s, const char *token, const char *token_path)
{
    struct cli *cli = s->cli;
    const struct settings *set = &cli->set;
    const wend_server_options o = {
        .size = sizeof o,
        .listen = set->listen,
        .token = token,
        .token_user = serve_user(),
        .tokens = set->tokens,
        .public_url = set->public_url,
        .drain_ms = (uint32_t)set->drain_ms,
        .webhook = set->webhook,
        .webhook_allow = set->webhook_allow.items,
        .webhook_allow_count = set->webhook_allow.count,
        .webhook_secret = getenv("WEND_WEBHOOK_SECRET"),
        .access = s->log_fd >= 0 ? log_request : NULL,
        .access_ctx = s,
    };
    int code = report(cli, wend_server_new(cli->rt, &o, &s->server, &cli->err));
    size_t resumed = 0;

    if (!code)
        code = add_agents(s);
    if (!code)
        code = report(cli, wend_server_resume(s->server, &resumed, &cli->err));
    if (code)
        return code;
    say_where(s, token, token_path);
    if (resumed && !set->quiet)
        complain(0, "%zu runs resumed", resumed);
    if (set->open)
        serve_open_page(cli, wend_server_url(s->server), token);
    return EXIT_DONE;
}

static int run(struct cli *cli)
{
    struct served s = {.cli = cli, .log_fd = -1};
    struct buf token = {.mem = &cli_mem}, path = {.mem = &cli_mem};
    int signals, code = serve_token(cli, &token, &path);

    if (!cli->set.approve.count) /* a person answers over HTTP */
        words_add(&cli->set.approve, "ask", &cli->arena);
    if (!cli->given.notes)
        cli->set.notes = 1; /* off: a run would wait for git */
    if (!code)
        code = open_runtime(cli);
    if (!code && cli->set.log_file)
        code = serve_log(cli->set.log_file, &s.log_fd);
    signals = code ? -1 : signals_open();
    if (!code && signals < 0)
        code = EXIT_FAILED;
    if (!code)
        code = start(&s, token.ptr, path.len ? path.ptr : NULL);
    if (!code)
        code = serve(&s, signals);
    wend_server_free(s.server);
    for (size_t i = 0; i < s.count; i++)
        wend_agent_free(s.agents[i]);
    return code;
}

const struct command command_serve = {
    .name = "serve",
    .args = "[OPTIONS]",
    .summary = "serve runs over HTTP, with a page",
    .more = "The API, event streams and the page are at the address that is "
            "printed; see\n"
            "wend-serve(1). SIGTERM parks all runs; the next start resumes "
            "them. SIGHUP reads\n"
            "the file of tokens again.\n",
    .opts = opts,
    .makes_store = true,
    .takes_agent = true,
    .run = run,
};

/*
 * cmd_run.c - wend run: runs an agent on a prompt and streams the answer.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/agent/agent_make.h"
#include "cli/cmd/cmd.h"
#include "cli/stream.h"

static const char *const eager_words[] = {
    [WEND_EAGER_SAFE] = "safe",
    [WEND_EAGER_ALL] = "all",
    [WEND_EAGER_OFF] = "off",
    NULL,
};
static const char *const effort_words[] = {
    [WEND_EFFORT_DEFAULT] = "default", [WEND_EFFORT_NONE] = "none",
    [WEND_EFFORT_LOW] = "low",         [WEND_EFFORT_MEDIUM] = "medium",
    [WEND_EFFORT_HIGH] = "high",       NULL,
};
static const char *const unknown_words[] = {
    [WEND_UNKNOWN_TELL] = "tell",     [WEND_UNKNOWN_STOP] = "stop",
    [WEND_UNKNOWN_ASK] = "ask",       [WEND_UNKNOWN_RETRY] = "retry",
    [WEND_UNKNOWN_VERIFY] = "verify", NULL,
};
#define AT(member) offsetof(struct settings, member)

static const struct opt opts[] = {
    {'a', "agent", "FILE", "agent: a file or a name (default ./wend.yaml)",
     OPT_TEXT, AT(agent), 0, 0, NULL},
    {'m', "model", "NAME",
     "provider:model or script:FILE (default $WEND_MODEL)", OPT_TEXT, AT(model),
     0, 0, NULL},
    OPT_ROWS_PROVIDER,
    {0, "http2", NULL, "use HTTP/2 if the provider supports it", OPT_FLAG,
     AT(http2), 0, 0, NULL},
    {0, "model-timeout", "DUR",
     "maximum duration of one model call (default 30m)", OPT_TIME,
     AT(model_timeout_ms), 0, 0, NULL},
    {0, "models", "FILE", "context windows and prices; see 'wend models'",
     OPT_TEXT, AT(models), 0, 0, NULL},
    {0, "record", "DIR", "record requests and responses in DIR", OPT_TEXT,
     AT(record_dir), 0, 0, NULL},
    {0, "playback", "DIR", "answer from recorded responses; no network, no key",
     OPT_TEXT, AT(playback_dir), 0, 0, NULL},
    {'t', "tool", "NAME", "tool to offer; may be repeated", OPT_LIST, AT(tools),
     0, 0, NULL},
    {0, "tools", "FILE", "file that defines a tool to offer; may be repeated",
     OPT_LIST, AT(tool_files), 0, 0, NULL},
    {0, "mcp", "SERVER",
     "MCP server: NAME=COMMAND or NAME=URL; may be repeated", OPT_LIST,
     AT(servers), 0, 0, NULL},
    {0, "plan", "GOAL", "let the model write a plan for GOAL, and run it",
     OPT_TEXT, AT(plan), 0, 0, NULL},
    {0, "instructions", "TEXT", "system instructions for the model", OPT_TEXT,
     AT(instructions), 0, 0, NULL},
    {0, "store", "URL", "SQLite file or memory: (default $WEND_STORE)",
     OPT_TEXT, AT(store), 0, 0, NULL},
    OPT_ROW_JSON,
    OPT_ROW_EVENTS,
    {0, "max-turns", "N", "maximum number of turns (default 50)", OPT_NUMBER,
     AT(max_turns), 1, UINT32_MAX, NULL},
    {0, "timeout", "DUR", "maximum duration of the run, such as 30s or 5m",
     OPT_TIME, AT(timeout_ms), 0, 0, NULL},
    {0, "budget-tokens", "N", "maximum number of tokens, in and out",
     OPT_NUMBER, AT(budget_tokens), 1, 0, NULL},
    {0, "budget-cost", "USD", "maximum cost", OPT_MONEY, AT(budget_cost), 0, 0,
     NULL},
    {0, "parallel", "N", "maximum number of concurrent calls (default 5)",
     OPT_NUMBER, AT(parallel), 1, PARALLEL_MAX, NULL},
    {0, "eager", "WHICH", "start calls before the message ends: safe, all, off",
     OPT_WORD, AT(eager), 0, 0, eager_words},
    {0, "effort", "LEVEL",
     "thinking effort: default, none, low, medium or high", OPT_WORD,
     AT(effort), 0, 0, effort_words},
    {0, "approve", "WHAT",
     "approval: ask, deny, all or a rule; may be repeated", OPT_LIST,
     AT(approve), 0, 0, NULL},
    {0, "on-unknown", "WHAT",
     "unknown outcomes: tell, stop, ask, retry or verify", OPT_WORD,
     AT(on_unknown), 0, 0, unknown_words},
    OPT_ROW_SANDBOX,
    {0, "schema", "FILE", "JSON Schema that the answer must match", OPT_TEXT,
     AT(schema), 0, 0, NULL},
    OPT_ROW_LOG_FILE,
    OPT_ROWS_TALK,
    {0, "set", "K=V", NULL, OPT_LATER, 0, 0, 0, NULL},
    {0},
};

/* ---- The prompt ---------------------------------------------------------- */

static int read_stdin(struct cli *cli, struct buf *out)
{
    ssize_t n = 1;

    while (n && out->len <= BLOB_BYTES_MAX) {
        if (!buf_room(out, 64 << 10))
            return complain(EXIT_FAILED, "out of memory");
        n = read(STDIN_FILENO, out->ptr + out->len, 64 << 10);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            return complain(EXIT_USAGE, "cannot read standard input: %s",
                            strerror(errno));
        else
            out->len += (size_t)n;
    }
    if (out->len > BLOB_BYTES_MAX)
        return usage_error(cli, "the prompt is larger than %d MiB",
                           BLOB_BYTES_MAX >> 20);
    return EXIT_DONE;
}

static int read_prompt(struct cli *cli, struct buf *out)
{
    const char *goal = cli->set.plan;
    bool piped = goal ? !strcmp(goal, "-")
                      : cli->args_count == 1 && !strcmp(cli->args[0], "-");
    int code = EXIT_DONE;

    if (goal && cli->args_count)
        return usage_error(cli, "--plan takes the goal; remove the prompt");
    if (goal && !piped)
        buf_cstr(out, goal);
    else if (!cli->args_count && isatty(STDIN_FILENO))
        return usage_error(
            cli, "no prompt; give one as an argument or on standard input");
    else if (piped || !cli->args_count)
        code = read_stdin(cli, out);
    else
        put_args(cli, 0, out);
    if (code == EXIT_DONE && out->failed)
        return complain(EXIT_FAILED, "out of memory");
    if (code == EXIT_DONE && !out->len)
        return usage_error(cli, "the prompt is empty");
    return code;
}

/* ---- The agent ----------------------------------------------------------- */

static int first_run(void)
{
    static const char text[] =
        "wend: no model is set.\n"
        "\n"
        "Set one with -m NAME, with the environment variable WEND_MODEL, or "
        "with\n"
        "'model: NAME' in ~/.config/wend/config.yaml.\n"
        "\n"
        "The models of a provider are PROVIDER:NAME, such as openai:NAME; "
        "'wend "
        "models' lists\n"
        "the providers and their keys. Use --base-url for a server of your "
        "own.\n"
        "\n"
        "A script replaces a model and needs no network. This works right "
        "now:\n"
        "\n"
        "  wend run -m 'script:{\"turns\":[{\"text\":\"Let me compute. "
        "\",\"calls\":\n"
        "    [{\"name\":\"calculator\",\"args\":{\"expression\":\"6*7\"}}]},\n"
        "    {\"text\":\"The answer is ${tool_result}.\"}]}' 'What is 6*7?'\n"
        "\n"
        "Then 'wend log last' shows what happened.\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

    (void)n;
    return EXIT_USAGE;
}

/* ---- The run ------------------------------------------------------------- */

static int go(struct cli *cli, wend_agent *agent, wend_str prompt, bool asks)
{
    struct view view;
    struct stream st = {.cli = cli, .view = &view, .live = true, .asks = asks};
    wend_run_options o = {.size = sizeof o, .plan = cli->set.plan != NULL};
    wend_error err = {0};
    wend_status s;
    int code = EXIT_USAGE;

    if (!view_open(&view, &cli->set, view_look(&cli->set)))
        return EXIT_USAGE;
    view.live = true;
    s = wend_run_start(agent, prompt, &o, &st.run, &err);
    if (s != WEND_OK)
        code = give_up(cli, s, &err);
    else
        code = stream_go(&st);
    /* An unfinished run stays resumable. */
    wend_run_free(st.run);
    view_free(&view);
    return code;
}

static int run(struct cli *cli)
{
    struct buf prompt = {.mem = cli->arena.mem};
    wend_agent *agent = NULL;
    bool asks = false;
    int code;

    if (!cli->set.model || !*cli->set.model)
        return first_run();
    code = read_prompt(cli, &prompt);
    if (code == EXIT_DONE)
        code = open_runtime(cli);
    if (code == EXIT_DONE)
        code = agent_make(cli, &agent, &asks);
    if (code == EXIT_DONE)
        code = go(cli, agent, buf_view(&prompt), asks);
    wend_agent_free(agent);
    buf_free(&prompt);
    return code;
}

const struct command command_run = {
    .name = "run",
    .args = "[OPTIONS] [PROMPT]",
    .summary = "run an agent on a prompt (or standard input)",
    .more =
        "Without PROMPT, or with -, the prompt is read from standard input.\n"
        "Without --tool the read-only tools are offered: calculator, "
        "read_file, list_dir,\n"
        "glob, grep. A rule for --approve is TOOL or TOOL(GLOB); a leading ! "
        "denies, a\n"
        "leading ? asks; the first match applies. If no rule matches, reading "
        "is allowed\n"
        "and other calls need approval; without a terminal they are denied.\n"
        "Ctrl-C cancels and keeps the partial answer; a second Ctrl-C exits at "
        "once.\n",
    .opts = opts,
    .takes_agent = true,
    .run = run,
};

/*
 * cmd_run.c - wend run: runs an agent on a prompt and streams the answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "cli/agent/agent.h"
#include "cli/chat/chat.h"
#include "cli/cmd/cmd.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/stream.h"

enum {
    SILENT_MS = 1000, /* then the command says what it waits for */
    FILES_MAX = 64,   /* of a prompt, as wend_run_options has it */
};

const char *const eager_words[] = {
    [WEND_EAGER_SAFE] = "safe",
    [WEND_EAGER_ALL] = "all",
    [WEND_EAGER_OFF] = "off",
    NULL,
};
const char *const effort_words[] = {
    [WEND_EFFORT_DEFAULT] = "default", [WEND_EFFORT_NONE] = "none",
    [WEND_EFFORT_LOW] = "low",         [WEND_EFFORT_MEDIUM] = "medium",
    [WEND_EFFORT_HIGH] = "high",       NULL,
};
const char *const unknown_words[] = {
    [WEND_UNKNOWN_TELL] = "tell",     [WEND_UNKNOWN_STOP] = "stop",
    [WEND_UNKNOWN_ASK] = "ask",       [WEND_UNKNOWN_RETRY] = "retry",
    [WEND_UNKNOWN_VERIFY] = "verify", NULL,
};
static const char *const set_words[] = {
    "inputs are of plan files: 'wend plan run FILE --set K=V'"};

static const struct opt opts[] = {
    ROWS_ASK,
    ROW_TEXT(plan, "plan", "GOAL",
             "let the model write a plan for GOAL, and run it"),
    ROWS_EVENTS,
    ROWS_LIMITS("maximum number of turns (default 50)", LIMIT_TOKENS,
                LIMIT_COST),
    ROWS_ASK_HOW,
    ROW_TEXT(schema, "schema", "FILE",
             "JSON Schema that the answer must match"),
    {.name = "set", .value = "K=V", .kind = OPT_REFUSED, .words = set_words},
    ROWS_TALK,
};

/* ---- The prompt ---------------------------------------------------------- */

/* A terminal, /dev/null and other devices have nothing to add to a prompt. */
static bool is_piped(void)
{
    struct stat s;

    return !fstat(STDIN_FILENO, &s) &&
           (S_ISFIFO(s.st_mode) || S_ISREG(s.st_mode) || S_ISSOCK(s.st_mode));
}

/* Standard input of a daemon or of ssh may never end: say what the command
 * waits for. */
static void say_reading(const struct cli *cli, bool more)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

    if (cli->set.quiet || poll(&fd, 1, SILENT_MS) != 0)
        return;
    complain(0, more ? "reading standard input, to send it with the prompt; "
                       "</dev/null sends the prompt alone"
                     : "reading the prompt from standard input");
}

static int read_stdin(struct cli *cli, struct buf *out, bool more)
{
    size_t before = out->len;
    const char *nul;

    say_reading(cli, more);
    if (!read_all(STDIN_FILENO, BLOB_BYTES_MAX, out))
        return complain(EXIT_USAGE, "cannot read standard input: %s",
                        strerror(errno));
    if (out->len > BLOB_BYTES_MAX)
        return usage_error(cli, "the prompt is larger than %d MiB",
                           BLOB_BYTES_MAX >> 20);
    nul = out->len > before ? memchr(out->ptr + before, 0, out->len - before)
                            : NULL;
    return nul ? complain(EXIT_USAGE,
                          "standard input is not text: byte %zu is NUL",
                          (size_t)(nul - out->ptr) - before + 1)
               : EXIT_DONE;
}

/* The prompt, an empty line, the text of standard input. */
static int add_stdin(struct cli *cli, struct buf *out)
{
    size_t prompt = out->len;
    int code;

    buf_cstr(out, "\n\n");
    code = read_stdin(cli, out, true);
    if (!code && out->len == prompt + 2)
        out->ptr[out->len = prompt] = 0;
    return code;
}

static int read_prompt(struct cli *cli, struct buf *out)
{
    const char *goal = cli->set.plan;
    const char *given = goal ? goal : cli->args_count == 1 ? cli->args[0] : "";
    bool piped = !strcmp(given, "-");
    int code = EXIT_DONE;

    if (goal && cli->args_count)
        return usage_error(cli, "--plan takes the goal; remove the prompt");
    if (!goal && !cli->args_count && isatty(STDIN_FILENO))
        return usage_error(
            cli, "no prompt; give one as an argument or on standard input");
    if (piped || (!goal && !cli->args_count))
        return read_stdin(cli, out, false);
    if (goal)
        buf_cstr(out, goal);
    else
        put_args(cli, 0, out);
    if (out->len && is_piped())
        code = add_stdin(cli, out);
    return code;
}

/* ---- Files that it comes with -------------------------------------------- */

/* A pipe would be read to an end that may never come; a device has none. */
int read_part(struct cli *cli, const char *path, wend_part *out)
{
    struct buf data = {.mem = &cli_mem};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *slash = strrchr(path, '/');
    struct stat st;
    bool ok;

    if (fd < 0 && errno != ENXIO) /* which is a socket's */
        return complain(EXIT_USAGE, "cannot open '%s': %s", path,
                        strerror(errno));
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        return usage_error(cli,
                           "'%s' is not a regular file; --file takes files, "
                           "and standard input is sent as text",
                           path);
    }
    ok = read_all(fd, BLOB_BYTES_MAX, &data);
    close(fd);
    if (!ok)
        return complain(EXIT_USAGE, "cannot read '%s': %s", path,
                        strerror(errno));
    out->data = buf_view(&data); /* it goes with the process */
    out->name = str_of(slash ? slash + 1 : path);
    return EXIT_DONE;
}

int read_parts(struct cli *cli, const wend_part **list, size_t *count)
{
    const struct words *files = &cli->set.files;
    wend_part *parts;
    int code = EXIT_DONE;

    if (!files->count)
        return EXIT_DONE;
    if (files->count > FILES_MAX)
        return usage_error(cli, "%zu files, at most %d", files->count,
                           FILES_MAX);
    parts = arena_alloc(&cli->arena, files->count * sizeof *parts);
    for (size_t i = 0; !code && i < files->count; i++) {
        code = read_part(cli, files->items[i], &parts[i]);
        if (!code &&
            wend_part_check(&parts[i], NULL, NULL, &cli->err) != WEND_OK)
            code = complain(EXIT_USAGE, "%s", cli->err.message);
    }
    *list = parts;
    *count = files->count;
    return code;
}

/* ---- The agent ----------------------------------------------------------- */

int no_model(void)
{
    static const char text[] =
        "wend: no model is set.\n"
        "\n"
        "Set one with -m NAME, with the environment variable WEND_MODEL, or "
        "with\n"
        "'model: NAME' in ~/.config/wend/config.yaml.\n"
        "\n"
        "The models of a provider are PROVIDER:NAME, such as openai:NAME; "
        "'wend\n"
        "models' lists the providers and their keys. Use --base-url for a "
        "server\n"
        "of your own.\n"
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

static int go_on(struct cli *cli, wend_str prompt, wend_run_options *o)
{
    struct stream st = {.cli = cli, .live = true, .asks = true};
    struct found last;
    int code = conversation_check(cli);

    if (!code)
        code = open_runtime(cli);
    if (!code)
        code = authority_store(cli);
    if (!code)
        code = conversation_find(cli, &last);
    if (!code)
        code = stream_open(&st);
    if (code)
        return code;
    code = conversation_agent(cli, &last, o);
    if (code) {
        stream_close(&st);
        return code;
    }
    return stream_run(&st, wend_run_follow(cli->made, last.id, prompt, o,
                                           &st.run, &cli->err));
}

static int run(struct cli *cli)
{
    wend_run_options o = {.size = sizeof o, .plan = cli->set.plan != NULL};
    struct buf prompt = {.mem = &cli_mem};
    struct stream st = {.cli = cli};
    int code;

    if (!cli->set.goes_on && (!cli->set.model || !*cli->set.model))
        return no_model();
    code = names_fill(cli, &o);
    if (!code)
        code = read_prompt(cli, &prompt);
    if (!code && !str_trim(buf_view(&prompt), is_space).len)
        code = usage_error(cli, "the prompt is empty");
    if (!code)
        code = read_parts(cli, &o.parts, &o.parts_count);
    if (!code && cli->set.goes_on)
        return go_on(cli, buf_view(&prompt), &o);
    if (!code)
        code = stream_new(&st);
    return code ? code
                : stream_run(&st, wend_run_start(cli->made, buf_view(&prompt),
                                                 &o, &st.run, &cli->err));
}

const struct command command_run = {
    .name = "run",
    .args = "[OPTIONS] [PROMPT]",
    .summary = "run an agent on a prompt (or standard input)",
    .more = "Without PROMPT, or with -, the prompt is read from standard "
            "input; with\n"
            "PROMPT, text on standard input (a pipe or a file) is sent after "
            "it. If\n"
            "standard output is not a terminal, the final answer alone is "
            "printed; --stream\n"
            "prints all text as it comes. Without --tool the read-only tools "
            "are offered:\n"
            "calculator, read_file, list_dir, glob, grep. A rule for --approve "
            "is TOOL or\n"
            "TOOL(GLOB); a leading ! denies, a leading ? asks; the first match "
            "applies. If\n"
            "no rule matches, reading is allowed and other calls need "
            "approval; without a\n"
            "terminal they are denied, or wait for 'wend approve' with "
            "--approve ask.\n"
            "Ctrl-C cancels and keeps the partial answer; a second Ctrl-C "
            "exits at once.\n",
    .args_max = ARGS_ANY,
    .opts = opts,
    .takes_agent = true,
    .makes_store = true,
    .run = run,
};

/*
 * main.c - the table of commands.
 */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/complete.h"
#include "cli/config.h"
#include "cli/term.h"
#include "cli/traces.h"

#define X(name) &command_##name,
static const struct command *const commands[] = {COMMANDS(X)};
#undef X
enum { COMMANDS_COUNT = sizeof commands / sizeof *commands };

/* Commands that this version does not implement yet. */
static const char *const later[] = {
    "index",
    "worker",
};
enum { LATER = sizeof later / sizeof *later };

/* ---- Help ---------------------------------------------------------------- */

enum { TEXT_COLUMNS = 80 }; /* the lines of the texts below fit in them */

static int print_help(void)
{
    struct buf b = {.mem = &cli_mem};

    buf_cstr(&b, "wend - run agents, inspect and replay their runs\n"
                 "\n"
                 "usage: wend COMMAND [OPTIONS] [ARGUMENTS]\n"
                 "\n");
    for (int i = 0; i < COMMANDS_COUNT; i++)
        buf_fmt(&b, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    buf_cstr(&b, "\n"
                 "'wend COMMAND --help' describes a command, 'wend --version' "
                 "prints the version.\n"
                 "Exit status: 0 success, 1 the run failed, 2 usage error, 3 a "
                 "limit was reached,\n"
                 "74 the store failed, 130 canceled, 143 ended by SIGTERM.\n");
    return print_fit(&b);
}

/* A narrow terminal gets the lines of a paragraph as one, which is wrapped. */
static void put_more(struct buf *out, const char *more)
{
    size_t width = term_wraps_at(STDOUT_FILENO);
    bool narrow = width && width < TEXT_COLUMNS;

    for (; *more; more++)
        buf_char(out, narrow && *more == '\n' && more[1] > ' ' ? ' ' : *more);
}

static int print_command_help(const struct command *c)
{
    struct buf b = {.mem = &cli_mem};

    buf_fmt(&b, "wend %s - %s\n\nusage: wend %s%s%s\n\n", c->name, c->summary,
            c->name, c->args[0] ? " " : "", c->args);
    options_help(c->opts, &b);
    if (strstr(c->args, "RUN"))
        buf_cstr(&b,
                 "\nRUN is an id, a unique prefix of an id, last, or last~N (N "
                 "runs before it).\n");
    else if (c->more)
        buf_char(&b, '\n');
    put_more(&b, c->more ? c->more : "");
    return print_fit(&b);
}

/* ---- Finding the command ------------------------------------------------- */

static const struct command *command_named(const char *name)
{
    for (int i = 0; i < COMMANDS_COUNT; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int no_command(const struct cli *cli, const char *name)
{
    const char *names[COMMANDS_COUNT];
    char hint[HINT_BYTES];

    if (str_index(str_of(name), later, LATER) >= 0)
        return complain(EXIT_USAGE, "'%s' is not available in this version",
                        name);
    for (int i = 0; i < COMMANDS_COUNT; i++)
        names[i] = commands[i]->name;
    return usage_error(cli, "unknown command '%s'%s", name,
                       did_you_mean(hint, name, names, COMMANDS_COUNT));
}

static int help_about(const struct cli *cli, const char *name)
{
    const struct command *c = name ? command_named(name) : NULL;

    if (c)
        return print_command_help(c);
    return name ? no_command(cli, name) : print_help();
}

/* ---- Running it ---------------------------------------------------------- */

/* Nothing in an invalid file counts. */
static int read_config(struct cli *cli)
{
    if (config_load(&cli->set, &cli->arena, &cli->err) == WEND_OK)
        return EXIT_DONE;
    if (!cli->command->no_config)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    settings_clear(&cli->set);
    cli->config_error = arena_str(&cli->arena, str_of(cli->err.message)).ptr;
    return EXIT_DONE;
}

/* Options are parsed twice: first alone, to report their errors and --help
 * before those of the config file; then on top of it. */
static int settle(struct cli *cli, int count, char **args)
{
    char **copy = arena_alloc(&cli->arena, ((size_t)count + 1) * sizeof *copy);
    struct buf why = {.mem = &cli_mem};
    int looked = count, code = EXIT_DONE;

    memcpy(copy, args, (size_t)count * sizeof *copy);
    settings_clear(&cli->set);
    if (!options_parse(cli->command->opts, &cli->set, &looked, copy,
                       &cli->arena, &why)) {
        code = usage_error(cli, "%s", buf_view(&why).ptr);
    } else if (!cli->set.help) {
        cli->given = cli->set;
        settings_clear(&cli->set);
        code = read_config(cli);
        config_environment(&cli->set);
        if (!code && cli->command->takes_agent &&
            (cli->given.agent ||
             (!cli->command->agent_named && !cli->given.goes_on)))
            code = agent_use(cli, &cli->given);
        cli->args_count = count;
        cli->args = args;
        options_parse(cli->command->opts, &cli->set, &cli->args_count, args,
                      &cli->arena, &why);
    }
    return code;
}

static int check_args(const struct cli *cli)
{
    const struct command *c = cli->command;

    if (cli->args_count >= c->args_min && cli->args_count <= c->args_max)
        return EXIT_DONE;
    return c->expected ? usage_error(cli, "expected %s", c->expected)
                       : usage_error(cli, "unexpected argument '%s'",
                                     cli->args[c->args_max]);
}

static int run_command(struct cli *cli, int count, char **args)
{
    int code = settle(cli, count, args);

    if (!code && cli->set.help) {
        code = print_command_help(cli->command);
    } else if (!code) {
        code = check_args(cli);
        if (!code)
            code = cli->command->run(cli);
    }
    traces_close(cli);
    wend_agent_free(cli->made);
    manifests_free(cli);
    wend_runtime_free(cli->rt);
    wend_store_free(cli->store);
    return code;
}

/* A file opened later must not become standard output by accident. */
static void hold_standard_fds(void)
{
    int fd = 0;

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct cli cli = {.arena = {.mem = &cli_mem}};
    const char *name = argc > 1 ? argv[1] : NULL;
    int code;

    hold_standard_fds();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);       /* report a file size limit as an error */
    setlocale(LC_CTYPE, "C.UTF-8"); /* for the width of characters */
    if (!name)
        code = usage_error(&cli, "expected a command");
    else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        code = print_all(STR("wend " WEND_VERSION "\n"));
    else if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        code = print_help();
    else if (!strcmp(name, "help"))
        code = help_about(&cli, argc > 2 ? argv[2] : NULL);
    else if (!strcmp(name, "complete")) /* for shells: not in the table */
        code =
            complete_words(&cli, commands, COMMANDS_COUNT, argc - 2, argv + 2);
    else if (name[0] == '-')
        code = usage_error(&cli, "unknown option %s", name);
    else if (!(cli.command = command_named(name)))
        code = no_command(&cli, name);
    else {
        cli.argv = argv + 2;
        code = run_command(&cli, argc - 2, argv + 2);
    }
    pool_free();
    return code;
}

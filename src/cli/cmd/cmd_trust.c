/*
 * cmd_trust.c - wend trust: accept a project's manifest, by its content, or a
 * store, by its id. wend init: write a manifest, and accept it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "cli/trust.h"

static const struct opt opts[] = {
    ROW_FLAG(list, "list", "list accepted files and stores, and their state"),
    ROW_FLAG(remove, "remove", "revoke the acceptance of FILE"),
    ROWS_END,
};

/* ---- What was accepted --------------------------------------------------- */

struct listing {
    struct cli *cli;
    struct buf out;
};

static void put_state(struct listing *l, const char *state, wend_str path)
{
    buf_fmt(&l->out, "%-8s ", state);
    term_line(&l->out, path, 4096);
    buf_char(&l->out, '\n');
}

static void put_line(void *ctx, wend_str sum, wend_str path)
{
    struct listing *l = ctx;
    const char *name = arena_str(&l->cli->arena, path).ptr;
    const char *state = "changed";
    const wend_manifest *m = NULL;

    if (access(name, F_OK))
        state = "gone";
    else if (trust_is_folder(sum))
        state = "folder";
    else if (agent_open(l->cli, name, true, &m) == WEND_OK &&
             str_is(sum, m->sum))
        state = "ok";
    put_state(l, state, path);
}

static bool put_store(void *ctx, const char *id, enum stores_how how,
                      wend_str path)
{
    struct listing *l = ctx;
    const char *name = arena_str(&l->cli->arena, path).ptr;

    (void)id;
    if (how == STORES_ACCEPTED) /* the user's own stores may be many */
        put_state(l, access(name, F_OK) ? "gone" : "store", path);
    return true;
}

static int list(struct cli *cli)
{
    struct listing l = {.cli = cli, .out = {.mem = &cli_mem}};
    wend_status s = trust_each(&cli->arena, put_line, &l, &cli->err);

    if (s == WEND_OK)
        s = stores_each(&cli->arena, put_store, &l, &cli->err);
    return s == WEND_OK ? print_buf(&l.out) : report(cli, s);
}

/* ---- Changes ------------------------------------------------------------- */

static int accept_file(struct cli *cli, const char *path)
{
    struct buf b = {.mem = &cli_mem};
    const char *real = trust_real(path, &cli->arena);
    const wend_manifest *m = NULL;
    wend_status s;

    if (!real)
        return complain(EXIT_USAGE, "%s: %s", path, strerror(errno));
    s = agent_open(cli, path, true, &m);
    if (s == WEND_OK)
        s = wend_manifest_check(m, &cli->err);
    if (s == WEND_OK)
        s = trust_add(real, m, &cli->arena, &cli->err);
    if (s != WEND_OK)
        return report(cli, s);
    buf_cstr(&b, "accepted as it is now: ");
    term_line(&b, str_of(real), 4096);
    buf_char(&b, '\n');
    agent_show(&b, m);
    return print_buf(&b);
}

/* ---- Stores -------------------------------------------------------------- */

static bool is_store(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool yes = fd >= 0 && read(fd, head, sizeof head) == sizeof head &&
               !memcmp(head, magic, sizeof magic);

    if (fd >= 0)
        close(fd);
    return yes;
}

struct count {
    int64_t runs, open;
};

static int count_run(void *ctx, const wend_run_info *info)
{
    struct count *c = ctx;

    c->runs++;
    c->open += !info->ended_us;
    return EXIT_DONE;
}

static int accept_store(struct cli *cli, const char *path)
{
    const wend_list_options all = {.size = sizeof all};
    wend_store_origin o = {.size = sizeof o};
    struct buf b = {.mem = &cli_mem};
    struct count c = {0};
    wend_status s;
    int code;

    cli->set.store = path;
    code = open_store(cli);
    if (!code)
        code = each_run(cli, &all, -1, count_run, &c);
    if (code)
        return code;
    s = wend_store_origin_of(cli->store, &o, &cli->err);
    if (s == WEND_OK)
        s = stores_add(o.id, path, STORES_ACCEPTED, &cli->arena, &cli->err);
    if (s != WEND_OK)
        return report(cli, s);
    buf_cstr(&b, "accepted: ");
    term_line(&b, str_of(path), 4096);
    buf_fmt(&b, ", a store with %lld runs, %lld unfinished\n",
            (long long)c.runs, (long long)c.open);
    return print_buf(&b);
}

/* ---- Both ---------------------------------------------------------------- */

static int remove_file(struct cli *cli, const char *path)
{
    const char *real = trust_real(path, &cli->arena); /* the file may be gone */
    wend_status s = stores_remove(real ? real : path, &cli->arena, &cli->err);

    if (s == WEND_E_NOTFOUND)
        s = trust_remove(real ? real : path, &cli->arena, &cli->err);
    return report(cli, s);
}

static int accept_folder(struct cli *cli, const char *path)
{
    struct buf b = {.mem = &cli_mem};
    const char *real = trust_real(path, &cli->arena);
    wend_status s = trust_add_folder(real, &cli->arena, &cli->err);

    if (s != WEND_OK)
        return report(cli, s);
    buf_cstr(&b, "accepted: ");
    term_line(&b, str_of(real), 4096);
    buf_cstr(&b, "; notes in it (AGENTS.md, CLAUDE.md, WEND.md) are trusted "
                 "from now on\n");
    return print_buf(&b);
}

static bool is_folder(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int run(struct cli *cli)
{
    if (cli->set.list && (cli->args_count || cli->set.remove))
        return usage_error(cli, "--list takes no other option or argument");
    if (cli->set.list)
        return list(cli);
    if (!cli->args_count)
        return usage_error(cli, "expected a file");
    if (cli->set.remove)
        return remove_file(cli, cli->args[0]);
    if (is_folder(cli->args[0]))
        return accept_folder(cli, cli->args[0]);
    return (is_store(cli->args[0]) ? accept_store : accept_file)(cli,
                                                                 cli->args[0]);
}

const struct command command_trust = {
    .name = "trust",
    .args = "[OPTIONS] [FILE]",
    .summary = "accept a project's manifest or folder, or a store",
    .more =
        "./wend.yaml is used only after it was accepted, together with the "
        "files that it\n"
        "and its commands name; any change to one of them revokes the "
        "acceptance. Read\n"
        "them first. FILE may also be a store: runs in a store that was "
        "created elsewhere\n"
        "cannot choose programs, keys or policy until the store is accepted. "
        "Or a folder:\n"
        "then the notes of the project in it are trusted.\n",
    .args_max = 1,
    .opts = opts,
    .no_config = true,
    .run = run,
};

/* ---- wend init ----------------------------------------------------------- */

static const struct opt init_opts[] = {
    ROW_FLAG(force, "force", "replace ./wend.yaml"),
    ROWS_END,
};

/* Each key of wend-agent(5), with its default or an example. */
static const char template[] =
    "# wend.yaml - the agent of this folder; see wend-agent(5).\n"
    "# 'wend run' uses it as long as it stays as it was accepted: after a\n"
    "# change look at it, then 'wend trust wend.yaml'.\n"
    "wend: agent/1\n"
    "\n"
    "# name: wend                 # default: the name of the file\n"
    "# description: What it is for.\n"
    "\n"
    "# The model; default $WEND_MODEL, then ~/.config/wend/config.yaml.\n"
    "# 'wend models' lists what is known, 'wend models openai' what openai "
    "has.\n"
    "# model: openai:gpt-4o\n"
    "# fallback_models: []        # asked in this order if the model fails\n"
    "# base_url: http://127.0.0.1:8000/v1   # default: the provider's own\n"
    "# context_tokens: 128000     # default: the window of the model\n"
    "\n"
    "# What requests ask for besides; default: as the provider decides.\n"
    "# temperature: 0.2           # also top_p, top_k\n"
    "# stop: [END]\n"
    "# seed: 7\n"
    "# presence_penalty: 0        # also frequency_penalty\n"
    "# extra: {parallel_tool_calls: false}   # more fields of the request\n"
    "# headers: {X-Team: \"${TEAM}\"}          # ${NAME}: a variable\n"
    "\n"
    "# loop: on                   # off: calls may repeat themselves\n"
    "\n"
    "# instructions: |\n"
    "#   You work on the files of this folder.\n"
    "\n"
    "# Tools by name ('wend tools' lists them), or files of tools.\n"
    "# tools: [calculator, read_file, list_dir, glob, grep]\n"
    "\n"
    "# Who may do what; the first match applies. Without a rule reading is\n"
    "# allowed, and other calls need approval.\n"
    "# policy:\n"
    "#   - {tool: \"write_file(notes/*)\", do: allow}\n"
    "#   - {tool: \"shell\", do: ask}\n"
    "\n"
    "# limits:\n"
    "#   turns: 50\n"
    "#   time: 10m                # default: none\n"
    "#   tokens: 100000           # default: none\n"
    "#   cost: 0.50               # USD; default: none\n"
    "#   parallel: 5\n"
    "\n"
    "# network: on                # off, or hosts for http_request\n"
    "# notes: on                  # off: no AGENTS.md, date and branch\n"
    "\n"
    "# MCP servers: programs or URLs.\n"
    "# mcp:\n"
    "#   files: {command: [npx, server-files, .]}\n"
    "\n"
    "# agents: []                 # files of agents to give tasks to\n";

static int init(struct cli *cli)
{
    int flags = cli->set.force ? O_TRUNC : O_EXCL;
    int fd = open(AGENT_FILE_DEFAULT,
                  O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0644);

    if (fd < 0 && errno == EEXIST)
        return complain(EXIT_USAGE, AGENT_FILE_DEFAULT
                        " is there already; --force replaces it");
    if (fd < 0 || !write_all(fd, str_of(template)) || close(fd))
        return complain(EXIT_USAGE, "%s: %s", AGENT_FILE_DEFAULT,
                        strerror(errno));
    return accept_file(cli, AGENT_FILE_DEFAULT);
}

const struct command command_init = {
    .name = "init",
    .args = "[OPTIONS]",
    .summary = "write a commented wend.yaml for this folder, and accept it",
    .more = "Every setting in it is a comment with its default or an "
            "example.\n",
    .opts = init_opts,
    .no_config = true,
    .run = init,
};

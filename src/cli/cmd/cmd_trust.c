/*
 * cmd_trust.c - wend trust: accept a project's manifest, by its content, or a
 * store, by its id.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
    return (is_store(cli->args[0]) ? accept_store : accept_file)(cli,
                                                                 cli->args[0]);
}

const struct command command_trust = {
    .name = "trust",
    .args = "[OPTIONS] [FILE]",
    .summary = "accept a project's manifest, or a store from elsewhere",
    .more =
        "./wend.yaml is used only after it was accepted, together with the "
        "files that it\n"
        "and its commands name; any change to one of them revokes the "
        "acceptance. Read\n"
        "them first. FILE may also be a store: runs in a store that was "
        "created elsewhere\n"
        "cannot choose programs, keys or policy until the store is accepted.\n",
    .args_max = 1,
    .opts = opts,
    .no_config = true,
    .run = run,
};

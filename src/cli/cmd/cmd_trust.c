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
#include "cli/each_run.h"
#include "cli/stores.h"
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
    struct arena *arena;
};

static void put_line(void *ctx, wend_str sum, wend_str path)
{
    struct listing *l = ctx;
    const char *name = arena_str(l->arena, path).ptr;
    const char *state = "changed";
    const wend_manifest *m = NULL;

    if (!name || access(name, F_OK))
        state = "gone";
    else if (agent_open(l->cli, name, true, &m, NULL) == WEND_OK &&
             str_is(sum, m->sum))
        state = "ok";
    buf_fmt(&l->out, "%-8s ", state);
    term_line(&l->out, path, 4096);
    buf_char(&l->out, '\n');
}

static bool put_store(void *ctx, const char *id, enum stores_how how,
                      wend_str path)
{
    struct listing *l = ctx;
    const char *name = arena_str(l->arena, path).ptr;

    (void)id;
    if (how != STORES_ACCEPTED)
        return true; /* the user's own stores may be many */
    buf_fmt(&l->out, "%-8s ", name && !access(name, F_OK) ? "store" : "gone");
    term_line(&l->out, path, 4096);
    buf_char(&l->out, '\n');
    return true;
}

static int list(struct cli *cli)
{
    struct listing l = {
        .cli = cli, .out = {.mem = cli->arena.mem}, .arena = &cli->arena};
    wend_error err = {0};
    wend_status s = trust_each(&cli->arena, put_line, &l, &err);
    int code;

    if (s == WEND_OK)
        s = stores_each(&cli->arena, put_store, &l, &err);
    code = s == WEND_OK ? print_buf(&l.out) : give_up(cli, s, &err);
    buf_free(&l.out);
    return code;
}

/* ---- Changes ------------------------------------------------------------- */

static int accept_file(struct cli *cli, const char *path)
{
    struct buf b = {.mem = cli->arena.mem};
    const char *real = trust_real(path, &cli->arena);
    const wend_manifest *m = NULL;
    wend_error err = {0};
    wend_status s;
    int code;

    if (!real)
        return complain(EXIT_USAGE, "%s: %s", path, strerror(errno));
    s = agent_open(cli, path, true, &m, &err);
    if (s == WEND_OK)
        s = wend_manifest_check(m, &err);
    if (s == WEND_OK)
        s = trust_add(real, m, &cli->arena, &err);
    if (s != WEND_OK)
        return give_up(cli, s, &err);
    buf_cstr(&b, "accepted as it is now: ");
    term_line(&b, str_of(real), 4096);
    buf_char(&b, '\n');
    agent_show(&b, m);
    code = print_buf(&b);
    buf_free(&b);
    return code;
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
    struct buf b = {.mem = cli->arena.mem};
    struct count c = {0};
    wend_error err = {0};
    wend_status s;
    int code;

    cli->set.store = path;
    code = open_store(cli);
    if (!code)
        code = each_run(cli, &all, -1, count_run, &c);
    if (code)
        return code;
    s = wend_store_origin_of(cli->store, &o, &err);
    if (s == WEND_OK)
        s = stores_add(o.id, path, STORES_ACCEPTED, &cli->arena, &err);
    if (s != WEND_OK)
        return give_up(cli, s, &err);
    buf_cstr(&b, "accepted: ");
    term_line(&b, str_of(path), 4096);
    buf_fmt(&b, ", a store with %lld runs, %lld unfinished\n",
            (long long)c.runs, (long long)c.open);
    code = print_buf(&b);
    buf_free(&b);
    return code;
}

/* ---- Both ---------------------------------------------------------------- */

static int remove_file(struct cli *cli, const char *path)
{
    const char *real = trust_real(path, &cli->arena); /* the file may be gone */
    wend_error err = {0};
    wend_status s = stores_remove(real ? real : path, &cli->arena, &err);

    if (s == WEND_E_NOTFOUND)
        s = trust_remove(real ? real : path, &cli->arena, &err);

    return s == WEND_OK ? EXIT_DONE : give_up(cli, s, &err);
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

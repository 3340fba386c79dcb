/*
 * cmd_rm.c - wend rm: removes one run and its descendants from the store.
 */
#include <string.h>

#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"

static const struct opt opts[] = {
    ROW_FLAG(yes, "yes", "do not ask for confirmation"),
    ROW_FLAG(with_forks, "with-forks", "also remove its forks"),
    ROW_QUIET("print nothing on success"),
    ROW_STORE,
    ROWS_END,
};

struct rm_row {
    struct rm_row *next; /* newer */
    char run[40], parent[40], fork_of[40];
    bool child, alive;
    struct rm_row *gone_next; /* of the runs to remove: older */
};

struct rm_rows {
    struct cli *cli;
    struct rm_row *oldest, *gone;
    size_t others; /* removed with it */
};

/* The listing gives the newest first. */
static int note(void *ctx, const wend_run_info *info)
{
    struct rm_rows *r = ctx;
    struct rm_row *row = arena_alloc(&r->cli->arena, sizeof *row);

    str_copy(row->run, sizeof row->run, info->run);
    str_copy(row->parent, sizeof row->parent, info->parent);
    str_copy(row->fork_of, sizeof row->fork_of, info->fork_of);
    row->child = info->child;
    row->alive = !info->ended_us && !str_is(info->status, "interrupted");
    row->next = r->oldest;
    r->oldest = row;
    return EXIT_DONE;
}

static bool goes(const struct rm_rows *r, const char *run)
{
    for (const struct rm_row *row = r->gone; row; row = row->gone_next)
        if (!strcmp(row->run, run))
            return true;
    return false;
}

/* A run is older than its children and its forks. */
static int choose(struct rm_rows *r, const char *id)
{
    for (struct rm_row *row = r->oldest; row; row = row->next) {
        bool named = !strcmp(row->run, id);

        if (!named && !goes(r, row->parent) && !goes(r, row->fork_of))
            continue;
        row->gone_next = r->gone;
        r->gone = row;
        r->others += !named;
        if (row->alive)
            return complain(
                EXIT_USAGE,
                "run %s is active in another process; cancel it first",
                row->run);
        if (!named && !(row->child && goes(r, row->parent)) &&
            !r->cli->set.with_forks)
            return complain(EXIT_USAGE,
                            "run %s is a fork of run %s and shares its "
                            "history; --with-forks removes both",
                            row->run, row->fork_of);
    }
    return EXIT_DONE;
}

static int ask(const struct rm_rows *r, const char *id)
{
    struct buf question = {.mem = &cli_mem};

    if (r->cli->set.yes)
        return EXIT_DONE;
    if (!term_asks())
        return complain(EXIT_USAGE,
                        "cannot ask for confirmation without a terminal; --yes "
                        "removes run %s",
                        id);
    buf_fmt(&question, "remove run %s", id);
    if (r->others)
        buf_fmt(&question, " and %zu related runs", r->others);
    buf_cstr(&question, "? [y]es [n]o ");
    return confirm(buf_view(&question));
}

/* Newest first: a run must not be removed before its descendants. */
static int remove_rows(struct rm_rows *r)
{
    wend_status s = WEND_OK;

    for (const struct rm_row *row = r->gone; row && s == WEND_OK;
         row = row->gone_next)
        s = wend_store_remove(r->cli->store, row->run, &r->cli->err);
    return report(r->cli, s);
}

static int run(struct cli *cli)
{
    const wend_list_options all = {.size = sizeof all};
    const wend_prune_options blobs = {.size = sizeof blobs};
    struct rm_rows r = {.cli = cli};
    struct found found;
    int code = find_arg(cli, open_store, &found);

    if (!code)
        code = each_run(cli, &all, -1, note, &r);
    if (!code)
        code = choose(&r, found.id);
    if (!code)
        code = ask(&r, found.id);
    if (!code)
        code = remove_rows(&r);
    if (!code) /* the blobs that only these runs referred to */
        code =
            report(cli, wend_store_prune(cli->store, &blobs, NULL, &cli->err));
    if (!code && !cli->set.quiet)
        complain(0, "run %s removed", found.id);
    return code;
}

const struct command command_rm = {
    .name = "rm",
    .args = "[OPTIONS] RUN",
    .summary = "remove one run from the store",
    .more = "Runs that it started are removed, too. A run that is active in a "
            "process is\n"
            "refused; so is a run with forks unless --with-forks is given.\n",
    TAKES_A_RUN,
    .opts = opts,
    .run = run,
};

/*
 * cmd_resume.c - wend resume: go on with runs whose process is gone.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/again.h"
#include "cli/authority.h"
#include "cli/stream.h"

/* A program that was being started when its owner was killed holds the
 * owner's lock for a moment more, until it is under way. */
static const struct timespec moment = {.tv_nsec = 10000000};
enum { MOMENTS = 10, TAKE_TRIES = 50 };

#define AT(member) offsetof(struct settings, member)

static const struct opt opts[] = {
    OPT_ROWS_AGENT,
    {0, "max-turns", "N", "at most so many turns, from its beginning on",
     OPT_NUMBER, AT(max_turns), 1, UINT32_MAX, NULL},
    {0, "timeout", "DUR", "at most so long, such as 30s or 5m", OPT_TIME,
     AT(timeout_ms), 0, 0, NULL},
    {0, "budget-tokens", "N", "at most so many tokens, in and out", OPT_NUMBER,
     AT(budget_tokens), 1, 0, NULL},
    {0, "budget-cost", "USD", "at most so much money", OPT_MONEY,
     AT(budget_cost), 0, 0, NULL},
    {0, "store", "URL", "SQLite file; default $WEND_STORE", OPT_TEXT, AT(store),
     0, 0, NULL},
    OPT_ROW_TRUST_STORE,
    {0, "accept-loss", NULL, "also a run that has lost the end of its log",
     OPT_FLAG, AT(accept_loss), 0, 0, NULL},
    OPT_ROW_JSON,
    OPT_ROW_EVENTS,
    OPT_ROW_LOG_FILE,
    OPT_ROWS_TALK,
    {0},
};

/* Whether the run was named, is one of all that were interrupted, or is only
 * closed. */
enum aim { NAMED, ANY, CLOSE };

enum state { GONE, UNDER_WAY, INTERRUPTED, OVER };

/* Of a child `parent` takes whose it is; NULL: nobody wants to know. */
static enum state look_up(struct cli *cli, const char *id, char parent[40])
{
    wend_list_options o = {.size = sizeof o, .run = id, .limit = 1};
    const wend_run_info *info;
    wend_runs *list = NULL;
    enum state state = GONE;

    if (!id[0] || wend_store_list(cli->store, &o, &list, NULL) != WEND_OK)
        return GONE;
    if (wend_runs_next(list, &info) == WEND_OK) {
        state = info->ended_us                        ? OVER
                : str_is(info->status, "interrupted") ? INTERRUPTED
                                                      : UNDER_WAY;
        if (parent && info->child)
            snprintf(parent, 40, "%.*s", (int)info->parent.len,
                     info->parent.ptr);
    }
    wend_runs_free(list);
    return state;
}

static enum state state_of(struct cli *cli, const char *id)
{
    return look_up(cli, id, NULL);
}

/* Limits alone change those of the run; with a whole config its own come. */
static wend_run_options options_of(const struct settings *given,
                                   const struct again *how)
{
    wend_run_options o = {
        .size = sizeof o, .take = how->take, .trust_log = how->trust_log};

    if (how->take & WEND_FORK_CONFIG)
        return o;
    o.take &= ~(uint32_t)WEND_FORK_LIMITS;
    o.limits = (wend_limits){.turns = (uint32_t)given->max_turns,
                             .time_ms = given->timeout_ms,
                             .tokens = given->budget_tokens,
                             .cost_nano = given->budget_cost};
    return o;
}

static wend_status take(struct cli *cli, wend_agent *agent, const char *id,
                        const struct again *how, wend_run **out,
                        wend_error *err)
{
    const wend_run_options o = options_of(&cli->given, how);
    wend_status s = WEND_OK;

    for (int i = 0; i < TAKE_TRIES; i++) {
        s = wend_run_resume(agent, id, &o, out, err);
        if (s != WEND_E_BUSY)
            break;
        nanosleep(&moment, NULL);
    }
    return s;
}

static int go(struct cli *cli, wend_agent *agent, const char *id,
              const struct again *how, enum aim aim, struct view *view)
{
    struct stream st = {.cli = cli, .view = view, .live = true, .asks = true};
    wend_error err = {0};
    int code = stream_past(&st, id, 0);
    wend_status s;

    if (code)
        return code;
    s = cli->set.accept_loss ? wend_store_accept_loss(cli->store, id, &err)
                             : WEND_OK;
    if (s == WEND_OK)
        s = take(cli, agent, id, how, &st.run, &err);
    view->live = true;
    if (s == WEND_OK && aim == CLOSE) /* before anything of it is done */
        wend_run_cancel_by(st.run, "parent");
    if (s != WEND_OK && aim != NAMED && state_of(cli, id) != INTERRUPTED)
        return EXIT_DONE; /* another process was faster */
    if (s == WEND_E_BUSY)
        return complain(EXIT_USAGE, "%s", err.message);
    code = s == WEND_OK ? stream_go(&st) : give_up(cli, s, &err);
    wend_run_free(st.run);
    return code;
}

static int resume(struct cli *cli, const char *id, bool imported, enum aim aim)
{
    struct again how = {.take = authority_given(&cli->given),
                        .imported = imported};
    wend_agent *agent = NULL;
    struct view view;
    int code;

    /* First: its files are found from where the command was called. */
    if (!view_open(&view, &cli->set, view_look(&cli->set)))
        return EXIT_USAGE;
    code = again_agent(cli, id, &how, &agent);
    if (!code)
        code = go(cli, agent, id, &how, aim, &view);
    wend_agent_free(agent);
    view_free(&view);
    return code;
}

/* ---- All of them --------------------------------------------------------- */

struct id {
    struct id *next;
    char text[40];
    char parent[40]; /* of a child, else empty */
    bool imported;
};

/* Oldest first, as they were started. */
static int interrupted(struct cli *cli, struct id **out)
{
    wend_list_options o = {.size = sizeof o, .status = "interrupted"};
    const wend_run_info *info;
    wend_runs *list = NULL;
    wend_error err = {0};
    size_t count;
    wend_status s;

    do {
        count = 0;
        s = wend_store_list(cli->store, &o, &list, &err);
        if (s != WEND_OK)
            return give_up(cli, s, &err);
        while (wend_runs_next(list, &info) == WEND_OK) {
            struct id *id = arena_alloc(&cli->arena, sizeof *id);

            if (!id)
                break;
            id->imported = info->imported;
            if (info->child)
                snprintf(id->parent, sizeof id->parent, "%.*s",
                         (int)info->parent.len, info->parent.ptr);
            snprintf(id->text, sizeof id->text, "%.*s", (int)info->run.len,
                     info->run.ptr);
            id->next = *out;
            *out = id;
            o.after = id->text;
            count++;
        }
        wend_runs_free(list);
    } while (count && !cli->arena.failed);
    return cli->arena.failed ? complain(EXIT_FAILED, "out of memory")
                             : EXIT_DONE;
}

/* Its parent goes on with it, as one does that is under way by now. */
static bool is_taken_up(const struct id *list, const struct id *child)
{
    for (const struct id *id = list; id && child->parent[0]; id = id->next)
        if (!strcmp(id->text, child->parent))
            return true;
    return false;
}

/* A child whose parent is over, and did not wait for it to the end, is closed:
 * nobody else will read what it would say. */
static int resume_one(struct cli *cli, const struct id *id)
{
    int code;

    if (state_of(cli, id->parent) != OVER) {
        if (!cli->set.quiet)
            complain(0, "resuming run %s", id->text);
        return resume(cli, id->text, id->imported, ANY);
    }
    if (!cli->set.quiet)
        complain(0, "closing run %s: run %s, which it is a child of, is over",
                 id->text, id->parent);
    code = resume(cli, id->text, id->imported, CLOSE);
    return code == EXIT_CANCELED ? EXIT_DONE : code;
}

/* One that seems to run may be one whose owner was killed just now. */
static void let_die(struct cli *cli)
{
    static const char *const alive[] = {"running", "waiting", "paused"};
    const wend_run_info *info;
    bool any = false;

    for (size_t i = 0; i < sizeof alive / sizeof *alive && !any; i++) {
        wend_list_options o = {
            .size = sizeof o, .status = alive[i], .limit = 1};
        wend_runs *list = NULL;

        any = wend_store_list(cli->store, &o, &list, NULL) == WEND_OK &&
              wend_runs_next(list, &info) == WEND_OK;
        wend_runs_free(list);
    }
    for (int i = 0; any && i < MOMENTS; i++)
        nanosleep(&moment, NULL);
}

/* The first exit code that is not 0; a signal or a failed store ends it. */
static int resume_all(struct cli *cli)
{
    struct id *list = NULL;
    int code, worst = EXIT_DONE;

    let_die(cli);
    code = interrupted(cli, &list);
    if (code)
        return code;
    if (!list && !cli->set.quiet)
        complain(0, "no run was interrupted");
    for (const struct id *id = list; id; id = id->next) {
        if (is_taken_up(list, id) || state_of(cli, id->parent) == UNDER_WAY)
            continue;
        /* Its log says which programs are called: somebody else's word. */
        if (id->imported) {
            complain(0,
                     "run %s was imported, and is left as it is; name it, and "
                     "what it is to go on with, to resume it",
                     id->text);
            continue;
        }
        code = resume_one(cli, id);
        if (worst == EXIT_DONE)
            worst = code;
        if (code >= EXIT_STORE)
            return code;
    }
    return worst;
}

/* A parent that is under way, or paused, goes on with its children, and could
 * not if somebody else had them. */
static int resume_named(struct cli *cli, const char *id, bool imported)
{
    char parent[40] = "";

    look_up(cli, id, parent);
    if (state_of(cli, parent) == UNDER_WAY)
        return complain(EXIT_USAGE,
                        "run %s is a child of run %s, which is under way and "
                        "goes on with it",
                        id, parent);
    return resume(cli, id, imported, NAMED);
}

static int run(struct cli *cli)
{
    struct found found;
    int code;

    if (cli->args_count > 1)
        return usage_error(cli, "name one run, or last, or none");
    code = open_runtime(cli);
    if (!code)
        code = authority_store(cli);
    if (!code && !cli->args_count)
        return resume_all(cli);
    if (!code)
        code = find_run(cli, cli->args[0], &found);
    return code ? code : resume_named(cli, found.id, found.imported);
}

const struct command command_resume = {
    .name = "resume",
    .args = "[OPTIONS] [RUN]",
    .summary = "go on with a run that was interrupted, or with all of them",
    .more = RUN_IS
    "; without "
    "it every run\nwhose process is gone is gone on with, but none that "
    "was imported.\n"
    "What is recorded is not done again. Calls that were under way run "
    "again if they\nonly read or are idempotent; what became of any other "
    "is not known, and the model\nis told so. Options replace what the "
    "log says; of a run that was imported it\nsays nothing, and they are "
    "needed. The exit status is that of the run.\n",
    .opts = opts,
    .takes_agent = true,
    .agent_named = true,
    .run = run,
};

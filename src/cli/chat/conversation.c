/*
 * conversation.c - finds the conversation that -c continues, and its agent.
 *
 * The table of runs has neither directories nor plans: both are in the first
 * event of a run, which is read newest first until one fits.
 */
#include "cli/chat/chat.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/agent/agent.h"
#include "cli/term.h"
#include "cli/trust.h"

struct search {
    struct cli *cli;
    const char *here; /* NULL: in any directory */
    struct found *out;
    char line[512]; /* of the run, to show */
    char cwd[4096];
    char left[40]; /* a newer run that was interrupted; empty: none */
    bool fits, found;
};

/* ---- One run ------------------------------------------------------------- */

static void look_at_start(void *ctx, const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;
    struct search *s = ctx;
    struct arena a = {.mem = &cli_mem};

    s->fits = !e->plan_json.ptr && !e->parent_run.ptr &&
              (!s->here || str_is(e->cwd, s->here)) &&
              !json_get(json_parse_own(e->config_json, &a, NULL), "planner");
    str_copy(s->cwd, sizeof s->cwd, e->cwd);
    arena_free(&a);
}

static bool is_over(wend_str status)
{
    static const char *const words[] = {"ok", "limit", "canceled", "failed"};

    return str_index(status, words, 4) >= 0;
}

static int look(void *ctx, const wend_run_info *info)
{
    struct search *s = ctx;
    wend_replay_options o = {
        .size = sizeof o, .seq_to = 1, .filter.types = TYPE(RUN_START)};
    struct buf line = {.mem = &cli_mem};
    bool over = is_over(info->status);
    int code;

    if (info->child || info->imported ||
        !(over || (!s->left[0] && str_is(info->status, "interrupted"))))
        return EXIT_DONE;
    str_copy(s->out->id, sizeof s->out->id, info->run);
    s->out->started_us = info->started_us;
    s->out->imported = false;
    put_run(&line, info, term_width(STDERR_FILENO));
    str_copy(s->line, sizeof s->line, buf_view(&line));
    buf_free(&line);
    s->fits = false;
    code = each_event(s->cli, s->out->id, &o, look_at_start, s);
    if (!code && s->fits && !over)
        str_copy(s->left, sizeof s->left, info->run);
    s->found = !code && s->fits && over;
    return s->found ? EXIT_FAILED : code; /* the first is enough */
}

/* ---- None ---------------------------------------------------------------- */

enum { SESSIONS_MAX = 10 }; /* named in a message */

struct sessions {
    struct cli *cli;
    struct words names;
};

static int note_session(void *ctx, const wend_run_info *info)
{
    struct sessions *s = ctx;

    for (size_t i = 0; i < s->names.count; i++)
        if (str_is(info->session, s->names.items[i]))
            return EXIT_DONE;
    if (info->session.len && !info->imported)
        words_add(&s->names, arena_str(&s->cli->arena, info->session).ptr,
                  &s->cli->arena);
    return EXIT_DONE;
}

static int no_session(struct cli *cli, const char *wanted)
{
    const wend_list_options all = {.size = sizeof all, .user = cli->set.user};
    struct sessions s = {.cli = cli};
    struct buf list = {.mem = &cli_mem};
    char hint[HINT_BYTES];
    int code = each_run(cli, &all, -1, note_session, &s);

    for (size_t i = 0; i < s.names.count && i < SESSIONS_MAX; i++)
        buf_fmt(&list, "%s%s", i ? ", " : "", s.names.items[i]);
    if (s.names.count > SESSIONS_MAX)
        buf_fmt(&list, " and %zu more", s.names.count - SESSIONS_MAX);
    return code ? code
                : complain(EXIT_USAGE, "there is no session '%s'%s%s%s", wanted,
                           did_you_mean(hint, wanted, s.names.items,
                                        (int)s.names.count),
                           list.len ? "; sessions: "
                                    : "; no run has one, --session NAME "
                                      "without -c begins it",
                           list.len ? list.ptr : "");
}

static int none(struct cli *cli, const wend_list_options *which)
{
    wend_list_options any = *which;

    any.limit = 1;
    if (which->session && runs_count(cli, &any) == 0)
        return no_session(cli, which->session);
    return complain(EXIT_USAGE,
                    "no conversation to continue%s: plans, children, imported "
                    "runs and those that are not over do not count; 'wend "
                    "runs' lists them, 'wend fork RUN MESSAGE' continues a "
                    "run by its id",
                    which->session ? " in this session" : " in this directory");
}

/* ---- The command --------------------------------------------------------- */

/* What an agent is cannot be changed piece by piece. */
int conversation_check(const struct cli *cli)
{
    const struct settings *g = &cli->given;
    const struct {
        const char *name;
        bool given;
    } rows[] = {{"--instructions", g->instructions != NULL},
                {"--schema", g->schema != NULL},
                {"--plan", g->plan != NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given)
            return usage_error(cli,
                               "%s cannot be combined with -c: the agent is "
                               "that of the conversation; -a FILE replaces it",
                               rows[i].name);
    return EXIT_DONE;
}

int conversation_find(struct cli *cli, struct found *out)
{
    const wend_list_options which = {.size = sizeof which,
                                     .user = cli->set.user,
                                     .session = cli->set.session};
    struct search s = {.cli = cli, .out = out};
    const char *here = trust_real(".", &cli->arena);
    int code;

    if (!which.session)
        s.here = here ? here : "";
    code = each_run(cli, &which, -1, look, &s);
    if (s.left[0] && (!s.found || !cli->set.quiet))
        complain(0,
                 "run %s was interrupted and is left out; 'wend resume %s' "
                 "finishes it, and it can be continued then",
                 s.left, s.left);
    if (!s.found)
        return code ? code : none(cli, &which);
    if (!cli->set.quiet)
        complain(0, "continuing %.*s%s%s", (int)strcspn(s.line, "\n"), s.line,
                 here && strcmp(here, s.cwd) != 0 ? ", in " : "",
                 here && strcmp(here, s.cwd) != 0 ? s.cwd : "");
    return EXIT_DONE;
}

int conversation_agent(struct cli *cli, const struct found *last,
                       wend_run_options *o)
{
    struct again how = {.take = authority_given(&cli->given),
                        .imported = last->imported};
    int code = again_agent(cli, last->id, &how);

    o->take = how.take;
    o->trust_log = how.trust_log;
    return code;
}

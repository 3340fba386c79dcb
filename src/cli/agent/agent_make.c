/*
 * agent_make.c - the agent of a run, from the settings and its file.
 */
#include "cli/agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/ask/ask.h"
#include "cli/ask/remember.h"
#include "cli/config.h"
#include "cli/trust.h"

static const char *const approve_words[] = {
    [WEND_APPROVE_ASK] = "ask",
    [WEND_APPROVE_DENY] = "deny",
    [WEND_APPROVE_ALL] = "all",
};
enum { APPROVE_WORDS = sizeof approve_words / sizeof *approve_words };

int agent_approve_mode(const char *word)
{
    return str_index(str_of(word), approve_words, APPROVE_WORDS);
}

/* Modes and rules come in one list; the last mode counts. The user overrides
 * the agent's file. */
int agent_approve(struct cli *cli, wend_agent_options *o, bool *allow_rest)
{
    const struct words *w = &cli->set.approve;
    bool terminal = approvals_here(&cli->set), named = false;
    struct words kept = {0};
    const char **rules;

    if (remember_rules(&kept, &cli->arena, &cli->err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    rules =
        arena_alloc(&cli->arena, (w->count + kept.count + 1) * sizeof *rules);
    o->approve = WEND_APPROVE_ASK;
    for (size_t i = 0; i < w->count; i++) {
        int mode = agent_approve_mode(w->items[i]);
        int code = mode < 0 ? tools_check_rule(cli, w->items[i], approve_words,
                                               APPROVE_WORDS)
                            : EXIT_DONE;

        if (code)
            return code;
        named |= mode >= 0;
        if (mode >= 0)
            o->approve = (wend_approve)mode;
        else
            rules[o->rules_count++] = w->items[i];
    }
    for (size_t i = 0; i < kept.count; i++)
        rules[o->rules_count++] = kept.items[i];
    o->rules = rules;
    /* With a terminal, ask about what even `all` does not cover. */
    *allow_rest = o->approve == WEND_APPROVE_ALL && terminal;
    if (*allow_rest)
        o->approve = WEND_APPROVE_ASK;
    /* Without a terminal a person answers with 'wend approve', if the user
     * wants that. */
    if (o->approve == WEND_APPROVE_ASK && !terminal && !named)
        o->approve = WEND_APPROVE_DENY;
    cli->asks = o->approve == WEND_APPROVE_ASK;
    return EXIT_DONE;
}

static int read_schema(struct cli *cli, const char **text)
{
    const char *path = cli->set.schema;
    struct buf b = {.mem = &cli_mem};

    if (!path)
        return EXIT_DONE;
    if (config_read(path, &b, &cli->err) != WEND_OK)
        return complain(EXIT_USAGE, "--schema: %s", cli->err.message);
    *text = buf_view(&b).ptr;
    return strlen(*text) == b.len
               ? EXIT_DONE
               : complain(EXIT_USAGE, "--schema: %s: has a zero byte", path);
}

/* Where in the file, if it is about the schema. */
int agent_report(struct cli *cli, wend_status s)
{
    static const char about[] = "agent: schema: ";
    const wend_error *err = &cli->err;

    if (s == WEND_OK || !cli->set.schema ||
        strncmp(err->message, about, sizeof about - 1))
        return report(cli, s);
    return complain(EXIT_USAGE, "%s:%u:%u: %s", cli->set.schema,
                    (unsigned)err->line, (unsigned)err->column,
                    err->message + sizeof about - 1);
}

static wend_project project(struct cli *cli)
{
    if (cli->set.notes == 1) /* the word at 1 is off */
        return WEND_PROJECT_OFF;
    return trust_folder(&cli->arena) ? WEND_PROJECT_TRUSTED : WEND_PROJECT_ON;
}

wend_agent_options agent_options(struct cli *cli, const struct settings *from)
{
    const struct settings *set = &cli->set;

    return (wend_agent_options){
        .size = sizeof(wend_agent_options),
        .model = from->model,
        .base_url = from->base_url,
        .fallbacks = from->fallback.items,
        .fallbacks_count = from->fallback.count,
        .params = from->params.items,
        .params_count = from->params.count,
        .limits = {.turns = (uint32_t)from->max_turns,
                   .parallel = (uint32_t)from->parallel,
                   .time_ms = from->timeout_ms,
                   .tokens = from->budget_tokens,
                   .cost_nano = from->budget_cost},
        .sandbox_off = from->sandbox == 1, /* the word at 1 is off */
        .key_file = set->key_file,
        .ca_file = set->ca_file,
        .insecure_http = set->insecure_http,
        .models_file = set->models,
        .project = project(cli),
    };
}

/* ---- The files that define the agent ------------------------------------- */

/* A model with write access could change its own instructions, the programs of
 * its tools, or the log, for this run or the next: writing these files requires
 * approval, like writing files of version control. */

/* Paths that no call can name need no guard. */
static void guard(struct words *out, const char *path, struct arena *a)
{
    if (path && utf8_valid_len(str_of(path)) == strlen(path))
        words_add(out, path, a);
}

/* Words of a command that are files. */
static void guard_words(struct words *out, const char *const *argv,
                        struct arena *a)
{
    struct stat st;

    for (size_t i = 0; argv && argv[i]; i++)
        if (!stat(argv[i], &st) && S_ISREG(st.st_mode))
            guard(out, argv[i], a);
}

static void guard_all(struct cli *cli, wend_agent_options *o)
{
    struct words guarded = {0};
    struct arena *a = &cli->arena;

    for (size_t i = 0; i < cli->tool_files_count; i++) {
        const wend_manifest *m = cli->tool_files[i];

        guard(&guarded, m->path, a);
        guard_words(&guarded, m->commands[0]->argv, a);
        guard_words(&guarded, m->commands[0]->verify, a);
    }
    guard(&guarded, cli->set.store, a);
    guard(&guarded, cli->set.models, a);
    o->guarded = guarded.items;
    o->guarded_count = guarded.count;
}

/* ---- The working directory ----------------------------------------------- */

static bool same_folder(const char *path)
{
    struct stat here, there;

    return path && path[0] == '/' && !stat(".", &here) && !stat(path, &there) &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* name:password:uid:gid:comment:home:shell */
static bool is_own_home(char *line)
{
    enum { UID = 2, HOME = 5 };
    wend_str rest = str_of(line), field[HOME + 1];
    int64_t uid;

    for (size_t i = 0; i <= HOME; i++)
        if (!str_take(&rest, ':', &field[i]))
            return false;
    line[field[HOME].ptr + field[HOME].len - line] = 0;
    return str_to_i64(field[UID], &uid) && uid == (int64_t)geteuid() &&
           same_folder(field[HOME].ptr);
}

/* From the file: getpwuid of glibc crashes when memory runs out. Users of
 * another source have HOME. */
static bool is_home_in_passwd(void)
{
    FILE *f = fopen("/etc/passwd", "re");
    char *line = NULL;
    size_t size = 0;
    bool found = false;

    while (f && !found && getline(&line, &size, f) > 0)
        found = is_own_home(line);
    free(line);
    if (f)
        fclose(f);
    return found;
}

bool workspace_is_home(void)
{
    return same_folder(getenv("HOME")) || is_home_in_passwd();
}

static bool is_builtin(wend_str name)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_builtin(i)); i++)
        if (str_eq(t->name, name))
            return !str_is(name, "shell") && !str_is(name, "exec");
    return false;
}

static bool runs_programs(wend_agent *agent)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_agent_tool(agent, i)); i++)
        if (!is_builtin(t->name))
            return true;
    return false;
}

static void workspace_look(const struct cli *cli, wend_agent *agent)
{
    if (!cli->set.quiet && cli->set.sandbox != 1 && runs_programs(agent) &&
        workspace_is_home())
        complain(0, "warning: the working directory is your home directory: "
                    "despite the sandbox, programs can read keys and change "
                    "startup files in it; work in a project directory");
}

/* ---- The agent ----------------------------------------------------------- */

int agent_fill(struct cli *cli, wend_load_options *load, wend_agent_options *o)
{
    const struct settings *set = &cli->set;
    int code = cli->tool_files ? EXIT_DONE : tools_load(cli);

    *o = agent_options(cli, set);
    o->instructions = set->instructions;
    o->eager = (wend_eager)set->eager;
    o->effort = (wend_effort)set->effort;
    o->on_unknown = (wend_unknown)set->on_unknown;
    o->record_dir = set->record_dir;
    o->playback_dir = set->playback_dir;
    o->http2 = set->http2;
    o->model_timeout_ms = set->model_timeout_ms;
    load->agent = o;
    load->manifest = cli->agent;
    load->trust = cli->agent ? cli->agent->sum : NULL; /* see agent_use */
    load->plan = cli->plan;
    load->plan_trust =
        cli->plan ? cli->plan->sum : NULL; /* the user named it */
    guard_all(cli, o);
    if (!code)
        code = agent_approve(cli, o, &load->allow_rest);
    if (!code)
        code = read_schema(cli, &o->schema);
    return code ? code : tools_fill(cli, load);
}

int agent_make(struct cli *cli)
{
    wend_agent_options o;
    wend_load_options load = {.size = sizeof load,
                              .note = server_say,
                              .warn = server_warn,
                              .note_ctx = cli};
    int code = agent_fill(cli, &load, &o);

    if (!code)
        code = agent_report(
            cli, wend_agent_load(cli->rt, NULL, &load, &cli->made, &cli->err));
    if (code)
        return code;
    key_file_look(&cli->set);
    workspace_look(cli, cli->made);
    return EXIT_DONE;
}

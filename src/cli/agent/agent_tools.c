/*
 * agent_tools.c - the tools that options name: -t, --tools, --mcp, --approve.
 */
#include "cli/agent/agent.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "wire/file/manifest.h"

enum { NAMES_MAX = 2 * TOOLS_MAX };

/* Names of all tools, for "did you mean". */
struct names {
    const char *list[NAMES_MAX];
    int count;
};

static void add_name(struct names *n, const char *name)
{
    if (n->count < NAMES_MAX)
        n->list[n->count++] = name;
}

static void add_commands(struct names *n, const wend_manifest *m)
{
    for (size_t i = 0; m && i < m->commands_count; i++)
        add_name(n, m->commands[i]->name);
}

/* Recursion is bounded by the depth of plans in plans. */
static void add_plan(struct names *n, const wend_manifest *plan)
{
    add_commands(n, plan);
    for (size_t i = 0; i < plan->agents_count; i++)
        if (plan->agents[i]->plan)
            add_plan(n, plan->agents[i]);
}

static void all_names(const struct cli *cli, struct names *n)
{
    const wend_tool_info *t;

    n->count = 0;
    for (size_t i = 0; (t = wend_builtin(i)); i++)
        add_name(n, t->name.ptr);
    for (size_t i = 0; i < cli->tool_files_count; i++)
        add_commands(n, cli->tool_files[i]);
    add_commands(n, cli->agent);
    if (cli->plan)
        add_plan(n, cli->plan);
}

static int no_tool(const char *what, wend_str name, const struct names *n)
{
    const char *near = str_near(name, n->list, n->count);

    return complain(EXIT_USAGE, "%s: there is no tool '%.*s'%s%s%s", what,
                    (int)name.len, name.ptr, near ? "; did you mean '" : "",
                    near ? near : "; 'wend tools' lists them",
                    near ? "'?" : "");
}

/* ---- Rules --------------------------------------------------------------- */

/* A fork has the tools of the run whose past it shares. */
static bool in_past(const struct cli *cli, wend_str name)
{
    const struct json *t = cli->past_tools ? cli->past_tools->first : NULL;

    while (t && !str_eq(json_str(json_get(t, "name")), name))
        t = t->next;
    return t != NULL;
}

int tools_check_rule(struct cli *cli, const char *rule,
                     const char *const *modes, int modes_count)
{
    wend_str name = manifest_rule_tool(str_of(rule));
    struct names n;

    if (manifest_rule_check(str_of(rule), &cli->err) != WEND_OK)
        return complain(EXIT_USAGE, "--approve: %s", cli->err.message);
    all_names(cli, &n);
    if (!name.len || str_index(name, n.list, n.count) >= 0 ||
        in_past(cli, name))
        return EXIT_DONE;
    /* With a parenthesis it was not meant to be a mode. */
    for (int i = 0; !strchr(rule, '(') && i < modes_count; i++)
        add_name(&n, modes[i]);
    return no_tool("--approve", name, &n);
}

/* ---- Servers of --mcp -------------------------------------------------------
 */

/* Appends one word; the end of it, or NULL if a quote is left open. */
static const char *put_word(struct buf *b, const char *p)
{
    char quote = 0;

    for (; *p && (quote || (*p != ' ' && *p != '\t' && *p != '\n')); p++) {
        if (quote && *p == quote)
            quote = 0;
        else if (!quote && (*p == '\'' || *p == '"'))
            quote = *p;
        else if (*p == '\\' && quote != '\'' && p[1])
            buf_char(b, *++p);
        else
            buf_char(b, *p);
    }
    return quote ? NULL : p;
}

static const char *const *split(const char *text, struct arena *a,
                                struct buf *why)
{
    /* each word has a byte of its own, and one that ends it */
    const char **list = arena_alloc(a, (strlen(text) / 2 + 2) * sizeof *list);
    size_t n = 0;

    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        struct buf word = {.mem = a->mem};

        buf_cstr(&word, "");
        text = put_word(&word, text);
        if (!text) {
            buf_cstr(why, "a quote is left open");
            return NULL;
        }
        list[n++] = word.ptr;
    }
    if (!n)
        buf_cstr(why, "the command is empty");
    return list;
}

/* NAME=COMMAND or NAME=URL. A command is words as in a shell: quotes and
 * backslashes, nothing else. False: `why` says what is wrong. */
static bool parse(const char *text, struct arena *a, wend_mcp_options *out,
                  struct buf *why)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || !equals[1]) {
        buf_cstr(why, "must be NAME=COMMAND or NAME=URL");
        return false;
    }
    out->name = arena_str(a, (wend_str){text, (size_t)(equals - text)}).ptr;
    if (!strncmp(equals + 1, "http://", 7) ||
        !strncmp(equals + 1, "https://", 8)) {
        out->url = equals + 1;
        return true;
    }
    out->command = split(equals + 1, a, why);
    return !why->len;
}

void server_say(void *ctx, const char *text)
{
    const struct cli *cli = ctx;

    if (!cli->set.quiet)
        complain(0, "%s", text);
}

void server_warn(void *ctx, const char *text)
{
    (void)ctx;
    complain(0, "%s", text);
}

static int read_option(struct cli *cli, const char *text, wend_mcp_options *o)
{
    struct buf why = {.mem = &cli_mem};

    *o = (wend_mcp_options){.size = sizeof *o,
                            .note = server_say,
                            .note_ctx = cli,
                            .sandbox_off = cli->set.sandbox == 1};
    return parse(text, &cli->arena, o, &why)
               ? EXIT_DONE
               : usage_error(cli, "--mcp '%s': %s", text, why.ptr);
}

/* The servers of --mcp; look: only to list their tools. */
static int servers_given(struct cli *cli, bool look,
                         const wend_mcp_options *const **list, size_t *count)
{
    const struct words *w = &cli->set.servers;
    size_t room = w->count + 1;
    const wend_mcp_options **each =
        arena_alloc(&cli->arena, room * sizeof *each);
    wend_mcp_options *all = arena_alloc(&cli->arena, room * sizeof *all);
    int code = EXIT_DONE;

    *count = w->count;
    *list = each;
    for (size_t i = 0; !code && i < w->count; i++) {
        each[i] = &all[i];
        code = read_option(cli, w->items[i], &all[i]);
        all[i].accept = cli->set.accept;
        all[i].look = look;
    }
    return code;
}

/* The outcome of one server. */
static int judge(struct cli *cli, const wend_error *err)
{
    int code;

    cli->err = *err;
    code = report(cli, err->status);
    if (err->status != WEND_E_STALE)
        return code;
    cli->servers_code = code; /* listed all the same */
    return EXIT_DONE;
}

int servers_look(struct cli *cli, wend_agent *agent)
{
    const wend_mcp_options *const *list;
    wend_error *errs;
    size_t count;
    int code = servers_given(cli, true, &list, &count);

    if (code)
        return code;
    errs = arena_alloc(&cli->arena, (count + 1) * sizeof *errs);
    if (wend_agent_add_mcps(agent, list, count, errs) == WEND_E_NOMEM)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; !code && i < count; i++)
        code = judge(cli, &errs[i]);
    return code;
}

/* ---- Tools --------------------------------------------------------------- */

int tools_load(struct cli *cli)
{
    const struct words *w = &cli->set.tool_files;
    const wend_manifest_options o = {.size = sizeof o, .tool = true};
    const wend_manifest **list =
        arena_alloc(&cli->arena, (w->count + 1) * sizeof *list);

    for (size_t i = 0; i < w->count; i++)
        if (manifest_open(cli, w->items[i], &o, &list[i]) != WEND_OK)
            return complain(EXIT_USAGE, "--tools: %s", cli->err.message);
    cli->tool_files = list;
    cli->tool_files_count = w->count;
    return EXIT_DONE;
}

/* Those of the command line, else of the agent's file, else of the settings,
 * else the default ones; and always those of --tools. A plan may use all
 * built-in tools. */
int tools_fill(struct cli *cli, wend_load_options *o)
{
    const struct words *w = &cli->set.tools;
    size_t count = cli->tool_files_count;
    const wend_command_options **commands =
        arena_alloc(&cli->arena, (count + 1) * sizeof *commands);
    struct names n;

    for (size_t i = 0; i < count; i++)
        commands[i] = cli->tool_files[i]->commands[0];
    o->commands = commands;
    o->commands_count = count;
    if (w->count && !cli->plan &&
        (w->origin == ORIGIN_OPTIONS || !cli->agent || !cli->agent->tools)) {
        o->tools = w->items;
        o->tools_count = w->count;
    }
    all_names(cli, &n);
    for (size_t i = 0; i < o->tools_count; i++)
        if (str_index(str_of(o->tools[i]), n.list, n.count) < 0)
            return no_tool("--tool", str_of(o->tools[i]), &n);
    return servers_given(cli, false, &o->servers, &o->servers_count);
}

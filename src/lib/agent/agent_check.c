/*
 * agent_tools.c - the tools of an agent: built-in ones, and those in files.
 */
#include "cli/agent/agent_tools.h"

#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "cli/agent/plan_tools.h"

const char *const tools_default[] = {"calculator", "read_file", "list_dir",
                                     "glob",       "grep",      NULL};

enum { NAMES_MAX = 2 * TOOLS_MAX };

/* Names of all tools that there are, for "did you mean". */
struct names {
    const char *list[NAMES_MAX];
    int count;
};

/* ---- Which there are ----------------------------------------------------- */

static const wend_tool_info *builtin(wend_str name)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_builtin(i)); i++)
        if (str_eq(t->name, name))
            return t;
    return NULL;
}

static const struct tool_file *in_files(const struct tool_file *files,
                                        size_t count, wend_str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(files[i].manifest->name, name))
            return &files[i];
    return NULL;
}

/* By --tools or by the agent's file. */
static const struct tool_file *program(const struct cli *cli, wend_str name)
{
    const struct tool_file *t =
        in_files(cli->tool_files, cli->tool_files_count, name);

    if (!t && cli->agent)
        t = in_files(cli->agent->tools, cli->agent->tools_count, name);
    return t;
}

static void add_name(struct names *n, const char *name)
{
    if (n->count < NAMES_MAX)
        n->list[n->count++] = name;
}

static void all_names(struct names *n, const struct tool_file *files,
                      size_t count)
{
    const wend_tool_info *t;

    n->count = 0;
    for (size_t i = 0; (t = wend_builtin(i)); i++)
        add_name(n, t->name.ptr);
    for (size_t i = 0; i < count; i++)
        add_name(n, files[i].manifest->name.ptr);
}

static const char *nearest(const struct names *n, wend_str name)
{
    return str_near(name, n->list, n->count);
}

/* ---- An agent's file ------------------------------------------------------
 */

static wend_status no_tool_at(const struct agent_file *f,
                              const struct manifest_word *w, wend_str name,
                              wend_error *err)
{
    struct names n;
    const char *near;

    all_names(&n, f->tools, f->tools_count);
    near = nearest(&n, name);
    return fail_at(err, WEND_E_PARSE, w->line, w->column,
                   "%.200s:%u:%u: there is no tool '%.*s'%s%s%s", f->path,
                   w->line, w->column, (int)(name.len < 80 ? name.len : 80),
                   name.ptr, near ? "; did you mean '" : "",
                   near ? near : "; 'wend tools' lists them", near ? "'?" : "");
}

static wend_status uses_network(const struct agent_file *f,
                                const struct manifest_word *w, wend_str name,
                                wend_error *err)
{
    return fail_at(err, WEND_E_PARSE, w->line, w->column,
                   "%.200s:%u:%u: '%.*s' uses the network, but it, or an agent "
                   "above it, says 'network: off'",
                   f->path, w->line, w->column, (int)name.len, name.ptr);
}

bool tool_networks(const struct tool_manifest *t)
{
    for (size_t i = 0; i < t->labels.count; i++)
        if (str_is(t->labels.list[i].text, "network"))
            return true;
    return t->category == WEND_CATEGORY_NETWORK;
}

/* The name in a rule, or absent if it cannot be known: it is a glob, or of
 * a server's tool. */
static wend_str rule_name(wend_str rule)
{
    if (rule.len && (rule.ptr[0] == '!' || rule.ptr[0] == '?'))
        rule = (wend_str){rule.ptr + 1, rule.len - 1};
    rule.len = strcspn(rule.ptr, "(");
    for (size_t i = 0; i < rule.len; i++)
        if (strchr("*?.", rule.ptr[i]))
            return STR_NONE;
    return rule;
}

/* Without the network nobody below has it either. */
static wend_status check(const struct agent_file *f, bool offline,
                         wend_error *err)
{
    const struct agent_manifest *m = f->manifest;
    wend_status s = WEND_OK;
    size_t file = 0;

    offline |= m->network_off;

    for (size_t i = 0; i < m->tools.count; i++) {
        const struct manifest_word *w = &m->tools.list[i];
        bool is_file = manifest_is_file(w->text);
        const wend_tool_info *t = is_file ? NULL : builtin(w->text);
        const struct tool_manifest *p =
            is_file ? f->tools[file++].manifest : NULL;

        if (!t && !p)
            return no_tool_at(f, w, w->text, err);
        if (offline &&
            (p ? tool_networks(p) : t->category == WEND_CATEGORY_NETWORK))
            return uses_network(f, w, p ? p->name : t->name, err);
    }
    for (size_t i = 0; offline && i < m->servers_count; i++)
        if (m->servers[i].url.ptr || m->servers[i].network_on)
            return fail(err, WEND_E_PARSE,
                        "%.200s: the server '%s' uses the network, but it, "
                        "or an agent above it, says 'network: off'",
                        f->path, m->servers[i].name.ptr);
    for (size_t i = 0; i < m->rules.count; i++) {
        wend_str name = rule_name(m->rules.list[i].text);

        if (name.len && !builtin(name) &&
            !in_files(f->tools, f->tools_count, name))
            return no_tool_at(f, &m->rules.list[i], name, err);
    }
    for (size_t i = 0; i < m->label_rows.count; i++) {
        wend_str row = m->label_rows.list[i].text;
        wend_str name = rule_name(str_of(strchr(row.ptr, '=') + 1));

        if (name.len && !builtin(name) &&
            !in_files(f->tools, f->tools_count, name))
            return no_tool_at(f, &m->label_rows.list[i], name, err);
    }
    for (size_t i = 0; s == WEND_OK && i < m->agents.count; i++)
        s = check(&f->agents[i], offline, err);
    return s;
}

wend_status agent_tools_check(const struct agent_file *f, wend_error *err)
{
    return check(f, false, err);
}

/* ---- The command line -----------------------------------------------------
 */

int tools_load(struct cli *cli)
{
    const struct words *w = &cli->set.tool_files;
    struct tool_file *list =
        arena_alloc(&cli->arena, (w->count + 1) * sizeof *list);
    wend_error err = {0};

    if (!list)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < w->count; i++)
        if (tool_file_load(w->items[i], &cli->arena, &list[i], &err) != WEND_OK)
            return complain(EXIT_USAGE, "--tools: %s", err.message);
    cli->tool_files = list;
    cli->tool_files_count = w->count;
    return EXIT_DONE;
}

static int no_tool(struct cli *cli, const char *what, wend_str name,
                   const char *const *modes, int modes_count)
{
    const char *near;
    struct names n;

    all_names(&n, cli->tool_files, cli->tool_files_count);
    for (size_t i = 0; cli->agent && i < cli->agent->tools_count; i++)
        add_name(&n, cli->agent->tools[i].manifest->name.ptr);
    for (int i = 0; i < modes_count; i++)
        add_name(&n, modes[i]);
    near = nearest(&n, name);
    return complain(EXIT_USAGE, "%s: there is no tool '%.*s'%s%s%s", what,
                    (int)name.len, name.ptr, near ? "; did you mean '" : "",
                    near ? near : "; 'wend tools' lists them",
                    near ? "'?" : "");
}

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
    wend_str name = rule_name(str_of(rule));
    wend_error err = {0};

    if (manifest_rule_check(str_of(rule), &err) != WEND_OK)
        return complain(EXIT_USAGE, "--approve: %s", err.message);
    if (!name.len || builtin(name) || program(cli, name) ||
        plan_tools_have(cli, name) || in_past(cli, name))
        return EXIT_DONE;
    /* With a parenthesis it was not meant to be a mode. */
    return no_tool(cli, "--approve", name, modes,
                   strchr(rule, '(') ? 0 : modes_count);
}

/* ---- Offering them --------------------------------------------------------
 */

static int add_builtin(struct cli *cli, wend_agent *agent, const char *name)
{
    wend_error err = {0};
    wend_status s = wend_agent_add_builtin(agent, name, &err);

    if (s == WEND_OK || s == WEND_E_EXISTS) /* named twice: once is it */
        return EXIT_DONE;
    return give_up(cli, s, &err);
}

int tools_add_file(struct cli *cli, wend_agent *agent,
                   const struct tool_file *t)
{
    const struct tool_manifest *m = t->manifest;
    const char **secrets =
        arena_alloc(&cli->arena, (m->secrets.count + 1) * sizeof *secrets);
    wend_command_options o = {
        .size = sizeof o,
        .name = m->name.ptr,
        .description = m->description.ptr,
        .schema = m->schema.ptr,
        .call_class = (wend_class)m->call_class,
        .category = (wend_category)m->category,
        .labels = manifest_labels(&m->labels),
        .timeout_ms = (uint32_t)m->timeout_ms,
        .subject = m->subject.ptr,
        .cache_ms = (uint32_t)m->cache_ms,
        .per_minute = (uint32_t)m->per_minute,
        .memory_bytes = (uint64_t)m->memory_bytes,
        .disk_bytes = (uint64_t)m->disk_bytes,
        .tasks = (uint32_t)m->tasks,
        .output_json = m->output_json,
        .network = tool_networks(m),
        .sandbox_off = m->sandbox_off,
        .argv = t->argv,
        .argv_count = m->command.count,
        .verify = t->verify,
        .verify_count = m->verify.count,
        .secrets = secrets,
        .secrets_count = m->secrets.count,
    };
    wend_error err = {0};
    wend_status s;

    if (!secrets)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < m->secrets.count; i++)
        secrets[i] = m->secrets.list[i].text.ptr;
    s = wend_agent_add_command(agent, &o, &err);
    return s == WEND_OK ? EXIT_DONE
                        : complain(exit_of(s), "%s: %s", t->path, err.message);
}

static int add_named(struct cli *cli, wend_agent *agent, const char *name)
{
    const struct tool_file *t = program(cli, str_of(name));

    if (builtin(str_of(name)))
        return add_builtin(cli, agent, name);
    return t ? tools_add_file(cli, agent, t)
             : no_tool(cli, "--tool", str_of(name), NULL, 0);
}

static int add_agents(struct cli *cli, wend_agent *agent)
{
    const struct manifest_words *w = &cli->agent->manifest->tools;
    size_t file = 0;
    int code = EXIT_DONE;

    for (size_t i = 0; !code && i < w->count; i++)
        code = manifest_is_file(w->list[i].text)
                   ? tools_add_file(cli, agent, &cli->agent->tools[file++])
                   : add_builtin(cli, agent, w->list[i].text.ptr);
    return code;
}

/* Those of the command line, else of the agent's file, else of the settings,
 * else the default ones; and always those of --tools. */
int tools_add(struct cli *cli, wend_agent *agent)
{
    const struct words *w = &cli->set.tools;
    int code = EXIT_DONE;

    if (w->origin != ORIGIN_OPTIONS && cli->agent &&
        cli->agent->manifest->tools.given)
        code = add_agents(cli, agent);
    else if (w->count)
        for (size_t i = 0; !code && i < w->count; i++)
            code = add_named(cli, agent, w->items[i]);
    else
        for (size_t i = 0; !code && tools_default[i]; i++)
            code = add_builtin(cli, agent, tools_default[i]);
    for (size_t i = 0; !code && i < cli->tool_files_count; i++)
        code = tools_add_file(cli, agent, &cli->tool_files[i]);
    return code;
}

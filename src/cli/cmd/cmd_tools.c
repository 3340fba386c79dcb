/*
 * cmd_tools.c - wend tools: lists the tools that can be offered to a model.
 */

#include <unistd.h>

#include "base/json.h"
#include "base/label.h"
#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"

enum { TOOLS_LISTED_MAX = 64 };

static const struct opt opts[] = {
    ROW_JSON("print one JSON object per tool, with its schema"),
    ROW_MCP("MCP server NAME=COMMAND or NAME=URL; may be repeated"),
    ROW_FLAG(accept, "accept", "accept the server's current tool definitions"),
    ROW_SANDBOX("sandbox for servers that are programs"),
    ROWS_TLS,
    ROWS_END,
};

static void put_json(struct buf *b, const wend_tool_info *t)
{
    json_open(b, NULL, '{');
    json_add_str(b, "name", t->name);
    json_add_str(b, "class", str_of(wend_class_name(t->call_class)));
    json_add_str(b, "category", str_of(wend_category_name(t->category)));
    json_add_str(b, "description", t->description);
    json_add_bool(b, "concurrent", t->concurrent);
    labels_add(b, "labels", t->labels);
    json_add_raw(b, "schema", t->schema);
    buf_cstr(b, "}\n");
}

static void put_head(struct buf *b, const wend_tool_info *t)
{
    enum { INDENT = 4, WIDTH_MAX = 79 };
    size_t width = term_width(STDOUT_FILENO);
    struct buf line = {.mem = b->mem};

    if (width > WIDTH_MAX)
        width = WIDTH_MAX;
    buf_fmt(&line, "%-16.*s %-10s %s%s", (int)t->name.len, t->name.ptr,
            wend_class_name(t->call_class), wend_category_name(t->category),
            t->concurrent ? ", concurrent" : "");
    for (int i = 0; i < LABELS; i++)
        if (t->labels >> i & 1)
            buf_fmt(&line, ", %s", label_names[i]);
    term_words(b, buf_view(&line), 0, INDENT, term_wraps_at(STDOUT_FILENO));
    buf_fmt(b, "\n%*s", INDENT, "");
    term_words(b, t->description, INDENT, INDENT, width);
    buf_char(b, '\n');
    b->failed |= line.failed;
    buf_free(&line);
}

/* Prints indented JSON; the recursion is bounded by JSON_DEPTH_MAX. */
static void put_pretty(struct buf *b, const struct json *j, int indent)
{
    bool object = j->kind == JSON_OBJECT;

    if (!j->first || (!object && j->kind != JSON_ARRAY)) {
        json_put(b, j);
        return;
    }
    buf_cstr(b, object ? "{\n" : "[\n");
    for (const struct json *m = j->first; m; m = m->next) {
        buf_fmt(b, "%*s", indent + 2, "");
        if (object) {
            json_put_str(b, m->key);
            buf_cstr(b, ": ");
        }
        put_pretty(b, m, indent + 2);
        buf_cstr(b, m->next ? ",\n" : "\n");
    }
    buf_fmt(b, "%*s%c", indent, "", object ? '}' : ']');
}

static void put_one(struct buf *b, const wend_tool_info *t, struct arena *a)
{
    struct json *schema = json_parse(t->schema, a, NULL);
    struct buf raw = {.mem = b->mem};

    put_head(b, t);
    if (!schema)
        return;
    buf_cstr(b, "arguments:\n");
    put_pretty(&raw, schema, 0);
    term_json(b, buf_view(&raw));
    buf_char(b, '\n');
}

static const wend_tool_info *tool_at(wend_agent *agent, size_t i)
{
    return agent ? wend_agent_tool(agent, i) : wend_builtin(i);
}

static int unknown(struct cli *cli, const char *name)
{
    const char *names[TOOLS_LISTED_MAX];
    char hint[HINT_BYTES];
    const wend_tool_info *t;
    int n = 0;

    while (n < TOOLS_LISTED_MAX && (t = tool_at(cli->made, (size_t)n)))
        names[n++] = arena_str(&cli->arena, t->name).ptr;
    return complain(EXIT_USAGE, "there is no tool '%s'%s", name,
                    did_you_mean(hint, name, names, n));
}

/* Creates an agent that never runs, to inspect its servers. */
static int make_agent(struct cli *cli)
{
    wend_agent_options o = {.size = sizeof o,
                            .model = "script:{\"turns\":[{\"text\":\"\"}]}",
                            .ca_file = cli->set.ca_file,
                            .insecure_http = cli->set.insecure_http};
    int code;

    cli->set.store = "memory:";
    code = open_runtime(cli);
    if (!code)
        code = report(cli, wend_agent_new(cli->rt, &o, &cli->made, &cli->err));
    return code ? code : servers_look(cli, cli->made);
}

static int show(struct cli *cli, const char *name)
{
    struct buf b = {.mem = &cli_mem};
    const wend_tool_info *t;
    int found = 0;

    for (size_t i = 0; (t = tool_at(cli->made, i)); i++) {
        if (name && !str_is(t->name, name))
            continue;
        found++;
        if (cli->set.json)
            put_json(&b, t);
        else if (name)
            put_one(&b, t, &cli->arena);
        else
            put_head(&b, t);
    }
    if (cli->made && !found && !name)
        return complain(EXIT_FAILED, "the servers offer no usable tools");
    return found || !name ? print_buf(&b) : unknown(cli, name);
}

static int run(struct cli *cli)
{
    int code = EXIT_DONE;

    if (cli->set.accept && !cli->set.servers.count)
        return usage_error(cli, "--accept requires --mcp SERVER");
    if (cli->set.servers.count)
        code = make_agent(cli);
    if (!code)
        code = show(cli, cli->args_count ? cli->args[0] : NULL);
    return code ? code : cli->servers_code;
}

const struct command command_tools = {
    .name = "tools",
    .args = "[OPTIONS] [NAME]",
    .summary = "list the tools that can be offered to a model",
    .more =
        "The class says whether a call can be repeated: read changes nothing, "
        "idempotent\n"
        "has the same effect when repeated, unsafe may take effect twice.\n",
    .args_max = 1,
    .opts = opts,
    .no_config = true,
    .run = run,
};

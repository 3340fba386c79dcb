/*
 * cmd_agents.c - wend agents: lists the agents that -a can name.
 */
#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "wire/file/manifest.h"

static const struct opt opts[] = {
    ROW_JSON("print one JSON object per agent"),
    ROWS_END,
};

/* One of the list. */
struct row {
    const char *name, *path; /* path NULL: the built-in one */
    const char *model;       /* NULL: that of the settings */
    const wend_manifest *file;
    const char *error; /* NULL: usable */
    bool trusted;
};

/* ---- Its tools ----------------------------------------------------------- */

/* The i-th name, or NULL. */
static const char *tool_at(const struct cli *cli, const struct row *r, size_t i)
{
    const struct words *w = &cli->set.tools;

    if (r->file && r->file->tools)
        return i < r->file->tools_count ? r->file->tools[i] : NULL;
    if (w->count)
        return i < w->count ? w->items[i] : NULL;
    return manifest_tools_default[i];
}

/* ---- For programs -------------------------------------------------------- */

/* File names may be invalid UTF-8. Null without a value. */
static void put_member(struct buf *b, const char *key, const char *value)
{
    struct buf clean = {.mem = b->mem};

    if (value)
        utf8_repair(&clean, str_of(value));
    json_add_nullable(b, key, value ? buf_view(&clean) : STR_NONE);
}

static void put_json(struct buf *b, const struct cli *cli, const struct row *r)
{
    const char *tool;

    json_open(b, NULL, '{');
    put_member(b, "name", r->name);
    put_member(b, "file", r->path);
    json_add_bool(b, "trusted", r->trusted);
    if (r->error) {
        put_member(b, "error", r->error);
    } else {
        put_member(b, "model", r->model);
        put_member(b, "description", r->file ? r->file->description : NULL);
        json_open(b, "tools", '[');
        for (size_t i = 0; (tool = tool_at(cli, r, i)); i++)
            put_member(b, NULL, tool);
        json_close(b, ']');
    }
    buf_cstr(b, "}\n");
}

/* ---- For people ---------------------------------------------------------- */

enum { INDENT = 4, MORE = 2 * INDENT };

/* Wraps the line at the width of a terminal, and clears it. */
static void put_line(struct buf *b, struct buf *line, size_t column)
{
    buf_fmt(b, "%*s", (int)column, "");
    term_words(b, buf_view(line), column, column ? MORE : INDENT,
               term_wraps_at(STDOUT_FILENO));
    buf_char(b, '\n');
    buf_clear(line);
}

static void put_text(struct buf *b, const struct cli *cli, const struct row *r)
{
    struct buf line = {.mem = b->mem};
    const char *tool;

    term_line(&line, str_of(r->name), 60);
    buf_cstr(&line, "  ");
    term_line(&line, str_of(r->path ? r->path : "built-in"), 300);
    buf_cstr(&line, r->trusted ? "" : "  not accepted; see 'wend trust'");
    put_line(b, &line, 0);
    if (r->error) {
        buf_cstr(&line, "cannot be used: ");
        term_line(&line, str_of(r->error), 500);
        put_line(b, &line, INDENT);
        return;
    }
    if (r->file && r->file->description) {
        term_line(&line, str_of(r->file->description), 300);
        put_line(b, &line, INDENT);
    }
    buf_cstr(&line, "model: ");
    term_line(&line, str_of(r->model ? r->model : "not set"), 200);
    put_line(b, &line, INDENT);
    buf_cstr(&line, "tools:");
    for (size_t i = 0; (tool = tool_at(cli, r, i)); i++) {
        buf_cstr(&line, i ? ", " : " ");
        term_line(&line, str_of(tool), 80);
    }
    put_line(b, &line, INDENT);
    b->failed |= line.failed;
    buf_free(&line);
}

static void put(struct buf *b, const struct cli *cli, const struct row *r)
{
    struct buf raw = {.mem = b->mem};

    if (!cli->set.json) {
        put_text(b, cli, r);
        return;
    }
    put_json(&raw, cli, r);
    term_json(b, buf_view(&raw)); /* ./wend.yaml may be untrusted */
}

/* ---- The command --------------------------------------------------------- */

/* Fills a row from the result of loading a file, `s` and cli->err. */
static void put_file(struct buf *b, struct cli *cli, const char *path,
                     const wend_manifest *m, bool trusted, wend_status s)
{
    struct row r = {.name = path, .path = path, .trusted = trusted};

    if (s == WEND_OK)
        s = wend_manifest_check(m, &cli->err);
    if (m) {
        r.name = m->name;
        r.file = m;
        r.model = m->options->model ? m->options->model : cli->set.model;
    }
    if (s != WEND_OK)
        r.error = cli->err.message;
    put(b, cli, &r);
}

static int run(struct cli *cli)
{
    struct buf b = {.mem = &cli_mem};
    const struct row own = {
        .name = AGENT_BUILTIN, .model = cli->set.model, .trusted = true};
    const wend_manifest *m = NULL;
    const char **paths;
    size_t count;
    bool trusted;
    wend_status s = agent_here(cli, &m, &trusted);

    put(&b, cli, &own);
    if (s != WEND_E_NOTFOUND)
        put_file(&b, cli, AGENT_FILE_DEFAULT, m, trusted, s);
    s = agents_list(cli, &paths, &count);
    for (size_t i = 0; !s && i < count; i++) {
        wend_status loaded = agent_open(cli, paths[i], true, &m);

        put_file(&b, cli, paths[i], m, true, loaded);
    }
    return s == WEND_OK ? print_buf(&b) : report(cli, s);
}

const struct command command_agents = {
    .name = "agents",
    .args = "[OPTIONS]",
    .summary = "list the agents that can be run",
    .more = "Lists the built-in agent, ./wend.yaml and the files in "
            "~/.config/wend/agents,\n"
            "which 'wend run -a NAME' finds by name. See wend-agent(5).\n",
    .opts = opts,
    .run = run,
};

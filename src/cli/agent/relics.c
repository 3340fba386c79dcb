/*
 * relics.c - the relics of a plan: files in the folder relics beside it.
 */
#include "cli/agent/relics.h"

#include <string.h>
#include <unistd.h>

#include "cli/agent/plan_files.h"
#include "cli/agent/servers.h"
#include "cli/config.h"
#include "wire/file/relic.h"

struct relic_file {
    struct relic_file *next;
    const char *path;
    wend_str text;
    const struct relic_manifest *manifest;
};

static bool load(struct cli *cli, struct relic_file *f, wend_str name,
                 struct buf *wrong)
{
    struct buf text = {.mem = cli->arena.mem};
    struct relic_manifest *m = NULL;
    wend_error err = {0};

    if (config_read(f->path, &text, &err) != WEND_OK) {
        buf_cstr(wrong, err.message);
    } else {
        f->text = arena_str(&cli->arena, buf_view(&text));
        if (!f->text.ptr ||
            relic_manifest_parse(f->text, &cli->arena, &m, &err) != WEND_OK)
            buf_fmt(wrong, "%s:%u:%u: %s", f->path, err.line, err.column,
                    f->text.ptr ? err.message : "out of memory");
        else if (!str_eq(m->name, name))
            buf_fmt(wrong, "%s: the relic's name is '%s', not '%.*s'", f->path,
                    m->name.ptr, (int)name.len, name.ptr);
        else
            f->manifest = m;
    }
    buf_free(&text);
    return f->manifest != NULL;
}

static struct relic_file *find(struct cli *cli, wend_str plan, wend_str name,
                               struct buf *wrong)
{
    const char *path = beside_plan(cli, plan, "relics", name);
    struct relic_file *f = cli->relics;

    while (path && f && strcmp(f->path, path) != 0)
        f = f->next;
    if (!path || f || access(path, F_OK))
        return f;
    f = arena_alloc(&cli->arena, sizeof *f);
    if (!f)
        return NULL;
    f->path = path;
    if (!load(cli, f, name, wrong))
        return NULL;
    f->next = cli->relics;
    cli->relics = f;
    return f;
}

bool relics_know(struct cli *cli, wend_str plan, wend_str target,
                 const char **near, struct buf *wrong)
{
    const char *dot = memchr(target.ptr, '.', target.len);
    wend_str name = {target.ptr, dot ? (size_t)(dot - target.ptr) : 0};
    const struct relic_file *f;
    struct buf meant = {.mem = cli->arena.mem};
    wend_str end, nearest;

    if (!dot)
        return false;
    end = (wend_str){dot + 1, target.len - name.len - 1};
    f = find(cli, plan, name, wrong);
    if (!f || relic_has(f->manifest, end, &nearest))
        return f != NULL;
    if (nearest.ptr) {
        buf_fmt(&meant, "%s.%.*s", f->manifest->name.ptr, (int)nearest.len,
                nearest.ptr);
        *near = arena_str(&cli->arena, buf_view(&meant)).ptr;
    }
    buf_free(&meant);
    return false;
}

static bool networks(const struct relic_manifest *m)
{
    return m->kind == RELIC_HTTP || m->server.url.ptr || m->server.network_on;
}

/* ---- Adding them --------------------------------------------------------- */

bool relic_list_new(struct cli *cli, size_t most, struct relic_list *out)
{
    struct arena *a = &cli->arena;

    *out = (struct relic_list){0};
    out->texts = arena_alloc(a, (most + 1) * sizeof *out->texts);
    out->options = arena_alloc(a, (most + 1) * sizeof *out->options);
    out->each = arena_alloc(a, (most + 1) * sizeof *out->each);
    out->errs = arena_alloc(a, (most + 1) * sizeof *out->errs);
    return out->texts && out->options && out->each && out->errs;
}

void relic_list_put(struct cli *cli, struct relic_list *list, wend_str text,
                    const char *file)
{
    wend_relic_options *o = &list->options[list->count];

    *o = (wend_relic_options){.size = sizeof *o,
                              .file = file,
                              .note = server_say,
                              .note_ctx = cli,
                              .connect_ms = server_time_left(cli)};
    list->each[list->count] = o;
    list->texts[list->count++] = text;
}

wend_status relic_list_add(struct relic_list *list, wend_agent *agent)
{
    return wend_agent_add_relics(agent, list->texts, list->each, list->count,
                                 list->errs);
}

static int refuse_offline(const struct cli *cli)
{
    bool offline = cli->agent && cli->agent->network_off;

    for (const struct relic_file *f = cli->relics; offline && f; f = f->next)
        if (networks(f->manifest))
            return complain(EXIT_USAGE,
                            "%s: the relic uses the network, but the agent "
                            "says 'network: off'",
                            f->path);
    return EXIT_DONE;
}

static int judge(const struct relic_file *f, const wend_error *err)
{
    if (err->status == WEND_OK)
        return EXIT_DONE;
    if (err->status == WEND_E_NOMEM)
        return complain(EXIT_FAILED, "out of memory");
    return err->line ? complain(EXIT_USAGE, "%s:%u:%u: %s", f->path, err->line,
                                err->column, err->message)
                     : complain(exit_of(err->status), "%s: %s", f->path,
                                err->message);
}

int relics_add(struct cli *cli, wend_agent *agent)
{
    size_t count = 0, i = 0;
    struct relic_list list;
    int code = refuse_offline(cli);

    for (const struct relic_file *f = cli->relics; f; f = f->next)
        count++;
    if (code || !count)
        return code;
    if (!relic_list_new(cli, count, &list))
        return complain(EXIT_FAILED, "out of memory");
    for (const struct relic_file *f = cli->relics; f; f = f->next)
        relic_list_put(cli, &list, f->text, f->path);
    if (relic_list_add(&list, agent) == WEND_E_NOMEM)
        return complain(EXIT_FAILED, "out of memory");
    for (const struct relic_file *f = cli->relics; f && !code; f = f->next)
        code = judge(f, &list.errs[i++]);
    return code;
}

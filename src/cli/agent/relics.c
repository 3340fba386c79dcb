/*
 * relics.c - the relics of a plan: files in the folder relics beside it.
 */
#include "cli/agent/relics.h"

#include <string.h>
#include <unistd.h>

#include "cli/config.h"
#include "cli/agent/plan_files.h"
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

static void say(void *ctx, const char *text)
{
    const struct cli *cli = ctx;

    if (!cli->set.quiet)
        complain(0, "%s", text);
}

static bool networks(const struct relic_manifest *m)
{
    return m->kind == RELIC_HTTP || m->server.url.ptr || m->server.network_on;
}

int relics_add(struct cli *cli, wend_agent *agent)
{
    bool offline = cli->agent && cli->agent->manifest->network_off;

    for (const struct relic_file *f = cli->relics; f; f = f->next) {
        wend_relic_options o = {
            .size = sizeof o, .file = f->path, .note = say, .note_ctx = cli};
        wend_error err = {0};
        wend_status s;

        if (offline && networks(f->manifest))
            return complain(EXIT_USAGE,
                            "%s: the relic uses the network, but the agent "
                            "says 'network: off'",
                            f->path);
        s = wend_agent_add_relic(agent, f->text, &o, &err);

        if (s == WEND_E_NOMEM)
            return complain(EXIT_FAILED, "out of memory");
        if (s != WEND_OK)
            return err.line
                       ? complain(EXIT_USAGE, "%s:%u:%u: %s", f->path, err.line,
                                  err.column, err.message)
                       : complain(exit_of(s), "%s: %s", f->path, err.message);
    }
    return EXIT_DONE;
}

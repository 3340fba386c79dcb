/*
 * agent_file.c - an agent from a file, with all the files that it names.
 */
#include "cli/agent/agent_file.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/limits.h"
#include "cli/config.h"

struct loader {
    struct arena *arena;
    wend_error *err;
    struct cover cover;
    int depth;
};

/* ---- Bytes --------------------------------------------------------------- */

static wend_status nomem(struct loader *l)
{
    return fail_nomem(l->err);
}

static wend_status read_summed(struct loader *l, const char *path, bool plain,
                               wend_str *text)
{
    struct buf b = {.mem = l->arena->mem};
    wend_status s = plain ? cover_check(&l->cover, path, l->err) : WEND_OK;

    if (!s)
        s = config_read(path, &b, l->err);
    if (!s) {
        *text = arena_str(l->arena, buf_view(&b));
        s = text->ptr ? WEND_OK : nomem(l);
    }
    if (!s)
        s = cover_text(&l->cover, path, *text, l->err);
    buf_free(&b);
    return s;
}

/* ---- Names --------------------------------------------------------------- */

/* The path that `of` means, or NULL without memory. */
static const char *path_of(struct loader *l, const char *of, wend_str path)
{
    struct buf b = {.mem = l->arena->mem};

    manifest_path(&b, str_of(of), path);
    return buf_keep(&b, l->arena).ptr;
}

wend_str agent_file_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    wend_str name = str_of(slash ? slash + 1 : path);
    const char *dot = name.len ? memrchr(name.ptr, '.', name.len) : NULL;

    if (dot && dot > name.ptr)
        name.len = (size_t)(dot - name.ptr);
    return name;
}

/* Puts in front of what is wrong where the file was named. */
static wend_status blame(struct loader *l, wend_status s, const char *of,
                         const struct manifest_word *w)
{
    char why[400];

    if (s == WEND_E_NOMEM || !l->err)
        return s;
    memcpy(why, l->err->message, sizeof why - 1);
    why[sizeof why - 1] = 0;
    return fail_at(l->err, s, w->line, w->column, "%.90s:%u:%u: %s", of,
                   w->line, w->column, why);
}

/* The same for what is wrong in the file itself. */
static wend_status blame_file(struct loader *l, wend_status s, const char *path,
                              const wend_error *why)
{
    if (s == WEND_E_NOMEM)
        return nomem(l);
    return fail_at(l->err, s, why->line, why->column, "%.150s:%u:%u: %.300s",
                   path, why->line, why->column, why->message);
}

/* ---- Models -------------------------------------------------------------- */

/* script:FILE is a file that is named here; its bytes are as good as
 * instructions. */
static wend_status take_model(struct loader *l, const char *of, wend_str model,
                              const char **out)
{
    static const char prefix[] = "script:";
    size_t len = sizeof prefix - 1;
    struct buf b = {.mem = l->arena->mem};

    *out = model.ptr;
    if (!str_starts(model, prefix) || model.ptr[len] == '{')
        return WEND_OK;
    buf_cstr(&b, prefix);
    manifest_path(&b, str_of(of), (wend_str){model.ptr + len, model.len - len});
    *out = buf_keep(&b, l->arena).ptr;
    if (!*out)
        return nomem(l);
    return cover_file(&l->cover, *out + len, l->err);
}

static wend_status take_models(struct loader *l, struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->fallbacks;
    const char **list = arena_alloc(l->arena, (w->count + 1) * sizeof *list);
    wend_status s = WEND_OK;

    if (!list)
        return nomem(l);
    if (f->manifest->model.ptr)
        s = take_model(l, f->path, f->manifest->model, &f->model);
    for (size_t i = 0; !s && i < w->count; i++)
        s = take_model(l, f->path, w->list[i].text, &list[i]);
    f->fallbacks = list;
    f->fallbacks_count = w->count;
    return s;
}

/* ---- Tools --------------------------------------------------------------- */

static wend_status take_command(struct loader *l, const char *of,
                                const struct manifest_words *w,
                                const char *const **out)
{
    const char **argv = arena_alloc(l->arena, (w->count + 1) * sizeof *argv);
    wend_status s = WEND_OK;

    if (!argv)
        return nomem(l);
    for (size_t i = 0; !s && i < w->count; i++) {
        wend_str word = w->list[i].text;
        bool path = manifest_word_is_path(word, i);

        argv[i] = path ? path_of(l, of, word) : word.ptr;
        if (!argv[i])
            return nomem(l);
        s = cover_word(&l->cover, w, i, argv[i], l->err);
        if (s)
            s = blame(l, s, of, &w->list[i]);
    }
    *out = argv;
    return s;
}

static wend_status load_tool(struct loader *l, const char *path, bool plain,
                             struct tool_file *out)
{
    struct tool_manifest *m = NULL;
    wend_error why = {0};
    wend_str text;
    wend_status s = read_summed(l, path, plain, &text);

    if (s)
        return s;
    s = tool_manifest_parse(text, l->arena, &m, &why);
    if (s)
        return blame_file(l, s, path, &why);
    out->path = path;
    out->manifest = m;
    s = take_command(l, path, &m->command, &out->argv);
    return s == WEND_OK && m->verify.count
               ? take_command(l, path, &m->verify, &out->verify)
               : s;
}

static wend_status take_tools(struct loader *l, struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->tools;
    wend_status s = WEND_OK;

    f->tools = arena_alloc(l->arena, (w->count + 1) * sizeof *f->tools);
    if (!f->tools)
        return nomem(l);
    for (size_t i = 0; !s && i < w->count; i++) {
        const char *path;

        if (!manifest_is_file(w->list[i].text))
            continue;
        path = path_of(l, f->path, w->list[i].text);
        if (!path)
            return nomem(l);
        s = load_tool(l, path, true, &f->tools[f->tools_count++]);
        if (s)
            s = blame(l, s, f->path, &w->list[i]);
    }
    return s;
}

static wend_status take_servers(struct loader *l, struct agent_file *f)
{
    const struct agent_manifest *m = f->manifest;
    wend_status s = WEND_OK;

    f->servers =
        arena_alloc(l->arena, (m->servers_count + 1) * sizeof *f->servers);
    if (!f->servers)
        return nomem(l);
    for (size_t i = 0; !s && i < m->servers_count; i++) {
        f->servers[i].manifest = &m->servers[i];
        if (m->servers[i].command.given)
            s = take_command(l, f->path, &m->servers[i].command,
                             &f->servers[i].argv);
    }
    return s;
}

/* ---- Agents -------------------------------------------------------------- */

static wend_status load_agent(struct loader *l, const char *path, bool plain,
                              struct agent_file *f);

/* Skills are folders with a SKILL.md, or such a file. */
static wend_status take_skills(struct loader *l, const struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->skills;
    wend_status s = WEND_OK;
    struct stat st;
    wend_str text;

    for (size_t i = 0; !s && i < w->count; i++) {
        const char *path = path_of(l, f->path, w->list[i].text);

        if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            struct buf b = {.mem = l->arena->mem};

            buf_fmt(&b, "%s/SKILL.md", path);
            path = buf_keep(&b, l->arena).ptr;
        }
        if (!path)
            return nomem(l);
        s = read_summed(l, path, true, &text);
        if (s)
            s = blame(l, s, f->path, &w->list[i]);
    }
    return s;
}

/* A model calls them by their names, and its own agent by none. */
static wend_status check_name(struct loader *l, const struct agent_file *f,
                              size_t i)
{
    const struct manifest_word *w = &f->manifest->agents.list[i];

    for (size_t k = 0; k < i; k++)
        if (!strcmp(f->agents[k].name, f->agents[i].name))
            return fail_at(l->err, WEND_E_PARSE, w->line, w->column,
                           "%.200s:%u:%u: there is another agent '%.80s' "
                           "before this one",
                           f->path, w->line, w->column, f->agents[i].name);
    return WEND_OK;
}

/* Recursion is bounded by AGENT_DEPTH_MAX. */
static wend_status take_agents(struct loader *l, struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->agents;
    wend_status s = WEND_OK;

    if (w->count && l->depth == AGENT_DEPTH_MAX)
        return fail_at(l->err, WEND_E_LIMIT, w->list[0].line, w->list[0].column,
                       "%s:%u:%u: agents in agents, deeper than %d", f->path,
                       w->list[0].line, w->list[0].column, AGENT_DEPTH_MAX);
    f->agents = arena_alloc(l->arena, (w->count + 1) * sizeof *f->agents);
    if (!f->agents)
        return nomem(l);
    l->depth++;
    for (size_t i = 0; !s && i < w->count; i++) {
        const char *path = path_of(l, f->path, w->list[i].text);

        if (!path)
            return nomem(l);
        s = load_agent(l, path, true, &f->agents[i]);
        if (s)
            s = blame(l, s, f->path, &w->list[i]);
        else
            s = check_name(l, f, i);
    }
    l->depth--;
    return s;
}

static wend_status load_agent(struct loader *l, const char *path, bool plain,
                              struct agent_file *f)
{
    struct agent_manifest *m = NULL;
    wend_error why = {0};
    wend_str text;
    wend_status s = read_summed(l, path, plain, &text);

    if (s)
        return s;
    s = agent_manifest_parse(text, l->arena, &m, &why);
    if (s)
        return blame_file(l, s, path, &why);
    f->path = path;
    f->manifest = m;
    f->name = m->name.ptr ? m->name.ptr
                          : arena_str(l->arena, agent_file_stem(path)).ptr;
    if (!f->name)
        return nomem(l);
    s = take_models(l, f);
    if (!s)
        s = take_tools(l, f);
    if (!s)
        s = take_servers(l, f);
    if (!s)
        s = take_skills(l, f);
    return s ? s : take_agents(l, f);
}

/* ---- Public -------------------------------------------------------------- */

wend_status agent_file_load(const char *path, bool plain, struct arena *a,
                            struct agent_file **out, wend_error *err)
{
    struct loader l = {.arena = a, .err = err};
    struct agent_file *f = arena_alloc(a, sizeof *f);
    wend_status s;

    if (!f)
        return fail_nomem(err);
    s = cover_begin(&l.cover, path, a, err);
    if (!s)
        s = load_agent(&l, path, plain, f);
    if (s)
        return s;
    cover_end(&l.cover, f->sum);
    f->parts = l.cover.parts;
    f->gaps = l.cover.gaps;
    *out = f;
    return WEND_OK;
}

wend_status tool_file_load(const char *path, struct arena *a,
                           struct tool_file *out, wend_error *err)
{
    struct loader l = {.arena = a, .err = err};
    wend_status s = cover_begin(&l.cover, path, a, err);

    return s ? s : load_tool(&l, path, false, out);
}

/*
 * agent_file.c - an agent or a tool from a file, with all the files that it
 * names.
 */
#include "lib/agent/agent_file.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/utf8.h"
#include "host/file.h"

enum { FILE_BYTES_MAX = 1 << 20 }; /* far above any manifest */

struct agent_file_owner {
    struct mem mem;
    struct arena arena;
    struct agent_file file;
};

/* ---- Bytes --------------------------------------------------------------- */

static wend_status nomem(struct agent_loader *l)
{
    return fail_nomem(l->err);
}

wend_status loader_text(struct agent_loader *l, const char *path, size_t max,
                        wend_str *text)
{
    struct buf b = {.mem = l->arena->mem};
    wend_status s = file_read(path, max, &b, l->err);

    if (s) {
        buf_free(&b);
        return s == WEND_E_NOTFOUND
                   ? fail(l->err, s, "%.400s: file not found", path)
                   : s;
    }
    *text = buf_keep(&b, l->arena);
    return text->ptr ? cover_text(&l->cover, path, *text, l->err) : nomem(l);
}

wend_status loader_read(struct agent_loader *l, const char *path, bool plain,
                        wend_str *text)
{
    wend_status s = plain ? cover_check(&l->cover, path, l->err) : WEND_OK;

    if (!s && !strcmp(path, "-")) /* not standard input */
        s = fail(l->err, WEND_E_NOTFOUND, "-: file not found");
    return s ? s : loader_text(l, path, FILE_BYTES_MAX, text);
}

/* ---- Names --------------------------------------------------------------- */

const char *path_beside(struct arena *a, const char *of, wend_str path)
{
    struct buf b = {.mem = a->mem};

    manifest_path(&b, str_of(of), path);
    return buf_keep(&b, a).ptr;
}

/* Prefixes the error with the place where the file is named. */
static wend_status blame(struct agent_loader *l, wend_status s, const char *of,
                         const struct manifest_word *w)
{
    char why[400];

    if (s == WEND_E_NOMEM || !l->err)
        return s;
    utf8_fmt(why, sizeof why, "%s", l->err->message);
    return fail_at(l->err, s, w->line, w->column, "%.90s:%u:%u: %s", of,
                   w->line, w->column, why);
}

/* ---- Models -------------------------------------------------------------- */

/* script:FILE names a file; its bytes count like instructions. */
static wend_status take_model(struct agent_loader *l, const char *of,
                              wend_str model, const char **out)
{
    static const char prefix[] = "script:";
    size_t len = sizeof prefix - 1;
    struct buf b = {.mem = l->arena->mem};

    *out = model.ptr;
    if (!str_starts(model, prefix) || model.ptr[len] == '{')
        return WEND_OK;
    buf_cstr(&b, prefix);
    manifest_path(&b, str_of(of), str_skip(model, len));
    *out = buf_keep(&b, l->arena).ptr;
    if (!*out)
        return nomem(l);
    return cover_file(&l->cover, *out + len, l->err);
}

static wend_status take_models(struct agent_loader *l, struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->fallbacks;
    const char **list = arena_alloc(l->arena, (w->count + 1) * sizeof *list);
    wend_status s = WEND_OK;

    if (!list)
        return nomem(l);
    if (f->manifest->model.ptr)
        s = take_model(l, f->seen.path, f->manifest->model, &f->options.model);
    for (size_t i = 0; !s && i < w->count; i++)
        s = take_model(l, f->seen.path, w->list[i].text, &list[i]);
    if (!s && f->manifest->summary_model.ptr)
        s = take_model(l, f->seen.path, f->manifest->summary_model,
                       &f->options.summary_model);
    f->options.fallbacks = w->list ? list : NULL;
    f->options.fallbacks_count = w->count;
    return s;
}

/* ---- Tools --------------------------------------------------------------- */

wend_status loader_command(struct agent_loader *l, const char *of,
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

        argv[i] = path ? path_beside(l->arena, of, word) : word.ptr;
        if (!argv[i])
            return nomem(l);
        s = cover_word(&l->cover, w, i, argv[i], l->err);
        if (s)
            s = blame(l, s, of, &w->list[i]);
    }
    *out = argv;
    return s;
}

/* The words, then NULL; NULL without memory. */
static const char *const *texts_of(struct arena *a,
                                   const struct manifest_words *w)
{
    const char **list = arena_alloc(a, (w->count + 1) * sizeof *list);

    for (size_t i = 0; list && i < w->count; i++)
        list[i] = w->list[i].text.ptr;
    return list;
}

static void fill_command(struct agent_loader *l, struct tool_file *t)
{
    const struct tool_manifest *m = t->manifest;

    t->command = (wend_command_options){
        .size = sizeof t->command,
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
        .repeat_ok = m->repeat_ok,
        .client = m->client,
        .network = tool_networks(m),
        .sandbox_off = m->sandbox_off,
        .argv_count = m->command.count,
        .verify_count = m->verify.count,
        .secrets = texts_of(l->arena, &m->secrets),
        .secrets_count = m->secrets.count,
    };
}

wend_status loader_tool(struct agent_loader *l, const char *path, bool plain,
                        struct tool_file *out)
{
    struct tool_manifest *m = NULL;
    wend_error why = {0};
    wend_str text;
    wend_status s = loader_read(l, path, plain, &text);

    if (s)
        return s;
    if (tool_manifest_parse(text, l->arena, &m, &why))
        return fail_in(l->err, path, &why);
    out->path = path;
    out->manifest = m;
    fill_command(l, out);
    s = loader_command(l, path, &m->command, &out->command.argv);
    if (s == WEND_OK && m->verify.count)
        s = loader_command(l, path, &m->verify, &out->command.verify);
    return s;
}

static wend_status take_tools(struct agent_loader *l, struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->tools;
    const wend_command_options **commands =
        arena_alloc(l->arena, (w->count + 1) * sizeof *commands);
    const char **names = arena_alloc(l->arena, (w->count + 1) * sizeof *names);
    wend_status s = WEND_OK;

    f->tools = arena_alloc(l->arena, (w->count + 1) * sizeof *f->tools);
    if (!f->tools || !commands || !names)
        return nomem(l);
    for (size_t i = 0; !s && i < w->count; i++) {
        struct tool_file *t = &f->tools[f->seen.commands_count];
        const char *path;

        names[i] = w->list[i].text.ptr;
        if (!manifest_is_file(w->list[i].text))
            continue;
        path = path_beside(l->arena, f->seen.path, w->list[i].text);
        if (!path)
            return nomem(l);
        s = loader_tool(l, path, true, t);
        if (s)
            return blame(l, s, f->seen.path, &w->list[i]);
        names[i] = t->command.name;
        commands[f->seen.commands_count++] = &t->command;
    }
    f->seen.tools = w->list ? names : NULL;
    f->seen.tools_count = w->count;
    f->seen.commands = commands;
    return s;
}

wend_mcp_options server_options(const struct manifest_server *m,
                                struct arena *a)
{
    return (wend_mcp_options){
        .size = sizeof(wend_mcp_options),
        .name = m->name.ptr,
        .url = m->url.ptr,
        .secrets = texts_of(a, &m->secrets),
        .secrets_count = m->secrets.count,
        .timeout_ms = (uint32_t)m->timeout_ms,
        .start_timeout_ms = (uint32_t)m->start_timeout_ms,
        .sandbox_off = m->sandbox_off,
        .network = m->network_on,
        .trust = m->trust,
    };
}

static wend_status take_servers(struct agent_loader *l, struct agent_file *f)
{
    size_t count = f->manifest->servers_count;
    wend_mcp_options *all = arena_alloc(l->arena, (count + 1) * sizeof *all);
    const wend_mcp_options **list =
        arena_alloc(l->arena, (count + 1) * sizeof *list);
    wend_status s = WEND_OK;

    if (!all || !list)
        return nomem(l);
    for (size_t i = 0; !s && i < count; i++) {
        const struct manifest_server *m = &f->manifest->servers[i];

        all[i] = server_options(m, l->arena);
        list[i] = &all[i];
        if (m->command.list)
            s = loader_command(l, f->seen.path, &m->command, &all[i].command);
    }
    f->seen.servers = list;
    f->seen.servers_count = count;
    return s;
}

/* ---- Agents -------------------------------------------------------------- */

static wend_status load_agent(struct agent_loader *l, const char *path,
                              bool plain, struct agent_file *f);

/* A skill is a folder with a SKILL.md, or the file itself. */
static wend_status take_skills(struct agent_loader *l, struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->skills;
    wend_status s = WEND_OK;
    struct stat st;
    wend_str text;

    for (size_t i = 0; !s && i < w->count; i++) {
        const char *path = path_beside(l->arena, f->seen.path, w->list[i].text);

        if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            struct buf b = {.mem = l->arena->mem};

            buf_fmt(&b, "%s/SKILL.md", path);
            path = buf_keep(&b, l->arena).ptr;
        }
        if (!path)
            return nomem(l);
        s = loader_read(l, path, true, &text);
        if (s)
            s = blame(l, s, f->seen.path, &w->list[i]);
    }
    f->seen.skills = texts_of(l->arena, w);
    f->seen.skills_count = w->count;
    return s;
}

/* A model tells them apart by name. */
static wend_status check_name(struct agent_loader *l,
                              const struct agent_file *f, size_t i)
{
    const struct manifest_word *w = &f->manifest->agents.list[i];
    const char *name = f->agents[i].seen.name;

    for (size_t k = 0; k < i; k++)
        if (!strcmp(f->agents[k].seen.name, name))
            return fail_at(l->err, WEND_E_PARSE, w->line, w->column,
                           "%.200s:%u:%u: there is another agent '%.80s' "
                           "before this one",
                           f->seen.path, w->line, w->column, name);
    return WEND_OK;
}

/* Recursion is bounded by AGENT_DEPTH_MAX. */
static wend_status take_agents(struct agent_loader *l, struct agent_file *f)
{
    const struct manifest_words *w = &f->manifest->agents;
    const wend_manifest **list =
        arena_alloc(l->arena, (w->count + 1) * sizeof *list);
    wend_status s = WEND_OK;

    if (w->count && l->depth == AGENT_DEPTH_MAX)
        return fail_at(l->err, WEND_E_LIMIT, w->list[0].line, w->list[0].column,
                       "%s:%u:%u: agents in agents, deeper than %d",
                       f->seen.path, w->list[0].line, w->list[0].column,
                       AGENT_DEPTH_MAX);
    f->agents = arena_alloc(l->arena, (w->count + 1) * sizeof *f->agents);
    if (!f->agents || !list)
        return nomem(l);
    l->depth++;
    for (size_t i = 0; !s && i < w->count; i++) {
        const char *path = path_beside(l->arena, f->seen.path, w->list[i].text);

        if (!path)
            return nomem(l);
        list[i] = &f->agents[i].seen;
        s = load_agent(l, path, true, &f->agents[i]);
        if (s)
            s = blame(l, s, f->seen.path, &w->list[i]);
        else
            s = check_name(l, f, i);
    }
    l->depth--;
    f->seen.agents = list;
    f->seen.agents_count = w->count;
    return s;
}

/* As wend_agent_options has them; NULL without memory. */
static const char *const *params_of(struct arena *a, const struct wishes *w,
                                    size_t *count)
{
    const char **list = arena_alloc(a, (PARAMS + 1) * sizeof *list);

    for (int i = 0; list && i < PARAMS; i++) {
        struct buf b = {.mem = a->mem};

        if (!w->params[i].text.ptr)
            continue;
        buf_fmt(&b, "%s=", asked_names[i]);
        buf_str(&b, w->params[i].text);
        list[(*count)++] = buf_keep(&b, a).ptr;
    }
    return list;
}

/* Fills what hosts see besides models, tools, servers and agents. */
static wend_status fill_options(struct agent_loader *l, struct agent_file *f)
{
    const struct agent_manifest *m = f->manifest;
    wend_agent_options *o = &f->options;
    size_t count = 0;
    const char **keys;

    while (agent_manifest_unserved(m, count))
        count++;
    keys = arena_alloc(l->arena, (count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < count; i++)
        keys[i] = agent_manifest_unserved(m, i);
    f->seen.unserved = keys;
    f->seen.unserved_count = count;
    f->seen.description = m->description.ptr;
    f->seen.network_off = m->network_off;
    f->seen.options = o;
    o->size = sizeof *o;
    o->name = f->seen.name;
    o->base_url = m->base_url.ptr;
    o->instructions = m->instructions.ptr;
    o->limits = m->limits;
    o->rules = texts_of(l->arena, &m->rules);
    o->rules_count = m->rules.count;
    o->label_rows = texts_of(l->arena, &m->label_rows);
    o->label_rows_count = m->label_rows.count;
    o->network = texts_of(l->arena, &m->network);
    o->network_count = m->network.count;
    o->context_tokens = m->context_tokens;
    o->max_history = (uint32_t)m->max_history;
    o->max_memories = (uint32_t)m->max_memories;
    o->params = params_of(l->arena, &m->wishes, &o->params_count);
    o->extra = m->wishes.extra.text.ptr;
    o->headers = texts_of(l->arena, &m->wishes.headers);
    o->headers_count = m->wishes.headers.count;
    o->compaction_off = m->compaction_off;
    o->memory_user = m->memory_user;
    o->loop_off = m->loop_off;
    o->project = m->notes_off ? WEND_PROJECT_OFF : WEND_PROJECT_DEFAULT;
    return l->arena->failed ? nomem(l) : WEND_OK;
}

static wend_status load_agent(struct agent_loader *l, const char *path,
                              bool plain, struct agent_file *f)
{
    struct agent_manifest *m = NULL;
    wend_error why = {0};
    wend_str text;
    wend_status s = loader_read(l, path, plain, &text);

    if (s)
        return s;
    if (agent_manifest_parse(text, l->arena, &m, &why))
        return fail_in(l->err, path, &why);
    f->seen.path = path;
    f->manifest = m;
    f->seen.name = m->name.ptr ? m->name.ptr
                               : arena_str(l->arena, manifest_stem(path)).ptr;
    s = take_models(l, f);
    if (!s)
        s = take_tools(l, f);
    if (!s)
        s = take_servers(l, f);
    if (!s)
        s = take_skills(l, f);
    if (!s)
        s = take_agents(l, f);
    return s ? s : fill_options(l, f);
}

/* ---- Public -------------------------------------------------------------- */

/* A file tool/1: an agent with nothing but that program. */
static wend_status load_alone(struct agent_loader *l, const char *path,
                              bool plain, struct agent_file *f)
{
    const wend_command_options **list = arena_alloc(l->arena, sizeof *list);
    wend_status s;

    f->tools = arena_alloc(l->arena, sizeof *f->tools);
    if (!f->tools || !list)
        return nomem(l);
    s = loader_tool(l, path, plain, f->tools);
    if (s)
        return s;
    list[0] = &f->tools->command;
    f->seen.path = path;
    f->seen.name = f->tools->command.name;
    f->seen.description = f->tools->command.description;
    f->seen.options = &f->options;
    f->options.size = sizeof f->options;
    f->seen.commands = list;
    f->seen.commands_count = 1;
    return l->arena->failed ? nomem(l) : WEND_OK;
}

/* Lists become arrays. */
wend_status loader_end(struct agent_loader *l, struct agent_file *f)
{
    struct cover *c = &l->cover;
    wend_manifest_file *files =
        arena_alloc(l->arena, (c->parts.count + 1) * sizeof *files);
    wend_manifest_gap *gaps =
        arena_alloc(l->arena, (c->gaps.count + 1) * sizeof *gaps);

    assert(!f->seen.sum && c->parts.count); /* its own file is one */
    if (!files || !gaps)
        return nomem(l);
    f->seen.files = files;
    f->seen.files_count = c->parts.count;
    f->seen.gaps = gaps;
    f->seen.gaps_count = c->gaps.count;
    for (const struct cover_item *i = c->parts.first; i; i = i->next)
        *files++ = (wend_manifest_file){i->name, i->says};
    for (const struct cover_item *i = c->gaps.first; i; i = i->next)
        *gaps++ = (wend_manifest_gap){i->name, i->says};
    sha256_end_hex(&c->sum, f->sum);
    f->seen.sum = f->sum;
    return WEND_OK;
}

wend_status agent_file_open(struct arena *a, const char *path,
                            const wend_manifest_options *how,
                            struct agent_file *f, wend_error *err)
{
    struct agent_loader l = {.arena = a, .err = err};
    wend_status s = cover_begin(&l.cover, path, a, err);

    if (!s)
        s = (how->tool ? load_alone : load_agent)(&l, path, how->regular, f);
    return s ? s : loader_end(&l, f);
}

wend_status wend_manifest_open(const char *path,
                               const wend_manifest_options *options,
                               wend_manifest **out, wend_error *err)
{
    static const struct mem libc_mem;
    struct agent_file_owner *o;
    wend_manifest_options how;
    wend_status s;

    if (!path || !out ||
        !OPTIONS_TAKE(&how, wend_manifest_options, regular, options) ||
        (how.tools_count && !how.tools) || (how.plan && how.tool))
        return fail(err, WEND_E_INVAL,
                    "manifest: path or out is NULL, or options.size or tools "
                    "is wrong");
    fail_clear(err);
    *out = NULL;
    o = mem_zalloc(&libc_mem, sizeof *o);
    if (!o)
        return fail_nomem(err);
    o->arena.mem = &o->mem;
    o->file.owner = o;
    path = arena_str(&o->arena, str_of(path)).ptr;
    s = !path ? fail_nomem(err)
              : (how.plan ? plan_file_open : agent_file_open)(
                    &o->arena, path, &how, &o->file, err);
    if (!s)
        *out = &o->file.seen;
    else
        wend_manifest_free(&o->file.seen);
    return s;
}

void wend_manifest_free(wend_manifest *manifest)
{
    struct agent_file_owner *o =
        manifest ? ((struct agent_file *)(void *)manifest)->owner : NULL;

    if (!o)
        return; /* one inside another goes with it */
    assert(manifest == &o->file.seen);
    plan_file_free(manifest);
    arena_free(&o->arena);
    mem_free(&o->mem, o);
}

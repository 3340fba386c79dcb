/*
 * plan_file.c - a plan from a file, with the tools, relics, agents and plans
 * that its actions name.
 *
 * Tools and relics are files beside the plan, in folders of their own; agents
 * and plans are named by path. An agent or a plan inside has a sum of its own,
 * which joins that of the outer plan.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "lib/agent/agent_file.h"
#include "lib/plan/plan.h"
#include "wire/file/relic.h"
#include "wire/file/yaml.h"

enum { PLAN_FILES_MAX = 1000 }; /* agents and plans in one plan, in all */

struct tool_beside {
    struct tool_beside *next;
    struct tool_file file;
};

struct relic_beside {
    struct relic_beside *next;
    wend_manifest_relic seen;
    const struct relic_manifest *manifest;
};

struct plan_loader {
    struct agent_loader load;
    const wend_manifest_options *how;
    const struct plan_loader *outer; /* of the plan that names it, or NULL */
    int *files;                      /* agents and plans in all */
    int depth;
    struct agent_file *file;
    const char *real; /* to recognize it */
    struct tool_beside *tools;
    struct relic_beside *relics; /* the last one first, as are tools */
    wend_error wrong;            /* what is wrong with a file beside the plan */
    const char *missing; /* the file that would be the unknown target; NULL:
                            none */
};

static wend_status nomem(const struct plan_loader *l)
{
    return fail_nomem(l->load.err);
}

/* ---- Files beside the plan ----------------------------------------------- */

/* FOLDER/NAME.yaml beside the plan; NULL: it does not exist, or no memory. */
static const char *beside(struct plan_loader *l, const char *folder,
                          wend_str name)
{
    struct buf file = {.mem = l->load.arena->mem};
    const char *path;
    wend_str kept;

    if (memchr(name.ptr, 0, name.len))
        return NULL;
    buf_fmt(&file, "%s/%.*s.yaml", folder, (int)name.len, name.ptr);
    kept = buf_keep(&file, l->load.arena);
    path =
        kept.ptr ? path_beside(l->load.arena, l->file->seen.path, kept) : NULL;
    if (path && !access(path, F_OK))
        return path;
    l->missing = path;
    return NULL;
}

static wend_status wrong_name(struct plan_loader *l, const char *path,
                              const char *what, wend_str is, wend_str name)
{
    return fail(l->load.err, WEND_E_INVAL,
                "%.200s: the %s's name is '%.64s', not '%.*s'", path, what,
                is.ptr, (int)(name.len < 64 ? name.len : 64), name.ptr);
}

static bool knows_tool(struct plan_loader *l, wend_str name)
{
    const char *path;
    struct tool_beside *t;
    wend_status s;

    for (t = l->tools; t; t = t->next)
        if (str_is(name, t->file.command.name))
            return true;
    path = beside(l, "tools", name);
    t = path ? arena_alloc(l->load.arena, sizeof *t) : NULL;
    if (!t)
        return false;
    s = loader_tool(&l->load, path, false, &t->file);
    if (!s && !str_is(name, t->file.command.name))
        s = wrong_name(l, path, "tool", str_of(t->file.command.name), name);
    if (s)
        return false;
    t->next = l->tools;
    l->tools = t;
    return true;
}

static wend_status load_relic(struct plan_loader *l, struct relic_beside *r,
                              wend_str name)
{
    const char *path = r->seen.path, *const * argv;
    struct relic_manifest *m = NULL;
    wend_error why = {0};
    wend_status s = loader_read(&l->load, path, false, &r->seen.text);

    if (s)
        return s;
    if (relic_manifest_parse(r->seen.text, l->load.arena, &m, &why))
        return fail_in(l->load.err, path, &why);
    if (!str_eq(m->name, name))
        return wrong_name(l, path, "relic", m->name, name);
    r->manifest = m;
    r->seen.network =
        m->kind == RELIC_HTTP || m->server.url.ptr || m->server.network_on;
    return m->server.command.list
               ? loader_command(&l->load, path, &m->server.command, &argv)
               : WEND_OK;
}

static const struct relic_beside *find_relic(struct plan_loader *l,
                                             wend_str name)
{
    const char *path = NULL;
    struct relic_beside *r;

    for (r = l->relics; r; r = r->next)
        if (str_eq(r->manifest->name, name))
            return r;
    path = beside(l, "relics", name);
    r = path ? arena_alloc(l->load.arena, sizeof *r) : NULL;
    if (!r)
        return NULL;
    r->seen.path = path;
    if (load_relic(l, r, name))
        return NULL;
    r->next = l->relics;
    l->relics = r;
    return r;
}

/* RELIC.ENDPOINT, as far as its file can tell. */
static bool knows_relic(struct plan_loader *l, wend_str target,
                        const char **near)
{
    const char *dot = memchr(target.ptr, '.', target.len);
    size_t len = dot ? (size_t)(dot - target.ptr) : 0;
    struct buf meant = {.mem = l->load.arena->mem};
    const struct relic_beside *r;
    wend_str nearest;

    if (!dot)
        return false;
    r = find_relic(l, (wend_str){target.ptr, len});
    if (!r || relic_has(r->manifest, (wend_str){dot + 1, target.len - len - 1},
                        &nearest))
        return r != NULL;
    if (nearest.ptr) {
        buf_fmt(&meant, "%.*s.%.*s", (int)len, target.ptr, (int)nearest.len,
                nearest.ptr);
        *near = buf_keep(&meant, l->load.arena).ptr;
    }
    return false;
}

/* ---- Targets ------------------------------------------------------------- */

static bool knows_file(struct plan_loader *l, wend_str target)
{
    const char *path =
        memchr(target.ptr, 0, target.len)
            ? NULL
            : path_beside(l->load.arena, l->file->seen.path, target);

    if (path && access(path, F_OK))
        l->missing = path;
    return path && !access(path, R_OK);
}

static bool knows_any_tool(struct plan_loader *l, wend_str target,
                           const char **near)
{
    struct tool_names n;

    tool_names_fill(&n, NULL);
    for (size_t i = 0; i < l->how->tools_count; i++)
        tool_names_add(&n, l->how->tools[i]);
    if (str_index(target, n.list, n.count) >= 0 || knows_tool(l, target))
        return true;
    *near = str_near(target, n.list, n.count);
    /* A tool of a server contains a dot; only the server knows its names. */
    return !*near && memchr(target.ptr, '.', target.len);
}

static bool knows(void *ctx, wend_str type, wend_str target, const char **near)
{
    struct plan_loader *l = ctx;
    wend_error *err = l->load.err;
    bool known;

    if (str_is(type, "llm"))
        return str_is(target, "default") || memchr(target.ptr, ':', target.len);
    l->load.err = &l->wrong;
    l->missing = NULL;
    known = str_is(type, "relic")  ? knows_relic(l, target, near)
            : str_is(type, "tool") ? knows_any_tool(l, target, near)
                                   : knows_file(l, target);
    l->load.err = err;
    if (known || *near)
        l->missing = NULL;
    return known && !l->wrong.status;
}

/* ---- Agents and plans ---------------------------------------------------- */

wend_status plan_file_blame(const wend_manifest *plan,
                            const struct plan_action *a, wend_status s,
                            const char *what, wend_error *err)
{
    return fail_at(err, s, a->target_line, a->target_column,
                   "%.150s:%u:%u: action '%.*s': %.300s", plan->path,
                   a->target_line, a->target_column,
                   (int)(a->name.len < 64 ? a->name.len : 64), a->name.ptr,
                   what);
}

static wend_status blame(const struct plan_loader *l,
                         const struct plan_action *a, wend_status s,
                         const char *what)
{
    return plan_file_blame(&l->file->seen, a, s, what, l->load.err);
}

static wend_status blame_most(const struct plan_loader *l,
                              const struct plan_action *a, const char *what,
                              int most)
{
    char text[64];

    snprintf(text, sizeof text, "%s (maximum %d)", what, most);
    return blame(l, a, WEND_E_LIMIT, text);
}

/* a.yaml -> b.yaml -> ; recursion is bounded by CHILD_DEPTH_MAX. */
static void put_chain(struct buf *b, const struct plan_loader *l,
                      const struct plan_loader *first)
{
    if (l != first)
        put_chain(b, l->outer, first);
    buf_fmt(b, "%s -> ", l->file->seen.path);
}

static wend_status blame_circle(const struct plan_loader *l,
                                const struct plan_action *a,
                                const struct plan_loader *first)
{
    struct buf b = {.mem = l->load.arena->mem};
    wend_status s;

    buf_cstr(&b, "plans in a circle: ");
    put_chain(&b, l, first);
    buf_cstr(&b, first->file->seen.path);
    s = b.failed ? nomem(l) : blame(l, a, WEND_E_LIMIT, b.ptr);
    buf_free(&b);
    return s;
}

/* Also for what cannot be read, and for standard input. */
static const char *real_path(struct arena *a, const char *path)
{
    char *real = realpath(path, NULL);
    const char *kept = arena_str(a, str_of(real ? real : path)).ptr;

    free(real);
    return kept;
}

static wend_status open_plan(struct plan_loader *l, const char *path);

static wend_status take_plan(const struct plan_loader *l,
                             const struct plan_action *a, const char *path,
                             struct agent_file *out)
{
    struct plan_loader inner = {
        .load = {.arena = l->load.arena, .err = l->load.err},
        .how = l->how,
        .outer = l,
        .files = l->files,
        .depth = l->depth + 1,
        .file = out,
        .real = real_path(l->load.arena, path),
    };

    if (!inner.real)
        return nomem(l);
    for (const struct plan_loader *o = l; o; o = o->outer)
        if (!strcmp(o->real, inner.real))
            return blame_circle(l, a, o);
    if (l->depth == CHILD_DEPTH_MAX)
        return blame_most(l, a, "plans in plans are nested too deep",
                          CHILD_DEPTH_MAX);
    return open_plan(&inner, path);
}

static wend_status take_agent(const struct plan_loader *l,
                              const struct plan_action *a, const char *path,
                              struct agent_file *out)
{
    const wend_manifest_options how = {.size = sizeof how, .regular = true};
    wend_error why = {0};
    wend_status s = agent_file_open(l->load.arena, path, &how, out, &why);

    if (s == WEND_E_NOMEM)
        return nomem(l);
    return s ? blame(l, a, s, why.message) : WEND_OK;
}

static bool has_target(const wend_manifest *m, wend_str target)
{
    for (size_t i = 0; i < m->agents_count; i++)
        if (str_is(target, m->agents[i]->target))
            return true;
    return false;
}

static bool names_file(const struct plan_action *a)
{
    return a->type == ACTION_AGENT || a->type == ACTION_WORKFLOW;
}

/* The first action that names a file opens it; the run checks the types. */
static wend_status take_child(struct plan_loader *l,
                              const struct plan_action *a)
{
    struct agent_file *f = l->file, *child = &f->agents[f->seen.agents_count];
    const char *path;
    wend_status s;

    if (!names_file(a) || has_target(&f->seen, a->target))
        return WEND_OK;
    if (++*l->files > PLAN_FILES_MAX)
        return blame_most(l, a, "too many agents and plans", PLAN_FILES_MAX);
    path = path_beside(l->load.arena, f->seen.path, a->target);
    child->seen.target = arena_str(l->load.arena, a->target).ptr;
    if (!path || !child->seen.target)
        return nomem(l);
    f->seen.agents_count++;
    s = (a->type == ACTION_WORKFLOW ? take_plan : take_agent)(l, a, path,
                                                              child);
    return s ? s : cover_manifest(&l->load.cover, &child->seen, l->load.err);
}

static wend_status take_children(struct plan_loader *l, const struct plan *p)
{
    struct agent_file *f = l->file;
    const wend_manifest **list;
    wend_status s = WEND_OK;
    size_t count = 0;

    for (uint32_t i = 0; i < p->count; i++)
        count += names_file(p->actions[i]);
    f->agents = arena_alloc(l->load.arena, (count + 1) * sizeof *f->agents);
    list = arena_alloc(l->load.arena, (count + 1) * sizeof *list);
    if (!f->agents || !list)
        return nomem(l);
    for (size_t i = 0; i < count; i++)
        list[i] = &f->agents[i].seen;
    f->seen.agents = list;
    for (uint32_t i = 0; !s && i < p->count; i++)
        s = take_child(l, p->actions[i]);
    return s;
}

/* ---- The plan ------------------------------------------------------------ */

/* Lists become arrays. */
static wend_status fill(struct plan_loader *l)
{
    struct arena *a = l->load.arena;
    wend_manifest *m = &l->file->seen;
    const wend_command_options **commands;
    wend_manifest_relic *relics;

    for (const struct tool_beside *t = l->tools; t; t = t->next)
        m->commands_count++;
    for (const struct relic_beside *r = l->relics; r; r = r->next)
        m->relics_count++;
    commands = arena_alloc(a, (m->commands_count + 1) * sizeof *commands);
    relics = arena_alloc(a, (m->relics_count + 1) * sizeof *relics);
    m->name = arena_str(a, plan_inside(m->plan)->name).ptr;
    if (!commands || !relics || !m->name)
        return nomem(l);
    m->commands = commands;
    m->relics = relics;
    m->options = &l->file->options;
    l->file->options.size = sizeof l->file->options;
    for (const struct tool_beside *t = l->tools; t; t = t->next)
        *commands++ = &t->file.command;
    for (const struct relic_beside *r = l->relics; r; r = r->next)
        *relics++ = r->seen;
    return WEND_OK;
}

/* Of RELIC.ENDPOINT, whose file was read. */
static wend_str relic_schema_of(const struct plan_loader *l, wend_str target)
{
    const char *dot = memchr(target.ptr, '.', target.len);
    wend_str name = {target.ptr, dot ? (size_t)(dot - target.ptr) : 0};

    for (const struct relic_beside *r = l->relics; r && dot; r = r->next)
        if (str_eq(r->manifest->name, name))
            return relic_endpoint_schema(r->manifest,
                                         str_skip(target, name.len + 1));
    return STR_NONE;
}

/* Absent: only an agent knows the tool. */
static wend_str schema_of(const struct plan_loader *l, wend_str tool)
{
    const wend_manifest_options *how = l->how;
    const wend_tool_info *info;

    for (const struct tool_beside *t = l->tools; t; t = t->next)
        if (str_is(tool, t->file.command.name))
            return str_of(t->file.command.schema);
    for (size_t i = 0; how->schemas && i < how->tools_count; i++)
        if (how->schemas[i] && str_is(tool, how->tools[i]))
            return str_of(how->schemas[i]);
    for (size_t i = 0; (info = wend_builtin(i)); i++)
        if (str_eq(tool, info->name))
            return info->schema;
    return STR_NONE;
}

/* Arguments that cannot be right are an error where they are written. */
static wend_status check_args(struct plan_loader *l, const struct json *written)
{
    const struct plan *p = plan_inside(l->file->seen.plan);
    const struct json *w = json_get(written, "actions"), *at;
    struct buf why = {.mem = l->load.arena->mem};
    wend_status s = WEND_OK;

    w = w ? w->first : NULL;
    for (uint32_t i = 0; w && !s && i < p->count; i++, w = w->next) {
        const struct plan_action *a = p->actions[i];
        wend_str schema = a->type == ACTION_TOOL ? schema_of(l, a->target)
                          : a->type == ACTION_RELIC
                              ? relic_schema_of(l, a->target)
                              : STR_NONE;

        if (!schema.len || plan_args_fit(json_get(w, "params"), schema,
                                         l->load.arena, &why, &at))
            continue;
        s = fail_at(l->load.err, WEND_E_INVAL, at ? at->line : a->target_line,
                    at ? at->column : a->target_column,
                    "%.150s:%u:%u: action '%.*s': %.*s: %.*s",
                    l->file->seen.path, at ? at->line : a->target_line,
                    at ? at->column : a->target_column, UTF8_ARGS(a->name, 64),
                    UTF8_ARGS(a->target, 64), UTF8_ARGS(buf_view(&why), 300));
    }
    buf_free(&why);
    return l->load.arena->failed ? nomem(l) : s;
}

static wend_status parse(struct plan_loader *l, wend_str text)
{
    const wend_plan_options o = {.size = sizeof o,
                                 .knows = knows,
                                 .ctx = l,
                                 .sets = l->outer ? NULL : l->how->sets,
                                 .sets_count =
                                     l->outer ? 0 : l->how->sets_count};
    struct agent_file *f = l->file;
    wend_error why = {0};
    wend_status s = wend_plan_parse(text, &o, &f->seen.plan, &why);
    const struct json *at, *written;

    if (l->load.arena->failed || s == WEND_E_NOMEM)
        return nomem(l);
    if (l->wrong.status) {
        if (l->load.err)
            *l->load.err = l->wrong;
        return l->wrong.status;
    }
    if (s && l->missing)
        return fail_at(l->load.err, s, why.line, why.column,
                       "%.150s:%u:%u: %.150s; there is no file '%.150s'",
                       f->seen.path, why.line, why.column, why.message,
                       l->missing);
    if (s)
        return fail_in(l->load.err, f->seen.path, &why);
    if (!plan_set_path(f->seen.plan, f->seen.path))
        return nomem(l);
    written = yaml_parse(text, l->load.arena, NULL, NULL);
    if (plan_inside(f->seen.plan)->on_failure == FAILURE_REPLAN) {
        at = json_get(written, "on_failure");
        f->replan_line = at ? at->line : 1;
        f->replan_column = at ? at->column : 1;
    }
    return check_args(l, written);
}

/* Recursion is bounded by CHILD_DEPTH_MAX. */
static wend_status open_plan(struct plan_loader *l, const char *path)
{
    wend_str text = STR_NONE;
    wend_status s =
        cover_begin(&l->load.cover, path, l->load.arena, l->load.err);

    assert(l->depth <= CHILD_DEPTH_MAX && !l->file->seen.plan);
    l->file->seen.path = path;
    if (!s)
        s = loader_text(&l->load, path, PLAN_BYTES_MAX, &text);
    if (!s)
        s = parse(l, text);
    if (!s)
        s = fill(l);
    if (!s)
        s = take_children(l, plan_inside(l->file->seen.plan));
    return s ? s : loader_end(&l->load, l->file);
}

wend_status plan_file_open(struct arena *a, const char *path,
                           const wend_manifest_options *how,
                           struct agent_file *f, wend_error *err)
{
    int files = 0;
    struct plan_loader l = {.load = {.arena = a, .err = err},
                            .how = how,
                            .files = &files,
                            .file = f,
                            .real = real_path(a, path)};

    return l.real ? open_plan(&l, path) : nomem(&l);
}

void plan_file_free(const wend_manifest *m)
{
    for (size_t i = 0; m->plan && i < m->agents_count; i++)
        plan_file_free(m->agents[i]);
    wend_plan_free(m->plan);
}

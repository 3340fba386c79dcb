/*
 * plan_files.c - a plan from a file, with the plans and agents it names.
 */
#include "cli/agent/plan_files.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/agent/agent_use.h"
#include "cli/cmd/plan_run.h"
#include "cli/trust.h"
#include "wire/file/manifest.h"

struct loader {
    struct cli *cli;
    int files;
};

const char *beside_plan(struct cli *cli, wend_str plan, const char *folder,
                        wend_str name)
{
    struct buf file = {.mem = cli->arena.mem}, path = file;
    const char *kept = NULL;

    buf_fmt(&file, "%s/%.*s.yaml", folder, (int)name.len, name.ptr);
    if (!file.failed)
        manifest_path(&path, plan, buf_view(&file));
    if (!file.failed && !path.failed && strlen(path.ptr) == path.len)
        kept = arena_str(&cli->arena, buf_view(&path)).ptr;
    buf_free(&file);
    buf_free(&path);
    return kept;
}

static bool is_type(const struct json *action, const char *type)
{
    return str_is(json_str(json_get(action, "type")), type);
}

/* What is wrong with an action, or with what it names. */
static int blame(const struct plan_file *f, const struct json *action,
                 const char *what)
{
    wend_str name = json_str(json_get(action, "name"));
    int64_t line = 0, column = 0;

    json_i64(json_get(action, "line"), &line);
    json_i64(json_get(action, "column"), &column);
    return complain(EXIT_USAGE, "%s:%lld:%lld: action '%.*s': %s", f->path,
                    (long long)line, (long long)column, (int)name.len, name.ptr,
                    what);
}

static int blame_most(const struct plan_file *f, const struct json *action,
                      const char *what, int most)
{
    char text[64];

    snprintf(text, sizeof text, "%s; %d is the most", what, most);
    return blame(f, action, text);
}

/* a.yaml -> b.yaml -> a.yaml */
static int circle(struct loader *l, const struct plan_file *f,
                  const struct json *action, const struct plan_file *again)
{
    struct buf b = {.mem = l->cli->arena.mem};
    const struct plan_file *chain[CHILD_DEPTH_MAX + 1];
    int n = 0, code;

    for (const struct plan_file *o = f; o; o = o->outer) {
        chain[n++] = o;
        if (o == again)
            break;
    }
    buf_cstr(&b, "plans in a circle: ");
    while (n)
        buf_fmt(&b, "%s -> ", chain[--n]->path);
    buf_cstr(&b, again->path);
    code = b.failed ? complain(EXIT_FAILED, "out of memory")
                    : blame(f, action, b.ptr);
    buf_free(&b);
    return code;
}

static int load(struct loader *l, const char *path,
                const struct plan_file *outer, struct plan_file **out);

static int take_plan(struct loader *l, const struct plan_file *f,
                     const struct json *action, const char *path,
                     struct plan_named *n)
{
    const char *real = trust_real(path, &l->cli->arena);

    for (const struct plan_file *o = f; real && o; o = o->outer)
        if (!strcmp(o->real, real))
            return circle(l, f, action, o);
    if (f->depth == CHILD_DEPTH_MAX)
        return blame_most(f, action, "plans in plans, too deep",
                          CHILD_DEPTH_MAX);
    return load(l, path, f, &n->plan);
}

static int take_agent(struct loader *l, const struct plan_file *f,
                      const struct json *action, const char *path,
                      struct plan_named *n)
{
    wend_error err = {0};

    if (agent_open(l->cli, path, true, &n->agent, &err) != WEND_OK)
        return blame(f, action, err.message);
    return EXIT_DONE;
}

static bool is_known(const struct plan_file *f, const char *target)
{
    for (size_t i = 0; i < f->named_count; i++)
        if (!strcmp(f->named[i].target, target))
            return true;
    return false;
}

static int take_named(struct loader *l, struct plan_file *f,
                      const struct json *action)
{
    bool is_plan = is_type(action, "workflow");
    struct buf b = {.mem = l->cli->arena.mem};
    struct plan_named *n = &f->named[f->named_count];
    const char *path;

    if (!is_plan && !is_type(action, "agent"))
        return EXIT_DONE;
    n->target =
        arena_str(&l->cli->arena, json_str(json_get(action, "target"))).ptr;
    manifest_path(&b, str_of(f->path), str_of(n->target));
    path = buf_keep(&b, &l->cli->arena).ptr;
    if (!path || !n->target)
        return complain(EXIT_FAILED, "out of memory");
    if (is_known(f, n->target))
        return EXIT_DONE; /* the first one is it; the library sees the type */
    if (++l->files > PLAN_FILES_MAX)
        return blame_most(f, action, "too many files in all", PLAN_FILES_MAX);
    n->action = action;
    f->named_count++;
    return is_plan ? take_plan(l, f, action, path, n)
                   : take_agent(l, f, action, path, n);
}

/* A plan has at least one; NULL: out of memory. */
static const struct json *actions_of(struct cli *cli, wend_plan *plan)
{
    const struct json *list;
    wend_str text;

    if (wend_plan_describe(plan, WEND_PLAN_JSON, &text, NULL) != WEND_OK)
        return NULL;
    list = json_get(json_parse(text, &cli->arena, NULL), "actions");
    return list ? list->first : NULL;
}

/* Recursion is bounded by CHILD_DEPTH_MAX. */
static int load(struct loader *l, const char *path,
                const struct plan_file *outer, struct plan_file **out)
{
    struct arena *a = &l->cli->arena;
    struct plan_file *f = arena_alloc(a, sizeof *f);
    size_t count = 1;
    int code;

    if (!f)
        return complain(EXIT_FAILED, "out of memory");
    *out = f;
    f->path = path;
    f->outer = outer;
    f->depth = outer ? outer->depth + 1 : 0;
    f->real = trust_real(path, a);
    if (!f->real)
        f->real = path;    /* standard input, or it cannot be read either */
    l->cli->relics = NULL; /* those beside this one */
    l->cli->plan_tools = NULL;
    code = plan_load(l->cli, path, &f->plan);
    f->relics = l->cli->relics;
    f->tools = l->cli->plan_tools;
    if (code)
        return code;
    f->actions = actions_of(l->cli, f->plan);
    for (const struct json *j = f->actions; j; j = j->next)
        count++;
    f->named = arena_alloc(a, count * sizeof *f->named);
    if (!f->named || !f->actions)
        return complain(EXIT_FAILED, "out of memory");
    l->cli->set.inputs.count = 0; /* they were the outermost's */
    for (const struct json *j = f->actions; j && !code; j = j->next)
        code = take_named(l, f, j);
    return code;
}

int plan_files_load(struct cli *cli, const char *path, struct plan_file **out)
{
    struct loader l = {.cli = cli};

    *out = NULL;
    return load(&l, path, NULL, out);
}

void plan_files_free(struct plan_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->named_count; i++)
        plan_files_free(f->named[i].plan);
    wend_plan_free(f->plan);
}

/* One that names no model has its plan's. */
static bool agent_asks(const wend_manifest *m)
{
    bool asks = !m->options->model;

    for (size_t i = 0; !asks && i < m->agents_count; i++)
        asks = agent_asks(m->agents[i]);
    return asks;
}

int plan_files_unasked(const struct plan_file *f)
{
    int code = EXIT_DONE;

    for (const struct json *j = f->actions; j; j = j->next)
        if (is_type(j, "llm") &&
            str_is(json_str(json_get(j, "target")), "default"))
            return blame(f, j,
                         "it asks a model, and none is set: name one "
                         "with -m NAME, or as its target");
    for (size_t i = 0; !code && i < f->named_count; i++) {
        const struct plan_named *n = &f->named[i];

        if (n->plan)
            code = plan_files_unasked(n->plan);
        else if (agent_asks(n->agent))
            code = blame(f, n->action,
                         "its agent names no model, and none is "
                         "set: name one with -m NAME, or in the "
                         "agent's file");
    }
    return code;
}

/* One that there is already has it. */
static bool add_model(struct cli *cli, wend_str name)
{
    struct words *w = &cli->set.fallback;
    wend_str own = arena_str(&cli->arena, name);

    if (str_is(name, "default") || str_is(name, cli->set.model))
        return true;
    for (size_t i = 0; i < w->count; i++)
        if (str_is(name, w->items[i]))
            return true;
    return own.ptr && words_add(w, own.ptr, &cli->arena);
}

bool plan_files_models(struct cli *cli, const struct plan_file *f)
{
    bool added = true;

    for (const struct json *j = f->actions; added && j; j = j->next)
        if (is_type(j, "llm"))
            added = add_model(cli, json_str(json_get(j, "target")));
    for (size_t i = 0; added && i < f->named_count; i++)
        if (f->named[i].plan)
            added = plan_files_models(cli, f->named[i].plan);
    return added;
}

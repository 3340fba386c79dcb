/*
 * glob.c - the files whose paths match a pattern, sorted, one a line.
 */
#include "base/glob.h"

#include "base/fail.h"
#include "base/limits.h"
#include "host/walk.h"
#include "tools/tools.h"

enum {
    STEPS_MAX = 2000000000, /* of matching, some seconds */
};

struct globbing {
    struct arena arena;
    struct glob *glob;
    struct walk *walk;
    const wend_call *call;
    struct buf *out;
    bool dirs; /* the pattern ends with a slash: directories are meant */
    bool vcs;  /* it names a folder of version control */
    size_t shown, hidden;
};

/* Whether a folder of version control is a component of the pattern. */
static bool names_vcs(wend_str pattern)
{
    while (pattern.len) {
        size_t n = 0;

        while (n < pattern.len && !strchr("/{},", pattern.ptr[n]))
            n++;
        if (walk_is_vcs((wend_str){pattern.ptr, n}))
            return true;
        pattern = str_skip(pattern, n + (n < pattern.len));
    }
    return false;
}

/* False when no more fits. */
static bool put_path(struct globbing *g, const struct walk_entry *e)
{
    size_t before = g->out->len;

    if (g->shown == LIST_ENTRIES_MAX)
        return false;
    tool_put_name(g->out, e->path);
    buf_cstr(g->out, g->dirs ? "/\n" : "\n");
    if (!tool_fits(g->out, before))
        return false;
    g->shown++;
    return true;
}

/* Whether the entry is shown; enters a directory only if it may help. */
static bool is_wanted(struct globbing *g, const struct walk_entry *e)
{
    bool dir = e->kind == WALK_DIR;
    bool hidden = dir && !g->vcs && walk_is_vcs(e->name);

    if (dir && (hidden || !glob_leads(g->glob, e->rest)))
        walk_skip(g->walk);
    if (dir != g->dirs || hidden || !glob_match(g->glob, e->rest))
        return false;
    hidden = !call_names_file(g->call, e->path);
    g->hidden += hidden;
    return !hidden;
}

static wend_status look(struct globbing *g, wend_error *err)
{
    struct walk_entry e;
    wend_status s;

    while (!(s = walk_next(g->walk, &e))) {
        if (tool_canceled(g->call, err))
            return WEND_E_BUSY;
        if (glob_steps(g->glob) > STEPS_MAX)
            return fail(err, WEND_E_LIMIT,
                        "pattern: it takes too long; make it simpler");
        if (!is_wanted(g, &e))
            continue;
        if (!put_path(g, &e)) {
            buf_fmt(g->out, "[the first %zu are shown; there are more]\n",
                    g->shown);
            return WEND_OK;
        }
        if (g->out->failed)
            return fail_nomem(err);
    }
    if (s != WEND_END)
        return fail_nomem(err);
    if (!g->shown)
        buf_cstr(g->out, "[no matches]\n");
    tool_put_kept(g->out, g->hidden, 0);
    tool_put_gaps(g->out, g->walk);
    return WEND_OK;
}

wend_status glob_text(int root_fd, wend_str pattern, wend_str path,
                      const wend_call *call, struct buf *out, wend_error *err)
{
    struct globbing g = {.arena = {.mem = out->mem},
                         .call = call,
                         .out = out,
                         .vcs = names_vcs(pattern)};
    wend_status s;

    while (str_starts(pattern, "./"))
        pattern = str_skip(pattern, 2);
    if (str_starts(pattern, "/"))
        return fail(err, WEND_E_INVAL,
                    "pattern: it begins with a slash; it must be relative to "
                    "path");
    while (pattern.len > 1 && pattern.ptr[pattern.len - 1] == '/') {
        g.dirs = true;
        pattern.len--;
    }
    s = glob_compile(pattern, &g.arena, &g.glob, err);
    if (!s)
        s = walk_open(out->mem, root_fd, path, &g.walk, err);
    if (!s)
        s = look(&g, err);
    walk_free(g.walk);
    arena_free(&g.arena);
    return s;
}

wend_status tool_glob(void *env, wend_call *call)
{
    const struct tool_env *t = env;
    struct tool_job j;
    wend_str pattern = STR_NONE, path = STR(".");
    wend_status s = tool_begin(
        &j, call,
        TOOL_ARGS({"pattern", .str = &pattern}, {"path", .str = &path}));

    if (!s)
        s = glob_text(t->root_fd, pattern, path, call, &j.out, &j.err);
    return tool_end(&j, call, s);
}

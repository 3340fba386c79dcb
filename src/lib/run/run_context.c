/*
 * run_context.c - what a new run records about its surroundings: the date, git
 * and the notes of the project.
 */
#include "lib/run/run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/json.h"
#include "core/turn/verdict.h"
#include "host/file.h"
#include "host/project.h"
#include "lib/agent/agent.h"
#include "lib/run/shell.h"

enum { CONTEXT_FILE_MAX = 1 << 20 };

/* The day as the user's calendar has it. */
static void put_date(struct buf *json, int64_t now_us)
{
    time_t seconds = (time_t)(now_us / 1000000);
    char day[32];
    struct tm tm;

    if (localtime_r(&seconds, &tm) &&
        strftime(day, sizeof day, "%Y-%m-%d", &tm))
        json_add_str(json, "date", str_of(day));
}

static void tell_troubles(struct wend_run *r, wend_str lines)
{
    wend_str line;

    while (str_line(&lines, &line))
        run_warn(r, "notes", "notes of the project are left out: %.*s",
                 (int)line.len, line.ptr);
}

/* A rule keeps names of files from the model, and git does not know it. */
static bool hides_names(struct wend_run *r)
{
    const struct path_view *v;
    struct turn t;

    turn_init(&t);
    t.config = r->agent->configs[r->mode];
    v = policy_view(&t, &r->arena);
    return !v || v->hides;
}

/* Git works while the notes are read. A simulation has no real programs. */
static struct git_status *status_start(struct wend_run *r)
{
    const wend_agent *a = r->agent;

    if (a->sandbox_off || r->rt->env != &env_real || hides_names(r))
        return NULL;
    return git_status_start(&r->rt->mem, a->root.ptr, GIT_STATUS_MS);
}

static wend_str context_now(struct wend_run *r)
{
    const wend_agent *a = r->agent;
    struct git_status *status = status_start(r);
    struct buf json = {.mem = &r->rt->mem}, trouble = {.mem = &r->rt->mem};
    wend_str out;

    json_open(&json, NULL, '{');
    put_date(&json, shell_now(r));
    project_read(a->root.ptr, a->project == WEND_PROJECT_TRUSTED, status, &json,
                 &trouble);
    git_status_free(status);
    json_close(&json, '}');
    tell_troubles(r, buf_view(&trouble));
    out = arena_str(&r->arena, agent_blank(a, buf_view(&json), &r->arena));
    r->arena.failed |= json.failed || trouble.failed;
    buf_free(&json);
    buf_free(&trouble);
    return out;
}

/* A recording is played on another day, in another state of the project, and
 * its requests must be the same: the context is on the tape. */
static wend_status context_of_tape(struct wend_run *r, const char *path,
                                   wend_str *out, wend_error *err)
{
    struct buf b = {.mem = &r->rt->mem};
    wend_status s = file_read(path, CONTEXT_FILE_MAX, &b, err);

    if (s == WEND_OK && !json_parse(buf_view(&b), &r->arena, NULL))
        s = fail(err, WEND_E_PARSE, "%s is not JSON", path);
    if (s == WEND_OK)
        *out = arena_str(&r->arena, buf_view(&b));
    buf_free(&b);
    return s;
}

static wend_status keep_on_tape(const char *path, wend_str context,
                                wend_error *err)
{
    int fd = -1;
    wend_status s = file_create(path, &fd, err);

    if (s == WEND_OK) {
        s = file_append(fd, path, context, err);
        file_close(fd);
    }
    return s;
}

wend_status run_context(struct wend_run *r, wend_str *out, wend_error *err)
{
    const wend_agent *a = r->agent;
    struct buf path = {.mem = &r->rt->mem};
    wend_status s = WEND_OK;

    if (a->project != WEND_PROJECT_ON && a->project != WEND_PROJECT_TRUSTED)
        return WEND_OK;
    if (a->tape_dir.ptr)
        buf_fmt(&path, "%s/context.json", a->tape_dir.ptr);
    if (path.failed)
        s = fail_nomem(err);
    else if (path.len && file_exists(path.ptr))
        s = context_of_tape(r, path.ptr, out, err);
    else if (!a->tape_plays)
        *out = context_now(r);
    if (s == WEND_OK && out->ptr && path.len && !file_exists(path.ptr))
        s = keep_on_tape(path.ptr, *out, err);
    buf_free(&path);
    return s;
}

void run_warn_tools(struct wend_run *r)
{
    const struct config *c = r->agent->configs[r->mode];

    if (c && c->frame.tools_cut)
        run_warn(r, "tools_cut",
                 "the window has %lld tokens: descriptions of tools are cut by "
                 "%lld bytes; offer fewer tools, or use a model with a larger "
                 "window",
                 (long long)c->models[0].context_tokens,
                 (long long)c->frame.tools_cut);
}

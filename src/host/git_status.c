/*
 * git_status.c - which files of a repository are changed, as git says.
 *
 * Git has a loop of its own: a caller that waits for it serves nothing else,
 * so that no callback of the host can come in between.
 */
#include "host/git_status.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/utf8.h"
#include "host/proc/proc.h"
#include "host/project.h"

enum {
    OUTPUT_BYTES_MAX = 1 << 20, /* more changes than anyone wants counted */
    STATUS_BYTES = 3,           /* `XY ` before each name */
};

struct git_status {
    struct mem mem;
    struct loop *loop;
    struct procs *procs;
    struct proc *proc;
    struct buf out;
    int64_t until_ms;
    bool over, ok;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- The program --------------------------------------------------------- */

static void on_out(void *ctx, int stream, const char *p, size_t len)
{
    struct git_status *g = ctx;

    if (stream == 1)
        buf_add(&g->out, p, len);
}

static void on_end(void *ctx, const struct proc_end *end)
{
    struct git_status *g = ctx;

    g->over = true;
    g->ok = end->how == PROC_EXITED && !end->code;
}

/* The folder is named, so that neither the config nor the environment can lead
 * git elsewhere. Options that name programs are off, though none could start;
 * submodules have configs of their own. */
static bool start(struct git_status *g, const char *root,
                  const char *const *readable, int64_t time_ms)
{
    static const char *const argv[] = {
        "git",
        "--git-dir=.git",
        "--work-tree=.",
        "--no-pager",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.untrackedCache=false",
        "-c",
        "core.attributesFile=/dev/null",
        "-c",
        "protocol.allow=never",
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--no-ahead-behind",
        "--untracked-files=normal",
        "--ignore-submodules=all",
        NULL,
    };
    static const char *const env[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "HOME=/nonexistent",
        "LC_ALL=C",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_CONFIG_GLOBAL=/dev/null",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_TERMINAL_PROMPT=0",
        NULL,
    };
    static const struct proc_events events = {on_out, on_end};
    const struct proc_spec spec = {
        .argv = argv,
        .cwd = root,
        .env = env,
        .readable = readable,
        .alone = true,
        .git_writable = true, /* nothing is: there is no config to guard */
        .deadline_ms = time_ms,
        .grace_ms = 1,
        .output_bytes_max = OUTPUT_BYTES_MAX,
    };

    return loop_new(&g->mem, &g->loop, NULL) == WEND_OK &&
           procs_new(&g->mem, g->loop, &g->procs, NULL) == WEND_OK &&
           proc_start(g->procs, &spec, &events, g, &g->proc, NULL) == WEND_OK;
}

struct git_status *git_status_start(const struct mem *m, const char *cwd,
                                    int64_t time_ms)
{
    char root[PATH_MAX], folder[PATH_MAX], common[PATH_MAX];
    const char *readable[] = {root, folder, common, NULL};
    size_t len = project_root(cwd);
    struct git_status *g;

    if (!len || len >= sizeof root)
        return NULL;
    snprintf(root, sizeof root, "%.*s", (int)len, cwd);
    if (!project_git(root, folder, common, m))
        return NULL;
    g = mem_zalloc(m, sizeof *g);
    if (!g)
        return NULL;
    g->mem = *m;
    g->out.mem = &g->mem;
    g->until_ms = now_ms() + time_ms;
    if (start(g, root, readable, time_ms))
        return g;
    git_status_free(g);
    return NULL;
}

void git_status_free(struct git_status *g)
{
    struct mem m;

    if (!g)
        return;
    m = g->mem;
    proc_free(g->proc);
    procs_free(g->procs);
    loop_free(g->loop);
    buf_free(&g->out);
    mem_free(&m, g);
}

/* ---- What it says -------------------------------------------------------- */

/* Its output ends each entry, `XY NAME`, with a NUL. */
static bool next_entry(wend_str *rest, wend_str *entry)
{
    const char *end = rest->len ? memchr(rest->ptr, 0, rest->len) : NULL;

    if (!end)
        return false;
    *entry = (wend_str){rest->ptr, (size_t)(end - rest->ptr)};
    *rest = str_skip(*rest, entry->len + 1);
    return true;
}

static void put_entry(struct buf *json, wend_str entry)
{
    struct buf text = {.mem = json->mem};

    utf8_repair(&text, entry);
    json_add_str(json, NULL, buf_view(&text));
    json->failed |= text.failed;
    buf_free(&text);
}

static void put_files(struct buf *json, wend_str rest)
{
    size_t named = 0, bytes = 0;
    int64_t more = 0;
    wend_str entry;

    json_open(json, "dirty", '[');
    while (next_entry(&rest, &entry)) {
        if (entry.len <= STATUS_BYTES)
            continue;
        bytes += entry.len;
        if (more || named == GIT_STATUS_FILES || bytes > GIT_STATUS_NAMES) {
            more++;
            continue;
        }
        named++;
        put_entry(json, entry);
    }
    json_close(json, ']');
    if (more)
        json_add_i64(json, "dirty_more", more);
}

void git_status_put(struct git_status *g, struct buf *json)
{
    int64_t left;

    if (!g)
        return;
    while (!g->over && (left = g->until_ms - now_ms()) > 0)
        loop_turn(g->loop, (int)left);
    json->failed |= g->out.failed;
    if (g->ok && g->out.len)
        put_files(json, buf_view(&g->out));
}

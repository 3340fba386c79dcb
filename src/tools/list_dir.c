/*
 * list_dir.c - what is in a directory, sorted, one entry a line.
 *
 * A name may hold any bytes: what is not plain text is escaped, so that no
 * name can look like two entries.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "host/path.h"
#include "tools/tools.h"

enum {
    NOTE_BYTES = 128,          /* kept free for the note */
    SCAN_ENTRIES_MAX = 100000, /* sorted, to show the first of them */
};

struct dir_listing {
    const wend_call *call;
    struct arena arena; /* names */
    struct buf names;   /* an array of pointers to them */
    struct buf line;
    wend_str dir;  /* as the call names it */
    size_t hidden; /* entries, by rules */
    bool more;     /* than SCAN_ENTRIES_MAX */
};

/* ---- One entry ----------------------------------------------------------- */

static const char *special_name(mode_t mode)
{
    return S_ISFIFO(mode) ? "fifo" : S_ISSOCK(mode) ? "socket" : "device";
}

/* Whether a name in the directory, or the target of a link, may be shown. */
static bool may_tell(const struct dir_listing *l, wend_str name)
{
    char path[PATH_MAX];
    int len;

    if (!call_hides_files(l->call))
        return true;
    if (name.len && name.ptr[0] == '/')
        return call_names_file(l->call, name);
    len = snprintf(path, sizeof path, "%.*s/%.*s", (int)l->dir.len, l->dir.ptr,
                   (int)name.len, name.ptr);
    return len > 0 && (size_t)len < sizeof path &&
           call_names_file(l->call, (wend_str){path, (size_t)len});
}

static void put_link(const struct dir_listing *l, struct buf *out,
                     wend_str target)
{
    buf_cstr(out, " -> ");
    if (may_tell(l, target))
        tool_put_name(out, target);
    else
        buf_cstr(out, "[left out: a rule denies reading it]");
}

static void put_entry(const struct dir_listing *l, struct buf *out, int dir,
                      const char *name)
{
    char target[PATH_MAX];
    struct stat st;
    ssize_t len;

    tool_put_name(out, str_of(name));
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        buf_cstr(out, "\t?"); /* gone meanwhile */
    } else if (S_ISDIR(st.st_mode)) {
        buf_char(out, '/');
    } else if (S_ISLNK(st.st_mode)) {
        len = readlinkat(dir, name, target, sizeof target);
        put_link(l, out, (wend_str){target, len > 0 ? (size_t)len : 0});
    } else if (S_ISREG(st.st_mode)) {
        buf_fmt(out, "\t%lld", (long long)st.st_size);
    } else {
        buf_fmt(out, "\t%s", special_name(st.st_mode));
    }
    buf_char(out, '\n');
}

/* ---- All of them --------------------------------------------------------- */

static wend_status collect(struct dir_listing *l, DIR *d, size_t *count,
                           wend_error *err)
{
    const struct dirent *e;
    const char *name;

    *count = 0;
    for (;;) {
        if (tool_canceled(l->call, err))
            return WEND_E_BUSY;
        errno = 0;
        do
            e = readdir(d); /* each stream belongs to one thread */
        while (e && path_is_dots(e->d_name));
        if (!e)
            break;
        if (*count == SCAN_ENTRIES_MAX) {
            l->more = true;
            return WEND_OK;
        }
        if (!may_tell(l, str_of(e->d_name))) {
            l->hidden++;
            continue;
        }
        name = arena_str(&l->arena, str_of(e->d_name)).ptr;
        buf_add(&l->names, (const char *)&name, sizeof name);
        if (!name || l->names.failed)
            return fail_nomem(err);
        ++*count;
    }
    return errno ? fail(err, WEND_E_IO, "cannot list: error %d", errno)
                 : WEND_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static wend_status list_open(struct dir_listing *l, DIR *d, struct buf *out,
                             wend_error *err)
{
    const size_t bytes_max = OUTPUT_BYTES_MAX - NOTE_BYTES;
    size_t count, shown = 0;
    char **names;
    wend_status s = collect(l, d, &count, err);

    if (s)
        return s;
    if (!count)
        buf_cstr(out, "[no entries]\n");
    names = (char **)(void *)l->names.ptr;
    if (count)
        qsort(names, count, sizeof *names, by_bytes);
    for (; shown < count && shown < LIST_ENTRIES_MAX; shown++) {
        buf_clear(&l->line);
        put_entry(l, &l->line, dirfd(d), names[shown]);
        if (l->line.failed)
            return fail_nomem(err);
        if (l->line.len > bytes_max - out->len)
            break;
        buf_str(out, buf_view(&l->line));
    }
    if (shown < count)
        buf_fmt(out, "[%zu of %s%zu entries shown]\n", shown,
                l->more ? "more than " : "", count);
    tool_put_kept(out, l->hidden, 0);
    return WEND_OK;
}

/* A path that is not found as a directory may be a file. */
static void explain(int root_fd, wend_str path, wend_error *err)
{
    int fd = path_open(root_fd, path, O_PATH, 0, NULL);

    if (fd < 0)
        return;
    fail(err, WEND_E_NOTFOUND, "'%.*s' is not a directory; use read_file",
         tool_shown(path), path.ptr);
    close(fd);
}

wend_status list_dir_text(int root_fd, wend_str path, const wend_call *call,
                          struct buf *out, wend_error *err)
{
    struct dir_listing l = {.call = call,
                            .dir = path,
                            .arena = {.mem = out->mem},
                            .names = {.mem = out->mem},
                            .line = {.mem = out->mem}};
    int fd = path_open(root_fd, path, O_RDONLY | O_DIRECTORY, 0, err);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    wend_status s = fd < 0 ? (wend_status)fd : WEND_OK;

    if (d)
        s = list_open(&l, d, out, err);
    else if (!s)
        s = fail(err, WEND_E_IO, "cannot list: error %d", errno);
    else if (s == WEND_E_NOTFOUND)
        explain(root_fd, path, err);
    if (d)
        closedir(d); /* and with it fd */
    else if (fd >= 0)
        close(fd);
    buf_free(&l.line);
    buf_free(&l.names);
    arena_free(&l.arena);
    return s;
}

wend_status tool_list_dir(void *env, wend_call *call)
{
    const struct tool_env *e = env;
    struct tool_job j;
    wend_str path = STR(".");
    wend_status s = tool_begin(&j, call, TOOL_ARGS({"path", .str = &path}));

    if (!s)
        s = list_dir_text(e->root_fd, path, call, &j.out, &j.err);
    return tool_end(&j, call, s);
}

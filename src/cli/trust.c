/*
 * trust.c - remembers which manifests were accepted, with their content.
 *
 * The file is replaced atomically, under a lock on its directory: a reader
 * sees the old or the new one.
 */
#include "cli/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/config.h"
#include "cli/term.h"

enum {
    LOCK_TRIES = 100, /* two seconds in all */
    LOCK_WAIT_MS = 20,
    NAME_COLUMNS = 200, /* of a file name in a list of changes */
};

/* ---- Where it is --------------------------------------------------------- */

static wend_status folder_path(struct buf *out, wend_error *err)
{
    if (!data_folder(out))
        return fail(err, WEND_E_INVAL,
                    "HOME is not set, so accepted files cannot be remembered");
    return WEND_OK;
}

const char *trust_real(const char *path, struct arena *a)
{
    char *real = realpath(path, NULL);
    wend_str kept = real ? arena_str(a, str_of(real)) : STR_NONE;

    free(real);
    return kept.ptr;
}

/* ---- Reading ------------------------------------------------------------- */

static wend_status read_lines(struct arena *a, wend_str *text, wend_error *err)
{
    struct buf path = {.mem = a->mem}, b = {.mem = a->mem};
    wend_status s = folder_path(&path, err);

    if (s)
        return s;
    buf_cstr(&path, "/trusted");
    s = data_file_read(path.ptr, &b, err);
    *text = buf_view(&b);
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

struct trust_line {
    wend_str sum, path;
    bool part; /* belongs to the manifest before it */
};

/* The next valid line; false at the end. */
static bool next_line(wend_str *text, struct trust_line *out)
{
    wend_str line;

    while (str_line(text, &line)) {
        out->part = line.len && line.ptr[0] == '\t';
        if (out->part)
            line = (wend_str){line.ptr + 1, line.len - 1};
        if (line.len <= SHA256_HEX + 1 || line.ptr[SHA256_HEX] != ' ')
            continue;
        out->sum = (wend_str){line.ptr, SHA256_HEX};
        out->path =
            (wend_str){line.ptr + SHA256_HEX + 1, line.len - SHA256_HEX - 1};
        return true;
    }
    return false;
}

wend_status trust_each(struct arena *a,
                       void (*fn)(void *ctx, wend_str sum, wend_str path),
                       void *ctx, wend_error *err)
{
    struct trust_line line;
    wend_str text;
    wend_status s = read_lines(a, &text, err);

    while (!s && next_line(&text, &line))
        if (!line.part)
            fn(ctx, line.sum, line.path);
    return s;
}

struct trust_wanted {
    const char *path, *sum;
    bool found;
};

static void look(void *ctx, wend_str sum, wend_str path)
{
    struct trust_wanted *w = ctx;

    if (str_is(path, w->path))
        w->found = str_is(sum, w->sum);
}

wend_status trust_has(const char *path, const char *sum, struct arena *a,
                      bool *yes, wend_error *err)
{
    struct trust_wanted w = {path, sum, false};
    wend_status s = trust_each(a, look, &w, err);

    *yes = !s && w.found;
    return s;
}

/* ---- What changed -------------------------------------------------------- */

static void put_name(struct buf *out, wend_str name, const char *how)
{
    buf_cstr(out, out->len ? ", " : "");
    term_line(out, name, NAME_COLUMNS);
    buf_cstr(out, how);
}

static const wend_manifest_file *file_of(const wend_manifest *m, wend_str name)
{
    for (size_t i = 0; i < m->files_count; i++)
        if (str_is(name, m->files[i].name))
            return &m->files[i];
    return NULL;
}

/* The lines of one manifest, starting with its first part. */
static void put_changes(struct buf *out, wend_str text, const wend_manifest *m)
{
    wend_str rest = text;
    struct trust_line line;
    bool any = false;

    while (next_line(&rest, &line) && line.part) {
        const wend_manifest_file *p = file_of(m, line.path);

        any = true;
        if (!p)
            put_name(out, line.path, " (gone)");
        else if (!str_is(line.sum, p->sum))
            put_name(out, line.path, "");
    }
    for (size_t i = 0; any && i < m->files_count; i++) {
        bool known = false;

        rest = text;
        while (!known && next_line(&rest, &line) && line.part)
            known = str_is(line.path, m->files[i].name);
        if (!known)
            put_name(out, str_of(m->files[i].name), " (new)");
    }
}

wend_status trust_changes(const char *path, const wend_manifest *m,
                          struct arena *a, struct buf *out, wend_error *err)
{
    struct trust_line line;
    wend_str text;
    wend_status s = read_lines(a, &text, err);

    while (!s && next_line(&text, &line))
        if (!line.part && str_is(line.path, path))
            put_changes(out, text, m);
    return s;
}

/* ---- Writing ------------------------------------------------------------- */

static wend_status lock_folder(const char *folder, int *fd, wend_error *err)
{
    const struct timespec wait = {0, LOCK_WAIT_MS * 1000000L};

    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return fail(err, WEND_E_IO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
            return WEND_OK;
        nanosleep(&wait, NULL);
    }
    close(*fd);
    *fd = -1;
    return fail(err, WEND_E_BUSY, "%s: another wend process is writing to it",
                folder);
}

/* The directory is locked, so one name for the new file is enough. */
static wend_status replace(int folder, wend_str text, wend_error *err)
{
    int fd;
    bool ok;

    unlinkat(folder, "trusted.new", 0); /* left by a process that died */
    fd = openat(folder, "trusted.new",
                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    ok = fd >= 0 && write_all(fd, text) && fsync(fd) == 0;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && renameat(folder, "trusted.new", folder, "trusted") == 0;
    return ok ? WEND_OK
              : fail(err, WEND_E_IO, "cannot save the accepted files: %s",
                     strerror(errno));
}

/* Copies all lines except those of `path`; *had: there were some. */
static void keep_others(struct buf *out, wend_str text, const char *path,
                        bool *had)
{
    bool mine = false;
    struct trust_line line;

    while (next_line(&text, &line)) {
        if (!line.part)
            mine = str_is(line.path, path);
        *had |= mine;
        if (mine)
            continue;
        buf_cstr(out, line.part ? "\t" : "");
        buf_str(out, line.sum);
        buf_char(out, ' ');
        buf_str(out, line.path);
        buf_char(out, '\n');
    }
}

/* Replaces the lines of `path` by `lines`. */
static wend_status change(const char *path, wend_str lines, struct arena *a,
                          bool *had, wend_error *err)
{
    struct buf folder = {.mem = a->mem}, out = {.mem = a->mem};
    wend_str text;
    wend_status s = folder_path(&folder, err);
    int fd = -1;

    *had = false;
    if (!s)
        s = data_folder_make(&folder, err);
    if (!s)
        s = lock_folder(folder.ptr, &fd, err);
    if (!s)
        s = read_lines(a, &text, err);
    if (!s) {
        keep_others(&out, text, path, had);
        buf_str(&out, lines);
        s = replace(fd, buf_view(&out), err);
    }
    if (fd >= 0)
        close(fd); /* and with it the lock */
    return s;
}

wend_status trust_add(const char *path, const wend_manifest *m, struct arena *a,
                      wend_error *err)
{
    struct buf lines = {.mem = a->mem};
    const char *name = path;
    bool had;

    buf_fmt(&lines, "%s %s\n", m->sum, path);
    for (size_t i = 0; i < m->files_count && !strchr(name, '\n'); i++) {
        name = m->files[i].name;
        buf_fmt(&lines, "\t%s %s\n", m->files[i].sum, name);
    }
    return strchr(name, '\n')
               ? fail(err, WEND_E_INVAL,
                      "a path that contains a line break cannot be accepted")
               : change(path, buf_view(&lines), a, &had, err);
}

wend_status trust_remove(const char *path, struct arena *a, wend_error *err)
{
    bool had;
    wend_status s = change(path, STR(""), a, &had, err);

    if (s || had)
        return s;
    return fail(err, WEND_E_NOTFOUND,
                "%s was not accepted; 'wend trust "
                "--list' shows what was",
                path);
}

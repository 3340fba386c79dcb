/*
 * trust.c - remembers which manifests and stores the user accepted.
 *
 * The file of manifests is replaced atomically, under a lock on its directory:
 * a reader sees the old or the new one.
 */
#include "cli/trust.h"

#include <dirent.h>
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
    STORE_ID_LEN = 32,
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

wend_status trust_has(const char *path, const char *sum, struct arena *a,
                      bool *yes, wend_error *err)
{
    struct trust_line line;
    wend_str text;
    wend_status s = read_lines(a, &text, err);

    *yes = false;
    while (!s && next_line(&text, &line))
        if (!line.part && str_is(line.path, path))
            *yes = str_is(line.sum, sum);
    return s;
}

/* ---- Folders ------------------------------------------------------------- */

static const char folder_sum[] =
    "0000000000000000000000000000000000000000000000000000000000000000";

bool trust_is_folder(wend_str sum)
{
    return str_is(sum, folder_sum);
}

/* A manifest speaks for its own folder, and for all of a repository if that
 * begins there. */
static bool covers(const struct trust_line *line, wend_str cwd, struct arena *a)
{
    struct buf git = {.mem = a->mem};
    wend_str folder = line->path;
    bool whole = trust_is_folder(line->sum);

    while (!whole && folder.len && folder.ptr[folder.len - 1] != '/')
        folder.len--;
    while (folder.len > 1 && folder.ptr[folder.len - 1] == '/')
        folder.len--;
    if (!folder.len || cwd.len < folder.len ||
        memcmp(cwd.ptr, folder.ptr, folder.len))
        return false;
    if (cwd.len == folder.len)
        return true;
    if (folder.len > 1 && cwd.ptr[folder.len] != '/')
        return false;
    if (!whole) {
        buf_str(&git, folder);
        buf_cstr(&git, "/.git");
        whole = !git.failed && access(git.ptr, F_OK) == 0;
        buf_free(&git);
    }
    return whole;
}

bool trust_folder(struct arena *a)
{
    const char *cwd = trust_real(".", a);
    struct trust_line line;
    wend_str text;

    if (!cwd || read_lines(a, &text, NULL) != WEND_OK)
        return false;
    while (next_line(&text, &line))
        if (!line.part && covers(&line, str_of(cwd), a))
            return true;
    return false;
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

wend_status trust_add_folder(const char *path, struct arena *a, wend_error *err)
{
    return trust_add(path, &(wend_manifest){.sum = folder_sum}, a, err);
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

/* ---- Stores -------------------------------------------------------------- */

static wend_status stores_path(struct buf *out, wend_error *err)
{
    if (!data_folder(out))
        return fail(err, WEND_E_NOTFOUND,
                    "HOME is not set, so your stores cannot be remembered");
    buf_cstr(out, "/stores");
    return data_file_check(out->ptr, err);
}

/* The id comes from an untrusted file and becomes a file name. */
static bool is_id(const char *id)
{
    return strlen(id) == STORE_ID_LEN &&
           strspn(id, "0123456789abcdef") == STORE_ID_LEN;
}

wend_status stores_have(const char *id, struct arena *a, bool *yes,
                        wend_error *err)
{
    struct buf path = {.mem = a->mem};
    wend_status s = stores_path(&path, err);

    buf_fmt(&path, "/%s", id);
    *yes = s == WEND_OK && is_id(id) && access(path.ptr, F_OK) == 0;
    return s;
}

static const char *const hows[] = {
    [STORES_MADE] = "made ",
    [STORES_ACCEPTED] = "accepted ",
};

static bool write_file(const char *name, wend_str text)
{
    int fd =
        open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len;

    return fd >= 0 && close(fd) == 0 && ok;
}

wend_status stores_add(const char *id, const char *path, enum stores_how how,
                       struct arena *a, wend_error *err)
{
    const char *real = trust_real(path, a);
    struct buf name = {.mem = a->mem}, text = {.mem = a->mem};
    wend_status s = stores_path(&name, err);

    if (s == WEND_OK && !is_id(id))
        s = fail(err, WEND_E_INVAL, "store %s: damaged id", path);
    if (s == WEND_OK)
        s = data_folder_make(&name, err);
    if (s != WEND_OK)
        return s;
    buf_fmt(&name, "/%s", id);
    buf_fmt(&text, "%s%s", hows[how], real ? real : path);
    return write_file(name.ptr, buf_view(&text))
               ? WEND_OK
               : fail(err, WEND_E_IO,
                      "cannot remember that store %s is yours: %s", path,
                      strerror(errno));
}

static bool give(int folder, const char *id, stores_fn fn, void *ctx)
{
    char text[4200];
    int fd = openat(folder, id, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : 0;
    wend_str all = {text, n > 0 ? (size_t)n : 0};
    size_t skip = 0;
    int how = STORES_ACCEPTED;

    if (fd >= 0)
        close(fd);
    while (how > STORES_MADE && !str_starts(all, hows[how]))
        how--;
    if (str_starts(all, hows[how]))
        skip = strlen(hows[how]);
    return fn(ctx, id, (enum stores_how)how,
              (wend_str){all.ptr + skip, all.len - skip});
}

wend_status stores_each(struct arena *a, stores_fn fn, void *ctx,
                        wend_error *err)
{
    struct buf path = {.mem = a->mem};
    wend_status s = stores_path(&path, err);
    DIR *folder = s == WEND_OK ? opendir(path.ptr) : NULL;
    const struct dirent *e;
    bool more = true;

    while (folder && more && (e = readdir(folder)))
        if (is_id(e->d_name))
            more = give(dirfd(folder), e->d_name, fn, ctx);
    if (folder)
        closedir(folder);
    return s;
}

struct store_wanted {
    const char *path;
    char id[STORE_ID_LEN + 1];
};

static bool is_wanted(void *ctx, const char *id, enum stores_how how,
                      wend_str path)
{
    struct store_wanted *w = ctx;

    (void)how;
    if (!str_is(path, w->path))
        return true;
    snprintf(w->id, sizeof w->id, "%s", id);
    return false;
}

wend_status stores_remove(const char *path, struct arena *a, wend_error *err)
{
    struct buf name = {.mem = a->mem};
    struct store_wanted w = {.path = path};
    wend_status s = stores_path(&name, err);

    if (s == WEND_OK)
        s = stores_each(a, is_wanted, &w, err);
    if (s == WEND_OK && !w.id[0])
        s = fail(err, WEND_E_NOTFOUND,
                 "%s was not accepted; 'wend trust --list' shows what was",
                 path);
    buf_fmt(&name, "/%s", w.id);
    if (s == WEND_OK && unlink(name.ptr))
        s = fail(err, WEND_E_IO, "%s: %s", name.ptr, strerror(errno));
    return s;
}

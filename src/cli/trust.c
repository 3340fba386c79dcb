/*
 * trust.c - which manifests were accepted, and with which content.
 *
 * The file is replaced as a whole, under a lock on its folder, so that a
 * reader sees the old one or the new one.
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

enum { LOCK_TRIES = 100, LOCK_WAIT_MS = 20 }; /* two seconds in all */

/* ---- Where it is --------------------------------------------------------- */

static wend_status folder_path(struct buf *out, wend_error *err)
{
    if (!data_folder(out))
        return fail(err, WEND_E_INVAL,
                    "HOME is not set, so there is no place for what was "
                    "accepted");
    return out->failed ? fail_nomem(err) : WEND_OK;
}

const char *trust_real(const char *path, struct arena *a)
{
    char *real = realpath(path, NULL);
    wend_str kept = real ? arena_str(a, str_of(real)) : STR_NONE;

    free(real);
    return kept.ptr;
}

/* ---- Reading ------------------------------------------------------------- */

static wend_status read_lines(const char *folder, struct arena *a,
                              wend_str *text, wend_error *err)
{
    struct buf path = {.mem = a->mem}, b = {.mem = a->mem};
    wend_status s;

    *text = STR("");
    buf_fmt(&path, "%s/trusted", folder);
    s = path.failed ? fail_nomem(err) : data_file_check(path.ptr, err);
    if (!s)
        s = config_read(path.ptr, &b, err);
    if (!s) {
        *text = arena_str(a, buf_view(&b));
        s = text->ptr ? WEND_OK : fail_nomem(err);
    }
    buf_free(&path);
    buf_free(&b);
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

/* The next line that is one of ours; false at the end. */
static bool next_line(wend_str *text, wend_str *sum, wend_str *path)
{
    while (text->len) {
        const char *feed = memchr(text->ptr, '\n', text->len);
        wend_str line = {text->ptr,
                         feed ? (size_t)(feed - text->ptr) : text->len};
        size_t taken = line.len + (feed != NULL);

        *text = (wend_str){text->ptr + taken, text->len - taken};
        if (line.len <= SHA256_HEX + 1 || line.ptr[SHA256_HEX] != ' ')
            continue;
        *sum = (wend_str){line.ptr, SHA256_HEX};
        *path =
            (wend_str){line.ptr + SHA256_HEX + 1, line.len - SHA256_HEX - 1};
        return true;
    }
    return false;
}

wend_status trust_each(struct arena *a,
                       void (*fn)(void *ctx, wend_str sum, wend_str path),
                       void *ctx, wend_error *err)
{
    struct buf folder = {.mem = a->mem};
    wend_str text, sum, path;
    wend_status s = folder_path(&folder, err);

    if (!s)
        s = read_lines(folder.ptr, a, &text, err);
    while (!s && next_line(&text, &sum, &path))
        fn(ctx, sum, path);
    buf_free(&folder);
    return s;
}

struct wanted {
    const char *path, *sum;
    bool found;
};

static void look(void *ctx, wend_str sum, wend_str path)
{
    struct wanted *w = ctx;

    if (str_is(path, w->path))
        w->found = str_is(sum, w->sum);
}

wend_status trust_has(const char *path, const char *sum, struct arena *a,
                      bool *yes, wend_error *err)
{
    struct wanted w = {path, sum, false};
    wend_status s = trust_each(a, look, &w, err);

    *yes = !s && w.found;
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
    return fail(err, WEND_E_BUSY, "%s: another wend is writing there", folder);
}

static bool write_all(int fd, wend_str text)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            text = (wend_str){text.ptr + n, text.len - (size_t)n};
    }
    return true;
}

/* Under the folder's lock, so that one name for the new file is enough. */
static wend_status replace(int folder, wend_str text, wend_error *err)
{
    int fd;
    bool ok;

    unlinkat(folder, "trusted.new", 0); /* of one who died */
    fd = openat(folder, "trusted.new",
                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    ok = fd >= 0 && write_all(fd, text) && fsync(fd) == 0;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && renameat(folder, "trusted.new", folder, "trusted") == 0;
    return ok ? WEND_OK
              : fail(err, WEND_E_IO, "cannot keep what was accepted: %s",
                     strerror(errno));
}

/* All lines but that of `path`, which gets a new one if sum is not NULL. */
static wend_status change(const char *path, const char *sum, struct arena *a,
                          bool *had, wend_error *err)
{
    struct buf folder = {.mem = a->mem}, out = {.mem = a->mem};
    wend_str text, line_sum, line_path;
    wend_status s = folder_path(&folder, err);
    int fd = -1;

    *had = false;
    if (!s)
        s = data_folder_make(&folder, err);
    if (!s)
        s = lock_folder(folder.ptr, &fd, err);
    if (!s)
        s = read_lines(folder.ptr, a, &text, err);
    while (!s && next_line(&text, &line_sum, &line_path)) {
        if (str_is(line_path, path)) {
            *had = true;
            continue;
        }
        buf_str(&out, line_sum);
        buf_char(&out, ' ');
        buf_str(&out, line_path);
        buf_char(&out, '\n');
    }
    if (!s && sum)
        buf_fmt(&out, "%s %s\n", sum, path);
    if (!s)
        s = out.failed ? fail_nomem(err) : replace(fd, buf_view(&out), err);
    if (fd >= 0)
        close(fd); /* and with it the lock */
    buf_free(&folder);
    buf_free(&out);
    return s;
}

wend_status trust_add(const char *path, const char *sum, struct arena *a,
                      wend_error *err)
{
    bool had;

    if (strchr(path, '\n'))
        return fail(err, WEND_E_INVAL,
                    "a path with a line break in it cannot be accepted");
    return change(path, sum, a, &had, err);
}

wend_status trust_remove(const char *path, struct arena *a, wend_error *err)
{
    bool had;
    wend_status s = change(path, NULL, a, &had, err);

    if (s || had)
        return s;
    return fail(err, WEND_E_NOTFOUND,
                "%s was not accepted; 'wend trust "
                "--list' shows what was",
                path);
}

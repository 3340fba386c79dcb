/*
 * stores.c - remembers which stores are the user's, by the id in each file.
 */
#include "cli/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/config.h"

enum { ID_LEN = 32 };

static wend_status folder_path(struct buf *out, wend_error *err)
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
    return strlen(id) == ID_LEN && strspn(id, "0123456789abcdef") == ID_LEN;
}

wend_status stores_have(const char *id, struct arena *a, bool *yes,
                        wend_error *err)
{
    struct buf path = {.mem = a->mem};
    wend_status s = folder_path(&path, err);

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
    wend_status s = folder_path(&name, err);

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
    wend_status s = folder_path(&path, err);
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
    char id[ID_LEN + 1];
};

static bool look(void *ctx, const char *id, enum stores_how how, wend_str path)
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
    wend_status s = folder_path(&name, err);

    if (s == WEND_OK)
        s = stores_each(a, look, &w, err);
    if (s == WEND_OK && !w.id[0])
        s = fail(err, WEND_E_NOTFOUND,
                 "%s was not accepted; 'wend trust --list' shows what was",
                 path);
    buf_fmt(&name, "/%s", w.id);
    if (s == WEND_OK && unlink(name.ptr))
        s = fail(err, WEND_E_IO, "%s: %s", name.ptr, strerror(errno));
    return s;
}

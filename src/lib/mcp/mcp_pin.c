/*
 * mcp_pin.c - which lists of tools the user has accepted, by hash.
 *
 * A file of lines `NAME IDENTITY HASH`, only ever added to, so that two
 * processes may write at once; the last line about a server counts. It is
 * the user's alone. The lists themselves are files named by their hash, in a
 * folder beside it: they only serve to show what changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "host/file.h"
#include "lib/mcp/mcp.h"

enum {
    PINS_BYTES_MAX = 4 << 20,
    LIST_BYTES_MAX = 16 << 20, /* of one list; a longer one is not kept */
};

static wend_status default_path(struct buf *out, wend_error *err)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (data && data[0] == '/') /* a relative one is to be ignored */
        buf_cstr(out, data);
    else if (home && home[0] == '/')
        buf_fmt(out, "%s/.local/share", home);
    else
        return fail(err, WEND_E_INVAL,
                    "no place to remember accepted tools of servers: HOME is "
                    "not set");
    buf_cstr(out, "/wend/mcp.pins");
    return out->failed ? fail_nomem(err) : WEND_OK;
}

static wend_status find_path(const char *path, struct buf *out, wend_error *err)
{
    if (!path)
        return default_path(out, err);
    buf_cstr(out, path);
    return out->failed ? fail_nomem(err) : WEND_OK;
}

/* It becomes the name of a file. */
static void note_hash(char *was, wend_str hash)
{
    was[0] = 0;
    if (hash.len != SHA256_HEX)
        return;
    memcpy(was, hash.ptr, SHA256_HEX);
    was[SHA256_HEX] = 0;
    if (strspn(was, "0123456789abcdef") != SHA256_HEX)
        was[0] = 0;
}

static enum pin search(wend_str text, const struct pin_key *k, const char *hash,
                       char *was)
{
    enum pin found = PIN_NONE;
    wend_str line, name, identity;

    was[0] = 0;
    while (str_line(&text, &line)) {
        str_take(&line, ' ', &name);
        str_take(&line, ' ', &identity);
        if (str_eq(name, k->name) && str_is(identity, k->identity)) {
            found = str_is(line, hash) ? PIN_SAME : PIN_OTHER;
            note_hash(was, line);
        }
    }
    return found;
}

wend_status pin_look(const char *path, const struct pin_key *k,
                     const char *hash, const struct mem *m, enum pin *out,
                     char was[SHA256_HEX + 1], wend_error *err)
{
    struct buf where = {.mem = m}, text = {.mem = m};
    wend_status s = find_path(path, &where, err);

    *out = PIN_NONE;
    was[0] = 0;
    if (s == WEND_OK && file_exists(where.ptr))
        s = file_read(where.ptr, PINS_BYTES_MAX, &text, err);
    if (s == WEND_OK)
        *out = search(buf_view(&text), k, hash, was);
    buf_free(&where);
    buf_free(&text);
    return s;
}

static wend_status append(const char *path, wend_str line, wend_error *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                  0600);
    wend_status s = WEND_OK;

    if (fd < 0)
        return fail(err, WEND_E_IO, "%s: %s", path, strerror(errno));
    if (write(fd, line.ptr, line.len) != (ssize_t)line.len || fsync(fd))
        s = fail(err, WEND_E_IO, "%s: cannot be written: %s", path,
                 strerror(errno));
    close(fd);
    return s;
}

static wend_status list_path(const char *path, const char *hash,
                             struct buf *out, wend_error *err)
{
    wend_status s = find_path(path, out, err);

    if (s == WEND_OK)
        buf_fmt(out, ".d/%s", hash);
    return s == WEND_OK && out->failed ? fail_nomem(err) : s;
}

/* One that is there already is the same. */
static wend_status keep_list(const char *path, const char *hash, wend_str list,
                             const struct mem *m, wend_error *err)
{
    struct buf where = {.mem = m};
    wend_status s = list_path(path, hash, &where, err);
    int fd = -1;

    if (s == WEND_OK)
        s = file_dirs(where.ptr, err);
    if (s == WEND_OK && !file_exists(where.ptr))
        s = file_create(where.ptr, &fd, err);
    if (s == WEND_OK && fd >= 0)
        s = file_append(fd, where.ptr, list, err);
    file_close(fd);
    buf_free(&where);
    return s == WEND_E_EXISTS ? WEND_OK : s; /* another process was faster */
}

wend_status pin_list(const char *path, const char *hash, const struct mem *m,
                     struct buf *out, wend_error *err)
{
    struct buf where = {.mem = m};
    wend_status s = list_path(path, hash, &where, err);

    if (s == WEND_OK && hash[0] && file_exists(where.ptr))
        s = file_read(where.ptr, LIST_BYTES_MAX, out, err);
    buf_free(&where);
    return s;
}

wend_status pin_keep(const char *path, const struct pin_key *k,
                     const char *hash, wend_str list, const struct mem *m,
                     wend_error *err)
{
    struct buf where = {.mem = m}, line = {.mem = m};
    wend_status s = find_path(path, &where, err);

    buf_str(&line, k->name);
    buf_fmt(&line, " %s %s\n", k->identity, hash);
    if (s == WEND_OK && line.failed)
        s = fail_nomem(err);
    if (s == WEND_OK)
        s = file_dirs(where.ptr, err);
    if (s == WEND_OK && list.len <= LIST_BYTES_MAX)
        s = keep_list(path, hash, list, m, err);
    if (s == WEND_OK)
        s = append(where.ptr, buf_view(&line), err);
    buf_free(&where);
    buf_free(&line);
    return s;
}

/*
 * file.c - files that the user named: scripts, configuration, prompts.
 */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

enum { READ_BYTES = 64 << 10 };

static wend_status read_all(int fd, const char *name, size_t max,
                            struct buf *out, wend_error *err)
{
    size_t start = out->len;
    ssize_t n;

    for (;;) {
        if (!buf_room(out, READ_BYTES))
            return fail_nomem(err);
        n = read(fd, out->ptr + out->len, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, WEND_E_IO, "cannot read %s: %s", name,
                        strerror(errno));
        if (!n)
            break;
        out->len += (size_t)n;
        out->ptr[out->len] = 0;
        if (out->len - start > max)
            return fail(err, WEND_E_LIMIT, "%s is over %zu bytes", name, max);
    }
    return WEND_OK;
}

wend_status file_read(const char *path, size_t max, struct buf *out,
                      wend_error *err)
{
    wend_status s;
    int fd;

    if (!strcmp(path, "-"))
        return read_all(STDIN_FILENO, "stdin", max, out, err);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail(err, errno == ENOENT ? WEND_E_NOTFOUND : WEND_E_IO,
                    "cannot open %s: %s", path, strerror(errno));
    s = read_all(fd, path, max, out, err);
    close(fd);
    return s;
}

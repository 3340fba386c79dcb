/*
 * file.c - files that the user named: scripts, configuration, recordings.
 */
#include "host/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fail.h"
#include "host/path.h"

enum { READ_BYTES = 64 << 10 };

int file_read_all(int fd, size_t max, struct buf *out)
{
    size_t start = out->len;
    ssize_t n;

    do {
        if (!buf_room(out, READ_BYTES))
            return -ENOMEM;
        n = read(fd, out->ptr + out->len, READ_BYTES);
        if (n < 0 && errno != EINTR)
            return -errno;
        out->len += n > 0 ? (size_t)n : 0;
        out->ptr[out->len] = 0;
        if (out->len - start > max)
            return -EFBIG;
    } while (n);
    return 0;
}

int file_write_all(int fd, wend_str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);

        if (n < 0 && errno != EINTR)
            return -errno;
        bytes.ptr += n > 0 ? n : 0;
        bytes.len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static wend_status read_all(int fd, const char *name, size_t max,
                            struct buf *out, wend_error *err)
{
    int code = file_read_all(fd, max, out);

    return !code             ? WEND_OK
           : code == -ENOMEM ? fail_nomem(err)
           : code == -EFBIG
               ? fail(err, WEND_E_LIMIT, "%s is over %zu bytes", name, max)
               : fail(err, WEND_E_IO, "cannot read %s: %s", name,
                      strerror(-code));
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

/* Containers and service managers choose the rights of secrets themselves. */
static bool is_mounted(const char *path)
{
    static const char *const places[] = {"/run/secrets/", "/var/run/secrets/",
                                         "/run/credentials/", NULL};
    char *real = realpath(path, NULL);
    bool is = false;
    struct statvfs fs;

    for (size_t i = 0; real && places[i]; i++)
        is |= !strncmp(real, places[i], strlen(places[i]));
    free(real);
    return is || (!statvfs(path, &fs) && (fs.f_flag & ST_RDONLY));
}

wend_status file_private(const char *path, wend_error *err)
{
    struct stat st;

    if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode) ||
        st.st_uid != geteuid() || !(st.st_mode & (S_IRGRP | S_IROTH)) ||
        is_mounted(path))
        return WEND_OK;
    return fail(err, WEND_E_INVAL,
                "others can read %.300s, and with it the key; run 'chmod 600' "
                "on it, and replace the key if it was not meant for them",
                path);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

wend_status file_dir_new(const char *path, wend_error *err)
{
    const struct dirent *entry;
    bool empty = true;
    DIR *dir;

    if (mkdir(path, 0700) == 0)
        return WEND_OK;
    if (errno != EEXIST)
        return fail(err, WEND_E_IO, "cannot make the directory %s: %s", path,
                    strerror(errno));
    dir = opendir(path);
    if (!dir)
        return fail(err, WEND_E_IO, "cannot open the directory %s: %s", path,
                    strerror(errno));
    while (empty && (entry = readdir(dir)))
        empty = path_is_dots(entry->d_name);
    closedir(dir);
    return empty ? WEND_OK
                 : fail(err, WEND_E_EXISTS, "the directory %s is not empty",
                        path);
}

wend_status file_dirs(char *path, wend_error *err)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        bool made;

        *p = 0;
        made = !mkdir(path, 0700) || errno == EEXIST;
        if (!made)
            fail(err, WEND_E_IO, "cannot make directory %s: %s", path,
                 strerror(errno));
        *p = '/';
        if (!made)
            return WEND_E_IO;
    }
    return WEND_OK;
}

wend_status file_create(const char *path, int *fd, wend_error *err)
{
    *fd = open(path,
               O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
               0600);
    if (*fd < 0)
        return fail(err, errno == EEXIST ? WEND_E_EXISTS : WEND_E_IO,
                    "cannot create %s: %s", path, strerror(errno));
    return WEND_OK;
}

wend_status file_append(int fd, const char *path, wend_str bytes,
                        wend_error *err)
{
    int code = file_write_all(fd, bytes);

    return code ? fail(err, WEND_E_IO, "cannot write %s: %s", path,
                       strerror(-code))
                : WEND_OK;
}

void file_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

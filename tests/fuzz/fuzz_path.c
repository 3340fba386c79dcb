/*
 * fuzz_path.c - any path: what policy makes of it is plain and stays so, and
 * what opens lies beneath the root.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/turn/verdict.h"
#include "host/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char base[] = "/tmp/wend-fuzz-path-XXXXXX";
static char root[64];

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void tear_down(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        fprintf(stderr, "could not remove %s\n", base);
}

/* A root with ways out of it, one level deep and deeper. */
static int set_up(void)
{
    int fd, dir;

    must(mkdtemp(base) != NULL);
    atexit(tear_down);
    snprintf(root, sizeof root, "%s/r", base);
    must(!mkdir(root, 0700));
    fd = path_root(root, NULL);
    must(fd >= 0 && !mkdirat(fd, "d", 0700) && !mkdirat(fd, "d/e", 0700));
    must(!symlinkat("..", fd, "u") && !symlinkat("/", fd, "s") &&
         !symlinkat("d/e", fd, "l") && !symlinkat("../../..", fd, "d/e/o") &&
         !symlinkat("/proc/self/cwd", fd, "p"));
    dir = openat(fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    must(dir >= 0);
    close(dir);
    return fd;
}

static void check_open(int root_fd, wend_str path)
{
    char link[64], real[PATH_MAX];
    wend_error err = {0};
    int fd = path_open(root_fd, path, O_PATH, 0, &err);
    size_t len = strlen(root);
    ssize_t n;

    if (fd < 0) {
        must(err.status < 0 && err.message[0]);
        return;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, real, sizeof real);
    close(fd);
    must(n >= (ssize_t)len && !memcmp(real, root, len) &&
         ((size_t)n == len || real[len] == '/'));
}

/* No empty part, no dot, and dots only where they lead out. */
static void check_plain(wend_str s)
{
    bool inside = s.ptr[0] == '/';
    size_t at = inside;

    if (str_is(s, ".") || str_is(s, "/"))
        return;
    while (at <= s.len) {
        const char *slash = memchr(s.ptr + at, '/', s.len - at);
        wend_str part = {s.ptr + at,
                         slash ? (size_t)(slash - s.ptr) - at : s.len - at};

        must(part.len && !str_is(part, "."));
        must(!str_is(part, "..") || !inside || s.ptr[0] == '/');
        inside |= !str_is(part, "..");
        at += part.len + 1;
    }
}

static void check_policy(wend_str path)
{
    char first[PATH_MAX], second[PATH_MAX];
    wend_str a = policy_path(path, STR_NONE, first, sizeof first), b;

    if (!a.ptr)
        return;
    check_plain(a);
    b = policy_path(a, STR_NONE, second, sizeof second);
    must(str_eq(a, b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int root_fd = -1;
    wend_str path = {(const char *)data, size};

    if (root_fd < 0)
        root_fd = set_up();
    check_policy(path);
    check_open(root_fd, path);
    return 0;
}

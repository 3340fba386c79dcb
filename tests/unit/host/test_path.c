/*
 * test_path.c - no way out of the root; each attempt with its control: the
 * plain call that would have got out.
 */
#include "host/path.h"
#include "host/path_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "tap.h"

/* base/secret.txt is what nobody may reach; base/root is the root. */
static char base[64] = "/tmp/wend-path-XXXXXX";
static int base_fd, root_fd;

static bool put(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool good = fd >= 0 && write(fd, text, strlen(text)) >= 0;

    if (fd >= 0)
        close(fd);
    return good;
}

/* The first byte of what an open file holds, or 0; closes it. */
static char first_byte(int fd)
{
    char c = 0;

    if (fd < 0)
        return 0;
    if (read(fd, &c, 1) != 1)
        c = 0;
    close(fd);
    return c;
}

static bool set_up(void)
{
    char target[PATH_MAX];

    if (!mkdtemp(base))
        return false;
    base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base_fd < 0 || mkdirat(base_fd, "root", 0755) ||
        mkdirat(base_fd, "rootless", 0755) || mkdirat(base_fd, "out", 0755))
        return false;
    snprintf(target, sizeof target, "%s/root", base);
    root_fd = path_root(target, NULL);
    snprintf(target, sizeof target, "%s/secret.txt", base);
    return root_fd >= 0 && put(base_fd, "secret.txt", "secret") &&
           put(base_fd, "rootless/x", "secret") &&
           put(base_fd, "out/x", "secret") && put(root_fd, "plain", "inside") &&
           !mkdirat(root_fd, "dir", 0755) && put(root_fd, "dir/x", "inside") &&
           !mkfifoat(root_fd, "fifo", 0644) &&
           !symlinkat("dir/x", root_fd, "good-link") &&
           !symlinkat("dir", root_fd, "in-link") &&
           !symlinkat("../secret.txt", root_fd, "up-link") &&
           !symlinkat(target, root_fd, "absolute-link") &&
           !symlinkat("../out", root_fd, "dir-link") &&
           !symlinkat("/proc/self/root", root_fd, "magic-link") &&
           !symlinkat("loop-b", root_fd, "loop-a") &&
           !symlinkat("loop-a", root_fd, "loop-b") &&
           !symlinkat("nowhere", root_fd, "dangling");
}

static void tear_down(void)
{
    char command[96];

    close(root_fd);
    close(base_fd);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        printf("# could not remove %s\n", base);
}

/* ---- Reading ------------------------------------------------------------- */

static const struct {
    const char *why, *path; /* BASE stands for the directory's path */
    bool gets_out;          /* the control: plain openat reads a secret */
    const char *message;
} escapes[] = {
    {"parent", "../secret.txt", true,
     "path '../secret.txt' leaves the working directory"},
    {"parent after a detour", "dir/../../secret.txt", true,
     "path 'dir/../../secret.txt' leaves the working directory"},
    {"absolute", "BASE/secret.txt", true,
     "path 'BASE/secret.txt' leaves the working directory"},
    {"absolute, out of the root again", "BASE/root/../secret.txt", true,
     "path 'BASE/root/../secret.txt' leaves the working directory"},
    {"absolute, a longer name", "BASE/rootless/x", true,
     "path 'BASE/rootless/x' leaves the working directory"},
    {"symlink up", "up-link", true,
     "path 'up-link' leaves the working directory"},
    {"symlink to an absolute path", "absolute-link", true,
     "path 'absolute-link' leaves the working directory"},
    {"through a symlink to a directory", "dir-link/x", true,
     "path 'dir-link/x' leaves the working directory"},
    {"out and in again", "../root/plain", false,
     "path '../root/plain' leaves the working directory"},
    {"the process's root", "/proc/self/rootBASE/secret.txt", true,
     "path '/proc/self/rootBASE/secret.txt' leaves the working directory"},
    {"the process's root by a link", "magic-linkBASE/secret.txt", true,
     "path 'magic-linkBASE/secret.txt' leaves the working directory"},
    {"a loop", "loop-a", false,
     "'loop-a' is or goes through a symbolic link that is not followed"},
    {"a link that stays inside", "good-link", false,
     "'good-link' is or goes through a symbolic link; use the path that it "
     "leads to: 'dir/x'"},
    {"through one", "in-link/x", false,
     "'in-link/x' is or goes through a symbolic link; use the path that it "
     "leads to: 'dir/x'"},
    {"through one and up again", "in-link/../plain", false,
     "'in-link/../plain' is or goes through a symbolic link; use the path "
     "that it leads to: 'plain'"},
    {"nothing there", "nope", false,
     "no such file: 'nope' (beneath the working directory)"},
    {"nothing there, but near", "plian", false,
     "no such file: 'plian' (beneath the working directory); did you mean "
     "'plain'?"},
    {"near beneath a directory", "dir/y", false,
     "no such file: 'dir/y' (beneath the working directory); did you mean "
     "'dir/x'?"},
    {"no hint about what lies outside", "dir-link/y", false,
     "path 'dir-link/y' leaves the working directory"},
    {"a link to nothing", "dangling", false,
     "no such file: 'dangling' (beneath the working directory)"},
    {"beneath a file", "plain/x", false,
     "'plain/x' is not a directory, or lies beneath a file"},
    {"empty", "", false, "path is empty"},
};

/* BASE replaced; the result is good until the next call. */
static const char *expand(const char *text)
{
    static char out[2][512];
    static int turn;
    const char *mark = strstr(text, "BASE");

    turn = !turn;
    snprintf(out[turn], sizeof *out, "%.*s%s%s",
             mark ? (int)(mark - text) : (int)strlen(text), text,
             mark ? base : "", mark ? mark + 4 : "");
    return out[turn];
}

static void test_escapes(void)
{
    for (size_t i = 0; i < tap_count(escapes); i++) {
        const char *path = expand(escapes[i].path);
        wend_error err = {0};
        int fd = path_open(root_fd, str_of(path), O_RDONLY, 0, &err);

        if (fd >= 0)
            close(fd);
        tap_ok(fd < 0 && err.status < 0, "refused: %s", escapes[i].why);
        tap_is_str(err.message, expand(escapes[i].message), "  in words");
        if (escapes[i].gets_out)
            tap_ok(first_byte(openat(root_fd, expand(escapes[i].path),
                                     O_RDONLY | O_CLOEXEC)) == 's',
                   "  control: openat gets out");
    }
}

static void test_opens(void)
{
    static const struct {
        const char *why, *path;
    } opens[] = {
        {"a file", "plain"},
        {"a file in a directory", "dir/x"},
        {"dots that stay inside", "dir/../plain"},
        {"absolute beneath the root", "BASE/root/dir/x"},
        {"absolute with many slashes", "BASE/root//dir//x"},
    };
    wend_error err = {0};
    char long_path[PATH_MAX + 1];
    int fd;

    for (size_t i = 0; i < tap_count(opens); i++) {
        fd = path_open(root_fd, str_of(expand(opens[i].path)), O_RDONLY, 0,
                       NULL);
        tap_ok(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC, "opens: %s",
               opens[i].why);
        tap_ok(first_byte(fd) == 'i', "  the one inside");
    }
    fd = path_open(root_fd, str_of(expand("BASE/root")), O_RDONLY, 0, NULL);
    tap_ok(fd >= 0, "the root itself");
    close(fd);
    fd = path_open(root_fd, STR("fifo"), O_RDONLY, 0, NULL);
    tap_ok(fd >= 0, "a fifo without a writer does not block");
    close(fd);
    fd = path_open(root_fd, STR("a\0b"), O_RDONLY, 0, &err);
    tap_ok(fd < 0, "NUL is refused");
    tap_is_str(err.message, "path contains a NUL byte", "  in words");
    memset(long_path, 'x', sizeof long_path);
    fd = path_open(root_fd, (wend_str){long_path, PATH_MAX}, O_RDONLY, 0, &err);
    tap_ok(fd < 0 && err.status == WEND_E_LIMIT, "PATH_MAX is refused");
    fd = path_open(root_fd, (wend_str){long_path, 256}, O_RDONLY, 0, &err);
    tap_ok(fd < 0 && err.status == WEND_E_LIMIT, "a name of 256 bytes, too");
    tap_ok(path_root("/nonexistent", &err) < 0, "a root must exist");
    tap_is_str(err.message, "no such directory: '/nonexistent'", "  in words");
    fd = path_root("/", NULL);
    tap_ok(first_byte(path_open(fd, str_of(expand("BASE/secret.txt")), O_RDONLY,
                                0, NULL)) == 's',
           "beneath / lies everything");
    close(fd);
    fd = path_beneath(AT_FDCWD, ".", O_PATH | O_DIRECTORY, 0);
    tap_ok(fd >= 0, "openat2 works here");
    close(fd);
}

/* ---- Writing --------------------------------------------------------------
 */

static int entries_like(const char *prefix)
{
    char command[128];
    FILE *p;
    int n = -1;

    snprintf(command, sizeof command, "find '%s' -name '%s*' | wc -l", base,
             prefix);
    p = popen(command, "r");
    if (p && fscanf(p, "%d", &n) != 1)
        n = -1;
    if (p)
        pclose(p);
    return n;
}

static const struct {
    const char *why, *path;
    const char *message; /* NULL: it works */
} writes[] = {
    {"a new file", "new", NULL},
    {"over an old one", "new", NULL},
    {"in directories that are missing", "a/b/c/new", NULL},
    {"with dots inside", "a/../a/b/new", NULL},
    {"absolute", "BASE/root/a/new", NULL},
    {"through a link that stays inside", "in-link/y",
     "'in-link/y' is or goes through a symbolic link; use the path that it "
     "leads to: 'dir/y'"},
    {"on a link that stays inside", "good-link",
     "'good-link' is or goes through a symbolic link; use the path that it "
     "leads to: 'dir/x'"},
    {"out by dots", "../new", "path '../new' leaves the working directory"},
    {"out by a missing directory", "a/../../evil/new",
     "path 'a/../../evil/new' leaves the working directory"},
    {"out by a link", "dir-link/new",
     "path 'dir-link/new' leaves the working directory"},
    {"new directories beyond a link", "dir-link/evil/new",
     "path 'dir-link/evil/new' leaves the working directory"},
    {"on a link", "up-link", "path 'up-link' leaves the working directory"},
    {"through a link to nothing", "dangling/new",
     "no such file: 'dangling/new' (beneath the working directory)"},
    {"on a directory", "dir", "'dir' is a directory"},
    {"on what must be one", "fresh/", "'fresh/' is a directory"},
    {"on dots", "dir/..", "'dir/..' is a directory"},
    {"on a fifo", "fifo", "'fifo' is not a regular file"},
    {"beneath a file", "plain/x",
     "'plain/x' is not a directory, or lies beneath a file"},
    {"empty", "", "path is empty"},
};

static void test_writes(void)
{
    for (size_t i = 0; i < tap_count(writes); i++) {
        const char *path = expand(writes[i].path);
        wend_error err = {0};
        wend_status s = path_write(root_fd, str_of(path), STR("new"), &err);

        tap_is_i64(!s, !writes[i].message, "write: %s", writes[i].why);
        tap_is_str(err.message, writes[i].message ? writes[i].message : "",
                   "  in words");
        if (!s)
            tap_ok(first_byte(path_open(root_fd, str_of(path), O_RDONLY, 0,
                                        NULL)) == 'n',
                   "  and it is there");
    }
    tap_is_i64(entries_like("evil"), 0, "nothing was made outside");
    tap_is_i64(entries_like("fresh"), 0, "nor for a bad name");
    tap_is_i64(entries_like(".wend-"), 0, "nothing is left behind");
    tap_ok(first_byte(openat(base_fd, "secret.txt", O_RDONLY | O_CLOEXEC)) ==
               's',
           "the secret is as it was");
    tap_ok(put(root_fd, "dir-link/control", "x") &&
               !unlinkat(base_fd, "out/control", 0),
           "control: openat writes outside");
}

static void test_modes(void)
{
    struct stat st = {0};
    wend_error err = {0};

    put(root_fd, "script.sh", "old");
    fchmodat(root_fd, "script.sh", 0750, 0);
    tap_ok(!path_write(root_fd, STR("script.sh"), STR("new"), NULL) &&
               !fstatat(root_fd, "script.sh", &st, 0) &&
               (st.st_mode & 0777) == 0750,
           "a file keeps its mode");
    tap_is_i64(st.st_size, 3, "and is not longer than what was written");
    tap_ok(!path_write(root_fd, STR("empty"), STR(""), NULL) &&
               !fstatat(root_fd, "empty", &st, 0) && !st.st_size,
           "nothing can be written, too");
    if (!geteuid())
        return; /* may write everything */
    fchmodat(root_fd, "script.sh", 0440, 0);
    tap_ok(path_write(root_fd, STR("script.sh"), STR("x"), &err) == WEND_E_IO,
           "a file that may not be written is not replaced");
    tap_is_str(err.message, "permission denied: 'script.sh'", "  in words");
}

/* ---- Without openat2 ------------------------------------------------------
 */

static bool forbid_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {4, code};

    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* The exit code of a child: 0 if it is as it must be. */
static int without_openat2(void)
{
    wend_error err = {0};

    if (!forbid_openat2())
        return 1;
    if (path_beneath(AT_FDCWD, ".", O_PATH | O_DIRECTORY, 0) >= 0)
        return 2;
    if (path_open(root_fd, STR("plain"), O_RDONLY, 0, &err) >= 0)
        return 3;
    if (strcmp(err.message, "cannot open 'plain' safely: this system has no "
                            "openat2 (Linux 5.6)"))
        return 4;
    return path_write(root_fd, STR("plain"), STR("x"), &err) ? 0 : 5;
}

static void test_without(void)
{
    int code = -1;
    pid_t pid = fork();

    if (!pid)
        _exit(without_openat2());
    if (pid > 0)
        waitpid(pid, &code, 0);
    tap_is_i64(code, 0, "without openat2 nothing is opened another way");
}

int main(void)
{
    if (tap_ok(set_up(), "a directory to work in")) {
        test_escapes();
        test_opens();
        test_writes();
        test_modes();
        test_without();
    }
    tear_down();
    return tap_done();
}

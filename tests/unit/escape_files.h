/*
 * escape_files.h - attempts to get out of the sandbox by files.
 */
#ifndef TESTS_ESCAPE_FILES_H
#define TESTS_ESCAPE_FILES_H

#include <errno.h>
#include <limits.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <utime.h>

#include "proc_help.h"

/* ---- Attempts: 0 or more = it worked ---------------------------------------
 */

static const char *outside; /* a folder that it may not touch */
static const char *shown;   /* a folder that it may read */
static pid_t host;

static const char *at(const char *dir, const char *name)
{
    static char path[4][PATH_MAX];
    static int next;

    next = (next + 1) % 4;
    snprintf(path[next], PATH_MAX, "%s/%s", dir, name);
    return path[next];
}

static long read_secret(void)
{
    return open(at(outside, "secret"), O_RDONLY);
}

static long read_by_link(void)
{
    unlink("link");
    return symlink(at(outside, "secret"), "link") ? -1 : open("link", O_RDONLY);
}

static long read_by_proc(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "/proc/%d/root%s/secret", host, outside);
    return open(path, O_RDONLY);
}

static long read_by_self_root(void)
{
    return open(at("/proc/self/root", at(outside, "secret")), O_RDONLY);
}

static long list_outside(void)
{
    return open(outside, O_RDONLY | O_DIRECTORY);
}

static long read_shadow(void)
{
    return open("/etc/shadow", O_RDONLY);
}

static long create(void)
{
    return open(at(outside, "new"), O_WRONLY | O_CREAT, 0600);
}

static long overwrite(void)
{
    return open(at(outside, "victim"), O_WRONLY);
}

static long overwrite_shown(void)
{
    return open(at(shown, "victim"), O_WRONLY);
}

static long overwrite_by_hard_link(void)
{
    unlink("hard");
    return link(at(outside, "victim"), "hard") ? -1 : open("hard", O_WRONLY);
}

static long overwrite_system(void)
{
    return open("/usr/bin/env", O_WRONLY);
}

static long move_in(void)
{
    return rename(at(outside, "victim"), "stolen");
}

static long move_out(void)
{
    close(open("mine", O_WRONLY | O_CREAT, 0600));
    return rename("mine", at(outside, "mine"));
}

static long make_folder(void)
{
    return mkdir(at(outside, "folder"), 0700);
}

static long remove_file(void)
{
    return unlink(at(outside, "victim"));
}

static long remove_folder(void)
{
    return rmdir(at(outside, "empty"));
}

static long make_link(void)
{
    return symlink("/", at(outside, "root"));
}

static long make_fifo(void)
{
    return mkfifo(at(outside, "fifo"), 0600);
}

static long make_device(void)
{
    return mknod("device", S_IFCHR | 0600, 1 << 8 | 3);
}

static long truncate_path(void)
{
    return truncate(at(outside, "victim"), 1);
}

static long truncate_shown(void)
{
    return truncate(at(shown, "victim"), 1);
}

static long truncate_by_open(void)
{
    return open(at(shown, "victim"), O_RDONLY | O_TRUNC);
}

static long truncate_by_open_3(void)
{
    return open(at(shown, "victim"), O_ACCMODE | O_TRUNC);
}

static long mode(void)
{
    return chmod(at(outside, "victim"), 0666);
}

static long mode_at(void)
{
    return fchmodat(open(outside, O_PATH), "victim", 0666, 0);
}

static long mode_by_link(void)
{
    unlink("modelink");
    return symlink(at(outside, "victim"), "modelink") ? -1
                                                      : chmod("modelink", 0666);
}

static long mode_by_dots(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "../..%s/victim", outside);
    return chmod(path, 0666);
}

static long mode_of_read_only(void)
{
    return fchmod(open(at(shown, "victim"), O_RDONLY), 0666);
}

static long mode_by_proc(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d",
             open(at(shown, "victim"), O_RDONLY));
    return chmod(path, 0666);
}

static long mode_of_root(void)
{
    return chmod("/", 0755);
}

static long mode_setuid(void)
{
    close(open("setuid", O_WRONLY | O_CREAT, 0700));
    return chmod("setuid", 04755);
}

static long owner(void)
{
    return chown(at(outside, "victim"), geteuid(), getegid());
}

static long owner_of_link(void)
{
    return lchown(at(outside, "victim"), geteuid(), getegid());
}

static long owner_of_read_only(void)
{
    return fchown(open(at(shown, "victim"), O_RDONLY), geteuid(), getegid());
}

static long times(void)
{
    return utimensat(AT_FDCWD, at(outside, "victim"), NULL, 0);
}

static long times_old(void)
{
    return utime(at(outside, "victim"), NULL);
}

static long times_of_read_only(void)
{
    return futimens(open(at(shown, "victim"), O_RDONLY), NULL);
}

static long attribute(void)
{
    return setxattr(at(outside, "victim"), "user.x", "y", 1, 0);
}

static long run_outside(void)
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        execl(at(outside, "program"), "program", (char *)NULL);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    return status ? -1 : 0;
}

static long gain_rights(void)
{
    FILE *f = popen(at(shown, "setuid -u"), "r");
    int uid = -1;

    if (!f || fscanf(f, "%d", &uid) != 1)
        uid = -1;
    if (f)
        pclose(f);
    return uid == 0 ? 0 : -1;
}

#endif

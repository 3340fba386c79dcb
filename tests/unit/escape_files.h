/*
 * escape_files.h - attempts to get out of the sandbox by files.
 */
#ifndef TESTS_ESCAPE_FILES_H
#define TESTS_ESCAPE_FILES_H

#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
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

/* Each is setuid from its birth; 0 only if the file really is. */
static long is_setuid(const char *name, long r)
{
    struct stat st;

    if (r < 0 || lstat(name, &st))
        return -1;
    errno = EPERM; /* a file system may drop the bits in silence */
    return st.st_mode & (S_ISUID | S_ISGID) ? 0 : -1;
}

static long born_setuid(void)
{
    return is_setuid("born", open("born", O_WRONLY | O_CREAT, 04755));
}

static long born_setgid(void)
{
    return is_setuid("born", open("born", O_WRONLY | O_CREAT, 02755));
}

static long born_setuid_at(void)
{
    return is_setuid(
        "born", syscall(SYS_openat, AT_FDCWD, "born", O_RDWR | O_CREAT, 06755));
}

static long born_setuid_openat2(void)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 04755};

    return is_setuid("born",
                     syscall(SYS_openat2, AT_FDCWD, "born", &how, sizeof how));
}

static long born_setuid_unnamed(void)
{
    char path[64];
    int fd = open(".", O_TMPFILE | O_WRONLY, 04755);

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || linkat(AT_FDCWD, path, AT_FDCWD, "born", AT_SYMLINK_FOLLOW))
        return -1;
    return is_setuid("born", 0);
}

static long born_setuid_node(void)
{
    return is_setuid("born", mknod("born", S_IFREG | 04755, 0));
}

#ifdef SYS_creat
static long born_setuid_creat(void)
{
    return is_setuid("born", syscall(SYS_creat, "born", 04755));
}

static long born_setuid_open(void)
{
    return is_setuid("born",
                     syscall(SYS_open, "born", O_WRONLY | O_CREAT, 04755));
}

static long born_setuid_mknod(void)
{
    return is_setuid("born", syscall(SYS_mknod, "born", S_IFREG | 04755, 0));
}
#endif

/* The kernel leaves the bits of a folder out; the call must fail all the
 * same, for not every file system does. */
static long folder_setuid(void)
{
    return mkdir("folder", 06755);
}

/* A file that was setuid before stays so when root with CAP_FSETID writes. */
static long write_setuid(void)
{
    int fd = open("old-setuid", O_WRONLY);

    return fd < 0 || write(fd, "x", 1) != 1 ? -1 : is_setuid("old-setuid", 0);
}

static long set_flags(const char *path, unsigned long get, unsigned long set)
{
    int fd = open(path, O_RDONLY);
    char room[64] = {0};

    return fd < 0 || ioctl(fd, get, room) ? -1 : ioctl(fd, set, room);
}

/* As they are: the control changes nothing either. */
static long flags_of_read_only(void)
{
    return set_flags(at(shown, "victim"), FS_IOC_GETFLAGS, FS_IOC_SETFLAGS);
}

static long attributes_of_read_only(void)
{
    return set_flags(at(shown, "victim"), FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR);
}

static long flags_of_system(void)
{
    return set_flags("/usr/bin/env", FS_IOC_GETFLAGS, FS_IOC_SETFLAGS);
}

static long version_of_read_only(void)
{
    int fd = open(at(shown, "victim"), O_RDONLY), version = 1;

    return ioctl(fd, FS_IOC_SETVERSION, &version);
}

static long watch(const char *path, uint32_t mask)
{
    return inotify_add_watch(inotify_init1(IN_NONBLOCK), path, mask);
}

static long watch_outside(void)
{
    return watch(outside, IN_ALL_EVENTS);
}

static long watch_file(void)
{
    return watch(at(outside, "secret"), IN_OPEN | IN_ACCESS);
}

static long watch_by_link(void)
{
    unlink("watched");
    return symlink(outside, "watched") ? -1 : watch("watched", IN_ALL_EVENTS);
}

static long watch_by_dots(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "../..%s", outside);
    return watch(path, IN_ALL_EVENTS);
}

static long watch_by_descriptor(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", open(outside, O_PATH));
    return watch(path, IN_ALL_EVENTS);
}

static long watch_root(void)
{
    return watch("/", IN_ALL_EVENTS);
}

static long lease_of_read_only(void)
{
    return fcntl(open(at(shown, "victim"), O_RDONLY), F_SETLEASE, F_RDLCK);
}

static long notice_of_system(void)
{
    return fcntl(open("/usr", O_RDONLY | O_DIRECTORY), F_NOTIFY, DN_CREATE);
}

static long read_environment(void)
{
    return open("/etc/environment", O_RDONLY);
}

static long list_profiles(void)
{
    return open("/etc/profile.d", O_RDONLY | O_DIRECTORY);
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

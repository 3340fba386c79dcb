/*
 * landlock.c - what the tool may read and write: system folders, its lists
 * and its private folder; nothing else.
 *
 * Landlock cannot exclude parts of a folder, so below /etc files without
 * secrets are named one by one: root could read the others. The files that set
 * the environment of a login (/etc/environment, /etc/profile.d) may hold keys.
 */
#include <linux/landlock.h>

#include "super/super.h"

/* What newer kernels know besides the headers. */
enum {
    LL_TRUNCATE = 1 << 14,      /* since ABI 3 */
    LL_IOCTL_DEV = 1 << 15,     /* since ABI 5 */
    LL_NET_TCP = 3,             /* bind and connect; since ABI 4 */
    LL_SCOPE_ABSTRACT_UNIX = 1, /* since ABI 6 */
    LL_SCOPE_SIGNAL = 2,        /* the same */
    LL_VERSION = 1,
};

struct ruleset_attr {
    uint64_t fs, net, scoped;
};

#define LL_READ                                                  \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
     LANDLOCK_ACCESS_FS_READ_DIR)
#define LL_DEVICE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)
#define LL_DEVICES_MADE \
    (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)
#define LL_ABI_1 ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define LL_OF_FILES                                              \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
     LANDLOCK_ACCESS_FS_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

/* Readable; what is absent is skipped. */
static const char *const readable[] = {
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/run/systemd/resolve",
    "/var/lib/ca-certificates",
};
static const char *const readable_in_etc[] = {
    "alternatives",    "bash.bashrc",   "ca-certificates", "debian_version",
    "fonts",           "gai.conf",      "gitconfig",       "group",
    "host.conf",       "hostname",      "hosts",           "inputrc",
    "java-17-openjdk", "ld.so.cache",   "ld.so.conf",      "ld.so.conf.d",
    "ld.so.preload",   "locale.alias",  "locale.conf",     "localtime",
    "login.defs",      "lsb-release",   "magic",           "mime.types",
    "nsswitch.conf",   "os-release",    "passwd",          "perl",
    "pki/ca-trust",    "pki/tls/certs", "profile",         "protocols",
    "python3",         "python3.11",    "resolv.conf",     "rpc",
    "services",        "shells",        "ssl/cert.pem",    "ssl/certs",
    "ssl/openssl.cnf", "terminfo",      "timezone",        "vim",
    "xattr.conf",
};

static const char *const devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
};

int landlock_abi(void)
{
    return (int)sys3(__NR_landlock_create_ruleset, NULL, 0, LL_VERSION);
}

/* For notify.c, which refuses changes in places that found no room. */
static void remember(struct job *j, int fd)
{
    char *at = j->places + j->places_len;
    size_t room = sizeof j->places - j->places_len;

    if (room > 2 && place_of(fd, at, room - 1) >= 0)
        j->places_len += text_len(at) + 1;
    j->places[j->places_len] = 0;
}

/* A file takes only the rights of files. */
static long add(struct job *j, int rules, long at, const char *path,
                uint64_t rights)
{
    struct landlock_path_beneath_attr a = {.allowed_access = rights};
    long r = sys_open(at, path, O_PATH);

    if (r < 0)
        return r;
    a.parent_fd = (int)r;
    if (rights & LANDLOCK_ACCESS_FS_MAKE_REG)
        remember(j, a.parent_fd);
    r = sys4(__NR_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
    if (r == -EINVAL && rights & ~(uint64_t)LL_OF_FILES) {
        a.allowed_access = rights & LL_OF_FILES;
        r = sys4(__NR_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a,
                 0);
    }
    sys_close(a.parent_fd);
    return r;
}

static long add_list(struct job *j, int rules, char *const *paths,
                     uint64_t rights)
{
    long r = 0;

    while (r >= 0 && *paths)
        r = add(j, rules, AT_FDCWD, *paths++, rights);
    return r;
}

static void add_system(struct job *j, int rules, uint64_t device_rights)
{
    long etc = sys_open(AT_FDCWD, "/etc", O_PATH | O_DIRECTORY);

    for (size_t i = 0; i < COUNT(readable); i++)
        add(j, rules, AT_FDCWD, readable[i], LL_READ);
    for (size_t i = 0; etc >= 0 && i < COUNT(readable_in_etc); i++)
        add(j, rules, etc, readable_in_etc[i], LL_READ);
    for (size_t i = 0; i < COUNT(devices); i++)
        add(j, rules, AT_FDCWD, devices[i], device_rights);
    sys_close(etc);
}

static uint64_t rights_known(int abi)
{
    uint64_t rights = LL_ABI_1;

    if (abi >= 2)
        rights |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        rights |= LL_TRUNCATE;
    if (abi >= 5)
        rights |= LL_IOCTL_DEV;
    return rights;
}

void landlock_apply(struct job *j, volatile struct super_failure *f)
{
    int abi = j->landlock_abi;
    struct ruleset_attr a = {.fs = rights_known(abi)};
    uint64_t all = a.fs & ~(uint64_t)(LL_DEVICES_MADE | LL_IOCTL_DEV);
    long rules;

    if (stops(f, SUPER_STEP_LANDLOCK, abi))
        return;
    if (abi >= 4 && !(j->spec->flags & SUPER_NETWORK))
        a.net = LL_NET_TCP;
    if (abi >= 6)
        a.scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL;
    rules = sys3(__NR_landlock_create_ruleset, &a, sizeof a, 0);
    if (stops(f, SUPER_STEP_LANDLOCK, rules))
        return;
    add_system(j, (int)rules, LL_DEVICE | (a.fs & LL_TRUNCATE));
    if (stops(f, SUPER_STEP_RULE,
              add_list(j, (int)rules, j->lists[SUPER_READ], LL_READ)) ||
        stops(f, SUPER_STEP_RULE,
              add_list(j, (int)rules, j->lists[SUPER_WRITE], all)) ||
        stops(f, SUPER_STEP_TMP,
              add(j, (int)rules, AT_FDCWD, j->tmp_path, all)))
        return;
    stops(f, SUPER_STEP_LANDLOCK, sys2(__NR_landlock_restrict_self, rules, 0));
    sys_close(rules);
}

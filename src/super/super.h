/*
 * super.h - the parts of the supervisor.
 */
#ifndef SUPER_SUPER_H
#define SUPER_SUPER_H

#include "super/spec.h"
#include "super/sys.h"

enum { TMP_PATH_MAX = 4096, PLACES_MAX = 16384, NOTIFY_CALLS_MAX = 32 };
enum { PROC_PATH_MAX = 64, GROUPS_KNOWN = 16 };
enum { ABI_TRUNCATE = 3, ABI_SIGNALS = 6 }; /* of Landlock: since when */

/* The spec, unpacked; the strings are in the mapped file. */
struct job {
    const struct super_spec *spec;
    const char *cwd;
    char **lists[SUPER_LISTS]; /* each with NULL at the end */
    const char *tmp_base;      /* where the private folder is made */
    char tmp[TMP_PATH_MAX];    /* TMPDIR=path of it */
    const char *tmp_path;      /* NULL = there is none */
    uint32_t uid, gid;
    int landlock_abi;        /* 0 = not probed yet */
    int listener;            /* of the filter's notifications; 0 = none */
    char places[PLACES_MAX]; /* paths it may write, each with its NUL */
    size_t places_len;
    int groups[GROUPS_KNOWN]; /* the latest new ones; some are gone */
    uint32_t groups_at;
    int cgroup_base, cgroup; /* the tree's cgroup and its parent; 0 = none */
    bool ending;             /* the tree is being killed */
    int child, status;
    bool child_ended; /* with that status */
};

/* Where the start failed; shared with the child until its exec. */
struct super_failure {
    enum super_step step;
    int error; /* 0 = it did not fail */
};

/* Whether r is an error, at which the start stops. */
static inline bool stops(volatile struct super_failure *f, enum super_step step,
                         long r)
{
    if (r >= 0)
        return false;
    f->step = step;
    f->error = (int)-r;
    return true;
}

/* ---- start.c: from the spec to a running program ------------------------- */
/* The pid, or -1 with the failure filled. */
int start_child(struct job *j, volatile struct super_failure *f);

/* ---- landlock.c ---------------------------------------------------------- */
int landlock_abi(void); /* 0 or -errno: there is none */
/* Confines the calling process. */
void landlock_apply(struct job *j, volatile struct super_failure *f);

/* ---- filter.c ------------------------------------------------------------ */
/* Sets the filter of the calling process. */
void filter_apply(struct job *j, volatile struct super_failure *f);

/* ---- tree.c: the descendants of the supervisor --------------------------- */
/* Waits for those that have ended; false when none is left. */
bool tree_reap(struct job *j);
/* Signals all that it finds until then. */
void tree_signal(struct job *j, int signal, int64_t until_ms);
uint32_t tree_tasks_of_all(void); /* of the whole machine; quick */
/* Lists them; false when that takes longer. */
bool tree_look(struct job *j, int64_t until_ms);
uint32_t tree_next(size_t *at, uint32_t *tasks); /* alive; 0 = no more */
bool tree_has(int pid);                          /* or thread */
bool tree_has_group(struct job *j, int group);   /* all of it */

/* ---- bounds.c: the limits of the whole tree ------------------------------ */
struct bounds {
    int64_t next_ms;     /* when to look again */
    uint32_t looks;      /* quick ones */
    uint32_t tasks_near; /* of the machine: from here on the tree is counted */
    uint32_t tasks_over; /* from here on it may have too many */
    uint64_t free_near;  /* memory of the machine: the same, below it */
    bool close;          /* much of a bound is used: each look is a count */
    uint64_t shared_before; /* files in memory of the machine at the start */
};

void bounds_begin(struct bounds *b, const struct job *j);
/* Which bound is exceeded; SUPER_ENDED = none. */
enum super_why bounds_look(struct bounds *b, struct job *j, int64_t until_ms);

/* ---- shmem.c ------------------------------------------------------------- */
void shmem_begin(void); /* with the descriptors of the program */
/* Memory of files that the tree has made; after tree_look. */
uint64_t shmem_of_files(const struct job *j);

/* ---- cgroup.c: bounds that the kernel enforces, where it can ------------- */
/* Before the start. Without a cgroup only bounds.c counts. */
void cgroup_make(struct job *j);
void cgroup_remove(struct job *j); /* once the tree is gone */
/* Which bound was exceeded; SUPER_ENDED = none. */
enum super_why cgroup_look(const struct job *j);
void cgroup_kill(const struct job *j); /* all at once, where the kernel can */

/* ---- proc.c: reading /proc ----------------------------------------------- */
size_t put_number(char *out, uint64_t n);
uint64_t take_number(const char **p);
/* Letters that no program can guess. */
void put_random(char *out, size_t len);
/* /proc/PID/WHAT, with a number behind it if that is not below 0. */
void proc_path(char out[PROC_PATH_MAX], uint32_t pid, const char *what,
               int64_t n);
size_t proc_read_of(uint32_t pid, const char *what, char *out, size_t size);
void proc_fd_path(char out[PROC_PATH_MAX], int fd); /* of our own */
/* Opens a folder to be listed, but not through a link. */
long open_folder(long at, const char *name);
/* The number behind a name at the beginning of a line; 0 = there is none. */
uint64_t proc_field(const char *text, const char *name);
int64_t clock_ms(void);

/* ---- notify.c: calls that the filter leaves to the supervisor ------------ */
size_t notify_calls(uint16_t out[NOTIFY_CALLS_MAX], bool signals);
void notify_answer(struct job *j);
/* Where an open file lies; 0 or -errno. */
int place_of(int fd, char *out, size_t size);

/* ---- git.c: config and hooks of repositories ----------------------------- */
typedef void git_tell(const char *rel, enum super_git what);
void git_keep(const struct job *j); /* before the program starts */
void git_check(git_tell *tell);     /* once the tree is gone */

/* ---- mounts.c: paths that the program cannot change ---------------------- */
enum mount_kind {
    MOUNT_READ_ONLY,
    MOUNT_PINNED, /* its content may change, but it cannot be replaced */
};

/* Before the start; keeps `root`, copies `rel`; ignores paths over a limit. */
void mounts_add(const char *root, const char *rel, enum mount_kind kind);
/* Tells the paths that were to be hidden, exist and are not hidden. */
void mounts_tell(const struct job *j, git_tell *tell);
/* The namespaces to clone the child with; 0 = no mounts are needed. */
unsigned long mounts_namespaces(const struct job *j);
int mounts_make(const struct job *j); /* in the child; 0 or -errno */

/* ---- tmp.c: the private folder ------------------------------------------- */
long tmp_make(struct job *j); /* 0 or -errno; sets TMPDIR, too */
void tmp_remove(struct job *j);

#endif

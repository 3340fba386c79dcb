/*
 * super.h - the parts of the supervisor.
 */
#ifndef SUPER_SUPER_H
#define SUPER_SUPER_H

#include "super/spec.h"
#include "super/sys.h"

enum { TMP_PATH_MAX = 4096, PLACES_MAX = 16384, NOTIFY_CALLS_MAX = 32 };
enum { ABI_TRUNCATE = 3, ABI_SIGNALS = 6 }; /* of Landlock: since when */

/* The spec, unpacked; strings lie in the mapped file. */
struct job {
    const struct super_spec *spec;
    const char *cwd;
    char **lists[SUPER_LISTS]; /* each with NULL at the end */
    char tmp[TMP_PATH_MAX];    /* TMPDIR=path of the private folder */
    const char *tmp_path;      /* NULL = none */
    int landlock_abi;          /* 0 = not probed yet */
    int listener;              /* of the filter's questions; 0 = none */
    char places[PLACES_MAX];   /* what it may write: each with its NUL */
    size_t places_len;
};

/* Where the start stopped; shared with the child until its exec. */
struct failure {
    enum super_step step;
    int error; /* 0 = it did not stop */
};

/* ---- start.c: from the spec to a running program --------------------------
 */
/* The pid, or -1 with the failure filled. */
int start_child(struct job *j, volatile struct failure *f);

/* ---- landlock.c -----------------------------------------------------------
 */
int landlock_abi(void); /* 0 or -errno: there is none */
/* Of the calling process. */
void landlock_apply(struct job *j, volatile struct failure *f);

/* ---- filter.c -------------------------------------------------------------
 */
/* Sets the filter of the calling process. */
void filter_apply(struct job *j, volatile struct failure *f);

/* ---- tree.c: who descends from the supervisor ------------------------------
 */
void tree_signal(int signal);     /* to all of them */
uint32_t tree_tasks(void);        /* processes and threads */
uint32_t tree_tasks_of_all(void); /* of the whole machine; quick */
bool tree_has(int pid);           /* or thread */
bool tree_has_group(int group);   /* all of it */

/* ---- notify.c: what the filter does not decide ------------------------------
 */
size_t notify_calls(uint16_t out[NOTIFY_CALLS_MAX], bool signals);
void notify_answer(struct job *j);
/* Where an open file lies; 0 or -errno. */
int place_of(int fd, char *out, size_t size);

/* ---- tmp.c: the private folder ---------------------------------------------
 */
int tmp_use(struct job *j); /* 0 or -errno */
/* Removes all that is in it; false if something stays. */
bool tmp_empty(const char *path);
void tmp_remove(const char *path);

#endif

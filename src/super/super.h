/*
 * super.h - the parts of the supervisor.
 */
#ifndef SUPER_SUPER_H
#define SUPER_SUPER_H

#include "super/spec.h"
#include "super/sys.h"

enum { TMP_PATH_MAX = 4096 };

/* The spec, unpacked; strings lie in the mapped file. */
struct job {
    const struct super_spec *spec;
    const char *cwd;
    char **lists[SUPER_LISTS]; /* each with NULL at the end */
    char tmp[TMP_PATH_MAX];    /* TMPDIR=path of the private folder */
    const char *tmp_path;      /* NULL = none */
    int landlock_abi;          /* 0 = not probed yet */
    int listener;              /* of the filter, -1 = none */
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
int tree_signal(int signal); /* to all of them; how many there were */

/* ---- tmp.c: the private folder ---------------------------------------------
 */
int tmp_use(struct job *j); /* 0 or -errno */
/* Removes all that is in it; false if something stays. */
bool tmp_empty(const char *path);
void tmp_remove(const char *path);

#endif

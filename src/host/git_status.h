/*
 * git_status.h - which files of a repository are changed, as git says.
 *
 * A repository may come from a stranger, and its config names programs: hooks,
 * filters, a file system monitor, a way to fetch what is missing. So git runs
 * in the sandbox, reads nothing but the repository, writes nothing, and cannot
 * start another program.
 */
#ifndef HOST_GIT_STATUS_H
#define HOST_GIT_STATUS_H

#include "base/str.h"

enum {
    GIT_STATUS_MS = 50,         /* that a run waits for it at most */
    GIT_STATUS_FILES = 20,      /* named; the rest is counted */
    GIT_STATUS_NAMES = 4 << 10, /* bytes of their names together */
};

struct git_status;

/* Starts git for the repository of this folder (absolute, without links); it is
 * given up after time_ms. NULL: there is no repository, no git or no memory. */
struct git_status *git_status_start(const struct mem *m, const char *cwd,
                                    int64_t time_ms);
/* Waits for the rest of its time. If git has ended well, adds the members
 * `dirty` and, if there are more, `dirty_more` to an open object; nothing, if
 * no file is changed or git is too slow. NULL adds nothing. */
void git_status_put(struct git_status *g, struct buf *json);
void git_status_free(struct git_status *g); /* NULL: nothing */

#endif

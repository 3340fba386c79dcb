/*
 * project.h - what a folder says about the work in it: git and notes.
 *
 * A folder may come from a stranger. So only files that the user or root owns
 * count, none is reached through a link that leads elsewhere, and none is
 * larger than what it may add.
 */
#ifndef HOST_PROJECT_H
#define HOST_PROJECT_H

#include <limits.h>

#include "host/git_status.h"

enum { NOTES_BYTES_MAX = 32 << 10 }; /* of all notes together */

/* Adds the members `git` and `notes` of run_start.context to an open object,
 * if there are any. Notes are AGENTS.md, CLAUDE.md or WEND.md, the first that
 * exists, of each folder from that of .git down to `cwd` (an absolute path
 * without links); without .git, of cwd alone. `trusted` is recorded with each.
 * status: which files are changed; NULL: that is not told. `trouble` gets a
 * line for each note that was left out. */
void project_read(const char *cwd, bool trusted, struct git_status *status,
                  struct buf *json, struct buf *trouble);

/* Bytes of cwd up to the folder of .git; 0: none above it. */
size_t project_root(const char *cwd);
/* The folder with HEAD of that repository, and the one that its worktrees
 * share, which may be the same. False: there is none. */
bool project_git(const char *root, char folder[PATH_MAX], char common[PATH_MAX],
                 const struct mem *m);

#endif

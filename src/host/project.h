/*
 * project.h - what a folder says about the work in it: git and notes.
 *
 * A folder may come from a stranger. So only files that the user or root owns
 * count, none is reached through a link that leads elsewhere, and none is
 * larger than what it may add.
 */
#ifndef HOST_PROJECT_H
#define HOST_PROJECT_H

#include "base/str.h"

enum { NOTES_BYTES_MAX = 32 << 10 }; /* of all notes together */

/* Adds the members `git` and `notes` of run_start.context to an open object,
 * if there are any. Notes are AGENTS.md, CLAUDE.md or WEND.md, the first that
 * exists, of each folder from that of .git down to `cwd` (an absolute path
 * without links); without .git, of cwd alone. `trusted` is recorded with each.
 * `trouble` gets a line for each that was left out. */
void project_read(const char *cwd, bool trusted, struct buf *json,
                  struct buf *trouble);

/* Bytes of cwd up to the folder of .git; 0: none above it. */
size_t project_root(const char *cwd);

#endif

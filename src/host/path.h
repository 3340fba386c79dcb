/*
 * path.h - the only way to a file: beneath a directory that is held open.
 *
 * The kernel resolves (openat2, RESOLVE_BENEATH), so a symlink swapped in
 * between cannot lead outside. No link is followed: a path that a rule looked
 * at is the path of what is opened. Where openat2 is missing, opening fails
 * with a message that says so: no weaker way is taken.
 */
#ifndef HOST_PATH_H
#define HOST_PATH_H

#include <sys/types.h>

#include "base/str.h"

/* A directory fd for path_open, close-on-exec; -1 with err on failure. */
int path_root(const char *dir, wend_error *err);
/* Opens beneath root_fd (close-on-exec added to flags); -1 with err: which
 * path, what went wrong, in words a model understands. Absolute paths are
 * accepted only when they lie beneath the root's own absolute path. */
int path_open(int root_fd, wend_str path, int flags, mode_t mode,
              wend_error *err);
/* The same for a path relative to any directory that was opened beneath the
 * root; a descriptor, or -errno. */
int path_beneath(int dir_fd, const char *path, int flags, mode_t mode);
/* Replaces a file's content by writing a new one beside it and renaming
 * within the same directory; makes missing parent directories beneath the
 * root; fsyncs the file. Keeps its mode. Waits for other threads of this
 * process that write the same file. */
wend_status path_write(int root_fd, wend_str path, wend_str content,
                       wend_error *err);

/* Appends what a file becomes. */
typedef wend_status (*path_change_fn)(void *ctx, wend_str old, struct buf *out,
                                      wend_error *err);
/* Reads a file that is there, of at most max bytes, and replaces it by what
 * fn makes of it, as path_write does; no thread of this process writes it in
 * between, and if another process did it is left alone: WEND_E_BUSY. */
wend_status path_change(int root_fd, wend_str path, size_t max,
                        path_change_fn fn, void *ctx, const struct mem *m,
                        wend_error *err);
bool path_is_dots(const char *name); /* . or .. */
/* Takes the name of another file out of a message of these: the one that was
 * meant, or where a link leads. */
void path_unname(wend_error *err);

#endif

/*
 * path.h - the only way to a file: beneath a directory that is held open.
 *
 * The kernel resolves (openat2, RESOLVE_BENEATH), so a symlink swapped in
 * meanwhile cannot lead outside. No link is followed: the path that the rules
 * checked is the path of what is opened. Without openat2, opening fails with a
 * message that says so; there is no weaker fallback.
 */
#ifndef HOST_PATH_H
#define HOST_PATH_H

#include <sys/types.h>

#include "base/str.h"

/* A directory fd for path_open, close-on-exec; below 0: the status. */
int path_root(const char *dir, wend_error *err);
/* Opens beneath root_fd (close-on-exec added to flags); below 0: the status,
 * with err in words that a model understands. An absolute path must lie beneath
 * that of the root. */
int path_open(int root_fd, wend_str path, int flags, mode_t mode,
              wend_error *err);
/* The same from a directory that was opened beneath the root; or -errno. */
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
/* Reads an existing file of at most max bytes and replaces it by what fn makes
 * of it, as path_write does. No thread of this process writes it in between;
 * if another process did, the file stays as it is: WEND_E_BUSY. */
wend_status path_change(int root_fd, wend_str path, size_t max,
                        path_change_fn fn, void *ctx, const struct mem *m,
                        wend_error *err);
bool path_is_dots(const char *name); /* . or .. */
/* Removes a suggested name or the target of a link from such a message. */
void path_unname(wend_error *err);

#endif

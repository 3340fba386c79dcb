/*
 * path_open.h - what path.c and path_write.c share.
 */
#ifndef HOST_PATH_OPEN_H
#define HOST_PATH_OPEN_H

#include <fcntl.h>
#include <limits.h>

#include "host/path.h"

#if !defined(O_PATH)
#define O_PATH O_RDONLY
#endif

enum { PATH_SHOWN_MAX = 200 }; /* bytes of a path that a message repeats */

/* Made relative to the root, for the kernel to resolve. */
struct relative {
    char text[PATH_MAX];
};

wend_status path_relative(int root_fd, wend_str path, struct relative *out,
                          wend_error *err);
/* Words for an errno. */
wend_status path_trouble(wend_error *err, int code, wend_str path);
/* The same for a path that did not open: names what may have been meant, or
 * where a link leads, if that is inside. Cuts r to pieces. */
wend_status path_explain(wend_error *err, int root_fd, struct relative *r,
                         wend_str path, int code);

#endif

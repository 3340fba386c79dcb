/*
 * out.h - buffered output that never blocks.
 *
 * Added text is pending until out_write, which writes as much as a pipe that
 * polls writable accepts without blocking.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "base/str.h"

enum {
    OUT_PENDING_MAX = 64 << 10
}; /* above it no more events are read from the run */

struct out {
    int fd;
    struct buf text; /* add to it freely */
    size_t at;       /* bytes already written */
    int error;       /* errno that closed it; all later text is dropped */
};

bool out_full(const struct out *o);
bool out_pending(const struct out *o);
void out_write(struct out *o);
void out_close(struct out *o, int error); /* the reader is gone */

#endif

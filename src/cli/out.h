/*
 * out.h - output that waits for its reader, so that nobody else has to.
 *
 * What is added is pending until out_write; that writes one piece that a
 * pipe takes without blocking once poll(2) has said so.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "base/str.h"

enum { OUT_PENDING_MAX = 64 << 10 }; /* then no more is taken from the run */

struct out {
    int fd;
    struct buf text; /* add to it freely */
    size_t at;       /* so much of it is written */
    int error;       /* errno that closed it; all later text is dropped */
};

bool out_full(const struct out *o);
bool out_pending(const struct out *o);
void out_write(struct out *o);
void out_close(struct out *o, int error); /* nobody reads any more */

#endif

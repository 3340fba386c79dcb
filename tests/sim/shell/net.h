/*
 * net.h - a network that is not there: a server of models in memory.
 */
#ifndef SIM_SHELL_NET_H
#define SIM_SHELL_NET_H

#include "sim.h"

enum net_fault {
    NET_GOOD,
    NET_REFUSED, /* no connection */
    NET_STATUS,  /* 429, 500, 529, 400 */
    NET_RESET,   /* at any byte */
    NET_SHORT,   /* the same, as if all were well */
    NET_SILENT,  /* at any byte, and no end */
    NET_GARBAGE, /* from any byte on */
    NET_TWICE,   /* the answer comes again */
    NET_PAGE,    /* of a proxy, in HTML */
    NET_MOVED,   /* it is elsewhere; only services are */
    NET_FAULTS
};

wend_status net_new(void *ctx, const struct mem *m, struct loop *loop,
                    struct fetch **out, wend_error *err);

#endif

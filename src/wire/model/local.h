/*
 * local.h - model servers that people run themselves, by their usual ports.
 */
#ifndef WIRE_LOCAL_H
#define WIRE_LOCAL_H

#include "base/str.h"

struct local_server {
    const char *name;  /* for `wend models` */
    const char *title; /* for people */
    uint16_t port;
    const char *start; /* the command that starts it */
};

const struct local_server *local_at(size_t i); /* NULL after the last */
const struct local_server *local_named(wend_str name);
/* The server that usually has the port of a URL of this machine; NULL: none. */
const struct local_server *local_find(wend_str url, const struct mem *m);

#endif

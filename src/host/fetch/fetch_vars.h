/*
 * fetch_vars.h - the variables of the environment that transfers obey.
 *
 * Only for src/host.
 */
#ifndef HOST_FETCH_VARS_H
#define HOST_FETCH_VARS_H

#include "base/url.h"
#include "host/fetch/fetch.h"

/* The proxy of one request. */
struct proxy {
    const char *url;  /* as libcurl takes it; "": none */
    wend_str name;    /* `host:port`, for messages; absent: none */
    wend_str user;    /* what precedes the '@'; no message may have it */
    const char *from; /* the variable; NULL: the request names it */
    bool bad;         /* its value is no proxy; url is "" */
};

/* False: no memory. The arena must last as long as `out`. */
bool proxy_find(const struct fetch_request *q, struct arena *a,
                struct proxy *out);

/* Certificates to trust: a file, or a folder if that is NULL. */
struct authorities {
    const char *file, *folder;
    const char *from; /* what names them, for messages; NULL: the system */
};

/* ca_file: of the request; NULL: the environment's, then the system's. */
void authorities_find(const char *ca_file, struct authorities *out);

#endif

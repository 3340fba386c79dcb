/*
 * fetch_curl.h - libcurl's functions, found at run time.
 *
 * The library and the thirty others that it needs take milliseconds to
 * load; who makes no transfer does not load it. Only for src/host.
 */
#ifndef HOST_FETCH_CURL_H
#define HOST_FETCH_CURL_H

#include <curl/curl.h>

#include "wend.h"

#define CURL_FUNCTIONS(X)  \
    X(easy_cleanup)        \
    X(easy_getinfo)        \
    X(easy_init)           \
    X(easy_pause)          \
    X(easy_reset)          \
    X(easy_setopt)         \
    X(easy_strerror)       \
    X(global_init)         \
    X(multi_add_handle)    \
    X(multi_cleanup)       \
    X(multi_info_read)     \
    X(multi_init)          \
    X(multi_remove_handle) \
    X(multi_setopt)        \
    X(multi_socket_action) \
    X(multi_timeout)       \
    X(share_cleanup)       \
    X(share_init)          \
    X(share_setopt)        \
    X(url)                 \
    X(url_cleanup)         \
    X(url_set)             \
    X(version_info)

struct curl_api {
#define CURL_FIELD(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(CURL_FIELD)
#undef CURL_FIELD
};

/* Loads the library with the first call. [any thread] */
wend_status curl_load(const struct curl_api **out, wend_error *err);

#endif

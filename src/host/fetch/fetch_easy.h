/*
 * fetch_easy.h - a request as libcurl's options; its results in words.
 *
 * Only for src/host.
 */
#ifndef HOST_FETCH_EASY_H
#define HOST_FETCH_EASY_H

#include "host/fetch/fetch_curl.h"
#include "host/fetch/fetch_vars.h"

/* WEND_E_INVAL: another protocol, or line ends inside a header. */
wend_status easy_check(const struct fetch_request *q, wend_error *err);
/* The host without port and user, or the path of a unix socket; for names to
 * look up. In the arena. */
wend_str easy_host(const struct fetch_request *q, struct arena *a);
/* The same with the port, for messages. */
wend_str easy_party(const struct fetch_request *q, struct arena *a);
/* The URL of a handle's last request, taken apart: mostly the next one has
 * the same, and libcurl is slow at it. Zero-initialise with text.mem set. */
struct easy_url {
    struct buf text;
    CURLU *parts;
};
void easy_url_free(const struct curl_api *curl, struct easy_url *u);
/* Who takes part in a request, for messages. */
struct parties {
    const char *host; /* with its port */
    struct proxy proxy;
    struct authorities ca;
};
/* Sets everything but callbacks. The arena must last as long as the
 * transfer, and gets what `out` points to. False: no memory. */
bool easy_set(const struct curl_api *curl, CURL *easy,
              const struct fetch_request *q, struct easy_url *url,
              struct parties *out, struct arena *a);
enum { PARTIES_BYTES = 400 }; /* enough for the names of both */
/* `host:port[ through the proxy host:port]`, as messages begin. */
void easy_put_host(const struct parties *p, char *out, size_t size);
/* detail: libcurl's own words. Writes `host:port: reason`. */
enum fetch_end easy_result(const struct curl_api *curl, CURL *easy,
                           CURLcode code, const struct parties *p,
                           const char *detail, char *message,
                           size_t message_size);

#endif

/*
 * fetch_easy.c - a request as libcurl's options; its results in words.
 *
 * What a transfer may do is decided here: http and https only, certificates
 * always checked, no redirect followed, nothing decoded but chunks.
 */
#include "host/fetch_easy.h"
#include "host/fetch_route.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"

enum {
    RECEIVE_BYTES = 16 << 10,   /* per transfer under way: one read */
    SEND_BYTES_MIN = 64 << 10,  /* libcurl's own; enough for most bodies */
    SEND_BYTES_MAX = 512 << 10, /* held while a larger body's answer comes */
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_EVERY_S = 30,
    UNIX_PATH_MAX = sizeof(((struct sockaddr_un *)0)->sun_path),
};

/* ---- What may go onto the wire -------------------------------------------
 */

static bool has_control(const char *s, unsigned char below)
{
    for (; *s; s++)
        if ((unsigned char)*s < below || *s == 0x7f)
            return true;
    return false;
}

wend_status easy_check(const struct fetch_request *q, wend_error *err)
{
    if (!q->url || (strncasecmp(q->url, "http://", 7) != 0 &&
                    strncasecmp(q->url, "https://", 8) != 0))
        return fail(err, WEND_E_INVAL, "the URL is not http:// or https://");
    if (has_control(q->url, '!'))
        return fail(err, WEND_E_INVAL, "a space or control byte in the URL");
    if (q->method && (!*q->method || has_control(q->method, '!')))
        return fail(err, WEND_E_INVAL, "the method is not a word");
    if (q->unix_socket && strlen(q->unix_socket) >= UNIX_PATH_MAX)
        return fail(err, WEND_E_INVAL, "%s: the path is over %d bytes",
                    q->unix_socket, UNIX_PATH_MAX - 1);
    for (size_t i = 0; q->headers && q->headers[i]; i++) {
        const char *colon = strchr(q->headers[i], ':');

        if (!colon || colon == q->headers[i])
            return fail(err, WEND_E_INVAL, "header %zu has no name", i + 1);
        if (has_control(q->headers[i], ' '))
            return fail(err, WEND_E_INVAL, "a control byte in header %.*s",
                        (int)(colon - q->headers[i]), q->headers[i]);
    }
    return WEND_OK;
}

wend_str easy_host(const struct fetch_request *q, struct arena *a)
{
    const char *at = strstr(q->url, "://") + 3;
    size_t len = strcspn(at, "/?#\\");
    const char *user = memrchr(at, '@', len), *end;

    if (q->unix_socket)
        return arena_str(a, str_of(q->unix_socket));
    if (user) {
        len -= (size_t)(user + 1 - at);
        at = user + 1;
    }
    end = *at == '[' ? memchr(at, ']', len) : NULL;
    if (end)
        return arena_str(a, (wend_str){at, (size_t)(end + 1 - at)});
    end = memchr(at, ':', len);
    return arena_str(a, (wend_str){at, end ? (size_t)(end - at) : len});
}

const char *easy_ca_file(void)
{
    /* Debian; Fedora; SUSE; Alpine and the BSDs */
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    };
    const char *named = getenv("SSL_CERT_FILE");

    if (named && *named)
        return named;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!access(places[i], R_OK))
            return places[i];
    return NULL;
}

/* ---- Options ------------------------------------------------------------- */

static const struct {
    CURLoption option;
    long value;
} fixed[] = {
    {CURLOPT_NOSIGNAL, 1},
    {CURLOPT_QUICK_EXIT, 1}, /* stopping does not wait for a name server */
    {CURLOPT_FOLLOWLOCATION, 0},
    {CURLOPT_SSL_VERIFYPEER, 1},
    {CURLOPT_SSL_VERIFYHOST, 2},
    {CURLOPT_PROXY_SSL_VERIFYPEER, 1},
    {CURLOPT_PROXY_SSL_VERIFYHOST, 2},
    {CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
    {CURLOPT_BUFFERSIZE, RECEIVE_BYTES},
    {CURLOPT_TCP_NODELAY, 1},
    {CURLOPT_TCP_KEEPALIVE, 1},
    {CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
    {CURLOPT_TCP_KEEPINTVL, KEEPALIVE_EVERY_S},
};

static bool named(const struct fetch_request *q, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; q->headers && q->headers[i]; i++)
        if (!strncasecmp(q->headers[i], name, len) && q->headers[i][len] == ':')
            return true;
    return false;
}

static struct curl_slist *add_header(struct curl_slist *list, struct arena *a,
                                     const char *line)
{
    struct curl_slist *s = arena_alloc(a, sizeof *s);

    if (!s)
        return list;
    s->data = (char *)(uintptr_t)line; /* libcurl only reads it */
    s->next = list;
    return s;
}

/* libcurl's word for a header without a value is a semicolon. */
static char *header_line(const char *header, struct arena *a)
{
    size_t name = strcspn(header, ":");
    bool empty = header[name + 1 + strspn(header + name + 1, " ")] == 0;
    wend_str line = {header, empty ? name + 1 : strlen(header)};
    char *copy = arena_chars(a, line.len);

    if (!copy)
        return NULL;
    memcpy(copy, line.ptr, line.len);
    copy[line.len] = 0;
    if (empty)
        copy[name] = ';';
    return copy;
}

/* In the order given; `Name:` tells libcurl to send none of its own. */
static struct curl_slist *header_list(const struct fetch_request *q,
                                      struct arena *a)
{
    struct curl_slist *list = NULL;
    size_t n = 0;

    if (!named(q, "Expect"))
        list = add_header(list, a, "Expect:");
    if (!named(q, "Content-Type"))
        list = add_header(list, a, "Content-Type:");
    if (!named(q, "Accept-Encoding"))
        list = add_header(list, a, "Accept-Encoding: identity");
    while (q->headers && q->headers[n])
        n++;
    while (n)
        list = add_header(list, a, header_line(q->headers[--n], a));
    return list;
}

/* libcurl waits for the socket before every piece of a body. */
static long send_bytes(size_t body_len)
{
    if (body_len > SEND_BYTES_MAX)
        return SEND_BYTES_MAX;
    return body_len < SEND_BYTES_MIN ? SEND_BYTES_MIN : (long)body_len;
}

static int set_method(const struct curl_api *curl, CURL *easy,
                      const struct fetch_request *q)
{
    int failed = 0;

    if (q->body.ptr) {
        failed |= curl->easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE,
                                    send_bytes(q->body.len));
        failed |= curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                    (curl_off_t)q->body.len);
        failed |= curl->easy_setopt(
            easy, q->copy_body ? CURLOPT_COPYPOSTFIELDS : CURLOPT_POSTFIELDS,
            q->body.ptr);
    }
    if (q->method && !strcmp(q->method, "HEAD"))
        failed |= curl->easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (q->method)
        failed |= curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, q->method);
    return failed;
}

/* CAPATH must be off: a folder is read again for every connection, the file
 * once for all. */
static int set_ca(const struct curl_api *curl, CURL *easy, const char *file)
{
    int failed = 0;

    failed |= curl->easy_setopt(easy, CURLOPT_CAPATH, NULL);
    failed |= curl->easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    failed |= curl->easy_setopt(easy, CURLOPT_CAINFO, file);
    failed |= curl->easy_setopt(easy, CURLOPT_PROXY_CAINFO, file);
    return failed;
}

void easy_url_free(const struct curl_api *curl, struct easy_url *u)
{
    curl->url_cleanup(u->parts);
    u->parts = NULL;
    buf_free(&u->text);
}

/* The URL itself is set, too: libcurl says what is wrong with it if it cannot
 * be taken apart. */
static int set_url(const struct curl_api *curl, CURL *easy, const char *url,
                   struct easy_url *u)
{
    int failed = curl->easy_setopt(easy, CURLOPT_URL, url);

    if (!u->parts || !str_is(buf_view(&u->text), url)) {
        easy_url_free(curl, u);
        buf_cstr(&u->text, url);
        u->parts = curl->url();
        failed |= u->text.failed || !u->parts;
        if (u->parts && curl->url_set(u->parts, CURLUPART_URL, url,
                                      CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
            easy_url_free(curl, u);
    }
    return failed | (int)curl->easy_setopt(easy, CURLOPT_CURLU, u->parts);
}

/* "": none; NULL: the environment's. */
static const char *proxy_of(const struct fetch_request *q, struct arena *a)
{
    struct url u;
    wend_status s;

    if (q->unix_socket || q->proxy)
        return q->unix_socket ? "" : q->proxy;
    s = url_parse(str_of(q->url), a, &u, NULL);
    a->failed |= s == WEND_E_NOMEM;
    return s == WEND_OK && route_is_here(&u) ? "" : NULL;
}

bool easy_set(const struct curl_api *curl, CURL *easy,
              const struct fetch_request *q, const char *ca_file,
              struct easy_url *url, struct arena *a)
{
    struct curl_slist *headers = header_list(q, a);
    const char *proxy = proxy_of(q, a);
    /* libcurl shares it out among the addresses of a host. */
    long connect_ms = q->connect_ms && q->connect_ms < INT_MAX
                          ? (long)q->connect_ms
                          : INT_MAX;
    int failed = 0;

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        curl->easy_setopt(easy, fixed[i].option, fixed[i].value);
    failed |= curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    failed |= set_url(curl, easy, q->url, url);
    failed |= curl->easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    failed |= curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
    failed |= curl->easy_setopt(easy, CURLOPT_HTTP_VERSION,
                                q->http2 ? (long)CURL_HTTP_VERSION_2TLS
                                         : (long)CURL_HTTP_VERSION_1_1);
    failed |= curl->easy_setopt(easy, CURLOPT_PIPEWAIT, (long)q->http2);
    failed |= set_method(curl, easy, q);
    failed |= set_ca(curl, easy, q->ca_file ? q->ca_file : ca_file);
    if (proxy)
        failed |= curl->easy_setopt(easy, CURLOPT_PROXY, proxy);
    /* One that is there was perhaps opened unasked; and on one that was kept
     * libcurl would ask again. */
    if (q->allow || q->once)
        failed |= curl->easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    if (q->allow)
        failed |= curl->easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    if (q->unix_socket)
        failed |=
            curl->easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, q->unix_socket);
    return !failed && !a->failed;
}

/* ---- Results in words ----------------------------------------------------
 */

static const struct {
    CURLcode code;
    enum fetch_end end;
    const char *words; /* NULL: the system's, else libcurl's */
} results[] = {
    {CURLE_OK, FETCH_OK, ""},
    {CURLE_OUT_OF_MEMORY, FETCH_NOMEM, "out of memory"},
    {CURLE_URL_MALFORMAT, FETCH_NETWORK, "the URL is malformed"},
    {CURLE_COULDNT_RESOLVE_HOST, FETCH_NETWORK, "could not resolve the name"},
    {CURLE_COULDNT_RESOLVE_PROXY, FETCH_NETWORK,
     "could not resolve the name of the proxy"},
    {CURLE_COULDNT_CONNECT, FETCH_NETWORK, NULL},
    {CURLE_GOT_NOTHING, FETCH_NETWORK,
     "the server closed the connection without an answer"},
    {CURLE_RECV_ERROR, FETCH_NETWORK, NULL},
    {CURLE_SEND_ERROR, FETCH_NETWORK, NULL},
    {CURLE_PARTIAL_FILE, FETCH_NETWORK,
     "the connection was closed before the end of the body"},
    {CURLE_UNSUPPORTED_PROTOCOL, FETCH_NETWORK, "the answer is not HTTP"},
    {CURLE_WEIRD_SERVER_REPLY, FETCH_NETWORK, "the answer is not HTTP"},
    {CURLE_FILESIZE_EXCEEDED, FETCH_NETWORK, "the headers are too long"},
    {CURLE_SSL_CACERT_BADFILE, FETCH_NETWORK,
     "the file of certificate authorities cannot be read"},
};

/* The server's TLS offers no protocol that we do. Older versions of OpenSSL
 * know the alert by its number only. */
static bool is_http2_only(CURLcode code, const char *detail)
{
    return code == CURLE_SSL_CONNECT_ERROR &&
           (strstr(detail, "no application protocol") ||
            strstr(detail, "reason(1120)"));
}

/* Two very different mistakes share one code. */
static const char *certificate_words(const char *detail)
{
    return strstr(detail, "match") ? "the certificate does not match the host"
                                   : "the certificate is not trusted";
}

/* Handles are used again and keep the number of an older failure, so it
 * counts only where libcurl has set it for sure. */
static const char *system_words(const struct curl_api *curl, CURL *easy,
                                CURLcode code, const char *detail)
{
    long number = 0;

    if (code == CURLE_COULDNT_CONNECT)
        curl->easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    if (number == ECONNREFUSED)
        return "connection refused";
    if (number)
        return strerrordesc_np((int)number);
    if (strstr(detail, "reset by peer"))
        return "connection reset by the server";
    if (strstr(detail, "Broken pipe"))
        return "connection closed by the server";
    return NULL;
}

enum fetch_end easy_result(const struct curl_api *curl, CURL *easy,
                           CURLcode code, const char *host, const char *detail,
                           char *message, size_t message_size)
{
    enum fetch_end end = FETCH_NETWORK;
    const char *words = NULL;

    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].code == code) {
            end = results[i].end;
            words = results[i].words;
        }
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        words = certificate_words(detail);
    if (is_http2_only(code, detail)) {
        end = FETCH_HTTP2_ONLY;
        words = "the server does not speak HTTP/1.1";
    }
    if (!words)
        words = system_words(curl, easy, code, detail);
    if (!words)
        words = *detail ? detail : curl->easy_strerror(code);
    if (code == CURLE_OK)
        message[0] = 0;
    else if (*detail && words != detail)
        utf8_fmt(message, message_size, "%s: %s (%s)", host, words, detail);
    else
        utf8_fmt(message, message_size, "%s: %s", host, words);
    return end;
}

/*
 * fetch_easy.c - a request as libcurl's options; its results in words.
 *
 * What a transfer may do is decided here: http and https only, certificates
 * always checked, no redirect followed, nothing decoded but chunks.
 */
#include "host/fetch/fetch_easy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "host/fetch/fetch_route.h"
#include "wire/http/http.h"

enum {
    RECEIVE_BYTES = 16 << 10,   /* per transfer under way: one read */
    SEND_BYTES_MIN = 64 << 10,  /* libcurl's own; enough for most bodies */
    SEND_BYTES_MAX = 512 << 10, /* held while a larger body's answer comes */
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_EVERY_S = 30,
    UNIX_PATH_MAX = sizeof(((struct sockaddr_un *)0)->sun_path),
};

/* ---- What may go onto the wire ------------------------------------------- */

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

/* host[:port] of a URL. */
static wend_str authority_of(const char *url)
{
    const char *at = strstr(url, "://") + 3;
    size_t len = strcspn(at, "/?#\\");
    const char *user = memrchr(at, '@', len);

    if (user) {
        len -= (size_t)(user + 1 - at);
        at = user + 1;
    }
    return (wend_str){at, len};
}

/* Without its port. */
static wend_str host_of(wend_str authority)
{
    const char *end = authority.len && *authority.ptr == '['
                          ? memchr(authority.ptr, ']', authority.len)
                          : NULL;

    if (end)
        authority.len = (size_t)(end + 1 - authority.ptr);
    else if ((end = memchr(authority.ptr, ':', authority.len)))
        authority.len = (size_t)(end - authority.ptr);
    return authority;
}

wend_str easy_host(const struct fetch_request *q, struct arena *a)
{
    return arena_str(a, q->unix_socket ? str_of(q->unix_socket)
                                       : host_of(authority_of(q->url)));
}

wend_str easy_party(const struct fetch_request *q, struct arena *a)
{
    wend_str whole = authority_of(q->url), host = host_of(whole);
    struct buf b = {.mem = a->mem};

    if (q->unix_socket || host.len < whole.len)
        return arena_str(a, q->unix_socket ? str_of(q->unix_socket) : whole);
    buf_str(&b, host);
    buf_cstr(&b, str_starts_nocase(str_of(q->url), "https:") ? ":443" : ":80");
    return buf_keep(&b, a);
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

    if (!route_named(q, "Expect"))
        list = add_header(list, a, "Expect:");
    if (!route_named(q, "Content-Type"))
        list = add_header(list, a, "Content-Type:");
    if (!route_named(q, "Accept-Encoding"))
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

void easy_url_free(const struct curl_api *curl, struct easy_url *u)
{
    curl->url_cleanup(u->parts);
    u->parts = NULL;
    buf_free(&u->text);
}

/* The URL itself is set, too: libcurl then says what is wrong with it. */
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

/* The environment may change before the message is written. */
static void find_parties(const struct fetch_request *q, struct parties *out,
                         struct arena *a)
{
    out->host = easy_party(q, a).ptr;
    proxy_find(q, a, &out->proxy);
    authorities_find(q->ca_file, &out->ca);
    out->ca.file = arena_str(a, str_of(out->ca.file)).ptr;
    out->ca.folder = arena_str(a, str_of(out->ca.folder)).ptr;
}

static int set_numbers(const struct curl_api *curl, CURL *easy,
                       const struct fetch_request *q, bool is_asked)
{
    const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        /* libcurl shares it out among the addresses of a host. */
        {CURLOPT_CONNECTTIMEOUT_MS, q->connect_ms && q->connect_ms < INT_MAX
                                        ? (long)q->connect_ms
                                        : INT_MAX},
        {CURLOPT_HTTP_VERSION,
         q->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1},
        {CURLOPT_PIPEWAIT, q->http2},
        /* A kept one may be to an address that was not asked about, and on
         * it libcurl would send the request again. */
        {CURLOPT_FRESH_CONNECT, is_asked || q->once},
        {CURLOPT_FORBID_REUSE, is_asked},
    };
    int failed = 0;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        failed |= curl->easy_setopt(easy, numbers[i].option, numbers[i].value);
    return failed;
}

static int set_pointers(const struct curl_api *curl, CURL *easy,
                        const struct parties *p, struct curl_slist *headers)
{
    const struct {
        CURLoption option;
        const void *value;
    } pointers[] = {
        {CURLOPT_PROTOCOLS_STR, "http,https"},
        {CURLOPT_HTTPHEADER, headers},
        /* A folder is read for every connection, a file once for all. */
        {CURLOPT_CAPATH, p->ca.folder},
        {CURLOPT_PROXY_CAPATH, p->ca.folder},
        {CURLOPT_CAINFO, p->ca.file},
        {CURLOPT_PROXY_CAINFO, p->ca.file},
        /* Both are always set: libcurl reads no variable then. */
        {CURLOPT_PROXY, p->proxy.url},
        {CURLOPT_NOPROXY, ""},
    };
    int failed = 0;

    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        failed |=
            curl->easy_setopt(easy, pointers[i].option, pointers[i].value);
    return failed;
}

bool easy_set(const struct curl_api *curl, CURL *easy,
              const struct fetch_request *q, struct easy_url *url,
              struct parties *out, struct arena *a)
{
    bool is_asked = q->allow || route_guard(q, a) != GUARD_NONE;
    int failed = 0;

    find_parties(q, out, a);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        curl->easy_setopt(easy, fixed[i].option, fixed[i].value);
    failed |= set_url(curl, easy, q->url, url);
    failed |= set_numbers(curl, easy, q, is_asked);
    failed |= set_pointers(curl, easy, out, header_list(q, a));
    failed |= set_method(curl, easy, q);
    if (q->unix_socket)
        failed |=
            curl->easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, q->unix_socket);
    return !failed && !a->failed;
}

/* ---- Results in words ---------------------------------------------------- */

enum { CODE_TOO_LARGE = 100 }; /* of libcurl 8.6, for FILESIZE_EXCEEDED */

static const struct {
    int code; /* CURLcode */
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
    {CURLE_FILESIZE_EXCEEDED, FETCH_HEADERS, http1_head_too_long},
    {CODE_TOO_LARGE, FETCH_HEADERS, http1_head_too_long},
    {CURLE_PEER_FAILED_VERIFICATION, FETCH_CERTIFICATE, NULL},
    {CURLE_SSL_CACERT_BADFILE, FETCH_CA_FILE, NULL},
};

/* The reason of a failure, for the message. */
struct reason {
    char text[400];
};

/* No common protocol; older versions of OpenSSL only give the number. */
static bool is_http2_only(CURLcode code, const char *detail)
{
    return code == CURLE_SSL_CONNECT_ERROR &&
           (strstr(detail, "no application protocol") ||
            strstr(detail, "reason(1120)"));
}

/* Two very different mistakes share one code. */
static void put_certificate(struct reason *r, const char *detail)
{
    bool other = strstr(detail, "match");

    utf8_fmt(r->text, sizeof r->text, "%s (%.150s)%s",
             other ? "the certificate does not match the host"
                   : "the certificate is not trusted",
             detail,
             other ? ""
                   : "; if its authority is one of your own, name that "
                     "authority's certificate with --ca-file");
}

static void put_authorities(struct reason *r, const struct authorities *ca)
{
    const char *place = ca->file ? ca->file : ca->folder;

    if (ca->from)
        utf8_fmt(r->text, sizeof r->text,
                 "the file of certificate authorities cannot be read: %.200s, "
                 "named by %s, must have certificates in PEM form",
                 place, ca->from);
    else
        utf8_fmt(r->text, sizeof r->text,
                 "the system's certificate authorities cannot be read (%.200s)"
                 "; install ca-certificates, or use --ca-file",
                 place ? place : "no file is there");
}

/* The answer of a proxy that did not connect us. */
static void put_tunnel(struct reason *r, const struct proxy *p, long status)
{
    const char *hint = "";

    if (status == 407)
        hint = "; it wants a user and a password, as in "
               "http://USER:PASSWORD@HOST:PORT";
    else if (status >= 400 && status < 500)
        hint = "; it does not allow this connection: ask its owner, or name "
               "the host in no_proxy";
    utf8_fmt(r->text, sizeof r->text,
             "the proxy answered with HTTP %ld%s%s%s%s", status, hint,
             status == 407 && p->from ? " (" : "",
             status == 407 && p->from ? p->from : "",
             status == 407 && p->from ? ")" : "");
}

/* For good; 5xx is a proxy that cannot reach a host just now. */
static bool is_refusal(long status)
{
    return status >= 300 && status < 500 && status != 408 && status != 429;
}

/* The same of a SOCKS proxy. */
static bool is_socks_refusal(const struct curl_api *curl, CURL *easy)
{
    static const CURLproxycode codes[] = {
        CURLPX_NO_AUTH,           CURLPX_USER_REJECTED,
        CURLPX_REPLY_NOT_ALLOWED, CURLPX_REQUEST_FAILED,
        CURLPX_IDENTD_DIFFER,     CURLPX_REPLY_COMMAND_NOT_SUPPORTED,
    };
    long code = 0;

    curl->easy_getinfo(easy, CURLINFO_PROXY_ERROR, &code);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == (long)codes[i])
            return true;
    return false;
}

/* A reused handle keeps an old errno: use it only where libcurl sets it. */
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

static void put_words(struct reason *r, const char *words, const char *detail)
{
    if (!words)
        words = detail;
    if (*detail && words != detail)
        utf8_fmt(r->text, sizeof r->text, "%s (%s)", words, detail);
    else
        utf8_fmt(r->text, sizeof r->text, "%s", words);
}

/* The end of a transfer through a proxy, which may be to blame. */
static enum fetch_end proxy_end(const struct curl_api *curl, CURL *easy,
                                CURLcode code, const struct proxy *p,
                                struct reason *r)
{
    long status = 0;

    curl->easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
    if (status >= 300) {
        put_tunnel(r, p, status);
        return is_refusal(status) ? FETCH_PROXY : FETCH_NETWORK;
    }
    return code == CURLE_PROXY && is_socks_refusal(curl, easy) ? FETCH_PROXY
                                                               : FETCH_NETWORK;
}

void easy_put_host(const struct parties *p, char *out, size_t size)
{
    if (p->proxy.name.len)
        utf8_fmt(out, size, "%.300s through the proxy %.*s", p->host,
                 (int)p->proxy.name.len, p->proxy.name.ptr);
    else
        utf8_fmt(out, size, "%.300s", p->host);
}

enum fetch_end easy_result(const struct curl_api *curl, CURL *easy,
                           CURLcode code, const struct parties *p,
                           const char *detail, char *message,
                           size_t message_size)
{
    enum fetch_end end = FETCH_NETWORK;
    const char *words = NULL;
    struct reason r = {""};
    char host[PARTIES_BYTES];

    if (p->proxy.user.len && strstr(detail, p->proxy.user.ptr))
        detail = "";
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].code == (int)code) {
            end = results[i].end;
            words = results[i].words;
        }
    if (is_http2_only(code, detail)) {
        end = FETCH_HTTP2_ONLY;
        words = "the server does not speak HTTP/1.1";
    }
    if (end == FETCH_CERTIFICATE)
        put_certificate(&r, detail);
    else if (end == FETCH_CA_FILE)
        put_authorities(&r, &p->ca);
    else if (end == FETCH_NETWORK && p->proxy.name.len)
        end = proxy_end(curl, easy, code, &p->proxy, &r);
    if (!words)
        words = system_words(curl, easy, code, detail);
    if (!words && !*detail)
        words = curl->easy_strerror(code);
    if (!r.text[0])
        put_words(&r, words, detail);
    easy_put_host(p, host, sizeof host);
    message[0] = 0;
    if (code != CURLE_OK)
        utf8_fmt(message, message_size, "%s: %s", host, r.text);
    return end;
}

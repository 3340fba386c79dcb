/*
 * fetch_libcurl.c - transfers by libcurl: TLS, proxies, names, HTTP/2, and
 * whatever plain sockets (fetch_plain.c) leave to it.
 *
 * libcurl may not be entered from its own callbacks; `inside` counts them.
 *
 * libcurl repeats requests by itself: on a new connection when a kept one ends
 * without an answer, five times when the server refuses streams of HTTP/2, and
 * over HTTP/1.1 when the server wants that, even after half of an answer.
 * may_send decides which of these pass; the rest fail, and the caller may
 * retry.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "host/fetch/fetch_pool.h"

enum { SHORTS_MAX = 3 };

/* ---- Callbacks of libcurl ------------------------------------------------ */

/* Whether the request may be sent, or sent again. On a new
 * connection libcurl asks again only if the server said that it did not take
 * the request. On a kept one of HTTP/2 it does not tell that from a close. */
static bool may_send(struct exchange *t)
{
    if (!t->requests)
        return true;
    if (t->head_done || t->head.len)
        t->broken = "the server broke the answer off";
    else if (t->requests > 1)
        t->broken = "the server refused the request twice";
    else if (!t->fresh && !t->harmless)
        t->broken = t->http2 ? "the server refused the request or closed the "
                               "kept connection, without an answer"
                             : "the server closed the connection without an "
                               "answer";
    return !t->broken;
}

static bool stays_here(struct exchange *t, const struct sockaddr *to)
{
    struct buf b = {.mem = &t->fetch->mem};
    struct address a;
    uint16_t port;

    if (address_of(to, &a, &port)) {
        if (route_is_own(&a))
            return true;
        address_put(&b, &a);
    }
    t->bare = true;
    transfer_bare(t, b.ptr);
    buf_free(&b);
    return false;
}

static struct place place_of(const struct curl_sockaddr *a)
{
    struct place p = {.len = a->addrlen};

    if (p.len > sizeof p.at)
        p.len = sizeof p.at;
    memcpy(&p.at, &a->addr, p.len);
    return p;
}

/* A name is known when a socket is opened for it. */
static curl_socket_t on_open(void *ctx, curlsocktype purpose,
                             struct curl_sockaddr *a)
{
    struct exchange *t = ctx;
    struct place to = place_of(a);

    (void)purpose;
    name_done(t, true);
    if (t->stopped || !may_send(t)) /* t->ctx may be gone */
        return CURL_SOCKET_BAD;
    t->opened = true;
    if (t->phase == PHASE_WAIT) { /* libcurl asks again */
        dial_begin(t);
        transfer_enter(t, PHASE_CONNECT);
    }
    transfer_wake(t); /* for the next address, if this one fails at once */
    if (t->guard == GUARD_LOOK && !stays_here(t, &a->addr))
        return CURL_SOCKET_BAD;
    if (t->allow && !t->allow(t->ctx, &a->addr, t->why, sizeof t->why))
        return CURL_SOCKET_BAD;
    if (!dial_tries(t, &to))
        return CURL_SOCKET_BAD;
    dial_next(t, t->dial.tried == t->dial.count);
    return multi_open_socket(t, a, &to);
}

static int on_connected(void *ctx, char *ip, char *own_ip, int port,
                        int own_port)
{
    struct exchange *t = ctx;

    (void)ip, (void)own_ip, (void)port, (void)own_port;
    room_opened(t); /* perhaps a kept one */
    name_done(t, true);
    if (!may_send(t))
        return CURL_PREREQFUNC_ABORT;
    if (!t->requests++)
        t->fresh = t->opened;
    if (t->phase == PHASE_CONNECT)
        transfer_enter(t, PHASE_WAIT);
    return CURL_PREREQFUNC_OK;
}

/* Returning 0 makes libcurl give up. */
static size_t refuse(struct exchange *t, CURLcode why)
{
    t->refused = why;
    return 0;
}

static bool head_ends(struct exchange *t)
{
    struct net *f = t->fetch;
    long status = 0;

    f->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200) { /* more heads follow */
        buf_clear(&t->head);
        return true;
    }
    return transfer_head(t, (int)status);
}

static size_t on_header(char *p, size_t size, size_t count, void *ctx)
{
    struct exchange *t = ctx;
    size_t len = size * count;

    if (t->stopped)
        return 0;
    if (t->head_done) /* trailers */
        return len;
    if (len > 5 && !memcmp(p, "HTTP/", 5))
        buf_clear(&t->head);
    if (len <= 2 && (p[0] == '\r' || p[0] == '\n'))
        return head_ends(t) ? len : 0;
    if (len > HTTP1_HEAD_MAX - t->head.len)
        return refuse(t, CURLE_FILESIZE_EXCEEDED);
    buf_add(&t->head, p, len);
    return t->head.failed ? refuse(t, CURLE_OUT_OF_MEMORY) : len;
}

static size_t on_body(char *p, size_t size, size_t count, void *ctx)
{
    struct exchange *t = ctx;
    size_t len = size * count;

    if (t->stopped || !len)
        return 0;
    if (transfer_body(t, (wend_str){p, len}))
        return len;
    return t->stopped ? 0 : CURL_WRITEFUNC_PAUSE;
}

/* ---- Ends ---------------------------------------------------------------- */

/* Before 8.6 libcurl reports a header line over its limit as out of memory. */
static bool is_long_line(const struct exchange *t, CURLcode code)
{
    return code == CURLE_OUT_OF_MEMORY && t->phase == PHASE_WAIT &&
           !t->head_done && t->fetch->error != ENOMEM;
}

static bool is_unconnected(CURLcode code)
{
    return code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT;
}

/* Whether libcurl could have read it. */
static bool has_certificate(const char *path)
{
    static const char mark[] = "-----BEGIN ";
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char text[4096];
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text) : -1;

    if (fd >= 0)
        close(fd);
    return len > 0 && memmem(text, (size_t)len, mark, sizeof mark - 1);
}

/* libcurl does not tell why it could not read a file or resolve a name, and
 * another thread may have closed a descriptor since. */
static bool may_be_short(struct exchange *t, CURLcode code)
{
    bool may = (code == CURLE_SSL_CACERT_BADFILE &&
                has_certificate(t->parties.ca.file)) ||
               (code == CURLE_COULDNT_RESOLVE_HOST && room_crowded());

    return may && t->shorts++ < SHORTS_MAX;
}

/* It failed before it was connected, for want of a descriptor: for its
 * socket, or for a file or a look-up of libcurl's. */
static bool is_short(struct exchange *t, CURLcode code)
{
    return code != CURLE_OK && t->phase == PHASE_CONNECT &&
           t->refused == CURLE_OK &&
           (t->no_socket || room_none(t->fetch) || may_be_short(t, code));
}

static void begin_again(struct exchange *t)
{
    multi_remove(t);
    name_done(t, false);
    ring_out(&t->queue_link);
    t->no_socket = false;
    t->detail[0] = 0;
    room_enter(t);
}

static void finish_one(struct exchange *t, CURLcode code)
{
    enum fetch_end how;

    if (is_short(t, code)) {
        begin_again(t);
        return;
    }
    if (is_unconnected(code) && t->phase == PHASE_CONNECT && !t->stopped &&
        t->refused == CURLE_OK && !t->broken && dial_round(t)) {
        multi_remove(t);
        fetch_enqueue(t);
        return;
    }
    if (t->refused != CURLE_OK)
        code = t->refused;
    else if (is_long_line(t, code))
        code = CURLE_FILESIZE_EXCEEDED;
    else if (code == CURLE_OK && !t->head_done)
        code = CURLE_GOT_NOTHING; /* the end came within the head */
    if (code == CURLE_OPERATION_TIMEDOUT) {
        transfer_timeout(t);
        return;
    }
    if (code == CURLE_COULDNT_CONNECT && t->bare) {
        how = FETCH_INSECURE;
    } else if (t->broken) {
        how = FETCH_NETWORK;
        transfer_say(t, t->broken);
    } else if (code == CURLE_COULDNT_CONNECT && t->why[0]) {
        how = FETCH_REFUSED;
        transfer_say(t, t->why);
    } else {
        how = easy_result(t->fetch->curl, t->easy, code, &t->parties, t->detail,
                          t->message, sizeof t->message);
    }
    transfer_over(t, how);
}

/* Transfers that waited for the same name share the failure to resolve it. */
void transfer_finish(struct exchange *t, CURLcode code)
{
    struct ring same;

    ring_init(&same);
    if (code == CURLE_COULDNT_RESOLVE_HOST && t->asks)
        ring_move(&same, &t->asks->waiting);
    finish_one(t, code);
    while (!ring_empty(&same))
        finish_one(of_queue(same.next), code);
}

/* ---- Addresses --------------------------------------------------------- */

void transfer_wake(struct exchange *t)
{
    t->wake = true;
    fetch_enqueue(t);
}

/* Pausing and resuming makes libcurl look at it. False: t has ended. */
static bool wake(struct exchange *t)
{
    static const int steps[] = {CURLPAUSE_SEND, CURLPAUSE_CONT};
    struct net *f = t->fetch;
    CURLcode code = CURLE_OK;

    t->wake = false;
    if (t->phase != PHASE_CONNECT)
        return true;
    f->inside++;
    for (size_t i = 0; i < 2 && code == CURLE_OK; i++)
        code = f->curl->easy_pause(t->easy, steps[i]);
    f->inside--;
    if (code != CURLE_ABORTED_BY_CALLBACK)
        return true;
    multi_break(t->multi); /* none of our callbacks aborts: out of memory */
    return false;
}

static void turn(struct exchange *t)
{
    t->dial.turn_ms = INT64_MAX;
    t->dial.gave_up |= multi_give_up(t);
    transfer_arm(t);
}

/* ---- Begins ----------------------------------------------------------- */

static void continue_body(struct exchange *t)
{
    struct net *f = t->fetch;
    CURLcode code;

    if (!transfer_resumes(t))
        return;
    f->inside++;
    code = f->curl->easy_pause(t->easy, CURLPAUSE_CONT);
    f->inside--;
    if (code == CURLE_ABORTED_BY_CALLBACK)
        multi_break(t->multi);
    else if (code != CURLE_OK)
        transfer_finish(t, code);
    else
        transfer_arm(t);
}

static void serve(struct exchange *t)
{
    if (t->refused != CURLE_OK) {
        transfer_finish(t, t->refused);
    } else if (t->multi) {
        if (t->wake && !wake(t))
            return;
        if (t->resume)
            continue_body(t);
    } else if (!room_wait(t) && !name_wait(t) && !multi_add(t)) {
        transfer_finish(t, CURLE_OUT_OF_MEMORY);
    }
}

static void leave(struct exchange *t)
{
    multi_remove(t);
    name_done(t, false);
}

/* With the first transfer. */
static wend_status open_curl(struct net *f, wend_error *err)
{
    const struct curl_api *curl;
    wend_status s = curl_load(&curl, err);

    if (s != WEND_OK)
        return s;
    f->share = curl->share_init();
    if (!f->share)
        return fail_nomem(err);
    curl->share_setopt(f->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl->share_setopt(f->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    f->curl = curl;
    return WEND_OK;
}

static bool set_callbacks(const struct curl_api *curl, struct exchange *t)
{
    const struct {
        CURLoption option;
        void *value;
    } data[] = {
        {CURLOPT_PRIVATE, t},
        {CURLOPT_ERRORBUFFER, t->detail},
        {CURLOPT_SHARE, t->fetch->share},
        {CURLOPT_PREREQDATA, t},
        {CURLOPT_OPENSOCKETDATA, t},
        {CURLOPT_CLOSESOCKETDATA, t->fetch}, /* connections outlive t */
        {CURLOPT_HEADERDATA, t},
        {CURLOPT_WRITEDATA, t},
    };
    int failed = 0;

    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        failed |= curl->easy_setopt(t->easy, data[i].option, data[i].value);
    failed |= curl->easy_setopt(t->easy, CURLOPT_PREREQFUNCTION, on_connected);
    failed |= curl->easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    failed |= curl->easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION,
                                multi_close_socket);
    failed |= curl->easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, on_header);
    failed |= curl->easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body);
    return !failed;
}

static wend_status prepare(struct exchange *t, const struct fetch_request *q,
                           wend_error *err)
{
    struct net *f = t->fetch;
    wend_status s = f->curl ? WEND_OK : open_curl(f, err);

    if (s != WEND_OK)
        return s;
    if (!t->easy)
        t->easy = f->curl->easy_init();
    t->refused = CURLE_OK;
    t->detail[0] = t->why[0] = 0;
    t->requests = 0;
    t->opened = t->fresh = t->wake = false;
    t->broken = NULL;
    t->allow = q->allow;
    t->bare = t->no_socket = false;
    t->shorts = 0;
    if (!t->easy ||
        !easy_set(f->curl, t->easy, q, &t->url, &t->parties, &t->arena) ||
        !set_callbacks(f->curl, t))
        return fail_nomem(err);
    if (t->guard == GUARD_LOOK && *t->parties.proxy.url) {
        t->doom = FETCH_INSECURE;
        transfer_bare(t, NULL);
    }
    if (t->parties.proxy.bad) {
        t->doom = FETCH_PROXY;
        utf8_fmt(
            t->message, sizeof t->message,
            "%.300s: %s is not the URL of a proxy; write http://HOST:PORT, or "
            "unset it",
            t->parties.host,
            t->parties.proxy.from ? t->parties.proxy.from : "the proxy");
    }
    return WEND_OK;
}

/* Forgets keys and bodies. */
static void forget(struct exchange *t)
{
    if (t->easy)
        t->fetch->curl->easy_reset(t->easy);
}

const struct way libcurl_way = {prepare, fetch_enqueue, serve,
                                turn,    leave,         forget};

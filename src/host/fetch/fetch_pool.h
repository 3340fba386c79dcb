/*
 * fetch_pool.h - what is behind struct fetch. Only for src/host/fetch.
 *
 *   live      transfers under way
 *   spare     ended ones, kept with their buffers and libcurl handles
 *   starved   live ones that wait for a free descriptor
 *   queue     live ones that must start, resume or stop. Served once a turn
 *             of the loop, outside of all callbacks: libcurl may not be
 *             entered from its own.
 */
#ifndef HOST_FETCH_POOL_H
#define HOST_FETCH_POOL_H

#include <uv.h>

#include "host/fetch/fetch_easy.h"
#include "host/fetch/fetch_route.h"
#include "wire/http/http.h"

enum {
    NAMES_MAX = 16, /* hosts whose look-ups are shared; others are not */
    NAME_BYTES_MAX = 256,
    DEAD_MAX = 16, /* addresses that are remembered as dead */
};

struct ring {
    struct ring *next, *prev;
};

/* One of libcurl's multi handles. */
struct multi {
    struct multi *next;
    struct net *fetch;
    CURLM *handle;
    uv_timer_t timer;
    unsigned transfers;
    bool due; /* libcurl wants to be called now */
};

/* A host name that is being looked up, or was a short while ago. */
struct name {
    struct ring waiting; /* transfers, by their queue_link */
    int64_t fresh_until_ms;
    bool asking;
    char host[NAME_BYTES_MAX];
};

/* An address that did not answer a short while ago. */
struct dead {
    struct place place;
    int64_t until_ms;
};

/* How far a transfer has come with the addresses of its host. */
struct dial {
    int64_t turn_ms; /* when the next one has its turn; INT64_MAX: never */
    int tried;       /* in this round */
    int count;       /* all, known in the second round; 0: in the first */
    bool gave_up;    /* on one, or passed one over, which may yet answer */
};

struct net {
    struct fetch base;
    struct mem mem; /* by value: handles close after the owner is gone */
    struct loop *loop;
    uv_loop_t *uv;
    const struct curl_api *curl; /* NULL before it is needed */
    CURLSH *share;               /* names and TLS sessions, for all multis */
    struct multi *multis;
    uv_idle_t idle; /* active while something is queued or due */
    struct ring live, spare, queue, starved;
    uv_timer_t retry;      /* looks after the starved ones */
    struct sock *socks;    /* closed ones, to use again */
    struct sock **sock_of; /* those in use, by their number */
    size_t sock_of_count;
    size_t spare_count, handles;
    unsigned inside;       /* calls of libcurl under way */
    size_t body_bytes;     /* of all transfers */
    curl_socket_t read_fd; /* the socket that was last read */
    uint64_t read_ns;      /* when a socket was last read */
    unsigned quick_reads;  /* small, one soon after the other */
    int error;             /* errno after libcurl was last called */
    bool closed;
    struct name names[NAMES_MAX];
    struct dead dead[DEAD_MAX];
    size_t dead_next;       /* the row to write */
    struct ring idle_conns; /* of fetch_conn.c, the newest last */
    size_t idle_count;
    int64_t limit;   /* of descriptors, as it was last seen */
    int64_t nets;    /* of the process, at the same time */
    size_t idle_max; /* so few that others find descriptors; also libcurl's */
    char *read_buf;  /* what was just read, by whichever transfer */
};

/* A connection of fetch_conn.c: a socket on the loop. */
struct conn {
    struct ring link; /* idle_conns, while it has no transfer */
    struct net *fetch;
    struct exchange *transfer; /* NULL: it waits for the next one */
    uv_poll_t poll;
    int fd, watched;
    bool used; /* it has brought an answer, and may be closed by now */
    int64_t idle_ms;
    struct place place;
};

enum fetch_phase { PHASE_CONNECT, PHASE_WAIT, PHASE_BODY, PHASE_OVER };

/* One of the two ways to make a transfer. */
struct way {
    wend_status (*prepare)(struct exchange *t, const struct fetch_request *q,
                           wend_error *err);
    void (*begin)(struct exchange *t);  /* from inside fetch_start */
    void (*serve)(struct exchange *t);  /* once it was queued */
    void (*turn)(struct exchange *t);   /* of the next address */
    void (*leave)(struct exchange *t);  /* its connection */
    void (*forget)(struct exchange *t); /* the request */
};
extern const struct way plain_way, libcurl_way;

struct exchange {
    struct transfer base;
    struct net *fetch;
    const struct way *way;
    struct ring link;       /* live or spare */
    struct ring queue_link; /* queue, or waiting for a name */
    struct multi *multi;    /* NULL: not with libcurl */
    struct name *asks;      /* looks this name up for others, too */
    CURL *easy;
    uv_timer_t timer;
    struct easy_url url;
    struct arena arena; /* of the request */
    const struct fetch_events *events;
    void *ctx;
    const char *host;
    struct parties parties; /* of the libcurl way */
    enum fetch_end doom;    /* it fails before it begins, for this reason */
    enum guard guard;
    bool starved;   /* it waits, or has waited, for a descriptor */
    bool opening;   /* see room_take */
    bool no_socket; /* there was none for its socket */
    uint8_t shorts; /* failures that the want of one may explain */
    bool bare;      /* an address was refused for the secret's sake */
    bool (*allow)(void *ctx, const struct sockaddr *to, char *why, size_t size);
    char why[160]; /* an address was not allowed */
    bool harmless; /* it may be taken twice */
    bool http2;    /* it may be asked over HTTP/2 */
    /* for libcurl, which may send a request again: see may_send */
    unsigned requests;  /* that it has sent, or began to */
    bool wake;          /* it must be called, though nothing has happened */
    bool opened;        /* a socket, so the connection is not a kept one ... */
    bool fresh;         /* ... nor was that of the first request */
    const char *broken; /* why it must not ask again; NULL: it need not */
    int64_t connect_ms, first_byte_ms, between_ms, whole_ms;
    int64_t began_ms, phase_ms, byte_ms;
    enum fetch_phase phase;
    struct dial dial;
    bool stopped, paused, resume;
    bool head_done;
    bool doubted;     /* a deadline passed; the sockets get one more look */
    CURLcode refused; /* we gave up ourselves; OK: we did not */
    struct buf head;  /* the response's header lines */
    /* for plain sockets */
    struct conn *conn;
    struct route route;
    struct http1 answer;
    struct buf asking; /* the request's head */
    wend_str body;     /* and its body */
    size_t sent;       /* bytes of both */
    struct buf held;   /* of the answer, read while paused ... */
    size_t held_at;    /* ... and given up to here */
    bool anew;         /* a kept connection was closed, or is not risked */
    bool once;         /* its connection is its own */
    int error;         /* the socket's, until it is told */
    char detail[CURL_ERROR_SIZE];
    char message[512];
};

static inline void ring_init(struct ring *r)
{
    r->next = r->prev = r;
}

static inline bool ring_empty(const struct ring *r)
{
    return r->next == r;
}

static inline void ring_out(struct ring *r)
{
    r->next->prev = r->prev;
    r->prev->next = r->next;
    ring_init(r);
}

static inline void ring_put(struct ring *head, struct ring *r)
{
    r->prev = head->prev;
    r->next = head;
    head->prev->next = r;
    head->prev = r;
}

/* Moves all of `from`, which becomes empty, to the end of `to`. */
static inline void ring_move(struct ring *to, struct ring *from)
{
    if (ring_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    ring_init(from);
}

static inline struct exchange *of_queue(struct ring *r)
{
    return container_of(r, struct exchange, queue_link);
}

static inline struct exchange *of_link(struct ring *r)
{
    return container_of(r, struct exchange, link);
}

/* ---- fetch_name.c: one look-up a host ------------------------------------ */

void name_init(struct net *f);
/* True: another transfer is looking the name up, this one waits. */
bool name_wait(struct exchange *t);
/* The name is known now, or t gives up: the waiting transfers continue. */
void name_done(struct exchange *t, bool known);

/* ---- fetch_multi.c: libcurl on the loop ---------------------------------- */

bool multi_add(struct exchange *t); /* false: no memory */
/* Ends its sockets that are not connected yet, and notes their addresses as
 * dead: libcurl tries the next. False: it has no such socket. */
bool multi_give_up(struct exchange *t);
void multi_remove(struct exchange *t);
void multi_limit_idle(struct net *f); /* idle_max has changed */
void multi_free_all(struct net *f);
/* libcurl ran out of memory while it noted the users of a socket. 7.88 then
 * leaves an empty table behind and later divides by its size: the transfers of
 * this handle end, and it is not called again. */
void multi_break(struct multi *m);
/* For libcurl: a connection's socket, which keeps its place in the loop. */
curl_socket_t multi_open_socket(struct exchange *t,
                                const struct curl_sockaddr *a,
                                const struct place *to);
int multi_close_socket(void *fetch, curl_socket_t fd);
/* Calls those that want to be called. */
void multi_run_due(struct net *f);
/* One more uv handle has closed; the last one frees f. */
void fetch_handle_closed(struct net *f);

/* ---- fetch_dial.c: the addresses of a host ------------------------------- */

void dial_begin(struct exchange *t); /* with the first round */
/* The next address is tried from now on; its turn ends if others follow. */
void dial_next(struct exchange *t, bool is_last);
/* Whether it is tried in this round. */
bool dial_tries(struct exchange *t, const struct place *to);
void dial_note_dead(struct net *f, const struct place *p);
/* All addresses of the round have failed. True: there is another round. */
bool dial_round(struct exchange *t);

/* ---- fetch_libcurl.c ----------------------------------------------------- */

/* Has libcurl called soon: it then tries the next address. */
void transfer_wake(struct exchange *t);

/* libcurl is done with it, or shall be. */
void transfer_finish(struct exchange *t, CURLcode code);

/* ---- fetch_conn.c: connections of the plain way -------------------------- */

/* One that is kept and leads there; NULL: none. */
struct conn *conn_kept(struct net *f, const struct place *to);
/* Begins to connect. NULL: *error says why. */
struct conn *conn_open(struct net *f, const struct place *to, int *error);
bool conn_watch(struct conn *c, int events); /* false: no memory */
void conn_keep(struct conn *c);              /* for the next transfer */
void conn_close(struct conn *c);
void conn_free_all(struct net *f); /* those that are kept */

/* Closes the one that was not used for the longest time; false: none. */
bool conn_drop_idle(struct net *f);

/* ---- fetch_room.c: descriptors ------------------------------------------- */

void room_init(struct net *f);
void room_free(void);
/* It has a connection, or is making one; opening: libcurl has no socket yet. */
void room_take(struct exchange *t, bool opening);
void room_leave(struct net *f); /* one is not connected any more */
/* Whether a transfer of this process has a connection; if not, since when. */
bool room_others(int64_t *alone_ms);
void room_opened(struct exchange *t); /* libcurl has a socket for it */
/* True: no connection can be opened now; it is served again when one can. */
bool room_wait(struct exchange *t);
void room_enter(struct exchange *t); /* waits in any case */
void room_wake(struct net *f);       /* the first that waits */
bool room_none(const struct net *f); /* not a single one is free */
bool room_crowded(void);             /* connections have many of them */

/* ---- fetch_plain.c ------------------------------------------------------- */

/* The transfer's socket can be read or written; status < 0: or has failed. */
void plain_ready(struct exchange *t, int status, int events);

/* ---- fetch.c: the transfers ---------------------------------------------- */

int64_t fetch_now_ms(const struct net *f);
void fetch_kick(struct net *f); /* serves the queue in the next turn */
void fetch_enqueue(struct exchange *t);
/* After a read of the body: a quick stream is read in larger pieces. */
void fetch_note_read(struct net *f, int fd, size_t bytes);
void transfer_enter(struct exchange *t, enum fetch_phase phase);
void transfer_arm(struct exchange *t); /* after a deadline has changed */
void transfer_timeout(struct exchange *t);
/* Pass on an answer. False: stopped or paused from inside the event. */
bool transfer_head(struct exchange *t, int status);
bool transfer_body(struct exchange *t, wend_str piece);
/* Whether it was paused and continues from now on. */
bool transfer_resumes(struct exchange *t);
/* The message: `host: words`. */
void transfer_say(struct exchange *t, const char *words);
/* The message: its secret would leave this machine, for that address. */
void transfer_bare(struct exchange *t, const char *address);
/* Its end: `message` is set. Silent if it was stopped. */
void transfer_over(struct exchange *t, enum fetch_end how);

#endif

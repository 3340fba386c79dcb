/*
 * mcp.h - servers of tools (MCP) that an agent uses.
 *
 *   mcp.c        the agent's side: connect, pin, offer, call
 *   mcp_server.c one server: the machine of wire/mcp/mcp.h, its deadlines, its
 *                restarts
 *   mcp_stdio.c  a link to a program that wend starts
 *   mcp_http.c   a link by streamable HTTP
 *   mcp_pin.c    which lists of tools the user has accepted, and how a list
 *                differs
 *
 * A server can only harm its own calls: its output ends in the machine, and
 * everything that waits for it has a deadline.
 */
#ifndef LIB_MCP_H
#define LIB_MCP_H

#include "lib/run/run.h"
#include "wire/mcp/mcp.h"

enum {
    MCP_SERVER_NAME_MAX = 32, /* so that tools' names have room */
    MCP_START_MS = 10000      /* until its tools are known, if not said */
};

enum mcp_phase { PHASE_CONNECTING, PHASE_UP, PHASE_DOWN };

/* How a server is reached. All but `open` may be called from inside a
 * function of the machine, and tell it of nothing before they return. */
struct mcp_link_ops {
    /* Makes a connection, in place of the one before, if any. */
    wend_status (*open)(struct mcp_server *s, wend_error *err);
    void (*send)(struct mcp_server *s, const struct mcp_send *m);
    /* NULL: a late answer does no harm. */
    void (*drop)(struct mcp_server *s, int64_t id);
    void (*bye)(struct mcp_server *s); /* tells the server, waits a little */
    void (*close)(struct mcp_server *s);
};

extern const struct mcp_link_ops mcp_stdio_ops, mcp_http_ops;

struct relic_manifest;

/* What the agent's runs are told about a server; see the table. */
enum mcp_trouble {
    MCP_NOTE,    /* nothing */
    MCP_ODD,     /* it does what it should not */
    MCP_LEFT,    /* a tool of it is not offered */
    MCP_SAID,    /* what a program said that did not start */
    MCP_LOST,    /* it is started again */
    MCP_DOWN,    /* it is given up */
    MCP_AUTH,    /* it does not let us in */
    MCP_CHANGED, /* its tools are not those that were accepted */
    MCP_CONNECT, /* it cannot be used for another reason */
};

struct mcp_server {
    struct mcp_server *next;            /* of the agent */
    wend_agent *agent;                  /* NULL: on its way out */
    const struct relic_manifest *relic; /* NULL: its tools are the model's */
    wend_runtime *rt;
    struct mem mem;
    struct arena arena; /* all that was copied from the options */
    const struct mcp_link_ops *ops;
    void *link; /* the link's own */
    struct mcp machine;
    enum mcp_phase phase;
    wend_str name, url;
    const char *const *command;
    const char *const *secrets; /* NAME=value, NULL at the end */
    const wend_str *values;     /* the same without their names */
    size_t values_count;
    const char *cwd;
    int64_t timeout_ms;
    int64_t start_ms;    /* until its tools are known */
    int64_t connect_ms;  /* ... at the first start, if shorter; 0: no bound */
    int64_t start_end;   /* of this start, by the clock */
    bool starting;       /* which has begun */
    const char *ca_file; /* of a URL; NULL: the usual ones */
    bool insecure_http;
    bool sandbox_off, network, trust;
    wend_note_fn note;
    void *note_ctx;
    struct kept *note_kept;       /* NULL: it is not released */
    struct timer_node step;       /* for what the machine waits for */
    int64_t step_id;              /* the request it is set for */
    struct timer_node link_timer; /* to open or to close the link */
    unsigned restarts;
    bool was_up;
    bool nomem;                   /* it is down because memory ran out */
    bool shut_out;                /* it refused us with 401 or 403 */
    bool told_auth, told_network; /* what runs were told of a server in use */
    char why[300];                /* it is down */
};

/* One server on its way into the agent. */
struct mcp_adding {
    const wend_mcp_options *o;
    const struct relic_manifest *relic; /* its endpoints are the tools: all, or
                                           those that it names */
    struct kept *note;
    struct mcp_server *server; /* NULL: it was not even begun */
    bool shut_out;
    wend_status status;
    wend_error err;
};

/* mcp.c: wend_agent_add_mcp in two halves. All that are begun start in
 * parallel; each begun one must be ended. */
void mcp_begin(wend_agent *a, struct mcp_adding *x);
void mcp_end(wend_agent *a, struct mcp_adding *x);
/* Everything of o is copied. */
wend_status mcp_server_new(wend_agent *a, const wend_mcp_options *o,
                           struct kept *note, struct mcp_server **out,
                           wend_error *err);
void mcp_server_begin(struct mcp_server *s); /* to connect */
/* Until its tools are known, or never will be. */
wend_status mcp_server_wait(struct mcp_server *s, wend_error *err);
void mcp_server_free(struct mcp_server *s);
void mcp_server_call(struct mcp_server *s, const struct mcp_tool *tool,
                     wend_call *call);
/* A note, and an event unless it is MCP_NOTE. */
void mcp_server_tell(struct mcp_server *s, enum mcp_trouble what,
                     const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The event alone; `name` is the server's, the text begins with it. */
void mcp_trouble_tell(wend_agent *a, wend_str name, enum mcp_trouble what,
                      bool stands, wend_str text);

/* Blanks its secrets: a server may quote what it was given. */
void mcp_server_hide(const struct mcp_server *s, char *text, size_t len);

/* What a link tells. */
void mcp_server_text(struct mcp_server *s, wend_str text);
void mcp_server_refused(struct mcp_server *s, int64_t id, int status,
                        wend_str body);
void mcp_server_lost(struct mcp_server *s, const char *said);
/* It is given up at once; the link is closed a little later. */
void mcp_server_down(struct mcp_server *s, const char *why);
void mcp_server_nomem(struct mcp_server *s); /* the same, out of memory */

/* ---- Pins ---------------------------------------------------------------- */

enum pin { PIN_NONE, PIN_SAME, PIN_OTHER };

struct pin_key {
    wend_str name;                 /* of the server */
    char identity[SHA256_HEX + 1]; /* of its command or URL */
};

/* `path` NULL: the user's file. PIN_NONE: never accepted. `was` gets what was
 * accepted last; empty: nothing. */
wend_status pin_look(const char *path, const struct pin_key *k,
                     const char *hash, const struct mem *m, enum pin *out,
                     char was[SHA256_HEX + 1], wend_error *err);
/* The list goes into a folder beside the file, by its hash. */
wend_status pin_keep(const char *path, const struct pin_key *k,
                     const char *hash, wend_str list, const struct mem *m,
                     wend_error *err);
/* That list; nothing is added if it was not kept. */
wend_status pin_list(const char *path, const char *hash, const struct mem *m,
                     struct buf *out, wend_error *err);

/* ---- Lists --------------------------------------------------------------- */

/* As JSON, to be compared later. */
void mcp_list_put(struct buf *b, const struct mcp *m);
/* Notes: each tool, or what differs from the list that was accepted. */
void mcp_list_tell(struct mcp_server *s);
void mcp_list_differ(struct mcp_server *s, wend_str accepted);

/* ---- For agents --------------------------------------------------------- */

void agent_drop_servers(wend_agent *a); /* ends them */
/* `,"mcp":[...]`, what is needed to reach them again. */
void agent_put_servers(const wend_agent *a, struct buf *b);

#endif

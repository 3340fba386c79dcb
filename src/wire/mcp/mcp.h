/*
 * mcp.h - the client's side of the Model Context Protocol, pure.
 *
 * One machine for all transports and revisions: messages come in as text,
 * what to do about them goes to a sink. It never waits and has no
 * clock: its owner tells it when something took too long.
 *
 *     IDLE --start--> PROBING --knows it--------------> LISTING --> READY
 *                        |                                 ^
 *                        +--does not--> INITIALIZING ------+
 *
 * and FAILED from each of them. Revision 2026-07-28 has no sessions: each
 * request carries what initialize agreed on before. Which one a server
 * speaks is found by asking `server/discover`; after a lost connection the
 * answer is remembered, and a list of tools other than before is a failure.
 */
#ifndef WIRE_MCP_H
#define WIRE_MCP_H

#include "base/hash.h"
#include "wire/mcp/jsonrpc.h"

enum mcp_transport { MCP_STDIO, MCP_HTTP };

enum mcp_state {
    MCP_IDLE,
    MCP_PROBING,
    MCP_INITIALIZING,
    MCP_LISTING,
    MCP_READY,
    MCP_FAILED,
    MCP_STATES,
};

/* An argument that goes into a header, too. */
struct mcp_param {
    struct mcp_param *next;
    wend_str header;      /* after `Mcp-Param-` */
    const wend_str *path; /* keys from the arguments to it */
    size_t path_count;
};

struct mcp_tool {
    struct mcp_tool *next;
    wend_str name;        /* as the server has it */
    wend_str description; /* bounded, nothing hidden in it */
    wend_str schema; /* canonical JSON of an object, nothing hidden in it */
    bool read_only, idempotent, destructive; /* as the server claims */
    const struct mcp_param *params;
    wend_str annotations;
    wend_str description_all, schema_all; /* as they came, for the hash */
};

/* A message for the server. */
struct mcp_send {
    wend_str body;              /* JSON on one line, without its end */
    int64_t id;                 /* of a request; 0: nothing comes back */
    const char *const *headers; /* for HTTP: `Name: value`, NULL at the end */
};

/* A picture, a sound or a document. */
struct mcp_media {
    wend_str bytes, name; /* the name may be absent */
};

/* What a call gave, or what went wrong. */
struct mcp_given {
    bool ok;
    wend_str text;
    wend_str structured; /* the same as JSON, if the text has not all of it;
                            else absent */
    const struct mcp_media *media;
    size_t media_count;
};

/* Strings are lent for the call. None of these may free the machine. */
struct mcp_sink {
    void (*send)(void *ctx, const struct mcp_send *m);
    /* The tools are known (mcp.tools), for the first time or again. */
    void (*ready)(void *ctx);
    void (*progress)(void *ctx, void *call, wend_str text);
    /* The call is over. */
    void (*done)(void *ctx, void *call, const struct mcp_given *given);
    /* The answer is no longer needed: close its stream. */
    void (*drop)(void *ctx, int64_t id);
    void (*warn)(void *ctx, const char *text);
    /* Restart the server, then mcp_start: the probe ended it. */
    void (*again)(void *ctx);
    /* The connection failed; all calls are done already. */
    void (*fail)(void *ctx, const char *text);
};

struct mcp_call;

struct mcp {
    const struct mem *mem;
    enum mcp_transport transport;
    const struct mcp_sink *sink;
    void *ctx;
    enum mcp_state state;
    bool known, modern; /* which kind of server it is; known: for sure */
    bool again;         /* it was asked for */
    bool revised;       /* another revision was tried after a refusal */
    wend_str version;   /* the agreed one; static */
    int64_t ids;        /* given so far */
    int64_t asked;      /* open request that is not a call; 0: none */
    struct mcp_call *calls, **calls_tail;
    size_t calls_count;
    struct arena arena; /* the tools */
    struct mcp_tool *tools;
    size_t tools_count;
    char hash[SHA256_HEX + 1]; /* of the list; empty: none yet */
    /* a list that is being read */
    struct arena list_arena;
    struct mcp_tool *list, **list_tail;
    size_t list_count, pages;
    struct buf cursor;
    unsigned warnings;
    bool changed;     /* list_changed was told of */
    bool outdated;    /* ... while the list was read: read it again */
    unsigned relists; /* so often */
    bool nomem;       /* ran out of memory: everything is void */
};

void mcp_init(struct mcp *m, const struct mem *mem,
              enum mcp_transport transport, const struct mcp_sink *sink,
              void *ctx);
void mcp_free(struct mcp *m); /* calls that are left are not told */

void mcp_start(struct mcp *m); /* the connection is there */
/* A message: a line, the data of an event, or a whole body. */
void mcp_text(struct mcp *m, wend_str text);
/* HTTP: request `id` got no answer but this: a status of failure (0: none
 * came) and the start of the body or the reason. */
void mcp_refused(struct mcp *m, int64_t id, int status, wend_str body);
/* What is under way before READY takes too long; `limit` names the time. */
void mcp_timeout(struct mcp *m, const char *limit);
/* The connection is gone. Sent calls fail, waiting calls
 * stay; mcp_start continues. Before READY it is a failure. */
void mcp_lost(struct mcp *m, const char *why);
/* The end: all calls fail with that text, nothing more is sent. */
void mcp_close(struct mcp *m, const char *why);

/* `call` names it in what the sink is told; args: a JSON object, key: for
 * servers that know calls again, trace: a traceparent, or absent. Waits inside
 * until READY. */
void mcp_call(struct mcp *m, void *call, const struct mcp_tool *tool,
              wend_str args, wend_str key, wend_str trace);
void mcp_cancel(struct mcp *m, void *call); /* no done follows */
/* Whether the answer to that request is still needed. */
bool mcp_waits(const struct mcp *m, int64_t id);

const struct mcp_tool *mcp_tool_named(const struct mcp *m, wend_str name);
/* `server.tool` as tools are named here: what does not fit is replaced, a
 * long name cut and told apart by its hash. */
void mcp_tool_name(struct buf *out, wend_str server, wend_str tool);

#endif

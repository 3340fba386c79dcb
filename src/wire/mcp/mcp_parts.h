/*
 * mcp_parts.h - what the files of the machine in mcp.h share.
 */
#ifndef WIRE_MCP_PARTS_H
#define WIRE_MCP_PARTS_H

#include "base/limits.h"
#include "wire/mcp/mcp.h"

#define MCP_MODERN "2026-07-28"

enum { MCP_REASON_MAX = 300 }; /* bytes of a message that repeats a server's */

struct mcp_call {
    struct mcp_call *next;
    void *call;
    const struct mcp_tool *tool;
    wend_str args, key, trace; /* in the same block */
    int64_t id;                /* 0: not sent yet */
};

/* ---- mcp.c --------------------------------------------------------------- */

void mcp_warn(struct mcp *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The connection failed: all calls end with that text. */
void mcp_fail(struct mcp *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void mcp_no_memory(struct mcp *m); /* a failure like others, and the last */

/* ---- mcp_send.c ---------------------------------------------------------- */

extern const char *const mcp_methods[MCP_STATES]; /* NULL: nothing is asked */
/* Enters the state by its request, the only one under way before READY;
 * version: the revision that initialize proposes, else NULL. */
void mcp_ask(struct mcp *m, enum mcp_state state, const char *version);
/* canceled: the request that it is about; 0: none. */
void mcp_notify(struct mcp *m, const char *method, int64_t canceled);
void mcp_send_answer(struct mcp *m, const struct buf *body);
/* The link to the call of that id, or the end of the list. */
struct mcp_call **mcp_find(struct mcp *m, const struct json *id);
void mcp_unlink(struct mcp *m, struct mcp_call **at);
void mcp_finish(struct mcp *m, struct mcp_call **at,
                const struct mcp_given *given);
/* The only call that was sent and is open; NULL: none or several. */
struct mcp_call **mcp_only(struct mcp *m);
/* Those that were sent, or all. */
void mcp_finish_all(struct mcp *m, bool unsent, const char *why);
void mcp_flush(struct mcp *m); /* READY: sends what waited */
/* `Name: value` and a zero byte; the value is encoded if it must be. */
void mcp_put_header(struct buf *b, const char *name, wend_str value);

/* ---- mcp_tools.c --------------------------------------------------------- */

/* Reads a page into the list. False: it is not a list of tools. */
bool mcp_list_page(struct mcp *m, const struct json *result);
/* The list is complete: adopts it. False: it is not the one before, or
 * memory ran out. */
bool mcp_list_end(struct mcp *m);
void mcp_list_clear(struct mcp *m);
/* Finds the arguments that go into headers. NULL: all is well; else what is
 * wrong with one of them. */
const char *mcp_params_find(const struct json *schema, struct arena *a,
                            const struct mcp_param **out);

/* ---- mcp_result.c -------------------------------------------------------- */

struct mcp_result {
    struct buf *out;               /* text for a model */
    struct arena *arena;           /* of the media */
    const struct json *structured; /* besides the text; NULL: none */
    struct mcp_media *media;
    size_t media_count;
};

/* Reads the result of a tool; out and arena are set. False: the tool failed.
 * Structured content is the text only where there is no other. */
bool mcp_result_read(const struct json *result, struct mcp_result *r);
void mcp_progress_text(const struct json *params, struct buf *out);
void mcp_error_text(const struct rpc *error, struct buf *out);

#endif

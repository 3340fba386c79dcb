/*
 * jsonrpc.h - messages of JSON-RPC 2.0, in and out.
 *
 * Ids are strings or numbers and are echoed as they came: 0 and "" are ids
 * like any other. Invalid messages are skipped and counted.
 */
#ifndef WIRE_JSONRPC_H
#define WIRE_JSONRPC_H

#include "base/json.h"

enum rpc_kind {
    RPC_REQUEST,
    RPC_NOTIFICATION,
    RPC_RESULT,
    RPC_ERROR,
    RPC_BROKEN, /* an object that may have been meant as an answer */
};

struct rpc {
    enum rpc_kind kind;
    const struct json *id;     /* a string or a number; NULL: no id */
    wend_str method;           /* of a request or a notification */
    const struct json *params; /* NULL: none */
    const struct json *result;
    const struct json *data; /* of an error; NULL: none */
    wend_str message;
    int64_t code;
};

enum { RPC_METHOD_NOT_FOUND = -32601 };

typedef void (*rpc_fn)(void *ctx, const struct rpc *message);

/* Reads one message, or a batch of at most RPC_BATCH_MAX, and hands each to
 * fn; they live in the arena and the text. *skipped counts invalid ones,
 * including the broken ones. */
wend_status rpc_read(wend_str text, struct arena *a, rpc_fn fn, void *ctx,
                     size_t *skipped, wend_error *err);
/* Whether the id is this number of ours; some servers send it as a string. */
bool rpc_id_is(const struct json *id, int64_t number);

/* A message; the members of its `params` are added between the two. An id
 * of 0 makes it a notification. */
void rpc_open(struct buf *b, int64_t id, const char *method);
void rpc_close(struct buf *b);
/* Whole answers to a request of the other side. */
void rpc_put_empty(struct buf *b, const struct json *id);
void rpc_put_error(struct buf *b, const struct json *id, int code,
                   const char *message);

#endif

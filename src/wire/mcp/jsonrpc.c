/*
 * jsonrpc.c - messages of JSON-RPC 2.0, in and out.
 */
#include "wire/mcp/jsonrpc.h"

#include "base/fail.h"
#include "base/limits.h"

/* ---- In ------------------------------------------------------------------ */

static bool is_id(const struct json *id)
{
    return id && (id->kind == JSON_STRING || id->kind == JSON_NUMBER);
}

static bool read_error(const struct json *error, struct rpc *out)
{
    out->kind = RPC_ERROR;
    out->message = json_get_str(error, "message");
    out->data = json_get(error, "data");
    return error->kind == JSON_OBJECT &&
           json_i64(json_get(error, "code"), &out->code);
}

/* `jsonrpc` is ignored: some old servers leave it out. */
static bool read_one(const struct json *j, struct rpc *out)
{
    const struct json *id = json_get(j, "id"), *error = json_get(j, "error");

    *out = (struct rpc){.method = json_get_str(j, "method"),
                        .params = json_get(j, "params"),
                        .result = json_get(j, "result"),
                        .id = is_id(id) ? id : NULL};
    if (out->method.ptr) {
        out->kind = out->id ? RPC_REQUEST : RPC_NOTIFICATION;
        return out->id || !id; /* a null id cannot be answered */
    }
    if (error && error->kind != JSON_NULL)
        return read_error(error, out); /* without an id if it had none */
    out->kind = RPC_RESULT;
    return out->result && out->id;
}

wend_status rpc_read(wend_str text, struct arena *a, rpc_fn fn, void *ctx,
                     size_t *skipped, wend_error *err)
{
    const struct json *j = json_parse(text, a, err);
    bool batch = j && j->kind == JSON_ARRAY;
    struct rpc m;

    *skipped = 0;
    if (!j)
        return a->failed ? fail_nomem(err) : WEND_E_PARSE;
    if (batch && j->count > RPC_BATCH_MAX)
        return fail(err, WEND_E_LIMIT, "a batch of over %d messages",
                    RPC_BATCH_MAX);
    for (j = batch ? j->first : j; j; j = batch ? j->next : NULL) {
        if (!read_one(j, &m)) {
            ++*skipped;
            if (j->kind != JSON_OBJECT || json_get(j, "method"))
                continue;
            m.kind = RPC_BROKEN;
        }
        fn(ctx, &m);
    }
    return WEND_OK;
}

bool rpc_id_is(const struct json *id, int64_t number)
{
    char text[24];
    size_t len = i64_text(text, number);

    return is_id(id) && str_eq(id->text, (wend_str){text, len});
}

/* ---- Out ----------------------------------------------------------------- */

static void open_message(struct buf *b)
{
    json_open(b, NULL, '{');
    json_add_str(b, "jsonrpc", STR("2.0"));
}

void rpc_open(struct buf *b, int64_t id, const char *method)
{
    open_message(b);
    if (id)
        json_add_i64(b, "id", id);
    json_add_str(b, "method", str_of(method));
    json_open(b, "params", '{');
}

void rpc_close(struct buf *b)
{
    buf_cstr(b, "}}");
}

void rpc_put_empty(struct buf *b, const struct json *id)
{
    open_message(b);
    json_add(b, "id", id);
    json_open(b, "result", '{');
    rpc_close(b);
}

void rpc_put_error(struct buf *b, const struct json *id, int code,
                   const char *message)
{
    open_message(b);
    json_add(b, "id", id);
    json_open(b, "error", '{');
    json_add_i64(b, "code", code);
    json_add_str(b, "message", str_of(message));
    rpc_close(b);
}

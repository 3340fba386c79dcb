/*
 * test_jsonrpc.c - messages of JSON-RPC, and what is none.
 */
#include "base/limits.h"
#include "fault.h"
#include "tap.h"
#include "wire/mcp/jsonrpc.h"

static const struct mem plain;

static void tell(void *ctx, const struct rpc *m)
{
    static const char *const kinds[] = {"request", "notification", "result",
                                        "error", "broken"};
    struct buf *b = ctx;

    if (b->len)
        buf_char(b, ' ');
    buf_cstr(b, kinds[m->kind]);
    buf_char(b, '(');
    if (m->id)
        json_put(b, m->id);
    buf_char(b, ',');
    if (m->kind == RPC_ERROR)
        buf_fmt(b, "%lld:", (long long)m->code);
    buf_str(b, m->kind == RPC_ERROR ? m->message : m->method);
    if (m->params)
        json_put(b, m->params);
    if (m->result)
        json_put(b, m->result);
    if (m->data)
        json_put(b, m->data);
    buf_char(b, ')');
}

static const struct {
    const char *text, *want;
    size_t skipped;
    wend_status status;
} rows[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{}}",
     "request(1,m{})", 0, WEND_OK},
    {"{\"id\":0,\"method\":\"m\"}", "request(0,m)", 0, WEND_OK},
    {"{\"id\":\"\",\"method\":\"m\"}", "request(\"\",m)", 0, WEND_OK},
    {"{\"method\":\"m\"}", "notification(,m)", 0, WEND_OK},
    {"{\"method\":\"m\",\"id\":null}", "", 1, WEND_OK},
    {"{\"method\":7,\"id\":1}", "", 1, WEND_OK},
    {"{\"id\":1,\"result\":null}", "result(1,null)", 0, WEND_OK},
    {"{\"id\":1,\"result\":3,\"error\":null}", "result(1,3)", 0, WEND_OK},
    {"{\"result\":3}", "broken(,3)", 1, WEND_OK},
    {"{\"id\":{},\"result\":3}", "broken(,3)", 1, WEND_OK},
    {"{\"id\":\"a\",\"error\":{\"code\":-1,\"message\":\"e\",\"data\":[1]}}",
     "error(\"a\",-1:e[1])", 0, WEND_OK},
    {"{\"id\":null,\"error\":{\"code\":-1}}", "error(,-1:)", 0, WEND_OK},
    {"{\"id\":1,\"error\":{\"code\":\"x\"}}", "broken(1,)", 1, WEND_OK},
    {"{\"id\":1,\"error\":\"x\"}", "broken(1,)", 1, WEND_OK},
    {"{}", "broken(,)", 1, WEND_OK},
    {"[{\"method\":\"a\"},{\"method\":\"b\"}]",
     "notification(,a) notification(,b)", 0, WEND_OK},
    {"[[{\"method\":\"a\"}],1,{\"method\":\"b\"}]", "notification(,b)", 2,
     WEND_OK},
    {"[]", "", 0, WEND_OK},
    {"1", "", 1, WEND_OK},
    {"", "", 0, WEND_E_PARSE},
    {"{\"id\":1", "", 0, WEND_E_PARSE},
    {"{\"id\":1,\"id\":2,\"result\":1}", "", 0, WEND_E_PARSE},
};

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        size_t skipped;
        wend_status s =
            rpc_read(str_of(rows[i].text), &a, tell, &b, &skipped, NULL);

        tap_is_str(buf_view(&b), rows[i].want, "%s", rows[i].text);
        tap_ok(s == rows[i].status && skipped == rows[i].skipped,
               "its status and what is skipped");
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_batch(int count, wend_status want)
{
    struct arena a = {.mem = &plain};
    struct buf text = {.mem = &plain}, b = {.mem = &plain};
    size_t skipped;

    for (int i = 0; i < count; i++)
        buf_cstr(&text, i ? ",1" : "[1");
    buf_char(&text, ']');
    tap_is_i64(rpc_read(buf_view(&text), &a, tell, &b, &skipped, NULL), want,
               "a batch of %d", count);
    buf_free(&b);
    buf_free(&text);
    arena_free(&a);
}

static void test_depth(int depth, wend_status want)
{
    struct arena a = {.mem = &plain};
    struct buf text = {.mem = &plain}, b = {.mem = &plain};
    size_t skipped;

    for (int i = 0; i < depth; i++)
        buf_char(&text, '[');
    for (int i = 0; i < depth; i++)
        buf_char(&text, ']');
    tap_ok((rpc_read(buf_view(&text), &a, tell, &b, &skipped, NULL) ==
            WEND_OK) == (want == WEND_OK),
           "nested %d deep", depth);
    buf_free(&b);
    buf_free(&text);
    arena_free(&a);
}

static void test_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &plain};
        size_t skipped;
        wend_status s =
            rpc_read(STR("[{\"method\":\"\\u0061\"},{\"method\":\"b\"}]"), &a,
                     tell, &b, &skipped, NULL);

        arena_free(&a);
        buf_free(&b);
        bad += f.live || s != (f.hit ? WEND_E_NOMEM : WEND_OK);
    }
    tap_is_i64(bad, 0, "memory may run out anywhere");
}

static void test_ids(void)
{
    struct arena a = {.mem = &plain};
    const struct json *j = json_parse(STR("[7,7.0,\"7\",70,null]"), &a, NULL);
    int is = 0;

    for (const struct json *id = j->first; id; id = id->next)
        is = is * 10 + rpc_id_is(id, 7);
    tap_is_i64(is, 10100, "an id is the same digits, as a number or a string");
    tap_ok(!rpc_id_is(NULL, 7), "none is none");
    arena_free(&a);
}

static void test_written(void)
{
    struct arena a = {.mem = &plain};
    const struct json *j = json_parse(STR("{\"id\":\"a\\n\"}"), &a, NULL);
    struct buf b = {.mem = &plain};

    rpc_open(&b, 3, "m");
    json_add_i64(&b, "a", 1);
    rpc_close(&b);
    buf_char(&b, '\n');
    rpc_open(&b, 0, "n");
    rpc_close(&b);
    buf_char(&b, '\n');
    rpc_put_empty(&b, j->first);
    buf_char(&b, '\n');
    rpc_put_error(&b, j->first, -5, "a \"word\"");
    tap_is_str(buf_view(&b),
               "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"m\",\"params\":{"
               "\"a\":1}}\n"
               "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":\"a\\n\",\"result\":{}}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":\"a\\n\",\"error\":{\"code\":-5,"
               "\"message\":\"a \\\"word\\\"\"}}",
               "messages out");
    buf_free(&b);
    arena_free(&a);
}

int main(void)
{
    test_rows();
    test_batch(RPC_BATCH_MAX - 1, WEND_OK);
    test_batch(RPC_BATCH_MAX, WEND_OK);
    test_batch(RPC_BATCH_MAX + 1, WEND_E_LIMIT);
    test_depth(JSON_DEPTH_MAX - 1, WEND_OK);
    test_depth(JSON_DEPTH_MAX, WEND_OK);
    test_depth(JSON_DEPTH_MAX + 1, WEND_E_LIMIT);
    test_memory();
    test_ids();
    test_written();
    return tap_done();
}

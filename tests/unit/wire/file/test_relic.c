/*
 * test_relic.c - files about relics: what is read and refused.
 */
#include "wire/file/relic.h"

#include "base/header.h"
#include "base/limits.h"
#include "fault.h"
#include "tap.h"

/* The example of the manual, word for word. */
static const char manual[] =
    "wend: relic/1\n"
    "name: issues\n"
    "kind: http\n"
    "base_url: https://tracker.example/api/v2\n"
    "secrets: [TRACKER_TOKEN]\n"
    "headers: {Authorization: \"Bearer ${TRACKER_TOKEN}\"}\n"
    "timeout: 20s\n"
    "endpoints:\n"
    "  find: {path: \"/issues?q=${words}\", output: json}\n"
    "  get: {path: \"/issues/${id}\", output: json}\n"
    "  create: {method: POST, path: /issues, output: json, timeout: 5s}\n"
    "  close: {method: PUT, path: \"/issues/${id}/state\", "
    "class: idempotent}\n";

#define HTTP                               \
    "wend: relic/1\nname: a\nkind: http\n" \
    "base_url: http://h/b/\nsecrets: [KEY]\nendpoints:\n"
#define KV "wend: relic/1\nname: a\nkind: kv\n"
#define MCP "wend: relic/1\nname: a\nkind: mcp\n"

static struct relic_manifest *parse(const char *text, struct arena *a,
                                    wend_error *err)
{
    struct relic_manifest *m = NULL;

    *err = (wend_error){0};
    return relic_manifest_parse(str_of(text), a, &m, err) ? NULL : m;
}

static const char *shown(const struct relic_text *t, struct buf *b)
{
    buf_clear(b);
    for (size_t i = 0; i < t->count; i++) {
        buf_str(b, t->parts[i].before);
        if (t->parts[i].place.ptr)
            buf_fmt(b, t->parts[i].secret ? "<<%s>>" : "<%s>",
                    t->parts[i].place.ptr);
    }
    return b->ptr;
}

static void test_manual(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct buf b = {.mem = &mem};
    wend_error err;
    struct relic_manifest *m = parse(manual, &a, &err);
    const struct relic_endpoint *e = m ? m->endpoints : NULL;

    if (!tap_ok(m && m->endpoints_count == 4, "the manual's: %s", err.message))
        return;
    tap_is_str(m->base_url, "https://tracker.example/api/v2", "its URL");
    tap_is_i64(m->server.timeout_ms, 20000, "its timeout");
    tap_is_str(str_of(shown(&m->headers.list[0].value, &b)),
               "Bearer <<TRACKER_TOKEN>>", "a header with a secret");
    tap_is_str(str_of(shown(&e[0].path, &b)), "/issues?q=<words>", "a path");
    tap_is_str(e[0].schema,
               "{\"type\":\"object\",\"properties\":{\"words\":{\"type\":"
               "[\"string\",\"number\",\"boolean\"]}},\"required\":[\"words\"],"
               "\"additionalProperties\":false}",
               "what its places need");
    tap_is_str(e[2].schema,
               "{\"type\":\"object\",\"properties\":{},\"required\":[]}",
               "with a body anything");
    tap_ok(e[0].call_class == WEND_CLASS_READ && !e[0].body && e[0].output_json,
           "a GET reads and has no body");
    tap_ok(e[2].call_class == WEND_CLASS_UNSAFE && e[2].body &&
               e[2].method == RELIC_POST && e[2].timeout_ms == 5000,
           "a POST is unsafe and has one");
    tap_ok(e[3].call_class == WEND_CLASS_IDEMPOTENT && e[3].body &&
               !e[3].output_json,
           "a PUT is idempotent, its output text");
    buf_free(&b);
    arena_free(&a);
}

static void test_texts(void)
{
    static const struct {
        const char *written, *read;
    } rows[] = {
        {"/a", "/a"},
        {"/a/${b}", "/a/<b>"},
        {"/${a}${b}/c", "/<a><b>/c"},
        {"/$$x/$$$${a}", "/$x/$${a}"},
        {"/a?b=${b}&c=%20${c}", "/a?b=<b>&c=%20<c>"},
        {"/${a-b_9}", "/<a-b_9>"},
    };
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct buf text = {.mem = &mem}, b = {.mem = &mem};
    wend_error err;

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct relic_manifest *m;

        buf_clear(&text);
        buf_fmt(&text, HTTP "  e: {path: \"%s\"}\n", rows[i].written);
        m = parse(text.ptr, &a, &err);
        if (i == 3) /* a brace is to be escaped in a URL */
            tap_ok(!m && err.line == 7, "%s", rows[i].written);
        else if (tap_ok(m != NULL, "%s: %s", rows[i].written, err.message))
            tap_is_str(str_of(shown(&m->endpoints[0].path, &b)), rows[i].read,
                       "%s", rows[i].written);
    }
    buf_free(&text);
    buf_free(&b);
    arena_free(&a);
}

static const struct {
    const char *text;
    unsigned line, column;
    const char *message;
} refused[] = {
    {"name: a\nkind: kv\n", 1, 1, "needs 'wend: relic/1'"},
    {"wend: relic/1\nkind: kv\n", 1, 1, "needs 'name'"},
    {"wend: relic/1\nname: a\n", 1, 1, "needs 'kind'"},
    {"wend: relic/2\nname: a\nkind: kv\n", 1, 7, "relic/1"},
    {KV "tll: 1s\n", 4, 1, "unknown key 'tll'"},
    {KV "tll: 1s\n", 4, 1, "did you mean 'ttl'?"},
    {KV "ttl: soon\n", 4, 6, "a duration"},
    {KV "base_url: http://h\n", 4, 1, "kind kv has no 'base_url'"},
    {"wend: relic/1\nname: a.b\nkind: kv\n", 2, 7, "the name of a relic"},
    {"wend: relic/1\nname: a\nkind: htp\n", 3, 7, "did you mean 'http'?"},
    {"wend: relic/1\nname: a\nkind: http\nendpoints: {}\n", 1, 1, "'base_url'"},
    {"wend: relic/1\nname: a\nkind: http\nbase_url: ftp://h\n", 4, 11,
     "http://"},
    {"wend: relic/1\nname: a\nkind: http\nbase_url: http://u@h\nendpoints: "
     "{}\n",
     4, 11, "base_url: "},
    {"wend: relic/1\nname: a\nkind: http\nbase_url: http://h/?a\nendpoints: "
     "{}\n",
     4, 11, "a query belongs to"},
    {"wend: relic/1\nname: a\nkind: http\nbase_url: http://h\n", 1, 1,
     "'endpoints'"},
    {HTTP "  {}\n", 7, 3, "a mapping from names to endpoints"},
    {HTTP "  e: {}\n", 7, 6, "endpoints.e needs 'path'"},
    {HTTP "  e.f: {path: /}\n", 7, 3, "the name of an endpoint"},
    {HTTP "  e: {path: x}\n", 7, 13, "a path begins with /"},
    {HTTP "  e: {path: /a b}\n", 7, 13, "endpoints.e.path"},
    {HTTP "  e: {path: \"/a#b\"}\n", 7, 14, "fragment"},
    {HTTP "  e: {path: /a/../b}\n", 7, 13, "without . and .."},
    {HTTP "  e: {path: \"/ab${\"}\n", 7, 17, "a place is ${name}"},
    {HTTP "  e: {path: \"/ab${}\"}\n", 7, 17, "a place is ${name}"},
    {HTTP "  e: {path: \"/ab${a b}\"}\n", 7, 17, "a place is ${name}"},
    {HTTP "  e: {path: /ab$c}\n", 7, 16, "a dollar is $$"},
    {HTTP "  e: {path: \"/${KEY}\"}\n", 7, 15, "a secret cannot be part"},
    {HTTP "  e: {path: /, method: get}\n", 7, 24, "one of GET, HEAD"},
    {HTTP "  e: {path: /, body: json}\n", 7, 22, "GET has no body"},
    {HTTP "  e: {path: /, class: safe}\n", 7, 23, "class"},
    {HTTP "  e: {path: /, headers: {Host: a}}\n", 7, 26,
     "header 'Host' cannot be set"},
    {HTTP "  e: {path: /, headers: {\"a b\": a}}\n", 7, 26,
     "'a b' is not a header name"},
    {HTTP "  e: {path: /, headers: {A: \"a\\nB: c\"}}\n", 7, 30,
     "no line breaks"},
    {HTTP "  e: {path: /, headers: [A]}\n", 7, 25, "a mapping from names"},
    {HTTP "  e: {path: /, schema: {type: strin}}\n", 7, 31, "schema"},
    {HTTP "  e: {path: /, comand: [a]}\n", 7, 16, "unknown key 'comand'"},
    {MCP, 1, 1, "either 'command' or 'url'"},
    {MCP "url: http://h\ncommand: [a]\n", 1, 1, "either"},
    {MCP "command: a\n", 4, 10, "no shell"},
    {MCP "url: http://h\nendpoints: {e: {path: /}}\n", 5, 17,
     "unknown key 'path'"},
    {"wend: relic/1\nname: a__b\nkind: mcp\nurl: http://h\n", 2, 7,
     "without __"},
};

static void test_refused(void)
{
    struct mem mem = {0};
    wend_error err;

    for (size_t i = 0; i < tap_count(refused); i++) {
        struct arena a = {.mem = &mem};

        tap_ok(!parse(refused[i].text, &a, &err), "row %zu is refused", i);
        tap_ok(err.line == refused[i].line && err.column == refused[i].column &&
                   strstr(err.message, refused[i].message),
               "row %zu: %u:%u: %s", i, err.line, err.column, err.message);
        arena_free(&a);
    }
}

static void test_has(void)
{
    static const struct {
        const char *text, *endpoint;
        bool has;
        const char *near;
    } rows[] = {
        {KV, "put", true, NULL},
        {KV, "get", true, NULL},
        {KV, "delete", true, NULL},
        {KV, "putt", false, "put"},
        {KV, "swim", false, NULL},
        {HTTP "  find: {path: /}\n", "find", true, NULL},
        {HTTP "  find: {path: /}\n", "fnd", false, "find"},
        {MCP "url: http://h\n", "whatever", true, NULL},
        {MCP "url: http://h\nendpoints: {e: {}}\n", "e", true, NULL},
        {MCP "url: http://h\nendpoints: {e: {}}\n", "f.g", false, NULL},
    };
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    wend_error err;

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct relic_manifest *m = parse(rows[i].text, &a, &err);
        wend_str near = STR_NONE;

        if (!tap_ok(m != NULL, "row %zu: %s", i, err.message))
            continue;
        tap_is_i64(relic_has(m, str_of(rows[i].endpoint), &near), rows[i].has,
                   "row %zu: %s", i, rows[i].endpoint);
        tap_ok(str_eq(near, str_of(rows[i].near)), "row %zu: the near one", i);
    }
    arena_free(&a);
}

static void test_limits(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct buf b = {.mem = &mem};
    wend_error err;

    for (int over = 0; over < 2; over++) {
        buf_clear(&b);
        buf_cstr(&b, HTTP "  e: {path: /, headers: {");
        for (int i = 0; i < RELIC_HEADERS_MAX + over; i++)
            buf_fmt(&b, "%sA%d: x", i ? ", " : "", i);
        buf_cstr(&b, "}}\n");
        tap_is_i64(parse(b.ptr, &a, &err) != NULL, !over, "%d headers: %s",
                   RELIC_HEADERS_MAX + over, err.message);
        buf_clear(&b);
        buf_cstr(&b, HTTP "  e: {path: \"/${p0}?${p0}");
        for (int i = 1; i < RELIC_PLACES_MAX + over; i++)
            buf_fmt(&b, "&${p%d}", i);
        buf_cstr(&b, "\"}\n");
        tap_is_i64(parse(b.ptr, &a, &err) != NULL, !over, "%d places: %s",
                   RELIC_PLACES_MAX + over, err.message);
        buf_clear(&b);
        buf_cstr(&b, HTTP "  ");
        for (int i = 0; i < RELIC_NAME_MAX + over; i++)
            buf_char(&b, 'e');
        buf_cstr(&b, ": {path: /}\n");
        tap_is_i64(parse(b.ptr, &a, &err) != NULL, !over, "a name of %d: %s",
                   RELIC_NAME_MAX + over, err.message);
        buf_clear(&b);
        buf_cstr(&b, HTTP "  e: {path: /");
        for (int i = 1; i < URL_BYTES_MAX / 2 * (over ? 3 : 1); i++)
            buf_char(&b, 'e');
        buf_cstr(&b, "}\n");
        tap_is_i64(parse(b.ptr, &a, &err) != NULL, !over, "a long path: %s",
                   err.message);
    }
    buf_free(&b);
    arena_free(&a);
}

static void test_headers(void)
{
    static const struct {
        const char *line;
        bool ours;
    } rows[] = {
        {"Host", true},        {"host: a", true},    {"HOST:", true},
        {"Hosting: a", false}, {"Proxy-X: a", true}, {"X-Host: a", false},
        {"te", true},          {"", false},          {"idempotency-key", true},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(header_is_ours(str_of(rows[i].line)), rows[i].ours, "%s",
                   rows[i].line);
    tap_ok(!header_value_ok(STR("")) && !header_value_ok(STR(" a")) &&
               !header_value_ok(STR("a\rb")) && header_value_ok(STR("a b\xC3")),
           "values of headers");
}

/* A header of the relic is sent unless the endpoint has one of that name, so
 * its places are parameters. */
static void test_inherited(void)
{
    static const struct {
        const char *relic, *endpoint;
        bool inherited;
    } rows[] = {
        {"X-A", "X-B", true}, {"X-A", "x-a", false},
        {"X-", "X-A", true}, /* not all that begin so */
        {"X-A", "X-", true},  {"X-A", "X-AB", true},
    };
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct buf b = {.mem = &mem};
    wend_error err;

    for (size_t i = 0; i < tap_count(rows); i++) {
        const struct relic_manifest *m;

        buf_clear(&b);
        buf_fmt(&b,
                HTTP "  e: {path: /, headers: {%s: b}}\n"
                     "headers: {%s: \"${place}\"}\n",
                rows[i].endpoint, rows[i].relic);
        m = parse(b.ptr, &a, &err);
        if (tap_ok(m != NULL, "row %zu: %s", i, err.message))
            tap_is_i64(strstr(m->endpoints[0].schema.ptr, "place") != NULL,
                       rows[i].inherited, "%s beside %s", rows[i].relic,
                       rows[i].endpoint);
    }
    buf_free(&b);
    arena_free(&a);
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int rounds = 0, bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 16};
        struct relic_manifest *r = NULL;
        wend_error err = {0}; /* fail_in takes the status from it */
        wend_status s = relic_manifest_parse(str_of(manual), &a, &r, &err);

        bad += s != (f.hit ? WEND_E_NOMEM : WEND_OK) || err.status != s;
        bad += !r != f.hit;
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(rounds > 3 && !bad, "no memory, at each of %d places", rounds - 1);
}

int main(void)
{
    test_manual();
    test_texts();
    test_refused();
    test_has();
    test_limits();
    test_headers();
    test_inherited();
    test_no_memory();
    return tap_done();
}

/*
 * relic.c - files that describe relics: services for plans.
 */
#include "wire/file/relic.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/limits.h"
#include "base/url.h"
#include "base/utf8.h"
#include "core/config/config.h"
#include "wire/file/manifest_read.h"
#include "wire/file/relic_text.h"

const char *const relic_methods[RELIC_METHODS + 1] = {
    [RELIC_GET] = "GET",    [RELIC_HEAD] = "HEAD",   [RELIC_POST] = "POST",
    [RELIC_PUT] = "PUT",    [RELIC_PATCH] = "PATCH", [RELIC_DELETE] = "DELETE",
    [RELIC_METHODS] = NULL,
};

static const char *const kinds[] = {
    [RELIC_KV] = "kv", [RELIC_HTTP] = "http", [RELIC_MCP] = "mcp", NULL};

const char *const relic_kv_endpoints[RELIC_KV_ENDPOINTS] = {
    [RELIC_KV_PUT] = "put",
    [RELIC_KV_GET] = "get",
    [RELIC_KV_DELETE] = "delete",
};

/* ---- Headers ------------------------------------------------------------- */

static wend_status read_header(struct fields *f, const struct json *j,
                               void *item)
{
    struct relic_header *h = item;
    uint32_t line, column;

    fields_key(f, j, &line, &column);
    if (!header_name_ok(j->key) || header_is_ours(j->key))
        return fail_at(f->err, WEND_E_PARSE, line, column,
                       header_name_ok(j->key) ? "header '%.*s' cannot be set"
                                              : "'%.*s' is not a header name",
                       (int)utf8_cut(j->key, FIELDS_QUOTED_MAX), j->key.ptr);
    h->name = arena_str(f->arena, j->key);
    if (!h->name.ptr)
        return fail_nomem(f->err);
    return relic_text_read(f, j, RELIC_TEXT_HEADER, &h->value);
}

static FIELD_READ(read_headers)
{
    struct relic_headers *out = at;
    void *list = NULL;
    wend_status s = fields_map(f, j, sizeof *out->list, RELIC_HEADERS_MAX,
                               read_header, &list, &out->count);

    out->list = list;
    return s;
}

/* ---- Endpoints ----------------------------------------------------------- */

/* The name of an endpoint or a relic; RELIC.ENDPOINT is a tool's name. */
static wend_status check_name(struct fields *f, wend_str name, uint32_t line,
                              uint32_t column, const char *what)
{
    if (relic_name_ok(name) && name.len <= RELIC_NAME_MAX)
        return WEND_OK;
    return fail_at(f->err, WEND_E_PARSE, line, column,
                   "the name of %s must be 1 to %d of A-Z a-z 0-9 _ -, not "
                   "'%.*s'",
                   what, RELIC_NAME_MAX, (int)utf8_cut(name, FIELDS_QUOTED_MAX),
                   name.ptr ? name.ptr : "");
}

static FIELD_READ(read_path)
{
    return relic_text_read(f, j, RELIC_TEXT_PATH, at);
}

#define AT(member) .offset = offsetof(struct relic_endpoint, member)

static const char *const bodies[] = {"none", "json", NULL};
static const char *const outputs[] = {"text", "json", NULL};

static const struct field http_rows[] = {
    {"method", field_index, AT(method), .words = relic_methods},
    {"path", read_path, AT(path)},
    {"headers", read_headers, AT(headers)},
    {"schema", manifest_read_schema, AT(schema)},
    {"class", field_index, AT(call_class), .words = manifest_classes},
    {"timeout", field_ms, AT(timeout_ms), .min = 1, .max = UINT32_MAX},
    {"body", field_second, AT(body), .words = bodies},
    {"output", field_second, AT(output_json), .words = outputs},
    {"labels", manifest_read_labels, AT(labels)},
    {0},
};

static const struct field mcp_rows[] = {
    {"class", field_index, AT(call_class), .words = manifest_classes},
    {"timeout", field_ms, AT(timeout_ms), .min = 1, .max = UINT32_MAX},
    {"labels", manifest_read_labels, AT(labels)},
    {0},
};

#undef AT

/* What the method means unless the file says otherwise. */
static wend_status fill_http(struct fields *f, const struct json *j,
                             const struct relic_manifest *m,
                             struct relic_endpoint *e)
{
    static const int classes[RELIC_METHODS] = {
        [RELIC_GET] = WEND_CLASS_READ,
        [RELIC_HEAD] = WEND_CLASS_READ,
        [RELIC_PUT] = WEND_CLASS_IDEMPOTENT,
        [RELIC_DELETE] = WEND_CLASS_IDEMPOTENT,
    };
    const struct json *body = json_get(j, "body");
    bool plain = e->method == RELIC_GET || e->method == RELIC_HEAD;

    if (!e->path.parts)
        return fields_missing(f, j, "path");
    if (body && e->body && plain)
        return fail_at(f->err, WEND_E_PARSE, body->line, body->column,
                       "%s has no body", relic_methods[e->method]);
    if (!body)
        e->body = !plain && e->method != RELIC_DELETE;
    if (e->call_class < 0)
        e->call_class = classes[e->method];
    return e->schema.ptr ? WEND_OK : relic_schema(f, m, e);
}

static wend_status read_endpoint(struct fields *f, const struct json *j,
                                 void *item)
{
    const struct relic_manifest *m = f->ctx;
    struct relic_endpoint *e = item;
    wend_status s;

    fields_key(f, j, &e->line, &e->column);
    /* A server chooses the names of its tools. */
    s = m->kind == RELIC_HTTP
            ? check_name(f, j->key, e->line, e->column, "an endpoint")
            : WEND_OK;
    e->name = arena_str(f->arena, j->key);
    e->call_class = -1;
    if (s)
        return s;
    if (!e->name.ptr)
        return fail_nomem(f->err);
    s = fields_read(f, j, m->kind == RELIC_HTTP ? http_rows : mcp_rows, e);
    return s || m->kind != RELIC_HTTP ? s : fill_http(f, j, m, e);
}

static wend_status read_endpoints(struct fields *f, const struct json *j,
                                  struct relic_manifest *m)
{
    void *list = NULL;
    wend_status s;

    snprintf(f->where, sizeof f->where, "endpoints");
    s = j->count ? fields_map(f, j, sizeof *m->endpoints, MANIFEST_LIST_MAX,
                              read_endpoint, &list, &m->endpoints_count)
                 : fields_wrong(f, j, "a mapping from names to endpoints");
    m->endpoints = list;
    f->where[0] = 0;
    return s;
}

/* ---- The relic ----------------------------------------------------------- */

/* Read when the kind is known. */
static FIELD_READ(read_later)
{
    (void)f;
    (void)j;
    return WEND_OK;
}

#define AT(member) .offset = offsetof(struct relic_manifest, member)

static const char *const version[] = {"relic/1", NULL};

static const struct field rows[] = {
    {"wend", .read = field_version, .words = version, .needed = true},
    {"name", field_cstr, AT(name), .needed = true},
    {"kind", field_index, AT(kind), .words = kinds, .needed = true},
    {"ttl", field_ms, AT(ttl_ms)},
    {"base_url", manifest_read_url, AT(base_url)},
    {"headers", .read = read_later},
    {"endpoints", .read = read_later},
    {"secrets", manifest_read_secrets, AT(server.secrets)},
    {"timeout", field_ms, AT(server.timeout_ms), .min = 1, .max = UINT32_MAX},
    {"start_timeout", field_ms, AT(server.start_timeout_ms), .min = 1,
     .max = UINT32_MAX},
    {"command", manifest_read_command, AT(server.command)},
    {"url", manifest_read_url, AT(server.url)},
    {"sandbox", manifest_read_sandbox, AT(server.sandbox_off)},
    {"network", manifest_read_switch, AT(server.network_on)},
    {"trust", manifest_read_switch, AT(server.trust)},
    {0},
};

#undef AT

/* Which kinds have a key, if not all of them. */
static const struct {
    const char *key;
    unsigned kinds;
} owners[] = {
    {"ttl", 1u << RELIC_KV},
    {"base_url", 1u << RELIC_HTTP},
    {"headers", 1u << RELIC_HTTP},
    {"endpoints", 1u << RELIC_HTTP | 1u << RELIC_MCP},
    {"secrets", 1u << RELIC_HTTP | 1u << RELIC_MCP},
    {"timeout", 1u << RELIC_HTTP | 1u << RELIC_MCP},
    {"start_timeout", 1u << RELIC_MCP},
    {"command", 1u << RELIC_MCP},
    {"url", 1u << RELIC_MCP},
    {"sandbox", 1u << RELIC_MCP},
    {"network", 1u << RELIC_MCP},
    {"trust", 1u << RELIC_MCP},
};

static wend_status check_keys(struct fields *f, int kind)
{
    uint32_t line, column;

    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const struct json *j = json_get(f->root, owners[i].key);

        if (!j || owners[i].kinds >> kind & 1)
            continue;
        fields_key(f, j, &line, &column);
        return fail_at(f->err, WEND_E_PARSE, line, column,
                       "a relic of the kind %s has no '%s'", kinds[kind],
                       owners[i].key);
    }
    return WEND_OK;
}

/* The path of the URL goes before the paths of the endpoints. */
static wend_status read_base(struct fields *f, struct relic_manifest *m)
{
    const struct json *j = json_get(f->root, "base_url");
    struct url url;
    wend_error why = {0};

    if (!j)
        return fields_missing(f, f->root, "base_url");
    if (memchr(m->base_url.ptr, '?', m->base_url.len) ||
        memchr(m->base_url.ptr, '#', m->base_url.len))
        return fail_at(f->err, WEND_E_PARSE, j->line, j->column,
                       "base_url ends with its path; a query belongs to the "
                       "path of an endpoint");
    snprintf(f->where, sizeof f->where, "base_url");
    if (url_parse(m->base_url, f->arena, &url, &why) != WEND_OK)
        return fields_because(f, j, &why);
    f->where[0] = 0;
    while (m->base_url.ptr[m->base_url.len - 1] == '/')
        m->base_url.len--;
    m->base_url = arena_str(f->arena, m->base_url);
    return m->base_url.ptr ? WEND_OK : fail_nomem(f->err);
}

static wend_status read_http(struct fields *f, struct relic_manifest *m)
{
    const struct json *headers = json_get(f->root, "headers");
    const struct json *endpoints = json_get(f->root, "endpoints");
    wend_status s = read_base(f, m);

    snprintf(f->where, sizeof f->where, "headers");
    if (!s && headers)
        s = read_headers(f, NULL, headers, &m->headers);
    f->where[0] = 0;
    if (s)
        return s;
    return endpoints ? read_endpoints(f, endpoints, m)
                     : fields_missing(f, f->root, "endpoints");
}

static wend_status read_mcp(struct fields *f, struct relic_manifest *m)
{
    const struct json *endpoints = json_get(f->root, "endpoints");
    const struct json *name = json_get(f->root, "name");
    wend_status s;

    if (m->server.command.given == (m->server.url.ptr != NULL))
        return fail_at(f->err, WEND_E_PARSE, f->root->line, f->root->column,
                       "the relic needs either 'command' or 'url'");
    s = manifest_server_name(f, m->name, name->line, name->column);
    m->server.name = m->name;
    return s || !endpoints ? s : read_endpoints(f, endpoints, m);
}

static wend_status read_relic(struct fields *f, struct relic_manifest *m)
{
    const struct json *name = json_get(f->root, "name");
    wend_status s = fields_read(f, f->root, rows, m);

    if (!s)
        s = check_name(f, m->name, name->line, name->column, "a relic");
    if (!s)
        s = check_keys(f, m->kind);
    if (!s && m->kind == RELIC_HTTP)
        s = read_http(f, m);
    if (!s && m->kind == RELIC_MCP)
        s = read_mcp(f, m);
    return s;
}

wend_status relic_manifest_parse(wend_str text, struct arena *a,
                                 struct relic_manifest **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the relic"};
    struct relic_manifest *m;
    void *room;
    wend_status s = file_begin(&f, text, MANIFEST_BYTES_MAX, sizeof *m, &room);

    f.ctx = m = s ? NULL : room;
    if (!s)
        s = read_relic(&f, m);
    if (!s) {
        m->json = json_text(f.root, a);
        s = m->json.ptr ? WEND_OK : fail_nomem(err);
    }
    if (!s)
        *out = m;
    return s;
}

bool relic_has(const struct relic_manifest *m, wend_str endpoint,
               wend_str *near)
{
    int best = 0;

    *near = STR_NONE;
    if (m->kind == RELIC_MCP && !m->endpoints_count)
        return true; /* only the server knows */
    for (size_t i = 0; i < m->endpoints_count; i++) {
        if (str_eq(m->endpoints[i].name, endpoint))
            return true;
        if (str_nearer(endpoint, m->endpoints[i].name, &best))
            *near = m->endpoints[i].name;
    }
    for (size_t i = 0; m->kind == RELIC_KV && i < RELIC_KV_ENDPOINTS; i++) {
        if (str_is(endpoint, relic_kv_endpoints[i]))
            return true;
        if (str_nearer(endpoint, str_of(relic_kv_endpoints[i]), &best))
            *near = str_of(relic_kv_endpoints[i]);
    }
    return false;
}

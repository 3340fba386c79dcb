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

static FIELD_READ(read_header)
{
    struct relic_header *h = at;

    if (!header_name_ok(j->key) || header_is_ours(j->key))
        return fields_fail_key(f, j,
                               header_name_ok(j->key)
                                   ? "header '%.*s' cannot be set"
                                   : "'%.*s' is not a header name",
                               UTF8_ARGS(j->key, FIELDS_QUOTED_MAX));
    h->name = arena_str(f->arena, j->key);
    if (!h->name.ptr)
        return fail_nomem(f->err);
    return relic_text_read(f, j, RELIC_TEXT_HEADER, &h->value);
}

#define HEADERS(type) \
    field_map, FIELD_ITEMS(type, headers.list, read_header, RELIC_HEADERS_MAX)

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
#define LABELS_ROW \
    MANIFEST_WORDS(struct relic_endpoint, labels, manifest_read_label)

static const char *const bodies[] = {"none", "json", NULL};
static const char *const outputs[] = {"text", "json", NULL};

static const struct field http_rows[] = {
    {"method", field_index, AT(method), .words = relic_methods},
    {"path", read_path, AT(path)},
    {"headers", HEADERS(struct relic_endpoint)},
    {"schema", manifest_read_schema, AT(schema)},
    {"class", field_index, AT(call_class), .words = manifest_classes},
    {"timeout", field_ms, AT(timeout_ms), .min = 1, .max = UINT32_MAX},
    {"body", field_second, AT(body), .words = bodies},
    {"output", field_second, AT(output_json), .words = outputs},
    {"labels", field_list, LABELS_ROW},
    {0},
};

static const struct field mcp_rows[] = {
    {"class", field_index, AT(call_class), .words = manifest_classes},
    {"timeout", field_ms, AT(timeout_ms), .min = 1, .max = UINT32_MAX},
    {"labels", field_list, LABELS_ROW},
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
        return fields_fail(f, body, "%s has no body", relic_methods[e->method]);
    if (!body)
        e->body = !plain && e->method != RELIC_DELETE;
    if (e->call_class < 0)
        e->call_class = classes[e->method];
    return e->schema.ptr ? WEND_OK : relic_schema(f, m, e);
}

static FIELD_READ(read_endpoint)
{
    const struct relic_manifest *m = f->ctx;
    struct relic_endpoint *e = at;
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

static FIELD_READ(read_endpoints)
{
    return j->count ? field_map(f, field, j, at)
                    : fields_wrong(f, j, "a mapping from names to endpoints");
}

/* ---- The relic ----------------------------------------------------------- */

/* Read when the kind, and the secrets, are known. */
static FIELD_READ(read_later)
{
    (void)f;
    (void)j;
    return WEND_OK;
}

#define AT(member) .offset = offsetof(struct relic_manifest, member)
#define HTTP 1u << RELIC_HTTP
#define MCP 1u << RELIC_MCP

static const char *const version[] = {"relic/1", NULL};

static const struct field rows[] = {
    {"wend", .read = field_version, .words = version, .needed = true},
    {"name", field_cstr, AT(name), .needed = true},
    {"kind", field_index, AT(kind), .words = kinds, .needed = true},
    {"ttl", field_ms, AT(ttl_ms), .kinds = 1u << RELIC_KV},
    {"base_url", manifest_read_url, AT(base_url), .kinds = HTTP, .must = HTTP},
    {"headers", .read = read_later, .kinds = HTTP},
    {"endpoints", .read = read_later, .kinds = HTTP | MCP, .must = HTTP},
    {"secrets", field_list,
     MANIFEST_WORDS(struct relic_manifest, server.secrets,
                    manifest_read_variable),
     .kinds = HTTP | MCP},
    {"timeout", field_ms, AT(server.timeout_ms), .min = 1, .max = UINT32_MAX,
     .kinds = HTTP | MCP},
    {"start_timeout", field_ms, AT(server.start_timeout_ms), .min = 1,
     .max = UINT32_MAX, .kinds = MCP},
    {"command", manifest_read_command, AT(server.command), .kinds = MCP},
    {"url", manifest_read_url, AT(server.url), .kinds = MCP},
    {"sandbox", manifest_read_off, AT(server.sandbox_off), .kinds = MCP},
    {"network", manifest_read_switch, AT(server.network_on), .kinds = MCP},
    {"trust", manifest_read_switch, AT(server.trust), .kinds = MCP},
    {0},
};

static const struct field later_rows[] = {
    {"headers", HEADERS(struct relic_manifest)},
    {"endpoints", read_endpoints,
     FIELD_ITEMS(struct relic_manifest, endpoints, read_endpoint,
                 MANIFEST_LIST_MAX)},
    {0},
};

#undef AT
#undef HTTP
#undef MCP

/* In the order of the table: endpoints need the headers of all. */
static wend_status read_rest(struct fields *f, struct relic_manifest *m)
{
    wend_status s = WEND_OK;

    for (const struct field *row = later_rows; !s && row->name; row++) {
        const struct json *j = json_get(f->root, row->name);

        snprintf(f->where, sizeof f->where, "%s", row->name);
        if (j)
            s = row->read(f, row, j, (char *)m + row->offset);
        f->where[0] = 0;
    }
    return s;
}

/* The path of the URL goes before the paths of the endpoints. */
static wend_status read_base(struct fields *f, struct relic_manifest *m)
{
    const struct json *j = json_get(f->root, "base_url");
    struct url url;
    wend_error why = {0};

    if (memchr(m->base_url.ptr, '?', m->base_url.len) ||
        memchr(m->base_url.ptr, '#', m->base_url.len))
        return fields_fail(f, j,
                           "base_url ends with its path; a query belongs to "
                           "the path of an endpoint");
    snprintf(f->where, sizeof f->where, "base_url");
    if (url_parse(m->base_url, f->arena, &url, &why) != WEND_OK)
        return fields_because(f, j, &why);
    f->where[0] = 0;
    while (m->base_url.ptr[m->base_url.len - 1] == '/')
        m->base_url.len--;
    m->base_url = arena_str(f->arena, m->base_url);
    return m->base_url.ptr ? WEND_OK : fail_nomem(f->err);
}

static wend_status check_server(struct fields *f, struct relic_manifest *m)
{
    const struct json *name = json_get(f->root, "name");

    if (!m->server.command.list == !m->server.url.ptr)
        return fields_fail(f, f->root,
                           "the relic needs either 'command' or 'url'");
    m->server.name = m->name;
    return manifest_server_name(f, m->name, name->line, name->column);
}

static wend_status read_relic(struct fields *f, struct relic_manifest *m)
{
    const struct json *name = json_get(f->root, "name");
    wend_status s = check_name(f, m->name, name->line, name->column, "a relic");

    if (!s)
        s = fields_of_kind(f, f->root, rows, "kind", kinds, m->kind);
    if (!s && m->kind == RELIC_HTTP)
        s = read_base(f, m);
    if (!s && m->kind == RELIC_MCP)
        s = check_server(f, m);
    return s ? s : read_rest(f, m);
}

wend_status relic_manifest_parse(wend_str text, struct arena *a,
                                 struct relic_manifest **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the relic"};
    struct relic_manifest *m =
        file_parse(&f, text, MANIFEST_BYTES_MAX, rows, sizeof *m);
    wend_status s;

    f.ctx = m;
    s = m ? read_relic(&f, m) : f.err->status;
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
    bool kv = m->kind == RELIC_KV;

    *near = STR_NONE;
    if (kv ? str_index(endpoint, relic_kv_endpoints, RELIC_KV_ENDPOINTS) >= 0
           : m->kind == RELIC_MCP && !m->endpoints_count)
        return true; /* which endpoints a server has only it knows */
    for (size_t i = 0; i < m->endpoints_count; i++)
        if (str_eq(m->endpoints[i].name, endpoint))
            return true;
    *near =
        kv ? str_of(str_near(endpoint, relic_kv_endpoints, RELIC_KV_ENDPOINTS))
           : str_nearest(endpoint, m->endpoints, sizeof *m->endpoints,
                         offsetof(struct relic_endpoint, name),
                         m->endpoints_count);
    return false;
}

/* Values of kv may be anything. The endpoints of a server are tools, which only
 * it knows. */
wend_str relic_endpoint_schema(const struct relic_manifest *m,
                               wend_str endpoint)
{
#define KEY "\"key\":{\"type\":\"string\",\"minLength\":1}"
    static const char *const kv[RELIC_KV_ENDPOINTS] = {
        [RELIC_KV_PUT] = "{\"properties\":{" KEY ",\"value\":{},\"ttl\":{"
                         "\"type\":\"string\"}},\"required\":[\"key\","
                         "\"value\"],\"additionalProperties\":false}",
        [RELIC_KV_GET] = "{\"properties\":{" KEY "},\"required\":[\"key\"],"
                         "\"additionalProperties\":false}",
        [RELIC_KV_DELETE] = "{\"properties\":{" KEY "},\"required\":[\"key\"],"
                            "\"additionalProperties\":false}",
    };
#undef KEY
    int i = m->kind == RELIC_KV
                ? str_index(endpoint, relic_kv_endpoints, RELIC_KV_ENDPOINTS)
                : -1;

    if (i >= 0)
        return str_of(kv[i]);
    for (size_t k = 0; m->kind == RELIC_HTTP && k < m->endpoints_count; k++)
        if (str_eq(m->endpoints[k].name, endpoint))
            return m->endpoints[k].schema;
    return STR_NONE;
}

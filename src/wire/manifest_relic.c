/*
 * manifest_relic.c - files that describe relics: services for plans.
 */
#include "base/fail.h"
#include "base/limits.h"
#include "wire/fields.h"
#include "wire/manifest.h"

static const char *const version[] = {"relic/1", NULL};
static const char *const kinds[] = {
    [RELIC_KV] = "kv", [RELIC_HTTP] = "http", [RELIC_MCP] = "mcp", NULL};

#define AT(member) offsetof(struct relic_manifest, member)

static const struct field rows[] = {
    {"wend", field_version, 0, 0, 0, version},
    {"name", field_cstr, AT(name), 0, 0, NULL},
    {"kind", field_index, AT(kind), 0, 0, kinds},
    {"ttl", field_ms, AT(ttl_ms), 0, 0, NULL},
    {0},
};

wend_status manifest_relic(wend_str text, struct arena *a,
                           struct relic_manifest **out, wend_error *err)
{
    struct fields f = {.arena = a, .err = err, .whole = "the relic"};
    struct relic_manifest *m = arena_alloc(a, sizeof *m);
    wend_status s =
        m ? fields_open(&f, text, MANIFEST_BYTES_MAX) : fail_nomem(err);
    static const char *const needed[] = {"wend", "name", "kind"};

    if (!s)
        s = fields_read(&f, f.root, rows, m);
    for (size_t i = 0; !s && i < sizeof needed / sizeof *needed; i++)
        if (!json_get(f.root, needed[i]))
            s = fields_missing(&f, f.root, needed[i]);
    if (!s && m->kind != RELIC_KV)
        s = fail_at(f.err, WEND_E_INVAL, json_get(f.root, "kind")->line,
                    json_get(f.root, "kind")->column,
                    "a relic of the kind %s is not served yet; kv is",
                    kinds[m->kind]);
    if (!s)
        *out = m;
    return s;
}

/*
 * relic.h - files that describe relics (relic/1): services for plans.
 *
 * Pure, as manifest.h is, with the same promises about strings.
 */
#ifndef WIRE_RELIC_H
#define WIRE_RELIC_H

#include "wire/file/manifest.h"

enum relic_kind { RELIC_KV, RELIC_HTTP, RELIC_MCP };

enum relic_kv_end {
    RELIC_KV_PUT,
    RELIC_KV_GET,
    RELIC_KV_DELETE,
    RELIC_KV_ENDPOINTS
};
extern const char *const relic_kv_endpoints[RELIC_KV_ENDPOINTS];

/* A text with places: each part is bytes, and what is put behind them. */
struct relic_part {
    wend_str before;
    wend_str place; /* a parameter or a secret; absent: nothing more */
    bool secret;
};

struct relic_text {
    const struct relic_part *parts; /* the last one has no place */
    size_t count;
};

struct relic_header {
    wend_str name;
    struct relic_text value;
};

struct relic_headers {
    const struct relic_header *list;
    size_t count;
};

struct relic_endpoint {
    wend_str name;
    int method;             /* enum relic_method */
    struct relic_text path; /* from the slash on, with its query */
    struct relic_headers headers;
    wend_str schema;    /* of its parameters: the file's, or made of it */
    int call_class;     /* wend_class; -1: the file does not say */
    int64_t timeout_ms; /* 0: the action's own counts */
    bool body;          /* what no place takes is sent as JSON */
    bool output_json;
    struct manifest_words labels;
    uint32_t line, column; /* of its key */
};

enum relic_method {
    RELIC_GET,
    RELIC_HEAD,
    RELIC_POST,
    RELIC_PUT,
    RELIC_PATCH,
    RELIC_DELETE,
    RELIC_METHODS
};
extern const char *const relic_methods[RELIC_METHODS + 1];

struct relic_manifest {
    wend_str name;
    int kind;       /* enum relic_kind */
    int64_t ttl_ms; /* of kv; 0: for ever */
    /* of http */
    wend_str base_url;
    struct relic_headers headers; /* of all endpoints that have no such one */
    /* of http, and of mcp if only some of its tools are meant */
    const struct relic_endpoint *endpoints;
    size_t endpoints_count;
    struct manifest_server server; /* of mcp; secrets and timeout also of
                                      http */
    wend_str json;                 /* all of it, canonical */
};

/* YAML or JSON. */
wend_status relic_manifest_parse(wend_str text, struct arena *a,
                                 struct relic_manifest **out, wend_error *err);

/* The JSON Schema of an endpoint's parameters; absent: not known here. */
wend_str relic_endpoint_schema(const struct relic_manifest *m,
                               wend_str endpoint);

/* Whether the relic has this endpoint, as far as its file can tell; else
 * *near is the one that was meant, or absent. */
bool relic_has(const struct relic_manifest *m, wend_str endpoint,
               wend_str *near);

#endif

/*
 * schema_node.h - a compiled schema, for the files schema*.c only.
 *
 * Keywords are grouped by the kind of value they speak of; a group without
 * keywords is NULL, so that a check looks only at keywords that the schema has.
 */
#ifndef CORE_SCHEMA_NODE_H
#define CORE_SCHEMA_NODE_H

#include "base/decimal.h"
#include "base/json.h"
#include "base/regex.h"

enum schema_type {
    TYPE_NULL,
    TYPE_BOOLEAN,
    TYPE_INTEGER,
    TYPE_NUMBER,
    TYPE_STRING,
    TYPE_ARRAY,
    TYPE_OBJECT,
    TYPE_COUNT,
};

extern const char *const schema_type_names[TYPE_COUNT];

struct schema_list {
    struct schema_node **at;
    size_t count;
};

/* minX or maxX. */
struct schema_count {
    int64_t n;
    bool set;
};

struct schema_range {
    struct schema_count min, max;
};

/* properties and required together, sorted by key. */
struct schema_property {
    wend_str key;
    struct schema_node *node; /* NULL: only required */
    bool required;
};

struct schema_pattern {
    wend_str text;
    struct regex *regex;
    struct schema_node *node; /* in patternProperties */
};

/* dependentRequired or dependentSchemas: one of the two is NULL. */
struct schema_dependent {
    wend_str key;
    const struct json *required;
    struct schema_node *node;
};

struct schema_object {
    struct schema_property *properties;
    size_t properties_count, required_count;
    const char **names; /* of properties, for "did you mean" */
    size_t names_count;
    struct schema_pattern *patterns;
    size_t patterns_count;
    struct schema_dependent *dependents;
    size_t dependents_count;
    struct schema_node *additional, *property_names, *unevaluated;
    struct schema_range range;
};

struct schema_array {
    struct schema_list prefix;
    struct schema_node *items, *contains, *unevaluated;
    struct schema_range range, contained;
    bool unique;
};

struct schema_bound {
    struct decimal limit;
    wend_str text; /* absent: not set */
};

enum schema_bound_kind {
    BOUND_MIN,
    BOUND_MAX,
    BOUND_ABOVE,
    BOUND_BELOW,
    BOUND_COUNT,
};

struct schema_number {
    struct schema_bound bounds[BOUND_COUNT], multiple;
};

struct schema_string {
    struct schema_range range;
    struct schema_pattern pattern; /* regex NULL: none */
};

/* $ref leads to node; $dynamicRef and $recursiveRef to the outermost schema
 * resource that is being checked and has a dynamic anchor of that name. */
struct schema_target {
    struct schema_node *node;
    wend_str name; /* absent: node */
};

/* Keywords for values of every kind. */
struct schema_any {
    const struct json *values; /* of enum */
    const struct json *only;   /* const */
    struct schema_list all, any, one;
    struct schema_node * not, *condition, *then, *otherwise;
    struct schema_target ref, dynamic;
};

struct schema_node {
    unsigned types;                    /* bits by schema_type; 0: all */
    bool never;                        /* the schema `false` */
    bool exclusive_min, exclusive_max; /* as in draft 4 */
    struct schema_any *any;
    struct schema_object *object;
    struct schema_array *array;
    struct schema_number *number;
    struct schema_string *string;
    struct schema_resource *resource; /* NULL: a boolean is all there is */
    /* While compiling: */
    const struct json *json;
    struct schema_node *next;  /* as they were made */
    struct schema_node *chain; /* in the same bucket */
};

/* Shorter ones first: most are told apart by their length. */
static inline int schema_key_order(wend_str a, wend_str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

struct schema {
    const struct mem *mem; /* for checks */
    struct schema_node *root;
};

/* They differ in what names a schema and what may stand beside a $ref. */
enum schema_draft { DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020 };

/* The URI of a resource, or an anchor in one. $recursiveAnchor is a dynamic
 * anchor with an empty name. */
struct schema_name {
    uint64_t hash;
    wend_str text;
    const struct schema_resource *in; /* NULL: a URI */
    struct schema_node *node;
    bool dynamic;
    struct schema_name *chain; /* in the same bucket */
    struct schema_name *next;  /* dynamic one of the resource */
};

/* A part of the document with a $id of its own, or all of it; or a
 * metaschema. */
struct schema_resource {
    wend_str base; /* its URI; absent: unknown */
    const struct json *root;
    enum schema_draft draft;
    struct schema_name *dynamic; /* anchors */
};

/* A $ref to be followed once all resources and anchors are known. */
struct schema_ref {
    const struct json *json;
    struct schema_resource *resource;
    struct schema_target *out;
    struct schema_ref *next;
};

enum { SCHEMA_BUCKETS = 512 };

struct compiling {
    struct arena *arena;
    const struct json *document;
    struct schema_node *first, **last; /* to be compiled */
    struct schema_node *buckets[SCHEMA_BUCKETS];
    size_t nodes;
    struct schema_name *names[SCHEMA_BUCKETS];
    uint64_t looks; /* at names and members */
    struct schema_ref *refs;
    uint32_t metas; /* bits of those that are loaded */
    wend_error *err;
    wend_status status;
};

/* ---- schema_compile.c ---------------------------------------------------- */

/* The node for that place, made and queued if it is new. */
bool schema_node_for(struct compiling *k, const struct json *json,
                     struct schema_resource *resource,
                     struct schema_node **out);
/* Names the place; returns false. */
bool schema_refuse(struct compiling *k, const struct json *at, const char *fmt,
                   ...) __attribute__((format(printf, 3, 4)));
bool schema_nomem(struct compiling *k);

/* ---- schema_ref.c -------------------------------------------------------- */

/* Notes $schema, $id and anchors of a node before its keywords. */
bool schema_identify(struct compiling *k, struct schema_node *n);
/* Whether its $ref replaces all else, as up to draft 7. */
bool schema_ref_alone(const struct json *json, enum schema_draft draft);
/* Follows all that is in k->refs; may queue new nodes. */
bool schema_follow(struct compiling *k);
/* The way from the document's root as a JSON pointer. */
void schema_pointer(const struct json *document, const struct json *at,
                    struct buf *out);

/* The URI that ref means beside base, which may be absent. Absent if
 * a->failed. */
wend_str schema_uri_join(struct arena *a, wend_str base, wend_str ref);

/* ---- schema_meta.c ------------------------------------------------------- */

/* What $schema says; false: none that is known. */
bool schema_draft_find(wend_str uri, enum schema_draft *out);
/* The number of a metaschema; -1: none. */
int schema_meta_find(wend_str uri);
/* NULL: out of memory. */
const struct json *schema_meta_load(int meta, struct arena *a);

/* ---- schema_say.c -------------------------------------------------------- */

/* How a check got where it is: a member, an item or a member's name. */
struct schema_step {
    const struct schema_step *up;
    wend_str key; /* absent: an item */
    uint32_t index;
    bool name;
};

/* The resources that a check is inside of and that have dynamic anchors. */
struct schema_scope {
    const struct schema_scope *up;
    const struct schema_resource *resource;
};

struct schema_check {
    const struct mem *mem;
    struct buf *why; /* NULL: not wanted */
    const struct schema_step *path;
    const struct schema_scope *scope;
    unsigned quiet; /* above 0 while trying alternatives */
    unsigned depth;
    uint64_t steps, work; /* done; left for patterns */
    bool stopped;         /* at a limit: no answer is right any more */
    bool explaining;      /* alternatives, one by one */
};

/* All return false. */
bool schema_wrong(struct schema_check *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
bool schema_stop(struct schema_check *c, const char *why);
bool schema_stop_nomem(struct schema_check *c);
bool schema_wrong_type(struct schema_check *c, unsigned types,
                       const struct json *v);
/* values: a list, or the one of const. */
bool schema_wrong_value(struct schema_check *c, const struct json *values,
                        const struct json *only);
bool schema_wrong_property(struct schema_check *c,
                           const struct schema_object *o, wend_str key);
static inline bool schema_speaks(const struct schema_check *c)
{
    return c->why && !c->quiet;
}

/* ---- schema_plain.c ------------------------------------------------------ */

/* "minItems" is "min" and the suffix "Items". */
bool schema_check_range(struct schema_check *c, const struct schema_range *r,
                        int64_t count, const char *what, const char *suffix);
/* False also when it stopped the check. */
bool schema_found(struct schema_check *c, const struct schema_pattern *p,
                  wend_str text);
bool schema_check_string(struct schema_check *c, const struct schema_string *s,
                         const struct json *v);
bool schema_check_number(struct schema_check *c, const struct schema_node *n,
                         const struct json *v);
/* Of a list: no two items are equal. */
bool schema_check_unique(struct schema_check *c, const struct json *v);

#endif

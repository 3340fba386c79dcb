/*
 * schema_ref.c - where a $ref leads: $id, anchors, JSON pointers.
 *
 * Only the document and the metaschemas are looked at. A URI that names
 * neither is an error: nothing is fetched.
 */
#include <assert.h>

#include "core/schema/schema_node.h"

#include "base/ascii.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/url.h"
#include "base/utf8.h"

/* ---- URIs (RFC 3986, 5.2) ------------------------------------------------ */

/* References come without their fragment. A base without a scheme is fine:
 * many schemas name each other by file names only. */

static wend_str before(wend_str s, char c) /* all of it without c */
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;

    return at ? (wend_str){s.ptr, (size_t)(at - s.ptr)} : s;
}

/* With its colon; 0: none. */
static size_t scheme_of(wend_str s)
{
    size_t len = before(s, ':').len;

    return len < s.len && is_letter(s.ptr[0]) && before(s, '/').len > len
               ? len + 1
               : 0;
}

/* Where the path begins: behind the scheme and the host. */
static size_t path_of(wend_str uri)
{
    size_t at = scheme_of(uri);

    if (!str_starts(str_skip(uri, at), "//"))
        return at;
    for (at += 2; at < uri.len; at++)
        if (uri.ptr[at] == '/' || uri.ptr[at] == '?')
            break;
    return at;
}

/* How much of base a reference that begins so keeps. */
static size_t kept_of(wend_str base, wend_str ref)
{
    size_t path = path_of(base), n = before(base, '?').len;

    if (str_starts(ref, "//"))
        return scheme_of(base);
    if (str_starts(ref, "/"))
        return path;
    if (str_starts(ref, "?"))
        return n;
    while (n > path && base.ptr[n - 1] != '/')
        n--;
    return n;
}

/* The segments of a path behind its first slash, "." and ".." resolved. Each
 * begins behind a slash or where the path begins. */
static void put_segments(struct buf *b, wend_str path)
{
    size_t first = b->len, at = 0;

    while (at < path.len && !b->failed) {
        wend_str segment = before(str_skip(path, at), '/');

        at += segment.len + 1;
        if (str_is(segment, "..")) {
            b->len -= b->len > first;
            while (b->len > first && b->ptr[b->len - 1] != '/')
                b->len--;
        } else if (!str_is(segment, ".")) {
            buf_str(b, segment);
            if (at <= path.len)
                buf_char(b, '/');
        }
    }
}

static void put_resolved(struct buf *b, wend_str uri)
{
    size_t path = path_of(uri), end = before(uri, '?').len;

    if (path < end && uri.ptr[path] == '/')
        path++;
    else if (scheme_of(uri))
        path = uri.len; /* a URN has no segments */
    if (end < path)
        end = path;
    buf_add(b, uri.ptr, path);
    put_segments(b, (wend_str){uri.ptr + path, end - path});
    buf_add(b, uri.ptr + end, uri.len - end);
}

wend_str schema_uri_join(struct arena *a, wend_str base, wend_str ref)
{
    struct buf whole = {.mem = a->mem}, b = whole;
    size_t keep = base.ptr && !scheme_of(ref) ? kept_of(base, ref) : 0;

    buf_add(&whole, base.ptr, keep);
    if (keep > scheme_of(base) && keep == path_of(base) &&
        !str_starts(ref, "/") && !str_starts(ref, "?"))
        buf_char(&whole, '/'); /* "http://host" is a folder, too */
    buf_str(&whole, ref);
    put_resolved(&b, buf_view(&whole));
    b.failed |= whole.failed;
    buf_free(&whole);
    return buf_keep(&b, a);
}

/* ---- Resources and anchors ----------------------------------------------- */

static uint64_t hash_of(const struct schema_resource *in, wend_str text)
{
    return mix64((uintptr_t)in, text.ptr, text.len);
}

static struct schema_name *
find_name(struct compiling *k, const struct schema_resource *in, wend_str text)
{
    uint64_t hash = hash_of(in, text);
    struct schema_name *name = k->names[hash % SCHEMA_BUCKETS];

    for (; name; name = name->chain, k->looks++)
        if (name->hash == hash && name->in == in && str_eq(name->text, text))
            break;
    return name;
}

/* Gives the node that name, if no other has it. */
static struct schema_name *add_name(struct compiling *k, struct schema_node *n,
                                    const struct json *at,
                                    const struct schema_resource *in,
                                    wend_str text)
{
    struct schema_name *name = find_name(k, in, text), **bucket;

    if (name && name->node != n)
        schema_refuse(k, at, "is the name of another schema, too");
    if (name)
        return name->node == n ? name : NULL;
    name = arena_alloc(k->arena, sizeof *name);
    if (!name) {
        schema_nomem(k);
        return NULL;
    }
    name->hash = hash_of(in, text);
    name->text = text;
    name->in = in;
    name->node = n;
    bucket = &k->names[name->hash % SCHEMA_BUCKETS];
    name->chain = *bucket;
    *bucket = name;
    return name;
}

static bool add_resource(struct compiling *k, struct schema_node *n,
                         wend_str base, enum schema_draft draft)
{
    struct schema_resource *r = arena_alloc(k->arena, sizeof *r);

    if (!r)
        return schema_nomem(k);
    r->base = base;
    r->root = n->json;
    r->draft = draft;
    n->resource = r;
    return true;
}

static bool add_anchor(struct compiling *k, struct schema_node *n,
                       const struct json *at, wend_str text, bool dynamic)
{
    struct schema_name *name = add_name(k, n, at, n->resource, text);

    if (!name)
        return false;
    if (dynamic && !name->dynamic) {
        name->dynamic = true;
        name->next = n->resource->dynamic;
        n->resource->dynamic = name;
    }
    return true;
}

/* What a URI reference in that resource means. */
static bool join(struct compiling *k, const struct json *at,
                 const struct schema_resource *in, wend_str *uri)
{
    *uri = schema_uri_join(k->arena, in ? in->base : STR_NONE, *uri);
    if (!uri->ptr)
        return schema_nomem(k);
    return uri->len <= SCHEMA_URI_MAX ||
           schema_refuse(k, at, "makes a URI of over %d bytes", SCHEMA_URI_MAX);
}

/* $id names a resource; up to draft 7, "#name" was an anchor. */
static bool identify_id(struct compiling *k, struct schema_node *n,
                        const struct json *id, enum schema_draft draft)
{
    wend_str uri = json_str(id), anchor;

    if (!uri.ptr)
        return schema_refuse(k, id, "must be a string");
    anchor = str_skip(uri, before(uri, '#').len);
    uri.len -= anchor.len;
    if (uri.len) {
        if (!join(k, id, n->resource, &uri) || !add_name(k, n, id, NULL, uri) ||
            !add_resource(k, n, uri, draft))
            return false;
    }
    if (!n->resource && !add_resource(k, n, STR_NONE, draft))
        return false;
    if (anchor.len > 1)
        return add_anchor(k, n, id, str_skip(anchor, 1), false);
    return true;
}

/* Only a whole resource has a draft of its own. */
static bool read_draft(struct compiling *k, const struct schema_node *n,
                       enum schema_draft *out)
{
    const struct json *schema = json_get(n->json, "$schema");
    wend_str uri = json_str(schema);

    *out = n->resource ? n->resource->draft : DRAFT_2020;
    if (!schema ||
        (n->resource && !json_get(n->json, "$id") && !json_get(n->json, "id")))
        return true;
    if (!uri.ptr)
        return schema_refuse(k, schema, "must be a string");
    return schema_draft_find(uri, out) ||
           schema_refuse(k, schema,
                         "names no draft of JSON Schema that is built in "
                         "(2020-12, 2019-09, 7, 6 or 4): '%.*s'; nothing is "
                         "fetched",
                         UTF8_ARGS(uri, 100));
}

bool schema_ref_alone(const struct json *json, enum schema_draft draft)
{
    return draft <= DRAFT_7 && json_get(json, "$ref");
}

static bool identify_anchors(struct compiling *k, struct schema_node *n)
{
    static const char *const names[] = {"$anchor", "$dynamicAnchor"};
    const struct json *recursive = n->resource->draft == DRAFT_2019
                                       ? json_get(n->json, "$recursiveAnchor")
                                       : NULL;

    for (size_t i = 0; i < 2; i++) {
        const struct json *anchor = json_get(n->json, names[i]);

        if (anchor && !json_str(anchor).len)
            return schema_refuse(k, anchor, "must be a name");
        if (anchor && !add_anchor(k, n, anchor, json_str(anchor), i == 1))
            return false;
    }
    if (!recursive || recursive->kind == JSON_FALSE)
        return true;
    if (recursive->kind != JSON_TRUE)
        return schema_refuse(k, recursive, "must be a boolean");
    return n->json != n->resource->root ||
           add_anchor(k, n, recursive, STR(""), true);
}

bool schema_identify(struct compiling *k, struct schema_node *n)
{
    enum schema_draft draft;
    const struct json *id = NULL;

    if (!read_draft(k, n, &draft))
        return false;
    if (!n->resource || !schema_ref_alone(n->json, draft))
        id = json_get(n->json, draft == DRAFT_4 ? "id" : "$id");
    if (id && !identify_id(k, n, id, draft))
        return false;
    if (!n->resource && !add_resource(k, n, STR_NONE, draft))
        return false;
    return identify_anchors(k, n);
}

/* ---- Pointers ------------------------------------------------------------ */

/* Whether a part of a pointer, with ~0 and ~1 in it, is that key. */
static bool part_is(wend_str part, wend_str key)
{
    size_t n = 0;

    for (size_t i = 0; i < part.len; i++, n++) {
        char c = part.ptr[i];

        if (c == '~' && i + 1 < part.len &&
            (part.ptr[i + 1] == '0' || part.ptr[i + 1] == '1'))
            c = part.ptr[++i] == '0' ? '~' : '/';
        if (n >= key.len || key.ptr[n] != c)
            return false;
    }
    return n == key.len;
}

static const struct json *child(struct compiling *k, const struct json *j,
                                wend_str part)
{
    bool escaped = before(part, '~').len < part.len;
    const struct json *c = j->first;
    int64_t index;

    if (j->kind == JSON_OBJECT) {
        for (; c; c = c->next, k->looks++)
            if (escaped ? part_is(part, c->key) : str_eq(part, c->key))
                break;
        return c;
    }
    if (j->kind != JSON_ARRAY || !str_to_i64(part, &index))
        return NULL;
    for (; c && index; index--, k->looks++)
        c = c->next;
    return c;
}

/* pointer is "" or begins with a slash. */
static const struct json *pointed(struct compiling *k, const struct json *j,
                                  wend_str pointer)
{
    while (j && pointer.len) {
        wend_str part;

        assert(pointer.ptr[0] == '/');
        pointer = str_skip(pointer, 1);
        part = before(pointer, '/');
        pointer = str_skip(pointer, part.len);
        j = child(k, j, part);
    }
    return j;
}

/* Recursion ends with the tree, which JSON_DEPTH_MAX bounds. */
static bool way(const struct json *j, const struct json *at,
                const struct json **steps, size_t *count)
{
    if (j == at)
        return true;
    for (const struct json *c = j->first; c; c = c->next)
        if (*count < JSON_DEPTH_MAX) {
            steps[(*count)++] = c;
            if (way(c, at, steps, count))
                return true;
            (*count)--;
        }
    return false;
}

void schema_pointer(const struct json *document, const struct json *at,
                    struct buf *out)
{
    const struct json *steps[JSON_DEPTH_MAX], *up = document;
    size_t count = 0;

    buf_char(out, '#');
    if (!way(document, at, steps, &count))
        return;
    for (size_t i = 0; i < count; up = steps[i++]) {
        uint32_t index = 0;

        buf_char(out, '/');
        if (up->kind == JSON_ARRAY) {
            for (const struct json *c = up->first; c != steps[i]; c = c->next)
                index++;
            buf_i64(out, index);
            continue;
        }
        for (size_t b = 0; b < steps[i]->key.len; b++) {
            char c = steps[i]->key.ptr[b];

            if (c == '~' || c == '/')
                buf_cstr(out, c == '~' ? "~0" : "~1");
            else
                buf_char(out, c);
        }
    }
}

/* ---- References ---------------------------------------------------------- */

/* What is in a metaschema is known once it is compiled: the reference waits
 * for the next round. */
static bool wait_for_meta(struct compiling *k, struct schema_ref *ref, int meta)
{
    uint32_t bit = UINT32_C(1) << meta;
    const struct json *json;
    struct schema_node *root;

    ref->next = k->refs;
    k->refs = ref;
    if (k->metas & bit)
        return true;
    k->metas |= bit;
    json = schema_meta_load(meta, k->arena);
    if (!json)
        return schema_nomem(k);
    return schema_node_for(k, json, NULL, &root);
}

static bool follow_in(struct compiling *k, const struct schema_ref *ref,
                      struct schema_resource *r, wend_str fragment)
{
    wend_str text = json_str(ref->json);
    bool pointer = !fragment.len || fragment.ptr[0] == '/';
    const struct schema_name *a = find_name(k, r, fragment);
    const struct json *j = pointer ? pointed(k, r->root, fragment)
                           : a     ? a->node->json
                                   : NULL;

    if (k->looks > SCHEMA_LOOKS_MAX) {
        k->status = fail(k->err, WEND_E_LIMIT,
                         "it takes too long to find what each $ref leads to");
        return false;
    }
    if (!j)
        return schema_refuse(k, ref->json, "leads to nothing: '%.*s'",
                             UTF8_ARGS(text, 100));
    if (a && a->dynamic && !str_is(ref->json->key, "$ref"))
        ref->out->name = a->text;
    return schema_node_for(k, j, r, &ref->out->node);
}

static bool follow(struct compiling *k, struct schema_ref *ref)
{
    wend_str text = json_str(ref->json), uri = before(text, '#');
    wend_str rest = str_skip(text, uri.len), fragment;
    struct schema_resource *r = ref->resource;
    struct buf decoded = {.mem = k->arena->mem};
    const struct schema_name *named;
    int meta;

    if (rest.len)
        url_decode(&decoded, str_skip(rest, 1));
    fragment = buf_keep(&decoded, k->arena);
    if (!fragment.ptr)
        return schema_nomem(k);
    if (uri.len) {
        if (!join(k, ref->json, r, &uri))
            return false;
        named = find_name(k, NULL, uri);
        r = named ? named->node->resource : NULL;
    }
    if (r)
        return follow_in(k, ref, r, fragment);
    meta = schema_meta_find(uri);
    if (meta >= 0)
        return wait_for_meta(k, ref, meta);
    return schema_refuse(k, ref->json,
                         "leads out of the document, to '%.*s%.*s'; nothing "
                         "is fetched",
                         UTF8_ARGS(uri, 150), UTF8_ARGS(rest, 60));
}

bool schema_follow(struct compiling *k)
{
    struct schema_ref *ref = k->refs, *next;

    k->refs = NULL;
    for (; ref; ref = next) {
        next = ref->next;
        if (!follow(k, ref))
            return false;
    }
    return true;
}

/*
 * schema_ref.c - where a $ref leads: $id, $anchor, JSON pointers.
 *
 * Only the document itself is looked at. A URI that no $id in it has is
 * remote, and an error.
 */
#include "core/schema_node.h"

#include "base/limits.h"
#include "base/utf8.h"

/* ---- URIs ---------------------------------------------------------------- */

static wend_str before(wend_str s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;

    return at ? (wend_str){s.ptr, (size_t)(at - s.ptr)} : s;
}

static bool has_scheme(wend_str s)
{
    wend_str scheme = before(s, ':');

    return scheme.len && scheme.len < s.len && before(s, '/').len > scheme.len;
}

/* How much of base a reference that begins so keeps. */
static size_t kept_of(wend_str base, wend_str ref)
{
    size_t scheme = has_scheme(base) ? before(base, ':').len + 1 : 0, n;

    if (ref.len && ref.ptr[0] == '/') {
        wend_str rest = {base.ptr + scheme, base.len - scheme};

        if (!str_starts(rest, "//"))
            return scheme;
        rest.ptr += 2;
        rest.len -= 2;
        return scheme + 2 + before(rest, '/').len;
    }
    for (n = base.len; n > scheme && base.ptr[n - 1] != '/';)
        n--;
    return n;
}

/* Enough of RFC 3986 for schemas in one document: the last part, or the
 * path, is replaced; dots in it are not resolved. */
static wend_str joined(struct compiling *k, wend_str base, wend_str ref)
{
    size_t keep;
    char *p;

    if (!base.ptr || has_scheme(ref))
        return ref;
    keep = kept_of(base, ref);
    p = arena_chars(k->arena, keep + ref.len);
    if (!p)
        return STR_NONE;
    memcpy(p, base.ptr, keep);
    memcpy(p + keep, ref.ptr, ref.len);
    return (wend_str){p, keep + ref.len};
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %2F and the like; in place of a copy in the arena. */
static wend_str percent_decoded(struct compiling *k, wend_str s)
{
    char *p = arena_chars(k->arena, s.len);
    size_t n = 0;

    for (size_t i = 0; p && i < s.len; i++) {
        int high =
            i + 2 < s.len && s.ptr[i] == '%' ? hex_digit(s.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s.ptr[i + 2]) : -1;

        if (low >= 0)
            i += 2;
        p[n++] = low >= 0 ? (char)(high * 16 + low) : s.ptr[i];
    }
    return (wend_str){p, n};
}

/* ---- Resources and anchors ----------------------------------------------- */

static bool add_resource(struct compiling *k, struct schema_node *n,
                         wend_str base)
{
    struct schema_resource *r = arena_alloc(k->arena, sizeof *r);

    if (!r)
        return schema_nomem(k);
    r->base = base;
    r->root = n->json;
    r->next = k->resources;
    k->resources = r;
    n->resource = r;
    return true;
}

static bool add_anchor(struct compiling *k, const struct schema_node *n,
                       const struct json *at, wend_str name)
{
    struct schema_anchor *a;

    if (!name.len)
        return schema_refuse(k, at, "must be a name");
    for (const struct schema_anchor *old = k->anchors; old; old = old->next)
        if (old->resource == n->resource && str_eq(old->name, name))
            return old->json == n->json ||
                   schema_refuse(k, at, "is the name of another schema, too");
    a = arena_alloc(k->arena, sizeof *a);
    if (!a)
        return schema_nomem(k);
    a->name = name;
    a->resource = n->resource;
    a->json = n->json;
    a->next = k->anchors;
    k->anchors = a;
    return true;
}

/* $id names a resource; in draft 7, "#name" was an anchor. */
static bool identify_id(struct compiling *k, struct schema_node *n,
                        const struct json *id)
{
    wend_str uri = json_str(id), anchor;

    if (!uri.ptr)
        return schema_refuse(k, id, "must be a string");
    anchor = before(uri, '#');
    anchor = (wend_str){uri.ptr + anchor.len, uri.len - anchor.len};
    uri.len -= anchor.len;
    if (uri.len) {
        uri = joined(k, n->resource ? n->resource->base : STR_NONE, uri);
        if (!uri.ptr)
            return schema_nomem(k);
        for (const struct schema_resource *r = k->resources; r; r = r->next)
            if (str_eq(r->base, uri) && r->root != n->json)
                return schema_refuse(k, id,
                                     "is the name of another schema, too");
        if (!add_resource(k, n, uri))
            return false;
    }
    if (!n->resource && !add_resource(k, n, STR_NONE))
        return false;
    if (anchor.len > 1)
        return add_anchor(k, n, id, (wend_str){anchor.ptr + 1, anchor.len - 1});
    return true;
}

bool schema_identify(struct compiling *k, struct schema_node *n)
{
    static const char *const anchors[] = {"$anchor", "$dynamicAnchor"};
    const struct json *id = json_get(n->json, "$id");

    if (id && !identify_id(k, n, id))
        return false;
    if (!n->resource && !add_resource(k, n, STR_NONE))
        return false;
    for (size_t i = 0; i < 2; i++) {
        const struct json *anchor = json_get(n->json, anchors[i]);

        if (anchor && !add_anchor(k, n, anchor, json_str(anchor)))
            return false;
    }
    return true;
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

static const struct json *child(const struct json *j, wend_str part)
{
    const struct json *c = j->first;
    int64_t index;

    if (j->kind == JSON_OBJECT) {
        while (c && !part_is(part, c->key))
            c = c->next;
        return c;
    }
    if (j->kind != JSON_ARRAY || !str_to_i64(part, &index))
        return NULL;
    for (; c && index; index--)
        c = c->next;
    return c;
}

/* pointer is "" or begins with a slash. */
static const struct json *pointed(const struct json *j, wend_str pointer)
{
    while (j && pointer.len) {
        wend_str part;

        pointer.ptr++;
        pointer.len--;
        part = before(pointer, '/');
        pointer.ptr += part.len;
        pointer.len -= part.len;
        j = child(j, part);
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

static const struct schema_resource *
resource_of(struct compiling *k, const struct schema_ref *ref, wend_str uri)
{
    const struct schema_resource *r = k->resources;

    if (!uri.len)
        return ref->resource;
    uri = joined(k, ref->resource->base, uri);
    while (r && !(r->base.ptr && str_eq(r->base, uri)))
        r = r->next;
    return r;
}

static const struct json *
target(struct compiling *k, const struct schema_resource *r, wend_str fragment)
{
    if (!fragment.len || fragment.ptr[0] == '/')
        return pointed(r->root, fragment);
    for (const struct schema_anchor *a = k->anchors; a; a = a->next)
        if (a->resource == r && str_eq(a->name, fragment))
            return a->json;
    return NULL;
}

static bool follow(struct compiling *k, const struct schema_ref *ref)
{
    wend_str text = json_str(ref->json), uri = before(text, '#');
    wend_str fragment = {text.ptr + uri.len, text.len - uri.len};
    const struct schema_resource *r;
    const struct json *j;

    if (fragment.len) {
        fragment.ptr++;
        fragment.len--;
    }
    fragment = percent_decoded(k, fragment);
    r = resource_of(k, ref, uri);
    if (k->arena->failed)
        return schema_nomem(k);
    if (!r)
        return schema_refuse(k, ref->json,
                             "leads out of the document, to '%.*s'; "
                             "nothing is fetched",
                             (int)utf8_cut(text, 100), text.ptr);
    j = target(k, r, fragment);
    if (!j)
        return schema_refuse(k, ref->json, "leads to nothing: '%.*s'",
                             (int)utf8_cut(text, 100), text.ptr);
    return schema_node_for(k, j, r, ref->out);
}

bool schema_follow(struct compiling *k)
{
    while (k->refs) {
        struct schema_ref *ref = k->refs;

        k->refs = ref->next;
        if (!follow(k, ref))
            return false;
    }
    return true;
}

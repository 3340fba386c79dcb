/*
 * schema_uri.c - what a URI reference means beside a base (RFC 3986, 5.2).
 *
 * References come without their fragment. A base without a scheme is fine:
 * many schemas name each other by file names only.
 */
#include "core/schema/schema_node.h"

#include "base/ascii.h"

wend_str schema_before(wend_str s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;

    return at ? (wend_str){s.ptr, (size_t)(at - s.ptr)} : s;
}

/* With its colon; 0: none. */
static size_t scheme_of(wend_str s)
{
    size_t len = schema_before(s, ':').len;

    return len < s.len && is_letter(s.ptr[0]) && schema_before(s, '/').len > len
               ? len + 1
               : 0;
}

/* Where the path begins: behind the scheme and the host. */
static size_t path_of(wend_str uri)
{
    size_t at = scheme_of(uri);

    if (!str_starts((wend_str){uri.ptr + at, uri.len - at}, "//"))
        return at;
    for (at += 2; at < uri.len; at++)
        if (uri.ptr[at] == '/' || uri.ptr[at] == '?')
            break;
    return at;
}

/* How much of base a reference that begins so keeps. */
static size_t kept_of(wend_str base, wend_str ref)
{
    size_t path = path_of(base), n = schema_before(base, '?').len;

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
        wend_str segment =
            schema_before((wend_str){path.ptr + at, path.len - at}, '/');

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
    size_t path = path_of(uri), end = schema_before(uri, '?').len;

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

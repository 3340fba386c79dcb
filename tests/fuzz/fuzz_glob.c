/*
 * fuzz_glob.c - a pattern, a newline, a path: the program that a pattern
 * becomes says what trying everything says, and never prunes a match away.
 */
#include "base/glob.h"

#include <stdlib.h>

enum {
    COMPARED_MAX = 48, /* bytes; trying everything takes its time */
    STEPS_MAX = 200000,
    EXPANDED_MAX = 64,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static wend_str from(wend_str s, size_t at)
{
    return (wend_str){s.ptr + at, s.len - at};
}

/* Tries everything; no braces, classes or escapes. */
static bool matches(wend_str p, wend_str t, bool at_start, int *steps)
{
    size_t stars = 0;
    bool deep;

    if (++*steps > STEPS_MAX)
        return false;
    while (stars < p.len && p.ptr[stars] == '*')
        stars++;
    if (!p.len)
        return !t.len;
    if (!stars)
        return t.len &&
               (p.ptr[0] == t.ptr[0] || (p.ptr[0] == '?' && t.ptr[0] != '/')) &&
               matches(from(p, 1), from(t, 1), p.ptr[0] == '/', steps);
    deep = at_start && stars > 1;
    if (deep && stars == p.len)
        return t.len;
    if (deep && p.ptr[stars] == '/') {
        if (matches(from(p, stars + 1), t, true, steps))
            return true;
        for (size_t i = 0; i < t.len; i++)
            if (t.ptr[i] == '/' &&
                matches(from(p, stars + 1), from(t, i + 1), true, steps))
                return true;
        return false;
    }
    for (size_t i = 0;; i++) {
        if (matches(from(p, stars), from(t, i), false, steps))
            return true;
        if (i == t.len || t.ptr[i] == '/')
            return false;
    }
}

/* Whether p matches with its first brace replaced by one of its alternatives,
 * and so on. Braces are balanced: it compiled. */
static bool expands(wend_str p, wend_str t, int *count, int *steps)
{
    const char *brace = memchr(p.ptr, '{', p.len);
    size_t open = brace ? (size_t)(brace - p.ptr) : 0;
    size_t begin = open + 1, close = open, len;
    char text[COMPARED_MAX];
    bool found = false;
    int depth = 0;

    if (!brace)
        return matches(p, t, true, steps);
    if (++*count > EXPANDED_MAX)
        return false;
    do
        depth += (p.ptr[close] == '{') - (p.ptr[close] == '}');
    while (depth && ++close);
    for (size_t end = begin; end <= close; end++) {
        if (end < close)
            depth += (p.ptr[end] == '{') - (p.ptr[end] == '}');
        if (end < close && (depth || p.ptr[end] != ','))
            continue;
        len = open;
        memcpy(text, p.ptr, len);
        memcpy(text + len, p.ptr + begin, end - begin);
        len += end - begin;
        memcpy(text + len, p.ptr + close + 1, p.len - close - 1);
        len += p.len - close - 1;
        found |= expands((wend_str){text, len}, t, count, steps);
        begin = end + 1;
    }
    return found;
}

static bool is_ascii(wend_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] & 0x80)
            return false;
    return true;
}

/* Stars next to a brace are not always what expanding makes of them. */
static bool is_compared(wend_str p, wend_str t)
{
    return p.len <= COMPARED_MAX && t.len <= COMPARED_MAX && is_ascii(p) &&
           is_ascii(t) && !memchr(p.ptr, '[', p.len) &&
           !memchr(p.ptr, '\\', p.len) &&
           (!memchr(p.ptr, '{', p.len) || !memchr(p.ptr, '*', p.len));
}

static void check(struct glob *g, wend_str pattern, wend_str path)
{
    bool yes = glob_match(g, path);
    int count = 0, steps = 0;

    must(glob_match(g, path) == yes);
    for (size_t i = 0; yes && i < path.len; i++)
        if (path.ptr[i] == '/')
            must(glob_leads(g, (wend_str){path.ptr, i}) || i + 1 == path.len);
    if (is_compared(pattern, path)) {
        bool want = expands(pattern, path, &count, &steps);

        must(count > EXPANDED_MAX || steps > STEPS_MAX || want == yes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    struct glob *g = NULL;
    wend_error err = {0};
    wend_str pattern, path;
    wend_status s;

    if (!newline)
        return 0;
    pattern = (wend_str){(const char *)data, (size_t)(newline - data)};
    path = (wend_str){(const char *)newline + 1, size - pattern.len - 1};
    s = glob_compile(pattern, &a, &g, &err);
    must(!s == (g != NULL) && (!s || err.message[0]));
    if (g && path.len <= 4096)
        check(g, pattern, path);
    arena_free(&a);
    return 0;
}

/*
 * regex_literal.c - bytes that every match of a pattern must contain.
 *
 * Finding bytes is many times faster than searching, so callers that search
 * much do it first. For a complicated pattern the answer is shorter or empty.
 */
#include "base/regex.h"

#include "base/ascii.h"
#include "base/utf8.h"

struct glance {
    wend_str in;
    size_t at;
    struct buf *out;
    size_t out_start;
    struct buf run; /* literal bytes up to here, without a gap */
    size_t last;    /* length of the run before its last code point */
    int depth;      /* of groups, in which nothing is taken */
};

static bool is_alnum(char c)
{
    return is_letter(c) || is_digit(c);
}

/* Keeps the longest run. */
static void end_run(struct glance *g)
{
    g->out->failed |= g->run.failed;
    if (g->run.len > g->out->len - g->out_start) {
        g->out->len = g->out_start;
        buf_str(g->out, buf_view(&g->run));
    }
    buf_clear(&g->run);
    g->last = 0;
}

/* The last code point may be missing, or be there many times. */
static void drop_last(struct glance *g)
{
    g->run.len = g->last;
    end_run(g);
}

static void take(struct glance *g, size_t len)
{
    if (!g->depth) {
        g->last = g->run.len;
        buf_add(&g->run, g->in.ptr + g->at, len);
    }
    g->at += len;
}

/* The length of [:alpha:] or [:^alpha:] at the front, else 0. */
static size_t named_len(wend_str s)
{
    size_t n = 2;

    if (s.len < 2 || s.ptr[1] != ':')
        return 0;
    while (n < s.len && (is_alnum(s.ptr[n]) || s.ptr[n] == '^'))
        n++;
    return s.len - n > 1 && s.ptr[n] == ':' && s.ptr[n + 1] == ']' ? n + 2 : 0;
}

/* Behind the class that begins here. */
static size_t class_end(wend_str in, size_t at)
{
    size_t first, named;

    at++;
    at += at < in.len && in.ptr[at] == '^';
    for (first = at; at < in.len; at++) {
        if (in.ptr[at] == ']' && at > first)
            return at + 1;
        if (in.ptr[at] == '\\') {
            at++;
        } else if (in.ptr[at] == '[') {
            named = named_len(str_skip(in, at));
            at += named ? named - 1 : 0;
        }
    }
    return in.len;
}

/* The length of {2}, {2,} or {2,3} at the front, else 0. */
static size_t count_len(wend_str s)
{
    size_t n = 1;

    while (n < s.len && (is_digit(s.ptr[n]) || s.ptr[n] == ','))
        n++;
    return n > 1 && n < s.len && s.ptr[n] == '}' ? n + 1 : 0;
}

/* \. is a dot; \b, \d and the like stand for no fixed text. The end of every
 * other escape (\x41, \1, \p{..}) is unknown here, so the rest is dropped. */
static void glance_escape(struct glance *g, wend_str rest)
{
    static const char plain[] = "bBdDsSwWhHvVAzZ";
    char c = rest.len > 1 ? rest.ptr[1] : 0;

    if (!is_alnum(c) && !(c & 0x80) && c) {
        g->at++;
        take(g, 1);
        return;
    }
    end_run(g);
    g->at = c && memchr(plain, c, sizeof plain - 1) ? g->at + 2 : g->in.len;
}

static void glance_item(struct glance *g)
{
    wend_str rest = str_skip(g->in, g->at);
    char c = *rest.ptr;

    switch (c) {
    case '\\': glance_escape(g, rest); return;
    case '{':
        drop_last(g);
        g->at += count_len(rest) ? count_len(rest) : 1;
        return;
    case '[':
        end_run(g);
        g->at = class_end(g->in, g->at);
        return;
    case '?':
    case '*': drop_last(g); break;
    case '(': g->depth++; break;
    case ')': g->depth -= g->depth > 0; break;
    }
    if (!strchr("?*()+.^$", c) || !c) {
        take(g, c & 0x80 ? utf8_take(rest, 1) : 1);
        return;
    }
    end_run(g);
    g->at++;
}

void regex_literal(wend_str pattern, struct buf *out)
{
    static const char *const hard[] = {"|", "(?", "(*", "\\Q", "\\K", "\\E"};
    struct glance g = {.in = pattern,
                       .out = out,
                       .out_start = out->len,
                       .run = {.mem = out->mem}};

    /* Alternatives, settings, comments: not at a glance. */
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        if (memmem(pattern.ptr, pattern.len, hard[i], strlen(hard[i])))
            return;
    if (utf8_valid_len(pattern) != pattern.len)
        return;
    while (g.at < pattern.len)
        glance_item(&g);
    end_run(&g);
    buf_free(&g.run);
}

/*
 * edit_file.c - replaces a text in a file, or the whole file.
 *
 * The file must contain the old text exactly, and once unless all are meant;
 * otherwise the answer says why not, so that the next try can be right. In a
 * file whose lines all end with CRLF, line ends of the texts become CRLF.
 * All other bytes stay as they are.
 */
#include <stdio.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "host/path.h"
#include "tools/tools.h"

enum {
    LINES_NAMED_MAX = 10,        /* of the places where a text stands */
    SHOWN_MAX = 120,             /* bytes of a line in a message */
    PATH_SHOWN = 160,            /* of a path */
    PAIRS_BYTES = (1 << 16) / 8, /* a bit for each pair of bytes */
    LOOSE_STEPS_MAX = 50000000,  /* of looking for white space alone */
};

struct editing {
    struct edit edit;
    wend_str path;
    struct buf old_crlf, new_crlf;
    int64_t line;  /* of the first replacement */
    int64_t count; /* of replacements */
};

static int64_t line_at(wend_str text, size_t at)
{
    return 1 + (int64_t)str_count((wend_str){text.ptr, at}, '\n');
}

/* The next place of `what`, from `at` on; text.len if there is none. */
static size_t find(wend_str text, wend_str what, size_t at)
{
    const char *p = memmem(text.ptr + at, text.len - at, what.ptr, what.len);

    return p ? (size_t)(p - text.ptr) : text.len;
}

/* ---- Line ends ----------------------------------------------------------- */

static bool all_crlf(wend_str s)
{
    bool any = false;

    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '\n')
            continue;
        if (!i || s.ptr[i - 1] != '\r')
            return false;
        any = true;
    }
    return any;
}

static wend_str to_crlf(struct buf *out, wend_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\n' && (!i || s.ptr[i - 1] != '\r'))
            buf_char(out, '\r');
        buf_char(out, s.ptr[i]);
    }
    return buf_view(out);
}

/* ---- Why not ------------------------------------------------------------- */

/* Whether text begins with `what` when white space is ignored. */
static bool begins_loosely(wend_str text, wend_str what, size_t *steps)
{
    size_t t = 0;

    for (size_t w = 0; w < what.len; w++, ++*steps) {
        if (is_space(what.ptr[w]))
            continue;
        while (t < text.len && is_space(text.ptr[t]))
            t++, ++*steps;
        if (t == text.len || text.ptr[t++] != what.ptr[w])
            return false;
    }
    return true;
}

static unsigned pair_at(wend_str s, size_t i)
{
    return (unsigned)(unsigned char)s.ptr[i] << 8 | (unsigned char)s.ptr[i + 1];
}

/* 0 to 1000: how many pairs of bytes a line shares with one of `len` bytes. */
static size_t likeness(const unsigned char *pairs, size_t len, wend_str line)
{
    size_t same = 0;

    for (size_t i = 0; i + 1 < line.len; i++) {
        unsigned pair = pair_at(line, i);

        same += pairs[pair / 8] >> pair % 8 & 1;
    }
    return line.len + len > 2 ? 2000 * same / (line.len + len - 2) : 0;
}

/* The first line that is not blank. */
static wend_str first_line(wend_str what)
{
    wend_str line = STR_NONE;

    while (str_line(&what, &line))
        if (str_trim(line, is_space).len)
            return str_trim(line, is_space);
    return STR("");
}

/* The number of the line most similar to the first of `what`; 0: none is. */
static int64_t nearest_line(wend_str text, wend_str what, wend_str *out)
{
    unsigned char pairs[PAIRS_BYTES] = {0};
    wend_str first = first_line(what), line = STR_NONE;
    size_t best = 400, like; /* less is chance */
    int64_t best_number = 0;

    for (size_t i = 0; i + 1 < first.len; i++)
        pairs[pair_at(first, i) / 8] |=
            (unsigned char)(1 << pair_at(first, i) % 8);
    for (int64_t number = 1; str_line(&text, &line); number++) {
        like = likeness(pairs, first.len, str_trim(line, is_space));
        if (like <= best)
            continue;
        best = like;
        best_number = number;
        *out = str_trim(line, is_space);
    }
    return best_number;
}

/* The number of the first line where `what` begins but for white space. */
static int64_t loose_line(wend_str text, wend_str what)
{
    size_t start = 0, steps = 0;
    const char *p;

    what = str_trim(what, is_space);
    if (!what.len)
        return 0;
    while (start < text.len && steps < LOOSE_STEPS_MAX) {
        p = memchr(text.ptr + start, *what.ptr, text.len - start);
        if (!p)
            return 0;
        start = (size_t)(p - text.ptr);
        if (begins_loosely(str_skip(text, start), what, &steps))
            return line_at(text, start);
        start++;
    }
    return 0;
}

static wend_status not_found(const struct editing *e, wend_str text,
                             wend_error *err)
{
    int shown = (int)utf8_cut(e->path, PATH_SHOWN);
    wend_str what = e->edit.old_text, near = STR_NONE;
    int64_t line = loose_line(text, what);

    if (line)
        return fail(err, WEND_E_NOTFOUND,
                    "old_string is not in '%.*s' exactly: from line %lld on it "
                    "stands there with other white space (indentation, tabs, "
                    "line ends%s); copy it as read_file shows it",
                    shown, e->path.ptr, (long long)line,
                    memchr(text.ptr, '\r', text.len) ? "; some are CRLF" : "");
    line = nearest_line(text, what, &near);
    if (line)
        return fail(err, WEND_E_NOTFOUND,
                    "old_string is not in '%.*s'; nearest is line %lld: '%.*s'",
                    shown, e->path.ptr, (long long)line,
                    (int)utf8_cut(near, SHOWN_MAX), near.ptr);
    return fail(err, WEND_E_NOTFOUND,
                "old_string is not in '%.*s', nor anything like it; read the "
                "file first",
                shown, e->path.ptr);
}

static wend_status too_often(const struct editing *e, wend_str text,
                             int64_t count, wend_error *err)
{
    wend_str what = e->edit.old_text;
    char lines[LINES_NAMED_MAX * 24];
    size_t len = 0, at = find(text, what, 0);

    for (int i = 0; i < LINES_NAMED_MAX && at < text.len; i++) {
        len += (size_t)snprintf(lines + len, sizeof lines - len, "%s%lld",
                                i ? ", " : "", (long long)line_at(text, at));
        at = find(text, what, at + what.len);
    }
    return fail(err, WEND_E_INVAL,
                "old_string stands in '%.*s' %lld times, at lines %s%s; add "
                "text around it until it is unique, or set replace_all",
                (int)utf8_cut(e->path, PATH_SHOWN), e->path.ptr,
                (long long)count, lines, at < text.len ? " ..." : "");
}

/* ---- The edit ------------------------------------------------------------ */

static int64_t count_places(wend_str text, wend_str what)
{
    int64_t n = 0;

    for (size_t at = find(text, what, 0); at < text.len;
         at = find(text, what, at + what.len))
        n++;
    return n;
}

static void put_replaced(const struct editing *e, wend_str text,
                         struct buf *out)
{
    size_t at = 0, next;

    while ((next = find(text, e->edit.old_text, at)) < text.len) {
        buf_add(out, text.ptr + at, next - at);
        buf_str(out, e->edit.new_text);
        at = next + e->edit.old_text.len;
    }
    buf_add(out, text.ptr + at, text.len - at);
}

static wend_status change(void *ctx, wend_str text, struct buf *out,
                          wend_error *err)
{
    struct editing *e = ctx;
    struct edit *d = &e->edit;
    int64_t count;

    if (memchr(text.ptr, 0, text.len))
        return fail(err, WEND_E_INVAL, "'%.*s' is a binary file of %zu bytes",
                    (int)utf8_cut(e->path, PATH_SHOWN), e->path.ptr, text.len);
    if (all_crlf(text)) {
        d->old_text = to_crlf(&e->old_crlf, d->old_text);
        d->new_text = to_crlf(&e->new_crlf, d->new_text);
        if (e->old_crlf.failed || e->new_crlf.failed)
            return fail_nomem(err);
    }
    count = count_places(text, d->old_text);
    if (!count)
        return not_found(e, text, err);
    if (count > 1 && !d->all)
        return too_often(e, text, count, err);
    if (d->new_text.len > d->old_text.len &&
        (d->new_text.len - d->old_text.len) * (uint64_t)count >
            EDIT_BYTES_MAX - text.len)
        return fail(err, WEND_E_LIMIT, "the file would be over %d bytes",
                    EDIT_BYTES_MAX);
    e->count = count;
    e->line = line_at(text, find(text, d->old_text, 0));
    put_replaced(e, text, out);
    return WEND_OK;
}

wend_status edit_file_text(int root_fd, wend_str path, struct edit edit,
                           struct buf *out, wend_error *err)
{
    struct editing e = {.edit = edit,
                        .path = path,
                        .old_crlf = {.mem = out->mem},
                        .new_crlf = {.mem = out->mem}};
    wend_status s;

    if (!edit.old_text.len)
        return fail(err, WEND_E_INVAL,
                    "old_string is empty; write_file makes new files");
    if (str_eq(edit.old_text, edit.new_text))
        return fail(err, WEND_E_INVAL,
                    "old_string and new_string are the same");
    s = path_change(root_fd, path, EDIT_BYTES_MAX, change, &e, out->mem, err);
    if (!s) {
        buf_fmt(out, "replaced %lld %s in ", (long long)e.count,
                e.count == 1 ? "place" : "places");
        tool_put_name(out, path);
        buf_fmt(out, e.count == 1 ? ", at line %lld" : ", from line %lld on",
                (long long)e.line);
    }
    buf_free(&e.old_crlf);
    buf_free(&e.new_crlf);
    return s;
}

wend_status tool_edit_file(void *env, wend_call *call)
{
    const struct tool_env *t = env;
    struct tool_job j;
    struct edit edit = {.old_text = STR_NONE, .new_text = STR_NONE};
    wend_str path = STR_NONE;
    wend_status s = tool_begin(&j, call,
                               TOOL_ARGS({"path", .str = &path},
                                         {"old_string", .str = &edit.old_text},
                                         {"new_string", .str = &edit.new_text},
                                         {"replace_all", .flag = &edit.all}));

    if (!s)
        s = edit_file_text(t->root_fd, path, edit, &j.out, &j.err);
    return tool_end(&j, call, s);
}

/* ---- A whole file -------------------------------------------------------- */

/* The same call twice leaves the same file. */
wend_status tool_write_file(void *env, wend_call *call)
{
    const struct tool_env *e = env;
    struct tool_job j;
    wend_str path = STR_NONE, content = STR_NONE;
    wend_status s = tool_begin(
        &j, call,
        TOOL_ARGS({"path", .str = &path}, {"content", .str = &content}));

    if (!s)
        s = path_write(e->root_fd, path, content, &j.err);
    if (!s) {
        buf_fmt(&j.out, "wrote %zu bytes to ", content.len);
        tool_put_name(&j.out, path);
    }
    return tool_end(&j, call, s);
}

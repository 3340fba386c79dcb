/*
 * grep.c - the lines that match a pattern, in a file or beneath a directory.
 *
 * A line is searched alone, without its end, so no pattern reaches beyond
 * it. Bytes that every match must contain are searched first, which settles
 * most files.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "host/path.h"
#include "host/walk.h"
#include "tools/tools.h"

enum {
    FIRST_BYTES = 32 << 10,  /* with a NUL in them a file is binary */
    BLOCK_BYTES = 256 << 10, /* read at once after these */
    LINE_SHOWN_MAX = 400,    /* bytes of a line */
    BEFORE_SHOWN = 100,      /* of them before a match that lies far behind */
    WORK_MAX = 500000000,    /* of patterns, some seconds */
    STEPS_MAX = 1000000000,  /* of the glob, the same */
};

static const int64_t bytes_max = (int64_t)4 << 30; /* read, some seconds */

struct grep {
    const struct grep_options *o;
    wend_call *call;
    struct buf *out;
    struct arena arena;
    struct regex *regex;
    struct buf literal; /* in every match; empty: not known */
    bool is_literal;    /* nothing else is in a match */
    struct glob *glob;
    bool glob_names;              /* it has no slash: names are matched */
    uint64_t work;                /* that is left */
    int64_t read;                 /* bytes */
    int64_t found;                /* lines, or files */
    bool full;                    /* there is more than may be shown */
    size_t too_large, unreadable; /* files */
    size_t hidden, closed;        /* by rules, and those that are asked about */
};

/* A file that is being searched. */
struct grep_scan {
    wend_str path, text;
    size_t printed;    /* up to here */
    size_t counted_at; /* up to here lines are counted: */
    int64_t counted;   /* their number */
    int64_t after;     /* lines that belong to the last match */
    bool any;          /* something of this file is printed */
};

/* ---- Lines --------------------------------------------------------------- */

/* Where the line of `at` begins, not before `from`. */
static size_t line_start(wend_str text, size_t from, size_t at)
{
    const char *p = memrchr(text.ptr + from, '\n', at - from);

    return p ? (size_t)(p - text.ptr) + 1 : from;
}

/* Where it ends, without what ends it. */
static size_t line_end(wend_str text, size_t at)
{
    const char *p = memchr(text.ptr + at, '\n', text.len - at);

    return p ? (size_t)(p - text.ptr) : text.len;
}

static wend_str line_of(wend_str text, size_t start, size_t end)
{
    if (end > start && text.ptr[end - 1] == '\r')
        end--;
    return (wend_str){text.ptr + start, end - start};
}

static int64_t line_number(struct grep_scan *s, size_t start)
{
    const char *p = s->text.ptr + s->counted_at, *end = s->text.ptr + start;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        s->counted++;
        p++;
    }
    s->counted_at = start;
    return s->counted + 1;
}

/* ---- Printing ------------------------------------------------------------ */

static bool inside_symbol(wend_str s, size_t at)
{
    return at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80;
}

/* A line that is too long, around the match in it. */
static void put_cut(struct buf *out, wend_str line, size_t match)
{
    size_t from = 0, to;

    if (match > LINE_SHOWN_MAX - BEFORE_SHOWN)
        from = match - BEFORE_SHOWN;
    if (from > line.len - LINE_SHOWN_MAX)
        from = line.len - LINE_SHOWN_MAX;
    to = from + LINE_SHOWN_MAX;
    while (from < to && inside_symbol(line, from))
        from++;
    while (to > from && inside_symbol(line, to))
        to--;
    if (from)
        buf_fmt(out, "[%zu bytes cut]", from);
    utf8_repair(out, (wend_str){line.ptr + from, to - from});
    if (to < line.len)
        buf_fmt(out, "[%zu bytes cut]", line.len - to);
}

/* Takes back what came after `before` if that is too much. */
static bool fits(struct grep *g, size_t before)
{
    bool fit = tool_fits(g->out, before);

    g->full |= !fit;
    return fit;
}

/* False when no more fits. */
static bool put_line(struct grep *g, struct grep_scan *s, size_t start,
                     size_t end, char mark, size_t match)
{
    wend_str line = line_of(s->text, start, end);
    size_t before = g->out->len;

    if (g->o->context && start > s->printed && s->any)
        buf_cstr(g->out, "--\n");
    tool_put_name(g->out, s->path);
    buf_fmt(g->out, "%c%lld%c", mark, (long long)line_number(s, start), mark);
    if (line.len > LINE_SHOWN_MAX)
        put_cut(g->out, line, match);
    else
        utf8_repair(g->out, line);
    buf_char(g->out, '\n');
    s->printed = end < s->text.len ? end + 1 : end;
    s->any = true;
    return fits(g, before);
}

/* The lines that belong to the last match, up to `end`. */
static bool put_after(struct grep *g, struct grep_scan *s, size_t end)
{
    for (; s->after && s->printed < end; s->after--)
        if (!put_line(g, s, s->printed, line_end(s->text, s->printed), '-', 0))
            return false;
    return true;
}

static bool put_before(struct grep *g, struct grep_scan *s, size_t start)
{
    size_t at = start;

    for (int64_t i = 0; i < g->o->context && at > s->printed; i++)
        at = line_start(s->text, s->printed, at - 1);
    while (at < start) {
        size_t end = line_end(s->text, at);

        if (!put_line(g, s, at, end, '-', 0))
            return false;
        at = end + 1;
    }
    return true;
}

/* False when the file is done with. */
static bool put_match(struct grep *g, struct grep_scan *s, size_t start,
                      size_t end, size_t match)
{
    size_t before = g->out->len;

    if (g->found == g->o->max) {
        g->full = true;
        return false;
    }
    if (g->o->files_only) {
        tool_put_name(g->out, s->path);
        buf_char(g->out, '\n');
        g->found += fits(g, before);
        return false; /* one is enough */
    }
    if (!put_after(g, s, start) || !put_before(g, s, start) ||
        !put_line(g, s, start, end, ':', match))
        return false;
    s->after = g->o->context;
    g->found++;
    return true;
}

/* ---- Searching ----------------------------------------------------------- */

/* The next place from `at` on where a line may match; text.len if none. */
static size_t next_place(const struct grep *g, wend_str text, size_t at)
{
    const char *p;

    if (!g->literal.len)
        return at;
    p = memmem(text.ptr + at, text.len - at, g->literal.ptr, g->literal.len);
    return p ? (size_t)(p - text.ptr) : text.len;
}

static wend_status search_line(struct grep *g, struct grep_scan *s,
                               wend_str line, struct regex_place *place,
                               bool *yes, wend_error *err)
{
    switch (regex_search(g->regex, line, &g->work, place, err)) {
    case REGEX_NO: *yes = false; return WEND_OK;
    case REGEX_YES: *yes = true; return WEND_OK;
    case REGEX_ERROR: return err ? err->status : WEND_E_INVAL;
    case REGEX_LIMIT: break;
    }
    return fail(err, WEND_E_LIMIT,
                "pattern: it takes too long (in '%.*s', line %lld); make it "
                "simpler, or look into fewer files",
                tool_shown(s->path), s->path.ptr,
                (long long)line_number(s, (size_t)(line.ptr - s->text.ptr)));
}

static wend_status search_text(struct grep *g, wend_str path, wend_str text,
                               wend_error *err)
{
    struct grep_scan s = {.path = path, .text = text};
    size_t at = 0, start, end;
    wend_status status = WEND_OK;

    while (at < text.len) {
        struct regex_place place = {0};
        bool yes = g->is_literal;

        start = next_place(g, text, at);
        if (start == text.len)
            break;
        place.start = start;
        start = line_start(text, at, start);
        place.start -= start;
        end = line_end(text, start);
        status = tool_canceled(g->call, err);
        if (!status && !yes)
            status = search_line(g, &s, line_of(text, start, end), &place, &yes,
                                 err);
        if (status || (yes && !put_match(g, &s, start, end, place.start)))
            return status;
        at = end + 1;
    }
    put_after(g, &s, text.len);
    return WEND_OK;
}

enum file_kind { FILE_TEXT, FILE_BINARY, FILE_LARGE, FILE_BROKEN };

/* Text of a file, if it is text. */
static enum file_kind read_text(int fd, struct buf *out)
{
    size_t want = FIRST_BYTES;
    ssize_t n;

    buf_clear(out);
    for (;;) {
        if (!buf_room(out, want))
            return FILE_BROKEN;
        n = read(fd, out->ptr + out->len, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FILE_BROKEN;
        if (!n)
            return FILE_TEXT;
        if (!out->len && memchr(out->ptr, 0, (size_t)n))
            return FILE_BINARY;
        out->len += (size_t)n;
        if (out->len > GREP_FILE_MAX)
            return FILE_LARGE;
        want = BLOCK_BYTES;
    }
}

static bool may_open(struct grep *g, wend_str path)
{
    if (call_opens_file(g->call, g->o->path, path))
        return true;
    if (call_names_file(g->call, path))
        g->closed++;
    else
        g->hidden++;
    return false;
}

static wend_status search_beneath(struct grep *g, struct walk *w,
                                  struct buf *text, wend_error *err)
{
    struct walk_entry e;
    wend_status s = WEND_OK;
    int fd;

    while (!s && !g->full && g->read < bytes_max) {
        s = walk_next(w, &e);
        if (s)
            return s == WEND_END ? WEND_OK : fail_nomem(err);
        s = tool_canceled(g->call, err);
        if (!s && g->glob && glob_steps(g->glob) > STEPS_MAX)
            s = fail(err, WEND_E_LIMIT, "glob: it takes too long");
        if (e.kind == WALK_DIR && walk_is_vcs(e.name))
            walk_skip(w);
        if (s || e.kind != WALK_FILE ||
            (g->glob && !glob_match(g->glob, g->glob_names ? e.name : e.rest)))
            continue;
        if (!may_open(g, e.path))
            continue;
        fd = walk_file(w);
        if (fd < 0) {
            g->unreadable++;
            continue;
        }
        switch (read_text(fd, text)) {
        case FILE_TEXT: s = search_text(g, e.path, buf_view(text), err); break;
        case FILE_BINARY: break;
        case FILE_LARGE: g->too_large++; break;
        case FILE_BROKEN: g->unreadable++; break;
        }
        close(fd);
        if (!s && (text->failed || g->out->failed))
            s = fail_nomem(err);
        g->read += (int64_t)text->len;
    }
    return s;
}

static void put_notes(const struct grep *g, const struct walk *w)
{
    if (!g->found)
        buf_cstr(g->out, "[no matches]\n");
    if (g->read >= bytes_max)
        buf_cstr(g->out, "[stopped after 4 GiB; name a directory]\n");
    if (g->too_large)
        buf_fmt(g->out, "[%zu files over %d MiB were not searched]\n",
                g->too_large, GREP_FILE_MAX >> 20);
    if (g->unreadable)
        buf_fmt(g->out, "[%zu files could not be read]\n", g->unreadable);
    tool_put_kept(g->out, g->hidden, g->closed);
    tool_put_gaps(g->out, w);
}

static wend_status search_dir(struct grep *g, int root_fd, struct buf *text,
                              wend_error *err)
{
    struct walk *w = NULL;
    wend_status s = walk_open(g->out->mem, root_fd, g->o->path, &w, err);

    if (!s)
        s = search_beneath(g, w, text, err);
    if (!s)
        put_notes(g, w);
    walk_free(w);
    return s;
}

static wend_status search_file(struct grep *g, int fd, struct buf *text,
                               wend_error *err)
{
    wend_str path = g->o->path;
    int shown = tool_shown(path);
    wend_status s;

    switch (read_text(fd, text)) {
    case FILE_TEXT:
        s = search_text(g, path, buf_view(text), err);
        if (!s && !g->found)
            buf_cstr(g->out, "[no matches]\n");
        return s;
    case FILE_BINARY:
        return fail(err, WEND_E_INVAL, "'%.*s' is a binary file", shown,
                    path.ptr);
    case FILE_LARGE:
        return fail(err, WEND_E_LIMIT, "'%.*s' is over %d bytes", shown,
                    path.ptr, GREP_FILE_MAX);
    case FILE_BROKEN: break;
    }
    return text->failed
               ? fail_nomem(err)
               : fail(err, WEND_E_IO, "cannot read '%.*s'", shown, path.ptr);
}

static wend_status search_path(struct grep *g, int root_fd, wend_error *err)
{
    struct buf text = {.mem = g->out->mem};
    wend_str path = g->o->path;
    int fd = path_open(root_fd, path, O_RDONLY, 0, err);
    struct stat st;
    wend_status s;

    if (fd < 0)
        return (wend_status)fd;
    if (fstat(fd, &st))
        s = fail(err, WEND_E_IO, "cannot look at '%.*s': error %d",
                 tool_shown(path), path.ptr, errno);
    else if (S_ISDIR(st.st_mode))
        s = search_dir(g, root_fd, &text, err);
    else if (S_ISREG(st.st_mode))
        s = search_file(g, fd, &text, err);
    else
        s = fail(err, WEND_E_INVAL, "'%.*s' is not a regular file",
                 tool_shown(path), path.ptr);
    close(fd);
    buf_free(&text);
    if (!s && g->full)
        buf_fmt(g->out,
                "[the first %lld are shown; there are more: narrow it down by "
                "path, glob or pattern]\n",
                (long long)g->found);
    return s;
}

/* ---- Public -------------------------------------------------------------- */

static wend_status compile(struct grep *g, wend_error *err)
{
    const struct grep_options *o = g->o;
    wend_error why = {0};
    wend_status s;

    if (!o->pattern.len)
        return fail(err, WEND_E_PARSE, "pattern: it is empty");
    s = regex_compile_perl(o->pattern, o->ignore_case, &g->arena, &g->regex,
                           &why);
    if (s)
        return fail(err, s, "pattern: %s", why.message);
    if (!o->ignore_case)
        regex_literal(o->pattern, &g->literal);
    if (g->literal.failed)
        return fail_nomem(err);
    g->is_literal = str_eq(buf_view(&g->literal), o->pattern);
    if (!o->glob.ptr)
        return WEND_OK;
    g->glob_names = !memchr(o->glob.ptr, '/', o->glob.len);
    s = glob_compile(o->glob, &g->arena, &g->glob, &why);
    return s ? fail(err, s, "glob: %s", why.message) : WEND_OK;
}

wend_status grep_text(int root_fd, const struct grep_options *o,
                      wend_call *call, struct buf *out, wend_error *err)
{
    struct grep g = {.o = o,
                     .call = call,
                     .out = out,
                     .arena = {.mem = out->mem},
                     .literal = {.mem = out->mem},
                     .work = WORK_MAX};
    wend_status s = compile(&g, err);

    if (!s)
        s = search_path(&g, root_fd, err);
    buf_free(&g.literal);
    arena_free(&g.arena);
    return s;
}

wend_status tool_grep(void *env, wend_call *call)
{
    const struct tool_env *t = env;
    struct grep_options o = {.path = STR("."), .max = GREP_RESULTS_DEFAULT};
    struct tool_job j;
    wend_status s = tool_begin(
        &j, call,
        TOOL_ARGS({"pattern", .str = &o.pattern}, {"path", .str = &o.path},
                  {"glob", .str = &o.glob, .optional = true},
                  {"context", .number = &o.context},
                  {"max_results", .number = &o.max, .min = 1},
                  {"ignore_case", .flag = &o.ignore_case},
                  {"files_only", .flag = &o.files_only}));

    if (!s)
        s = grep_text(t->root_fd, &o, call, &j.out, &j.err);
    return tool_end(&j, call, s);
}

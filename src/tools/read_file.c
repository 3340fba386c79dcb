/*
 * read_file.c - text files, or some lines of them; images, documents and audio
 * as parts for the model.
 *
 * An answer has at most OUTPUT_BYTES_MAX bytes, with the note about a cut, so
 * that it is not cut a second time.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "host/path.h"
#include "tools/tools.h"

enum {
    BLOCK_BYTES = 16 << 10,
    NOTE_BYTES = 128,           /* kept free for the note */
    SCAN_BYTES_MAX = 512 << 20, /* read to find a line: under a second */
    MEDIA_BYTES_MAX = 20 << 20, /* of an image: above what providers take */
};

struct line_scan {
    wend_call *call;
    struct read_range range;
    int64_t line;    /* that the next byte belongs to, from 1 */
    int64_t scanned; /* bytes */
    char last;       /* byte */
    bool binary;     /* it has a zero byte */
    struct buf text; /* of the lines that were asked for */
};

/* Takes what is asked for out of a block; false when that is complete. */
static bool take(struct line_scan *s, const char *p, size_t len)
{
    const char *end = p + len, *newline;
    int64_t line_end = s->range.limit > INT64_MAX - s->range.offset
                           ? INT64_MAX
                           : s->range.offset + s->range.limit;

    s->last = end[-1];
    while (p < end) {
        if (s->range.limit && s->line >= line_end)
            return false;
        newline = memchr(p, '\n', (size_t)(end - p));
        len = (size_t)((newline ? newline + 1 : end) - p);
        if (s->line >= s->range.offset)
            buf_add(&s->text, p, len);
        p += len;
        s->line += newline != NULL;
    }
    return s->text.len <= OUTPUT_BYTES_MAX && !s->text.failed;
}

static wend_status scan_file(struct line_scan *s, int fd, wend_str path,
                             int64_t size, wend_error *err)
{
    char block[BLOCK_BYTES];
    ssize_t n;

    for (;;) {
        if (tool_canceled(s->call, err))
            return WEND_E_BUSY;
        n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, WEND_E_IO, "cannot read '%.*s': error %d",
                        tool_shown(path), path.ptr, errno);
        if (!n)
            return WEND_OK;
        s->binary = memchr(block, 0, (size_t)n);
        if (s->binary)
            return fail(err, WEND_E_INVAL,
                        "'%.*s' is a binary file of %lld bytes",
                        tool_shown(path), path.ptr, (long long)size);
        s->scanned += n;
        if (!take(s, block, (size_t)n))
            return WEND_OK;
        if (s->scanned > SCAN_BYTES_MAX)
            return fail(err, WEND_E_LIMIT,
                        "line %lld of '%.*s' lies beyond its first %d bytes",
                        (long long)s->range.offset, tool_shown(path), path.ptr,
                        SCAN_BYTES_MAX);
    }
}

/* Where to cut: after the last whole line, or before a code point. */
static size_t cut_at(wend_str s, size_t max)
{
    size_t n = max;

    while (n && s.ptr[n - 1] != '\n')
        n--;
    return n ? n : utf8_cut(s, max);
}

/* Appends the text, valid and cut to fit, with a note if it was cut. */
static void put_text(const struct line_scan *s, int64_t size, struct buf *out)
{
    const size_t max = OUTPUT_BYTES_MAX - NOTE_BYTES;
    wend_str text = buf_view(&s->text), done;
    bool cut = text.len > OUTPUT_BYTES_MAX;
    size_t start = out->len;

    if (cut)
        text.len = cut_at(text, max);
    utf8_repair(out, text);
    if (out->failed)
        return;
    done = (wend_str){out->ptr + start, out->len - start};
    if (done.len > OUTPUT_BYTES_MAX || (cut && done.len > max)) {
        cut = true;
        done.len = cut_at(done, max);
        out->len = start + done.len;
        out->ptr[out->len] = 0;
    }
    if (!cut)
        return;
    if (done.ptr[done.len - 1] == '\n')
        buf_fmt(out,
                "[truncated: %zu of %lld bytes shown; use offset %lld to go "
                "on]",
                done.len, (long long)size,
                (long long)s->range.offset + (long long)str_count(done, '\n'));
    else
        buf_fmt(out,
                "\n[truncated: %zu of %lld bytes shown; the line is too "
                "long]",
                done.len, (long long)size);
}

/* Some documents have no zero byte. */
static bool is_document(int fd)
{
    char head[5];

    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           !memcmp(head, "%PDF-", sizeof head);
}

/* True: the file goes to the model as a part, and `out` says so. */
static bool read_media(int fd, wend_str path, int64_t size, wend_call *call,
                       struct buf *out)
{
    const char *slash = memrchr(path.ptr, '/', path.len);
    struct buf bytes = {.mem = out->mem};
    ssize_t n = 1;
    bool ok;

    if (slash)
        path = str_skip(path, (size_t)(slash + 1 - path.ptr));
    while (size <= MEDIA_BYTES_MAX && n > 0 && bytes.len <= MEDIA_BYTES_MAX &&
           buf_room(&bytes, BLOCK_BYTES)) {
        n = pread(fd, bytes.ptr + bytes.len, BLOCK_BYTES, (off_t)bytes.len);
        bytes.len += n > 0 ? (size_t)n : 0;
    }
    ok = !n && !bytes.failed &&
         call_add_part(call, buf_view(&bytes), path, out, NULL) == WEND_OK;
    buf_free(&bytes);
    return ok;
}

static wend_status read_open(int fd, wend_str path, struct line_scan *s,
                             struct buf *out, wend_error *err)
{
    struct stat st;
    wend_status status;

    if (fstat(fd, &st))
        return fail(err, WEND_E_IO, "cannot look at '%.*s': error %d",
                    tool_shown(path), path.ptr, errno);
    if (S_ISDIR(st.st_mode))
        return fail(err, WEND_E_INVAL, "'%.*s' is a directory; use list_dir",
                    tool_shown(path), path.ptr);
    if (!S_ISREG(st.st_mode))
        return fail(err, WEND_E_INVAL, "'%.*s' is not a regular file",
                    tool_shown(path), path.ptr);
    if (s->call && is_document(fd) &&
        read_media(fd, path, st.st_size, s->call, out))
        return WEND_OK;
    status = scan_file(s, fd, path, st.st_size, err);
    if (status && s->binary && s->call &&
        read_media(fd, path, st.st_size, s->call, out)) {
        fail_clear(err);
        return WEND_OK;
    }
    if (status)
        return status;
    if (s->text.failed)
        return fail_nomem(err);
    if (!s->text.len && s->range.offset > 1)
        return fail(err, WEND_E_INVAL,
                    "offset %lld is past the end: '%.*s' has %lld lines",
                    (long long)s->range.offset, tool_shown(path), path.ptr,
                    (long long)(s->line - (!s->scanned || s->last == '\n')));
    put_text(s, st.st_size, out);
    return WEND_OK;
}

wend_status read_file_text(int root_fd, wend_str path, struct read_range range,
                           wend_call *call, struct buf *out, wend_error *err)
{
    struct line_scan s = {
        .call = call, .range = range, .line = 1, .text = {.mem = out->mem}};
    int fd = path_open(root_fd, path, O_RDONLY, 0, err);
    wend_status status;

    if (fd < 0)
        return (wend_status)fd;
    status = read_open(fd, path, &s, out, err);
    close(fd);
    buf_free(&s.text);
    return status;
}

wend_status tool_read_file(void *env, wend_call *call)
{
    const struct tool_env *e = env;
    struct read_range range = {.offset = 1};
    struct tool_job j;
    wend_str path = STR_NONE;
    wend_status s =
        tool_begin(&j, call,
                   TOOL_ARGS({"path", .str = &path},
                             {"offset", .number = &range.offset, .min = 1},
                             {"limit", .number = &range.limit, .min = 1}));

    if (!s)
        s = read_file_text(e->root_fd, path, range, call, &j.out, &j.err);
    return tool_end(&j, call, s);
}

/*
 * preview.c - what a call would do, as a person reads it: the text of a new
 * file, a diff against the file on disk, a command as it will run.
 */
#include "cli/ask/preview.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/textdiff.h"
#include "cli/term.h"

enum {
    FILE_BYTES_MAX = 1 << 20, /* a larger one is not compared */
    INDENT = 2,
};

/* ---- Files --------------------------------------------------------------- */

enum file_state { FILE_HERE, FILE_NEW, FILE_ODD };

/* A device, a pipe or a link is not read: that may block, or lead away. */
static enum file_state read_file(wend_str path, struct buf *out)
{
    struct buf name = {.mem = out->mem};
    enum file_state state = FILE_ODD;
    struct stat st;
    char room[4096];
    ssize_t n = 0;
    int fd;

    buf_str(&name, path);
    if (name.failed || !path.len || memchr(path.ptr, '\0', path.len)) {
        buf_free(&name);
        return FILE_ODD;
    }
    fd = open(name.ptr,
              O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        state = errno == ENOENT ? FILE_NEW : FILE_ODD;
    else if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
        while (out->len <= FILE_BYTES_MAX &&
               (n = read(fd, room, sizeof room)) > 0)
            buf_add(out, room, (size_t)n);
        state = !n && !out->failed ? FILE_HERE : FILE_ODD;
    }
    if (fd >= 0)
        close(fd);
    buf_free(&name);
    return state;
}

static size_t lines_of(wend_str text)
{
    return str_count(text, '\n') + (text.len && text.ptr[text.len - 1] != '\n');
}

/* The whole text replaces the file. */
static bool preview_write(struct preview *p, const struct json *args)
{
    wend_str path = json_str(json_get(args, "path"));
    wend_str content = json_str(json_get(args, "content"));
    struct buf old = {.mem = p->body.mem};
    enum file_state state;

    if (args->count != 2 || !path.ptr || !content.ptr)
        return false;
    state = read_file(path, &old);
    p->diff = state == FILE_HERE;
    buf_cstr(&p->head, state == FILE_NEW   ? "makes a new file "
                       : state == FILE_ODD ? "replaces "
                                           : "changes ");
    buf_str(&p->head, path);
    if (!p->diff) {
        buf_fmt(&p->head, ", %zu line%s", lines_of(content),
                lines_of(content) == 1 ? "" : "s");
        buf_str(&p->body, content);
    } else if (str_eq(buf_view(&old), content)) {
        buf_cstr(&p->head, ": it has this text already");
    } else {
        textdiff_put(&p->body, buf_view(&old), content);
    }
    buf_free(&old);
    return true;
}

/* Lines with a mark in front, each ended. */
static void put_marked(struct buf *out, char mark, wend_str text)
{
    wend_str line;

    while (text.len && str_line(&text, &line)) {
        buf_char(out, mark);
        buf_str(out, line);
        buf_char(out, '\n');
    }
}

/* The text with `from` replaced; false if that is not once, or `all`. */
static bool replaced(struct buf *out, wend_str text, wend_str from, wend_str to,
                     bool all)
{
    size_t times = 0;
    const char *at;

    while (from.len && text.len &&
           (at = memmem(text.ptr, text.len, from.ptr, from.len))) {
        buf_add(out, text.ptr, (size_t)(at - text.ptr));
        buf_str(out, to);
        text = str_skip(text, (size_t)(at - text.ptr) + from.len);
        times++;
    }
    buf_str(out, text);
    return times == 1 || (all && times);
}

static bool preview_edit(struct preview *p, const struct json *args)
{
    const struct json *all = json_get(args, "replace_all");
    wend_str path = json_str(json_get(args, "path"));
    wend_str from = json_str(json_get(args, "old_string"));
    wend_str to = json_str(json_get(args, "new_string"));
    struct buf old = {.mem = p->body.mem}, new = {.mem = p->body.mem};

    if (args->count != 3u + (all != NULL) || !path.ptr || !from.ptr || !to.ptr)
        return false;
    p->diff = true;
    buf_cstr(&p->head, "changes ");
    buf_str(&p->head, path);
    if (read_file(path, &old) == FILE_HERE &&
        replaced(&new, buf_view(&old), from, to, json_is_true(all)) &&
        !new.failed) {
        textdiff_put(&p->body, buf_view(&old), buf_view(&new));
    } else {
        /* The tool decides what to say about it. */
        buf_fmt(&p->head, "%s", json_is_true(all) ? ", wherever it is" : "");
        put_marked(&p->body, '-', from);
        put_marked(&p->body, '+', to);
    }
    buf_free(&old);
    buf_free(&new);
    return true;
}

/* ---- Commands ------------------------------------------------------------ */

static bool preview_shell(struct preview *p, const struct json *args)
{
    wend_str command = json_str(json_get(args, "command")), line;
    const char *mark = "$ ";

    if (args->count != 1 || !command.ptr)
        return false;
    buf_cstr(&p->head, "runs");
    while (command.len && str_line(&command, &line)) {
        buf_cstr(&p->body, mark);
        buf_str(&p->body, line);
        buf_char(&p->body, '\n');
        mark = "> ";
    }
    return true;
}

static bool is_plain_word(wend_str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789_-+=./,:@%",
                    word.ptr[i]) ||
            !word.ptr[i])
            return false;
    return word.len > 0;
}

static void put_word(struct buf *out, wend_str word)
{
    if (is_plain_word(word)) {
        buf_str(out, word);
        return;
    }
    buf_quoted(out, word);
}

static bool preview_exec(struct preview *p, const struct json *args)
{
    const struct json *argv = json_get(args, "argv");

    if (args->count != 1 || !argv || argv->kind != JSON_ARRAY)
        return false;
    for (const struct json *w = argv->first; w; w = w->next)
        if (w->kind != JSON_STRING)
            return false;
    buf_cstr(&p->head, "runs");
    buf_char(&p->body, '$');
    for (const struct json *w = argv->first; w; w = w->next) {
        buf_char(&p->body, ' ');
        put_word(&p->body, json_str(w));
    }
    buf_char(&p->body, '\n');
    return true;
}

void preview_free(struct preview *p)
{
    buf_free(&p->head);
    buf_free(&p->body);
}

void preview_make(struct preview *p, const struct mem *m, wend_str tool,
                  wend_str args)
{
    static const struct {
        const char *tool;
        bool (*put)(struct preview *p, const struct json *args);
    } kinds[] = {
        {"write_file", preview_write},
        {"edit_file", preview_edit},
        {"shell", preview_shell},
        {"exec", preview_exec},
    };
    struct arena a = {.mem = m};
    const struct json *j = json_parse(args, &a, NULL);
    bool done = false;

    *p = (struct preview){.head.mem = m, .body.mem = m};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(tool, kinds[i].tool) && j && j->kind == JSON_OBJECT)
            done = kinds[i].put(p, j);
    if (!done)
        buf_str(&p->body, args);
    p->body.failed |= p->head.failed;
    arena_free(&a);
}

/* ---- On a terminal ------------------------------------------------------- */

static const char *colour_of(const struct preview *p, wend_str line)
{
    if (!p->diff || !line.len)
        return "";
    switch (line.ptr[0]) {
    case '-': return "\033[31m";
    case '+': return "\033[32m";
    case '@': return "\033[36m";
    }
    return "";
}

static void put_coloured(struct buf *out, const char *colour, wend_str row)
{
    buf_cstr(out, colour);
    buf_str(out, row);
    if (*colour)
        buf_cstr(out, "\033[m");
    buf_char(out, '\n');
}

size_t preview_rows(const struct preview *p, struct buf *out, size_t width,
                    size_t rows, bool colour)
{
    wend_str rest = buf_view(&p->body), line, row;
    size_t used = 0, cut = 0;

    while (rest.len && used < rows && str_line(&rest, &line)) {
        struct buf broken = {.mem = out->mem};
        wend_str left;

        cut = term_rows(&broken, line.len ? line : STR(" "), width - INDENT,
                        rows - used);
        left = buf_view(&broken);
        while (left.len && str_line(&left, &row)) {
            buf_fmt(out, "%*s", INDENT, "");
            put_coloured(out, colour ? colour_of(p, line) : "", row);
            used++;
        }
        out->failed |= broken.failed;
        buf_free(&broken);
    }
    return lines_of(rest) + cut;
}

void preview_text(const struct preview *p, struct buf *out, bool colour)
{
    wend_str rest = buf_view(&p->body), line;

    while (rest.len && str_line(&rest, &line)) {
        struct buf safe = {.mem = out->mem};

        term_text(&safe, line);
        put_coloured(out, colour ? colour_of(p, line) : "", buf_view(&safe));
        out->failed |= safe.failed;
        buf_free(&safe);
    }
}

/*
 * term.c - makes text safe for a terminal.
 */
#include "cli/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/ascii.h"
#include "base/json.h"
#include "base/utf8.h"

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_MIN = 20,
    HEIGHT_DEFAULT = 24,
};

static void put_code_point(struct buf *out, uint32_t c)
{
    char bytes[4];

    buf_add(out, bytes, utf8_put(bytes, c));
}

enum { REPLACED = 0xFFFD };

static uint32_t picture(uint32_t c)
{
    if (term_ascii())
        return '?';
    if (c < 0x20)
        return 0x2400 + c;
    return c == 0x7F ? 0x2421 : REPLACED;
}

static void put_text(struct buf *out, struct utf8_before *before, wend_str s)
{
    size_t len;

    for (size_t i = 0; i < s.len; i += len) {
        wend_str rest = {s.ptr + i, s.len - i};
        uint32_t c = utf8_first(rest, &len);

        if (utf8_hides(before, c) || c == REPLACED)
            put_code_point(out, picture(c));
        else
            buf_add(out, rest.ptr, len);
    }
}

/* Most text is already valid; repair the rest first. */
static wend_str made_valid(struct buf *room, wend_str s)
{
    if (utf8_valid_len(s) == s.len)
        return s;
    utf8_repair(room, s);
    return buf_view(room);
}

void term_piece(struct buf *out, struct utf8_before *before, wend_str s)
{
    struct buf room = {.mem = out->mem};

    put_text(out, before, made_valid(&room, s));
    out->failed |= room.failed;
    buf_free(&room);
}

void term_text(struct buf *out, wend_str s)
{
    struct utf8_before before = {0};

    term_piece(out, &before, s);
}

void term_lines(struct buf *out, wend_str s, size_t indent)
{
    wend_str line;

    while (s.len && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    for (bool first = true; s.len && str_line(&s, &line); first = false) {
        if (!first)
            buf_fmt(out, "\n%*s", line.len ? (int)indent : 0, "");
        term_text(out, line);
    }
}

static size_t columns_of(uint32_t c)
{
    int w = c < 0x7F ? 1 : wcwidth((wchar_t)c);

    return w < 0 ? 1 : (size_t)w;
}

static void put_ellipsis(struct buf *out)
{
    put_code_point(out, term_ascii() ? '~' : 0x2026);
}

static void put_line(struct buf *out, wend_str s, size_t columns)
{
    struct utf8_before before = {0};
    size_t used = 0, len, keep = out->len;

    for (size_t i = 0; i < s.len; i += len) {
        wend_str rest = {s.ptr + i, s.len - i};
        uint32_t c = utf8_first(rest, &len);
        bool hides = utf8_hides(&before, c);

        if (c == '\n' || c == '\t' || c == '\r')
            c = ' ';
        else if (hides || c == REPLACED)
            c = picture(c);
        if (used + columns_of(c) > columns) {
            out->len = keep;
            put_ellipsis(out);
            return;
        }
        used += columns_of(c);
        put_code_point(out, c);
        if (used < columns)
            keep = out->len; /* room for the ellipsis */
    }
}

void term_line(struct buf *out, wend_str s, size_t columns)
{
    struct buf room = {.mem = out->mem};
    /* Only the start of a long text is visible; 16 bytes per column are more
     * than any character needs. */
    wend_str head = {s.ptr, s.len / 16 > columns ? columns * 16 : s.len};

    put_line(out, made_valid(&room, head), columns);
    out->failed |= room.failed;
    buf_free(&room);
}

void term_usd(struct buf *out, int64_t nano)
{
    if (nano < 0)
        buf_char(out, '-');
    else
        json_put_nano(out, nano);
}

void term_age(struct buf *out, int64_t us)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int64_t seconds = us > 0 ? us / 1000000 : 0;
    size_t i = 0;

    while (i < 3 && seconds < units[i].seconds)
        i++;
    buf_fmt(out, "%lld%c", (long long)(seconds / units[i].seconds),
            units[i].unit);
}

size_t term_columns(wend_str line)
{
    size_t columns = 0, len;

    for (; line.len; line = str_skip(line, len)) {
        uint32_t c = utf8_first(line, &len);

        if (c != 033) {
            columns += columns_of(c);
            continue;
        }
        while (len < line.len && line.ptr[len] != 'm')
            len++;
        len += len < line.len;
    }
    return columns;
}

/* Its length; *back: columns that it moves the cursor back by. */
static size_t sequence(wend_str text, size_t *back)
{
    size_t len = 1, number = 0;

    len += len < text.len && text.ptr[len] == '[';
    for (; len < text.len && !is_letter(text.ptr[len]); len++)
        number = number * 10 + (size_t)(text.ptr[len] & 0xF);
    *back = len < text.len && text.ptr[len] == 'D' ? number : 0;
    return len + (len < text.len);
}

size_t term_column(size_t column, size_t width, wend_str text)
{
    enum { TAB = 8 };
    size_t len, columns;

    for (; text.len; text = str_skip(text, len)) {
        uint32_t c = utf8_first(text, &len);

        if (c == 033) {
            len = sequence(text, &columns);
            column -= columns < column ? columns : column;
            continue;
        }
        columns = c == '\t' ? TAB - column % TAB : columns_of(c);
        if (c == '\n')
            column = 0;
        else if (c == '\t' && column + columns >= width)
            column = width - 1; /* a tab does not wrap */
        else
            column = column + columns > width ? columns : column + columns;
    }
    return column;
}

/* Bytes of the longest beginning within `columns`, with its marks. */
static size_t bytes_of(wend_str s, size_t columns)
{
    size_t used = 0, len, i;

    for (i = 0; i < s.len; i += len) {
        used += columns_of(utf8_first(str_skip(s, i), &len));
        if (used > columns)
            break;
    }
    return i;
}

void term_name(struct buf *out, wend_str s, size_t columns)
{
    struct buf room = {.mem = out->mem};
    wend_str safe;
    size_t all, head = columns / 2;

    term_line(&room, s, SIZE_MAX);
    safe = buf_view(&room);
    all = term_columns(safe);
    if (all > columns && columns) {
        buf_add(out, safe.ptr, bytes_of(safe, head));
        put_ellipsis(out);
        safe = str_skip(safe, bytes_of(safe, all - (columns - head - 1)));
        /* Half of a wide character does not fit. */
        while (term_columns(safe) > columns - head - 1)
            safe = str_skip(safe, bytes_of(safe, 2));
    }
    buf_str(out, safe);
    out->failed |= room.failed;
    buf_free(&room);
}

void term_cell(struct buf *out, wend_str s, size_t columns)
{
    size_t begun = out->len, shown;

    term_name(out, s, columns);
    shown = term_columns((wend_str){out->ptr + begun, out->len - begun});
    for (; shown < columns; shown++)
        buf_char(out, ' ');
}

size_t term_rows(struct buf *out, wend_str s, size_t width, size_t rows)
{
    struct buf safe = {.mem = out->mem};
    size_t count = 0, used = 0, len;
    wend_str rest;

    term_text(&safe, s);
    for (rest = buf_view(&safe); rest.len; rest = str_skip(rest, len)) {
        uint32_t c = utf8_first(rest, &len);
        size_t columns = c == '\n' ? 0 : columns_of(c == '\t' ? ' ' : c);

        if (c == '\n' || used + columns >= width) {
            if (count < rows)
                buf_char(out, '\n');
            count++;
            used = 0;
        }
        if (c != '\n' && count < rows)
            buf_add(out, c == '\t' ? " " : rest.ptr, len);
        used += columns;
    }
    if (used) {
        if (count < rows)
            buf_char(out, '\n');
        count++;
    }
    out->failed |= safe.failed;
    buf_free(&safe);
    return count > rows ? count - rows : 0;
}

static void put_spaces(struct buf *out, size_t count)
{
    while (count--)
        buf_char(out, ' ');
}

/* See term_words; the text is safe. */
static void put_words(struct buf *out, wend_str rest, size_t column,
                      size_t indent, size_t width)
{
    wend_str word; /* with the space before it */

    for (; rest.len; rest = str_skip(rest, word.len)) {
        size_t from = 0;

        word = (wend_str){rest.ptr, 1};
        while (word.len < rest.len && rest.ptr[word.len] != ' ')
            word.len++;
        if (word.ptr[0] == ' ' && column + term_columns(word) >= width) {
            buf_char(out, '\n');
            put_spaces(out, indent);
            column = indent;
            from = 1;
        }
        buf_str(out, str_skip(word, from));
        column += term_columns(str_skip(word, from));
    }
}

void term_words(struct buf *out, wend_str s, size_t column, size_t indent,
                size_t width)
{
    struct buf safe = {.mem = out->mem};

    if (width)
        term_line(&safe, s, SIZE_MAX);
    else
        term_text(out, s);
    put_words(out, buf_view(&safe), column, indent, width);
    out->failed |= safe.failed;
    buf_free(&safe);
}

/* Bytes before the last column of a line: what follows two spaces. */
static size_t last_column(wend_str line, size_t indent)
{
    for (size_t at = line.len; at > indent + 2; at--)
        if (line.ptr[at - 1] == ' ' && line.ptr[at - 2] == ' ')
            return at;
    return 0;
}

static void fit_line(struct buf *out, wend_str line, size_t width)
{
    enum { BELOW = 10 }; /* columns before what does not fit beside the rest */
    size_t indent = 0, at, columns;

    while (indent < line.len && line.ptr[indent] == ' ')
        indent++;
    at = last_column(line, indent);
    columns = term_columns((wend_str){line.ptr, at});
    if (columns <= width / 2) {
        put_words(out, line, 0, at ? columns : indent + 2, width);
        return;
    }
    columns = at;
    while (line.ptr[columns - 1] == ' ')
        columns--;
    put_words(out, (wend_str){line.ptr, columns}, 0, indent + 2, width);
    buf_char(out, '\n');
    put_spaces(out, BELOW);
    put_words(out, str_skip(line, at), BELOW, BELOW, width);
}

void term_fit(struct buf *out, wend_str text, size_t width)
{
    wend_str line;

    while (text.len && str_line(&text, &line)) {
        if (term_columns(line) <= width)
            buf_str(out, line);
        else
            fit_line(out, line, width);
        buf_char(out, '\n');
    }
}

void term_json(struct buf *out, wend_str json)
{
    struct utf8_before before = {0};
    size_t len;

    for (size_t i = 0; i < json.len; i += len) {
        wend_str rest = {json.ptr + i, json.len - i};
        uint32_t c = utf8_first(rest, &len);

        if (!utf8_hides(&before, c))
            buf_add(out, rest.ptr, len);
        else if (c < 0x10000)
            buf_fmt(out, "\\u%04x", c);
        else
            buf_fmt(out, "\\u%04x\\u%04x", 0xD7C0 + (c >> 10),
                    0xDC00 + (c & 0x3FF));
    }
}

static struct winsize size_of(int fd)
{
    struct winsize w = {0};

    if (ioctl(fd, TIOCGWINSZ, &w) || w.ws_col < WIDTH_MIN)
        w.ws_col = WIDTH_DEFAULT;
    if (!w.ws_row)
        w.ws_row = HEIGHT_DEFAULT;
    return w;
}

size_t term_width(int fd)
{
    return size_of(fd).ws_col;
}

size_t term_wraps_at(int fd)
{
    return isatty(fd) ? term_width(fd) : 0;
}

size_t term_height(int fd)
{
    return size_of(fd).ws_row;
}

bool term_asks(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* A device may have several nodes; its number is the same. */
bool term_same(int fd, int fd2)
{
    struct stat a, b;

    if (fstat(fd, &a) || fstat(fd2, &b))
        return false;
    return S_ISCHR(a.st_mode) && S_ISCHR(b.st_mode)
               ? a.st_rdev == b.st_rdev
               : a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool term_moves(int fd)
{
    const char *kind = getenv("TERM");

    return isatty(fd) && kind && *kind && strcmp(kind, "dumb");
}

bool term_colour(int fd)
{
    const char *no = getenv("NO_COLOR");

    return term_moves(fd) && !(no && *no);
}

/* Terminals do not tell; those that reflow have variables of their own. */
bool term_reflows(void)
{
    static const char *const variables[] = {
        "TMUX",       "VTE_VERSION",  "KITTY_WINDOW_ID", "ITERM_SESSION_ID",
        "WT_SESSION", "WEZTERM_PANE", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID",
    };

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return true;
    return false;
}

/* The first of them that is set decides, as for setlocale. */
bool term_ascii(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if ((value = getenv(variables[i])) && *value)
            break;
    return !value || (!strstr(value, "UTF-8") && !strstr(value, "utf8") &&
                      !strstr(value, "UTF8") && !strstr(value, "utf-8"));
}

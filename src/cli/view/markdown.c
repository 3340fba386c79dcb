/*
 * markdown.c - Markdown of a model as readable text for a terminal, while it
 * streams: headings, lists, quotes, code in a frame, emphasis.
 */
#include "cli/view/markdown.h"

#include <string.h>

#include "base/utf8.h"
#include "cli/term.h"
#include "cli/view/markdown_inline.h"
#include "cli/view/markdown_table.h"

/* ---- Inside a line ------------------------------------------------------- */

static void restyle(struct markdown *m, struct buf *out, unsigned styles)
{
    if (m->styles == styles)
        return;
    m->styles = styles;
    if (m->styled)
        inline_style(out, styles);
}

static void drop_held(struct markdown *m, size_t n)
{
    if (!n)
        return;
    m->held.len -= n;
    memmove(m->held.ptr, m->held.ptr + n, m->held.len + 1);
}

/* Writes what is decided of the text that is held. */
static void put_text(struct markdown *m, struct buf *out, bool whole)
{
    wend_str text = buf_view(&m->held);
    size_t done = text.len;

    if (!done)
        return;
    if (m->styled)
        done = inline_put(out, text, m->before, m->styles, whole);
    else
        buf_str(out, text);
    if (done)
        m->before = text.ptr[done - 1];
    drop_held(m, done);
}

static void end_line(struct markdown *m, struct buf *out)
{
    put_text(m, out, true);
    restyle(m, out, 0);
    buf_char(out, '\n');
    m->at = LINE_BEGIN;
}

/* ---- Code ---------------------------------------------------------------- */

static void frame(const struct markdown *m, struct buf *out, const char *dark,
                  const char *ascii)
{
    buf_cstr(out, m->styled ? "\033[2m" : "");
    buf_cstr(out, m->ascii ? ascii : dark);
    buf_cstr(out, m->styled ? "\033[0m" : "");
}

static void begin_code(struct markdown *m, struct buf *out, wend_str fence,
                       wend_str language)
{
    memcpy(m->fence, fence.ptr, fence.len);
    m->fence[fence.len] = 0;
    restyle(m, out, 0);
    frame(m, out, "\u250c\u2500 ", "+- ");
    buf_str(out, language);
    buf_char(out, '\n');
}

static void end_code(struct markdown *m, struct buf *out)
{
    frame(m, out, "\u2514\u2500", "+-");
    buf_char(out, '\n');
    m->fence[0] = 0;
}

static void code_row(struct markdown *m, struct buf *out)
{
    frame(m, out, "\u2502 ", "| ");
    m->column = 2;
    m->at = LINE_CODE;
}

/* A line that is too long continues inside the frame. */
static void put_code(struct markdown *m, struct buf *out, wend_str c)
{
    size_t columns = c.ptr[0] == '\t' ? 8 - m->column % 8 : term_columns(c);

    if (m->column + columns > m->width) {
        buf_char(out, '\n');
        code_row(m, out);
    }
    m->column += columns;
    buf_str(out, c);
}

/* ---- The beginning of a line --------------------------------------------- */

enum block {
    BLOCK_OPEN, /* more of the line must be known */
    BLOCK_TEXT,
    BLOCK_HEADING,
    BLOCK_BULLET,
    BLOCK_QUOTE,
    BLOCK_RULE,
    BLOCK_FENCE,
    BLOCK_TABLE,
};

static size_t run_of(wend_str s, char c)
{
    size_t n = 0;

    while (n < s.len && s.ptr[n] == c)
        n++;
    return n;
}

/* `whole`: the line has ended. */
static enum block heading_of(wend_str s, bool whole)
{
    size_t n = run_of(s, '#');

    if (n > 6)
        return BLOCK_TEXT;
    if (n == s.len)
        return whole ? BLOCK_TEXT : BLOCK_OPEN;
    return s.ptr[n] == ' ' ? BLOCK_HEADING : BLOCK_TEXT;
}

static enum block bullet_of(wend_str s, bool whole)
{
    size_t marks = 0, i;

    for (i = 0; i < s.len && (s.ptr[i] == s.ptr[0] || s.ptr[i] == ' '); i++)
        marks += s.ptr[i] == s.ptr[0];
    if (i == s.len) {
        if (!whole)
            return BLOCK_OPEN;
        if (marks >= 3 && s.ptr[0] != '+')
            return BLOCK_RULE;
    }
    return s.len > 1 && s.ptr[1] == ' ' ? BLOCK_BULLET : BLOCK_TEXT;
}

static enum block fence_of(wend_str s, bool whole)
{
    size_t n = run_of(s, s.ptr[0]);

    if (n < 3)
        return n == s.len && !whole ? BLOCK_OPEN : BLOCK_TEXT;
    if (s.ptr[0] == '`' && memchr(s.ptr + n, '`', s.len - n))
        return BLOCK_TEXT; /* code inside a line */
    return whole ? BLOCK_FENCE : BLOCK_OPEN;
}

static enum block block_of(wend_str line, bool whole)
{
    wend_str s = str_skip(line, run_of(line, ' '));

    if (!s.len)
        return whole || line.len > 40 ? BLOCK_TEXT : BLOCK_OPEN;
    switch (s.ptr[0]) {
    case '#': return heading_of(s, whole);
    case '>': return s.len > 1 || whole ? BLOCK_QUOTE : BLOCK_OPEN;
    case '|': return whole ? BLOCK_TABLE : BLOCK_OPEN;
    case '~':
    case '`': return fence_of(s, whole);
    case '-':
    case '+':
    case '*': return bullet_of(s, whole);
    default: return BLOCK_TEXT;
    }
}

static void put_rule(const struct markdown *m, struct buf *out)
{
    size_t columns = m->width < 40 ? m->width : 40;

    buf_cstr(out, m->styled ? "\033[2m" : "");
    for (size_t i = 0; i + 1 < columns; i++)
        buf_cstr(out, m->ascii ? "-" : "\u2500");
    buf_cstr(out, m->styled ? "\033[0m\n" : "\n");
}

static void begin_fence(struct markdown *m, struct buf *out, wend_str s)
{
    size_t n = run_of(s, s.ptr[0]);
    wend_str fence = {s.ptr, n < FENCE_MAX - 1 ? n : FENCE_MAX - 1};

    begin_code(m, out, fence, str_skip(s, n));
}

/* The mark of the block; what is held of its text stays. */
static void begin_block(struct markdown *m, struct buf *out, enum block block)
{
    wend_str line = buf_view(&m->held);
    size_t indent = run_of(line, ' '), mark = 0;
    wend_str s = str_skip(line, indent);

    if (m->rows.len && block != BLOCK_TABLE) {
        table_put(out, buf_view(&m->rows), m->width, m->styled, m->ascii);
        buf_clear(&m->rows);
    }
    if (block == BLOCK_HEADING) {
        restyle(m, out, INLINE_BOLD);
        mark = indent + run_of(s, '#') + 1;
    } else if (block == BLOCK_BULLET) {
        buf_add(out, line.ptr, indent);
        buf_cstr(out, m->ascii ? "* " : "\u2022 ");
        mark = indent + 2;
    } else if (block == BLOCK_QUOTE) {
        frame(m, out, "\u2502 ", "| ");
        restyle(m, out, INLINE_DIM);
        mark = indent + (s.len > 1 && s.ptr[1] == ' ' ? 2 : 1);
    } else if (block != BLOCK_TEXT) {
        return;
    }
    drop_held(m, mark);
    m->before = ' ';
    m->at = LINE_TEXT;
}

/* The whole line is held. */
static void end_held(struct markdown *m, struct buf *out, bool newline)
{
    wend_str line = buf_view(&m->held);
    enum block block = block_of(line, true);

    begin_block(m, out, block);
    if (block == BLOCK_TABLE) {
        buf_str(&m->rows, line);
        buf_char(&m->rows, '\n');
    } else if (block == BLOCK_FENCE) {
        begin_fence(m, out, str_skip(line, run_of(line, ' ')));
    } else if (block == BLOCK_RULE) {
        put_rule(m, out);
    } else if (newline) {
        end_line(m, out);
    } else {
        put_text(m, out, true);
    }
    buf_clear(&m->held);
}

/* Whether the held line may still be, or is, the end of the code. */
static bool closes(const struct markdown *m, bool whole)
{
    wend_str line = buf_view(&m->held);
    wend_str s = str_skip(line, run_of(line, ' '));
    size_t n = run_of(s, m->fence[0]);

    if (n < s.len && run_of(str_skip(s, n), ' ') < s.len - n)
        return false;
    return !whole || n >= strlen(m->fence);
}

/* ---- Text ---------------------------------------------------------------- */

static void code_held(struct markdown *m, struct buf *out)
{
    wend_str line = buf_view(&m->held);
    size_t len;

    code_row(m, out);
    for (; line.len; line = str_skip(line, len)) {
        utf8_first(line, &len);
        put_code(m, out, (wend_str){line.ptr, len});
    }
    buf_clear(&m->held);
}

static void take_code(struct markdown *m, struct buf *out, wend_str c)
{
    bool newline = c.ptr[0] == '\n';

    if (m->at == LINE_CODE && !newline) {
        put_code(m, out, c);
    } else if (m->at == LINE_CODE) {
        buf_char(out, '\n');
        m->at = LINE_BEGIN;
    } else if (newline && closes(m, true)) {
        buf_clear(&m->held);
        end_code(m, out);
    } else if (newline) {
        code_held(m, out);
        buf_char(out, '\n');
        m->at = LINE_BEGIN;
    } else {
        buf_str(&m->held, c);
        if (!closes(m, false))
            code_held(m, out);
    }
}

static void take(struct markdown *m, struct buf *out, wend_str c)
{
    bool newline = c.ptr[0] == '\n';
    enum block block;

    if (m->fence[0]) {
        take_code(m, out, c);
    } else if (m->at == LINE_TEXT && newline) {
        end_line(m, out);
    } else if (m->at == LINE_TEXT) {
        buf_str(&m->held, c);
    } else if (newline) {
        end_held(m, out, true);
    } else {
        buf_str(&m->held, c);
        block = block_of(buf_view(&m->held), false);
        if (block != BLOCK_OPEN)
            begin_block(m, out, block);
    }
}

void markdown_text(struct markdown *m, struct buf *out, wend_str text)
{
    size_t len;

    for (; text.len; text = str_skip(text, len)) {
        utf8_first(text, &len);
        take(m, out, (wend_str){text.ptr, len});
    }
    if (m->at == LINE_TEXT)
        put_text(m, out, false);
    out->failed |= m->held.failed || m->rows.failed;
}

void markdown_end(struct markdown *m, struct buf *out)
{
    bool code = m->fence[0];

    if (code && m->held.len && closes(m, true)) {
        buf_clear(&m->held);
        m->at = LINE_BEGIN;
    } else if (code && m->held.len) {
        code_held(m, out);
    } else if (m->at == LINE_TEXT) {
        put_text(m, out, true);
    } else if (m->held.len) {
        end_held(m, out, false);
        code = m->fence[0];
    }
    if (code) {
        if (m->at == LINE_CODE)
            buf_char(out, '\n');
        end_code(m, out);
    }
    if (m->rows.len)
        table_put(out, buf_view(&m->rows), m->width, m->styled, m->ascii);
    buf_clear(&m->rows);
    restyle(m, out, 0);
    m->at = LINE_BEGIN;
}

void markdown_free(struct markdown *m)
{
    buf_free(&m->held);
    buf_free(&m->rows);
}

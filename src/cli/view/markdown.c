/*
 * markdown.c - Markdown of a model as readable text for a terminal, while it
 * streams: headings, lists, quotes, code in a frame, emphasis.
 */
#include "cli/view/markdown.h"

#include <string.h>

#include "base/utf8.h"
#include "cli/term.h"
#include "cli/view/markdown_table.h"

enum { BOLD = 1, ITALIC = 2, CODE = 4, HEADING = 8, QUOTE = 16 };

/* ---- Styles -------------------------------------------------------------- */

static void put_styles(const struct markdown *m, struct buf *out)
{
    static const struct {
        unsigned style;
        const char *text;
    } rows[] = {{BOLD | HEADING, "\033[1m"},
                {ITALIC, "\033[3m"},
                {QUOTE, "\033[2m"},
                {CODE, "\033[36m"}};

    if (!m->styled)
        return;
    buf_cstr(out, "\033[0m");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (m->styles & rows[i].style)
            buf_cstr(out, rows[i].text);
}

static void restyle(struct markdown *m, struct buf *out, unsigned styles)
{
    if (m->styles == styles)
        return;
    m->styles = styles;
    put_styles(m, out);
}

/* ---- Inside a line ------------------------------------------------------- */

static bool is_space(char c)
{
    return !c || c == ' ' || c == '\n' || c == '\t';
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* What the held mark is for, now that the next character is known; 0: text. */
static unsigned mark_style(const struct markdown *m, char next)
{
    bool wide = m->mark_len == 2, line = m->mark[0] == '_';
    unsigned style = m->mark[0] == '`' ? CODE : wide ? BOLD : ITALIC;
    bool on = m->styles & style;

    if (m->mark_len > 2 || (style == CODE && wide))
        return 0;
    if (style == CODE)
        return CODE;
    if (m->styles & CODE)
        return 0;
    if (on)
        return is_space(m->before) || (line && is_word(next)) ? 0 : style;
    return is_space(next) || (line && is_word(m->before)) ||
                   (!wide && !line && is_word(m->before) && is_word(next))
               ? 0
               : style;
}

static void put_mark(struct markdown *m, struct buf *out, char next)
{
    unsigned style = mark_style(m, next);

    if (!m->mark_len)
        return;
    if (style)
        restyle(m, out, m->styles ^ style);
    else
        buf_add(out, m->mark, m->mark_len);
    m->before = m->mark[0];
    m->mark_len = 0;
}

static bool is_mark(const struct markdown *m, char c)
{
    return m->styled && (c == '*' || c == '_' || c == '`');
}

static void put_inline(struct markdown *m, struct buf *out, char c)
{
    if (m->mark_len && (c != m->mark[0] || m->mark_len == sizeof m->mark))
        put_mark(m, out, c);
    if (is_mark(m, c)) {
        m->mark[m->mark_len++] = c;
        return;
    }
    buf_char(out, c);
    m->before = c;
}

static void end_line(struct markdown *m, struct buf *out)
{
    put_mark(m, out, '\n');
    restyle(m, out, m->styles & (BOLD | ITALIC | CODE));
    buf_char(out, '\n');
    m->before = '\n';
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

static void put_all(struct markdown *m, struct buf *out, wend_str text)
{
    m->at = LINE_TEXT;
    for (size_t i = 0; i < text.len; i++)
        put_inline(m, out, text.ptr[i]);
}

static void begin_fence(struct markdown *m, struct buf *out, wend_str s)
{
    size_t n = run_of(s, s.ptr[0]);
    wend_str fence = {s.ptr, n < FENCE_MAX - 1 ? n : FENCE_MAX - 1};

    begin_code(m, out, fence, str_skip(s, n));
}

/* The mark of the block, then what is held of its text. */
static void begin_block(struct markdown *m, struct buf *out, enum block block)
{
    wend_str line = buf_view(&m->held);
    size_t indent = run_of(line, ' ');
    wend_str s = str_skip(line, indent);

    if (m->rows.len && block != BLOCK_TABLE) {
        table_put(out, buf_view(&m->rows), m->width, m->styled, m->ascii);
        buf_clear(&m->rows);
    }
    if (block == BLOCK_HEADING) {
        restyle(m, out, HEADING);
        put_all(m, out, str_skip(s, run_of(s, '#') + 1));
    } else if (block == BLOCK_BULLET) {
        buf_add(out, line.ptr, indent);
        buf_cstr(out, m->ascii ? "* " : "\u2022 ");
        put_all(m, out, str_skip(s, 2));
    } else if (block == BLOCK_QUOTE) {
        frame(m, out, "\u2502 ", "| ");
        restyle(m, out, QUOTE);
        put_all(m, out, str_skip(s, s.len > 1 && s.ptr[1] == ' ' ? 2 : 1));
    } else if (block == BLOCK_TEXT) {
        if (!s.len)
            restyle(m, out, 0); /* a paragraph ends what was not closed */
        put_all(m, out, line);
    }
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
        for (size_t i = 0; i < c.len; i++)
            put_inline(m, out, c.ptr[i]);
    } else if (newline) {
        end_held(m, out, true);
    } else {
        buf_str(&m->held, c);
        block = block_of(buf_view(&m->held), false);
        if (block == BLOCK_OPEN)
            return;
        begin_block(m, out, block);
        buf_clear(&m->held);
    }
}

void markdown_text(struct markdown *m, struct buf *out, wend_str text)
{
    size_t len;

    for (; text.len; text = str_skip(text, len)) {
        utf8_first(text, &len);
        take(m, out, (wend_str){text.ptr, len});
    }
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
    put_mark(m, out, '\n');
    restyle(m, out, 0);
    m->at = LINE_BEGIN;
    m->before = 0;
}

void markdown_free(struct markdown *m)
{
    buf_free(&m->held);
    buf_free(&m->rows);
}

/*
 * wrap.c - wraps text between words while it streams to a terminal.
 */
#include "cli/view/wrap.h"

#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "cli/term.h"

enum { ESC = 033, TAB = 8 };

struct piece {
    struct wrap *w;
    struct buf *out;
};

static size_t row_columns(const struct wrap *w)
{
    return w->width > 1 ? w->width - 1 : 1;
}

/* ---- Styles -------------------------------------------------------------- */

static void style_add(struct wrap_style *s, wend_str sequence)
{
    if (str_is(sequence, "\033[0m"))
        s->len = 0;
    else if (sequence.len <= sizeof s->text - s->len) {
        memcpy(s->text + s->len, sequence.ptr, sequence.len);
        s->len += sequence.len;
    }
}

static void put_style(struct buf *out, const struct wrap_style *s)
{
    buf_cstr(out, "\033[0m");
    buf_add(out, s->text, s->len);
}

/* ---- Rows ---------------------------------------------------------------- */

static void drop_word(struct wrap *w)
{
    buf_clear(&w->word);
    w->word_columns = w->shown = w->shown_columns = 0;
    w->wide = false;
}

static void show_word(struct piece *p)
{
    struct wrap *w = p->w;

    if (w->word.len > w->shown)
        buf_add(p->out, w->word.ptr + w->shown, w->word.len - w->shown);
    w->shown = w->word.len;
    w->shown_columns = w->word_columns;
    p->out->failed |= w->word.failed;
}

static void end_word(struct piece *p)
{
    show_word(p);
    drop_word(p->w);
}

/* `style`: of what follows. */
static void next_row(struct piece *p, const struct wrap_style *style)
{
    struct wrap *w = p->w;
    bool styled = w->bar.len && memchr(w->bar.text, ESC, w->bar.len);

    buf_char(p->out, '\n');
    if (w->quote) {
        buf_add(p->out, w->bar.text, w->bar.len);
        if (styled)
            put_style(p->out, style);
    } else {
        for (size_t i = 0; i < w->hang; i++)
            buf_char(p->out, ' ');
    }
    w->column = w->hang;
    w->full = false;
}

static void take_back(struct piece *p)
{
    struct wrap *w = p->w;
    bool restyles = w->shown && memchr(w->word.ptr, ESC, w->shown) && !w->quote;

    if (w->shown_columns)
        buf_fmt(p->out, "\033[%zuD\033[K", w->shown_columns);
    next_row(p, &w->before);
    if (restyles)
        put_style(p->out, &w->before);
    w->column += w->word_columns;
    w->shown = w->shown_columns = 0;
}

/* A word that is wider than a row is cut. */
static void make_room(struct piece *p, size_t columns)
{
    struct wrap *w = p->w;

    if (w->column + columns <= row_columns(w))
        return;
    if (w->word_columns && w->word_columns + w->hang < w->column)
        take_back(p);
    if (w->column + columns <= row_columns(w) || w->column <= w->hang)
        return;
    end_word(p);
    next_row(p, &w->style);
}

/* ---- The beginning of a line --------------------------------------------- */

static int next_lead(const struct wrap *w, uint32_t c)
{
    switch (w->lead) {
    case LEAD_BEGIN:
        if (c == ' ')
            return LEAD_BEGIN;
        if (c == 0x2022 || c == '*')
            return LEAD_MARK;
        if (c == 0x2502 || c == '|')
            return LEAD_BAR;
        return c < 0x80 && is_digit((char)c) ? LEAD_NUMBER : LEAD_DONE;
    case LEAD_NUMBER:
        if (c == '.' || c == ')')
            return LEAD_MARK;
        return c < 0x80 && is_digit((char)c) ? LEAD_NUMBER : LEAD_DONE;
    case LEAD_MARK:
    case LEAD_BAR:
    case LEAD_DONE: break;
    }
    return LEAD_DONE;
}

static void begin_line(struct wrap *w)
{
    w->column = w->hang = w->bar.len = 0;
    w->full = w->quote = false;
    w->lead = LEAD_BEGIN;
}

/* The character stands in front of w->column. */
static void look_at_lead(struct wrap *w, uint32_t c, wend_str bytes)
{
    int before = w->lead;

    if (before == LEAD_DONE)
        return;
    style_add(&w->bar, bytes);
    w->lead = next_lead(w, c);
    if (w->lead == LEAD_BEGIN ||
        (c == ' ' && (before == LEAD_MARK || before == LEAD_BAR)))
        w->hang = w->column;
    w->quote = before == LEAD_BAR && c == ' ';
    if (w->hang > w->width / 2) {
        w->hang = 0;
        w->quote = false;
    }
}

/* ---- Text ---------------------------------------------------------------- */

/* Not at the beginning of a row, in scripts without spaces. */
static bool sticks(uint32_t c)
{
    static const uint32_t signs[] = {0x3001, 0x3002, 0x300D, 0x300F,
                                     0x3011, 0xFF01, 0xFF09, 0xFF0C,
                                     0xFF1A, 0xFF1B, 0xFF1F};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (c == signs[i])
            return true;
    return c < 0x80 && !is_letter((char)c) && !is_digit((char)c);
}

static void put_space(struct piece *p, uint32_t c, wend_str bytes)
{
    struct wrap *w = p->w;
    size_t columns = c == '\t' ? TAB - w->column % TAB : 1;

    end_word(p);
    w->full |= w->column + columns > row_columns(w);
    if (w->full)
        return;
    buf_str(p->out, bytes);
    w->column += columns;
    look_at_lead(w, c, bytes);
}

static void put_char(struct piece *p, uint32_t c, wend_str bytes)
{
    struct wrap *w = p->w;
    size_t columns = term_columns(bytes);

    if (columns && (columns > 1 || w->wide) && !sticks(c))
        end_word(p);
    if (w->full)
        next_row(p, &w->style);
    make_room(p, columns);
    if (!w->word.len)
        w->before = w->style;
    buf_str(&w->word, bytes);
    w->word_columns += columns;
    w->wide |= columns > 1;
    w->column += columns;
    look_at_lead(w, c, bytes);
}

static void put_sequence(struct piece *p, wend_str sequence)
{
    struct wrap *w = p->w;

    style_add(&w->style, sequence);
    if (w->lead != LEAD_DONE && sequence.len <= sizeof w->bar.text - w->bar.len)
        style_add(&w->bar, sequence);
    buf_str(w->word.len ? &w->word : p->out, sequence);
}

void wrap_text(struct wrap *w, struct buf *out, wend_str text)
{
    struct piece p = {w, out};
    size_t len;

    for (; text.len; text = str_skip(text, len)) {
        uint32_t c = utf8_first(text, &len);
        wend_str bytes;

        while (c == ESC && len < text.len && text.ptr[len - 1] != 'm')
            len++;
        bytes = (wend_str){text.ptr, len};
        if (c == ESC) {
            put_sequence(&p, bytes);
        } else if (c == '\n') {
            end_word(&p);
            buf_char(out, '\n');
            begin_line(w);
        } else if (c == ' ' || c == '\t') {
            put_space(&p, c, bytes);
        } else {
            put_char(&p, c, bytes);
        }
    }
    show_word(&p);
}

void wrap_begin(struct wrap *w, size_t width)
{
    drop_word(w);
    begin_line(w);
    w->width = width;
    w->style.len = 0;
}

void wrap_moved(struct wrap *w, size_t column)
{
    drop_word(w);
    w->full = false;
    w->column = column;
    w->lead = LEAD_DONE;
}

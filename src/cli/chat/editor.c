/*
 * editor.c - the text that a person types: keys in, a text and rows out.
 *
 * A paste never sends: terminals bracket it (CSI 200~ and 201~), and its line
 * ends are part of the text.
 */
#include "cli/chat/editor.h"

#include <string.h>

#include "base/utf8.h"
#include "cli/term.h"

enum {
    ESC = 033,
    DEL = 0177,
    MARK_COLUMNS = 2, /* in front of each row */
    TAB_COLUMNS = 4,
};
#define CTRL(letter) ((letter)&037)

/* ---- The text ------------------------------------------------------------ */

void editor_insert(struct editor *e, wend_str text)
{
    size_t tail = e->text.len - e->at;

    if (!text.len || !buf_room(&e->text, text.len))
        return;
    memmove(e->text.ptr + e->at + text.len, e->text.ptr + e->at, tail);
    memcpy(e->text.ptr + e->at, text.ptr, text.len);
    e->text.len += text.len;
    e->text.ptr[e->text.len] = 0;
    e->at += text.len;
}

static void erase(struct editor *e, size_t from, size_t to)
{
    if (from >= to)
        return;
    memmove(e->text.ptr + from, e->text.ptr + to, e->text.len - to);
    e->text.len -= to - from;
    e->text.ptr[e->text.len] = 0;
    e->at = from;
}

/* The same, and Ctrl-Y inserts it again. */
static void cut(struct editor *e, size_t from, size_t to)
{
    if (from >= to)
        return;
    e->cut.mem = e->text.mem;
    buf_clear(&e->cut);
    buf_add(&e->cut, e->text.ptr + from, to - from);
    erase(e, from, to);
}

void editor_set(struct editor *e, wend_str text)
{
    buf_clear(&e->text);
    e->at = 0;
    editor_insert(e, text);
}

/* A byte that is not UTF-8, or not yet, counts for itself. */
static uint32_t char_at(const struct editor *e, size_t at, size_t *len)
{
    wend_str rest = str_skip(buf_view(&e->text), at);

    if (utf8_valid_len((wend_str){rest.ptr, rest.len < 4 ? rest.len : 4}))
        return utf8_first(rest, len);
    *len = 1;
    return 0xFFFD;
}

/* What has no width belongs to the character before it. */
static size_t right_of(const struct editor *e, size_t at)
{
    size_t len = 0, end = at;

    while (end < e->text.len) {
        uint32_t c = char_at(e, end, &len);

        if (end > at && (c == '\n' || c == '\t' ||
                         term_columns((wend_str){e->text.ptr + end, len})))
            break;
        end += len;
    }
    return end;
}

static size_t left_of(const struct editor *e, size_t at)
{
    size_t from = 0, next;

    while (from < at && (next = right_of(e, from)) < at)
        from = next;
    return from;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static size_t word_left(const struct editor *e)
{
    size_t at = e->at;

    while (at && is_space(e->text.ptr[at - 1]))
        at--;
    while (at && !is_space(e->text.ptr[at - 1]))
        at--;
    return at;
}

static size_t word_right(const struct editor *e)
{
    size_t at = e->at;

    while (at < e->text.len && is_space(e->text.ptr[at]))
        at++;
    while (at < e->text.len && !is_space(e->text.ptr[at]))
        at++;
    return at;
}

static size_t line_begin(const struct editor *e, size_t at)
{
    while (at && e->text.ptr[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct editor *e, size_t at)
{
    while (at < e->text.len && e->text.ptr[at] != '\n')
        at++;
    return at;
}

/* ---- Up and down --------------------------------------------------------- */

void editor_past(struct editor *e, size_t place)
{
    if (place > e->history.count)
        return;
    e->draft.mem = e->text.mem;
    if (e->place == e->history.count) {
        buf_clear(&e->draft);
        buf_str(&e->draft, buf_view(&e->text));
    }
    e->place = place;
    editor_set(e, place == e->history.count ? buf_view(&e->draft)
                                            : str_of(e->history.items[place]));
}

/* In the text first, then in what was sent before. */
static void go_up(struct editor *e)
{
    size_t begin = line_begin(e, e->at), column = e->at - begin, above;

    if (!begin) {
        if (e->place)
            editor_past(e, e->place - 1);
        return;
    }
    above = line_begin(e, begin - 1);
    e->at = above + column < begin ? above + column : begin - 1;
}

static void go_down(struct editor *e)
{
    size_t end = line_end(e, e->at), column = e->at - line_begin(e, e->at),
           below = end + 1;

    if (end == e->text.len) {
        editor_past(e, e->place + 1);
        return;
    }
    e->at = line_end(e, below);
    if (below + column < e->at)
        e->at = below + column;
}

/* ---- Keys ---------------------------------------------------------------- */

static void new_line(struct editor *e)
{
    editor_insert(e, STR("\n"));
}

/* A backslash at the end of the text continues it. */
static enum typed enter(struct editor *e)
{
    if (!e->at || e->at != e->text.len || e->text.ptr[e->at - 1] != '\\')
        return EDIT_SEND;
    erase(e, e->at - 1, e->at);
    new_line(e);
    return EDIT_NONE;
}

static enum typed delete_or_leave(struct editor *e)
{
    if (!e->text.len)
        return EDIT_LEAVE;
    erase(e, e->at, right_of(e, e->at));
    return EDIT_NONE;
}

static enum typed control(struct editor *e, char key)
{
    switch (key) {
    case '\r': return enter(e);
    case '\n': new_line(e); break;
    case '\t': return EDIT_TAB;
    case CTRL('A'): e->at = line_begin(e, e->at); break;
    case CTRL('B'): e->at = left_of(e, e->at); break;
    case CTRL('C'): return EDIT_BREAK;
    case CTRL('D'): return delete_or_leave(e);
    case CTRL('E'): e->at = line_end(e, e->at); break;
    case CTRL('F'): e->at = right_of(e, e->at); break;
    case CTRL('K'): cut(e, e->at, line_end(e, e->at)); break;
    case CTRL('L'): return EDIT_CLEAR;
    case CTRL('N'): go_down(e); break;
    case CTRL('P'): go_up(e); break;
    case CTRL('R'): search_begin(e); break;
    case CTRL('U'): cut(e, line_begin(e, e->at), e->at); break;
    case CTRL('W'): cut(e, word_left(e), e->at); break;
    case CTRL('Y'): editor_insert(e, buf_view(&e->cut)); break;
    case CTRL('H'):
    case DEL: erase(e, left_of(e, e->at), e->at); break;
    default: break; /* it means nothing here */
    }
    return EDIT_NONE;
}

/* What follows ESC [ or ESC O, without parameters that say nothing. */
static const struct sequence {
    const char *keys;
    enum {
        KEY_UP,
        KEY_DOWN,
        KEY_RIGHT,
        KEY_LEFT,
        KEY_HOME,
        KEY_END,
        KEY_DELETE,
        KEY_WORD_RIGHT,
        KEY_WORD_LEFT,
        KEY_LINE, /* Shift-Enter, Alt-Enter */
        KEY_PASTE,
        KEY_PASTED,
    } key;
} sequences[] = {
    {"A", KEY_UP},
    {"B", KEY_DOWN},
    {"C", KEY_RIGHT},
    {"D", KEY_LEFT},
    {"H", KEY_HOME},
    {"F", KEY_END},
    {"1~", KEY_HOME},
    {"7~", KEY_HOME},
    {"4~", KEY_END},
    {"8~", KEY_END},
    {"3~", KEY_DELETE},
    {"1;5C", KEY_WORD_RIGHT},
    {"1;3C", KEY_WORD_RIGHT},
    {"1;5D", KEY_WORD_LEFT},
    {"1;3D", KEY_WORD_LEFT},
    {"13;2u", KEY_LINE},
    {"13;3u", KEY_LINE},
    {"27;2;13~", KEY_LINE},
    {"27;3;13~", KEY_LINE},
    {"200~", KEY_PASTE},
    {"201~", KEY_PASTED},
};

static void do_key(struct editor *e, int key)
{
    switch (key) {
    case KEY_UP: go_up(e); break;
    case KEY_DOWN: go_down(e); break;
    case KEY_RIGHT: e->at = right_of(e, e->at); break;
    case KEY_LEFT: e->at = left_of(e, e->at); break;
    case KEY_HOME: e->at = line_begin(e, e->at); break;
    case KEY_END: e->at = line_end(e, e->at); break;
    case KEY_DELETE: erase(e, e->at, right_of(e, e->at)); break;
    case KEY_WORD_RIGHT: e->at = word_right(e); break;
    case KEY_WORD_LEFT: e->at = word_left(e); break;
    case KEY_LINE: new_line(e); break;
    case KEY_PASTE: e->pasting = true; break;
    case KEY_PASTED: e->pasting = false; break;
    default: break;
    }
}

static bool is_final(char c)
{
    return c >= 0x40 && c <= 0x7e;
}

static void sequence(struct editor *e)
{
    wend_str keys = {e->keys + 2, e->keys_len - 2};

    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        if (str_is(keys, sequences[i].keys)) {
            do_key(e, sequences[i].key);
            return;
        }
}

/* Alt and a key. */
static void alt(struct editor *e, char key)
{
    if (key == '\r' || key == '\n')
        new_line(e);
    else if (key == 'b')
        e->at = word_left(e);
    else if (key == 'f')
        e->at = word_right(e);
    else if (key == 'd')
        cut(e, e->at, word_right(e));
    else if (key == DEL)
        cut(e, word_left(e), e->at);
}

/* One more byte after an Esc. */
static enum typed escaped(struct editor *e, char c)
{
    bool is_long = e->keys_len > 1 || c == '[' || c == 'O';

    if (c == CTRL('C') && !e->pasting) {
        e->keys_len = 0; /* of a sequence that never ends */
        return EDIT_BREAK;
    }
    if (e->keys_len == 1 && c == ESC)
        return e->pasting ? EDIT_NONE : EDIT_STOP; /* the second one waits */
    if (e->keys_len < sizeof e->keys)
        e->keys[e->keys_len++] = c;
    if (is_long && (e->keys_len == 2 || !is_final(c)) &&
        e->keys_len < sizeof e->keys)
        return EDIT_NONE;
    if (is_long)
        sequence(e);
    else if (!e->pasting)
        alt(e, c);
    e->keys_len = 0;
    return EDIT_NONE;
}

static void paste(struct editor *e, char c)
{
    if (c == '\r')
        new_line(e);
    else if ((unsigned char)c >= ' ' || c == '\n' || c == '\t')
        editor_insert(e, (wend_str){&c, 1});
}

static enum typed take(struct editor *e, char c)
{
    if (e->keys_len)
        return escaped(e, c);
    if (e->searching && !e->pasting && search_take(e, c))
        return EDIT_NONE;
    if (c == ESC) {
        e->keys[e->keys_len++] = c;
        return EDIT_NONE;
    }
    if (e->pasting) {
        paste(e, c);
        return EDIT_NONE;
    }
    if ((unsigned char)c < ' ' || c == DEL)
        return control(e, c);
    editor_insert(e, (wend_str){&c, 1});
    return EDIT_NONE;
}

enum typed editor_take(struct editor *e, wend_str *keys)
{
    enum typed done = EDIT_NONE;

    while (keys->len && done == EDIT_NONE) {
        done = take(e, keys->ptr[0]);
        *keys = str_skip(*keys, 1);
    }
    return done;
}

void editor_unpaste(struct editor *e)
{
    e->pasting = false;
    e->keys_len = 0;
}

bool editor_waits(const struct editor *e)
{
    return e->keys_len > 0;
}

enum typed editor_idle(struct editor *e)
{
    bool alone = e->keys_len == 1;

    e->keys_len = 0;
    return alone && !e->pasting ? EDIT_STOP : EDIT_NONE;
}

/* ---- Rows ---------------------------------------------------------------- */

/* Where the next character goes. */
struct laying {
    struct buf *out;
    size_t width;
    size_t row, column;
    size_t first, last; /* rows that are wanted */
};

static void next_row(struct laying *l)
{
    if (l->out && l->row >= l->first && l->row <= l->last)
        buf_char(l->out, '\n');
    l->row++;
    l->column = MARK_COLUMNS;
    if (l->out && l->row >= l->first && l->row <= l->last)
        buf_cstr(l->out, "  ");
}

static void put_char(struct laying *l, wend_str c)
{
    bool tab = c.ptr[0] == '\t';
    bool valid = utf8_valid_len(c) == c.len;
    size_t columns = tab ? TAB_COLUMNS : valid ? term_columns(c) : 1;

    if (l->column + columns >= l->width)
        next_row(l);
    l->column += columns;
    if (!l->out || l->row < l->first || l->row > l->last)
        return;
    if (tab)
        buf_cstr(l->out, "    ");
    else
        term_text(l->out, c);
}

/* The row and the column of the cursor, on the way. */
static void lay(const struct editor *e, struct laying *l, size_t *row,
                size_t *column)
{
    size_t at = 0, len;

    if (l->out && !l->first)
        buf_cstr(l->out, "> ");
    else if (l->out && l->first)
        l->column = MARK_COLUMNS;
    l->column = MARK_COLUMNS;
    for (;; at += len) {
        if (at == e->at) {
            *row = l->row;
            *column = l->column;
        }
        if (at >= e->text.len)
            return;
        if (char_at(e, at, &len) == '\n')
            next_row(l);
        else
            put_char(l, (wend_str){e->text.ptr + at, len});
    }
}

struct edit_cursor editor_put(const struct editor *e, struct buf *out,
                              size_t width, size_t rows)
{
    struct laying count = {.width = width, .last = SIZE_MAX}, l = count;
    struct edit_cursor cursor;
    size_t row = 0, last;

    lay(e, &count, &row, &cursor.column);
    last = count.row;
    l.out = out;
    if (last >= rows && row >= rows)
        l.first = row - rows + 1;
    l.last = l.first + rows - 1 < last ? l.first + rows - 1 : last;
    lay(e, &l, &row, &cursor.column);
    if (out->len && out->ptr[out->len - 1] != '\n')
        buf_char(out, '\n');
    cursor.up = l.last - row;
    return cursor;
}

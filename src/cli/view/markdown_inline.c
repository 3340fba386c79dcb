/*
 * markdown_inline.c - marks inside a line of Markdown: emphasis, code, escapes.
 *
 * The rules are those of CommonMark, but stricter where a mark may be an
 * operator, a pattern for files or a name: 5*4, *.c, __init__.
 */
#include "cli/view/markdown_inline.h"

#include <string.h>

#include "base/ascii.h"

/* A mark that ends further behind is text: what is held stays small. */
enum { SPAN_MAX = 1000 };

enum found { NO_END, END, UNDECIDED };

struct line {
    struct buf *out;
    wend_str text;
    char before;
    unsigned styles;
};

/* Up to where to look. If more of the line may follow, it is not `whole`. */
struct reach {
    size_t to;
    bool whole;
};

void inline_style(struct buf *out, unsigned styles)
{
    static const struct {
        unsigned style;
        const char *text;
    } rows[] = {{INLINE_BOLD, "\033[1m"},
                {INLINE_ITALIC, "\033[3m"},
                {INLINE_DIM, "\033[2m"},
                {INLINE_CODE, "\033[36m"}};

    if (styles & INLINE_BARE)
        return;
    buf_cstr(out, "\033[0m");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (styles & rows[i].style)
            buf_cstr(out, rows[i].text);
}

/* ---- Marks --------------------------------------------------------------- */

static bool is_among(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Letters outside ASCII are not told from signs: scripts without spaces have
 * emphasis inside words, but never with an underscore. */
static bool in_word(char c, char mark)
{
    return is_letter(c) || is_digit(c) ||
           (mark == '_' && (unsigned char)c >= 0x80);
}

/* Not all of CommonMark: \( and \[ are formulas. */
static bool is_escaped(char c)
{
    return is_among(c, "\\`*_~#+-.!|<>");
}

static char char_at(const struct line *l, size_t i)
{
    return i < l->text.len ? l->text.ptr[i] : '\n';
}

static char char_before(const struct line *l, size_t i)
{
    return i ? l->text.ptr[i - 1] : l->before;
}

static size_t run_at(const struct line *l, size_t i)
{
    size_t n = 1;

    while (i + n < l->text.len && l->text.ptr[i + n] == l->text.ptr[i])
        n++;
    return n;
}

/* The run of n marks at i may begin emphasis. */
static bool opens(const struct line *l, size_t i, size_t n)
{
    char mark = l->text.ptr[i], before = char_before(l, i),
         next = char_at(l, i + n);

    if (is_space(next) || is_among(next, ")]},;:!?/>"))
        return false;
    if (in_word(before, mark) || is_among(before, ")]}."))
        return false;
    return n > 1 || (next != '.' && before != '/');
}

static bool closes(const struct line *l, size_t i, size_t n)
{
    char mark = l->text.ptr[i], before = char_before(l, i),
         next = char_at(l, i + n);

    if (is_space(before) || is_among(before, "([{/"))
        return false;
    return !in_word(next, mark) && (n > 1 || next != '/');
}

/* ---- Where a mark ends --------------------------------------------------- */

static enum found code_end(const struct line *l, size_t i, struct reach r,
                           size_t *end)
{
    size_t n = run_at(l, i), m;

    for (size_t p = i + n; p < r.to && p - i < SPAN_MAX; p += m) {
        m = 1;
        if (l->text.ptr[p] != '`')
            continue;
        m = run_at(l, p);
        if (p + m == l->text.len && !r.whole)
            return UNDECIDED;
        *end = p;
        if (m == n)
            return END;
    }
    return r.whole || r.to - i >= SPAN_MAX ? NO_END : UNDECIDED;
}

/* __init__ is a name. */
static bool is_name(const struct line *l, size_t i, size_t n, size_t end)
{
    return l->text.ptr[i] == '_' && n == 2 &&
           !memchr(l->text.ptr + i, ' ', end - i);
}

/* The length of what can be no mark of emphasis; 0: it is undecided. */
static size_t step_over(const struct line *l, size_t p, struct reach r)
{
    char c = l->text.ptr[p];
    size_t end, n;

    if (c == '\\') {
        if (p + 1 == l->text.len && !r.whole)
            return 0;
        return p + 1 < r.to && is_escaped(l->text.ptr[p + 1]) ? 2 : 1;
    }
    if (c != '`')
        return 1;
    n = run_at(l, p);
    if (p + n == l->text.len && !r.whole)
        return 0;
    switch (code_end(l, p, r, &end)) {
    case END: return end + n - p;
    case UNDECIDED: return 0;
    case NO_END: break;
    }
    return n;
}

static enum found emphasis_end(const struct line *l, size_t i, struct reach r,
                               size_t *end)
{
    size_t n = run_at(l, i), depth = 1, m;

    if (n > 3 || !opens(l, i, n))
        return NO_END;
    for (size_t p = i + n; p < r.to && p - i < SPAN_MAX; p += m) {
        if (l->text.ptr[p] != l->text.ptr[i]) {
            m = step_over(l, p, r);
            if (!m)
                return UNDECIDED;
            continue;
        }
        m = run_at(l, p);
        if (p + m == l->text.len && !r.whole)
            return UNDECIDED;
        *end = p;
        if (m == n && closes(l, p, n) && !--depth)
            return is_name(l, i, n, p) ? NO_END : END;
        if (m == n && !closes(l, p, n) && opens(l, p, n))
            depth++;
    }
    return r.whole || r.to - i >= SPAN_MAX ? NO_END : UNDECIDED;
}

/* ---- Text ---------------------------------------------------------------- */

static size_t put_range(struct line *l, size_t i, struct reach r);

/* A mark at i that ends at `end`, and what is between. */
static void put_span(struct line *l, size_t i, size_t end)
{
    static const unsigned emphasis[] = {0, INLINE_ITALIC, INLINE_BOLD,
                                        INLINE_BOLD | INLINE_ITALIC};
    bool code = l->text.ptr[i] == '`';
    size_t n = run_at(l, i);
    unsigned around = l->styles;

    l->styles |= code ? INLINE_CODE : emphasis[n];
    if (l->styles != around)
        inline_style(l->out, l->styles);
    if (code)
        buf_add(l->out, l->text.ptr + i + n, end - i - n);
    else
        put_range(l, i + n, (struct reach){end, true});
    if (l->styles != around)
        inline_style(l->out, around);
    l->styles = around;
}

/* The length of what is written at i; 0: it is undecided. */
static size_t put_at(struct line *l, size_t i, struct reach r)
{
    char c = l->text.ptr[i];
    size_t n = 1, end;
    enum found found;

    if (c == '\\') {
        n = step_over(l, i, r);
        if (n)
            buf_char(l->out, l->text.ptr[i + n - 1]);
        return n;
    }
    if (is_among(c, "*_`")) {
        n = run_at(l, i);
        if (i + n == l->text.len && !r.whole)
            return 0;
        found =
            c == '`' ? code_end(l, i, r, &end) : emphasis_end(l, i, r, &end);
        if (found == UNDECIDED)
            return 0;
        if (found == END) {
            put_span(l, i, end);
            return end + n - i;
        }
    }
    buf_add(l->out, l->text.ptr + i, n);
    return n;
}

static size_t put_range(struct line *l, size_t i, struct reach r)
{
    size_t n;

    for (; i < r.to; i += n) {
        n = put_at(l, i, r);
        if (!n)
            break;
    }
    return i;
}

size_t inline_put(struct buf *out, wend_str text, char before, unsigned styles,
                  bool whole)
{
    struct line l = {out, text, before, styles};

    return put_range(&l, 0, (struct reach){text.len, whole});
}

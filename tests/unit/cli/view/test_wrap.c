/*
 * test_wrap.c - text that streams is wrapped between words: whatever pieces it
 * comes in, the rows are the same.
 */
#include "cli/view/wrap.h"

#include <locale.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/term.h"
#include "tap.h"

enum { WIDTH = 13 }; /* rows of 12 columns */

static const struct mem plain;

static const struct {
    const char *name, *text, *rows;
} rows[] = {
    {"it fits", "one two\nthree", "one two\nthree"},
    {"a full row", "one two four", "one two four"},
    {"one column more", "one two three", "one two\nthree"},
    {"a space at the end of a row", "one two four five", "one two four\nfive"},
    {"spaces at the end of a row", "one two four    \nx", "one two four\nx"},
    {"several rows", "one two three four five", "one two\nthree four\nfive"},
    {"a word that is wider than a row", "a verylongword12345 b",
     "a\nverylongword\n12345 b"},
    {"it begins the text", "verylongword12345 b", "verylongword\n12345 b"},
    {"a bullet", "\u2022 one two three four", "\u2022 one two\n  three four"},
    {"an ASCII bullet", "* one two three", "* one two\n  three"},
    {"a bullet inside another", "  \u2022 one two three",
     "  \u2022 one two\n    three"},
    {"a number", "10. one two three", "10. one two\n    three"},
    {"not a number", "10 one two three", "10 one two\nthree"},
    {"a quote", "\u2502 one two three", "\u2502 one two\n\u2502 three"},
    {"an indent", "    one two three", "    one two\n    three"},
    {"an indent that leaves no room", "        one two three",
     "        one\ntwo three"},
    {"the next line has its own", "* one two three\nfour five six",
     "* one two\n  three\nfour five\nsix"},
    {"wide characters break anywhere",
     "\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16",
     "\u4e16\u754c\u4e16\u754c\u4e16\u754c\n\u4e16"},
    {"half a wide character does not fit",
     "a\u4e16\u754c\u4e16\u754c\u4e16\u754c",
     "a\u4e16\u754c\u4e16\u754c\u4e16\n\u754c"},
    {"no stop at the begin of a row",
     "\u4e16\u754c\u4e16\u754c\u4e16\u754c\u3002",
     "\u4e16\u754c\u4e16\u754c\u4e16\n\u754c\u3002"},
    {"marks have no width", "one two fe\u0301\u0301ur",
     "one two fe\u0301\u0301ur"},
    {"a mark stays with its letter", "one two foure\u0301",
     "one two\nfoure\u0301"},
    {"a tab", "a\tbcdefgh", "a\nbcdefgh"},
};

/* ---- A terminal ---------------------------------------------------------- */

static void back(struct buf *screen, size_t columns)
{
    while (columns && screen->len) {
        size_t from = screen->len - 1;
        wend_str last;

        while (((unsigned char)screen->ptr[from] & 0xC0) == 0x80)
            from--;
        last = (wend_str){screen->ptr + from, screen->len - from};
        columns -= term_columns(last);
        screen->len = from;
    }
}

/* Rows that a terminal shows; `styled`: with the style of each character. */
static void show(wend_str text, struct buf *screen, bool styled)
{
    char style = '.';

    for (size_t len; text.len; text = str_skip(text, len)) {
        utf8_first(text, &len);
        if (text.ptr[0] == 033) {
            size_t columns = 0;

            while (text.ptr[len] < '@' || text.ptr[len] == '[') {
                if (text.ptr[len] >= '0' && text.ptr[len] <= '9')
                    columns = columns * 10 + (size_t)(text.ptr[len] - '0');
                len++;
            }
            if (text.ptr[len] == 'D')
                back(screen, styled ? 2 * columns : columns);
            else if (text.ptr[len] == 'm')
                style = columns ? (char)('0' + columns) : '.';
            len++;
            continue;
        }
        if (styled && text.ptr[0] != '\n')
            buf_char(screen, style);
        while (!styled && text.ptr[0] == '\n' && screen->len &&
               (screen->ptr[screen->len - 1] == ' ' ||
                screen->ptr[screen->len - 1] == '\t'))
            screen->len--;
        buf_add(screen, text.ptr, len);
    }
}

static void wrap(wend_str text, size_t piece, struct buf *out)
{
    struct wrap w = {.word.mem = &plain};
    size_t len;

    wrap_begin(&w, WIDTH);
    for (; text.len; text = str_skip(text, len)) {
        len = piece < text.len ? piece : text.len;
        while (len < text.len &&
               (((unsigned char)text.ptr[len] & 0xC0) == 0x80))
            len++;
        while (len < text.len && text.ptr[len - 1] != 'm' &&
               memchr(text.ptr, 033, len))
            len++; /* sequences come whole */
        wrap_text(&w, out, (wend_str){text.ptr, len});
    }
    buf_free(&w.word);
}

static void check(const char *name, const char *text, const char *wanted,
                  bool styled)
{
    for (size_t piece = 1; piece < 100; piece = piece * 2 + 1) {
        struct buf out = {.mem = &plain}, screen = {.mem = &plain};

        wrap(str_of(text), piece, &out);
        show(buf_view(&out), &screen, styled);
        if (!tap_is_str(buf_view(&screen), wanted, "%s by %zu", name, piece))
            piece = 1000;
        buf_free(&out);
        buf_free(&screen);
    }
}

/* ---- Styles ---------------------------------------------------------------
 */

#define B "\033[0m\033[1m"
#define Z "\033[0m"

static void test_styles(void)
{
    check("a styled word moves", "ab " B "cd" Z " efghijk",
          ".a.b. 1c1d. \n.e.f.g.h.i.j.k", true);
    check("a style inside a word", "abcdefgh i" B "jkl" Z "m n",
          ".a.b.c.d.e.f.g.h. \n.i1j1k1l.m. .n", true);
    check("a style over several rows", B "abcdefgh ijklm nop" Z " q",
          "1a1b1c1d1e1f1g1h1 \n1i1j1k1l1m1 1n1o1p. .q", true);
    check("a quote and a style", "\033[2m\u2502 " Z "a " B "bcdef ghijk" Z "l",
          "2\u25022 .a. 1b1c1d1e1f1 \n2\u25022 1g1h1i1j1k.l", true);
}

/* ---- Nothing is lost -------------------------------------------------------
 */

static unsigned state = 1;

static unsigned draw(unsigned below)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % below;
}

static bool same_words(wend_str a, wend_str b)
{
    size_t i = 0, k = 0;

    for (;; i++, k++) {
        while (i < a.len && (a.ptr[i] == ' ' || a.ptr[i] == '\n'))
            i++;
        while (k < b.len && (b.ptr[k] == ' ' || b.ptr[k] == '\n'))
            k++;
        if (i >= a.len || k >= b.len)
            return i >= a.len && k >= b.len;
        if (a.ptr[i] != b.ptr[k])
            return false;
    }
}

static bool rows_fit(wend_str text)
{
    wend_str line;

    while (text.len && str_line(&text, &line))
        if (term_columns(line) >= WIDTH)
            return false;
    return true;
}

static void test_loses_nothing(void)
{
    bool words = true, fit = true, pieces = true;
    char text[120];

    for (int i = 0; i < 5000 && words && fit && pieces; i++) {
        struct buf out = {.mem = &plain}, screen = {.mem = &plain};
        size_t len = 1 + draw(sizeof text - 1);

        for (size_t k = 0; k < len; k++)
            text[k] = "abcdefghijkl    \n"[draw(17)];
        wrap((wend_str){text, len}, len, &out);
        show(buf_view(&out), &screen, false);
        words = same_words((wend_str){text, len}, buf_view(&screen));
        fit = rows_fit(buf_view(&screen));
        for (size_t piece = 1; piece < 8; piece += 2) {
            struct buf out2 = {.mem = &plain}, screen2 = {.mem = &plain};

            wrap((wend_str){text, len}, piece, &out2);
            show(buf_view(&out2), &screen2, false);
            pieces &= str_eq(buf_view(&screen), buf_view(&screen2));
            buf_free(&out2);
            buf_free(&screen2);
        }
        buf_free(&out);
        buf_free(&screen);
    }
    tap_ok(words, "no character is lost");
    tap_ok(fit, "rows are narrower than the terminal");
    tap_ok(pieces, "the same in pieces of any size");
}

/* Another line was written between two pieces. */
static void test_moved(void)
{
    struct wrap w = {.word.mem = &plain};
    struct buf out = {.mem = &plain};

    wrap_begin(&w, WIDTH);
    wrap_text(&w, &out, STR("one two fo"));
    buf_cstr(&out, "\n");
    wrap_moved(&w, 0);
    wrap_text(&w, &out, STR("urteen"));
    tap_is_str(buf_view(&out), "one two fo\nurteen",
               "what moved is not taken back");
    buf_free(&out);
    buf_free(&w.word);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    for (size_t i = 0; i < tap_count(rows); i++)
        check(rows[i].name, rows[i].text, rows[i].rows, false);
    test_styles();
    test_loses_nothing();
    test_moved();
    return tap_done();
}

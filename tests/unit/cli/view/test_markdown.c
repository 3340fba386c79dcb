/*
 * test_markdown.c - Markdown for a terminal: whatever pieces it comes in, the
 * rows are the same.
 */
#include "cli/view/markdown.h"

#include <locale.h>

#include "base/mem.h"
#include "tap.h"

static const struct mem plain;

#define B "\033[0m\033[1m"
#define I "\033[0m\033[3m"
#define C "\033[0m\033[36m"
#define D "\033[2m"
#define Z "\033[0m"

static const struct {
    const char *name, *text, *rows;
} rows[] = {
    {"plain text", "One.\nTwo.\n", "One.\nTwo.\n"},
    {"without a line end", "One", "One"},
    {"a heading", "# Title\ntext\n", B "Title" Z "\ntext\n"},
    {"no heading", "#hash\n####### x\n", "#hash\n####### x\n"},
    {"bold", "a **b** c\n", "a " B "b" Z " c\n"},
    {"italic", "a *b* c _d_\n", "a " I "b" Z " c " I "d" Z "\n"},
    {"code", "a `b*c*` d\n", "a " C "b*c*" Z " d\n"},
    {"stars that are none", "2 * 3 ** 4, a*b and snake_case_name\n",
     "2 * 3 ** 4, a*b and snake_case_name\n"},
    {"bullets", "- one\n  * two\n+ three\n",
     "\u2022 one\n  \u2022 two\n\u2022 three\n"},
    {"bold at the begin of a line", "**b** x\n", B "b" Z " x\n"},
    {"numbers", "1. one\n2. two\n", "1. one\n2. two\n"},
    {"a quote", "> said\n", D "\u2502 " Z Z D "said" Z "\n"},
    {"a block of code", "```c\nint **x;\n# no heading\n```\nafter\n",
     D "\u250c\u2500 " Z "c\n" D "\u2502 " Z "int **x;\n" D "\u2502 " Z
       "# no heading\n" D "\u2514\u2500" Z "\nafter\n"},
    {"code that is not closed", "~~~\nx",
     D "\u250c\u2500 " Z "\n" D "\u2502 " Z "x\n" D "\u2514\u2500" Z "\n"},
    {"closed without a line end", "```\nx\n```",
     D "\u250c\u2500 " Z "\n" D "\u2502 " Z "x\n" D "\u2514\u2500" Z "\n"},
    {"a fence inside a longer one", "````\n```\n````\n",
     D "\u250c\u2500 " Z "\n" D "\u2502 " Z "```\n" D "\u2514\u2500" Z "\n"},
    {"a long line of code",
     "```\n0123456789012345678901234567890123456789\n```\n",
     D "\u250c\u2500 " Z "\n" D "\u2502 " Z
       "01234567890123456789012345678901234567\n" D "\u2502 " Z "89\n" D
       "\u2514\u2500" Z "\n"},
    {"a table", "| a | b |\n|---|:-:|\n| **x** | yy |\nend\n",
     "\033[1ma\033[0m \u2502 \033[1mb\033[0m\n\u2500\u2500\u253c\u2500\u2500"
     "\u2500\nx \u2502 yy\nend\n"},
    {"columns that are right, centered and left",
     "|n|name|x|\n|-:|:-:|:--|\n|1234|a|b|\n|5||c|\n",
     "   \033[1mn\033[0m \u2502 \033[1mname\033[0m \u2502 \033[1mx\033[0m\n"
     "\u2500\u2500\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u2500\u2500"
     "\u2500\u253c\u2500\u2500\n"
     "1234 \u2502  a   \u2502 b\n   5 \u2502      \u2502 c\n"},
    {"a table that is too wide",
     "|name|what it is|\n|-|-|\n|x|a text that is longer than any row|\n",
     "\u2022 name: x\n  what it is: a text that is longer than any row\n"},
    {"a table at the end", "|a|\n|-|\n|b|", "\033[1ma\033[0m\n\u2500\nb\n"},
    {"not closed", "a **b\n\nc\n", "a **b\n\nc\n"},
    {"not closed in its line", "a *b\nc* `d\n", "a *b\nc* `d\n"},
    {"escapes", "\\*x\\* \\_y\\_ \\`z\\` \\(f\\) \\", "*x* _y_ `z` \\(f\\) \\"},
    {"an escape inside", "*a\\*b* `\\*`\n", I "a*b" Z " " C "\\*" Z "\n"},
    {"arguments", "f(*args, **kwargs)\n", "f(*args, **kwargs)\n"},
    {"products", "5*4 and 3*2\n2**3 or 4**5\n", "5*4 and 3*2\n2**3 or 4**5\n"},
    {"after a word", "p** = q**\n", "p** = q**\n"},
    {"patterns", "**/*.c or src/**/*.h\n*.c, (*.h)\n.*x.* y\n",
     "**/*.c or src/**/*.h\n*.c, (*.h)\n.*x.* y\n"},
    {"pointers", "(*p)->x = (*q) /*c*/\n", "(*p)->x = (*q) /*c*/\n"},
    {"a lone backtick", "a ` b\n", "a ` b\n"},
    {"other marks", "~~x~~ ****y****\n", "~~x~~ ****y****\n"},
    {"three", "***x***\n",
     Z "\033[1m\033[3m"
       "x" Z "\n"},
    {"names", "__init__ and __two words__\n",
     "__init__ and " B "two words" Z "\n"},
    {"one inside the other", "**a *b* c** *d *e* f\n",
     B "a " Z "\033[1m\033[3m"
       "b" B " c" Z " *d " I "e" Z " f\n"},
    {"next to signs", "(**a**), \"*b*\". **c:** **`d`**\n",
     "(" B "a" Z "), \"" I "b" Z "\". " B "c:" Z " " B Z "\033[1m\033[36m"
     "d" B Z "\n"},
    {"without spaces", "\u4e16**\u754c**\u4e16\n",
     "\u4e16" B "\u754c" Z "\u4e16\n"},
    {"code with backticks", "``a`b``\n```x```\n", C "a`b" Z "\n" C "x" Z "\n"},
    {"cells", "|a|b|\n|-|-|\n|2**3|`x\\|y`|\n|\\*|a*b|\n",
     "\033[1ma\033[0m    \u2502 \033[1mb\033[0m\n\u2500\u2500\u2500\u2500"
     "\u2500\u253c\u2500\u2500\u2500\u2500\n2**3 \u2502 x|y\n"
     "*    \u2502 a*b\n"},
    {"bars that are no table",
     "|x| is a number that is long enough for two lines\n",
     "|x| is a number that is long enough for two lines\n"},
    {"a bar in the text", "a | b\n", "a | b\n"},
    {"wide characters", "\u4e16 **\u754c**\n", "\u4e16 " B "\u754c" Z "\n"},
};

static void render(const char *text, size_t piece, bool styled, struct buf *out)
{
    struct markdown m = {
        .styled = styled, .width = 40, .held.mem = &plain, .rows.mem = &plain};
    wend_str rest = {text, strlen(text)};

    while (rest.len) {
        size_t len = piece < rest.len ? piece : rest.len;

        while (len < rest.len && ((unsigned char)rest.ptr[len] & 0xC0) == 0x80)
            len++;
        markdown_text(&m, out, (wend_str){rest.ptr, len});
        rest.ptr += len;
        rest.len -= len;
    }
    markdown_end(&m, out);
    markdown_free(&m);
}

/* ---- Nothing is lost -------------------------------------------------------
 */

static unsigned state = 1;

static unsigned draw(unsigned below)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % below;
}

/* Lines that begin with a letter are no blocks. */
static void make_text(char *text, size_t len, bool blocks)
{
    for (size_t i = 0; i < len; i++)
        text[i] = !blocks && (!i || text[i - 1] == '\n')
                      ? 'a'
                      : "**__``\\  ab.(/)\n"[draw(16)];
    text[len] = 0;
}

/* The bytes of `kept` in order, without escape sequences. */
static void keep(wend_str s, const char *kept, struct buf *out)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == 033)
            while (s.ptr[i] != 'm')
                i++;
        else if (s.ptr[i] && strchr(kept, s.ptr[i]))
            buf_char(out, s.ptr[i]);
}

static bool keeps(wend_str text, wend_str shown, const char *kept)
{
    struct buf a = {.mem = &plain}, b = {.mem = &plain};
    bool same;

    keep(text, kept, &a);
    keep(shown, kept, &b);
    same = str_eq(buf_view(&a), buf_view(&b));
    buf_free(&a);
    buf_free(&b);
    return same;
}

/* Left out are pairs of marks in a line that has styles, and backslashes. */
static bool pairs_only(wend_str text, wend_str shown)
{
    wend_str line, row;

    while (str_line(&text, &line)) {
        size_t removed = 0, escapes = 0, at = 0;
        struct buf bare = {.mem = &plain};

        if (!str_line(&shown, &row) && line.len)
            return false;
        keep(row, "*_`\\ ab.(/)", &bare);
        for (size_t i = 0; i < line.len; i++)
            at += at < bare.len && bare.ptr[at] == line.ptr[i];
        removed = bare.len - at;
        buf_free(&bare);
        if (removed)
            return false; /* in another order, or more than there was */
        for (const char *mark = "*_`"; *mark; mark++) {
            size_t less = str_count(line, *mark) - str_count(row, *mark);

            if (less % 2)
                return false;
            removed += less;
        }
        if ((removed > 0) != (str_count(row, 033) > 0))
            return false;
        for (size_t i = 0; i + 1 < line.len; i++)
            escapes += line.ptr[i] == '\\' && strchr("*_`\\.", line.ptr[i + 1]);
        if (str_count(line, '\\') - str_count(row, '\\') > escapes)
            return false;
    }
    return true;
}

static bool same_in_pieces(const char *text, wend_str shown)
{
    bool same = true;

    for (size_t piece = 1; piece < 20 && same; piece += 3) {
        struct buf out = {.mem = &plain};

        render(text, piece, true, &out);
        same = str_eq(buf_view(&out), shown);
        buf_free(&out);
    }
    return same;
}

static void test_loses_nothing(void)
{
    bool whole = true, pairs = true, pieces = true, raw = true;
    char text[80];

    for (int i = 0; i < 20000 && whole && pairs && pieces && raw; i++) {
        struct buf out = {.mem = &plain}, bare = {.mem = &plain};
        bool blocks = i % 2;

        make_text(text, 1 + draw(sizeof text - 1), blocks);
        render(text, sizeof text, true, &out);
        render(text, sizeof text, false, &bare);
        whole = keeps(str_of(text), buf_view(&out), "ab.(/)");
        pairs = blocks || pairs_only(str_of(text), buf_view(&out));
        pieces = same_in_pieces(text, buf_view(&out));
        raw = blocks || str_eq(str_of(text), buf_view(&bare));
        if (!whole || !pairs || !pieces || !raw)
            printf("# <<%s>> is shown as <<%s>>\n", text, out.ptr);
        buf_free(&out);
        buf_free(&bare);
    }
    tap_ok(whole, "text is never lost");
    tap_ok(pairs, "only pairs of marks are left out");
    tap_ok(pieces, "the same in pieces of any size");
    tap_ok(raw, "without styles a line is shown as it is");
}

/* A mark that ends far behind it is text, and does not hold the line. */
static void test_long_line(void)
{
    struct markdown m = {
        .styled = true, .width = 40, .held.mem = &plain, .rows.mem = &plain};
    struct buf out = {.mem = &plain};

    markdown_text(&m, &out, STR("a *b"));
    for (int i = 0; i < 1000; i++)
        markdown_text(&m, &out, STR(" word"));
    tap_ok(out.len > 4000 && m.held.len < 1100, "a long line is not held");
    markdown_text(&m, &out, STR("* c\n"));
    markdown_end(&m, &out);
    tap_ok(out.len == 5008, "and not lost");
    markdown_free(&m);
    buf_free(&out);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    for (size_t i = 0; i < tap_count(rows); i++)
        for (size_t piece = 1; piece < 200; piece = piece * 2 + 1) {
            struct buf out = {.mem = &plain};

            render(rows[i].text, piece, true, &out);
            if (!tap_is_str(buf_view(&out), rows[i].rows, "%s by %zu",
                            rows[i].name, piece))
                piece = 1000;
            buf_free(&out);
        }
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf out = {.mem = &plain};

        render(rows[i].text, 3, false, &out);
        tap_ok(!out.len || !memchr(out.ptr, 033, out.len),
               "%s: no escapes without styles", rows[i].name);
        buf_free(&out);
    }
    test_loses_nothing();
    test_long_line();
    return tap_done();
}

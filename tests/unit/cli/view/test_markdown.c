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
    {"a table that is too wide",
     "|name|what it is|\n|-|-|\n|x|a text that is longer than any row|\n",
     "\u2022 name: x\n  what it is: a text that is longer than any row\n"},
    {"a table at the end", "|a|\n|-|\n|b|", "\033[1ma\033[0m\n\u2500\nb\n"},
    {"not closed", "a **b\n\nc\n", "a " B "b\n" Z "\nc\n"},
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
    return tap_done();
}

/*
 * test_svg.c - pictures: text that cannot become markup, and coordinates.
 */
#include "base/svg.h"

#include "tap.h"

static const struct mem plain;

static const struct {
    const char *why, *given;
    size_t chars;
    const char *wanted;
} texts[] = {
    {"plain", "abc", 9, "abc"},
    {"markup", "<a b=\"c\">&", 99, "&lt;a b=&quot;c&quot;&gt;&amp;"},
    {"line ends and tabs stay", "a\n\tb", 9, "a\n\tb"},
    {"a control", "a\033[31m", 9, "a\ufffd[31m"},
    {"a change of direction", "a\u202eb", 9, "a\ufffdb"},
    {"what XML cannot say", "a\uffff", 9, "a\ufffd"},
    {"just fits", "abc", 3, "abc"},
    {"one too many", "abcd", 3, "abc\u2026"},
    {"an escape is one character", "<<<<", 3, "&lt;&lt;&lt;\u2026"},
};

static void check_texts(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf b = {.mem = &plain};
        wend_str given = str_of(texts[i].given);
        size_t all;

        xml_put_cut(&b, given, texts[i].chars);
        tap_is_str(buf_view(&b), texts[i].wanted, "%s", texts[i].why);
        buf_clear(&b);
        all = xml_put(&b, given);
        tap_ok(all == b.len && xml_put(NULL, given) == b.len,
               "%s: counted, also without writing", texts[i].why);
        buf_free(&b);
    }
}

static void check_shapes(void)
{
    struct buf b = {.mem = &plain};

    svg_rect(&b, "c", NULL, (struct svg_box){20, 10.25, 100, 0.5, 3});
    tap_is_str(buf_view(&b),
               "<rect class=\"c\" x=\"20\" y=\"10.2\" width=\"100\" "
               "height=\"0.5\" rx=\"3\">",
               "a box: one decimal, and none if it is 0");
    buf_clear(&b);
    svg_text(&b, NULL, -1, 100);
    tap_is_str(buf_view(&b), "<text x=\"-1\" y=\"100\">", "no class");
    buf_free(&b);
}

int main(void)
{
    check_texts();
    check_shapes();
    return tap_done();
}

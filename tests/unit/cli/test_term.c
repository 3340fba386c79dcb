/*
 * test_term.c - text that fits a terminal: cut, wrapped, in ASCII.
 */
#include "cli/term.h"

#include <locale.h>
#include <stdlib.h>

#include "fault.h"
#include "tap.h"

static const struct mem plain;

static const struct {
    const char *why, *name;
    size_t columns;
    const char *wanted;
} names[] = {
    {"it fits", "deploy", 6, "deploy"},
    {"one column too few", "deploy", 5, "de…oy"},
    {"alike at the beginning", "deploy-to-east", 9, "depl…east"},
    {"one column", "deploy", 1, "…"},
    {"two columns", "deploy", 2, "d…"},
    {"nothing", "", 3, ""},
    {"no column", "deploy", 0, "deploy"},
    {"wide characters count twice", "東京都庁舎", 10, "東京都庁舎"},
    {"a wide one that does not fit after the cut", "東京都庁舎", 6, "東…舎"},
    {"a mark stays with its letter", "ae\u0301bcde\u0301", 4,
     "ae\u0301…e\u0301"},
    {"line ends become spaces", "a\nb", 9, "a b"},
    {"escapes are shown", "a\033[1m", 9, "a␛[1m"},
};

static void test_names(void)
{
    for (size_t i = 0; i < tap_count(names); i++) {
        struct buf b = {.mem = &plain};

        term_name(&b, str_of(names[i].name), names[i].columns);
        tap_is_str(buf_view(&b), names[i].wanted, "name: %s", names[i].why);
        buf_free(&b);
    }
}

static const struct {
    const char *why, *text;
    size_t column, indent, width;
    const char *wanted;
} words[] = {
    {"it fits", "one two", 0, 2, 20, "one two"},
    {"a row is narrower than the terminal", "one two", 0, 2, 7, "one\n  two"},
    {"one column more", "one two", 0, 2, 8, "one two"},
    {"it begins behind other text", "one two", 5, 2, 10, "one\n  two"},
    {"later rows begin at the indent", "one two three", 0, 4, 9,
     "one two\n    three"},
    {"a word that is wider than a row stays whole", "a verylongword b", 0, 1, 6,
     "a\n verylongword\n b"},
    {"the first word is never moved", "verylongword", 3, 1, 6, "verylongword"},
    {"line ends are spaces", "one\ntwo", 0, 0, 20, "one two"},
    {"two spaces", "one  two", 0, 0, 20, "one  two"},
    {"nothing", "", 4, 2, 10, ""},
    {"width 0 does not wrap, and keeps lines", "one two\nthree", 0, 2, 0,
     "one two\nthree"},
    {"wide characters count twice", "東京 東京", 0, 0, 9, "東京\n東京"},
    {"escapes are shown", "a \033[1m", 0, 0, 20, "a ␛[1m"},
};

static void test_words(void)
{
    for (size_t i = 0; i < tap_count(words); i++) {
        struct buf b = {.mem = &plain};

        term_words(&b, str_of(words[i].text), words[i].column, words[i].indent,
                   words[i].width);
        tap_is_str(buf_view(&b), words[i].wanted, "words: %s", words[i].why);
        buf_free(&b);
    }
}

/* 20 columns. */
static const struct {
    const char *why, *text, *wanted;
} fits[] = {
    {"what fits stays", "12345678901234567890\n\n  a  b\n",
     "12345678901234567890\n\n  a  b\n"},
    {"a text hangs", "one two three four five", "one two three four\n  five\n"},
    {"a text hangs below its indent", " one two three four five",
     " one two three four\n   five\n"},
    {"a column stays a column", "  one  two three four five",
     "  one  two three\n       four five\n"},
    {"a column too far to the right goes below",
     "  --option-name  one two three",
     "  --option-name\n          one two\n          three\n"},
    {"a wide word stays whole", "one 12345678901234567890123",
     "one\n  12345678901234567890123\n"},
    {"colours stay", "\033[1mone two three four five\033[0m",
     "\033[1mone two three four\n  five\033[0m\n"},
    {"nothing", "", ""},
};

static void test_fit(void)
{
    for (size_t i = 0; i < tap_count(fits); i++) {
        struct buf b = {.mem = &plain};

        term_fit(&b, str_of(fits[i].text), 20);
        tap_is_str(buf_view(&b), fits[i].wanted, "fit: %s", fits[i].why);
        buf_free(&b);
    }
}

static const struct {
    const char *why, *text, *wanted;
} lines[] = {
    {"one line", "one", "one"},
    {"line ends at the end", "one\n\r\n", "one"},
    {"further lines are indented", "one\ntwo\n three\n",
     "one\n  two\n   three"},
    {"an empty line", "one\n\ntwo", "one\n\n  two"},
    {"escapes are shown", "one\n\033[1m", "one\n  ␛[1m"},
    {"nothing", "", ""},
};

static void test_lines(void)
{
    for (size_t i = 0; i < tap_count(lines); i++) {
        struct buf b = {.mem = &plain};

        term_lines(&b, str_of(lines[i].text), 2);
        tap_is_str(buf_view(&b), lines[i].wanted, "lines: %s", lines[i].why);
        buf_free(&b);
    }
}

static const struct {
    const char *why, *text;
    size_t width, rows;
    const char *wanted;
    size_t more;
} rows[] = {
    {"a line", "one", 10, 9, "one\n", 0},
    {"a row is narrower than the terminal", "12345", 5, 9, "1234\n5\n", 0},
    {"an empty line is a row", "a\n\nb", 5, 9, "a\n\nb\n", 0},
    {"rows that are left out are counted", "a\nb\nc", 5, 1, "a\n", 2},
    {"nothing", "", 5, 9, "", 0},
    {"a tab is a space", "a\tb", 5, 9, "a b\n", 0},
};

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &plain};
        size_t more =
            term_rows(&b, str_of(rows[i].text), rows[i].width, rows[i].rows);

        tap_is_str(buf_view(&b), rows[i].wanted, "rows: %s", rows[i].why);
        tap_is_i64((int64_t)more, (int64_t)rows[i].more, "rows left out: %s",
                   rows[i].why);
        buf_free(&b);
    }
}

/* What wend adds to a text is ASCII where the locale is; the text itself is
 * passed on. */
static void test_ascii(void)
{
    struct buf b = {.mem = &plain};

    setenv("LC_ALL", "C", 1);
    term_text(&b, STR("a\033\xff\u202e\u00e9"));
    tap_is_str(buf_view(&b), "a???\u00e9", "C: text");
    buf_clear(&b);
    term_line(&b, STR("123\0334567"), 5);
    tap_is_str(buf_view(&b), "123?~", "C: a line");
    buf_clear(&b);
    term_name(&b, STR("123\0334567"), 5);
    tap_is_str(buf_view(&b), "12~67", "C: a name");
    buf_free(&b);
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void test_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        term_name(&b, STR("deploy-to-production"), 9);
        term_words(&b, STR("one two three"), 0, 2, 7);
        bad += b.failed != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "a failed allocation is told and leaks nothing");
}

int main(void)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    setlocale(LC_CTYPE, "");
    test_names();
    test_words();
    test_fit();
    test_lines();
    test_rows();
    test_ascii();
    test_memory();
    return tap_done();
}

/*
 * test_utf8.c - UTF-8, good and bad.
 */
#include "base/utf8.h"

#include "base/fail.h"
#include "fault.h"
#include "tap.h"

#define MARK "\xef\xbf\xbd"

/* How much is valid, and what the rest is repaired to. */
static const struct {
    const char *why, *given;
    size_t valid_len;
    const char *repaired;
} rows[] = {
    {"empty", "", 0, ""},
    {"absent", NULL, 0, ""},
    {"ASCII over several words", "0123456789abcdefXYZ", 19,
     "0123456789abcdefXYZ"},
    {"first and last of 2 bytes", "\xc2\x80\xdf\xbf", 4, "\xc2\x80\xdf\xbf"},
    {"first and last of 3 bytes", "\xe0\xa0\x80\xef\xbf\xbf", 6,
     "\xe0\xa0\x80\xef\xbf\xbf"},
    {"both sides of the surrogates", "\xed\x9f\xbf\xee\x80\x80", 6,
     "\xed\x9f\xbf\xee\x80\x80"},
    {"first and last of 4 bytes", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8,
     "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
    {"overlong slash", "a\xc0\xaf", 1, "a" MARK MARK},
    {"overlong of 3", "\xe0\x80\xaf", 0, MARK MARK MARK},
    {"overlong of 4", "\xf0\x80\x80\xaf", 0, MARK MARK MARK MARK},
    {"a surrogate", "\xed\xa0\x80", 0, MARK MARK MARK},
    {"over U+10FFFF", "\xf4\x90\x80\x80", 0, MARK MARK MARK MARK},
    {"bytes that never occur", "\xfe\xff", 0, MARK MARK},
    {"a continuation alone", "ab\x80", 2, "ab" MARK},
    {"cut at the end: one mark", "a\xe2\x82", 1, "a" MARK},
    {"cut in the middle: one mark", "\xf0\x9f\x98z", 0, MARK "z"},
    {"lead after lead", "\xe2\xe2\x82\xac", 0, MARK "\xe2\x82\xac"},
    {"good between bad", "\xffz\xff", 0, MARK "z" MARK},
    {"bad after 8 good", "01234567\xc3(", 8, "01234567" MARK "("},
};

static void test_rows(void)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};
    struct arena a = {.mem = &m};

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_str given = str_of(rows[i].given);
        size_t marks = 0, repairs;

        for (const char *p = rows[i].repaired; (p = strstr(p, MARK)); p += 3)
            marks++;
        tap_is_i64((int64_t)utf8_valid_len(given), (int64_t)rows[i].valid_len,
                   "valid: %s", rows[i].why);
        buf_clear(&b);
        repairs = utf8_repair(&b, given);
        tap_is_str(buf_view(&b), rows[i].repaired, "repair: %s", rows[i].why);
        tap_is_i64((int64_t)repairs, (int64_t)marks, "count: %s", rows[i].why);
        if (given.ptr)
            tap_is_str(utf8_keep(given, &a), rows[i].repaired, "keep: %s",
                       rows[i].why);
    }
    tap_ok(!utf8_keep(STR_NONE, &a).ptr, "keep: an absent text stays absent");
    arena_free(&a);
    buf_free(&b);
}

/* All code points there are: put, then validated whole and cut short. */
static void test_all(void)
{
    char text[4];
    int64_t bad = 0;

    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        size_t len;

        if (c == 0xd800)
            c = 0xe000;
        len = utf8_put(text, c);
        bad += utf8_valid_len((wend_str){text, len}) != len;
        bad += utf8_valid_len((wend_str){text, len - 1}) != 0;
        bad += utf8_cut((wend_str){text, len}, len - 1) != 0;
    }
    tap_is_i64(bad, 0, "every code point is valid, and no part of it is");
}

static void test_take_and_cut(void)
{
    static const struct {
        const char *why, *text;
        size_t n, taken, cut;
    } sizes[] = {
        {"nothing", "abc", 0, 0, 0},
        {"ASCII", "abc", 2, 2, 2},
        {"all", "abc", 3, 3, 3},
        {"more than there is", "abc", 9, 3, 3},
        {"in the middle of one", "\xe2\x82\xac\xe2\x82\xac", 1, 3, 0},
        {"after one", "\xe2\x82\xac\xe2\x82\xac", 3, 6, 3},
        {"inside the second", "a\xf0\x9f\x98\x80z", 4, 6, 1},
        {"of an empty text", "", 5, 0, 0},
    };

    for (size_t i = 0; i < tap_count(sizes); i++) {
        wend_str s = str_of(sizes[i].text);

        tap_is_i64((int64_t)utf8_take(s, sizes[i].n), (int64_t)sizes[i].taken,
                   "take: %s", sizes[i].why);
        tap_is_i64((int64_t)utf8_cut(s, sizes[i].n), (int64_t)sizes[i].cut,
                   "cut: %s", sizes[i].why);
    }
}

static void test_count(void)
{
    static const struct {
        const char *text;
        int64_t wanted;
    } counted[] = {
        {"", 0},
        {"abc", 3},
        {"\xC3\xA4"
         "b",
         2},
        {"\xF0\x9F\x98\x80", 1},
    };

    for (size_t i = 0; i < tap_count(counted); i++)
        tap_is_i64((int64_t)utf8_count(str_of(counted[i].text)),
                   counted[i].wanted, "count: '%s'", counted[i].text);
    tap_is_i64((int64_t)utf8_count(STR_NONE), 0, "count: absent");
}

static void test_whole(void)
{
    static const struct {
        const char *why, *text;
        size_t wanted;
    } cuts[] = {
        {"nothing", "", 0},
        {"ASCII", "ab", 2},
        {"two bytes, whole", "a\xc3\xa9", 3},
        {"one of two", "a\xc3", 1},
        {"three bytes, whole", "\xe2\x82\xac", 3},
        {"two of three", "a\xe2\x82", 1},
        {"one of three", "\xe2", 0},
        {"four bytes, whole", "\xf0\x9f\x92\xa9", 4},
        {"three of four", "ab\xf0\x9f\x92", 2},
        {"no first byte in reach", "\x80\x80\x80\x80\x80", 5},
        {"bad before the end stays", "\xff\xc3\xa9", 3},
    };

    for (size_t i = 0; i < tap_count(cuts); i++)
        tap_is_i64((int64_t)utf8_whole(cuts[i].text, strlen(cuts[i].text)),
                   (int64_t)cuts[i].wanted, "whole: %s", cuts[i].why);
}

/* What is not what it seems: h for each that hides, . for the others. */
static void test_hides(void)
{
    static const struct {
        const char *why, *text, *wanted;
    } seen[] = {
        {"plain text", "a b\n\t", "....."},
        {"an escape, DEL, C1", "\x1b\x7f\xc2\x9b", "hhh"},
        {"a soft hyphen", "r\xc2\xadm", ".h."},
        {"direction", "\xe2\x80\xae", "h"},
        {"a variation selector on a letter", "a\xef\xb8\x8f", ".h"},
        {"... on a symbol", "\xe2\x9a\xa0\xef\xb8\x8f", ".."},
        {"... on an emoji", "\xf0\x9f\x8f\xb3\xef\xb8\x8f", ".."},
        {"... for a key", "1\xef\xb8\x8f\xe2\x83\xa3", "..."},
        {"... twice", "\xe2\x9a\xa0\xef\xb8\x8f\xef\xb8\x8f", "..h"},
        {"one that picks no picture", "\xe2\x9a\xa0\xef\xb8\x80", ".h"},
        {"of the supplement", "a\xf3\xa0\x84\x80", ".h"},
        {"Hangul fillers", "\xe3\x85\xa4\xe1\x85\x9f\xe1\x85\xa0\xef\xbe\xa0",
         "hhhh"},
        {"a Mongolian selector", "\xe1\xa0\x8b", "h"},
        {"a grapheme joiner", "a\xcd\x8f", ".h"},
        {"four marks", "a\xcc\x81\xcc\x82\xcc\x83\xcc\x84", "....."},
        {"a fifth mark and more",
         "a\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85"
         "\xcc\x86",
         ".....hh"},
        {"marks on two letters",
         "a\xcc\x81\xcc\x82\xcc\x83"
         "b\xcc\x81\xcc\x82",
         "......."},
        {"letters of Korean", "\xed\x95\x9c\xea\xb8\x80", ".."},
        {"joined emoji", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", "..."},
    };

    for (size_t i = 0; i < tap_count(seen); i++) {
        struct utf8_before before = {0};
        char got[32];
        size_t n = 0, len;

        for (size_t k = 0; seen[i].text[k]; k += len) {
            wend_str rest = str_of(seen[i].text + k);

            got[n++] = utf8_hides(&before, utf8_first(rest, &len)) ? 'h' : '.';
        }
        got[n] = 0;
        tap_is_str(str_of(got), seen[i].wanted, "hides: %s", seen[i].why);
    }
}

/* A message that does not fit is cut between characters. */
static void test_fail(void)
{
    char text[3 * 200 + 1];
    wend_error err;
    int bad = 0;

    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = "\xe2\x82\xac"[i % 3];
    text[sizeof text - 1] = 0;
    for (int shift = 0; shift < 3; shift++) {
        fail(&err, WEND_E_INVAL, "%.*s%s", shift, "ab", text);
        bad += utf8_valid_len(str_of(err.message)) != strlen(err.message) ||
               strlen(err.message) < sizeof err.message - 4;
    }
    tap_is_i64(bad, 0, "fail: a long message is cut between characters");
}

static void test_fmt(void)
{
    static const struct {
        const char *why, *before, *text, *after;
        int precision;
        const char *wanted;
    } fmt_rows[] = {
        {"as it is", "<", "a\xe2\x82\xac", ">", 9, "<a\xe2\x82\xac>"},
        {"cut by a precision", "<", "a\xe2\x82\xac", ">", 3, "<a>"},
        {"cut by the end of the room", "123456789", "\xe2\x82\xac",
         "\xe2\x82\xac", 3, "123456789\xe2\x82\xac"},
        {"cut before another character", "<", "a\xe2\x82\xac", "\xc3\xa4>", 2,
         "<a\xc3\xa4>"},
        {"bytes that begin nothing", "<", "\xff\x80", ">", 9, "<?\?>"},
        {"a beginning without its end", "<", "\xf0\x9f\x91x", ">", 9, "<x>"},
    };

    for (size_t i = 0; i < sizeof fmt_rows / sizeof *fmt_rows; i++) {
        char out[15];
        size_t len = utf8_fmt(out, sizeof out, "%s%.*s%s", fmt_rows[i].before,
                              fmt_rows[i].precision, fmt_rows[i].text,
                              fmt_rows[i].after);

        tap_is_str(out, fmt_rows[i].wanted, "fmt: %s", fmt_rows[i].why);
        tap_is_i64((int64_t)len, (int64_t)strlen(out), "fmt: %s, length",
                   fmt_rows[i].why);
    }
}

static void test_failures(void)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        for (int i = 0; i < 100; i++)
            utf8_repair(&b, STR("a\xff"));
        bad += b.failed != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "repair: each failing allocation sticks, no leak");
}

int main(void)
{
    test_rows();
    test_all();
    test_take_and_cut();
    test_count();
    test_whole();
    test_hides();
    test_fail();
    test_fmt();
    test_failures();
    return tap_done();
}

/*
 * test_str.c - strings with a length, and the growing buffer.
 */
#include "base/str.h"

#include "base/ascii.h"

#include "fault.h"
#include "tap.h"

static const char *const names[] = {"sync", NULL, "async", "fire_and_forget",
                                    "run"};

static void test_compare(void)
{
    tap_ok(str_eq(STR(""), STR_NONE), "nothing equals empty");
    tap_ok(!str_eq(STR("ab"), STR("abc")), "a prefix is not equal");
    tap_ok(str_is(STR("abc"), "abc"), "the same text");
    tap_ok(!str_is(STR_NONE, ""), "absent is not the empty string");
    tap_ok(!str_is((wend_str){"a\0b", 3}, "a"), "a NUL does not end it");
    tap_ok(str_starts(STR("abc"), ""), "all start with nothing");
    tap_ok(!str_starts(STR("ab"), "abc"), "shorter than the prefix");
    tap_ok(str_starts_nocase(STR("Text/HTML; x"), "text/html"), "any case");
    tap_ok(!str_starts_nocase(STR("Text/HTM"), "text/html"), "too short");
    tap_ok(!str_starts_nocase(STR("text-html"), "text/html"), "another");
    tap_is_str(str_skip(STR("abc"), 1), "bc", "without its first byte");
    tap_is_str(str_trim(STR(" \r\n a b\t"), is_space), "a b", "trimmed");
    tap_is_str(str_trim(STR(" \n a"), is_blank), "\n a", "such bytes only");
    tap_is_i64((int64_t)str_trim(STR(" \t "), is_blank).len, 0, "all of it");
    tap_is_str(str_of(NULL), (const char *)NULL, "NULL is absent");
    tap_is_i64(str_index(STR("async"), names, 4), 2, "holes are skipped");
    tap_is_i64(str_index(STR("a"), names, 4), -1, "a prefix is no name");
}

static void test_take(void)
{
    static const struct {
        const char *why, *text, *lines; /* each line ends with | */
    } rows[] = {
        {"no line", "", ""},
        {"one without an end", "a", "a|"},
        {"one with an end", "a\n", "a|"},
        {"empty ones count", "\n\nb", "||b|"},
    };
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_str rest = str_of(rows[i].text), line;
        struct buf b = {.mem = &m};

        while (str_line(&rest, &line)) {
            buf_str(&b, line);
            buf_char(&b, '|');
        }
        tap_is_str(buf_view(&b), rows[i].lines, "lines: %s", rows[i].why);
        buf_free(&b);
    }
    tap_ok(str_same(STR("Keep-Alive"), STR("keep-ALIVE")), "in any case");
    tap_ok(!str_same(STR("a["), STR("A{")), "only letters have a case");
    tap_ok(!str_same(STR("keep"), STR("keepers")), "a prefix is not the same");
    tap_is_str(str_or(STR_NONE, "b"), "b", "absent: the other");
    tap_is_str(str_or(STR(""), "b"), "", "empty is not absent");
    tap_ok(str_ends(STR("a.yaml"), ".yaml"), "ends with it");
    tap_ok(!str_ends(STR("yaml"), ".yaml"), "shorter than the suffix");
}

/* Packed one behind the other, each a view of the same room. */
static void test_pack(void)
{
    static const struct {
        const char *why;
        wend_str text;
    } rows[] = {
        {"the first", {"ab", 2}},
        {"an empty one takes no room", {"", 0}},
        {"an absent one neither", {NULL, 0}},
        {"bytes are copied, also a NUL", {"c\0d", 3}},
        {"the last", {"e", 1}},
    };
    char room[] = "......!", *at = room;
    wend_str copies[tap_count(rows)];

    for (size_t i = 0; i < tap_count(rows); i++)
        copies[i] = str_pack(&at, rows[i].text);
    for (size_t i = 0; i < tap_count(rows); i++)
        tap_ok(str_eq(copies[i], rows[i].text) && copies[i].ptr >= room &&
                   copies[i].ptr + copies[i].len <= at,
               "packed: %s", rows[i].why);
    tap_ok(at == room + 6 && !memcmp(room, "abc\0de!", 7),
           "packed: without a NUL, and not a byte more");
}

/* Each kind of byte, by all that belong to it. */
static void test_ascii(void)
{
    static const struct {
        const char *why, *bytes;
        bool (*is)(char c);
    } rows[] = {
        {"digits", "0123456789", is_digit},
        {"letters", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
         is_letter},
        {"words",
         "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrst"
         "uvwxyz",
         is_word},
        {"blanks", "\t ", is_blank},
        {"spaces", "\t\n\r ", is_space},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        int wrong = 0;

        for (int c = 0; c < 256; c++)
            wrong += rows[i].is((char)c) != (c && strchr(rows[i].bytes, c));
        tap_is_i64(wrong, 0, "bytes: %s, and no others", rows[i].why);
    }
}

static void test_near(void)
{
    static const struct {
        const char *why, *given, *wanted;
    } rows[] = {
        {"two letters swapped", "asnyc", "async"},
        {"one too many", "ssync", "sync"},
        {"a swap in a short one", "rnu", "run"},
        {"far from all", "parallel", NULL},
        {"short ones must be very near", "xyz", NULL},
        {"exact", "sync", "sync"},
        {"empty", "", NULL},
        {"longer than what is compared",
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "a",
         NULL},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_str(str_near(str_of(rows[i].given), names, 5), rows[i].wanted,
                   "near: %s", rows[i].why);
}

static void test_nearest(void)
{
    static const struct named {
        int before;
        wend_str name;
    } list[] = {{1, {"fetch", 5}}, {2, {"parse", 5}}, {3, {"patch", 5}}};
    static const struct {
        const char *why, *given, *wanted;
        size_t count;
    } rows[] = {
        {"a member of each struct is compared", "pach", "patch", 3},
        {"only so far as the list goes", "pach", NULL, 1},
        {"none is near", "zebra", NULL, 3},
        {"a list of none", "fetch", NULL, 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_str(str_nearest(str_of(rows[i].given),
                               rows[i].count ? list : NULL, sizeof *list,
                               offsetof(struct named, name), rows[i].count),
                   rows[i].wanted, "nearest: %s", rows[i].why);
}

static void test_hint(void)
{
    static const struct {
        const char *why, *near, *wanted;
    } rows[] = {
        {"a name", "patch", "; did you mean 'patch'?"},
        {"nothing is near", NULL, ""},
    };
    char room[STR_HINT_BYTES], name[2 * STR_HINT_BYTES + 1];

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_str(str_of(str_hint(room, str_of(rows[i].near))), rows[i].wanted,
                   "hint: %s", rows[i].why);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    str_hint(room, str_of(name));
    tap_ok(strlen(room) == sizeof room - 1 && str_ends(str_of(room), "x'?"),
           "hint: a name that does not fit is cut, the rest is whole");
}

static void test_has(void)
{
    static const struct {
        const char *why, *text, *part;
        bool wanted;
    } rows[] = {
        {"at the beginning", "abc", "ab", true},
        {"at the end", "abc", "bc", true},
        {"not in it", "abc", "ac", false},
        {"longer than the text", "ab", "abc", false},
        {"every text has nothing", "abc", "", true},
        {"so has an absent one", NULL, NULL, true},
        {"an absent one has nothing else", NULL, "a", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_ok(str_has(str_of(rows[i].text), str_of(rows[i].part)) ==
                   rows[i].wanted,
               "has: %s", rows[i].why);
}

static void test_order(void)
{
    static const struct {
        const char *why, *a, *b;
        int wanted; /* its sign */
    } rows[] = {
        {"equal", "ab", "ab", 0},
        {"the first difference decides", "ab", "b", -1},
        {"bytes are unsigned", "\xc3", "z", 1},
        {"the beginning of another comes first", "ab", "abc", -1},
        {"nothing comes first", "", "a", -1},
        {"absent is as empty", NULL, "", 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_str a = str_of(rows[i].a), b = str_of(rows[i].b);
        int got = str_order(a, b), back = str_order(b, a);

        tap_ok((got > 0) - (got < 0) == rows[i].wanted &&
                   (back > 0) - (back < 0) == -rows[i].wanted,
               "order: %s", rows[i].why);
    }
}

static void test_numbers(void)
{
    static const struct {
        const char *why, *given;
        int64_t wanted; /* -1: refused */
    } whole[] = {
        {"zero", "0", 0},
        {"leading zeros", "007", 7},
        {"the largest", "9223372036854775807", INT64_MAX},
        {"one more", "9223372036854775808", -1},
        {"much more", "99999999999999999999999999", -1},
        {"empty", "", -1},
        {"a sign is not a digit", "-1", -1},
        {"a space is not a digit", "1 ", -1},
    };
    static const struct {
        const char *why, *given;
        int64_t wanted_ms; /* -1: refused */
    } times[] = {
        {"milliseconds", "20ms", 20},
        {"a fraction", "1.5s", 1500},
        {"minutes", "2m", 120000},
        {"hours", "1h", 3600000},
        {"days", "1d", 86400000},
        {"weeks", "2w", 1209600000},
        {"bare seconds", "7", 7000},
        {"less than a millisecond", "0.0001s", 0},
        {"many places are cut, not overflowed", "1.99999999999999999999s",
         1999},
        {"exactly the bound", "366d", 31622400000},
        {"beyond a year", "367d", -1},
        {"overflow", "99999999999999999999h", -1},
        {"unknown unit", "3y", -1},
        {"no digits", "s", -1},
        {"a dot alone", ".5s", -1},
        {"empty", "", -1},
        {"negative", "-1s", -1},
    };
    int64_t got;

    for (size_t i = 0; i < tap_count(whole); i++) {
        got = -1;
        if (!str_to_i64(str_of(whole[i].given), &got))
            got = -1;
        tap_is_i64(got, whole[i].wanted, "i64: %s", whole[i].why);
    }
    for (size_t i = 0; i < tap_count(times); i++) {
        got = -1;
        if (!str_to_ms(str_of(times[i].given), &got))
            got = -1;
        tap_is_i64(got, times[i].wanted_ms, "ms: %s", times[i].why);
    }
}

static void test_ages(void)
{
    static const struct {
        const char *why, *given;
        int64_t wanted_ms;
    } ages[] = {
        {"days", "30d", 2592000000},
        {"beyond a year", "400d", 34560000000},
        {"years", "2y", 63072000000},
        {"half a year", "0.5y", 15768000000},
        {"exactly the bound", "100y", 3153600000000},
        {"beyond the bound", "101y", -1},
        {"no unit", "30", -1},
        {"overflow", "99999999999999999999y", -1},
    };
    int64_t got;

    for (size_t i = 0; i < tap_count(ages); i++) {
        got = -1;
        if (!str_to_age_ms(str_of(ages[i].given), &got))
            got = -1;
        tap_is_i64(got, ages[i].wanted_ms, "age: %s", ages[i].why);
    }
}

static void test_glob(void)
{
    static const struct {
        const char *why, *pattern, *text;
        bool wanted;
        unsigned flags;
    } rows[] = {
        {"empty matches empty", "", "", true, 0},
        {"empty matches nothing else", "", "a", false, 0},
        {"a star matches empty", "*", "", true, 0},
        {"a star crosses slashes", "src/*", "src/a/b", true, 0},
        {"the whole text must match", "src", "src/a", false, 0},
        {"one byte", "a?c", "abc", true, 0},
        {"not none", "a?c", "ac", false, 0},
        {"a star gives back", "*ab*c", "aababxc", true, 0},
        {"stars at the end", "a***", "a", true, 0},
        {"no match after all stars", "*a*b*c", "aabb", false, 0},
        {"letter case counts", ".Env*", ".eNV.x", false, 0},
        {"... or not", ".Env*", ".eNV.x", true, GLOB_ANY_CASE},
        {"but not for other bytes", "a[", "a{", false, GLOB_ANY_CASE},
        {"a question mark is one", "a?b", "a?b", true, GLOB_STARS},
        {"... and no other byte", "a?b*", "axb", false, GLOB_STARS},
    };
    char text[2000];

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_ok(str_glob_as(str_of(rows[i].pattern), str_of(rows[i].text),
                           rows[i].flags) == rows[i].wanted,
               "glob: %s", rows[i].why);
    memset(text, 'a', sizeof text);
    tap_ok(
        !str_glob(STR("*a*a*a*a*a*a*a*a*a*a*b"), (wend_str){text, sizeof text}),
        "glob: many stars do not take for ever");
}

static void test_i64_text(void)
{
    static const struct {
        int64_t n;
        const char *wanted;
    } rows[] = {
        {0, "0"},
        {-1, "-1"},
        {10, "10"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    char text[21];

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_str got = {text, i64_text(text, rows[i].n)};

        tap_is_str(got, rows[i].wanted, "i64_text %s", rows[i].wanted);
    }
}

static void fill(struct buf *b)
{
    buf_str(b, STR("one "));
    buf_cstr(b, "two ");
    buf_char(b, '3');
    buf_i64(b, -4);
    for (int i = 0; i < 100; i++)
        buf_fmt(b, " %d%s", i, "th");
}

static void test_buf(void)
{
    struct mem plain = {0}, m;
    struct buf b = {.mem = &plain};
    struct fault f = {0};
    int64_t bad = 0;

    tap_is_str(buf_view(&b), "", "an unused buffer is empty, not absent");
    fill(&b);
    tap_ok(str_starts(buf_view(&b), "one two 3-4 0th 1th 2th"), "it adds up");
    tap_ok(!b.ptr[b.len], "it ends with a NUL");
    buf_clear(&b);
    tap_is_str(buf_view(&b), "", "clear empties it");
    tap_ok(!buf_room(&b, SIZE_MAX), "sizes that wrap round fail");
    buf_cstr(&b, "lost");
    tap_ok(b.failed && !b.len, "and that sticks");
    buf_free(&b);
    while (fault_next(&f)) {
        m = fault_mem(&f);
        b = (struct buf){.mem = &m};
        fill(&b);
        bad += b.failed != f.hit;
        bad += !b.failed && b.len < 500;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_ok(!bad && f.fail_at > 3, "each failing allocation sticks, no leak");
}

static void test_keep(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        wend_str kept;

        fill(&b);
        kept = buf_keep(&b, &a);
        bad += a.failed != f.hit || (kept.ptr == NULL) != f.hit;
        bad += b.ptr != NULL || (!f.hit && kept.len < 500);
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_ok(!bad && f.fail_at > 3, "what is kept is whole, or the arena failed");
}

static void test_quoted(void)
{
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$(x) `y` \"z\" \\", "'$(x) `y` \"z\" \\'"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct mem m = {0};
        struct buf b = {.mem = &m};

        buf_quoted(&b, str_of(rows[i].text));
        tap_is_str(buf_view(&b), rows[i].word, "one word: %s", rows[i].text);
        buf_free(&b);
    }
}

int main(void)
{
    tap_ok(!wend_str_of(NULL).ptr && !wend_str_of(NULL).len,
           "wend_str_of: NULL is absent");
    tap_is_str(wend_str_of("ab"), "ab", "wend_str_of: a C string");
    test_compare();
    test_take();
    test_pack();
    test_ascii();
    test_near();
    test_nearest();
    test_hint();
    test_has();
    test_order();
    test_numbers();
    test_ages();
    test_glob();
    test_i64_text();
    test_buf();
    test_keep();
    test_quoted();
    return tap_done();
}

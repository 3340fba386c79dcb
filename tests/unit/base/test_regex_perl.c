/*
 * test_regex_perl.c - patterns as people write them for grep: any bytes,
 * where the match is, work that ends, and what every match contains.
 */
#include "base/limits.h"
#include "base/regex.h"
#include "fault.h"
#include "tap.h"

enum { WORK = 10000000 };

static struct mem mem;

static const struct {
    const char *why, *pattern, *text;
    bool any_case;
    int start, end; /* -1: no match */
} rows[] = {
    {"plain", "bc", "abcd", false, 1, 3},
    {"case counts", "BC", "abcd", false, -1, -1},
    {"unless it does not", "BC", "abcd", true, 1, 3},
    {"begin and end", "^a.c$", "abc", false, 0, 3},
    {"possessive", "a++b", "aab", false, 0, 3},
    {"classes of POSIX", "[[:digit:]]+", "ab12", false, 2, 4},
    {"an empty match", "x*", "abc", false, 0, 0},
    {"code points", "^.$", "\xc3\xa9", false, 0, 2},
    {"before bytes that are no UTF-8", "ab", "xab\xff", false, 1, 3},
    {"behind them", "ab",
     "\xff\xfe"
     "ab",
     false, 2, 4},
    {"they match nothing", "a.b",
     "a\xff"
     "b",
     false, -1, -1},
};

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &mem};
        struct regex *r = NULL;
        struct regex_place at = {0};
        uint64_t work = WORK;
        enum regex_result got = REGEX_ERROR;

        regex_compile_perl(str_of(rows[i].pattern), rows[i].any_case, &a, &r,
                           NULL);
        if (r)
            got = regex_search(r, str_of(rows[i].text), &work, &at, NULL);
        tap_is_i64(got, rows[i].start < 0 ? REGEX_NO : REGEX_YES, "%s",
                   rows[i].why);
        if (got == REGEX_YES)
            tap_ok((int)at.start == rows[i].start && (int)at.end == rows[i].end,
                   "  at %zu to %zu", at.start, at.end);
        tap_ok(work < WORK, "  it is paid for");
        arena_free(&a);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *pattern, *message;
    } refused[] = {
        {"a(b", "missing closing parenthesis at byte 3"},
        {"a\\C", "using \\C is disabled by the application at byte 3"},
        {"[b-a]", "range out of order in character class at byte 3"},
        {"\xff", "UTF-8 error: illegal byte (0xfe or 0xff) at byte 0"},
    };
    char long_pattern[REGEX_PATTERN_MAX + 1];
    struct arena a = {.mem = &mem};
    struct regex *r = NULL;

    for (size_t i = 0; i < tap_count(refused); i++) {
        wend_error err = {0};

        tap_is_i64(
            regex_compile_perl(str_of(refused[i].pattern), false, &a, &r, &err),
            WEND_E_PARSE, "refused: %s", refused[i].pattern);
        tap_is_str(err.message, refused[i].message, "  in words");
    }
    memset(long_pattern, 'a', sizeof long_pattern);
    long_pattern[0] = '[';
    long_pattern[REGEX_PATTERN_MAX - 1] = ']';
    tap_is_i64(regex_compile_perl((wend_str){long_pattern, REGEX_PATTERN_MAX},
                                  false, &a, &r, NULL),
               WEND_OK, "a pattern at the limit");
    tap_is_i64(
        regex_compile_perl((wend_str){long_pattern, REGEX_PATTERN_MAX + 1},
                           false, &a, &r, NULL),
        WEND_E_LIMIT, "one above");
    arena_free(&a);
}

/* Patterns that never end elsewhere. */
static void test_work(void)
{
    static const char *const patterns[] = {
        "(a+)+$",        "(a|aa)+$",         "(a*)*b",
        "a.*a.*a.*a.*b", "(?:a?){60}a{60}b", "((a)|(?1))+b",
    };
    char text[4096];

    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 'c';
    for (size_t i = 0; i < tap_count(patterns); i++) {
        struct arena a = {.mem = &mem};
        struct regex *r = NULL;
        uint64_t work = WORK / 10;
        enum regex_result got = REGEX_ERROR;

        regex_compile_perl(str_of(patterns[i]), false, &a, &r, NULL);
        if (r)
            got = regex_search(r, (wend_str){text, sizeof text}, &work, NULL,
                               NULL);
        tap_ok(got == REGEX_LIMIT || got == REGEX_NO, "%s ends", patterns[i]);
        arena_free(&a);
    }
}

static const struct {
    const char *pattern, *literal;
} literals[] = {
    {"abc", "abc"},
    {"wend_[a-z]+\\(", "wend_"},
    {"a.bcd", "bcd"},
    {"ab?cd", "cd"},
    {"abx*", "ab"},
    {"abx+cd", "abx"},
    {"abx{2}c", "ab"},
    {"abx{2,3}cde", "cde"},
    {"a{x", "x"},
    {"x{[}]yz", "yz"},
    {"\xc3\xa9*ab", "ab"},
    {"x\xc3\xa9?", "x"},
    {"\\bmain\\s*\\(", "main"},
    {"a\\.b", "a.b"},
    {"a\\x41bcdef", "a"},
    {"a\\1bcdef", "a"},
    {"\\p{Lu}abc", ""},
    {"(abc)?d", "d"},
    {"(abc)de(f)", "de"},
    {"a|b", ""},
    {"[|]", ""},
    {"(?i)abc", ""},
    {"(*UTF)abc", ""},
    {"\\Qa.b\\E", ""},
    {"[]x]abc", "abc"},
    {"[^]x]abc", "abc"},
    {"[[:alpha:]]abc", "abc"},
    {"[[:]abc", "abc"},
    {"[[:[x[:]abc", "abc"},
    {"[\\]x]abc", "abc"},
    {"^abc$", "abc"},
    {".*", ""},
    {"a]b}c", "a]b}c"},
};

static void test_literals(void)
{
    for (size_t i = 0; i < tap_count(literals); i++) {
        struct buf b = {.mem = &mem};

        regex_literal(str_of(literals[i].pattern), &b);
        tap_is_str(buf_view(&b), literals[i].literal, "in every %s",
                   literals[i].pattern);
        buf_free(&b);
    }
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct regex *r = NULL;
        uint64_t work = WORK;
        wend_status s = regex_compile_perl(STR("(a+)b"), false, &a, &r, NULL);
        enum regex_result got =
            s ? REGEX_ERROR : regex_search(r, STR("xaab"), &work, NULL, NULL);

        bad += (s == WEND_E_NOMEM || got == REGEX_ERROR) != f.hit;
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "without memory");
}

int main(void)
{
    test_rows();
    test_refused();
    test_work();
    test_literals();
    test_no_memory();
    return tap_done();
}

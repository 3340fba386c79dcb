/*
 * test_regex.c - patterns mean what ECMA-262 says, and end within limits.
 */
#include "base/regex.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;
static const uint64_t plenty = 1000000;

/* -1: does not compile. */
static int search(const char *pattern, const char *text)
{
    struct arena a = {.mem = &plain};
    struct regex *r = NULL;
    uint64_t work = plenty;
    int result = -1;

    if (regex_compile(str_of(pattern), &a, &r, NULL) == WEND_OK)
        result = (int)regex_search(r, str_of(text), &work, NULL, NULL);
    arena_free(&a);
    return result;
}

struct row {
    const char *why, *pattern, *text;
    bool wanted;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tap_is_i64(search(rows[i].pattern, rows[i].text),
                   rows[i].wanted ? REGEX_YES : REGEX_NO, "%s: /%s/",
                   rows[i].why, rows[i].pattern);
}

static void test_characters(void)
{
    static const struct row rows[] = {
        {"nothing matches all", "", "abc", true},
        {"anywhere", "b", "abc", true},
        {"nowhere", "x", "abc", false},
        {"case counts", "B", "abc", false},
        {"$ is the very end", "a$", "a\n", false},
        {"^ is the very beginning", "^b", "a\nb", false},
        {". stops at LF", "^.$", "\n", false},
        {". stops at CR", "^.$", "\r", false},
        {". stops at U+2028", "^.$", "\xe2\x80\xa8", false},
        {". passes U+0085", "^.$", "\xc2\x85", true},
        {". is a code point", "^.$", "\xf0\x9f\x98\x80", true},
        {"\\d is ASCII", "\\d", "\xd9\xa3", false},
        {"\\D is not", "^\\D$", "\xd9\xa3", true},
        {"\\w is ASCII", "\\w", "\xc3\xa9", false},
        {"\\W is not", "^\\W$", "\xc3\xa9", true},
        {"\\b is between ASCII words", "a\\b", "a\xc3\xa9", true},
        {"\\s knows U+00A0", "^\\s$", "\xc2\xa0", true},
        {"\\s knows U+FEFF", "^[\\s]$", "\xef\xbb\xbf", true},
        {"\\s does not know U+0085", "\\s", "\xc2\x85", false},
        {"\\S is the opposite", "\\S", "\xc2\xa0\t\xe2\x80\x83", false},
        {"\\S in a class", "^[x\\S]$", "\xc2\x85", true},
        {"\\v is one character", "^\\v$", "\x0b", true},
        {"\\v is not LF", "\\v", "\n", false},
        {"a digit after an escape", "^\\t1$", "\t1", true},
        {"\\cJ is LF", "^\\cJ$", "\n", true},
        {"\\x41", "^\\x41$", "A", true},
        {"\\u0041", "^\\u0041$", "A", true},
        {"\\u{1f600}", "^\\u{1f600}$", "\xf0\x9f\x98\x80", true},
        {"a pair of surrogates", "^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", true},
        {"half a pair matches nothing", "\\ud83d", "\xf0\x9f\x98\x80", false},
        {"a range of code points", "^[\xc3\xa0-\xc3\xbf]$", "\xc3\xa9", true},
    };

    check_rows(rows, tap_count(rows));
}

static void test_syntax(void)
{
    static const struct row rows[] = {
        {"[] matches nothing", "[]", "a", false},
        {"nothing, any number of times", "^a[]*b$", "ab", true},
        {"[^] matches all", "^[^]$", "\n", true},
        {"[ in a class is itself", "^[[:a]$", "[", true},
        {"and no class of POSIX", "^[[:alpha:]\\]+$", "b", false},
        {"nor what POSIX has for one character", "^[.a.]$", "a", true},
        {"- last in a class", "^[a-]+$", "a-", true},
        {"- first in a class", "^[-a]+$", "a-", true},
        {"- after a range", "^[a-c-e]+$", "b-e", true},
        {"and no range of its own", "[a-c-e]", "d", false},
        {"- after \\w", "^[\\w-.]+$", "a-.", true},
        {"- before \\d", "^[+-\\d]+$", "+-1", true},
        {"a range that ends in -", "^[+--]+$", "+,-", true},
        {"\\b in a class is backspace", "^[\\b]$", "\b", true},
        {"\\- is taken", "^\\-\\@\\_$", "-@_", true},
        {"a lone { is taken", "^a{,2}$", "a{,2}", true},
        {"counted", "^a{2,3}$", "aaaa", false},
        {"lazy", "^a+?$", "aa", true},
        {"alternatives", "^(?:a|bc)$", "bc", true},
        {"lookahead", "^(?=.*\\d)(?!.*x)", "ab1", true},
        {"lookbehind", "(?<=\\$)\\d", "$5", true},
        {"not behind", "(?<!\\$)\\d", "$5", false},
        {"a group again", "^(a|b)\\1$", "aa", true},
        {"not that group", "^(a|b)\\1$", "ab", false},
        {"a group that did not match is empty", "^(?:(a)|b)\\1$", "b", true},
        {"a named group again", "^(?<x>a|b)\\k<x>$", "bb", true},
        {"as Python names it", "^(?P<x>a)\\k<x>$", "aa", true},
        {"any case by (?i)", "(?i)ABC", "abc", true},
        {"a property", "^\\p{Lu}$", "\xc3\x89", true},
        {"a property by its long name", "^\\p{Uppercase_Letter}$", "A", true},
        {"a category", "^\\p{gc=Letter}\\P{Letter}$", "a1", true},
        {"properties that overlap", "\\P{Lu}{1,3}?\\P{Cn}+(?<!\\b)", "a-\t",
         true},
        {"a property beside \\D", "[^\\D\\p{L}]", "\xd9\xa3", false},
        {"a script", "^\\p{Script=Greek}$", "\xce\xb1", true},
        {"not that script", "\\p{sc=Greek}", "a", false},
        {"all that is assigned", "^\\p{Assigned}$", "a", true},
        {"an address", "^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$", "a.b@c-d.org", true},
    };

    check_rows(rows, tap_count(rows));
}

static void test_refused(void)
{
    static const struct {
        const char *why, *pattern, *wanted; /* in the message */
    } rows[] = {
        {"no end of a class", "a[b", "a [ without its ] at byte 1"},
        {"no end of a group", "(a", "parenthesis"},
        {"no beginning of a group", "a)", "parenthesis"},
        {"a repeat of nothing", "*", "nothing to repeat at byte 0"},
        {"a verb", "(*ACCEPT)a", "nothing to repeat at byte 1"},
        {"a possessive repeat", "a++", "nothing to repeat at byte 2"},
        {"a repeated anchor", "^*", "nothing to repeat at byte 1"},
        {"numbers in the wrong order", "a{3,2}", "out of order"},
        {"a range in the wrong order", "[b-a]", "out of order"},
        {"more repeats than can be counted", "a{70000}", "too big"},
        {"recursion", "(?R)", "a group that ECMA-262 does not have"},
        {"a comment", "(?#a)", "a group that ECMA-262 does not have"},
        {"an atomic group", "(?>a)", "a group that ECMA-262 does not have"},
        {"a beginning of Perl", "\\A", "an escape that ECMA-262 does not"},
        {"a quote of Perl", "\\Qa\\E", "an escape that ECMA-262 does not"},
        {"a single byte", "\\C", "an escape that ECMA-262 does not"},
        {"a reset", "a\\Kb", "an escape that ECMA-262 does not"},
        {"an octal number", "\\012", "an escape that ECMA-262 does not"},
        {"a backslash alone", "a\\", "an escape that ECMA-262 does not"},
        {"no code point", "\\u{110000}", "is not a code point"},
        {"too few digits", "\\u12", "four hexadecimal digits"},
        {"no such group", "(a)\\2", "non-existent"},
        {"no such name", "\\k<x>", "non-existent"},
        {"no such property", "\\p{Nonsense}", "unknown property"},
        {"an empty property", "\\p{}", "needs {a property}"},
        {"a lookbehind of any length", "(?<=a*)b", "fixed length"},
        {"not UTF-8", "\xff", "not UTF-8"},
        {"too large when compiled", "(?:(?:(?:a{1000}){1000}){1000})",
         "too large"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct regex *r = NULL;
        wend_error err = {0};
        wend_status s = regex_compile(str_of(rows[i].pattern), &a, &r, &err);

        tap_ok(s == WEND_E_PARSE && strstr(err.message, rows[i].wanted),
               "refused: %s: %s", rows[i].why, err.message);
        arena_free(&a);
    }
}

/* The longest pattern and one more. */
static void test_length(void)
{
    struct buf b = {.mem = &plain};
    struct arena a = {.mem = &plain};
    struct regex *r = NULL;
    wend_str text;

    for (int i = 0; i <= REGEX_PATTERN_MAX; i++)
        buf_char(&b, i ? ']' : '[');
    text = buf_view(&b);
    tap_is_i64(regex_compile(text, &a, &r, NULL), WEND_E_LIMIT,
               "a byte too long");
    text.len = REGEX_PATTERN_MAX;
    tap_ok(regex_compile(text, &a, &r, NULL) != WEND_E_LIMIT,
           "as long as may be");
    arena_free(&a);
    buf_free(&b);
}

/* Groups in groups, as many as may be and one more. */
static void test_nesting(void)
{
    for (int deep = 99; deep <= 101; deep++) {
        struct buf b = {.mem = &plain};

        for (int i = 0; i < deep; i++)
            buf_cstr(&b, "(");
        for (int i = 0; i < deep; i++)
            buf_cstr(&b, ")");
        tap_is_i64(search(b.ptr, ""), deep <= 100 ? REGEX_YES : -1,
                   "%d groups in one another", deep);
        buf_free(&b);
    }
}

static void test_limits(void)
{
    static const struct {
        const char *why, *pattern;
        size_t len; /* of a text of a's */
        enum regex_result wanted;
    } rows[] = {
        {"exponential", "^(a+)+$|x[yz]", 30, REGEX_YES},
        {"exponential, no match", "^(?:a+)+[b-x]", 30, REGEX_LIMIT},
        {"exponential by alternatives", "^(?:a|a)*[b-x]", 40, REGEX_LIMIT},
        {"cubic", "a*a*a*[bx]", 10000, REGEX_LIMIT},
        {"quadratic, over all beginnings", "a*[bx]", 100000, REGEX_LIMIT},
        {"quadratic, but short", "a*[bx]", 1000, REGEX_NO},
        {"linear in a long text", "^[a-z]*$", 1 << 20, REGEX_YES},
        {"deeper than the memory for it", "^(?:a|b)*$", 1 << 20, REGEX_LIMIT},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf text = {.mem = &plain};

        for (size_t k = 0; k < rows[i].len; k++)
            buf_char(&text, 'a');
        tap_is_i64(search(rows[i].pattern, text.ptr), rows[i].wanted,
                   "limits: %s", rows[i].why);
        buf_free(&text);
    }
}

static void test_work(void)
{
    struct arena a = {.mem = &plain};
    struct regex *r = NULL;
    wend_error err = {0};
    uint64_t work = 0, before;

    regex_compile(STR("^a+b"), &a, &r, NULL);
    tap_is_i64(regex_search(r, STR("aab"), &work, NULL, NULL), REGEX_LIMIT,
               "nothing to spend");
    work = before = 1000;
    tap_is_i64(regex_search(r, STR("aab"), &work, NULL, NULL), REGEX_YES,
               "enough to spend");
    tap_ok(work < before && work > before - 20, "little is spent");
    tap_is_i64(regex_search(r, (wend_str){NULL, 0}, &work, NULL, NULL),
               REGEX_NO, "an absent text is empty");
    tap_is_i64(regex_search(r, STR("a\xff"), &work, NULL, &err), REGEX_ERROR,
               "a text that is not UTF-8");
    tap_ok(err.status == WEND_E_INVAL && err.message[0], "says so: %s",
           err.message);
    arena_free(&a);
}

static void test_faults(void)
{
    struct fault f = {0};
    int bad = 0, rounds = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct regex *r = NULL;
        wend_error err = {0};
        uint64_t work = plenty;
        wend_status s =
            regex_compile(STR("^(?<x>a|b)+\\s\\k<x>$"), &a, &r, &err);
        enum regex_result found =
            r ? regex_search(r, STR("aab b"), &work, NULL, &err) : REGEX_ERROR;

        bad += (found == REGEX_YES) == f.hit;
        bad += f.hit && err.status != WEND_E_NOMEM;
        bad += f.hit && !r && s != WEND_E_NOMEM;
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(!bad && rounds > 3, "any of %d allocations may fail", rounds - 1);
}

int main(void)
{
    test_characters();
    test_syntax();
    test_refused();
    test_length();
    test_nesting();
    test_limits();
    test_work();
    test_faults();
    return tap_done();
}

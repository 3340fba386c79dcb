/*
 * test_glob.c - patterns for paths: what matches, what leads there, what is
 * refused, and that no pattern is slow.
 */
#include "base/glob.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct {
    const char *pattern, *path;
    bool matches;
} rows[] = {
    {"a", "a", true},
    {"a", "b", false},
    {"a", "aa", false},
    {"*", "a", true},
    {"*", ".hidden", true},
    {"*", "a/b", false},
    {"*.c", "x.c", true},
    {"*.c", ".c", true},
    {"*.c", "x.cc", false},
    {"*.c", "d/x.c", false},
    {"a*b*c", "aXbYbZc", true},
    {"a*b*c", "aXbYb", false},
    {"?", "a", true},
    {"?", "/", false},
    {"?", "\xc3\xa9", true},
    {"??", "\xc3\xa9", false},
    {"?", "\xff", true},
    {"?", "\xc3", true},
    {"??", "\xc3\xff", true},
    {"\xc3\xa9?", "\xc3\xa9x", true},
    {"[a-c]", "b", true},
    {"[a-c]", "d", false},
    {"[!a-c]", "d", true},
    {"[^a-c]", "b", false},
    {"[!a]", "/", false},
    {"[/]", "/", false},
    {"[]a]", "]", true},
    {"[!]a]", "b", true},
    {"[a-]", "-", true},
    {"[-a]", "-", true},
    {"[\\]]", "]", true},
    {"[\xc3\xa0-\xc3\xbf]", "\xc3\xa9", true},
    {"[\xc3\xa0-\xc3\xbf]", "e", false},
    {"\\*", "*", true},
    {"\\*", "x", false},
    {"\\{a", "{a", true},
    {"{a,b}", "a", true},
    {"{a,b}", "b", true},
    {"{a,b}", "c", false},
    {"{a,b}", "a,b", false},
    {"{a}", "a", true},
    {"{,a}b", "b", true},
    {"{,a}b", "ab", true},
    {"x{a,{b,c}d}y", "xcdy", true},
    {"x{a,{b,c}d}y", "xay", true},
    {"x{a,{b,c}d}y", "xcy", false},
    {"*.{c,h}", "x.h", true},
    {"{*,?}.c", "ab.c", true},
    {"a,b", "a,b", true},
    {"**", "a", true},
    {"**", "a/b/c", true},
    {"**/*.c", "x.c", true},
    {"**/*.c", "a/b/x.c", true},
    {"**/*.c", "a/b/x.h", false},
    {"src/**", "src/a/b", true},
    {"src/**", "src", false},
    {"src/**", "srcs/a", false},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**/b", "ab", false},
    {"a/**/b", "a/xb", false},
    {"**/**/b", "b", true},
    {"a**b", "axxb", true},
    {"a**b", "a/b", false},
    {"a/b**", "a/bc/d", false},
    {"{src,tests}/**/*.c", "tests/unit/x.c", true},
    {"{src,tests}/**/*.c", "docs/x.c", false},
    {"{**/a,b}", "x/y/a", true},
    {"{src/**,b}", "src/x/y", true},
    {"***", "ab", true},
    {"***/a", "x/y/a", true},
};

static const struct {
    const char *pattern, *dir;
    bool leads;
} leads[] = {
    {"*.c", "src", false},
    {"src/*.c", "src", true},
    {"src/*.c", "src/a", false},
    {"src/*.c", "tests", false},
    {"**/*.c", "any/thing", true},
    {"src/**", "src/a/b", true},
    {"src/**", "sr", false},
    {"{a,b}/c/d", "b/c", true},
    {"{a,b}/c/d", "a/d", false},
    {"a", "a", false},
    {"a/", "a", false},
};

static const struct {
    const char *pattern, *message;
} refused[] = {
    {"", "pattern: it is empty"},
    {"[a", "pattern: [ without ] at byte 1"},
    {"x[]", "pattern: [ without ] at byte 2"},
    {"[z-a]", "pattern: a range that runs backwards in [..] at byte 1"},
    {"{a,b", "pattern: { without } at byte 5"},
    {"a}", "pattern: } without { at byte 2"},
    {"a\\", "pattern: nothing after the last backslash at byte 2"},
    {"[\\", "pattern: nothing after the last backslash at byte 2"},
    {"{{{{{{{{{{{{{{{{{a", "pattern: too many { inside each other at byte 17"},
};

static struct mem mem;

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &mem};
        struct glob *g = NULL;

        glob_compile(str_of(rows[i].pattern), &a, &g, NULL);
        tap_ok(g && glob_match(g, str_of(rows[i].path)) == rows[i].matches &&
                   glob_match(g, str_of(rows[i].path)) == rows[i].matches,
               "%s %s %s, twice", rows[i].pattern,
               rows[i].matches ? "matches" : "does not match", rows[i].path);
        arena_free(&a);
    }
    for (size_t i = 0; i < tap_count(leads); i++) {
        struct arena a = {.mem = &mem};
        struct glob *g = NULL;

        glob_compile(str_of(leads[i].pattern), &a, &g, NULL);
        tap_ok(g && glob_leads(g, str_of(leads[i].dir)) == leads[i].leads,
               "%s %s beneath %s", leads[i].pattern,
               leads[i].leads ? "may lie" : "cannot lie", leads[i].dir);
        arena_free(&a);
    }
}

static void test_refused(void)
{
    for (size_t i = 0; i < tap_count(refused); i++) {
        struct arena a = {.mem = &mem};
        struct glob *g = NULL;
        wend_error err = {0};

        tap_ok(glob_compile(str_of(refused[i].pattern), &a, &g, &err) ==
                       WEND_E_PARSE &&
                   !g,
               "refused: %s", refused[i].pattern);
        tap_is_str(err.message, refused[i].message, "  in words");
        arena_free(&a);
    }
}

static void test_limits(void)
{
    char pattern[GLOB_PATTERN_MAX + 1], path[4096];
    struct arena a = {.mem = &mem};
    struct glob *g = NULL;

    memset(pattern, 'x', sizeof pattern);
    tap_is_i64(
        glob_compile((wend_str){pattern, GLOB_PATTERN_MAX - 1}, &a, &g, NULL),
        WEND_OK, "one below the limit");
    tap_is_i64(
        glob_compile((wend_str){pattern, GLOB_PATTERN_MAX}, &a, &g, NULL),
        WEND_OK, "at the limit");
    tap_ok(glob_match(g, (wend_str){pattern, GLOB_PATTERN_MAX}), "  matches");
    tap_is_i64(
        glob_compile((wend_str){pattern, GLOB_PATTERN_MAX + 1}, &a, &g, NULL),
        WEND_E_LIMIT, "one above");
    /* What takes backtracking 2^1000 steps. */
    for (int i = 0; i < GLOB_PATTERN_MAX; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = 'b';
    glob_compile((wend_str){pattern, GLOB_PATTERN_MAX}, &a, &g, NULL);
    tap_ok(!glob_match(g, (wend_str){path, sizeof path}), "many stars");
    tap_ok(glob_steps(g) < (uint64_t)16 * GLOB_PATTERN_MAX * sizeof path,
           "  in %llu steps", (unsigned long long)glob_steps(g));
    arena_free(&a);
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct glob *g = NULL;
        wend_status s = glob_compile(STR("{a,[b-c]}/**/*.c"), &a, &g, NULL);

        bad += (s == WEND_E_NOMEM) != f.hit || (s == WEND_OK) == f.hit;
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "without memory");
}

int main(void)
{
    test_rows();
    test_refused();
    test_limits();
    test_no_memory();
    return tap_done();
}

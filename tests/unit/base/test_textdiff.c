/*
 * test_textdiff.c - diffs: how they look, that they lead from one text to the
 * other, and that none is longer than it must be.
 */
#include "base/textdiff.h"

#include "fault.h"
#include "tap.h"

static const struct mem plain;

static const struct {
    const char *why, *before, *after, *diff;
} rows[] = {
    {"equal", "a\nb\n", "a\nb\n", ""},
    {"both empty", "", "", ""},
    {"a new text", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
    {"nothing is left", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
    {"one line", "a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
    {"three lines around", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
     "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
     "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
    {"two hunks", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "x\n1\n2\n3\n4\n5\n6\n7\ny\n",
     "@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n"
     "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n"},
    {"near ones are one hunk", "a\n1\n2\n3\n4\n5\n6\nb\n",
     "x\n1\n2\n3\n4\n5\n6\ny\n",
     "@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n"},
    {"a line that is not ended", "a\nb", "a\nb\n",
     "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
    {"added at the end", "a\n", "a\nb\n", "@@ -1 +1,2 @@\n a\n+b\n"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &plain};

        textdiff_put(&b, str_of(rows[i].before), str_of(rows[i].after));
        tap_is_str(buf_view(&b), rows[i].diff, "%s", rows[i].why);
        buf_free(&b);
    }
}

static uint64_t seed = 7;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static void put_text(struct buf *b, uint32_t lines, uint32_t kinds)
{
    while (lines-- > 0)
        buf_fmt(b, "%u\n", below(kinds));
}

/* Applies the hunks; counts the changed lines. False: they do not fit. */
static bool apply(wend_str before, wend_str diff, struct buf *out, int *changes)
{
    wend_str line, old;
    long at = 0, from;

    *changes = 0;
    while (diff.len && str_line(&diff, &line)) {
        if (line.ptr[0] == '@') {
            from = strtol(line.ptr + 4, NULL, 10);
            for (; at + 1 < from && before.len; at++) {
                str_line(&before, &old);
                buf_str(out, old);
                buf_char(out, '\n');
            }
            continue;
        }
        *changes += line.ptr[0] != ' ';
        if (line.ptr[0] != '+') {
            if (!str_line(&before, &old) || !str_eq(old, str_skip(line, 1)))
                return false;
            at++;
        }
        if (line.ptr[0] != '-') {
            buf_str(out, str_skip(line, 1));
            buf_char(out, '\n');
        }
    }
    buf_str(out, before);
    return true;
}

/* The lines that must change, by the longest common sequence. */
static int fewest(wend_str a, wend_str b)
{
    enum { MOST = 40 };
    wend_str x[MOST], y[MOST];
    int n = 0, m = 0, best[MOST + 1][MOST + 1] = {{0}};

    while (a.len && str_line(&a, &x[n]))
        n++;
    while (b.len && str_line(&b, &y[m]))
        m++;
    for (int i = n - 1; i >= 0; i--)
        for (int j = m - 1; j >= 0; j--)
            best[i][j] = str_eq(x[i], y[j]) ? best[i + 1][j + 1] + 1
                         : best[i + 1][j] > best[i][j + 1] ? best[i + 1][j]
                                                           : best[i][j + 1];
    return n + m - 2 * best[0][0];
}

static void test_random(void)
{
    int wrong = 0, longer = 0;

    for (int i = 0; i < 5000; i++) {
        struct buf a = {.mem = &plain}, b = {.mem = &plain};
        struct buf diff = {.mem = &plain}, made = {.mem = &plain};
        uint32_t kinds = 2 + below(8);
        int changes = 0;

        put_text(&a, below(30), kinds);
        put_text(&b, below(30), kinds);
        textdiff_put(&diff, buf_view(&a), buf_view(&b));
        wrong += !apply(buf_view(&a), buf_view(&diff), &made, &changes) ||
                 !str_eq(buf_view(&made), buf_view(&b));
        longer += changes != fewest(buf_view(&a), buf_view(&b));
        buf_free(&a);
        buf_free(&b);
        buf_free(&diff);
        buf_free(&made);
    }
    tap_is_i64(wrong, 0, "each diff leads to the new text");
    tap_is_i64(longer, 0, "and changes as few lines as possible");
}

/* Texts without a common line: the work is bounded. */
static void test_large(void)
{
    struct buf a = {.mem = &plain}, b = {.mem = &plain};
    struct buf diff = {.mem = &plain}, made = {.mem = &plain};
    int changes;

    for (int i = 0; i < 50000; i++) {
        buf_fmt(&a, "old %d\n", i);
        buf_fmt(&b, "new %d\n", i);
    }
    textdiff_put(&diff, buf_view(&a), buf_view(&b));
    tap_ok(apply(buf_view(&a), buf_view(&diff), &made, &changes) &&
               str_eq(buf_view(&made), buf_view(&b)),
           "a large one leads to the new text");
    buf_free(&a);
    buf_free(&b);
    buf_free(&diff);
    buf_free(&made);
}

static void test_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        textdiff_put(&b, STR("a\nb\nc\n"), STR("a\nx\nc\nd\n"));
        bad += b.failed != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "each failed allocation is told");
}

int main(void)
{
    test_rows();
    test_random();
    test_large();
    test_memory();
    return tap_done();
}

/*
 * test_bar.c - bars in a line: their place, and that none is invisible.
 */
#include "cli/view/bar.h"

#include "tap.h"

static const struct mem plain;

static const struct {
    const char *why;
    int64_t began, ended;
    const char *wanted; /* in 8 columns, of a picture from 1000 to 1800 */
} rows[] = {
    {"all of it", 1000, 1800, "########"},
    {"the first quarter", 1000, 1200, "##......"},
    {"the last quarter", 1600, 1800, "......##"},
    {"too short to see: one cell", 1300, 1301, "...#...."},
    {"at the very end", 1800, 1800, ".......#"},
    {"begins before the picture", 0, 1100, "#......."},
    {"ends behind it", 1700, 9999, ".......#"},
    {"a log with times in disorder", 1500, 1100, ".....#.."},
    {"a seventh of a seventh: exact", 1100, 1800, ".#######"},
};

int main(void)
{
    const struct bar_scale scale = {1000, 1800}, none = {5, 5};
    struct buf b = {.mem = &plain};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bar bar = {.began_us = rows[i].began, .ended_us = rows[i].ended};

        buf_clear(&b);
        bar_put(&b, &bar, &scale, 8, "#", ".");
        tap_is_str(buf_view(&b), rows[i].wanted, "%s", rows[i].why);
    }
    buf_clear(&b);
    bar_put(&b, &(struct bar){.began_us = 5, .ended_us = 5}, &none, 3, "#",
            ".");
    tap_is_str(buf_view(&b), "#..", "a picture of no time");
    buf_clear(&b);
    bar_put_time(&b, 9999, 8);
    bar_put_time(&b, 10000, 7);
    tap_is_str(buf_view(&b), "  9999ms  10.0s", "durations");
    buf_free(&b);
    return tap_done();
}

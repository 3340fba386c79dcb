/*
 * test_page.c - pages of runs: the cut axis, and how large an index becomes.
 */
#include <stdio.h>
#include <string.h>

#include "cli/page/page.h"

#include "tap.h"

static const struct mem plain;

#define S(seconds) ((int64_t)(seconds)*1000000)

/* ---- The axis ------------------------------------------------------------ */

struct work {
    int64_t from, to; /* in seconds */
};

static const struct {
    const char *why;
    struct work work[4]; /* up to an empty one */
    int64_t gap_at, gap; /* in seconds; gap 0: none */
    size_t cuts;
    int64_t time;      /* in seconds */
    double begin, end; /* where it is, in percent */
} rows[] = {
    {"no cut: in the middle", {{0, 100}}, 0, 0, 0, 50, 50, 50},
    {"idle for 19 s: no cut", {{0, 1}, {20, 30}}, 0, 0, 0, 15, 50, 50},
    {"idle for less than a tenth",
     {{0, 500}, {530, 600}},
     0,
     0,
     0,
     300,
     50,
     50},
    {"idle for long: the end of what was before",
     {{0, 10}, {1000, 1010}},
     0,
     0,
     1,
     10,
     48,
     48},
    {"idle for long: the begin of what is behind",
     {{0, 10}, {1000, 1010}},
     0,
     0,
     1,
     1000,
     52,
     52},
    {"idle for long: the middle of the cut",
     {{0, 10}, {1000, 1010}},
     0,
     0,
     1,
     505,
     50,
     50},
    {"two of them",
     {{0, 10}, {1000, 1010}, {3000, 3010}},
     0,
     0,
     2,
     3010,
     100,
     100},
    {"work that overlaps hides the idle time of others",
     {{0, 10}, {5, 900}, {850, 1000}},
     0,
     0,
     0,
     500,
     50,
     50},
    {"a gap: what ends at it ends before it",
     {{0, 100}},
     50,
     7200,
     1,
     50,
     52,
     48},
    {"a gap in idle time: one cut",
     {{0, 10}, {1000, 1010}},
     500,
     7200,
     1,
     1000,
     52,
     52},
};

static void test_axis(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct span spans[4] = {{0}};
        struct piece pieces[4] = {{0}};
        struct turn_line line = {.spans = spans};
        struct gap gap = {
            .at_us = S(rows[i].gap_at), .us = S(rows[i].gap), .epoch = 2};
        struct timeline t = {.turns = &line};
        struct arena a = {.mem = &plain};
        struct axis x;

        for (int k = 0; k < 4 && rows[i].work[k].to; k++) {
            pieces[k].began_us = S(rows[i].work[k].from);
            pieces[k].ended_us = S(rows[i].work[k].to);
            spans[k].pieces = &pieces[k];
            spans[k].next =
                k < 3 && rows[i].work[k + 1].to ? &spans[k + 1] : NULL;
            t.scale.ended_us = pieces[k].ended_us;
        }
        t.gaps = gap.us ? &gap : NULL;
        axis_init(&x, &t, &a);
        tap_ok(x.count == rows[i].cuts &&
                   axis_begin(&x, S(rows[i].time)) == rows[i].begin &&
                   axis_end(&x, S(rows[i].time)) == rows[i].end,
               "%s: %zu cuts, %.2f, %.2f", rows[i].why, x.count,
               axis_begin(&x, S(rows[i].time)), axis_end(&x, S(rows[i].time)));
        arena_free(&a);
    }
}

/* ---- Durations ----------------------------------------------------------- */

static const struct {
    int64_t us;
    const char *wanted;
} times[] = {
    {0, "&lt;0.1 ms"},     {99, "&lt;0.1 ms"},        {100, "0.1 ms"},
    {9999, "9.9 ms"},      {10000, "10 ms"},          {999999, "999 ms"},
    {1000000, "1.0 s"},    {4123456, "4.1 s"},        {S(125), "2 m 05 s"},
    {S(8040), "2 h 14 m"}, {S(3 * 86400), "3 d 0 h"},
};

static void test_times(void)
{
    struct buf b = {.mem = &plain};

    for (size_t i = 0; i < tap_count(times); i++) {
        buf_clear(&b);
        page_put_time(&b, times[i].us);
        tap_is_str(buf_view(&b), times[i].wanted, "%lld us",
                   (long long)times[i].us);
    }
    buf_free(&b);
}

/* ---- An index ------------------------------------------------------------ */

/* A run that has more of everything than fits, in text that grows when it is
 * escaped. */
static void fold_large(struct timeline *t, wend_str id, wend_str text)
{
    const wend_ev_error error = {.code = STR("auth"), .message = text};
    wend_event ev = {.run = id, .in_turn = true};

#define TELL(TYPE, member, ...)                           \
    (ev.type = WEND_##TYPE, ev.seq++, ev.time_us += S(1), \
     ev.u.member = (wend_ev_##member){__VA_ARGS__}, timeline_event(t, &ev))
    TELL(RUN_START, run_start, .prompt = text, .agent = text, .model = text,
         .parent_run = id);
    for (int turn = 0; turn < 30; turn++) {
        TELL(TURN_START, turn_start, .counter = turn, .id = text);
        TELL(MODEL_START, model_start, .model = text);
        TELL(MODEL_END, model_end, .outcome = WEND_OUTCOME_FAILED, .text = text,
             .thinking = text, .error = &error);
        TELL(CALL_START, call_start, .call = STR("c"), .name = text,
             .args_json = text);
        TELL(CALL_END, call_end, .call = STR("c"),
             .outcome = WEND_OUTCOME_FAILED, .output = text, .error = &error);
        TELL(WARNING, warning, .message = text);
        TELL(TURN_END, turn_end, .outcome = WEND_OUTCOME_FAILED);
    }
    TELL(RUN_END, run_end, .outcome = WEND_OUTCOME_FAILED, .text = text,
         .error = &error);
#undef TELL
    timeline_end(t);
}

static void test_index(void)
{
    static char large[4000];
    static char ids[PAGE_RUNS_MAX][40];
    static wend_str list[PAGE_RUNS_MAX];
    struct buf b = {.mem = &plain};
    struct page_index x = {.out = &b, .ids = list, .count = PAGE_RUNS_MAX};
    struct timeline t;

    memset(large, '<', sizeof large);
    for (int i = 0; i < PAGE_RUNS_MAX; i++) {
        snprintf(ids[i], sizeof ids[i], "00000000-0000-7000-8000-%012d", i);
        list[i] = str_of(ids[i]);
    }
    x.bytes = page_index_share(x.count);
    page_index_open(&x);
    timeline_init(&t, &plain, 64 << 10);
    fold_large(&t, list[0], (wend_str){large, sizeof large});
    for (int i = 0; i < PAGE_RUNS_MAX; i++) {
        t.run = list[i];
        page_index_add(&x, &t);
    }
    page_index_close(&x);
    tap_ok(!b.failed && b.len < PAGE_BYTES_MAX && b.len > PAGE_BYTES_MAX / 4,
           "1,000 large runs: %zu bytes, less than %d", b.len, PAGE_BYTES_MAX);
    tap_ok(memmem(b.ptr, b.len,
                  "href=\"#r-00000000-0000-7000-8000-000000000000", 40) != NULL,
           "links between them");
    arena_free(&t.arena);
    buf_free(&b);
}

int main(void)
{
    test_axis();
    test_times();
    test_index();
    return tap_done();
}

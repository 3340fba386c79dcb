/*
 * test_live.c - the panel of a run: what it shows, and how it gives way.
 */
#include "cli/term.h"
#include "cli/view/panel.h"
#include "cli/view/status.h"

#include "tap.h"

static const struct mem plain;

static void shows(const struct status *s, size_t rows, int64_t now_us,
                  const char *wanted, const char *why)
{
    struct buf b = {.mem = &plain};

    status_put(s, &b, 60, rows, now_us);
    tap_is_str(buf_view(&b), wanted, "%s", why);
    buf_free(&b);
}

static void call(struct status *s, wend_event_type type, wend_str id,
                 int64_t time_us)
{
    wend_event ev = {.type = type, .time_us = time_us};

    if (type == WEND_CALL_START)
        ev.u.call_start = (wend_ev_call_start){
            .call = id, .name = id, .args_json = STR("{}")};
    else
        ev.u.call_end = (wend_ev_call_end){.call = id, .name = id};
    status_event(s, &ev);
}

static void test_status(void)
{
    struct status s = {0};
    wend_event ev = {.type = WEND_RUN_START};

    shows(&s, 9, 0, "", "nothing to wait for");
    ev.u.run_start.config_json = STR("{\"context_tokens\":1000}");
    status_event(&s, &ev);
    ev = (wend_event){.type = WEND_MODEL_START, .time_us = 1000000};
    ev.u.model_start.model = STR("m");
    status_event(&s, &ev);
    shows(&s, 9, 4000000, "asking m 3.0 s\n", "a request");
    ev = (wend_event){.type = WEND_THINKING_DELTA, .time_us = 5000000};
    status_event(&s, &ev);
    shows(&s, 9, 25000000, "thinking 20 s\n", "thinking");
    ev = (wend_event){.type = WEND_MODEL_RETRY, .time_us = 25000000};
    ev.u.model_retry.delay_ms = 4000;
    status_event(&s, &ev);
    shows(&s, 9, 26000000, "next attempt in 3.0 s\n", "a retry");
    ev = (wend_event){.type = WEND_MODEL_END, .time_us = 27000000};
    ev.u.model_end.usage =
        (wend_ev_usage){.input = 100, .output = 20, .cost_nano = 1500000};
    status_event(&s, &ev);
    call(&s, WEND_CALL_START, STR("a"), 27000000);
    shows(&s, 9, 28000000,
          "... 1.0 s a {}\n100 + 20 tokens, $0.0015; context 12 %\n",
          "a call, tokens, cost, context");
}

/* More calls than are named: those that were never named are counted. */
static void test_many(void)
{
    static const char ids[] = "abcdefghijkl";
    struct status s = {0};

    for (size_t i = 0; ids[i]; i++)
        call(&s, WEND_CALL_START, (wend_str){ids + i, 1}, 1000000);
    shows(&s, 4, 2000000, "... 1.0 s a {}\n... 1.0 s b {}\n... 10 more calls\n",
          "few rows");
    for (size_t i = 0; i < 10; i++)
        call(&s, WEND_CALL_END, (wend_str){ids + i, 1}, 2000000);
    shows(&s, 9, 3000000, "... 2 more calls\n", "the named ones ended first");
    call(&s, WEND_CALL_END, STR("k"), 3000000);
    call(&s, WEND_CALL_END, STR("l"), 3000000);
    shows(&s, 9, 3000000, "", "all ended");
}

static void test_panel(void)
{
    struct panel p = {.shown.mem = &plain};
    struct buf b = {.mem = &plain};

    panel_resize(&p, 20, 10, false);
    panel_paint(&p, &b, STR("one\ntwo\n"), 5);
    tap_is_str(buf_view(&b), "\none\033[K\ntwo\033[K", "below open text");
    buf_clear(&b);
    panel_paint(&p, &b, STR("one\ntwo\n"), 5);
    tap_is_str(buf_view(&b), "", "the same again: nothing");
    panel_paint(&p, &b, STR("one\n"), 5);
    tap_is_str(buf_view(&b), "\r\033[1Aone\033[K\033[J", "fewer rows");
    buf_clear(&b);
    panel_lift(&p, &b);
    tap_is_str(buf_view(&b), "\r\033[K\033[A\033[5C", "back to the text");
    buf_clear(&b);
    panel_lift(&p, &b);
    tap_is_str(buf_view(&b), "", "nothing to lift");
    panel_paint(&p, &b, STR("0123456789012345\nx\n"), 20);
    panel_resize(&p, 8, 10, true);
    buf_clear(&b);
    panel_lift(&p, &b);
    tap_is_str(buf_view(&b), "\r\033[2A\033[K\033[B\033[J\033[A\033[A\033[4C",
               "a terminal that wraps anew has more rows");
    panel_resize(&p, 20, 10, true);
    panel_paint(&p, &b, STR("> a\n0123456789012345\n"), 0);
    panel_cursor(&p, &b, 1, 3);
    panel_resize(&p, 8, 10, true);
    buf_clear(&b);
    panel_paint(&p, &b, STR("> a\n0123456789012345\n"), 0);
    tap_is_str(buf_view(&b),
               "\r\033[K\033[B\033[J\033[A> a\033[K\n0123456789012345\033[K",
               "... also below the cursor, and is painted anew");
    panel_paint(&p, &b, STR("0123456789\nx\n"), 0);
    panel_cursor(&p, &b, 1, 9);
    panel_resize(&p, 4, 10, true);
    buf_clear(&b);
    panel_lift(&p, &b);
    tap_is_str(buf_view(&b), "\r\033[2A\033[K\033[B\033[J\033[A",
               "... and above it in its line");
    buf_free(&p.shown);
    buf_free(&b);
}

static void test_columns(void)
{
    struct buf b = {.mem = &plain};

    tap_is_i64((int64_t)term_columns(STR("a\033[31mb\033[0m")), 2, "colours");
    tap_is_i64((int64_t)term_column(0, 10, STR("ab\ncd")), 2, "a new line");
    tap_is_i64((int64_t)term_column(8, 10, STR("abc")), 1, "a line that wraps");
    tap_is_i64((int64_t)term_column(8, 10, STR("ab")), 10, "a full line");
    tap_is_i64((int64_t)term_column(0, 10, STR("a\t")), 8, "a tab");
    tap_is_i64((int64_t)term_rows(&b, STR("abcdef\ng"), 4, 2), 1,
               "a row is left out");
    tap_is_str(buf_view(&b), "abc\ndef\n", "rows are narrower than the width");
    buf_free(&b);
}

int main(void)
{
    test_status();
    test_many();
    test_panel();
    test_columns();
    return tap_done();
}

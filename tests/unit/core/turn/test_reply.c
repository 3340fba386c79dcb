/*
 * test_reply.c - what a model has written so far: fragments to whole calls.
 */
#include "core/turn/reply.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;

static void test_text(void)
{
    struct reply r;

    reply_init(&r, &plain, 100);
    tap_ok(!r.pieces && !r.first_us && r.began_us == 100 &&
               r.usage.cost_nano == -1,
           "begins empty, the cost not known");
    reply_thinking(&r, STR("hm"), 150);
    reply_text(&r, STR("a"), 200);
    reply_text(&r, STR("\xc3\xa9"), 300);
    tap_is_str(buf_view(&r.text), "a\xc3\xa9", "text is joined");
    tap_is_str(buf_view(&r.thinking), "hm", "thinking stands apart");
    tap_is_i64(r.pieces, 3, "pieces are counted");
    tap_is_i64(r.first_us, 150, "the first one's time is kept");
    reply_free(&r);
    reply_free(&r);
    tap_ok(!r.mem, "freeing twice is fine");
}

static void test_ids(void)
{
    static const struct {
        const char *why, *given, *wanted;
    } rows[] = {
        {"its own", "call_2", "call_2"},
        {"none: by number, which is taken", "", "call_3"},
        {"the same again", "call_2", "call_2_3"},
        {"none", "", "call_4"},
        {"what was made up before", "call_3", "call_3_5"},
        {"absent", NULL, "call_6"},
    };
    struct reply r;

    reply_init(&r, &plain, 0);
    for (size_t i = 0; i < tap_count(rows); i++) {
        int at = reply_call(&r, str_of(rows[i].given), STR("t"));

        tap_is_i64(at, (int64_t)i, "id, %s: the next index", rows[i].why);
        tap_is_str(reply_call_id(&r, at), rows[i].wanted, "id: %s",
                   rows[i].why);
    }
    reply_free(&r);
}

static void test_seal(void)
{
    static const struct {
        const char *why, *first, *second, *json;
        bool invalid;
    } rows[] = {
        {"nothing is an empty object", "", "", "{}", false},
        {"pieces", "{\"a\":", "1}", "{\"a\":1}", false},
        {"space goes, order and numbers stay", " {\"b\" : 1.50,",
         "\"a\":1e2 } ", "{\"b\":1.50,\"a\":1e2}", false},
        {"a list is JSON", "[1,", "2]", "[1,2]", false},
        {"cut off", "{\"a\":", "", "\"{\\\"a\\\":\"", true},
        {"a duplicate key", "{\"a\":1,", "\"a\":2}",
         "\"{\\\"a\\\":1,\\\"a\\\":2}\"", true},
        {"a bare string is kept as raw text", "\"a\"", "", "\"\\\"a\\\"\"",
         true},
        {"two values", "{}", "{}", "\"{}{}\"", true},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct reply r;
        int at;

        reply_init(&r, &plain, 0);
        at = reply_call(&r, STR_NONE, STR("t"));
        reply_args(&r, at, str_of(rows[i].first), 1);
        reply_args(&r, at, str_of(rows[i].second), 2);
        tap_ok(!r.calls[at].sealed, "args, %s: open", rows[i].why);
        reply_seal(&r, at);
        tap_ok(r.calls[at].sealed && r.calls[at].invalid == rows[i].invalid,
               "args: %s", rows[i].why);
        tap_is_str(r.calls[at].json, rows[i].json, "args, %s: the value",
                   rows[i].why);
        reply_free(&r);
    }
}

/* A JSON string of `bytes` in one list: [".."] */
static void check_size(size_t bytes, bool invalid)
{
    struct reply r;
    struct buf b = {.mem = &plain};
    int at;

    reply_init(&r, &plain, 0);
    at = reply_call(&r, STR_NONE, STR("t"));
    buf_cstr(&b, "[\"");
    while (b.len + 2 < bytes)
        buf_char(&b, 'x');
    buf_cstr(&b, "\"]");
    /* In pieces, so that the end comes when the limit is passed already. */
    for (size_t i = 0; i < b.len; i += 1000)
        reply_args(&r, at,
                   (wend_str){b.ptr + i, b.len - i < 1000 ? b.len - i : 1000},
                   1);
    reply_seal(&r, at);
    tap_ok(r.calls[at].invalid == invalid && !r.failed,
           "arguments of %zu bytes are %s", bytes,
           invalid ? "too many" : "fine");
    tap_ok(r.calls[at].args.len < ARGS_BYTES_MAX + 2000,
           "and no more than needed is kept");
    buf_free(&b);
    reply_free(&r);
}

static void test_limits(void)
{
    struct reply r;
    int bad = 0;

    check_size(ARGS_BYTES_MAX - 1, false);
    check_size(ARGS_BYTES_MAX, false);
    check_size(ARGS_BYTES_MAX + 1, true);
    check_size(ARGS_BYTES_MAX + 5000, true);
    reply_init(&r, &plain, 0);
    for (int i = 0; i < CALLS_MAX; i++)
        bad += reply_call(&r, STR_NONE, STR("t")) != i;
    tap_is_i64(bad, 0, "as many calls as the limit");
    tap_is_i64(reply_call(&r, STR_NONE, STR("t")), -1, "and not one more");
    tap_ok(!r.failed, "which is no failure of memory");
    reply_free(&r);
}

static void test_faults(void)
{
    static const char *const ids[] = {"a", "b", "c", "d", "e"};
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct reply r;

        reply_init(&r, &m, 0);
        reply_text(&r, STR("text"), 1);
        reply_thinking(&r, STR("thinking"), 1);
        for (size_t i = 0; i < tap_count(ids); i++) {
            int at = reply_call(&r, str_of(ids[i]), STR("t"));

            if (at < 0)
                break;
            reply_args(&r, at, STR("{\"a\":[1,\"\\u00e9\"]}"), 1);
            reply_seal(&r, at);
        }
        bad += r.failed != f.hit;
        reply_free(&r);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "each failing allocation sticks, no leak");
}

int main(void)
{
    test_text();
    test_ids();
    test_seal();
    test_limits();
    test_faults();
    return tap_done();
}

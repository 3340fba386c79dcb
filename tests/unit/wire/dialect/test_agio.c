/*
 * test_agio.c - the agio dialect: events in, records as they shall stay.
 *
 * What comes out is compared in a shorter form, see shorten().
 */
#include "dialect_help.h"
#include "fault.h"
#include "wire/dialect/dialect.h"

static const struct story stories[] = {
    {"text run",
     {RUN_START, TURN_0, "context_start {\"budget_tokens\":400}", MODEL_START,
      "text_delta {\"text\":\"he\\\"\"}", "text_delta {\"text\":\"llo\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"he\\\"llo\",\"calls\":[],"
      "\"usage\":{\"input\":9,\"output\":2}}",
      "turn_end {\"outcome\":\"ok\",\"calls\":0,\"failed_calls\":0}",
      "metrics {\"turns\":1,\"model_calls\":1,\"tokens_in\":9,"
      "\"tokens_out\":2}",
      "run_end {\"outcome\":\"ok\",\"text\":\"he\\\"llo\",\"metrics\":{"
      "\"turns\":1,\"tool_calls\":0,\"tokens_in\":9,\"tokens_out\":2,"
      "\"ms\":2250,\"first_token_ms\":250}}"},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "text_delta 41.00 {\"content\":\"he\\\"\",\"step\":1}\n"
     "text_delta 41.25 {\"content\":\"llo\",\"step\":1}\n"
     "text_completed 41.50 {\"content\":\"he\\\"llo\",\"step\":1}\n"
     "usage_update 41.50 {\"prompt_tokens\":9,\"completion_tokens\":2,\""
     "total_tokens\":11,\"step\":1}\n"
     "metrics_snapshot 42.00 {\"total_tokens\":11,\"total_prompt_tokens"
     "\":9,\"total_completion_tokens\":2,\"current_step\":1,\"tool_calls"
     "_count\":0,\"step_duration\":1.75,\"timestamp\":102.000000}\n"
     "step_completed 41.75 {\"step\":1}\n"
     "run_completed 42.25 {\"response\":\"he\\\"llo\",\"metrics\":{\"dur"
     "ation\":2.25,\"steps_count\":1,\"tool_calls_count\":0,\"total_toke"
     "ns\":11,\"response_latency\":0.25}}\n"},

    {"tool turn: calls that started early wait for the message",
     {RUN_START, TURN_0, MODEL_START, CALL_START,
      "text_delta {\"text\":\"hm\"}", MODEL_END_CALL,
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"ok\","
      "\"output\":\"7\",\"truncated\":true,\"ms\":12}",
      "call_start {\"call\":\"c2\",\"name\":\"rm\",\"args\":\"{\\\"a\","
      "\"args_invalid\":true}",
      "call_end {\"call\":\"c2\",\"name\":\"rm\",\"outcome\":\"denied\","
      "\"output\":\"no\",\"ms\":0,\"error\":{\"code\":\"denied\","
      "\"message\":\"not allowed\"}}",
      "turn_end {\"outcome\":\"ok\",\"calls\":2,\"failed_calls\":1}", METRICS,
      TURN_1},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "text_delta 41.00 {\"content\":\"hm\",\"step\":1}\n"
     "text_completed 41.25 {\"content\":\"hm\",\"step\":1}\n"
     "usage_update 41.25 {\"prompt_tokens\":0,\"completion_tokens\":0,\""
     "total_tokens\":0,\"step\":1}\n"
     "tool_call_started 40.75 {\"tool_name\":\"add\",\"tool_call_id\":\""
     "c1\",\"arguments\":{\"a\":1},\"step\":1}\n"
     "tool_call_completed 41.50 {\"tool_name\":\"add\",\"tool_call_id\":"
     "\"c1\",\"result\":\"7\",\"duration\":0.012,\"step\":1} {\"truncate"
     "d\":true}\n"
     "tool_call_started 41.75 {\"tool_name\":\"rm\",\"tool_call_id\":\"c"
     "2\",\"arguments\":\"{\\\"a\",\"step\":1}\n"
     "tool_call_failed 42.00 {\"tool_name\":\"rm\",\"tool_call_id\":\"c2"
     "\",\"duration\":0,\"step\":1,\"error\":\"not allowed\"} {\"outcome"
     "\":\"denied\"}\n"
     "metrics_snapshot 42.50 {\"total_tokens\":0,\"total_prompt_tokens\""
     ":0,\"total_completion_tokens\":0,\"current_step\":1,\"tool_calls_c"
     "ount\":0,\"step_duration\":2.25,\"timestamp\":102.500000}\n"
     "step_completed 42.25 {\"step\":1}\n"
     "step_started 42.75 {\"step\":2}\n"},

    {"failed after a retry",
     {RUN_START, TURN_0, MODEL_START,
      "model_retry {\"attempt\":1,\"delay_ms\":500,\"reason\":\"network\"}",
      "model_end {\"outcome\":\"failed\",\"text\":\"half\",\"calls\":[],"
      "\"error\":{\"code\":\"network\",\"message\":\"gone\"}}",
      "turn_end {\"outcome\":\"failed\",\"calls\":0,\"failed_calls\":0}",
      METRICS,
      "run_end {\"outcome\":\"failed\",\"text\":\"\",\"error\":{\"code\":"
      "\"network\",\"message\":\"gone\"}}"},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "error 40.75 {\"error\":\"network\",\"error_type\":\"model_retry\","
     "\"is_fatal\":false,\"step\":1}\n"
     "error 41.00 {\"error\":\"gone\",\"error_type\":\"network\",\"is_fa"
     "tal\":true,\"step\":1}\n"
     "metrics_snapshot 41.50 {\"total_tokens\":0,\"total_prompt_tokens\""
     ":0,\"total_completion_tokens\":0,\"current_step\":1,\"tool_calls_c"
     "ount\":0,\"step_duration\":1.25,\"timestamp\":101.500000}\n"
     "step_completed 41.25 {\"step\":1}\n"
     "run_failed 41.75 {\"error\":\"gone\"}\n"},

    {"recovered by a retry",
     {RUN_START, TURN_0, MODEL_START,
      "model_retry {\"attempt\":1,\"delay_ms\":500,\"reason\":\"network\","
      "\"usage\":{\"input\":7,\"output\":2}}",
      "text_delta {\"text\":\"hi\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"hi\",\"calls\":[]}"},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "usage_update 40.75 {\"prompt_tokens\":7,\"completion_tokens\":2,\""
     "total_tokens\":9,\"step\":1}\n"
     "error 40.75 {\"error\":\"network\",\"error_type\":\"model_retry\","
     "\"is_fatal\":false,\"step\":1}\n"
     "text_delta 41.00 {\"content\":\"hi\",\"step\":1}\n"
     "text_completed 41.25 {\"content\":\"hi\",\"step\":1}\n"
     "usage_update 41.25 {\"prompt_tokens\":0,\"completion_tokens\":0,\""
     "total_tokens\":0,\"step\":1}\n"},

    {"canceled in a call",
     {RUN_START, TURN_0, MODEL_START,
      "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":"
      "\"c1\",\"name\":\"add\",\"args\":{\"a\":1}}]}",
      CALL_START, "control {\"what\":\"cancel\",\"by\":\"user\"}",
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"canceled\","
      "\"output\":\"canceled\",\"ms\":3}",
      "turn_end {\"outcome\":\"canceled\",\"calls\":1,\"failed_calls\":1}",
      METRICS, "run_end {\"outcome\":\"canceled\",\"text\":\"\"}"},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "usage_update 40.75 {\"prompt_tokens\":0,\"completion_tokens\":0,\""
     "total_tokens\":0,\"step\":1}\n"
     "tool_call_started 41.00 {\"tool_name\":\"add\",\"tool_call_id\":\""
     "c1\",\"arguments\":{\"a\":1},\"step\":1}\n"
     "tool_call_failed 41.50 {\"tool_name\":\"add\",\"tool_call_id\":\"c"
     "1\",\"duration\":0.003,\"step\":1,\"error\":\"canceled\"} {\"outco"
     "me\":\"canceled\"}\n"
     "metrics_snapshot 42.00 {\"total_tokens\":0,\"total_prompt_tokens\""
     ":0,\"total_completion_tokens\":0,\"current_step\":1,\"tool_calls_c"
     "ount\":0,\"step_duration\":1.75,\"timestamp\":102.000000}\n"
     "step_completed 41.75 {\"step\":1}\n"
     "run_cancelled 42.25 {\"reason\":\"user\"}\n"},

    {"a limit",
     {RUN_START, TURN_0,
      "turn_end {\"outcome\":\"ok\",\"calls\":1,\"failed_calls\":0}", METRICS,
      "run_end {\"outcome\":\"limit\",\"text\":\"so far\",\"limit\":"
      "\"turns\"}"},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "metrics_snapshot 40.75 {\"total_tokens\":0,\"total_prompt_tokens\""
     ":0,\"total_completion_tokens\":0,\"current_step\":1,\"tool_calls_c"
     "ount\":0,\"step_duration\":0.5,\"timestamp\":100.750000}\n"
     "step_completed 40.50 {\"step\":1}\n"
     "run_completed 41.00 {\"response\":\"so far\",\"metrics\":{\"durati"
     "on\":0,\"steps_count\":1,\"tool_calls_count\":0,\"total_tokens\":0"
     ",\"response_latency\":0}} {\"limit\":\"turns\"}\n"},

    {"a summary that failed, a message that was cut off: not for readers",
     {RUN_START, TURN_0, MODEL_START,
      "model_end {\"outcome\":\"failed\",\"purpose\":\"summary\",\"text\":"
      "\"x\",\"calls\":[],\"error\":{\"code\":\"e\",\"message\":\"m\"}}",
      MODEL_START,
      "model_end {\"outcome\":\"superseded\",\"text\":\"x\",\"calls\":[]}"},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "error 40.75 {\"error\":\"m\",\"error_type\":\"e\",\"is_fatal\":fal"
     "se,\"step\":1}\n"},

    {"actions, one of them skipped, warnings and errors",
     {RUN_START,
      "action_start {\"action\":\"a1\",\"name\":\"fetch\",\"type\":\"tool\","
      "\"params\":{\"u\":1}}",
      "action_end {\"action\":\"a1\",\"name\":\"fetch\",\"outcome\":\"ok\","
      "\"output\":{\"x\":[1]},\"ms\":1500,\"cached\":true}",
      "action_end {\"action\":\"a2\",\"name\":\"skip\",\"outcome\":"
      "\"skipped\",\"output\":null,\"ms\":0,\"reason\":\"when\"}",
      "warning {\"code\":\"w\",\"message\":\"careful\"}",
      "error {\"code\":\"e\",\"message\":\"odd\",\"component\":\"tool\"}"},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "tool_call_started 40.25 {\"tool_name\":\"fetch\",\"tool_call_id\":"
     "\"a1\",\"arguments\":{\"u\":1},\"step\":1}\n"
     "tool_call_completed 40.50 {\"tool_name\":\"fetch\",\"tool_call_id"
     "\":\"a1\",\"result\":{\"x\":[1]},\"duration\":1.5,\"step\":1} {\"c"
     "ached\":true}\n"
     "warning 41.00 {\"message\":\"careful\"}\n"
     "error 41.25 {\"error\":\"odd\",\"error_type\":\"e\",\"is_fatal\":f"
     "alse,\"step\":1}\n"},

    {"resumed: a call that ran again is told once",
     {RUN_START, TURN_0, MODEL_START, CUT_CALL},
     "run_started 40.00 {\"query\":\"p\"}\n"
     "step_started 40.25 {\"step\":1}\n"
     "usage_update 40.75 "
     "{\"prompt_tokens\":0,\"completion_tokens\":0,\"total_tokens\":0,\"step\":"
     "1}\n"
     "tool_call_started 41.00 "
     "{\"tool_name\":\"add\",\"tool_call_id\":\"c1\",\"arguments\":{\"a\":1},"
     "\"step\":1}\n"
     "tool_call_completed 42.00 "
     "{\"tool_name\":\"add\",\"tool_call_id\":\"c1\",\"result\":\"7\","
     "\"duration\":0.012,\"step\":1}\n"},
};

/* ---- Whole records, written from the contract ---------------------------- */

#define AT(type, time)                                                       \
    "{\"type\":\"" type "\",\"run_id\":\"r\",\"timestamp\":\"1970-01-01T00:" \
    "01:4" time "0000Z\",\"data\":"
#define END ",\"metadata\":{}}\n"
#define SNAPSHOT(time, stamp, duration, calls)                   \
    AT("metrics_snapshot", time)                                 \
    "{\"total_tokens\":11,\"total_prompt_tokens\":9,"            \
    "\"total_completion_tokens\":2,\"current_step\":1,"          \
    "\"tool_calls_count\":" calls ",\"step_duration\":" duration \
    ",\"timestamp\":" stamp "}" END

static const struct story whole[] = {
    {"text run",
     {RUN_START, TURN_0, MODEL_START, "text_delta {\"text\":\"hi\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"hi\",\"calls\":[],"
      "\"usage\":{\"input\":9,\"output\":2}}",
      "turn_end {\"outcome\":\"ok\",\"calls\":0,\"failed_calls\":0}",
      "metrics {\"turns\":1,\"model_calls\":1,\"tokens_in\":9,"
      "\"tokens_out\":2}",
      "run_end {\"outcome\":\"ok\",\"text\":\"hi\",\"metrics\":{"
      "\"turns\":1,\"tool_calls\":0,\"tokens_in\":9,\"tokens_out\":2,"
      "\"ms\":1750,\"first_token_ms\":500}}"},
     AT("run_started", "0.00") "{\"query\":\"p\"}" END AT(
         "step_started", "0.25") "{\"step\":1}" END
         AT("text_delta", "0.75") "{\"content\":\"hi\",\"step\":1}" END AT(
             "text_completed", "1.00") "{\"content\":\"hi\",\"step\":1}" END
             AT("usage_update",
                "1.00") "{\"prompt_tokens\":9,\"completion_tokens\":2,"
                        "\"total_tokens\":11,\"step\":1}" END SNAPSHOT(
                            "1.50", "101.500000", "1.25", "0")
                            AT("step_completed", "1.25") "{\"step\":1}" END AT(
                                "run_completed",
                                "1.75") "{\"response\":\"hi\",\"metrics\":{"
                                        "\"duration\":1.75,\"steps_count\":1,"
                                        "\"tool_calls_count\":0,"
                                        "\"total_tokens\":11,\"response_"
                                        "latency\":0.5}}" END},

    {"a tool that fails, then cancel",
     {RUN_START, TURN_0, MODEL_START,
      "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":"
      "\"c1\",\"name\":\"add\",\"args\":{\"a\":1}}],\"usage\":{"
      "\"input\":9,\"output\":2}}",
      CALL_START,
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"timeout\","
      "\"output\":\"too slow\",\"ms\":250}",
      "control {\"what\":\"cancel\",\"by\":\"user\"}",
      "turn_end {\"outcome\":\"canceled\",\"calls\":1,\"failed_calls\":1}",
      "metrics {\"turns\":1,\"tool_calls\":1,\"tokens_in\":9,"
      "\"tokens_out\":2}",
      "run_end {\"outcome\":\"canceled\",\"text\":\"\"}"},
     AT("run_started", "0.00") "{\"query\":\"p\"}" END AT(
         "step_started", "0.25") "{\"step\":1}" END
         AT("usage_update",
            "0.75") "{\"prompt_tokens\":9,\"completion_tokens\":2,"
                    "\"total_tokens\":11,\"step\":1}" END AT(
                        "tool_call_started",
                        "1.00") "{\"tool_name\":\"add\",\"tool_call_id\":"
                                "\"c1\",\"arguments\":{\"a\":1},\"step\":1}" END
                                    AT("tool_call_failed",
                                       "1.25") "{\"tool_name\":\"add\",\"tool_"
                                               "call_id\":"
                                               "\"c1\",\"duration\":0.25,"
                                               "\"step\":1,\"error\":\"too "
                                               "slow\"},"
                                               "\"metadata\":{\"outcome\":"
                                               "\"timeout\"}}\n" SNAPSHOT(
                                                   "2.00", "102.000000", "1.75",
                                                   "1")
                                                   AT("step_completed",
                                                      "1.75") "{\"step\":1}" END
                                                       AT("run_cancelled",
                                                          "2.25") "{\"reason\":"
                                                                  "\"user\""
                                                                  "}" END},

    {"a plan file is one step, its actions are tool calls",
     {"run_start {\"prompt\":\"p\",\"plan\":{\"wend\":\"plan/1\"}}",
      "plan_start {\"plan\":\"p\",\"name\":\"p\",\"actions\":[]}",
      "action_start {\"action\":\"a\",\"name\":\"get\",\"type\":\"llm\","
      "\"params\":{\"u\":1}}",
      "model_start {\"model\":\"m\",\"attempt\":1,\"action\":\"a\"}",
      "model_end {\"outcome\":\"failed\",\"text\":\"\",\"calls\":[],"
      "\"action\":\"a\",\"error\":{\"code\":\"network\",\"message\":"
      "\"gone\"}}",
      "action_end {\"action\":\"a\",\"name\":\"get\",\"outcome\":"
      "\"failed\",\"output\":null,\"ms\":750,\"error\":{\"code\":"
      "\"network\",\"message\":\"gone\"}}",
      "action_end {\"action\":\"b\",\"name\":\"b\",\"outcome\":"
      "\"skipped\",\"output\":null,\"ms\":0,\"reason\":"
      "\"dependency_failed\"}",
      "plan_end {\"outcome\":\"failed\"}",
      "metrics {\"actions\":2,\"tokens_in\":9,\"tokens_out\":2}",
      "run_end {\"outcome\":\"failed\",\"error\":{\"code\":"
      "\"plan_failed\",\"message\":\"get: gone\"}}"},
     AT("run_started", "0.00") "{\"query\":\"p\"}" END
         AT("step_started", "0.25") "{\"step\":1}" END AT(
             "tool_call_started",
             "0.50") "{\"tool_name\":\"get\",\"tool_call_id\":"
                     "\"a\",\"arguments\":{\"u\":1},\"step\":1}" END AT(
                         "error",
                         "1.00") "{\"error\":\"gone\",\"error_type\":"
                                 "\"network\","
                                 "\"is_fatal\":false,\"step\":1}" END AT(
                                     "tool_call_failed",
                                     "1.25") "{\"tool_name\":\"get\",\"tool_"
                                             "call_id\":"
                                             "\"a\",\"duration\":0.75,\"step\":"
                                             "1,\"error\":\"gone\"},"
                                             "\"metadata\":{\"outcome\":"
                                             "\"failed\"}}\n" SNAPSHOT(
                                                 "2.00", "102.000000", "1.75",
                                                 "1")
                                                 AT("step_completed",
                                                    "1.75") "{\"step\":1}" END
                                                     AT("run_failed",
                                                        "2.25") "{\"error\":"
                                                                "\"get: "
                                                                "gone\"}" END},
};

/* "{"type":"X","run_id":"r","timestamp":"1970-01-01T00:01:4S.FF0000Z",
 * "data":D,"metadata":M}" as "X 4S.FF D M", M left out if it is empty; which
 * also checks that those members are where they belong. */
static void shorten(struct buf *b, wend_str out)
{
    static const char head[] = "{\"type\":\"";
    static const char mid[] =
        "\",\"run_id\":\"r\",\"timestamp\":\"1970-01-01T00:01:";
    static const char data[] = "0000Z\",\"data\":";
    static const char tail[] = ",\"metadata\":";
    const char *end = out.ptr + out.len;

    for (const char *p = out.ptr, *eol; p < end; p = eol + 1) {
        const char *name = p + sizeof head - 1, *name_end, *at, *meta = NULL;

        eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol || strncmp(p, head, sizeof head - 1) != 0)
            break;
        name_end = strchr(name, '"');
        at = name_end + sizeof mid - 1;
        if (strncmp(name_end, mid, sizeof mid - 1) != 0 ||
            strncmp(at + 5, data, sizeof data - 1) != 0)
            break;
        for (const char *q = at; (q = strstr(q, tail)) && q < eol; q++)
            meta = q; /* the last one is it */
        if (!meta || eol[-1] != '}')
            break;
        buf_fmt(b, "%.*s %.5s ", (int)(name_end - name), name, at);
        at += 5 + sizeof data - 1;
        buf_add(b, at, (size_t)(meta - at));
        meta += sizeof tail - 1;
        if (eol - meta > 3)
            buf_fmt(b, " %.*s", (int)(eol - 1 - meta), meta);
        buf_char(b, '\n');
    }
}

static bool feed(const struct story *s, const struct mem *m, bool verbose,
                 struct buf *out)
{
    return story_feed(s, &dialect_agio, m, verbose, out);
}

static void test_stories(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(stories); i++) {
        struct buf out = {.mem = &m}, got = {.mem = &m};

        tap_ok(feed(&stories[i], &m, false, &out), "%s: readable",
               stories[i].why);
        shorten(&got, buf_view(&out));
        if (!tap_is_str(buf_view(&got), stories[i].out, "%s", stories[i].why))
            printf("# whole:\n%s", out.ptr ? out.ptr : "");
        buf_free(&out);
        buf_free(&got);
    }
}

static void test_whole(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(whole); i++) {
        struct buf out = {.mem = &m};

        feed(&whole[i], &m, false, &out);
        tap_is_str(buf_view(&out), whole[i].out, "%s: all of it", whole[i].why);
        buf_free(&out);
    }
}

/* Each name of agio must come up in a story. */
static const char *const names[] = {
    "run_started",
    "step_started",
    "text_delta",
    "text_completed",
    "tool_call_started",
    "tool_call_completed",
    "tool_call_failed",
    "usage_update",
    "metrics_snapshot",
    "step_completed",
    "error",
    "warning",
    "debug",
    "run_completed",
    "run_failed",
    "run_cancelled",
};

static void test_names(void)
{
    struct mem m = {0};
    struct buf quiet = {.mem = &m}, all = {.mem = &m};

    for (size_t i = 0; i < tap_count(stories); i++) {
        feed(&stories[i], &m, false, &quiet);
        feed(&stories[i], &m, true, &all);
    }
    for (size_t i = 0; i < tap_count(names); i++) {
        struct buf want = {.mem = &m};

        buf_fmt(&want, "{\"type\":\"%s\",", names[i]);
        tap_ok(strstr(all.ptr, want.ptr), "%s is emitted", names[i]);
        buf_free(&want);
    }
    tap_ok(!strstr(quiet.ptr, "\"debug\""), "debug only where it is wanted");
    buf_free(&quiet);
    buf_free(&all);
}

static void test_times(void)
{
    static const struct {
        int64_t time_us;
        const char *wanted;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {1763171411123456, "2025-11-15T01:50:11.123456Z"},
        {951782400000000, "2000-02-29T00:00:00.000000Z"},
        {4107542399999999, "2100-02-28T23:59:59.999999Z"},
        {4107542400000000, "2100-03-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
    };
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf out = {.mem = &m};
        wend_event ev = {.type = WEND_WARNING, .time_us = rows[i].time_us};
        struct dialect_stream a;

        dialect_open(&a, &dialect_agio, &m, NULL);
        dialect_event(&a, &ev, &out, false);
        tap_ok(strstr(out.ptr, rows[i].wanted), "%s", rows[i].wanted);
        dialect_close(&a);
        buf_free(&out);
    }
}

static void test_memory(void)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf out = {.mem = &m};
        bool failed;

        feed(&stories[1], &m, false, &out);
        failed = out.failed;
        buf_free(&out);
        bad += f.live != 0 || failed != f.hit;
    }
    tap_is_i64(bad, 0, "a failed allocation sticks and leaks nothing");
}

int main(void)
{
    test_stories();
    test_whole();
    test_names();
    test_times();
    test_memory();
    story_laws(stories, tap_count(stories), &dialect_agio);
    return tap_done();
}

/*
 * test_loom.c - the loom dialect against records written by hand.
 *
 * What comes out is compared in a shorter form, see shorten().
 */
#include "dialect_help.h"
#include "fault.h"
#include "wire/dialect/dialect.h"
#include "tap.h"

static const struct story stories[] = {
    {"text run: no iteration_end after the last turn",
     {RUN_START, TURN_0, "context_start {\"budget_tokens\":400}",
      "context_end {\"tokens\":100,\"parts\":[{\"name\":\"a\"},{\"name\":"
      "\"b\"}],\"prefix_hash\":\"\"}",
      MODEL_START, "text_delta {\"text\":\"he\\\"\"}",
      "text_delta {\"text\":\"llo\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"he\\\"llo\",\"calls\":[]}",
      "turn_end {\"outcome\":\"ok\",\"calls\":0,\"failed_calls\":0}", METRICS,
      "run_end {\"outcome\":\"ok\",\"text\":\"he\\\"llo\",\"metrics\":{"
      "\"turns\":1,\"model_calls\":1}}"},
     "iteration_start 100.250000 @0\n"
     "context_assembly_start 100.500000 @0\n"
     "phase_start 100.500000,\"phase\":\"context_assembly\" @0\n"
     "phase_end 100.750000,\"phase\":\"context_assembly\",\"metadata\":{"
     "\"tokens_used\":100,\"components\":2,\"utilization\":0.25} @0\n"
     "context_assembly_complete 100.750000 @0\n"
     "llm_start 101.000000 @0\n"
     "llm_delta 101.250000,\"content\":\"he\\\"\" @0\n"
     "llm_delta 101.500000,\"content\":\"llo\" @0\n"
     "llm_complete 101.750000,\"content\":\"he\\\"llo\" @0\n"
     "agent_finish 102.500000,\"content\":\"he\\\"llo\",\"metadata\":{"
     "\"turn_counter\":0,\"total_llm_calls\":1} @0\n"},

    {"tool turn: calls that started early wait for tool_calls_start",
     {RUN_START, TURN_0, MODEL_START, CALL_START,
      "call_output {\"call\":\"c1\",\"text\":\"working\"}",
      "text_delta {\"text\":\"hm\"}", MODEL_END_CALL,
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"ok\","
      "\"output\":\"7\",\"truncated\":true,\"ms\":12}",
      "call_start {\"call\":\"c2\",\"name\":\"rm\",\"args\":\"{\\\"a\","
      "\"args_invalid\":true}",
      "call_end {\"call\":\"c2\",\"name\":\"rm\",\"outcome\":\"denied\","
      "\"output\":\"no\",\"ms\":0,\"error\":{\"code\":\"denied\","
      "\"message\":\"no\"}}",
      "turn_end {\"outcome\":\"ok\",\"calls\":2,\"failed_calls\":1}", METRICS,
      TURN_1},
     "iteration_start 100.250000 @0\n"
     "llm_start 100.500000 @0\n"
     "llm_delta 101.250000,\"content\":\"hm\" @0\n"
     "llm_complete 101.500000,\"content\":\"hm\" @0\n"
     "llm_tool_calls 101.500000,\"metadata\":{\"tool_count\":2,"
     "\"tool_names\":[\"add\",\"rm\"]} @0\n"
     "tool_calls_start 101.500000,\"metadata\":{\"total_tools\":2,"
     "\"max_parallel\":3} @0\n"
     "tool_execution_start 100.750000,\"tool_call\":{\"id\":\"c1\","
     "\"name\":\"add\",\"arguments\":{\"a\":1}} @0\n"
     "tool_progress 101.000000,\"metadata\":{\"tool_name\":\"add\","
     "\"status\":\"working\"} @0\n"
     "tool_result 101.750000,\"tool_result\":{\"tool_call_id\":\"c1\","
     "\"tool_name\":\"add\",\"content\":\"7\",\"is_error\":false,"
     "\"execution_time_ms\":12,\"metadata\":{\"truncated\":true}} @0\n"
     "tool_execution_start 102.000000,\"tool_call\":{\"id\":\"c2\","
     "\"name\":\"rm\",\"arguments\":\"{\\\"a\"} @0\n"
     "tool_error 102.250000,\"tool_result\":{\"tool_call_id\":\"c2\","
     "\"tool_name\":\"rm\",\"content\":\"no\",\"is_error\":true,"
     "\"execution_time_ms\":0,\"metadata\":{\"outcome\":\"denied\"}},"
     "\"error\":\"no\" @0\n"
     "tool_calls_complete 102.500000,\"metadata\":{\"results_count\":2} @0\n"
     "iteration_end 102.500000 @0\n"
     "recursion 103.000000,\"metadata\":{\"from_turn\":0,\"to_turn\":1,"
     "\"depth\":1} @1\n"
     "iteration_start 103.000000,\"metadata\":{\"parent_turn_id\":\"t0\"} "
     "@1\n"},

    {"a text turn that goes on, because something was said",
     {RUN_START, TURN_0,
      "turn_end {\"outcome\":\"ok\",\"calls\":0,\"failed_calls\":0}", METRICS,
      TURN_1},
     "iteration_start 100.250000 @0\n"
     "iteration_end 100.500000 @0\n"
     "recursion 101.000000,\"metadata\":{\"from_turn\":0,\"to_turn\":1,"
     "\"depth\":1} @1\n"
     "iteration_start 101.000000,\"metadata\":{\"parent_turn_id\":\"t0\"} "
     "@1\n"},

    {"the limit of turns",
     {RUN_START, TURN_1,
      "turn_end {\"outcome\":\"ok\",\"calls\":1,\"failed_calls\":0}", METRICS,
      "run_end {\"outcome\":\"limit\",\"text\":\"\",\"limit\":\"turns\"}"},
     "recursion 100.250000,\"metadata\":{\"from_turn\":0,\"to_turn\":1,"
     "\"depth\":1} @1\n"
     "iteration_start 100.250000,\"metadata\":{\"parent_turn_id\":\"t0\"} "
     "@1\n"
     "tool_calls_complete 100.500000,\"metadata\":{\"results_count\":1} @1\n"
     "iteration_end 100.500000 @1\n"
     "max_iterations_reached 101.000000,\"metadata\":{\"turn_counter\":2,"
     "\"max_iterations\":2} @1\n"},

    {"another limit is named",
     {RUN_START, TURN_0,
      "turn_end {\"outcome\":\"limit\",\"calls\":0,\"failed_calls\":0}",
      METRICS,
      "run_end {\"outcome\":\"limit\",\"text\":\"\",\"limit\":\"time\"}"},
     "iteration_start 100.250000 @0\n"
     "max_iterations_reached 101.000000,\"metadata\":{\"turn_counter\":1,"
     "\"max_iterations\":2,\"limit\":\"time\"} @0\n"},

    {"canceled in a call",
     {RUN_START, TURN_0, MODEL_START,
      "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":"
      "\"c1\",\"name\":\"add\",\"args\":{\"a\":1}}]}",
      CALL_START, "control {\"what\":\"cancel\",\"by\":\"user\"}",
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"canceled\","
      "\"output\":\"canceled\",\"ms\":3,\"error\":{\"code\":\"canceled\","
      "\"message\":\"canceled\"}}",
      "turn_end {\"outcome\":\"canceled\",\"calls\":1,\"failed_calls\":1}",
      METRICS, "run_end {\"outcome\":\"canceled\",\"text\":\"\"}"},
     "iteration_start 100.250000 @0\n"
     "llm_start 100.500000 @0\n"
     "llm_complete 100.750000,\"content\":\"\" @0\n"
     "llm_tool_calls 100.750000,\"metadata\":{\"tool_count\":1,"
     "\"tool_names\":[\"add\"]} @0\n"
     "tool_calls_start 100.750000,\"metadata\":{\"total_tools\":1,"
     "\"max_parallel\":3} @0\n"
     "tool_execution_start 101.000000,\"tool_call\":{\"id\":\"c1\","
     "\"name\":\"add\",\"arguments\":{\"a\":1}} @0\n"
     "tool_error 101.500000,\"tool_result\":{\"tool_call_id\":\"c1\","
     "\"tool_name\":\"add\",\"content\":\"canceled\",\"is_error\":true,"
     "\"execution_time_ms\":3,\"metadata\":{\"outcome\":\"canceled\"}},"
     "\"error\":\"canceled\" @0\n"
     "tool_calls_complete 101.750000,\"metadata\":{\"results_count\":1} @0\n"
     "iteration_end 101.750000 @0\n"
     "execution_cancelled 102.250000,\"metadata\":{\"correlation_id\":"
     "\"c-9\"} @0\n"},

    {"failed after two retries",
     {RUN_START, TURN_0, MODEL_START,
      "model_retry {\"attempt\":1,\"delay_ms\":500,\"reason\":\"network\"}",
      "model_retry {\"attempt\":2,\"delay_ms\":900,\"reason\":\"network\"}",
      "model_end {\"outcome\":\"failed\",\"text\":\"\",\"calls\":[],"
      "\"error\":{\"code\":\"network\",\"message\":\"gone\"}}",
      "turn_end {\"outcome\":\"failed\",\"calls\":0,\"failed_calls\":0}",
      METRICS,
      "run_end {\"outcome\":\"failed\",\"text\":\"\",\"error\":{\"code\":"
      "\"network\",\"message\":\"gone\"}}"},
     "iteration_start 100.250000 @0\n"
     "llm_start 100.500000 @0\n"
     "recovery_attempt 100.750000,\"error\":\"network\",\"metadata\":{"
     "\"attempt\":1,\"delay_ms\":500} @0\n"
     "recovery_attempt 101.000000,\"error\":\"network\",\"metadata\":{"
     "\"attempt\":2,\"delay_ms\":900} @0\n"
     "recovery_failed 101.250000,\"error\":\"gone\",\"metadata\":{"
     "\"attempts\":2} @0\n"
     "llm_complete 101.250000,\"content\":\"\",\"error\":\"gone\" @0\n"
     "error 102.000000,\"error\":\"gone\" @0\n"},

    {"recovered by a retry",
     {RUN_START, TURN_0, MODEL_START,
      "model_retry {\"attempt\":1,\"delay_ms\":500,\"reason\":\"network\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"hi\",\"calls\":[]}"},
     "iteration_start 100.250000 @0\n"
     "llm_start 100.500000 @0\n"
     "recovery_attempt 100.750000,\"error\":\"network\",\"metadata\":{"
     "\"attempt\":1,\"delay_ms\":500} @0\n"
     "recovery_success 101.000000,\"metadata\":{\"attempts\":1} @0\n"
     "llm_complete 101.000000,\"content\":\"hi\" @0\n"},

    {"retrieval and compaction",
     {RUN_START, TURN_0, "context_start {\"budget_tokens\":0}",
      "retrieval_start {\"query\":\"q\",\"source\":\"s\"}",
      "retrieval_hit {\"title\":\"T\",\"source\":\"s\",\"score\":0.5,"
      "\"tokens\":9}",
      "retrieval_end {\"count\":1}",
      "compacted {\"method\":\"summary\",\"messages_before\":40,"
      "\"messages_after\":5}",
      "context_end {\"tokens\":7,\"parts\":[],\"prefix_hash\":\"\"}"},
     "iteration_start 100.250000 @0\n"
     "context_assembly_start 100.500000 @0\n"
     "phase_start 100.500000,\"phase\":\"context_assembly\" @0\n"
     "retrieval_start 100.750000 @0\n"
     "retrieval_progress 101.000000,\"metadata\":{\"doc_title\":\"T\","
     "\"relevance_score\":0.5} @0\n"
     "retrieval_complete 101.250000,\"metadata\":{\"doc_count\":1} @0\n"
     "compression_applied 101.500000,\"metadata\":{\"messages_before\":40,"
     "\"messages_after\":5} @0\n"
     "phase_end 101.750000,\"phase\":\"context_assembly\",\"metadata\":{"
     "\"tokens_used\":7,\"components\":0,\"utilization\":0} @0\n"
     "context_assembly_complete 101.750000 @0\n"},

    {"what loom does not know is left out",
     {RUN_START, "warning {\"code\":\"x\",\"message\":\"y\"}", TURN_0,
      "thinking_delta {\"text\":\"hm\"}", "args_delta {\"text\":\"{\"}",
      "message {\"role\":\"user\",\"text\":\"and?\"}"},
     "iteration_start 100.500000 @0\n"},

    {"resumed: a call that ran again is told once",
     {RUN_START, TURN_0, MODEL_START, CUT_CALL},
     "iteration_start 100.250000 @0\n"
     "llm_start 100.500000 @0\n"
     "llm_complete 100.750000,\"content\":\"\" @0\n"
     "llm_tool_calls "
     "100.750000,\"metadata\":{\"tool_count\":1,\"tool_names\":[\"add\"]} @0\n"
     "tool_calls_start "
     "100.750000,\"metadata\":{\"total_tools\":1,\"max_parallel\":3} @0\n"
     "tool_execution_start "
     "101.000000,\"tool_call\":{\"id\":\"c1\",\"name\":\"add\",\"arguments\":{"
     "\"a\":1}} @0\n"
     "tool_result "
     "102.000000,\"tool_result\":{\"tool_call_id\":\"c1\",\"tool_name\":"
     "\"add\",\"content\":\"7\",\"is_error\":false,\"execution_time_ms\":12} "
     "@0\n"},
};

/* "{"type":"X","timestamp":T...,"iteration":N,"turn_id":"tN"}" as "X T... @N",
 * which also checks that those members are where they belong. */
static void shorten(struct buf *b, wend_str out)
{
    static const char head[] = "{\"type\":\"", mid[] = "\",\"timestamp\":";
    const char *end = out.ptr + out.len;

    for (const char *p = out.ptr, *eol; p < end; p = eol + 1) {
        char tail[] = ",\"iteration\":0,\"turn_id\":\"t0\"}";
        size_t tail_len = sizeof tail - 1;
        const char *name = p + sizeof head - 1;
        const char *name_end, *rest;

        eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol || strncmp(p, head, sizeof head - 1) != 0)
            break;
        name_end = strchr(name, '"');
        rest = name_end + sizeof mid - 1;
        if (strncmp(name_end, mid, sizeof mid - 1) != 0 ||
            (size_t)(eol - rest) < tail_len)
            break;
        tail[13] = tail[27] = eol[-3];
        if (strncmp(eol - tail_len, tail, tail_len) != 0)
            break;
        buf_add(b, name, (size_t)(name_end - name));
        buf_char(b, ' ');
        buf_add(b, rest, (size_t)(eol - rest) - tail_len);
        buf_fmt(b, " @%c\n", eol[-3]);
    }
}

static bool feed(const struct story *s, const struct mem *m, struct buf *out)
{
    return story_feed(s, &dialect_loom, m, false, out);
}

static void test_stories(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(stories); i++) {
        struct buf out = {.mem = &m}, got = {.mem = &m};

        tap_ok(feed(&stories[i], &m, &out), "%s: readable", stories[i].why);
        shorten(&got, buf_view(&out));
        if (!tap_is_str(buf_view(&got), stories[i].out, "%s", stories[i].why))
            printf("# whole:\n%s", out.ptr ? out.ptr : "");
        buf_free(&out);
        buf_free(&got);
    }
}

/* The 28 names of loom; each must come up in a story. */
static const char *const names[] = {
    "recursion",
    "iteration_start",
    "iteration_end",
    "phase_start",
    "phase_end",
    "context_assembly_start",
    "retrieval_start",
    "retrieval_progress",
    "retrieval_complete",
    "llm_start",
    "llm_delta",
    "llm_complete",
    "llm_tool_calls",
    "tool_calls_start",
    "tool_execution_start",
    "tool_progress",
    "tool_result",
    "tool_error",
    "agent_finish",
    "max_iterations_reached",
    "execution_cancelled",
    "error",
    "recovery_attempt",
    "recovery_success",
    "recovery_failed",
    "compression_applied",
    "tool_calls_complete",
    "context_assembly_complete",
};

static void test_names(void)
{
    struct mem m = {0};
    struct buf out = {.mem = &m};

    for (size_t i = 0; i < tap_count(stories); i++)
        feed(&stories[i], &m, &out);
    for (size_t i = 0; i < tap_count(names); i++) {
        struct buf want = {.mem = &m};

        buf_fmt(&want, "{\"type\":\"%s\",", names[i]);
        tap_ok(strstr(out.ptr, want.ptr), "%s is emitted", names[i]);
        buf_free(&want);
    }
    buf_free(&out);
}

static void test_memory(void)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf out = {.mem = &m};
        bool failed;

        feed(&stories[1], &m, &out);
        failed = out.failed;
        buf_free(&out);
        bad += f.live != 0 || failed != f.hit;
    }
    tap_is_i64(bad, 0, "a failed allocation sticks and leaks nothing");
}

int main(void)
{
    test_stories();
    test_names();
    test_memory();
    story_laws(stories, tap_count(stories), &dialect_loom);
    return tap_done();
}

/*
 * test_cortex.c - the cortex dialect: events in, records as they shall be.
 *
 * What comes out is compared in a shorter form, see shorten(). The records
 * were written from the contract, not from what came out.
 */
#include "dialect_help.h"
#include "fault.h"

#define PLAN_RUN                                                          \
    "run_start {\"prompt\":\"p\",\"agent\":\"a\",\"limits\":{\"turns\":9" \
    "},\"plan\":{\"wend\":\"plan/1\"}}"
#define AGENT_RUN \
    "run_start {\"prompt\":\"p\",\"agent\":\"a\",\"limits\":{\"turns\":2}}"
#define PLANNER_RUN                                                         \
    "run_start {\"prompt\":\"p\",\"agent\":\"a\",\"limits\":{\"turns\":2}," \
    "\"config\":{\"planner\":\"write plans\"}}"
#define TURN_OK "turn_end {\"outcome\":\"ok\",\"calls\":0,\"failed_calls\":0}"
#define STARTED \
    "agent_started 0.00 {\"agent_name\":\"a\",\"execution_id\":\"r\","
#define STARTED_2             \
    STARTED                   \
    "\"max_iterations\":2}\n" \
    "iteration_started 0.25 {\"iteration\":1,\"max_iterations\":2}\n"
#define STARTED_FILE          \
    STARTED                   \
    "\"max_iterations\":1}\n" \
    "iteration_started 0.25 {\"iteration\":1,\"max_iterations\":1}\n"
#define DONE(n) "{\"iteration\":1,\"actions_completed\":" n "}\n"

static const struct story stories[] = {
    {"text run",
     {AGENT_RUN, TURN_0, "context_start {\"budget_tokens\":400}", MODEL_START,
      "thinking_delta {\"text\":\"hm\"}", "text_delta {\"text\":\"he\\\"\"}",
      "text_delta {\"text\":\"llo\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"he\\\"llo\",\"thinking\":"
      "\"hm\",\"calls\":[]}",
      TURN_OK, METRICS,
      "run_end {\"outcome\":\"ok\",\"text\":\"he\\\"llo\",\"metrics\":{"
      "\"turns\":1,\"model_calls\":1,\"tool_calls\":0,\"ms\":2500}}"},
     STARTED_2
     "thought 1.00 {\"text\":\"hm\"}\n"
     "llm_token 1.25 {\"token\":\"he\\\"\",\"cumulative_tokens\":1}\n"
     "llm_token 1.50 {\"token\":\"llo\",\"cumulative_tokens\":2}\n"
     "iteration_completed 2.00 " DONE(
         "0") "termination 2.50 {\"reason\":\"final_answer\",\"iteration\":1}\n"
              "agent_completed 2.50 "
              "{\"execution_id\":\"r\",\"total_iterations\":1,"
              "\"total_actions\":0,\"total_llm_calls\":1,\"total_tool_calls\":"
              "0,"
              "\"duration_seconds\":2.5}\n"},

    {"tool turn: a call that started early comes after its plan",
     {AGENT_RUN, TURN_0, MODEL_START, CALL_START,
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"ok\","
      "\"output\":\"7\",\"ms\":12}",
      MODEL_END_CALL,
      "call_start {\"call\":\"c2\",\"name\":\"rm\",\"args\":{}}",
      "call_end {\"call\":\"c2\",\"name\":\"rm\",\"outcome\":\"denied\","
      "\"output\":\"no\",\"ms\":0,\"error\":{\"code\":\"denied\","
      "\"message\":\"not allowed\"}}",
      "turn_end {\"outcome\":\"ok\",\"calls\":2,\"failed_calls\":1}", METRICS,
      TURN_1, MODEL_START, "text_delta {\"text\":\"x\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"x\",\"calls\":[]}", TURN_OK,
      METRICS,
      "run_end {\"outcome\":\"ok\",\"text\":\"x\",\"metrics\":{\"turns\":2,"
      "\"model_calls\":2,\"tool_calls\":2,\"tool_errors\":1,\"ms\":4000}}"},
     STARTED_2
     "plan_generated 1.25 {\"iteration\":1,\"actions_count\":2,\"actions\":["
     "{\"id\":\"c1\",\"name\":\"add\",\"type\":\"tool\",\"mode\":\"async\","
     "\"depends_on\":[]},{\"id\":\"c2\",\"name\":\"rm\",\"type\":\"tool\","
     "\"mode\":\"async\",\"depends_on\":[]}]}\n"
     "action_started 0.75 {\"type\":\"tool\",\"mode\":\"async\",\"target\":"
     "\"add\",\"parameters\":{\"a\":1}} c1 add\n"
     "action_completed 1.00 {\"status\":\"completed\",\"duration_seconds\":"
     "0.012,\"output\":\"7\",\"has_output\":true} c1 add\n"
     "progress 1.25 {\"done\":1,\"total\":2}\n"
     "action_started 1.50 {\"type\":\"tool\",\"mode\":\"async\",\"target\":"
     "\"rm\",\"parameters\":{}} c2 rm\n"
     "action_failed 1.75 {\"error\":\"not allowed\",\"error_type\":\"denied\"}"
     " c2 rm\n"
     "progress 1.75 {\"done\":2,\"total\":2}\n"
     "iteration_completed 2.00 " DONE(
         "1") "iteration_started 2.50 {\"iteration\":2,\"max_iterations\":2}\n"
              "llm_token 3.00 {\"token\":\"x\",\"cumulative_tokens\":1}\n"
              "iteration_completed 3.50 "
              "{\"iteration\":2,\"actions_completed\":0}\n"
              "termination 4.00 {\"reason\":\"final_answer\",\"iteration\":2}\n"
              "agent_completed 4.00 "
              "{\"execution_id\":\"r\",\"total_iterations\":2,"
              "\"total_actions\":2,\"total_llm_calls\":2,\"total_tool_calls\":"
              "2,"
              "\"duration_seconds\":4}\n"},

    {"plan file: retry, failure, skipped, cached, a model, a forgotten one",
     {PLAN_RUN,
      "plan_start {\"plan\":\"p\",\"name\":\"p\",\"actions\":["
      "{\"id\":\"a\",\"name\":\"get\",\"type\":\"tool\",\"mode\":\"async\","
      "\"depends_on\":[],\"wave\":1,\"estimate_ms\":5},"
      "{\"id\":\"b\",\"name\":\"say\",\"type\":\"llm\",\"mode\":\"sync\","
      "\"depends_on\":[\"a\"],\"wave\":2,\"estimate_ms\":null},"
      "{\"id\":\"k\",\"name\":\"skip\",\"type\":\"tool\",\"mode\":\"sync\","
      "\"depends_on\":[]},"
      "{\"id\":\"c\",\"name\":\"c\",\"type\":\"tool\",\"mode\":\"async\","
      "\"depends_on\":[]},"
      "{\"id\":\"f\",\"name\":\"keep\",\"type\":\"relic\",\"mode\":\"fire_and_"
      "forget\",\"depends_on\":[]}],"
      "\"waves\":2}",
      "action_start {\"action\":\"a\",\"name\":\"get\",\"type\":\"tool\","
      "\"mode\":\"async\",\"target\":\"read_file\",\"params\":{\"p\":1}}",
      "action_retry {\"action\":\"a\",\"attempt\":1,\"delay_ms\":10,"
      "\"error\":{\"code\":\"failed\",\"message\":\"gone\"}}",
      "action_end {\"action\":\"a\",\"name\":\"get\",\"outcome\":\"failed\","
      "\"output\":null,\"ms\":30,\"error\":{\"code\":\"failed\","
      "\"message\":\"gone\"}}",
      "action_end {\"action\":\"k\",\"name\":\"skip\",\"outcome\":"
      "\"skipped\",\"output\":null,\"ms\":0,\"reason\":\"not_chosen\"}",
      "action_start {\"action\":\"c\",\"name\":\"c\",\"type\":\"tool\","
      "\"mode\":\"async\",\"target\":\"now\",\"params\":{}}",
      "action_end {\"action\":\"c\",\"name\":\"c\",\"outcome\":\"ok\","
      "\"cached\":true,\"output\":{\"x\":[1]},\"ms\":0}",
      "action_start {\"action\":\"b\",\"name\":\"say\",\"type\":\"llm\","
      "\"mode\":\"sync\",\"target\":\"default\",\"params\":{}}",
      "model_start {\"model\":\"m\",\"attempt\":1,\"action\":\"b\"}",
      "action_start {\"action\":\"f\",\"name\":\"keep\",\"type\":\"relic\","
      "\"mode\":\"fire_and_forget\",\"target\":\"notes.set\",\"params\":{}}",
      "text_delta {\"text\":\"hi\",\"action\":\"b\"}",
      "model_end {\"outcome\":\"ok\",\"text\":\"hi\",\"thinking\":\"so\","
      "\"calls\":[],\"action\":\"b\"}",
      "action_end {\"action\":\"b\",\"name\":\"say\",\"outcome\":\"ok\","
      "\"output\":\"hi\",\"ms\":1500}",
      "plan_end {\"outcome\":\"failed\",\"ok\":2,\"failed\":1,\"skipped\":1,"
      "\"running\":1}",
      METRICS,
      "action_end {\"action\":\"f\",\"name\":\"keep\",\"outcome\":\"ok\","
      "\"output\":null,\"ms\":9}",
      "run_end {\"outcome\":\"ok\",\"text\":\"{}\",\"metrics\":{"
      "\"model_calls\":1,\"tool_calls\":0,\"actions\":5,\"ms\":4250}}"},
     STARTED_FILE
     "plan_generated 0.25 {\"iteration\":1,\"actions_count\":5,\"actions\":["
     "{\"id\":\"a\",\"name\":\"get\",\"type\":\"tool\",\"mode\":\"async\","
     "\"depends_on\":[]},{\"id\":\"b\",\"name\":\"say\",\"type\":\"llm\","
     "\"mode\":\"sync\",\"depends_on\":[\"a\"]},"
     "{\"id\":\"k\",\"name\":\"skip\",\"type\":\"tool\",\"mode\":\"sync\","
     "\"depends_on\":[]},"
     "{\"id\":\"c\",\"name\":\"c\",\"type\":\"tool\",\"mode\":\"async\","
     "\"depends_on\":[]},"
     "{\"id\":\"f\",\"name\":\"keep\",\"type\":\"relic\",\"mode\":\"fire_and_"
     "forget\",\"depends_on\":[]}]}\n"
     "action_started 0.50 {\"type\":\"tool\",\"mode\":\"async\",\"target\":"
     "\"read_file\",\"parameters\":{\"p\":1}} a get\n"
     "warning 0.75 {\"message\":\"the action is tried again in 10 ms: gone\"}"
     " a get\n"
     "action_failed 1.00 {\"error\":\"gone\",\"error_type\":\"failed\"} a get\n"
     "progress 1.00 {\"done\":1,\"total\":5}\n"
     "action_completed 1.25 {\"status\":\"skipped\",\"duration_seconds\":0,"
     "\"output\":null,\"has_output\":false} k skip\n"
     "progress 1.25 {\"done\":2,\"total\":5}\n"
     "action_started 1.50 {\"type\":\"tool\",\"mode\":\"async\",\"target\":"
     "\"now\",\"parameters\":{}} c c\n"
     "action_completed 1.75 {\"status\":\"completed\",\"duration_seconds\":0,"
     "\"output\":{\"x\":[1]},\"has_output\":true} c c\n"
     "progress 1.75 {\"done\":3,\"total\":5}\n"
     "action_started 2.00 {\"type\":\"llm\",\"mode\":\"sync\",\"target\":"
     "\"default\",\"parameters\":{}} b say\n"
     "action_started 2.50 {\"type\":\"relic\",\"mode\":\"fire_and_forget\","
     "\"target\":\"notes.set\",\"parameters\":{}} f keep\n"
     "llm_token 2.75 {\"token\":\"hi\",\"cumulative_tokens\":1} b say\n"
     "thought 3.00 {\"text\":\"so\"} b say\n"
     "action_completed 3.25 {\"status\":\"completed\",\"duration_seconds\":"
     "1.5,\"output\":\"hi\",\"has_output\":true} b say\n"
     "progress 3.25 {\"done\":4,\"total\":5}\n"
     "action_completed 4.00 {\"status\":\"completed\",\"duration_seconds\":"
     "0.009,\"output\":null,\"has_output\":false} f keep\n"
     "progress 4.00 {\"done\":5,\"total\":5}\n"
     "iteration_completed 4.25 " DONE(
         "3") "termination 4.25 {\"reason\":\"final_answer\",\"iteration\":1}\n"
              "agent_completed 4.25 "
              "{\"execution_id\":\"r\",\"total_iterations\":1,"
              "\"total_actions\":5,\"total_llm_calls\":1,\"total_tool_calls\":"
              "2,"
              "\"duration_seconds\":4.25}\n"},

    {"canceled in a call",
     {AGENT_RUN, TURN_0, MODEL_START,
      "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":"
      "\"c1\",\"name\":\"add\",\"args\":{\"a\":1}}]}",
      CALL_START, "control {\"what\":\"cancel\",\"by\":\"user\"}",
      "call_end {\"call\":\"c1\",\"name\":\"add\",\"outcome\":\"canceled\","
      "\"output\":\"stopped\",\"ms\":3}",
      "turn_end {\"outcome\":\"canceled\",\"calls\":1,\"failed_calls\":1}",
      METRICS, "run_end {\"outcome\":\"canceled\",\"text\":\"\"}"},
     STARTED_2
     "plan_generated 0.75 {\"iteration\":1,\"actions_count\":1,\"actions\":["
     "{\"id\":\"c1\",\"name\":\"add\",\"type\":\"tool\",\"mode\":\"async\","
     "\"depends_on\":[]}]}\n"
     "action_started 1.00 {\"type\":\"tool\",\"mode\":\"async\",\"target\":"
     "\"add\",\"parameters\":{\"a\":1}} c1 add\n"
     "action_failed 1.50 {\"error\":\"stopped\",\"error_type\":\"canceled\"}"
     " c1 add\n"
     "progress 1.50 {\"done\":1,\"total\":1}\n"
     "iteration_completed 1.75 " DONE(
         "0") "termination 2.25 {\"reason\":\"canceled\",\"iteration\":1}\n"
              "agent_failed 2.25 {\"error\":\"the run was "
              "canceled\",\"error_type\":"
              "\"canceled\"}\n"},

    {"the limit of turns",
     {AGENT_RUN, TURN_0,
      "turn_end {\"outcome\":\"ok\",\"calls\":1,\"failed_calls\":0}", METRICS,
      "run_end {\"outcome\":\"limit\",\"text\":\"so far\",\"limit\":"
      "\"turns\",\"metrics\":{\"turns\":1,\"model_calls\":1,\"tool_calls\":1,"
      "\"ms\":1000}}"},
     STARTED_2 "iteration_completed 0.50 " DONE(
         "0") "termination 1.00 "
              "{\"reason\":\"max_iterations\",\"iteration\":1}\n"
              "agent_completed 1.00 "
              "{\"execution_id\":\"r\",\"total_iterations\":1,"
              "\"total_actions\":1,\"total_llm_calls\":1,\"total_tool_calls\":"
              "1,"
              "\"duration_seconds\":1}\n"},

    {"the budget",
     {AGENT_RUN, "run_end {\"outcome\":\"limit\",\"limit\":\"tokens\"}"},
     STARTED "\"max_iterations\":2}\n"
             "termination 0.25 {\"reason\":\"budget\",\"iteration\":0}\n"
             "agent_completed 0.25 {\"execution_id\":\"r\","
             "\"total_iterations\":0,\"total_actions\":0,\"total_llm_calls\":"
             "0,\"total_tool_calls\":0,\"duration_seconds\":0}\n"},

    {"failed after a retry",
     {AGENT_RUN, TURN_0, MODEL_START,
      "model_retry {\"attempt\":1,\"delay_ms\":500,\"reason\":\"network\"}",
      "model_end {\"outcome\":\"failed\",\"text\":\"half\",\"calls\":[],"
      "\"error\":{\"code\":\"network\",\"message\":\"gone\"}}",
      "turn_end {\"outcome\":\"failed\",\"calls\":0,\"failed_calls\":0}",
      METRICS,
      "run_end {\"outcome\":\"failed\",\"text\":\"\",\"error\":{\"code\":"
      "\"network\",\"message\":\"gone\"}}"},
     STARTED_2
     "warning 0.75 {\"message\":\"the model is asked again in 500 ms: "
     "network\"}\n"
     "error 1.00 {\"error\":\"gone\"}\n"
     "iteration_completed 1.25 " DONE(
         "0") "termination 1.75 {\"reason\":\"failed\",\"iteration\":1}\n"
              "agent_failed 1.75 "
              "{\"error\":\"gone\",\"error_type\":\"network\"}\n"},

    {"a plan that the model writes: told once, when it is complete",
     {PLANNER_RUN, TURN_0, MODEL_START,
      "plan_start {\"plan\":\"p1\",\"name\":\"p1\",\"streamed\":true,"
      "\"actions\":[],\"call\":\"c1\"}",
      "plan_action {\"action\":{\"name\":\"a\",\"mode\":\"async\",\"type\":"
      "\"tool\",\"target\":\"now\"}}",
      "action_start {\"action\":\"a\",\"name\":\"a\",\"type\":\"tool\","
      "\"mode\":\"async\",\"target\":\"now\",\"params\":{}}",
      "plan_action {\"action\":{\"id\":\"b\",\"name\":\"bee\",\"type\":"
      "\"tool\",\"depends_on\":[\"a\"]}}",
      "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":"
      "\"c1\",\"name\":\"plan\",\"args\":{}}]}",
      "call_start {\"call\":\"c1\",\"name\":\"plan\",\"args\":{}}",
      "action_end {\"action\":\"a\",\"name\":\"a\",\"outcome\":\"ok\","
      "\"output\":1,\"ms\":1}",
      "action_end {\"action\":\"b\",\"name\":\"b\",\"outcome\":\"timeout\","
      "\"output\":null,\"ms\":1}",
      "plan_end {\"outcome\":\"failed\",\"ok\":1,\"failed\":1,\"skipped\":0,"
      "\"running\":0}",
      METRICS,
      "call_end {\"call\":\"c1\",\"name\":\"plan\",\"outcome\":\"failed\","
      "\"output\":\"{}\",\"ms\":3}",
      "turn_end {\"outcome\":\"ok\",\"calls\":1,\"failed_calls\":1}", METRICS,
      "run_end {\"outcome\":\"limit\",\"limit\":\"loop\",\"metrics\":{"
      "\"turns\":1,\"model_calls\":1,\"tool_calls\":1,\"actions\":2,"
      "\"ms\":4000}}"},
     STARTED_2
     "plan_generated 1.75 {\"iteration\":1,\"actions_count\":2,\"actions\":["
     "{\"id\":\"a\",\"name\":\"a\",\"type\":\"tool\",\"mode\":\"async\","
     "\"depends_on\":[]},{\"id\":\"b\",\"name\":\"bee\",\"type\":\"tool\","
     "\"mode\":\"sync\",\"depends_on\":[\"a\"]}]}\n"
     "action_started 1.25 {\"type\":\"tool\",\"mode\":\"async\",\"target\":"
     "\"now\",\"parameters\":{}} a a\n"
     "action_completed 2.25 {\"status\":\"completed\",\"duration_seconds\":"
     "0.001,\"output\":1,\"has_output\":true} a a\n"
     "progress 2.25 {\"done\":1,\"total\":2}\n"
     "action_failed 2.50 {\"error\":\"timeout\",\"error_type\":\"timeout\"}"
     " b b\n"
     "progress 2.50 {\"done\":2,\"total\":2}\n"
     "iteration_completed 3.50 " DONE(
         "1") "termination 4.00 {\"reason\":\"no_progress\",\"iteration\":1}\n"
              "agent_completed 4.00 "
              "{\"execution_id\":\"r\",\"total_iterations\":1,"
              "\"total_actions\":2,\"total_llm_calls\":1,\"total_tool_calls\":"
              "1,"
              "\"duration_seconds\":4}\n"},

    {"a plan that is refused, and one without actions",
     {PLANNER_RUN, TURN_0, MODEL_START,
      "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":"
      "\"c1\",\"name\":\"plan\",\"args\":{}}]}",
      "call_start {\"call\":\"c1\",\"name\":\"plan\",\"args\":{}}",
      "call_end {\"call\":\"c1\",\"name\":\"plan\",\"outcome\":\"failed\","
      "\"output\":\"\",\"ms\":0,\"error\":{\"code\":\"invalid_plan\","
      "\"message\":\"a cycle\"}}",
      "warning {\"code\":\"no_actions\",\"message\":\"nothing to do\"}",
      "error {\"code\":\"e\",\"message\":\"odd\",\"component\":\"tool\"}",
      "progress {\"done\":3,\"total\":4}", TURN_OK, METRICS,
      "run_end {\"outcome\":\"ok\",\"text\":\"\",\"metrics\":{\"turns\":1,"
      "\"model_calls\":1,\"tool_calls\":1}}"},
     STARTED_2
     "error 1.25 {\"error\":\"a cycle\"}\n"
     "warning 1.50 {\"message\":\"nothing to do\"}\n"
     "error 1.75 {\"error\":\"odd\"}\n"
     "progress 2.00 {\"done\":3,\"total\":4}\n"
     "iteration_completed 2.25 " DONE(
         "0") "termination 2.75 {\"reason\":\"no_actions\",\"iteration\":1}\n"
              "agent_completed 2.75 "
              "{\"execution_id\":\"r\",\"total_iterations\":1,"
              "\"total_actions\":0,\"total_llm_calls\":1,\"total_tool_calls\":"
              "0,"
              "\"duration_seconds\":0}\n"},

    {"a tool that happens to be called plan",
     {AGENT_RUN, TURN_0, MODEL_START,
      "model_end {\"outcome\":\"ok\",\"text\":\"\",\"calls\":[{\"id\":"
      "\"c1\",\"name\":\"plan\",\"args\":{}}]}",
      "call_start {\"call\":\"c1\",\"name\":\"plan\",\"args\":{}}",
      "call_end {\"call\":\"c1\",\"name\":\"plan\",\"outcome\":\"ok\","
      "\"output\":\"x\",\"ms\":1000}"},
     STARTED_2
     "plan_generated 0.75 {\"iteration\":1,\"actions_count\":1,\"actions\":["
     "{\"id\":\"c1\",\"name\":\"plan\",\"type\":\"tool\",\"mode\":\"async\","
     "\"depends_on\":[]}]}\n"
     "action_started 1.00 {\"type\":\"tool\",\"mode\":\"async\",\"target\":"
     "\"plan\",\"parameters\":{}} c1 plan\n"
     "action_completed 1.25 {\"status\":\"completed\",\"duration_seconds\":1,"
     "\"output\":\"x\",\"has_output\":true} c1 plan\n"
     "progress 1.25 {\"done\":1,\"total\":1}\n"},

    {"a plan file that fails is planned anew: one more iteration",
     {PLAN_RUN, "plan_start {\"plan\":\"p\",\"name\":\"p\",\"actions\":[]}",
      "plan_end {\"outcome\":\"failed\"}", METRICS, TURN_0, MODEL_START,
      "thinking_delta {\"text\":\"a\"}",
      "plan_start {\"plan\":\"p1\",\"name\":\"p1\",\"streamed\":true,"
      "\"actions\":[],\"call\":\"c1\"}",
      "model_end {\"outcome\":\"failed\",\"text\":\"\",\"thinking\":\"a\","
      "\"calls\":[]}",
      "turn_end {\"outcome\":\"failed\",\"calls\":0,\"failed_calls\":0}"},
     STARTED_FILE "iteration_completed 1.00 " DONE(
         "0") "iteration_started 1.00 {\"iteration\":2,\"max_iterations\":10}\n"
              "thought 1.50 {\"text\":\"a\"}\n"
              "error 2.00 {\"error\":\"the model failed\"}\n"
              "iteration_completed 2.25 "
              "{\"iteration\":2,\"actions_completed\":0}\n"},

    {"resumed: what had begun goes on, and is told once",
     {PLAN_RUN,
      "action_start {\"action\":\"a\",\"name\":\"a\",\"type\":\"tool\","
      "\"mode\":\"async\",\"target\":\"now\",\"params\":{},\"attempt\":1}",
      "run_resume {\"epoch\":2,\"from_seq\":2}",
      "action_end {\"action\":\"a\",\"name\":\"a\",\"outcome\":"
      "\"superseded\",\"output\":null,\"ms\":1}",
      "action_start {\"action\":\"a\",\"name\":\"a\",\"type\":\"tool\","
      "\"mode\":\"async\",\"target\":\"now\",\"params\":{},\"attempt\":2}",
      "action_end {\"action\":\"a\",\"name\":\"a\",\"outcome\":\"ok\","
      "\"output\":1,\"ms\":1}",
      "run_end {\"outcome\":\"ok\",\"text\":\"\",\"metrics\":{"
      "\"actions\":1}}"},
     STARTED "\"max_iterations\":1}\n"
             "action_started 0.25 {\"type\":\"tool\",\"mode\":\"async\","
             "\"target\":\"now\",\"parameters\":{}} a a\n"
             "action_completed 1.25 {\"status\":\"completed\","
             "\"duration_seconds\":0.001,\"output\":1,\"has_output\":true} a "
             "a\n"
             "termination 1.50 {\"reason\":\"final_answer\",\"iteration\":0}\n"
             "agent_completed 1.50 {\"execution_id\":\"r\","
             "\"total_iterations\":0,\"total_actions\":1,\"total_llm_calls\":"
             "0,\"total_tool_calls\":2,\"duration_seconds\":0}\n"},
    {"resumed: a call that ran again is told once",
     {AGENT_RUN, TURN_0, MODEL_START, CUT_CALL},
     "agent_started 0.00 "
     "{\"agent_name\":\"a\",\"execution_id\":\"r\",\"max_iterations\":2}\n"
     "iteration_started 0.25 {\"iteration\":1,\"max_iterations\":2}\n"
     "plan_generated 0.75 "
     "{\"iteration\":1,\"actions_count\":1,\"actions\":[{\"id\":\"c1\","
     "\"name\":\"add\",\"type\":\"tool\",\"mode\":\"async\",\"depends_on\":[]}]"
     "}\n"
     "action_started 1.00 "
     "{\"type\":\"tool\",\"mode\":\"async\",\"target\":\"add\",\"parameters\":{"
     "\"a\":1}} c1 add\n"
     "action_completed 2.00 "
     "{\"status\":\"completed\",\"duration_seconds\":0.012,\"output\":\"7\","
     "\"has_output\":true} c1 add\n"
     "progress 2.00 {\"done\":1,\"total\":1}\n"},
};

/* "{"event_type":"X","timestamp":10S.FF0000,"data":D,"action_id":I,
 * "action_name":N}" as "X S.FF D" and " I N" if there are such; which also
 * checks that those members are where they belong. */
static void shorten(struct buf *b, wend_str out)
{
    static const char head[] = "{\"event_type\":\"";
    static const char mid[] = "\",\"timestamp\":10";
    static const char data[] = "0000,\"data\":";
    static const char none[] = ",\"action_id\":null,\"action_name\":null}";
    const char *end = out.ptr + out.len;

    for (const char *p = out.ptr, *eol; p < end; p = eol + 1) {
        const char *name = p + sizeof head - 1, *name_end, *at, *id = NULL;

        eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol || strncmp(p, head, sizeof head - 1) != 0)
            break;
        name_end = strchr(name, '"');
        at = name_end + sizeof mid - 1;
        if (strncmp(name_end, mid, sizeof mid - 1) != 0 ||
            strncmp(at + 4, data, sizeof data - 1) != 0)
            break;
        for (const char *q = at; (q = strstr(q, ",\"action_id\":")) && q < eol;
             q++)
            id = q; /* the last one is it */
        if (!id)
            break;
        buf_fmt(b, "%.*s %.4s ", (int)(name_end - name), name, at);
        at += 4 + sizeof data - 1;
        buf_add(b, at, (size_t)(id - at));
        if (strncmp(id, none, sizeof none - 1) != 0) {
            char one[40] = "", other[40] = "";

            sscanf(id, ",\"action_id\":\"%30[^\"]\",\"action_name\":\"%30[^\"]",
                   one, other);
            buf_fmt(b, " %s %s", one, other);
        }
        buf_char(b, '\n');
    }
}

static bool feed(const struct story *s, const struct mem *m, struct buf *out)
{
    return story_feed(s, &dialect_cortex, m, false, out);
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

/* Each name of cortex must come up in a story. */
static const char *const names[] = {
    "agent_started",
    "iteration_started",
    "plan_generated",
    "action_started",
    "action_completed",
    "action_failed",
    "llm_token",
    "thought",
    "progress",
    "iteration_completed",
    "termination",
    "warning",
    "error",
    "agent_completed",
    "agent_failed",
};

static void test_names(void)
{
    struct mem m = {0};
    struct buf out = {.mem = &m};

    for (size_t i = 0; i < tap_count(stories); i++)
        feed(&stories[i], &m, &out);
    for (size_t i = 0; i < tap_count(names); i++) {
        struct buf want = {.mem = &m};

        buf_fmt(&want, "{\"event_type\":\"%s\",", names[i]);
        tap_ok(strstr(out.ptr, want.ptr), "%s is emitted", names[i]);
        buf_free(&want);
    }
    buf_free(&out);
}

static void test_memory(void)
{
    for (size_t i = 1; i < 3; i++) {
        struct fault f = {0};
        int64_t bad = 0;

        while (fault_next(&f)) {
            struct mem m = fault_mem(&f);
            struct buf out = {.mem = &m};
            bool failed;

            feed(&stories[i], &m, &out);
            failed = out.failed;
            buf_free(&out);
            bad += f.live != 0 || failed != f.hit;
        }
        tap_is_i64(bad, 0, "%s: a failed allocation sticks and leaks nothing",
                   stories[i].why);
    }
}

int main(void)
{
    test_stories();
    test_names();
    test_memory();
    story_laws(stories, tap_count(stories), &dialect_cortex);
    return tap_done();
}

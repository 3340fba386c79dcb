/*
 * event_fields.c - the fields of every event, in wire order.
 */
#include "core/event/event.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define WORDS(...)                                           \
    {                                                        \
        (const char *const[]){__VA_ARGS__},                  \
            (int)COUNT(((const char *const[]){__VA_ARGS__})) \
    }

const struct event_words outcome_words =
    WORDS("none", "ok", "limit", "canceled", "failed", "superseded", "denied",
          "timeout", "unknown", "skipped");
const struct event_words purpose_words =
    WORDS("answer", "summary", "repair", "plan", "judge", "memory");
const struct event_words class_words = WORDS("unsafe", "idempotent", "read");
const struct event_words category_words =
    WORDS("general", "network", "destructive");
const struct event_words decision_words = WORDS("allow", "deny", "ask");
const struct event_words risk_words =
    WORDS("low", "medium", "high", "critical");

/* One field a line: tools/event-doc reads them. */
/* clang-format off */
/* `,"name":` as it is written, with the place of the name in it. */
#define KEY(name) ",\"" name "\":", sizeof(name) - 1
#define AT(member) offsetof(struct_t, member)
#define STR_F(name, member) {KEY(name), F_STR, 0, AT(member), 0, 0, 0}
#define STR_O(name, member) {KEY(name), F_STR, OPTIONAL, AT(member), 0, 0, 0}
#define STR_N(name, member) {KEY(name), F_STR, NULLABLE, AT(member), 0, 0, 0}
#define JSON_F(name, member, none) \
    {KEY(name), F_JSON, 0, AT(member), none, 0, 0}
#define JSON_O(name, member) {KEY(name), F_JSON, OPTIONAL, AT(member), 0, 0, 0}
#define I64_F(name, member) {KEY(name), F_I64, 0, AT(member), 0, 0, 0}
#define I64_O(name, member) {KEY(name), F_I64, OPTIONAL, AT(member), 0, 0, 0}
#define F64_F(name, member) {KEY(name), F_F64, 0, AT(member), 0, 0, 0}
#define BOOL_F(name, member) {KEY(name), F_BOOL, 0, AT(member), 0, 0, 0}
#define BOOL_O(name, member) {KEY(name), F_BOOL, OPTIONAL, AT(member), 0, 0, 0}
#define NANO_F(name, member) {KEY(name), F_NANO, 0, AT(member), 0, 0, 0}
#define NANO_O(name, member) {KEY(name), F_NANO, OPTIONAL, AT(member), 0, 0, 0}
#define ENUM_F(name, member, words) \
    {KEY(name), F_ENUM, 0, AT(member), 0, &words, 0}
#define OBJ_F(name, member, sub) \
    {KEY(name), F_OBJECT, 0, AT(member), 0, 0, &sub}
#define REF_O(name, member, sub) \
    {KEY(name), F_REF, OPTIONAL, AT(member), 0, 0, &sub}
#define LIST_F(name, member, sub) {KEY(name), F_LIST, 0, AT(member), 0, 0, &sub}

#define TABLE(id) \
    static const struct event_fields id = {id##_list, COUNT(id##_list), \
                                     sizeof(struct_t)}

#define struct_t wend_ev_error
static const struct event_field failure_list[] = {
    STR_F("code", code),
    STR_F("message", message),
    STR_F("component", component),
    BOOL_F("retryable", retryable),
    BOOL_F("effect_possible", effect_possible),
};
TABLE(failure);
#undef struct_t

#define struct_t wend_ev_usage
static const struct event_field usage_list[] = {
    I64_F("input", input),
    I64_F("output", output),
    I64_F("cached", cached),
    I64_F("reasoning", reasoning),
    NANO_O("cost", cost_nano),
    I64_O("cache_write", cache_write),
    BOOL_O("estimated", estimated),
};
TABLE(usage);
#undef struct_t

#define struct_t wend_ev_policy
static const struct event_field policy_list[] = {
    ENUM_F("decision", decision, decision_words),
    ENUM_F("risk", risk, risk_words),
    JSON_F("layers", layers_json, "[]"),
    STR_F("rule", rule),
};
TABLE(policy);
#undef struct_t

#define struct_t wend_ev_call
static const struct event_field call_list[] = {
    STR_F("id", id),
    STR_F("name", name),
    JSON_F("args", args_json, "{}"),
};
TABLE(call);
#undef struct_t

#define struct_t wend_ev_limits
static const struct event_field limits_list[] = {
    I64_F("turns", turns),
    I64_F("time_ms", time_ms),
    I64_F("tokens", tokens),
    NANO_F("cost", cost_nano),
    I64_F("parallel", parallel),
};
TABLE(limits);
#undef struct_t

#define struct_t wend_ev_metrics
static const struct event_field metrics_list[] = {
    I64_F("turns", turns),
    I64_F("model_calls", model_calls),
    I64_F("tool_calls", tool_calls),
    I64_F("tool_errors", tool_errors),
    I64_F("actions", actions),
    I64_F("tokens_in", tokens_in),
    I64_F("tokens_out", tokens_out),
    I64_F("tokens_cached", tokens_cached),
    NANO_F("cost", cost_nano),
    I64_F("ms", ms),
    I64_F("first_token_ms", first_token_ms),
};
TABLE(metrics);
#undef struct_t

#define struct_t wend_ev_run_start
static const struct event_field run_start_list[] = {
    STR_F("prompt", prompt),
    JSON_O("messages", messages_json),
    STR_F("agent", agent),
    STR_F("model", model),
    STR_O("user", user),
    STR_O("session", session),
    STR_F("cwd", cwd),
    JSON_F("context", context_json, "{}"),
    STR_F("correlation_id", correlation_id),
    STR_O("parent_run", parent_run),
    STR_O("parent_call", parent_call),
    JSON_O("plan", plan_json),
    OBJ_F("limits", limits, limits),
    JSON_F("labels", labels_json, "{}"),
    JSON_F("config", config_json, "{}"),
};
TABLE(run_start);
#undef struct_t

#define struct_t wend_ev_run_fork
static const struct event_field run_fork_list[] = {
    STR_F("parent", parent),
    I64_F("at", at),
    STR_O("model", model),
    REF_O("limits", limits, limits),
    JSON_O("config", config_json),
};
TABLE(run_fork);
#undef struct_t

#define struct_t wend_ev_run_resume
static const struct event_field run_resume_list[] = {
    I64_F("epoch", epoch),
    I64_F("from_seq", from_seq),
    JSON_F("unsettled", unsettled_json, "[]"),
    STR_O("model", model),
    REF_O("limits", limits, limits),
    JSON_O("config", config_json),
    BOOL_O("imported", imported),
};
TABLE(run_resume);
#undef struct_t

#define struct_t wend_ev_run_end
static const struct event_field run_end_list[] = {
    ENUM_F("outcome", outcome, outcome_words),
    STR_F("text", text),
    STR_O("limit", limit),
    REF_O("error", error, failure),
    OBJ_F("metrics", metrics, metrics),
};
TABLE(run_end);
#undef struct_t

#define struct_t wend_ev_turn_start
static const struct event_field turn_start_list[] = {
    I64_F("counter", counter),
    STR_F("id", id),
    STR_N("parent_id", parent_id),
    BOOL_F("compacted", compacted),
};
TABLE(turn_start);
#undef struct_t

#define struct_t wend_ev_turn_end
static const struct event_field turn_end_list[] = {
    ENUM_F("outcome", outcome, outcome_words),
    I64_F("calls", calls),
    I64_F("failed_calls", failed_calls),
};
TABLE(turn_end);
#undef struct_t

#define struct_t wend_ev_context_start
static const struct event_field context_start_list[] = {
    I64_F("budget_tokens", budget_tokens),
};
TABLE(context_start);
#undef struct_t

#define struct_t wend_ev_retrieval_start
static const struct event_field retrieval_start_list[] = {
    STR_F("query", query),
    STR_F("source", source),
};
TABLE(retrieval_start);
#undef struct_t

#define struct_t wend_ev_retrieval_hit
static const struct event_field retrieval_hit_list[] = {
    STR_F("title", title),
    STR_F("source", source),
    F64_F("score", score),
    I64_F("tokens", tokens),
};
TABLE(retrieval_hit);
#undef struct_t

#define struct_t wend_ev_retrieval_end
static const struct event_field retrieval_end_list[] = {
    I64_F("count", count),
    REF_O("error", error, failure),
};
TABLE(retrieval_end);
#undef struct_t

#define struct_t wend_ev_compacted
static const struct event_field compacted_list[] = {
    STR_F("method", method),
    I64_F("messages_before", messages_before),
    I64_F("messages_after", messages_after),
    I64_F("tokens_before", tokens_before),
    I64_F("tokens_after", tokens_after),
    JSON_F("topics", topics_json, "[]"),
    I64_F("attempts", attempts),
};
TABLE(compacted);
#undef struct_t

#define struct_t wend_ev_context_end
static const struct event_field context_end_list[] = {
    I64_F("tokens", tokens),
    JSON_F("parts", parts_json, "[]"),
    STR_F("prefix_hash", prefix_hash),
    JSON_O("prefix_changed", prefix_changed_json),
};
TABLE(context_end);
#undef struct_t

#define struct_t wend_ev_model_start
static const struct event_field model_start_list[] = {
    STR_F("model", model),
    I64_F("attempt", attempt),
    ENUM_F("purpose", purpose, purpose_words),
    STR_O("action", action),
    STR_O("branch", branch),
    I64_F("messages", messages),
    I64_F("tools", tools),
};
TABLE(model_start);
#undef struct_t

#define struct_t wend_ev_delta
static const struct event_field delta_list[] = {
    STR_F("text", text),
    STR_O("call", call),
    STR_O("action", action),
    STR_O("branch", branch),
};
TABLE(delta);
static const struct event_field call_output_list[] = {
    STR_F("call", call),
    STR_F("text", text),
};
TABLE(call_output);
static const struct event_field action_output_list[] = {
    STR_F("action", action),
    STR_F("text", text),
};
TABLE(action_output);
#undef struct_t

#define struct_t wend_ev_model_part
static const struct event_field model_part_list[] = {
    STR_F("text", text),
    STR_O("thinking", thinking),
    JSON_F("opaque", opaque_json, "[]"),
};
TABLE(model_part);
#undef struct_t

#define struct_t wend_ev_model_retry
static const struct event_field model_retry_list[] = {
    I64_F("attempt", attempt),
    I64_F("delay_ms", delay_ms),
    STR_F("reason", reason),
    STR_F("next_model", next_model),
    REF_O("usage", usage, usage),
};
TABLE(model_retry);
#undef struct_t

#define struct_t wend_ev_model_end
static const struct event_field model_end_list[] = {
    ENUM_F("outcome", outcome, outcome_words),
    ENUM_F("purpose", purpose, purpose_words),
    STR_F("text", text),
    STR_O("thinking", thinking),
    JSON_F("opaque", opaque_json, "[]"),
    LIST_F("calls", calls, call),
    STR_F("finish", finish),
    OBJ_F("usage", usage, usage),
    I64_F("first_token_ms", first_token_ms),
    I64_F("ms", ms),
    REF_O("error", error, failure),
    STR_O("action", action),
};
TABLE(model_end);
_Static_assert(offsetof(struct_t, calls_count) ==
                   offsetof(struct_t, calls) + sizeof(void *),
               "a list's count follows its pointer");
#undef struct_t

#define struct_t wend_ev_approval_ask
static const struct event_field approval_ask_list[] = {
    STR_O("call", call),
    STR_O("action", action),
    STR_F("name", name),
    JSON_F("args", args_json, "{}"),
    ENUM_F("risk", risk, risk_words),
    JSON_F("layers", layers_json, "[]"),
    STR_F("reason", reason),
    STR_O("rule", rule),
};
TABLE(approval_ask);
#undef struct_t

#define struct_t wend_ev_approval_answer
static const struct event_field approval_answer_list[] = {
    STR_O("call", call),
    STR_O("action", action),
    BOOL_F("yes", yes),
    STR_F("by", by),
    STR_O("remember", remember),
};
TABLE(approval_answer);
#undef struct_t

#define struct_t wend_ev_call_start
static const struct event_field call_start_list[] = {
    STR_F("call", call),
    STR_F("name", name),
    JSON_F("args", args_json, "{}"),
    BOOL_O("args_invalid", args_invalid),
    ENUM_F("class", call_class, class_words),
    STR_F("key", key),
    I64_F("attempt", attempt),
    OBJ_F("policy", policy, policy),
};
TABLE(call_start);
#undef struct_t

#define struct_t wend_ev_call_end
static const struct event_field call_end_list[] = {
    STR_F("call", call),
    STR_F("name", name),
    ENUM_F("outcome", outcome, outcome_words),
    STR_F("output", output),
    BOOL_O("truncated", truncated),
    BOOL_O("cached", cached),
    JSON_O("labels", labels_json),
    I64_F("ms", ms),
    REF_O("error", error, failure),
    BOOL_O("given", given),
    JSON_O("structured", structured_json),
};
TABLE(call_end);
#undef struct_t

#define struct_t wend_ev_plan_start
static const struct event_field plan_start_list[] = {
    STR_F("plan", plan),
    STR_F("name", name),
    BOOL_O("streamed", streamed),
    JSON_F("actions", actions_json, "[]"),
    I64_F("waves", waves),
    I64_F("sequential_ms", sequential_ms),
    I64_F("critical_path_ms", critical_path_ms),
    I64_F("max_parallel", max_parallel),
    STR_O("call", call),
    BOOL_O("auto_parallel", auto_parallel),
};
TABLE(plan_start);
#undef struct_t

#define struct_t wend_ev_plan_action
static const struct event_field plan_action_list[] = {
    JSON_F("action", action_json, "{}"),
    I64_O("estimate_ms", estimate_ms),
    BOOL_O("learned", learned),
};
TABLE(plan_action);
#undef struct_t

#define struct_t wend_ev_action_start
static const struct event_field action_start_list[] = {
    STR_F("action", action),
    STR_F("name", name),
    STR_F("type", type),
    STR_F("mode", mode),
    STR_F("target", target),
    JSON_F("params", params_json, "{}"),
    I64_F("attempt", attempt),
    STR_F("key", key),
    OBJ_F("policy", policy, policy),
};
TABLE(action_start);
#undef struct_t

#define struct_t wend_ev_action_retry
static const struct event_field action_retry_list[] = {
    STR_F("action", action),
    I64_F("attempt", attempt),
    I64_F("delay_ms", delay_ms),
    REF_O("error", error, failure),
};
TABLE(action_retry);
#undef struct_t

#define struct_t wend_ev_action_end
static const struct event_field action_end_list[] = {
    STR_F("action", action),
    STR_F("name", name),
    ENUM_F("outcome", outcome, outcome_words),
    BOOL_O("cached", cached),
    JSON_F("output", output_json, "null"),
    STR_O("output_key", output_key),
    I64_F("ms", ms),
    REF_O("error", error, failure),
    STR_O("reason", reason),
    JSON_O("labels", labels_json),
    BOOL_O("given", given),
};
TABLE(action_end);
#undef struct_t

#define struct_t wend_ev_plan_end
static const struct event_field plan_end_list[] = {
    ENUM_F("outcome", outcome, outcome_words),
    I64_F("ok", ok),
    I64_F("failed", failed),
    I64_F("skipped", skipped),
    I64_F("running", running),
    I64_F("ms", ms),
    I64_O("canceled", canceled),
};
TABLE(plan_end);
#undef struct_t

#define struct_t wend_ev_branch_start
static const struct event_field branch_start_list[] = {
    STR_F("branch", branch),
    I64_F("of_turn", of_turn),
    STR_F("label", label),
};
TABLE(branch_start);
#undef struct_t

#define struct_t wend_ev_branch_end
static const struct event_field branch_end_list[] = {
    STR_F("branch", branch),
    ENUM_F("outcome", outcome, outcome_words),
    STR_F("text", text),
};
TABLE(branch_end);
#undef struct_t

#define struct_t wend_ev_child_start
static const struct event_field child_start_list[] = {
    STR_F("run", run),
    STR_F("agent", agent),
    I64_F("depth", depth),
    STR_O("call", call),
    STR_O("action", action),
};
TABLE(child_start);
#undef struct_t

#define struct_t wend_ev_child_end
static const struct event_field child_end_list[] = {
    STR_F("run", run),
    ENUM_F("outcome", outcome, outcome_words),
    STR_F("text", text),
    JSON_O("labels", labels_json),
    OBJ_F("metrics", metrics, metrics),
};
TABLE(child_end);
#undef struct_t

#define struct_t wend_ev_message
static const struct event_field message_list[] = {
    STR_F("role", role),
    STR_F("text", text),
};
TABLE(message);
#undef struct_t

#define struct_t wend_ev_control
static const struct event_field control_list[] = {
    STR_F("what", what),
    STR_F("by", by),
    JSON_O("value", value_json),
};
TABLE(control);
#undef struct_t

#define struct_t wend_ev_progress
static const struct event_field progress_list[] = {
    I64_F("done", done),
    I64_F("total", total),
    STR_F("label", label),
};
TABLE(progress);
#undef struct_t

#define struct_t wend_ev_warning
static const struct event_field warning_list[] = {
    STR_F("code", code),
    STR_F("message", message),
};
TABLE(warning);
#undef struct_t

#define struct_t wend_ev_error
static const struct event_field error_list[] = {
    STR_F("code", code),
    STR_F("message", message),
    STR_F("component", component),
    BOOL_F("retryable", retryable),
};
TABLE(error);
#undef struct_t
/* clang-format on */

#define thinking_delta delta
#define text_delta delta
#define args_delta delta
static const struct event_fields *const by_type[WEND_EVENT_TYPES] = {
#define X(constant, name, payload, keep) [WEND_##constant] = &name,
    WEND_EVENTS(X)
#undef X
};

const struct event_fields *event_fields(wend_event_type type)
{
    return (unsigned)type < WEND_EVENT_TYPES ? by_type[type] : NULL;
}

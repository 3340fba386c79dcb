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

/* Every struct that has fields, by the name of its table. All begin at 0, so
 * that a member's offset is the one in its struct. */
union payload {
#define X(constant, name, payload, keep) payload name;
    WEND_EVENTS(X)
#undef X
    wend_ev_error failure;
    wend_ev_usage usage;
    wend_ev_policy policy;
    wend_ev_call call, pending;
    wend_ev_part part;
    wend_ev_limits limits;
    wend_ev_unfinished unfinished;
};

/* One field a line: tools/event-doc reads them. */
/* clang-format off */
/* `,"name":` as it is written, with the place of the name in it. */
#define KEY(name) ",\"" name "\":", sizeof(name) - 1
#define AT(member) offsetof(union payload, member)
#define STR_F(name, member) {KEY(name), F_STR, 0, AT(member), 0, 0, 0}
#define STR_O(name, member) {KEY(name), F_STR, OPTIONAL, AT(member), 0, 0, 0}
#define STR_N(name, member) {KEY(name), F_STR, NULLABLE, AT(member), 0, 0, 0}
#define JSON_F(name, member, none) \
    {KEY(name), F_JSON, 0, AT(member), none, 0, 0}
#define JSON_O(name, member) {KEY(name), F_JSON, OPTIONAL, AT(member), 0, 0, 0}
#define CHUNKS_O(name, member) \
    {KEY(name), F_JSON, OPTIONAL | CHUNKED, AT(member), 0, 0, 0}
#define I64_F(name, member) {KEY(name), F_I64, 0, AT(member), 0, 0, 0}
#define I64_O(name, member) {KEY(name), F_I64, OPTIONAL, AT(member), 0, 0, 0}
#define F64_F(name, member) {KEY(name), F_F64, 0, AT(member), 0, 0, 0}
#define BOOL_F(name, member) {KEY(name), F_BOOL, 0, AT(member), 0, 0, 0}
#define BOOL_O(name, member) {KEY(name), F_BOOL, OPTIONAL, AT(member), 0, 0, 0}
/* The word stands for true if the bool behind it is true, too. */
#define BOOL_W(name, member, word) \
    {KEY(name), F_BOOL, OPTIONAL, AT(member), word, 0, 0}
#define NANO_F(name, member) {KEY(name), F_NANO, 0, AT(member), 0, 0, 0}
#define NANO_N(name, member) {KEY(name), F_NANO, NULLABLE, AT(member), 0, 0, 0}
#define NANO_O(name, member) {KEY(name), F_NANO, OPTIONAL, AT(member), 0, 0, 0}
#define ENUM_F(name, member, words) \
    {KEY(name), F_ENUM, 0, AT(member), 0, &words, 0}
#define OBJ_F(name, member, sub) \
    {KEY(name), F_OBJECT, 0, AT(member), 0, 0, &sub}
#define REF_O(name, member, sub) \
    {KEY(name), F_REF, OPTIONAL, AT(member), 0, 0, &sub}
#define LIST_F(name, member, sub) {KEY(name), F_LIST, 0, AT(member), 0, 0, &sub}
#define LIST_O(name, member, sub) \
    {KEY(name), F_LIST, OPTIONAL, AT(member), 0, 0, &sub}

#define FIELDS(id, ...) \
    {(const struct event_field[]){__VA_ARGS__}, \
     COUNT(((const struct event_field[]){__VA_ARGS__})), \
     sizeof(((const union payload *)0)->id)}
#define TABLE(id, ...) \
    static const struct event_fields id = FIELDS(id, __VA_ARGS__)
#define EVENT(type, id, ...) [WEND_##type] = FIELDS(id, __VA_ARGS__)

TABLE(failure,
    STR_F("code", failure.code),
    STR_F("message", failure.message),
    STR_F("component", failure.component),
    BOOL_F("retryable", failure.retryable),
    BOOL_F("effect_possible", failure.effect_possible));

TABLE(usage,
    I64_F("input", usage.input),
    I64_F("output", usage.output),
    I64_F("cached", usage.cached),
    I64_F("reasoning", usage.reasoning),
    NANO_O("cost", usage.cost_nano),
    I64_O("cache_write", usage.cache_write),
    BOOL_O("estimated", usage.estimated));

TABLE(policy,
    ENUM_F("decision", policy.decision, decision_words),
    ENUM_F("risk", policy.risk, risk_words),
    JSON_F("layers", policy.layers_json, "[]"),
    STR_F("rule", policy.rule));

TABLE(call,
    STR_F("id", call.id),
    STR_F("name", call.name),
    JSON_F("args", call.args_json, "{}"));

TABLE(pending,
    STR_F("call", pending.id),
    STR_F("name", pending.name),
    JSON_F("args", pending.args_json, "{}"));

/* `hash` follows `bytes`: store_blob_next finds blobs by PART_MARK. */
TABLE(part,
    STR_F("type", part.type),
    STR_F("media", part.media),
    I64_F("bytes", part.bytes),
    STR_F("hash", part.hash),
    STR_O("name", part.name),
    I64_O("width", part.width),
    I64_O("height", part.height),
    I64_O("pages", part.pages),
    I64_O("ms", part.ms));

TABLE(limits,
    I64_F("turns", limits.turns),
    I64_F("time_ms", limits.time_ms),
    I64_F("tokens", limits.tokens),
    NANO_F("cost", limits.cost_nano),
    I64_F("parallel", limits.parallel));
const struct event_fields *const limits_fields = &limits;
const struct event_fields *const part_fields = &part;

_Static_assert(AT(model_end.calls_count) ==
                   AT(model_end.calls) + sizeof(void *),
               "a list's count follows its pointer");
_Static_assert(AT(run_end.pending_count) ==
                   AT(run_end.pending) + sizeof(void *),
               "a list's count follows its pointer");
_Static_assert(AT(call_end.client) == AT(call_end.given) + sizeof(bool),
               "the word of a bool is behind it");
_Static_assert(AT(run_fork.children_count) ==
                   AT(run_fork.children) + sizeof(void *),
               "a list's count follows its pointer");
_Static_assert(AT(run_start.parts_count) ==
                       AT(run_start.parts) + sizeof(void *) &&
                   AT(run_start.past_parts_count) ==
                       AT(run_start.past_parts) + sizeof(void *) &&
                   AT(call_end.parts_count) ==
                       AT(call_end.parts) + sizeof(void *) &&
                   AT(action_end.parts_count) ==
                       AT(action_end.parts) + sizeof(void *) &&
                   AT(message.parts_count) ==
                       AT(message.parts) + sizeof(void *),
               "a list's count follows its pointer");

/* The payload of an event, and an object in others. */
#define METRICS by_type[WEND_METRICS]
static const struct event_fields by_type[WEND_EVENT_TYPES];

TABLE(unfinished,
    STR_O("call", unfinished.call),
    STR_O("action", unfinished.action),
    STR_F("run", unfinished.run),
    STR_F("input", unfinished.input),
    OBJ_F("metrics", unfinished.metrics, METRICS));

static const struct event_fields by_type[WEND_EVENT_TYPES] = {
    EVENT(RUN_START, run_start,
        STR_F("prompt", run_start.prompt),
        CHUNKS_O("messages", run_start.messages_json),
        STR_F("agent", run_start.agent),
        STR_F("model", run_start.model),
        STR_O("user", run_start.user),
        STR_O("session", run_start.session),
        STR_F("cwd", run_start.cwd),
        JSON_F("context", run_start.context_json, "{}"),
        STR_F("correlation_id", run_start.correlation_id),
        STR_O("parent_run", run_start.parent_run),
        STR_O("parent_call", run_start.parent_call),
        JSON_O("plan", run_start.plan_json),
        OBJ_F("limits", run_start.limits, limits),
        JSON_F("labels", run_start.labels_json, "{}"),
        JSON_F("config", run_start.config_json, "{}"),
        STR_O("follows", run_start.follows),
        JSON_O("past_labels", run_start.past_labels_json),
        LIST_O("parts", run_start.parts, part),
        LIST_O("past_parts", run_start.past_parts, part),
        JSON_O("past_refused", run_start.past_refused_json)),
    EVENT(RUN_FORK, run_fork,
        STR_F("parent", run_fork.parent),
        I64_F("at", run_fork.at),
        STR_O("model", run_fork.model),
        REF_O("limits", run_fork.limits, limits),
        JSON_O("config", run_fork.config_json),
        STR_O("parent_run", run_fork.parent_run),
        STR_O("parent_call", run_fork.parent_call),
        STR_O("user", run_fork.user),
        STR_O("session", run_fork.session),
        STR_O("correlation_id", run_fork.correlation_id),
        JSON_O("labels", run_fork.labels_json),
        REF_O("redone", run_fork.redone, METRICS),
        LIST_O("children", run_fork.children, unfinished)),
    EVENT(RUN_RESUME, run_resume,
        I64_F("epoch", run_resume.epoch),
        I64_F("from_seq", run_resume.from_seq),
        JSON_F("unsettled", run_resume.unsettled_json, "[]"),
        STR_O("model", run_resume.model),
        REF_O("limits", run_resume.limits, limits),
        JSON_O("config", run_resume.config_json),
        BOOL_O("imported", run_resume.imported)),
    EVENT(RUN_END, run_end,
        ENUM_F("outcome", run_end.outcome, outcome_words),
        STR_F("text", run_end.text),
        STR_O("limit", run_end.limit),
        REF_O("error", run_end.error, failure),
        OBJ_F("metrics", run_end.metrics, METRICS),
        LIST_O("pending", run_end.pending, pending)),
    EVENT(TURN_START, turn_start,
        I64_F("counter", turn_start.counter),
        STR_F("id", turn_start.id),
        STR_N("parent_id", turn_start.parent_id),
        BOOL_F("compacted", turn_start.compacted)),
    EVENT(TURN_END, turn_end,
        ENUM_F("outcome", turn_end.outcome, outcome_words),
        I64_F("calls", turn_end.calls),
        I64_F("failed_calls", turn_end.failed_calls)),
    EVENT(CONTEXT_START, context_start,
        I64_F("budget_tokens", context_start.budget_tokens)),
    EVENT(RETRIEVAL_START, retrieval_start,
        STR_F("query", retrieval_start.query),
        STR_F("source", retrieval_start.source)),
    EVENT(RETRIEVAL_HIT, retrieval_hit,
        STR_F("title", retrieval_hit.title),
        STR_F("source", retrieval_hit.source),
        F64_F("score", retrieval_hit.score),
        I64_F("tokens", retrieval_hit.tokens)),
    EVENT(RETRIEVAL_END, retrieval_end,
        I64_F("count", retrieval_end.count),
        REF_O("error", retrieval_end.error, failure)),
    EVENT(COMPACTED, compacted,
        STR_F("method", compacted.method),
        I64_F("messages_before", compacted.messages_before),
        I64_F("messages_after", compacted.messages_after),
        I64_F("tokens_before", compacted.tokens_before),
        I64_F("tokens_after", compacted.tokens_after),
        JSON_F("topics", compacted.topics_json, "[]"),
        I64_F("attempts", compacted.attempts),
        I64_O("from", compacted.from),
        JSON_O("kept", compacted.kept_json),
        JSON_O("results", compacted.results_json),
        STR_O("summary", compacted.summary),
        I64_O("dropped", compacted.dropped)),
    EVENT(CONTEXT_END, context_end,
        I64_F("tokens", context_end.tokens),
        JSON_F("parts", context_end.parts_json, "[]"),
        STR_F("prefix_hash", context_end.prefix_hash),
        JSON_O("prefix_changed", context_end.prefix_changed_json)),
    EVENT(MODEL_START, model_start,
        STR_F("model", model_start.model),
        I64_F("attempt", model_start.attempt),
        ENUM_F("purpose", model_start.purpose, purpose_words),
        STR_O("action", model_start.action),
        STR_O("branch", model_start.branch),
        I64_F("messages", model_start.messages),
        I64_F("tools", model_start.tools),
        I64_O("output_tokens", model_start.output_tokens),
        STR_O("limit", model_start.limit)),
    EVENT(THINKING_DELTA, thinking_delta,
        STR_F("text", thinking_delta.text),
        STR_O("call", thinking_delta.call),
        STR_O("action", thinking_delta.action),
        STR_O("branch", thinking_delta.branch)),
    EVENT(TEXT_DELTA, text_delta,
        STR_F("text", text_delta.text),
        STR_O("call", text_delta.call),
        STR_O("action", text_delta.action),
        STR_O("branch", text_delta.branch)),
    EVENT(ARGS_DELTA, args_delta,
        STR_F("text", args_delta.text),
        STR_O("call", args_delta.call),
        STR_O("action", args_delta.action),
        STR_O("branch", args_delta.branch)),
    EVENT(MODEL_PART, model_part,
        STR_F("text", model_part.text),
        STR_O("thinking", model_part.thinking),
        JSON_F("opaque", model_part.opaque_json, "[]")),
    EVENT(MODEL_RETRY, model_retry,
        I64_F("attempt", model_retry.attempt),
        I64_F("delay_ms", model_retry.delay_ms),
        STR_F("reason", model_retry.reason),
        STR_F("next_model", model_retry.next_model),
        REF_O("usage", model_retry.usage, usage),
        I64_O("output_tokens", model_retry.output_tokens),
        STR_O("limit", model_retry.limit),
        JSON_O("dropped", model_retry.dropped_json)),
    EVENT(MODEL_END, model_end,
        ENUM_F("outcome", model_end.outcome, outcome_words),
        ENUM_F("purpose", model_end.purpose, purpose_words),
        STR_F("text", model_end.text),
        STR_O("thinking", model_end.thinking),
        JSON_F("opaque", model_end.opaque_json, "[]"),
        LIST_F("calls", model_end.calls, call),
        STR_F("finish", model_end.finish),
        OBJ_F("usage", model_end.usage, usage),
        I64_F("first_token_ms", model_end.first_token_ms),
        I64_F("ms", model_end.ms),
        REF_O("error", model_end.error, failure),
        STR_O("action", model_end.action)),
    EVENT(APPROVAL_ASK, approval_ask,
        STR_O("call", approval_ask.call),
        STR_O("action", approval_ask.action),
        STR_F("name", approval_ask.name),
        JSON_F("args", approval_ask.args_json, "{}"),
        ENUM_F("risk", approval_ask.risk, risk_words),
        JSON_F("layers", approval_ask.layers_json, "[]"),
        STR_F("reason", approval_ask.reason),
        STR_O("rule", approval_ask.rule)),
    EVENT(APPROVAL_ANSWER, approval_answer,
        STR_O("call", approval_answer.call),
        STR_O("action", approval_answer.action),
        BOOL_F("yes", approval_answer.yes),
        STR_F("by", approval_answer.by),
        STR_O("remember", approval_answer.remember),
        JSON_O("args", approval_answer.args_json)),
    EVENT(CALL_START, call_start,
        STR_F("call", call_start.call),
        STR_F("name", call_start.name),
        JSON_F("args", call_start.args_json, "{}"),
        BOOL_O("args_invalid", call_start.args_invalid),
        ENUM_F("class", call_start.call_class, class_words),
        STR_F("key", call_start.key),
        I64_F("attempt", call_start.attempt),
        OBJ_F("policy", call_start.policy, policy)),
    EVENT(CALL_OUTPUT, call_output,
        STR_F("call", call_output.call),
        STR_F("text", call_output.text)),
    EVENT(CALL_END, call_end,
        STR_F("call", call_end.call),
        STR_F("name", call_end.name),
        ENUM_F("outcome", call_end.outcome, outcome_words),
        STR_F("output", call_end.output),
        BOOL_O("truncated", call_end.truncated),
        BOOL_O("cached", call_end.cached),
        JSON_O("labels", call_end.labels_json),
        I64_F("ms", call_end.ms),
        REF_O("error", call_end.error, failure),
        BOOL_W("given", call_end.given, "client"),
        JSON_O("structured", call_end.structured_json),
        LIST_O("parts", call_end.parts, part)),
    EVENT(PLAN_START, plan_start,
        STR_F("plan", plan_start.plan),
        STR_F("name", plan_start.name),
        BOOL_O("streamed", plan_start.streamed),
        JSON_F("actions", plan_start.actions_json, "[]"),
        I64_F("waves", plan_start.waves),
        I64_F("sequential_ms", plan_start.sequential_ms),
        I64_F("critical_path_ms", plan_start.critical_path_ms),
        I64_F("max_parallel", plan_start.max_parallel),
        STR_O("call", plan_start.call),
        BOOL_O("auto_parallel", plan_start.auto_parallel)),
    EVENT(PLAN_ACTION, plan_action,
        JSON_F("action", plan_action.action_json, "{}"),
        I64_O("estimate_ms", plan_action.estimate_ms),
        BOOL_O("learned", plan_action.learned)),
    EVENT(ACTION_START, action_start,
        STR_F("action", action_start.action),
        STR_F("name", action_start.name),
        STR_F("type", action_start.type),
        STR_F("mode", action_start.mode),
        STR_F("target", action_start.target),
        JSON_F("params", action_start.params_json, "{}"),
        I64_F("attempt", action_start.attempt),
        STR_F("key", action_start.key),
        OBJ_F("policy", action_start.policy, policy)),
    EVENT(ACTION_OUTPUT, action_output,
        STR_F("action", action_output.action),
        STR_F("text", action_output.text)),
    EVENT(ACTION_RETRY, action_retry,
        STR_F("action", action_retry.action),
        I64_F("attempt", action_retry.attempt),
        I64_F("delay_ms", action_retry.delay_ms),
        REF_O("error", action_retry.error, failure),
        JSON_O("dropped", action_retry.dropped_json)),
    EVENT(ACTION_END, action_end,
        STR_F("action", action_end.action),
        STR_F("name", action_end.name),
        ENUM_F("outcome", action_end.outcome, outcome_words),
        BOOL_O("cached", action_end.cached),
        JSON_F("output", action_end.output_json, "null"),
        STR_O("output_key", action_end.output_key),
        I64_F("ms", action_end.ms),
        REF_O("error", action_end.error, failure),
        STR_O("reason", action_end.reason),
        JSON_O("labels", action_end.labels_json),
        BOOL_O("given", action_end.given),
        LIST_O("parts", action_end.parts, part)),
    EVENT(PLAN_END, plan_end,
        ENUM_F("outcome", plan_end.outcome, outcome_words),
        I64_F("ok", plan_end.ok),
        I64_F("failed", plan_end.failed),
        I64_F("skipped", plan_end.skipped),
        I64_F("running", plan_end.running),
        I64_F("ms", plan_end.ms),
        I64_O("canceled", plan_end.canceled),
        I64_O("unknown", plan_end.unknown)),
    EVENT(BRANCH_START, branch_start,
        STR_F("branch", branch_start.branch),
        I64_F("of_turn", branch_start.of_turn),
        STR_F("label", branch_start.label)),
    EVENT(BRANCH_END, branch_end,
        STR_F("branch", branch_end.branch),
        ENUM_F("outcome", branch_end.outcome, outcome_words),
        STR_F("text", branch_end.text)),
    EVENT(CHILD_START, child_start,
        STR_F("run", child_start.run),
        STR_F("agent", child_start.agent),
        I64_F("depth", child_start.depth),
        STR_O("call", child_start.call),
        STR_O("action", child_start.action),
        STR_O("fork_of", child_start.fork_of)),
    EVENT(CHILD_END, child_end,
        STR_F("run", child_end.run),
        ENUM_F("outcome", child_end.outcome, outcome_words),
        STR_F("text", child_end.text),
        JSON_O("labels", child_end.labels_json),
        OBJ_F("metrics", child_end.metrics, METRICS)),
    EVENT(MESSAGE, message,
        STR_F("role", message.role),
        STR_F("text", message.text),
        BOOL_O("pinned", message.pinned),
        LIST_O("parts", message.parts, part),
        STR_O("by", message.by)),
    EVENT(CONTROL, control,
        STR_F("what", control.what),
        STR_F("by", control.by),
        JSON_O("value", control.value_json)),
    EVENT(METRICS, metrics,
        I64_F("turns", metrics.turns),
        I64_F("model_calls", metrics.model_calls),
        I64_F("tool_calls", metrics.tool_calls),
        I64_F("tool_errors", metrics.tool_errors),
        I64_F("actions", metrics.actions),
        I64_F("tokens_in", metrics.tokens_in),
        I64_F("tokens_out", metrics.tokens_out),
        I64_F("tokens_cached", metrics.tokens_cached),
        NANO_N("cost", metrics.cost_nano),
        I64_F("ms", metrics.ms),
        I64_F("first_token_ms", metrics.first_token_ms)),
    EVENT(PROGRESS, progress,
        I64_F("done", progress.done),
        I64_F("total", progress.total),
        STR_F("label", progress.label)),
    EVENT(WARNING, warning,
        STR_F("code", warning.code),
        STR_F("message", warning.message)),
    EVENT(ERROR, error,
        STR_F("code", error.code),
        STR_F("message", error.message),
        STR_F("component", error.component),
        BOOL_F("retryable", error.retryable)),
};
/* clang-format on */

const struct event_fields *event_fields(wend_event_type type)
{
    return type > WEND_EVENT_NONE && type < WEND_EVENT_TYPES ? &by_type[type]
                                                             : NULL;
}

const wend_ev_part *event_part(const wend_event *ev, size_t i)
{
    const struct event_fields *fs = event_fields(ev->type);

    for (size_t f = 0; fs && f < fs->count; f++) {
        const char *at = (const char *)&ev->u + fs->list[f].offset;
        size_t count;

        if (fs->list[f].sub != &part)
            continue;
        count = *(const size_t *)((const void *const *)(const void *)at + 1);
        if (i < count)
            return *(const wend_ev_part *const *)(const void *)at + i;
        i -= count;
    }
    return NULL;
}

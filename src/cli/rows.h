/*
 * rows.h - rows for the tables of options.
 *
 * A row names the member of struct settings that it sets; a member of a type
 * that the kind does not store is a compile error. Further members of struct
 * opt follow the help text: .letter, .min, .max, .words.
 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include <stddef.h>

#include "cli/cli.h"
#include "wire/dialect/dialect.h"

/* clang-format off */
#define ROW_AT(type, member)                                                  \
    (offsetof(struct settings, member) *                                      \
     _Generic(((struct settings *)0)->member, type: 1))
#define ROW(kind_, type, member, name_, value_, ...)                          \
    {.kind = (kind_), .at = ROW_AT(type, member), .name = (name_),            \
     .value = (value_), .help = __VA_ARGS__}
#define ROW_FLAG(member, name, ...)                                           \
    ROW(OPT_FLAG, bool, member, name, NULL, __VA_ARGS__)
#define ROW_TEXT(member, name, value, ...)                                    \
    ROW(OPT_TEXT, const char *, member, name, value, __VA_ARGS__)
#define ROW_LIST(member, name, value, ...)                                    \
    ROW(OPT_LIST, struct words, member, name, value, __VA_ARGS__)
#define ROW_NUMBER(member, name, value, ...)                                  \
    ROW(OPT_NUMBER, int64_t, member, name, value, __VA_ARGS__)
#define ROW_TIME(member, name, ...)                                           \
    ROW(OPT_TIME, int64_t, member, name, "DUR", __VA_ARGS__)
#define ROW_AGE(member, name, ...)                                            \
    ROW(OPT_AGE, int64_t, member, name, "DUR", __VA_ARGS__)
#define ROW_MONEY(member, name, ...)                                          \
    ROW(OPT_MONEY, int64_t, member, name, "USD", __VA_ARGS__)
#define ROW_FACTOR(member, name, ...)                                         \
    ROW(OPT_FACTOR, double, member, name, "X", __VA_ARGS__)
#define ROW_WORD(member, name, value, words_, ...)                            \
    ROW(OPT_WORD, int64_t, member, name, value, __VA_ARGS__, .words = (words_))

/* ---- Rows of several commands -------------------------------------------- */

/* Every table ends with it. */
#define ROWS_END                                                              \
    ROW_FLAG(help, "help", "show this help", .letter = 'h'), {0}
#define ROW_STORE                                                             \
    ROW_TEXT(store, "store", "URL", "SQLite file (default $WEND_STORE)")
#define ROW_STORE_ANY                                                         \
    ROW_TEXT(store, "store", "URL",                                           \
             "SQLite file or memory: (default $WEND_STORE)")
#define ROW_OUTPUT                                                            \
    ROW_TEXT(output, "output", "FILE",                                        \
             "output file (default standard output)", .letter = 'o')
#define ROW_JSON(help) ROW_FLAG(json, "json", help)
#define ROW_QUIET(help) ROW_FLAG(quiet, "quiet", help, .letter = 'q')
#define ROW_VERBOSE(help) ROW_FLAG(verbose, "verbose", help, .letter = 'v')
#define ROW_EVENTS(when)                                                      \
    ROW_WORD(events, "events", "DIALECT", dialect_names,                      \
             when "event dialect: native, loom, agio, ag-ui, ...")
#define ROWS_EVENTS                                                           \
    ROW_JSON("print all events as JSON lines"), ROW_EVENTS("")
#define ROW_LOG_FILE(when)                                                    \
    ROW_TEXT(log_file, "log-file", "FILE",                                    \
             when "also append all events to FILE as JSON lines")
#define ROW_TRUST_STORE                                                       \
    ROW_FLAG(trust_store, "trust-store",                                      \
             "trust the store even if it was created elsewhere")
#define ROW_STREAM(when)                                                      \
    ROW_FLAG(stream, "stream", when "print text as it comes, also to a pipe")
/* For commands that stream a run; the last rows. */
#define ROWS_TALK                                                             \
    ROW_TEXT(output, "output", "FILE",                                        \
             "write the answer to FILE, all or nothing", .letter = 'o'),      \
    ROW_STREAM(""),                                                           \
    ROW_QUIET("print only the final answer"),                                 \
    ROW_VERBOSE("print details to standard error"),                           \
    ROWS_END

#define ROW_BASE_URL(when)                                                    \
    ROW_TEXT(base_url, "base-url", "URL", when "base URL of the provider's API")
#define ROWS_TLS                                                              \
    ROW_TEXT(ca_file, "ca-file", "FILE",                                      \
             "CA certificates to trust (default: the system's)"),             \
    ROW_FLAG(insecure_http, "insecure-http",                                  \
             "allow keys over plain http to other hosts")
#define ROW_KEY_FILE                                                          \
    ROW_TEXT(key_file, "key-file", "FILE",                                    \
             "file with the API key (default: the environment)")
#define ROWS_PROVIDER                                                         \
    ROW_LIST(fallback, "fallback", "NAME",                                    \
             "model to use when the first one fails"),                        \
    ROW_BASE_URL(""),                                                         \
    ROW_KEY_FILE,                                                             \
    ROWS_TLS
#define ROW_MODELS                                                            \
    ROW_TEXT(models, "models", "FILE",                                        \
             "context windows and prices; see 'wend models'")
#define ROW_PARAM(when)                                                       \
    ROW_LIST(params, "param", "K=V",                                          \
             when "temperature, top_p, seed, ...; may be repeated")
#define ROW_MODEL(help) ROW_TEXT(model, "model", "NAME", help, .letter = 'm')
#define ROW_AGENT(help) ROW_TEXT(agent, "agent", "FILE", help, .letter = 'a')
#define ROW_TOOL(help) ROW_LIST(tools, "tool", "NAME", help, .letter = 't')
#define ROW_FILES(help) ROW_LIST(files, "file", "FILE", help, .letter = 'f')
#define FILES_HELP "image, PDF, audio or text to send; may be repeated"
#define ROW_TOOLS(help) ROW_LIST(tool_files, "tools", "FILE", help)
#define ROW_MCP(help) ROW_LIST(servers, "mcp", "SERVER", help)
#define ROW_APPROVE(help) ROW_LIST(approve, "approve", "WHAT", help)
#define APPROVE_HELP "approval: ask, deny, all or a rule; may be repeated"
#define SANDBOX_HELP "sandbox for tools that run programs"
#define ROW_SANDBOX(help)                                                     \
    ROW_WORD(sandbox, "sandbox", "on|off", on_off_words, help)
/* Another agent for an existing run. */
#define ROWS_AGENT                                                            \
    ROW_AGENT("agent to use instead: a file or a name"),                      \
    ROW_MODEL("model to use instead"),                                        \
    ROWS_PROVIDER,                                                            \
    ROW_MODELS,                                                               \
    ROW_PARAM(""),                                                            \
    ROW_TOOL("tool to offer instead; may be repeated"),                       \
    ROW_TOOLS("file with a tool to offer; may be repeated"),                  \
    ROW_MCP("MCP server instead: NAME=COMMAND or NAME=URL"),                  \
    ROW_APPROVE(APPROVE_HELP),                                                \
    ROW_SANDBOX(SANDBOX_HELP)

/* Limits of a run. */
#define ROW_TURNS(help)                                                       \
    ROW_NUMBER(max_turns, "max-turns", "N", help, .min = 1, .max = UINT32_MAX)
#define ROWS_BUDGET(duration, tokens, cost)                                   \
    ROW_TIME(timeout_ms, "timeout", duration ", such as 30s or 5m"),          \
    ROW_NUMBER(budget_tokens, "budget-tokens", "N", tokens, .min = 1),        \
    ROW_MONEY(budget_cost, "budget-cost", cost)
#define LIMIT_TOKENS "maximum number of tokens, in and out"
#define LIMIT_COST "maximum cost"
#define ROWS_LIMITS(turns, tokens, cost)                                      \
    ROW_TURNS(turns), ROWS_BUDGET("maximum duration of the run", tokens, cost)
#define ROW_PARALLEL(help)                                                    \
    ROW_NUMBER(parallel, "parallel", "N", help, .min = 1, .max = PARALLEL_MAX)

/* What a new run is called, see names_fill. */
#define ROWS_NAMES(when)                                                      \
    ROW_TEXT(user, "user", "NAME", when "user whom the run belongs to"),      \
    ROW_TEXT(session, "session", "NAME", when "session that the run is in"),  \
    ROW_LIST(labels, "label", "KEY=VALUE",                                    \
             when "label of the run; may be repeated"),                       \
    ROW_TEXT(correlation_id, "correlation-id", "ID",                          \
             when "id of another system (default: the run's)")

/* For commands that ask a model anew. */
#define ROWS_ASK                                                              \
    ROW_AGENT("agent: a file or a name (default ./wend.yaml)"),               \
    ROW_MODEL("provider:model or script:FILE (default $WEND_MODEL)"),         \
    ROWS_PROVIDER,                                                            \
    ROW_FLAG(http2, "http2", "use HTTP/2 if the provider supports it"),       \
    ROW_TIME(model_timeout_ms, "model-timeout",                               \
             "maximum duration of one model call (default 30m)"),             \
    ROW_MODELS,                                                               \
    ROW_PARAM(""),                                                            \
    ROW_TEXT(record_dir, "record", "DIR",                                     \
             "record requests and responses in DIR"),                         \
    ROW_TEXT(playback_dir, "playback", "DIR",                                 \
             "answer from recorded responses; no network, no key"),           \
    ROW_TOOL("tool to offer; may be repeated"),                               \
    ROW_TOOLS("file that defines a tool to offer; may be repeated"),          \
    ROW_MCP("MCP server NAME=COMMAND or NAME=URL; may be repeated"),          \
    ROW_FILES(FILES_HELP),                                                    \
    ROW_FLAG(goes_on, "continue",                                             \
             "continue the last conversation of this directory",              \
             .letter = 'c'),                                                  \
    ROW_TEXT(instructions, "instructions", "TEXT",                            \
             "system instructions for the model"),                            \
    ROW_STORE_ANY
#define ROWS_ASK_HOW                                                          \
    ROW_PARALLEL("maximum number of concurrent calls (default 5)"),           \
    ROW_WORD(eager, "eager", "WHICH", eager_words,                            \
             "start calls before the message ends: safe, all, off"),          \
    ROW_WORD(effort, "effort", "LEVEL", effort_words,                         \
             "thinking effort: default, none, low, medium or high"),          \
    ROW_APPROVE(APPROVE_HELP),                                                \
    ROW_WORD(on_unknown, "on-unknown", "WHAT", unknown_words,                 \
             "unknown outcomes: tell, stop, ask, retry or verify"),           \
    ROW_SANDBOX(SANDBOX_HELP),                                                \
    ROW_WORD(notes, "notes", "on|off", on_off_words,                          \
             "tell the model the project's notes, date and branch"),          \
    ROWS_NAMES(""),                                                           \
    ROW_LOG_FILE("")

/* Filters of a listing, see filter_open. */
#define ROWS_FILTER                                                           \
    ROW_WORD(status, "status", "STATUS", status_words,                        \
             "only runs with this status: running, ok, failed, ..."),         \
    ROW_TEXT(user, "user", "NAME", "only runs of this user"),                 \
    ROW_TEXT(session, "session", "NAME", "only runs of this session"),        \
    ROW_TEXT(agent, "agent", "NAME", "only runs of this agent"),              \
    ROW_LIST(labels, "label", "KEY[=VALUE]",                                  \
             "only runs with this label; may be repeated"),                   \
    ROW_TEXT(since, "since", "WHEN",                                          \
             "only runs started since then: 2d, 2026-01-31"),                 \
    ROW_TEXT(until, "until", "WHEN", "only runs started before then"),        \
    ROW_TEXT(grep, "grep", "TEXT",                                            \
             "only runs whose prompt, answer or error has TEXT")
#define ROW_LIMIT(help)                                                       \
    ROW_NUMBER(limit, "limit", "N", help, .letter = 'n', .max = UINT32_MAX)
/* clang-format on */

#endif

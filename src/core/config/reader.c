/*
 * reader.c - read_result, the tool that every run has once it needs it.
 *
 * A model is offered it as soon as a result in its conversation has been cut.
 * No log lists it and no host runs it: the core answers from the conversation
 * (core/context/result.c).
 */
#include "core/config/config.h"

#include "base/limits.h"

#define TEXT(s)               \
    {                         \
        (s), sizeof(s "") - 1 \
    }

const struct tool result_reader = {
    .name = TEXT("read_result"),
    .description = TEXT("Reads a part of an earlier tool result that was cut "
                        "to save room. The note in the cut result says which "
                        "call and offset to give. Gives up to 8 KiB and the "
                        "next offset."),
    .schema_text =
        TEXT("{\"type\":\"object\",\"properties\":{\"call\":{\"type\":"
             "\"string\"},\"offset\":{\"type\":\"integer\",\"minimum\":0}},"
             "\"required\":[\"call\"]}"),
    .call_class = WEND_CLASS_READ,
    .category = WEND_CATEGORY_GENERAL,
    .concurrent = true,
    .own = true,
    .timeout_ms = TOOL_TIMEOUT_DEFAULT_MS,
    .risk = WEND_RISK_LOW,
    .layers_ok = TEXT("[]"),
    .layers_denied = TEXT("[]"),
};

int64_t reader_tokens(void)
{
    return tokens_estimate(result_reader.name.len +
                           result_reader.description.len +
                           result_reader.schema_text.len);
}

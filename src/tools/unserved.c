/*
 * unserved.c - built-in tools that this version does not implement.
 *
 * Models and manifests may name them already: a call fails with a message
 * instead of as an unknown tool.
 */
#include "tools/tools.h"

wend_status tool_search_documents(void *env, wend_call *call)
{
    (void)env;
    return wend_call_fail(call, "no documents are indexed: this version of "
                                "wend has no retrieval yet");
}

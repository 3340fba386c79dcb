/*
 * unserved.c - tools that have their place, and say that this is all.
 *
 * Models and manifests may name them already: what is missing is told as a
 * failed call, not as an unknown tool.
 */
#include "tools/tools.h"

wend_status tool_search_documents(void *env, wend_call *call)
{
    (void)env;
    return wend_call_fail(call, "no documents are indexed: this version of "
                                "wend has no retrieval yet");
}

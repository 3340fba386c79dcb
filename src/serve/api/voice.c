/*
 * voice.c - events of a stream in another vocabulary.
 */
#include "serve/api/api.h"

bool voice_of(struct serve_ask *q, wend_str dialect,
              struct serve_flow_options *o)
{
    (void)o;
    if (!dialect.ptr || str_is(dialect, "native"))
        return true;
    respond_problem(q, 400, "query", "dialect", NULL, "unknown dialect");
    return false;
}

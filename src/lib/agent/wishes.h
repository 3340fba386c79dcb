/*
 * wishes.h - what an agent asks of requests to each of its models. Only for
 * src/lib.
 */
#ifndef LIB_WISHES_H
#define LIB_WISHES_H

#include "base/limits.h"
#include "lib/agent/load.h"
#include "wire/file/models.h"
#include "wire/model/params.h"

enum { WISH_DROPPED_MAX = PARAMS + 2 }; /* each parameter, and `extra` twice */

/* For which model. */
struct wish_model {
    const wend_agent_options *options;
    const struct model *facts; /* its row in the file of models */
    const struct codec *codec; /* NULL: a script */
    bool first;                /* of the agent; the others are in its place */
    bool same_api, same_place; /* as the first one */
};

/* In an arena. */
struct wish {
    struct params params;
    const char *headers[2 * WISH_HEADERS_MAX + 1]; /* NULL at the end */
    size_t headers_count;
    wend_str dropped[WISH_DROPPED_MAX]; /* why, of what the model is not sent */
    size_t dropped_count;
};

/* Refuses what the first model cannot be asked for. */
wend_status wish_make(const struct wish_model *m, struct arena *a,
                      struct wish *out, wend_error *err);
/* The same for what a file says, with the place in it. host: what counts
 * before it. */
wend_status wishes_check(const char *path, const struct wishes *w,
                         const wend_agent_options *host, const char *model,
                         const struct mem *mem, wend_error *err);

/* Whether two models, PROVIDER:MODEL, have the same provider. */
bool wish_same_api(const char *a, const char *b);
/* What is asked of an agent that is made again from the config in a log: what
 * is taken from the host counts before it. */
wend_status wishes_past(struct load *l, const struct json *config,
                        uint32_t take, wend_agent_options *o);

#endif

/*
 * wishes.h - what a file wants of requests to models: parameters, more fields,
 * headers. Files of agents and of models have the same keys for it.
 */
#ifndef WIRE_WISHES_H
#define WIRE_WISHES_H

#include "core/config/params.h"
#include "wire/file/manifest_read.h"

/* Rows of a mapping whose target has a `struct wishes`. */
#define WISH(type, member, key, p)                                          \
    {                                                                       \
        key, wishes_read_param, .offset = offsetof(type, member.params[p]), \
                                .max = (p)                                  \
    }
#define WISH_ROWS(type, member)                                               \
    WISH(type, member, "temperature", PARAM_TEMPERATURE),                     \
        WISH(type, member, "top_p", PARAM_TOP_P),                             \
        WISH(type, member, "top_k", PARAM_TOP_K),                             \
        WISH(type, member, "stop", PARAM_STOP),                               \
        WISH(type, member, "seed", PARAM_SEED),                               \
        WISH(type, member, "presence_penalty", PARAM_PRESENCE_PENALTY),       \
        WISH(type, member, "frequency_penalty", PARAM_FREQUENCY_PENALTY),     \
        {"extra", wishes_read_extra, .offset = offsetof(type, member.extra)}, \
    {                                                                         \
        "headers", field_map,                                                 \
            FIELD_ITEMS(type, member.headers.list, wishes_read_header,        \
                        WISH_HEADERS_MAX)                                     \
    }

FIELD_READ(wishes_read_param);  /* struct manifest_word: JSON */
FIELD_READ(wishes_read_extra);  /* the same: an object */
FIELD_READ(wishes_read_header); /* the same: `Name: value` */

#endif

/*
 * params.h - parameters of generation, and other fields of a request that a
 * user asks for.
 *
 * Values stay JSON as it was written: each API names them in its own way
 * (wire/model/params.h), and a number keeps its digits.
 */
#ifndef CORE_PARAMS_H
#define CORE_PARAMS_H

#include "base/json.h"

enum param {
    PARAM_TEMPERATURE,
    PARAM_TOP_P,
    PARAM_TOP_K,
    PARAM_STOP,
    PARAM_SEED,
    PARAM_PRESENCE_PENALTY,
    PARAM_FREQUENCY_PENALTY,
    PARAMS
};

/* What a request may do without: parameters, and the thinking effort. Sets of
 * them are bits of a uint32_t. */
enum { ASKED_EFFORT = PARAMS, ASKED_FIELDS };
extern const char *const asked_names[ASKED_FIELDS]; /* the parameters first */

enum { PARAM_STOPS_MAX = 16 }; /* texts of `stop`; the APIs take fewer */

/* Of requests to one model. */
struct params {
    wend_str value[PARAMS];   /* JSON; absent: the provider's default */
    const struct json *extra; /* members for the request; NULL: none */
};

/* What the value of a parameter must be, in any API; NULL: it is. JSON null
 * is "as if it were not given". */
const char *param_wrong(enum param p, const struct json *value);
/* The value as requests have it: one text of `stop` is a list. In the arena;
 * absent: null, or out of memory. */
wend_str param_text(enum param p, const struct json *value, struct arena *a);
/* The index of a name, or -1. */
int param_find(wend_str name);
/* `NAME=VALUE`. A value is JSON; of `stop` it may be the text itself. *value
 * is a tree in the arena that is right by param_wrong; *p is PARAMS for a name
 * `extra.FIELD`, whose value is any JSON, or a text. */
wend_status param_parse(wend_str text, struct arena *a, enum param *p,
                        wend_str *field, struct json **value, wend_error *err);
/* The members `params` and `extra` of a model in a config. */
void params_read(const struct json *model, struct arena *a, struct params *out);
void params_put(struct buf *b, const struct params *p);
/* Bits of names in a JSON list, and back. */
uint32_t asked_read(wend_str json, struct arena *a);
void asked_put(struct buf *b, uint32_t asked);

#endif

/*
 * relic_text.h - texts with places in files about relics. Only for relic.c.
 */
#ifndef WIRE_RELIC_TEXT_H
#define WIRE_RELIC_TEXT_H

#include "wire/file/file.h"
#include "wire/file/relic.h"

enum relic_text_kind { RELIC_TEXT_PATH, RELIC_TEXT_HEADER };

/* A valid name of a place; names of relics and endpoints must be shorter. */
bool relic_name_ok(wend_str name);
/* `${name}` is a place, `$$` a dollar. f->ctx is the relic, whose secrets are
 * known; with any values in its places the text stays valid for its kind. */
wend_status relic_text_read(struct fields *f, const struct json *j,
                            enum relic_text_kind kind, struct relic_text *out);
/* Says what the places need: for an endpoint whose file does not. */
wend_status relic_schema(struct fields *f, const struct relic_manifest *m,
                         struct relic_endpoint *e);

#endif

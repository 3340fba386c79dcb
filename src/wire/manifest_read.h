/*
 * manifest_read.h - what manifests of agents and of tools share.
 */
#ifndef WIRE_MANIFEST_READ_H
#define WIRE_MANIFEST_READ_H

#include "wire/fields.h"
#include "wire/manifest.h"

FIELD_READ(manifest_read_words);   /* struct manifest_words */
FIELD_READ(manifest_read_command); /* the same: a program and its words */
FIELD_READ(manifest_read_secrets); /* the same: names of variables */
FIELD_READ(manifest_read_sandbox); /* bool: it is off */

/* A list of strings, each checked by `read`. */
wend_status manifest_read_list(struct fields *f, const struct json *j,
                               wend_status (*read)(struct fields *f,
                                                   const struct json *j,
                                                   void *item),
                               struct manifest_words *out);
/* One such string, not empty. */
wend_status manifest_read_word(struct fields *f, const struct json *j,
                               void *item);

#endif

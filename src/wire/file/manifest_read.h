/*
 * manifest_read.h - what manifests of agents and of tools share.
 */
#ifndef WIRE_MANIFEST_READ_H
#define WIRE_MANIFEST_READ_H

#include "wire/file/file.h"
#include "wire/file/manifest.h"

FIELD_READ(manifest_read_words);     /* struct manifest_words */
FIELD_READ(manifest_read_command);   /* the same: a program and its words */
FIELD_READ(manifest_read_secrets);   /* the same: names of variables */
FIELD_READ(manifest_read_sandbox);   /* bool: it is off */
FIELD_READ(manifest_read_switch);    /* bool: it is on */
FIELD_READ(manifest_read_url);       /* wend_str: of http or https */
FIELD_READ(manifest_read_schema);    /* wend_str: canonical JSON; it compiles */
FIELD_READ(manifest_read_labels);    /* struct manifest_words */
FIELD_READ(manifest_read_tool_name); /* wend_str */

extern const char *const manifest_classes[]; /* by wend_class, NULL last */
/* NAME.tool must be a name that every provider can be told. */
wend_status manifest_server_name(struct fields *f, wend_str name, uint32_t line,
                                 uint32_t column);

/* A list of strings, each checked by `read`. */
wend_status manifest_read_list(struct fields *f, const struct json *j,
                               fields_item_fn read, struct manifest_words *out);
/* One such string, not empty. */
wend_status manifest_read_word(struct fields *f, const struct json *j,
                               void *item);

#endif

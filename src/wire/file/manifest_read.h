/*
 * manifest_read.h - what manifests of agents and of tools share.
 */
#ifndef WIRE_MANIFEST_READ_H
#define WIRE_MANIFEST_READ_H

#include "wire/file/file.h"
#include "wire/file/manifest.h"

/* A row whose entries are read by manifest_read_word or a checked kind of it:
 * struct manifest_words. */
#define MANIFEST_WORDS(type, member, read_word) \
    FIELD_ITEMS(type, member.list, read_word, MANIFEST_LIST_MAX)

/* struct manifest_word */
FIELD_READ(manifest_read_word);     /* not empty */
FIELD_READ(manifest_read_variable); /* the name of one */
FIELD_READ(manifest_read_label);

FIELD_READ(manifest_read_command);   /* struct manifest_words: a program */
FIELD_READ(manifest_read_off);       /* bool: it is off */
FIELD_READ(manifest_read_switch);    /* bool: it is on */
FIELD_READ(manifest_read_url);       /* wend_str: of http or https */
FIELD_READ(manifest_read_schema);    /* wend_str: canonical JSON; it compiles */
FIELD_READ(manifest_read_tool_name); /* wend_str */

extern const char *const manifest_classes[]; /* by wend_class, NULL last */
/* NAME.tool must be a name that every provider can be told. */
wend_status manifest_server_name(struct fields *f, wend_str name, uint32_t line,
                                 uint32_t column);

#endif

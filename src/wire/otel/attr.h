/*
 * attr.h - attributes as OTLP has them, added to a list that is open. An absent
 * text is left out with its key.
 */
#ifndef WIRE_OTEL_ATTR_H
#define WIRE_OTEL_ATTR_H

#include "base/json.h"

void attr_str(struct buf *b, const char *key, wend_str value);
void attr_i64(struct buf *b, const char *key, int64_t value);
void attr_f64(struct buf *b, const char *key, double value);
void attr_bool(struct buf *b, const char *key, bool value);
void attr_pair(struct buf *b, wend_str key, wend_str value);
/* A list with one text. */
void attr_list(struct buf *b, const char *key, wend_str value);
/* `"name":"N"`: a 64-bit integer as text, a member of a span. */
void attr_member_i64(struct buf *b, const char *name, int64_t value);

#endif

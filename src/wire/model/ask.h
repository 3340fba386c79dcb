/*
 * ask.h - requests: for each API a path and a body, in its own x_ask.c.
 *
 * Answers are read in x.c, where the codec is put together.
 */
#ifndef WIRE_ASK_H
#define WIRE_ASK_H

#include "wire/model/codec.h"

void anthropic_path(const struct wire_ask *q, struct buf *out);
int64_t anthropic_output_tokens(wend_str model, enum effort effort);
void anthropic_request(const struct wire_ask *q, struct buf *out);
void gemini_path(const struct wire_ask *q, struct buf *out);
void gemini_request(const struct wire_ask *q, struct buf *out);
void responses_path(const struct wire_ask *q, struct buf *out);
void responses_request(const struct wire_ask *q, struct buf *out);

#endif

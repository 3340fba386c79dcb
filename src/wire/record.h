/*
 * record.h - the members of a dialect's records, written one by one.
 *
 * A comma comes where one is due. A string that is absent is left out with
 * its name.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include "base/json.h"

void record_key(struct buf *b, const char *name);
void record_str(struct buf *b, const char *name, wend_str s);
void record_i64(struct buf *b, const char *name, int64_t n);
void record_f64(struct buf *b, const char *name, double d);
void record_bool(struct buf *b, const char *name, bool yes);
void record_open(struct buf *b, const char *name); /* an object */
void record_close(struct buf *b);
/* Lines that were held back, and none are held any more. */
void record_let_go(struct buf *held, struct buf *out);

#endif

/*
 * retry_after.h - when a server wants to be asked again.
 */
#ifndef WIRE_RETRY_AFTER_H
#define WIRE_RETRY_AFTER_H

#include "base/str.h"

/* Milliseconds to wait, from the headers retry-after-ms and Retry-After
 * (seconds, or a date); 0 if neither says something. now_us: to read a date. */
int64_t retry_after(wend_str ms_text, wend_str text, int64_t now_us);
/* Appends a time in its two largest units: "2 h 5 min". */
void retry_after_put(struct buf *out, int64_t ms);

#endif

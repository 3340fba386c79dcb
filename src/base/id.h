/*
 * id.h - UUIDv7 from given time and chance, and what follows from it.
 */
#ifndef BASE_ID_H
#define BASE_ID_H

#include "base/str.h"

enum { RUN_ID_LEN = 36, TURN_ID_MAX = 40 };

/* Time in the first 48 bits, so that ids sort by start. */
void run_id_make(char out[RUN_ID_LEN + 1], int64_t time_us,
                 const unsigned char chance[10]);
bool run_id_valid(wend_str s);
/* A turn's id follows from its run and its counter: the last 12 digits of
 * the run id, a dot, the counter. Returns the length. */
size_t turn_id_make(char out[TURN_ID_MAX], wend_str run, int64_t counter);

#endif

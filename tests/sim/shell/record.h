/*
 * record.h - looks whether what is called is on record.
 */
#ifndef SIM_SHELL_RECORD_H
#define SIM_SHELL_RECORD_H

#include "sim.h"

void check_acts(struct sim *s, const struct known *k, const char *what);
struct known *check_call(struct sim *s, wend_str key);

#endif

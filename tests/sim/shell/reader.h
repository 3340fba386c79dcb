/*
 * reader.h - those who read a run, and what they may be given.
 */
#ifndef SIM_SHELL_READER_H
#define SIM_SHELL_READER_H

#include "sim.h"

struct reader *reader_add(struct sim *s, struct known *k, bool owner);
bool is_ready(const struct reader *r);
wend_status read_on(struct sim *s, struct reader *r, uint32_t max);
void on_event(void *ctx, const wend_event *ev);
void read_some(struct sim *s, struct reader *r, bool all);
void check_log(struct sim *s, wend_runtime *rt, struct known *k);

#endif

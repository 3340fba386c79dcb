/*
 * shell.h - the simulated shell: decide, store, check, act.
 */
#ifndef SIM_CORE_SHELL_H
#define SIM_CORE_SHELL_H

#include "sim.h"

void log_event(struct sim *s, const wend_event *ev, struct arena *scratch);
void log_free(struct log *l);
bool read_line(struct sim *s, char *line, size_t len, struct arena *a,
               wend_event *ev);
void take_line(struct sim *s, const struct line *stored);
struct turn fold_log(struct sim *s, const struct keep *k);
void refold(struct sim *s);
bool reread(struct sim *s, const struct keep *k, struct turn *t);
void check_state(struct sim *s);
void close_stream(struct sim *s);
void open_stream(struct sim *s, int64_t ask);
void crash(struct sim *s);
void deliver(struct sim *s, const struct input *world);

#endif

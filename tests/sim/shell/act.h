/*
 * act.h - what a host does: starts runs, tells them things, frees them.
 */
#ifndef SIM_SHELL_ACT_H
#define SIM_SHELL_ACT_H

#include "sim.h"

void act_start(struct sim *s);
void check_told(struct sim *s, const struct known *k, const char *what,
                wend_status st);
void answer_at(struct sim *s, uint32_t i);
void free_run(struct sim *s, struct known *k);
bool goes_on(const struct sim *s, const struct known *k);
bool runtime_begin(struct sim *s);
void let_go_of_all(struct sim *s);
void act_reboot(struct sim *s);
void act(struct sim *s);
void act_kindly(struct sim *s);

#endif

/*
 * store.h - a store that commits when the simulator says so.
 */
#ifndef SIM_SHELL_STORE_H
#define SIM_SHELL_STORE_H

#include "sim.h"

void commit_first(struct slow_store *st);
void store_forget(struct slow_store *st, struct known *k);
void tell_lost(struct slow_store *st);
void store_learn(struct slow_store *st, struct known *k);
void store_crash(struct slow_store *st);
void store_work(struct slow_store *st);
bool store_begin(struct slow_store *st, struct sim *s);

#endif

/*
 * inbox.h - requests as another process would leave them in the store, and
 * what must have become of each.
 */
#ifndef SIM_SHELL_INBOX_H
#define SIM_SHELL_INBOX_H

#include "sim.h"

void post(struct sim *s, struct known *k, const char *what, wend_str body);
const char *some_request(struct chance *c);
void post_without_owner(struct sim *s, struct known *k);
void post_to_child(struct sim *s);
bool cancel_waits(struct sim *s, const struct known *k);
void check_posted(struct sim *s);

#endif

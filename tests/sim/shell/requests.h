/*
 * requests.h - requests in the store, and bugs on purpose in it.
 */
#ifndef SIM_SHELL_REQUESTS_H
#define SIM_SHELL_REQUESTS_H

#include "sim.h"

struct slow_store *slow(wend_store *s);
void drop_requests(struct slow_store *st, wend_str run);
wend_status slow_waiting(wend_store *base, wend_str run, struct arena *a,
                         struct store_request **out, size_t *count,
                         wend_error *err);

#endif

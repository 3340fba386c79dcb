/*
 * requests.h - requests in the store, and bugs on purpose in it.
 */
#ifndef SIM_SHELL_REQUESTS_H
#define SIM_SHELL_REQUESTS_H

#include "sim.h"

struct slow_store *slow(wend_store *s);
void drop_requests(struct slow_store *st, wend_str run);
wend_status slow_post(wend_store *base, wend_str run, const char *what,
                      wend_str body, int64_t *id, wend_error *err);
wend_status slow_waiting(wend_store *base, wend_str run, struct arena *a,
                         struct store_request **out, size_t *count,
                         wend_error *err);
wend_status slow_fate(wend_store *base, int64_t id, enum store_fate *out,
                      wend_error *err);
wend_status slow_take(wend_store *base, store_request_fn fn, void *ctx,
                      wend_error *err);

#endif

/*
 * stores.h - remembers which stores are the user's, by the id in each file.
 *
 * The directory `stores` in the user's data directory has a file for each
 * store: its name is the id, its content the origin and the path at that time.
 * The directory is ignored if it belongs to another user or is writable by
 * others.
 */
#ifndef CLI_STORES_H
#define CLI_STORES_H

#include "base/str.h"

/* WEND_E_NOTFOUND: there is no data directory. */
wend_status stores_have(const char *id, struct arena *a, bool *yes,
                        wend_error *err);
enum stores_how { STORES_MADE, STORES_ACCEPTED };
wend_status stores_add(const char *id, const char *path, enum stores_how how,
                       struct arena *a, wend_error *err);
/* Also WEND_E_NOTFOUND if no store is known at that path. */
wend_status stores_remove(const char *path, struct arena *a, wend_error *err);
/* Calls fn for each until it returns false. */
typedef bool (*stores_fn)(void *ctx, const char *id, enum stores_how how,
                          wend_str path);
wend_status stores_each(struct arena *a, stores_fn fn, void *ctx,
                        wend_error *err);

#endif

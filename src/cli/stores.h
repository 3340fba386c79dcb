/*
 * stores.h - which stores are the user's, by the id in each file.
 *
 * A folder `stores` in the user's data folder has a file for each of them:
 * its name is the id, in it are how it came there and its path then. Where the
 * folder belongs to another user or others may write to it, nothing is
 * believed.
 */
#ifndef CLI_STORES_H
#define CLI_STORES_H

#include "base/str.h"

/* WEND_E_NOTFOUND: there is no place for such a folder. */
wend_status stores_have(const char *id, struct arena *a, bool *yes,
                        wend_error *err);
enum stores_how { STORES_MADE, STORES_ACCEPTED };
wend_status stores_add(const char *id, const char *path, enum stores_how how,
                       struct arena *a, wend_error *err);
/* WEND_E_NOTFOUND also if none is at that path. */
wend_status stores_remove(const char *path, struct arena *a, wend_error *err);
/* Calls fn for each until it returns false. */
typedef bool (*stores_fn)(void *ctx, const char *id, enum stores_how how,
                          wend_str path);
wend_status stores_each(struct arena *a, stores_fn fn, void *ctx,
                        wend_error *err);

#endif

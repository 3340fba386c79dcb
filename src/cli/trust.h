/*
 * trust.h - remembers which manifests and stores the user accepted.
 *
 * The file of manifests has lines "SUM PATH". A path has one line; the sum is
 * that of wend_manifest. Following lines that start with a tab are the covered
 * files, each with its own sum; they only serve to name changes. A folder has
 * a sum of zeros: its content may change. The file is
 * ignored if it belongs to another user or is writable by others.
 */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "base/hash.h"
#include "cli/cli.h"

/* The real path of a file, in the arena; NULL on failure. */
const char *trust_real(const char *path, struct arena *a);

wend_status trust_has(const char *path, const char *sum, struct arena *a,
                      bool *yes, wend_error *err);
wend_status trust_add(const char *path, const wend_manifest *m, struct arena *a,
                      wend_error *err);
/* Lists the changed files: "a.py, b.py (gone)". Adds nothing for a file that
 * was never accepted, or accepted by a version that did not record its
 * parts. */
wend_status trust_changes(const char *path, const wend_manifest *m,
                          struct arena *a, struct buf *out, wend_error *err);
/* WEND_E_NOTFOUND if it was not accepted. */
wend_status trust_remove(const char *path, struct arena *a, wend_error *err);

/* Accepts a folder: the notes in it, and in those beneath it, are trusted. */
wend_status trust_add_folder(const char *path, struct arena *a,
                             wend_error *err);
bool trust_is_folder(wend_str sum); /* of a line for one */
/* Whether the working directory was accepted, by itself or with a manifest of
 * it or of its repository. Whatever cannot be read was not. */
bool trust_folder(struct arena *a);

/* Calls fn for each accepted file. */
wend_status trust_each(struct arena *a,
                       void (*fn)(void *ctx, wend_str sum, wend_str path),
                       void *ctx, wend_error *err);

/* ---- Stores -------------------------------------------------------------- */

/* Which stores are the user's, by the id in each file: the directory `stores`
 * in the user's data directory has a file for each, its name is the id, its
 * content the origin and the path at that time. The directory is ignored if it
 * belongs to another user or is writable by others. */

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

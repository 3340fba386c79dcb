/*
 * trust.h - which manifests were accepted, and with which content.
 *
 * A file of lines "SUM PATH", only for the user. A path has one line; the
 * sum is that of wend_manifest. Lines behind it that begin with a tab are the
 * files that it covers, each with a sum of its own: they only serve to name
 * what changed. Where the file belongs to another user or others may write
 * to it, nothing is believed.
 */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include "base/hash.h"
#include "cli/cli.h"

/* The real path of a file, in the arena; NULL if it has none. */
const char *trust_real(const char *path, struct arena *a);

wend_status trust_has(const char *path, const char *sum, struct arena *a,
                      bool *yes, wend_error *err);
wend_status trust_add(const char *path, const wend_manifest *m, struct arena *a,
                      wend_error *err);
/* Names what differs from what was accepted: "a.py, b.py (gone)". Adds nothing
 * for a file that was never accepted, or before files were kept apart. */
wend_status trust_changes(const char *path, const wend_manifest *m,
                          struct arena *a, struct buf *out, wend_error *err);
/* WEND_E_NOTFOUND if it was not accepted. */
wend_status trust_remove(const char *path, struct arena *a, wend_error *err);

/* Calls fn for each accepted file. */
wend_status trust_each(struct arena *a,
                       void (*fn)(void *ctx, wend_str sum, wend_str path),
                       void *ctx, wend_error *err);

#endif

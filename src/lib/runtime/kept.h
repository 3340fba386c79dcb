/*
 * kept.h - a counted reference to a context of the host, which is released with
 * the last one.
 */
#ifndef LIB_KEPT_H
#define LIB_KEPT_H

#include "wend.h"

struct kept;

/* NULL without a release function. WEND_E_NOMEM: it was released at once. Its
 * memory is libc's: it may be the last that is left. */
wend_status kept_new(wend_release_fn release, void *ctx, struct kept **out,
                     wend_error *err);
struct kept *kept_ref(struct kept *k); /* [any thread]; of NULL NULL */
void kept_unref(struct kept *k);       /* [any thread] */

#endif

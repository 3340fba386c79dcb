/*
 * kept.h - a pointer of the host's, until the last that may use it lets go.
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

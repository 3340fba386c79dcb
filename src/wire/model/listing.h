/*
 * listing.h - what a provider says about the models that it has; pure.
 */
#ifndef WIRE_LISTING_H
#define WIRE_LISTING_H

#include "wire/model/model.h"

/* Appends what follows the base URL. page: from the answer before; absent: the
 * first one. */
void listing_path(const struct codec *c, wend_str page, struct buf *out);

/* Calls `add` for each model that can be asked, in the order of the answer;
 * false from it ends the reading. *page is absent after the last page. Returns
 * false if the answer is not a list of models. Strings are lent by `body`. */
typedef bool (*listing_fn)(void *ctx, const wend_model_info *row);
bool listing_read(const struct codec *c, const struct json *body,
                  listing_fn add, void *ctx, wend_str *page);

#endif

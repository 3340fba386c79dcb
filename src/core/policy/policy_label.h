/*
 * policy_label.h - rows that label calls without deciding about them.
 */
#ifndef CORE_POLICY_LABEL_H
#define CORE_POLICY_LABEL_H

#include "core/config/config.h"

struct asked;

/* Parses `label,label=tool(arg-glob)`; views into text. */
wend_status label_row_parse(wend_str text, struct label_row *out,
                            wend_error *err);

/* wend_label of all rows that fit the call. A row about one file tool holds
 * for every tool that would read, name or write the same path. */
uint32_t label_rows_for(const struct label_rows *rows, const struct asked *q);

/* The list `labels` of a policy. */
wend_status label_rows_read(const struct json *list, struct arena *a,
                            struct label_rows *out, wend_error *err);
/* The same list, as a member that follows others; nothing for no rows. */
void label_rows_put(struct buf *b, const struct label_rows *rows);

#endif

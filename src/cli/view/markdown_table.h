/*
 * markdown_table.h - a table of Markdown, laid out for a terminal.
 */
#ifndef CLI_MARKDOWN_TABLE_H
#define CLI_MARKDOWN_TABLE_H

#include "base/str.h"

/* `rows`: lines that begin with |. If they are wider than `width`, each row is
 * a list of its cells, with the names of their columns. */
void table_put(struct buf *out, wend_str rows, size_t width, bool styled,
               bool ascii);

#endif

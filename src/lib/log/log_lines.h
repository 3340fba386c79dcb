/*
 * log_lines.h - the lines of an exported run, as wend-store(5) has them.
 */
#ifndef LIB_LOG_LINES_H
#define LIB_LOG_LINES_H

#include "store/store.h"

enum line_kind {
    LINE_HEAD,  /* run */
    LINE_BLOB,  /* hash, body: a JSON string */
    LINE_EVENT, /* item; its seq is not known yet */
    LINE_PACK,  /* item */
    LINE_END,   /* run, seq, hash */
    LINE_BAD,
};

struct log_line {
    wend_str run, hash, body;
    struct store_item item;
    int64_t seq;
};

/* Strict: what we do not write is LINE_BAD. Strings point into the text. */
enum line_kind log_line_read(wend_str text, struct log_line *out);

#endif

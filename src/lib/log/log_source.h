/*
 * log_source.h - the lines of a file that is too large for memory.
 */
#ifndef LIB_LOG_SOURCE_H
#define LIB_LOG_SOURCE_H

#include "store/store.h"

struct log_source {
    wend_read_fn read;
    void *ctx;
    struct buf text; /* of the file, from offset `at` on; set its mem */
    int64_t at;
    size_t taken; /* bytes of it that were lines */
    bool ended;   /* there is nothing behind it */
};

/* The next line is the one at that offset. */
void log_source_seek(struct log_source *s, int64_t at);
int64_t log_source_place(const struct log_source *s); /* of the next line */
/* Without its newline, lent until the next call. WEND_END, WEND_E_IO: it
 * cannot be read, or _NOMEM. */
wend_status log_source_line(struct log_source *s, wend_str *line);
void log_source_free(struct log_source *s);

/* A wend_read_fn for a wend_str. */
int64_t log_read_memory(void *ctx, int64_t at, char *to, size_t size);

#endif

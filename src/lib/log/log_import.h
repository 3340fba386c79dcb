/*
 * log_import.h - an import under way: what is known of the file, and of the run
 * that is read.
 */
#ifndef LIB_LOG_IMPORT_H
#define LIB_LOG_IMPORT_H

#include "base/id.h"
#include "lib/log/log.h"
#include "lib/run/run.h"
#include "store/table.h"

/* ---- log_lines.c: the lines of an exported run --------------------------- */

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
    bool base64; /* the body of a blob: its bytes are no text */
    struct store_item item;
    int64_t seq;
};

/* Strict: what we do not write is LINE_BAD. Strings point into the text. */
enum line_kind log_line_read(wend_str text, struct log_line *out);

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

/* ---- The import ---------------------------------------------------------- */

enum { BATCH_ITEMS = 256, BATCH_BYTES = 1 << 20 }; /* a few milliseconds */

struct blob_line {
    struct node node;
    int64_t at; /* where its line is in the file */
};

struct import_chunk { /* of a run, as a batch; what it has is in the arena */
    struct arena arena;
    struct store_event events[BATCH_ITEMS];
    struct store_pack packs[BATCH_ITEMS];
    struct buf blobs; /* struct store_blob */
    struct store_batch b;
    size_t bytes;
};

struct import {
    wend_store *store;
    const struct mem *mem;
    struct log_source source;
    uint32_t line;
    wend_import_fn fn;
    void *ctx;
    wend_error *err;
    struct name_set members; /* the runs of the file */
    /* of the run that is read now */
    struct arena arena, lists; /* lists: of birth */
    struct log_check check;
    char run[RUN_ID_LEN + 1];
    struct log_line item;  /* the newest event or pack, until the next */
    size_t count;          /* of both so far */
    bool over;             /* its last line was read */
    struct name_set blobs; /* struct blob_line, by hash */
    struct log_birth birth;
    struct store_summary summary;
    size_t known;        /* items that the store has already */
    bool there, differs; /* the store has a run of that id, and another one */
    int64_t differs_seq; /* from there on */
    wend_status read;    /* of the file, inside a read of the store */
    /* Into the store: */
    struct import_chunk *chunk;
    struct lease lease;
    char leased[RUN_ID_LEN + 1]; /* run changes while its head is read again */
    int64_t epoch;               /* 0: it is not there yet */
    struct store_summary was;    /* what lists say about it until the end */
    int64_t events_new;
};

/* log_import_read.c: the file, checked */

/* WEND_E_PARSE, with the line. */
wend_status import_bad(struct import *m, const char *what);
/* The first line of a run; WEND_END: the file has no more. */
wend_status import_begin(struct import *m);
/* Up to the next event or pack, which is m->item then, or the run's end. */
wend_status import_next(struct import *m);
/* Whether the run is right, from its first line to its last, and how much of it
 * is there already. */
wend_status import_look(struct import *m);
void import_forget(struct import *m);

/* log_import.c: into the store */
wend_status import_blob(struct import *m, wend_str hash, wend_str text);

#endif

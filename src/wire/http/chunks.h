/*
 * chunks.h - what requests and answers have in common: header lines, chunks.
 */
#ifndef WIRE_HTTP_CHUNKS_H
#define WIRE_HTTP_CHUNKS_H

#include "base/ascii.h"
#include "base/str.h"

/* ---- Headers ------------------------------------------------------------- */

/* Bytes of a header's name. */
static inline bool http_is_token(char c)
{
    return is_digit(c) || is_letter(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* ... and of its value. */
static inline bool http_is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

/* Moves bytes from *in to head until a line ends or head has `max` bytes.
 * Whether the line ended; takes nothing if head->failed. */
bool http_line_take(struct buf *head, wend_str *in, size_t max);
/* A line without its end: the name, and the value without spaces around it.
 * Returns why not, or NULL. */
const char *http_field_read(wend_str line, wend_str *name, wend_str *value);
/* Whether a list with commas, as in Connection, has the word in any case. */
bool http_list_has(wend_str list, const char *word);

/* ---- Chunks, from bytes in any pieces ------------------------------------ */

enum http_chunk_state {
    HTTP_CHUNK_SIZE,  /* hexadecimal digits ... */
    HTTP_CHUNK_SPACE, /* ... white space, then a semicolon ... */
    HTTP_CHUNK_EXT,   /* ... extensions ... */
    HTTP_CHUNK_EXT_NAME,
    HTTP_CHUNK_EXT_VALUE, /* begins */
    HTTP_CHUNK_EXT_TOKEN,
    HTTP_CHUNK_EXT_QUOTED,
    HTTP_CHUNK_EXT_ESCAPED,
    HTTP_CHUNK_EXT_END, /* behind a quoted value */
    HTTP_CHUNK_LF,      /* ... and a line end */
    HTTP_CHUNK_DATA,    /* `left` bytes */
    HTTP_CHUNK_DATA_CR, /* a line end behind them */
    HTTP_CHUNK_DATA_LF,
    HTTP_CHUNK_TRAILER, /* a line begins */
    HTTP_CHUNK_TRAILER_NAME,
    HTTP_CHUNK_TRAILER_VALUE,
    HTTP_CHUNK_TRAILER_LF,
    HTTP_CHUNK_LAST_LF, /* of the empty line behind them */
    HTTP_CHUNK_OVER,
};

struct http_chunks_limits {
    size_t line_max;     /* a chunk's size and its extensions */
    size_t ext_max;      /* extensions of all chunks */
    size_t trailers_max; /* all of them */
    /* No LF alone, no space behind a size, extensions as the grammar has
     * them, no trailer that frames or routes: others may heed it. */
    bool strict;
};

enum { HTTP_TRAILER_NAME_KEPT = 24 }; /* longer than any that is refused */

struct http_chunks {
    const struct http_chunks_limits *limits;
    enum http_chunk_state state;
    size_t line_len; /* of a chunk's line; of all trailers */
    size_t ext_len;  /* of all chunks */
    uint64_t left;
    size_t name_len; /* of a trailer; the name may be cut */
    char name[HTTP_TRAILER_NAME_KEPT];
};

void http_chunks_begin(struct http_chunks *c,
                       const struct http_chunks_limits *limits);
/* The byte between two pieces of data; not in HTTP_CHUNK_DATA or _OVER.
 * Returns why not, or NULL. The size of a chunk is `left` when the state
 * becomes HTTP_CHUNK_DATA. */
const char *http_chunks_byte(struct http_chunks *c, char byte);
/* n of the `left` bytes of HTTP_CHUNK_DATA were taken. */
void http_chunks_take(struct http_chunks *c, uint64_t n);
extern const char http_trailers_too_long[];

#endif

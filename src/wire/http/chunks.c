/*
 * chunks.c - what requests and answers have in common: header lines, chunks.
 *
 *   SIZE -> [SPACE] -> [EXT ...] -> LF -+-> DATA -> DATA_CR -> DATA_LF -> SIZE
 *                                       |
 *                                       +-> TRAILER ... -> LAST_LF -> OVER
 *
 * Chunks are read byte by byte, but for their data.
 */
#include "wire/http/chunks.h"

#include <assert.h>

#include "base/header.h"

const char http_trailers_too_long[] = "the trailers are too long";

/* ---- Headers ------------------------------------------------------------- */

bool http_line_take(struct buf *head, wend_str *in, size_t max)
{
    size_t room = max > head->len ? max - head->len : 0;
    size_t len = in->len < room ? in->len : room;
    const char *end = len ? memchr(in->ptr, '\n', len) : NULL;

    if (end)
        len = (size_t)(end + 1 - in->ptr);
    buf_add(head, in->ptr, len);
    if (head->failed)
        return false;
    *in = str_skip(*in, len);
    return end;
}

const char *http_field_read(wend_str line, wend_str *name, wend_str *value)
{
    wend_str n = {line.ptr, 0}, v;

    if (is_blank(line.ptr[0]))
        return "a folded header";
    while (n.len < line.len && http_is_token(line.ptr[n.len]))
        n.len++;
    if (!n.len || n.len == line.len || line.ptr[n.len] != ':')
        return "a header without a name";
    v = str_skip(line, n.len + 1);
    for (size_t i = 0; i < v.len; i++)
        if (!http_is_text(v.ptr[i]))
            return "a control byte in a header";
    *name = n;
    *value = str_trim(v, is_blank);
    return NULL;
}

bool http_list_has(wend_str list, const char *word)
{
    wend_str piece;

    while (str_take(&list, ',', &piece))
        if (str_same(str_trim(piece, is_blank), str_of(word)))
            return true;
    return false;
}

/* ---- Chunks -------------------------------------------------------------- */

enum which { ALWAYS, LAX, STRICT };

/* Where a byte between the pieces of the body leads: one that `is` such, or
 * this byte. The first row that fits counts. Digits of a size are read
 * before. */
static const struct {
    enum http_chunk_state at;
    char byte;
    bool (*is)(char c);
    enum http_chunk_state next;
    enum which which;
} steps[] = {
    {HTTP_CHUNK_DATA_CR, '\r', NULL, HTTP_CHUNK_DATA_LF, ALWAYS},
    {HTTP_CHUNK_DATA_LF, '\n', NULL, HTTP_CHUNK_SIZE, ALWAYS},
    {HTTP_CHUNK_SIZE, '\r', NULL, HTTP_CHUNK_LF, ALWAYS},
    {HTTP_CHUNK_LF, '\n', NULL, HTTP_CHUNK_DATA, ALWAYS},
    {HTTP_CHUNK_SIZE, ';', NULL, HTTP_CHUNK_EXT, ALWAYS},
    {HTTP_CHUNK_SIZE, 0, is_blank, HTTP_CHUNK_SPACE, LAX},
    {HTTP_CHUNK_SPACE, ';', NULL, HTTP_CHUNK_EXT, LAX},
    {HTTP_CHUNK_SPACE, 0, is_blank, HTTP_CHUNK_SPACE, LAX},
    {HTTP_CHUNK_EXT, '\r', NULL, HTTP_CHUNK_LF, LAX},
    {HTTP_CHUNK_EXT, 0, http_is_text, HTTP_CHUNK_EXT, LAX},
    {HTTP_CHUNK_EXT, 0, http_is_token, HTTP_CHUNK_EXT_NAME, STRICT},
    {HTTP_CHUNK_EXT_NAME, 0, http_is_token, HTTP_CHUNK_EXT_NAME, STRICT},
    {HTTP_CHUNK_EXT_NAME, '=', NULL, HTTP_CHUNK_EXT_VALUE, STRICT},
    {HTTP_CHUNK_EXT_NAME, ';', NULL, HTTP_CHUNK_EXT, STRICT},
    {HTTP_CHUNK_EXT_NAME, '\r', NULL, HTTP_CHUNK_LF, STRICT},
    {HTTP_CHUNK_EXT_VALUE, '"', NULL, HTTP_CHUNK_EXT_QUOTED, STRICT},
    {HTTP_CHUNK_EXT_VALUE, 0, http_is_token, HTTP_CHUNK_EXT_TOKEN, STRICT},
    {HTTP_CHUNK_EXT_TOKEN, 0, http_is_token, HTTP_CHUNK_EXT_TOKEN, STRICT},
    {HTTP_CHUNK_EXT_TOKEN, ';', NULL, HTTP_CHUNK_EXT, STRICT},
    {HTTP_CHUNK_EXT_TOKEN, '\r', NULL, HTTP_CHUNK_LF, STRICT},
    {HTTP_CHUNK_EXT_QUOTED, '"', NULL, HTTP_CHUNK_EXT_END, STRICT},
    {HTTP_CHUNK_EXT_QUOTED, '\\', NULL, HTTP_CHUNK_EXT_ESCAPED, STRICT},
    {HTTP_CHUNK_EXT_QUOTED, 0, http_is_text, HTTP_CHUNK_EXT_QUOTED, STRICT},
    {HTTP_CHUNK_EXT_ESCAPED, 0, http_is_text, HTTP_CHUNK_EXT_QUOTED, STRICT},
    {HTTP_CHUNK_EXT_END, ';', NULL, HTTP_CHUNK_EXT, STRICT},
    {HTTP_CHUNK_EXT_END, '\r', NULL, HTTP_CHUNK_LF, STRICT},
    {HTTP_CHUNK_TRAILER, '\r', NULL, HTTP_CHUNK_LAST_LF, ALWAYS},
    {HTTP_CHUNK_TRAILER, '\n', NULL, HTTP_CHUNK_OVER, LAX},
    {HTTP_CHUNK_TRAILER, 0, http_is_token, HTTP_CHUNK_TRAILER_NAME, ALWAYS},
    {HTTP_CHUNK_TRAILER_NAME, 0, http_is_token, HTTP_CHUNK_TRAILER_NAME,
     ALWAYS},
    {HTTP_CHUNK_TRAILER_NAME, ':', NULL, HTTP_CHUNK_TRAILER_VALUE, ALWAYS},
    {HTTP_CHUNK_TRAILER_VALUE, '\r', NULL, HTTP_CHUNK_TRAILER_LF, ALWAYS},
    {HTTP_CHUNK_TRAILER_VALUE, '\n', NULL, HTTP_CHUNK_TRAILER, LAX},
    {HTTP_CHUNK_TRAILER_VALUE, 0, http_is_text, HTTP_CHUNK_TRAILER_VALUE,
     ALWAYS},
    {HTTP_CHUNK_TRAILER_LF, '\n', NULL, HTTP_CHUNK_TRAILER, ALWAYS},
    {HTTP_CHUNK_LAST_LF, '\n', NULL, HTTP_CHUNK_OVER, ALWAYS},
};

static const char *why_not(enum http_chunk_state at, bool strict)
{
    if (at <= HTTP_CHUNK_SPACE)
        return "a chunk's size is not a number";
    if (at <= HTTP_CHUNK_EXT_END)
        return strict ? "an extension of a chunk is malformed"
                      : "a control byte behind a chunk's size";
    return at <= HTTP_CHUNK_DATA_LF ? "a chunk does not end where it should"
                                    : "a trailer is malformed";
}

static const char *too_long(struct http_chunks *c)
{
    const struct http_chunks_limits *l = c->limits;

    c->line_len++;
    c->ext_len +=
        c->state >= HTTP_CHUNK_SPACE && c->state <= HTTP_CHUNK_EXT_END;
    if (c->state >= HTTP_CHUNK_TRAILER)
        return c->line_len > l->trailers_max ? http_trailers_too_long : NULL;
    if (c->line_len > l->line_max)
        return "the line of a chunk is too long";
    return c->ext_len > l->ext_max ? "the extensions of chunks are too long"
                                   : NULL;
}

/* Keeps the byte of a trailer's name; false: that one cannot come there. */
static bool name_byte(struct http_chunks *c, char byte)
{
    if (c->state == HTTP_CHUNK_TRAILER)
        c->name_len = 0;
    if (byte != ':' && c->name_len < sizeof c->name)
        c->name[c->name_len++] = byte;
    return byte != ':' || !c->limits->strict ||
           !header_is_ours((wend_str){c->name, c->name_len});
}

void http_chunks_begin(struct http_chunks *c,
                       const struct http_chunks_limits *limits)
{
    *c = (struct http_chunks){.limits = limits};
}

const char *http_chunks_byte(struct http_chunks *c, char byte)
{
    enum which other = c->limits->strict ? LAX : STRICT;
    size_t i = 0, count = sizeof steps / sizeof *steps;
    int digit = c->state == HTTP_CHUNK_SIZE ? hex_value(byte) : -1;
    const char *why = too_long(c);

    assert(c->state != HTTP_CHUNK_DATA && c->state != HTTP_CHUNK_OVER);
    if (why)
        return why;
    if (digit >= 0 && !(c->left >> 59)) { /* as a length, it fits 63 bits */
        c->left = c->left << 4 | (unsigned)digit;
        return NULL;
    }
    while (i < count &&
           (steps[i].at != c->state || steps[i].which == other ||
            !(steps[i].is ? steps[i].is(byte) : steps[i].byte == byte)))
        i++;
    if (c->state == HTTP_CHUNK_SIZE && c->line_len == 1)
        i = count; /* a size has a digit */
    if (i == count)
        return why_not(c->state, c->limits->strict);
    if ((c->state == HTTP_CHUNK_TRAILER ||
         c->state == HTTP_CHUNK_TRAILER_NAME) &&
        !name_byte(c, byte))
        return "a trailer that may only be a header";
    if (c->state >= HTTP_CHUNK_LF && c->state <= HTTP_CHUNK_DATA_LF)
        c->line_len = 0;
    c->state = steps[i].next;
    if (c->state == HTTP_CHUNK_DATA && !c->left)
        c->state = HTTP_CHUNK_TRAILER;
    return NULL;
}

void http_chunks_take(struct http_chunks *c, uint64_t n)
{
    assert(n <= c->left);
    c->left -= n;
    if (!c->left)
        c->state = HTTP_CHUNK_DATA_CR;
}

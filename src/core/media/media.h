/*
 * media.h - parts of messages: what they are, who takes them, what they cost.
 *
 * A part is described by a wend_ev_part; its bytes are elsewhere. Providers are
 * told apart by the specification of a model, PROVIDER:MODEL; one that is not
 * in the tables (a script, a codec without a row) takes everything.
 */
#ifndef CORE_MEDIA_H
#define CORE_MEDIA_H

#include "base/str.h"

enum media_type {
    MEDIA_TEXT,
    MEDIA_IMAGE,
    MEDIA_DOCUMENT,
    MEDIA_AUDIO,
    MEDIA_TYPES
};

/* Sets of types: bit 1 << type. */
enum { MEDIA_ANY = (1 << MEDIA_TYPES) - 1 };

enum {
    PART_BYTES_MAX = 48 << 20, /* its base64 is as long as a blob may be */
    PARTS_MAX = 64,            /* of one message */
    PART_NAME_MAX = 255,       /* bytes; as the name of a file */
    IMAGE_SIDE_MAX = 16384,    /* pixels; no provider takes more */
};

extern const char *const media_type_names[MEDIA_TYPES];
/* MEDIA_TYPES: it is of a newer version. */
enum media_type media_type_of(const wend_ev_part *p);

/* What the bytes are, by their content: fills all but hash and name. Strict: a
 * file that is cut off, or lies about its size, is refused, and so is a picture
 * of over IMAGE_SIDE_MAX pixels a side. The error completes the sentence
 * "NAME ...". */
wend_status media_look(wend_str bytes, wend_ev_part *out, wend_error *err);
/* The same for a file with that name: text is not accepted where the name
 * promises something else. */
wend_status media_look_named(wend_str bytes, wend_str name, wend_ev_part *out,
                             wend_error *err);

/* "image png 800x600", "document pdf 3 pages", "text a.c". */
void media_put_name(struct buf *b, const wend_ev_part *p);
/* The same in brackets, with a word behind it: [image png 800x600 omitted]. */
void media_note(struct buf *b, const wend_ev_part *p, const char *word);

/* ---- media_provider.c ---------------------------------------------------- */

/* Whether a provider takes this part in a request with that many images. If
 * not, appends what is wrong, with both sizes, and returns true. */
bool media_wrong(const wend_ev_part *p, wend_str spec, size_t images,
                 struct buf *why);
/* What all parts of one request may have together. */
struct media_room {
    int64_t bytes; /* as base64 */
    size_t images;
    size_t many;       /* a request with more images than these, 0 = any ... */
    int64_t many_side; /* ... has none with more pixels a side */
};
struct media_room media_room(wend_str spec);
/* Whether a request with this image has at most `many`. */
bool media_is_wide(const wend_ev_part *image, const struct media_room *room);
/* An estimate of the tokens that the part adds to a request to this model. */
int64_t media_tokens(const wend_ev_part *p, wend_str spec);

#endif

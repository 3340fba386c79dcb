/*
 * redact.h - a secret's value, blanked wherever it shows up.
 */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include "base/str.h"

enum {
    SECRET_BYTES_MIN = 8, /* anything shorter is a word */
    SECRET_SHOWN_MAX = 16 /* the common prefix of a provider's keys */
};

/* A text in pieces, each with a part of the secret; at first {.secret}. */
struct redact {
    wend_str secret; /* lent; absent: nothing is blanked */
    size_t matched;  /* bytes of it that the text so far ends in */
};

/* Blanks the next piece, in place. It does not wait for more, so it shows the
 * start of a divided secret: at most half, and at most SECRET_SHOWN_MAX. */
void redact(struct redact *r, char *p, size_t len);

/* For a text that can wait: blanks every secret that is whole. */
void redact_whole(wend_str secret, char *p, size_t len);
/* The same for several, which may contain each other: the longest first. */
void redact_list(const wend_str *secrets, size_t count, char *p, size_t len);
/* The length of the end of the text that may begin the secret: it must wait. */
size_t redact_begins(wend_str secret, wend_str text);

#endif

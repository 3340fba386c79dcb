/*
 * redact.h - a secret's value, blanked wherever it shows up.
 */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include "base/str.h"

enum {
    SECRET_BYTES_MIN = 8, /* a shorter one is no secret but a word */
    SECRET_SHOWN_MAX = 16 /* how keys of one provider begin: no secret */
};

/* A text that comes in pieces, of which each may hold a part of the secret.
 * Begins as {.secret = ...}. */
struct redact {
    wend_str secret; /* lent; absent: nothing is blanked */
    size_t matched;  /* bytes of it that the text so far ends in */
};

/* Blanks the next piece, in place. No piece waits for another, so the first
 * bytes of a secret that is cut in two are shown: at most half of it, and at
 * most SECRET_SHOWN_MAX. */
void redact(struct redact *r, char *p, size_t len);

/* For a text that can wait: blanks every secret that is whole. */
void redact_whole(wend_str secret, char *p, size_t len);
/* The same for several, of which one may hold another: the longest first. */
void redact_list(const wend_str *secrets, size_t count, char *p, size_t len);
/* How many bytes at the end of the text could be the beginning of the secret:
 * these wait for what follows. */
size_t redact_begins(wend_str secret, wend_str text);

#endif

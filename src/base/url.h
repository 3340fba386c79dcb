/*
 * url.h - http and https URLs: read strictly, written in one way.
 *
 * Two readers that disagree about the host of a URL are a hole. So there is
 * one; it refuses what others might read differently, and others get the URL as
 * this one writes it.
 */
#ifndef BASE_URL_H
#define BASE_URL_H

#include "base/address.h"

enum url_host { URL_NAME, URL_ADDRESS };

struct url {
    bool https;
    enum url_host kind;
    wend_str host; /* lower case, no dot at its end; IPv6 without brackets */
    struct address address; /* of a URL_ADDRESS */
    uint16_t port;
    wend_str target; /* path and query, from the slash on; escaped */
    /* Scheme, host, port and path were spelled as url_put writes them, but
     * for escapes: what was matched against the text holds for the URL. */
    bool plain;
};

/* No user, no spaces or control characters, no backslash, no number as host
 * but in its usual spelling, no name but of ASCII letters, digits, `-` and
 * `_`. A fragment is dropped. Strings live in the arena. */
wend_status url_parse(wend_str text, struct arena *a, struct url *out,
                      wend_error *err);
/* What a reference (a Location header) means in a document at `base`. */
wend_status url_join(const struct url *base, wend_str reference,
                     struct arena *a, struct url *out, wend_error *err);
/* Appends the text with every %XX as the byte it stands for. */
void url_decode(struct buf *out, wend_str text);
/* How much of a target's spelling is the same to a server. */
enum url_form {
    URL_PLAIN, /* escapes of what needs none are gone, others in upper case */
    URL_FLAT,  /* ... and slashes that follow each other are one */
    URL_OPEN,  /* ... and escaped slashes are slashes */
    URL_FORMS
};

/* A path with its query, as in u->target, in one spelling: without dot
 * segments as well. Absent if it is invalid, or with a->failed. */
wend_str url_normal(wend_str target, enum url_form form, struct arena *a);
void url_put_origin(struct buf *b, const struct url *u); /* no path */
void url_put(struct buf *b, const struct url *u);
bool url_same_origin(const struct url *a, const struct url *b);

#endif

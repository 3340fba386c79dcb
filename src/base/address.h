/*
 * address.h - internet addresses: read, written, and which are not public.
 */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include "base/str.h"

struct address {
    bool v6;
    unsigned char bytes[16]; /* the first 4 if not v6 */
};

/* Four decimal numbers without leading zeros, or IPv6 without a zone. */
bool address_read(wend_str text, struct address *out);
/* A network: an address, or a range such as 10.0.0.0/8. */
bool address_read_net(wend_str text, struct address *net, unsigned *bits);
void address_put(struct buf *b, const struct address *a);
/* Whether both are of one family and begin with the same `bits` bits. */
bool address_under(const struct address *a, const struct address *net,
                   unsigned bits);
/* "loopback", "private" ... if it is no public address, else NULL. */
const char *address_special(const struct address *a);

#endif

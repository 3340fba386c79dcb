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

/* Only the usual spellings: four decimal numbers without leading zeros;
 * IPv6 without brackets and zone. */
bool address_read(wend_str text, struct address *out);
void address_put(struct buf *b, const struct address *a);
/* Whether both are of one family and begin with the same `bits` bits. */
bool address_under(const struct address *a, const struct address *net,
                   unsigned bits);
/* What an address is that does not belong to a host on the public internet,
 * or that only carries another one: "loopback", "private" ...; else NULL. */
const char *address_special(const struct address *a);

#endif

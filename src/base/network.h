/*
 * network.h - which addresses a tool may connect to: the public ones, and
 * what the user has added.
 *
 * An entry is a name (`db.local`), an address (`127.0.0.1`, `::1`) or a range
 * (`10.0.0.0/8`); a name or an address may be followed by a port
 * (`localhost:8080`, `[::1]:8080`), else it means all ports. A name stands
 * for whatever it resolves to; an address also for names that resolve to it.
 */
#ifndef BASE_NETWORK_H
#define BASE_NETWORK_H

#include "base/address.h"

struct network_entry {
    struct network_entry *next;
    wend_str name; /* absent: by address */
    struct address net;
    unsigned bits;
    uint16_t port; /* 0: any */
};

struct network {
    struct network_entry *first;
};

/* Puts an entry into the arena and in front of the others. */
wend_status network_add(struct network *n, wend_str text, struct arena *a,
                        wend_error *err);
/* Whether a connection for `host` (lower case, as in struct url) may go to
 * this address and port. Else what the address is: "loopback", ... */
bool network_allows(const struct network *n, wend_str host,
                    const struct address *to, uint16_t port, const char **why);

#endif

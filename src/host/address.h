/*
 * address.h - an address as the system has it, as base/address has it.
 */
#ifndef HOST_ADDRESS_H
#define HOST_ADDRESS_H

#include "base/address.h"

struct sockaddr;

/* False: neither IPv4 nor IPv6. */
bool address_of(const struct sockaddr *from, struct address *out,
                uint16_t *port);

#endif

/*
 * address.c - an address as the system has it, as base/address has it.
 */
#include "host/address.h"

#include <netinet/in.h>

bool address_of(const struct sockaddr *from, struct address *out,
                uint16_t *port)
{
    *out = (struct address){.v6 = from->sa_family == AF_INET6};
    if (from->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, from, sizeof in);
        memcpy(out->bytes, &in.sin_addr, 4);
        *port = ntohs(in.sin_port);
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, from, sizeof in6);
        memcpy(out->bytes, &in6.sin6_addr, 16);
        *port = ntohs(in6.sin6_port);
    } else {
        return false;
    }
    return true;
}

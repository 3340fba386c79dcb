/*
 * options.c - option structs of hosts older or newer than this library.
 */
#include "lib/lib.h"

#include <string.h>

/* A shorter struct lacks our newest fields: they are zero, the default. A
 * longer one has fields that we do not know: fine as long as they are not
 * used. */
bool options_take(void *to, size_t to_size, const void *from)
{
    const unsigned char *bytes = from;
    size_t size;

    memset(to, 0, to_size);
    if (!from)
        return true;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size)
        return false;
    for (size_t i = to_size; i < size; i++)
        if (bytes[i])
            return false;
    memcpy(to, from, size < to_size ? size : to_size);
    return true;
}

/*
 * options.c - option structs of hosts older or newer than this library.
 */
#include "base/options.h"

#include <string.h>

enum { OPTIONS_BYTES_MAX = 64 << 10 }; /* far above any struct to come */

bool options_size(size_t size, size_t first)
{
    return size >= first && size <= OPTIONS_BYTES_MAX;
}

/* Missing fields are zero, the default; unknown fields must be zero. */
bool options_take(void *to, size_t to_size, size_t first, const void *from)
{
    const unsigned char *bytes = from;
    size_t size;

    memset(to, 0, to_size);
    if (!from)
        return true;
    memcpy(&size, from, sizeof size);
    if (!options_size(size, first))
        return false;
    for (size_t i = to_size; i < size; i++)
        if (bytes[i])
            return false;
    memcpy(to, from, size < to_size ? size : to_size);
    return true;
}

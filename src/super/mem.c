/*
 * mem.c - what the compiler calls by itself to fill and copy memory.
 *
 * gcc for arm64 makes such calls even without libc, and the supervisor is
 * linked with nothing.
 */
#include <stddef.h>

void *memset(void *to, int byte, size_t len);
void *memcpy(void *restrict to, const void *restrict from, size_t len);

void *memset(void *to, int byte, size_t len)
{
    unsigned char *p = to;

    while (len--)
        *p++ = (unsigned char)byte;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    const unsigned char *q = from;
    unsigned char *p = to;

    while (len--)
        *p++ = *q++;
    return to;
}

/*
 * options.h - option structs of hosts older or newer than this library.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Where a struct ended in its first version: behind this member. */
#define OPTIONS_FIRST(type, member) \
    (offsetof(type, member) + sizeof(((const type *)0)->member))

/* Copies a host's option struct, whatever its age; NULL gives defaults.
 * False: its size is invalid, or it uses fields that we do not know. */
bool options_take(void *to, size_t to_size, size_t first, const void *from);
#define OPTIONS_TAKE(to, type, member, from) \
    options_take((to), sizeof *(to), OPTIONS_FIRST(type, member), (from))
/* Whether a struct that the host gives can have that size. */
bool options_size(size_t size, size_t first);

#endif

/*
 * provider.h - which providers there are, for those who list them.
 */
#ifndef WIRE_PROVIDER_H
#define WIRE_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>

struct provider {
    const char *name;    /* openai ... */
    const char *key_env; /* variable with its key; NULL: needs none */
};

bool provider_at(size_t i, struct provider *out); /* false after the last */

#endif

/*
 * redact.c - a secret's value, blanked wherever it shows up.
 */
#include "base/redact.h"

#include <string.h>

/* How much of the secret's first n bytes both begins and ends them. */
static size_t border(wend_str secret, size_t n)
{
    size_t k = n ? n - 1 : 0;

    while (k && memcmp(secret.ptr, secret.ptr + n - k, k) != 0)
        k--;
    return k;
}

static void match(struct redact *r, char c)
{
    size_t n = r->matched;

    if (n == r->secret.len)
        n = border(r->secret, n);
    while (n && r->secret.ptr[n] != c)
        n = border(r->secret, n);
    r->matched = n + (r->secret.ptr[n] == c);
}

void redact(struct redact *r, char *p, size_t len)
{
    size_t half = r->secret.len / 2;
    size_t shown = half < SECRET_SHOWN_MAX ? half : SECRET_SHOWN_MAX;

    if (r->secret.len < SECRET_BYTES_MIN)
        return;
    for (size_t i = 0; i < len; i++) {
        if (!r->matched) {
            char *at = memchr(p + i, *r->secret.ptr, len - i);

            if (!at)
                return;
            i = (size_t)(at - p);
        }
        match(r, p[i]);
        if (r->matched > shown)
            p[i] = '*';
        if (r->matched == r->secret.len) {
            size_t back = r->matched < i + 1 ? r->matched : i + 1;

            memset(p + i + 1 - back, '*', back);
        }
    }
}

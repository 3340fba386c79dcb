/*
 * redact.c - a secret's value, blanked wherever it shows up.
 */
#include "base/redact.h"

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

static char *find(wend_str secret, char *from, const char *end)
{
    return end > from
               ? memmem(from, (size_t)(end - from), secret.ptr, secret.len)
               : NULL;
}

void redact_whole(wend_str secret, char *p, size_t len)
{
    const char *end;
    char *at, *next;

    if (secret.len < SECRET_BYTES_MIN || len < secret.len)
        return;
    end = p + len;
    for (at = find(secret, p, end); at; at = next) {
        size_t n = secret.len;

        next = find(secret, at + 1, end); /* it may begin inside this one */
        if (next && (size_t)(next - at) < n)
            n = (size_t)(next - at);
        memset(at, '*', n);
    }
}

void redact_list(const wend_str *secrets, size_t count, char *p, size_t len)
{
    size_t longer = SIZE_MAX, now;

    do {
        now = 0;
        for (size_t i = 0; i < count; i++)
            if (secrets[i].len < longer && secrets[i].len > now)
                now = secrets[i].len;
        for (size_t i = 0; now && i < count; i++)
            if (secrets[i].len == now)
                redact_whole(secrets[i], p, len);
        longer = now;
    } while (now);
}

size_t redact_begins(wend_str secret, wend_str text)
{
    size_t len = secret.len >= SECRET_BYTES_MIN ? secret.len - 1 : 0;

    if (len > text.len)
        len = text.len;
    while (len && memcmp(text.ptr + text.len - len, secret.ptr, len) != 0)
        len--;
    return len;
}

/*
 * json_scan.h - the hot loop that reading and writing strings share.
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSON_EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

/* The high bit of each zero byte of w; bytes after the first may lie. */
static inline uint64_t json_zero_bytes(uint64_t w)
{
    return (w - JSON_EACH_BYTE(1)) & ~w & JSON_EACH_BYTE(0x80);
}

/* The same for quotes, backslashes and control characters. */
static inline uint64_t json_special_bytes(uint64_t w)
{
    return json_zero_bytes(w ^ JSON_EACH_BYTE('"')) |
           json_zero_bytes(w ^ JSON_EACH_BYTE('\\')) |
           ((w - JSON_EACH_BYTE(0x20)) & ~w & JSON_EACH_BYTE(0x80));
}

/* Length of the leading bytes that need no escape. *seen collects the bits
 * of all of them, and of at most seven more: without 0x80 it is ASCII. */
static inline size_t json_plain_len(const char *p, size_t len, uint64_t *seen)
{
    size_t i = 0;
    uint64_t w, special;

    for (; len - i >= sizeof w; i += sizeof w) {
        memcpy(&w, p + i, sizeof w);
        if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
            w = __builtin_bswap64(w);
        *seen |= w;
        special = json_special_bytes(w);
        if (special)
            return i + (size_t)__builtin_ctzll(special) / 8;
    }
    for (; i < len; i++) {
        unsigned char c = (unsigned char)p[i];

        if (c < 0x20 || c == '"' || c == '\\')
            break;
        *seen |= c;
    }
    return i;
}

#endif

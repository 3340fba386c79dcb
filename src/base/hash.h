/*
 * hash.h - SHA-256 (FIPS 180-4), a quick hash for comparing, and bytes as text.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

struct sha256 {
    uint32_t h[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t len);
void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES]);
/* The same as lower-case digits and a NUL; and the hash of one text. */
void sha256_end_hex(struct sha256 *s, char out[SHA256_HEX + 1]);
void sha256_hex(char out[SHA256_HEX + 1], wend_str text);
/* HMAC (RFC 2104) with SHA-256. */
void hmac_sha256(wend_str key, wend_str text, unsigned char out[SHA256_BYTES]);
/* A fast hash that continues from `before`; not for attackers. */
uint64_t mix64(uint64_t before, const void *p, size_t len);

/* Writes 2 * len lower-case digits and a NUL. */
void hex_text(char *out, const unsigned char *p, size_t len);

/* Appends the bytes as base64, with padding. */
void base64_put(struct buf *b, wend_str bytes);
/* Appends the bytes that a text stands for. Strict: no white space, no other
 * alphabet, no bits left over; padding may be missing. False: it is not
 * base64, or out->failed. */
bool base64_take(struct buf *out, wend_str text);
/* How many bytes a base64 text of that form stands for. */
size_t base64_bytes(wend_str text);

#endif

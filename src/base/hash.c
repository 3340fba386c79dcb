/*
 * hash.c - SHA-256 (FIPS 180-4), portable.
 *
 * The schedule is 16 rolling words, and sixteen rounds are written out, so that
 * the eight state words stay in registers.
 */
#include "base/hash.h"

enum { BLOCK_BYTES = 64, LENGTH_AT = 56 };

/* clang-format off */
static const uint32_t round_keys[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
    0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
    0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
/* clang-format on */

static uint32_t load_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static void store_be32(unsigned char *p, uint32_t n)
{
    p[0] = (unsigned char)(n >> 24);
    p[1] = (unsigned char)(n >> 16);
    p[2] = (unsigned char)(n >> 8);
    p[3] = (unsigned char)n;
}

#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define SUM0(x) (ROTR(x, 2) ^ ROTR(x, 13) ^ ROTR(x, 22))
#define SUM1(x) (ROTR(x, 6) ^ ROTR(x, 11) ^ ROTR(x, 25))
#define MIX0(x) (ROTR(x, 7) ^ ROTR(x, 18) ^ (x) >> 3)
#define MIX1(x) (ROTR(x, 17) ^ ROTR(x, 19) ^ (x) >> 10)
#define CHOOSE(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))

#define ROUND(a, b, c, d, e, f, g, h, i, word)            \
    do {                                                  \
        h += SUM1(e) + CHOOSE(e, f, g) + key[i] + (word); \
        d += h;                                           \
        h += SUM0(a) + MAJORITY(a, b, c);                 \
    } while (0)

/* The i-th word as read, and as it follows from the 16 before it. */
#define FIRST(i) (w[i] = load_be32(p + (i)*4))
#define LATER(i) \
    (w[i] +=     \
     MIX1(w[((i) + 14) & 15]) + w[((i) + 9) & 15] + MIX0(w[((i) + 1) & 15]))

#define ROUNDS_8(i, WORD)                                      \
    do {                                                       \
        ROUND(a, b, c, d, e, f, g, h, (i) + 0, WORD((i) + 0)); \
        ROUND(h, a, b, c, d, e, f, g, (i) + 1, WORD((i) + 1)); \
        ROUND(g, h, a, b, c, d, e, f, (i) + 2, WORD((i) + 2)); \
        ROUND(f, g, h, a, b, c, d, e, (i) + 3, WORD((i) + 3)); \
        ROUND(e, f, g, h, a, b, c, d, (i) + 4, WORD((i) + 4)); \
        ROUND(d, e, f, g, h, a, b, c, (i) + 5, WORD((i) + 5)); \
        ROUND(c, d, e, f, g, h, a, b, (i) + 6, WORD((i) + 6)); \
        ROUND(b, c, d, e, f, g, h, a, (i) + 7, WORD((i) + 7)); \
    } while (0)

static void add_blocks(uint32_t state[8], const unsigned char *p, size_t count)
{
    uint32_t w[16];

    for (; count; count--, p += BLOCK_BYTES) {
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        const uint32_t *key = round_keys;

        ROUNDS_8(0, FIRST);
        ROUNDS_8(8, FIRST);
        for (int i = 1; i < 4; i++) {
            key += 16;
            ROUNDS_8(0, LATER);
            ROUNDS_8(8, LATER);
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}

void sha256_init(struct sha256 *s)
{
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };

    memcpy(s->h, start, sizeof start);
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *p, size_t len)
{
    const unsigned char *from = p;
    size_t held = s->bytes % BLOCK_BYTES, part;

    if (!len)
        return;
    s->bytes += len;
    if (held) {
        part = len < BLOCK_BYTES - held ? len : BLOCK_BYTES - held;
        memcpy(s->block + held, from, part);
        if (held + part < BLOCK_BYTES)
            return;
        add_blocks(s->h, s->block, 1);
        from += part;
        len -= part;
    }
    add_blocks(s->h, from, len / BLOCK_BYTES);
    memcpy(s->block, from + len / BLOCK_BYTES * BLOCK_BYTES, len % BLOCK_BYTES);
}

void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES])
{
    size_t held = s->bytes % BLOCK_BYTES;
    uint64_t bits = s->bytes * 8;

    s->block[held++] = 0x80;
    if (held > LENGTH_AT) {
        memset(s->block + held, 0, BLOCK_BYTES - held);
        add_blocks(s->h, s->block, 1);
        held = 0;
    }
    memset(s->block + held, 0, LENGTH_AT - held);
    store_be32(s->block + LENGTH_AT, (uint32_t)(bits >> 32));
    store_be32(s->block + LENGTH_AT + 4, (uint32_t)bits);
    add_blocks(s->h, s->block, 1);
    for (size_t i = 0; i < 8; i++)
        store_be32(out + 4 * i, s->h[i]);
}

void hex_text(char *out, const unsigned char *p, size_t len)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        *out++ = digits[p[i] >> 4];
        *out++ = digits[p[i] & 15];
    }
    *out = 0;
}

void sha256_end_hex(struct sha256 *s, char out[SHA256_HEX + 1])
{
    unsigned char digest[SHA256_BYTES];

    sha256_end(s, digest);
    hex_text(out, digest, sizeof digest);
}

void sha256_hex(char out[SHA256_HEX + 1], wend_str text)
{
    struct sha256 s;

    sha256_init(&s);
    sha256_add(&s, text.ptr, text.len);
    sha256_end_hex(&s, out);
}

void hmac_sha256(wend_str key, wend_str text, unsigned char out[SHA256_BYTES])
{
    enum { BLOCK = sizeof((struct sha256 *)0)->block };
    unsigned char pad[BLOCK] = {0};
    struct sha256 h;

    if (key.len > BLOCK) {
        sha256_init(&h);
        sha256_add(&h, key.ptr, key.len);
        sha256_end(&h, pad);
    } else if (key.len) {
        memcpy(pad, key.ptr, key.len);
    }
    for (size_t i = 0; i < BLOCK; i++)
        pad[i] ^= 0x36;
    sha256_init(&h);
    sha256_add(&h, pad, BLOCK);
    sha256_add(&h, text.ptr, text.len);
    sha256_end(&h, out);
    for (size_t i = 0; i < BLOCK; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    sha256_init(&h);
    sha256_add(&h, pad, BLOCK);
    sha256_add(&h, out, SHA256_BYTES);
    sha256_end(&h, out);
}

uint64_t mix64(uint64_t before, const void *p, size_t len)
{
    const unsigned char *at = p;
    uint64_t h = before ^ (len * 0x9e3779b97f4a7c15u), word;

    for (; len; at += 8, len -= 8) {
        size_t n = len < 8 ? len : 8;

        word = 0;
        memcpy(&word, at, n);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
        if (n < 8)
            break;
    }
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}

/* ---- Base64 (RFC 4648) --------------------------------------------------- */

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "abcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(struct buf *b, wend_str bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    char *out;

    if (bytes.len > (SIZE_MAX - 4) / 2 ||
        !buf_room(b, (bytes.len + 2) / 3 * 4)) {
        b->failed = true;
        return;
    }
    out = b->ptr + b->len;
    for (size_t left = bytes.len; left; p += 3) {
        size_t n = left < 3 ? left : 3;
        uint32_t w = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0u) |
                     (n > 2 ? (uint32_t)p[2] : 0u);

        *out++ = base64_digits[w >> 18];
        *out++ = base64_digits[w >> 12 & 63];
        *out++ = n > 1 ? base64_digits[w >> 6 & 63] : '=';
        *out++ = n > 2 ? base64_digits[w & 63] : '=';
        left -= n;
    }
    *out = 0;
    b->len = (size_t)(out - b->ptr);
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The text without its padding. */
static wend_str base64_body(wend_str text)
{
    size_t most = text.len % 4 ? 0 : 2;

    for (; most && text.len && text.ptr[text.len - 1] == '='; most--)
        text.len--;
    return text;
}

size_t base64_bytes(wend_str text)
{
    size_t len = base64_body(text).len;

    return len / 4 * 3 + (len % 4 ? len % 4 - 1 : 0);
}

bool base64_take(struct buf *out, wend_str text)
{
    wend_str body = base64_body(text);
    uint32_t bits = 0;
    int count = 0;

    if (body.len % 4 == 1 || !buf_room(out, base64_bytes(text)))
        return false;
    for (size_t i = 0; i < body.len; i++) {
        int v = base64_value(body.ptr[i]);

        if (v < 0)
            return false;
        bits = bits << 6 | (uint32_t)v;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out->ptr[out->len++] = (char)(bits >> count & 0xff);
        }
        bits &= (1u << count) - 1;
    }
    out->ptr[out->len] = 0;
    return !bits;
}

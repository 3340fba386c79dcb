/*
 * test_hash.c - SHA-256 against FIPS 180-4 and its examples.
 */
#include "base/hash.h"

#include "tap.h"

/* The text is added so many times. */
static const struct {
    const char *why, *text;
    int times;
    const char *wanted;
} rows[] = {
    {"FIPS: one block", "abc", 1,
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"FIPS: nothing", "", 1,
     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"FIPS: two blocks, the length in the second",
     "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"FIPS: 896 bits",
     "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {"FIPS: a million, across all block borders", "aaaaaaaaaa", 100000,
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    {"55 bytes: the padding just fits", "aaaaa", 11,
     "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
    {"56 bytes: the padding just does not", "aaaaaaaa", 7,
     "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
    {"64 bytes: a block and one of padding", "aaaaaaaa", 8,
     "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
};

static void digest(char hex[SHA256_HEX + 1], const char *p, size_t len,
                   size_t step)
{
    unsigned char out[SHA256_BYTES];
    struct sha256 s;

    sha256_init(&s);
    for (size_t i = 0; i < len; i += step)
        sha256_add(&s, p + i, len - i < step ? len - i : step);
    sha256_end(&s, out);
    hex_text(hex, out, sizeof out);
}

int main(void)
{
    char hex[SHA256_HEX + 1], again[SHA256_HEX + 1], text[300];
    unsigned char out[SHA256_BYTES];
    struct sha256 s;
    int64_t bad = 0;

    for (size_t i = 0; i < tap_count(rows); i++) {
        sha256_init(&s);
        for (int k = 0; k < rows[i].times; k++)
            sha256_add(&s, rows[i].text, strlen(rows[i].text));
        sha256_end(&s, out);
        hex_text(hex, out, sizeof out);
        tap_is_str(hex, rows[i].wanted, "%s", rows[i].why);
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7);
    for (size_t len = 0; len <= sizeof text; len++) {
        digest(hex, text, len, len + 1);
        for (size_t step = 1; step <= 130; step += 13) {
            digest(again, text, len, step);
            bad += strcmp(hex, again) != 0;
        }
    }
    tap_is_i64(bad, 0, "any length in any pieces gives the same");
    sha256_init(&s);
    sha256_add(&s, NULL, 0);
    sha256_end(&s, out);
    hex_text(hex, out, 2);
    tap_is_str(hex, "e3b0", "absent bytes are none; hex of a part");
    return tap_done();
}

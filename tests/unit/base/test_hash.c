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

/* ---- Base64 -------------------------------------------------------------- */

static const struct mem plain = {0};

static const struct {
    const char *why, *text, *bytes; /* bytes NULL: it is refused */
} base64[] = {
    {"nothing", "", ""},
    {"one byte", "Zg==", "f"},
    {"two bytes", "Zm8=", "fo"},
    {"three bytes", "Zm9v", "foo"},
    {"all of the alphabet", "+/+/", "\xfb\xff\xbf"},
    {"padding may be missing", "Zm8", "fo"},
    {"one letter is no byte", "Z", NULL},
    {"bits left over", "Zh==", NULL},
    {"white space", "Zm9v\n", NULL},
    {"the alphabet of URLs", "-_-_", NULL},
    {"padding inside", "Zg==Zg==", NULL},
    {"too much padding", "Z===", NULL},
    {"padding alone", "====", NULL},
};

static void test_base64(void)
{
    struct buf b = {.mem = &plain}, back = {.mem = &plain};

    for (size_t i = 0; i < tap_count(base64); i++) {
        bool ok;

        buf_clear(&b);
        ok = base64_take(&b, str_of(base64[i].text));
        tap_ok(ok == (base64[i].bytes != NULL), "base64: %s", base64[i].why);
        if (!ok)
            continue;
        tap_is_str(buf_view(&b), base64[i].bytes, "... its bytes");
        tap_is_i64((int64_t)base64_bytes(str_of(base64[i].text)),
                   (int64_t)b.len, "... and how many");
        buf_clear(&back);
        base64_put(&back, buf_view(&b));
        if (strlen(base64[i].text) % 4 == 0)
            tap_is_str(buf_view(&back), base64[i].text, "... and back");
    }
    buf_free(&b);
    buf_free(&back);
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
    test_base64();
    return tap_done();
}

/*
 * test_redact.c - secrets in texts that come in pieces.
 */
#include "base/redact.h"
#include "tap.h"

static const struct {
    const char *why, *secret, *pieces[4], *shown;
} rows[] = {
    {"alone", "sk-12345", {"sk-12345"}, "********"},
    {"inside", "sk-12345", {"a sk-12345 b"}, "a ******** b"},
    {"twice, touching", "sk-12345", {"sk-12345sk-12345"}, "****************"},
    {"in two pieces: half is out already",
     "sk-12345",
     {"sk-1", "2345!"},
     "sk-1****!"},
    {"in two pieces: half of it, not more",
     "sk-12345",
     {"sk-123", "45"},
     "sk-1****"},
    {"byte after byte", "abcdabcd", {"abcda", "b", "c", "d"}, "abcd****"},
    {"begins like it", "sk-12345", {"sk-1 sk-1"}, "sk-1 sk-1"},
    {"begins inside of itself", "aabaabaac", {"aabaabaabaac"}, "aab*********"},
    {"its end is its beginning", "abababab", {"ababababab"}, "**********"},
    {"absent", "sk-12345", {"all is well"}, "all is well"},
    {"a word is no secret", "1234567", {"1234567"}, "1234567"},
    {"no secret", "", {"sk-12345"}, "sk-12345"},
    {"a long one shows how it begins",
     "0123456789abcdef0123456789ABCDEFGHIJ",
     {"0123456789abcdef0", "123456789ABCDEFGHIJ"},
     "0123456789abcdef********************"},
};

int main(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct redact r = {.secret = str_of(rows[i].secret)};
        char text[256], *at = text;

        for (int k = 0; k < 4 && rows[i].pieces[k]; k++) {
            size_t len = strlen(rows[i].pieces[k]);

            memcpy(at, rows[i].pieces[k], len + 1);
            redact(&r, at, len);
            at += len;
        }
        tap_is_str(str_of(text), rows[i].shown, "%s", rows[i].why);
    }
    return tap_done();
}

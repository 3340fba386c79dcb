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

static const struct {
    const char *why, *secret, *text, *shown;
    size_t held; /* at its end */
} whole[] = {
    {"nothing", "sk-12345", "", "", 0},
    {"inside", "sk-12345", "a sk-12345 b", "a ******** b", 0},
    {"twice", "sk-12345", "sk-12345sk-12345", "****************", 0},
    {"begins inside of itself", "abababab", "xabababababx", "x**********x", 0},
    {"what only begins like it stays", "sk-12345", "sk-1234 ", "sk-1234 ", 0},
    {"its first byte", "sk-12345", "hellos", "hellos", 1},
    {"all but its last", "sk-12345", "a sk-1234", "a sk-1234", 7},
    {"all of it", "sk-12345", "a sk-12345", "a ********", 0},
    {"a false start", "sk-12345", "sk-1sk-", "sk-1sk-", 3},
    {"a word is no secret", "1234567", "1234567 1", "1234567 1", 0},
};

static void test_whole(void)
{
    for (size_t i = 0; i < tap_count(whole); i++) {
        wend_str secret = str_of(whole[i].secret);
        char text[64];

        snprintf(text, sizeof text, "%s", whole[i].text);
        redact_whole(secret, text, strlen(text));
        tap_is_str(str_of(text), whole[i].shown, "whole: %s", whole[i].why);
        tap_is_i64((int64_t)redact_begins(secret, str_of(text)),
                   (int64_t)whole[i].held, "held: %s", whole[i].why);
    }
}

static const struct {
    const char *why, *secrets[3], *text, *shown;
} lists[] = {
    {"none", {NULL}, "12345678", "12345678"},
    {"two", {"12345678", "abcdefgh"}, "12345678 abcdefgh", "******** ********"},
    {"one holds the other, and comes later",
     {"sk-12345", "sk-12345-tail"},
     "sk-12345-tail sk-12345",
     "************* ********"},
    {"of the same length",
     {"12345678", "abcdefgh", "ABCDEFGH"},
     "ABCDEFGH12345678abcdefgh",
     "************************"},
    {"a word among them",
     {"1234", "12345678"},
     "1234 12345678",
     "1234 ********"},
};

static void test_lists(void)
{
    for (size_t i = 0; i < tap_count(lists); i++) {
        wend_str secrets[3];
        size_t count = 0;
        char text[64];

        for (; count < 3 && lists[i].secrets[count]; count++)
            secrets[count] = str_of(lists[i].secrets[count]);
        snprintf(text, sizeof text, "%s", lists[i].text);
        redact_list(secrets, count, text, strlen(text));
        tap_is_str(str_of(text), lists[i].shown, "list: %s", lists[i].why);
    }
}

int main(void)
{
    test_whole();
    test_lists();
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

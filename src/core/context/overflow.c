/*
 * overflow.c - the numbers in a provider's words about a request that is too
 * long.
 *
 * Only its words have them: no API has fields for them. Each row is as some
 * server writes it; what none fits says nothing.
 */
#include "core/context/context.h"

#include "base/ascii.h"
#include "base/limits.h"

/* # is the number. The first row that fits counts. */
static const char *const limits[] = {
    "maximum context length is #",
    "maximum prompt length is #",
    "maximum input length of #",
    "context size (#",
    "tokens allowed (#",
    "> # maximum",
    "# maximum context length",
    "context length of only #",
    "context length of #",
    "context window of #",
    "context limit of #",
    "limit of # tokens",
    "limit is # tokens",
    "n_ctx = #",
    "n_ctx: #",
    "n_ctx\":#",
    "n_ctx=#",
};

/* Those that leave out the room for the answer come first. */
static const char *const counts[] = {
    "(# in the messages",   "(# of text input",
    "resulted in # tokens", "request (# tokens",
    "token count (#",       "contains # tokens",
    "# tokens >",           "contains at least # in",
    "requested # tokens",   "requested about # tokens",
};

/* Digits, with commas between them. */
static size_t number(wend_str s, int64_t *out)
{
    size_t n = 0;

    *out = 0;
    while (n < s.len &&
           (is_digit(s.ptr[n]) || (n && s.ptr[n] == ',' && n + 1 < s.len &&
                                   is_digit(s.ptr[n + 1])))) {
        if (s.ptr[n] != ',' && *out <= MODEL_TOKENS_MAX)
            *out = *out * 10 + (s.ptr[n] - '0');
        n++;
    }
    return n;
}

static bool fits(wend_str s, const char *row, int64_t *out)
{
    for (; *row; row++) {
        char c = *row;
        size_t n = c == '#' ? number(s, out) : s.len && lower(s.ptr[0]) == c;

        if (!n)
            return false;
        s = str_skip(s, n);
    }
    return *out > 0 && *out <= MODEL_TOKENS_MAX;
}

static int64_t find(wend_str s, const char *const *rows, size_t count)
{
    int64_t found = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < s.len; at++) {
            bool inside = at && is_digit(s.ptr[at]) &&
                          (is_digit(s.ptr[at - 1]) || s.ptr[at - 1] == ',');

            if (!inside && fits(str_skip(s, at), rows[i], &found))
                return found;
        }
    return 0;
}

struct overflow overflow_read(wend_str message)
{
    return (struct overflow){
        find(message, limits, sizeof limits / sizeof *limits),
        find(message, counts, sizeof counts / sizeof *counts)};
}

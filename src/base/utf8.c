/*
 * utf8.c - UTF-8 as RFC 3629 has it: no overlongs, no surrogates.
 *
 * Whatever bytes come in, no function reads past their end.
 */
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

static const uint64_t high_bits = 0x8080808080808080;

/* Length of the leading bytes below 0x80. */
static size_t ascii_len(const unsigned char *p, size_t len)
{
    size_t i = 0;
    uint64_t word;

    for (; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        if (word & high_bits)
            break;
    }
    while (i < len && p[i] < 0x80)
        i++;
    return i;
}

/*
 * Looks at one sequence that begins with a byte over 0x7f; len > 0. If it is
 * not good, the length is that of its maximal bad part: the longest start of
 * a good sequence, at least one byte (Unicode 15, table 3-8).
 */
static size_t sequence_len(const unsigned char *p, size_t len, bool *good)
{
    size_t want = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4, i;
    unsigned low = 0x80, high = 0xbf; /* of the second byte */

    *good = false;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 1;
    if (p[0] == 0xe0)
        low = 0xa0; /* below are overlongs */
    else if (p[0] == 0xed)
        high = 0x9f; /* above are surrogates */
    else if (p[0] == 0xf0)
        low = 0x90; /* overlongs */
    else if (p[0] == 0xf4)
        high = 0x8f; /* over U+10FFFF */
    for (i = 1; i < want; i++) {
        if (i == len || p[i] < low || p[i] > high)
            return i;
        low = 0x80;
        high = 0xbf;
    }
    *good = true;
    return want;
}

size_t utf8_valid_len(wend_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t i = 0, step;
    bool good;

    if (!s.len)
        return 0; /* absent strings have no place to point to */
    for (;;) {
        i += ascii_len(p + i, s.len - i);
        for (; i < s.len && p[i] >= 0x80; i += step) {
            step = sequence_len(p + i, s.len - i, &good);
            if (!good)
                return i;
        }
        if (i == s.len)
            return i;
    }
}

size_t utf8_repair(struct buf *out, wend_str s)
{
    size_t good_len, repairs = 0;
    bool good;

    for (;;) {
        good_len = utf8_valid_len(s);
        buf_add(out, s.ptr, good_len);
        if (good_len == s.len)
            return repairs;
        s.ptr += good_len;
        s.len -= good_len;
        good_len = sequence_len((const unsigned char *)s.ptr, s.len, &good);
        s.ptr += good_len;
        s.len -= good_len;
        buf_add(out, "\xef\xbf\xbd", 3);
        repairs++;
    }
}

size_t utf8_put(char *p, uint32_t code_point)
{
    size_t len = code_point < 0x80      ? 1
                 : code_point < 0x800   ? 2
                 : code_point < 0x10000 ? 3
                                        : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    assert(code_point <= 0x10ffff);
    assert(code_point < 0xd800 || code_point > 0xdfff);
    for (size_t i = len - 1; i > 0; i--) {
        p[i] = (char)(0x80 | (code_point & 0x3f));
        code_point >>= 6;
    }
    p[0] = (char)(lead[len] | code_point);
    return len;
}

size_t utf8_take(wend_str s, size_t count)
{
    size_t i = 0;

    for (; i < s.len; i++) {
        bool starts = ((unsigned char)s.ptr[i] & 0xc0) != 0x80;

        if (starts && !count--)
            break;
    }
    return i;
}

size_t utf8_cut(wend_str s, size_t max)
{
    if (max >= s.len)
        return s.len;
    while (max && ((unsigned char)s.ptr[max] & 0xc0) == 0x80)
        max--;
    return max;
}

size_t utf8_whole(const char *p, size_t len)
{
    size_t tail = 0, wanted;
    unsigned char first;

    while (tail < len && tail < 3 &&
           ((unsigned char)p[len - 1 - tail] & 0xc0) == 0x80)
        tail++;
    if (tail == len)
        return len;
    first = (unsigned char)p[len - 1 - tail];
    wanted = (first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0);
    return wanted > tail ? len - 1 - tail : len;
}

/* Besides the C0 controls: what acts on a terminal, reorders text or hides
 * in it. Joiners (U+200C, U+200D) stay, words and emoji need them. */
static const struct {
    uint32_t first, last;
} harmful[] = {
    {0x7F, 0x9F},       /* DEL, C1 */
    {0x061C, 0x061C},   /* Arabic letter mark */
    {0x180E, 0x180E},   /* a space without width */
    {0x200B, 0x200B},   /* another */
    {0x200E, 0x200F},   /* direction marks */
    {0x2028, 0x2029},   /* line and paragraph separators */
    {0x202A, 0x202E},   /* embeddings and overrides of direction */
    {0x2060, 0x206F},   /* word joiner, invisible operators, isolates */
    {0xFEFF, 0xFEFF},   /* a space without width, once more */
    {0xFFF9, 0xFFFB},   /* interlinear notes */
    {0xE0000, 0xE0FFF}, /* tags, more variation selectors */
};

bool utf8_harmful(uint32_t c)
{
    if (c < 0x20)
        return c != '\n' && c != '\t';
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++)
        if (c >= harmful[i].first && c <= harmful[i].last)
            return true;
    return false;
}

uint32_t utf8_first(wend_str s, size_t *len)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    uint32_t c;

    *len = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    c = *len == 1 ? p[0] : p[0] & (0x7Fu >> *len);
    for (size_t i = 1; i < *len; i++)
        c = c << 6 | (p[i] & 0x3F);
    return c;
}

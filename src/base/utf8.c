/*
 * utf8.c - UTF-8 as RFC 3629 has it: no overlongs, no surrogates.
 *
 * Whatever bytes come in, no function reads past their end.
 */
#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>

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
        s = str_skip(s, good_len);
        good_len = sequence_len((const unsigned char *)s.ptr, s.len, &good);
        s = str_skip(s, good_len);
        buf_add(out, "\xef\xbf\xbd", 3);
        repairs++;
    }
}

wend_str utf8_keep(wend_str s, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    if (utf8_valid_len(s) == s.len)
        return arena_str(a, s);
    utf8_repair(&b, s);
    return buf_keep(&b, a);
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

/* Whether the byte continues a code point. */
static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t utf8_count(wend_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += !continues(s.ptr[i]);
    return n;
}

size_t utf8_take(wend_str s, size_t count)
{
    size_t i = 0;

    while (i < s.len && (continues(s.ptr[i]) || count--))
        i++;
    return i;
}

size_t utf8_cut(wend_str s, size_t max)
{
    if (max >= s.len)
        return s.len;
    while (max && continues(s.ptr[max]))
        max--;
    return max;
}

size_t utf8_whole(const char *p, size_t len)
{
    size_t tail = 0, wanted;
    unsigned char first;

    while (tail < len && tail < 3 && continues(p[len - 1 - tail]))
        tail++;
    if (tail == len)
        return len;
    first = (unsigned char)p[len - 1 - tail];
    wanted = (first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0);
    return wanted > tail ? len - 1 - tail : len;
}

struct range {
    uint32_t first, last;
};

/* Besides the C0 controls: what acts on a terminal, reorders text or hides
 * in it. Joiners (U+200C, U+200D) stay, words and emoji need them. */
static const struct range harmful[] = {
    {0x7F, 0x9F},       /* DEL, C1 */
    {0xAD, 0xAD},       /* soft hyphen */
    {0x034F, 0x034F},   /* grapheme joiner, which joins nothing */
    {0x061C, 0x061C},   /* Arabic letter mark */
    {0x115F, 0x1160},   /* Hangul fillers */
    {0x17B4, 0x17B5},   /* Khmer vowels without a shape */
    {0x180B, 0x180F},   /* Mongolian variation selectors, a space */
    {0x200B, 0x200B},   /* a space without width */
    {0x200E, 0x200F},   /* direction marks */
    {0x2028, 0x2029},   /* line and paragraph separators */
    {0x202A, 0x202E},   /* embeddings and overrides of direction */
    {0x2060, 0x206F},   /* word joiner, invisible operators, isolates */
    {0x3164, 0x3164},   /* another Hangul filler */
    {0xFE00, 0xFE0F},   /* variation selectors */
    {0xFEFF, 0xFEFF},   /* a space without width, once more */
    {0xFFA0, 0xFFA0},   /* a narrow Hangul filler */
    {0xFFF0, 0xFFFB},   /* unassigned, not shown; interlinear notes */
    {0x1BCA0, 0x1BCA3}, /* controls of shorthand */
    {0x1D173, 0x1D17A}, /* controls of musical notation */
    {0xE0000, 0xE0FFF}, /* tags, more variation selectors */
};

/* Marks that stand on the character before them. */
static const struct range marks[] = {
    {0x0300, 0x036F},   {0x0483, 0x0489},   {0x0591, 0x05C7},
    {0x0610, 0x061A},   {0x064B, 0x065F},   {0x0670, 0x0670},
    {0x06D6, 0x06ED},   {0x0711, 0x0711},   {0x0730, 0x074A},
    {0x0816, 0x082D},   {0x0859, 0x085B},   {0x0898, 0x0902},
    {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},
    {0x0EB1, 0x0EB1},   {0x0EB4, 0x0EBC},   {0x0EC8, 0x0ECE},
    {0x0F18, 0x0F19},   {0x0F71, 0x0F87},   {0x0F8D, 0x0FBC},
    {0x135D, 0x135F},   {0x1AB0, 0x1AFF},   {0x1CD0, 0x1CE8},
    {0x1DC0, 0x1DFF},   {0x20D0, 0x20FF},   {0x2CEF, 0x2CF1},
    {0x2DE0, 0x2DFF},   {0x302A, 0x302F},   {0x3099, 0x309A},
    {0xA66F, 0xA67D},   {0xA8E0, 0xA8F1},   {0xFE20, 0xFE2F},
    {0x1D165, 0x1D169}, {0x1D242, 0x1D244}, {0x1E000, 0x1E02A},
};

/* Ranges with all symbols that a variation selector changes, and few others. */
static const struct range symbols[] = {
    {'#', '#'},       {'*', '*'},       {'0', '9'},       {0xA9, 0xA9},
    {0xAE, 0xAE},     {0x203C, 0x203C}, {0x2049, 0x2049}, {0x2122, 0x21AA},
    {0x231A, 0x23FF}, {0x24C2, 0x24C2}, {0x25A0, 0x27BF}, {0x2934, 0x2935},
    {0x2B05, 0x2B55}, {0x3030, 0x303D}, {0x3297, 0x3299}, {0x1F000, 0x1FAFF},
};

static bool is_in(const struct range *list, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count && list[i].first <= c; i++)
        if (c <= list[i].last)
            return true;
    return false;
}

#define IN(list, c) is_in(list, sizeof(list) / sizeof *(list), c)

static bool is_harmful(uint32_t c)
{
    if (c < 0x7F)
        return c < 0x20 && c != '\n' && c != '\t';
    return IN(harmful, c);
}

bool utf8_hides(struct utf8_before *b, uint32_t c)
{
    uint32_t before = b->c;

    b->c = c;
    if (c < 0x300) {
        b->marks = 0;
        return is_harmful(c);
    }
    if (IN(marks, c))
        return ++b->marks > UTF8_MARKS_MAX || is_harmful(c);
    if ((c == 0xFE0E || c == 0xFE0F) && IN(symbols, before))
        return false;
    b->marks = 0;
    return IN(harmful, c);
}

/* Makes text valid in its place; returns its new length. */
static size_t mend(char *text, size_t len)
{
    size_t from = utf8_valid_len((wend_str){text, len}), to = from, step;
    bool good;

    for (; from < len; from += step) {
        const unsigned char *p = (const unsigned char *)text + from;

        good = *p < 0x80;
        step = good ? 1 : sequence_len(p, len - from, &good);
        if (good) {
            memmove(text + to, p, step);
            to += step;
        } else if (*p < 0xc2 || *p > 0xf4) {
            text[to++] = '?'; /* not the beginning of anything */
        }
    }
    text[to] = 0;
    return to;
}

size_t utf8_vfmt(char *out, size_t size, const char *fmt, va_list ap)
{
    int len = vsnprintf(out, size, fmt, ap);

    assert(size > 0);
    if (len < 0) {
        out[0] = 0;
        return 0;
    }
    return mend(out, (size_t)len < size ? (size_t)len : size - 1);
}

size_t utf8_fmt(char *out, size_t size, const char *fmt, ...)
{
    size_t len;
    va_list ap;

    va_start(ap, fmt);
    len = utf8_vfmt(out, size, fmt, ap);
    va_end(ap);
    return len;
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

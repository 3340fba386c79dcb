/*
 * str.c - strings with a length, and a growing buffer.
 */
#include "base/str.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/utf8.h"

enum {
    BUF_MIN = 64,
    NEAR_MAX = 64, /* names longer than this get no suggestion */
};

wend_str str_of(const char *s)
{
    return s ? (wend_str){s, strlen(s)} : STR_NONE;
}

bool str_eq(wend_str a, wend_str b)
{
    return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}

int str_order(wend_str a, wend_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool str_starts(wend_str s, const char *prefix)
{
    size_t len = strlen(prefix);

    return s.len >= len && !memcmp(s.ptr, prefix, len);
}

bool str_starts_nocase(wend_str s, const char *prefix)
{
    size_t len = strlen(prefix);

    return s.len >= len && str_same((wend_str){s.ptr, len}, str_of(prefix));
}

bool str_ends(wend_str s, const char *suffix)
{
    size_t len = strlen(suffix);

    return s.len >= len && !memcmp(s.ptr + s.len - len, suffix, len);
}

bool str_same(wend_str a, wend_str b)
{
    size_t i = 0;

    while (i < a.len && i < b.len && lower(a.ptr[i]) == lower(b.ptr[i]))
        i++;
    return i == a.len && i == b.len;
}

wend_str str_pack(char **at, wend_str s)
{
    wend_str copy = {*at, s.len};

    if (s.len)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return copy;
}

bool str_take(wend_str *rest, char end, wend_str *piece)
{
    const char *at = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;
    size_t len = at ? (size_t)(at - rest->ptr) : rest->len;

    *piece = (wend_str){rest->ptr, len};
    if (!rest->len)
        return false;
    *rest = str_skip(*rest, len + (at != NULL));
    return true;
}

size_t str_count(wend_str s, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == c;
    return n;
}

int str_index(wend_str s, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (names[i] && str_is(s, names[i]))
            return i;
    return -1;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to add, drop, replace or swap with their neighbour; both at most
 * NEAR_MAX long. */
static int distance(wend_str a, wend_str b)
{
    int rows[3][NEAR_MAX + 1]; /* this one and the two before, in turn */
    int *row = rows[0];

    for (size_t j = 0; j <= b.len; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= a.len; i++) {
        const int *above = rows[(i - 1) % 3], *higher = rows[(i + 1) % 3];

        row = rows[i % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= b.len; j++) {
            char c = a.ptr[i - 1], d = b.ptr[j - 1];

            row[j] = least(above[j], row[j - 1]) + 1;
            row[j] = least(row[j], above[j - 1] + (c != d));
            if (i > 1 && j > 1 && c == b.ptr[j - 2] && d == a.ptr[i - 2])
                row[j] = least(row[j], higher[j - 2] + 1);
        }
    }
    return row[b.len];
}

bool str_nearer(wend_str s, wend_str name, int *best)
{
    int d;

    if (!*best)
        *best = s.len <= 3 ? 2 : 3; /* must be closer than this */
    if (s.len > NEAR_MAX || !name.len || name.len > NEAR_MAX)
        return false;
    d = distance(s, name);
    if (d >= *best)
        return false;
    *best = d ? d : 1;
    return true;
}

const char *str_near(wend_str s, const char *const *names, int n)
{
    const char *nearest = NULL;

    for (int i = 0, best = 0; i < n; i++)
        if (str_nearer(s, str_of(names[i]), &best))
            nearest = names[i];
    return nearest;
}

wend_str str_nearest(wend_str s, const void *list, size_t size, size_t offset,
                     size_t n)
{
    const char *element = list;
    wend_str nearest = STR_NONE, name;
    int best = 0;

    for (; n; n--, element += size) {
        memcpy(&name, element + offset, sizeof name);
        if (str_nearer(s, name, &best))
            nearest = name;
    }
    return nearest;
}

const char *str_hint(char room[STR_HINT_BYTES], wend_str near)
{
    room[0] = 0;
    if (near.ptr)
        utf8_fmt(room, STR_HINT_BYTES, "; did you mean '%.*s'?",
                 UTF8_ARGS(near, STR_HINT_BYTES - sizeof "; did you mean ''?"));
    return room;
}

bool str_to_i64(wend_str s, int64_t *out)
{
    int64_t n = 0;

    if (!s.len)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        int digit = s.ptr[i] - '0';

        if (digit < 0 || digit > 9 || n > (INT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

static wend_str take_digits(wend_str *s)
{
    wend_str digits = {s->ptr, 0};

    while (digits.len < s->len && is_digit(s->ptr[digits.len]))
        digits.len++;
    *s = str_skip(*s, digits.len);
    return digits;
}

struct unit {
    const char *name; /* the last has NULL */
    int64_t worth;
};

/* False: the unit is unknown, or n of it are over `most`. */
static bool find_unit(const struct unit *u, wend_str name, int64_t n,
                      int64_t most, int64_t *worth)
{
    while (u->name && !str_is(name, u->name))
        u++;
    *worth = u->worth;
    return u->name && n <= most / u->worth;
}

#define DAY_MS INT64_C(86400000)

/* A year for what is waited for; ages may be longer, and have years. */
static const struct unit durations[] = {
    {"ms", 1},     {"s", 1000},       {"m", 60000}, {"h", 3600000},
    {"d", DAY_MS}, {"w", 7 * DAY_MS}, {"", 1000},   {NULL, 1},
};
static const struct unit ages[] = {
    {"ms", 1},     {"s", 1000},       {"m", 60000},        {"h", 3600000},
    {"d", DAY_MS}, {"w", 7 * DAY_MS}, {"y", 365 * DAY_MS}, {NULL, 1},
};

static bool to_ms(wend_str s, const struct unit *units, int64_t most_ms,
                  int64_t *out)
{
    wend_str whole = take_digits(&s), part = {s.ptr, 0};
    int64_t n, fraction = 0, scale = 1, ms;

    if (str_starts(s, ".")) {
        s = str_skip(s, 1);
        part = take_digits(&s);
    }
    for (size_t i = 0; i < part.len && scale <= 1000000; i++, scale *= 10)
        fraction = fraction * 10 + (part.ptr[i] - '0');
    if (!str_to_i64(whole, &n) || !find_unit(units, s, n, most_ms, &ms))
        return false;
    *out = n * ms + fraction * ms / scale;
    return *out <= most_ms;
}

bool str_to_ms(wend_str s, int64_t *out)
{
    return to_ms(s, durations, 366 * DAY_MS, out);
}

bool str_to_age_ms(wend_str s, int64_t *out)
{
    return to_ms(s, ages, 100 * 365 * DAY_MS, out);
}

bool str_to_bytes(wend_str s, int64_t *out)
{
    static const struct unit units[] = {
        {"", 1},          {"KiB", 1 << 10},          {"MiB", 1 << 20},
        {"GiB", 1 << 30}, {"TiB", INT64_C(1) << 40}, {NULL, 1},
    };
    wend_str digits = take_digits(&s);
    int64_t n, bytes;

    if (!str_to_i64(digits, &n) || !n ||
        !find_unit(units, s, n, INT64_C(1) << 50, &bytes))
        return false;
    *out = n * bytes;
    return true;
}

static bool glob_byte(char p, char c, unsigned flags)
{
    return p == c || (p == '?' && !(flags & GLOB_STARS)) ||
           ((flags & GLOB_ANY_CASE) && lower(p) == lower(c));
}

bool str_glob_as(wend_str pattern, wend_str text, unsigned flags)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;

    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.len &&
                   glob_byte(pattern.ptr[p], text.ptr[t], flags)) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1; /* let the last star take one byte more */
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

bool str_glob(wend_str pattern, wend_str text)
{
    return str_glob_as(pattern, text, 0);
}

bool buf_room(struct buf *b, size_t more)
{
    size_t cap = b->cap ? b->cap : BUF_MIN;
    char *p;

    if (b->failed)
        return false;
    if (more < b->cap - b->len && b->cap)
        return true;
    b->failed = more > SIZE_MAX / 4 - b->len;
    while (!b->failed && cap - b->len <= more)
        cap *= 2;
    p = b->failed ? NULL : mem_realloc(b->mem, b->ptr, cap);
    b->failed = !p;
    if (p) {
        b->ptr = p;
        b->cap = cap;
    }
    return p;
}

void buf_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_quoted(struct buf *b, wend_str s)
{
    buf_char(b, '\'');
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '\'')
            buf_cstr(b, "'\\''");
        else
            buf_char(b, s.ptr[i]);
    buf_char(b, '\'');
}

size_t i64_text(char *p, int64_t n)
{
    static const char pairs[] = "00010203040506070809"
                                "10111213141516171819"
                                "20212223242526272829"
                                "30313233343536373839"
                                "40414243444546474849"
                                "50515253545556575859"
                                "60616263646566676869"
                                "70717273747576777879"
                                "80818283848586878889"
                                "90919293949596979899";
    char digits[20];
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    size_t len = 0, i = sizeof digits;

    for (; u >= 100; u /= 100) /* two digits a division */
        memcpy(&digits[i -= 2], &pairs[u % 100 * 2], 2);
    if (u >= 10)
        memcpy(&digits[i -= 2], &pairs[u * 2], 2);
    else
        digits[--i] = (char)('0' + u);
    if (n < 0)
        p[len++] = '-';
    memcpy(p + len, digits + i, sizeof digits - i);
    return len + sizeof digits - i;
}

void buf_i64(struct buf *b, int64_t n)
{
    char text[21];

    buf_add(b, text, i64_text(text, n));
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len < 0 || !buf_room(b, (size_t)len))
        return;
    va_start(ap, fmt);
    vsnprintf(b->ptr + b->len, (size_t)len + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)len;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->ptr)
        b->ptr[0] = 0;
}

void buf_reuse(struct buf *b, size_t keep)
{
    if (b->cap > keep)
        buf_free(b);
    else
        buf_clear(b);
}

void buf_free(struct buf *b)
{
    mem_free(b->mem, b->ptr);
    b->ptr = NULL;
    b->len = b->cap = 0;
    b->failed = false;
}

wend_str buf_view(const struct buf *b)
{
    return b->ptr ? (wend_str){b->ptr, b->len} : STR("");
}

wend_str buf_keep(struct buf *b, struct arena *a)
{
    wend_str kept = b->failed ? STR_NONE : arena_str(a, buf_view(b));

    a->failed |= b->failed;
    buf_free(b);
    return kept;
}

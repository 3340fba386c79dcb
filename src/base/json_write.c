/*
 * json_write.c - writes JSON, always in the same bytes for the same value.
 *
 * Failed allocations stick in the buffer. The locale does not matter.
 */
#include "base/json.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_scan.h"
#include "base/utf8.h"

enum {
    F64_DIGITS_MAX = 17,  /* enough for every double ... */
    F64_DIGITS_SURE = 15, /* ... and these survive in every normal one */
    /* As in RFC 8785: no exponent from 1e-6 to below 1e21. */
    PLAIN_POINT_MIN = -5,
    PLAIN_POINT_MAX = 21,
    ROOM_MORE = 16, /* above any escape, both quotes and what follows */
};

/* One byte where room was made before. */
static void put(struct buf *b, char c)
{
    b->ptr[b->len++] = c;
}

static void put_escape(struct buf *b, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    static const char letters[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
    };

    put(b, '\\');
    if (letters[c]) {
        put(b, letters[c]);
        return;
    }
    put(b, 'u');
    put(b, '0');
    put(b, '0');
    put(b, digits[c >> 4]);
    put(b, digits[c & 15]);
}

/* Room is made once for all that needs no escape, then again for each one
 * that does. The string may be followed by one more byte. */
static void put_str(struct buf *b, wend_str s, char after)
{
    uint64_t seen = 0;
    size_t plain_len;

    assert(utf8_valid_len(s) == s.len);
    if (s.len > SIZE_MAX / 8 ||
        ((b->failed || b->cap - b->len <= s.len + ROOM_MORE) &&
         !buf_room(b, s.len + ROOM_MORE))) {
        b->failed = true;
        return;
    }
    put(b, '"');
    while (s.len) {
        plain_len = json_plain_len(s.ptr, s.len, &seen);
        memcpy(b->ptr + b->len, s.ptr, plain_len);
        b->len += plain_len;
        s = str_skip(s, plain_len);
        if (!s.len)
            break;
        put_escape(b, (unsigned char)*s.ptr);
        s = str_skip(s, 1);
        if (!buf_room(b, s.len + ROOM_MORE))
            break; /* the last room still has some for the end */
    }
    put(b, '"');
    if (after)
        put(b, after);
    b->ptr[b->len] = 0;
}

void json_put_str(struct buf *b, wend_str s)
{
    put_str(b, s, 0);
}

void json_put_inside(struct buf *b, wend_str s)
{
    size_t from = b->len;

    json_put_str(b, s);
    if (b->failed)
        return;
    memmove(b->ptr + from, b->ptr + from + 1, b->len - from - 2);
    b->len -= 2;
    b->ptr[b->len] = 0;
}

/* ---- Numbers ------------------------------------------------------------- */

/* 0.digits * 10^point */
struct shortest {
    char digits[F64_DIGITS_MAX];
    int count;
    int point;
};

/* Normal numbers need 15 digits or more, but for zeros at the end. */
static struct shortest shortest_of(double d)
{
    struct shortest s = {.count = 0};
    /* Sign and separator, which may be several bytes, and the exponent. */
    char text[F64_DIGITS_MAX + 32], back[F64_DIGITS_MAX + 32];
    int precision = d >= DBL_MIN ? F64_DIGITS_SURE : 1;

    for (; precision <= F64_DIGITS_MAX; precision++) {
        const char *p = text;

        snprintf(text, sizeof text, "%.*e", precision - 1, d);
        for (s.count = 0; *p && *p != 'e'; p++)
            if (*p >= '0' && *p <= '9')
                s.digits[s.count++] = *p;
        s.point = *p ? (int)strtol(p + 1, NULL, 10) + 1 : 0;
        snprintf(back, sizeof back, "%.*se%d", s.count, s.digits,
                 s.point - s.count);
        if (strtod(back, NULL) == d)
            break;
    }
    while (s.count > 1 && s.digits[s.count - 1] == '0')
        s.count--;
    return s;
}

static void put_zeros(struct buf *b, int count)
{
    while (count-- > 0)
        buf_char(b, '0');
}

static void put_shortest(struct buf *b, const struct shortest *s)
{
    int whole = s->point < s->count ? s->point : s->count;

    if (s->point < PLAIN_POINT_MIN || s->point > PLAIN_POINT_MAX) {
        whole = 1;
        buf_add(b, s->digits, 1);
    } else if (s->point <= 0) {
        whole = 0;
        buf_char(b, '0');
    } else {
        buf_add(b, s->digits, (size_t)whole);
        put_zeros(b, s->point - s->count);
    }
    if (whole < s->count) {
        buf_char(b, '.');
        if (s->point >= PLAIN_POINT_MIN)
            put_zeros(b, -s->point);
        buf_add(b, s->digits + whole, (size_t)(s->count - whole));
    }
    if (s->point < PLAIN_POINT_MIN || s->point > PLAIN_POINT_MAX) {
        buf_cstr(b, s->point > 0 ? "e+" : "e");
        buf_i64(b, s->point - 1);
    }
}

void json_put_f64(struct buf *b, double d)
{
    const double exact_max = 9007199254740992.0; /* 2^53 */
    struct shortest s;

    if (!(d >= -DBL_MAX && d <= DBL_MAX)) {
        buf_cstr(b, "null"); /* JSON has no infinity and no NaN */
        return;
    }
    if (d >= -exact_max && d <= exact_max && d == (double)(int64_t)d) {
        buf_i64(b, (int64_t)d);
        return;
    }
    if (d < 0) {
        buf_char(b, '-');
        d = -d;
    }
    s = shortest_of(d);
    put_shortest(b, &s);
}

/* n / 10^places, with all its places; unit is 10^places. */
static void put_fixed(struct buf *b, int64_t n, size_t places, int64_t unit)
{
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    uint64_t part = u % (uint64_t)unit;
    char text[32];
    size_t len = 0, at;

    if (n < 0)
        text[len++] = '-';
    len += i64_text(text + len, (int64_t)(u / (uint64_t)unit));
    text[len++] = '.';
    for (at = len + places; at > len; part /= 10)
        text[--at] = (char)('0' + part % 10);
    buf_add(b, text, len + places);
}

void json_put_nano(struct buf *b, int64_t nano)
{
    size_t before = b->len;

    put_fixed(b, nano, 9, 1000000000);
    if (b->failed || b->len == before)
        return;
    while (b->ptr[b->len - 1] == '0')
        b->len--;
    if (b->ptr[b->len - 1] == '.')
        b->len--;
    b->ptr[b->len] = 0;
}

void json_put_time(struct buf *b, int64_t time_us)
{
    put_fixed(b, time_us, 6, 1000000);
}

/* ---- Trees --------------------------------------------------------------- */

static void put_children(struct buf *b, const struct json *j)
{
    bool object = j->kind == JSON_OBJECT;

    buf_char(b, object ? '{' : '[');
    for (const struct json *c = j->first; c; c = c->next) {
        if (c != j->first)
            buf_char(b, ',');
        if (object)
            put_str(b, c->key, ':');
        json_put(b, c);
    }
    buf_char(b, object ? '}' : ']');
}

/* Recursion ends with the tree, which JSON_DEPTH_MAX bounds. */
void json_put(struct buf *b, const struct json *j)
{
    switch (j->kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE: buf_cstr(b, json_kind_name(j->kind)); break;
    case JSON_NUMBER: buf_str(b, j->text); break;
    case JSON_STRING: json_put_str(b, j->text); break;
    case JSON_ARRAY:
    case JSON_OBJECT: put_children(b, j); break;
    }
}

void json_put_any(struct buf *b, wend_str text)
{
    struct arena a = {.mem = b->mem};
    wend_error why = {0};
    const struct json *j = text.len ? json_parse(text, &a, &why) : NULL;

    if (j)
        json_put(b, j);
    else
        json_put_str(b, text.ptr ? text : STR(""));
    b->failed |= a.failed || why.status == WEND_E_NOMEM;
    arena_free(&a);
}

wend_str json_text(const struct json *j, struct arena *a)
{
    struct buf b = {.mem = a->mem};

    if (!j)
        return STR_NONE;
    json_put(&b, j);
    return buf_keep(&b, a);
}

/* ---- Members and items --------------------------------------------------- */

const bool json_begins[UCHAR_MAX + 1] = {
    ['{'] = true, ['['] = true, [':'] = true, [','] = true, ['\n'] = true};

void json_add(struct buf *b, const char *key, const struct json *j)
{
    if (!j)
        return;
    json_key(b, key);
    json_put(b, j);
}

void json_add_pair(struct buf *b, wend_str key, const struct json *j)
{
    json_key(b, NULL);
    put_str(b, key, ':');
    json_put(b, j);
}

void json_add_str(struct buf *b, const char *key, wend_str s)
{
    if (!s.ptr)
        return;
    json_key(b, key);
    json_put_str(b, s);
}

void json_add_nullable(struct buf *b, const char *key, wend_str s)
{
    if (s.ptr)
        json_add_str(b, key, s);
    else
        json_add_raw(b, key, STR("null"));
}

void json_add_raw(struct buf *b, const char *key, wend_str json)
{
    if (!json.ptr)
        return;
    json_key(b, key);
    buf_str(b, json);
}

void json_add_i64(struct buf *b, const char *key, int64_t n)
{
    json_key(b, key);
    buf_i64(b, n);
}

void json_add_f64(struct buf *b, const char *key, double d)
{
    json_key(b, key);
    json_put_f64(b, d);
}

void json_add_bool(struct buf *b, const char *key, bool yes)
{
    json_key(b, key);
    buf_cstr(b, yes ? "true" : "false");
}

void json_add_nano(struct buf *b, const char *key, int64_t nano)
{
    json_key(b, key);
    if (nano < 0)
        buf_cstr(b, "null");
    else
        json_put_nano(b, nano);
}

void json_add_time(struct buf *b, const char *key, int64_t time_us)
{
    json_key(b, key);
    json_put_time(b, time_us);
}

void json_open(struct buf *b, const char *key, char bracket)
{
    json_key(b, key);
    buf_char(b, bracket);
}

void json_close(struct buf *b, char bracket)
{
    buf_char(b, bracket);
}

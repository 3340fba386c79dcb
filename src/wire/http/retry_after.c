/*
 * retry_after.c - when a server wants to be asked again.
 */
#include "wire/http/http.h"

/* A year of milliseconds: longer wishes are typing errors. */
static const int64_t WISH_MAX = INT64_C(366) * 24 * 3600 * 1000;

static bool two_digits(const char *p, int *out)
{
    if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
        return false;
    *out = (p[0] - '0') * 10 + (p[1] - '0');
    return true;
}

/* The index of three letters in a list of triples, or -1. */
static int three_letters(const char *p, const char *list)
{
    for (int i = 0; list[3 * i]; i++)
        if (!memcmp(p, list + 3 * i, 3))
            return i;
    return -1;
}

/* Days from 1970-01-01 to a date after it; month from 1. */
static int64_t days_to(int64_t year, int month, int day)
{
    static const int before[] = {0,   31,  59,  90,  120, 151,
                                 181, 212, 243, 273, 304, 334};
    int64_t y = month > 2 ? year : year - 1;

    return (year - 1970) * 365 + y / 4 - y / 100 + y / 400 -
           (1969 / 4 - 1969 / 100 + 1969 / 400) + before[month - 1] + day - 1;
}

/* An IMF-fixdate of RFC 7231, as in the shape, and nothing else. */
static bool date_seconds(wend_str s, int64_t *out)
{
    const wend_str shape = STR("???, ?? ??? ???? ??:??:?? GMT");
    static const int month_days[] = {31, 29, 31, 30, 31, 30,
                                     31, 31, 30, 31, 30, 31};
    int weekday, day, month, century, year, hour, minute, second;

    if (s.len != shape.len || !str_glob(shape, s))
        return false;
    weekday = three_letters(s.ptr, "ThuFriSatSunMonTueWed");
    month = three_letters(s.ptr + 8, "JanFebMarAprMayJunJulAugSepOctNovDec");
    if (weekday < 0 || month < 0 || !two_digits(s.ptr + 5, &day) ||
        !two_digits(s.ptr + 12, &century) || !two_digits(s.ptr + 14, &year) ||
        !two_digits(s.ptr + 17, &hour) || !two_digits(s.ptr + 20, &minute) ||
        !two_digits(s.ptr + 23, &second))
        return false;
    year += century * 100;
    if (year < 1970 || !day || day > month_days[month] || hour > 23 ||
        minute > 59 || second > 60)
        return false;
    if (month == 1 && day == 29 &&
        (year % 4 || (year % 100 == 0 && year % 400)))
        return false;
    *out = days_to(year, month + 1, day);
    if (*out % 7 != weekday) /* 1970-01-01 was a Thursday */
        return false;
    *out = ((*out * 24 + hour) * 60 + minute) * 60 + second;
    return true;
}

/* A number with an optional fraction, times `scale`. */
static bool number(wend_str s, int64_t scale, int64_t *out)
{
    int64_t n, part = 0, unit = scale;
    wend_str whole = s;
    const char *dot = s.len ? memchr(s.ptr, '.', s.len) : NULL;

    if (dot)
        whole.len = (size_t)(dot - s.ptr);
    if (!str_to_i64(whole, &n) || n > WISH_MAX)
        return false;
    for (const char *p = dot ? dot + 1 : s.ptr + s.len; p < s.ptr + s.len;
         p++) {
        if (*p < '0' || *p > '9')
            return false;
        part += unit * (*p - '0') / 10;
        unit /= 10;
    }
    *out = n * scale + part;
    return true;
}

int64_t retry_after(wend_str ms_text, wend_str text, int64_t now_us)
{
    int64_t ms = 0, at;

    if (!number(ms_text, 1, &ms) && !number(text, 1000, &ms) &&
        date_seconds(text, &at))
        ms = at * 1000 - now_us / 1000;
    return ms > 0 && ms <= WISH_MAX ? ms : 0;
}

void retry_after_put(struct buf *out, int64_t ms)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int64_t left = (ms + 999) / 1000;
    int shown = 0;

    for (size_t i = 0; i < sizeof units / sizeof *units && shown < 2; i++) {
        int64_t n = left / units[i].seconds;

        if (!n)
            continue;
        buf_cstr(out, shown++ ? " " : "");
        buf_i64(out, n);
        buf_char(out, ' ');
        buf_cstr(out, units[i].name);
        left -= n * units[i].seconds;
    }
}

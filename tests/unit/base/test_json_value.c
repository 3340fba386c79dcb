/*
 * test_json_value.c - numbers, equality and writing, and that what is
 * written reads back.
 */
#include "base/json.h"

#include <float.h>
#include <locale.h>

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;

static void test_i64(void)
{
    static const struct {
        const char *why, *text;
        bool wanted;
        int64_t value;
    } rows[] = {
        {"zero", "0", true, 0},
        {"minus zero is zero", "-0", true, 0},
        {"zero with all parts", "-0.00e-99", true, 0},
        {"an exponent", "1e3", true, 1000},
        {"a fraction of nothing", "5.0", true, 5},
        {"a fraction that the exponent makes whole", "1.25e2", true, 125},
        {"a negative exponent that leaves it whole", "1200e-2", true, 12},
        {"the dot among the digits", "12.5e1", true, 125},
        {"a half", "1.5", false, 0},
        {"a tenth from an exponent", "1e-1", false, 0},
        {"half the largest double step", "9007199254740993", true,
         9007199254740993},
        {"the largest", "9223372036854775807", true, INT64_MAX},
        {"one more, equal as a double", "9223372036854775808", false, 0},
        {"the smallest", "-9223372036854775808", true, INT64_MIN},
        {"one less", "-9223372036854775809", false, 0},
        {"the largest with a dot", "9.223372036854775807e18", true, INT64_MAX},
        {"not whole by one place", "9.223372036854775807e17", false, 0},
        {"20 digits", "10000000000000000000", false, 0},
        {"large by its exponent", "1e19", false, 0},
        {"zeros before and after", "0.000100e5", true, 10},
        {"a huge exponent", "1e99999999999999999999999", false, 0},
        {"a tiny one", "1e-99999999999999999999999", false, 0},
        {"zero whatever its exponent", "0e99999999999999999999999", true, 0},
        {"a string is no number", "\"1\"", false, 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        int64_t got = 0;
        bool is = json_i64(json_parse(str_of(rows[i].text), &a, NULL), &got);

        tap_ok(is == rows[i].wanted, "i64: %s", rows[i].why);
        tap_is_i64(got, rows[i].value, "i64: %s, the value", rows[i].why);
        arena_free(&a);
    }
    tap_ok(!json_i64(NULL, NULL) && !json_f64(NULL, NULL), "no value at all");
}

/* What json_put_f64 writes for what json_f64 reads: both in one table. */
static const struct {
    const char *why, *text, *wanted; /* NULL: out of range */
} doubles[] = {
    {"zero", "0", "0"},
    {"the sign of zero is not kept", "-0.0", "0"},
    {"an integer", "-17.0", "-17"},
    {"2^53", "9007199254740992", "9007199254740992"},
    {"beyond it, rounded", "9007199254740993", "9007199254740992"},
    {"a tenth", "0.1", "0.1"},
    {"16 digits", "0.30000000000000004", "0.30000000000000004"},
    {"the smallest of all", "5e-324", "5e-324"},
    {"17 digits needed", "1.7976931348623157e308", "1.7976931348623157e+308"},
    {"smallest normal", "2.2250738585072014e-308", "2.2250738585072014e-308"},
    {"largest subnormal", "2.225073858507201e-308", "2.225073858507201e-308"},
    {"negative, small", "-0.000001", "-0.000001"},
    {"one smaller gets an exponent", "0.0000001", "1e-7"},
    {"with more digits", "1.25e-9", "1.25e-9"},
    {"large without exponent", "123456789012345680000",
     "123456789012345680000"},
    {"the first with one", "1e21", "1e+21"},
    {"digits and an exponent", "1.5e300", "1.5e+300"},
    {"over the largest", "1e309", NULL},
    {"far over", "-1e99999999999999999999", NULL},
    {"far under", "1e-99999999999999999999", "0"},
    {"halfway, to even", "9007199254740993.0", "9007199254740992"},
    {"just over halfway, by a late digit",
     "9007199254740993.0000000000000000000000000000000000001",
     "9007199254740994"},
};

static void test_f64(const char *where)
{
    for (size_t i = 0; i < tap_count(doubles); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        double d = 0;
        bool is = json_f64(json_parse(str_of(doubles[i].text), &a, NULL), &d);

        if (is)
            json_put_f64(&b, d);
        tap_is_str(is ? buf_view(&b) : STR_NONE, doubles[i].wanted,
                   "f64 (%s): %s", where, doubles[i].why);
        buf_free(&b);
        arena_free(&a);
    }
}

/* A number of a thousand digits whose last one decides. */
static void test_f64_long(void)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    double down = 0, up = 0, zero = 0;

    buf_cstr(&b, "[9007199254740993.");
    for (int i = 0; i < 1000; i++)
        buf_char(&b, '0');
    buf_cstr(&b, "1e0, 9007199254740993.");
    for (int i = 0; i < 1001; i++)
        buf_char(&b, '0');
    buf_cstr(&b, ", 0.");
    for (int i = 0; i < 1000; i++)
        buf_char(&b, '0');
    buf_cstr(&b, "1e1001]");
    struct json *j = json_parse(buf_view(&b), &a, NULL);

    tap_ok(j && json_f64(j->first, &up) && up == 9007199254740994.0,
           "f64: the thousandth digit rounds up");
    tap_ok(j && json_f64(j->first->next, &down) && down == 9007199254740992.0,
           "f64: a thousand zeros do not");
    tap_ok(j && json_f64(j->first->next->next, &zero) && zero == 1.0,
           "f64: a small fraction and a large exponent");
    buf_free(&b);
    arena_free(&a);
}

/* A host may have set a decimal comma. */
static void test_locale(void)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8",
                                         "fr_FR.UTF-8", "ps_AF.UTF-8"};
    bool found = false;

    for (size_t i = 0; i < tap_count(commas); i++)
        if (setlocale(LC_NUMERIC, commas[i])) {
            test_f64(commas[i]);
            found = true;
        }
    if (!found)
        printf("# SKIPPED: no locale with a decimal comma is installed\n");
    setlocale(LC_NUMERIC, "C");
}

static void test_put_numbers(void)
{
    static const struct {
        int64_t n;
        const char *nano, *time;
    } rows[] = {
        {0, "0", "0.000000"},
        {1, "0.000000001", "0.000001"},
        {-1, "-0.000000001", "-0.000001"},
        {1250000, "0.00125", "1.250000"},
        {1000000000, "1", "1000.000000"},
        {-2500000000, "-2.5", "-2500.000000"},
        {10000000000, "10", "10000.000000"},
        {1763171411123456, "1763171.411123456", "1763171411.123456"},
        {INT64_MAX, "9223372036.854775807", "9223372036854.775807"},
        {INT64_MIN, "-9223372036.854775808", "-9223372036854.775808"},
    };
    struct buf b = {.mem = &plain};

    for (size_t i = 0; i < tap_count(rows); i++) {
        buf_clear(&b);
        json_put_nano(&b, rows[i].n);
        tap_is_str(buf_view(&b), rows[i].nano, "nano %s", rows[i].nano);
        tap_ok(!b.ptr[b.len], "nano %s ends with a NUL", rows[i].nano);
        buf_clear(&b);
        json_put_time(&b, rows[i].n);
        tap_is_str(buf_view(&b), rows[i].time, "time %s", rows[i].time);
    }
    buf_clear(&b);
    json_put_f64(&b, DBL_MAX * 10);
    buf_char(&b, ' ');
    json_put_f64(&b, DBL_MAX * 10 - DBL_MAX * 10);
    tap_is_str(buf_view(&b), "null null", "infinity and NaN are null");
    buf_clear(&b);
    json_put_str(&b, STR("\x01\x1f \"\\/\x7f\xc3\xa9\n"));
    json_put_str(&b, STR_NONE);
    tap_is_str(buf_view(&b), "\"\\u0001\\u001f \\\"\\\\/\x7f\xc3\xa9\\n\"\"\"",
               "only what must be is escaped");
    buf_clear(&b);
    json_add_nullable(&b, "a", STR("\"b"));
    json_add_nullable(&b, "c", STR(""));
    json_add_nullable(&b, "d", STR_NONE);
    tap_is_str(buf_view(&b), "\"a\":\"\\\"b\",\"c\":\"\",\"d\":null",
               "members, null where a string is absent");
    buf_free(&b);
}

static void test_equal(void)
{
    static const struct {
        const char *why, *a, *b;
        bool wanted;
    } rows[] = {
        {"a fraction of nothing", "1.0", "1", true},
        {"an exponent", "1e2", "100", true},
        {"a negative exponent", "12.5e-1", "1.25", true},
        {"the sign of zero", "-0", "0.0e5", true},
        {"the sign of others", "-1", "1", false},
        {"equal as doubles, but not equal", "9007199254740993",
         "9007199254740992", false},
        {"not doubles at all", "1e400", "10e399", true},
        {"not doubles, not equal", "1e400", "1e401", false},
        {"the same digits elsewhere", "12", "1.2", false},
        {"more digits", "1.2", "1.23", false},
        {"order of members", "{\"a\":1,\"b\":2,\"c\":3}",
         "{\"c\":3,\"a\":1,\"b\":2}", true},
        {"another key", "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
        {"another value", "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":2}", false},
        {"fewer members", "{\"a\":1,\"b\":2}", "{\"a\":1}", false},
        {"order of elements", "[1,2]", "[2,1]", false},
        {"fewer elements", "[1,2]", "[1]", false},
        {"escapes", "\"\\u00e9\"", "\"\xc3\xa9\"", true},
        {"a NUL in it", "\"a\\u0000b\"", "\"a\\u0000c\"", false},
        {"kinds", "1", "\"1\"", false},
        {"kinds without text", "true", "false", false},
        {"null", "null", " null ", true},
        {"deep", "[[[{\"a\":[1.0]}]]]", "[[[{\"a\":[1]}]]]", true},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct json *x = json_parse(str_of(rows[i].a), &a, NULL);
        struct json *y = json_parse(str_of(rows[i].b), &a, NULL);

        tap_ok(x && y && json_equal(x, y) == rows[i].wanted, "equal: %s",
               rows[i].why);
        tap_ok(x && y && json_equal(y, x) == rows[i].wanted,
               "equal: %s, the other way", rows[i].why);
        arena_free(&a);
    }
    tap_ok(json_equal(NULL, NULL), "equal: nothing and nothing");
    tap_ok(!json_equal(NULL, &(struct json){.kind = JSON_NULL}),
           "equal: nothing is not null");
}

/* ---- Random values: written, read and written again ---------------------- */

static uint32_t chance(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(*seed >> 33) % below;
}

static void random_str(struct buf *b, uint64_t *seed)
{
    static const char *const parts[] = {
        "a",        "Z", "\\n", "\\\"",    "\\u0000",          "\\ud83d\\ude00",
        "\xc3\xa9", " ", "\\/", "\\ud800", "\xf0\x9f\x98\x80", "\x7f",
        "01234567",
    };

    buf_char(b, '"');
    for (uint32_t n = chance(seed, 12); n; n--)
        buf_cstr(b, parts[chance(seed, tap_count(parts))]);
    buf_char(b, '"');
}

static void random_value(struct buf *b, uint64_t *seed, int depth)
{
    static const char *const scalars[] = {
        "null",      "true",  "false",
        "0",         "-0",    "1e5",
        "-12.50e-3", "1E400", "123456789012345678901234567890",
        "0.1",
    };
    uint32_t kind = chance(seed, depth < 5 ? 8 : 4), count;

    if (kind < 2) {
        buf_cstr(b, scalars[chance(seed, tap_count(scalars))]);
        return;
    }
    if (kind < 4) {
        random_str(b, seed);
        return;
    }
    /* Now and then more members than are compared one by one. */
    count = chance(seed, chance(seed, 20) ? 5 : 40);
    buf_cstr(b, kind < 6 ? "[ " : "{\n");
    for (uint32_t i = 0; i < count; i++) {
        buf_cstr(b, i ? " ,\t" : "");
        if (kind >= 6)
            buf_fmt(b, "\"%u\\u00%02x\" :", i, chance(seed, 256));
        random_value(b, seed, depth + 1);
    }
    buf_cstr(b, kind < 6 ? "\r]" : "}");
}

static void test_round_trip(void)
{
    struct arena a = {.mem = &plain};
    struct buf text = {.mem = &plain}, once = text, twice = text;
    int64_t bad = 0;

    for (uint64_t round = 1; round <= 2000; round++) {
        uint64_t seed = round;
        struct json *x, *y;

        buf_clear(&text);
        buf_clear(&once);
        buf_clear(&twice);
        random_value(&text, &seed, 0);
        x = json_parse(buf_view(&text), &a, NULL);
        if (x)
            json_put(&once, x);
        y = json_parse(buf_view(&once), &a, NULL);
        if (y)
            json_put(&twice, y);
        if (!x || !y || !json_equal(x, y) ||
            !str_eq(buf_view(&once), buf_view(&twice))) {
            printf("# seed %d: %s\n", (int)round, text.ptr);
            bad++;
        }
        arena_reset(&a);
    }
    tap_is_i64(bad, 0, "2000 random values read back, and stay the same");
    buf_free(&text);
    buf_free(&once);
    buf_free(&twice);
    arena_free(&a);
}

/* Doubles of random bits: what is written reads back, and is no longer
 * than what 17 digits give. */
static void test_f64_round_trip(void)
{
    struct buf b = {.mem = &plain};
    uint64_t seed = 42, bits;
    int64_t bad = 0;

    for (int i = 0; i < 20000; i++) {
        struct arena a = {.mem = &plain};
        double d, back = 0;

        bits = (uint64_t)chance(&seed, UINT32_MAX) << 33 ^
               (uint64_t)chance(&seed, UINT32_MAX) << 11 ^
               chance(&seed, UINT32_MAX);
        if (i % 4 == 0)
            bits &= 0x800fffffffffffff; /* subnormal */
        memcpy(&d, &bits, sizeof d);
        if (!(d >= -DBL_MAX && d <= DBL_MAX))
            continue;
        buf_clear(&b);
        json_put_f64(&b, d);
        if (!json_f64(json_parse(buf_view(&b), &a, NULL), &back) || back != d ||
            b.len > 25) {
            printf("# %.17g: %s\n", d, b.ptr);
            bad++;
        }
        arena_free(&a);
    }
    tap_is_i64(bad, 0, "20000 random doubles read back");
    buf_free(&b);
}

static void test_failures(void)
{
    const char *text = "{\"a\\n\":[1,2.5,true,null,{\"b\":\"\\u0001\\u0002"
                       "\\u0003\\u0004\\u0005\\u0006\\u0007\\u000b\\u000e\"}],"
                       "\"0123456789012345678901234567890123456789\":\"\"}";
    struct arena a = {.mem = &plain};
    struct json *j = json_parse(str_of(text), &a, NULL);
    struct fault f = {0};
    int64_t wrong = !j;

    while (j && fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        json_put(&b, j);
        json_put_nano(&b, 1);
        json_put_time(&b, 1);
        json_put_f64(&b, 0.1);
        wrong += b.failed != f.hit;
        wrong += b.ptr && b.ptr[b.len];
        buf_free(&b);
        wrong += f.live != 0;
    }
    tap_is_i64(wrong, 0, "each failing allocation sticks, no leak");
    tap_ok(f.fail_at > 3, "there were some");
    arena_free(&a);
}

static void test_inside(void)
{
    static const struct {
        const char *why, *before;
        wend_str text;
        const char *wanted;
    } rows[] = {
        {"plain", "", {"ab", 2}, "ab"},
        {"nothing", "", {"", 0}, ""},
        {"behind what is there", "\"x", {"y", 1}, "\"xy"},
        {"quotes and backslashes", "", {"\"\\", 2}, "\\\"\\\\"},
        {"controls, also a NUL", "", {"\n\0\x1f", 3}, "\\n\\u0000\\u001f"},
        {"code points stay", "", {"\xc3\xa9", 2}, "\xc3\xa9"},
    };
    struct fault f = {0};
    int bad = 0;

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &plain};

        buf_cstr(&b, rows[i].before);
        json_put_inside(&b, rows[i].text);
        tap_ok(str_is(buf_view(&b), rows[i].wanted) && !b.ptr[b.len],
               "inside: %s (%s)", rows[i].why, b.ptr);
        buf_free(&b);
    }
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        json_put_inside(&b, STR("a"));
        bad += b.failed != f.hit || (!f.hit && !str_is(buf_view(&b), "a"));
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_ok(!bad && f.fail_at > 1, "inside: a failed allocation sticks");
}

int main(void)
{
    test_i64();
    test_f64("C");
    test_f64_long();
    test_locale();
    test_put_numbers();
    test_equal();
    test_round_trip();
    test_f64_round_trip();
    test_failures();
    test_inside();
    return tap_done();
}

/*
 * test_decimal.c - numbers compared, divided and written without rounding.
 */
#include "base/decimal.h"

#include "tap.h"

static const struct mem plain;

static const char *const signs[] = {"below", "equal to", "above"};

/* Each pair is compared both ways. */
static void test_compare(void)
{
    static const struct {
        const char *why, *a, *b;
        int wanted;
    } rows[] = {
        {"two digits against one", "9", "10", -1},
        {"the same, spelled differently", "1.50e1", "15", 0},
        {"zero has no sign", "-0.0", "0e5", 0},
        {"zero is above what is negative", "0", "-1e-99", 1},
        {"negative ones turn around", "-2", "-1", -1},
        {"and their magnitudes", "-10", "-9", -1},
        {"a tenth", "0.1", "0.10000000000000000555", -1},
        {"beyond the digits of a double", "9007199254740993",
         "9007199254740992", 1},
        {"more digits, less value", "0.123456", "0.2", -1},
        {"one is the other's beginning", "12", "12.0001", -1},
        {"the dot elsewhere", "1.2345e2", "12.345e1", 0},
        {"beyond the range of a double", "1e400", "1e399", 1},
        {"close to nothing", "1e-400", "0", 1},
        {"exponents beyond 64 bits", "1e99999999999999999999",
         "1e-99999999999999999999", 1},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct decimal a = decimal_of(str_of(rows[i].a));
        struct decimal b = decimal_of(str_of(rows[i].b));

        tap_ok(decimal_compare(&a, &b) == rows[i].wanted &&
                   decimal_compare(&b, &a) == -rows[i].wanted,
               "%s: %s is %s %s", rows[i].why, rows[i].a,
               signs[rows[i].wanted + 1], rows[i].b);
    }
}

static void test_multiple(void)
{
    static const struct {
        const char *why, *d, *unit;
        bool wanted;
    } rows[] = {
        {"plain", "12", "4", true},
        {"plain, not", "13", "4", false},
        {"zero", "0.0", "7", true},
        {"negative", "-12", "4", true},
        {"doubles would err", "4.35", "0.01", true},
        {"by the last digit", "4.351", "0.01", false},
        {"a unit larger than the number", "1", "2", false},
        {"the number's zeros help", "1e3", "8", true},
        {"one zero too few", "1e2", "8", false},
        {"a fraction of a fraction", "0.75", "2.5e-1", true},
        {"many digits", "123456789123456789123456789123456789", "9", true},
        {"many digits, not", "123456789123456789123456789123456788", "9",
         false},
        {"the most digits a unit may have", "999999999999999999e3",
         "999999999999999999", true},
        {"59 factors of two need 59 zeros", "1e59", "576460752303423488", true},
        {"58 are too few", "1e58", "576460752303423488", false},
        {"a huge exponent ends soon", "1e9999999999", "3", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct decimal d = decimal_of(str_of(rows[i].d));
        struct decimal unit = decimal_of(str_of(rows[i].unit));

        tap_ok(decimal_multiple(&d, &unit) == rows[i].wanted, "%s: %s of %s",
               rows[i].why, rows[i].d, rows[i].unit);
    }
}

static void test_put(void)
{
    static const struct {
        const char *why, *text, *wanted;
    } rows[] = {
        {"zero", "-0.00e7", "e0"},
        {"an integer", "1200", "12e2"},
        {"the same", "1.2e3", "12e2"},
        {"a fraction", "-0.0125", "-125e-4"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct decimal d = decimal_of(str_of(rows[i].text));
        struct buf b = {.mem = &plain};

        decimal_put(&b, &d);
        tap_is_str(buf_view(&b), rows[i].wanted, "written: %s", rows[i].why);
        buf_free(&b);
    }
}

int main(void)
{
    test_compare();
    test_multiple();
    test_put();
    return tap_done();
}

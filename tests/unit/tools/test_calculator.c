/*
 * test_calculator.c - expressions, what they give and why they are refused.
 */
#include <locale.h>

#include "base/limits.h"
#include "tap.h"
#include "tools/tools.h"

static const struct {
    const char *why, *expression, *result;
} results[] = {
    {"integers come without a point", "6*7", "42"},
    {"a number", "5", "5"},
    {"shortest text that reads back", "0.1+0.2", "0.30000000000000004"},
    {"products before sums", "1+2*3", "7"},
    {"brackets first", "(1+2)*3", "9"},
    {"left to right", "10-4-3", "3"},
    {"left to right, too", "100/10/2", "5"},
    {"a fraction", "1/4", "0.25"},
    {"remainder", "17%5", "2"},
    {"remainder has the sign of the first", "-17%5", "-2"},
    {"power", "2**10", "1024"},
    {"the other power", "2^10", "1024"},
    {"powers go right to left", "2**3**2", "512"},
    {"the sign comes after the power", "-2**2", "-4"},
    {"but it may be in the exponent", "2**-2", "0.25"},
    {"and there, before the next power", "2**-1**2", "0.5"},
    {"signs", "--3", "3"},
    {"a sign after an operator", "2*-3", "-6"},
    {"plus as a sign", "+4-+1", "3"},
    {"no minus zero", "-0", "0"},
    {"exponents", "1.5e3+2E-1", "1500.2"},
    {"points at both ends", ".5+1.", "1.5"},
    {"leading zeros", "007", "7"},
    {"space", " 1 +\t2\n", "3"},
    {"pi", "pi", "3.141592653589793"},
    {"e", "e", "2.718281828459045"},
    {"square root", "sqrt(16)", "4"},
    {"a function in an expression", "2*sqrt(9)+1", "7"},
    {"space before the bracket", "abs (-3)", "3"},
    {"down", "floor(-1.5)", "-2"},
    {"up", "ceil(-1.5)", "-1"},
    {"round halves away from zero", "round(2.5)", "3"},
    {"least of many", "min(3,1,2)", "1"},
    {"most of many", "max(3, 1+4, 2)", "5"},
    {"of one", "max(3)", "3"},
    {"functions in functions", "max(min(1,2),min(3,4))", "3"},
    {"base ten", "log(1000)", "3"},
    {"natural", "ln(1)", "0"},
    {"exponential", "exp(0)", "1"},
    {"angles", "sin(0)+cos(0)+tan(0)", "1"},
    {"large integers are exact up to 2^53", "2^53-1", "9007199254740991"},
    {"beyond that, an exponent", "1e300*10", "1e+301"},
    {"a small number", "1/3/1e10", "3.3333333333333335e-11"},
    {"too small is zero", "1e-300*1e-300", "0"},
};

static const struct {
    const char *why, *expression, *message;
} refusals[] = {
    {"nothing", "", "expected a number at the end of the expression"},
    {"space only", "  ", "expected a number at the end of the expression"},
    {"a value is missing", "1+",
     "expected a number at the end of the "
     "expression"},
    {"an operator is missing", "1 2", "expected an operator at column 3: '2'"},
    {"two operators", "1*/2", "expected a number at column 3: '/2'"},
    {"division by zero", "1/0", "division by zero at column 2: '/0'"},
    {"by what is zero", "5+1/(2-2)", "division by zero at column 4: '/(2-2)'"},
    {"remainder by zero", "1%0", "division by zero at column 2: '%0'"},
    {"zero to a negative power", "0^-1", "division by zero at column 2: '^-1'"},
    {"overflow", "10**400", "result too large at column 3: '**400'"},
    {"overflow of a product", "1*1e308*10",
     "result too large at column 8: '*10'"},
    {"a number beyond all", "1e999", "number too large at column 1: '1e999'"},
    {"root of a negative", "1+sqrt(-1)",
     "no real result at column 3: 'sqrt(-1)'"},
    {"logarithm of zero", "ln(0)", "no real result at column 1: 'ln(0)'"},
    {"a root by a power", "(-8)^(1/3)", "no real result at column 5: '^(1/3)'"},
    {"not closed", "2*(1+2", "'(' is not closed at column 3: '(1+2'"},
    {"not opened", "1+2)", "')' without '(' at column 4: ')'"},
    {"empty brackets", "()", "expected a number at column 2: ')'"},
    {"a comma outside", "1,2", "',' without '(' at column 2: ',2'"},
    {"a comma in brackets", "(1,2)",
     "',' outside a function at column 3: "
     "',2)'"},
    {"too many values", "sqrt(1,2)",
     "one value too many for the function at column 1: 'sqrt(1,2)'"},
    {"no value", "min()", "expected a number at column 5: ')'"},
    {"an unknown name", "1+foo(2)", "unknown name at column 3: 'foo(2)'"},
    {"nearly a name", "PI", "unknown name at column 1: 'PI'"},
    {"a function without brackets", "sqrt 2",
     "expected '(' after the function at column 6: '2'"},
    {"names do not multiply", "2pi", "expected an operator at column 2: 'pi'"},
    {"a point alone", ".", "expected a number at column 1: '.'"},
    {"two points", "1.2.3", "expected an operator at column 4: '.3'"},
    {"columns are code points",
     "1\xc3\x97"
     "2",
     "expected an operator at column 2: '\xc3\x97"
     "2'"},
    {"long expressions are shown in part",
     "1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "expected an operator at column 3: 'aaaaaaaaaaaaaaaaaaaaaaaa'"},
};

static void test_results(const char *where)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};

    for (size_t i = 0; i < tap_count(results); i++) {
        wend_error err = {0};

        buf_clear(&b);
        calculator_eval(str_of(results[i].expression), &b, &err);
        tap_is_str(buf_view(&b), results[i].result, "%s%s: %s %s",
                   results[i].why, where, results[i].expression, err.message);
    }
    buf_free(&b);
}

static void test_refusals(void)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};

    for (size_t i = 0; i < tap_count(refusals); i++) {
        wend_error err = {0};
        wend_status s =
            calculator_eval(str_of(refusals[i].expression), &b, &err);

        tap_ok(s && !b.len, "refused: %s", refusals[i].why);
        tap_is_str(err.message, refusals[i].message, "  in words");
    }
    tap_ok(calculator_eval(STR("1\0+1"), &b, NULL), "refused: NUL inside");
    tap_ok(calculator_eval(STR_NONE, &b, NULL), "refused: absent");
    buf_free(&b);
}

/* 200 operators may wait; each shape fills the stack in its own way. */
static void test_depth(void)
{
    static const struct {
        const char *why, *repeated;
    } shapes[] = {
        {"brackets", "("},
        {"signs", "-"},
        {"powers", "1^"},
        {"functions", "max(1,"},
    };
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(shapes); i++)
        for (int depth = 199; depth <= 201; depth++) {
            struct buf text = {.mem = &m}, out = {.mem = &m};
            wend_error err = {0};

            for (int k = 0; k < depth; k++)
                buf_cstr(&text, shapes[i].repeated);
            buf_char(&text, '1');
            for (int k = 0; k < depth && strchr(shapes[i].repeated, '('); k++)
                buf_char(&text, ')');
            calculator_eval(buf_view(&text), &out, &err);
            tap_is_i64(!strncmp(err.message, "nested too deeply", 17),
                       depth > 200, "%d %s: %s", depth, shapes[i].why,
                       err.message);
            buf_free(&text);
            buf_free(&out);
        }
}

static void test_length(void)
{
    struct mem m = {0};
    struct buf out = {.mem = &m};
    char text[EXPRESSION_BYTES_MAX + 1];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? '+' : '1';
    tap_ok(!calculator_eval((wend_str){text, EXPRESSION_BYTES_MAX - 1}, &out,
                            NULL),
           "a long sum does not nest");
    tap_is_str(buf_view(&out), "2048", "  and is right");
    text[EXPRESSION_BYTES_MAX - 1] = ' ';
    text[EXPRESSION_BYTES_MAX] = ' ';
    tap_ok(!calculator_eval((wend_str){text, EXPRESSION_BYTES_MAX}, &out, NULL),
           "at the limit");
    tap_is_i64(
        calculator_eval((wend_str){text, EXPRESSION_BYTES_MAX + 1}, &out, NULL),
        WEND_E_LIMIT, "one over it");
    buf_free(&out);
}

int main(void)
{
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8"};

    test_results("");
    test_refusals();
    test_depth();
    test_length();
    for (size_t i = 0; i < tap_count(comma); i++)
        if (setlocale(LC_ALL, comma[i])) {
            test_results(" (decimal comma)");
            break;
        }
    return tap_done();
}

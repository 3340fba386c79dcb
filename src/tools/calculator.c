/*
 * calculator.c - arithmetic for models, which are bad at it.
 *
 * An operator reads its right side up to one that binds less tightly; the depth
 * is limited, so that no expression exhausts the stack. After the first refusal
 * nothing is left to read. The locale does not matter.
 */
#include <math.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "tools/tools.h"

enum {
    DEPTH_MAX = 200, /* operators that wait; people stay below ten */
    SHOWN_MAX = 24,  /* bytes of the expression in a message */
};

/* How tightly an operator binds; a sign binds as a product does. */
enum bind { BIND_NONE, BIND_SUM, BIND_PRODUCT, BIND_POWER };

/* Where a function has no value. */
enum domain { ANYWHERE, NOT_NEGATIVE, POSITIVE };

struct function {
    const char *name;
    double (*one)(double);         /* NULL: takes any number of values */
    double (*two)(double, double); /* folds those */
    enum domain domain;
};

struct calc {
    const char *p, *end, *start;
    int depth; /* operators that wait */
    wend_status status;
    wend_error *err;
};

/* The first reason counts. */
static double refuse(struct calc *c, const char *at, const char *what)
{
    wend_str rest = {at, (size_t)(c->end - at)};

    if (c->status != WEND_OK)
        return 0;
    c->p = c->end;
    c->status =
        at == c->end
            ? fail(c->err, WEND_E_INVAL, "%s at the end of the expression",
                   what)
            : fail(
                  c->err, WEND_E_INVAL, "%s at column %zu: '%.*s'", what,
                  1 + utf8_count((wend_str){c->start, (size_t)(at - c->start)}),
                  (int)utf8_cut(rest, SHOWN_MAX), at);
    return 0;
}

static double checked(struct calc *c, const char *at, double v)
{
    return isnan(v)   ? refuse(c, at, "no real result")
           : isinf(v) ? refuse(c, at, "result too large")
                      : v;
}

/* ---- Operands ------------------------------------------------------------ */

static double expression(struct calc *c, enum bind least);

/* What an operator or a bracket at `at` waits for. */
static double below(struct calc *c, const char *at, enum bind least)
{
    double v;

    if (c->depth == DEPTH_MAX)
        return refuse(c, at, "nested too deeply");
    c->depth++;
    v = expression(c, least);
    c->depth--;
    return v;
}

static void skip_space(struct calc *c)
{
    while (c->p < c->end && is_space(*c->p))
        c->p++;
}

static void skip_digits(struct calc *c)
{
    while (c->p < c->end && is_digit(*c->p))
        c->p++;
}

static double number(struct calc *c)
{
    const char *at = c->p, *p;
    struct json text = {.kind = JSON_NUMBER};
    double v = 0;

    skip_digits(c);
    if (c->p < c->end && *c->p == '.') {
        c->p++;
        skip_digits(c);
    }
    if (c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
        p = c->p + 1;
        if (p < c->end && (*p == '+' || *p == '-'))
            p++;
        if (p < c->end && is_digit(*p)) {
            c->p = p;
            skip_digits(c);
        }
    }
    text.text = (wend_str){at, (size_t)(c->p - at)};
    return json_f64(&text, &v) ? v : refuse(c, at, "number too large");
}

/* Behind the bracket, up to its end. `at`: where it, or its function, is. */
static double inside(struct calc *c, const char *at, const struct function *f)
{
    double v = below(c, at, BIND_SUM);

    for (; c->p < c->end && *c->p == ','; v = f->two(v, below(c, at, BIND_SUM)))
        if (!f)
            return refuse(c, c->p, "',' outside a function");
        else if (!f->two)
            return refuse(c, at, "one value too many for the function");
        else
            c->p++;
    if (c->p == c->end)
        return refuse(c, at, "'(' is not closed");
    c->p++;
    if (!f || !f->one)
        return v;
    if ((f->domain == NOT_NEGATIVE && v < 0) ||
        (f->domain == POSITIVE && v <= 0))
        return refuse(c, at, "no real result");
    return checked(c, at, f->one(v));
}

/* A constant, or a function with its bracket. */
static double name(struct calc *c)
{
    static const struct {
        const char *name;
        double v;
    } constants[] = {{"pi", 3.14159265358979323846},
                     {"e", 2.71828182845904523536}};
    static const struct function functions[] = {
        {"sqrt", sqrt, NULL, NOT_NEGATIVE}, {"abs", fabs, NULL, ANYWHERE},
        {"floor", floor, NULL, ANYWHERE},   {"ceil", ceil, NULL, ANYWHERE},
        {"round", round, NULL, ANYWHERE},   {"min", NULL, fmin, ANYWHERE},
        {"max", NULL, fmax, ANYWHERE},      {"log", log10, NULL, POSITIVE},
        {"ln", log, NULL, POSITIVE},        {"exp", exp, NULL, ANYWHERE},
        {"sin", sin, NULL, ANYWHERE},       {"cos", cos, NULL, ANYWHERE},
        {"tan", tan, NULL, ANYWHERE},
    };
    const char *at = c->p;
    wend_str word;

    while (c->p < c->end && (is_letter(*c->p) || is_digit(*c->p)))
        c->p++;
    word = (wend_str){at, (size_t)(c->p - at)};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (str_is(word, constants[i].name))
            return constants[i].v;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_is(word, functions[i].name)) {
            skip_space(c);
            if (c->p == c->end || *c->p != '(')
                return refuse(c, c->p, "expected '(' after the function");
            c->p++;
            return inside(c, at, &functions[i]);
        }
    return refuse(c, at, "unknown name");
}

static double operand(struct calc *c)
{
    const char *at;

    for (skip_space(c); c->p < c->end && *c->p == '+'; skip_space(c))
        c->p++;
    at = c->p;
    if (at < c->end &&
        (is_digit(*at) || (*at == '.' && at + 1 < c->end && is_digit(at[1]))))
        return number(c);
    if (at < c->end && is_letter(*at))
        return name(c);
    if (at == c->end || (*at != '(' && *at != '-'))
        return refuse(c, at, "expected a number");
    c->p++;
    return *at == '(' ? inside(c, at, NULL) : -below(c, at, BIND_POWER);
}

/* ---- Operators ----------------------------------------------------------- */

static double apply(struct calc *c, const char *at, enum bind bind, double a,
                    double b)
{
    bool power = bind == BIND_POWER;

    if (power ? a == 0 && b < 0 : b == 0 && (*at == '/' || *at == '%'))
        return refuse(c, at, "division by zero");
    return checked(c, at,
                   power        ? pow(a, b)
                   : *at == '+' ? a + b
                   : *at == '-' ? a - b
                   : *at == '*' ? a * b
                   : *at == '/' ? a / b
                                : fmod(a, b));
}

/* The next operator and its length in bytes; BIND_NONE if there is none. */
static enum bind next_bind(const struct calc *c, size_t *len)
{
    static const enum bind binds[128] = {
        ['+'] = BIND_SUM,     ['-'] = BIND_SUM,     ['*'] = BIND_PRODUCT,
        ['/'] = BIND_PRODUCT, ['%'] = BIND_PRODUCT, ['^'] = BIND_POWER,
    };
    unsigned char symbol = (unsigned char)*c->p;
    bool stars = symbol == '*' && c->p + 1 < c->end && c->p[1] == '*';

    *len = stars ? 2 : 1;
    return stars ? BIND_POWER : symbol < 128 ? binds[symbol] : BIND_NONE;
}

/* Up to what binds less tightly than `least`, a comma or a bracket's end. */
static double expression(struct calc *c, enum bind least)
{
    double v = operand(c);

    for (;;) {
        const char *at;
        enum bind bind;
        size_t len;

        skip_space(c);
        at = c->p;
        if (at == c->end || *at == ')' || *at == ',')
            return v;
        bind = next_bind(c, &len);
        if (bind == BIND_NONE)
            return refuse(c, at, "expected an operator");
        if (bind < least)
            return v;
        c->p += len;
        /* Powers go right to left. */
        v = apply(c, at, bind, v,
                  below(c, at, bind == BIND_POWER ? bind : bind + 1));
    }
}

wend_status calculator_eval(wend_str expression_text, struct buf *out,
                            wend_error *err)
{
    wend_str text = expression_text.ptr ? expression_text : STR("");
    struct calc c = {.err = err,
                     .start = text.ptr,
                     .p = text.ptr,
                     .end = text.ptr + text.len};
    double v;

    if (text.len > EXPRESSION_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "expression of %zu bytes; at most %d",
                    text.len, EXPRESSION_BYTES_MAX);
    v = expression(&c, BIND_SUM);
    if (c.p < c.end)
        refuse(&c, c.p, *c.p == ')' ? "')' without '('" : "',' without '('");
    if (c.status == WEND_OK)
        json_put_f64(out, v);
    return c.status;
}

wend_status tool_calculator(void *env, wend_call *call)
{
    struct tool_job j;
    wend_str expression = STR_NONE;
    wend_status s =
        tool_begin(&j, call, TOOL_ARGS({"expression", .str = &expression}));

    (void)env;
    if (!s)
        s = calculator_eval(expression, &j.out, &j.err);
    return tool_end(&j, call, s);
}

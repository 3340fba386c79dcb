/*
 * calculator.c - arithmetic for models, which are bad at it.
 *
 * Operators wait on one stack, values on another, until something binds
 * less tightly; no recursion, so depth is a number and not a crash. Reads
 * and writes numbers without the locale.
 */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "tools/tools.h"

enum {
    DEPTH_MAX = 200, /* operators that wait; people stay below ten */
    SHOWN_MAX = 24,  /* bytes of the expression in a message */
};

enum bind { BIND_NONE, BIND_SUM, BIND_PRODUCT, BIND_SIGN, BIND_POWER };

/* Where a function has no value. */
enum domain { ANYWHERE, NOT_NEGATIVE, POSITIVE };

struct function {
    const char *name;
    double (*one)(double);         /* NULL: takes any number of values */
    double (*two)(double, double); /* folds those */
    enum domain domain;
};

struct op {
    char symbol; /* + - * / % ^, n: sign, (: bracket or function */
    const struct function *fn;
    const char *at;
    bool folds; /* a value of the function is there already */
};

struct calc {
    const char *p, *end, *start;
    wend_error *err;
    struct op ops[DEPTH_MAX];
    double values[DEPTH_MAX + 1];
    int ops_count, values_count;
};

/* In code points, as people count. */
static size_t column_of(const struct calc *c, const char *at)
{
    size_t column = 1;

    for (const char *p = c->start; p < at; p++)
        column += ((unsigned char)*p & 0xC0) != 0x80;
    return column;
}

static wend_status refuse(struct calc *c, const char *at, const char *what)
{
    wend_str rest = {at, (size_t)(c->end - at)};

    if (at == c->end)
        return fail(c->err, WEND_E_INVAL, "%s at the end of the expression",
                    what);
    return fail(c->err, WEND_E_INVAL, "%s at column %zu: '%.*s'", what,
                column_of(c, at), (int)utf8_cut(rest, SHOWN_MAX), at);
}

/* ---- Applying ------------------------------------------------------------ */

static wend_status push_value(struct calc *c, const char *at, double v)
{
    if (isnan(v))
        return refuse(c, at, "no real result");
    if (isinf(v))
        return refuse(c, at, "result too large");
    /* An operator waits between any two values, so there is room. */
    c->values[c->values_count++] = v;
    return WEND_OK;
}

static double pop_value(struct calc *c)
{
    return c->values[--c->values_count];
}

static wend_status apply(struct calc *c, const struct op *op)
{
    double b = pop_value(c), a = op->symbol == 'n' ? 0 : pop_value(c);

    if (b == 0 && (op->symbol == '/' || op->symbol == '%'))
        return refuse(c, op->at, "division by zero");
    if (a == 0 && b < 0 && op->symbol == '^')
        return refuse(c, op->at, "division by zero");
    switch (op->symbol) {
    case 'n': return push_value(c, op->at, -b);
    case '+': return push_value(c, op->at, a + b);
    case '-': return push_value(c, op->at, a - b);
    case '*': return push_value(c, op->at, a * b);
    case '/': return push_value(c, op->at, a / b);
    case '%': return push_value(c, op->at, fmod(a, b));
    default: return push_value(c, op->at, pow(a, b));
    }
}

/* A value of a function is complete: folds it or, at the end, applies. */
static wend_status apply_function(struct calc *c, struct op *op, bool last)
{
    double v;

    if (op->fn->two) {
        v = pop_value(c);
        if (op->folds)
            v = op->fn->two(pop_value(c), v);
        op->folds = true;
        return push_value(c, op->at, v);
    }
    if (!last)
        return refuse(c, op->at, "one value too many for the function");
    v = pop_value(c);
    if ((op->fn->domain == NOT_NEGATIVE && v < 0) ||
        (op->fn->domain == POSITIVE && v <= 0))
        return refuse(c, op->at, "no real result");
    return push_value(c, op->at, op->fn->one(v));
}

static enum bind bind_of(char symbol)
{
    static const enum bind binds[128] = {
        ['+'] = BIND_SUM,     ['-'] = BIND_SUM,     ['*'] = BIND_PRODUCT,
        ['/'] = BIND_PRODUCT, ['%'] = BIND_PRODUCT, ['n'] = BIND_SIGN,
        ['^'] = BIND_POWER,
    };

    return binds[(unsigned char)symbol & 127];
}

/* Applies what waits and binds at least so tightly; stops at a bracket. */
static wend_status reduce(struct calc *c, enum bind least)
{
    wend_status s = WEND_OK;

    while (!s && c->ops_count) {
        const struct op *op = &c->ops[c->ops_count - 1];

        if (op->symbol == '(' || bind_of(op->symbol) < least)
            break;
        c->ops_count--;
        s = apply(c, op);
    }
    return s;
}

/* ---- Reading ------------------------------------------------------------- */

static wend_status push_op(struct calc *c, char symbol,
                           const struct function *fn, const char *at)
{
    if (c->ops_count == DEPTH_MAX)
        return refuse(c, at, "nested too deeply");
    c->ops[c->ops_count++] = (struct op){symbol, fn, at, false};
    return WEND_OK;
}

static bool is_digit(const struct calc *c, const char *p)
{
    return p < c->end && *p >= '0' && *p <= '9';
}

static bool is_letter(const struct calc *c, const char *p)
{
    return p < c->end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'));
}

static void skip_space(struct calc *c)
{
    while (c->p < c->end && strchr(" \t\r\n", *c->p) && *c->p)
        c->p++;
}

static wend_status read_number(struct calc *c)
{
    const char *at = c->p, *p;
    struct json number = {.kind = JSON_NUMBER};
    double v;

    while (is_digit(c, c->p))
        c->p++;
    if (c->p < c->end && *c->p == '.')
        for (c->p++; is_digit(c, c->p);)
            c->p++;
    if (c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
        p = c->p + 1;
        if (p < c->end && (*p == '+' || *p == '-'))
            p++;
        for (; is_digit(c, p); c->p = p)
            p++;
    }
    number.text = (wend_str){at, (size_t)(c->p - at)};
    if (!json_f64(&number, &v))
        return refuse(c, at, "number too large");
    return push_value(c, at, v);
}

/* A constant, or a function with its bracket; *value says which. */
static wend_status read_name(struct calc *c, bool *value)
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
    wend_str name;

    while (is_letter(c, c->p) || is_digit(c, c->p))
        c->p++;
    name = (wend_str){at, (size_t)(c->p - at)};
    *value = true;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (str_is(name, constants[i].name))
            return push_value(c, at, constants[i].v);
    *value = false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_is(name, functions[i].name)) {
            skip_space(c);
            if (c->p == c->end || *c->p != '(')
                return refuse(c, c->p, "expected '(' after the function");
            c->p++;
            return push_op(c, '(', &functions[i], at);
        }
    return refuse(c, at, "unknown name");
}

/* Where a value must come; *value is set when it came. */
static wend_status read_operand(struct calc *c, bool *value)
{
    const char *at = c->p;

    if (is_digit(c, at) || (at < c->end && *at == '.' && is_digit(c, at + 1))) {
        *value = true;
        return read_number(c);
    }
    if (is_letter(c, at))
        return read_name(c, value);
    if (at == c->end || !strchr("(-+", *at) || !*at)
        return refuse(c, at, "expected a number");
    c->p++;
    if (*at == '+')
        return WEND_OK;
    return push_op(c, *at == '-' ? 'n' : '(', NULL, at);
}

/* `,` or `)` after a value. */
static wend_status read_close(struct calc *c, const char *at, bool last)
{
    wend_status s = reduce(c, BIND_NONE);
    struct op *op;

    if (s)
        return s;
    op = c->ops_count ? &c->ops[c->ops_count - 1] : NULL;
    if (!op)
        return refuse(c, at, last ? "')' without '('" : "',' without '('");
    if (!last && !op->fn)
        return refuse(c, at, "',' outside a function");
    if (last)
        c->ops_count--;
    return op->fn ? apply_function(c, op, last) : WEND_OK;
}

/* Where an operator must come; *value is unset when a value must follow. */
static wend_status read_operator(struct calc *c, bool *value)
{
    const char *at = c->p;
    char symbol = *at;
    enum bind bind;
    wend_status s;

    if (symbol == ')' || symbol == ',') {
        c->p++;
        *value = symbol == ')';
        return read_close(c, at, symbol == ')');
    }
    if (!symbol || !strchr("+-*/%^", symbol))
        return refuse(c, at, "expected an operator");
    c->p++;
    if (symbol == '*' && c->p < c->end && *c->p == '*') {
        c->p++;
        symbol = '^';
    }
    *value = false;
    bind = bind_of(symbol);
    /* Powers go right to left: the one before must wait. */
    s = reduce(c, bind == BIND_POWER ? bind + 1 : bind);
    return s ? s : push_op(c, symbol, NULL, at);
}

static wend_status evaluate(struct calc *c, double *out)
{
    bool value = false;
    wend_status s = WEND_OK;

    for (skip_space(c); !s && (c->p < c->end || !value); skip_space(c))
        s = value ? read_operator(c, &value) : read_operand(c, &value);
    if (!s)
        s = reduce(c, BIND_NONE);
    if (s)
        return s;
    if (c->ops_count)
        return refuse(c, c->ops[c->ops_count - 1].at, "'(' is not closed");
    *out = pop_value(c);
    return WEND_OK;
}

wend_status calculator_eval(wend_str expression, struct buf *out,
                            wend_error *err)
{
    struct calc c = {.err = err};
    double v = 0;
    wend_status s;

    if (expression.len > EXPRESSION_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "expression of %zu bytes; at most %d",
                    expression.len, EXPRESSION_BYTES_MAX);
    if (!expression.ptr)
        expression = STR("");
    c.start = c.p = expression.ptr;
    c.end = expression.ptr + expression.len;
    s = evaluate(&c, &v);
    if (!s)
        json_put_f64(out, v);
    return s;
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

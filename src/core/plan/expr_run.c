/*
 * expr_run.c - conditions, computed.
 *
 * Work is counted: a value looked at, a byte compared or copied. Numbers are
 * exact integers while they fit into 64 bits, doubles beyond that.
 */
#include <assert.h>
#include <math.h>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/expr_op.h"

struct machine {
    const struct scope *scope;
    const struct json **stack;
    uint32_t len;
    int64_t work; /* what is left of it */
    const struct expr_step *step;
    wend_error *err;
};

static const struct json values[] = {
    [JSON_FALSE] = {.kind = JSON_FALSE},
    [JSON_TRUE] = {.kind = JSON_TRUE},
};

/* ---- Failures ------------------------------------------------------------ */

static wend_status stop(struct machine *m, wend_status s, const char *why)
{
    return fail_at(m->err, s, 1, m->step->at, "%s", why);
}

static const char *kind_of(const struct json *j)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",        [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",        [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a text",    [JSON_ARRAY] = "a list",
        [JSON_OBJECT] = "a mapping",
    };

    return names[j->kind];
}

static wend_status misfit(struct machine *m, const char *what,
                          const struct json *a, const struct json *b)
{
    return fail_at(m->err, WEND_E_INVAL, 1, m->step->at, "%s %s and %s", what,
                   kind_of(a), kind_of(b));
}

/* Fails with `what` a function or a sign takes, and what it got. */
static wend_status takes(struct machine *m, const char *what,
                         const struct json *a)
{
    return fail_at(m->err, WEND_E_INVAL, 1, m->step->at, "%s, not %s", what,
                   kind_of(a));
}

static wend_status spend(struct machine *m, size_t work)
{
    if (work < (size_t)m->work) {
        m->work -= (int64_t)work;
        return WEND_OK;
    }
    m->work = 0;
    return stop(m, WEND_E_LIMIT, "the expression takes too much work");
}

/* ---- Values -------------------------------------------------------------- */

static bool truth(const struct json *j)
{
    double n;

    switch (j->kind) {
    case JSON_NULL:
    case JSON_FALSE: return false;
    case JSON_TRUE: return true;
    case JSON_NUMBER: return !json_f64(j, &n) || n != 0;
    case JSON_STRING: return j->text.len;
    case JSON_ARRAY:
    case JSON_OBJECT: return j->count;
    }
    return false;
}

static void put_truth(struct machine *m, bool holds)
{
    m->stack[m->len++] = &values[holds ? JSON_TRUE : JSON_FALSE];
}

static wend_status put_text(struct machine *m, enum json_kind kind, wend_str s)
{
    struct json *j = arena_alloc(m->scope->arena, sizeof *j);

    if (!j || !s.ptr)
        return fail_nomem(m->err);
    j->kind = kind;
    j->text = s;
    m->stack[m->len++] = j;
    return WEND_OK;
}

static wend_status put_integer(struct machine *m, int64_t n)
{
    char text[24];
    size_t len = i64_text(text, n);

    return put_text(m, JSON_NUMBER,
                    arena_str(m->scope->arena, (wend_str){text, len}));
}

static wend_status put_double(struct machine *m, double n)
{
    struct buf b = {.mem = m->scope->arena->mem};
    wend_status s;

    if (!isfinite(n))
        return stop(m, WEND_E_INVAL, "the result is no number");
    json_put_f64(&b, n);
    s = b.failed ? fail_nomem(m->err)
                 : put_text(m, JSON_NUMBER,
                            arena_str(m->scope->arena, buf_view(&b)));
    buf_free(&b);
    return s;
}

/* ---- Operators ----------------------------------------------------------- */

static bool integer_result(enum expr_op op, int64_t a, int64_t b, int64_t *out)
{
    if (op == OP_ADD)
        return !__builtin_add_overflow(a, b, out);
    if (op == OP_SUBTRACT)
        return !__builtin_sub_overflow(a, b, out);
    if (op == OP_MULTIPLY)
        return !__builtin_mul_overflow(a, b, out);
    if (!b || (a == INT64_MIN && b == -1))
        return false;
    *out = op == OP_DIVIDE ? a / b : a % b;
    return op == OP_REST || *out * b == a;
}

static double double_result(enum expr_op op, double a, double b)
{
    return op == OP_ADD        ? a + b
           : op == OP_SUBTRACT ? a - b
           : op == OP_MULTIPLY ? a * b
           : op == OP_DIVIDE   ? a / b
                               : fmod(a, b);
}

static wend_status join(struct machine *m, wend_str a, wend_str b)
{
    wend_status s = spend(m, a.len + b.len);
    char *p;

    if (s)
        return s;
    if (a.len + b.len > EXPR_TEXT_MAX)
        return stop(m, WEND_E_LIMIT, "the text becomes too long");
    p = arena_chars(m->scope->arena, a.len + b.len);
    if (!p)
        return fail_nomem(m->err);
    if (a.len)
        memcpy(p, a.ptr, a.len);
    if (b.len)
        memcpy(p + a.len, b.ptr, b.len);
    return put_text(m, JSON_STRING, (wend_str){p, a.len + b.len});
}

static wend_status compute(struct machine *m, enum expr_op op,
                           const struct json *a, const struct json *b)
{
    int64_t x, y, n;
    double p, q;
    wend_status s;

    if (op == OP_ADD && a->kind == JSON_STRING && b->kind == JSON_STRING)
        return join(m, a->text, b->text);
    if (a->kind != JSON_NUMBER || b->kind != JSON_NUMBER)
        return misfit(m, "cannot compute with", a, b);
    s = spend(m, a->text.len + b->text.len);
    if (s)
        return s;
    if (json_i64(a, &x) && json_i64(b, &y) && integer_result(op, x, y, &n))
        return put_integer(m, n);
    if (!json_f64(a, &p) || !json_f64(b, &q))
        return stop(m, WEND_E_INVAL, "a number is too large to compute with");
    if ((op == OP_DIVIDE || op == OP_REST) && q == 0)
        return stop(m, WEND_E_INVAL, "division by zero");
    return put_double(m, double_result(op, p, q));
}

static wend_status compare(struct machine *m, enum expr_op op,
                           const struct json *a, const struct json *b)
{
    wend_status s = spend(m, a->text.len + b->text.len);
    int d;

    if (s)
        return s;
    if (a->kind == JSON_NUMBER && b->kind == JSON_NUMBER) {
        struct decimal x = decimal_of(a->text), y = decimal_of(b->text);

        d = decimal_compare(&x, &y);
    } else if (a->kind == JSON_STRING && b->kind == JSON_STRING) {
        d = str_order(a->text, b->text);
    } else {
        return misfit(m, "cannot order", a, b);
    }
    put_truth(m, op == OP_LESS         ? d < 0
                 : op == OP_LESS_EQUAL ? d <= 0
                 : op == OP_MORE       ? d > 0
                                       : d >= 0);
    return WEND_OK;
}

/* Members in another order are found by looking, so both pay for each. */
static wend_status equal(struct machine *m, const struct json *a,
                         const struct json *b, bool *out)
{
    wend_status s = WEND_OK;

    *out = false;
    if (a->kind != b->kind || a->count != b->count)
        return spend(m, 1);
    s = spend(m, 1 + a->text.len + b->text.len);
    if (s || (a->kind != JSON_ARRAY && a->kind != JSON_OBJECT)) {
        *out = !s && json_equal(a, b);
        return s;
    }
    *out = true;
    for (const struct json *x = a->first, *y = b->first; x && *out && !s;
         x = x->next, y = y->next) {
        const struct json *other = y;

        if (a->kind == JSON_OBJECT && !str_eq(x->key, y->key)) {
            s = spend(m, b->count);
            other = s ? NULL : json_member(b, x->key);
        }
        *out = other != NULL;
        if (other)
            s = equal(m, x, other, out);
    }
    return s;
}

static wend_status contains(struct machine *m, const struct json *a,
                            const struct json *b)
{
    wend_status s = spend(m, 1 + b->count + b->text.len);
    bool found = false;

    if (s)
        return s;
    if (b->kind == JSON_STRING && a->kind == JSON_STRING) {
        found = !a->text.len ||
                (b->text.len &&
                 memmem(b->text.ptr, b->text.len, a->text.ptr, a->text.len));
    } else if (b->kind == JSON_OBJECT && a->kind == JSON_STRING) {
        found = json_member(b, a->text);
    } else if (b->kind == JSON_ARRAY) {
        for (const struct json *e = b->first; e && !found && !s; e = e->next)
            s = equal(m, a, e, &found);
    } else {
        return misfit(m, "cannot look with 'in' at", a, b);
    }
    if (!s)
        put_truth(m, found);
    return s;
}

static wend_status measure(struct machine *m, const struct json *a)
{
    int64_t n = a->count;
    wend_status s = spend(m, a->text.len);

    if (s)
        return s;
    if (a->kind != JSON_STRING && a->kind != JSON_ARRAY &&
        a->kind != JSON_OBJECT)
        return takes(m, "len() takes a text, a list or a mapping", a);
    if (a->kind == JSON_STRING)
        n = (int64_t)utf8_count(a->text);
    return put_integer(m, n);
}

static wend_status make_lower(struct machine *m, const struct json *a)
{
    wend_status s = spend(m, a->text.len);
    char *p;

    if (s)
        return s;
    if (a->kind != JSON_STRING)
        return takes(m, "lower() takes a text", a);
    p = arena_chars(m->scope->arena, a->text.len);
    if (!p)
        return fail_nomem(m->err);
    for (size_t i = 0; i < a->text.len; i++)
        p[i] = lower(a->text.ptr[i]);
    return put_text(m, JSON_STRING, (wend_str){p, a->text.len});
}

static wend_status negate(struct machine *m, const struct json *a)
{
    static const struct json zero = {.kind = JSON_NUMBER, .text = {"0", 1}};

    if (a->kind != JSON_NUMBER)
        return takes(m, "'-' takes a number", a);
    return compute(m, OP_SUBTRACT, &zero, a);
}

/* ---- Steps --------------------------------------------------------------- */

static wend_status take_ref(struct machine *m, const struct ref *ref,
                            bool exists)
{
    const struct json *j = NULL;
    wend_error why = {0};
    size_t passed = 0;
    wend_status s = exists ? scope_find(m->scope, ref, &j, &passed, &why)
                           : scope_get(m->scope, ref, &j, &passed, &why);

    if (s)
        return stop(m, s, why.message);
    s = spend(m, passed);
    if (s)
        return s;
    if (exists)
        put_truth(m, j);
    else
        m->stack[m->len++] = j;
    return WEND_OK;
}

static wend_status make_list(struct machine *m, uint32_t count)
{
    struct json *list =
        arena_alloc(m->scope->arena, (count + 1) * sizeof *list);

    if (!list)
        return fail_nomem(m->err);
    assert(count <= m->len);
    m->len -= count;
    for (uint32_t i = 0; i < count; i++) {
        list[i + 1] = *m->stack[m->len + i];
        list[i + 1].next = i + 1 < count ? &list[i + 2] : NULL;
    }
    list->kind = JSON_ARRAY;
    list->count = count;
    list->first = count ? &list[1] : NULL;
    m->stack[m->len++] = list;
    return WEND_OK;
}

static wend_status take_two(struct machine *m, enum expr_op op)
{
    const struct json *b = m->stack[--m->len], *a = m->stack[--m->len];
    bool same;
    wend_status s;

    assert(op >= OP_EQUAL && op <= OP_REST);
    if (op == OP_IN)
        return contains(m, a, b);
    if (op >= OP_ADD)
        return compute(m, op, a, b);
    if (op != OP_EQUAL && op != OP_DIFFERENT)
        return compare(m, op, a, b);
    s = equal(m, a, b, &same);
    if (!s)
        put_truth(m, same == (op == OP_EQUAL));
    return s;
}

/* What the top says, off the stack; the digits of a number are looked at. */
static wend_status take_truth(struct machine *m, bool *out)
{
    const struct json *top = m->stack[--m->len];
    wend_status s = spend(m, top->kind == JSON_NUMBER ? 1 + top->text.len : 1);

    if (!s)
        *out = truth(top);
    return s;
}

/* *next is the step after this one. */
static wend_status take_step(struct machine *m, uint32_t *next)
{
    const struct expr_step *step = m->step;
    bool holds = false;
    wend_status s;

    switch (step->op) {
    case OP_VALUE: m->stack[m->len++] = step->value; return WEND_OK;
    case OP_REF: return take_ref(m, step->ref, false);
    case OP_EXISTS: return take_ref(m, step->ref, true);
    case OP_LIST: return make_list(m, step->count);
    case OP_NOT:
    case OP_TRUTH:
        s = take_truth(m, &holds);
        if (!s)
            put_truth(m, holds == (step->op == OP_TRUTH));
        return s;
    case OP_AND:
    case OP_OR:
        s = take_truth(m, &holds);
        if (!s && holds == (step->op == OP_OR)) {
            put_truth(m, holds);
            *next = step->to;
        }
        return s;
    case OP_MINUS: return negate(m, m->stack[--m->len]);
    case OP_LEN: return measure(m, m->stack[--m->len]);
    case OP_LOWER: return make_lower(m, m->stack[--m->len]);
    case OP_EQUAL:
    case OP_DIFFERENT:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_MORE:
    case OP_MORE_EQUAL:
    case OP_IN:
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_DIVIDE:
    case OP_REST: return take_two(m, step->op);
    }
    return WEND_OK;
}

wend_status expr_value(const struct expr *e, const struct scope *scope,
                       const struct json **out, wend_error *err)
{
    struct machine m = {.scope = scope, .work = EXPR_WORK_MAX, .err = err};
    wend_status s = WEND_OK;

    m.stack = arena_alloc(scope->arena, e->stack_max * sizeof *m.stack);
    if (!m.stack)
        return fail_nomem(err);
    for (uint32_t i = 0; i < e->count && !s;) {
        m.step = &e->steps[i++];
        s = take_step(&m, &i);
        assert(m.len <= e->stack_max);
    }
    assert(s || m.len == 1);
    if (!s)
        *out = m.stack[0];
    return s;
}

wend_status expr_holds(const struct expr *e, const struct scope *scope,
                       bool *out, wend_error *err)
{
    const struct json *value;
    wend_status s = expr_value(e, scope, &value, err);

    if (!s)
        *out = truth(value);
    return s;
}

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
    wend_status status; /* why it stopped */
};

static const struct json values[] = {
    [JSON_FALSE] = {.kind = JSON_FALSE},
    [JSON_TRUE] = {.kind = JSON_TRUE},
};

/* ---- Failures: all return false ------------------------------------------ */

static bool stop(struct machine *m, wend_status s, const char *why)
{
    m->status = fail_at(m->err, s, 1, m->step->at, "%s", why);
    return false;
}

static bool stop_nomem(struct machine *m)
{
    m->status = fail_nomem(m->err);
    return false;
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

/* `what` ends before the kind of a, and of b if that is not NULL. */
static bool misfit(struct machine *m, const char *what, const struct json *a,
                   const struct json *b)
{
    m->status = fail_at(m->err, WEND_E_INVAL, 1, m->step->at, "%s %s%s%s", what,
                        kind_of(a), b ? " and " : "", b ? kind_of(b) : "");
    return false;
}

static bool spend(struct machine *m, size_t work)
{
    if (work >= (size_t)m->work) {
        m->work = 0;
        return stop(m, WEND_E_LIMIT, "the expression takes too much work");
    }
    m->work -= (int64_t)work;
    return true;
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

static bool put_truth(struct machine *m, bool holds)
{
    m->stack[m->len++] = &values[holds ? JSON_TRUE : JSON_FALSE];
    return true;
}

static bool put_text(struct machine *m, enum json_kind kind, wend_str s)
{
    struct json *j = arena_alloc(m->scope->arena, sizeof *j);

    if (!j || !s.ptr)
        return stop_nomem(m);
    j->kind = kind;
    j->text = s;
    m->stack[m->len++] = j;
    return true;
}

static bool put_integer(struct machine *m, int64_t n)
{
    char text[24];
    size_t len = i64_text(text, n);

    return put_text(m, JSON_NUMBER,
                    arena_str(m->scope->arena, (wend_str){text, len}));
}

static bool put_double(struct machine *m, double n)
{
    struct buf b = {.mem = m->scope->arena->mem};

    if (!isfinite(n))
        return stop(m, WEND_E_INVAL, "the result is not a number");
    json_put_f64(&b, n);
    return put_text(m, JSON_NUMBER, buf_keep(&b, m->scope->arena));
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

static bool join(struct machine *m, wend_str a, wend_str b)
{
    char *p;

    if (!spend(m, a.len + b.len))
        return false;
    if (a.len + b.len > EXPR_TEXT_MAX)
        return stop(m, WEND_E_LIMIT, "the text becomes too long");
    p = arena_chars(m->scope->arena, a.len + b.len);
    if (!p)
        return stop_nomem(m);
    if (a.len)
        memcpy(p, a.ptr, a.len);
    if (b.len)
        memcpy(p + a.len, b.ptr, b.len);
    return put_text(m, JSON_STRING, (wend_str){p, a.len + b.len});
}

static bool compute(struct machine *m, enum expr_op op, const struct json *a,
                    const struct json *b)
{
    int64_t x, y, n;
    double p, q;

    if (op == OP_ADD && a->kind == JSON_STRING && b->kind == JSON_STRING)
        return join(m, a->text, b->text);
    if (a->kind != JSON_NUMBER || b->kind != JSON_NUMBER)
        return misfit(m, "cannot compute with", a, b);
    if (!spend(m, a->text.len + b->text.len))
        return false;
    if (json_i64(a, &x) && json_i64(b, &y) && integer_result(op, x, y, &n))
        return put_integer(m, n);
    if (!json_f64(a, &p) || !json_f64(b, &q))
        return stop(m, WEND_E_INVAL, "a number is too large to compute with");
    if ((op == OP_DIVIDE || op == OP_REST) && q == 0)
        return stop(m, WEND_E_INVAL, "division by zero");
    return put_double(m, double_result(op, p, q));
}

static bool compare(struct machine *m, enum expr_op op, const struct json *a,
                    const struct json *b)
{
    int d;

    if (!spend(m, a->text.len + b->text.len))
        return false;
    if (a->kind == JSON_NUMBER && b->kind == JSON_NUMBER) {
        struct decimal x = decimal_of(a->text), y = decimal_of(b->text);

        d = decimal_compare(&x, &y);
    } else if (a->kind == JSON_STRING && b->kind == JSON_STRING) {
        d = str_order(a->text, b->text);
    } else {
        return misfit(m, "cannot order", a, b);
    }
    return put_truth(m, op == OP_LESS         ? d < 0
                        : op == OP_LESS_EQUAL ? d <= 0
                        : op == OP_MORE       ? d > 0
                                              : d >= 0);
}

/* Members in another order are found by looking, so both pay for each. False
 * also when the machine stopped. */
static bool equal(struct machine *m, const struct json *a, const struct json *b)
{
    bool same = a->kind == b->kind && a->count == b->count;

    if (!spend(m, same ? 1 + a->text.len + b->text.len : 1) || !same)
        return false;
    if (a->kind != JSON_ARRAY && a->kind != JSON_OBJECT)
        return json_equal(a, b);
    for (const struct json *x = a->first, *y = b->first; x && same;
         x = x->next, y = y->next) {
        const struct json *other = y;

        if (a->kind == JSON_OBJECT && !str_eq(x->key, y->key))
            other = spend(m, b->count) ? json_member(b, x->key) : NULL;
        same = other && equal(m, x, other);
    }
    return same;
}

static bool contains(struct machine *m, const struct json *a,
                     const struct json *b)
{
    bool found = false;

    if (!spend(m, 1 + b->count + b->text.len))
        return false;
    if (b->kind == JSON_STRING && a->kind == JSON_STRING) {
        found = str_has(b->text, a->text);
    } else if (b->kind == JSON_OBJECT && a->kind == JSON_STRING) {
        found = json_member(b, a->text);
    } else if (b->kind == JSON_ARRAY) {
        for (const struct json *e = b->first; e && !found && !m->status;
             e = e->next)
            found = equal(m, a, e);
    } else {
        return misfit(m, "cannot look with 'in' at", a, b);
    }
    return !m->status && put_truth(m, found);
}

static bool measure(struct machine *m, const struct json *a)
{
    if (!spend(m, a->text.len))
        return false;
    if (a->kind != JSON_STRING && a->kind != JSON_ARRAY &&
        a->kind != JSON_OBJECT)
        return misfit(m, "len() takes a text, a list or a mapping, not", a,
                      NULL);
    return put_integer(m, a->kind == JSON_STRING ? (int64_t)utf8_count(a->text)
                                                 : a->count);
}

static bool make_lower(struct machine *m, const struct json *a)
{
    char *p;

    if (!spend(m, a->text.len))
        return false;
    if (a->kind != JSON_STRING)
        return misfit(m, "lower() takes a text, not", a, NULL);
    p = arena_chars(m->scope->arena, a->text.len);
    if (!p)
        return stop_nomem(m);
    for (size_t i = 0; i < a->text.len; i++)
        p[i] = lower(a->text.ptr[i]);
    return put_text(m, JSON_STRING, (wend_str){p, a->text.len});
}

static bool negate(struct machine *m, const struct json *a)
{
    static const struct json zero = {.kind = JSON_NUMBER, .text = {"0", 1}};

    if (a->kind != JSON_NUMBER)
        return misfit(m, "'-' takes a number, not", a, NULL);
    return compute(m, OP_SUBTRACT, &zero, a);
}

/* ---- Steps --------------------------------------------------------------- */

static bool take_ref(struct machine *m, const struct ref *ref, bool exists)
{
    const struct json *j = NULL;
    wend_error why = {0};
    size_t passed = 0;
    wend_status s = exists ? scope_find(m->scope, ref, &j, &passed, &why)
                           : scope_get(m->scope, ref, &j, &passed, &why);

    if (s)
        return stop(m, s, why.message);
    if (!spend(m, passed))
        return false;
    if (exists)
        return put_truth(m, j);
    m->stack[m->len++] = j;
    return true;
}

static bool make_list(struct machine *m, uint32_t count)
{
    struct json *list =
        arena_alloc(m->scope->arena, (count + 1) * sizeof *list);

    if (!list)
        return stop_nomem(m);
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
    return true;
}

static bool take_two(struct machine *m, enum expr_op op)
{
    const struct json *b = m->stack[--m->len], *a = m->stack[--m->len];
    bool same;

    assert(op >= OP_EQUAL && op <= OP_REST);
    if (op == OP_IN)
        return contains(m, a, b);
    if (op >= OP_ADD)
        return compute(m, op, a, b);
    if (op != OP_EQUAL && op != OP_DIFFERENT)
        return compare(m, op, a, b);
    same = equal(m, a, b);
    return !m->status && put_truth(m, same == (op == OP_EQUAL));
}

/* What the top says, off the stack; the digits of a number are looked at. */
static bool take_truth(struct machine *m, bool *out)
{
    const struct json *top = m->stack[--m->len];

    if (!spend(m, top->kind == JSON_NUMBER ? 1 + top->text.len : 1))
        return false;
    *out = truth(top);
    return true;
}

/* *next is the step after this one. */
static bool take_step(struct machine *m, uint32_t *next)
{
    const struct expr_step *step = m->step;
    bool holds = false;

    switch (step->op) {
    case OP_VALUE: m->stack[m->len++] = step->value; return true;
    case OP_REF: return take_ref(m, step->ref, false);
    case OP_EXISTS: return take_ref(m, step->ref, true);
    case OP_LIST: return make_list(m, step->count);
    case OP_NOT:
    case OP_TRUTH:
        return take_truth(m, &holds) &&
               put_truth(m, holds == (step->op == OP_TRUTH));
    case OP_AND:
    case OP_OR:
        if (!take_truth(m, &holds))
            return false;
        if (holds == (step->op == OP_OR)) {
            put_truth(m, holds);
            *next = step->to;
        }
        return true;
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
    return true;
}

wend_status expr_value(const struct expr *e, const struct scope *scope,
                       const struct json **out, wend_error *err)
{
    struct machine m = {.scope = scope, .work = EXPR_WORK_MAX, .err = err};

    m.stack = arena_alloc(scope->arena, e->stack_max * sizeof *m.stack);
    if (!m.stack)
        return fail_nomem(err);
    for (uint32_t i = 0; i < e->count && !m.status;) {
        m.step = &e->steps[i++];
        take_step(&m, &i);
        assert(m.len <= e->stack_max);
    }
    assert(m.status || m.len == 1);
    if (!m.status)
        *out = m.stack[0];
    return m.status;
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

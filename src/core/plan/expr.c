/*
 * expr.c - conditions, read.
 *
 * By recursive descent, at most EXPR_DEPTH_MAX deep.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "core/plan/expr_op.h"

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_REF, TOKEN_SIGN };

struct expr_token {
    enum token_kind kind;
    wend_str text; /* of signs and words; a text without its quotes */
    size_t at;
};

struct expr_parser {
    struct ref_reader *reader;
    wend_str text;
    struct expr_token token; /* the next one */
    size_t next;             /* what follows it */
    struct buf steps;
    uint32_t depth, stack, stack_max;
};

/* ---- Tokens -------------------------------------------------------------- */

/* What parses is false once reader->err says why. */
static bool bad_at(struct expr_parser *p, size_t at, const char *why)
{
    p->reader->bad_at = at;
    return !fail(p->reader->err, WEND_E_PARSE, "%s", why);
}

static bool begins_word(char c)
{
    return is_word(c) && !is_digit(c);
}

static char char_at(const struct expr_parser *p, size_t i)
{
    return i < p->text.len ? p->text.ptr[i] : 0;
}

static size_t skip_digits(const struct expr_parser *p, size_t i)
{
    while (is_digit(char_at(p, i)))
        i++;
    return i;
}

/* A number as JSON has it; 0 if none begins there. */
static size_t number_len(const struct expr_parser *p, size_t from)
{
    size_t i = char_at(p, from) == '0' ? from + 1 : skip_digits(p, from), k;

    if (i == from)
        return 0;
    if (char_at(p, i) == '.' && is_digit(char_at(p, i + 1)))
        i = skip_digits(p, i + 1);
    if (char_at(p, i) == 'e' || char_at(p, i) == 'E') {
        k = i + 1;
        if (char_at(p, k) == '+' || char_at(p, k) == '-')
            k++;
        if (is_digit(char_at(p, k)))
            i = skip_digits(p, k);
    }
    return i - from;
}

static bool take_sign(struct expr_parser *p, size_t at)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">",
                                        "(",  ")",  "+",  "-",  "*", "/",
                                        "%",  "[",  "]",  ","};
    wend_str rest = {p->text.ptr + at, p->text.len - at};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_starts(rest, signs[i])) {
            p->token.text.len = strlen(signs[i]);
            p->next = at + p->token.text.len;
            return true;
        }
    if (rest.ptr[0] == '=')
        return bad_at(p, at, "'=' does not compare; write ==");
    if (str_starts(rest, "&&") || str_starts(rest, "||") || rest.ptr[0] == '!')
        return bad_at(p, at, "write 'and', 'or' and 'not' as words");
    return bad_at(p, at, "neither a value nor an operator begins here");
}

static bool take(struct expr_parser *p)
{
    const char *end;
    size_t at = p->next;
    char c;

    while (is_space(char_at(p, at)))
        at++;
    c = char_at(p, at);
    p->token = (struct expr_token){TOKEN_SIGN, {p->text.ptr + at, 0}, at};
    if (at == p->text.len) {
        p->token.kind = TOKEN_END;
    } else if (c == '$') {
        p->token.kind = TOKEN_REF;
    } else if (c == '"' || c == '\'') {
        end = memchr(p->text.ptr + at + 1, c, p->text.len - at - 1);
        if (!end)
            return bad_at(p, at, "the closing quote is missing");
        p->token.kind = TOKEN_TEXT;
        p->token.text.ptr++;
        p->token.text.len = (size_t)(end - p->token.text.ptr);
        p->next = at + p->token.text.len + 2;
    } else if (is_digit(c)) {
        p->token.kind = TOKEN_NUMBER;
        p->token.text.len = number_len(p, at);
        p->next = at + p->token.text.len;
        if (is_word(char_at(p, p->next)))
            return bad_at(p, at, "invalid number");
    } else if (begins_word(c)) {
        while (is_word(char_at(p, at)))
            at++;
        p->token.text.len = at - p->token.at;
        p->next = at;
    } else {
        return take_sign(p, at);
    }
    return true;
}

static bool sign_is(const struct expr_parser *p, const char *sign)
{
    return p->token.kind == TOKEN_SIGN && str_is(p->token.text, sign);
}

static bool expect(struct expr_parser *p, const char *sign, const char *why)
{
    return sign_is(p, sign) ? take(p) : bad_at(p, p->token.at, why);
}

/* ---- Steps --------------------------------------------------------------- */

/* `grows` is what it does to the stack. */
static bool emit(struct expr_parser *p, struct expr_step step, size_t at,
                 int grows)
{
    assert(grows >= 0 || p->stack >= (uint32_t)-grows);
    step.at = (uint32_t)at + 1;
    buf_add(&p->steps, (const char *)&step, sizeof step);
    p->stack += (uint32_t)grows;
    if (p->stack > p->stack_max)
        p->stack_max = p->stack;
    return !p->steps.failed || !fail_nomem(p->reader->err);
}

/* One that takes the top of the stack, and puts something in its place. */
static bool emit_plain(struct expr_parser *p, enum expr_op op, size_t at)
{
    return emit(p, (struct expr_step){.op = op}, at, 0);
}

static uint32_t steps_count(const struct expr_parser *p)
{
    return (uint32_t)(p->steps.len / sizeof(struct expr_step));
}

/* ---- Grammar, tightest first --------------------------------------------- */

static bool parse_or(struct expr_parser *p);

/* The next token is a value that is written out. */
static bool parse_value(struct expr_parser *p, enum json_kind kind,
                        wend_str text)
{
    struct json *j = arena_alloc(p->reader->arena, sizeof *j);

    if (!j)
        return !fail_nomem(p->reader->err);
    j->kind = kind;
    j->text = text;
    return emit(p, (struct expr_step){.op = OP_VALUE, .value = j}, p->token.at,
                1) &&
           take(p);
}

static bool parse_ref(struct expr_parser *p, enum expr_op op, size_t at)
{
    const struct ref *ref;

    p->next = p->token.at;
    return ref_parse(p->reader, p->text, &p->next, &ref) &&
           emit(p, (struct expr_step){.op = op, .ref = ref}, at, 1) && take(p);
}

static bool parse_call(struct expr_parser *p, enum expr_op op, size_t at)
{
    bool exists = op == OP_EXISTS;

    if (!take(p) || !expect(p, "(", "'(' must follow the name of a function"))
        return false;
    if (exists && p->token.kind != TOKEN_REF)
        return bad_at(p, p->token.at,
                      "exists() takes a reference such as $name");
    return (exists ? parse_ref(p, OP_EXISTS, at) : parse_or(p)) &&
           expect(p, ")", "')' is missing") &&
           (exists || emit_plain(p, op, at));
}

static bool parse_list(struct expr_parser *p, size_t at)
{
    struct expr_step list = {.op = OP_LIST};
    bool ok = take(p);

    while (ok && !sign_is(p, "]"))
        ok = (!list.count++ || expect(p, ",", "',' or ']' is missing")) &&
             parse_or(p);
    return ok && take(p) && emit(p, list, at, 1 - (int)list.count);
}

static bool parse_word(struct expr_parser *p)
{
#define WORD(name, op, kind)                                   \
    {                                                          \
        name, "unknown word; did you mean " name "?", op, kind \
    }
    static const struct {
        const char *name, *meant;
        enum expr_op op;
        enum json_kind kind;
    } words[] = {
        WORD("len", OP_LEN, JSON_NULL),
        WORD("exists", OP_EXISTS, JSON_NULL),
        WORD("lower", OP_LOWER, JSON_NULL),
        WORD("true", OP_VALUE, JSON_TRUE),
        WORD("false", OP_VALUE, JSON_FALSE),
        WORD("null", OP_VALUE, JSON_NULL),
    };
#undef WORD
    const char *why = "unknown word; values are written $name, texts in "
                      "quotes";
    size_t at = p->token.at;
    int best = 0;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (sign_is(p, words[i].name))
            return words[i].op == OP_VALUE
                       ? parse_value(p, words[i].kind, STR_NONE)
                       : parse_call(p, words[i].op, at);
        if (str_nearer(p->token.text, str_of(words[i].name), &best))
            why = words[i].meant;
    }
    if (!p->token.text.len || !begins_word(p->token.text.ptr[0]))
        why = "a value is missing";
    return bad_at(p, at, why);
}

static bool parse_primary(struct expr_parser *p)
{
    struct expr_token t = p->token;

    switch (t.kind) {
    case TOKEN_END: return bad_at(p, t.at, "a value is missing at the end");
    case TOKEN_REF: return parse_ref(p, OP_REF, t.at);
    case TOKEN_NUMBER: return parse_value(p, JSON_NUMBER, t.text);
    case TOKEN_TEXT: return parse_value(p, JSON_STRING, t.text);
    case TOKEN_SIGN: break;
    }
    if (sign_is(p, "["))
        return parse_list(p, t.at);
    if (!sign_is(p, "("))
        return parse_word(p);
    return take(p) && parse_or(p) && expect(p, ")", "')' is missing");
}

static bool parse_minus(struct expr_parser *p)
{
    size_t at = p->token.at;
    bool minus = false, ok = true;

    for (; ok && sign_is(p, "-"); minus = !minus)
        ok = take(p);
    return ok && parse_primary(p) && (!minus || emit_plain(p, OP_MINUS, at));
}

/* Loosest first. */
enum tightness { COMPARISON, SUM, PRODUCT, LEVELS };

static const struct binary {
    const char *sign;
    enum expr_op op;
    enum tightness level;
} binaries[] = {
    {"==", OP_EQUAL, COMPARISON}, {"!=", OP_DIFFERENT, COMPARISON},
    {"<", OP_LESS, COMPARISON},   {"<=", OP_LESS_EQUAL, COMPARISON},
    {">", OP_MORE, COMPARISON},   {">=", OP_MORE_EQUAL, COMPARISON},
    {"in", OP_IN, COMPARISON},    {"+", OP_ADD, SUM},
    {"-", OP_SUBTRACT, SUM},      {"*", OP_MULTIPLY, PRODUCT},
    {"/", OP_DIVIDE, PRODUCT},    {"%", OP_REST, PRODUCT},
};

static const struct binary *binary_of(const struct expr_parser *p,
                                      enum tightness level)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (binaries[i].level == level && sign_is(p, binaries[i].sign))
            return &binaries[i];
    return NULL;
}

/* Values joined by operators of this level or of tighter ones. */
static bool parse_binary(struct expr_parser *p, enum tightness level)
{
    const struct binary *b;
    bool ok;

    if (level == LEVELS)
        return parse_minus(p);
    ok = parse_binary(p, level + 1);
    while (ok && (b = binary_of(p, level))) {
        size_t at = p->token.at;

        ok = take(p) && parse_binary(p, level + 1) &&
             emit(p, (struct expr_step){.op = b->op}, at, -1);
        if (ok && level == COMPARISON && binary_of(p, level))
            ok = bad_at(p, p->token.at,
                        "comparisons do not chain; join them with 'and'");
    }
    return ok;
}

static bool parse_not(struct expr_parser *p)
{
    size_t at = p->token.at;
    uint32_t count = 0;
    bool ok = true;

    for (; ok && sign_is(p, "not"); count++)
        ok = take(p);
    return ok && parse_binary(p, COMPARISON) &&
           (!count || emit_plain(p, count % 2 ? OP_NOT : OP_TRUTH, at));
}

/* `parse` for both sides of a word that may leave the right one out. */
static bool parse_short(struct expr_parser *p, const char *word,
                        enum expr_op op, bool (*parse)(struct expr_parser *p))
{
    bool ok = parse(p);

    while (ok && sign_is(p, word)) {
        size_t at = p->token.at, jump = p->steps.len;

        ok = take(p) && emit(p, (struct expr_step){.op = op}, at, -1) &&
             parse(p) && emit_plain(p, OP_TRUTH, at);
        if (ok) {
            struct expr_step *left = (void *)(p->steps.ptr + jump);

            assert(left->op == op);
            left->to = steps_count(p);
        }
    }
    return ok;
}

static bool parse_and(struct expr_parser *p)
{
    return parse_short(p, "and", OP_AND, parse_not);
}

static bool parse_or(struct expr_parser *p)
{
    bool ok;

    if (++p->depth > EXPR_DEPTH_MAX)
        return bad_at(p, p->token.at, "the expression is nested too deeply");
    ok = parse_short(p, "or", OP_OR, parse_and);
    p->depth--;
    return ok;
}

wend_status expr_parse(struct ref_reader *r, wend_str text,
                       const struct expr **out)
{
    struct expr_parser p = {
        .reader = r, .text = text, .steps = {.mem = r->arena->mem}};
    struct expr *e;
    bool ok = text.len <= EXPRESSION_BYTES_MAX ||
              bad_at(&p, 0, "the expression is too long");

    ok = ok && take(&p) && parse_or(&p);
    if (ok && p.token.kind != TOKEN_END)
        ok = bad_at(&p, p.token.at, "an operator is missing");
    e = ok ? arena_alloc(r->arena, sizeof *e) : NULL;
    if (e) {
        assert(p.stack == 1); /* the value of the expression */
        *e = (struct expr){.count = steps_count(&p), .stack_max = p.stack_max};
        e->steps = (const void *)buf_keep(&p.steps, r->arena).ptr;
        *out = e;
    }
    buf_free(&p.steps);
    if (ok && r->arena->failed)
        ok = !fail_nomem(r->err);
    return ok ? WEND_OK : r->err->status;
}

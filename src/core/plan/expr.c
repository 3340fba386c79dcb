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

static wend_status bad_at(struct expr_parser *p, size_t at, const char *why)
{
    p->reader->bad_at = at;
    return fail(p->reader->err, WEND_E_PARSE, "%s", why);
}

static bool begins_word(char c)
{
    return is_letter(c) || c == '_';
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

static wend_status take_sign(struct expr_parser *p, size_t at)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">",
                                        "(",  ")",  "+",  "-",  "*", "/",
                                        "%",  "[",  "]",  ","};
    wend_str rest = {p->text.ptr + at, p->text.len - at};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_starts(rest, signs[i])) {
            p->token.text.len = strlen(signs[i]);
            p->next = at + p->token.text.len;
            return WEND_OK;
        }
    if (rest.ptr[0] == '=')
        return bad_at(p, at, "'=' is no comparison; write ==");
    if (str_starts(rest, "&&") || str_starts(rest, "||") || rest.ptr[0] == '!')
        return bad_at(p, at, "write 'and', 'or' and 'not' as words");
    return bad_at(p, at, "this begins no value and no operator");
}

static wend_status take(struct expr_parser *p)
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
        if (begins_word(char_at(p, p->next)) || is_digit(char_at(p, p->next)))
            return bad_at(p, at, "this is no number");
    } else if (begins_word(c)) {
        while (begins_word(char_at(p, at)) || is_digit(char_at(p, at)))
            at++;
        p->token.text.len = at - p->token.at;
        p->next = at;
    } else {
        return take_sign(p, at);
    }
    return WEND_OK;
}

static bool sign_is(const struct expr_parser *p, const char *sign)
{
    return p->token.kind == TOKEN_SIGN && str_is(p->token.text, sign);
}

static wend_status expect(struct expr_parser *p, const char *sign,
                          const char *why)
{
    return sign_is(p, sign) ? take(p) : bad_at(p, p->token.at, why);
}

/* ---- Steps --------------------------------------------------------------- */

/* `grows` is what it does to the stack. */
static wend_status emit(struct expr_parser *p, struct expr_step step, size_t at,
                        int grows)
{
    assert(grows >= 0 || p->stack >= (uint32_t)-grows);
    step.at = (uint32_t)at + 1;
    buf_add(&p->steps, (const char *)&step, sizeof step);
    p->stack += (uint32_t)grows;
    if (p->stack > p->stack_max)
        p->stack_max = p->stack;
    return p->steps.failed ? fail_nomem(p->reader->err) : WEND_OK;
}

static uint32_t steps_count(const struct expr_parser *p)
{
    return (uint32_t)(p->steps.len / sizeof(struct expr_step));
}

/* ---- Grammar, tightest first --------------------------------------------- */

static wend_status parse_or(struct expr_parser *p);

/* The next token is a value that is written out. */
static wend_status parse_value(struct expr_parser *p, enum json_kind kind,
                               wend_str text)
{
    struct json *j = arena_alloc(p->reader->arena, sizeof *j);
    wend_status s;

    if (!j)
        return fail_nomem(p->reader->err);
    j->kind = kind;
    j->text = text;
    s = emit(p, (struct expr_step){.op = OP_VALUE, .value = j}, p->token.at, 1);
    return s ? s : take(p);
}

static wend_status parse_ref(struct expr_parser *p, enum expr_op op, size_t at)
{
    size_t end = p->token.at;
    const struct ref *ref;
    wend_status s = ref_parse(p->reader, p->text, &end, &ref);

    if (s)
        return s;
    p->next = end;
    s = emit(p, (struct expr_step){.op = op, .ref = ref}, at, 1);
    return s ? s : take(p);
}

static wend_status parse_call(struct expr_parser *p, enum expr_op op, size_t at)
{
    wend_status s = take(p);

    if (!s)
        s = expect(p, "(", "'(' must follow the name of a function");
    if (s)
        return s;
    if (op != OP_EXISTS)
        s = parse_or(p);
    else if (p->token.kind == TOKEN_REF)
        s = parse_ref(p, OP_EXISTS, at);
    else
        s = bad_at(p, p->token.at, "exists() takes a reference such as $name");
    if (!s)
        s = expect(p, ")", "')' is missing");
    return s || op == OP_EXISTS ? s
                                : emit(p, (struct expr_step){.op = op}, at, 0);
}

static wend_status parse_list(struct expr_parser *p, size_t at)
{
    uint32_t count = 0;
    wend_status s = take(p);

    while (!s && !sign_is(p, "]")) {
        if (count)
            s = expect(p, ",", "',' or ']' is missing");
        if (!s)
            s = parse_or(p);
        count++;
    }
    if (!s)
        s = take(p);
    return s ? s
             : emit(p, (struct expr_step){.op = OP_LIST, .count = count}, at,
                    1 - (int)count);
}

static wend_status parse_word(struct expr_parser *p)
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
        if (!sign_is(p, words[i].name)) {
            if (str_nearer(p->token.text, str_of(words[i].name), &best))
                why = words[i].meant;
            continue;
        }
        if (words[i].op != OP_VALUE)
            return parse_call(p, words[i].op, at);
        return parse_value(p, words[i].kind, STR_NONE);
    }
    if (p->token.text.len && begins_word(p->token.text.ptr[0]))
        return bad_at(p, at, why);
    return bad_at(p, at, "a value is missing");
}

static wend_status parse_primary(struct expr_parser *p)
{
    struct expr_token t = p->token;
    wend_status s;

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
    s = take(p);
    if (!s)
        s = parse_or(p);
    return s ? s : expect(p, ")", "')' is missing");
}

static wend_status parse_minus(struct expr_parser *p)
{
    size_t at = p->token.at;
    bool minus = false;
    wend_status s = WEND_OK;

    for (; !s && sign_is(p, "-"); minus = !minus)
        s = take(p);
    if (!s)
        s = parse_primary(p);
    return s || !minus ? s : emit(p, (struct expr_step){.op = OP_MINUS}, at, 0);
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
static wend_status parse_binary(struct expr_parser *p, enum tightness level)
{
    const struct binary *b;
    wend_status s;

    if (level == LEVELS)
        return parse_minus(p);
    s = parse_binary(p, level + 1);
    while (!s && (b = binary_of(p, level))) {
        size_t at = p->token.at;

        s = take(p);
        if (!s)
            s = parse_binary(p, level + 1);
        if (!s)
            s = emit(p, (struct expr_step){.op = b->op}, at, -1);
        if (!s && level == COMPARISON && binary_of(p, level))
            s = bad_at(p, p->token.at,
                       "comparisons do not chain; join them with 'and'");
    }
    return s;
}

static wend_status parse_not(struct expr_parser *p)
{
    size_t at = p->token.at;
    uint32_t count = 0;
    wend_status s = WEND_OK;

    for (; !s && sign_is(p, "not"); count++)
        s = take(p);
    if (!s)
        s = parse_binary(p, COMPARISON);
    if (s || !count)
        return s;
    return emit(p, (struct expr_step){.op = count % 2 ? OP_NOT : OP_TRUTH}, at,
                0);
}

/* `parse` for both sides of a word that may leave the right one out. */
static wend_status parse_short(struct expr_parser *p, const char *word,
                               enum expr_op op,
                               wend_status (*parse)(struct expr_parser *p))
{
    wend_status s = parse(p);

    while (!s && sign_is(p, word)) {
        size_t at = p->token.at, jump = p->steps.len;

        s = take(p);
        if (!s)
            s = emit(p, (struct expr_step){.op = op}, at, -1);
        if (!s)
            s = parse(p);
        if (!s)
            s = emit(p, (struct expr_step){.op = OP_TRUTH}, at, 0);
        if (!s) {
            struct expr_step *left = (void *)(p->steps.ptr + jump);

            assert(left->op == op);
            left->to = steps_count(p);
        }
    }
    return s;
}

static wend_status parse_and(struct expr_parser *p)
{
    return parse_short(p, "and", OP_AND, parse_not);
}

static wend_status parse_or(struct expr_parser *p)
{
    wend_status s;

    if (++p->depth > EXPR_DEPTH_MAX)
        return bad_at(p, p->token.at, "the expression is nested too deeply");
    s = parse_short(p, "or", OP_OR, parse_and);
    p->depth--;
    return s;
}

static wend_status keep(struct expr_parser *p, const struct expr **out)
{
    struct expr *e = arena_alloc(p->reader->arena, sizeof *e);
    struct expr_step *steps =
        e ? arena_alloc(p->reader->arena, p->steps.len) : NULL;

    if (!steps)
        return fail_nomem(p->reader->err);
    assert(p->stack == 1); /* the value of the expression */
    memcpy(steps, p->steps.ptr, p->steps.len);
    *e = (struct expr){steps, steps_count(p), p->stack_max};
    *out = e;
    return WEND_OK;
}

wend_status expr_parse(struct ref_reader *r, wend_str text,
                       const struct expr **out)
{
    struct expr_parser p = {
        .reader = r, .text = text, .steps = {.mem = r->arena->mem}};
    wend_status s;

    if (text.len > EXPRESSION_BYTES_MAX)
        return bad_at(&p, 0, "the expression is too long");
    s = take(&p);
    if (!s)
        s = parse_or(&p);
    if (!s && p.token.kind != TOKEN_END)
        s = bad_at(&p, p.token.at, "an operator is missing");
    if (!s)
        s = keep(&p, out);
    buf_free(&p.steps);
    return s;
}

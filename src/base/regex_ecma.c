/*
 * regex_ecma.c - reads a pattern of ECMA-262 and writes it for PCRE2.
 *
 * Everything that goes out was understood here: an escape or a group that
 * only PCRE2 knows is refused, and literal characters cannot turn into one.
 */
#include "base/regex.h"

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"

/* White space and line ends as ECMA-262 has them. */
#define SPACE                                                          \
    "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}" \
    "\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NO_LINE_END "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]"

/* Complements, as PCRE2 forgets \D and \W beyond ASCII in a class with \p. */
#define NO_SPACE                                                  \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}" \
    "\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"   \
    "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"   \
    "\\x{ff00}-\\x{10ffff}"
#define NO_DIGIT "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}"
#define NO_WORD                                                   \
    "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-" \
    "\\x{10ffff}"

struct ecma {
    wend_str in;
    size_t at;
    struct buf *out;
    bool repeatable; /* may a repeat follow? */
    wend_error *err;
};

static bool wrong(struct ecma *e, size_t at, const char *what)
{
    fail(e->err, WEND_E_PARSE, "%s at byte %zu", what, at);
    return false;
}

/* The byte `by` places ahead, or 0 after the end. */
static char ahead(const struct ecma *e, size_t by)
{
    return by < e->in.len - e->at ? e->in.ptr[e->at + by] : 0;
}

static bool is_punctuation(char c)
{
    return c > ' ' && c < 127 && !is_letter(c) && !is_digit(c);
}

static bool begins(const struct ecma *e, const char *prefix)
{
    return str_starts(str_skip(e->in, e->at), prefix);
}

/* Writes a character in place of the next `len` bytes. */
static bool put_code(struct ecma *e, uint32_t code_point, size_t len)
{
    buf_fmt(e->out, "\\x{%x}", (unsigned)code_point);
    e->at += len;
    return true;
}

/* Writes the next `len` bytes as they are. */
static bool copy(struct ecma *e, size_t len)
{
    buf_add(e->out, e->in.ptr + e->at, len);
    e->at += len;
    return true;
}

/* How many hexadecimal digits follow from `by` on, min to max; else 0. */
static size_t hex(const struct ecma *e, size_t by, size_t min, size_t max,
                  uint32_t *out)
{
    uint32_t n = 0;
    size_t i = 0;

    for (; i < max; i++) {
        int digit = hex_value(ahead(e, by + i));

        if (digit < 0)
            break;
        n = n * 16 + (uint32_t)digit;
    }
    *out = n;
    return i >= min ? i : 0;
}

/* \uXXXX, a pair of them, or \u{X...}; at the backslash. */
static bool unicode_escape(struct ecma *e)
{
    uint32_t code, low;
    size_t len;

    if (ahead(e, 2) == '{') {
        len = hex(e, 3, 1, 8, &code);
        if (!len || ahead(e, 3 + len) != '}' || code > 0x10ffff)
            return wrong(e, e->at, "\\u{...} is not a code point");
        return put_code(e, code, 4 + len);
    }
    if (!hex(e, 2, 4, 4, &code))
        return wrong(e, e->at, "\\u needs four hexadecimal digits");
    e->at += 6;
    if (code >= 0xd800 && code < 0xdc00 && begins(e, "\\u") &&
        hex(e, 2, 4, 4, &low) && low >= 0xdc00 && low < 0xe000) {
        e->at += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return put_code(e, code, 0);
}

/* PCRE2 knows the categories by their short names only. */
static const char *short_category(wend_str name)
{
    static const struct {
        const char *name, *category;
    } rows[] = {
        {"Letter", "L"},
        {"Cased_Letter", "L&"},
        {"LC", "L&"},
        {"Uppercase_Letter", "Lu"},
        {"Lowercase_Letter", "Ll"},
        {"Titlecase_Letter", "Lt"},
        {"Modifier_Letter", "Lm"},
        {"Other_Letter", "Lo"},
        {"Mark", "M"},
        {"Combining_Mark", "M"},
        {"Nonspacing_Mark", "Mn"},
        {"Spacing_Mark", "Mc"},
        {"Enclosing_Mark", "Me"},
        {"Number", "N"},
        {"Decimal_Number", "Nd"},
        {"digit", "Nd"},
        {"Letter_Number", "Nl"},
        {"Other_Number", "No"},
        {"Punctuation", "P"},
        {"punct", "P"},
        {"Connector_Punctuation", "Pc"},
        {"Dash_Punctuation", "Pd"},
        {"Open_Punctuation", "Ps"},
        {"Close_Punctuation", "Pe"},
        {"Initial_Punctuation", "Pi"},
        {"Final_Punctuation", "Pf"},
        {"Other_Punctuation", "Po"},
        {"Symbol", "S"},
        {"Math_Symbol", "Sm"},
        {"Currency_Symbol", "Sc"},
        {"Modifier_Symbol", "Sk"},
        {"Other_Symbol", "So"},
        {"Separator", "Z"},
        {"Space_Separator", "Zs"},
        {"Line_Separator", "Zl"},
        {"Paragraph_Separator", "Zp"},
        {"Other", "C"},
        {"Control", "Cc"},
        {"cntrl", "Cc"},
        {"Format", "Cf"},
        {"Surrogate", "Cs"},
        {"Private_Use", "Co"},
        {"Unassigned", "Cn"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(name, rows[i].name))
            return rows[i].category;
    return NULL;
}

/* \p{...} or \P{...}; at the backslash. */
static bool property_escape(struct ecma *e)
{
    static const char *const category_prefixes[] = {"gc=", "General_Category="};
    const char *category;
    wend_str name;
    size_t len = 0;

    while (is_word(ahead(e, 3 + len)) || ahead(e, 3 + len) == '=')
        len++;
    if (ahead(e, 2) != '{' || !len || ahead(e, 3 + len) != '}')
        return wrong(e, e->at, "\\p needs {a property}");
    name = (wend_str){e->in.ptr + e->at + 3, len};
    for (size_t i = 0; i < 2; i++)
        if (str_starts(name, category_prefixes[i]))
            name = str_skip(name, strlen(category_prefixes[i]));
    category = short_category(name);
    if (str_is(name, "Assigned"))
        buf_fmt(e->out, "\\%c{Cn}", ahead(e, 1) == 'p' ? 'P' : 'p');
    else if (category)
        buf_fmt(e->out, "\\%c{%s}", ahead(e, 1), category);
    else
        buf_fmt(e->out, "\\%c{%.*s}", ahead(e, 1), (int)name.len, name.ptr);
    e->at += 4 + len;
    return true;
}

/* The escapes of one character; at the backslash. */
static bool char_escape(struct ecma *e)
{
    static const struct {
        char letter;
        unsigned char code;
    } controls[] = {{'t', 9},  {'n', 10}, {'v', 11},
                    {'f', 12}, {'r', 13}, {'0', 0}};
    char c = ahead(e, 1);
    uint32_t code;

    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (c == controls[i].letter && !(c == '0' && is_digit(ahead(e, 2))))
            return put_code(e, controls[i].code, 2);
    if (c == 'u')
        return unicode_escape(e);
    if (c == 'x' && hex(e, 2, 2, 2, &code))
        return put_code(e, code, 4);
    if (c == 'c' && is_letter(ahead(e, 2)))
        return put_code(e, (uint32_t)ahead(e, 2) & 31, 3);
    if (is_punctuation(c))
        return copy(e, 2);
    if (c == ' ')
        return put_code(e, ' ', 2);
    return wrong(e, e->at, "an escape that ECMA-262 does not have");
}

/* \d \s \w \p and their opposites, in a class or outside. */
static bool is_set(const struct ecma *e, size_t by)
{
    char c = ahead(e, by + 1);

    return ahead(e, by) == '\\' && c && strchr("dDsSwWpP", c);
}

static bool set_escape(struct ecma *e, bool in_class)
{
    static const struct {
        char letter;
        const char *ranges;
    } sets[] = {{'d', "0-9"}, {'D', NO_DIGIT}, {'w', "0-9A-Z_a-z"},
                {'s', SPACE}, {'S', NO_SPACE}, {'W', NO_WORD}};
    char c = ahead(e, 1);

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (c == sets[i].letter) {
            buf_fmt(e->out, in_class ? "%s" : "[%s]", sets[i].ranges);
            e->at += 2;
            return true;
        }
    return property_escape(e);
}

static bool copy_char(struct ecma *e)
{
    return copy(e, utf8_take(str_skip(e->in, e->at), 1));
}

static bool class_atom(struct ecma *e)
{
    char c = ahead(e, 0);

    if (is_set(e, 0))
        return set_escape(e, true);
    if (c == '\\' && ahead(e, 1) == 'b')
        return put_code(e, 8, 2);
    if (c == '\\')
        return char_escape(e);
    if (is_punctuation(c)) /* [: and [. begin what only POSIX has */
        buf_char(e->out, '\\');
    return copy_char(e);
}

/* A '-' between two characters is a range, all others are themselves. */
static bool class(struct ecma *e)
{
    size_t from = e->at;
    bool may_range = false; /* after one character that begins no range */
    bool in_range = false;

    e->repeatable = true;
    if (begins(e, "[]") || begins(e, "[^]")) {
        bool none = ahead(e, 1) == ']';

        buf_cstr(e->out, none ? "(?:(?!))" : "[\\x{0}-\\x{10ffff}]");
        e->at += none ? 2 : 3;
        return true;
    }
    e->at++;
    buf_char(e->out, '[');
    if (ahead(e, 0) == '^')
        copy_char(e);
    while (e->at < e->in.len && ahead(e, 0) != ']') {
        bool set = is_set(e, 0);

        if (ahead(e, 0) == '-' && !in_range) {
            in_range = may_range && ahead(e, 1) != ']' && !is_set(e, 1);
            buf_cstr(e->out, in_range ? "-" : "\\-");
            e->at++;
            may_range = !in_range && !may_range;
            continue;
        }
        if (!class_atom(e))
            return false;
        may_range = !set && !in_range;
        in_range = false;
    }
    if (e->at >= e->in.len)
        return wrong(e, from, "a [ without its ]");
    return copy_char(e);
}

static bool back_reference(struct ecma *e)
{
    size_t len = 1;

    while (is_digit(ahead(e, 1 + len)))
        len++;
    buf_fmt(e->out, "\\g{%.*s}", (int)len, e->in.ptr + e->at + 1);
    e->at += 1 + len;
    return true;
}

static bool named_reference(struct ecma *e)
{
    size_t len = 3;

    while (is_word(ahead(e, len)))
        len++;
    if (ahead(e, 2) != '<' || ahead(e, len) != '>')
        return wrong(e, e->at, "\\k needs <a name>");
    return copy(e, len + 1);
}

static bool escape(struct ecma *e)
{
    char c = ahead(e, 1);

    e->repeatable = c != 'b' && c != 'B';
    if (!e->repeatable)
        return copy(e, 2);
    if (is_set(e, 0))
        return set_escape(e, false);
    if (c >= '1' && c <= '9')
        return back_reference(e);
    if (c == 'k')
        return named_reference(e);
    return char_escape(e);
}

static bool group(struct ecma *e)
{
    static const char *const kinds[] = {
        "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:", "(?i)"};
    size_t len = 3;

    e->repeatable = false;
    if (ahead(e, 1) != '?')
        return copy_char(e);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(e, kinds[i]))
            return copy(e, strlen(kinds[i]));
    if (begins(e, "(?P<"))
        len = 4;
    else if (!begins(e, "(?<"))
        return wrong(e, e->at, "a group that ECMA-262 does not have");
    e->at += len;
    for (len = 0; is_word(ahead(e, len));)
        len++;
    if (!len || ahead(e, len) != '>')
        return wrong(e, e->at, "a group needs <a name>");
    buf_fmt(e->out, "(?<%.*s>", (int)len, e->in.ptr + e->at);
    e->at += len + 1;
    return true;
}

/* Length of {n}, {n,} or {n,m}; 0 for anything else. */
static size_t counted(const struct ecma *e)
{
    size_t len = 1;

    while (is_digit(ahead(e, len)))
        len++;
    if (len == 1)
        return 0;
    if (ahead(e, len) == ',')
        for (len++; is_digit(ahead(e, len));)
            len++;
    return ahead(e, len) == '}' ? len + 1 : 0;
}

static bool repeat(struct ecma *e, size_t len)
{
    if (!e->repeatable)
        return wrong(e, e->at, "nothing to repeat");
    if (ahead(e, len) == '?') /* lazy */
        len++;
    e->repeatable = false;
    return copy(e, len);
}

static bool literal(struct ecma *e)
{
    char c = ahead(e, 0);

    if (c == '{' || c == '}' || c == ']')
        buf_char(e->out, '\\');
    e->repeatable = c != '^' && c != '$' && c != '|';
    return copy_char(e);
}

static bool term(struct ecma *e)
{
    size_t len;

    switch (ahead(e, 0)) {
    case '\\': return escape(e);
    case '[': return class(e);
    case '(': return group(e);
    case '*':
    case '+':
    case '?': return repeat(e, 1);
    case '{': len = counted(e); return len ? repeat(e, len) : literal(e);
    case '.':
        buf_cstr(e->out, NO_LINE_END);
        e->at++;
        e->repeatable = true;
        return true;
    }
    return literal(e);
}

wend_status regex_translate(wend_str pattern, struct buf *out, wend_error *err)
{
    struct ecma e = {.in = pattern, .out = out, .err = err};

    if (pattern.len > REGEX_PATTERN_MAX)
        return fail(err, WEND_E_LIMIT, "pattern over %d bytes",
                    REGEX_PATTERN_MAX);
    if (utf8_valid_len(pattern) != pattern.len)
        return fail(err, WEND_E_PARSE, "pattern is not UTF-8");
    while (e.at < pattern.len)
        if (!term(&e))
            return WEND_E_PARSE;
    return out->failed ? fail_nomem(err) : WEND_OK;
}

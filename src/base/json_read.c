/*
 * json_read.c - reads JSON text into a tree: strict (RFC 8259) and bounded.
 *
 * The parser keeps its own stack of open arrays and objects, so that depth
 * costs no C stack. Every error names its place, what was expected and what
 * was found. No choice of keys makes the work quadratic.
 */
#include "base/json.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "base/utf8.h"

enum {
    KEYS_COMPARED_MAX = 16, /* members; more than these get a trie */
    KEY_HASH_LEVELS = 16,   /* of two bits */
    KEY_SHOWN_MAX = 64,     /* bytes of a key in an error message */
    FOUND_MAX = 24,
    STRING_LOOK = 24, /* bytes; longer strings are read with more care */
};

/* Keys by their hash, two bits a level. */
struct json_trie {
    struct json_trie *child[4];
    wend_str key;
};

struct frame {
    struct json *node;  /* an array or an object that is still open */
    struct json **tail; /* where its next child goes */
    struct json_keys keys;
};

struct parser {
    const char *p, *end;
    const char *line_start;
    uint32_t line;
    uint32_t depth; /* frames in use */
    uint32_t depth_max;
    struct arena *arena;
    wend_error *err;
    wend_str key;           /* of the value to come; absent in an array */
    struct json_cuts *cuts; /* may be NULL */
    uint16_t alone;         /* the last unit decoded, a lone surrogate; or 0 */
    struct frame frames[JSON_DEPTH_MAX + JSON_DEPTH_AROUND];
};

static uint32_t column(const struct parser *ps, const char *at)
{
    return (uint32_t)(at - ps->line_start) + 1;
}

static const char *found(const struct parser *ps, const char *at,
                         char text[FOUND_MAX])
{
    unsigned char c;

    if (at == ps->end)
        return "end of input";
    if (ps->end - at >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
        return "a byte order mark";
    c = (unsigned char)*at;
    if (c > 0x20 && c < 0x7f)
        snprintf(text, FOUND_MAX, "'%c'", c);
    else
        snprintf(text, FOUND_MAX, "byte 0x%02x", c);
    return text;
}

/* Returns false for the caller to pass on. */
static bool refuse(struct parser *ps, const char *at, const char *expected)
{
    char text[FOUND_MAX];

    fail_at(ps->err, WEND_E_PARSE, ps->line, column(ps, at),
            "expected %s, found %s", expected, found(ps, at, text));
    return false;
}

static bool refuse_nomem(struct parser *ps)
{
    fail_nomem(ps->err);
    return false;
}

static void skip_spaces(struct parser *ps)
{
    for (; ps->p < ps->end; ps->p++) {
        if (*ps->p == '\n') {
            ps->line++;
            ps->line_start = ps->p + 1;
        } else if (*ps->p != ' ' && *ps->p != '\t' && *ps->p != '\r') {
            return;
        }
    }
}

/* Mostly there is no space. */
static inline void skip_space(struct parser *ps)
{
    if (ps->p < ps->end && (unsigned char)*ps->p <= ' ')
        skip_spaces(ps);
}

/* ---- Strings ------------------------------------------------------------- */

/* Takes four digits, or stops at another character and returns -1. */
static int32_t hex4(const char **p, const char *end)
{
    int32_t unit = 0;

    for (int i = 0; i < 4; i++, ++*p) {
        int digit = *p < end ? hex_value(**p) : -1;

        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Decodes \uXXXX at p, or a pair of them; NULL if it is invalid. */
static const char *unescape_u(struct parser *ps, const char *p, const char *end,
                              char **out)
{
    const char *next;
    int32_t unit, low = -1;

    p += 2;
    unit = hex4(&p, end);
    if (unit < 0) {
        refuse(ps, p, "four hex digits after \\u");
        return NULL;
    }
    if (unit >= 0xd800 && unit <= 0xdfff) {
        if (unit < 0xdc00 && end - p >= 2 && p[0] == '\\' && p[1] == 'u') {
            next = p + 2;
            low = hex4(&next, end);
        }
        if (low >= 0xdc00 && low <= 0xdfff) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            p = next;
        } else {
            ps->alone = (uint16_t)unit;
            unit = 0xfffd; /* alone it has no meaning; what follows has */
        }
    }
    *out += utf8_put(*out, (uint32_t)unit);
    return p;
}

/* Decodes the escape at p to *out; returns what is after it, or NULL. */
static const char *unescape(struct parser *ps, const char *p, const char *end,
                            char **out)
{
    static const char plain[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
    };
    char c = plain[(unsigned char)p[1]];

    if (c) {
        *(*out)++ = c;
        return p + 2;
    }
    if (p[1] == 'u')
        return unescape_u(ps, p, end, out);
    refuse(ps, p + 1, "one of \"\\/bfnrtu after a backslash");
    return NULL;
}

/* Only at the ends of a string can the other half be in another one. */
static void note_cut(struct parser *ps, const char *at, bool starts, bool ends)
{
    bool high = ps->alone < 0xdc00;

    if (ps->cuts && ps->cuts->count < JSON_CUTS_MAX && (high ? ends : starts))
        ps->cuts->list[ps->cuts->count++] = (struct json_cut){at, ps->alone};
    ps->alone = 0;
}

/* Decodes all between the quotes, which never makes it longer. */
static bool decode(struct parser *ps, const char *p, const char *end,
                   wend_str *out)
{
    char *start = arena_chars(ps->arena, (size_t)(end - p)), *at = start;
    const char *before;

    if (!start)
        return refuse_nomem(ps);
    while (p < end) {
        const char *run_end = memchr(p, '\\', (size_t)(end - p));

        if (!run_end)
            run_end = end;
        memcpy(at, p, (size_t)(run_end - p));
        at += run_end - p;
        p = run_end;
        before = at;
        if (p < end && !(p = unescape(ps, p, end, &at)))
            return false;
        if (ps->alone)
            note_cut(ps, before, before == start, p == end);
    }
    *at = 0;
    *out = (wend_str){start, (size_t)(at - start)};
    return true;
}

static bool read_any_string(struct parser *ps, wend_str *out)
{
    const char *start = ps->p + 1, *p = start;
    uint64_t seen = 0;
    bool escapes = false;
    wend_str raw;
    size_t valid_len;

    for (;;) {
        p += json_plain_len(p, (size_t)(ps->end - p), &seen);
        if (p == ps->end)
            return refuse(ps, p, "'\"' at the end of the string");
        if (*p == '"')
            break;
        if (*p != '\\')
            return refuse(ps, p, "an escape for a control character");
        if (ps->end - p < 2)
            return refuse(ps, ps->end, "the rest of an escape");
        escapes = true;
        p += 2;
    }
    raw = (wend_str){start, (size_t)(p - start)};
    if (seen & JSON_EACH_BYTE(0x80)) {
        valid_len = utf8_valid_len(raw);
        if (valid_len < raw.len)
            return refuse(ps, start + valid_len, "valid UTF-8");
    }
    ps->p = p + 1;
    if (escapes)
        return decode(ps, start, p, out);
    *out = raw;
    return true;
}

/* At the opening quote. Most strings are short, plain, and not at the end. */
static inline bool read_string(struct parser *ps, wend_str *out)
{
    const char *start = ps->p + 1;
    size_t left = (size_t)(ps->end - start), len;
    uint64_t seen = 0;

    if (left <= STRING_LOOK)
        return read_any_string(ps, out);
    len = json_plain_len(start, STRING_LOOK, &seen);
    if (start[len] != '"' || (seen & JSON_EACH_BYTE(0x80)))
        return read_any_string(ps, out);
    *out = (wend_str){start, len};
    ps->p = start + len + 1;
    return true;
}

/* ---- Numbers and literals ------------------------------------------------ */

static bool digit_at(const struct parser *ps, const char *p)
{
    return p < ps->end && *p >= '0' && *p <= '9';
}

/* Skips digits, of which there must be one. */
static bool skip_digits(struct parser *ps, const char **p, const char *where)
{
    if (!digit_at(ps, *p))
        return refuse(ps, *p, where);
    while (digit_at(ps, *p))
        ++*p;
    return true;
}

static bool read_number(struct parser *ps, wend_str *out)
{
    const char *p = ps->p;

    if (*p == '-')
        p++;
    if (p < ps->end && *p == '0') {
        p++;
        if (digit_at(ps, p))
            return refuse(ps, p, "no more digits after a leading 0");
    } else if (!skip_digits(ps, &p, "a digit after '-'")) {
        return false;
    }
    if (p < ps->end && *p == '.') {
        p++;
        if (!skip_digits(ps, &p, "a digit after '.'"))
            return false;
    }
    if (p < ps->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < ps->end && (*p == '+' || *p == '-'))
            p++;
        if (!skip_digits(ps, &p, "a digit in the exponent"))
            return false;
    }
    *out = (wend_str){ps->p, (size_t)(p - ps->p)};
    ps->p = p;
    return true;
}

static bool read_literal(struct parser *ps, const char *word)
{
    for (const char *at = word; *at; at++, ps->p++)
        if (ps->p == ps->end || *ps->p != *at)
            return refuse(ps, ps->p, word);
    return true;
}

/* ---- Keys ---------------------------------------------------------------- */

/* One of 64 bits; differing bits spare the comparison of small objects. */
static uint64_t key_bit(wend_str key)
{
    size_t n = key.len;

    if (n)
        n += (unsigned char)key.ptr[0] * 5u +
             (unsigned char)key.ptr[key.len - 1] * 11u +
             (unsigned char)key.ptr[key.len / 2] * 17u;
    return UINT64_C(1) << (n & 63);
}

/* FNV-1a, with its better high bits mixed into the low ones. */
static uint32_t key_hash(wend_str key)
{
    uint32_t hash = 0x811c9dc5;

    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (unsigned char)key.ptr[i]) * 0x01000193;
    return hash ^ hash >> 15;
}

/* Which child at that level. Chosen keys can share their whole hash; below
 * it their own bytes decide, so that they cannot make one long chain. */
static unsigned key_turn(wend_str key, uint32_t hash, size_t level)
{
    if (level < KEY_HASH_LEVELS)
        return hash >> (2 * level) & 3;
    level -= KEY_HASH_LEVELS;
    if (level / 4 >= key.len)
        return 0;
    return (unsigned char)key.ptr[level / 4] >> (2 * (level % 4)) & 3;
}

/* False if the key is there already, or with a->failed. */
static bool trie_add(struct arena *a, struct json_trie **slot, wend_str key)
{
    uint32_t hash = key_hash(key);

    for (size_t level = 0; *slot; level++) {
        if (str_eq((*slot)->key, key))
            return false;
        slot = &(*slot)->child[key_turn(key, hash, level)];
    }
    *slot = arena_alloc(a, sizeof **slot);
    if (*slot)
        (*slot)->key = key;
    return *slot;
}

static bool is_new_small(struct json_keys *k, const struct json *object,
                         wend_str key)
{
    uint64_t bit = key_bit(key);

    if (k->seen & bit)
        for (const struct json *m = object->first; m; m = m->next)
            if (str_eq(m->key, key))
                return false;
    k->seen |= bit;
    return true;
}

bool json_keys_new(struct json_keys *k, const struct json *object, wend_str key,
                   struct arena *a)
{
    if (object->count < KEYS_COMPARED_MAX)
        return is_new_small(k, object, key);
    if (!k->trie)
        for (const struct json *m = object->first; m && !a->failed; m = m->next)
            trie_add(a, &k->trie, m->key);
    return !a->failed && trie_add(a, &k->trie, key);
}

static bool refuse_twice(struct parser *ps, const char *at, wend_str key)
{
    char shown[KEY_SHOWN_MAX + 1];
    size_t len = utf8_cut(key, KEY_SHOWN_MAX);

    for (size_t i = 0; i < len; i++)
        shown[i] = (unsigned char)key.ptr[i] < 0x20 ? '?' : key.ptr[i];
    shown[len] = 0;
    fail_at(ps->err, WEND_E_PARSE, ps->line, column(ps, at),
            "expected a new key, found \"%s\"%s again", shown,
            len < key.len ? "..." : "");
    return false;
}

/* A key and its colon. */
static bool read_key(struct parser *ps, struct frame *f)
{
    const char *at = ps->p;

    if (at == ps->end || *at != '"')
        return refuse(ps, at, "'\"' and a key");
    if (!read_string(ps, &ps->key))
        return false;
    if (!json_keys_new(&f->keys, f->node, ps->key, ps->arena))
        return ps->arena->failed ? refuse_nomem(ps)
                                 : refuse_twice(ps, at, ps->key);
    skip_space(ps);
    if (ps->p == ps->end || *ps->p != ':')
        return refuse(ps, ps->p, "':' after the key");
    ps->p++;
    return true;
}

/* ---- Values -------------------------------------------------------------- */

static bool open_frame(struct parser *ps, struct json *node,
                       enum json_kind kind)
{
    struct frame *f;

    if (ps->depth == ps->depth_max) {
        fail_at(ps->err, WEND_E_LIMIT, ps->line, column(ps, ps->p),
                "expected at most %u open arrays and objects, found '%c'",
                ps->depth_max, *ps->p);
        return false;
    }
    node->kind = kind;
    ps->p++;
    f = &ps->frames[ps->depth++];
    f->node = node;
    f->tail = &node->first;
    f->keys = (struct json_keys){0};
    return true;
}

/* Reads a scalar, or the bracket that opens the rest. */
static bool read_value(struct parser *ps, struct json *node)
{
    switch (ps->p < ps->end ? *ps->p : 0) {
    case '{': return open_frame(ps, node, JSON_OBJECT);
    case '[': return open_frame(ps, node, JSON_ARRAY);
    case '"': node->kind = JSON_STRING; return read_string(ps, &node->text);
    case 't': node->kind = JSON_TRUE; return read_literal(ps, "true");
    case 'f': node->kind = JSON_FALSE; return read_literal(ps, "false");
    case 'n': node->kind = JSON_NULL; return read_literal(ps, "null");
    default:
        if (!digit_at(ps, ps->p) && (ps->p == ps->end || *ps->p != '-'))
            return refuse(ps, ps->p, "a value");
        node->kind = JSON_NUMBER;
        return read_number(ps, &node->text);
    }
}

/* Makes the node of the next value, hung where it belongs. */
static struct json *add_node(struct parser *ps)
{
    struct json *node = arena_alloc(ps->arena, sizeof *node);
    struct frame *f = ps->depth ? &ps->frames[ps->depth - 1] : NULL;

    if (!node) {
        refuse_nomem(ps);
        return NULL;
    }
    node->line = ps->line;
    node->column = column(ps, ps->p);
    node->key = ps->key;
    if (f) {
        *f->tail = node;
        f->tail = &node->next;
        f->node->count++;
    }
    return node;
}

/* After a value or an opening bracket: closes what ends here and goes to
 * the start of the next value; no depth is left after the last one. */
static bool go_on(struct parser *ps)
{
    for (; ps->depth; ps->depth--) {
        struct frame *f = &ps->frames[ps->depth - 1];
        bool object = f->node->kind == JSON_OBJECT;
        char c;

        skip_space(ps);
        c = ps->p < ps->end ? *ps->p : 0;
        if (c == (object ? '}' : ']')) {
            ps->p++;
            continue;
        }
        if (f->node->count) {
            if (c != ',')
                return refuse(ps, ps->p, object ? "',' or '}'" : "',' or ']'");
            ps->p++;
            skip_space(ps);
        }
        ps->key = STR_NONE;
        return !object || read_key(ps, f);
    }
    skip_space(ps);
    return ps->p == ps->end || refuse(ps, ps->p, "nothing after the value");
}

static struct json *parse(wend_str text, uint32_t depth_max, struct arena *a,
                          struct json_cuts *cuts, wend_error *err)
{
    struct parser ps; /* the frames are set as they are opened */
    struct json *root = NULL, *node;

    if (!text.ptr)
        text = STR("");
    ps.p = ps.line_start = text.ptr;
    ps.end = text.ptr + text.len;
    ps.line = 1;
    ps.depth = 0;
    ps.depth_max = depth_max;
    ps.arena = a;
    ps.cuts = cuts;
    ps.alone = 0;
    ps.err = err;
    ps.key = STR_NONE;
    do {
        skip_space(&ps);
        node = add_node(&ps);
        if (!node || !read_value(&ps, node) || !go_on(&ps))
            return NULL;
        if (!root)
            root = node;
    } while (ps.depth);
    return root;
}

struct json *json_parse(wend_str text, struct arena *a, wend_error *err)
{
    return parse(text, JSON_DEPTH_MAX, a, NULL, err);
}

struct json *json_parse_cuts(wend_str text, struct arena *a,
                             struct json_cuts *cuts, wend_error *err)
{
    return parse(text, JSON_DEPTH_MAX, a, cuts, err);
}

struct json *json_parse_own(wend_str text, struct arena *a, wend_error *err)
{
    return parse(text, JSON_DEPTH_MAX + JSON_DEPTH_AROUND, a, NULL, err);
}

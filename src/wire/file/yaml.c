/*
 * yaml.c - YAML text to the same tree as JSON, by libyaml's events.
 *
 * No recursion: open collections stand on a stack of JSON_DEPTH_MAX. The
 * tree is all in the arena; libyaml's own memory is given back on return.
 */
#include "wire/file/yaml.h"

#include <inttypes.h>
#include <yaml.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"

enum { QUOTED_MAX = 64 }; /* bytes of the input that a message repeats */

/* Where the key stood is of use only when something is wrong with it. */
struct member {
    struct json value; /* first: the tree's nodes are the first halves */
    uint32_t key_line, key_column;
};

struct frame {
    struct json *node;
    struct json **tail; /* where the next child is linked */
    struct json_keys keys;
};

struct reader {
    struct arena *arena;
    wend_error *err;
    struct json *root;
    struct frame stack[JSON_DEPTH_MAX];
    int depth;
    bool has_key; /* of the innermost mapping, its value is next */
    wend_str key;
    yaml_mark_t key_mark;
};

static uint32_t from_one(size_t n)
{
    return n < UINT32_MAX ? (uint32_t)n + 1 : UINT32_MAX;
}

static wend_status refuse(struct reader *r, yaml_mark_t at, const char *what)
{
    return fail_at(r->err, WEND_E_PARSE, from_one(at.line), from_one(at.column),
                   "%s", what);
}

/* ---- Scalars ------------------------------------------------------------- */

static size_t digits_at(wend_str s, size_t i)
{
    size_t n = 0;

    while (i + n < s.len && is_digit(s.ptr[i + n]))
        n++;
    return n;
}

/* Length of the exponent at i; 0: none, or invalid. */
static size_t exponent_at(wend_str s, size_t i)
{
    size_t sign, digits;

    if (i >= s.len || lower(s.ptr[i]) != 'e')
        return 0;
    sign = i + 1 < s.len && (s.ptr[i + 1] == '-' || s.ptr[i + 1] == '+');
    digits = digits_at(s, i + 1 + sign);
    return digits ? 1 + sign + digits : 0;
}

/* YAML knows +1, .5, 1. and 007, JSON does not: rewrites, same value. False if
 * s is not a decimal number. */
static bool put_decimal(struct buf *b, wend_str s)
{
    size_t sign = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
    size_t whole = digits_at(s, sign), at = sign + whole;
    bool point = at < s.len && s.ptr[at] == '.';
    size_t part = point ? digits_at(s, at + 1) : 0;
    size_t exponent = exponent_at(s, at + point + part), zeros = 0;

    if ((!whole && !part) || at + point + part + exponent != s.len)
        return false;
    while (zeros + 1 < whole && s.ptr[sign + zeros] == '0')
        zeros++;
    buf_cstr(b, s.ptr[0] == '-' ? "-" : "");
    buf_cstr(b, whole ? "" : "0");
    buf_add(b, s.ptr + sign + zeros, whole - zeros);
    if (part)
        buf_add(b, s.ptr + at, 1 + part);
    buf_add(b, s.ptr + at + point + part, exponent);
    return true;
}

/* 0x1F and 0o17. False if s is neither; `fits` is false beyond 64 bits. */
static bool prefixed(wend_str s, uint64_t *out, bool *fits)
{
    int base = str_starts(s, "0x") ? 16 : str_starts(s, "0o") ? 8 : 0;

    if (!base || s.len == 2)
        return false;
    *out = 0;
    *fits = true;
    for (size_t i = 2; i < s.len; i++) {
        int digit = hex_value(s.ptr[i]);

        if (digit < 0 || digit >= base)
            return false;
        *fits =
            *fits && *out <= (UINT64_MAX - (unsigned)digit) / (unsigned)base;
        *out = *out * (unsigned)base + (unsigned)digit;
    }
    return true;
}

static wend_status put_string(struct reader *r, struct json *j, wend_str s)
{
    j->kind = JSON_STRING;
    j->text = arena_str(r->arena, s);
    return j->text.ptr ? WEND_OK : fail_nomem(r->err);
}

/* A plain scalar by the core schema; what is nothing else is a string. */
static wend_status resolve(struct reader *r, struct json *j, wend_str s,
                           yaml_mark_t at)
{
    static const struct {
        const char *text;
        enum json_kind kind;
    } words[] = {
        {"", JSON_NULL},       {"~", JSON_NULL},      {"null", JSON_NULL},
        {"Null", JSON_NULL},   {"NULL", JSON_NULL},   {"true", JSON_TRUE},
        {"True", JSON_TRUE},   {"TRUE", JSON_TRUE},   {"false", JSON_FALSE},
        {"False", JSON_FALSE}, {"FALSE", JSON_FALSE},
    };
    static const char *const unsayable[] = {
        ".inf", "-.inf", "+.inf", ".Inf", "-.Inf", "+.Inf",
        ".INF", "-.INF", "+.INF", ".nan", ".NaN",  ".NAN",
    };
    struct buf number = {.mem = r->arena->mem};
    uint64_t n;
    bool fits = true;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(s, words[i].text)) {
            j->kind = words[i].kind;
            return WEND_OK;
        }
    if (str_index(s, unsayable, sizeof unsayable / sizeof *unsayable) >= 0)
        return refuse(r, at, "infinity and not-a-number have no JSON value");
    if (prefixed(s, &n, &fits))
        buf_fmt(&number, "%" PRIu64, n);
    else if (!put_decimal(&number, s))
        return put_string(r, j, s);
    j->kind = JSON_NUMBER;
    j->text = buf_keep(&number, r->arena);
    if (!fits)
        return refuse(r, at, "number has more than 64 bits");
    return j->text.ptr ? WEND_OK : fail_nomem(r->err);
}

/* ---- Events -------------------------------------------------------------- */

static bool wants_key(const struct reader *r)
{
    return r->depth && r->stack[r->depth - 1].node->kind == JSON_OBJECT &&
           !r->has_key;
}

/* Makes a node and links it where the next value belongs; NULL without
 * memory. */
static struct json *add(struct reader *r, enum json_kind kind, yaml_mark_t at)
{
    struct member *m = arena_alloc(r->arena, sizeof *m);
    struct frame *parent = r->depth ? &r->stack[r->depth - 1] : NULL;

    if (!m) {
        fail_nomem(r->err);
        return NULL;
    }
    m->value.kind = kind;
    m->value.line = from_one(at.line);
    m->value.column = from_one(at.column);
    if (!parent) {
        r->root = &m->value;
        return &m->value;
    }
    if (r->has_key) {
        m->value.key = r->key;
        m->key_line = from_one(r->key_mark.line);
        m->key_column = from_one(r->key_mark.column);
        r->has_key = false;
    }
    *parent->tail = &m->value;
    parent->tail = &m->value.next;
    parent->node->count++;
    return &m->value;
}

/* Anchors and tags, which any node may carry. */
static wend_status plain_node(struct reader *r, const yaml_event_t *e,
                              const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        return refuse(r, e->start_mark, "anchors (&) are not supported");
    if (tag)
        return refuse(r, e->start_mark, "tags (!) are not supported");
    return WEND_OK;
}

static wend_status on_key(struct reader *r, const yaml_event_t *e, wend_str s)
{
    struct frame *f = &r->stack[r->depth - 1];

    r->key = arena_str(r->arena, s);
    r->key_mark = e->start_mark;
    r->has_key = true;
    if (r->key.ptr && json_keys_new(&f->keys, f->node, r->key, r->arena))
        return WEND_OK;
    return r->arena->failed
               ? fail_nomem(r->err)
               : fail_at(r->err, WEND_E_PARSE, from_one(e->start_mark.line),
                         from_one(e->start_mark.column), "duplicate key '%.*s'",
                         UTF8_ARGS(r->key, QUOTED_MAX));
}

static wend_status on_scalar(struct reader *r, const yaml_event_t *e)
{
    wend_str s = {(const char *)e->data.scalar.value, e->data.scalar.length};
    wend_status st;
    struct json *j;

    st = plain_node(r, e, e->data.scalar.anchor, e->data.scalar.tag);
    if (st)
        return st;
    if (wants_key(r))
        return on_key(r, e, s);
    j = add(r, JSON_STRING, e->start_mark);
    if (!j)
        return WEND_E_NOMEM;
    return e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
               ? resolve(r, j, s, e->start_mark)
               : put_string(r, j, s);
}

static wend_status on_open(struct reader *r, const yaml_event_t *e,
                           enum json_kind kind)
{
    bool list = kind == JSON_ARRAY;
    struct json *j;
    wend_status s;

    s = plain_node(
        r, e,
        list ? e->data.sequence_start.anchor : e->data.mapping_start.anchor,
        list ? e->data.sequence_start.tag : e->data.mapping_start.tag);
    if (s)
        return s;
    if (wants_key(r))
        return refuse(r, e->start_mark, "a key must be a scalar");
    if (r->depth == JSON_DEPTH_MAX)
        return fail_at(r->err, WEND_E_LIMIT, from_one(e->start_mark.line),
                       from_one(e->start_mark.column),
                       "nested deeper than %d levels", JSON_DEPTH_MAX);
    j = add(r, kind, e->start_mark);
    if (!j)
        return WEND_E_NOMEM;
    r->stack[r->depth++] = (struct frame){.node = j, .tail = &j->first};
    return WEND_OK;
}

static wend_status on_event(struct reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        return r->root ? refuse(r, e->start_mark, "more than one document")
                       : WEND_OK;
    case YAML_ALIAS_EVENT:
        return refuse(r, e->start_mark, "aliases (*) are not supported");
    case YAML_SCALAR_EVENT: return on_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT: return on_open(r, e, JSON_ARRAY);
    case YAML_MAPPING_START_EVENT: return on_open(r, e, JSON_OBJECT);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: r->depth--; return WEND_OK;
    case YAML_STREAM_END_EVENT:
        if (!r->root)
            return refuse(r, e->start_mark, "the document is empty");
        return WEND_END;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT: return WEND_OK;
    }
    return WEND_OK;
}

/* ---- Text ---------------------------------------------------------------- */

static yaml_mark_t mark_of(wend_str text, size_t offset)
{
    yaml_mark_t at = {0};

    for (size_t i = 0; i < offset && i < text.len; i++)
        if (text.ptr[i] == '\n') {
            at.line++;
            at.column = 0;
        } else if (((unsigned char)text.ptr[i] & 0xC0) != 0x80) {
            at.column++; /* code points, as libyaml counts */
        }
    return at;
}

static wend_status syntax_error(struct reader *r, const yaml_parser_t *p,
                                wend_str text)
{
    yaml_mark_t at = p->problem_mark;

    if (p->error == YAML_MEMORY_ERROR)
        return fail_nomem(r->err);
    if (p->error == YAML_READER_ERROR)
        at = mark_of(text, p->problem_offset);
    return fail_at(r->err, WEND_E_PARSE, from_one(at.line), from_one(at.column),
                   "%s%s%s", p->problem ? p->problem : "not YAML",
                   p->context ? " " : "", p->context ? p->context : "");
}

static wend_status read_events(struct reader *r, wend_str text)
{
    yaml_parser_t parser;
    yaml_event_t event;
    wend_status s = WEND_OK;

    if (!yaml_parser_initialize(&parser))
        return fail_nomem(r->err);
    /* Told, not guessed: else two bytes could turn it into UTF-16. */
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr,
                                 text.len);
    while (!s) {
        if (!yaml_parser_parse(&parser, &event)) {
            s = syntax_error(r, &parser, text);
            break;
        }
        s = on_event(r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return s == WEND_END ? WEND_OK : s;
}

static bool begins_like_json(wend_str s)
{
    s = str_trim(s, is_space);
    return str_starts(s, "{") || str_starts(s, "[");
}

struct json *yaml_parse(wend_str text, struct arena *a, wend_str *json,
                        wend_error *err)
{
    struct reader r = {.arena = a, .err = err};
    wend_str kept = STR_NONE;
    size_t valid;

    if (json)
        *json = kept;
    text = str_or(text, "");
    if (str_starts(text, "\xEF\xBB\xBF"))
        text = str_skip(text, 3);
    valid = utf8_valid_len(text);
    if (valid != text.len) {
        refuse(&r, mark_of(text, valid), "invalid UTF-8");
        return NULL;
    }
    if (!begins_like_json(text))
        return read_events(&r, text) ? NULL : r.root;
    kept = arena_str(a, text); /* the tree points into it */
    if (!kept.ptr)
        fail_nomem(err);
    if (json)
        *json = kept;
    return kept.ptr ? json_parse(kept, a, err) : NULL;
}

/* Columns of JSON are bytes, as its parser counts them. */
static void json_key_at(wend_str text, const struct json *member,
                        uint32_t *line, uint32_t *column)
{
    uintptr_t start = (uintptr_t)text.ptr, at = (uintptr_t)member->key.ptr;
    size_t begin = 0, n = 0;

    if (at <= start || at > start + text.len)
        return; /* decoded elsewhere */
    for (size_t i = 0; i < at - start; i++)
        if (text.ptr[i] == '\n') {
            begin = i + 1;
            n++;
        }
    *line = from_one(n);
    *column = (uint32_t)(at - start - begin); /* of the quote before it */
}

void yaml_key(wend_str json, const struct json *member, uint32_t *line,
              uint32_t *column)
{
    *line = member->line;
    *column = member->column;
    if (json.ptr) {
        json_key_at(json, member, line, column);
    } else if (member->key.ptr) {
        const struct member *m = (const struct member *)member;

        *line = m->key_line;
        *column = m->key_column;
    }
}

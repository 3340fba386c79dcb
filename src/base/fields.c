/*
 * fields.c - files that people write: mappings read by tables.
 */
#include "base/fields.h"

#include <assert.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/utf8.h"

/* ---- Reports ------------------------------------------------------------- */

/* A value as a message repeats it: short scalars as they are. */
static void describe(const struct json *j, char *out, size_t size)
{
    static const char *const kinds[] = {
        [JSON_NULL] = "nothing",     [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",        [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string",  [JSON_ARRAY] = "a list",
        [JSON_OBJECT] = "a mapping",
    };

    if (j->kind == JSON_STRING && j->text.len > FIELDS_QUOTED_MAX)
        utf8_fmt(out, size, "a string of %zu characters", utf8_count(j->text));
    else if (j->text.len > FIELDS_QUOTED_MAX || !j->text.ptr)
        utf8_fmt(out, size, "%s", kinds[j->kind]);
    else
        utf8_fmt(out, size, j->kind == JSON_STRING ? "'%.*s'" : "%.*s",
                 (int)j->text.len, j->text.ptr);
}

const char *fields_where(const struct fields *f)
{
    return f->where[0] ? f->where : f->whole;
}

void fields_key(const struct fields *f, const struct json *member,
                uint32_t *line, uint32_t *column)
{
    *line = member->line;
    *column = member->column;
    if (f->key_at)
        f->key_at(f, member, line, column);
}

wend_status fields_fail(struct fields *f, const struct json *j, const char *fmt,
                        ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_vat(f->err, WEND_E_PARSE, j->line, j->column, fmt, ap);
    va_end(ap);
    return WEND_E_PARSE;
}

wend_status fields_fail_key(struct fields *f, const struct json *j,
                            const char *fmt, ...)
{
    uint32_t line, column;
    va_list ap;

    fields_key(f, j, &line, &column);
    va_start(ap, fmt);
    fail_vat(f->err, WEND_E_PARSE, line, column, fmt, ap);
    va_end(ap);
    return WEND_E_PARSE;
}

wend_status fields_wrong(struct fields *f, const struct json *j,
                         const char *wanted)
{
    char found[FIELDS_QUOTED_MAX + 3];

    describe(j, found, sizeof found);
    return fields_fail(f, j, "%s must be %s, not %s", fields_where(f), wanted,
                       found);
}

wend_status fields_missing(struct fields *f, const struct json *j,
                           const char *key)
{
    return fields_fail(f, j, "%s needs '%s'", fields_where(f), key);
}

wend_status fields_because(struct fields *f, const struct json *j,
                           const wend_error *why)
{
    if (why->status == WEND_E_NOMEM)
        return fail_nomem(f->err);
    return fields_fail(f, j, "%s: %.*s", fields_where(f),
                       (int)utf8_cut(str_of(why->message), 400), why->message);
}

/* The line in the text; absent: the text has fewer lines. */
static wend_str line_of(wend_str text, uint32_t line)
{
    wend_str found;

    while (str_line(&text, &found) && line > 1)
        line--;
    return line == 1 ? found : STR_NONE;
}

/* Columns count code points. */
void fields_inside(const struct fields *f, const struct json *j, size_t offset,
                   uint32_t *line, uint32_t *column)
{
    wend_str all = line_of(f->text, j->line), value = j->text;
    size_t at = utf8_take(all, j->column - 1);

    *line = j->line;
    *column = j->column;
    if (at < all.len && (all.ptr[at] == '"' || all.ptr[at] == '\'') &&
        (!value.len || value.ptr[0] != all.ptr[at]))
        at++;
    if (!all.ptr || offset > value.len || at + offset > all.len ||
        memcmp(all.ptr + at, value.ptr, offset))
        return;
    *column = 1 + (uint32_t)utf8_count((wend_str){all.ptr, at + offset});
}

static wend_status unknown(struct fields *f, const struct json *j,
                           const struct field *rows)
{
    const char *names[FIELDS_MAX];
    char hint[STR_HINT_BYTES];
    int count = 0;

    for (; rows->name && count < FIELDS_MAX; rows++)
        names[count++] = rows->name;
    return fields_fail_key(
        f, j, "unknown key '%.*s' in %s%s",
        UTF8_ARGS(j->key, FIELDS_QUOTED_MAX), fields_where(f),
        str_hint(hint, str_of(str_near(j->key, names, count))));
}

/* ---- What a field may be ------------------------------------------------- */

FIELD_READ(field_text)
{
    if (j->kind != JSON_STRING)
        return fields_wrong(
            f, j, j->kind == JSON_NUMBER ? "a string in quotes" : "a string");
    *(wend_str *)at = j->text;
    return WEND_OK;
}

FIELD_READ(field_name)
{
    if (j->kind == JSON_STRING && !j->text.len)
        return fields_wrong(f, j, "a string that is not empty");
    return field_text(f, field, j, at);
}

FIELD_READ(field_cstr)
{
    wend_str text = STR_NONE;
    wend_status s = field_name(f, field, j, &text);

    if (s)
        return s;
    if (memchr(text.ptr, 0, text.len))
        return fields_fail(f, j, "%s has a zero byte", fields_where(f));
    text = arena_str(f->arena, text);
    *(wend_str *)at = text;
    return text.ptr ? WEND_OK : fail_nomem(f->err);
}

FIELD_READ(field_number)
{
    const char *zero = field->words ? field->words[0] : NULL;
    char wanted[80];
    int64_t n = 0;

    if ((zero && str_is(json_str(j), zero)) ||
        (json_i64(j, &n) && n >= field->min && n <= field->max)) {
        *(int64_t *)at = n;
        return WEND_OK;
    }
    snprintf(wanted, sizeof wanted, "%s%sa whole number from %lld to %lld",
             zero ? zero : "", zero ? " or " : "", (long long)field->min,
             (long long)field->max);
    return fields_wrong(f, j, wanted);
}

static bool is_scalar(const struct json *j)
{
    return j->kind == JSON_STRING || j->kind == JSON_NUMBER;
}

FIELD_READ(field_ms)
{
    char wanted[80];
    int64_t ms;

    if (!is_scalar(j) || !str_to_ms(j->text, &ms))
        return fields_wrong(f, j, "a duration such as 20ms");
    *(int64_t *)at = ms;
    if (ms >= field->min && (!field->max || ms <= field->max))
        return WEND_OK;
    snprintf(wanted, sizeof wanted,
             ms < field->min ? "a duration of at least %lldms"
                             : "a duration of at most %llds",
             (long long)(ms < field->min ? field->min : field->max / 1000));
    return fields_wrong(f, j, wanted);
}

FIELD_READ(field_bytes)
{
    char wanted[80];
    int64_t bytes;

    if (!is_scalar(j) || !str_to_bytes(j->text, &bytes))
        return fields_wrong(f, j, "a size such as 512MiB");
    *(int64_t *)at = bytes;
    if (bytes >= field->min)
        return WEND_OK;
    snprintf(wanted, sizeof wanted, "a size of at least %lld bytes",
             (long long)field->min);
    return fields_wrong(f, j, wanted);
}

/* Suggests the nearest word for an unknown one. */
FIELD_READ(field_index)
{
    char wanted[160] = "one of";
    size_t len = strlen(wanted);
    const char *near = NULL;
    int count = 0, i;

    while (field->words[count])
        count++;
    i = str_index(json_str(j), field->words, count);
    if (i >= 0) {
        *(int *)at = i;
        return WEND_OK;
    }
    if (j->kind == JSON_STRING)
        near = str_near(j->text, field->words, count);
    if (near)
        return fields_fail(f, j, "%s is '%.*s'; did you mean '%s'?",
                           fields_where(f),
                           UTF8_ARGS(j->text, FIELDS_QUOTED_MAX), near);
    for (i = 0; i < count && len < sizeof wanted; i++)
        len += utf8_fmt(wanted + len, sizeof wanted - len, "%s%s",
                        i ? ", " : " ", field->words[i]);
    return fields_wrong(f, j, wanted);
}

FIELD_READ(field_second)
{
    int i;
    wend_status s = field_index(f, field, j, &i);

    if (!s)
        *(bool *)at = i == 1;
    return s;
}

FIELD_READ(field_bool)
{
    if (j->kind != JSON_TRUE && j->kind != JSON_FALSE)
        return fields_wrong(f, j, "true or false");
    *(bool *)at = j->kind == JSON_TRUE;
    return WEND_OK;
}

FIELD_READ(field_word)
{
    int i;
    wend_status s = field_index(f, field, j, &i);

    if (!s)
        *(wend_str *)at = j->text;
    return s;
}

FIELD_READ(field_version)
{
    return str_is(json_str(j), field->words[0])
               ? WEND_OK
               : fields_wrong(f, j, field->words[0]);
}

FIELD_READ(field_json)
{
    wend_str text;

    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping");
    text = json_text(j, f->arena);
    *(wend_str *)at = text;
    return text.ptr ? WEND_OK : fail_nomem(f->err);
}

/* ---- Mappings and lists -------------------------------------------------- */

static wend_status find_missing(struct fields *f, const struct json *j,
                                const struct field *row)
{
    char key[FIELDS_QUOTED_MAX];

    for (; row->name; row++)
        if (row->needed && !json_get(j, row->name)) {
            bool version = row->read == field_version;

            snprintf(key, sizeof key, "%s%s%s", row->name, version ? ": " : "",
                     version ? row->words[0] : "");
            return fields_missing(f, j, key);
        }
    return WEND_OK;
}

wend_status fields_read(struct fields *f, const struct json *j,
                        const struct field *rows, void *target)
{
    size_t len = strlen(f->where);
    const struct field *row;
    wend_status s;

    assert(f->err); /* the file is open */
    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping");
    for (const struct json *m = j->first; m; m = m->next) {
        for (row = rows; row->name; row++)
            if (str_is(m->key, row->name))
                break;
        if (!row->name)
            return unknown(f, m, rows);
        utf8_fmt(f->where + len, sizeof f->where - len, "%s%s", len ? "." : "",
                 row->name);
        s = row->read(f, row, m, (char *)target + row->offset);
        if (s)
            return s;
        f->where[len] = 0;
    }
    return find_missing(f, j, rows);
}

FIELD_READ(field_mapping)
{
    return fields_read(f, j, field->rows, at);
}

wend_status fields_of_kind(struct fields *f, const struct json *j,
                           const struct field *rows, const char *what,
                           const char *const *names, int kind)
{
    for (; rows->name; rows++) {
        const struct json *found = json_get(j, rows->name);

        if (!found && rows->must >> kind & 1)
            return fields_missing(f, j, rows->name);
        if (found && rows->kinds && !(rows->kinds >> kind & 1))
            return fields_fail_key(f, found, "%s: %s %s has no '%s'",
                                   fields_where(f), what, names[kind],
                                   rows->name);
    }
    return WEND_OK;
}

/* The children of j, which is a list or a mapping. */
static wend_status read_items(struct fields *f, const struct field *field,
                              const struct json *j, void *at)
{
    struct {
        char *list;
        size_t count;
    } items = {NULL, 0};
    size_t len = strlen(f->where);
    wend_status s;

    if (j->count > (uint64_t)field->max)
        return fail_at(f->err, WEND_E_LIMIT, j->line, j->column,
                       "%s has %u entries; at most %lld", fields_where(f),
                       j->count, (long long)field->max);
    items.list = arena_alloc(f->arena, ((size_t)j->count + 1) * field->size);
    if (!items.list)
        return fail_nomem(f->err);
    for (const struct json *m = j->first; m; m = m->next, items.count++) {
        if (j->kind == JSON_ARRAY)
            snprintf(f->where + len, sizeof f->where - len, "[%zu]",
                     items.count);
        else
            utf8_fmt(f->where + len, sizeof f->where - len, ".%.*s",
                     UTF8_ARGS(m->key, FIELDS_QUOTED_MAX));
        s = field->item(f, field, m, items.list + items.count * field->size);
        if (s)
            return s;
    }
    f->where[len] = 0;
    memcpy(at, &items, sizeof items); /* whose pointer has its own type */
    return WEND_OK;
}

FIELD_READ(field_list)
{
    return j->kind == JSON_ARRAY ? read_items(f, field, j, at)
                                 : fields_wrong(f, j, "a list");
}

FIELD_READ(field_map)
{
    return j->kind == JSON_OBJECT ? read_items(f, field, j, at)
                                  : fields_wrong(f, j, "a mapping from names");
}

wend_status fields_open_json(struct fields *f, wend_str text)
{
    if (!f->err)
        f->err = &f->own; /* the status of the parser comes from it */
    f->text = arena_str(f->arena, text); /* the tree points into it */
    if (!f->text.ptr)
        return fail_nomem(f->err);
    f->root = json_parse_own(f->text, f->arena, f->err);
    return f->root ? WEND_OK : f->err->status;
}

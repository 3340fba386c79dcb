/*
 * file.c - the text of a file that people write, opened for base/fields.h.
 */
#include "wire/file/file.h"

#include "base/fail.h"
#include "wire/file/yaml.h"

static void key_at(const struct fields *f, const struct json *member,
                   uint32_t *line, uint32_t *column)
{
    (void)f;
    yaml_key(STR_NONE, member, line, column);
}

static void key_at_json(const struct fields *f, const struct json *member,
                        uint32_t *line, uint32_t *column)
{
    yaml_key(f->text, member, line, column);
}

wend_status file_open(struct fields *f, wend_str text, size_t bytes_max)
{
    wend_str json;

    if (!f->err)
        f->err = &f->own; /* the status of the parser comes from it */
    if (text.len > bytes_max)
        return fail(f->err, WEND_E_LIMIT, "%s has %zu bytes; at most %zu",
                    f->whole, text.len, bytes_max);
    f->root = yaml_parse(text, f->arena, &json, f->err);
    if (!f->root)
        return f->err->status;
    f->text = json.ptr ? json : text;
    f->key_at = json.ptr ? key_at_json : key_at;
    return WEND_OK;
}

void *file_parse(struct fields *f, wend_str text, size_t bytes_max,
                 const struct field *rows, size_t size)
{
    void *target;

    if (file_open(f, text, bytes_max) != WEND_OK)
        return NULL;
    target = arena_alloc(f->arena, size);
    if (!target)
        fail_nomem(f->err);
    else if (fields_read(f, f->root, rows, target) != WEND_OK)
        target = NULL;
    return target;
}

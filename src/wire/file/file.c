/*
 * file.c - the text of a file that people write, opened for base/fields.h.
 */
#include "wire/file/file.h"

#include "base/fail.h"
#include "wire/file/yaml.h"

static void key_at(const struct fields *f, const struct json *member,
                   uint32_t *line, uint32_t *column)
{
    yaml_key(&(struct yaml){f->root, STR_NONE}, member, line, column);
}

static void key_at_json(const struct fields *f, const struct json *member,
                        uint32_t *line, uint32_t *column)
{
    yaml_key(&(struct yaml){f->root, f->text}, member, line, column);
}

wend_status file_open(struct fields *f, wend_str text, size_t bytes_max)
{
    struct yaml y;

    if (!f->err)
        f->err = &f->own; /* the status of the parser comes from it */
    if (text.len > bytes_max)
        return fail(f->err, WEND_E_LIMIT, "%s has %zu bytes; at most %zu",
                    f->whole, text.len, bytes_max);
    if (!yaml_read(text, f->arena, &y, f->err))
        return f->err->status;
    f->root = y.root;
    f->text = y.json.ptr ? y.json : text;
    f->key_at = y.json.ptr ? key_at_json : key_at;
    return WEND_OK;
}

wend_status file_begin(struct fields *f, wend_str text, size_t bytes_max,
                       size_t size, void **out)
{
    wend_status s = file_open(f, text, bytes_max);

    if (s)
        return s;
    *out = arena_alloc(f->arena, size);
    return *out ? WEND_OK : fail_nomem(f->err);
}

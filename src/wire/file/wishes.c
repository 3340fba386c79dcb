/*
 * wishes.c - what a file wants of requests to models.
 *
 * Types are checked here; whether an API takes a value is known once the model
 * is.
 */
#include "wire/file/wishes.h"

#include "base/fail.h"
#include "base/header.h"

static wend_status keep(struct fields *f, const struct json *j, wend_str text,
                        struct manifest_word *at)
{
    *at = (struct manifest_word){text, j->line, j->column};
    return text.ptr ? WEND_OK : fail_nomem(f->err);
}

FIELD_READ(wishes_read_param)
{
    enum param p = (enum param)field->max;
    const char *wrong = param_wrong(p, j);

    if (wrong)
        return fields_wrong(f, j, wrong);
    return keep(f, j,
                j->kind == JSON_NULL ? STR("null") : param_text(p, j, f->arena),
                at);
}

FIELD_READ(wishes_read_extra)
{
    if (j->kind != JSON_OBJECT)
        return fields_wrong(f, j, "a mapping of fields of the request");
    return keep(f, j, json_text(j, f->arena), at);
}

FIELD_READ(wishes_read_header)
{
    struct buf b = {.mem = f->arena->mem};
    wend_error why = {0};
    wend_status s;

    if (j->kind != JSON_STRING)
        return fields_wrong(f, j, "a string");
    buf_str(&b, j->key);
    buf_cstr(&b, ": ");
    buf_str(&b, j->text);
    s = keep(f, j, buf_keep(&b, f->arena), at);
    if (s == WEND_OK &&
        header_wish_check(((struct manifest_word *)at)->text, &why) != WEND_OK)
        return fields_fail_key(f, j, "%s: %s", fields_where(f), why.message);
    return s;
}

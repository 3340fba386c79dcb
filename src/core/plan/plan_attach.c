/*
 * plan_attach.c - the files of an action: what an entry of `files` names.
 *
 * An entry is a path, `$input` of an input that is a path, or a reference to
 * files: `$key` and `${key.parts[0]}` of a result, the same of an input that a
 * workflow action gives files. What an input was given is a list of parts, as
 * events describe them; the run has them in run_start.parts, and only those
 * can be named in this way.
 */
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/plan_make.h"

static wend_status wrong(struct fields *f, const struct json *j)
{
    return fields_wrong(f, j,
                        "a path, $NAME of an input that is a path, or $KEY of "
                        "a result");
}

/* $name, ${name.parts} and ${name.parts[0]}. */
static bool read_path(const struct ref *ref, int64_t *part)
{
    const struct ref_step *steps = ref->steps;

    if (ref->steps_count && !str_is(str_or(steps[0].key, ""), "parts"))
        return false;
    if (ref->steps_count == 2 && !steps[1].key.ptr)
        *part = steps[1].index;
    return ref->steps_count < 2 || (ref->steps_count == 2 && *part >= 0);
}

/* What a workflow action gave the input. */
static wend_status read_given(struct fields *f, const struct json *j,
                              const struct json *input, struct plan_file *out)
{
    wend_str *list =
        arena_alloc(f->arena, ((size_t)input->count + 1) * sizeof *list);
    const struct json *part = input->kind == JSON_ARRAY ? input->first : NULL;

    if (!list)
        return fail_nomem(f->err);
    out->given = true;
    out->hashes = list;
    for (; part; part = part->next) {
        wend_str hash = json_get_str(part, "hash");

        if (!hash.len)
            return wrong(f, j);
        list[out->hashes_count++] = hash;
    }
    return WEND_OK;
}

/* Of a plan that a model writes, inputs are results of the plans before. */
static wend_status read_reference(struct fields *f, const struct json *j,
                                  wend_str text, struct plan_file *out)
{
    struct plan_draft *d = f->ctx;
    const struct json *input = NULL;
    size_t at = 0;

    d->reader.in = j;
    if (!ref_parse(&d->reader, text, &at, &out->ref))
        return draft_inside(f, f->err->status);
    if (at < text.len || !read_path(out->ref, &out->part))
        return wrong(f, j);
    if (!d->plan->written)
        input = json_member(json_get(f->root, "inputs"),
                            d->plan->keys.list[out->ref->slot]);
    if (!input)
        return WEND_OK;
    if (input->kind == JSON_NULL || input->kind == JSON_ARRAY)
        return read_given(f, j, input, out);
    if (input->kind != JSON_STRING || !input->text.len || out->ref->steps_count)
        return wrong(f, j);
    out->path = input->text;
    out->ref = NULL;
    return WEND_OK;
}

FIELD_READ(draft_file)
{
    struct plan_draft *d = f->ctx;
    struct plan_file *out = at;
    wend_str text;
    wend_status s = field_name(f, field, j, &text);

    if (s != WEND_OK)
        return s;
    *out = (struct plan_file){
        .part = -1, .input = j->key, .line = j->line, .column = j->column};
    if (text.ptr[0] == '$')
        s = read_reference(f, j, text, out);
    else
        out->path = text;
    if (s == WEND_OK && out->path.ptr && d->plan->written)
        return fields_fail(f, j,
                           "%s: a plan that a model writes reads no files; "
                           "read it with a tool, and name the result as $KEY",
                           fields_where(f));
    if (s == WEND_OK &&
        (out->path.len > ACTION_FILE_BYTES ||
         (out->path.ptr && memchr(out->path.ptr, 0, out->path.len))))
        return fields_wrong(f, j, "a path of at most 255 bytes");
    return s;
}

wend_status draft_files(struct fields *f, const struct json *action,
                        const struct plan_action *a)
{
    const struct json *files = json_get(action, "files");
    const struct json *params = json_get(action, "params");
    bool mapped = a->type == ACTION_WORKFLOW;

    if (mapped != (files->kind == JSON_OBJECT))
        return fields_fail(f, files, "%s.files must be %s", fields_where(f),
                           mapped ? "a mapping from inputs of the plan inside"
                                  : "a list");
    if (!mapped && json_get(params, "parts"))
        return fields_fail(f, files,
                           "%s.files are given as 'parts', which is in params, "
                           "too; give that another name",
                           fields_where(f));
    for (size_t i = 0; mapped && i < a->files.count; i++)
        if (json_member(params, a->files.list[i].input))
            return fields_fail(
                f, files, "%s: the input '%.*s' is in files and in params",
                fields_where(f), UTF8_ARGS(a->files.list[i].input, 64));
    return WEND_OK;
}

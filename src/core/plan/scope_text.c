/*
 * scope_text.c - texts with references, compiled and made.
 *
 * A template is a list of parts: bytes to copy, then a value to put. So the
 * parameters of an action are made by copying, whatever their depth.
 */
#include <assert.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/plan/scope.h"

enum part_form {
    PART_VALUE,  /* as JSON */
    PART_QUOTED, /* inside a JSON string */
    PART_TEXT,   /* as text */
};

struct template_part {
    wend_str before;
    const struct ref *ref; /* NULL: the last part */
    enum part_form form;
};

struct template
{
    const struct template_part *parts;
    uint32_t count;
};

/* A template being compiled; its parts are bytes in a buffer until its
 * number is known. */
struct template_draft {
    struct ref_reader *reader;
    struct buf literal, parts;
};

/* ---- Compiling ----------------------------------------------------------- */

static wend_status add_part(struct template_draft *d, const struct ref *ref,
                            enum part_form form)
{
    struct template_part part = {.ref = ref, .form = form};

    if (!d->literal.failed)
        part.before = arena_str(d->reader->arena, buf_view(&d->literal));
    buf_clear(&d->literal);
    buf_add(&d->parts, (const char *)&part, sizeof part);
    return part.before.ptr && !d->parts.failed ? WEND_OK
                                               : fail_nomem(d->reader->err);
}

static void put_literal(struct buf *b, wend_str s, enum part_form form)
{
    if (form == PART_QUOTED)
        json_put_inside(b, s);
    else
        buf_str(b, s);
}

/* The text with its references; form is PART_QUOTED or PART_TEXT. */
static wend_status add_text(struct template_draft *d, wend_str text,
                            enum part_form form)
{
    size_t at = 0, from = 0;
    const struct ref *ref;
    wend_status s;

    while (at < text.len) {
        const char *dollar = memchr(text.ptr + at, '$', text.len - at);

        if (!dollar)
            break;
        at = (size_t)(dollar - text.ptr);
        if (at + 1 < text.len && text.ptr[at + 1] == '$') {
            put_literal(&d->literal, (wend_str){text.ptr + from, at + 1 - from},
                        form);
            from = at += 2;
            continue;
        }
        put_literal(&d->literal, (wend_str){text.ptr + from, at - from}, form);
        s = ref_parse(d->reader, text, &at, &ref);
        if (!s)
            s = add_part(d, ref, form);
        if (s)
            return s;
        from = at;
    }
    put_literal(&d->literal, (wend_str){text.ptr + from, text.len - from},
                form);
    return WEND_OK;
}

static wend_status add_string(struct template_draft *d, const struct json *j)
{
    wend_str text = j->text;
    const struct ref *ref;
    size_t at = 0;
    wend_status s;

    d->reader->in = j;
    if (text.len > 1 && text.ptr[0] == '$' && text.ptr[1] != '$') {
        struct ref *before = d->reader->refs;

        s = ref_parse(d->reader, text, &at, &ref);
        if (s)
            return s;
        if (at == text.len)
            return add_part(d, ref, PART_VALUE);
        d->reader->refs = before; /* it is found again, as part of a text */
    }
    buf_char(&d->literal, '"');
    s = add_text(d, text, PART_QUOTED);
    buf_char(&d->literal, '"');
    return s;
}

/* As deep as the tree is, which its reader has bounded. */
static wend_status add_json(struct template_draft *d, const struct json *j)
{
    bool object = j->kind == JSON_OBJECT;
    wend_status s = WEND_OK;

    if (j->kind == JSON_STRING)
        return add_string(d, j);
    if (j->kind != JSON_ARRAY && !object) {
        json_put(&d->literal, j);
        return WEND_OK;
    }
    buf_char(&d->literal, object ? '{' : '[');
    for (const struct json *e = j->first; e && !s; e = e->next) {
        if (e != j->first)
            buf_char(&d->literal, ',');
        if (object) {
            json_put_str(&d->literal, e->key);
            buf_char(&d->literal, ':');
        }
        s = add_json(d, e);
    }
    buf_char(&d->literal, object ? '}' : ']');
    return s;
}

static wend_status finish(struct template_draft *d, wend_status s,
                          const struct template **out)
{
    struct arena *a = d->reader->arena;
    struct template *t;
    struct template_part *parts;

    if (!s)
        s = add_part(d, NULL, PART_TEXT);
    if (!s) {
        t = arena_alloc(a, sizeof *t);
        parts = t ? arena_alloc(a, d->parts.len) : NULL;
        if (parts) {
            memcpy(parts, d->parts.ptr, d->parts.len);
            *t = (struct template){parts,
                                   (uint32_t)(d->parts.len / sizeof *parts)};
            *out = t;
        } else {
            s = fail_nomem(d->reader->err);
        }
    }
    buf_free(&d->literal);
    buf_free(&d->parts);
    return s;
}

wend_status template_json(struct ref_reader *r, const struct json *j,
                          const struct template **out)
{
    struct template_draft d = {
        r, {.mem = r->arena->mem}, {.mem = r->arena->mem}};

    return finish(&d, add_json(&d, j), out);
}

wend_status template_text(struct ref_reader *r, const struct json *j,
                          const struct template **out)
{
    struct template_draft d = {
        r, {.mem = r->arena->mem}, {.mem = r->arena->mem}};

    r->in = j;
    return finish(&d, add_text(&d, j->text, PART_TEXT), out);
}

/* ---- Making -------------------------------------------------------------- */

static void put_value(struct buf *out, const struct json *j,
                      enum part_form form)
{
    struct buf text = {.mem = out->mem};

    if (form == PART_VALUE || (form == PART_TEXT && j->kind != JSON_STRING)) {
        json_put(out, j);
        return;
    }
    if (j->kind != JSON_STRING)
        json_put(&text, j);
    put_literal(out, j->kind == JSON_STRING ? j->text : buf_view(&text), form);
    out->failed = out->failed || text.failed;
    buf_free(&text);
}

wend_status template_put(const struct template *t, const struct scope *s,
                         size_t bytes_max, struct buf *out, wend_error *err)
{
    const struct json *value;
    size_t before = out->len, passed = 0;
    wend_status status;

    assert(t->count && !t->parts[t->count - 1].ref); /* the rest of the text */
    for (uint32_t i = 0; i < t->count; i++) {
        const struct template_part *part = &t->parts[i];

        buf_str(out, part->before);
        if (part->ref) {
            status = scope_get(s, part->ref, &value, &passed, err);
            if (status)
                return status;
            if (passed > TEMPLATE_WORK_MAX)
                return fail(err, WEND_E_LIMIT,
                            "%.*s: finding the values takes too much work",
                            (int)utf8_cut(part->ref->text, REF_SHOWN_MAX),
                            part->ref->text.ptr);
            put_value(out, value, part->form);
        }
        if (out->failed)
            return fail_nomem(err);
        if (out->len - before > bytes_max)
            return fail(err, WEND_E_LIMIT,
                        "with its values it has more than %zu bytes",
                        bytes_max);
    }
    return WEND_OK;
}

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

/* A template being compiled. What adds to it returns false once reader->err
 * says why. */
struct template_draft {
    struct ref_reader *reader;
    struct buf literal, parts; /* parts: struct template_part */
};

/* ---- Compiling ----------------------------------------------------------- */

static bool add_part(struct template_draft *d, const struct ref *ref,
                     enum part_form form)
{
    struct template_part part = {.ref = ref, .form = form};

    if (!d->literal.failed)
        part.before = arena_str(d->reader->arena, buf_view(&d->literal));
    buf_clear(&d->literal);
    buf_add(&d->parts, (const char *)&part, sizeof part);
    return (part.before.ptr && !d->parts.failed) || !fail_nomem(d->reader->err);
}

static void put_literal(struct buf *b, wend_str s, enum part_form form)
{
    if (form == PART_QUOTED)
        json_put_inside(b, s);
    else
        buf_str(b, s);
}

/* The text with its references; form is PART_QUOTED or PART_TEXT. */
static bool add_text(struct template_draft *d, wend_str text,
                     enum part_form form)
{
    size_t at, from = 0;
    const struct ref *ref;
    const char *dollar;

    while (from < text.len &&
           (dollar = memchr(text.ptr + from, '$', text.len - from))) {
        bool twice;

        at = (size_t)(dollar - text.ptr);
        twice = at + 1 < text.len && dollar[1] == '$';
        put_literal(&d->literal, (wend_str){text.ptr + from, at + twice - from},
                    form);
        if (twice)
            at += 2;
        else if (!ref_parse(d->reader, text, &at, &ref) ||
                 !add_part(d, ref, form))
            return false;
        from = at;
    }
    put_literal(&d->literal, str_skip(text, from), form);
    return true;
}

static bool add_string(struct template_draft *d, const struct json *j)
{
    wend_str text = j->text;
    const struct ref *ref;
    size_t at = 0;
    bool ok;

    d->reader->in = j;
    if (text.len > 1 && text.ptr[0] == '$' && text.ptr[1] != '$') {
        struct ref *before = d->reader->refs;

        if (!ref_parse(d->reader, text, &at, &ref))
            return false;
        if (at == text.len)
            return add_part(d, ref, PART_VALUE);
        d->reader->refs = before; /* it is found again, as part of a text */
    }
    buf_char(&d->literal, '"');
    ok = add_text(d, text, PART_QUOTED);
    buf_char(&d->literal, '"');
    return ok;
}

/* As deep as the tree is, which its reader has bounded. */
static bool add_json(struct template_draft *d, const struct json *j)
{
    bool object = j->kind == JSON_OBJECT, ok = true;

    if (j->kind == JSON_STRING)
        return add_string(d, j);
    if (j->kind != JSON_ARRAY && !object) {
        json_put(&d->literal, j);
        return true;
    }
    buf_char(&d->literal, object ? '{' : '[');
    for (const struct json *e = j->first; e && ok; e = e->next) {
        if (e != j->first)
            buf_char(&d->literal, ',');
        if (object) {
            json_put_str(&d->literal, e->key);
            buf_char(&d->literal, ':');
        }
        ok = add_json(d, e);
    }
    buf_char(&d->literal, object ? '}' : ']');
    return ok;
}

/* From a text, or from any JSON. */
static wend_status compile(struct ref_reader *r, const struct json *j,
                           bool is_text, const struct template **out)
{
    struct template_draft d = {
        r, {.mem = r->arena->mem}, {.mem = r->arena->mem}};
    struct template *t = arena_alloc(r->arena, sizeof *t);
    bool ok = t || !fail_nomem(r->err);

    r->in = j;
    ok = ok && (is_text ? add_text(&d, j->text, PART_TEXT) : add_json(&d, j)) &&
         add_part(&d, NULL, PART_TEXT);
    if (ok) {
        t->count = (uint32_t)(d.parts.len / sizeof *t->parts);
        t->parts = (const void *)buf_keep(&d.parts, r->arena).ptr;
        ok = t->parts || !fail_nomem(r->err);
        *out = t;
    }
    buf_free(&d.literal);
    buf_free(&d.parts);
    return ok ? WEND_OK : r->err->status;
}

wend_status template_json(struct ref_reader *r, const struct json *j,
                          const struct template **out)
{
    return compile(r, j, false, out);
}

wend_status template_text(struct ref_reader *r, const struct json *j,
                          const struct template **out)
{
    return compile(r, j, true, out);
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
                            UTF8_ARGS(part->ref->text, REF_SHOWN_MAX));
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

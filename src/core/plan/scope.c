/*
 * scope.c - references, and the values they lead to.
 */
#include "core/plan/scope.h"

#include <assert.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"

/* ---- Reading a reference ------------------------------------------------- */

static bool bad(struct ref_reader *r, size_t at, const char *why)
{
    r->bad_at = at;
    return !fail(r->err, WEND_E_PARSE, "%s", why);
}

/* The name at *at, which is moved behind it; absent if none begins there. */
static wend_str take_name(wend_str text, size_t *at)
{
    size_t from = *at;

    if (from < text.len && (is_letter(text.ptr[from]) || text.ptr[from] == '_'))
        while (*at < text.len && is_word(text.ptr[*at]))
            ++*at;
    return *at > from ? (wend_str){text.ptr + from, *at - from} : STR_NONE;
}

/* A key of a path may also have a minus. */
static wend_str take_key(wend_str text, size_t *at)
{
    size_t from = *at;

    while (*at < text.len && (is_word(text.ptr[*at]) || text.ptr[*at] == '-'))
        ++*at;
    return (wend_str){text.ptr + from, *at - from};
}

static bool take_index(struct ref_reader *r, wend_str text, size_t *at,
                       struct ref_step *out)
{
    size_t from = *at;

    while (*at < text.len && is_digit(text.ptr[*at]))
        ++*at;
    if (!str_to_i64((wend_str){text.ptr + from, *at - from}, &out->index))
        return bad(r, from, "a number must stand between [ and ]");
    if (*at == text.len || text.ptr[*at] != ']')
        return bad(r, *at, "']' is missing");
    ++*at;
    return true;
}

static bool take_step(struct ref_reader *r, wend_str text, size_t *at,
                      struct ref_step *out)
{
    *out = (struct ref_step){.index = 0};
    switch (text.ptr[(*at)++]) {
    case '[': return take_index(r, text, at, out);
    case '.':
        out->key = take_key(text, at);
        return out->key.len || bad(r, *at, "a key must follow the '.'");
    }
    return bad(r, *at - 1, "only .key and [number] may follow a name");
}

/* The path up to the closing brace, which is passed over. */
static bool take_path(struct ref_reader *r, wend_str text, size_t *at,
                      struct ref *ref)
{
    struct ref_step steps[REF_STEPS_MAX], *kept;

    for (; *at < text.len && text.ptr[*at] != '}'; ref->steps_count++) {
        if (ref->steps_count == REF_STEPS_MAX)
            return bad(r, *at, "the path is too long");
        if (!take_step(r, text, at, &steps[ref->steps_count]))
            return false;
    }
    if (*at == text.len)
        return bad(r, *at, "'}' is missing");
    ++*at;
    kept = arena_alloc(r->arena, (ref->steps_count + 1) * sizeof *kept);
    if (!kept)
        return !fail_nomem(r->err);
    memcpy(kept, steps, ref->steps_count * sizeof *kept);
    ref->steps = kept;
    return true;
}

bool ref_parse(struct ref_reader *r, wend_str text, size_t *at,
               const struct ref **out)
{
    struct ref *ref = arena_alloc(r->arena, sizeof *ref);
    size_t from = *at;
    bool braced = from + 1 < text.len && text.ptr[from + 1] == '{';
    wend_str name;

    assert(from < text.len && text.ptr[from] == '$');
    if (!ref)
        return !fail_nomem(r->err);
    *at = from + (braced ? 2 : 1);
    name = take_name(text, at);
    if (!name.ptr)
        return bad(r, from, "a name must follow the '$'; $$ is a dollar");
    if (braced && !take_path(r, text, at, ref))
        return false;
    ref->slot = names_add(r->names, name);
    if (ref->slot == NAME_NONE)
        return !fail_nomem(r->err);
    ref->text = (wend_str){text.ptr + from, *at - from};
    ref->in = r->in;
    ref->at = from;
    ref->next = r->refs;
    r->refs = ref;
    *out = ref;
    return true;
}

/* ---- Values -------------------------------------------------------------- */

static const struct json *element(const struct json *j, int64_t index)
{
    if (j->kind != JSON_ARRAY || index >= j->count)
        return NULL;
    for (j = j->first; index; index--)
        j = j->next;
    return j;
}

wend_status scope_find(const struct scope *s, const struct ref *ref,
                       const struct json **out, size_t *passed, wend_error *err)
{
    const struct json *j = s->trees[ref->slot];
    wend_error why = {0};

    assert(!j || s->values[ref->slot].ptr); /* a tree is that of a value */
    *out = NULL;
    ++*passed;
    if (!s->values[ref->slot].ptr)
        return WEND_OK;
    if (!j) {
        j = json_parse_own(s->values[ref->slot], s->arena, &why);
        if (!j)
            return fail(err, why.status, "%.*s: %s",
                        UTF8_ARGS(ref->text, REF_SHOWN_MAX), why.message);
        s->trees[ref->slot] = j;
    }
    for (uint32_t i = 0; j && i < ref->steps_count; i++) {
        const struct ref_step *step = &ref->steps[i];
        bool near = !step->key.ptr && step->index < j->count;

        *passed += near ? (size_t)step->index : j->count;
        j = step->key.ptr ? json_member(j, step->key) : element(j, step->index);
    }
    *out = j;
    return WEND_OK;
}

wend_status scope_get(const struct scope *s, const struct ref *ref,
                      const struct json **out, size_t *passed, wend_error *err)
{
    static const struct json null = {.kind = JSON_NULL};
    wend_status status = scope_find(s, ref, out, passed, err);

    if (status || *out)
        return status;
    *out = &null;
    return s->missing_null ? WEND_OK
                           : fail(err, WEND_E_NOTFOUND, "%.*s has no value",
                                  UTF8_ARGS(ref->text, REF_SHOWN_MAX));
}

/*
 * tags_action.c - an action of the tag protocol: its tag and its JSON as one.
 */
#include "wire/plan/tags_action.h"

#include "base/ascii.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/limits.h"

const char *const tags_attr_names[TAGS_ATTRS] = {
    [TAGS_TYPE] = "type",
    [TAGS_MODE] = "mode",
    [TAGS_ID] = "id",
    [TAGS_FINAL] = "final",
};

/* Recursion ends with the tree, which JSON_DEPTH_MAX bounds. */
static int depth_of(const struct json *j)
{
    int below = 0;

    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return 0;
    for (const struct json *c = j->first; c; c = c->next) {
        int depth = depth_of(c);

        below = depth > below ? depth : below;
    }
    return below + 1;
}

static bool is_given(const struct tags *t, wend_str key)
{
    int i = str_index(key, tags_attr_names, TAGS_ATTRS);

    return i >= 0 && t->attrs[i].ptr;
}

/* The attributes first, then what else the object has. */
static void put_action(const struct tags *t, const struct json *j,
                       struct buf *out, unsigned *differs)
{
    *differs = 0;
    buf_char(out, '{');
    for (int i = 0; i < TAGS_ATTRS; i++) {
        const struct json *own = json_get(j, tags_attr_names[i]);

        json_add_str(out, tags_attr_names[i], t->attrs[i]);
        if (t->attrs[i].ptr && own && !str_eq(json_str(own), t->attrs[i]))
            *differs |= 1u << i;
    }
    if (!json_get(j, "name"))
        json_add_str(out, "name", t->attrs[TAGS_ID]);
    for (const struct json *m = j->first; m; m = m->next)
        if (!is_given(t, m->key))
            json_add_pair(out, m->key, m);
    buf_char(out, '}');
}

wend_status tags_action(struct tags *t, wend_str json, struct buf *out,
                        unsigned *differs, wend_error *err)
{
    const size_t around = strlen("{\"actions\":[,]}");
    struct json *j = json_parse(json, &t->scratch, err);

    if (!j)
        return t->scratch.failed ? WEND_E_NOMEM : WEND_E_PARSE;
    if (j->kind != JSON_OBJECT)
        return fail(err, WEND_E_INVAL, "it is not a JSON object");
    put_action(t, j, out, differs);
    if (depth_of(j) + 2 > JSON_DEPTH_MAX)
        return fail(err, WEND_E_LIMIT, "its JSON is nested too deep");
    if (t->args_len + out->len + around > ARGS_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "with it the plan is over %d bytes",
                    ARGS_BYTES_MAX);
    return WEND_OK;
}

static const wend_str close_name = {"</action", 8};

bool tags_find_close(wend_str body, size_t *at, size_t *end)
{
    const char *p = body.ptr, *stop = p + body.len, *q;

    while (p && (p = memmem(p, (size_t)(stop - p), close_name.ptr,
                            close_name.len))) {
        q = p + close_name.len;
        while (q < stop && is_space(*q))
            q++;
        if (q < stop && *q == '>') {
            *at = (size_t)(p - body.ptr);
            *end = (size_t)(q + 1 - body.ptr);
            return true;
        }
        p = q;
    }
    return false;
}

bool tags_ends_closed(wend_str body, size_t *len)
{
    size_t n = body.len - 1;

    while (n && is_space(body.ptr[n - 1]))
        n--;
    if (n < close_name.len ||
        memcmp(body.ptr + n - close_name.len, close_name.ptr, close_name.len))
        return false;
    *len = n - close_name.len;
    return true;
}
